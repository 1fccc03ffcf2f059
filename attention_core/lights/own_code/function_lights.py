"""The lights of a function attention(x, W_q, W_k, W_v), measured from outside.

The source of this file is part of the file that checks a learner's own code. It therefore needs
torch and the standard library alone.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from ..light import Light
from .calling import Stopped
from .probe import LARGE, Probe
from .reading import (
    NEAR,
    centred,
    is_near,
    largest_gap,
    logs,
    range_of,
    rows_not_finite,
)
from .sentences import N_TOKENS, Sentence, Widths, all_widths

TOKEN = 3
"""The token that is changed, in the middle of a sentence."""
ALL_ROWS = torch.arange(N_TOKENS)
OTHERS = ALL_ROWS != TOKEN
SEEDS = (0, 1, 2)
MIXES = "tokens mix outside attention (below), so this cannot be told apart"


def function_lights(probe: Probe) -> list[Light]:
    """All lights of a function that runs, but for the first, in their order."""
    measures: dict[str, Callable[[Probe], Light]] = {
        "finite": finite,
        "rows_sum_to_1": rows_sum_to_1,
        "not_negative": not_negative,
        "hidden_is_zero": hidden_is_zero,
        "no_leak": no_leak,
        "own_row": own_row,
        "variance": variance,
        "tokens_apart": tokens_apart,
        "order_free": order_free,
        "any_length": any_length,
        "repeatable": repeatable,
        "both_signs": both_signs,
        "formula": formula,
    }
    compares = {"no_leak", "own_row", "variance", "tokens_apart", "order_free", "formula"}
    reads = {"rows_sum_to_1", "not_negative", "hidden_is_zero", "variance"}
    found = []
    for name, measure in measures.items():
        if not probe.is_repeatable and name in compares | reads:
            light = Light(name, None, "the same input twice gives two outputs (below)")
        elif not probe.output.isfinite().all() and name not in ("finite", "repeatable"):
            light = Light(name, None, "there is nan or infinity in the output (above)")
        elif probe.unread and name in reads:
            light = Light(name, None, probe.unread)
        else:
            try:
                light = measure(probe)
            except Stopped as stopped:
                light = Light(name, False, str(stopped))
        found.append(light)
    return found


def finite(probe: Probe) -> Light:
    """Scores of ±10,000."""
    if not probe.output.isfinite().all():
        rows = ", ".join(f"row {row}" for row in rows_not_finite(probe.output))
        return Light("finite", False, f"with ordinary scores, there is nan in {rows}")
    broken = rows_not_finite(probe.of(probe.large()))
    if broken:
        said = f"with scores of ±{LARGE:,}, there is nan in {len(broken)} of {N_TOKENS} rows"
        return Light("finite", False, said)
    return Light("finite", True, f"scores of ±{LARGE:,} give finite numbers")


def rows_sum_to_1(probe: Probe) -> Light:
    """With ordinary scores and with large ones."""
    sums = probe.weights.sum(-1)
    if is_near(sums, 1.0):
        large = probe.weights_of(probe.large()).sum(-1)
        if not large.isfinite().all() or is_near(large, 1.0):
            gap = float((sums - 1).abs().max())
            return Light("rows_sum_to_1", True, f"the largest deviation is {gap:.1g}")
        said = f"with scores of ±{LARGE:,}, {range_of(large)}"
        return Light("rows_sum_to_1", False, f"{said}; with small ones, to 1")
    return Light("rows_sum_to_1", False, range_of(sums))


def not_negative(probe: Probe) -> Light:
    low = float(probe.weights.min())
    return Light("not_negative", low >= -NEAR, f"the smallest weight is {low:.3g}")


def hidden_is_zero(probe: Probe) -> Light:
    if not probe.causal:
        return Light("hidden_is_zero", None, "nothing is hidden without a causal mask")
    most = float(probe.weights[:, ~probe.seen].abs().max())
    return Light("hidden_is_zero", most <= NEAR / 10, f"a later key gets {most:.3g} at most")


def no_leak(probe: Probe) -> Light:
    """Another token in the middle: what is before it stays."""
    if not probe.causal:
        return Light("no_leak", None, "every token may see every other without a causal mask")
    other = Sentence.drawn(probe.widths.n_heads, seed=1)
    parts = {name: getattr(other, name)[..., 0, :] for name in other._fields}
    changed = probe.of(probe.sentence.with_token(TOKEN, **parts))
    gap = largest_gap(changed[:TOKEN], probe.output[:TOKEN])
    said = f"another token {TOKEN} moves the outputs before it by {gap:.3g} at most"
    return Light("no_leak", gap <= NEAR, said)


def own_row(probe: Probe) -> Light:
    """Another query for one token, whose key and value stay."""
    if tokens_apart(probe).holds is False:
        return Light("own_row", None, MIXES)
    query = -probe.sentence.queries[:, TOKEN]
    moved = (probe.of(probe.sentence.with_token(TOKEN, queries=query)) - probe.output).abs()
    own, others = float(moved[TOKEN].max()), float(moved[OTHERS].max())
    if own <= NEAR and others <= NEAR:
        return Light("own_row", False, f"another query {TOKEN} changes nothing")
    said = f"another query {TOKEN} moves its own row by {own:.2g} and the others by {others:.2g}"
    return Light("own_row", others <= NEAR, said)


def divisors(probe: Probe) -> list[tuple[Widths, float | None]]:
    """What q·k is divided by, at two widths where it takes both; None where by no one number."""
    found = []
    for widths in all_widths(probe.widths.n_heads):
        if widths.d_head < probe.widths.d_head or len(found) == 2:
            continue
        try:
            probed = probe if widths == probe.widths else Probe(probe.call, widths, probe.causal)
        except Stopped:
            continue
        factor = probed.factor()
        found.append((widths, None if factor is None else 1 / factor))
    return found


def variance(probe: Probe) -> Light:
    if tokens_apart(probe).holds is False:
        return Light("variance", None, MIXES)
    found = divisors(probe)
    if any(divisor is None for _, divisor in found):
        said = "the weights are not in the ratios of e to the power of q·k, divided by any number"
        return Light("variance", False, said)
    told = [
        f"by {divisor:.4g} at width {widths.d_head} (√{widths.d_head} = {widths.d_head**0.5:.4g})"
        for widths, divisor in found
    ]
    holds = all(abs(divisor / widths.d_head**0.5 - 1) < 0.01 for widths, divisor in found)
    return Light("variance", holds, f"q·k is divided {' and '.join(told)}")


def tokens_apart(probe: Probe) -> Light:
    """Numbers that no matrix reads, then a whole other token: what is between the others stays."""
    sentence = probe.sentence
    unread = sentence.with_token(TOKEN, unread=-2.0 * sentence.unread[TOKEN])
    moved = largest_gap(probe.of(unread)[OTHERS], probe.output[OTHERS])
    if moved > NEAR:
        said = f"numbers of token {TOKEN} that no matrix reads move the other tokens by {moved:.2g}"
        return Light("tokens_apart", False, said)
    if probe.unread:
        return _unseen_token(probe)
    seen = (probe.seen & OTHERS)[OTHERS]
    if (probe.weights[:, OTHERS][:, seen] <= 0).any():
        said = f"what no matrix reads of token {TOKEN} moves no other token"
        return Light("tokens_apart", True, said)
    other = Sentence.drawn(probe.widths.n_heads, seed=1)
    parts = {name: 2 * getattr(other, name)[:, TOKEN] for name in ("queries", "keys")}
    changed = probe.weights_of(sentence.with_token(TOKEN, **parts))
    before, after = (
        centred(logs(weights[:, OTHERS]), seen) for weights in (probe.weights, changed)
    )
    gap = largest_gap(before, after)
    said = f"another token {TOKEN} moves the ratio of two other weights by {gap:.2g} (as a log)"
    return Light("tokens_apart", gap <= 10 * NEAR, said)


def _unseen_token(probe: Probe) -> Light:
    """A token that nobody else looks at brings another value, where weights cannot be read."""
    queries = probe.sentence.queries.clone()
    queries[..., 0] = 1.0
    queries[:, TOKEN, 0] = -1.0
    keys = probe.sentence.keys.clone()
    keys[:, TOKEN] = 0.0
    keys[:, TOKEN, 0] = -1e3
    unseen = probe.sentence._replace(queries=queries, keys=keys)
    moved = probe.of(unseen.with_token(TOKEN, values=3.0)) - probe.of(unseen)
    gap = float(moved[OTHERS].abs().max())
    said = f"the value of a token that no other looks at moves the others by {gap:.2g}"
    return Light("tokens_apart", gap <= NEAR, said)


def order_free(probe: Probe) -> Light:
    if probe.causal:
        return Light("order_free", None, "a causal mask goes by the order")
    if probe.ways.said() and not probe.hides_later:
        return Light("order_free", None, "a window, or a bias by distance, goes by the order")
    order = ALL_ROWS.flip(0).roll(2)
    gap = largest_gap(probe.of(probe.sentence.ordered(order)), probe.output[order])
    return Light("order_free", gap <= NEAR, f"reordered, the vectors move by {gap:.2g} at most")


def any_length(probe: Probe) -> Light:
    """Sentences of 5 tokens and of 1, and then of 7 again."""
    before = N_TOKENS
    for n_tokens in (5, 1, N_TOKENS):
        try:
            output = probe.of(Sentence.drawn(probe.widths.n_heads, n_tokens))
        except Stopped as stopped:
            said = f"on a sentence of {n_tokens} after one of {before}, {stopped}"
            return Light("any_length", False, said)
        if not output.isfinite().all():
            return Light("any_length", False, f"a sentence of {n_tokens} gives nan")
        before = n_tokens
    return Light("any_length", True, f"sentences of 1, 5 and {N_TOKENS} tokens come out as long")


def repeatable(probe: Probe) -> Light:
    gap = largest_gap(probe.of(probe.sentence).nan_to_num(), probe.output.nan_to_num())
    if probe.call.overwrites:
        said = "it writes into the tensors it is given: the next call would find other numbers"
        return Light("repeatable", False, said)
    return Light("repeatable", probe.is_repeatable, f"the largest difference is {gap:.2g}")


def both_signs(probe: Probe) -> Light:
    values = [Sentence.drawn(probe.widths.n_heads, seed=seed) for seed in SEEDS]
    low = min(float(probe.of(sentence).min()) for sentence in values)
    said = f"the smallest number of {len(SEEDS)} outputs is {low:.2g}"
    return Light("both_signs", low < -NEAR, said)


def formula(probe: Probe) -> Light:
    """Numbers of which none was chosen: what the other lights cannot see shows here."""
    vectors, *drawn = probe.dense()
    gap = largest_gap(probe.call(vectors, *drawn), attended(probe, vectors, *drawn))
    said = f"with matrices drawn at random, the largest difference is {gap:.2g}"
    if probe.unread:
        output, (*_, value) = probe.alone_dense()
        gap = max(gap, largest_gap(output, value))
        said = f"a token alone does not come out as its own value x·W_v: {gap:.2g} off"
    return Light("formula", gap <= NEAR, said)


def attended(probe: Probe, vectors: Tensor, *given: Tensor) -> Tensor:
    """What attention gives in float64, with the ways that were recognised: (token, d_v)."""
    split = [
        each.unflatten(-1, (probe.widths.n_heads, -1)).transpose(0, 1)
        for each in (vectors.double() @ matrix.double() for matrix in given)
    ]
    queries, keys, values = split
    scores = queries @ keys.mT / probe.widths.d_head**0.5 + probe.ways.bias(N_TOKENS)
    weights = scores.masked_fill(~probe.seen, -torch.inf).softmax(-1)
    return (weights @ values).transpose(0, 1).flatten(1)
