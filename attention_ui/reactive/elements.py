"""What a card yields: words, buttons, rows of them, and calls of Streamlit, each made from values
alone, and drawn whenever the card is.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol

import streamlit as st

from . import settings
from .control import Placed
from .fragments import event
from .function_identity import never_closed_over
from .isolation import Misdeclared
from .long_run import put_run_of
from .session import this_session
from .widget import control


class Element(Protocol):
    """Something that a card yields."""

    def draw(self) -> None:
        """Put it on the page."""


@dataclass(frozen=True)
class Shown:
    """A call of Streamlit, or of the app's own, with what it shows."""

    call: Callable[..., Any]
    given: tuple = ()
    look: Mapping[str, Any] = field(default_factory=dict)
    sets: Mapping[str, Any] | None = None
    """Of a button, the values of controls that it sets; None where it does something else."""

    @property
    def n_bytes(self) -> int:
        """About what it keeps, beside words."""
        return sum(getattr(each, "n_bytes", 0) for each in self.given)

    @property
    def is_chart(self) -> bool:
        """Whether it shows a picture."""
        return any(getattr(each, "is_chart", False) for each in self.given)

    def draw(self) -> None:
        self.call(*self.given, **self.look)


def say(words: str, **look: Any) -> Shown:
    """Words of the app's own, as Markdown; never a person's."""
    return Shown(st.markdown, (words,), look)


def caption(words: str) -> Shown:
    """Small words of the app's own."""
    return Shown(st.caption, (words,))


def text(words: str, **look: Any) -> Shown:
    """Words that may quote a person: plain."""
    return Shown(st.text, (words,), look)


def code(lines: str, language: str | None = "python", **look: Any) -> Shown:
    """Code, or what a program says."""
    return Shown(st.code, (lines,), {"language": language, **look})


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
    for `v` itself. What it `adds` is said where no app runs. Raises TypeError where it takes its
    card's, maybe another visitor's.
    """
    for name, cell in zip(draw.__code__.co_freevars, draw.__closure__ or (), strict=True):
        if isinstance(cell.cell_contents, tuple(never_closed_over)):
            asks = " or ".join(sorted({*never_closed_over.values()}, key=len))
            raise TypeError(
                f"{draw.__name__} takes {name} of its card: let it ask for {asks} itself"
            )
    return Alive(draw, adds)


def progress(name: str) -> Shown:
    """The place of its card's work, with its buttons; else they stand beside the words."""
    return Shown(put_run_of, (name,))


def put(each: Any) -> None:
    """Draw a control in its place, or any other element."""
    if hasattr(each, "draw"):
        each.draw()
    else:
        control(each.control, **each.look)


@dataclass(frozen=True)
class Row:
    """Elements beside each other."""

    elements: Sequence[Any]
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


def all_in(elements: Iterable[Any]) -> Iterator[Any]:
    """Elements, and those that stand in rows of them."""
    for each in elements:
        yield from all_in(each.elements) if isinstance(each, Row) else (each,)


def button(label: str, key: str, change: Callable[[], Any], **look: Any) -> Shown:
    """A button that changes values of controls: what reads them runs."""

    def pressed() -> None:
        with event():
            change()

    return Shown(st.button, (label,), {"key": key, "on_click": pressed, **look})


def set_to(label: str, key: str, look: Mapping[str, Any] | None = None, **values: Any) -> Shown:
    """A button that sets values of controls. Raises Misdeclared where the page lacks one."""
    for name in values:
        if name not in settings.values():
            known = ", ".join(sorted(settings.values()))
            raise Misdeclared(
                f"the button {label!r} sets {name!r}, but no control of the page has that name. "
                f"They are {known}"
            )
    look = {"type": "tertiary", **(look or {})}
    return replace(button(label, key, partial(settings.change, **values), **look), sets=values)


def is_drawn(each: Any) -> bool:
    """Whether it is something that can be drawn."""
    return hasattr(each, "draw") or isinstance(each, Placed)
