"""A lesson's trace as it is on the screen: which cell is open, which cells are highlighted."""

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property

from attention_core.examples import EXAMPLES
from attention_core.expression import Cell, Expression
from attention_core.published import Mark, marks
from attention_core.trace import Step, Trace

from ..cards.arithmetic import operand_groups
from ..controls.fields import CellPlace
from ..settings.settings import Settings


@dataclass(frozen=True)
class Cover:
    """An open question that covers a picture."""

    question: str
    """The key of its answer."""
    fingerprint: int
    """Changes when the numbers that it asks about change."""
    hides_shape: bool
    """Whether the frame would give the answer away too."""
    where: str
    """Where it stands, in words of ours with a link: `the question under …`."""


@dataclass
class View:
    """A lesson's trace and settings, from which its page is drawn."""

    page: str
    settings: Settings
    trace: Trace
    opens_with: CellPlace | None = None
    """The cell that is open before the person has chosen one."""
    lesson: str = ""
    """The lesson's name in `attention_core.published`, if notebooks print numbers of it."""
    build: Callable[[Settings], Trace] | None = None
    """Makes the lesson's trace from settings, so that pinned ones can be compared with these."""
    said: dict[str, str] = field(default_factory=dict)
    """Things that are said only once a page, and the beat that said each."""
    covered: dict[str, tuple[Cover, ...]] = field(default_factory=dict)
    """Steps, and other things that pictures show, whose numbers would answer an open question."""

    @classmethod
    def of(
        cls,
        page: str,
        settings: Settings,
        build: Callable[[Settings], Trace],
        opens_with: CellPlace | None = None,
        lesson: str = "",
    ) -> "View":
        """The view of a lesson's main trace."""
        return cls(page, settings, build(settings), opens_with, lesson, build)

    def now(self, settings: Settings) -> "View":
        """The same page with newer settings that leave its trace as it is, such as the cell."""
        return self if settings is self.settings else replace(self, settings=settings)

    def beside(self, trace: Trace, lesson: str = "", same: Iterable[str] = ()) -> "View":
        """Another trace on the same page, such as an experiment's; its cells open as well. Steps
        that are the `same` in both are covered in both.
        """
        covered = {name: self.covered[name] for name in same if name in self.covered}
        there = {"trace": trace, "lesson": lesson, "covered": covered}
        return replace(self, **there, opens_with=None, build=None)

    def covers_of(self, shown: Iterable[str]) -> tuple[Cover, ...]:
        """The open questions that a picture of these steps would answer."""
        found = (cover for name in shown for cover in self.covered.get(name, ()))
        return tuple(dict.fromkeys(found))

    def revealed_by(self, step: str) -> tuple[str, ...]:
        """The steps whose numbers are seen in the arithmetic of a step: itself and its inputs."""
        return (step, *(given.name for given in self.trace[step].inputs))

    def is_first(self, what: str, beat: str) -> bool:
        """Whether this beat is the first to say `what`, which is said only once a page."""
        return self.said.setdefault(what, beat) == beat

    def is_home(self, beat: str, steps: Iterable[str]) -> bool:
        """Whether the arithmetic of the open cell belongs to this beat: the cell was chosen here,
        or is drawn here first.
        """
        if not self.trail or self.covers_of(self.revealed_by(self.trail[-1][0])):
            return False
        wanted = self.settings.beat if self.settings.cell else ""
        if wanted:
            return wanted == beat
        return self.trail[0][0] in steps and self.is_first("open cell", beat)

    @cached_property
    def marks(self) -> list[Mark]:
        """The numbers that the example's notebook prints of this lesson, checked on this trace."""
        example = EXAMPLES[self.settings.example]
        row = {"qkv": "token", "softmax_or_sum": "row_query"}.get(self.lesson, "query")
        query = getattr(self.settings, row)
        return marks(example.notebook, example.name, self.lesson, self.trace, query)

    @cached_property
    def all_match(self) -> bool:
        """Whether all that the notebook prints of this lesson is what the trace has."""
        return all(mark.check.ok for mark in self.marks)

    def fingerprint(self, names: Iterable[str]) -> int:
        """A hash that changes when numbers of these steps, or of their inputs, change."""
        steps = [self.trace[name] for name in names]
        steps += [each for step in steps for each in step.inputs]
        return hash(tuple({step.name: _fingerprint(step) for step in steps}.items()))

    @cached_property
    def trail(self) -> tuple[CellPlace, ...]:
        """The cells from the one that was chosen to the one that is open; () for none."""
        chosen = self.settings.cell
        if chosen is None:
            chosen = (self.opens_with,) if self.opens_with else ()
        return chosen if self.lost_cell is None else ()

    @cached_property
    def lost_cell(self) -> CellPlace | None:
        """The first cell of the settings' trail that this trace does not have."""
        for step, index in self.settings.cell or ():
            if step not in self.trace or not self.trace[step].has(index):
                return step, index
        return None

    @cached_property
    def arithmetic(self) -> Expression | None:
        """The arithmetic of the open cell."""
        if not self.trail:
            return None
        step, index = self.trail[-1]
        return self.trace[step].arithmetic(index)

    @cached_property
    def operands(self) -> tuple[tuple[Cell, ...], ...]:
        """The cells that the open cell is made of, grouped: row and column of a product."""
        return operand_groups(self.arithmetic) if self.arithmetic else ()

    def highlighted(self, step: str, operand: int | None = None) -> frozenset[tuple[int, ...]]:
        """The cells of a step to outline; only those of one operand, where it is named."""
        groups = self.operands
        if operand is not None and len(groups) > operand and groups[operand][0].step == step:
            groups = (groups[operand],)  # of two matrices that are one step, each its own part
        return frozenset(cell.index for group in groups for cell in group if cell.step == step)

    def chosen(self, step: str) -> tuple[int, ...] | None:
        """The open cell, if it belongs to this step."""
        return self.trail[-1][1] if self.trail and self.trail[-1][0] == step else None


def _fingerprint(step: Step) -> Hashable:
    """Changes when a step's numbers change. A large draw is known by its seed, not read through."""
    if step.is_shared:
        return step.operation, *(given.operation for given in step.inputs)
    return step.value.shape, step.value.numpy().tobytes()
