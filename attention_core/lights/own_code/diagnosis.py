"""Which mistakes fit what was measured of a function: from the first red light to names."""

from collections.abc import Iterator
from itertools import product

import torch
from torch import Tensor

from ..light import Light
from .function_lights import divisors
from .probe import Probe, is_share_of
from .reading import (
    NEAR,
    factor_of_scores,
    has_few_digits,
    hidden_scores,
    is_near,
    is_proportional,
    largest_gap,
    logs,
    may_look,
    rows_not_finite,
)
from .sentences import N_TOKENS
from .ways import NO_WEIGHT

COARSE = 0.02
"""How far numbers of two or three digits may be off."""


def diagnosed(probe: Probe, lights: list[Light]) -> list[str]:
    """The names of the mistakes that fit the first red light, most likely first; see `LIKELY`."""
    red = [light.name for light in lights if light.holds is False]
    if not red:
        return []
    exact = ""
    if probe.output.isfinite().all() and probe.is_repeatable:
        exact = _of_heads(probe) or (_of_values(probe) if probe.unread else "")
    if not probe.unread:
        exact = exact or _of_mask(probe)
    if exact:
        return [exact]
    return list(dict.fromkeys(BY_LIGHT[red[0]](probe, red)))


def _behind_nan(probe: Probe, red: list[str]) -> Iterator[str]:
    broken = rows_not_finite(probe.output)
    if not broken:
        if "rows_sum_to_1" in red:  # e to the power of a large score, and nothing to divide it by
            yield from _behind_sums(probe, red)
        rows = rows_not_finite(probe.of(probe.large()))
        # Renormalised: a row that hides nothing is right, one whose largest is hidden is 0/0.
        renormalised = probe.causal and N_TOKENS - 1 not in rows
        yield "mask_after_softmax" if renormalised else "softmax_overflow"
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
    odds = weights / (1 - weights)
    slope = factor_of_scores(odds, scores, seen)
    if slope and is_near(logs(odds)[:, seen], (slope * scores)[:, seen]):
        yield "sigmoid_for_softmax"
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


def _behind_hidden(probe: Probe, _: list[str]) -> Iterator[str]:
    weights, scores, seen = probe.weights, probe.sentence.scores(), probe.seen
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


def _behind_own_row(probe: Probe, _: list[str]) -> Iterator[str]:
    scores = probe.sentence.scores().mT
    if not probe.unread and factor_of_scores(probe.weights, scores, probe.seen) is not None:
        yield "query_and_key_swapped"
        return
    sentence = probe.sentence
    other = sentence._replace(queries=sentence.queries.flip(1))
    if is_near(probe.of(other), probe.output):
        yield "query_unused"
    elif is_near(probe.of(sentence._replace(keys=sentence.keys.flip(1))), probe.output):
        yield "queries_as_keys"
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
    if probe.is_repeatable:
        yield "inputs_overwritten"
        return
    for _ in range(5):
        output, value = probe.alone()
        if not is_share_of(output, value, probe.widths.n_heads):
            yield "weights_redrawn"
            return
    yield "dropout_left_on"


BY_LIGHT = {
    "finite": _behind_nan,
    "rows_sum_to_1": _behind_sums,
    "not_negative": lambda probe, _: _of_scores(probe),
    "hidden_is_zero": _behind_hidden,
    "no_leak": lambda _, red: ["whole_matrix_norm" if "tokens_apart" in red else "mask_ignored"],
    "own_row": _behind_own_row,
    "variance": _behind_variance,
    "tokens_apart": _behind_mixing,
    "order_free": _behind_order,
    "any_length": lambda *_: ["one_length"],
    "repeatable": _behind_change,
    "both_signs": lambda probe, _: ["values_changed" if probe.unread else "relu_last"],
    "formula": lambda probe, _: ["values_changed"] if probe.unread else [],
}
"""What each red light may mean, by what else was measured."""


def _of_values(probe: Probe) -> str:
    """What was taken for the values, by what a token alone comes out as; "" where it is unknown."""
    output, (query, key, value) = probe.alone_dense()
    if has_few_digits(output) and largest_gap(output, value) < COARSE:
        return "few_digits"
    for name, taken in (("keys_as_values", key), ("queries_as_values", query)):
        if taken.shape == output.shape and is_near(output, taken):
            return name
    if is_near(output, probe.dense()[0][0, : len(output)].double()):
        return "values_changed"
    n_heads = probe.widths.n_heads
    first = value[: len(value) // n_heads].repeat(n_heads)
    return "one_head_repeated" if n_heads > 1 and is_near(output, first) else ""


def _of_heads(probe: Probe) -> str:
    """How heads were split, joined or chosen, where what comes out is just that; "" otherwise."""
    n_heads = probe.widths.n_heads
    if n_heads == 1:
        return ""
    vectors, *drawn = probe.dense()
    output = probe.call(vectors, *drawn)
    joined = [vectors.double() @ matrix.double() for matrix in drawn]
    none, *repeats = product((False, True), repeat=3)
    ways = [(name, split, none) for name, split in SPLITS.items()]
    ways += [("one_head_repeated", _by_columns, which) for which in repeats]
    powers = (probe.widths.d_head**0.5, joined[0].shape[-1] ** 0.5, 1.0)
    for (name, split, which), divisor, causal in product(ways, powers, (False, True)):
        heads = [
            each[:1].expand_as(each) if is_repeated else each
            for each, is_repeated in zip((split(e, n_heads) for e in joined), which, strict=True)
        ]
        scores = heads[0] @ heads[1].mT / divisor
        weights = scores.masked_fill(~may_look(N_TOKENS, causal), -torch.inf).softmax(-1)
        for end, join in JOINS.items():
            if (name or end) and is_near(join(weights @ heads[2]), output):
                return name or end
    return ""


def _by_columns(joined: Tensor, n_heads: int) -> Tensor:
    return joined.unflatten(-1, (n_heads, -1)).transpose(0, 1)


SPLITS = {
    "": _by_columns,
    "heads_without_transpose": lambda joined, n_heads: joined.reshape(n_heads, len(joined), -1),
    "heads_interleaved": lambda joined, n: joined.unflatten(-1, (-1, n)).permute(2, 0, 1),
}
"""How columns may be split into heads (head, token, d_head), by the mistake that it is."""
JOINS = {
    "": lambda heads: heads.transpose(0, 1).flatten(1),
    "heads_without_transpose": lambda heads: heads.reshape(heads.shape[1], -1),
    "heads_interleaved": lambda heads: heads.permute(1, 2, 0).flatten(1),
}
"""How heads may be joined again, by the mistake that it is."""


def _of_mask(probe: Probe) -> str:
    """Which keys are hidden instead, by where there is any weight; "" for no such mask.

    A row that a mask leaves nothing holds nan, 0, or the same weight everywhere.
    """
    rows = probe.weights
    every = torch.ones(N_TOKENS, N_TOKENS, dtype=torch.bool)
    masks = [("diagonal_hidden", every.tril(-1) if probe.causal else every ^ every.diag().diag())]
    if probe.causal:
        masks += [("mask_late", every.tril(after)) for after in range(1, N_TOKENS - 1)]
        masks += [("mask_transposed", every.triu()), ("mask_opposite", every.triu(1))]
    spread = (rows - rows.mean(-1, keepdim=True)).abs().amax(-1)
    is_blind = ~(spread > NEAR)  # nan is not above anything
    has_weight = rows.nan_to_num().abs() > NO_WEIGHT
    for name, seen in masks:
        blind = ~seen.any(-1)
        if is_blind[:, blind].all() and (has_weight == seen)[:, ~blind].all():
            return name
    return ""
