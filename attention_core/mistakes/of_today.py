"""Mistakes in what models have added to attention: shared heads, places, windows, caps."""

import math
from dataclasses import replace

from .. import operations as ops
from .base import wrong_lines


@wrong_lines.register
def _(operation: ops.RepeatHeads, heads: str) -> str:
    if operation.one:
        return ""
    times = operation.times
    return f"""
    query heads that follow each other share one: repeat_interleave({times}, dim=-3).
        torch.cat([{heads}] * {times}, dim=-3)  # repeat in place of repeat_interleave
    the heads are dim=-3.
        {heads}.repeat_interleave({times}, dim=-2)  # the keys are repeated, not the heads
    head 0 stands first.
        {operation.code(heads)}.flip(-3)  # the heads are in another order"""


@wrong_lines.register
def _(operation: ops.RotaryAngles) -> str:
    if operation.rates:
        return ""
    first, n_pairs = operation.first, operation.n_pairs
    pairs = f"(torch.arange({n_pairs}).double() / {n_pairs})"

    def angles(later: int, powers: str) -> str:
        ends = f"{first + later}, {first + later + operation.n_tokens}"
        places = f"torch.arange({ends}).double()[:, None]"
        return f"({places} / {float(operation.base)!r} ** {powers}).float()"

    return f"""
    the first row stands at place {first}.
        {angles(1, pairs)}  # places are counted from 1
    pair k is divided by base ** (k / {n_pairs}): there are {n_pairs} pairs.
        {angles(0, f"({pairs} / 2)")}  # half as many turns from pair to pair
    pair k is divided by base ** (k / {n_pairs}), not base ** (2k / {n_pairs}).
        {angles(0, f"({pairs} * 2)")}  # twice as many turns from pair to pair
    later pairs turn slower: divide by the power.
        {angles(0, f"(-{pairs})")}  # the power has the wrong sign"""


@wrong_lines.register
def _(operation: ops.Rotate, vectors: str, angles: str) -> str:
    left, right = f"{vectors}.chunk(2, dim=-1)[0]", f"{vectors}.chunk(2, dim=-1)[1]"
    even, odd = f"{vectors}[..., ::2]", f"{vectors}[..., 1::2]"
    cos, sin = f"{angles}.cos()", f"{angles}.sin()"
    return f"""
    pair k is columns k and k + d/2 here, as the Llama models have it. The paper has \
    neighbours: both are right, but not together.
        torch.stack(({even} * {cos} - {odd} * {sin}, {odd} * {cos} + {even} * {sin}), \
            dim=-1).flatten(-2)  # neighbours are pairs, in place of halves
    left · cos − right · sin, and right · cos + left · sin.
        {operation.code(vectors, f"(-{angles})")}  # turned the other way round
        {operation.code(vectors, f"({math.pi / 2!r} - {angles})")} \
            # sine and cosine have changed places
        {vectors} * torch.cat(({angles}, {angles}), dim=-1).cos()  # only the cosine
        torch.cat(({left} * {cos} + {right} * {sin}, {right} * {cos} + {left} * {sin}), dim=-1) \
            # a plus in both halves
    turn each pair by its angle.
        {vectors}  # nothing is turned"""


@wrong_lines.register
def _(operation: ops.DistanceBias) -> str:
    code, slopes = operation.code(), operation.slopes
    found = f"""
    what is far away gets less: put a minus.
        -({code})  # the sign of ALiBi
    multiply by how many places the key is away.
        {code.replace(".abs()", ".abs().sign()")}  # no distance, only its sign
    the bias grows by the same for every place: no square.
        {code.replace(".abs()", ".square()")}  # the square of the distance
    a key at its own place is 0 places away.
        {f"{code} + ({code})[..., 1:2, :1]" if operation.n_queries > 1 else f"{code} - 1"} \
            # one place too far"""
    if not isinstance(slopes, tuple) or len(slopes) == 1:
        return found
    return f"""{found}
    each head has a slope of its own.
        {replace(operation, slopes=slopes[:1] * len(slopes)).code()} \
            # the same slope for every head
    the order of heads matters.
        {replace(operation, slopes=slopes[::-1]).code()}  # the slopes are in another order"""


@wrong_lines.register
def _(operation: ops.WindowMask) -> str:
    n_queries, n_keys, sinks = operation.n_queries, operation.n_keys, operation.sinks
    left, code = operation.left, operation.code()

    def mask(**changed: int | None) -> str:
        return replace(operation, **changed).code()

    found = f"""
    True means that the query may look, as in scaled_dot_product_attention.
        ~({code})  # the opposite convention"""
    if left is not None:
        narrow = f"{mask(left=left - 1)}  # a window one key too narrow" if left else ""
        found += f"""
    a query sees {left + 1} keys, its own and the {left} before it.
        {mask(left=left + 1)}  # a window one key too wide
        {narrow}
    hide what comes later.
        {mask(right=left)}  # the window looks ahead too
    hide what is too far back.
        {mask(left=None, sinks=0)}  # no window"""
    if sinks:
        without = mask(sinks=0)
        found += f"""
    the first {sinks} stay visible.
        {without}  # the sinks are hidden
    a sink that comes later stays hidden: apply the causal rule last.
        {without} | (torch.arange({n_keys}) < {sinks})  # sinks are seen ahead of time"""
    if operation.right == 0:
        found += f"""
    a query sees its own key and those before it, and none of the future.
        {mask(right=1)}  # one key of the future
        ({code}).mT  # the mask is on the wrong side"""
    return f"""{found}
    hide what the rule hides.
        torch.ones({n_queries}, {n_keys}, dtype=torch.bool)  # nothing is hidden"""


@wrong_lines.register
def _(operation: ops.SoftCap, scores: str) -> str:
    cap = repr(float(operation.cap))
    words = f"{cap} · tanh(score / {cap}): divide before tanh, and multiply after it."
    return f"""
    {words}
        ({scores} / {cap}).tanh()  # not multiplied by the cap again
        {cap} * {scores}.tanh()  # not divided by the cap first
    clamp leaves no slope outside: {words}
        {scores}.clamp(-{cap}, {cap})  # cut off, not bent
    {words}
        {scores}  # nothing is capped"""
