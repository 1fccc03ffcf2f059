"""Controls declared once: read from a link, drawn, held by name, written into the address; and held
in common with pages of the older kind.
"""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from attention_core import EXAMPLES
from attention_ui.controls.control import (
    MAX_LINK,
    Beyond,
    Control,
    Values,
    after_example,
    fitted,
    understood,
    written,
)
from attention_ui.controls.fields import Choice, Flag, Whole
from attention_ui.controls.shared import (
    AROUND,
    SOURCE,
    heads_of,
    inputs_of,
    other_inputs,
    projections_of,
)
from attention_ui.lessons.attention_today.lesson import CONTROLS as OF_TODAY
from attention_ui.lessons.cross_attention.lesson import CONTROLS as OF_CROSS
from attention_ui.lessons.multi_head_attention.lesson import CONTROLS as OF_HEADS
from attention_ui.lessons.simplified_attention.lesson import CONTROLS, trace_of
from attention_ui.settings.link import from_query
from attention_ui.settings.settings import FIELDS, SETTINGS, Settings
from attention_ui.settings.source import source_inputs

APP = Path(__file__).resolve().parents[2] / "app.py"
PAGE = "pages/simplified_attention.py"
OLDER = "pages/softmax_or_sum.py"
EVERY = {each.name: each for each in (*CONTROLS, *OF_HEADS, *OF_CROSS, *OF_TODAY)}


def opened(page=PAGE, **query):
    """A page in a session that nobody has used yet."""
    at = AppTest.from_file(str(APP), default_timeout=60)
    for name, text in query.items():
        at.query_params[name] = text
    at.switch_page(page).run()
    assert not at.exception, at.exception[0].value
    return at


def address(at):
    said = {name: at.query_params[name] for name in at.query_params}
    return {name: text if isinstance(text, str) else text[0] for name, text in said.items()}


def notices(at):
    return [each.value for each in at.text]


def widget(at, kind, name):
    return next(each for each in getattr(at, kind) if each.key.startswith(f"control_{name}"))


# --- declarations ---------------------------------------------------------------------------------


@pytest.mark.parametrize("example", EXAMPLES)
@pytest.mark.parametrize("control", [*EVERY.values(), *AROUND], ids=lambda each: each.name)
def test_a_control_starts_and_reads_as_pages_of_the_older_kind_do(control, example):
    values, wrong = understood({"example": example}, [*EVERY.values(), *AROUND])
    assert not wrong
    if control.of_page and control not in AROUND:  # it follows others: the older kind has a number
        return
    plain = Settings.of(EXAMPLES[example]).start_of_own
    assert values[control.name] == getattr(plain, control.name)
    if values[control.name] is not None:
        text = control.field.write(values[control.name])
        assert FIELDS[control.name].read(text) == values[control.name]
        assert text == FIELDS[control.name].write(values[control.name])


@pytest.mark.parametrize("example", EXAMPLES)
@pytest.mark.parametrize("link", [{}, {"n_heads": "3", "d_model": "9", "d_in": "5", "h_seed": "2"}])
def test_heads_matrices_and_the_source_are_those_of_the_older_settings(example, link):
    texts = {"example": example, **link, "start": "linear", "q_seed": "4"}
    values, wrong = understood(texts, [*EVERY.values()])
    settings, notices = from_query(texts)
    assert not wrong
    assert not notices
    assert heads_of(values) == settings.heads_recipe
    assert projections_of(values) == settings.projections
    assert other_inputs(values) == source_inputs(settings)


def test_a_value_that_others_take_along_comes_back_when_it_fits():
    w = Control("w", Whole(1, 9), "W", 3, fits=lambda value, values: (
        (value, "") if value >= values.a else (values.a, f"w went from {value} to {values.a}.")
    ))  # fmt: skip
    controls = (A, w)
    assert understood({"a": "5"}, controls)[0].w == 5
    assert written({"a": "5"}, controls) == {"a": "5", "w": "5"}
    assert fitted({"a": "5", "w": "4"}, controls) == {"w": ("4", "w went from 4 to 5.")}
    assert fitted({"a": "2", "w": "4"}, controls) == {}
    assert written({"a": "2"}, controls) == {"a": "2"}


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_inputs_are_those_of_the_older_settings(example):
    values, _ = understood({"example": example}, SOURCE)
    assert inputs_of(values) == Settings.of(EXAMPLES[example]).inputs
    changed, _ = understood({"example": example, "d_in": "5", "seed": "11"}, SOURCE)
    assert inputs_of(changed).seed == 11
    assert inputs_of(changed).d_in == 5


@pytest.mark.parametrize("control", EVERY.values(), ids=lambda each: each.name)
def test_a_control_has_the_label_of_the_older_kind(control):
    known = {"Your sentence": "Text", "Keys so far": ""}
    assert known.get(control.label, control.label) == SETTINGS[control.name].label


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
    assert isinstance(wrong["b"], Beyond)
    assert understood({"a": "7", "b": "5"}, ABC)[0].b == 5
    assert written({"a": "3", "b": "5"}, ABC) == {"b": "5"}


def test_a_link_holds_only_what_differs():
    assert written({"a": "3", "b": "0", "c": "y", "other": "1"}, ABC) == {"c": "y", "other": "1"}


def test_another_example_leaves_what_stays_and_what_is_fixed():
    stays = Control("s", Flag(), "S", False, stays=True)
    texts = {"example": "one", "a": "4", "b": "1", "s": "on"}
    kept = after_example(texts, "two", (*ABC, stays), {"b"})
    assert kept == {"example": "two", "b": "1", "s": "on"}


def test_an_unknown_name_is_said():
    with pytest.raises(AttributeError, match="no control 'd'"):
        _ = Values({"a": 1}).d


def test_the_trace_is_a_function_of_the_values_alone():
    values, _ = understood({"example": "wild_cat", "factor": "2", "stretch": "1"}, CONTROLS)
    first, second = trace_of(values), trace_of(values)
    assert first["weights"].value.equal(second["weights"].value)
    assert not trace_of(values.but(factor=1.0))["weights"].value.equal(first["weights"].value)


# --- on the page ----------------------------------------------------------------------------------


def test_a_first_visit_has_an_empty_address():
    assert address(opened()) == {}


def test_a_link_comes_to_life_in_a_cold_session():
    at = opened(example="wild_cat", similarity="cosine", d_in="7", query="3", factor="2.5")
    assert widget(at, "slider", "d_in").value == 7
    assert widget(at, "selectbox", "query").value == 3
    values = at.session_state["here"][2]
    assert (values.similarity, values.factor) == ("cosine", 2.5)
    assert address(at) == {
        "example": "wild_cat", "similarity": "cosine", "d_in": "7", "query": "3", "factor": "2.5",
    }  # fmt: skip


BAD = {
    "d_in": ["0", "999", "nan", "x", ""],
    "seed": ["-1", "inf", "1e9", "9" * 40],
    "similarity": ["Dot", "<b>"],
    "query": ["99", "64", "-3", "1.5"],
    "factor": ["nan", "inf", "5"],
    "upto": ["0", "65"],
    "positions": ["yes"],
    "sentence": ["", " ", "w " * 70, "x" * 6_000],
    "tokenizer": ["none"],
    "cell": ["scores", "scores.1.2,", "../..", "a" * 900],
    "lock": ["<script>"],
    "pin": ["x" * 5_000],
    "tasks": ["x" * 900],
}


@pytest.mark.parametrize(
    ("name", "text"), [(name, text) for name, texts in BAD.items() for text in texts]
)
def test_a_bad_value_gets_a_sentence_and_the_start(name, text):
    at = opened(example="wild_cat", **{name: text})
    start, _ = understood({"example": "wild_cat"}, (*CONTROLS, *AROUND))
    assert at.session_state["here"][2][name] == start[name]
    assert any(f"The link’s {name} is" in each for each in notices(at)), notices(at)
    assert name not in address(at)


def test_a_name_that_no_page_knows_is_said_and_left_out():
    at = opened(example="wild_cat", foo="1")
    assert any("“foo”" in each for each in notices(at))
    assert address(at) == {"example": "wild_cat"}


def test_what_a_page_has_no_control_for_stays():
    at = opened(example="wild_cat", n_heads="2", temperature="0.5", d_in="5")
    widget(at, "slider", "d_in").set_value(6).run()
    assert address(at) == {
        "example": "wild_cat", "n_heads": "2", "temperature": "0.5", "d_in": "6",
    }  # fmt: skip


def test_what_cannot_be_used_stays_in_its_field_and_nothing_else_changes():
    at = opened(example="wild_cat")
    before = address(at)
    long = "word " * 80
    widget(at, "text_area", "sentence").set_value(long).run()
    assert widget(at, "text_area", "sentence").value == long
    assert any("at most 64 fit" in each for each in notices(at))
    assert address(at) == before
    widget(at, "text_area", "sentence").set_value("a b c").run()
    assert address(at)["sentence"] == "a b c"
    assert not any("at most 64 fit" in each for each in notices(at))


def test_a_link_too_long_for_an_address_is_refused():
    at = opened(example="wild_cat", drop_blanks="on")
    widget(at, "text_area", "sentence").set_value("😀" * 1_200).run()
    assert any(f"{MAX_LINK:,} fit" in each or "tokens" in each for each in notices(at))
    assert "sentence" not in address(at)


def test_a_shorter_sentence_keeps_the_query_that_it_has_no_room_for():
    at = opened(example="wild_cat", query="8")
    widget(at, "text_area", "sentence").set_value("a b").run()
    assert at.session_state["here"][2].query <= 2
    at.text_area(key="control_sentence").set_value(EXAMPLES["wild_cat"].inputs.sentence).run()
    assert at.session_state["here"][2].query == 8


def test_another_example_sets_everything_to_its_own():
    at = opened(example="wild_cat", d_in="7", similarity="cosine", predict="off")
    widget(at, "selectbox", "example").set_value("journey_123").run()
    assert address(at) == {"example": "journey_123", "predict": "off"}


def test_typed_numbers_go_with_the_table_that_they_belong_to():
    at = opened(example="wild_cat", edits="2.0:0.5")
    widget(at, "slider", "d_in").set_value(5).run()
    assert "edits" not in address(at)
    assert any("removed" in each for each in notices(at))


def test_what_is_hidden_is_not_drawn_and_what_is_locked_cannot_be_used():
    at = opened(example="wild_cat", hide="d_in,similarity", lock="query", query="2")
    assert not [each for each in at.slider if each.key.startswith("control_d_in")]
    assert widget(at, "selectbox", "query").disabled
    widget(at, "selectbox", "example").set_value("journey_123").run()
    assert address(at)["query"] == "2"


@pytest.mark.parametrize("only", ["scores", "weights"])
def test_one_card_alone_has_nothing_around_it(only):
    at = opened(example="wild_cat", only=only)
    assert not at.title
    assert not [each for each in at.header if each.value == "What you can now answer"]


# --- with pages of the older kind -----------------------------------------------------------------


def test_an_older_page_takes_over_what_was_chosen_and_gives_it_back():
    at = opened(example="wild_cat")
    widget(at, "slider", "d_in").set_value(5).run()
    at.switch_page(OLDER).run()
    assert not at.exception
    assert at.session_state["settings"].d_in == 5
    assert address(at) == {"example": "wild_cat", "d_in": "5"}
    at.slider(key="control_d_in").set_value(8).run()
    at.switch_page(PAGE).run()
    assert not at.exception
    assert widget(at, "slider", "d_in").value == 8
    assert address(at) == {"example": "wild_cat", "d_in": "8"}
    at.switch_page(OLDER).run()
    assert at.session_state["settings"].d_in == 8
    assert not at.exception


def test_a_pin_and_marks_go_along():
    at = opened(example="wild_cat", d_in="5")
    at.button(key="pin").click().run()
    at.button(key="mark_done").click().run()
    assert address(at)["pin"] == "example=wild_cat&d_in=5"
    assert address(at)["done"] == "simplified_attention"
    widget(at, "slider", "d_in").set_value(7).run()
    assert "Width of the vectors, d_in: 5 → 7" in notices(at)
    assert any("Since the pin" in each.value for each in at.markdown)
    at.switch_page(OLDER).run()
    assert at.session_state["settings"].done == ("simplified_attention",)
    assert at.session_state["settings"].pin == "example=wild_cat&d_in=5"
