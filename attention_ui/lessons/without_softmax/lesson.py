"""Without softmax: controls, and traces as functions of their values."""

from functools import lru_cache, partial

import torch

from attention_core import operations as ops
from attention_core.mechanism.memory import attend_with_memory
from attention_core.mechanism.trainable import project
from attention_core.mistakes.rewriting import by, left_out, rewritten
from attention_core.text.embedding import embed
from attention_core.trace import Step, Trace

from ...controls.fields import MAX_TOKENS
from ...controls.shared import (
    MAKES_VECTORS,
    PROJECTED,
    inputs_of,
    last_or,
    place_of_token,
    projections_of,
)
from ...frame.lights import agreement
from ...picture.equation_parts import NEW_LINE
from ...picture.matrix import Matrix
from ...reactive.control import Control, Values
from ...reactive.fields import Choice, Decimal, Whole

RULES = {"plain": "Add", "decay": "Decay", "delta": "Delta rule", "both": "Both gates"}
"""How a memory is written; decay and both have a gate, delta and both read before they write."""
WAYS = {
    "plain": "Add",
    "delta": "Delta rule",
    "wrong_sign": "Wrong sign",
    "late_decay": "Decay after the write",
}
"""How the second of two tokens is written: two rules, and two mistakes."""
KEPT = 0.5
"""What decay leaves from the first of the two tokens to the second."""
TWO = {"keys": ((0.6, 0.8),) * 2, "values": ((3.0, -1.0, 2.0), (1.0, 4.0, -2.0))}
"""Two tokens with one key, of length 1, and values of their own; their queries are that key."""
TEXT_LENGTHS = (16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144)
LINEAR_WIDTH = 128
"""Of keys and of values of one head of Qwen3-Next's and Qwen3.5's layers with a memory."""


HALVES = {"look": {"step": 0.5}}
MEMORY_RULE = Control("memory_rule", Choice(RULES), "How the memory is written", "plain")
# It opens on the last token, when the memory holds all that came before.
WRITTEN = place_of_token("written", "Token that is written now", partial(last_or, MAX_TOKENS))
GATE_BIAS = Control("gate_bias", Decimal(-4, 6), "Bias of the decay gate, b", 1.0, **HALVES)
STRENGTH_BIAS = Control("strength_bias", Decimal(-4, 6), "Bias of the writing gate", 2.0, **HALVES)
WRITTEN_BY = Control("written_by", Choice(WAYS), "How the second token is written", "delta")
TEXT_LENGTH = Control("text_length", Whole.among(*TEXT_LENGTHS), "Tokens so far", 4_096,
                      shown="{:,}")  # fmt: skip
CONTROLS = (*MAKES_VECTORS, *PROJECTED, MEMORY_RULE, WRITTEN, GATE_BIAS, STRENGTH_BIAS)
CONTROLS += (WRITTEN_BY, TEXT_LENGTH)


def at_once(values: Values) -> Trace:
    """All tokens at once, none hidden: `unit_queries` (query, d_query) and `unit_keys`
    (key, d_query) of length 1, `scores` (query, key) and `by_scores` (query, d_value), which is
    (QKᵀ)V; `whole_memory` (d_query, d_value) and `by_memory` (query, d_value), which is Q(KᵀV).
    """
    trace = embed(inputs_of(values))
    queries, keys, made = project(trace, projections_of(values))
    queries, keys = (
        trace.step(f"unit_{each.name}", ops.L2Normalize(), each, axes=each.axes)
        for each in (queries, keys)
    )
    table, wide = (queries.axes[0], keys.axes[0]), made.axes[1]
    scores = trace.step("scores", ops.MatMul(transpose=True), queries, keys, axes=table)
    trace.step("by_scores", ops.MatMul(), scores, made, axes=(queries.axes[0], wide))
    axes = (keys.axes[1], wide)
    memory = trace.step("whole_memory", ops.TransposedMatMul(), keys, made, axes=axes)
    trace.step("by_memory", ops.MatMul(), queries, memory, axes=(queries.axes[0], wide))
    return trace


def trace_of(values: Values) -> Trace:
    """The lesson's trace: all at once, and token by token by the rule that is chosen."""
    return by_rule(at_once(values), values, values.memory_rule)


def by_rule(whole: Trace, values: Values, rule: str) -> Trace:
    """The same token by token, by one rule: the steps of `attend_with_memory`, with those of its
    gates. A gate of a token is σ(x · w + b), with `W_decay` and `W_strength` (d_in, row).
    """
    trace, gates = whole.branch(), {}
    if rule in ("decay", "both"):
        gates["decays"] = _gates(trace, "decay", values.gate_bias)
    if rule == "both":
        gates["strengths"] = _gates(trace, "strength", values.strength_bias)
    made = (trace[name] for name in ("unit_queries", "unit_keys", "values"))
    attend_with_memory(trace, *made, delta=rule in ("delta", "both"), **gates)
    return trace


def _gates(trace: Trace, name: str, bias: float) -> Step:
    vectors, one = trace["embeddings"], ("key", "row")
    width = vectors.value.shape[-1]
    draw = ops.Draw("linear", (width, 1), seed={"decay": 11, "strength": 12}[name], fan_in=width)
    matrix = trace.step(f"W_{name}", draw, axes=(vectors.axes[-1], "row"))
    scores = trace.step(f"{name}_scores", ops.MatMul(), vectors, matrix, axes=one)
    moved = trace.step(f"moved_{name}_scores", ops.Shift(bias), scores, axes=one)
    return trace.step(f"{name}s", ops.Sigmoid(), moved, axes=one)


# --- one token ------------------------------------------------------------------------------------


def written_now(trace: Trace, token: int, is_narrow: bool = False) -> list[Matrix | str]:
    """What one token does, in up to four lines: read, missing, written, the memory then. Where the
    matrices are narrow, what is missing and what is written share a line.
    """

    def drawn(name: str, title: str = "", **look) -> Matrix:
        return Matrix(trace[f"{name}_{token}"], title=title or name, **look)

    def has(name: str) -> bool:
        return f"{name}_{token}" in trace

    before = Matrix(trace[f"memory_{token - 1 if token else 'start'}"], title="memory before")
    decay = drawn("decay", "α", column_labels=False) if has("decay") else None
    write = drawn("value")
    lines: list[list[Matrix | str]] = [[], [], [], []]
    if has("missing"):
        last = drawn("held" if has("held") else "found", "held")
        fade = [drawn("found"), "⊙", decay, "="] if has("found") and has("held") else []
        minus = "−" if isinstance(trace[f"missing_{token}"].operation, ops.Subtract) else "+"
        lines[0] += [drawn("key"), "·", before, "=", *fade, last]
        lines[1] += [write, minus, last, "=", drawn("missing")]
        write = drawn("missing")
    if has("write"):
        lines[1] += ["⊙", drawn("strength", "β", column_labels=False), "=", drawn("write")]
        write = drawn("write")
    lines[2] += [drawn("key", "keyᵀ", transposed=True), "·", write, "=", drawn("written")]
    fades = ["⊙", decay] if decay else []
    added = ["+", drawn("written"), "="]
    late = [*added, drawn("both_memory", "both"), *fades, "="] if has("both_memory") else []
    lines[3] += [before, *(late or (*fades, *added)), drawn("memory")]
    lines[3] += ["|", drawn("query"), "·", drawn("memory"), "=", drawn("read")]
    if is_narrow and lines[1]:
        lines[1:3] = [[*lines[1], "|", *lines[2]]]
    used = [line for line in lines if line]
    return [part for line in used for part in (NEW_LINE, *line)][1:]


# --- two tokens with one key ----------------------------------------------------------------------


@lru_cache(maxsize=len(WAYS))
def two_tokens(way: str) -> Trace:
    """Two tokens that have one key, the second of which is written in one of `WAYS`."""
    trace = Trace(query=("first", "second"), key=("first", "second"))
    made = [
        trace.step(name, ops.Given(TWO.get(name, TWO["keys"])), axes=axes)
        for name, axes in (
            ("queries", ("query", "d_query")),
            ("keys", ("key", "d_query")),
            ("values", ("key", "d_value")),
        )
    ]
    decays = trace.step("decays", ops.Given(((1.0,), (KEPT,))), axes=("key", "row"))
    gate = {"decays": decays} if way == "late_decay" else {}
    attend_with_memory(trace, *made, delta=way != "plain", **gate)
    if way == "wrong_sign":
        return rewritten(trace, {"missing_1": by(ops.Add())})
    return decayed_late(trace, 1) if way == "late_decay" else trace


def decayed_late(trace: Trace, *tokens: int) -> Trace:
    """The same with the memory multiplied by a token's gate after that token has written."""

    def late(new: Trace, step: Step, inputs: tuple[Step, ...]) -> Step:
        before, decay, written = inputs
        both = new.step(f"both_{step.name}", ops.Add(), before, written, axes=step.axes)
        return new.again(step, both, decay, by=ops.Multiply())

    makes = {f"memory_{at}": late for at in tokens}
    return rewritten(trace, makes | {f"held_{at}": left_out for at in tokens})


# --- checks ---------------------------------------------------------------------------------------


def brackets_agree(trace: Trace) -> tuple[bool, str]:
    """Whether both places of the brackets give the same, with the largest difference."""
    pairs = [(trace["by_memory"].value, trace["by_scores"].value)]
    return agreement("Both are the same", pairs, (trace, "by_scores"), (trace, "by_memory"))


def table_agrees(trace: Trace) -> tuple[bool, str]:
    """Whether the table makes of the values what was read from the memory."""
    pairs = [(trace["read_from"].value @ trace["values"].value, trace["read_vectors"].value)]
    told = "The table times the values is what was read"
    return agreement(told, pairs, (trace, "read_vectors"), (trace, "read_from"))


def loops_agree(trace: Trace) -> tuple[bool, str]:
    """Whether plain torch, four lines a token, reads the same."""
    queries, keys, values = (trace[n].value for n in ("unit_queries", "unit_keys", "values"))
    ones = torch.ones(len(keys), 1)
    decays, strengths = (trace[n].value if n in trace else ones for n in ("decays", "strengths"))
    memory, reads = torch.zeros(keys.shape[1], values.shape[1]), []
    for query, key, value, decay, strength in zip(
        queries, keys, values, decays, strengths, strict=True
    ):
        memory = decay * memory
        held = key @ memory if "missing_0" in trace else 0.0
        memory = memory + torch.outer(key, strength * (value - held))
        reads.append(query @ memory)
    pairs = [(torch.stack(reads), trace["read_vectors"].value)]
    told = "A loop over the tokens in torch reads the same"
    return agreement(told, pairs, (trace, "read_vectors"))
