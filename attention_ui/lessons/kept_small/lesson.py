"""Keys and values, kept small: controls, and traces as functions of their values."""

from dataclasses import replace
from functools import lru_cache

import torch
from torch import Tensor

from attention_core import operations as ops
from attention_core.mechanism.attention import attention
from attention_core.mechanism.indexer import choose_keys
from attention_core.mechanism.latent import ABSORBED, POSITIONS, attend_latent
from attention_core.mechanism.multi_head import attend_heads
from attention_core.mechanism.own_tensors import give
from attention_core.mechanism.stacked import Layer, attend_in_layers
from attention_core.recipes import HeadsRecipe
from attention_core.text.embedding import embed
from attention_core.trace import Step, Trace

from ...controls import shared
from ...controls.fields import MAX_TOKENS
from ...frame.lights import agreement
from ...reactive.control import Control, Values
from ...reactive.fields import Choice, Whole

LATENT, SPARSE = "latent_", "sparse_"
"""What the names of the steps begin with whose keys come from a latent, or are chosen."""
D_ROTARY = 2
D_INDEX = 2
"""The columns of the indexer: two numbers a token."""
SEEDS = {"W_rotary_query": 21, "W_rotary_key": 22}
MOVED = 10
"""By how many places the text is moved."""
MOST_LATENT = 8
TEXT_LENGTHS = (16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144)
WINDOW = 2
"""How many keys a local layer sees."""
MOST_LAYERS, D_DEEP = 6, 3
TURNS = {"local": "All local", "in_turn": "Every third global", "global": "All global"}
DEEP, SHARED = "deep_", "shared_"
MASKED = {"before": "Before the softmax", "after": "After it"}


def _widths(values: Values) -> dict[int, str]:
    heads = shared.heads_recipe_of(values)
    most = min(MOST_LATENT, values.d_in, heads.n_heads * (heads.d_head + heads.d_value))
    return {width: str(width) for width in range(1, most + 1)}


D_LATENT = Control("d_latent", Whole(1, MOST_LATENT), "Width of the latent, d_latent",
                   lambda values: (len(_widths(values)) + 1) // 2, widget="select_slider",
                   options=_widths)  # fmt: skip
ROTARY_AT = Control("rotary_at", Choice(POSITIONS), "Where the rotary positions go", "apart")
TOP_K = Control("top_k", Whole(1, MAX_TOKENS), "Keys that are left, k", 3, widget="select_slider",
                options=lambda values: {
                    k: str(k) for k in range(1, max(2, len(shared.inputs_of(values).tokens) + 1))
                })  # fmt: skip
MASKED_WHERE = Control("masked_where", Choice(MASKED), "Where the others are hidden", "before")
LAYERS = Control("layers", Whole(1, MOST_LAYERS), "Layers so far", 2)
TURN = Control("turn", Choice(TURNS), "What the layers see", "in_turn")
CONTROLS = (*shared.MAKES_VECTORS, *shared.HEADS, shared.HEAD, D_LATENT, ROTARY_AT, TOP_K)
TEXT_LENGTH = Control("text_length", Whole.among(*TEXT_LENGTHS), "Tokens so far", 16_384,
                      shown="{:,}")  # fmt: skip
CONTROLS += (MASKED_WHERE, TEXT_LENGTH, LAYERS, TURN)


def heads(values: Values) -> HeadsRecipe:
    """The heads of this page, which look back only."""
    return replace(shared.heads_recipe_of(values), causal=True)


def plain(values: Values) -> Trace:
    """Attention with keys and values of each head's own, up to the context vectors."""
    return attend_heads(embed(shared.inputs_of(values)), heads(values), joined=False)


def trace_of(values: Values) -> Trace:
    """The lesson's trace: plain heads, beside them `latent_`, `absorbed_` and `sparse_` steps."""
    return with_indexer(with_latent(plain(values), values.d_latent), values.top_k)


def with_latent(trace: Trace, width: int) -> Trace:
    """The same with a latent of this width beside it: W_key and W_value of all heads, side by side,
    are split into the two matrices that come nearest to their product, so no head is trained anew.

    Source: Meng et al. 2025, TransMLA, section 4 (matrices of a model as those of a latent).
    """
    made = trace.branch()
    attend_latent(made, made["embeddings"], split(made, width), mask=made["mask"], prefix=LATENT)
    return made


def split(trace: Trace, width: int) -> dict[str, Step]:
    """The matrices for a latent of this width, given to the trace."""
    W_key, W_value = (trace[f"head_W_{role}"].value for role in ("key", "value"))
    n_heads, _, d_head = W_key.shape
    down, up = _nearest(torch.cat([*W_key, *W_value], dim=-1), width)
    ups = up[:, : n_heads * d_head], up[:, n_heads * d_head :]
    given = {"W_latent": give(trace, "W_latent", down, ("d_in", "d_latent"))}
    for name, part, axis in zip(
        ("W_up_key", "W_up_value"), ups, ("d_head", "d_value"), strict=True
    ):
        of_head = part.unflatten(-1, (n_heads, -1)).movedim(-2, 0)
        given[name] = give(trace, name, of_head, ("head", "d_latent", axis))
    return given | {"W_query": trace["head_W_query"]}


def _nearest(matrix: Tensor, width: int) -> tuple[Tensor, Tensor]:
    """Two matrices with so many columns and rows between them whose product comes nearest to this
    one; columns that are not needed are 0.

    Source: Eckart & Young 1936, The approximation of one matrix by another of lower rank.
    """
    left, sizes, right = torch.linalg.svd(matrix.double(), full_matrices=False)
    roots = sizes[:width].sqrt()
    down, up = left[:, :width] * roots, roots[:, None] * right[:width]
    less = width - len(roots)
    pad = torch.nn.functional.pad
    return pad(down, (0, less)).float(), pad(up, (0, 0, 0, less)).float()


def with_indexer(trace: Trace, top_k: int) -> Trace:
    """The same with an indexer, untrained: it compares by the columns in which keys differ most."""
    made = trace.branch()
    W_query, W_key = (made[f"head_W_{role}"].value for role in ("query", "key"))
    _, found = _nearest((W_query @ W_key.mT).flatten(0, 1), D_INDEX)
    columns = found.mT / found.norm(dim=-1).clamp(min=1e-9)
    W_keys = give(made, "W_index_key", columns, ("d_in", "d_index"))
    W_queries = made.step("W_index_query", ops.TransposedMatMul(), made["head_W_key"], W_keys,
                          axes=("head", "d_head", "d_index"))  # fmt: skip
    queries = made.step("index_queries", ops.MatMul(), made["head_queries"], W_queries,
                        axes=("head", "query", "d_index"))  # fmt: skip
    keys = made.step("index_keys", ops.MatMul(), made["embeddings"], W_keys,
                     axes=("key", "d_index"))  # fmt: skip
    n_heads, n_tokens = len(W_query), len(made["embeddings"].value)
    alike = torch.full((n_heads, n_tokens, 1), 1 / n_heads)
    shares = give(made, "index_shares", alike, ("head", "query", "row"))
    chosen = choose_keys(made, queries, keys, shares, top_k, made["mask"])
    given = (made[f"head_{name}"] for name in ("queries", "keys", "values"))
    scored = made.get("head_scaled_scores") or made["head_scores"]
    attention(made, *given, mask=chosen, prefix=SPARSE, scored=scored)
    late = made.step("zeroed_weights", ops.MaskedFill(0.0), made["head_weights"], chosen,
                     axes=made["head_weights"].axes)  # fmt: skip
    made.step("zeroed_sum", ops.RowSum(), late, axes=(*late.axes[:-1], "row"))
    return made


@lru_cache(maxsize=8)
def _placed(recipe: HeadsRecipe, inputs, width: int, positions: str, place: int) -> Trace:
    trace = attend_heads(embed(inputs), recipe, joined=False)
    matrices = split(trace, width)
    n_heads, d_in, _ = matrices["W_query"].value.shape
    for name, seed in SEEDS.items():
        front = (n_heads,) if name == "W_rotary_query" else ()
        draw = ops.Draw("linear", (*front, d_in, D_ROTARY), seed=seed, fan_in=d_in)
        axes = (*["head"] * len(front), "d_in", "d_rotary")
        matrices[name] = trace.step(name, draw, axes=axes)
    made = {"mask": trace["mask"], "positions": positions, "place": place, "prefix": LATENT}
    attend_latent(trace, trace["embeddings"], matrices, **made)
    return trace


def placed(values: Values, positions: str, place: int = 0) -> Trace:
    """Attention by a latent with rotary positions, in one of `POSITIONS`, from this place on."""
    recipe, width = heads(values), values.d_latent  # either may be one wider: pairs are turned
    recipe = replace(recipe, d_head=recipe.d_head + recipe.d_head % 2)
    return _placed(recipe, shared.inputs_of(values), width + width % 2, positions, place)


# --- several layers -------------------------------------------------------------------------------


def sees_all(turn: str, layer: int) -> bool:
    """Whether a layer is global."""
    return turn == "global" or (turn == "in_turn" and layer % 3 == 2)


def deep(values: Values, n_layers: int) -> Trace:
    """So many layers of one head each, with matrices of their own: see `attend_in_layers`."""
    return _stacked(values, DEEP, [
        Layer(None if sees_all(values.turn, at) else WINDOW) for at in range(n_layers)
    ])  # fmt: skip


def sharing(values: Values) -> Trace:
    """Two layers, and beside them, `shared_`, the same where the second has no keys of its own."""
    trace = _stacked(values, DEEP, [Layer(), Layer()])
    return _stacked(values, SHARED, [Layer(), Layer(keys_of=0)], trace)


def _stacked(values: Values, prefix: str, layers: list[Layer], trace: Trace | None = None) -> Trace:
    made = trace or embed(shared.inputs_of(values))
    vectors = made["embeddings"]
    width = vectors.value.shape[-1]

    def weight(at: int, role: str) -> Step:
        name = f"{DEEP}W_{role}_{at}"
        shape, axes = (width, D_DEEP), ("d_in", f"d_{role}" if role == "value" else "d_query")
        if role == "output":
            shape, axes = shape[::-1], ("d_value", "d_in")
        seed = 30 + 4 * at + ("query", "key", "value", "output").index(role)
        draw = ops.Draw("linear", shape, seed=seed, fan_in=shape[0])
        return made.get(name) or made.step(name, draw, axes=axes)

    roles = "query", "key", "value", "output"
    matrices = [{role: weight(at, role) for role in roles} for at in range(len(layers))]
    attend_in_layers(made, vectors, layers, matrices, prefix=prefix)
    return made


# --- checks ---------------------------------------------------------------------------------------


def absorbed_agrees(trace: Trace) -> tuple[bool, str]:
    """Whether the form without keys and values comes to the same scores and context vectors."""
    names = {"scores": "scores", "context_vectors": "values"}
    pairs = [
        (trace[f"{ABSORBED}{absorbed}"].value, trace[f"{LATENT}{name}"].value)
        for name, absorbed in names.items()
    ]
    told = "Without any key or value of a head, scores and context vectors are the same"
    return agreement(told, pairs, *((trace, f"{LATENT}{name}") for name in names))


def moved_agrees(values: Values) -> tuple[bool, str]:
    """Whether every score stays when the whole text moves."""
    here, there = (placed(values, values.rotary_at, place) for place in (0, MOVED))
    pairs = [(here[f"{LATENT}scores"].value, there[f"{LATENT}scores"].value)]
    told = f"The whole text moved by {MOVED} places: every score stays"
    return agreement(told, pairs, (here, f"{LATENT}scores"), (there, f"{LATENT}scores"))


def lost(trace: Trace, head: int) -> Tensor:
    """For each query of a head, the weight of the keys that were not chosen."""
    return 1 - trace["zeroed_sum"].value[head, :, 0]
