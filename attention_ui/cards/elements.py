"""What a card yields: words, controls, checks, charts, pictures, each made from values alone."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol

import pyarrow as pa
import streamlit as st

from attention_core.lights.light import Light
from attention_core.trace import Step, Trace

from ..charts.chart import Chart
from ..controls.lesson_session import this_session
from ..frame import lights
from ..frame.data_frame import put_frame
from ..frame.long_run import put_run_of
from ..frame.page import way_to, way_to_a_real_model, way_to_the_lessons
from ..picture import layout as arranged
from ..picture import stacked as rows
from ..picture.equation_parts import written_out
from ..picture.layout import Layout, matrices_of
from ..picture.matrix import Matrix
from ..picture.sentence import with_sentence
from ..reactive import settings
from ..reactive.cache import SmallCache
from ..reactive.control import Control, Placed, Values
from ..reactive.fragments import event
from ..reactive.isolation import Misdeclared
from ..reactive.widget import control as draw_control
from . import show
from .seen import covered as covered
from .show import Choosing
from .tracked_trace import plain

Parts = Sequence[Step | Matrix | str]
"""The parts of an equation."""


At = Callable[[Any], tuple[Trace, Parts] | Layout]
"""What a picture is at a position of its control: a trace and the parts of it, or a layout."""


class Element(Protocol):
    """Something that a card yields."""

    def draw(self) -> None:
        """Put it on the page."""


@dataclass(frozen=True)
class Shown:
    """A call of Streamlit, or of ours, with what it shows."""

    call: Callable[..., Any]
    given: tuple = ()
    look: Mapping[str, Any] = field(default_factory=dict)
    sets: Mapping[str, Any] | None = None
    """Of a button, the values of controls that it sets; None where it does something else."""

    @property
    def n_bytes(self) -> int:
        """About what the tables of charts keep."""
        frames = [each.frame for each in self.given if isinstance(each, Chart)]
        return sum(
            each.nbytes if isinstance(each, pa.Table) else int(each.memory_usage(deep=True).sum())
            for each in frames
        )

    @property
    def is_chart(self) -> bool:
        """Whether it is a picture that is no matrix."""
        return any(isinstance(each, Chart) for each in self.given)

    def draw(self) -> None:
        self.call(*self.given, **self.look)


def say(words: str, **look: Any) -> Shown:
    """Words of ours, as Markdown; never a person's."""
    return Shown(st.markdown, (words,), look)


def note(words: str) -> Shown:
    """Something to notice, neither right nor wrong; nothing where there are no words."""
    return Shown(lights.note, (words,))


def light(good: bool, words: str) -> Shown:
    """A check that is on or off, in words of ours."""
    return Shown(lights.light, (good, words))


def every_light(found: Sequence[Light]) -> Shown:
    """Lights, a line each: see `frame.lights.draw_lights`."""
    return Shown(lights.draw_lights, (found,))


def caption(words: str) -> Shown:
    """Small words of ours."""
    return Shown(st.caption, (words,))


def text(words: str, **look: Any) -> Shown:
    """Words that may quote a person: plain."""
    return Shown(st.text, (words,), look)


def code(lines: str, language: str | None = "python", **look: Any) -> Shown:
    """Code, or what a program says."""
    return Shown(st.code, (lines,), {"language": language, **look})


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


@dataclass(frozen=True)
class Alive:
    """What runs whenever its card is drawn."""

    made: Callable[..., None]
    adds: str = ""
    """What it offers, as a sentence goes on after “The app”, for where it cannot run; "" where the
    card is whole without it.
    """

    def draw(self) -> None:
        this_session().declared.given_alive(self.made)


def alive(draw: Callable[..., None], adds: str = "") -> Alive:
    """The way out for what is alive, such as a dialog: it runs whenever its card is drawn, and asks
    for `v` and `trace` itself. What it `adds` is said where no app runs. Raises TypeError where it
    takes its card's, maybe another visitor's.
    """
    for name, cell in zip(draw.__code__.co_freevars, draw.__closure__ or (), strict=True):
        if isinstance(cell.cell_contents, Values | Trace):
            raise TypeError(
                f"{draw.__name__} takes {name} of its card: let it ask for v or trace itself"
            )
    return Alive(draw, adds)


def progress(name: str) -> Shown:
    """The place of its card's work, with its buttons; else they stand beside the words."""
    return Shown(put_run_of, (name,))


def link_to(name: str, label: str, **at: str) -> Shown:
    """A link to another lesson, with what was chosen, and `at` other values there."""
    return Shown(way_to, (name, label), at)


def link_to_a_real_model(label: str, measure: str, words: str = "") -> Shown:
    """A link to the heads of a real model that do this."""
    return Shown(way_to_a_real_model, (label, measure, words))


def link_to_the_lessons(words: str) -> Shown:
    """A link that takes a text to the lessons, where its vectors can be read."""
    return Shown(way_to_the_lessons, (words,))


def put(each: Any) -> None:
    """Draw a control in its place, or any other element."""
    if not isinstance(each, Placed):
        each.draw()
    elif each.in_picture:
        show.moves(each.in_picture, each.control, **each.look)
    else:
        draw_control(each.control, **each.look)


def in_picture(one: Control, name: str = "*", width: int = 170, told: bool = True) -> Placed:
    """The place of a control that a picture carries: the card's own, unless it is named."""
    return Placed(one, {"width": width, "told": told}, name)


@dataclass(frozen=True)
class Row:
    """Elements beside each other."""

    elements: Sequence[Element | Placed]
    look: Mapping[str, Any]
    is_main: bool = False

    def draw(self) -> None:
        with st.container(**{"horizontal": True, "vertical_alignment": "bottom", **self.look}):
            for each in self.elements:
                put(each)


def row(*elements: Element | Placed, is_main: bool = False, **look: Any) -> Row:
    """Elements beside each other; `look` as of a container. What `is_main` stays on a phone, where
    a card without a picture folds the rest.
    """
    return Row(elements, {"gap": "medium", **look}, is_main)


def button(label: str, key: str, change: Callable[[], Any], **look: Any) -> Shown:
    """A button that changes values of controls: what reads them runs."""

    def pressed() -> None:
        with event():
            change()

    return Shown(st.button, (label,), {"key": key, "on_click": pressed, **look})


def set_to(label: str, key: str, look: Mapping[str, Any] | None = None, **values: Any) -> Shown:
    """A button that sets values of controls. Raises Misdeclared for one that the page has not."""
    for name in values:
        if name not in settings.values():
            known = ", ".join(sorted(settings.values()))
            raise Misdeclared(
                f"the button {label!r} sets {name!r}, which no control of the page is called. They "
                f"are {known}"
            )
    look = {"type": "tertiary", **(look or {})}
    return replace(button(label, key, partial(settings.change, **values), **look), sets=values)


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
