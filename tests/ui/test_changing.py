"""A number of a matrix that may be changed, wherever it is drawn: alone, or with its matrix."""

import pytest

from attention_ui.controls.fields import Places
from attention_ui.lessons.queries_keys_values.lesson import trace_of
from attention_ui.lessons.queries_keys_values.tries import NOTHING, tries
from attention_ui.reactive.control import understood
from chosen import EVERY
from sampling import of_each_kind
from visiting import LESSONS, lesson_module, stands, texts, values_of, visit

SLOW = pytest.mark.slow("30 s: every page with a matrix that may be changed")
PAGE = "queries_keys_values"
MAY_BE_CHANGED = {
    f"{lesson}-{each.name}": (lesson, each)
    for lesson in LESSONS
    if lesson != "diagnosis"  # the game shows given numbers
    for each in lesson_module(lesson).CONTROLS
    if each.changes
}


def boxes(at, start):
    return [each for each in (*at.text_input, *at.text_area) if each.key.startswith(start)]


def typed(at, text, start="number_"):
    (box,) = boxes(at, start)
    return stands(box.set_value(text).run())


@SLOW
@pytest.mark.parametrize("place", of_each_kind(MAY_BE_CHANGED, lambda it: it.partition("-")[2]))
def test_what_may_be_changed_is_changed_wherever_it_is_drawn(place):
    """By its cell, or by one that is a copy; marked, and undone by one click."""
    lesson, control = MAY_BE_CHANGED[place]
    link = {"puzzle": "what_followed"} if lesson == "build_a_head" else {}  # it has all matrices
    link |= {"example": "named_features", "cell": f"{control.changes}.1.0"}
    at = stands(visit(lesson, **link))
    assert not any("shown_terms" in f"{each.key}" for each in at.selectbox), "it was a slider"
    if isinstance(control.field, Places):
        next(each for each in at.button if each.key.startswith("flip_")).click().run()
        wanted = ((1, 0),)
    else:
        typed(at, "0.12345678912345")
        wanted = ((1, 0, 0.123456789),)
    assert values_of(stands(at))[control.name] == wanted
    assert understood(at.session_state["session"].chosen, EVERY)[1] == {}, "the link says it"
    next(each for each in at.button if each.key.startswith("undo_")).click().run()
    assert control.name not in stands(at).session_state["session"].chosen


@SLOW
def test_what_a_copy_shows_is_changed_in_the_matrix_it_is_a_copy_of():
    at = visit("simplified_attention", cell="embeddings.2.1", example="named_features")
    assert values_of(typed(at, "−2")).edits == ((1, 1, -2.0),)
    typed(at, "1.5")
    assert values_of(at).edits == (), "the number that was there before is no change"


@SLOW
def test_a_slider_that_a_hand_moves_is_never_put_back():
    """What the browser says of a step, 0.6000000000000001, is what a link has of it: 0.6."""
    many = " ".join(["cat", "mouse"] * 16)  # more than a picture carries
    at = visit("simplified_attention", sentence=many, cell="embeddings.2.1", section="scores")
    (slider,) = [each for each in stands(at).slider if each.key.startswith("slide_")]
    for place in range(3, 18, 2):
        told = slider.proto.min + place * slider.proto.step
        slider.set_value(told).run()
        (slider,) = [each for each in stands(at).slider if each.key.startswith("slide_")]
        assert not slider.proto.set_value, told


@pytest.mark.parametrize("link", [
    {"lock": "q_edits", "cell": "W_query.0.0"}, {"hide": "q_edits", "cell": "W_query.0.0"},
    {"cell": "queries.0.0"}, {"cell": "context_vectors.0.0"},
])  # fmt: skip
def test_what_is_fixed_or_computed_has_no_slider(link):
    at = stands(visit(PAGE, **link))
    assert values_of(at).cell
    assert not boxes(at, "number_")


@SLOW
@pytest.mark.parametrize(("start", "text", "why"), [
    ("number_", "much", "“much” cannot stand here"),
    ("number_", "5e6", "from −1,000 to 1,000"),
    ("number_", "nan", "from −1,000 to 1,000"),
    ("all_", "1 2 3", "these are 3 numbers, and W_query has 3 rows of 2: 6"),
    ("all_", "1 2 3 4 5 six", "“six” cannot stand here"),
])  # fmt: skip
def test_what_cannot_stand_in_a_matrix_is_refused_where_it_was_typed(start, text, why):
    at = visit(PAGE, section="matrices", cell="W_query.1.0")
    at.session_state["whole_matrices"] = True
    at = typed(at.run(), text, start)
    assert why in texts(at)
    assert values_of(at).q_edits == ()
    assert boxes(at, start)[0].value == text, "it stays, to be mended"
    assert why not in texts(typed(at, "7 6 5 4 3 2" if start == "all_" else "7", start))


@SLOW
def test_a_whole_matrix_is_pasted_as_torch_prints_it():
    at = visit(PAGE, section="matrices", cell="W_query.1.0")
    at.session_state["whole_matrices"] = True
    was = trace_of(values_of(stands(at.run())))["W_query"].value.tolist()
    typed(at, f"tensor([[1., {was[0][1]:.6f}],\n [-2., 0.5],\n [3e-1, 0]])", "all_")
    cells = {(row, column): number for row, column, number in values_of(at).q_edits}
    assert cells.pop((0, 1), was[0][1]) == pytest.approx(was[0][1], abs=1e-6)
    assert cells == {(0, 0): 1.0, (1, 0): -2.0, (1, 1): 0.5, (2, 0): 0.3, (2, 1): 0.0}


@SLOW
@pytest.mark.parametrize(
    ("sentence", "token"),
    [("", None), ("A sleepy dog sees the small cat", 2), ("the mouse barks", 0), ("it", 0)],
)
def test_what_a_try_says_comes_true_on_any_sentence(sentence, token):
    link = {"example": "named_features"} | ({"sentence": sentence} if sentence else {})
    at = visit(PAGE, **link) if token is None else visit(PAGE, token=str(token), **link)
    trace = trace_of(values_of(at))
    names = trace.labels("d_query")
    offered = tries(trace, values_of(at).token)
    assert set(offered) <= {*names, NOTHING}
    assert len(offered) == (4 if token is None else len(offered))
    for name in offered:
        at.button(key=f"try_{name}").click().run()
        made = trace_of(values_of(stands(at)))
        weights = made["query_weights"].value
        if name == NOTHING:
            assert weights.max() - weights.min() < 1e-3
            continue
        has = made["keys"].value[:, names.index(name)]
        assert has[weights.argmax()] == has.max()
        assert len(has) < 2 or weights.max() > 1.5 * weights.mean()
