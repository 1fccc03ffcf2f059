"""Which cells give an answer away: those that are asked for, and what tells them at sight.

A question says which cells it asks for, by the places along named axes (`Question.at`). From these
follow all others, by what each step of the trace reads (`extents`):

- what is made of the asked cells alone, and shows them: a copy, a row brought to shares, a line
  scaled by one of them, a mixture that is nearly all one of them;
- what lies on the way from what the question gives to what it asks for;
- the same numbers, or numbers in the same ratio, worked out another way;
- one of two that stand open and have them as their sum or difference, and one more cell of a row of
  shares, of which a single one would be what the others leave.

What is given, and all before it, stays: the answer is to be worked out from there.
"""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from attention_core.explain.extents import NONE, extents
from attention_core.trace import Step, Trace

NUMBERS, SHAPE = "numbers", "shape"
MOSTLY = 0.5
"""A mixture shows a part of it that has at least so much of the weight."""
SAME = 1e-5
NEARLY_ONE = 1e-3
"""Shares add up to 1 but for less than this."""


@dataclass(frozen=True)
class Cover:
    """Which cells of a step a question covers; all, and how many there are, where it asks for a
    shape, on the card that asks.
    """

    how: str
    shape: tuple[int, ...] = ()
    cells: bytes = b""
    card: str = ""
    at: tuple[tuple[str, tuple[int, ...]], ...] = ()
    """Which places along named axes are asked for."""

    @classmethod
    def of(cls, mask: Tensor, at: Mapping[str, Sequence[int]]) -> "Cover":
        """Those cells that are True, for a question at these places."""
        flat, places = mask.flatten().numpy(), ((axis, tuple(each)) for axis, each in at.items())
        return cls(NUMBERS, tuple(mask.shape), np.packbits(flat).tobytes(), at=tuple(places))

    @property
    def mask(self) -> Tensor:
        """True for each cell that is covered, in the shape of the step."""
        flat = np.unpackbits(np.frombuffer(self.cells, np.uint8), count=int(np.prod(self.shape)))
        return torch.from_numpy(flat.astype(bool)).reshape(self.shape)

    def mask_on(self, step: Step) -> Tensor:
        """The same for a step of this name in any trace: all of one of another shape."""
        if tuple(step.value.shape) == self.shape:
            return self.mask
        return torch.ones(step.value.shape, dtype=torch.bool)

    def __or__(self, other: "Cover") -> "Cover":
        if SHAPE in (self.how, other.how) or self.shape != other.shape:
            return self if self.how == SHAPE else other
        return Cover.of(self.mask | other.mask, dict(self.at) if self.at == other.at else {})


Masks = dict[str, Tensor | None]
"""By the names of steps, True for each of their cells that is covered."""


def asked_cells(step: Step, at: Mapping[str, Sequence[int]]) -> Tensor:
    """True for the cells of a step at these places along its axes, of which it may lack some."""
    mask = torch.ones(step.value.shape, dtype=torch.bool)
    for axis, places in at.items():
        if axis in step.axes:
            along = torch.zeros(step.value.shape[step.axes.index(axis)], dtype=torch.bool)
            along[list(places)] = True
            shape = [-1 if each == axis else 1 for each in step.axes]
            mask &= along.reshape(shape)
    return mask


def giving_away(
    trace: Trace,
    about: Sequence[str],
    at: Mapping[str, Sequence[int]],
    given: Sequence[str] | None = None,
) -> Masks:
    """All cells that tell those asked for. Of steps that it is `about`, they are `at` these places;
    `given` are the steps that it is to be worked out from: their inputs, unless they are named.
    """
    steps = [trace[name] for name in about if name in trace]
    if given is None:
        given = [one.name for step in steps for one in step.inputs]
    stays = {*given}.union(*(trace[name].earlier() for name in given if name in trace))
    stays -= {*about}
    asked = {step.name: asked_cells(step, at) for step in steps}
    way = _on_the_way(trace, asked, stays)
    told = dict(asked)
    _follow(trace, told, stays, is_one_line=bool(at))
    known = 0
    while at and known < len(told):  # of all of a matrix it is no number that is asked for
        for found in (told, way):
            found |= _copies(trace, found, {**told, **way}, stays, at)
        known = len(told)
        _follow(trace, told, stays, is_one_line=True)
    for name, mask in way.items():
        told[name] = told[name] | mask if name in told else mask
    if at:
        for name, mask in _sums(trace, told, stays, at).items():
            told[name] = told[name] | mask if name in told else mask
        for name, mask in told.items():
            told[name] = mask | what_is_left(trace[name].value, mask)
    return {name: mask for name, mask in told.items() if mask.any()}


def _may_tell(step: Step) -> bool:
    return step.value.is_floating_point() and not step.is_shared


def _on_the_way(trace: Trace, asked: Masks, stays: set[str]) -> Masks:
    """The cells between what is given and what is asked for that the latter are made of."""
    found: Masks = {}
    waiting = [(trace[name], mask) for name, mask in asked.items()]
    for step, mask in waiting:
        for operand, one in enumerate(step.inputs):
            if one.name in stays or one.name in asked or not _may_tell(one):
                continue
            read = read_by(step, operand, mask)
            if (read & ~found.get(one.name, torch.zeros_like(read))).any():
                found[one.name] = read | found.get(one.name, torch.zeros_like(read))
                waiting.append((one, read))
    return found


def _follow(trace: Trace, told: Masks, stays: set[str], is_one_line: bool) -> None:
    """Adds what is made of told cells alone, and shows them."""
    for step in trace.values():
        if step.name in stays or not _may_tell(step):
            continue
        mask = told_by(step, told, is_one_line)
        if mask is not None:
            told[step.name] = told[step.name] | mask if step.name in told else mask


def told_by(step: Step, told: Mapping[str, Tensor], is_one_line: bool = True) -> Tensor | None:
    """The cells of a step that show told cells of what it is made of; None where none does."""
    found = None
    for operand, one in enumerate(step.inputs):
        mask = told.get(one.name)
        if mask is None or tuple(mask.shape) != tuple(one.value.shape) or not mask.any():
            continue
        shows = _shown_in(step, operand, mask, is_one_line)
        if shows is not None and shows.any():
            found = shows if found is None else found | shows
    return found


def _shown_in(step: Step, operand: int, mask: Tensor, is_one_line: bool) -> Tensor | None:
    one, size = step.inputs[operand], _n_read(step, operand)
    others = [each for at, each in enumerate(step.inputs) if at != operand]
    is_alone = all(not each.value.is_floating_point() or each.value.numel() == 1 for each in others)
    only = size == _n_read(step, operand, mask)
    only &= size > 0
    is_a_copy = is_alone and bool((size <= 1).all())
    is_same_shape = is_alone and step.value.shape == one.value.shape
    is_spread = one.value.ndim < step.value.ndim and bool((size <= 1).all())
    if is_a_copy or is_same_shape or is_spread:
        return only
    if others and is_one_line:  # a mixture of what stands there, weighted by what is told
        weights = one.value.double().nan_to_num(0.0, 0.0, 0.0).abs()
        is_mostly = weights.amax(dim=-1, keepdim=True) >= MOSTLY * weights.sum(dim=-1, keepdim=True)
        told = _n_read(step, operand, is_mostly.expand(weights.shape))
        return only & (size > 1) & (told == size)
    return None


def read_by(step: Step, operand: int, mask: Tensor) -> Tensor:
    """The cells of an operand that some cells of a step are made of."""
    one = step.inputs[operand]
    found = torch.zeros(one.value.shape, dtype=torch.bool)
    blocks = extents(step, operand).reshape(step.value.numel(), -1, max(1, one.value.ndim), 2)
    for block in blocks[mask.flatten()].flatten(0, 1).unique(dim=0).tolist():
        if block[0][0] != NONE:
            found[tuple(slice(first, last + 1) for first, last in block[: one.value.ndim])] = True
    return found


def untold(step: Step, hidden: Mapping[str, Tensor]) -> Tensor:
    """The cells of a step whose arithmetic would print a hidden number, its own or another's."""
    found = torch.zeros(step.value.shape, dtype=torch.bool)
    if step.name in hidden:
        found |= hidden[step.name]
    for operand, one in enumerate(step.inputs):
        mask = hidden.get(one.name)
        if mask is not None and mask.any():
            found |= _n_read(step, operand, mask) > 0
    return found


def _n_read(step: Step, operand: int, mask: Tensor | None = None) -> Tensor:
    """How many cells of an operand each cell of a step reads, of all or of those in a mask."""
    one = step.inputs[operand].value
    counted = np.ones(one.shape, np.int64) if mask is None else mask.numpy().astype(np.int64)
    counted = counted.reshape(counted.shape or (1,))
    # How many there are before each place along every axis: so each block takes a few of these.
    before = np.zeros([size + 1 for size in counted.shape], np.int64)
    before[(slice(1, None),) * counted.ndim] = counted
    for axis in range(counted.ndim):
        before = before.cumsum(axis=axis)
    blocks = extents(step, operand).numpy().astype(np.int64).reshape(-1, counted.ndim, 2)
    is_some = blocks[:, 0, 0] != NONE
    found = np.zeros(len(blocks), np.int64)
    for corner in itertools.product((0, 1), repeat=counted.ndim):
        ends = tuple(blocks[:, axis, end] + end for axis, end in enumerate(corner))
        found += (-1) ** (counted.ndim - sum(corner)) * np.where(is_some, before[ends], 0)
    each = found.reshape(step.value.numel(), -1).sum(axis=1)
    return torch.from_numpy(each).reshape(step.value.shape)


def _copies(
    trace: Trace, found: Masks, covered: Masks, stays: set[str], at: Mapping[str, Sequence[int]]
) -> Masks:
    """Lines of other steps with the numbers of covered lines, at the same place where they have the
    axis of the question, else anywhere; or with the same axes, in their ratio.
    """
    more: Masks = {}
    lines = [line for name, mask in found.items() for line in _lines(trace[name], mask)]
    for step in trace.values():
        if step.name in stays or step.name in covered or not _may_tell(step) or not step.inputs:
            continue
        if not step.value.ndim:
            continue
        here = asked_cells(step, at) if {*at} & {*step.axes} else None
        mask = torch.zeros(step.value.shape, dtype=torch.bool)
        for line in lines:
            mask |= _alike(step.value, line)
        if here is not None:
            mask &= here
        for name, of in found.items():
            if trace[name].axes == step.axes:
                mask |= _in_ratio(step, trace[name], of)
                if _is_copy(step, trace[name]):
                    mask |= of
        if mask.any():
            more[step.name] = mask
    return more


def _sums(trace: Trace, told: Masks, stays: set[str], at: Mapping[str, Sequence[int]]) -> Masks:
    """Lines of one of two steps whose sum or difference is a covered line, both of them open: of
    the later one, unless it stays.
    """
    more: Masks = {}
    lines = [line for name, mask in told.items() for line in _lines(trace[name], mask)]
    groups: dict[tuple, list[Step]] = {}
    for step in trace.values():
        if lines and _may_tell(step) and step.value.ndim:
            groups.setdefault((step.axes, step.value.shape), []).append(step)
    for group in groups.values():
        if not group[1:]:
            continue
        place = asked_cells(group[0], at)
        for first, later, found in _adding_up(group, lines, place):
            each = [step for step in (later, first) if step.name not in stays]
            found &= place
            for step in (first, later):
                if step.name in told:
                    found &= ~told[step.name]
            if each and found.any():
                mask = more.get(each[0].name, torch.zeros_like(found))
                more[each[0].name] = mask | found
    return more


def _adding_up(
    steps: Sequence[Step], lines: Sequence[Tensor], place: Tensor
) -> Iterator[tuple[Step, Step, Tensor]]:
    """Each two of some steps alike in shape, and the cells of their lines at a place that make one
    of some lines, added up or one taken from the other. All zeros add nothing.
    """
    width = place.shape[-1]
    known = [line for line in lines if len(line) == width and line.isfinite().all()]
    rows = place.reshape(-1, width).any(dim=-1).nonzero().flatten()
    if not known or not len(rows):
        return
    each = torch.stack([step.value.reshape(-1, width)[rows].double() for step in steps])
    wanted = torch.stack(known)[:, None, None, None]  # (line, step, step, row, number)
    found = torch.zeros(len(steps), len(steps), len(rows), dtype=torch.bool)
    for made in (each[None] - each[:, None], each[None] + each[:, None]):
        gap = (made - wanted).abs().amax(dim=-1)
        found |= (gap <= SAME * wanted.abs().amax(dim=-1)).any(dim=0)
    found &= (each != 0).any(dim=-1) & (each != 0).any(dim=-1)[:, None]
    found |= found.transpose(0, 1).clone()
    for first, later, row in found.nonzero().tolist():
        if first < later:
            mask = torch.zeros(place.numel() // width, width, dtype=torch.bool)
            mask[rows[row]] = True
            yield steps[first], steps[later], mask.reshape(place.shape)


def what_is_left(values: Tensor, mask: Tensor) -> Tensor:
    """One cell more of each row of shares of which a single one is covered: the largest of the
    others, since their sum would tell what is left of 1.
    """
    more = torch.zeros_like(mask)
    if not values.ndim or not values.isfinite().all():
        return more
    is_one = (values.double().sum(dim=-1) - 1).abs() <= NEARLY_ONE
    is_one &= (mask.sum(dim=-1) == 1) & (values.shape[-1] > 1)
    if is_one.any():
        largest = values.abs().masked_fill(mask, -1.0).argmax(dim=-1, keepdim=True)
        more.scatter_(-1, largest, is_one.unsqueeze(-1))
    return more


def _lines(step: Step, mask: Tensor) -> list[Tensor]:
    """The numbers of each line along the last axis that is covered whole, if they tell anything."""
    if not step.value.ndim:
        return []
    values = step.value.reshape(-1, step.value.shape[-1])
    whole = mask.reshape(values.shape).all(dim=-1)
    each = dict.fromkeys(tuple(line) for line in values[whole].tolist())
    return [torch.tensor(line, dtype=torch.float64) for line in each if is_telling(line)]


def is_telling(line: Sequence[float] | Tensor) -> bool:
    """Whether numbers are so particular that the same ones elsewhere are a copy of them."""
    numbers = line.tolist() if isinstance(line, Tensor) else line
    return len({round(each, 4) for each in numbers if each and math.isfinite(each)}) > 1


def _alike(values: Tensor, line: Tensor) -> Tensor:
    """True for the lines (…, along the last axis or the one before it) with the numbers of one."""
    found = torch.zeros(values.shape, dtype=torch.bool)
    for turned in (values, values.mT) if values.ndim > 1 else (values,):
        if turned.shape[-1] != len(line) or not line.isfinite().all():
            continue
        gap = (turned.double() - line).abs().amax(dim=-1, keepdim=True)
        same = (gap <= SAME * line.abs().max()).expand(turned.shape)
        found |= same if turned is values else same.mT
    return found


def _is_copy(step: Step, original: Step) -> bool:
    """Whether all of a step's numbers are those of another at the same places, be they ever so
    plain.
    """
    same = step.axes == original.axes and step.value.shape == original.value.shape
    return same and torch.allclose(step.value, original.value, rtol=SAME, equal_nan=True)


def _in_ratio(step: Step, original: Step, mask: Tensor) -> Tensor:
    """The covered lines of which a step has the numbers in their ratio, where they are not 0: those
    of a masked row, say, with what the mask hides.
    """
    n_columns = original.value.shape[-1]
    found = torch.zeros(step.value.shape, dtype=torch.bool)
    lines = found.reshape(-1, n_columns)
    line, own = (each.value.double().reshape(-1, n_columns) for each in (original, step))
    for at in mask.reshape(-1, n_columns).all(dim=-1).nonzero().flatten().tolist():
        seen = (line[at] != 0) & line[at].isfinite()
        one, other = line[at][seen], own[at][seen]
        if is_telling(one) and other.any() and other.isfinite().all():
            gap = (one / one.norm() - other / other.norm()).abs().max()
            lines[at] = bool(gap <= SAME)
    return found


def copied(
    step: Step, original: Step, cover: Cover, beside: Sequence[tuple[Step, Cover | None]] = ()
) -> Tensor | None:
    """The cells of a step of another trace with the numbers of a step's covered lines, or that make
    them with what stands open of steps `beside`; none where the question is about all of a matrix,
    and so about no number of it.
    """
    if not cover.at or tuple(original.value.shape) != cover.shape:
        return None
    if not (_may_tell(step) and step.value.ndim):
        return None
    place, lines = asked_cells(step, dict(cover.at)), _lines(original, cover.mask)
    found = torch.zeros(step.value.shape, dtype=torch.bool)
    for line in lines:
        found |= _alike(step.value, line)
    alike = [
        (one, hidden)
        for one, hidden in (beside if lines else ())
        if one.axes == step.axes and one.value.shape == step.value.shape and _may_tell(one)
    ]
    hides = {id(one): hidden for one, hidden in alike}
    steps = (*(one for one, _ in alike), step)
    for first, later, more in _adding_up(steps, lines, place) if alike else ():
        if later is step:
            hidden = hides[id(first)]
            found |= more & ~hidden.mask_on(first) if hidden else more
    found &= place
    if _is_copy(step, original):
        found |= cover.mask
    return found if found.any() else None


def joined(each: Sequence[Mapping[str, Cover]]) -> dict[str, Cover]:
    """What several questions cover."""
    found: dict[str, Cover] = {}
    for name, cover in itertools.chain(*(one.items() for one in each)):
        found[name] = found[name] | cover if name in found else cover
    return found
