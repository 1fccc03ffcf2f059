"""One script at a time, first come first served, and nothing that a visitor does is lost."""

import asyncio
import os
import threading
import time
from contextlib import contextmanager

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.runtime.scriptrunner_utils.script_requests import (
    RerunData,
    ScriptRequests,
    ScriptRequestType,
)

from attention_ui.frame import long_run, near
from attention_ui.frame.long_run import Run
from attention_ui.streamlit_workarounds import turns as room
from attention_ui.streamlit_workarounds.turns import LONGEST, PIECE, Turns
from serving import ROOT, start_server
from visitor import Visitor

RERUN, STOP = ScriptRequestType.RERUN, ScriptRequestType.STOP
room.run_in_turns()  # as the app does, of which nothing is imported here
APP = """
import os, time
import streamlit as st
from attention_ui.streamlit_workarounds.turns import run_in_turns
run_in_turns()
if not hasattr(st, "inside"):
    st.inside, st.most = set(), 0
state, me = st.session_state, object()
state.setdefault("presses", 0)
def pressed(): state.presses += 1
st.inside.add(me)
st.most = max(st.most, len(st.inside))
try:
    st.slider("Width", 0, 9, 0, key="width")
    body = st.button("Press", key="press", on_click=pressed)
    state.runs = state.get("runs", 0) + 1
    time.sleep(0.3)
    if state.width == 9:
        raise ValueError("what a page may do")
    st.text(f"{state.presses} {bool(body)} {state.width} {state.runs} {st.most}")
finally:
    st.inside.discard(me)
"""


@contextmanager
def held(turns):
    has, gives = threading.Event(), threading.Event()

    def hold():
        turns.take()
        has.set()
        gives.wait()
        turns.end()

    thread = threading.Thread(target=hold)
    thread.start()
    has.wait()
    try:
        yield
    finally:
        gives.set()
        thread.join()


def waits(turns, count=1):
    while len(turns._waiting) < count:
        time.sleep(0.001)


def test_who_comes_first_is_served_first():
    turns, served, threads = Turns(), [], []

    def serve(name):
        turns.take()
        served.append(name)
        turns.end()

    assert not turns.someone_waits()
    with held(turns):
        for name in range(7):
            threads.append(threading.Thread(target=serve, args=(name,)))
            threads[-1].start()
            waits(turns, name + 1)
        assert turns.someone_waits()
        assert served == []
    for each in threads:
        each.join()
    assert served == [*range(7)]
    assert not turns.someone_waits()


def test_how_much_of_the_time_somebody_has_a_turn_says_when_what_waits_is_asked_for(monkeypatch):
    now, turns = [0.0], Turns()
    monkeypatch.setattr(room.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(room, "share", turns.share)
    for second in range(100):
        now[0] = second
        turns.take()
        now[0] += 0.5
        turns.end()
    assert 0.45 < turns.share() < 0.55
    assert near._rest(False) == near.AFTER_A_MOVE > near._rest(True)
    now[0] += 60
    assert near._rest(False) == near.AT_REST, "nobody else is there"


def test_long_work_gives_its_turn_back_between_its_pieces(monkeypatch):
    """Also within one run of the script; where nobody waits, or the piece is short, it goes on."""
    turns, done, pieces = Turns(), [], 4
    monkeypatch.setattr(long_run, "gives_turn_back", turns.give_back)

    def work():
        for at in range(1, pieces + 1):
            time.sleep(PIECE * 1.1)
            done.append(f"piece {at}")
            if at == 2:
                other.start()
                waits(turns)
            yield at / pieces, at

    def visit():
        turns.take()
        done.append("a visit")
        turns.end()

    other = threading.Thread(target=visit)
    turns.take()
    Run("numbers", steps=work()).advance()
    turns.end()
    other.join()
    assert done == ["piece 1", "piece 2", "a visit", "piece 3", "piece 4"]
    turns.give_back()  # who has no turn, as code outside of a script, gives nothing back
    assert turns._whose is None


@pytest.mark.parametrize("dies", [True, False])
def test_who_dies_in_its_turn_or_waits_for_something_else_blocks_nobody(dies):
    turns, stuck = Turns(), threading.Event()

    def never_ends():
        turns.take()
        if not dies:
            stuck.wait()
            turns.give_back()  # too late: others go on, and so it waits as they do
            turns.end()

    thread = threading.Thread(target=never_ends)
    thread.start()
    time.sleep(0.05)
    began = time.monotonic()
    turns.take()
    assert time.monotonic() - began < 3 * LONGEST
    stuck.set()
    turns.end()
    thread.join()
    turns.take()
    turns.end()


def asked(**state):
    ((name, value),) = state.items()
    kind = "trigger_value" if name == "press" else "int_value"
    return RerunData(widget_states=WidgetStates(widgets=[WidgetState(id=name, **{kind: value})]))


@pytest.mark.parametrize("is_stopped", [False, True])
def test_what_is_asked_for_while_waiting_is_one_run_with_every_press(is_stopped):
    turns, requests, answers = room._TURNS, ScriptRequests(), []
    requests.request_rerun(asked(press=True))

    def run():
        answers.append(requests.on_scriptrunner_ready())
        if answers[-1].type is RERUN:
            answers.append(requests.on_scriptrunner_ready())

    thread = threading.Thread(target=run)
    with held(turns):
        thread.start()
        waits(turns)
        requests.request_rerun(asked(width=3))
        if is_stopped:  # as when the tab is closed
            requests.request_stop()
    thread.join()
    assert [each.type for each in answers] == ([STOP] if is_stopped else [RERUN, STOP])
    if not is_stopped:
        found = {each.id: each for each in answers[0].rerun_data.widget_states.widgets}
        assert found["press"].trigger_value
        assert found["width"].int_value == 3
    assert turns._whose is None


def test_who_starts_anew_all_the_time_is_served_like_the_others(monkeypatch):
    turns, requests = Turns(), ScriptRequests()
    monkeypatch.setattr(room._TURNS, "give_back", lambda: pytest.fail("gave its turn back"))
    requests.request_rerun(RerunData(fragment_id="a part"))
    assert requests.on_scriptrunner_yield() is None, "a part ends no run that is on"
    gave = []
    monkeypatch.setattr(room._TURNS, "give_back", lambda: gave.append(turns))
    requests.request_rerun(asked(width=3))
    assert requests.on_scriptrunner_yield().type is RERUN
    assert gave


@pytest.mark.slow("8 s: a server of its own")
def test_a_crowd_is_served_in_turns_whoever_leaves_or_fails(tmp_path):
    (tmp_path / "app.py").write_text(APP, encoding="utf-8")
    options = {"runner.fastReruns": "false"}
    env = {**os.environ, "PYTHONPATH": str(ROOT)}

    class Reading(Visitor):
        def _look(self, answer):
            super()._look(answer)
            if answer.delta.new_element.WhichOneof("type") == "text":
                self.said = answer.delta.new_element.text.body

    async def crowd(url):
        people = [await Reading(url, "").enter() for _ in range(5)]
        fails, leaves, presses, *_ = people
        fails.sliders["Width"].at = 8
        others = [each for each in people if each is not presses]
        long = [asyncio.create_task(each.set(each.sliders["Width"])) for each in others]
        await asyncio.sleep(0.1)  # one runs, the others wait
        await leaves.socket.close()
        first = asyncio.create_task(presses.press("press"))
        await asyncio.sleep(0.1)
        first.cancel()  # what it did, it did; it does not wait for the answer
        await asyncio.gather(first, return_exceptions=True)
        await presses.set(presses.sliders["Width"])
        ended = await asyncio.gather(*long, return_exceptions=True)
        assert sum(isinstance(each, Exception) for each in ended) == 1, "who left"
        assert len(fails.errors) == 1
        assert presses.said == "1 True 1 2 1", "one run, and the press heard twice"

    with start_server(tmp_path / "out.txt", tmp_path, options=options, env=env) as server:
        asyncio.run(crowd(server.url))
