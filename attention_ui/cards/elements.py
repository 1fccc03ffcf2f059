"""What a card yields: words, controls, checks, charts, pictures, each made from values alone."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import streamlit as st

from attention_core.lights.light import Light
from attention_core.trace import Step, Trace

from ..frame import lights
from ..frame.data_frame import put_frame
from ..frame.page import way_to, way_to_a_real_model, way_to_the_lessons
from ..picture import layout as arranged
from ..picture import stacked as rows
from ..picture.equation_parts import written_out
from ..picture.layout import Layout, matrices_of
from ..picture.matrix import Matrix
from ..picture.sentence import with_sentence
from ..reactive import settings
from ..reactive.cache import SmallCache
from ..reactive.control import Control, Placed
from ..reactive.elements import Alive as Alive
from ..reactive.elements import Element as Element
from ..reactive.elements import Row as Row
from ..reactive.elements import Shown
from ..reactive.elements import alive as alive
from ..reactive.elements import button as button
from ..reactive.elements import caption as caption
from ..reactive.elements import code as code
from ..reactive.elements import progress as progress
from ..reactive.elements import row as row
from ..reactive.elements import say as say
from ..reactive.elements import set_to as set_to
from ..reactive.elements import text as text
from ..reactive.fragments import event
from . import show
from .seen import covered as covered
from .show import Choosing
from .tracked_trace import plain

Parts = Sequence[Step | Matrix | str]
"""The parts of an equation."""


At = Callable[[Any], tuple[Trace, Parts] | Layout]
"""What a picture is at a position of its control: a trace and the parts of it, or a layout."""


@dataclass(frozen=True)
class InPicture(Placed):
    """The place of a control that a picture carries."""

    in_picture: str = "*"
    """The picture's name; `*` for that of its card."""

    def draw(self) -> None:
        show.moves(self.in_picture, self.control, **self.look)


def note(words: str) -> Shown:
    """Something to notice, neither right nor wrong; nothing where there are no words."""
    return Shown(lights.note, (words,))


def light(good: bool, words: str) -> Shown:
    """A check that is on or off, in words of ours."""
    return Shown(lights.light, (good, words))


def every_light(found: Sequence[Light]) -> Shown:
    """Lights, a line each: see `frame.lights.draw_lights`."""
    return Shown(lights.draw_lights, (found,))


def formula(latex: str, *steps: Step, **look: Any) -> Shown:
    """A formula in LaTeX, and below it which of its symbols is which step."""
    names = " · ".join(f"${each.symbol}$ `{each.name}`" for each in dict.fromkeys(steps))
    return Shown(_put_formula, (latex, names), look)


def _put_formula(latex: str, names: str, **look: Any) -> None:
    st.latex(latex, **look)
    if names:
        st.caption(names, text_alignment="center")


def formula_of(trace: Trace, name: str, *known: str) -> Shown:
    """The formula of a step, written out down to the `known` ones; its own where none is named."""
    step = trace[name]
    if not known:
        return formula(step.formula, step, *step.inputs)
    return formula(trace.formula(name, known), step, *(trace[each] for each in known))


def frame(rows: Any, **look: Any) -> Shown:
    """A data frame as a table."""
    return Shown(put_frame, (rows,), look)


def chart(name: str, made: Any, width: int | None = 440, height: int = 0) -> Shown:
    """A small chart that is no matrix: see `show.chart`."""
    return Shown(show.chart, (name, made, width, height))


def link_to(name: str, label: str, **at: str) -> Shown:
    """A link to another lesson, with what was chosen, and `at` other values there."""
    return Shown(way_to, (name, label), at)


def link_to_a_real_model(label: str, measure: str, words: str = "") -> Shown:
    """A link to the heads of a real model that do this."""
    return Shown(way_to_a_real_model, (label, measure, words))


def link_to_the_lessons(words: str) -> Shown:
    """A link that takes a text to the lessons, where its vectors can be read."""
    return Shown(way_to_the_lessons, (words,))


def in_picture(one: Control, name: str = "*", width: int = 170, told: bool = True) -> InPicture:
    """The place of a control that a picture carries: the card's own, unless it is named."""
    return InPicture(one, {"width": width, "told": told}, name)


@event()
def set_values(values: Mapping[str, Any]) -> None:
    """From a callback: set values of controls, and run what reads them."""
    settings.change(**values)


@dataclass(frozen=True)
class Along:
    """A picture at the positions of its control, where these change only numbers. `traces` makes
    those of many positions at once. `parts` is asked once for all with the same names of steps, and
    each position puts its own steps in; where `parts` gives a layout, it is asked for each.
    """

    traces: Callable[[Sequence[Any]], Sequence[Trace]]
    parts: Callable[[Trace], Parts | Layout]

    def __call__(self, value: Any) -> tuple[Trace, Parts] | Layout:
        (made,) = self.traces([value])
        parts = self.parts(made)
        return parts if isinstance(parts, Layout) else (made, parts)

    def each(self, values: Sequence[Any]) -> list[Layout | list[Matrix]]:
        """The picture, or its matrices, at each of the positions."""
        known: dict[tuple[str, ...], list[Matrix]] = {}
        found: list[Layout | list[Matrix]] = []
        for made in self.traces(values):
            steps = tuple(made)
            if steps not in known:
                parts = self.parts(made)
                if isinstance(parts, Layout):
                    found.append(parts)
                    continue
                known[steps] = matrices_of(*with_covers(parts))
            pairs = ((one, made.get(one.step.name, one.step)) for one in known[steps])
            found.append([one if one.step is now else replace(one, step=now) for one, now in pairs])
        return found


@dataclass(eq=False)
class Picture:
    """A picture of matrices. One that carries a control is made by `at` for each position of it."""

    name: str
    layout: Layout | None = None
    carries: Control | None = None
    at: At | None = None
    arrange: Callable[[Trace, Parts], Layout] | None = None
    choosing: Choosing | None = None
    is_aside: bool = False
    lists: SmallCache = field(default_factory=SmallCache)
    """What moves at each position, by what a phone leaves out; made once a hand has come near."""
    layouts: SmallCache = field(default_factory=SmallCache)
    """The last few positions that it was drawn at."""
    tables: SmallCache = field(default_factory=SmallCache)
    """And the last few tables of each of these."""

    def each_there(self, values: Sequence[Any]) -> list[Layout | list[Matrix]]:
        """The picture, or its matrices, at positions of its control."""
        if isinstance(self.at, Along):
            return self.at.each(values)
        each = map(self.at, values)
        return [
            one if isinstance(one, Layout) else matrices_of(*with_covers(one[1])) for one in each
        ]

    def layout_at(self, value: Any) -> Layout:
        """The picture at a position of its control."""

        def there() -> Layout:
            made = self.at(value)
            return untracked_layout(made if isinstance(made, Layout) else self.arrange(*made))

        return self.layouts.get(value, there, self.called)

    @property
    def called(self) -> str:
        """As a sentence begins that says what is wrong with it."""
        return f"The picture {self.name!r}, at another position of its control,"

    @property
    def n_bytes(self) -> int:
        """About what it keeps."""
        return 2_000 * sum(each.drawn.numel() for each in self.now().matrices) + 30_000

    def now(self) -> Layout:
        """The picture as it is now."""
        if self.carries is None:
            return self.layout
        return self.layout_at(settings.in_picture(self.carries.name))

    def draw(self) -> None:
        show.put_picture(self)


def picture(
    layout: Layout, name: str = "*", choosing: Choosing | None = None, is_aside: bool = False
) -> Picture:
    """A layout as a picture: of its card's name, unless it has one of its own. `choosing` says of a
    cell which controls a click on it sets; where none, the cell is taken apart. One that
    `is_aside`, of numbers of its own, opens only the cells that are chosen in it.
    """
    return Picture(name, untracked_layout(layout), choosing=choosing, is_aside=is_aside)


def untracked_layout(layout: Layout) -> Layout:
    """A layout that is looked at untracked: what it shows has been tracked."""
    layout.trace = plain(layout.trace)
    return layout


def moving(
    carries: Control,
    at: At,
    arrange: Callable[[Trace, Parts], Layout] | None = None,
    name: str = "*",
    tall: float = arranged.TALL,
    asks: int | None = None,
    **look: Any,
) -> Picture:
    """A picture that carries a control. `at` gives the trace and the parts at a position, of which
    `arrange` makes a layout, else an equation as `tall` as this, with a sentence where a query
    `asks`; or it gives the layout itself.
    """
    arrange = arrange or (lambda made, parts: equation(made, *parts, asks=asks, tall=tall))
    return Picture(name, None, carries, at, arrange, **look)


def equation(
    trace: Trace, *each: Step | Matrix | str, asks: int | None = None, **look: Any
) -> Layout:
    """Steps, matrices and signs as an equation, in which is covered what a question covers; where a
    query `asks`, below the sentence with its weights.
    """
    made = arranged.equation(plain(trace), *with_covers(each), **look)
    return made if asks is None else with_sentence(made, asks)


def matrices(
    trace: Trace, *each: Step | Matrix | str, name: str = "*", is_aside: bool = False, **look: Any
) -> Picture:
    """An equation as a picture: see `equation` and `picture`."""
    return picture(equation(trace, *each, **look), name, is_aside=is_aside)


def stacked(trace: Trace, *each: Matrix | str) -> Layout:
    """The same of single rows, one below the other."""
    return rows.stacked(plain(trace), *with_covers(each))


def with_covers(each: Parts) -> list[Matrix | str]:
    """The parts of an equation, written out, and covered where a question covers their steps."""
    return [covered(one) if isinstance(one, Matrix) else one for one in written_out(each)]
