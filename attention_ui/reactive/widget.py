"""A control as a plain Streamlit widget, and what is wrong with what was typed into it."""

from collections.abc import Iterable
from contextlib import nullcontext
from typing import Any

import streamlit as st

from . import settings
from .control import TYPED, Control
from .fragments import commit, current_fragment, event, is_mounted
from .session import this_session

TWO_LINES = 250
"""Pixels in which a sentence on a control takes no more than two lines, however narrow it is."""
NARROW = " fijlrt(),.√1"
"""Letters about half as wide as others."""


def about_as_wide(label: str, choices: Iterable[str] = ()) -> int:
    """Pixels that a toggle or buttons will take: a grey bar, until their code is there."""
    buttons = [
        36 + 7 * len(each) - 3.2 * sum(letter in NARROW for letter in each) for each in choices
    ]
    return round(max(sum(buttons), 6 * len(label)) if buttons else 44 + 5.4 * len(label))


def is_there(key: str) -> bool:
    """Whether the widget of this key is there."""
    return key in st.session_state


def sent(key: str, otherwise: Any = None) -> Any:
    """What the browser has sent last from the widget of this key, or was put into it."""
    return st.session_state.get(key, otherwise)


def put_in(key: str, value: Any) -> None:
    """Before a widget is drawn, or in a callback: set it."""
    st.session_state[key] = value


def begin_anew(key: str) -> None:
    """A widget that is drawn again starts as if it never was there."""
    st.session_state.pop(key, None)


def control(one: Control, again: str = "", says_problem: bool = True, **look: Any) -> None:
    """Draw a control. What is typed stays in it, also where it cannot be used;
    what is wrong with it is said below, unless the page `says_problem` itself, elsewhere.

    One that the session hides is not drawn, one that it locks cannot be used. `label`,
    `widget` and what else is given take the place of what was declared; `again` tells a second
    place of the control on the page from the first.
    """
    values, name = settings.values(), one.name
    if name in this_session().hidden():
        return
    shown = settings.in_widget(name)
    if this_session().is_printed():
        told = one.choices(values).get(shown) or one.field.write(shown)
        if told:
            meant = f" ({one.hint})" if one.hint and isinstance(shown, int) else ""
            st.text(f"{one.label}: {told}{meant}", width="content")
        return
    widget = look.pop("widget", one.drawn_as)
    label = f"{one.label} ({one.hint})" if one.hint else one.label
    look = {"label": label, **(one.look if widget == one.drawn_as else {}), **look}
    if name in this_session().locked():
        look["disabled"] = True
    key = f"control_{name}" + (f"_{again}" if again else "")
    choices = settings.offered(one, one.choices(values))
    if choices and widget not in TYPED:
        look |= {"options": list(choices), "format_func": choices.__getitem__}
        if one.options:
            # Streamlit resets a widget whose choices change: with others it is another widget.
            key += f"_{len(choices)}_{abs(hash(tuple(choices.values()))) % 10_000}"
    if widget == "slider":
        look |= one.bounds
    if widget == "segmented_control":
        look["required"] = True
    if widget in ("segmented_control", "toggle"):
        look = {"width": about_as_wide(label, choices.values()), **look}
    value: Any = shown
    if widget in TYPED:
        settings.draft(name)
        text = value if isinstance(value, str) else one.field.write(value)
        value = this_session().drafts.get(name, text)
    # Set to the value that it has, each is taken up anew by the browser. One that is gone has none.
    if not is_mounted(key) or sent(key, ...) != value:
        put_in(key, value)
    why = settings.fitted_because(name)
    wide = look.get("width", "stretch")
    if why and isinstance(wide, int):
        wide = max(wide, TWO_LINES)
    box = st.container(width=wide, gap="xxsmall") if why else nullcontext()
    with box:
        getattr(st, widget)(key=key, on_change=_used, args=(name, key, current_fragment()), **look)
        if says_problem:
            say_problem(name)
        if why:
            st.caption(why)


def _used(name: str, key: str, part: str) -> None:
    with event(fragment=part):
        if is_there(key) and settings.used(name, sent(key)):
            commit(part, (settings.in_widget, name))


def say_problem(name: str, in_a_line: bool = False) -> bool:
    """What is wrong with a draft, if anything is, and whether. Plain text: it quotes the person."""
    problem = settings.problem(name)
    if problem:
        with st.container(key=f"problem_of_{name}", gap="xxsmall", horizontal=in_a_line):
            wide: dict[str, Any] = {"width": "content"} if in_a_line else {}
            stays = ", the earlier text stays" if in_a_line else ""
            st.markdown(f":red[:material/error:] :red[Not applied{stays}:]", **wide)
            shown = (
                problem if in_a_line else f"{problem.rstrip('.')}. The earlier one is still shown."
            )
            st.text(shown, **wide)
    return problem is not None
