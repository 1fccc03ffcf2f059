"""Works around Streamlit: “I pressed twice, quickly, and one of them was lost”. Each use of the
session's state is a point where Streamlit 1.67 begins the run asked for last, and takes that for
the callback's own wish: the rest of the callback never ran. Here it runs to its end.

Seen by tests/test_streamlit_contract.py, and in docs/streamlit/callback_cut_short.py. It may go
where callbacks are no such points; there is no public way to ask for that.
"""

from contextlib import suppress
from functools import wraps
from typing import Any

NOT_AS_EXPECTED = (AttributeError, TypeError)


def let_callbacks_end() -> None:
    """Begin no other run within a callback, but after it, where Streamlit's runs are known."""
    with suppress(ImportError, AttributeError):
        from streamlit.runtime.scriptrunner.script_runner import ScriptRunner
        from streamlit.runtime.scriptrunner_utils.script_run_context import RunLocation, ThreadState

        begin = ScriptRunner._maybe_handle_execution_control_request
        if hasattr(begin, "__wrapped__"):
            return

        @wraps(begin)
        def begin_after_callbacks(runner: Any) -> Any:
            with suppress(*NOT_AS_EXPECTED):
                if ThreadState.get().run_location == RunLocation.CALLBACK:
                    return None
            return begin(runner)

        ScriptRunner._maybe_handle_execution_control_request = begin_after_callbacks
