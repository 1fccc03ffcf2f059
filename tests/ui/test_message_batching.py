"""What a run says reaches the browser's queue in its order, with few wakes of the server's loop."""

import asyncio
import inspect
import itertools
import random
import time

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime import app_session
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.scriptrunner import ScriptRunnerEvent as Event

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
