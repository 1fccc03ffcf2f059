"""Works around Streamlit: “I clicked a link, and the window was white, or I was still where I was”.
A part asked for just after the click would run as one of the new page. So no part runs for a page
that has been left (docs/streamlit/part_of_a_left_page.py).

“I moved a slider, and its numbers did not follow, however long I waited”. A part has another id
where something new stands above it, and what asks for the old one is dropped. So the page runs for
a part that is gone (docs/streamlit/part_that_is_gone.py).

“All of the page stood in the contents at its side”. A page is drawn in its own place, not, as by
Streamlit 1.67, where a part that has just ended stood (docs/streamlit/page_in_the_sidebar.py).

Seen by tests/test_streamlit_contract.py. All three may go where Streamlit is mended; until then a
public way would be to be told of a request before it is taken up, with its page and its parts.
"""

from contextlib import suppress
from dataclasses import replace
from functools import wraps
from typing import Any

NOT_AS_EXPECTED = (AttributeError, TypeError)
_HAS_NAMED = "_has_named_a_page"


def run_only_parts_that_are_there() -> None:
    """Ignore requests for parts of another page, and for one that is gone run the page."""
    with suppress(ImportError, AttributeError):
        from streamlit.delta_generator_singletons import (
            context_dg_stack,
            get_default_dg_stack_value,
        )
        from streamlit.runtime.app_session import AppSession
        from streamlit.runtime.scriptrunner.script_runner import ScriptRunner

        request, run = AppSession.request_rerun, ScriptRunner._run_script
        if hasattr(request, "__wrapped__"):
            return

        @wraps(request)
        def request_unless_left(session: Any, client_state: Any, *given: Any, **named: Any) -> Any:
            with suppress(*NOT_AS_EXPECTED):
                if _is_for_a_page_that_was_left(session, client_state):
                    return None
                part = client_state and not client_state.is_auto_rerun and client_state.fragment_id
                if part and not session.has_fragment(part):
                    client_state.fragment_id = ""
            return request(session, client_state, *given, **named)

        @wraps(run)
        def run_what_is_there(runner: Any, asked: Any, *given: Any, **named: Any) -> Any:
            with suppress(*NOT_AS_EXPECTED):
                parts, there = asked.fragment_id_queue, runner._fragment_storage.contains
                if not asked.is_auto_rerun and not all(map(there, parts)):
                    asked = replace(asked, fragment_id_queue=[], is_fragment_scoped_rerun=False)
            context_dg_stack.set(get_default_dg_stack_value())
            return run(runner, asked, *given, **named)

        AppSession.request_rerun, ScriptRunner._run_script = request_unless_left, run_what_is_there


def _is_for_a_page_that_was_left(session: Any, wanted: Any) -> bool:
    if not wanted or not wanted.page_script_hash:
        return False
    open_now = session._client_state
    if wanted.fragment_id:
        # A first visit names no page, and until its run is over Streamlit says that the script is
        # open which it started: the first thing that a visitor does must not be lost.
        is_left = open_now.page_script_hash not in ("", wanted.page_script_hash)
        return is_left and _HAS_NAMED in vars(session)
    # Streamlit would take it up when its run begins: a moment too late.
    open_now.page_script_hash = wanted.page_script_hash
    setattr(session, _HAS_NAMED, True)
    return False
