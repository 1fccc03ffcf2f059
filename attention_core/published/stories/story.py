"""A mistake that one of the notebooks has, told with numbers that are computed from its example."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from torch import Tensor

Figure = int | float | Tensor | Sequence[float] | str
Figures = dict[str, Figure]


@dataclass(frozen=True)
class Story:
    """What went wrong in a notebook, and what its own numbers say of it.

    `wrong` and `right` are templates: `{own:.4f}` is the figure `own` with four decimals. No number
    that can be computed is written into them.
    """

    name: str
    title: str
    example: str
    """Whose sentence and numbers it is told with: a key of `EXAMPLES`."""
    wrong: str
    right: str
    figures: Callable[[], Figures] | None = None
    """Computes what the sentences say; None where no computation can show it."""
    mistake: str = ""
    """The mistake of the lab that it is an instance of; "" where the lab has no switch for it."""

    def told(self) -> "Told":
        """Both sentences with their numbers."""
        return _told(self)


class Told(NamedTuple):
    """The sentences of a story."""

    wrong: str
    right: str


@cache
def figures_of(story: Story) -> Figures:
    """The figures of a story, computed once."""
    return story.figures() if story.figures else {}


@cache
def _told(story: Story) -> Told:
    figures = {name: _Said(figure) for name, figure in figures_of(story).items()}
    return Told(story.wrong.format(**figures), story.right.format(**figures))


class _Said:
    """A figure as a sentence has it: one number, or several in a row."""

    def __init__(self, figure: Figure) -> None:
        self._figure = figure.tolist() if isinstance(figure, Tensor) else figure

    def __format__(self, spec: str) -> str:
        """By Python's format of a number; what stands behind a bar joins several of them."""
        digits, bar, between = spec.partition("|")
        figure = self._figure
        if isinstance(figure, str):
            return figure
        if isinstance(figure, int | float):
            return _written(figure, digits)
        *first, last = (_written(each, digits) for each in figure)
        if bar:
            return between.join([*first, last])
        return f"{', '.join(first)} and {last}" if first else last


def _written(number: float, digits: str) -> str:
    text = format(number, digits or (",d" if isinstance(number, int) else ".4f"))
    if text.startswith("-"):
        bare = text[1:]
        return bare if not bare.strip("0.%") else f"−{bare}"
    return text
