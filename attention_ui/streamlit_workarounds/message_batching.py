"""Works around Streamlit: what a run says goes out together, and all of it. Each of its 50 messages
wakes the server's loop, which then fights with the script for the interpreter's lock; and each run
says what the theme is, looked up anew. Both took 10 to 20 % of a move, 5 % with 50 people. And each
picture's specification is written and read whenever it is drawn. So what is the same is kept, and
messages wait for a moment, in their order, for those that follow; the end of a run sends them at
once. Of a run that only let a callback choose what runs, the browser hears nothing.
"""

from collections import deque
from contextlib import suppress
from functools import lru_cache, wraps
from types import SimpleNamespace
from typing import Any

MOMENT = 0.03
"""Seconds for which what was drawn waits at most for what follows."""
LONG, FEW = 4_000, 64
"""Letters of a text that is read once, and how many are kept."""
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


def keep_what_was_drawn() -> None:
    """Send all messages, in their order. When a run begins, Streamlit 1.67 drops what it will draw
    anew of those that wait, and calls the run before broken off. But a callback may let other parts
    run instead: what stands below a dropped one has no place then, and the page goes; and a widget
    that was set is not told. Changes nothing where a session is not as expected.
    """
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


def look_up_the_theme_once() -> None:
    """Keep what a run says of the theme. Changes nothing where that is not as expected."""
    with suppress(*NOT_AS_EXPECTED):
        from streamlit import config
        from streamlit.proto.NewSession_pb2 import CustomThemeConfig
        from streamlit.runtime import app_session

        look_up, kept = app_session._populate_theme_msg, {}
        if hasattr(look_up, "__wrapped__") or not hasattr(config, "_config_options"):
            return

        @wraps(look_up)
        def look_up_once(message: Any, section: str = "theme") -> None:
            options = config._config_options  # others where the configuration was read again
            before, found = kept.get(section, ("", None))
            if before is not options:
                look_up(found := CustomThemeConfig(), section)
                kept[section] = options, found
            message.MergeFrom(found)

        app_session._populate_theme_msg = look_up_once


def write_once() -> None:
    """Keep how a picture's specification is written, that it has none of Altair's own names, and
    what is read of it: Streamlit does all three whenever it is drawn, 4 % of the processor time of
    50 people. Nobody changes one. Changes nothing where Streamlit does not.
    """
    with suppress(*NOT_AS_EXPECTED):
        from streamlit.elements import vega_charts

        look, own = vega_charts._stabilize_vega_json_spec, vega_charts.json
        if hasattr(look, "cache_info"):
            return
        few, written = lru_cache(maxsize=FEW), {}
        read = few(own.loads)

        def dumps(made: Any, **how: Any) -> str:
            if how:
                return own.dumps(made, **how)
            parts = (*made, *map(id, made.values()))
            found = written.get(parts)
            if found is None:
                if len(written) >= FEW:
                    written.clear()
                # With its parts: else others could get their ids.
                found = written[parts] = own.dumps(made), [*made.values()]
            return found[0]

        def loads(text: str) -> Any:
            return read(text) if len(text) > LONG else own.loads(text)

        vega_charts._stabilize_vega_json_spec = few(look)
        vega_charts.json = SimpleNamespace(**{**vars(own), "dumps": dumps, "loads": loads})


def present_once() -> None:
    """Keep what a page sees of a component while that says nothing else. Streamlit makes a class
    for it nine times a run, which only a search for garbage frees: 3 % of the processor time of 50
    people, and three quarters of their garbage. Changes nothing where that is not as expected.
    """
    with suppress(*NOT_AS_EXPECTED):
        from streamlit.components.v2.bidi_component import main

        if hasattr(make := main.make_bidi_component_presenter, "__wrapped__"):
            return

        @wraps(make)
        def make_once(events: str, *given: Any, **named: Any) -> Any:
            present, last = make(events, *given, **named), [None, None]

            def present_again(base: Any, state: Any) -> Any:
                if last[0] != (said := (base, state._new_widget_state.get(events))):
                    last[:] = said, present(base, state)
                return last[1]

            return present_again

        main.make_bidi_component_presenter = make_once
