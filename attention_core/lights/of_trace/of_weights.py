"""Lights on scores and weights: what they sum to, whom they see, how far they spread."""

import torch
from torch import Tensor

from ...rounding import largest, to_within
from ...trace import Trace
from .again import Found
from .seen import SAME, Measured, Seen, minus, moved_by, others_moved, unless_lost

SPREAD = (0.6, 1.6)
"""How far the variance of scores may be from 1: 2 is √2 wide vectors undivided."""
TRIALS = 2_000
"""How many queries are drawn to measure it."""
LARGE = 1e4
"""How large scores are made to see whether the weights stay finite."""


LEAST_SAID = 0.0001
"""The smallest weight that is written out."""


def finite(seen: Seen) -> Measured:
    for found in seen.attentions:
        scores = found.before.value
        weights = found.weights_of(seen.trace, scores * (LARGE / max(largest(scores), 1e-9)))
        n_bad = int((~weights.isfinite()).sum())
        if n_bad:
            bad = f"{n_bad} of {weights.numel()} weights are not numbers."
            return False, f"With scores up to {LARGE:,.0f}, {bad}", found.weights.name
    return True, f"With scores up to {LARGE:,.0f}, every weight is a number."


def rows_sum_to_1(seen: Seen) -> Measured:
    sees_some = seen.may_look.any(dim=-1)
    worst = 0.0
    for step, weights, where in seen.tables():
        sums = weights.sum(dim=-1)[..., sees_some]
        off = (sums - 1).abs().nan_to_num(torch.inf)
        if off.numel() and off.max() > 1e-4:
            said = f"Rows sum to between {sums.min():.4f} and {sums.max():.4f} {where}."
            if n_nan := int(sums.isnan().sum()):
                others = off[~sums.isnan()]
                rest = ": the others sum to 1" if (others <= 1e-4).all() else ""
                count = f"{n_nan} of {sums.numel()} rows" if len(others) else "All rows"
                said = f"{count} sum to nan (not a number) {where}{rest}."
            return False, said, step.name
        worst = max(worst, off.max().item()) if off.numel() else worst
    return True, f"All of them, {to_within(worst)}."


def not_negative(seen: Seen) -> Measured:
    for step, weights, where in seen.tables():
        n_below = int((weights < 0).sum())
        if n_below:
            below = f"{n_below} of {weights.numel()} weights are below 0 {where}"
            return False, f"{below}, the lowest {minus(_lowest(weights))}.", step.name
    lowest = min(_lowest(found.weights.value) for found in seen.attentions)
    if 0 < lowest < LEAST_SAID:
        return True, f"The smallest weight is above 0, by less than {LEAST_SAID}."
    return True, f"The smallest weight is {lowest:.1g}."


def _lowest(weights: Tensor) -> float:
    """The lowest that is finite; 0 for none."""
    finite = weights[weights.isfinite()]
    return float(finite.min()) if len(finite) else 0.0


def hidden_is_zero(seen: Seen) -> Measured:
    if seen.may_look.all():
        return None, "No key is meant to be hidden."
    for step, weights, where in seen.tables():
        hidden = weights.masked_fill(seen.may_look, 0.0).abs().nan_to_num()
        most = hidden.sum(dim=-1).max().item()
        if most > 0:
            alike = _alike(weights, ~seen.may_look)
            end = ": the same on each of them, as if its score were 0." if alike else "."
            gives = f"A query gives up to {most:.4f} of its weight to hidden keys {where}{end}"
            return False, gives, step.name
    return True, "Exactly 0 on every hidden key."


def _alike(weights: Tensor, among: Tensor) -> bool:
    """Whether these keys have equal weights in every row that has several of them."""
    rows = [weights[..., row, keys] for row, keys in enumerate(among) if keys.sum() > 1]
    spread = [(row.amax(-1) - row.amin(-1)).max() for row in rows]
    return bool(spread) and float(torch.stack(spread).max()) < SAME


def seen_has_weight(seen: Seen) -> Measured:
    for found, weights in zip(seen.attentions, seen.ordinary_weights, strict=True):
        nothing = (weights == 0) & seen.may_look
        if nothing.any():
            count = f"{int(nothing.sum())} of {nothing.numel()} weights"
            said = f"{count} are exactly 0 though the key may be seen."
            return False, said, found.weights.name
    return True, "With scores drawn around 0, no key that may be seen gets exactly 0."


def own_row(seen: Seen) -> Measured:
    asking = [
        found
        for found in seen.attentions
        if found.asks is not found.answers and "query" in found.asks.axes
    ]
    if not asking:
        return None, "Queries and keys are the same vectors here."
    for found in asking:
        for place in seen.places:
            moved = moved_by(seen, found.asks.name, place, found.weights.name)
            far = others_moved(moved, -2, place)
            if far > SAME:
                said = f"Change query {place} alone, and weights in other rows move by up to"
                return False, f"{said} {far:.4f}.", found.weights.name
    kept = "Change one query, and only its own row of weights moves."
    return unless_lost([found.weights.value for found in asking], kept)


def variance(seen: Seen) -> Measured:
    said = []
    for found in seen.attentions:
        width, spread = found.asks.value.shape[-1], _score_variance(seen.trace, found)
        drawn = f"Queries and keys of variance 1, {width} wide,"
        said.append(f"{drawn} give scores of variance {spread:.3g}")
        if not SPREAD[0] < spread < SPREAD[1]:
            if found.asks is found.answers and found.before is found.scores:
                meant = (
                    "Not asked here: tokens are compared as they are, and scores are not divided."
                )
                return None, f"{meant} {said[-1]}.", found.before.name
            return False, f"{said[-1]}, not near 1.", found.before.name
    return True, f"{said[0]}, near 1."


def _score_variance(trace: Trace, found: Found) -> float:
    """The variance of the scores as softmax gets them, of drawn queries and keys."""
    generator = torch.Generator().manual_seed(0)
    shapes = [each.value.shape for each in found.scores.inputs[:2]]
    n_times = max(1, TRIALS // shapes[0][-2])
    drawn = [torch.randn(n_times, *shape, generator=generator) for shape in shapes]
    scores = found.scores.operation.value(*drawn, *(e.value for e in found.scores.inputs[2:]))
    values = {found.scores.name: scores}
    before = {found.before.name, *found.before.earlier()}
    for step in trace.values():
        alone = len(step.inputs) == 1 and step.inputs[0].name in values
        if alone and step.name in before:
            values[step.name] = step.operation.value(values[step.inputs[0].name])
    return float(values[found.before.name].var())


OF_WEIGHTS = (
    finite,
    rows_sum_to_1,
    not_negative,
    hidden_is_zero,
    seen_has_weight,
    own_row,
    variance,
)
"""The lights that a trace without weights does not have."""
