"""Works around Streamlit: “I moved one thing and then another, and a card was gone, or the whole
page, with an error that spoke of a path”. And: “a control stood where I had not put it”.

When a run begins, Streamlit 1.67 drops what it will draw anew of the messages that wait, and calls
the run before broken off. But a callback may let other parts run instead (`st.rerun("name")`): what
stands below a dropped one has no place then, and a widget that was set is not told.

Seen by tests/test_streamlit_contract.py, and in docs/streamlit/drawn_and_dropped.py. It may go once
a run clears the queue after its callbacks, for those parts that run.
"""

from contextlib import suppress
from functools import wraps
from typing import Any

NOT_AS_EXPECTED = (ImportError, AttributeError)


def keep_what_was_drawn() -> None:
    """Send all messages, in their order. Changes nothing where a session is not as expected."""
    with suppress(*NOT_AS_EXPECTED):
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
