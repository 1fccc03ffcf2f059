"""The example that was trained: what its settings take, and what a page says of it."""

import pytest

from attention_core.examples import EXAMPLES
from attention_core.small_models.grammar import LONGEST
from attention_ui.settings.fit import changed, drawn_instead, misfit
from attention_ui.settings.link import from_query
from attention_ui.settings.settings import SETTINGS, Settings
from visiting import stands, texts, visit, words

NAME = "tiny_language"
OWN = Settings.of(EXAMPLES[NAME])


@pytest.mark.parametrize(
    ("sentence", "named"),
    [("the elephant purrs", "elephant"), ("the cat <start>", "<start>"), ("a <b>cat</b>", "a")],
)
def test_other_words_are_refused_in_words_with_the_nearest_ones(sentence, named):
    problem = misfit(changed(OWN, sentence=sentence))
    assert problem.startswith(f"“{named}” is none of the 60 words of this language ")
    assert problem.count("“") == 4, "the word, and three near ones"
    settings, notices = from_query({"example": NAME, "sentence": sentence})
    assert settings == OWN
    assert any(named in notice for notice in notices)


def test_its_own_sentences_are_taken_up_to_what_the_network_reads():
    fits = changed(OWN, sentence="the " * (LONGEST - 1))
    assert misfit(fits) is None
    assert f"at most {LONGEST} fit" in misfit(changed(OWN, sentence="the " * LONGEST))


@pytest.mark.parametrize("name", ["tokenizer", "vocabulary"])
def test_its_words_are_its_own(name):
    """It reads no others, and no other example is offered them."""
    others = SETTINGS[name].values(Settings.of(EXAMPLES["wild_cat"]))
    (mine,) = SETTINGS[name].values(OWN)
    assert mine not in others
    for example, foreign in ((NAME, next(iter(others))), ("wild_cat", mine)):
        settings, notices = from_query({"example": example, name: foreign})
        assert settings == Settings.of(EXAMPLES[example])
        assert any("does not go with" in notice for notice in notices)


def test_what_no_longer_is_trained_is_said():
    assert drawn_instead(OWN) is None
    assert "the trained vectors are 48 wide" in drawn_instead(changed(OWN, d_in=8))
    assert "What was trained does not fit" in drawn_instead(changed(OWN, d_out=5))


@pytest.mark.slow("1 s: whole pages")
def test_the_first_lesson_shows_the_first_layer_and_says_whose_vectors_they_are():
    at = stands(visit("tokenize_and_embed", example=NAME))
    told = words(at)
    assert "trained network's second layer reads" in told
    assert "set by hand" not in told
    assert "<start>" in texts(at)
    stands(visit("queries_keys_values", example=NAME, cell="layer_0_W_query.3.1.2"))
    other = stands(visit("tokenize_and_embed", example="wild_cat"))
    assert "second layer" not in words(other)
