"""What a link or a session chooses, as the controls of all lessons read it."""

from collections.abc import Iterable

from streamlit.testing.v1 import AppTest

from attention_ui.frame.lesson_modules import every_control
from attention_ui.reactive.control import Control, Values, understood

EVERY = tuple(every_control().values())
"""The controls of all lessons, each once, after all that it depends on."""
FIELDS = {each.name: each.field for each in EVERY}


def read(
    controls: Iterable[Control] = EVERY, /, **link: str
) -> tuple[Values, dict[str, ValueError]]:
    """The values of a link, of `wild_cat` where it names no example, and what could not be used."""
    return understood({"example": "wild_cat", **link}, tuple(controls))


def of(controls: Iterable[Control] = EVERY, /, **link: str) -> Values:
    """The values of a link that can be used as it is."""
    values, wrong = read(controls, **link)
    assert not wrong, {name: str(why) for name, why in wrong.items()}
    return values


def chosen(at: AppTest) -> Values:
    """What a session has chosen, also what the page that is open has no control for."""
    values, _ = understood(at.session_state["session"].chosen, EVERY)
    return values
