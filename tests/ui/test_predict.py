"""Guesses are judged by the person's own tensor: what is right, and how far off the rest is."""

import pytest
import torch

from attention_core import embed
from attention_core.text.inputs import Inputs
from attention_ui.cards.common_questions import judge_key, which_key
from attention_ui.lessons.tokenize_and_embed.words import judge_identical

NAMES = ("a", "b", "*c*")
WEIGHTS = torch.tensor([[0.7, 0.2, 0.1], [0.5, 0.3, 0.2], [0.4, 0.4, 0.2]])


@pytest.mark.parametrize(("guess", "row", "names", "right", "said"), [
    (0, 1, NAMES, True, "“a” (0.50)"),
    (2, 1, NAMES, False, "It is “a” (0.50). Key 2 gets a weight of 0.20, which is 0.30 less."),
    (1, 1, ("a", "b", "a"), False, "“a” (key 0) (0.50)"),
    (0, 2, NAMES, True, "“a” and “b”"),
    (1, 2, NAMES, True, "“a” and “b”"),
])  # fmt: skip
def test_a_guess_of_a_largest_weight_is_right_and_others_hear_it(guess, row, names, right, said):
    verdict = judge_key(guess, WEIGHTS[row], names)
    assert verdict.right is right
    assert said in verdict.words


@pytest.mark.parametrize(("tokens", "row", "choices", "right"), [
    (["the", "cat", "the", " "], (0, 0, 1.0, 0), ["0: the", "1: cat", "2: the", "3: ␣"], 2),
    (["the", "cat", "the", "a"], (0.1, 0.7, 0.1, 0.1), ["0, 2: the", "1: cat", "3: a"], 1),
])  # fmt: skip
def test_a_word_said_twice_is_offered_twice_if_its_weights_differ(tokens, row, choices, right):
    question = which_key("Which?", tokens, torch.tensor(row))
    assert question.choices == choices
    assert [at for at in range(len(choices)) if question.judge([at]).right] == [right]


def vectors_of(sentence, **options):
    return embed(Inputs(sentence, **options))["embeddings"].value


@pytest.mark.parametrize(("guess", "amiss"), [
    ([0, 5], None),
    ([5, 0], None),
    ([], "You missed 0, 5."),
    ([0], "You missed 5."),
    ([0, 4, 5], "You took 4, which differs."),
    ([1, 2, 5], "You missed 0 and you took 1, 2, which differ."),
])  # fmt: skip
def test_just_the_identical_rows_are_right_and_each_missed_or_too_many_is_named(guess, amiss):
    verdict = judge_identical(guess, 3, vectors_of("life is what life does life"))
    assert verdict.right == (amiss is None)
    assert verdict.right or verdict.words == f"The rows are 0, 5. {amiss}"
    assert judge_identical([0], 3, vectors_of("life is what life does")).right
    assert judge_identical([], 0, vectors_of("no word twice")).right
    assert judge_identical([], 3, vectors_of("life is what life does", positions=True)).right
