"""Vocabularies: ids (those of the notebooks are in test_published), unknown tokens, unused rows."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attention_core.text.vocabulary import Vocabulary

LIFE = ["life", "is", "short", "eat", "dessert", "first", "is", "life"]

token_lists = st.lists(st.sampled_from(["a", "b", "B", " ", "é", "漢", "<unk>", "<pad>", "c"]))
property_test = settings(max_examples=100, deadline=None)


def test_distinct_sorts_by_code_point_and_puts_reserved_rows_last():
    vocabulary = Vocabulary.distinct(["b", "é", "Z", " ", "b"])
    assert vocabulary.rows() == (" ", "Z", "b", "é", "<unk>", "<pad>")
    assert vocabulary.reserved == (("<unk>", 4), ("<pad>", 5))


@property_test
@given(token_lists)
def test_distinct_ids_and_tokens_are_each_other_s_inverse(tokens):
    vocabulary = Vocabulary.distinct(tokens)
    ids = vocabulary.ids(tokens)
    assert [vocabulary.token(row) for row in ids] == tokens
    assert set(ids) == set(range(vocabulary.n_rows - 2))
    assert vocabulary.unknown(tokens) == []
    assert len(set(vocabulary.rows())) == vocabulary.n_rows == len(vocabulary.rows())


def test_unknown_names_each_token_once_in_order_of_appearance():
    vocabulary = Vocabulary.distinct(["the", "cat"])
    assert vocabulary.unknown(["wild", "the", "dog", "wild", "The"]) == ["wild", "dog", "The"]


@pytest.mark.parametrize(
    "vocabulary",
    [Vocabulary.distinct(["a"], reserved=("<pad>",)), Vocabulary.with_duplicates(["a"])],
)
def test_an_unknown_token_without_a_row_is_named_with_what_to_do(vocabulary):
    with pytest.raises(ValueError, match=r'^"wild" is not in the vocabulary.*add it to the text'):
        vocabulary.ids(["a", "wild", "cat"])
    with pytest.raises(ValueError, match=r'^"␣" is not in the vocabulary'):
        vocabulary.ids([" "])
    assert vocabulary.unknown(["a", "wild", " "]) == ["wild", " "]


def test_a_token_that_reads_unk_is_not_the_reserved_row():
    vocabulary = Vocabulary.distinct(["<unk>", "a"])
    assert vocabulary.ids(["<unk>", "dog"]) == [0, 2]
    assert vocabulary.rows() == ('"<unk>"', "a", "<unk>", "<pad>")
    assert (vocabulary.token(0), vocabulary.token(2)) == ("<unk>", "<unk>")

    vocabulary = Vocabulary.distinct(["<unk>", "a"], reserved=())
    assert vocabulary.rows() == ("<unk>", "a")
    with pytest.raises(ValueError, match='"dog" is not in the vocabulary'):
        vocabulary.ids(["dog"])


def test_with_duplicates_leaves_the_rows_of_earlier_duplicates_unused():
    vocabulary = Vocabulary.with_duplicates(LIFE)
    assert vocabulary.rows() == (
        *("dessert", "eat", "first", "(unused)"),
        *("is", "(unused)", "life", "short"),
    )
