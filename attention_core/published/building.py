"""The trace of each lesson, from an example's own inputs."""

from collections.abc import Callable

from ..examples import Example
from ..mechanism.masking import attend_masked
from ..mechanism.multi_head import add_batched, attend_heads, expand_word
from ..mechanism.simplified import SimplifiedOptions, attend, expand_query
from ..mechanism.softmax import compare_row, normalise_row
from ..mechanism.token_axis import attend_on_tokens, attend_on_tokens_by_heads, decode
from ..mechanism.trainable import add_other_ways, attend_trainable, expand_token
from ..text.embedding import embed
from ..trace import Trace


def _tokenize(example: Example, _: int | None) -> Trace:
    return embed(example.inputs)


def _simplified(example: Example, query: int | None) -> Trace:
    trace = attend(embed(example.inputs), SimplifiedOptions(divide=example.divide))
    return trace if query is None else expand_query(trace, query)


def _softmax_or_sum(example: Example, query: int | None) -> Trace:
    trace = embed(example.inputs)
    if query is None:
        return trace
    return normalise_row(compare_row(trace, query, SimplifiedOptions(divide=example.divide)))


def _qkv(example: Example, query: int | None) -> Trace:
    trace = attend_trainable(embed(example.inputs), example.projections)
    return trace if query is None else expand_token(trace, query)


def _qkv_linear(example: Example, _: int | None) -> Trace:
    return add_other_ways(attend_trainable(embed(example.inputs), example.linear))


def _qkv_again(example: Example, _: int | None) -> Trace:
    again = example.drawn_again or example.projections
    return attend_trainable(embed(example.inputs), again)


def _qkv_wrong_axis(example: Example, _: int | None) -> Trace:
    return attend_trainable(embed(example.inputs), example.projections, softmax_dim=-2)


def _causal(example: Example, _: int | None) -> Trace:
    return attend_masked(embed(example.inputs), scale=example.divide)


def _multi_head(example: Example, query: int | None) -> Trace:
    trace = add_batched(attend_heads(embed(example.inputs), example.heads))
    return trace if query is None else expand_word(trace, query)


def _multi_head_wrong_axis(example: Example, _: int | None) -> Trace:
    return attend_heads(embed(example.inputs), example.heads, softmax_dim=-3)


def _token_axis(example: Example, _: int | None) -> Trace:
    trace = attend_on_tokens(embed(example.inputs))
    attend_on_tokens_by_heads(trace, n_heads=3)
    return trace


def _decoder(example: Example, query: int | None) -> Trace:
    return decode(_token_axis(example, query))


BUILDERS: dict[str, Callable[[Example, int | None], Trace]] = {
    "tokenize": _tokenize,
    "simplified": _simplified,
    "qkv": _qkv,
    "qkv_linear": _qkv_linear,
    "qkv_again": _qkv_again,
    "qkv_wrong_axis": _qkv_wrong_axis,
    "causal": _causal,
    "multi_head": _multi_head,
    "multi_head_wrong_axis": _multi_head_wrong_axis,
    "token_axis": _token_axis,
    "decoder": _decoder,
    "softmax_or_sum": _softmax_or_sum,
}
"""By lesson: an example, and the row to expand or None, to the trace the lesson shows."""
