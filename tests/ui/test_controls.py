"""Controls declared once: read, drawn, held by name, written into links, shared by pages."""

import re

import pytest

import visiting
from attention_core import EXAMPLES
from attention_ui.controls import shared
from attention_ui.frame.contents import SECTIONS
from attention_ui.frame.lesson_modules import every_control, module_of
from attention_ui.reactive.control import Control, NoRoom, Values, after_preset, understood, written
from attention_ui.reactive.fields import Choice, Flag, Whole
from attention_ui.streamlit_workarounds.style import TOGGLES
from sampling import marked


def opened(page=visiting.A_PAGE, **query):
    return visiting.stands(visiting._opened(page, query))


def address(at):
    said = {name: at.query_params[name] for name in at.query_params}
    return {name: text if isinstance(text, str) else text[0] for name, text in said.items()}


def notices(at):
    return [each.value for each in at.text]


def widget(at, kind, name):
    return next(each for each in getattr(at, kind) if each.key.startswith(f"control_{name}"))


# --- declarations ---------------------------------------------------------------------------------
LESSONS = {name: module_of(name).CONTROLS for name in visiting.LESSONS}


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_inputs_and_the_recipes_are_those_of_the_example(example):
    values, _ = understood(
        {"example": example}, (*shared.MAKES_VECTORS, *shared.PROJECTED, *shared.HEADS)
    )
    assert shared.inputs_of(values) == EXAMPLES[example].inputs
    assert shared.projections_of(values) == EXAMPLES[example].projections
    assert shared.heads_recipe_of(values) == EXAMPLES[example].heads
    changed, _ = understood({"example": example, "d_in": "5", "seed": "11"}, shared.MAKES_VECTORS)
    assert (shared.inputs_of(changed).seed, shared.inputs_of(changed).d_in) == (11, 5)
    assert shared.inputs_of(changed).skipped_draws == 0, "those before its own seed alone"


def test_a_name_that_several_lessons_have_is_the_same_control_in_all_of_them():
    """A link says it once for all, and another lesson's value is kept as it is."""
    known = {**every_control()}
    for lesson, controls in LESSONS.items():
        for each in controls:
            first = known[each.name]
            assert (each.label, each.field) == (first.label, first.field), (lesson, each.name)


@pytest.mark.parametrize("page", LESSONS)
def test_a_control_starts_as_a_link_could_have_set_it(page):
    """Else its slider stands beyond its end, or its start is none of the choices."""
    wrong = {}
    for one in LESSONS[page]:
        if one.start is None or callable(one.start) or one.options:
            continue
        try:
            if one.field.read(one.field.write(one.start)) != one.start:
                wrong[one.name] = one.start
        except ValueError as error:
            wrong[one.name] = f"{one.start}: {error}"
    assert wrong == {}


def test_the_style_knows_every_toggle():
    """The bar that stands for one until it comes is no lower than it; others are made higher."""
    toggles = {e.name for e in {**every_control()}.values() if e.drawn_as == "toggle" and e.label}
    assert {f".st-key-control_{name}" for name in toggles} == set(re.findall(r"[.][\w-]+", TOGGLES))


A = Control("a", Whole(1, 9), "A", 3)
B = Control("b", Whole(0, 9), "B", 0, options=lambda values: {n: str(n) for n in range(values.a)})
C = Control("c", Choice({"x": "X", "y": "Y"}), "C", lambda values: "x" if values.a < 5 else "y")
ABC = (A, B, C)


def test_a_start_may_depend_on_what_is_chosen_before():
    assert dict(understood({}, ABC)[0]) == {"a": 3, "b": 0, "c": "x"}
    assert understood({"a": "7"}, ABC)[0].c == "y"


def test_what_does_not_fit_now_is_kept_and_counts_again():
    values, wrong = understood({"a": "3", "b": "5"}, ABC)
    assert values.b == 0
    assert isinstance(wrong["b"], NoRoom)
    assert understood({"a": "7", "b": "5"}, ABC)[0].b == 5
    assert written({"a": "3", "b": "5"}, ABC) == {"b": "5"}


def test_another_example_leaves_what_stays_and_what_is_fixed():
    stays = Control("s", Flag(), "S", False, stays=True)
    texts = {"example": "one", "a": "4", "b": "1", "s": "on"}
    kept = after_preset(texts, {"example": "two"}, (*ABC, stays), {"b"})
    assert kept == {"example": "two", "b": "1", "s": "on"}


# --- on the page ----------------------------------------------------------------------------------
def test_a_name_that_no_page_knows_is_said_and_left_out():
    at = opened(example="wild_cat", foo="1")
    assert any("“foo”" in each for each in notices(at))
    assert address(at) == {"example": "wild_cat"}


def test_a_slip_in_what_a_link_hides_or_locks_is_said():
    at = opened(example="wild_cat", hide="seed,glossary,sede", lock="no_such")
    assert address(at) == {"example": "wild_cat", "hide": "seed,glossary"}
    told = " ".join(at.session_state["session"].notices)
    assert "“sede”" in told
    assert "“no_such”" in told
    assert "“seed”" not in told


def test_the_next_seed_is_one_press_away_and_the_last_is_followed_by_the_first():
    at = opened(example="wild_cat", seed=str(2**32 - 1))
    for seed in ("0", "1"):
        at.button(key="next_seed").click().run()
        assert address(at) == {"example": "wild_cat", "seed": seed}
        assert widget(at, "text_input", "seed").value == seed
    assert "next_seed" not in {each.key for each in opened(lock="seed").button}


def test_what_is_hidden_is_not_drawn_and_what_is_locked_cannot_be_used():
    at = opened(example="wild_cat", hide="d_in,similarity", lock="query", query="2")
    assert not [each for each in at.slider if each.key.startswith("control_d_in")]
    assert widget(at, "selectbox", "query").disabled
    widget(at, "selectbox", "example").set_value("journey_123").run()
    assert address(at)["query"] == "2"


def test_what_stands_around_a_lesson_is_left_out_where_a_link_hides_it():
    plain, bare = (opened(predict="off", **link) for link in ({}, {"hide": ",".join(SECTIONS)}))
    for at, is_there in ((plain, True), (bare, False)):
        offered = {"Glossary", "Pin and compare", "Share"} & {each.label for each in at.button}
        assert len(offered) == (3 if is_there else 0)
        assert bool(at.sidebar.get("page_link")) == is_there
        told = [*(each.value for each in at.header), *(each.label for each in at.expander)]
        assert ("What you can now answer" in told) == is_there
        assert any("Take it with you" in each for each in told) == is_there


SHARED = ("notebooks_numbers", "multi_head_attention", "real_model")
"""With the fewest controls, the most that depend on each other, and some of its own."""


@pytest.mark.parametrize("page", marked(LESSONS, SHARED, pytest.mark.slow("1 s a page: others")))
def test_a_teacher_can_hide_and_lock_each_control_of_a_page(page):
    at = opened(f"pages/{page}.py")
    at.button(key="share").click().run()
    hide, lock = (
        next(e for e in at.multiselect if e.key == f"share_{n}") for n in ("hide", "lock")
    )
    shown = [each.name for each in LESSONS[page] if each.label]
    assert len({*lock.options}) == len(lock.options) >= len(shown), "two of one name are one"
    assert {*hide.options} == {*lock.options, *SECTIONS.values()}


# --- from page to page ----------------------------------------------------------------------------
def test_a_pin_and_marks_go_along():
    at = opened(example="wild_cat", d_in="5")
    at.button(key="pin").click().run()
    at.button(key="mark_done").click().run()
    assert address(at)["pin"] == "example=wild_cat&d_in=5"
    assert address(at)["done"] == "simplified_attention"
    before = at.session_state["session"].values.stretch
    widget(at, "slider", "d_in").set_value(7).run()
    after = at.session_state["session"].values.stretch
    assert after != before, "another vector has the largest effect"
    followed = f"Stretch the vector of: {before} → {after}"
    assert f"Width of the vectors, d_in: 5 → 7\n{followed}" in notices(at)
    assert any("Since the pin" in each.value for each in at.markdown)
    at.switch_page("pages/causal_mask.py").run()
    values = at.session_state["session"].values
    assert values.done == ("simplified_attention",)
    assert values.pin == "example=wild_cat&d_in=5"


def test_what_is_read_is_told():
    read = []
    values = Values({"a": 1, "b": 2, "c": 3}).read_by(read.append)
    assert values.a + values["b"] == 3
    assert values.of(Control("c", Whole(0, 9))) == (3,)
    assert read == ["a", "b", "c"]
    read.clear()
    other = values.but(b=5, d=4)
    assert (other.a, other.b, other.d) == (1, 5, 4)
    assert read == ["a"], "what is put in their place was not read of them"
    assert other.changed(values) == {"b", "d"}
    assert values.unread("c") == 3
    assert read == ["a"]
