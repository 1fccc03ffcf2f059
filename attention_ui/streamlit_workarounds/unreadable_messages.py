"""Works around Streamlit: a widget message that no browser would send is ignored.

Streamlit 1.67 accepts any message for a widget, and reads it only when the value is needed. One
that was made by hand, with another type than the widget's, then raises before any callback of ours
is called: the page ends in an error box, and the log grows by 3 kB. So each message is read when
it arrives; if that fails, the widget keeps the value it has.

A value whose id is none that Streamlit gives (`""`, `"x"`) would be looked for at the beginning of
every run, in vain: the session would be broken for good.
"""

from functools import wraps
from typing import Any

from streamlit.proto.WidgetStates_pb2 import WidgetState

try:
    from streamlit.runtime.state.common import WidgetMetadata, unpack_widget_state_value
    from streamlit.runtime.state.session_state import Serialized, SessionState, WStates
except ImportError:  # another Streamlit: leave its messages alone
    WStates = None


GIVEN_IDS = ("$$ID-", "$$STREAMLIT_INTERNAL_KEY")
"""How the ids begin that Streamlit gives to widgets."""


def leave_out_what_cannot_be_read() -> None:
    """Ignore values that their widgets cannot have, also for widgets that are not drawn yet."""
    is_known = hasattr(WStates, "set_widget_from_proto") and hasattr(WStates(), "states")
    if not is_known or hasattr(WStates.set_widget_from_proto, "__wrapped__"):
        return
    take, register = WStates.set_widget_from_proto, SessionState.register_widget

    @wraps(take)
    def take_readable(states: "WStates", message: WidgetState) -> None:
        if not message.id.startswith(GIVEN_IDS):
            return
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
    """Whether a widget can have this value. For a cleared widget, Streamlit forgets the type."""
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
    except Exception:  # whatever it is, neither the page nor the log should suffer
        return False
