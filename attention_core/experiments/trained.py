"""A trained layer as a trace: every number of one recorded step of a run."""

import torch

from ..mechanism.attention import attention
from ..operations import Given, MatMul, MayLook, Softmax
from ..trace import Trace
from .training import Matrices


def attend_trained(trace: Trace, matrices: Matrices, scaled: bool = True) -> Trace:
    """Add the layer that `training.train` trains, with given matrices, to a trace of embeddings.

    Steps: `W_query`, `W_key`, `W_value` (d_in, d_out), `queries`, `keys`, `values`, `mask`
    (causal), attention on them, `W_output` (d_out, next), `logits` and `probabilities`
    (query, next): what each position expects to come next, among the distinct tokens of the
    sentence. Returns the same trace.
    """
    tokens = trace.labels("token")
    trace.label("next", list(dict.fromkeys(tokens)))
    vectors = trace["embeddings"]
    made = []
    for role, name, row in (
        ("query", "queries", "query"),
        ("key", "keys", "key"),
        ("value", "values", "key"),
    ):
        numbers = _numbers(getattr(matrices, f"W_{role}"))
        matrix = trace.step(f"W_{role}", Given(numbers), axes=("d_in", "d_out"))
        made.append(trace.step(name, MatMul(), vectors, matrix, axes=(row, "d_out")))
    mask = trace.step("mask", MayLook(len(tokens), len(tokens)), axes=("query", "key"))
    context = attention(trace, *made, "sqrt_d" if scaled else "none", mask)
    numbers = _numbers(matrices.W_output)
    W_output = trace.step("W_output", Given(numbers), axes=("d_out", "next"))
    logits = trace.step("logits", MatMul(), context, W_output, axes=("query", "next"))
    trace.step("probabilities", Softmax(), logits, axes=("query", "next"))
    return trace


def _numbers(matrix: torch.Tensor) -> tuple[tuple[float, ...], ...]:
    return tuple(map(tuple, matrix.tolist()))
