"""The example of a first visit: which address means it, and its names wherever a component is."""

import json
import re
from urllib.parse import parse_qsl

import pytest

from attention_core import (
    EXAMPLES,
    attend,
    attend_heads,
    attend_trainable,
    embed,
    exercise,
    notebook,
    program,
)
from attention_ui.cards.arithmetic import components
from attention_ui.charts.picture import picture
from attention_ui.controls import shared
from attention_ui.frame import started
from attention_ui.frame.ends import RANDOM
from attention_ui.frame.take_away import as_frame
from attention_ui.lessons.home.hero import most_looked_at
from attention_ui.lessons.multi_head_attention import lesson as heads_page
from attention_ui.lessons.multi_head_attention.words import asks_nothing
from attention_ui.lessons.queries_keys_values.lesson import CONTROLS as OF_MATRICES
from attention_ui.lessons.queries_keys_values.words import origin_words
from attention_ui.lessons.simplified_attention import lesson as plain
from attention_ui.lessons.simplified_attention.lesson import CONTROLS
from attention_ui.lessons.whole_layer import lesson as layer_page
from attention_ui.picture.matrix import Matrix, names_along
from attention_ui.reactive.control import understood, written
from chosen import EVERY, chosen, of
from sampling import few
from visiting import A_PAGE, EVERYWHERE, first_visit, rendered, stands, visit

FIRST = shared.FIRST
NAMES = EXAMPLES[FIRST].inputs.components
PLAIN = of(example=FIRST)
OWN = "The sleepy dog sees a small cat because it barks"


# --- what is said of it ---------------------------------------------------------------------------
def test_the_first_picture_says_where_a_word_looks_and_where_it_would_by_likeness():
    by_hand, alike = next(traces(FIRST)), attend(embed(shared.inputs_of(PLAIN)))
    query = shared.telling_query(of(OF_MATRICES, example=FIRST))
    places = [by_hand.labels("key").index(name) for name in ("cat", "mouse")]
    shares = [f"{t['weights'].value[query, at]:.0%}" for t in (by_hand, alike) for at in places]
    assert re.findall(r"\d+%", most_looked_at(by_hand, query, alike)) == shares


def test_how_to_read_a_matrix_set_by_hand_names_its_largest_number_and_claims_no_more():
    (trace, _) = traces(FIRST)
    matrix = trace["W_query"].value
    values, _ = understood({"example": FIRST}, OF_MATRICES)
    told = origin_words(values, trace)
    found = re.search(r"row \*(\w+)\* and column \*(\w+)\* hold ([\d.]+):", told)
    row = trace.labels("d_in").index(found[1])
    column = trace.labels("d_query").index(found[2])
    assert float(found[3]) == matrix[row, column].item() == matrix.max().item()


# --- addresses ------------------------------------------------------------------------------------
@pytest.mark.slow("10 s: every page")
@pytest.mark.parametrize("page", few(EVERYWHERE, 3))
def test_a_first_visit_leaves_its_address_alone_and_its_links_name_the_example(page):
    """An address written anew would be a step of the browser's history, and lead here for ever."""
    at = stands(first_visit(page))
    assert chosen(at) == PLAIN
    assert dict(at.query_params) == {}
    links = [dict(parse_qsl(each.proto.query_string)) for each in at.get("page_link")]
    assert all("example" in link for link in links)
    assert "of the notebook" not in rendered(at), "there is none"
    assert not [each.value for each in at.header if "otebook" in each.value]
    if page == "app.py":
        return  # home asks nothing
    at.toggle(key="control_predict").set_value(False).run()
    assert dict(at.query_params) == {"example": FIRST, "predict": "off"}
    at.toggle(key="control_predict").set_value(True).run()
    assert dict(at.query_params) in ({}, {"example": FIRST}, {"example": [FIRST]})
    assert chosen(at) == PLAIN


# --- names, and one way of counting ---------------------------------------------------------------
def traces(name):
    example = EXAMPLES[name]
    yield attend_trainable(embed(example.inputs), example.projections)
    yield attend_heads(embed(example.inputs), example.heads)


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_component_is_called_the_same_wherever_it_stands(name):
    """In a chart, in its tooltip, in a table, and by the number that the arithmetic has for it."""
    for trace in traces(name):
        for step in trace.values():
            widths = [axis for axis in step.axes if axis[:2] == "d_"]
            if not widths or step.value.numel() > 2_000:
                continue
            heads = range(len(step.value)) if step.axes[0].endswith("head") else (None,)
            for head in heads:
                matrix = Matrix(step, lead=() if head is None else (head,))
                drawn = names_along(trace, matrix)
                for axis, names in zip(matrix.axes, drawn, strict=True):
                    if axis in widths:
                        assert tuple(names) == trace.labels(axis, head)
            if step.value.ndim == 2 and step.axes[1] in widths:
                for place, column in enumerate(as_frame(trace, step).columns):
                    label = trace.labels(step.axes[1])[place]
                    assert column == (label if label == f"d{place}" else f"{place} {label}")


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_control_and_the_picture_call_an_entry_what_the_charts_do(name):
    values = of(example=name)
    trace = embed(shared.inputs_of(values))
    entries = shared.ACROSS.choices(values)
    assert tuple(entries.values()) == trace.labels("d_in")
    assert [*entries] == [*range(values.d_in)]
    drawn = picture(trace, trace["embeddings"], 1, 2)
    assert f"{entries[1]} and {entries[2]}" in drawn.alt
    labels = drawn.frame["label"].str.replace("\n", " ")
    assert [*labels] == [*drawn.frame["name"]], "whole, in as many lines as it takes"


def test_exports_have_the_names_of_components():
    heads = [*traces(FIRST)][1]
    told = ("# d_in: animal, hunter, small", "# d_head of head 1 (whom): animal, small")
    for made in (program(heads), json.dumps(notebook(heads)), json.dumps(exercise(heads))):
        assert all(line in made for line in told)
    assert "# d_" not in program([*traces("wild_cat")][1])


# --- what was set by hand, and what is drawn where it does not fit --------------------------------
def test_an_own_sentence_over_the_same_words_keeps_what_was_set_by_hand():
    link = {"example": FIRST, "sentence": OWN}
    own = of(**link)
    assert shared.inputs_of(own).has_given_vectors()
    assert shared.random_fallback_notice(own) is None
    assert written(link, EVERY) == link
    assert shared.projections_of(own) == shared.projections_of(PLAIN)
    assert shared.heads_recipe_of(own) == shared.heads_recipe_of(PLAIN)


@pytest.mark.parametrize(("link", "words"), [
    ({"sentence": "the xqz sees 他, Vlad"}, ("for them: “xqz”, “他” and “vlad”.", "All other")),
    ({"d_in": "5"}, ("the given vectors are 6 wide",)),
    ({"vocabulary": "random"}, ("distinct tokens",)),
    ({"d_query": "2"}, ("W_query, W_key", "not fit these sizes")),
    ({"d_value": "2"}, ("W_value", "not fit these sizes")),
    ({"n_heads": "2"}, ("all matrices of the heads", "not fit these sizes")),
], ids=str)  # fmt: skip
def test_what_cannot_be_used_as_set_by_hand_is_drawn_and_that_is_said(link, words):
    after = of(example=FIRST, **link)
    said = shared.random_fallback_notice(after)
    assert "drawn at random now" in said.lower()
    assert all(word in said for word in words)
    if not shared.inputs_of(after).has_given_vectors():
        assert shared.projections_of(after).start == "rand"
        assert shared.heads_recipe_of(after).start == "linear"
    assert shared.random_fallback_notice(PLAIN) is None


def test_a_page_speaks_of_its_own_matrices_alone():
    """What another page draws at random changes nothing on this one."""
    others = of(CONTROLS, example=FIRST)
    link = {"example": FIRST, "d_query": "2", "n_heads": "2"}
    for values in (understood(link, CONTROLS)[0], others):
        assert shared.random_fallback_notice(values) is None
    said = shared.random_fallback_notice(understood(link, OF_MATRICES)[0])
    assert "W_query" in said
    assert "heads" not in said


def test_the_page_says_what_is_drawn_instead_above_its_pictures():
    at = first_visit("tokenize_and_embed")
    at.text_area(key="control_sentence").set_value("the zebra").run()
    stands(at)
    notice = shared.random_fallback_notice(at.session_state["session"].values)
    assert notice in [each.value for each in at.main.text]
    again = visit("tokenize_and_embed", example=FIRST, sentence="the zebra")
    assert again.session_state["session"].notices == []
    assert notice in [each.value for each in again.main.text]


@pytest.mark.slow("5 s: three pages")
def test_a_sentence_goes_to_a_real_model_where_one_is_and_its_text_comes_back(monkeypatch):
    def links(page, **link):
        found = visit(page, example=FIRST, **link).get("page_link")
        return {each.proto.label: dict(parse_qsl(each.proto.query_string)) for each in found}

    there = "Read it with a real model"
    monkeypatch.setenv(started.MODEL, started.TINY)
    assert there not in links(A_PAGE, sentence=OWN)
    back = next(at for label, at in links("real_model").items() if "number by number" in label)
    assert back["sentence"] == "the tired cat sees the dog because it"
    assert understood(back, EVERY)[1] == {}
    monkeypatch.setenv(started.MODEL, "a/model")
    assert there not in links(A_PAGE)
    assert links(A_PAGE, sentence=OWN)[there].items() >= {"model": "own", "prompt": OWN}.items()


def test_the_terms_of_a_product_are_told_by_their_component():
    trace = next(traces(FIRST))
    for cell, names in (
        (("scores", (7, 2)), ("animal", "hunter", "action")),
        (("queries", (7, 1)), NAMES),
        (("context_vectors", (7, 0)), ("",) * 9),  # its terms are tokens
    ):
        step, index = cell
        terms = [[*term.cells()] for term in trace[step].arithmetic(index).terms]
        for operand in zip(*terms, strict=True):
            assert tuple(components(trace, operand).values()) == names
    plain = embed(EXAMPLES["wild_cat"].inputs)
    row = [plain["embeddings"].cell((1, column)) for column in range(3)]
    assert set(components(plain, row).values()) == {""}


def test_heads_are_offered_by_number_and_by_name_where_they_have_one():
    assert shared.HEAD.choices(PLAIN) == {0: "0: who", 1: "1: whom", 2: "2: how"}
    for other in (of(example=FIRST, n_heads="2"), of()):
        assert shared.HEAD.choices(other) == {0: "0", 1: "1"}


def test_a_head_without_a_question_for_a_word_is_named_and_no_other():
    trace = heads_page.trace_of(of(heads_page.CONTROLS, example=FIRST))
    assert asks_nothing(trace, 7).startswith("Head 1 has no question for “it”: ")
    assert asks_nothing(trace, 7).endswith("gets the same 0.11.")
    assert asks_nothing(trace, 3).startswith("Head 2 ")
    assert asks_nothing(heads_page.trace_of(of(heads_page.CONTROLS, example="wild_cat")), 1) == ""


def test_a_sentence_of_ones_own_is_first_seen_by_a_word_whose_query_is_not_zero():
    def first(**link):
        values = of(layer_page.CONTROLS, example=FIRST, **link)
        trace, query = layer_page.trace_of(values), layer_page.first_query(values)
        assert trace["head_queries"].value[0, query].any()
        return trace.labels("query")[query]

    assert first() == "it"
    assert first(sentence="The small dog sees the cat") == "sees", "“cat” asks nothing in head 0"


@pytest.mark.parametrize(("page", "link", "is_random"), [
    (heads_page, {}, False),
    (heads_page, {"sentence": "The quick xqz"}, False),
    (heads_page, {"sentence": "他 🙂 xqz"}, True),
    (heads_page, {"n_heads": "2"}, True),
    (plain, {"example": "journey_123"}, False),
    (plain, {"example": "wild_cat"}, True),
])  # fmt: skip
def test_numbers_that_were_drawn_are_known_to_mean_nothing(page, link, is_random):
    assert shared.has_random_numbers(of(page.CONTROLS, **{"example": FIRST, **link})) is is_random


def test_answers_and_home_say_where_numbers_mean_nothing():
    for page, told in (("pages/simplified_attention.py", RANDOM), ("app.py", "it means nothing")):
        assert told in rendered(visit(page, example="wild_cat"))
        assert told not in rendered(visit(page, example=FIRST))
    assert RANDOM not in rendered(visit("pages/tokenize_and_embed.py", example="wild_cat"))
