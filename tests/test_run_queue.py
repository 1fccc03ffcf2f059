"""One script at a time, first come first served, and nothing that a visitor does is lost."""

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

from attention_ui.reactive import long_run, visibility
from attention_ui.reactive.long_run import Run
from attention_ui.streamlit_workarounds import run_queue as room
from attention_ui.streamlit_workarounds.run_queue import PIECE, Turns
from serving import HANG

RERUN, STOP = ScriptRequestType.RERUN, ScriptRequestType.STOP
room.run_in_turns()  # as the app does, of which nothing is imported here


@contextmanager
def held(turns):
    has, gives = threading.Event(), threading.Event()

    def hold():
        turns.take()
        has.set()
        gives.wait()
        turns.end()

    thread = threading.Thread(target=hold, daemon=True)
    thread.start()
    assert has.wait(HANG), f"{turns._whose} has kept its turn"
    try:
        yield
    finally:
        gives.set()
        thread.join()


def waits(turns, count=1):
    deadline = time.monotonic() + HANG
    while len(turns._waiting) < count:
        assert time.monotonic() < deadline, "it goes on at once"
        time.sleep(0.001)


@pytest.fixture
def however_long(monkeypatch):
    """Nobody goes on beside who has a turn, however slow the machine is."""
    monkeypatch.setattr(room, "LONGEST", 1e6)


@pytest.mark.usefixtures("however_long")
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
    assert visibility._rest(False) == visibility.AFTER_A_MOVE > visibility._rest(True)
    now[0] += 60
    assert visibility._rest(False) == visibility.AT_REST, "nobody else is there"


@pytest.mark.usefixtures("however_long")
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
def test_who_dies_in_its_turn_or_waits_for_something_else_blocks_nobody(dies, monkeypatch):
    monkeypatch.setattr(room, "LONGEST", 1e6 if dies else 0.05)
    turns, has, stuck = Turns(), threading.Event(), threading.Event()

    def never_ends():
        turns.take()
        has.set()
        if not dies:
            stuck.wait()
            turns.give_back()  # too late: others go on, and so it waits as they do
            turns.end()

    thread = threading.Thread(target=never_ends)
    thread.start()
    thread.join() if dies else has.wait()

    def goes_on():
        turns.take()
        stuck.set()
        turns.end()

    other = threading.Thread(target=goes_on, daemon=True)
    other.start()
    other.join(HANG)
    assert not other.is_alive(), "it is blocked"
    thread.join()
    turns.take()
    turns.end()


def asked(**state):
    ((name, value),) = state.items()
    kind = "trigger_value" if name == "press" else "int_value"
    return RerunData(widget_states=WidgetStates(widgets=[WidgetState(id=name, **{kind: value})]))


@pytest.mark.usefixtures("however_long")
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


def test_a_slice_of_work_is_longer_where_its_picture_takes_long_and_never_too_long(monkeypatch):
    """By a clock that only the work moves."""
    now = [0.0]
    monkeypatch.setattr(long_run.time, "monotonic", lambda: now[0])

    def work():
        while True:
            now[0] += 0.01
            yield 0.5, None

    run = Run("numbers", steps=work())
    for drawing, wanted in ((None, 0.3), (0.0, 0.3), (0.1, 0.3), (0.4, 0.8), (60.0, 1.5)):
        now[0] += drawing or 0
        began = now[0]
        run.advance(long_run.SLICE)
        assert now[0] - began == pytest.approx(wanted, abs=0.011)
