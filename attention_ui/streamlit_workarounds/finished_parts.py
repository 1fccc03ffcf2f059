"""Works around Streamlit: what was drawn reaches the browser, whatever runs next. When a run
begins, Streamlit 1.67 drops what it will draw anew from the messages that wait, and calls the run
before broken off (`AppSession._clear_queue`). But a callback may let other parts run instead; what
stands below a part that is dropped comes before it then, in a place that the page does not have
yet, and the page goes; and a widget that was set is not told. So nothing is dropped.
"""

from contextlib import suppress
from functools import wraps
from typing import Any


def keep_what_was_drawn() -> None:
    """Send all messages, in their order. Changes nothing where a session is not as expected."""
    with suppress(ImportError, AttributeError):
        from streamlit.runtime.app_session import AppSession
        from streamlit.runtime.forward_msg_queue import ForwardMsgQueue

        clear = AppSession._clear_queue
        if hasattr(clear, "__wrapped__") or "_delta_index_map" not in vars(ForwardMsgQueue()):
            return

        @wraps(clear)
        def clear_nothing(session: Any, *_given: Any, **_named: Any) -> None:
            # What is drawn from now on comes after what is there.
            session._browser_queue._delta_index_map = {}

        AppSession._clear_queue = clear_nothing
