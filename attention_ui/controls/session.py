"""What a link of this app says beside values: a cell, a pin, what a teacher hides or locks."""

from urllib.parse import urlencode

import streamlit as st

from ..reactive.control import Texts
from ..reactive.fragments import event_of_run
from ..reactive.settings import chosen, forget, quoted, say, try_to_choose, values
from .lesson_session import this_session


def shared() -> Texts:
    """What a link for another person says: all that was chosen, but for what is done."""
    return {name: text for name, text in chosen().items() if name != "done"}


def pin_text() -> str:
    """What is on the screen, as a pin keeps it: what makes numbers, and not what stands around."""
    around = {each.name for each in this_session().controls if each.stays or each.of_page}
    return urlencode({name: text for name, text in chosen().items() if name not in around})


def names_in(name: str) -> list[str]:
    """The names in `hide` or `lock`: what a teacher's link hides, and what it locks."""
    return this_session().names_in(name)


def settle_cell() -> None:
    """At the end of a page: a cell that no picture has is said; one undrawn finds its card."""
    here, met = values(), this_session().cells
    if not here.cell or any(opens for _, _, opens in met):
        return
    having = [card for card, has, _ in met if has]
    if not having:
        cell = ", ".join(quoted(each) for each, _ in here.cell[-1:])
        where = ", ".join(map(str, here.cell[-1][1]))
        forget("cell", "section")
        say(f"The link’s cell {cell}[{where}] is not in this lesson. It was left out.")
        st.rerun()
    elif here.section not in [card for card, *_ in met]:
        with event_of_run():
            try_to_choose({"section": having[0]})  # its text is its name
        st.rerun()
