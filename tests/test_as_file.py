"""The lesson as a file, asked for in the app: one at a time, bounded, and said in words."""

import threading
from urllib.parse import parse_qs, urlsplit

import pytest

from attention_ui.frame import as_file
from attention_ui.frame.as_file import MOST_WAITING, CouldNot, Files
from visiting import _opened

AT = {"row_take_away": True}


@pytest.fixture
def held(monkeypatch):
    """What is asked for, each held until it is let go; what is written fails if so named."""
    asked, go_on = [], threading.Semaphore(0)

    def write(command, address, app):
        asked.append((command, address, app))
        go_on.acquire()
        if "wrong" in address:
            raise CouldNot("wrong cannot be used: <b>.")
        return address.encode()

    monkeypatch.setattr(as_file, "_write", write)
    monkeypatch.setattr(as_file, "FILES", Files())
    return asked, go_on


def test_one_is_written_at_a_time_and_the_same_one_once(held):
    asked, go_on = held
    files = Files()
    assert [files.ask(("page", f"lesson_{at}", "")) for at in range(MOST_WAITING)] == [
        True
    ] * MOST_WAITING
    assert not files.ask(("page", "one_more", "")), "too many wait"
    assert files.ask(("page", "lesson_0", "")), "it is on its way"
    assert files.n_before(files.get(("page", "lesson_3", ""))) == 3
    assert len(asked) <= 1
    for _ in range(MOST_WAITING):
        go_on.release()
    for at in range(MOST_WAITING):
        assert files.get(("page", f"lesson_{at}", "")).made.result(60) == f"lesson_{at}".encode()
    assert len(asked) == MOST_WAITING


def test_what_was_written_is_kept_and_the_oldest_goes(held, monkeypatch):
    _, go_on = held
    files = Files()
    monkeypatch.setattr(as_file, "MOST_KEPT", 2)
    for at in range(4):
        go_on.release()
        files.ask(("page", f"lesson_{at}", ""))
        files.get(("page", f"lesson_{at}", "")).made.result(60)
    assert [bool(files.get(("page", f"lesson_{at}", ""))) for at in range(4)] == [
        False,
        False,
        True,
        True,
    ]


def test_what_failed_is_asked_for_anew(held):
    asked, go_on = held
    files = Files()
    for n in (1, 2):
        files.ask(("page", "wrong", ""))
        go_on.release()
        assert files.get(("page", "wrong", "")).made.exception(60)
        assert files.get(("page", "wrong", "")).wrong == "wrong cannot be used: <b>."
        assert len(asked) == n


def button(at):
    return next(each for each in at.button if each.label == "Lesson")


def test_it_is_asked_for_as_it_stands(held):
    """With what makes the lesson, and not with what only this visit has."""
    asked, go_on = held
    link = {"sentence": "a <b> cat's & dog", "window": "2", "large": "on", "done": "whole_layer"}
    at = _opened("causal_mask", {**link, "section": "weights"}, **AT)
    button(at).click().run()
    assert button(at).disabled
    assert any("Your file is being written" in each.value for each in at.markdown)
    go_on.release()
    ((command, address, app),) = asked
    named = urlsplit(address)
    assert (command, named.path, app) == ("page", "causal_mask", "")
    texts = {name: text for name, (text,) in parse_qs(named.query).items()}
    assert (
        texts
        == {**{name: link[name] for name in ("sentence", "window")}, "example": "journey"} | texts
    )
    assert not texts.keys() & {"large", "done", "section"}
    as_file.FILES.get((command, address, app)).made.result(60)
    at.run()
    assert "Save lesson" in [each.proto.label for each in at.get("download_button")]
    assert not [each for each in at.button if each.label == "Lesson"]


def test_why_there_is_none_is_said_as_text(held):
    _, go_on = held
    at = _opened("causal_mask", {"sentence": "wrong"}, **AT)
    button(at).click().run()
    go_on.release()
    (one,) = as_file.FILES._by_wanted.values()
    assert one.made.exception(60)
    at.run()
    assert "wrong cannot be used: <b>." in [each.value for each in at.text]
    assert any(each.value.startswith("attention-explorer page 'causal_mask") for each in at.code)
    assert not button(at).disabled


def test_where_the_packages_are_missing_the_command_stands_in_its_place(monkeypatch):
    monkeypatch.setattr(as_file, "no_writer", lambda: "missing")
    at = _opened("causal_mask", {"sentence": "it's a cat"}, **AT)
    assert not [each for each in at.button if each.label == "Lesson"]
    (command,) = (each.value for each in at.code if each.value.startswith("attention-explorer"))
    assert "sentence=it%27s+a+cat" in command


def test_a_package_is_another_file_of_the_same_lesson(held):
    asked, go_on = held
    at = _opened("causal_mask", {}, **AT)
    for label in ("Lesson", "Course package"):
        next(each for each in at.button if each.label == label).click().run()
        go_on.release()
        [*as_file.FILES._by_wanted.values()][-1].made.result(60)
    assert [command for command, *_ in asked] == ["page", "scorm"]
    at.run()
    offered = [each.proto.label for each in at.get("download_button")]
    assert {"Save lesson", "Save package"} <= {*offered}


def test_a_lesson_that_is_written_beside_the_server_says_what_is_wrong():
    """In a process of its own, of which only the last line is told."""
    with pytest.raises(CouldNot, match=r"^causal_mask has no control 'sed'"):
        as_file._write("page", "causal_mask?sed=3", "")
