"""Works around Streamlit: what the browser has not yet heard of is not taken back.

With each message Streamlit 1.67's browser says where all widgets stand. One that it sends before an
answer has come, as when a page is scrolled while a click is on its way, still says what a widget
stood at before the server set it: that counted as a press, and took the answer back. So what a
message repeats counts for nothing where its widget was not pressed: it is in another part than the
one that the message comes from, or the message is late.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import Any

from streamlit.proto.WidgetStates_pb2 import WidgetStates

SAID = "said_by_the_browser"
NOT_AS_EXPECTED = (ImportError, AttributeError)


def take_nothing_back(is_late: Callable[[], bool]) -> None:
    """Leave out of messages what they repeat; `is_late` says of the one that has just come whether
    it is older than what the server changed last. Changes nothing where Streamlit's session and its
    requests are not as expected.
    """
    with suppress(*NOT_AS_EXPECTED):
        from streamlit.runtime.scriptrunner import get_script_run_ctx
        from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequests
        from streamlit.runtime.state.session_state import SessionState

        request, take = ScriptRequests.request_rerun, SessionState.on_script_will_rerun
        if hasattr(take, "__wrapped__"):
            return

        @wraps(request)
        def note_where_it_comes_from(requests: Any, asked: Any) -> bool:
            with suppress(*NOT_AS_EXPECTED):
                requests.pressed_in = {*getattr(requests, "pressed_in", ()), asked.fragment_id}
            return request(requests, asked)

        @wraps(take)
        def take_what_is_new(state: Any, fresh: WidgetStates | None, **named: Any) -> Any:
            if fresh is None:
                return take(state, fresh, **named)
            before: dict[str, Any] = {}
            with suppress(KeyError):
                before = state[SAID]
            state[SAID] = {each.id: each for each in fresh.widgets}
            with suppress(*NOT_AS_EXPECTED):
                requests: Any = get_script_run_ctx().script_requests
                parts = getattr(requests, "pressed_in", {None})
                requests.pressed_in = set()
                known, late = state._new_widget_state.widget_metadata, is_late()

                def counts(one: Any) -> bool:
                    is_press = (one.WhichOneof("value") or "").endswith("trigger_value")
                    if is_press or before.get(one.id) != one or one.id not in known:
                        return True
                    return not late and (None in parts or known[one.id].fragment_id in parts)

                fresh = WidgetStates(widgets=filter(counts, fresh.widgets))
            return take(state, fresh, **named)

        ScriptRequests.request_rerun = note_where_it_comes_from
        SessionState.on_script_will_rerun = take_what_is_new
