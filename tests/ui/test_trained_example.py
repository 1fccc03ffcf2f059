"""The example that was trained: what its settings take, and what a page says of it."""

import pytest

from attention_core.small_models.grammar import LONGEST
from attention_ui.controls.shared import TOKENIZER, VOCABULARY, random_fallback_notice
from chosen import of, read

NAME = "tiny_language"
OWN = of(example=NAME)


@pytest.mark.parametrize(
    ("sentence", "named"),
    [("the elephant purrs", "elephant"), ("the cat <start>", "<start>"), ("a <b>cat</b>", "a")],
)
def test_other_words_are_refused_in_words_with_the_nearest_ones(sentence, named):
    values, wrong = read(example=NAME, sentence=sentence)
    assert values == OWN
    problem = str(wrong["sentence"])
    assert problem.startswith(f"“{named}” is none of the 60 words here. ")
    assert problem.endswith("(all of them: Go deeper, in A tiny language)")
    assert problem.count("“") == 7, "the word, and the animals: none is spelled like it"


def test_its_own_sentences_are_taken_up_to_what_the_network_reads():
    assert read(example=NAME, sentence="the " * (LONGEST - 1))[1] == {}
    _, wrong = read(example=NAME, sentence="the " * LONGEST)
    assert f"at most {LONGEST} fit" in str(wrong["sentence"])


@pytest.mark.parametrize("control", [TOKENIZER, VOCABULARY], ids=lambda each: each.name)
def test_its_words_are_its_own(control):
    """It reads no others, and no other example is offered them."""
    others = control.choices(of())
    (mine,) = control.choices(OWN)
    assert mine not in others
    for example, foreign in ((NAME, next(iter(others))), ("wild_cat", mine)):
        values, wrong = read(example=example, **{control.name: foreign})
        assert values == of(example=example)
        assert str(wrong[control.name]).startswith("here it can be")


def test_what_no_longer_is_trained_is_said():
    assert random_fallback_notice(OWN) is None
    assert "the trained vectors are 48 wide" in random_fallback_notice(of(example=NAME, d_in="8"))
    assert "What was trained does not fit" in random_fallback_notice(of(example=NAME, d_query="5"))
