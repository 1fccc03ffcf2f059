"""The control of a setting, as it is declared there, and what is wrong with what it was given."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import streamlit as st

from ..controls.fields import Decimal
from . import session
from .setting import TYPED
from .settings import FIELDS, HEADS, SETTINGS, Settings

_IN_ROW: ContextVar[list[str] | None] = ContextVar("_IN_ROW", default=None)


@contextmanager
def control_row(**look: Any) -> Iterator[None]:
    """Controls side by side; what is wrong with what was typed into them stands below all."""
    names: list[str] = []
    outside = _IN_ROW.set(names)
    try:
        look = {"vertical_alignment": "bottom", "gap": "medium", **look}
        with st.container(horizontal=True, **look):
            yield
    finally:
        _IN_ROW.reset(outside)
    for name in dict.fromkeys(names):
        _say_problem(name)


def control(name: str, version: str = "", elsewhere: bool = False, **look: Any) -> Any:
    """The widget of a setting. What is typed stays in it, also where it cannot be used; what is
    wrong with it is said below. Returns the widget's value.

    One that a teacher's link hides is not drawn, one that it locks cannot be used. `version` tells
    two of one setting apart, `elsewhere` that other parts of the page show one that is only looked
    at; `widget`, `label` and what else is given take the setting's place.
    """
    state, settings, about = st.session_state, session.current(), SETTINGS[name]
    if name in settings.hide:
        return getattr(settings, name)
    label = f"{about.label} ({about.hint})" if about.hint else about.label
    widget = look.pop("widget", about.widget)
    own = about.look if widget == about.widget else {}
    look = {"label": label, **own, **look}
    if name in settings.lock:
        look["disabled"] = True
    values = offered(name, settings)
    if values and widget not in TYPED:
        look |= {"options": list(values), "format_func": values.__getitem__}
        if about.choices or name in HEADS:
            # Streamlit resets a widget whose choices change: with others it is another widget.
            version += f"_{next(iter(values))}_{max(values)}_{len(values)}"
    if widget == "slider":
        number = float if isinstance(about.field, Decimal) else int
        look |= {"min_value": number(about.field.least), "max_value": number(about.field.most)}
    if widget == "segmented_control":
        look["required"] = True
    key = f"control_{name}{version}"
    value = state[session.DRAFTS].get(name, getattr(settings, name))
    if widget in TYPED and not isinstance(value, str):
        value = FIELDS[name].write(value)
    elif widget not in TYPED and isinstance(value, str):
        # What was typed into a field does not belong to the slider of the same setting.
        value = value if isinstance(getattr(settings, name), str) else getattr(settings, name)
    # On another page a widget begins anew, although the session still has its last value.
    if key not in state[session.GIVEN] or state.get(key) != value:
        state[session.GIVEN].add(key)
        state[key] = value
    state[session.DRAWN].add(key)
    used = {"on_change": session.controlled, "args": (name, key, elsewhere)}
    given = getattr(st, widget)(key=key, **used, **look)
    if (in_row := _IN_ROW.get()) is not None:
        in_row.append(name)
    else:
        _say_problem(name)
    return given


def offered(name: str, settings: Settings) -> Mapping[Any, str]:
    """What a control offers: values and how they are written; none where it takes any in bounds."""
    return session.sizes_that_fit(name) if name in HEADS else SETTINGS[name].values(settings)


def _say_problem(name: str) -> None:
    """What is wrong with a setting's draft, if anything is. Plain text: it quotes the person."""
    problem = session.problem(name)
    if problem:
        with st.container(key=f"problem_of_{name}"):
            st.markdown(":red[:material/error:] :red[Not applied:]")
            st.text(problem)
