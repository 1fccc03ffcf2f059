"""Lights on scores and weights: what they sum to, whom they see, how far they spread."""

import torch
from torch import Tensor

from ...rounding import largest
from ...trace import Trace
from ..light import Light
from .again import Found, computed_again
from .seen import SAME, Seen, minus, moved_by, open_light, ordinary

SPREAD = (0.6, 1.6)
"""How far the variance of scores may be from 1: 2 is √2 wide vectors undivided."""
TRIALS = 2_000
"""How many queries are drawn to measure it."""
LARGE = 1e4
"""How large scores are made to see whether the weights stay finite."""
NO_ATTENTION = "There are no weights in it."


def finite(seen: Seen) -> Light:
    name = "finite"
    if not seen.attentions:
        return open_light(name, NO_ATTENTION)
    for found in seen.attentions:
        scores = found.before.value
        factor = LARGE / max(largest(scores), 1e-9)
        values = computed_again(seen.trace, {found.before.name: scores * factor})
        weights = values[found.weights.name]
        n_bad = int((~weights.isfinite()).sum())
        if n_bad:
            evidence = f"With scores up to {LARGE:,.0f}, {n_bad} of {weights.numel()} weights are "
            return Light(name, False, evidence + "not numbers.", found.weights.name)
    return Light(name, True, f"With scores up to {LARGE:,.0f}, every weight is a number.")


def rows_sum_to_1(seen: Seen) -> Light:
    name = "rows_sum_to_1"
    if not seen.attentions:
        return open_light(name, NO_ATTENTION)
    sees_some = seen.may_look.any(dim=-1)
    worst = 0.0
    for step, weights, where in seen.tables():
        sums = weights.sum(dim=-1)[..., sees_some]
        off = (sums - 1).abs().nan_to_num(torch.inf)
        if off.numel() and off.max() > 1e-4:
            low, high = sums.min().item(), sums.max().item()
            evidence = f"Rows sum to between {low:.4f} and {high:.4f} {where}."
            if sums.isnan().any():
                evidence = f"Some rows sum to nan (not a number) {where}."
            return Light(name, False, evidence, step.name)
        worst = max(worst, off.max().item()) if off.numel() else worst
    return Light(name, True, f"The largest deviation is {worst:.1g}.")


def not_negative(seen: Seen) -> Light:
    name = "not_negative"
    if not seen.attentions:
        return open_light(name, NO_ATTENTION)
    for step, weights, where in seen.tables():
        n_below = int((weights < 0).sum())
        if n_below:
            evidence = f"{n_below} of {weights.numel()} weights are below 0 {where}, the lowest "
            return Light(name, False, f"{evidence}{minus(float(weights.min()))}.", step.name)
    lowest = min(float(found.weights.value.min()) for found in seen.attentions)
    return Light(name, True, f"The smallest weight is {lowest:.1g}.")


def hidden_is_zero(seen: Seen) -> Light:
    name = "hidden_is_zero"
    if not seen.attentions:
        return open_light(name, NO_ATTENTION)
    if seen.may_look.all():
        return open_light(name, "No key is meant to be hidden.")
    for step, weights, where in seen.tables():
        hidden = weights.masked_fill(seen.may_look, 0.0).abs().nan_to_num()
        most = hidden.sum(dim=-1).max().item()
        if most > 0:
            evidence = f"A query gives up to {most:.4f} of its weight to hidden keys {where}"
            alike = _alike(weights, ~seen.may_look)
            evidence += ": the same on each of them, as if its score were 0." if alike else "."
            return Light(name, False, evidence, step.name)
    return Light(name, True, "Exactly 0 on every hidden key.")


def _alike(weights: Tensor, among: Tensor) -> bool:
    """Whether these keys have equal weights in every row that has several of them."""
    rows = [row for row, keys in enumerate(among) if keys.sum() > 1]
    spread = [
        (weights[..., row, among[row]].amax(-1) - weights[..., row, among[row]].amin(-1)).max()
        for row in rows
    ]
    return bool(spread) and float(torch.stack(spread).max()) < SAME


def seen_has_weight(seen: Seen) -> Light:
    name = "seen_has_weight"
    if not seen.attentions:
        return open_light(name, NO_ATTENTION)
    for found in seen.attentions:
        values = computed_again(seen.trace, {found.before.name: ordinary(found.before.value)})
        nothing = (values[found.weights.name] == 0) & seen.may_look
        if nothing.any():
            evidence = (
                f"{int(nothing.sum())} of {nothing.numel()} weights are exactly 0 though the key "
                "may be seen."
            )
            return Light(name, False, evidence, found.weights.name)
    return Light(name, True, "With scores drawn around 0, no key that may be seen gets exactly 0.")


def own_row(seen: Seen) -> Light:
    name = "own_row"
    if not seen.attentions:
        return open_light(name, NO_ATTENTION)
    measured = False
    for found in seen.attentions:
        if found.asks is found.answers or "query" not in found.asks.axes:
            continue
        measured = True
        for place in seen.places:
            moved = moved_by(seen, found.asks.name, place, found.weights.name)
            others = moved.movedim(-2, 0).clone()
            others[place] = 0
            if others.max() > SAME:
                evidence = (
                    f"Change query {place} alone, and weights in other rows move by up to "
                    f"{others.max():.4f}."
                )
                return Light(name, False, evidence, found.weights.name)
    if not measured:
        return open_light(name, "Queries and keys are the same vectors here.")
    return Light(name, True, "Change one query, and only its own row of weights moves.")


def variance(seen: Seen) -> Light:
    name = "variance"
    if not seen.attentions:
        return open_light(name, NO_ATTENTION)
    said = []
    for found in seen.attentions:
        width = found.asks.value.shape[-1]
        variance = _score_variance(seen.trace, found)
        said.append(
            f"Queries and keys of variance 1, {width} wide, give scores of variance {variance:.3g}"
        )
        if not SPREAD[0] < variance < SPREAD[1]:
            return Light(name, False, f"{said[-1]}, not near 1.", found.before.name)
    return Light(name, True, f"{said[0]}, near 1.")


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
