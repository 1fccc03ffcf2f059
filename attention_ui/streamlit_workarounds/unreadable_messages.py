"""A guard for Streamlit: what no browser sends for a widget is left out, as if it had not come.

Streamlit 1.67 takes any message for a widget, and reads it where the value is asked for: one that
was made by hand, of another type than the widget's, then raises before a callback of ours is
called. The page is broken off with an error box, and the log gets 3 kB. So it is read on its way
in, and the widget keeps the value it has.
"""

from functools import wraps
from typing import Any

from streamlit.proto.WidgetStates_pb2 import WidgetState

try:
    from streamlit.runtime.state.common import WidgetMetadata, unpack_widget_state_value
    from streamlit.runtime.state.session_state import Serialized, SessionState, WStates
except ImportError:  # another Streamlit: then it reads messages as it likes
    WStates = None


def leave_out_what_cannot_be_read() -> None:
    """Keep values out that their widgets cannot have, also for widgets that are still to come."""
    is_known = hasattr(WStates, "set_widget_from_proto") and hasattr(WStates(), "states")
    if not is_known or hasattr(WStates.set_widget_from_proto, "__wrapped__"):
        return
    take, register = WStates.set_widget_from_proto, SessionState.register_widget

    @wraps(take)
    def take_readable(states: "WStates", message: WidgetState) -> None:
        known = states.widget_metadata.get(message.id)
        if known is None or _can_be_read(message, known):
            take(states, message)

    @wraps(register)
    def register_readable(state: SessionState, widget: "WidgetMetadata", *args: Any) -> Any:
        sent = getattr(getattr(state, "_new_widget_state", None), "states", {})
        waiting = sent.get(widget.id)
        if isinstance(waiting, Serialized) and not _can_be_read(waiting.value, widget):
            del sent[widget.id]
        return register(state, widget, *args)

    WStates.set_widget_from_proto, SessionState.register_widget = take_readable, register_readable


def _can_be_read(message: WidgetState, widget: "WidgetMetadata") -> bool:
    """Whether a widget can have this value. Where one was cleared, Streamlit forgets its type."""
    kind, offered = message.WhichOneof("value"), widget.formatted_options
    if kind is not None and widget.value_type is not None:
        # Streamlit's browser sends a whole number for a widget that is said to hold a decimal.
        sent, known = (each.replace("int_", "double_") for each in (kind, widget.value_type))
        if sent != known:
            return False
    try:
        value = unpack_widget_state_value(message)
        widget.deserializer(value)
        if value is None or offered is None:
            return True
        return {value} <= {*offered} if isinstance(value, str) else {*value} <= {*offered}
    except Exception:  # whatever it is: neither a page nor the log is to suffer from it
        return False
