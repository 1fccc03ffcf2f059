"""What a page begins with: its lesson opened, and its trace, with what changed since a pin."""

from collections.abc import Sequence

from attention_core.trace import Trace

from ..controls.control import Control, Values
from ..frame.page import open_lesson
from ..frame.rooms import module_of
from .pinned import since_the_pin


def begin(
    name: str, sidebar: Sequence[Control] = (), has_pins: bool = True
) -> tuple[Values, Trace]:
    """Open a lesson by its name, with its title, the question it answers, and `sidebar`, controls
    that all its cards show. Gives the values of its controls, and its trace.
    """
    room = module_of(name)
    values = open_lesson(name, room.CONTROLS, sidebar)
    trace = room.trace_of(values)
    if has_pins:
        since_the_pin(lambda: trace, room.trace_of, room.CONTROLS)
    return values, trace
