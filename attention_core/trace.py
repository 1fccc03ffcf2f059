"""A computation as an ordered record of named steps."""

import builtins
import keyword
import math
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from operator import index as as_index
from typing import Any

import torch
from torch import Tensor

from .expression import Cell, Expression, OutOfRange
from .operations.base import Meaning, Operation, kind_of
from .operations.inputs import shared
from .symbols import symbol_of
from .utils.display import Displayed
from .utils.validation import NoStep, among, shown, validated

_OF_A_PROGRAM = (
    "torch generator safe_open tokens vocabulary unknown positions columns angles name tensor "
    "cache GGUFReader dequantize tensors_of from_gguf"
)
_OF_A_NOTEBOOK = (
    "F plt heatmap compare checked base64 math Iterator contextmanager Wrong unpacked Checks "
    "block_sums"
)
NOT_A_NAME = {*keyword.kwlist, *dir(builtins), *_OF_A_PROGRAM.split(), *_OF_A_NOTEBOOK.split()}
"""Names with another meaning in a trace's program or notebook; so may any with `_` first."""


JOINED = ("d_queries", "d_concat")
"""Axes along which heads stand side by side."""
_TINY = torch.finfo(torch.float32).smallest_normal
"""Numbers below this one are as good as 0."""
step_version: ContextVar[Callable[[], object]] = ContextVar("step_version", default=lambda: None)
"""Asked whenever a step is made, which has the answer as its `version`."""


_once: ContextVar[dict[tuple, "Step"] | None] = ContextVar("once", default=None)


@contextmanager
def memoized() -> Iterator[None]:
    """Within, a step made alike of the very same steps is that step: traces share them."""
    before = _once.set({})
    try:
        yield
    finally:
        _once.reset(before)


@dataclass(slots=True, eq=False, repr=False)
class Step(Displayed):
    """One named tensor of a trace, and all that is known of it; made by `Trace.step`."""

    name: str
    _kept: Tensor | None
    axes: tuple[str, ...]
    operation: Any  # each kind has settings of its own
    inputs: tuple["Step", ...]
    symbol: str
    meaning: Meaning = Meaning.NUMBERS
    version: object = None
    _home: Callable[[], "Trace | None"] = lambda: None

    @property
    def value(self) -> Tensor:
        """Its numbers, never to be changed: others may share them."""
        if self._kept is not None:
            return self._kept
        return shared(self.operation, *(operand.operation for operand in self.inputs))

    @property
    def is_shared(self) -> bool:
        """Whether the numbers are kept for all traces together, and not by this step."""
        return self._kept is None

    @property
    def shape(self) -> str:
        """The shape in words, for example `query 6 × key 6`."""
        return " × ".join(
            f"{axis} {size}" for axis, size in zip(self.axes, self.value.shape, strict=True)
        )

    @property
    def formula(self) -> str:
        """LaTeX, for example `S = Q K^\\top`."""
        return f"{self.symbol} = {self.operation.formula(*(i.symbol for i in self.inputs))}"

    @property
    def code(self) -> str:
        """The PyTorch line, for example `scores = queries @ keys.mT`."""
        return f"{self.name} = {self.operation.code(*(i.name for i in self.inputs))}"

    @property
    def words(self) -> str:
        """What the operation does, in one sentence without any of the learner's text."""
        return self.operation.words()

    def number(self, index: tuple[int, ...]) -> float:
        """One of its numbers. Raises IndexError where the step has no such cell."""
        try:
            return float(self.value[index])
        except (IndexError, RuntimeError, TypeError, ValueError):
            raise self._no_cell(index) from None

    def cell(self, index: tuple[int, ...]) -> Cell:
        """One cell as a leaf of an arithmetic."""
        return Cell(self.name, index, self.number(index))

    def arithmetic(self, index: tuple[int, ...]) -> Expression:
        """How the cell at `index` comes about. Raises IndexError where there is no such cell."""
        index = self._place(index)
        return self._in_range(self.operation.arithmetic(index, *self.inputs), self.number(index))

    def arithmetics(self, cells: Iterable[tuple[int, ...]]) -> Iterator[Expression]:
        """How each of many cells comes about: the same, several times as fast."""
        inputs = [listed(each) for each in self.inputs]
        own = listed(self)
        for index in map(self._place, cells):
            yield self._in_range(self.operation.arithmetic(index, *inputs), own.number(index))

    def _place(self, index: Any) -> tuple[int, ...]:
        """The place of a cell, also from a list or, along a single axis, from a number."""
        place = (index,) if hasattr(index, "__index__") else index
        try:
            place = tuple(map(as_index, place))
        except TypeError:
            raise self._no_cell(index) from None
        if not self.has(place):
            raise self._no_cell(index)
        return place

    def _no_cell(self, index: object) -> IndexError:
        told = list(index) if isinstance(index, tuple) else shown(index)
        said = f"{self.name} has no cell {told}: its shape is {self.shape}"
        if isinstance(index, tuple):
            return IndexError(said)
        place = ", ".join(["0"] * len(self.axes))
        return IndexError(f"{said}. A cell is a place along each axis, such as ({place})")

    def _in_range(self, made: Expression, has: float) -> Expression:
        """An arithmetic, which is done in float64, or what this tensor's precision left of it."""
        near = math.isclose(made.value, has, rel_tol=1e-5, abs_tol=_TINY)
        if near or not self.value.is_floating_point():
            return made
        range_ = torch.finfo(self.value.dtype)
        too_large = max(filter(math.isfinite, made.on_the_way()), default=0.0) > range_.max
        too_small = _TINY < abs(made.value) < range_.smallest_normal
        precision = kind_of(self.value)
        if too_large or too_small:
            return OutOfRange(made, has, f"too small or too large a number for {precision}")
        if made.cancels(range_.eps):
            return OutOfRange(made, has, f"{precision} has no digits left where so much cancels")
        largest = max(filter(math.isfinite, made.on_the_way()), default=0.0)
        if range_.bits == 16 and abs(made.value - has) <= 2 * range_.eps * largest:
            return OutOfRange(made, has, f"rounded to {precision}")
        return made

    def earlier(self) -> set[str]:
        """The names of all steps that it is made from, however far back."""
        found: set[str] = set()
        waiting = list(self.inputs)
        while waiting:
            each = waiting.pop()
            if each.name not in found:
                found.add(each.name)
                waiting += each.inputs
        return found

    def has(self, index: Sequence[int]) -> bool:
        """Whether the step has a cell at `index`."""
        if not isinstance(index, Sequence) or len(index) != self.value.ndim:
            return False
        return all(
            hasattr(place, "__index__") and 0 <= place < size
            for place, size in zip(index, self.value.shape, strict=True)
        )

    def __repr__(self) -> str:
        return f"Step({self.code!r}, {self.shape})"


def is_shares(step: Step) -> bool:
    """Whether its numbers are shares of 1: weights, or probabilities."""
    return step.meaning is Meaning.SHARES


def listed(step: Step, name: str = "") -> Step:
    """The same step, perhaps renamed; a small one with its numbers in a list, for many reads."""
    kind = _Listed if step.value.numel() <= 10_000 else Step
    kept = None if step.is_shared else step.value
    named = name or step.name
    return kind(named, kept, step.axes, step.operation, step.inputs, step.symbol, step.meaning)


class _Listed(Step):
    """A step that has its numbers in a list: one of them is read ten times as fast."""

    __slots__ = ("_cells", "_numbers")

    def __init__(self, *known: Any) -> None:
        super().__init__(*known)
        self._numbers = self.value.tolist()
        self._cells: dict[tuple[int, ...], Cell] = {}

    def number(self, index: tuple[int, ...]) -> float:
        number: Any = self._numbers
        for place in index:
            number = number[place]
        return float(number)

    def cell(self, index: tuple[int, ...]) -> Cell:
        found = self._cells.get(index)
        if found is None:
            found = self._cells[index] = super().cell(index)
        return found


def head_at(axes: Sequence[str], index: Sequence[int]) -> int | None:
    """The head that a place, or its beginning, is in; None where it is in none."""
    return dict(zip(axes, index, strict=False)).get("head")


class Trace(Displayed, Mapping[str, Step]):
    """An ordered record of steps, each made by one operation from earlier ones.

    An axis has one length in the whole trace: a trace refuses an axis that is 5 long in one step
    and 7 in another. `labels` gives the names of an axis's places (the tokens of `query`).

        trace = Trace(token=["The", "cat"])
        embeddings = trace.step("embeddings", Given([[1., 2.], [3., 4.]]), axes=("token", "d_in"))
        scores = trace.step(
            "scores", MatMul(transpose=True), embeddings, embeddings, axes=("query", "key")
        )
    """

    @validated
    def __init__(self, **labels: Sequence[str]) -> None:
        self._steps: dict[str, Step] = {}
        self._sizes: dict[str, tuple[int, str]] = {}
        self._labels = {axis: tuple(names) for axis, names in labels.items()}
        self._labels_by_head: dict[str, tuple[tuple[str, ...], ...]] = {}
        self._gradients: dict[str, str] = {}
        self.rounds: list[tuple[str, ...]] = []
        """The steps of each round of a loop written out; an exercise asks for one round."""

    def branch(self) -> "Trace":
        """A trace that goes on from this one's steps alone: what is shared is computed once."""
        other = self.emptied()
        other._steps, other._sizes = dict(self._steps), dict(self._sizes)
        other.rounds = list(self.rounds)
        return other

    def rebuilt(self, names: Iterable[str], by: Mapping[str, Operation]) -> "Trace":
        """The same computation with these steps made anew, in their order: some `by` another
        operation, the rest by their own, from what their inputs have become.
        """
        other = self.branch()
        steps = other._steps
        for name in names:
            old = steps[name]
            operation = by.get(name, old.operation)
            inputs = tuple([steps[each.name] for each in old.inputs])
            value = operation.value(*[each.value for each in inputs])
            if value.shape != old.value.shape:
                self._check_axes(name, value, old.axes)
            how = value, old.axes, operation, inputs, old.symbol, old.meaning, old.version
            steps[name] = Step(name, *how, weakref.ref(other))
        return other

    def step(
        self,
        name: str,
        operation: Operation,
        *inputs: Step,
        axes: tuple[str, ...],
        symbol: str | None = None,
        meaning: Meaning | None = None,
    ) -> Step:
        """Apply an operation to earlier steps and record the result under a name. Its `meaning` is
        what the operation makes, where none is said. Raises ValueError where the name is taken or
        no identifier, an input is not of this trace, an axis stands twice in `axes`, or these do
        not fit the result.
        """
        if not isinstance(name, str) or not name.isidentifier():
            raise ValueError(f"{name!r} cannot name a step: it must be a Python identifier")
        if name in NOT_A_NAME or name[0] == "_":
            raise ValueError(f"{name!r} cannot name a step: it has a meaning in the program")
        if name in self._steps:
            raise ValueError(f"the trace already has a step {name!r}; a value is never rebound")
        if not isinstance(operation, Operation):
            called = f"{operation.__name__}(…)" if isinstance(operation, type) else "ops.Softmax()"
            raise ValueError(
                f"{name!r} is made by {shown(operation)}, but must be by an operation: {called}"
            )
        inputs = tuple(self[each] if isinstance(each, str) else each for each in inputs)
        for operand in inputs:
            if not isinstance(operand, Step) or self._steps.get(operand.name) is not operand:
                raise ValueError(
                    f"{name!r} is made from {getattr(operand, 'name', operand)!r}, not a step of "
                    "this trace"
                )
        if isinstance(axes, str) or not isinstance(axes, Iterable):
            raise ValueError(f"axes of {name!r} are {axes!r}, but must be names: ('query', 'key')")
        axes = tuple(axes)
        known = _once.get()
        how: tuple = ()
        if known is not None:
            how = (name, operation, *map(id, inputs), axes, symbol, meaning)
            if how in known:
                self._check_axes(name, known[how].value, axes)
                self._steps[name] = known[how]
                return known[how]
        common = shared(operation, *[operand.operation for operand in inputs])
        is_own = common is None
        value = operation.value(*[each.value for each in inputs]) if common is None else common
        self._check_axes(name, value, axes)
        own = value if is_own else None
        meaning = meaning or operation.meaning(*inputs)
        made = Step(name, own, axes, operation, inputs, symbol or symbol_of(name), meaning)
        self._steps[name] = made
        made.version = step_version.get()()
        if known is not None:
            known[how] = made
        made._home = weakref.ref(self)  # not the trace: Python frees it late where it is in a ring
        return made

    def again(self, step: Step, *inputs: Step, by: Operation | None = None) -> Step:
        """A step of another trace made here, perhaps `by` another operation; it means the same. Of
        what it was made of there, it is that very step.
        """
        is_same = by is None and inputs == step.inputs and step.name not in self._steps
        if is_same and all(self._steps.get(each.name) is each for each in inputs):
            self._check_axes(step.name, step.value, step.axes)
            self._steps[step.name] = step
            return step
        told = step.operation.meaning(*step.inputs)
        said = None if step.meaning is told else step.meaning
        made_by = by or step.operation
        return self.step(
            step.name, made_by, *inputs, axes=step.axes, symbol=step.symbol, meaning=said
        )

    def _check_axes(self, name: str, value: Tensor, axes: tuple[str, ...]) -> None:
        shape = value.shape
        if len(axes) != len(shape):
            raise ValueError(
                f"{name!r} has {len(shape)} axes, of lengths {tuple(shape)}, "
                f"but {len(axes)} names: {axes}"
            )
        if len({*axes}) < len(axes):
            twice = next(axis for axis in axes if axes.count(axis) > 1)
            raise ValueError(
                f"{name!r} has the axis {twice!r} twice: name each axis by its role, such as "
                "query and key, or what is pointed at lights up the wrong cells"
            )
        sizes = self._sizes
        new: dict[str, tuple[int, str]] = {}
        for axis, size in zip(axes, shape, strict=True):
            known = sizes.get(axis) or new.get(axis)
            if known is None:
                labels = self._labels.get(axis)
                if labels is not None and len(labels) != size:
                    raise ValueError(
                        f"axis {axis!r} is {size} long in {name!r} but has {len(labels)} labels"
                    )
                new[axis] = (size, name)
            elif known[0] != size:
                raise ValueError(
                    f"axis {axis!r} is {size} long in {name!r} but {known[0]} long in {known[1]!r}"
                )
        sizes |= new

    @classmethod
    def of(cls, step: Step) -> "Trace":
        """The trace that a step was made in; where that is gone, one without labels."""
        home = step._home()
        if home is None:
            home = cls()
            for each in _in_order(step):
                home._check_axes(each.name, each.value, each.axes)
                home._steps[each.name] = each
        return home

    def label(self, axis: str, names: Sequence[str]) -> None:
        """Name the places of an axis that no step has yet. Raises ValueError for any other."""
        if axis in self._sizes or axis in self._labels:
            raise ValueError(f"axis {axis!r} is there already: name its places before its steps")
        self._labels[axis] = tuple(names)

    def label_by_head(self, axis: str, names: Sequence[Sequence[str]]) -> None:
        """Name the places of an axis that mean something else in each head."""
        self._labels_by_head[axis] = tuple(map(tuple, names))

    def emptied(self) -> "Trace":
        """A trace without steps whose axes have the same labels."""
        empty = Trace()
        empty._labels = dict(self._labels)
        empty._gradients = dict(self._gradients)
        empty._labels_by_head = dict(self._labels_by_head)
        return empty

    @property
    def gradients(self) -> dict[str, str]:
        """What each step's gradient is called, once there is a backward pass: the loss is first."""
        return {of: name for of, name in self._gradients.items() if name in self._steps}

    def has_gradient(self, of: str, name: str) -> None:
        """Say that the step `name`, which may come later, is the gradient of another."""
        self._gradients[of] = name

    def labels(self, axis: str, head: int | None = None) -> tuple[str, ...]:
        """The names of an axis's places: labels, or d0, d1, … for a width, or numbers from 0."""
        if head is not None and axis in self._labels_by_head:
            return self._labels_by_head[axis][head]
        if axis in self._labels:
            return self._labels[axis]
        if axis.startswith("d_"):
            return tuple(f"d{place}" for place in range(self.size(axis)))
        return _counted(self.size(axis))

    def name_of(self, axis: str, place: int, head: int | None = None) -> str | None:
        """The name of one of an axis's places; None where it has only its number."""
        if axis not in self._labels and (head is None or axis not in self._labels_by_head):
            return None  # labels of a long axis are many
        name = self.labels(axis, head)[place]
        return None if name in (str(place), f"d{place}") else name

    def components(self) -> dict[str, tuple[str, ...]]:
        """What the places of a width mean, by axis, where named, or by `d_head of head 0`."""
        by_head = {
            f"{axis} of head {head} ({self.labels('head')[head]})": names
            for axis, heads in self._labels_by_head.items()
            for head, names in enumerate(heads)
        }
        named = {
            axis: names
            for axis, names in self._labels.items()
            if axis.startswith("d_") and axis not in JOINED and self.has_axis(axis)
        }
        return named | by_head

    def size(self, axis: str) -> int:
        """The length of an axis; raises KeyError for one that no step has."""
        if axis not in self._sizes:
            raise NoStep(f"no step of this trace has an axis {axis!r}{among(axis, self._sizes)}")
        return self._sizes[axis][0]

    def has_axis(self, axis: str) -> bool:
        """Whether a step has this axis."""
        return axis in self._sizes

    def __getitem__(self, name: str) -> Step:
        if name not in self._steps:
            raise NoStep(f"this trace has no step {shown(name)}{among(name, self._steps)}")
        return self._steps[name]

    def __contains__(self, name: object) -> bool:
        return name in self._steps

    # Mapping's own says more ways to call it than there are.
    def get(self, name: str, default: Any = None) -> Any:  # type: ignore[override]
        """A step by its name, or something else where there is none."""
        return self._steps.get(name, default)

    def __iter__(self) -> Iterator[str]:
        return iter(self._steps)

    def __len__(self) -> int:
        return len(self._steps)

    def formula(self, name: str, known: tuple[str, ...]) -> str:
        """LaTeX of a step in which the steps between it and the `known` ones are written out.

        `trace.formula("context_vectors", known=("embeddings",))` is Z = softmax(X Xᵀ) X.
        """
        step = self[name]
        inner = (self._written_out(operand, known) for operand in step.inputs)
        return f"{step.symbol} = {step.operation.formula(*inner)}"

    def _written_out(self, step: Step, known: tuple[str, ...]) -> str:
        if step.name in known or not step.inputs:
            return step.symbol
        return step.operation.formula(
            *(self._written_out(operand, known) for operand in step.inputs)
        )


def _in_order(step: Step, found: dict[Step, None] | None = None) -> list[Step]:
    """A step after all that it is made of."""
    found = {} if found is None else found
    for each in step.inputs:
        _in_order(each, found)
    found[step] = None
    return [*found]


@lru_cache(maxsize=32)
def _counted(size: int) -> tuple[str, ...]:
    """0, 1, 2, … as labels: one tuple for all, since that of 20,000 rows takes a megabyte."""
    return tuple(map(str, range(size)))
