"""The lesson on tokens and embeddings: its tokenizer, its table, and what its question covers."""

import json

import pytest

from attention_core import EXAMPLES
from attention_core.text.tokenizers import TOKENIZERS
from attention_ui.controls.grid import Grids
from attention_ui.lessons.tokenize_and_embed.lesson import trace_of
from messages import send, widget_ids
from visiting import box, charts, rendered, stands, texts, values_of, visit, words

pytestmark = pytest.mark.slow("5 s: whole pages")


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
def test_the_tokenizer_stands_in_the_first_card_and_cuts_there(tokenizer):
    if tokenizer == "tiny_language":
        at = visit("tokenize_and_embed", example="tiny_language")
        assert not [each for each in at.selectbox if each.key.startswith("control_tokenizer")]
        return
    at = visit("tokenize_and_embed")
    box(at, "tokenizer").set_value(tokenizer).run()
    stands(at)
    assert values_of(at).tokenizer == tokenizer
    assert TOKENIZERS[tokenizer].rule in words(at)
    assert not [each for each in at.sidebar.selectbox if each.key.startswith("control_tokenizer")]


def test_numbers_typed_into_the_table_are_used_and_can_be_taken_back():
    at = visit("tokenize_and_embed")
    key = at.session_state["visit"].own(Grids).by_name["edits"].key
    id = next(id for id, known in widget_ids(at).items() if known == key)
    send(at, id, {"string_value": json.dumps({"edited_rows": {1: {"d0": 0.5}}})})
    stands(at)
    assert values_of(at).edits == ((1, 0, 0.5),)
    assert at.query_params["edits"] in ("1.0:0.5", ["1.0:0.5"])
    grids = at.session_state["visit"].own(Grids)
    assert grids.by_name["edits"].key == key, "who types stays where they were"
    at.button(key="undo_edits").click().run()
    assert values_of(at).edits == ()


def test_a_number_that_is_too_large_is_refused_by_name():
    at = visit("tokenize_and_embed")
    key = at.session_state["visit"].own(Grids).by_name["edits"].key
    id = next(id for id, known in widget_ids(at).items() if known == key)
    send(at, id, {"string_value": json.dumps({"edited_rows": {1: {"d0": 5e6}}})})
    assert "Not applied: row 1, d0." in texts(at)
    assert values_of(at).edits == ()


@pytest.mark.parametrize("example", EXAMPLES)
def test_points_are_covered_where_they_tell_which_vectors_are_identical(example):
    at = visit("tokenize_and_embed", predict="on", example=example)
    table = visit("tokenize_and_embed", example=example)
    trace, values = trace_at(table)
    vectors = trace["embeddings"].value
    points = vectors[:, [values.across, values.up]]
    same, drawn_same = (each[:, None].eq(each).all(dim=-1) for each in (vectors, points))
    waits = "This picture waits for your guess" in words(at)
    assert waits == same.equal(drawn_same)
    assert any("as points" in chart.alt for chart in charts(at)) != waits


def test_an_embedding_leads_to_the_row_of_the_table_that_its_id_names_and_back():
    way = "embeddings.8.0,embedding_table.6.0"
    at = stands(visit("tokenize_and_embed", section="lookup", cell=way))
    assert "seed is 69" in words(at)
    next(each for each in at.button if each.label == "embeddings[8, 0]").click().run()
    assert values_of(stands(at)).cell == (("embeddings", (8, 0)),)


def trace_at(at):
    values = values_of(at)
    return trace_of(values), values


def test_positions_are_shown_before_they_are_switched_on_and_then_count():
    at = visit("tokenize_and_embed")
    assert sum("position_embeddings" in chart.alt for chart in charts(at)) == 1
    assert "Identical: rows 1, 3, 5, 7, 9" in words(at)
    at.toggle(key="control_positions").set_value(True).run()
    assert "In `token_embeddings`, rows 1, 3, 5, 7, 9 are equal" in words(at)
    assert "every row of `embeddings` is different" in words(at)


@pytest.mark.parametrize("learned", ["sentence", "example"])
def test_a_token_that_the_vocabulary_does_not_have_is_named_as_plain_text(learned):
    link = {"sentence": "The **zebra** sat", "tokenizer": "text", "learned": learned}
    at = stands(visit("tokenize_and_embed", **link))
    assert ("get the row for unknown tokens" in texts(at)) == (learned == "example")
    assert "**zebra**" not in rendered(at)
