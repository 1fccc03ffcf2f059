"""What a run says reaches the browser's queue in its order, with few wakes of the server's loop."""

import asyncio
import inspect
import itertools
import json
import random
import time

import pytest
from streamlit import config
from streamlit.components.v2.bidi_component import main
from streamlit.elements import vega_charts
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.NewSession_pb2 import CustomThemeConfig
from streamlit.runtime import app_session
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.scriptrunner import ScriptRunnerEvent as Event
from streamlit.runtime.state.common import WidgetMetadata
from streamlit.runtime.state.session_state import SessionState

from attention_ui.streamlit_workarounds import message_batching
from serving import HANG

DRAWN, BEGUN = Event.ENQUEUE_FORWARD_MSG, Event.SCRIPT_STARTED
AGAIN, ENDS = Event.SCRIPT_STOPPED_FOR_RERUN, [Event.FRAGMENT_STOPPED_WITH_SUCCESS, Event.SHUTDOWN]


@pytest.fixture
def heard(monkeypatch):
    """What a session has heard of a script runner, in the loop's thread."""
    tell, found = inspect.unwrap(AppSession._on_scriptrunner_event), []
    monkeypatch.setattr(AppSession, "_on_scriptrunner_event", tell)
    hear = lambda _, __, event, forward_msg: found.append((event, forward_msg.hash))  # noqa: E731
    monkeypatch.setattr(AppSession, "_handle_scriptrunner_event_on_event_loop", hear)
    message_batching.send_together()
    return found


def say(said, wait=lambda: None, kind="delta"):
    """All that is said to a session."""
    session = object.__new__(AppSession)
    session._state = app_session.AppSessionState.SHUTDOWN_REQUESTED
    session._event_loop = asyncio.get_running_loop()

    def script():
        for event, number in said:
            message = ForwardMsg(hash=number)
            getattr(message, kind).SetInParent()
            session._on_scriptrunner_event(None, event, forward_msg=message)
            wait()

    return session._event_loop.run_in_executor(None, script)


@pytest.mark.parametrize("last", [DRAWN, *ENDS])
@pytest.mark.parametrize("seed", range(3))
def test_all_that_a_run_says_comes_in_its_order_with_few_wakes(monkeypatch, heard, seed, last):
    """Also a message that nothing follows, in a moment; the end of a run sends all at once."""
    monkeypatch.setattr(message_batching, "MOMENT", 0.03 if last == DRAWN else 1e9)
    wakes, at_random = [], random.Random(seed)
    said = [(DRAWN if at_random.random() < 0.97 else at_random.choice([BEGUN, *ENDS]), str(n))
            for n in range(997)] + [(last, "997")]  # fmt: skip

    async def server():
        loop = asyncio.get_running_loop()
        wake = loop.call_soon_threadsafe
        monkeypatch.setattr(loop, "call_soon_threadsafe", lambda *a: wakes.append(a) or wake(*a))
        await say(said, lambda: time.sleep(at_random.choice([0, 0, 0, 0.0001])))
        while len(heard) < len(said):
            await asyncio.sleep(0.001)

    asyncio.run(asyncio.wait_for(server(), HANG))
    assert heard == said
    assert len(wakes) < len(said) / 4


@pytest.mark.parametrize("kind", ["page_info_changed", "delta"])
@pytest.mark.parametrize("is_sent", [False, True])
def test_of_a_run_that_only_chose_what_runs_nothing_is_heard(monkeypatch, heard, is_sent, kind):
    """Nor of its end; but of all that has drawn something, or that the browser knows of."""
    monkeypatch.setattr(message_batching, "MOMENT", 0 if is_sent else 1e9)
    said = [(BEGUN, "first"), (DRAWN, "between"), (AGAIN, ""), (BEGUN, "second"), (ENDS[0], "end")]

    told = itertools.count(1)

    def until_it_is_heard():
        wanted = next(told)
        while is_sent and len(heard) < wanted:
            time.sleep(0.001)

    async def server():
        await say(said, until_it_is_heard, kind)
        while said[-1] not in heard:
            await asyncio.sleep(0.001)

    asyncio.run(asyncio.wait_for(server(), HANG))
    assert heard == (said if is_sent or kind == "delta" else [said[1], *said[3:]])


def test_the_theme_is_what_streamlit_says_until_it_is_read_again(monkeypatch):
    look_up = inspect.unwrap(app_session._populate_theme_msg)
    monkeypatch.setattr(app_session, "_populate_theme_msg", look_up)
    message_batching.look_up_the_theme_once()

    def told(way, section):
        message = CustomThemeConfig()
        way(message, section)
        return message

    known = config.get_config_options()
    for colour in ("#123456", "#654321"):
        own = config.ConfigOption("theme.primaryColor", description="", default_val=colour)
        monkeypatch.setattr(config, "_config_options", {**known, "theme.primaryColor": own})
        for section in ("theme", "theme.dark", "theme.light.sidebar") * 2:
            assert told(app_session._populate_theme_msg, section) == told(look_up, section)
        assert told(app_session._populate_theme_msg, "theme").primary_color == colour


def test_a_specification_is_written_looked_through_and_read_once(monkeypatch):
    """One whose parts are others is another; what a browser says is read anew."""
    look = inspect.unwrap(vega_charts._stabilize_vega_json_spec)
    monkeypatch.setattr(vega_charts, "_stabilize_vega_json_spec", look)
    monkeypatch.setattr(vega_charts, "json", json)
    message_batching.write_once()
    kept, once = vega_charts._stabilize_vega_json_spec, vega_charts.json
    spec = '{"params": [{"name": "param_7"}]}'
    assert [kept(spec), kept(spec)] == [look(spec)] * 2 == [spec.replace("7", "1")] * 2
    assert kept.cache_info().hits == 1
    made = {"title": "a" * message_batching.LONG, "layer": [{"mark": "rect"}]}
    others = [made, {**made, "layer": [{"mark": "text"}]}, {**made, "name": made["layer"]}]
    others += [{"other": made["title"], "layer": made["layer"]}, {"data": {1: "short"}}]
    for each in others * 2:
        text = once.dumps({**each})
        assert text == json.dumps(each)
        assert once.dumps({**each}) is text
        assert once.loads(text) == json.loads(text)
        assert (once.loads(text) is once.loads(text)) is ("data" not in each)
    assert once.dumps(made, sort_keys=True) == json.dumps(made, sort_keys=True)


def test_what_a_component_has_said_is_there_once_until_it_says_something_else(monkeypatch):
    make = inspect.unwrap(main.make_bidi_component_presenter)
    monkeypatch.setattr(main, "make_bidi_component_presenter", make)
    message_batching.present_once()
    state, of_all = SessionState(), main.make_bidi_component_presenter
    told = WidgetMetadata("told", list, list, value_type="json_trigger_value")
    state._new_widget_state.set_widget_metadata(told)
    plain, kept = (one("told", "near") for one in (make, of_all))
    said = [None, *([{"event": "near", "value": each}] for each in "ab")]
    bases = [{"kept": 1}, {"kept": 2}, {}, "no mapping"]
    pairs = itertools.product(said, bases), ((a, b) for b in bases for a in said)
    for now, base in itertools.chain(*pairs):
        state._new_widget_state.set_from_value("told", now)
        assert kept(base, state) == plain(base, state)
        assert kept(base, state) is kept(base, state)
    assert type(plain({}, state)) is not type(plain({}, state)), "the mend may go"
