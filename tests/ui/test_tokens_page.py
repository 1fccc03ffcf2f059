"""The lesson on tokens and embeddings: its tokenizer, its table, and what its question covers."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_core import EXAMPLES
from attention_core.text.tokenizers import TOKENIZERS, visible
from attention_ui.lessons.tokenize_and_embed import merges
from attention_ui.lessons.tokenize_and_embed.lesson import CONTROLS, origin_words, trace_of
from attention_ui.lessons.tokenize_and_embed.merges import MERGE_TEXT
from attention_ui.lessons.tokenize_and_embed.merges_picture import HIGH
from attention_ui.lessons.tokenize_and_embed.words import asked_token
from attention_ui.picture.layout import NARROW, WIDE
from attention_ui.reactive.control import understood
from visiting import (
    _opened,
    box,
    charts,
    pictures,
    rendered,
    stands,
    texts,
    values_of,
    visit,
    words,
)

SLOW = pytest.mark.slow("5 s: whole pages")


@SLOW
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


@SLOW
@pytest.mark.parametrize("example", EXAMPLES)
def test_all_points_stand_but_that_of_the_row_that_is_asked_for(example):
    def points(**more):
        made = charts(visit("tokenize_and_embed", example=example, **more))
        (drawn,) = (each for each in made if "as points" in each.alt)
        names = pa.ipc.open_stream(drawn.data.data).read_all().to_pydict()["name"]
        return sorted(name for each in names for name in each.split(", "))

    asked = visit("tokenize_and_embed", predict="on", example=example)
    trace = trace_of(values_of(visit("tokenize_and_embed", example=example)))
    tokens = [visible(each) for each in trace.labels("token")]
    at = asked_token(trace)
    assert f"The point of token {at} waits for your guess" in words(asked)
    others = {*tokens[:at], *tokens[at + 1 :]}
    assert {*points(predict="on")} == others
    assert {*points()} == {*tokens}


def test_vectors_are_said_to_come_from_where_they_do():
    for sentence, said in ("the cat", "trained."), ("the zebra", "but for"), ("日本", "They are"):
        values, _ = understood({"example": "named_features", "sentence": sentence}, CONTROLS)
        assert said in origin_words(values)


@pytest.mark.parametrize("positions", ["off", "on"])
def test_one_name_stands_above_one_matrix(positions):
    """What positions would add up to is not what the page calls `embeddings` without them."""
    drawn = {}
    for each in pictures("tokenize_and_embed", positions=positions):
        for matrix in each.matrices:
            assert drawn.setdefault(matrix.name, matrix.values).equal(matrix.values), matrix.name
    assert {"embeddings", "position_embeddings"} < {*drawn}


@pytest.mark.parametrize("learned", ["sentence", "example"])
def test_a_token_that_the_vocabulary_does_not_have_is_named_as_plain_text(learned):
    link = {"sentence": "The **zebra** sat", "tokenizer": "text", "learned": learned}
    at = stands(visit("tokenize_and_embed", **link))
    assert ("get the row for unknown tokens" in texts(at)) == (learned == "example")
    assert "**zebra**" not in rendered(at)


TEXTS = st.text(st.sampled_from("ab |é好🙂\n*"), min_size=1, max_size=60) | st.text(min_size=1)


@SLOW
@given(TEXTS.map(lambda text: MERGE_TEXT.field.read(f"a{text}"[:50])), st.text("ab|é ", min_size=1))
def test_a_bar_stands_for_each_token_at_each_merge_and_nothing_else_moves(text, word):
    learned = merges.learned_from(text)
    each = [merges.cut_at(text, word, n) for n in range(merges.MOST + 1)]
    for n, layout in enumerate(each):
        tokens = len(learned.cut(text, n)) + len(learned.cut(merges.as_it_stands(word), n))
        chips = min(n, len(learned.merges))
        bars = [one for one in layout.wide.marks if one.height == HIGH and one.strength]
        # One that is longer than a line has a bar in each.
        assert len(bars) >= tokens + chips
        assert len(text) > 30 or len(bars) == tokens + chips
        for room, made in ((WIDE, layout.wide), (NARROW, layout.narrow)):
            assert all(one.x + one.width <= room for one in made.marks)
            assert all(one.y + one.height <= made.height for one in made.marks)
            first = each[0].wide if room == WIDE else each[0].narrow
            for still, there in zip(first.words, made.words, strict=True):
                assert (still.x, still.y) == (there.x, there.y)
                assert "|" not in there.text
            assert [one.x for one in first.marks] == [one.x for one in made.marks]
            assert [one.drawn for one in first.paths] == [one.drawn for one in made.paths]


@SLOW
def test_a_text_to_learn_from_is_a_person_s_and_its_limit_is_said():
    link = {"merge_text": "**so** <b>|</b> $x$ **so**", "new_word": "`so`", "merges": "3"}
    at = stands(_opened("tokenize_and_embed", link, row_deeper=True))
    assert "**so**" not in rendered(at)
    assert merges.pieces_of(link["merge_text"], " `so`", 3) in texts(at)
    assert "pairs are equally frequent" in words(at)
    assert merges.BYTES in words(visit("tokenize_and_embed", merge_text="日本"))
    at = stands(visit("tokenize_and_embed", merge_text="🙂" * 51))
    assert "it has 204 bytes, and 200 fit" in texts(at)
    at = stands(_opened("tokenize_and_embed", {"merge_text": "a"}, row_deeper=True))
    assert "No pair is left in this text: every word is one token." in words(at)
