"""The tiny language: its chances add up, its words are kept, its entropy is what can be counted."""

import math
import random

import pytest

from attention_core.small_models import grammar
from attention_core.small_models.tiny_language import HELD_OUT, told

TEXTS = [grammar.spoken(random.Random(seed), 48) for seed in range(40)]


def sure(words, sentence):
    chances = grammar.next_words([grammar.START, *words, *sentence.split()])
    return {word for word, chance in chances.items() if chance > 0}


def test_the_vocabulary_has_every_word_once():
    assert len(grammar.WORDS) == len({*grammar.WORDS}) == 61
    assert {word for words, _ in TEXTS for word in words} == {*grammar.WORDS}


@pytest.mark.parametrize("seed", range(5))
def test_the_chances_after_any_words_sum_to_1_and_are_those_of_the_text(seed):
    words, had = TEXTS[seed]
    for place, word in enumerate(words):
        chances = grammar.next_words(words[:place])
        assert sum(chances.values()) == pytest.approx(1)
        assert {*chances} <= {*grammar.WORDS}
        assert min(chances.values()) > 0
        assert chances[word] == had[place]


def test_because_asks_for_the_first_animal_and_but_for_the_second():
    for before in ([], ["the", "old", "cow", "moos", "."]):
        assert sure(before, "the cat sees the dog because it") == {*grammar.ANIMALS["cat"]}
        assert sure(before, "the old cat sees the tired dog but it") == {*grammar.ANIMALS["dog"]}


def test_a_name_goes_on_as_before_and_others_are_free():
    said = ["anna", "brook", "finds", "the", "ball", "."]
    assert sure(said, "anna") == {"brook"}
    assert sure(said, "ben") == {*grammar.SECOND_NAMES}
    assert sure(said, "ben wood holds the kite and anna") == {"brook"}
    assert {*grammar.PEOPLE} <= sure(said, "")


def test_what_was_opened_is_closed():
    for mark in grammar.CLOSES:
        verb = "says “" if mark == "“" else "("
        ends = sure([], f"anna brook {verb} the cat purrs")
        assert ends == {grammar.CLOSES[mark], "in"}
        assert sure([], f"anna brook {verb} the cat purrs in the house") == {grammar.CLOSES[mark]}
    assert sure([], "the cat purrs in the house") == {"."}


@pytest.mark.parametrize("wrong", ["the the", "the cat barks", "anna says", "<start>"])
def test_what_the_grammar_never_says_is_refused_with_the_word(wrong):
    with pytest.raises(ValueError, match=f"'{wrong.split()[-1]}' cannot come after"):
        grammar.next_words([grammar.START, *wrong.split()])


def test_the_entropy_of_the_first_words_is_that_of_all_their_texts_counted():
    """Every text of six words, each with its chance, against the mean over many drawn ones."""
    ahead, exact, entropy, counted = [((grammar.START,), 1.0)], 0.0, 0.0, 0
    while ahead:
        words, chance = ahead.pop()
        if len(words) == 6:
            exact, counted = exact + chance, counted + 1
            entropy -= chance * math.log(chance) / 5
            continue
        ahead += [((*words, word), chance * p) for word, p in grammar.next_words(words).items()]
    assert exact == pytest.approx(1)
    assert counted > 1_000
    drawn = [grammar.spoken(random.Random(seed), 6)[1] for seed in range(4_000)]
    found = [-math.log(chance) for chances in drawn for chance in chances[1:]]
    assert sum(found) / len(found) == pytest.approx(entropy, rel=0.01)


def test_the_same_seed_tells_the_same_texts_and_held_out_ones_are_others():
    assert told(20, 3).ids.equal(told(20, 3).ids)
    trained, held_out = told(2_000, 0), told(200, HELD_OUT)
    seen = {tuple(text) for text in trained.ids.tolist()}
    assert not seen & {tuple(text) for text in held_out.ids.tolist()}
