"""Which mistakes fit what was measured of a function: from the first red light to names.

The source of this file is part of the file that checks a learner's own code. It therefore needs
torch and the standard library alone.
"""

from collections.abc import Iterator

import torch
from torch import Tensor

from ..light import Light
from .function_lights import divisors
from .probe import Probe, is_share_of
from .reading import (
    NEAR,
    factor_of_scores,
    hidden_scores,
    is_near,
    is_proportional,
    largest_gap,
    logs,
    may_look,
    rows_not_finite,
)
from .sentences import N_TOKENS


def diagnosed(probe: Probe, lights: list[Light]) -> list[str]:
    """The names of the mistakes that fit the first red light, most likely first; see `LIKELY`."""
    red = [light.name for light in lights if light.holds is False]
    if not red:
        return []
    if probe.widths.n_heads > 1 and _is_split_by_reshape(probe):
        return ["heads_without_transpose"]
    return list(dict.fromkeys(BY_LIGHT[red[0]](probe, red)))


def _behind_nan(probe: Probe, red: list[str]) -> Iterator[str]:
    broken = rows_not_finite(probe.output)
    if not broken:
        if "rows_sum_to_1" in red:  # e to the power of a large score, and nothing to divide it by
            yield from _behind_sums(probe, red)
        rows = rows_not_finite(probe.of(probe.large()))
        # Renormalised: a row that hides nothing is right, one whose largest is hidden is 0/0.
        yield (
            "mask_after_softmax"
            if probe.causal and N_TOKENS - 1 not in rows
            else "softmax_overflow"
        )
        return
    if broken == [0]:
        yield "diagonal_hidden"
    elif broken == [N_TOKENS - 1]:
        yield "mask_opposite"
    elif probe.causal and N_TOKENS - 1 not in broken:
        yield from _of_scores(probe, slice(N_TOKENS - 1, N_TOKENS))
    else:
        yield "softmax_overflow"


def _of_scores(probe: Probe, rows: slice = slice(None)) -> Iterator[str]:
    """What replaces softmax, by rows that are numbers."""
    weights, seen = probe.weights[:, rows], probe.seen[rows]
    scores = probe.sentence.scores()[:, rows]
    if len(weights) > 1 and is_near(weights.sum(0)[seen], 1.0):
        yield "heads_normalised"
    if is_proportional(weights, scores, seen) or is_proportional(weights, scores.abs(), seen):
        yield "divided_by_the_sum" if is_near(weights.sum(-1), 1.0) else "no_softmax"


def _behind_sums(probe: Probe, red: list[str]) -> Iterator[str]:
    weights, scores, seen = probe.weights, probe.sentence.scores(), probe.seen
    if is_near(weights.sum(-1), 1.0):  # wrong with large scores alone
        yield "mask_after_softmax" if probe.causal else "softmax_overflow"
        return
    if is_near(weights[:, seen], 1.0):
        yield "softmax_over_batch"
    elif is_near(weights.sum(-2), 1.0):
        yield "softmax_over_queries"
    elif len(weights) > 1 and is_near(weights.sum(0)[seen], 1.0):
        yield "heads_normalised"
    elif is_near(weights.sum((-2, -1)), 1.0):
        yield "softmax_over_everything"
    yield from _of_scores(probe)
    if "order_free" in red:
        yield "positions_inside"
    factor = factor_of_scores(weights, scores, seen)
    if factor is None:
        return
    full = (factor * scores).softmax(-1)
    if probe.causal and is_near(weights, full * seen):
        yield "mask_after_softmax"
    elif is_near(logs(weights)[:, seen], (factor * scores)[:, seen]):
        yield "not_normalised"


def _behind_negative(probe: Probe, _: list[str]) -> Iterator[str]:
    yield from _of_scores(probe)


def _behind_hidden(probe: Probe, _: list[str]) -> Iterator[str]:
    weights, scores, seen = probe.weights, probe.sentence.scores(), probe.seen
    earlier = torch.ones_like(seen).tril(-1)
    # The last row hides all keys where the mask is the wrong way round: softmax makes them equal.
    if is_near(weights[:, :-1][:, earlier[:-1]], 0.0):
        diagonal = weights.diagonal(dim1=-2, dim2=-1)[:, :-1]
        yield "mask_opposite" if is_near(diagonal, 0.0) else "mask_transposed"
        return
    factor = factor_of_scores(weights, scores, seen)
    if factor is not None:
        found = hidden_scores(weights, scores, seen, factor)
        if is_near(found, factor * scores[:, ~seen].flatten()):
            yield "mask_ignored"
            return
        if largest_gap(found, found.mean().item()) < 10 * NEAR:
            yield "zero_in_place_of_infinity"
            return
    yield from ("mask_ignored", "zero_in_place_of_infinity")


def _behind_leak(_: Probe, red: list[str]) -> Iterator[str]:
    yield "whole_matrix_norm" if "tokens_apart" in red else "mask_ignored"


def _behind_own_row(probe: Probe, _: list[str]) -> Iterator[str]:
    scores = probe.sentence.scores().mT
    if not probe.unread and factor_of_scores(probe.weights, scores, probe.seen) is not None:
        yield "query_and_key_swapped"
        return
    sentence = probe.sentence
    other = sentence._replace(queries=sentence.queries.flip(1))
    if is_near(probe.of(other), probe.output):
        yield "query_unused"
    elif probe.widths.n_heads > 1:
        yield "heads_without_transpose"


def _behind_variance(probe: Probe, _: list[str]) -> Iterator[str]:
    found = divisors(probe)
    powers = {"no_scaling": 0.0, "divided_by_d": 1.0, "multiplied_by_root": -0.5}
    for name, power in powers.items():
        if all(
            divisor is not None and abs(divisor / widths.d_head**power - 1) < 0.01
            for widths, divisor in found
        ):
            yield name
            return
    if all(divisor is not None for _, divisor in found):
        yield "divided_by_another_width"
    else:
        yield from _of_scores(probe)


def _behind_mixing(probe: Probe, _: list[str]) -> Iterator[str]:
    vectors = probe.sentence.vectors(probe.widths)
    if is_near(probe.call(vectors, *(-2 * matrix for matrix in probe.given)), probe.output):
        yield "matrices_ignored"
        return
    yield "whole_matrix_norm"
    if probe.widths.n_heads > 1:
        yield "heads_without_transpose"


def _behind_order(probe: Probe, _: list[str]) -> Iterator[str]:
    if probe.hides_later:
        yield "hides_later_tokens"
        return
    if probe.widths.n_heads > 1:
        yield "heads_without_transpose"
    yield "positions_inside"


def _behind_change(probe: Probe, _: list[str]) -> Iterator[str]:
    """Dropout alone leaves a token alone a multiple of its value, or nothing."""
    for _ in range(5):
        output, value = probe.alone()
        if not is_share_of(output, value, probe.widths.n_heads):
            yield "weights_redrawn"
            return
    yield "dropout_left_on"


BY_LIGHT = {
    "finite": _behind_nan,
    "rows_sum_to_1": _behind_sums,
    "not_negative": _behind_negative,
    "hidden_is_zero": _behind_hidden,
    "no_leak": _behind_leak,
    "own_row": _behind_own_row,
    "variance": _behind_variance,
    "tokens_apart": _behind_mixing,
    "order_free": _behind_order,
    "any_length": lambda *_: iter(["one_length"]),
    "repeatable": _behind_change,
    "both_signs": lambda *_: iter(["relu_last"]),
}
"""What each red light may mean, by what else was measured."""


def _is_split_by_reshape(probe: Probe) -> bool:
    """Whether it gives what heads give that were split, or joined, without a transpose."""
    vectors = probe.sentence.vectors(probe.widths).double()
    joined = [vectors @ matrix.double() for matrix in probe.given]
    for split in (_reshaped, _transposed):
        queries, keys, values = (split(each, probe.widths.n_heads) for each in joined)
        scores = queries @ keys.mT
        for divisor in (probe.widths.d_head**0.5, joined[0].shape[-1] ** 0.5, 1.0):
            for seen in (probe.seen, may_look(N_TOKENS, not probe.causal)):
                weights = (scores / divisor).masked_fill(~seen, -torch.inf).softmax(-1)
                heads = weights @ values
                ends = [heads.reshape(N_TOKENS, -1)]
                if split is _reshaped:
                    ends.append(heads.transpose(0, 1).flatten(1))
                if any(is_near(end, probe.output) for end in ends):
                    return True
    return False


def _reshaped(joined: Tensor, n_heads: int) -> Tensor:
    return joined.reshape(n_heads, len(joined), -1)


def _transposed(joined: Tensor, n_heads: int) -> Tensor:
    return joined.unflatten(-1, (n_heads, -1)).transpose(0, 1)
