"""Stories of “Life is short”: softmax along another axis, ids with gaps, and heads left apart."""

import torch

from ...examples import EXAMPLES
from ...text.vocabulary import Vocabulary
from .story import Figures, Story
from .tracing import LIFE, apart, traced


def _axis_0() -> Figures:
    right, wrong = traced(LIFE, "qkv"), traced(LIFE, "qkv_wrong_axis")
    weights = wrong["weights"].value
    vectors, right_vectors = (each["context_vectors"].value for each in (wrong, right))
    longest = int(vectors.norm(dim=-1).argmax())
    return {
        "sums": weights.sum(dim=-1),
        "total": weights.sum().item(),
        "first": vectors[0, 0].item(),
        "right_first": right_vectors[0, :4],
        "row": longest,
        "length": vectors[longest].norm().item(),
        "right_length": right_vectors[longest].norm().item(),
        "apart": apart(vectors, right_vectors),
        "right_sums": right["weights"].value.sum(dim=-1),
        "n_lost": int((weights.sum(dim=-1) < 0.01).sum()),
        "n": len(weights),
    }


def _over_heads() -> Figures:
    right, wrong = traced(LIFE, "multi_head"), traced(LIFE, "multi_head_wrong_axis")
    weights, right_weights = (each["head_weights"].value for each in (wrong, right))
    vectors, right_vectors = (each["head_context_vectors"].value for each in (wrong, right))
    sums = weights.sum(dim=-1)
    return {
        "n_heads": len(weights),
        "total": weights.sum().item(),
        "sums": [sums.min().item(), sums.max().item()],
        "row": vectors[0, 0, :4],
        "right_total": right_weights.sum().item(),
        "right_row": right_vectors[0, 0, :4],
        "apart": apart(vectors, right_vectors),
        "relative": ((vectors - right_vectors).norm() / right_vectors.norm()).item(),
    }


def _dictionary() -> Figures:
    tokens = EXAMPLES[LIFE].inputs.tokens
    given, right = Vocabulary.with_duplicates(tokens), Vocabulary.distinct(tokens, ())
    ids, width = given.ids(tokens), EXAMPLES[LIFE].inputs.d_in
    unused = sorted({*range(given.n_rows)} - {*ids})
    return {
        "ids": sorted({*ids}),
        "unused": unused,
        "largest": max(ids),
        "n_rows": right.n_rows,
        "n_unused": len(unused) * width,
        "n_parameters": given.n_rows * width,
        "right_ids": sorted({*right.ids(tokens)}),
        "sentence": right.ids(tokens),
    }


def _not_joined() -> Figures:
    trace = traced(LIFE, "multi_head")
    n_heads, n_tokens, width = trace["head_context_vectors"].value.shape
    return {
        "shape": [n_heads, n_tokens, width],
        "joined": list(trace["concat"].value.shape),
        "output": list(trace["output"].value.shape),
        "share": EXAMPLES[LIFE].inputs.d_in / n_heads,
        "widths": [EXAMPLES[LIFE].heads.d_head, width],
    }


def _query_shape() -> Figures:
    query = traced(LIFE, "multi_head", 0)["one_head_query"].value
    return {
        "n_heads": len(query),
        "d_in": EXAMPLES[LIFE].inputs.d_in,
        "shape": list(query.shape),
    }


def _positions() -> Figures:
    trace = traced(LIFE, "qkv")
    tokens, vectors = trace.labels("token"), trace["context_vectors"].value
    figures: Figures = {}
    for word in ("life", "is"):
        rows = [place for place, token in enumerate(tokens) if token == word]
        figures |= {f"{word}_rows": rows, f"{word}_apart": apart(*vectors[rows])}
    return figures


def _rand_init() -> Figures:
    figures: Figures = {}
    for name, lesson in (("rand", "qkv"), ("linear", "qkv_linear")):
        trace = traced(LIFE, lesson)
        scores, scaled = trace["scores"].value, trace["scaled_scores"].value
        top = trace["weights"].value.amax(dim=-1)
        slope = top.double() * (1 - top.double())
        figures |= {
            f"{name}_scores": [scores.min().item(), scores.max().item()],
            f"{name}_scaled": [scaled.min().item(), scaled.max().item()],
            f"{name}_tops": top,
            f"{name}_top": [top.min().item(), top.max().item()],
            f"{name}_second_slope": slope.sort().values[-2].item(),
            f"{name}_slope": [slope.min().item(), slope.max().item()],
            f"{name}_sure": int((top > 0.99995).sum()),
            f"{name}_n": len(top),
        }
    trace = traced("journey_123", "qkv")
    contexts, values = trace["context_vectors"].value, trace["values"].value
    weights, scores = trace["weights"].value, trace["scores"].value
    return figures | {
        "flat_scores": [scores.min().item(), scores.max().item()],
        "flat_weights": [weights.min().item(), weights.max().item()],
        "flat_contexts": contexts.amax(dim=0) - contexts.amin(dim=0),
        "flat_values": values.amax(dim=0) - values.amin(dim=0),
    }


def _stability() -> Figures:
    trace = traced(LIFE, "qkv")
    sums = trace["weights"].value.sum(dim=-1)
    scores = trace["scores"].value
    return {
        "sum": sums.mean().item(),
        "least": trace["weights"].value.min().item(),
        "lost": int((scores.exp() / scores.exp().sum(dim=-1, keepdim=True)).isnan().sum()),
        "kept": int(torch.isnan(scores.softmax(dim=-1)).sum()),
    }


STORIES = (
    Story(
        "softmax_axis0",
        "Softmax down the columns",
        LIFE,
        "For one word the notebook does it right; for all words its softmax goes down the columns. "
        "The rows sum to {sums:.4f}, so {n_lost} of {n} words lose nearly everything: row 0 begins "
        "with {first:.4e}, where the same word alone gave {right_first:.4f|, }. The printed check "
        "is the total, {total:.0f} either way.",
        "Along the last axis every row sums to 1, and row 0 is as before. Row {row} is "
        "{right_length:.2f} long and not {length:.2f}; the largest change is {apart:.2f}.",
        _axis_0,
        "softmax_over_queries",
    ),
    Story(
        "heads_normalised",
        "Softmax over the heads",
        LIFE,
        "A third axis came in front, and `dim=0` is now the heads: the {n_heads} weights of each "
        "pair of words sum to 1, all together to {total:.0f}, and rows to between {sums:.2f}. Head "
        "0 begins with {row:.4f|, }.",
        "With `dim=-1` all together sum to {right_total:.0f}, and head 0 begins with "
        "{right_row:.4f|, }; the largest change is {apart:.2f}, and all changes together are "
        "{relative:.2f} times as long as the right vectors.",
        _over_heads,
        "heads_normalised",
    ),
    Story(
        "duplicate_dictionary",
        "A dictionary with gaps",
        LIFE,
        "The words were sorted and numbered with their repeats, so the ids are {ids}; {unused} are "
        "nobody's. A table of {n_rows} rows, one for each word, has no row {largest}, and in the "
        "notebook's larger one {n_unused} of {n_parameters} parameters are never used.",
        "Distinct words first: the ids are {right_ids}, and the sentence {sentence:| }.",
        _dictionary,
        "dictionary_with_gaps",
    ),
    Story(
        "rand_init",
        "Matrices with nothing below 0",
        LIFE,
        "`torch.rand` lies between 0 and 1, so all products pile up: scores lie between "
        "{rand_scores:.0f}, divided by √d between {rand_scaled:.1f}, and {rand_sure} of {rand_n} "
        "rows give nearly everything to one word. In “Your journey”, with small vectors, the same "
        "start does the opposite: weights lie between {flat_weights:.2f}, and context vectors "
        "differ by only {flat_contexts:.4f} where values differ by {flat_values:.4f}.",
        "Started as `nn.Linear` does it, scores lie between {linear_scores:.2f}, and the largest "
        "weights between {linear_top:.3f}. The slope of softmax there, p(1 − p), is between "
        "{linear_slope:.2f} and no longer almost 0.",
        _rand_init,
    ),
    Story(
        "no_output_projection",
        "Heads that are never joined",
        LIFE,
        "The notebook stops where the heads are still apart, {shape:|×}, each with queries and "
        "values as wide as a head alone has, {widths}.",
        "Side by side they are {joined:|×}, and W_output brings them back to the model's width: "
        "{output:|×}.",
        _not_joined,
    ),
    Story(
        "shape_statement",
        "A shape in words",
        LIFE,
        "The text says that a query of all heads is {n_heads} by {d_in}, heads by the width of an "
        "embedding.",
        "The cell below prints it: {shape:|×}, heads by the width of a query.",
        _query_shape,
    ),
    Story(
        "stability_statement",
        "What softmax is for",
        LIFE,
        "The text says that scores are normalised to be more stable. Softmax by itself does not "
        "give that: as its formula is written, {lost} weights of these scores would be lost.",
        "It makes weights that are positive and sum to {sum:.0f}. What keeps them stable is the "
        "largest score, subtracted first ({kept} are lost then), and the division by √d.",
        _stability,
    ),
    Story(
        "no_positions",
        "The same word twice",
        LIFE,
        "“life” stands in rows {life_rows} and “is” in rows {is_rows}, and both pairs come out "
        "alike: they differ by {life_apart:.0f} and {is_apart:.0f}.",
        "Nothing says where a word stands. Positions, added to the vectors, do.",
        _positions,
    ),
)
