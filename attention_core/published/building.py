"""The trace of each lesson, from an example's own inputs."""

from collections.abc import Callable

from ..examples import EXAMPLES, Example
from ..mechanism.masking import attend_masked
from ..mechanism.multi_head import add_batched, attend_heads, expand_word
from ..mechanism.simplified import SimplifiedOptions, attend, expand_query
from ..mechanism.softmax import compare_row, normalise_row
from ..mechanism.token_axis import attend_on_tokens, attend_on_tokens_by_heads, decode
from ..mechanism.trainable import add_other_ways, attend_trainable, expand_token
from ..text.embedding import embed
from ..trace import Trace
from .recipe import Place, TraceOf

Builder = Callable[[Example, int | None], Trace]


def _built(
    steps: Callable[[Trace, Example], Trace], expand: Callable[[Trace, int], Trace] | None = None
) -> Builder:
    """Steps on an example's embeddings, and those of the row that is expanded."""

    def build(example: Example, query: int | None) -> Trace:
        trace = steps(embed(example.inputs), example)
        return trace if query is None or expand is None else expand(trace, query)

    return build


def _softmax_or_sum(example: Example, query: int | None) -> Trace:
    trace = embed(example.inputs)
    if query is None:
        return trace
    return normalise_row(compare_row(trace, query, SimplifiedOptions(divide=example.divide)))


def _token_axis(trace: Trace, _: Example) -> Trace:
    attend_on_tokens_by_heads(attend_on_tokens(trace), n_heads=3)
    return trace


def _heads_redrawn(trace: Trace, example: Example) -> Trace:
    """The decoder, after which its first heads are called again on the same sentence."""
    trace = decode(_token_axis(trace, example))
    attend_on_tokens_by_heads(trace, 3, prefix="again_", output="again_output")
    return trace


BUILDERS: dict[str, Builder] = {
    "tokenize": _built(lambda trace, _: trace),
    "simplified": _built(
        lambda trace, its: attend(trace, SimplifiedOptions(divide=its.divide)), expand_query
    ),
    "qkv": _built(lambda trace, its: attend_trainable(trace, its.projections), expand_token),
    "qkv_linear": _built(lambda trace, its: add_other_ways(attend_trainable(trace, its.linear))),
    "qkv_again": _built(
        lambda trace, its: attend_trainable(trace, its.drawn_again or its.projections)
    ),
    "qkv_wrong_axis": _built(
        lambda trace, its: attend_trainable(trace, its.projections, softmax_dim=-2)
    ),
    "causal": _built(lambda trace, its: attend_masked(trace, scale=its.divide)),
    "causal_divided": _built(lambda trace, _: attend_masked(trace)),
    "multi_head": _built(
        lambda trace, its: add_batched(attend_heads(trace, its.heads)), expand_word
    ),
    "multi_head_wrong_axis": _built(
        lambda trace, its: attend_heads(trace, its.heads, softmax_dim=-3)
    ),
    "token_axis": _built(_token_axis),
    "decoder": _built(lambda trace, its: decode(_token_axis(trace, its))),
    "heads_redrawn": _built(_heads_redrawn),
    "softmax_or_sum": _softmax_or_sum,
}
"""By lesson: an example, and the row to expand or None, to the trace the lesson shows."""


def traces() -> TraceOf:
    """The traces that recipes read: each is built when the first asks for it, and once."""
    built: dict[tuple, Trace] = {}

    def trace_of(place: Place) -> Trace:
        key = (place.example, place.lesson, place.query)
        if key not in built:
            built[key] = BUILDERS[place.lesson](EXAMPLES[place.example], place.query)
        return built[key]

    return trace_of
