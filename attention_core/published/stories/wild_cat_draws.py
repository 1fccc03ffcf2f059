"""Stories of “Wild cat”: what a seed fixes, numbers that are equal, and numbers in a picture."""

import math
from itertools import combinations

import torch
from torch import Tensor

from ...examples import EXAMPLES
from ...text.embedding import embed
from ..printed import notebook
from .story import Figures, Story
from .tracing import LIFE, WILD_CAT, traced

DRAWN = ((0.1, 0.2, 0.3), (0.4, 0.1, 0.2), (0.3, 0.2, 0.1), (0.2, 0.3, 0.1), (0.1, 0.4, 0.2))
DRAWN += ((0.3, 0.1, 0.4),)
"""The embeddings of the notebook's diagram."""
DRAWN_OUTPUTS = ((0.2, 0.3, 0.4), (0.1, 0.4, 0.3), (0.4, 0.2, 0.1), (0.3, 0.1, 0.2))
DRAWN_OUTPUTS += ((0.2, 0.4, 0.1), (0.1, 0.2, 0.4))
"""Its context vectors."""


def _seed_reused() -> Figures:
    learned = traced(WILD_CAT, "qkv")
    W_query, W_key, W_value = (learned[f"W_{each}"].value for each in ("query", "key", "value"))
    table = embed(EXAMPLES[WILD_CAT].inputs)["embedding_table"].value.flatten()
    uniforms = torch.cat([each.flatten() for each in (W_query, W_key, W_value)]).double().tolist()
    made = [_normal(uniforms, place) for place in range(16)]
    agree = [math.isclose(x, y, abs_tol=1e-5) for x, y in zip(made, table.tolist(), strict=False)]
    return {
        "seed": EXAMPLES[WILD_CAT].inputs.seed,
        "made": made[0],
        "drawn": table[0].item(),
        "first_uniform": W_query[0, 0].item(),
        "second_uniform": W_key[1, 0].item(),
        "n_follow": agree.index(False),
    }


def _normal(uniforms: list[float], place: int) -> float:
    """The normal number that torch makes of two uniform ones, eight places apart.

    Source: Box and Muller 1958, A Note on the Generation of Random Normal Deviates.
    """
    at = place % 8
    length = math.sqrt(-2 * math.log(1 - uniforms[at]))
    angle = 2 * math.pi * uniforms[at + 8]
    return length * (math.cos(angle) if place < 8 else math.sin(angle))


def _table_size() -> Figures:
    given = embed(EXAMPLES[WILD_CAT].inputs)["embedding_table"].value
    n_tokens = len(EXAMPLES[WILD_CAT].inputs.build_vocabulary().entries)
    shorter = _drawn(n_tokens, given.shape[1], EXAMPLES[WILD_CAT].inputs.seed)
    trace = traced(LIFE, "tokenize")
    n_rows, width = trace["embedding_table"].value.shape
    row = sorted({*trace.labels("token")}).index("life")
    fewer = _drawn(n_rows - 2, width, EXAMPLES[LIFE].inputs.seed)
    return {
        "n_rows": len(given),
        "n_short": n_tokens,
        "n_agree": int(torch.isclose(given[:n_tokens], shorter).sum()),
        "n_values": shorter.numel(),
        "life_rows": n_rows,
        "life": trace["embeddings"].value[0, :2],
        "life_fewer_rows": n_rows - 2,
        "life_fewer": fewer[row, :2],
    }


def _drawn(n_rows: int, width: int, seed: int) -> Tensor:
    return torch.randn(n_rows, width, generator=torch.Generator().manual_seed(seed))


def _equality() -> Figures:
    printed = notebook(LIFE).results
    row, table = printed["omega_1_all"].values, printed["omega_all"].values[0]
    pairs = [(one, other) for one, other in zip(row, table, strict=True) if one != other]
    return {
        "row": [one for one, _ in pairs],
        "table": [other for _, other in pairs],
        "n_printed": len(row),
        "loops_equal": str(notebook(WILD_CAT).results["context_0_equal"].values),
        "furthest": max(abs(one - other) for one, other in pairs),
    }


def _illustration() -> Figures:
    inputs = torch.tensor(DRAWN, dtype=torch.float64)
    outputs = torch.tensor(DRAWN_OUTPUTS, dtype=torch.float64)
    return {"distances": [_from_means(each, inputs) for each in outputs]}


def _from_means(point: Tensor, vectors: Tensor) -> float:
    """How far a point lies from the nearest weighted mean of vectors: from each of the simplices
    between some of them, of which the nearest counts.
    """
    nearest = math.inf
    for n_used in range(1, vectors.shape[1] + 2):
        for chosen in combinations(range(len(vectors)), n_used):
            first, *others = vectors[list(chosen)]
            if others:
                edges = torch.stack(others).sub(first).mT
                solved = torch.linalg.lstsq(edges, (point - first)[:, None], driver="gelsd")
                shares = solved.solution[:, 0]
                if (shares < 0).any() or shares.sum() > 1:
                    continue
                first = first + edges @ shares
            nearest = min(nearest, (point - first).norm().item())
    return nearest


STORIES = (
    Story(
        "seed_reused",
        "One seed, set twice",
        WILD_CAT,
        "Seed {seed} is set before the embeddings and again before the matrices, so both are made "
        "of the same random numbers: the first entry of the table is √(−2 ln(1 − "
        "{first_uniform:.4f})) cos(2π · {second_uniform:.4f}) = {made:.4f}, from an entry of "
        "W_query and one of W_key. So are its first {n_follow} entries.",
        "Set a seed once, at the start, or give each its own generator.",
        _seed_reused,
    ),
    Story(
        "table_size_matters",
        "The same seed, other numbers",
        WILD_CAT,
        "The words need {n_short} rows, and the printed vectors come from a table of {n_rows}: "
        "with {n_short}, only {n_agree} of {n_values} numbers are the same. In “Life is short” "
        "“life” begins with {life:.4f} in a table of {life_rows} rows.",
        "With {life_fewer_rows} rows “life” would begin with {life_fewer:.4f}. A seed fixes "
        "numbers only together with the size of what is drawn, so print that too.",
        _table_size,
    ),
    Story(
        "float_equality",
        "Equal to the last bit",
        WILD_CAT,
        "Two ways to the same context vector are compared with ==, and the notebook got "
        "{loops_equal}. That is luck of the processor: “Life is short” prints the same scores "
        "twice, as {row:.4f} and as {table:.4f}.",
        "They are {furthest:.4f} apart, since sums were added in another order. "
        "`torch.allclose` knows that.",
        _equality,
    ),
    Story(
        "illustration_numbers",
        "Numbers in a picture",
        WILD_CAT,
        "The outputs in the diagram are there to be looked at. None of them is a weighted mean of "
        "the inputs: the nearest one is {distances:.3f} away.",
        "Computed ones would let a reader check them.",
        _illustration,
    ),
)
