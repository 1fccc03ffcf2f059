"""The lesson on tokens and embeddings: its tokenizer, its table, and what its question covers."""

import pytest

from attention_core import EXAMPLES
from attention_core.text.tokenizers import TOKENIZERS
from attention_ui.lessons.tokenize_and_embed.lesson import trace_of
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
