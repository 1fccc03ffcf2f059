"""What a run says reaches the browser's queue in its order, with few wakes of the server's loop."""

import asyncio
import inspect
import random
import time

import pytest
from streamlit import config
from streamlit.proto.NewSession_pb2 import CustomThemeConfig
from streamlit.runtime import app_session
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.scriptrunner import ScriptRunnerEvent as Event

from attention_ui.streamlit_workarounds import few_wakes

DRAWN, OTHERS = Event.ENQUEUE_FORWARD_MSG, [Event.SCRIPT_STARTED, Event.SHUTDOWN]


@pytest.mark.parametrize("last", [DRAWN, *OTHERS])
@pytest.mark.parametrize("seed", range(3))
def test_all_that_a_run_says_comes_in_its_order_with_few_wakes(monkeypatch, seed, last):
    """Also a message that nothing follows, in a moment; what is no message sends all at once."""
    monkeypatch.setattr(few_wakes, "MOMENT", 0.03 if last == DRAWN else 1e9)
    heard, wakes, at_random = [], [], random.Random(seed)
    said = [(DRAWN if at_random.random() < 0.97 else at_random.choice(OTHERS), n)
            for n in range(997)] + [(last, 997)]  # fmt: skip
    tell = inspect.unwrap(AppSession._on_scriptrunner_event)
    monkeypatch.setattr(AppSession, "_on_scriptrunner_event", tell)
    monkeypatch.setattr(
        AppSession,
        "_handle_scriptrunner_event_on_event_loop",
        lambda _, __, event, message=None: heard.append((event, message)),
    )
    few_wakes.send_together()
    session = object.__new__(AppSession)
    session._state = app_session.AppSessionState.SHUTDOWN_REQUESTED

    def script():
        for event, number in said:
            session._on_scriptrunner_event(None, event, message=number)
            time.sleep(at_random.choice([0, 0, 0, 0.0001]))

    async def server():
        loop = session._event_loop = asyncio.get_running_loop()
        wake = loop.call_soon_threadsafe
        monkeypatch.setattr(loop, "call_soon_threadsafe", lambda *a: wakes.append(a) or wake(*a))
        running = loop.run_in_executor(None, script)
        while len(heard) < len(said):
            await asyncio.sleep(0.001)
        await running

    asyncio.run(asyncio.wait_for(server(), 20))
    assert heard == said
    assert len(wakes) < len(said) / 4


def test_the_theme_is_what_streamlit_says_until_it_is_read_again(monkeypatch):
    look_up = inspect.unwrap(app_session._populate_theme_msg)
    monkeypatch.setattr(app_session, "_populate_theme_msg", look_up)
    few_wakes.look_up_the_theme_once()

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
