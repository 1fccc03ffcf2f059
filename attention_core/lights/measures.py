"""The measures: one for each property, of whatever has it.

A subject (a trace, a function, a module) says how it is asked: what its weights are, what comes out
for other vectors. A measure asks it, and judges. The source of this file is part of the file that
checks a learner's own code. It therefore needs torch and the standard library alone.
"""

from collections.abc import Callable, Iterable, Sequence
from math import isfinite
from operator import methodcaller
from typing import NamedTuple

import torch
from torch import Tensor

from .light import Light

Measured = tuple[bool | None, str] | tuple[bool | None, str, str]
"""Whether a light holds, what was measured, and the step in which it shows first, if any."""
LARGE = 1e4
"""How large scores are made to see whether the weights stay finite."""
LEAST_SAID = 0.0001
"""The smallest weight that is written out."""
SAME_ORDER = 1e-3
"""By how much of the largest number vectors may differ when they are added in another order."""
ALONE = "There is one token only."


class Moved(NamedTuple):
    """What became of the rows of tokens when one token was changed."""

    rows: Tensor
    """How far each token's numbers moved, (token,); infinitely where one of both is nan."""
    values: Tensor
    """The numbers that moved."""
    step: str = ""


class Subject:
    """What has lights, and how it is asked for what they measure."""

    seen: Tensor
    """(query, key): True where a query is meant to look."""
    output: Tensor
    """What comes out, (token, …)."""
    step = ""
    """What the output is called."""
    same = 1e-5
    """Numbers that differ by less than this share of the largest are the same."""
    zero = 0.0
    """Up to which size a weight counts as 0."""
    asks = False
    """Whether its queries are sure to matter: those of a trace may meet keys that are all alike."""
    places: list[int]
    """The tokens that are changed, one at a time."""
    has_sink = False
    """Whether a score that no key stands for is meant to take weight from every row."""
    keeps_order = ""
    """Why its order is meant to count; "" where it is not."""

    def within(self, gap: float) -> str:
        """How closely two ways came to the same, in words."""
        return f"to within {gap:.1g}"

    def kept_outside(self, n_steps: int) -> str:
        """That each token is worked on by itself, in words."""
        steps = "the one step" if n_steps == 1 else f"all {n_steps} steps"
        return f"True of {steps} outside attention."

    def why_not(self, name: str) -> str:  # noqa: ARG002
        """Why a light is not looked at; "" where it is."""
        return ""

    def tables(self) -> Iterable[tuple[Tensor, str, str]]:
        """Weights (…, query, key), with which scores, and their step."""
        return ()

    def ordinary(self) -> Iterable[tuple[Tensor, str]]:
        """Weights (…, query, key) with scores of ordinary size, and their step."""
        return ((weights, step) for weights, _, step in self.tables())

    def large(self) -> Iterable[tuple[Tensor, str, str, str]]:
        """Numbers that should be finite, what they are, with which scores, and their step."""
        raise NotImplementedError

    def of_other_token(self, place: int) -> Moved | None:
        """What another token moves in the output; None where none can be put there."""
        raise NotImplementedError

    def of_other_query(self, place: int) -> Iterable[Moved]:
        """What another query moves, in each attention."""
        raise NotImplementedError

    def outside_attention(self, place: int) -> Iterable[Moved]:
        """What another token moves in what is done to tokens one by one."""
        raise NotImplementedError

    def reordered(self, order: Tensor) -> tuple[Tensor, str] | None:
        """The output (token, …) for reordered tokens, and what is said of it first."""
        raise NotImplementedError

    def of_drawn(self) -> Iterable[Tensor]:
        """Outputs for drawn vectors, and for the same with signs turned."""
        raise NotImplementedError

    def twice(self) -> Iterable[tuple[str, Tensor, Tensor | None]] | None:
        """What two calls give: the step, and its numbers each time; None for one call only."""
        raise NotImplementedError

    def variance(self) -> Measured:
        """What the scores are divided by."""
        raise NotImplementedError

    def any_length(self) -> Measured:
        """Whether it takes sentences of any length."""
        raise NotImplementedError


def finite(subject: Subject) -> Measured:
    for numbers, what, words, step in subject.large():
        n_bad = int((~numbers.isfinite()).sum())
        if n_bad:
            bad = f"{n_bad} of {numbers.numel()} {what}s are not finite."
            return False, f"{words}, {bad}", step
    return True, f"{words}, every {what} is finite."


def rows_sum_to_1(subject: Subject) -> Measured:
    sees_some = subject.seen.any(dim=-1)
    worst = 0.0
    for weights, where, step in subject.tables():
        sums = weights.sum(dim=-1)[..., sees_some]
        more = sums - 1
        off = (more.clamp(min=0) if subject.has_sink else more.abs()).nan_to_num(torch.inf)
        if off.numel() and off.max() > 1e-4:
            said = f"Rows sum to between {_four(sums.min())} and {_four(sums.max())} {where}."
            if n_nan := int(sums.isnan().sum()):
                others = off[~sums.isnan()]
                rest = ": the others sum to 1" if (others <= 1e-4).all() else ""
                count = f"{n_nan} of {sums.numel()} rows" if len(others) else "All rows"
                said = f"{count} sum to nan (not a number) {where}{rest}."
            return False, said, step
        worst = max(worst, off.max().item()) if off.numel() else worst
    if subject.has_sink:
        return None, "Not here, and that is meant: a sink takes the rest of each row."
    return True, f"All of them, {subject.within(worst)}."


def not_negative(subject: Subject) -> Measured:
    lowest = torch.inf
    for weights, where, step in subject.tables():
        n_below = int((weights < -subject.zero).sum())
        low = min(weights[weights.isfinite()].tolist(), default=0.0)
        if n_below:
            below = f"{n_below} of {weights.numel()} weights are below 0 {where}"
            far = float(weights.nan_to_num(0.0, torch.inf, -torch.inf).min())
            return False, f"{below}, the lowest {minus(far)}.", step
        lowest = min(lowest, max(low, 0.0))
    if 0 < lowest < LEAST_SAID:
        return True, f"The smallest weight is above 0, by less than {LEAST_SAID}."
    return True, f"The smallest weight is {lowest:.1g}."


def hidden_is_zero(subject: Subject) -> Measured:
    if subject.seen.all():
        return None, "No key is meant to be hidden."
    for weights, where, step in subject.tables():
        hidden = weights.masked_fill(subject.seen, 0.0)
        if hidden.isinf().any():
            put = minus(hidden[hidden.isinf()][0].item())
            return False, f"Hidden keys get {put} as their weight {where}.", step
        most = hidden.abs().nan_to_num().sum(dim=-1).max().item()
        if most > subject.zero:
            alike = _alike(weights, ~subject.seen, subject.same)
            end = ", the same on each: they share one score, and it is not −∞." if alike else "."
            gives = f"A query gives up to {_four(most)} of its weight to hidden keys {where}{end}"
            return False, gives, step
    return True, "Exactly 0 on every hidden key."


def _alike(weights: Tensor, among: Tensor, same: float) -> bool:
    """Whether these keys have equal weights in every row that has several of them."""
    rows = [weights[..., row, keys] for row, keys in enumerate(among) if keys.sum() > 1]
    spread = [(row.amax(-1) - row.amin(-1)).max() for row in rows]
    return bool(spread) and float(torch.stack(spread).max()) < same


def seen_has_weight(subject: Subject) -> Measured:
    for weights, step in subject.ordinary():
        nothing = (weights.abs() <= subject.zero * 1e-7) & subject.seen
        if nothing.any():
            count = f"{int(nothing.sum())} of {nothing.numel()} weights"
            return False, f"{count} are exactly 0 though the key may be seen.", step
    return True, "With scores drawn around 0, no key that may be seen gets exactly 0."


def no_leak(subject: Subject) -> Measured:
    if subject.seen.all():
        return None, "Every token may see every other one."
    for place in reversed(subject.places):
        moved = subject.of_other_token(place)
        if moved is None:
            return None, "It has no embeddings to change."
        unseen = ~subject.seen[:, place]
        unseen[place] = False
        far = moved.rows[unseen].max() if unseen.any() else 0.0
        if far > subject.same * most(moved.values):
            said = f"Change token {place}, and the output of tokens that may not see it moves by up"
            return False, f"{said} to {far:.4g}.", subject.step
    kept = "Change a token, and tokens that may not see it keep their output."
    return unless_lost([subject.output], kept)


def own_row(subject: Subject) -> Measured:
    looked, own = [], 0.0
    for place in subject.places:
        for moved in subject.of_other_query(place):
            far = of_others(moved.rows, place)
            if far > subject.same:
                said = f"Change query {place} alone, and weights in other rows move by up to"
                return False, f"{said} {far:.4f}.", moved.step
            looked.append(moved.values)
            own = max(own, float(moved.rows.max()))
    if not looked:
        return None, "Queries and keys are the same vectors here."
    if own == 0.0 and subject.asks:
        return False, "Change a query alone, and nothing changes."
    return unless_lost(looked, "Change one query, and only its own row of weights moves.")


def tokens_apart(subject: Subject) -> Measured:
    looked = {}
    for place in subject.places:
        for moved in subject.outside_attention(place):
            far = of_others(moved.rows, place)
            if far > subject.same * most(moved.values):
                said = f"Change token {place} of what goes in, and other tokens' rows move by up to"
                return False, f"{said} {far:.4g}.", moved.step
            looked[moved.step] = moved.values
    if not looked:
        return None, "Nothing is done to tokens outside attention."
    return unless_lost(list(looked.values()), subject.kept_outside(len(looked)))


def order_free(subject: Subject) -> Measured:
    n_tokens = len(subject.output)
    if n_tokens < 2:
        return None, ALONE
    order = torch.arange(n_tokens).roll(1)
    reordered = subject.reordered(order)
    if reordered is None:
        return None, "It has no embeddings to reorder."
    made, along = reordered
    far = gap(made, subject.output[order]).max().item()
    if far > SAME_ORDER * most(subject.output):
        said = f"{along} other vectors come out, up to {far:.4g} away."
        if subject.keeps_order:
            return None, f"{subject.keeps_order} {said}", subject.step
        return False, said, subject.step
    return unless_lost(
        [subject.output], f"{along} the same vectors come out, {subject.within(far)}."
    )


def repeatable(subject: Subject) -> Measured:
    pairs = subject.twice()
    if pairs is None:
        return None, "It was called once only."
    for step, first, second in pairs:
        if second is None or second.shape != first.shape:
            return False, "A second call has other steps.", step
        far = (second.double() - first.double()).abs().nan_to_num(0.0)
        if far.numel() and far.max() > subject.zero:
            said = f"A second call with the same input differs by up to {far.max():.4g}."
            return False, said, step
    return True, "A second call with the same input gives exactly the same."


def both_signs(subject: Subject) -> Measured:
    made = list(subject.of_drawn())
    if not made:
        return None, "It has no embeddings to change."
    lowest = min(each.min().item() for each in made)
    highest = max(each.max().item() for each in made)
    if any(each.isnan().any() for each in made):
        return None, "Its output has nan (not a number) in it, which is neither below 0 nor above."
    tried = "For drawn inputs, and for the same with signs turned, the output lies between"
    said = f"{tried} {minus(lowest)} and {minus(highest)}."
    return not (lowest >= 0 or highest <= 0), said, subject.step


MEASURES: dict[str, Callable[..., Measured]] = {
    each.__name__: each
    for each in (
        *(finite, rows_sum_to_1, not_negative, hidden_is_zero, seen_has_weight),
        *(no_leak, own_row, tokens_apart, order_free, repeatable, both_signs),
    )
} | {name: methodcaller(name) for name in ("variance", "any_length")}
"""By the name of the light."""


def light_of(subject: Subject, name: str, measure: Callable[..., Measured]) -> Light:
    """One light of a subject."""
    if why := subject.why_not(name):
        return Light(name, None, why)
    return Light(name, *measure(subject))


def gap(one: Tensor, other: Tensor) -> Tensor:
    """How far numbers are apart: infinitely where one is nan, 0 where both are lost."""
    if is_finite(far := (one - other).abs()):
        return far
    both = ~(one.isfinite() | other.isfinite())
    return far.nan_to_num(torch.inf, torch.inf).masked_fill(both, 0.0)


def is_finite(numbers: Tensor) -> bool:
    """Whether all are, by their sum, which is fast; False too where that is too large."""
    return isfinite(float(numbers.sum()))


def rows_of(moved: Tensor, axis: int = 0) -> Tensor:
    """The largest of each place of an axis."""
    rows = moved.movedim(axis, 0)
    return rows.reshape(len(rows), -1).amax(-1)


def unless_lost(values: Sequence[Tensor], said: str) -> Measured:
    """Green with these words; grey where numbers are nan or infinite, as weights made them."""
    if lost := sum(0 if is_finite(each) else int((~each.isfinite()).sum()) for each in values):
        of_all = sum(each.numel() for each in values)
        return None, f"Not judged: of {of_all:,} numbers compared, {lost:,} are nan or ∞ already."
    return True, said


def of_others(rows: Tensor, place: int) -> float:
    """The largest of the rows of all other tokens."""
    others = torch.cat([rows[:place], rows[place + 1 :]])
    return float(others.max()) if len(others) else 0.0


def most(numbers: Tensor) -> float:
    """The largest size of a finite number, and a little for none."""
    sizes = (numbers if is_finite(numbers) else numbers[numbers.isfinite()]).abs()
    return max(float(sizes.max()), 1e-9) if len(sizes) else 1e-9


def minus(value: float) -> str:
    """A number in a sentence, with the minus that the charts have."""
    return f"{value:.4g}".replace("-", "−").replace("inf", "∞")


def _four(value: float | Tensor) -> str:
    """A number with four decimals, or ∞."""
    return f"{value:.4f}".replace("inf", "∞")
