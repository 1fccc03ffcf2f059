"""A class on its pages: what learners and their teacher see and press, each in a session."""

from contextlib import contextmanager

import pytest
import streamlit

from attention_ui.cards.question import GoneOn, Guesses
from attention_ui.classroom.classes import CLASSES
from attention_ui.controls import in_class
from attention_ui.frame import class_share
from attention_ui.reactive.session import session_of
from visiting import charts, has_no_exception, texts, visit, words

LESSON = "simplified_attention"
KEY = "simplified_attention.looks_at"


@pytest.fixture
def room():
    made = CLASSES.make(LESSON, {"example": "wild_cat"})
    yield made
    made.ends()


class Sees:
    """One browser: a page in it, with the cookie that a class's link has given."""

    def __init__(self, room, is_teacher=False, person="", page=LESSON, **link):
        role = in_class.TEACHER if is_teacher else in_class.LEARNER
        self.person = "" if is_teacher else person or room.joins()
        self.cookie = f"{room.code}:{role}:{self.person or room.token}"
        with self.here():
            self.at = visit(page, **{"predict": "on", **link})
        has_no_exception(self.at)

    @contextmanager
    def here(self):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(in_class, "cookie", lambda: self.cookie)
            yield self.at if hasattr(self, "at") else None

    def looks(self):
        """The page again, as when the browser was told that the class has gone on."""
        with self.here() as at:
            has_no_exception(at.run())
        return self

    def presses(self, key):
        with self.here() as at:
            has_no_exception(at.button(key=key).click().run())
        return self

    def picks(self, room, place):
        turn = room.now().turn
        with self.here() as at:
            group = at.button_group(key=f"class_{room.code}_{turn.round}_{turn.turn}")
            has_no_exception(group.set_value(place).run())
        return self

    @property
    def words(self):
        return words(self.at)

    @property
    def buttons(self):
        return {each.key for each in self.at.button}

    @property
    def state(self):
        return self.at.session_state["session"]

    @property
    def covers(self):
        with session_of(self.state):
            return bool(self.state.declared.covers())

    @property
    def asking(self):
        with session_of(self.state):
            return self.state.asking()

    @property
    def bars(self):
        return [each for each in charts(self.at) if "chose each answer" in each.alt]


def test_a_question_is_asked_answered_talked_over_and_answered_again(room):
    """Two learners, one of them with two tabs, and the wall."""
    wall = Sees(room, is_teacher=True)
    ann, bob = Sees(room), Sees(room)
    tab = Sees(room, person=ann.person)
    assert "2 here" in " ".join(each.value for each in wall.looks().at.subheader)
    assert "When your teacher asks a question" in ann.words

    wall.presses("class_ask")
    for each in (ann, bob, tab):
        assert each.looks().covers
        assert "Your class is asked this now" in each.words
    on_wall = [each.value for each in wall.looks().at.text]
    assert {*_question(room).offered} <= {*on_wall}, "who looks at the wall sees what there is"
    ann.picks(room, 0)
    assert "Your answer is in" in ann.words
    tab.looks().picks(room, 1)
    bob.picks(room, 2)
    assert room.now().tallies == ((((1,), 1), ((2,), 1)),)
    assert "**2** of 2 have answered" in wall.looks().words
    assert [wall.bars, ann.looks().bars] == [[], []]

    wall.presses("class_shows_bars")
    assert len(wall.bars) == len(ann.looks().bars) == len(bob.looks().bars) == 1
    assert "✓" not in str(wall.bars) + str(ann.bars)
    assert "See what your class has answered" in ann.words, "for who is elsewhere on the page"
    assert wall.covers
    assert ann.covers

    wall.presses("class_asks_again")
    assert "Before, you answered" in ann.looks().words
    assert ann.bars == []
    right = next(at for at in range(9) if _question(room).judged([at]).right)
    ann.picks(room, right)
    wall.looks().presses("class_uncovers")
    assert len(wall.bars) == 1
    assert "which is right" in wall.bars[0].alt
    for each in (wall, ann, bob):
        assert not each.looks().covers
    assert ann.state.own(Guesses).given[KEY].verdict.right
    assert bob.state.own(Guesses).given[KEY].verdict.right is False, "of the first time"
    assert wall.state.own(Guesses).given[KEY].verdict is None


def _question(room):
    return room.now().asked.question


def test_nothing_uncovers_what_a_class_is_asked(room):
    """Not an answer from before, nor who has gone on, nor a link to a cell, nor the switch."""
    wall, ann = Sees(room, is_teacher=True), Sees(room)
    ann.state.own(GoneOn).keys.add(KEY)
    assert not ann.looks().covers
    wall.presses("class_ask")
    assert ann.looks().covers
    linked = Sees(room, person=ann.person, cell="weights.8.6", section="weights")
    assert linked.covers
    assert Sees(room, person=ann.person, predict="off").covers
    assert Sees(room, person=ann.person, card="weights").covers
    # What is dropped is left to each page again.
    wall.looks().presses("class_goes_on")
    assert not ann.looks().covers


def test_a_teacher_s_page_uncovers_nothing_by_scrolling(room):
    wall = Sees(room, is_teacher=True)
    assert wall.asking == []
    assert Sees(room).asking != []


def test_an_answer_that_comes_too_late_says_so_and_is_not_counted(room):
    wall, ann = Sees(room, is_teacher=True), Sees(room)
    wall.presses("class_ask")
    ann.looks()
    turn = room.now().turn
    room.shows_bars(room.now().version)
    room.asks_again(room.now().version)
    with ann.here() as at:  # her browser has not heard of it yet
        key = f"class_{room.code}_{turn.round}_{turn.turn}"
        has_no_exception(at.button_group(key=key).set_value(1).run())
    assert "Too late to count" in ann.words
    assert room.now().tallies == ((), ())
    ann.picks(room, 1)
    assert "Too late to count" not in ann.words
    room.shows_bars(room.now().version)
    ann.picks(room, 2)
    assert "Too late to count" in ann.words
    assert room.now().tallies == ((), (((1,), 1),))


def test_who_sends_no_answer_is_asked_for_one(room):
    wall, ann = (Sees(room, is_teacher=so, page="cross_attention") for so in (True, False))
    wall.presses("class_ask")
    keys = {each.key for each in ann.looks().at.button if each.key.startswith("send_")}
    assert len(keys) == 1
    ann.presses(*keys)
    assert room.now().n_votes == 0
    assert room.now().asked.question.missing in ann.words


def test_who_sends_no_answer_too_late_is_told_that_it_is(room):
    wall, ann = (Sees(room, is_teacher=so, page="cross_attention") for so in (True, False))
    wall.presses("class_ask")
    keys = {each.key for each in ann.looks().at.button if each.key.startswith("send_")}
    room.shows_bars(room.now().version)
    ann.presses(*keys)
    assert room.now().asked.question.missing not in ann.words
    assert "Too late to count" in ann.words


def test_a_long_question_that_is_to_be_asked_can_be_read_to_its_end(room):
    wall = Sees(room, is_teacher=True, page="causal_mask")
    assert any("in its row of masked_scores" in each.value for each in wall.at.caption)


def test_a_row_is_shared_out_again_from_where_one_left_it(room):
    wall, ann = (Sees(room, is_teacher=so, page="causal_mask") for so in (True, False))
    wall.presses("class_ask")
    assert "Show the rows" in [each.label for each in wall.looks().at.button]
    sliders = _own_sliders(ann.looks())
    assert {each.value for each in sliders} == {0.5}
    with ann.here():
        for slider, value in zip(sliders, (0.2, 0.8, *[0.0] * len(sliders)), strict=False):
            slider.set_value(value)
    turn = room.now().turn
    ann.presses(f"send_class_{room.code}_{turn.round}_{turn.turn}")
    assert room.now(ann.person).own[:2] == (0.2, 0.8)
    wall.presses("class_shows_bars").presses("class_asks_again")
    found = [each.value for each in _own_sliders(ann.looks())]
    assert found[:2] == [0.2, 0.8], "as they stood, and not stretched"
    assert not any(found[2:])
    turn = room.now().turn
    ann.presses(f"send_class_{room.code}_{turn.round}_{turn.turn}")
    assert room.now(ann.person).own[:2] == (0.2, 0.8)


def test_of_equal_shares_and_after_a_reload_the_sliders_give_the_same_shares(room):
    wall, ann = (Sees(room, is_teacher=so, page="causal_mask") for so in (True, False))
    wall.presses("class_ask")
    count, turn = len(_own_sliders(ann.looks())), room.now().turn
    for shares, stand in (
        ([1 / count] * count, [0.5] * count),
        ([0.25, 0.75, *[0.0] * (count - 2)], [1 / 3, 1, *[0.0] * (count - 2)]),
    ):
        assert room.votes(ann.person, turn, shares)
        wall.looks().presses("class_asks_again")
        tab = Sees(room, person=ann.person, page="causal_mask")
        assert [each.value for each in _own_sliders(tab)] == pytest.approx(stand)
        turn = room.now().turn


def test_to_ask_again_twice_in_a_moment_keeps_what_was_answered(room):
    wall, ann = Sees(room, is_teacher=True), Sees(room)
    wall.presses("class_ask")
    assert wall.at.button(key="class_asks_again").disabled, "nobody has answered"
    ann.looks().picks(room, 1)
    wall.looks().presses("class_asks_again")
    assert wall.at.button(key="class_asks_again").disabled
    assert not room.asks_again(room.now().version), "what a second press would do"
    assert "Before, you answered" in ann.looks().words


def test_no_bars_of_a_vote_before_are_spoken_of_where_there_were_none(room):
    wall, ann = Sees(room, is_teacher=True), Sees(room)
    wall.presses("class_ask").presses("class_shows_bars").presses("class_asks_again")
    ann.looks().picks(room, 1)
    wall.looks().presses("class_shows_bars")
    assert "vote before" not in wall.words


def _own_sliders(learner):
    return [each for each in learner.at.slider if each.key.startswith("class_")]


def test_a_reload_finds_the_answer_and_the_class_where_it_is(room):
    wall, ann = Sees(room, is_teacher=True), Sees(room)
    wall.presses("class_ask")
    ann.looks().picks(room, 1)
    again = Sees(room, person=ann.person)
    assert "Your answer is in" in again.words
    late = Sees(room)
    assert "Your answer is in" not in late.words
    assert late.covers
    assert Sees(room, is_teacher=True).looks().words.count("**1** of") == 1


def test_who_goes_on_elsewhere_is_shown_the_way_and_may_answer(room):
    wall = Sees(room, is_teacher=True)
    wall.presses("class_ask")
    there = Sees(room, page="causal_mask")
    links = [each.proto.label for each in there.at.get("page_link")]
    assert any("“Weights”" in each for each in links)
    there.picks(room, 0)
    assert room.now().n_votes == 1
    other = Sees(room, sentence="the small cat sleeps")
    links = [each.proto.label for each in other.at.get("page_link")]
    assert any("with the class’s numbers" in each for each in links)
    here = Sees(room)
    assert "on this page" in here.words


def test_the_questions_of_a_page_are_asked_in_turn(room):
    wall = Sees(room, is_teacher=True, page="causal_mask")
    asked = []
    for _ in range(3):
        wall.presses("class_ask")
        asked.append(room.now().asked.title)
        wall.presses("class_uncovers")
    assert asked == ["Weights", "Four ways to hide", "Weights"]


def test_a_class_that_ended_says_so(room):
    ann = Sees(room)
    room.ends()
    assert "This class has ended" in ann.looks().words
    assert "class_leave" in ann.buttons


def test_a_cookie_of_nobody_takes_no_part(room):
    wall = Sees(room, is_teacher=True)
    wall.presses("class_ask")
    ann = Sees(room)
    for forged in (
        *(f"l:{name}" for name in ("somebody", room.token)),
        *(f"t:{name}" for name in ("", ann.person, room.token[:-1])),
        f"x:{room.token}",
    ):
        ann.cookie = f"{room.code}:{forged}"
        ann.looks()
        assert "class_shows_bars" not in ann.buttons
        assert not ann.at.button_group or "class_" not in str([e.key for e in ann.at.button_group])


def test_paper_has_no_class_and_a_page_without_a_cookie_has_nothing_of_it(room):
    with Sees(room).here():
        assert "Your class" not in str([each.value for each in visit(LESSON, paper="on").subheader])
    assert "Your class" not in str([each.value for each in visit(LESSON).subheader])


def test_within_another_page_share_says_where_a_class_is_made(monkeypatch):
    monkeypatch.setattr(class_share, "SERVED", [True])
    monkeypatch.setattr(type(streamlit.context), "is_embedded", property(lambda _: True))
    at = visit(LESSON)
    has_no_exception(at.button(key="share").click().run())
    assert "cannot be made inside another page" in words(at)
    assert "make_class" not in {each.key for each in at.button}


def test_a_class_stands_on_the_home_page_too(room):
    wall = Sees(room, is_teacher=True)
    wall.presses("class_ask")
    home = Sees(room, page="app.py")
    home.picks(room, 1)
    assert room.now().n_votes == 1
    wall.looks().presses("class_uncovers")
    assert "**It is" in home.looks().words or "It is “the”" in home.words
    at_home = Sees(room, is_teacher=True, page="app.py")
    assert "class_ask" not in at_home.buttons


def test_share_makes_a_class_of_what_can_be_asked_and_gives_its_links_once(monkeypatch):
    monkeypatch.setattr(class_share, "SERVED", [True])
    at = visit(LESSON, predict="off", lock="predict")
    has_no_exception(at.button(key="share").click().run())
    assert "would have nothing to vote on" in words(at)
    assert "make_class" not in {each.key for each in at.button}
    at = visit(LESSON, seed="3", large="on", cell="scores.0.0")
    has_no_exception(at.button(key="share").click().run())
    has_no_exception(at.button(key="make_class").click().run())
    links = at.session_state["session"].own(class_share.MadeClass)
    made = CLASSES.get(links.code)
    assert made.is_teacher(links.token)
    assert made.where() == (LESSON, {"example": "wild_cat", "seed": "3"})
    made.ends()
    has_no_exception(at.button(key="share").click().run())
    assert at.session_state["session"].own(class_share.MadeClass) == class_share.MadeClass()


def test_the_overview_is_folded_and_names_nobody(room):
    ann, bob = Sees(room), Sees(room)
    wall = Sees(room, is_teacher=True)
    wall.presses("class_ask")
    asked = _question(room)
    wall.presses("class_goes_on")
    wrong = next(at for at in range(9) if not asked.judged([at]).right)
    for each in (ann, bob):
        each.looks()
    for each in (ann, bob):
        with each.here() as at:
            group = at.button_group(key=f"guess_{KEY}")
            has_no_exception(group.set_value(wrong).run())
    assert room.alone(KEY).answered == 2
    assert "Common wrong answers" not in wall.looks().words
    with wall.here() as at:
        at.session_state["row_class"] = True
        has_no_exception(at.run())
    assert "Common wrong answers" in wall.words
    assert "**2 ×**" in wall.words
    assert asked.choices[wrong] in texts(wall.at)
    (table,) = [each.value for each in wall.at.dataframe if "Reading here now" in each.value]
    (row,) = table[table["Card"] == "Weights"].to_dict("records")
    assert (row["Have answered"], row["Right the first time"]) == ("2", "0")
    assert ann.person not in wall.words + texts(wall.at) + str(table)
