"""The lights of a function attention(x, W_q, W_k, W_v), measured from outside."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from ..light import Light
from .calling import Stopped
from .layer import Layer
from .probe import LARGE, Probe
from .reading import NEAR, centred, is_near, largest_gap, logs, range_of, rows_not_finite
from .sentences import N_TOKENS, Sentence, Widths, all_widths

TOKEN = 3
"""The token that is changed, in the middle of a sentence."""
ALL_ROWS = torch.arange(N_TOKENS)
OTHERS = ALL_ROWS != TOKEN
SEEDS = (0, 1, 2)
MIXES = "tokens mix outside attention (below), so this cannot be told apart"
NO_MASK = "nothing is hidden without a causal mask"
NO_LEAK = "every token may see every other without a causal mask"
OVERWRITES = "it writes into the tensors it is given: the next call would find other numbers"
Measured = tuple[bool | None, str]
"""Whether a light holds, and what was measured."""
READS = ("rows_sum_to_1", "not_negative", "hidden_is_zero", "variance")
"""The lights for which weights are read."""


def function_lights(probe: Probe) -> list[Light]:
    """All lights of a function that runs, but for the first, in their order."""
    compares = ("no_leak", "own_row", "variance", "tokens_apart", "order_free", "formula")
    return looked(probe, MEASURES, (*compares, *READS), READS, probe.unread)


def looked(
    subject: Probe | Layer,
    measures: Sequence[Callable[..., Measured]],
    compares: Sequence[str],
    reads: Sequence[str],
    unread: str,
) -> list[Light]:
    """The lights of what runs, each from its measure. `compares` need one output twice, and `reads`
    need weights; `unread` is why there are none.
    """
    found, is_finite = [], subject.output.isfinite().all()
    for measure in measures:
        name = measure.__name__.removesuffix("_of_module")
        if not subject.is_repeatable and name in compares:
            measured = None, "the same input twice gives two outputs (below)"
        elif not is_finite and name not in ("finite", "repeatable"):
            measured = None, "there is nan or infinity in the output (above)"
        elif unread and name in reads:
            measured = None, unread
        else:
            try:
                measured = measure(subject)
            except Stopped as stopped:
                measured = False, str(stopped)
        found.append(Light(name, *measured))
    return found


def finite(probe: Probe) -> Measured:
    """Scores of ±10,000."""
    if not probe.output.isfinite().all():
        rows = ", ".join(f"row {row}" for row in rows_not_finite(probe.output))
        return False, f"with ordinary scores, there is nan in {rows}"
    broken = rows_not_finite(probe.of(probe.large()))
    if broken:
        return False, f"with scores of ±{LARGE:,}, there is nan in {len(broken)} of {N_TOKENS} rows"
    return True, f"scores of ±{LARGE:,} give finite numbers"


def rows_sum_to_1(probe: Probe) -> Measured:
    """With ordinary scores and with large ones."""
    sums = probe.weights.sum(-1)
    if not is_near(sums, 1.0):
        return False, range_of(sums)
    large = probe.weights_of(probe.large()).sum(-1)
    if not large.isfinite().all() or is_near(large, 1.0):
        return True, f"the largest deviation is {float((sums - 1).abs().max()):.1g}"
    return False, f"with scores of ±{LARGE:,}, {range_of(large)}; with small ones, to 1"


def not_negative(subject: Probe | Layer) -> Measured:
    low = float(subject.weights.min())
    return low >= -NEAR, f"the smallest weight is {low:.3g}"


def hidden_is_zero(subject: Probe | Layer) -> Measured:
    if not subject.causal:
        return None, NO_MASK
    most = float(subject.weights[:, ~subject.seen].abs().max())
    return most <= NEAR / 10, f"a later key gets {most:.3g} at most"


def no_leak(probe: Probe) -> Measured:
    """Another token in the middle: what is before it stays."""
    if not probe.causal:
        return None, NO_LEAK
    other = Sentence.drawn(probe.widths.n_heads, seed=1)
    parts = {name: getattr(other, name)[..., 0, :] for name in other._fields}
    changed = probe.of(probe.sentence.with_token(TOKEN, **parts))
    return before_stays(changed, probe.output, TOKEN)


def before_stays(changed: Tensor, output: Tensor, token: int) -> Measured:
    """Whether the outputs before a token that was changed are what they were."""
    gap = largest_gap(changed[:token], output[:token])
    return gap <= NEAR, f"another token {token} moves the outputs before it by {gap:.3g} at most"


def own_row(probe: Probe) -> Measured:
    """Another query for one token, whose key and value stay."""
    if tokens_apart(probe)[0] is False:
        return None, MIXES
    query = -probe.sentence.queries[:, TOKEN]
    moved = (probe.of(probe.sentence.with_token(TOKEN, queries=query)) - probe.output).abs()
    own, others = float(moved[TOKEN].max()), float(moved[OTHERS].max())
    if own <= NEAR and others <= NEAR:
        return False, f"another query {TOKEN} changes nothing"
    said = f"another query {TOKEN} moves its own row by {own:.2g} and the others by {others:.2g}"
    return others <= NEAR, said


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


def variance(probe: Probe) -> Measured:
    if tokens_apart(probe)[0] is False:
        return None, MIXES
    found = divisors(probe)
    if any(divisor is None for _, divisor in found):
        return False, (
            "the weights are not in the ratios of e to the power of q·k, divided by any number"
        )
    told = [
        f"by {divisor:.4g} at width {widths.d_head} (√{widths.d_head} = {widths.d_head**0.5:.4g})"
        for widths, divisor in found
    ]
    holds = all(abs(divisor / widths.d_head**0.5 - 1) < 0.01 for widths, divisor in found)
    return holds, f"q·k is divided {' and '.join(told)}"


def tokens_apart(probe: Probe) -> Measured:
    """Numbers that no matrix reads, then a whole other token: what is between the others stays."""
    sentence = probe.sentence
    unread = sentence.with_token(TOKEN, unread=-2.0 * sentence.unread[TOKEN])
    moved = largest_gap(probe.of(unread)[OTHERS], probe.output[OTHERS])
    if moved > NEAR:
        return False, (
            f"numbers of token {TOKEN} that no matrix reads move the other tokens by {moved:.2g}"
        )
    if probe.unread:
        return _unseen_token(probe)
    if (probe.weights[:, OTHERS][:, (probe.seen & OTHERS)[OTHERS]] <= 0).any():
        return True, f"what no matrix reads of token {TOKEN} moves no other token"
    other = Sentence.drawn(probe.widths.n_heads, seed=1)
    parts = {name: 2 * getattr(other, name)[:, TOKEN] for name in ("queries", "keys")}
    changed = probe.weights_of(sentence.with_token(TOKEN, **parts))
    return ratios_stay(probe.weights, changed, probe.seen, TOKEN)


def ratios_stay(weights: Tensor, changed: Tensor, seen: Tensor, token: int) -> Measured:
    """Whether the ratios of two weights stay, of tokens other than the one that was changed."""
    others = torch.arange(len(seen)) != token
    visible = (seen & others)[others]
    before, after = (centred(logs(each[:, others]), visible) for each in (weights, changed))
    gap = largest_gap(before, after)
    said = f"another token {token} moves the ratio of two other weights by {gap:.2g} (as a log)"
    return gap <= 10 * NEAR, said


def _unseen_token(probe: Probe) -> Measured:
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
    return gap <= NEAR, said


def order_free(probe: Probe) -> Measured:
    if not probe.causal and probe.ways.said() and not probe.hides_later:
        return None, "a window, or a bias by distance, goes by the order"
    order = ALL_ROWS.flip(0).roll(2)
    return reordered(probe, order, lambda: probe.of(probe.sentence.ordered(order)))


def reordered(subject: Probe | Layer, order: Tensor, again: Callable[[], Tensor]) -> Measured:
    """Whether the output for reordered tokens is the output, reordered."""
    if subject.causal:
        return None, "a causal mask goes by the order"
    gap = largest_gap(again(), subject.output[order])
    return gap <= NEAR, f"reordered, the vectors move by {gap:.2g} at most"


def any_length(probe: Probe) -> Measured:
    """Sentences of 5 tokens and of 1, and then of 7 again."""
    before = N_TOKENS
    for n_tokens in (5, 1, N_TOKENS):
        try:
            output = probe.of(Sentence.drawn(probe.widths.n_heads, n_tokens))
        except Stopped as stopped:
            return False, f"on a sentence of {n_tokens} after one of {before}, {stopped}"
        if not output.isfinite().all():
            return False, f"a sentence of {n_tokens} gives nan"
        before = n_tokens
    return True, f"sentences of 1, 5 and {N_TOKENS} tokens come out as long"


def repeatable(probe: Probe) -> Measured:
    gap = largest_gap(probe.of(probe.sentence).nan_to_num(), probe.output.nan_to_num())
    if probe.call.overwrites:
        return False, OVERWRITES
    return probe.is_repeatable, f"the largest difference is {gap:.2g}"


def both_signs(probe: Probe) -> Measured:
    values = [Sentence.drawn(probe.widths.n_heads, seed=seed) for seed in SEEDS]
    low = min(float(probe.of(sentence).min()) for sentence in values)
    return low < -NEAR, f"the smallest number of {len(SEEDS)} outputs is {low:.2g}"


def formula(probe: Probe) -> Measured:
    """Numbers of which none was chosen: what the other lights cannot see shows here."""
    vectors, *drawn = probe.dense()
    given = [vectors.double() @ matrix.double() for matrix in drawn]
    gap = largest_gap(probe.call(vectors, *drawn), attended(probe, given))
    said = f"with matrices drawn at random, the largest difference is {gap:.2g}"
    if probe.unread:
        output, (*_, value) = probe.alone_dense()
        gap = max(gap, largest_gap(output, value))
        said = f"a token alone does not come out as its own value x·W_v: {gap:.2g} off"
    return gap <= NEAR, said


def attended(probe: Probe, given: Sequence[Tensor]) -> Tensor:
    """What attention gives of joined queries, keys and values in float64, with the ways that were
    recognised: (token, d_value).
    """
    heads = probe.widths.n_heads
    queries, keys, values = (e.unflatten(-1, (heads, -1)).transpose(0, 1) for e in given)
    scores = queries @ keys.mT / probe.widths.d_head**0.5 + probe.ways.bias(N_TOKENS)
    weights = scores.masked_fill(~probe.seen, -torch.inf).softmax(-1)
    return (weights @ values).transpose(0, 1).flatten(1)


MEASURES = (
    *(finite, rows_sum_to_1, not_negative, hidden_is_zero, no_leak, own_row, variance),
    *(tokens_apart, order_free, any_length, repeatable, both_signs, formula),
)
"""In the order of `TITLES`."""
