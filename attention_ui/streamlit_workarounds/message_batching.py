"""Works around Streamlit: what a run says goes out together. Each of its 50 messages wakes the
server's loop, which then fights with the script for the interpreter's lock. So messages wait for a
moment, in their order, for those that follow; the end of a run sends them at once. Of a run that
only let a callback choose what runs, the browser hears nothing.

It mends nothing but “with the whole class in, each answer takes a moment longer”: with
`pack_with_less_effort` it is worth a tenth of an answer (docs/streamlit/README.md). Seen by
tests/test_streamlit_contract.py. It may go once Streamlit hands messages over by the run, or by the
moment, and not one by one.
"""

from collections import deque
from contextlib import suppress
from functools import wraps
from typing import Any

MOMENT = 0.03
"""Seconds for which what was drawn waits at most for what follows."""
NOT_AS_EXPECTED = (ImportError, AttributeError)
HELD, IS_TIMED, BEGUN = "_held_messages", "_is_timed", "_begun"


def send_together() -> None:
    """Wake the loop once for many messages. Changes nothing where a session is not as expected."""
    with suppress(*NOT_AS_EXPECTED):
        from streamlit.runtime.app_session import AppSession
        from streamlit.runtime.scriptrunner import ScriptRunnerEvent

        tell = AppSession._on_scriptrunner_event
        handle = AppSession._handle_scriptrunner_event_on_event_loop
        drawn, soon = ScriptRunnerEvent.ENQUEUE_FORWARD_MSG, AppSession._call_soon_on_event_loop
        begun, again = ScriptRunnerEvent.SCRIPT_STARTED, ScriptRunnerEvent.SCRIPT_STOPPED_FOR_RERUN
        if hasattr(tell, "__wrapped__"):
            return

        @wraps(tell)
        def tell_together(session: Any, sender: Any, event: Any, *given: Any, **named: Any) -> None:
            held = (own := vars(session)).setdefault(HELD, deque())
            # No tuple nor partial: the error of one that has gone out would write out all of it.
            one = lambda: handle(session, sender, event, *given, **named)  # noqa: E731
            if event == again and own.get(BEGUN):
                with suppress(ValueError, IndexError):  # else it has gone out
                    held.remove(own.pop(BEGUN))
                    return
            held.append(one)
            if event != drawn or named["forward_msg"].HasField("delta"):
                own[BEGUN] = one if event == begun else None

            def send() -> None:
                own[IS_TIMED] = False  # first: what comes from now on may be too late for this
                while held:
                    held.popleft()()

            if event not in (drawn, begun):
                soon(session, send)
            elif not own.get(IS_TIMED):
                own[IS_TIMED] = True
                soon(session, lambda: session._event_loop.call_later(MOMENT, send))

        AppSession._on_scriptrunner_event = tell_together
