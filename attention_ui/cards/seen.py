"""What may be seen of a matrix, and told of its cells, while questions are open."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cached_property

from torch import Tensor

from attention_core.trace import Step, Trace

from ..controls.covered import EVERY, covered_how
from ..picture.matrix import Matrix, of_unknown_shape
from .covers import SHAPE, Cover, copied, told_by, untold, what_is_left


@dataclass
class OfCard:
    """The card that is made or drawn: its name, and the trace of its page."""

    name: str
    trace: Callable[[], Trace]
    _covers: Mapping[str, Cover] = field(default_factory=dict)
    _masks: dict[int, tuple[Step, Tensor | None]] = field(default_factory=dict)

    def masks(self, covers: Mapping[str, Cover]) -> dict[int, tuple[Step, Tensor | None]]:
        """What is known of steps of other traces, by their ids, while these covers stand: a picture
        at all positions of its control asks for each of them many times.
        """
        is_same = covers.keys() == self._covers.keys() and all(
            cover is self._covers[name] for name, cover in covers.items()
        )
        if not is_same:
            self._covers, self._masks = covers, {}
        return self._masks

    @cached_property
    def steps(self) -> Trace:
        """The page’s own, untracked: what it has does not depend on what is covered."""
        return self.trace()


_CARD: ContextVar[OfCard | None] = ContextVar("card", default=None)


@contextmanager
def in_card(name: str, trace: Callable[[], Trace]) -> Iterator[None]:
    """What is made within belongs to this card."""
    before = _CARD.set(OfCard(name, trace))
    try:
        yield
    finally:
        _CARD.reset(before)


def covered(one: Matrix) -> Matrix:
    """A matrix as it may be seen: question marks where it is covered, one cell for its shape; and
    as it may be told, which would print what it is made of.
    """
    card = _CARD.get()
    if one.covered or card is None:
        return one
    cover = covered_how(one.step.name)
    if cover and cover.how == SHAPE:
        return of_unknown_shape(one) if cover.card == card.name else one
    hidden, told = covered_cells(one.step), unknown_cells(one.step)
    if hidden is not None:
        drawn = one.picked(hidden[one.lead])
        if drawn.all():
            return replace(one, covered=True)
        hidden = hidden if drawn.any() else None
    if hidden is None and told is None:
        return one
    return replace(one, hidden=hidden, untold=told)


def unknown_cells(step: Step) -> Tensor | None:
    """True for the cells of a step that are not to be taken apart now: a covered number would
    stand there. None for none.
    """
    if _CARD.get() is None:
        return None
    each = {one.name: covered_cells(one) for one in (step, *step.inputs)}
    hidden = {name: mask for name, mask in each.items() if mask is not None}
    found = untold(step, hidden) if hidden else None
    return found if found is not None and found.any() else None


def covered_cells(step: Step) -> Tensor | None:
    """True for the cells of a step that a question covers now; None for none. Of a step that is
    none of the page's, those that copy or show what is covered there.
    """
    if cover := covered_how(step.name):
        return None if cover.how == SHAPE else cover.mask_on(step)
    if step.name in _own_steps():
        return None
    return _of_another_trace(step, dict(covered_how(EVERY)))


def _of_another_trace(step: Step, covers: Mapping[str, Cover]) -> Tensor | None:
    """The same by the steps that it is made of, and by its numbers."""
    card = _CARD.get()
    known = card.masks(covers) if card else {}
    if id(step) not in known:
        known[id(step)] = step, _worked_out(step, covers) if covers else None
    return known[id(step)][1]


def _worked_out(step: Step, covers: Mapping[str, Cover]) -> Tensor | None:
    own, told = _own_steps(), {}
    for one in step.inputs:
        if cover := covers.get(one.name):
            mask = None if cover.how == SHAPE else cover.mask_on(one)
        else:
            mask = None if one.name in own else _of_another_trace(one, covers)
        if mask is not None:
            told[one.name] = mask
    each = [told_by(step, told)] if told else []
    beside = [(one, covers.get(name)) for name, one in own.items()]
    each += [
        copied(step, own[name], cover, beside) for name, cover in covers.items() if name in own
    ]
    found = None
    for mask in each:
        if mask is not None:
            found = mask if found is None else found | mask
    return None if found is None else found | what_is_left(step.value, found)


def _own_steps() -> Trace:
    card = _CARD.get()
    return card.steps if card else Trace()
