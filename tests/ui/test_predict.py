"""Guesses are judged by the person's own tensor: what is right, and how far off the rest is."""

import pytest
import torch

from attention_core import embed
from attention_core.text.inputs import Inputs
from attention_ui.cards.common_questions import judge_key, which_key
from attention_ui.lessons.tokenize_and_embed.words import identical_rows, judge_identical

NAMES = ("a", "b", "*c*")
WEIGHTS = torch.tensor([[0.7, 0.2, 0.1], [0.5, 0.3, 0.2], [0.4, 0.4, 0.2]])


def test_the_most_looked_at_token_is_a_right_guess():
    verdict = judge_key(0, WEIGHTS[1], NAMES)
    assert verdict.right
    assert "“a” (0.5000)" in verdict.words


def test_a_wrong_guess_is_told_the_truth_and_its_distance():
    verdict = judge_key(2, WEIGHTS[1], NAMES)
    assert not verdict.right
    assert "It is “a” (0.5000). Key 2 has 0.2000, which is 0.3000 less." in verdict.words
    assert "“a” (key 0) (0.5000)" in judge_key(1, WEIGHTS[1], ("a", "b", "a")).words


def test_a_token_that_stands_there_twice_is_chosen_by_its_place():
    question = which_key("Which?", ["the", "cat", "the", " "], torch.eye(4)[2])
    assert question.choices == ["0: the", "1: cat", "2: the", "3: ␣"]
    assert [question.judge([at]).right for at in range(4)] == [False, False, True, False]


@pytest.mark.parametrize("guess", [0, 1])
def test_of_two_equal_weights_either_is_right(guess):
    verdict = judge_key(guess, WEIGHTS[2], NAMES)
    assert verdict.right
    assert "“a” and “b”" in verdict.words


def test_a_word_that_gets_the_same_at_both_places_is_offered_once():
    row = torch.tensor([0.1, 0.7, 0.1, 0.1])
    question = which_key("Which?", ["the", "cat", "the", "a"], row)
    assert question.choices == ["0, 2: the", "1: cat", "3: a"]
    assert [question.judge([at]).right for at in range(3)] == [False, True, False]


def test_identical_rows_are_found_by_their_numbers():
    vectors = torch.tensor([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0], [3.0, 4.0], [1.0, 2.5]])
    assert identical_rows(vectors) == [[0, 2], [1, 3]]
    assert identical_rows(vectors[:2]) == []


def vectors_of(sentence, **options):
    return embed(Inputs(sentence, **options))["embeddings"].value


def test_repeated_words_have_identical_rows_until_positions_part_them():
    assert identical_rows(vectors_of("life is what life does")) == [[0, 3]]
    assert identical_rows(vectors_of("life is what life does", positions=True)) == []


def test_naming_just_the_identical_rows_is_right():
    vectors = vectors_of("life is what life does")
    assert judge_identical([0, 3], vectors).right
    assert judge_identical([3, 0], vectors).right
    assert judge_identical([], vectors_of("no word twice")).right


@pytest.mark.parametrize(("guess", "amiss"), [
    ([], "You missed 0, 3."),
    ([0], "You missed 3."),
    ([0, 3, 4], "You took 4, equal to no other row."),
    ([1, 3], "You missed 0 and you took 1, equal to no other row."),
])  # fmt: skip
def test_every_row_missed_or_too_many_is_named(guess, amiss):
    verdict = judge_identical(guess, vectors_of("life is what life does"))
    assert not verdict.right
    assert verdict.words == f"The rows are 0, 3. {amiss}"
