"""What came of comparing two computations: in words, as data, and as what a picture needs."""

from dataclasses import dataclass, field

import torch
from torch import Tensor

from ..operations import Given, Subtract
from ..trace import Trace
from ..utils.display import Displayed
from .explaining import Difference, NamedChange
from .precision import kind_of

AXES = {
    "queries": ("head", "query", "d_head"),
    "keys": ("head", "key", "d_head"),
    "values": ("head", "key", "d_value"),
    "scores": ("head", "query", "key"),
    "mask": ("head", "query", "key"),
    "weights": ("head", "query", "key"),
    "context_vectors": ("head", "query", "d_value"),
    "joined": ("token", "d_model"),
}
"""The axes of a step behind that of the texts; those of anything else are counted."""
PLACES = {
    "query": ("query", "queries"),
    "key": ("key", "keys"),
    "head": ("head", "heads"),
    "text": ("text", "texts"),
    "token": ("position", "positions"),
    "row": ("row", "rows"),
}
MOST_LISTED = 6
MOST_DRAWN = 64
"""Rows and columns of a picture: those around what differs most."""


@dataclass(frozen=True)
class Compared:
    """One step that both sides have."""

    place: str
    step: str
    share: float
    """How far the row that differs most lies apart, as a share of its length."""
    differs: bool


@dataclass(frozen=True, repr=False)
class Comparison(Displayed):
    """Where ours and theirs part first, by how much, and which change turns one into the other.

    Read it as text (`print(found)`), or by its parts; `show(found)` draws ours, theirs and the
    difference in a notebook.
    """

    difference: Difference | None
    """The first step that differs by more than its precision explains; None where none does."""
    changes: tuple[NamedChange, ...] = ()
    """What turns theirs into ours: one, or the two that explain most; none where nothing does."""
    explained: float = 1.0
    """The share of the difference that the changes explain, 1 for all of it."""
    steps: tuple[Compared, ...] = ()
    """All that was compared, in order, up to the layer that differs first."""
    notices: tuple[str, ...] = ()
    """What was not compared, in words."""
    tokens: tuple[str, ...] = ()
    also: tuple[str, ...] = field(default=())
    """Steps of the same layer that differ as well."""

    @property
    def same(self) -> bool:
        """Whether nothing differs by more than its precision explains."""
        return self.difference is None

    @property
    def names(self) -> tuple[str, ...]:
        """The changes by their names, as the check of own code names mistakes."""
        return tuple(each.name for each in self.changes)

    @property
    def axes(self) -> tuple[str, ...]:
        """The names of the axes of `difference.ours`, the texts first."""
        there = self.difference
        if there is None or there.ours is None:
            return ()
        n_axes, known = there.ours.ndim, AXES.get(there.step, ())
        if n_axes == len(known) + 1:
            return ("text", *known)
        if n_axes == 3:
            return "text", "token", "width"
        return (*(f"axis {at}" for at in range(n_axes - 2)), *("row", "width")[-n_axes:])

    def where(self, axis: str) -> list[int]:
        """The places along an axis, such as "head" or "query", at which anything differs."""
        there, rows = self.difference, self._rows()
        if there is None or rows is None or axis not in self.axes[:-1]:
            return []
        others = [at for at in range(rows.ndim) if at != self.axes.index(axis)]
        found = rows.amax(dim=others) if others else rows
        return (found > there.allowed).nonzero()[:, 0].tolist()

    def worst(self) -> tuple[int, ...]:
        """The row that differs most, by its place along each axis but the last."""
        rows = self._rows()
        if rows is None or not rows.numel():
            return ()
        return tuple(int(at) for at in torch.unravel_index(rows.argmax(), rows.shape))

    def _rows(self) -> Tensor | None:
        return self.difference.apart.rows if self.difference and self.difference.apart else None

    def trace(self, text: int | None = None, head: int | None = None) -> Trace:
        """Ours, theirs and their difference as steps, of the text and head that differ most, or of
        those that are chosen. Raises ValueError where there is nothing to draw.
        """
        there = self.difference
        if there is None:
            raise ValueError("there is no difference to draw: both are the same")
        if there.ours is None or there.theirs is None:
            raise ValueError(f"there is nothing to set side by side: {there.words}")
        lead = list(self.worst()[:-1])
        for name, chosen in (("text", text), ("head", head)):
            if chosen is None:
                continue
            if name not in self.axes[:-2]:
                raise ValueError(f"this step has no axis {name}: it has {', '.join(self.axes)}")
            at = self.axes.index(name)
            length = there.ours.shape[at]
            if not -length <= chosen < length:
                raise ValueError(f"there is no {name} {chosen}: choose one from 0 to {length - 1}")
            lead[at] = chosen
        axes = self.axes[-2:]
        both = [_drawn(each[tuple(lead)])
                for each in (there.ours, there.theirs)]  # fmt: skip
        row = self.worst()[-1] if self.worst() else 0
        gap = (both[0] - both[1]).abs()
        place = row if row < len(gap) else 0, int(gap[min(row, len(gap) - 1)].argmax())
        labels = {}
        for at, axis in enumerate(axes):
            length = gap.shape[at]
            first = max(0, min(place[at] - MOST_DRAWN // 2, length - MOST_DRAWN))
            kept = range(first, min(length, first + MOST_DRAWN))
            both = [each.narrow(at, first, len(kept)) for each in both]
            if axis in ("query", "key", "token") and len(self.tokens) == length:
                labels[axis] = tuple(self.tokens[each] for each in kept)
            elif len(kept) < length:
                labels[axis] = tuple(map(str, kept))
        trace = Trace(**labels)
        ours = trace.step("ours", Given.of(both[0]), axes=axes)
        theirs = trace.step("theirs", Given.of(both[1]), axes=axes)
        trace.step("difference", Subtract(), ours, theirs, axes=axes)
        return trace

    def __str__(self) -> str:
        return "\n".join([*self._told(), *self.notices])

    def __repr__(self) -> str:
        return f"<comparison: {self}>"

    def _told(self) -> list[str]:
        there = self.difference
        if there is None:
            most = max((each.share for each in self.steps), default=0.0)
            n_steps = len(self.steps)
            are = f"{n_steps} steps are" if n_steps != 1 else "1 step is"
            return [f"No difference: {are} the same, as far as precision tells "
                    f"({percent(most)} of a row at most)."]  # fmt: skip
        name = {"output": "what it gives"}.get(there.step, there.step)
        told = [f"The first step that differs: {there.place}, {name}."]
        if there.words:
            told.append(f"  {there.words[:1].upper()}{there.words[1:]}.")
        if there.apart is not None:
            told += self._by_how_much(there)
        if self.also:
            told.append(f"  In the same layer differ: {', '.join(self.also)}.")
        return [*told, *self._why()]

    def _by_how_much(self, there: Difference) -> list[str]:
        assert there.apart is not None
        if there.ours is not None and not there.ours.isfinite().all() and there.theirs is not None:
            odd = ~there.ours.isfinite() & there.theirs.isfinite()
            if odd.any():
                at = odd.nonzero()[0].tolist()
                value = float(there.ours[tuple(at)])
                more = (
                    f" and {n} more that are infinite or nan" if (n := int(odd.sum()) - 1) else ""
                )
                return [f"  Ours has {value} at {at}{more}; theirs has ordinary numbers there."]
        explained = f"{kind_of(there.eps)} explains {percent(there.allowed)}"
        told = [
            f"  By {there.apart.largest:.3g} at most, which is {percent(there.apart.share)} of its "
            f"row; {explained if there.allowed else 'whole numbers are never rounded'}."
        ]
        shape = there.ours.shape if there.ours is not None else ()
        sizes = [*zip(self.axes, shape, strict=True)]
        places = [self._places(*each) for each in sizes[:-1]]
        if found := [each for each in places if each]:
            told.append(f"  It differs in {', '.join(found)}.")
        return told

    def _places(self, axis: str, length: int) -> str:
        there = self.where(axis)
        if length < 2 or not there:
            return ""
        one, many = PLACES.get(axis, ("place", "places"))
        told = self._listed(there, length, one, many)
        return told if axis in PLACES else f"{told} along {axis}"

    @staticmethod
    def _listed(there: list[int], length: int, one: str, many: str) -> str:
        if len(there) == length:
            return f"all {length} {many}"
        if len(there) == 1:
            return f"{one} {there[0]}"
        if there == [*range(there[0], there[-1] + 1)]:
            return f"{many} {there[0]} to {there[-1]}"
        listed = ", ".join(map(str, there[:MOST_LISTED]))
        more = f" and {len(there) - MOST_LISTED} more" if len(there) > MOST_LISTED else ""
        return f"{many} {listed}{more}"

    def _why(self) -> list[str]:
        if not self.changes:
            if self.difference and self.difference.words:
                return []
            return ["None of the changes that were tried explains it."]
        told = [f"What turns theirs into ours: {self.changes[0]}"]
        told += [f"  and: {each}" for each in self.changes[1:]]
        if self.explained < 1:
            told.append(f"  That explains {percent(self.explained)} of the difference, not all.")
        return told


def percent(share: float) -> str:
    """A share in words."""
    if share == float("inf"):
        return "more than all"
    return f"{100 * share:.2g} %" if share < 1 else f"{100 * share:.0f} %"


def _drawn(tensor: Tensor) -> Tensor:
    """As it can be given to a trace: in float32, with 0 for what is no number."""
    return tensor.float().nan_to_num(0.0, 0.0, 0.0)
