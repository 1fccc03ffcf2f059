"""Writing a text token by token: one new query, and keys and values that were kept."""

from attention_core.costs import AttentionSize
from attention_core.mechanism.decoding import DECODED
from attention_core.trace import Trace

from ...frame.lights import agreement
from ...picture.equation_parts import Parts
from ...picture.matrix import Matrix
from ...reactive.control import Values
from .lesson import NEXT, heads


def with_cache(trace: Trace, head: int) -> Parts:
    """The new token's query with all keys, its weights, and its context vector."""
    queries, keys = trace[f"{DECODED}scores"].inputs
    weights = trace[f"{DECODED}weights"]
    return (
        Matrix(queries, lead=(head,)),
        "·",
        Matrix(keys, lead=(head,), transposed=True),
        NEXT,
        Matrix(weights, lead=(head,), title=f"{weights.name}[{head}], with the cache"),
        NEXT,
        Matrix(trace[f"{DECODED}context_vectors"], lead=(head,), column_labels=False),
    )


def same_row(trace: Trace, whole: Trace, place: int) -> tuple[bool, str]:
    """Whether the step gives the rows of the whole computation, in all heads."""
    pairs = []
    for name in ("weights", "context_vectors"):
        row = whole[f"today_{name}"].value[:, place]
        if name == "weights":
            row = row[:, : place + 1]
        pairs.append((trace[f"{DECODED}{name}"].value[:, 0], row))
    if "today_gated_vectors" in whole:
        row = whole["today_gated_vectors"].value[:, place]
        pairs.append((trace[f"{DECODED}gated_vectors"].value[:, 0], row))
    told = "Computed with all queries at once, the new token’s row is the same in every head"
    made = (trace, f"{DECODED}context_vectors"), (whole, "today_context_vectors")
    return agreement(told, pairs, *made)


def products_words(values: Values, place: int) -> str:
    """How many products the step takes with the cache and without, and all steps so far."""
    size = page_size(values)
    step, anew = (size.products_of_step(place, has_cache) for has_cache in (True, False))
    every = [
        sum(size.products_of_step(at, has_cache) for at in range(place + 1))
        for has_cache in (True, False)
    ]
    kept = size.cached(place)
    return (
        f"With the cache this step needs {step:,} multiplications instead of {anew:,}, all so far "
        f"{every[0]:,} instead of {every[1]:,}. The price: {kept:,} numbers kept."
    )


def page_size(values: Values) -> AttentionSize:
    """The sizes of the attention on this page."""
    recipe = heads(values)
    return AttentionSize(
        1,
        values.d_in,
        recipe.n_heads,
        values.kv_heads,
        recipe.d_head,
        recipe.d_value,
        recipe.d_model,
        gated=values.gated,
    )
