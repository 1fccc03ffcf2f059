"""The browser asks whether its class has gone on, and tells it where it has."""

from collections.abc import Callable
from pathlib import Path

from ..controls.in_class import InClass, class_pulse
from ..controls.lesson_session import this_session
from ..streamlit_workarounds.unseen_component import unseen

_browser = unseen("class_changes", Path(__file__).with_suffix(".js").read_text(encoding="utf-8"))


def put_changes(changed: Callable[[], None], heard: str) -> None:
    """Put the script that watches the class: it has `changed` called when the class has gone on,
    or takes a visitor who leaves out of it. `heard` is what a screen reader says then.
    """
    leaves = this_session().own(InClass).leaves
    told = {"pulse": class_pulse(), "leaves": leaves, "heard": heard}
    _browser(key="class_changes", data=told, on_changed_change=changed, height=1)
