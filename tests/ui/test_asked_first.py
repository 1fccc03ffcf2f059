"""Which steps a question covers, of every question of every lesson, and until when."""

import itertools
import re
from dataclasses import replace
from functools import cache

import pytest
import torch

from alone import Visitor
from attention_core.operations import Given
from attention_core.trace import Trace
from attention_ui.cards import class_bars
from attention_ui.cards import question as asking
from attention_ui.cards.question import (
    GoneOn,
    Guess,
    Guesses,
    Tally,
    fingerprint_of,
    is_asked,
    is_first,
    tally,
)
from attention_ui.cards.questions import Pick, Verdict
from attention_ui.cards.row_question import Row
from attention_ui.cards.seen import covered_cells, in_card
from attention_ui.cards.tracked_trace import plain
from attention_ui.classroom.classroom import Asked, Now
from attention_ui.controls.covered import covered_how
from attention_ui.controls.in_class import InClass
from attention_ui.controls.lesson_session import LessonSession
from attention_ui.reactive.fragments import page_fragments
from visiting import LESSONS, _opened, stands

RIGHT, WRONG = Verdict(True, "Right."), Verdict(False, "No.")
PICK = Pick(words="?", choices="abc", judge=lambda places: RIGHT if places == [1] else WRONG,
    truth=lambda: "It is b.")  # fmt: skip
LINK = {"example": "wild_cat", "predict": "on"}


@cache
def asking_visitor(lesson: str) -> Visitor:
    """Somebody who has opened a lesson with its questions, and answered none."""
    return Visitor(lesson, **LINK)


def asked(visitor: Visitor):
    """The questions of a page that are asked on these settings."""
    with visitor.here():
        return [one for one in visitor.state.declared.asks if one.made()[0] is not None]


def a_cell_of(cover):
    """The first of the cells that it covers; of all cells, the very first."""
    return cover.mask.nonzero()[0].tolist() if cover.shape else (0, 0)


@pytest.mark.parametrize("lesson", LESSONS)
def test_each_question_covers_until_it_is_answered_or_a_cell_of_it_is_open(lesson):
    visitor = asking_visitor(lesson)
    for one in asked(visitor):
        with visitor.here():
            question, now = one.made()
            hides = one.hides()
            assert one.covered() == hides, one.name
            how = "shape" if question.only_shapes else "numbers"
            assert {each.how for each in hides.values()} <= {how}, one.name
            given = visitor.state.own(Guesses).given
            for verdict in (RIGHT, WRONG, None):
                given[one.key] = Guess(now, 0, verdict)
                stays = question.until_right and verdict == WRONG
                assert bool(one.covered()) == stays, (one.name, verdict)
            del given[one.key]
        for step, link in itertools.product(
            sorted(hides)[:2], ({}, {"card": "x"}, {"paper": "on"})
        ):
            cell = f"{step}.{'.'.join(map(str, a_cell_of(hides[step])))}"
            opened = Visitor(lesson, **LINK, cell=f"embeddings.0.0,{cell}", **link)
            plain = Visitor(lesson, **LINK, cell=f"{cell},no_such_step.0.0", **link)
            for who, is_covered in ((opened, "paper" in link), (plain, "card" not in link)):
                with who.here():
                    assert bool(one.covered()) == is_covered, (one.name, step, link)
        with Visitor(lesson, **LINK | {"predict": "off"}).here():
            assert one.covered() == {}


def test_of_several_questions_that_cover_a_step_each_has_to_be_answered():
    lesson = next(each for each in LESSONS if len(asked(asking_visitor(each))) > 1)
    visitor = Visitor(lesson, **LINK)
    page = visitor.state.declared
    every = asked(visitor)
    with visitor.here():
        for one in every:
            left = {step for each in every for step in each.covered()}
            assert page.covers().keys() == left
            for step in left:
                assert covered_how.now(step) == page.covers()[step]
            assert covered_how.now("no_such_step") is None
            visitor.state.own(Guesses).given[one.key] = Guess(one.made()[1], 0, RIGHT)
            page_fragments().known.clear()
        assert not page.covers()


@pytest.mark.parametrize("lesson", LESSONS)
def test_the_first_open_question_of_a_page_is_the_first(lesson):
    visitor = asking_visitor(lesson)
    every = asked(visitor)
    with visitor.here() as state:
        state.covering = {one.name: ("", frozenset()) for one in state.declared.asks}
        for at, one in enumerate(every):
            is_open = [each.is_unanswered() for each in every]
            assert [is_first.now(each.name) for each in every] == [
                not any(is_open[:place]) for place in range(len(every))
            ], f"{at} of them are answered"
            state.own(Guesses).given[one.key] = Guess(one.made()[1])
        state.own(Guesses).given.clear()
        state.covering = {}
        assert all(is_first.now(each.name) for each in every), "none of them was met"


def test_who_reads_past_a_question_finds_its_answer_and_may_guess_after_all():
    state = LessonSession()
    state.own(GoneOn).keys.add("causal_mask.row")
    at = stands(_opened("causal_mask", {**LINK}, session=state))
    said = "A hidden key gets nothing, so the visible keys share the whole 1."
    answers = [each.value for each in at.markdown if said in each.value]
    assert len(answers) == 1
    assert re.match(r"The weights are \d.* for key", answers[0])
    keys = {each.key for each in at.button}
    assert "reveal_causal_mask.row" not in keys, "beside its answer it would count as a guess"
    assert not any(each.key.startswith("guess_causal_mask.row") for each in at.slider)
    (after_all,) = (each for each in at.button if each.key == "again_causal_mask.row")
    stands(after_all.click().run())
    assert not state.own(GoneOn).keys
    assert "reveal_causal_mask.row" in {each.key for each in at.button}
    assert not [each for each in at.markdown if said in each.value]


def test_who_goes_on_is_not_asked_what_covers_nothing_for_ever():
    """The browser is told of each question that may be passed, also where it covers no number."""
    with Visitor("divide_by_sqrt_d", **LINK).here() as state:
        assert "card_dot_products" in state.asking()
        assert not state.declared.asks[0].covered()
        state.declared.went_on(["card_dot_products"])
        page_fragments().known.clear()
        assert "card_dot_products" not in state.asking()
    with Visitor("divide_by_sqrt_d", **LINK, lock="predict").here() as state:
        assert not state.asking()


def test_a_copy_is_covered_as_long_as_its_question_is_open():
    """Also within one card, which knows what it has worked out."""
    visitor = Visitor("simplified_attention", **LINK)
    with visitor.here() as state:
        page = state.declared
        weights = plain(page.trace())["weights"]
        given = Given.of(weights.value.clone())
        copy = Trace().step("another", given, axes=weights.axes)
        with in_card("scores", lambda: plain(page.trace())):
            covered = covered_cells(copy)
            assert covered is not None
            assert covered.equal(covered_cells(weights))
            (one,) = page.asks
            state.own(Guesses).given[one.key] = Guess(one.made()[1], 0, RIGHT)
            page_fragments().known.clear()
            assert covered_cells(copy) is None


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_class_can_be_asked_each_question_and_what_is_held_stays_covered(lesson):
    """Whatever was answered or gone on from: until the class was shown the numbers."""
    visitor = asking_visitor(lesson)
    for one in asked(visitor):
        with visitor.here() as state:
            question, now = one.made()
            numbers = some_answer(question)
            assert class_bars.in_words(question, numbers)
            for is_open in (False, True):
                drawn = class_bars.drawn(question, [[(numbers, 2)]], is_open)
                assert ("right" in drawn.alt or "The weights are" in drawn.alt) <= is_open
            held = Asked(one.key, question, now, lesson, {}, "", "")
            state.own(Guesses).given[one.key] = Guess(now, 0, RIGHT)
            state.renew(InClass("B", "p", "", Now("B", 1, covers=frozenset([one.key]))))
            assert one.covered() == one.hides(), one.name
            assert not one.is_passable()
            state.renew(InClass("B", "p", "", Now("B", 2)))
            asking.uncover_in_class(held, numbers)
            given = state.own(Guesses).given.pop(one.key)
            assert given.verdict == question.judged(question.understood(numbers))
            state.renew(InClass())


def some_answer(question):
    """The first choice, the shape of ones, or the true row: as a vote has it."""
    if isinstance(question, Row):
        return tuple(round(each, 4) for each in question.truth)
    return (0,) if isinstance(question, Pick) else (1,) * len(question.truth)


# --- one question ---------------------------------------------------------------------------------
@pytest.fixture
def visitor():
    made = Visitor("simplified_attention", **LINK)
    with made.here():
        yield made


@pytest.mark.usefixtures("visitor")
def test_a_question_that_there_is_not_covers_nothing():
    assert not is_asked(None, "a")
    assert is_asked(PICK, "a")


def test_a_wrong_answer_leaves_covered_what_stays_until_it_is_right(visitor):
    stays = replace(PICK, until_right=True)
    for verdict, still in ((None, False), (RIGHT, False), (WRONG, True)):
        visitor.state.own(Guesses).given["a"] = Guess(0, [0], verdict)
        assert is_asked(stays, "a") == still
        assert not is_asked(PICK, "a")


def test_what_is_picked_or_revealed_is_judged_and_what_is_not_there_is_not(visitor, monkeypatch):
    sent = {}
    monkeypatch.setattr("attention_ui.cards.questions.sent", sent.get)
    guesses = visitor.state.own(Guesses)
    for place, verdict in (
        (None, None),
        (3, None),
        (-1, None),
        ("1", None),
        (1, RIGHT),
        (0, WRONG),
    ):
        guesses.given.clear()
        sent["w"] = place
        asking._revealed("page.a", "w", PICK, 7)
        assert guesses.given == ({"page.a": Guess(7, [place], verdict)} if verdict else {})
        assert guesses.missing == "", "who unpicks a choice is not asked for one"
    guesses.given.clear()
    sent["w"] = None
    in_a_box = replace(PICK, choices=["*a*", "b"])
    asking._revealed("page.a", "w", in_a_box, 7)
    assert (guesses.given, guesses.missing) == ({}, "page.a")
    sent["w"] = 1
    asking._revealed("page.a", "w", in_a_box, 7)
    assert guesses.given == {"page.a": Guess(7, [1], RIGHT)}
    monkeypatch.setattr(asking, "begin_anew", sent.pop)
    sent["guess_page.a"] = 1
    asking._taken_back("page.a")
    assert (guesses.given, "guess_page.a" in sent) == ({}, False)


def test_what_was_missed_is_what_was_first_wrong_or_shown(visitor):
    visitor.state.page = "lesson"
    for name, verdicts, missed in (
        ("a", [RIGHT], False), ("b", [WRONG, RIGHT], True), ("c", [None, RIGHT], True),
        ("d", [], False), ("e", [RIGHT, WRONG], False),
    ):  # fmt: skip
        for verdict in verdicts:
            tally().count(f"lesson.{name}", 7, verdict)
        assert asking.was_missed(name) == missed, name
    tally().count("other.d", 7, WRONG)
    assert not asking.was_missed("d"), "of another lesson"


def test_a_guess_counts_once_for_its_numbers_and_a_look_never():
    kept = Tally()
    assert kept.words() == ""
    counts = [
        kept.count("a", 1, None), kept.count("a", 1, RIGHT), kept.count("a", 2, RIGHT),
        kept.count("a", 2, WRONG), kept.count("b", 1, WRONG), kept.count("c", 1, None),
    ]  # fmt: skip
    assert counts == [False, False, True, False, True, False]
    assert kept.words() == "1 of 2 guesses right this session."
    kept.count("d", 1, replace(WRONG, distance=0.25))
    row = " In 1 row, 25% of the guessed weight was on the wrong keys."
    assert kept.words() == f"1 of 2 guesses right this session.{row}"
    kept.count("e", 1, replace(RIGHT, distance=0.0))
    assert kept.words().endswith(
        " In 2 rows, on average 12% of the guessed weight was on the wrong keys."
    )
    one = Tally()
    one.count("a", 1, RIGHT)
    assert one.words() == "1 of 1 guess right this session."


def test_a_guess_holds_for_the_same_numbers_and_of_shapes_for_the_same_shapes():
    trace = Trace()
    one, same, other = (
        trace.step(name, Given(((1.0, number), (3.0, 4.0))), axes=("row", "column"))
        for name, number in (("one", 2.0), ("same", 2.0), ("other", 5.0))
    )
    wide = trace.step("wide", Given(((1.0, 2.0, 3.0),)), axes=("a", "b"))
    for only_shapes in (False, True):
        first = fingerprint_of([one, wide], only_shapes)
        assert first == fingerprint_of([same, wide], only_shapes)
        assert (first == fingerprint_of([other, wide], only_shapes)) == only_shapes
        assert first != fingerprint_of([one], only_shapes)
        assert first != fingerprint_of([wide, one], only_shapes)
    assert torch.equal(one.value, same.value)


@pytest.mark.parametrize("passes", ["goes on", "answers"])
def test_what_was_passed_stands_open_and_asks_no_more(passes):
    """What the browser keeps of a page, so that it is found as it was left."""
    visitor = Visitor("queries_keys_values", predict="on")
    with visitor.acts() as state:
        first, *others = state.asking()
        assert state.stands_open() == []
        if passes == "goes on":
            state.goes_past([first])
        else:
            (ask,) = [each.ask for each in state.declared.cards if first == f"card_{each.name}"]
            state.own(Guesses).given[ask.key] = Guess(0)
        page_fragments().known.clear()
        assert (state.asking(), state.stands_open()) == (others, [first])
    with Visitor("queries_keys_values", predict="on", lock="predict").here() as state:
        assert state.asking() == state.stands_open() == [], (
            "a teacher's link holds that one guesses"
        )


def test_of_what_a_browser_says_the_window_and_its_tables_are_taken():
    with Visitor("causal_mask").here() as state:
        state.hears(frozenset({"card_mask", "phone", "tables_3"}))
        assert (state.window, state.misread) == ({"phone"}, 3)
        state.hears(frozenset({"card_mask"}))
        assert (state.window, state.misread) == (frozenset(), 0)
