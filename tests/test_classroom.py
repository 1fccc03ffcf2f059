"""A class that is asked, votes and votes again, without a screen: nothing lost, counted twice, told
too early, or found by guessing.
"""

import threading
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from attention_ui.classroom.classes import (
    LETTERS,
    LONG,
    MOST_CLASSES,
    MOST_TRIES,
    PROCESS,
    QUIET,
    WITHIN,
    Classes,
    Tries,
    plain,
    spoken,
)
from attention_ui.classroom.classroom import (
    ASKED,
    BARS,
    HERE,
    LASTS,
    LONGEST,
    MOST_KEYS,
    MOST_NUMBERS,
    MOST_PEOPLE,
    MOST_ROUNDS,
    MOST_TURNS,
    OPEN,
    Asked,
    Classroom,
    First,
    Turn,
)


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def question(key="causal_mask.row", page="causal_mask"):
    return Asked(key, object(), 7, page, {"example": "wild_cat"}, "weights", "Weights")


def asked_room(**more):
    room = Classroom("BCDFGHJK", "home", {}, **more)
    assert room.asks(question(), 0)
    return room


class ClassLives(RuleBasedStateMachine):
    """Whatever a teacher and three learners do, in any order and twice over, beside a plain list
    of what they have done.
    """

    def __init__(self):
        super().__init__()
        self.room = Classroom("BCDFGHJK")
        self.people = [self.room.joins() for _ in range(3)]
        self.stage, self.turns, self.n_rounds, self.uncovered = "", [], 0, []
        self.seen = [self.room.now()]

    def does(self, act, may):
        """An act on what was seen now is done once, however often it is pressed."""
        version = self.room.now().version
        assert [act(version), act(version)] == [may, False]
        return may

    @rule()
    def asks(self):
        may = not self.stage and self.n_rounds < MOST_ROUNDS
        if self.does(lambda seen: self.room.asks(question(f"k{self.n_rounds}"), seen), may):
            self.stage, self.turns, self.n_rounds = ASKED, [{}], self.n_rounds + 1

    @rule()
    def shows_bars(self):
        if self.does(self.room.shows_bars, self.stage == ASKED):
            self.stage = BARS

    @rule()
    def asks_again(self):
        was_answered = self.stage == BARS or (self.stage == ASKED and bool(self.turns[-1]))
        may = was_answered and len(self.turns) < MOST_TURNS
        if self.does(self.room.asks_again, may):
            self.stage = ASKED
            self.turns.append({})

    @rule()
    def uncovers(self):
        if self.does(self.room.uncovers, self.stage in (ASKED, BARS)):
            self.stage = OPEN
            self.uncovered.append((f"k{self.n_rounds - 1}", [*self.turns]))

    @rule()
    def goes_on(self):
        if self.does(self.room.goes_on, bool(self.stage)):
            self.stage, self.turns = "", []

    @rule(who=st.integers(0, 2), guess=st.lists(st.integers(0, 4), max_size=3).map(tuple))
    def votes(self, who, guess):
        turn = self.room.now().turn
        counts = self.room.votes(self.people[who], turn, guess)
        assert counts == (self.stage == ASKED)
        if counts:
            self.turns[-1][self.people[who]] = guess

    @precondition(lambda self: self.n_rounds)
    @rule(back=st.integers(1, 3), turn=st.integers(-1, 4))
    def votes_of_another_turn_count_for_nothing(self, back, turn):
        here = self.room.now().turn
        other = Turn(here.round - back, turn)
        assert not self.room.votes(self.people[0], other, (1,))
        later = replace(here, turn=here.turn + 1)
        assert not self.room.votes(self.people[0], later, (1,))

    @invariant()
    def the_teacher_sees_each_vote_once(self):
        now = self.room.now()
        assert now.stage == self.stage
        told = [Counter(dict(each)) for each in now.tallies]
        assert told == [Counter(each.values()) for each in self.turns]
        assert now.n_votes == len(self.turns[-1] if self.turns else ())

    @invariant()
    def a_learner_sees_what_was_shown_and_their_own(self):
        for person in self.people:
            now = self.room.now(person)
            assert now.stage == self.stage
            sees = self.stage in (BARS, OPEN)
            assert now.tallies == (self.room.now().tallies if sees else ())
            assert (now.n_votes, now.n_here) == (0, 0)
            assert now.own == (self.turns[-1].get(person) if self.turns else None)
            earlier = [turn[person] for turn in self.turns[:-1] if person in turn]
            assert now.before == (earlier[-1] if earlier else None)

    @invariant()
    def what_is_asked_is_covered_and_what_was_uncovered_is_open(self):
        for person in (*self.people, ""):
            now = self.room.now(person)
            is_covered = self.stage in (ASKED, BARS)
            assert now.covers == ({f"k{self.n_rounds - 1}"} if is_covered else frozenset())
            last = [
                (key, next((turn[person] for turn in turns[::-1] if person in turn), None))
                for key, turns in self.uncovered
            ]
            assert [(asked.key, guess) for asked, guess in now.uncovered] == last


TestClassLives = ClassLives.TestCase


def test_ten_thousand_votes_of_one_change_one_vote():
    room = asked_room()
    person, other = room.joins(), room.joins()
    turn = room.now().turn
    assert room.votes(other, turn, (3,))
    for at in range(10_000):
        assert room.votes(person, turn, (at % 4,))
    assert room.now().tallies == ((((3,), 2),),)
    assert room.now().n_votes == 2
    assert not room.votes("somebody", turn, (1,)), "who has not joined"
    assert not room.votes(person, turn, (0.5,) * (MOST_NUMBERS + 1))
    assert room.now().tallies == ((((3,), 2),),)


def test_who_leaves_and_joins_again_has_one_vote():
    room = asked_room()
    person, other = room.joins(), room.joins()
    for one in (person, other):
        assert room.votes(one, room.now().turn, (3,))
    room.leaves(person)
    assert not room.knows(person)
    assert (room.now().n_votes, room.now().n_here) == (1, 1)
    again = room.joins()
    assert room.votes(again, room.now().turn, (1,))
    assert room.now().tallies == ((((1,), 1), ((3,), 1)),)
    room.shows_bars(room.now().version)
    room.leaves(again)
    room.leaves("somebody")
    assert room.now().tallies == ((((1,), 1), ((3,), 1)),), "what the class has seen stays"
    assert room.rounds()[0][1][0].total() == 2


def test_votes_of_many_threads_are_all_there():
    room = asked_room()
    people = [room.joins() for _ in range(24)]
    turn = room.now().turn

    def votes(at):
        for choice in (*range(20), at % 3):
            room.votes(people[at], turn, (choice,))

    each = [threading.Thread(target=votes, args=(at,)) for at in range(24)]
    for one in each:
        one.start()
    for one in each:
        one.join()
    assert room.now().tallies == ((((0,), 8), ((1,), 8), ((2,), 8)),)


def test_a_class_ends_and_then_takes_nothing():
    for ends in (Classroom.ends, lambda room: setattr(room._clock, "now", LASTS + 1)):
        room = asked_room(clock=Clock())
        person, turn = room.joins(), room.now().turn
        assert room.pulse(is_teacher=False)
        ends(room)
        assert room.has_ended
        assert room.pulse(is_teacher=False) == room.pulse(is_teacher=True) == ""
        assert room.joins() == ""
        assert not room.votes(person, turn, (1,))
        assert not room.shows_bars(room.now().version)
        room.answers(person, "a.b", First(1, True))
        assert room.alone("a.b", 1).answered == 0


def test_nobody_else_joins_a_class_that_is_full_or_closed():
    room = Classroom("BCDFGHJK")
    people = {room.joins() for _ in range(MOST_PEOPLE)}
    assert len(people) == MOST_PEOPLE
    assert "" not in people
    assert room.joins() == ""
    other = Classroom("BCDFGHJL")
    other.closes(True)
    assert other.joins() == ""
    assert other.now().is_closed
    other.closes(False)
    assert other.knows(other.joins())


def test_who_comes_late_comes_to_where_the_class_is():
    room = Classroom("BCDFGHJK", "home", {"seed": "3"})
    assert room.where() == ("home", {"seed": "3"})
    room.asks(question(), 0)
    assert room.where() == ("causal_mask", {"example": "wild_cat"})
    room.goes_on(1)
    assert room.where() == ("causal_mask", {"example": "wild_cat"})


def test_whoever_was_heard_lately_is_here_and_so_is_who_has_voted():
    clock = Clock()
    room = asked_room(clock=clock)
    one, two = room.joins(), room.joins()
    assert room.now().n_here == 2
    room.votes(one, room.now().turn, (1,))
    clock.now = HERE + 1
    assert (room.now().n_votes, room.now().n_here) == (1, 1)
    room.hears(two)
    assert room.now().n_here == 2


def test_the_pulse_of_a_learner_changes_by_the_teacher_alone():
    room = Classroom("BCDFGHJK")
    person = room.joins()
    before = room.pulse(is_teacher=False), room.pulse(is_teacher=True)
    room.hears(person, "causal_mask", ["card_weights"])
    room.answers(person, "a.b", First(1, True))
    assert room.pulse(is_teacher=False) == before[0]
    assert room.pulse(is_teacher=True) != before[1]
    room.asks(question(), 0)
    asked = room.pulse(is_teacher=False)
    assert asked != before[0]
    room.votes(person, room.now().turn, (1,))
    assert room.pulse(is_teacher=False) == asked


def test_a_quiet_class_leaves_its_teacher_s_screen_in_peace():
    room = Classroom("BCDFGHJK")
    person = room.joins()
    room.hears(person, "causal_mask", ["card_weights"])
    before = room.pulse(is_teacher=True)
    for _ in range(3):
        room.hears(person)
        room.hears(person, "causal_mask", ["card_weights"])
    assert room.pulse(is_teacher=True) == before


# --- while they work alone -----------------------------------------------------------------------
def test_of_what_was_answered_alone_the_first_counts_and_nobody_is_named():
    room = Classroom("BCDFGHJK")
    people = [room.joins() for _ in range(7)]
    said = [(True, "a"), (False, "b"), (False, "b"), (False, "c"), (None, ""), (False, "d")]
    for person, (right, answer) in zip(people, said, strict=False):
        room.answers(person, "a.b", First(7, right, answer, f"not {answer}"))
        room.answers(person, "a.b", First(7, True, "a", ""))
    room.answers(people[6], "a.b", First(8, False, "e", "of other numbers"))
    room.answers("nobody", "a.b", First(7, True))
    found = room.alone("a.b", 7)
    assert (found.answered, found.right, found.shown) == (6, 1, 1)
    assert found.wrong[0] == ("b", "not b", 2)
    assert {answer for answer, *_ in found.wrong} <= {"b", "c", "d"}
    assert len(found.wrong) == 3
    assert not any(person in repr(found) for person in people)
    assert room.alone("a.b", 8).wrong == (("e", "of other numbers", 1),)


def test_what_is_near_is_counted_of_those_who_are_here():
    clock = Clock()
    room = Classroom("BCDFGHJK", clock=clock)
    one, two = room.joins(), room.joins()
    room.hears(one, "causal_mask", ["card_mask", "card_weights"])
    room.hears(two, "causal_mask", ["card_weights"])
    assert [room.near("causal_mask", f"card_{each}") for each in ("mask", "weights")] == [1, 2]
    assert room.near("whole_layer", "card_weights") == 0
    room.hears(one, "whole_layer", [])
    assert (room.on_page("causal_mask"), room.on_page("whole_layer")) == (1, 1)
    clock.now = HERE + 1
    assert room.near("causal_mask", "card_weights") == 0


def test_what_is_kept_of_an_answer_is_short_and_of_few_questions():
    room = Classroom("BCDFGHJK")
    person = room.joins()
    for at in range(MOST_KEYS + 5):
        room.answers(person, f"a.{at}", First(1, False, "x" * 10**6, "y" * 10**6))
    assert [bool(room.alone(f"a.{at}", 1).answered) for at in (0, MOST_KEYS, MOST_KEYS + 4)] == [
        True,
        False,
        False,
    ]
    assert room.alone("a.0", 1).wrong == (("x" * LONGEST, "y" * LONGEST, 1),)


# --- codes ---------------------------------------------------------------------------------------
@given(st.text(alphabet=LETTERS, min_size=LONG, max_size=LONG), st.sampled_from(["", "1", "12"]))
def test_a_code_is_found_however_it_is_typed(letters, process):
    code = process + letters
    assert plain(spoken(code)) == plain(f" {spoken(code).lower()} ") == code


def test_a_code_names_its_process_and_two_classes_do_not_mix(monkeypatch):
    monkeypatch.setenv(PROCESS, "2")
    classes = Classes()
    one, two = classes.make("home", {}), classes.make("home", {})
    assert one.code[0] == two.code[0] == "2"
    assert one.code != two.code
    assert one.token != two.token
    assert classes.get(spoken(one.code)) is one
    assert not one.is_teacher(two.token)
    assert one.is_teacher(one.token)
    person = one.joins()
    assert not two.knows(person)
    for room in (one, two):
        room.asks(question(), 0)
    assert not two.votes(person, two.now().turn, (1,))


def test_a_process_has_few_classes_and_forgets_those_that_ended():
    clock = Clock()
    classes = Classes(clock)
    rooms = [classes.make("home", {}) for _ in range(MOST_CLASSES)]
    assert classes.make("home", {}) is None
    rooms[0].ends()
    assert classes.get(rooms[0].code) is None
    assert classes.make("home", {}) is not None
    clock.now = LASTS + 1
    assert classes.get(rooms[1].code) is None
    assert classes._rooms == {}


def test_a_class_that_nobody_has_open_makes_room_where_all_are_taken():
    clock = Clock()
    classes = Classes(clock)
    rooms = [classes.make("home", {}) for _ in range(MOST_CLASSES)]
    clock.now = QUIET / 2
    for room in (*rooms[:3], *rooms[4:]):
        room.pulse(is_teacher=True)
    assert classes.make("home", {}) is None
    clock.now = QUIET + 1
    assert classes.make("home", {}) is not None
    assert classes.get(rooms[3].code) is None
    assert rooms[3].has_ended
    assert classes.make("home", {}) is None, "the others were heard of since"


def test_who_tries_many_codes_waits_and_nobody_else_does():
    clock = Clock()
    tries = Tries(clock)
    for _ in range(MOST_TRIES):
        assert tries.may("a")
        tries.was_wrong("a")
    assert not tries.may("a")
    assert tries.may("b")
    clock.now = WITHIN + 1
    assert tries.may("a")
    for at in range(5_000):
        tries.was_wrong(f"x{at}")
    assert len(tries._wrong) <= 2_000


@pytest.mark.parametrize("token", ["", "é", "x" * 10_000])
def test_no_other_token_is_a_teacher_s(token):
    room = Classroom("BCDFGHJK")
    assert not room.is_teacher(token)
    assert not room.is_teacher(room.token[:-1])
    assert len(room.token) >= 32
