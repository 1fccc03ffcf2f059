"""Whole pages are drawn one at a time: so a neighbour's move waits for one of them at most."""

import threading
import time
from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from attention_ui.page import page
from attention_ui.streamlit_workarounds import visible_parts


class Drawn:
    """In place of a lesson on the screen: counts how many are drawn at once."""

    at_once = most = 0
    fails = False

    def __init__(self, *_):
        self.page = SimpleNamespace(outline=())

    def draw(self, _):
        Drawn.at_once += 1
        Drawn.most = max(Drawn.most, Drawn.at_once)
        time.sleep(0.02)
        Drawn.at_once -= 1
        if Drawn.fails:
            raise ValueError("broken off")


@pytest.fixture(autouse=True)
def _nothing_but_the_turn(monkeypatch):
    Drawn.at_once, Drawn.most, Drawn.fails = 0, 0, False
    monkeypatch.setattr(page, "LessonOnScreen", Drawn)
    opened = (SimpleNamespace(only=""), nullcontext())
    monkeypatch.setattr(page, "open_lesson", lambda _: opened)
    monkeypatch.setattr(page.session, "has_come_from_another", lambda: False)
    monkeypatch.setattr(visible_parts, "watch", lambda _: None)


def test_whole_pages_are_drawn_one_at_a_time():
    visits = [threading.Thread(target=page.open_on, args=("", None, None)) for _ in range(5)]
    for visit in visits:
        visit.start()
    for visit in visits:
        visit.join(timeout=10)
    assert not any(visit.is_alive() for visit in visits)
    assert Drawn.most == 1


def test_a_page_that_hangs_stops_no_other(monkeypatch):
    monkeypatch.setattr(page, "PATIENCE", 0.05)
    with page._turn():
        following = threading.Thread(target=page.open_on, args=("", None, None), daemon=True)
        following.start()
        following.join(timeout=10)
        assert not following.is_alive()
        assert page._ONE_AT_A_TIME.locked(), "the turn of another was given away"
    assert not page._ONE_AT_A_TIME.locked()


def test_a_page_that_is_broken_off_gives_its_turn_away():
    Drawn.fails = True
    with pytest.raises(ValueError, match="broken off"):
        page.open_on("", None, None)
    Drawn.fails = False
    following = threading.Thread(target=page.open_on, args=("", None, None), daemon=True)
    following.start()
    following.join(timeout=10)
    assert not following.is_alive()
