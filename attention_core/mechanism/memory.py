"""Attention without softmax, token by token: a memory of one size in the place of a list of keys
and values. Each token writes its value into it, under its key, and reads with its query. Sources:
Katharopoulos et al. 2020, Transformers are RNNs, section 3.4 (the memory); Sun et al. 2023,
Retentive Network, section 2.1 (decay); Schlag et al. 2021, Linear Transformers Are Secretly Fast
Weight Programmers, section 4.2 (the delta rule); Yang et al. 2025, Gated Delta Networks, section
3.1 (both).
"""

import torch

from .. import operations as ops
from ..operations.base import Operation, kind_of
from ..trace import Step, Trace
from ..utils.validation import validated
from .builder import check_shapes

TRACED = "traced_"
"""What the names of the steps begin with that follow each token's value by a name of its own."""


@validated
def attend_with_memory(
    trace: Trace,
    queries: Step,
    keys: Step,
    values: Step,
    *,
    decays: Step | None = None,
    strengths: Step | None = None,
    delta: bool = False,
) -> Step:
    """Add attention with a memory to a trace of `queries` (…, query, d), `keys` (…, key, d) and
    `values` (…, key, d_value), one each a token. Returns the context vectors, `read_vectors`
    (…, query, d_value).

    The memory (…, d, d_value) begins with 0. Token t multiplies all of it by its gate of `decays`
    (…, key, row), where there are some; writes its value under its key, times its gate of
    `strengths`; and reads with its query. By the `delta` rule it writes what its key does not hold
    yet: its value less what its key reads. Steps of token 3: `key_3`, `query_3`, `value_3`,
    `decay_3` and `strength_3`; by the delta rule `found_3` with decay, `held_3` and `missing_3`;
    `write_3` with strengths; `written_3`, the outer product of the key and what is written;
    `memory_3` and `read_3`. Those of the value and the memory are there once more, `traced_` before
    their names, with a 1 in a column of its own as the value of each token: so what a query reads
    says whose it is. Last come `read_from` (…, query, key) and what it makes of the values.

    Raises ValueError, in words, for shapes that do not fit.
    """
    front, (token, width) = keys.axes[:-2], keys.axes[-2:]
    check_shapes({"queries": queries.value, "keys": keys.value, "values": values.value}, front)
    n_tokens = keys.value.shape[-2]
    if (n_queries := queries.value.shape[-2]) != n_tokens:
        raise ValueError(
            f"there are {n_queries} queries but {n_tokens} keys: each token writes, then reads"
        )
    for called, gates in (("decays", decays), ("strengths", strengths)):
        if gates is not None and gates.value.shape[-2:] != (n_tokens, 1):
            raise ValueError(f"{called} are {gates.shape}, but must be {n_tokens} × 1: one a token")
    kind = kind_of(values.value)
    names = ops.Given.of(torch.eye(n_tokens), kind)
    whose = trace.step(f"{TRACED}values", names, axes=(token, "whose"), symbol="I")
    memories: dict[str, Step] = {}
    reads: dict[str, list[Step]] = {"": [], TRACED: []}
    for prefix, of in (("", values), (TRACED, whose)):
        axes = (*front, width, of.axes[-1])
        shape = (*keys.value.shape[:-2], keys.value.shape[-1], of.value.shape[-1])
        nothing, symbol = ops.Given.of(torch.zeros(shape), kind), _symbol("M", prefix, "0")
        memories[prefix] = trace.step(f"{prefix}memory_start", nothing, axes=axes, symbol=symbol)
    for at in range(n_tokens):
        n_before = len(trace)
        mine = _Token(trace, at)
        key, query = mine.row("key", "k", keys), mine.row("query", "q", queries)
        decay = None if decays is None else mine.row("decay", r"\alpha", decays)
        strength = None if strengths is None else mine.row("strength", r"\beta", strengths)
        for prefix, of in (("", values), (TRACED, whose)):
            mine.prefix = prefix
            memory, write = memories[prefix], mine.row("value", "v", of)
            if delta:
                name, symbol = ("held", "h") if decay is None else ("found", "f")
                held = mine.step(name, symbol, ops.MatMul(), key, memory, like=write)
                if decay is not None:
                    held = mine.step("held", "h", ops.Multiply(), held, decay, like=write)
                write = mine.step("missing", r"\delta", ops.Subtract(), write, held, like=write)
            if strength is not None:
                write = mine.step("write", "u", ops.Multiply(), write, strength, like=write)
            written = mine.step("written", "U", ops.TransposedMatMul(), key, write, like=memory)
            if decay is None:
                memory = mine.step("memory", "M", ops.Add(), memory, written, like=memory)
            else:
                fades = (ops.RescaleAndAdd(), memory, decay, written)
                memory = mine.step("memory", "M", *fades, like=memory)
            reads[prefix].append(mine.step("read", "z", ops.MatMul(), query, memory, like=write))
            memories[prefix] = memory
        trace.rounds.append((*trace,)[n_before:])
    rows = (*front, queries.axes[-2])
    joined = ops.JoinRows(n_tokens)
    trace.step("read_from", joined, *reads[TRACED], axes=(*rows, token), symbol="R")
    axes = (*rows, values.axes[-1])
    return trace.step("read_vectors", joined, *reads[""], axes=axes, symbol="Z_M")


class _Token:
    """The steps of one token, of its value or of the name that stands for it."""

    def __init__(self, trace: Trace, at: int) -> None:
        self._trace, self._at, self.prefix = trace, at, ""

    def row(self, name: str, symbol: str, of: Step) -> Step:
        """What is this token's own, as one row on axes that all share, so that they look alike."""
        axes = (*of.axes[:-2], "row", "one" if of.axes[-1] == "row" else of.axes[-1])
        return self._add(name, symbol, ops.Rows(self._at, self._at + 1), of, axes=axes)

    def step(self, name: str, symbol: str, operation: Operation, *of: Step, like: Step) -> Step:
        """A step with the axes of another; in front, those of all heads."""
        front = max((each.axes[:-2] for each in of), key=len)
        return self._add(name, symbol, operation, *of, axes=(*front, *like.axes[-2:]))

    def _add(self, name: str, symbol: str, operation: Operation, *of: Step, axes) -> Step:
        called, symbol = f"{self.prefix}{name}_{self._at}", _symbol(symbol, self.prefix, self._at)
        return self._trace.step(called, operation, *of, axes=axes, symbol=symbol)


def _symbol(symbol: str, prefix: str, at: object) -> str:
    return rf"{symbol}_{{{at}}}" + (r"^{I}" if prefix else "")
