"""What is made for everybody has no way to what is one visitor's own, but one that is noted."""

from functools import partial

import pytest
import streamlit as st
import torch

from attention_core import operations as ops
from attention_core.trace import Trace
from attention_ui.cards import page as cards
from attention_ui.cards.tracked_trace import tracked
from attention_ui.controls import session
from attention_ui.controls.lesson_session import LessonSession, this_session
from attention_ui.frame import basics  # noqa: F401  what withholds Streamlit
from attention_ui.reactive import fragments, isolation, settings
from attention_ui.reactive.cache import Cache, SmallCache
from attention_ui.reactive.control import Values
from attention_ui.reactive.function_identity import function_identity
from attention_ui.reactive.isolation import Misdeclared
from attention_ui.reactive.long_run import Work, run_so_far
from attention_ui.reactive.near_names import is_slip
from attention_ui.reactive.session import _OF_RUN
from attention_ui.reactive.source import tracked_later, tracking, untracked


@pytest.fixture(autouse=True)
def kept_is_fresh():
    """Here nothing that is kept has elements, whose words would be compared."""


@pytest.fixture
def comes():
    """A visitor comes, who has these values and this link; the one before has gone."""
    before = _OF_RUN.set(None), isolation.SESSION.set(None)

    def one(link=(), **values):
        state = LessonSession(chosen={"example": "wild_cat", **dict(link)})
        state.values = Values(values).read_by(settings.value.touch)
        _OF_RUN.set(state)
        isolation.SESSION.set(None)
        fragments.begin_page(is_same=False, has_browser=False, all_at_once=False)
        return state

    yield one
    _OF_RUN.reset(before[0])
    isolation.SESSION.reset(before[1])


@pytest.fixture
def made():
    """What a card's function gives, as it is kept for everybody."""
    kept = Cache(1_000_000)

    def of(make, name="one"):
        what = "card", "lesson", name, function_identity(make)
        return kept.get(what, make, lambda _: 100)

    return of


LOCKED = [{"lock": "q_edits"}, {"hide": "q_edits"}, {}]


@pytest.mark.parametrize("first", LOCKED)
def test_what_a_link_fixes_for_one_visitor_it_fixes_for_no_other(first, comes, made):
    def offers():
        return "q_edits" not in settings.fixed()

    for link in (first, *LOCKED):
        comes(link)
        assert made(offers) is (link == {})


PAST_THE_NOTES = {
    "what was chosen": settings.chosen,
    "the visit": this_session,
    "names of a link": lambda: session.names_in("lock"),
    "a link for others": session.shared,
    "a change": lambda: settings.change(d=3),
    "the page as it stands": fragments.page_fragments,
    "looked at untracked": lambda: untracked().__enter__(),
    "what a source is worth": lambda: settings.value.now("d"),
    "a value unread": lambda: settings.values().unread("d"),
    "values compared unread": lambda: settings.values().changed(Values({"d": 1})),
    "what a question covers": lambda: cards.Page("cross_attention").covers(),
    "the session": lambda: st.session_state.get("session"),
    "the address": lambda: st.query_params.to_dict(),
    "the language": lambda: st.context.locale,
    "another run": st.rerun,
}


@pytest.mark.parametrize("what", PAST_THE_NOTES)
def test_what_goes_past_the_notes_is_refused_in_words(what, comes, made):
    comes(d=3)

    def asks():
        return PAST_THE_NOTES[what]()

    with pytest.raises(Misdeclared, match=r"The card 'one' of lesson asks .*`settings.fixed\(\)`"):
        made(asks)

    def hides_it():
        try:
            asks()
        except Exception:
            return "as if nothing was"

    with pytest.raises(Misdeclared, match="asks for what is one visitor"):
        made(hides_it)
    assert this_session().values.unread("d") == 3, "the gate is open again"
    assert not isolation.is_closed()


def test_who_is_refused_is_told_what_asked_and_where(comes, made):
    comes()
    with pytest.raises(Misdeclared, match=r"by `chosen` at test_isolation.py:\d+"):
        made(lambda: settings.chosen())


def test_what_is_not_kept_but_decides_what_is_there_is_refused_too(comes):
    comes(d=3)
    page = cards.Page("cross_attention")
    with pytest.raises(Misdeclared, match="one visitor’s own"):
        page.given(lambda: bool(settings.chosen()))  # such as `when`, `opens`, `each`
    card = cards.Card(page, "one", "One", "", lambda: (), work=lambda _: settings.chosen())
    with pytest.raises(Misdeclared, match="The work of the card 'one'"):
        card.run()
    assert page.given(lambda: len(settings.fixed())) == 0
    assert page.given_alive(lambda: settings.chosen()) == {"example": "wild_cat"}


def test_what_is_found_kept_counts_as_read_by_who_asks(comes, made):
    """Else what is made of it is kept for other values, and its part is not drawn again."""

    def inner():
        return settings.values().d

    def outer():
        return made(inner, "inner")

    for d in (1, 2, 1):
        comes(d=d)
        assert made(inner, "inner") == d  # so that the other finds it
        assert made(outer, "outer") == d
        with tracking() as reads:
            made(outer, "outer")
        assert reads == {(settings.value, "d"): d}


def test_what_a_picture_was_at_another_position_is_for_those_who_read_the_same(comes):
    few = SmallCache()
    for d in (1, 2, 1):
        comes(d=d)
        assert few.get("there", lambda: [settings.values().d], "The picture") == [d]
        with tracking() as reads:
            assert few.found("there") == [d]
        assert reads == {(settings.value, "d"): d}
    with pytest.raises(Misdeclared, match="The picture asks"):
        few.get("elsewhere", settings.chosen, "The picture")


# --- the trace ------------------------------------------------------------------------------------
def of_two(v):
    """A trace whose second step, its axis and its labels come of `b`, and the first of none."""
    trace = Trace(token=["A", "cat"], head=["0"])
    trace.step("first", ops.Given.of(torch.ones(2, 3)), axes=("token", "d_in"))
    b = v.b
    trace.label("key", [f"k{at}" for at in range(b)])
    trace.step("second", ops.Given.of(torch.ones(b)), axes=("key",))
    trace.label_by_head("d_head", [[f"of {b}"]])
    trace.rounds = [("second",)] * b
    return trace


LOOKS = {
    "a step": lambda t: t["second"].value.sum(),
    "whether it is there": lambda t: "second" in t,
    "or nothing": lambda t: t.get("second") is None,
    "all": list,
    "how many": len,
    "labels": lambda t: t.labels("key"),
    "labels by head": lambda t: t.labels("d_head", 0),
    "a name": lambda t: t.name_of("key", 0),
    "a size": lambda t: t.size("key"),
    "whether an axis is there": lambda t: t.has_axis("key"),
    "components": lambda t: t.components(),
    "a formula": lambda t: t.formula("second", ()),
    "rounds": lambda t: t.rounds,
    "what it keeps": lambda t: t._labels,
    "sizes it keeps": lambda t: t._sizes["key"],
    "a branch": lambda t: t.branch()["second"].value.sum(),
    "emptied": lambda t: t.emptied()._labels,
    "the trace of a step": lambda t: Trace.of(t["first"])["second"].value.sum(),
}


@pytest.mark.parametrize("look", LOOKS)
def test_whatever_is_looked_at_in_a_trace_is_kept_for_those_who_have_it_so(look, comes):
    traces = {}
    for b in (2, 3, 2):
        comes(b=b)
        with tracked_later():
            traces.setdefault(b, tracked(lambda: of_two(settings.values())))
        with tracking() as reads:
            LOOKS[look](traces[b])
        assert reads == {(settings.value, "b"): b}


def test_a_step_is_kept_for_all_who_have_what_came_before_it_alike(comes):
    comes(b=2)
    with tracked_later():
        trace = tracked(lambda: of_two(settings.values()))
    with tracking() as reads:
        assert trace["first"].value.sum() == 6
        assert trace.labels("token") == ("A", "cat")
    assert reads == {}


def test_there_is_no_way_to_a_trace_without_its_notes(comes):
    comes(b=2)
    with tracked_later():
        trace = tracked(lambda: of_two(settings.values()))
    with pytest.raises(Misdeclared, match="untracked"):
        trace.plain  # noqa: B018
    with pytest.raises(AttributeError):
        trace.no_such_thing  # noqa: B018


# --- which function it is -------------------------------------------------------------------------
def says(what, *, loudly=False):
    return lambda: (what, loudly)


def calls(inner):
    return lambda: inner()


def given(what=1, *, how=2):
    return what, how


class Odd:
    """Equal to any other."""

    __hash__ = None

    def __eq__(self, other):
        return True


TWO = {
    "another value": (says(1), says(2)),
    "another kind of value": (says(1), says(True)),
    "a number of another kind": (says(1), says(1.0)),
    "minus nothing": (says(0.0), says(-0.0)),
    "another keyword": (says(1), says(1, loudly=True)),
    "a list": (says([1, 2]), says([1, 3])),
    "a dictionary": (says({"a": 1}), says({"a": 2})),
    "numbers": (says(torch.ones(2)), says(torch.zeros(2))),
    "a function in it": (calls(says(1)), calls(says(2))),
    "partial": (partial(given, 1), partial(given, 2)),
    "partial by name": (partial(given, how=1), partial(given, how=2)),
    "a method": ("a b".split, "c d".split),
    "another code": (lambda: 1, lambda: 2),
}


@pytest.mark.parametrize("what", TWO)
def test_two_functions_that_close_over_other_values_are_two(what, comes, made):
    comes()
    one, other = TWO[what]
    assert function_identity(one) != function_identity(other)
    assert function_identity(one) == function_identity(one)
    assert str(made(one)) == str(one())
    assert str(made(other)) == str(other())


def test_functions_written_alike_that_close_over_the_same_are_one(comes, made):
    comes()
    assert function_identity(says([1, {"a": (2,)}])) == function_identity(says([1, {"a": (2,)}]))
    assert function_identity(calls(says("x"))) == function_identity(calls(says("x")))
    assert made(says([1])) is made(says([1]))


def test_what_cannot_be_told_apart_is_not_shared(comes, made):
    comes()
    first, second = Odd(), Odd()
    assert made(says(first))[0] is first
    assert made(says(second))[0] is second


def test_a_function_that_closes_over_itself_has_an_identity():
    def made(n):
        def again(k):
            return again(k - 1) + n if k else 0

        return again

    assert function_identity(made(1)) == function_identity(made(1)) != function_identity(made(2))


@pytest.mark.parametrize("what", [Values({"a": 1}), Trace()])
def test_values_and_traces_of_one_visitor_are_asked_for_by_name(what):
    with pytest.raises(Misdeclared, match="ask for `v` or `trace` by name"):
        function_identity(says(what))


# --- what is covered ------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["weihgts", "contxt_vectors", "nothing"])
def test_whether_something_is_covered_that_no_question_covers_is_refused(name, comes):
    state = comes(predict=False, card="", d=1)
    state.declared = page = cards.Page("cross_attention")
    page.ask("one", lambda: None, ["weights"], ["weights", "topic"])
    assert not cards.is_covered("weights", "topic")
    with pytest.raises(Misdeclared, match=f"covers '{name}', and none ever does.*topic, weights"):
        cards.is_covered("topic", name)


@pytest.mark.parametrize("slip", ["weihgts", "weigts", "weightss", "weights_", "wfights"])
def test_a_slip_in_a_name_is_seen(slip):
    assert is_slip(slip, "weights")


@pytest.mark.parametrize("other", ["weights", "scores", "weights_2", "head_weights", "swieghts"])
def test_another_name_is_no_slip(other):
    assert not is_slip(other, "weights")


# --- long work ------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", [{}, {"quick": True}, {"begins": True}])
def test_what_long_work_has_come_to_is_gone_with_its_settings(kind, comes):
    comes()

    def work(about):
        return Work("measured", about, lambda: iter([(1.0, f"of {about}")]), **kind)

    run = work(1).run()
    run.steps = work(1).pieces()
    run.advance()
    assert work(1).run().result == "of 1"
    assert work(2).run().result == (None if kind == {} else "of 2")
    assert run_so_far("measured").about == 2
