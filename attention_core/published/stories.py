"""Mistakes of the five notebooks, told with numbers computed from their own examples.

    from attention_core.published.stories import STORIES

    print(STORIES["mask_after_softmax"].told().wrong)

They are data, in `stories.toml`; `tests/core/test_pitfalls.py` holds their figures against what is
known of the notebooks.
"""

import ast
from dataclasses import dataclass
from functools import cache
from string import Formatter
from typing import Any, NamedTuple

from torch import Tensor

from ..utils.toml_file import read_toml
from .building import traces
from .recipe import Recipe


class Told(NamedTuple):
    """The sentences of a story."""

    wrong: str
    right: str


@dataclass(frozen=True)
class Story:
    """What went wrong in a notebook, and its numbers; `{own:.4f}` is a figure's template."""

    name: str
    title: str
    example: str
    """Whose sentence and numbers it is told with: a key of `EXAMPLES`."""
    wrong: str
    right: str
    figures: str = ""
    """Recipes of what the sentences say, a name for each; "" where no computation can show it."""
    mistake: str = ""
    """The mistake of the lab that it is an instance of; "" where the lab has no switch for it."""

    def told(self) -> Told:
        """Both sentences with their numbers."""
        texts = (" ".join(text.split()) for text in (self.wrong, self.right))
        return Told(*(_Words().format(text, **figures_of(self)) for text in texts))


STORIES = {
    name: Story(name, **each) for name, each in read_toml(__package__, "stories.toml").items()
}
"""By name."""


def stories_of(mistake: str) -> tuple[Story, ...]:
    """The stories that are instances of a mistake of the lab; of "", those without a switch."""
    return tuple(story for story in STORIES.values() if story.mistake == mistake)


@cache
def figures_of(story: Story) -> dict[str, Any]:
    """The figures of a story, computed once: numbers, tensors, lists of them, or words."""
    trace_of = traces()
    found: dict[str, Any] = {}
    for line in ast.parse(story.figures).body:
        name, _, text = ast.unparse(line).partition(" = ")
        found[name] = Recipe(text, story.example).value(trace_of, found)
    return found


def plain(figure: Any) -> Any:
    """A figure without tensors."""
    if isinstance(figure, list | tuple):
        return [plain(each) for each in figure]
    return figure.tolist() if isinstance(figure, Tensor) else figure


class _Words(Formatter):
    """Writes figures as a sentence has them: one number, or several in a row."""

    def format_field(self, figure: Any, spec: str) -> str:
        """By Python's format of a number; what stands behind a bar joins several of them."""
        figure = plain(figure)
        digits, bar, between = spec.partition("|")
        if isinstance(figure, str | bool):
            return str(figure)
        if isinstance(figure, int | float):
            text = format(figure, digits or (",d" if isinstance(figure, int) else ".4f"))
            bare = text.removeprefix("-")
            return bare if bare == text or not bare.strip("0.%") else f"−{bare}"
        *first, last = (self.format_field(each, digits) for each in figure)
        if bar:
            return between.join([*first, last])
        return f"{', '.join(first)} and {last}" if first else last
