"""Stories of “Sorry Dave”: its scores, its masks, and outputs of earlier versions of its cells."""

import math

import torch
from torch import Tensor

from ..printed import notebook
from .story import Figures, Story
from .tracing import DAVE, DAVE_FIRST, apart, future, masked, own, random_sentences, traced, vectors

ROW = 3
"""The row that the notebook works out by hand."""


def _scores(embeddings: Tensor) -> Tensor:
    return embeddings @ embeddings.mT


def _zero_filled(scores: Tensor, divisor: float) -> Tensor:
    return (scores.masked_fill(future(scores.shape[-1]), 0) / divisor).softmax(dim=-1)


def _zero_fill_mask() -> Figures:
    trace = masked(DAVE)
    later = future(8)
    filled, right = trace["zero_filled_weights"].value, trace["weights"].value
    errors = trace["zero_filled_context_vectors"].value - trace["context_vectors"].value
    printed = notebook(DAVE).results["causal_scores_0"].values[0]
    drawn = (_zero_filled(_scores(random_sentences()), math.sqrt(32)) * later).sum(dim=-1)
    return {
        "leak": (filled * later).sum(dim=-1),
        "from_printed": 7 / (math.exp(printed / math.sqrt(32)) + 7),
        "mean_leak": drawn.mean(dim=0),
        "first_mean": drawn[:, 0].mean().item(),
        "largest_leak": drawn.max().item(),
        "right_leak": (right * later).sum().item(),
        "own_right": right[1, 1].item(),
        "own_wrong": filled[1, 1].item(),
        "error": errors.abs().max().item(),
        "error_row": int(errors.abs().amax(dim=-1).argmax()),
    }


def _both_ways(weights: Tensor, embeddings: Tensor) -> tuple[Tensor, Tensor]:
    """Row 3 from its first four terms, as the check has it, and from all of them."""
    seen = slice(ROW + 1)
    return (
        (weights[..., ROW : ROW + 1, seen] @ embeddings[..., seen, :])[..., 0, :],
        (weights[..., ROW : ROW + 1, :] @ embeddings)[..., 0, :],
    )


def _stale_causal_check() -> Figures:
    figures: Figures = {}
    for name, example in (("first", DAVE_FIRST), ("second", DAVE)):
        trace = masked(example)
        given = trace["zero_filled_weights"].value, trace["embeddings"].value
        figures[name] = apart(*_both_ways(*given))
    drawn = random_sentences()
    four, every = _both_ways(_zero_filled(_scores(drawn), math.sqrt(32)), drawn)
    figures["n_drawn"] = len(drawn)
    figures["n_true"] = int(torch.isclose(four, every).all(dim=-1).sum())
    embeddings = vectors(DAVE_FIRST)
    unscaled = _zero_filled(_scores(embeddings), 1)
    figures["unscaled_leak"] = unscaled[ROW, ROW + 1 :].sum().item()
    figures["unscaled_says"] = str(torch.allclose(*_both_ways(unscaled, embeddings)))
    return figures


def _stale_context() -> Figures:
    embeddings = vectors(DAVE_FIRST)
    scores = _scores(embeddings)
    width = embeddings.shape[-1]
    by = {"none": 1.0, "root": math.sqrt(width), "d": float(width)}
    weights = {name: (scores / divisor).softmax(dim=-1) for name, divisor in by.items()}
    contexts = {name: each @ embeddings for name, each in weights.items()}
    return {
        **{f"own_{name}": each[ROW, ROW].item() for name, each in weights.items()},
        "from_embedding": apart(contexts["none"][ROW], embeddings[ROW]),
        "apart": apart(contexts["none"][ROW], contexts["root"][ROW]),
    }


def _mask_after_softmax() -> Figures:
    trace = masked(DAVE_FIRST)
    head = traced(DAVE_FIRST, "token_axis")["weights"].value
    right = trace["renormalised_weights"].value
    return {
        "sums": trace["zeroed_weights"].value.sum(dim=-1),
        "head_sums": (head * ~future(8)).sum(dim=-1),
        "right_sums": right.sum(dim=-1),
        "same": apart(right, trace["weights"].value),
    }


def _missing_scale() -> Figures:
    scores = traced(DAVE_FIRST, "token_axis")["scores"].value
    wrong, right = (weights.softmax(dim=-1) for weights in (scores, scores / math.sqrt(32)))
    entropies = [torch.special.entr(each[0]).sum().item() for each in (wrong, right)]
    return {
        "low": scores.min().item(),
        "high": scores.max().item(),
        "top": wrong.amax(dim=-1),
        "top_right": right.amax(dim=-1),
        "entropy": entropies[0],
        "entropy_right": entropies[1],
        "uniform": math.log(scores.shape[-1]),
    }


def _identity() -> Figures:
    drawn = random_sentences()
    scores = _scores(drawn)
    weights = (scores / math.sqrt(32)).softmax(dim=-1)
    first = own(masked(DAVE_FIRST)["unmasked_weights"].value)
    return {
        "own_score": own(scores).mean().item(),
        "other_score": scores[:, ~torch.eye(8, dtype=torch.bool)].std().item(),
        "mean_own": own(weights).mean().item(),
        "least": first.min().item(),
        "most": first.max().item(),
    }


def _causal_flag() -> Figures:
    trace = traced(DAVE_FIRST, "token_axis")
    weights = trace["head_weights"].value * ~future(8)
    heads = weights @ trace["head_values"].value
    passed_on = torch.cat(list(heads), dim=-1) @ trace["head_W_output"].value
    return {"would_change": apart(passed_on, trace["output"].value)}


def _formula_typo() -> Figures:
    scores = _scores(vectors(DAVE))
    alike = own(scores)[:, None].expand(-1, 8).softmax(dim=-1)
    return {"score": scores[0, 0].item(), "share": alike[0, 0].item(), "other": scores[0, 1].item()}


STORIES = (
    Story(
        "zero_fill_mask",
        "A mask of zeros before softmax",
        DAVE,
        "A score of 0 still gets a share, so words look at what comes after them: by row, "
        "{leak:.4f} of the weight lies on the future. The rows sum to 1 all the same, and that was "
        "the check. Over many random sentences row 0 gives away {first_mean:.4f} on average, and "
        "one row {largest_leak:.3f}.",
        "With −∞ the future gets {right_leak:.0f}. “Dave,” keeps {own_right:.4f} for itself and "
        "not {own_wrong:.4f}; the farthest context vector is off by {error:.4f} (row {error_row}).",
        _zero_fill_mask,
        "zero_in_place_of_infinity",
    ),
    Story(
        "stale_causal_check",
        "A check that was right once",
        DAVE_FIRST,
        "The saved output says True. The cells as they stand give False: the context vector of "
        "row 3 is added up from its first four terms and from all of them, and the two differ by "
        "{first:.4f} in the first run and {second:.4f} in the second. They agree in {n_true} of "
        "{n_drawn} random sentences.",
        "It is {unscaled_says} where nothing divides the scores, since only {unscaled_leak:.0e} "
        "leaks then, so it may be an earlier cell's output. *Restart and run all* before saving "
        "finds such things.",
        _stale_causal_check,
        "zero_in_place_of_infinity",
    ),
    Story(
        "stale_context_3",
        "A context vector from before the division",
        DAVE_FIRST,
        "The vector printed for “afraid” comes from a softmax of undivided scores: the word keeps "
        "{own_none:.7f} of its weight, and the vector is its own embedding to within "
        "{from_embedding:.0e}.",
        "Divided by √d the word keeps {own_root:.4f}, and the vector differs by up to {apart:.4f}; "
        "divided by d it would keep {own_d:.4f}.",
        _stale_context,
        "no_scaling",
    ),
    Story(
        "mask_after_softmax",
        "A mask after softmax",
        DAVE_FIRST,
        "Rows then sum to {sums:.4f} in place of 1, and in the head with matrices to "
        "{head_sums:.4f}: the first words nearly vanish.",
        "Divide each row by its sum, or mask before softmax: all rows sum to 1, and both give the "
        "same weights, to within {same:.0e}.",
        _mask_after_softmax,
        "mask_after_softmax",
    ),
    Story(
        "missing_scale",
        "A head without the division",
        DAVE_FIRST,
        "The head with matrices forgets √d, which the notebook had a page before. Its scores lie "
        "between {low:.1f} and {high:.1f}, and the largest weight of each row is {top:.4f}.",
        "Divided by √d these are {top_right:.4f}. The entropy of row 0 rises from {entropy:.2f} to "
        "{entropy_right:.2f}, where {uniform:.2f} is all alike (in nats).",
        _missing_scale,
        "no_scaling",
    ),
    Story(
        "identity_attention",
        "Vectors that mostly find themselves",
        DAVE_FIRST,
        "Without matrices a random vector is most like itself: its own score is about "
        "{own_score:.0f}, and others lie around ±{other_score:.1f}. A word keeps {mean_own:.3f} of "
        "its weight on average, here from {least:.3f} to {most:.3f}.",
        "It is a good first step, and easy to follow. With W_query and W_key, a word can look for "
        "something other than itself.",
        _identity,
        "queries_as_keys",
    ),
    Story(
        "causal_flag_ignored",
        "A flag that nobody reads",
        DAVE_FIRST,
        "`causal_masking` is accepted and never handed on to the heads: the output is the same "
        "with True and with False, and sees the future either way.",
        "Hand it on to every head. With the notebook's own mask, the output would change by up to "
        "{would_change:.2f}.",
        _causal_flag,
        "mask_ignored",
    ),
    Story(
        "formula_typo",
        "One letter in a formula",
        DAVE,
        "The text writes a score as xᵢ·xᵢ, a vector with itself. Taken at its word, row 0 has "
        "{score:.4f} for every key, and each weight is {share:.3f}. The code does it right.",
        "xᵢ·xⱼ: row 0 has {other:.4f} for key 1.",
        _formula_typo,
    ),
)
