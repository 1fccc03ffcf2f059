"""Works around Streamlit: a callback runs to its end. Each use of the session's state is a point
where Streamlit 1.67 begins the run asked for last, and takes that for the callback's own wish: the
rest never ran, and a move was lost where the next came quickly.
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
