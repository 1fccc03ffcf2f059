"""The links of a class, and how one is made: a part of *Share*."""

from dataclasses import dataclass
from urllib.parse import urlsplit, urlunsplit

import streamlit as st

from ..classroom.classes import CLASSES
from ..controls import session
from ..controls.in_class import InClass
from ..controls.lesson_session import this_session
from ..controls.shared import PREDICT
from ..reactive import settings
from .class_links import SERVED
from .contents import HOME

TOO_MANY = "This server has as many classes as it can hold. Try again when one of them has ended."

IN_A_FRAME = (
    "A class cannot be made inside another page. Open the lesson in its own tab and make it there."
)
ASKS_NOTHING = (
    "The link that you opened keeps “Ask me first” off, so a class would have nothing to vote on. "
    "Open the lesson without `predict=off`, and make it there."
)


HERE_ALONE = (
    "This address works on this computer alone. Open the app at an address that your class can "
    "reach, and make the class there."
)


@dataclass
class MadeClass:
    """The class that was made in the panel which is open: its links are shown once."""

    code: str = ""
    token: str = ""
    problem: str = ""


def make_class() -> None:
    """In the panel *Share*: makes a class, and shows its two links."""
    if not SERVED:
        return
    st.markdown(
        "**A class that votes.** Ask your class a question of this page: they answer on their own "
        "screens, talk, answer again, and see the numbers when you uncover them. Nobody gives a "
        "name."
    )
    made, values = this_session().own(MadeClass), settings.values()
    if st.context.is_embedded:
        st.markdown(f":orange[:material/info:] {IN_A_FRAME}")
    elif not values.predict and PREDICT.name in settings.fixed.now():
        st.markdown(f":orange[:material/info:] {ASKS_NOTHING}")
    elif this_session().own(InClass).now is not None:
        st.markdown("You are already in a class. You find it at the top of the page.")
    elif not made.code:
        st.button("Make a class", key="make_class", on_click=_make, icon=":material/groups:")
        if made.problem:
            st.markdown(f":orange[:material/info:] {made.problem}")
    else:
        st.markdown(
            "Your class is ready. **For your class**: this link. The wall, the screen that "
            "everybody sees, shows it too."
        )
        st.code(link_of(made.code), language=None, wrap_lines=True)
        put_reach(link_of(made.code))
        st.markdown(
            "**For you alone**: with this link you lead the class. Whoever reads it could lead it "
            "too, so project this window only once you have closed this panel. The link is shown "
            "only this once: press *Lead the class* on the computer at the wall, and copy the link "
            "for a second screen of yours."
        )
        mine = link_of(made.code, made.token)
        st.code(mine, language=None, wrap_lines=True)
        st.link_button("Lead the class", mine, icon=":material/co_present:", type="primary")


def _make() -> None:
    made = this_session().own(MadeClass)
    room = CLASSES.make(this_session().page, class_settings())
    if room is None:
        made.problem = TOO_MANY
    else:
        made.code, made.token = room.code, room.token


def class_settings() -> dict[str, str]:
    """The settings that a link for the class has: those that make this page's numbers."""
    around = {each.name for each in this_session().controls if each.of_page}
    mine = {PREDICT.name, "large", *around}
    return {name: text for name, text in session.shared().items() if name not in mine}


def link_of(code: str, token: str = "") -> str:
    """The address that brings somebody into a class, or, with its token, its teacher."""
    page = urlsplit(st.context.url or "")
    path = page.path.rstrip("/")
    if this_session().page != HOME.name:
        path = path.rpartition("/")[0]
    ends = "/".join(filter(None, ["class", code, token]))
    return urlunsplit((page.scheme, page.netloc, f"{path}/{ends}", "", ""))


def put_reach(link: str) -> None:
    """A warning where a link works on this computer alone."""
    if urlsplit(link).hostname in ("localhost", "127.0.0.1", "::1"):
        st.markdown(f":orange[:material/info:] {HERE_ALONE}")


def qr_code(link: str) -> str:
    """A link as a QR code, for phones, as SVG."""
    import segno  # here: it takes an eighth of a second, and few pages need it

    code = segno.make(link, error="m", micro=False)
    return code.svg_inline(scale=6, border=2, dark="#000", light="#fff")
