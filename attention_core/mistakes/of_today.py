"""Mistakes in what models have added to attention: shared heads, places, windows, caps."""

import math

from .. import operations as ops
from .base import Mistake, mistakes


@mistakes.register
def _(operation: ops.RepeatHeads, heads: str) -> tuple[Mistake, ...]:
    if operation.one:
        return ()
    times = operation.times
    words = f"query heads that follow each other share one: repeat_interleave({times}, dim=-3)."
    return (
        Mistake(
            "repeat in place of repeat_interleave", words, f"torch.cat([{heads}] * {times}, dim=-3)"
        ),
        Mistake(
            "the keys are repeated, not the heads",
            "the heads are dim=-3.",
            f"{heads}.repeat_interleave({times}, dim=-2)",
        ),
        Mistake(
            "the heads are in another order",
            "head 0 stands first.",
            f"{operation.code(heads)}.flip(-3)",
        ),
    )


@mistakes.register
def _(operation: ops.MeanHeads, heads: str) -> tuple[Mistake, ...]:
    times = operation.times
    return (
        Mistake(
            "heads that do not follow each other",
            f"the first {times} heads make the first one: unflatten(0, (-1, {times})).",
            f"{heads}.unflatten(0, ({times}, -1)).mean(dim=0)",
        ),
        Mistake(
            "a sum in place of a mean",
            f"divide by {times}.",
            f"{heads}.unflatten(0, (-1, {times})).sum(dim=1)",
        ),
        Mistake(
            "the first head of each group",
            "take the mean of all heads of the group.",
            f"{heads}[::{times}]",
        ),
    )


@mistakes.register
def _(operation: ops.RotaryAngles) -> tuple[Mistake, ...]:
    if operation.rates:
        return ()
    first, end, n_pairs = operation.first, operation.first + operation.n_tokens, operation.n_pairs
    pairs = f"(torch.arange({n_pairs}).double() / {n_pairs})"
    base = repr(float(operation.base))

    def angles(first: int, end: int, powers: str) -> str:
        places = f"torch.arange({first}, {end}).double()[:, None]"
        return f"({places} / {base} ** {powers}).float()"

    return (
        Mistake(
            "places are counted from 1",
            f"the first row stands at place {first}.",
            angles(first + 1, end + 1, pairs),
        ),
        Mistake(
            "half as many turns from pair to pair",
            f"pair k is divided by base ** (k / {n_pairs}): there are {n_pairs} pairs.",
            angles(first, end, f"({pairs} / 2)"),
        ),
        Mistake(
            "twice as many turns from pair to pair",
            f"pair k is divided by base ** (k / {n_pairs}), not base ** (2k / {n_pairs}).",
            angles(first, end, f"({pairs} * 2)"),
        ),
        Mistake(
            "the power has the wrong sign",
            "later pairs turn slower: divide by the power.",
            angles(first, end, f"(-{pairs})"),
        ),
    )


@mistakes.register
def _(operation: ops.Rotate, vectors: str, angles: str) -> tuple[Mistake, ...]:
    left, right = f"{vectors}.chunk(2, dim=-1)[0]", f"{vectors}.chunk(2, dim=-1)[1]"
    even, odd = f"{vectors}[..., ::2]", f"{vectors}[..., 1::2]"
    turned = "left · cos − right · sin, and right · cos + left · sin."
    return (
        Mistake(
            "neighbours are pairs, in place of halves",
            "pair k is columns k and k + d/2 here, as the Llama models have it. The paper has "
            "neighbours: both are right, but not together.",
            f"torch.stack(({even} * {angles}.cos() - {odd} * {angles}.sin(), "
            f"{odd} * {angles}.cos() + {even} * {angles}.sin()), dim=-1).flatten(-2)",
        ),
        Mistake("turned the other way round", turned, operation.code(vectors, f"(-{angles})")),
        Mistake(
            "sine and cosine have changed places",
            turned,
            operation.code(vectors, f"({math.pi / 2!r} - {angles})"),
        ),
        Mistake(
            "only the cosine",
            turned,
            f"{vectors} * torch.cat(({angles}, {angles}), dim=-1).cos()",
        ),
        Mistake(
            "a plus in both halves",
            turned,
            f"torch.cat(({left} * {angles}.cos() + {right} * {angles}.sin(), "
            f"{right} * {angles}.cos() + {left} * {angles}.sin()), dim=-1)",
        ),
        Mistake("nothing is turned", "turn each pair by its angle.", vectors),
    )


@mistakes.register
def _(operation: ops.DistanceBias) -> tuple[Mistake, ...]:
    code = operation.code()
    found = (
        Mistake("the sign of ALiBi", "what is far away gets less: put a minus.", f"-({code})"),
        Mistake(
            "no distance, only its sign",
            "multiply by how many places the key is away.",
            code.replace(".abs()", ".abs().sign()"),
        ),
        Mistake(
            "the square of the distance",
            "the bias grows by the same for every place: no square.",
            code.replace(".abs()", ".square()"),
        ),
        Mistake(
            "one place too far",
            "a key at its own place is 0 places away.",
            f"{code} + ({code})[..., 1:2, :1]" if operation.n_queries > 1 else f"{code} - 1",
        ),
    )
    if not isinstance(operation.slopes, tuple) or len(operation.slopes) == 1:
        return found
    first = operation.slopes[0]
    alike = ops.DistanceBias((first,) * len(operation.slopes), *_sizes(operation)).code()
    turned = ops.DistanceBias(operation.slopes[::-1], *_sizes(operation)).code()
    return (
        *found,
        Mistake("the same slope for every head", "each head has a slope of its own.", alike),
        Mistake("the slopes are in another order", "the order of heads matters.", turned),
    )


def _sizes(operation: ops.DistanceBias) -> tuple[int, int, int, str | None]:
    return operation.n_queries, operation.n_keys, operation.offset, operation.precision


@mistakes.register
def _(operation: ops.LookWithin) -> tuple[Mistake, ...]:
    n_queries, n_keys, offset = operation.n_queries, operation.n_keys, operation.offset
    left, right, sinks = operation.left, operation.right, operation.sinks

    def mask(left: int | None, right: int | None, offset: int, sinks: int) -> str:
        return ops.LookWithin(n_queries, n_keys, left, right, offset, sinks).code()

    found = [
        Mistake(
            "the opposite convention",
            "True means that the query may look, as in scaled_dot_product_attention.",
            f"~({operation.code()})",
        ),
    ]
    if left is not None:
        row = f"a query sees {left + 1} keys, its own and the {left} before it."
        found.append(
            Mistake("a window one key too wide", row, mask(left + 1, right, offset, sinks))
        )
        if left:
            narrow = mask(left - 1, right, offset, sinks)
            found.append(Mistake("a window one key too narrow", row, narrow))
        both = mask(left, left, offset, sinks)
        found.append(Mistake("the window looks ahead too", "hide what comes later.", both))
        alone = mask(None, right, offset, 0)
        found.append(Mistake("no window", "hide what is too far back.", alone))
    if sinks:
        without = mask(left, right, offset, 0)
        found.append(Mistake("the sinks are hidden", f"the first {sinks} stay visible.", without))
        ahead = f"{without} | (torch.arange({n_keys}) < {sinks})"
        words = "a sink that comes later stays hidden: apply the causal rule last."
        found.append(Mistake("sinks are seen ahead of time", words, ahead))
    if right == 0:
        words = "a query sees its own key and those before it, and none of the future."
        found.append(Mistake("one key of the future", words, mask(left, 1, offset, sinks)))
        found.append(Mistake("the mask is on the wrong side", words, f"({operation.code()}).mT"))
    nothing = f"torch.ones({n_queries}, {n_keys}, dtype=torch.bool)"
    found.append(Mistake("nothing is hidden", "hide what the rule hides.", nothing))
    return tuple(found)


@mistakes.register
def _(operation: ops.SoftCap, scores: str) -> tuple[Mistake, ...]:
    cap = f"{float(operation.cap)!r}"
    words = f"{cap} · tanh(score / {cap}): divide before tanh, and multiply after it."
    return (
        Mistake("not multiplied by the cap again", words, f"({scores} / {cap}).tanh()"),
        Mistake("not divided by the cap first", words, f"{cap} * {scores}.tanh()"),
        Mistake(
            "cut off, not bent",
            f"clamp leaves no slope outside: {words}",
            f"{scores}.clamp(-{cap}, {cap})",
        ),
        Mistake("nothing is capped", words, scores),
    )
