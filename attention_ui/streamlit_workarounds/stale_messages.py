"""Works around Streamlit: “I clicked, and something else jumped back, or counted as my choice”.
What the browser has not yet heard of is not taken back. Each message says where all widgets stand,
and one sent before an answer has come still says what the server has set since: that counted as a
press. So what a message repeats counts for nothing where its widget was not pressed: in another
part than the message's, or if it is late.

Back and Forward say only where the address is. What is said before their answer may be taken up in
one run with them: it neither takes their place nor is added to what they have left.

Messages that wait are taken up in one run too, and a callback of one may choose its parts. What was
pressed on a widget that no callback hears of is drawn all the same: its part runs with those. Of
the earlier one, Streamlit drops what the later one does not say, as of a widget that has gone, and
what a component has told, where it tells something again: both are kept: “I moved it three times,
and it had taken two”.

Seen by tests/test_streamlit_contract.py, and in docs/streamlit/repeated_for_pressed.py and
told_twice.py. It may go once a message says what was pressed, and messages that wait come one after
the other; until then a public way would be to see a message before its callbacks run.
"""

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import wraps
from typing import Any

from streamlit.proto.WidgetStates_pb2 import WidgetStates

SAID = "said_by_the_browser"
FROM, PAGE, ADDRESS = "comes_from ", "page", "address"
"""Where a message comes from, a part, the page or its address, is added to it as one more press:
only those of a message that waits are kept where another is joined to it.
"""
NOT_AS_EXPECTED = (ImportError, AttributeError)


def take_nothing_back(is_late: Callable[[], bool], begins: Callable[[bool, str], None]) -> None:
    """Leave out of messages what they repeat; `is_late` says of the one that has just come whether
    it is older than what the server changed last. `begins` is told before the callbacks of each run
    whether the address asks for it, and what Streamlit calls the page. Changes nothing where
    Streamlit's session and its requests are not as expected.
    """
    with suppress(*NOT_AS_EXPECTED):
        from streamlit.runtime.scriptrunner import get_script_run_ctx
        from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequests
        from streamlit.runtime.state.session_state import SessionState

        request, take = ScriptRequests.request_rerun, SessionState.on_script_will_rerun
        if hasattr(take, "__wrapped__"):
            return

        @wraps(request)
        def say_where_it_comes_from(requests: Any, asked: Any) -> bool:
            with suppress(*NOT_AS_EXPECTED):
                says = asked.widget_states.widgets
                where = asked.fragment_id or (PAGE if says else ADDRESS)
                if not any(each.id.startswith(FROM) for each in says):  # else it is asked again
                    says.add(id=FROM + where, trigger_value=True)
            return request(requests, asked)

        @wraps(take)
        def take_what_is_new(state: Any, fresh: WidgetStates | None, **named: Any) -> Any:
            if fresh is None:
                return take(state, fresh, **named)
            before: dict[str, Any] = {}
            with suppress(KeyError):
                before = state[SAID]
            with suppress(*NOT_AS_EXPECTED):
                told = {each.id: each for each in fresh.widgets}
                parts = {name[len(FROM) :] for name in told if name.startswith(FROM)} or {PAGE}
                told = {name: each for name, each in told.items() if not name.startswith(FROM)}
                known, late = state._new_widget_state.widget_metadata, is_late()
                there = {*state}

                def counts(one: Any) -> bool:
                    is_press = (one.WhichOneof("value") or "").endswith("trigger_value")
                    if is_press or one.id not in known:
                        return True
                    # What is said of other parts is where the server has put their widgets, or did
                    # a moment ago.
                    is_meant, said = {PAGE, known[one.id].fragment_id} & parts, before.get(one.id)
                    is_new = said is None or said != one or (one.id in there and not late)
                    return bool(is_meant and is_new)

                state[SAID] = {name: before[name] for name in before.keys() & there} | told
                fresh = WidgetStates(widgets=filter(counts, told.values()))
                begins(ADDRESS in parts, get_script_run_ctx().page_script_hash)
            done = take(state, fresh, **named)
            with suppress(*NOT_AS_EXPECTED):
                _draw_what_no_callback_hears_of(state, fresh, get_script_run_ctx().script_requests)
            return done

        ScriptRequests.request_rerun = say_where_it_comes_from
        SessionState.on_script_will_rerun = take_what_is_new

        from streamlit.runtime.scriptrunner_utils import script_requests

        join = script_requests._coalesce_widget_states

        @wraps(join)
        def keep_what_waits(old: WidgetStates | None, new: WidgetStates | None) -> Any:
            for each in old.widgets if old and new else ():
                again = next((one for one in new.widgets if one.id == each.id), None)
                if again is None:
                    new.widgets.append(each)
                elif each.json_trigger_value and again.json_trigger_value:
                    with suppress(TypeError, ValueError):  # none of a browser's
                        told = [json.loads(one.json_trigger_value) for one in (each, again)]
                        again.json_trigger_value = json.dumps(told[0] + told[1])
            return join(old, new)

        script_requests._coalesce_widget_states = keep_what_waits


def _draw_what_no_callback_hears_of(state: Any, fresh: WidgetStates, requests: Any) -> None:
    """Add its part to those that a callback has chosen; where it is in none, the page runs."""
    known = state._new_widget_state.widget_metadata
    pressed = [known[each.id] for each in fresh.widgets if each.id in known]
    unheard = {
        each.fragment_id
        for each in pressed
        if not (each.callback or each.callbacks) and state._widget_changed(each.id)
    }
    with requests._lock:
        asked = requests._rerun_data
        if unheard and asked.is_fragment_scoped_rerun:
            parts = [*dict.fromkeys((*asked.fragment_id_queue, *unheard))]
            parts = [] if None in unheard else parts
            requests._rerun_data = replace(
                asked, fragment_id_queue=parts, is_fragment_scoped_rerun=bool(parts)
            )
