"""The bench: each puzzle is solved by its answer, and by nothing else that is at hand."""

import math

import pytest
import torch

from attention_core.experiments import build_a_head
from attention_core.experiments.build_a_head import (
    FEATURES,
    LONGEST,
    NOUNS,
    PRONOUNS,
    PUZZLES,
    VERBS,
    WORDS,
    Puzzle,
    build,
    holds,
    start_of,
    vector_of,
)

BY_NAME = {each.name: each for each in PUZZLES}


def solved(puzzle: Puzzle, edits) -> bool:
    """Whether all that holds of it is what it asks for, on its own sentence and all hidden ones."""
    found = [holds(puzzle, each, edits)[0] for each in (puzzle.sentence, *puzzle.hidden)]
    assert None not in found, "every sentence asks for it"
    return all(found)


@pytest.mark.parametrize("name", BY_NAME)
def test_the_answer_of_a_puzzle_passes_and_doing_nothing_and_all_other_answers_do_not(name):
    puzzle = BY_NAME[name]
    assert solved(puzzle, puzzle.answer)
    firm = {
        of: tuple((*at, 3 * number) for *at, number in each) for of, each in puzzle.answer.items()
    }
    assert "100%" not in holds(puzzle, puzzle.sentence, firm)[1], "softmax leaves all a share"
    assert not solved(puzzle, {})
    for other in PUZZLES:
        if other is not puzzle:
            assert not solved(puzzle, other.answer), other.name


@pytest.mark.parametrize("name", BY_NAME)
def test_no_number_of_an_answer_can_be_left_out(name):
    puzzle = BY_NAME[name]
    for matrix, edits in puzzle.answer.items():
        for left in edits:
            fewer = {**puzzle.answer, matrix: tuple(each for each in edits if each != left)}
            assert not solved(puzzle, fewer), f"{matrix} {left}"


@pytest.mark.parametrize("name", BY_NAME)
def test_a_puzzle_has_five_other_sentences_three_hints_and_an_answer_that_changes_something(name):
    puzzle = BY_NAME[name]
    assert (len({*puzzle.hidden, puzzle.sentence}), len(puzzle.hints)) == (6, 3)
    for matrix, edits in puzzle.answer.items():
        was = start_of(puzzle, matrix)
        assert matrix in puzzle.matrices
        assert all(was[row][column] != number for row, column, number in edits)


def test_what_is_no_sentence_of_the_bench_is_refused_in_words():
    with pytest.raises(ValueError, match="“bird” is none of the words here"):
        build(PUZZLES[0], "the bird", {})
    for text in ("", "cat " * (LONGEST + 1)):
        with pytest.raises(ValueError, match="has 1 to 8 words"):
            build(PUZZLES[0], text, {})


def test_no_two_words_or_places_are_alike():
    vectors = {vector_of(word, place) for word in WORDS for place in range(LONGEST)}
    assert len(vectors) == len(WORDS) * LONGEST


def test_an_entry_of_a_vector_says_what_its_name_says():
    for word in WORDS:
        for place in range(LONGEST):
            has = dict(zip(FEATURES, vector_of(word, place), strict=True))
            what = (2.0 if word in NOUNS else 1.0 if word in PRONOUNS else 0.0,
                    2.0 if word in VERBS else 0.0, 2.0 if word in PRONOUNS else 0.0)  # fmt: skip
            assert (has["animal"], has["action"], has["refers"]) == what
            assert (has["always"], has["first"]) == (1.0, 1.0 if place == 0 else 0.0)
            for clock, hour, hours in (("place", place, 8), ("name", WORDS.index(word), 10)):
                turned = complex(has[f"{clock}_x"], has[f"{clock}_y"]) ** hours
                assert turned == pytest.approx(1, abs=2e-3)
                angle = math.atan2(has[f"{clock}_y"], has[f"{clock}_x"]) / math.tau * hours
                assert angle % hours == pytest.approx(hour, abs=1e-3), "each an hour after the last"


class Seen(dict):
    """Of a trace, what a check looks at: its tokens and its steps."""

    def labels(self, axis):
        return {"token": self["tokens"]}[axis]

    def __getitem__(self, name):
        found = super().__getitem__(name)
        return found if name == "tokens" else type("Step", (), {"value": found})


WANTED = {
    "before": (0.5, lambda _, query, key: key == query - 1),
    "same_word": (0.6, lambda words, query, key: words[key] == words[query]),
    "pronoun": (0.8, lambda words, query, key: words[query] in PRONOUNS and words[key] in NOUNS),
    "verb": (0.7, lambda words, _, key: words[key] in VERBS),
    "first": (0.7, lambda _, query, key: key == 0 < query),
    "what_followed": (
        0.4, lambda words, query, key: key and words[key - 1] == words[query] and key - 1 < query
    ),
}  # fmt: skip
"""How much of its weight a query has to give, and to which of the keys that it may see."""
TEXTS = ("the cat sleeps and it chases the cat", "it sleeps", "she chases",
         "dog", "and because she", "cat cat the dog it")  # fmt: skip


@pytest.mark.parametrize("name", WANTED)
def test_a_check_asks_for_the_weight_that_its_words_ask_for_and_no_more(name):
    least, is_wanted = WANTED[name]
    check, asked = getattr(build_a_head, name), 0
    for text in TEXTS:
        words = tuple(text.split())
        each = range(len(words))
        pairs = {query: [key for key in each if key <= query and is_wanted(words, query, key)]
                 for query in each}  # fmt: skip
        pairs = {query: keys for query, keys in pairs.items() if keys}
        for share in (least - 0.015, least + 0.015, 0.996):
            rows = torch.zeros(len(words), len(words)).double()
            for query in each:
                keys = pairs.get(query, [])
                others = [key for key in each if key not in keys]
                for some, weight in ((keys, share), (others, 1 - share)):
                    rows[query, some] = weight / max(len(some), 1)
            seen = Seen(tokens=words, weights=rows, second_weights=rows)
            if name != "what_followed":
                del seen["second_weights"]
            holds_, told = check(seen)
            if not pairs:
                assert (holds_, told) == (None, "no word asks for it")
                continue
            # Where all keys are wanted, nothing is left for others.
            asked += 1
            assert holds_ == (share >= least), (text, told)
            percent = f"{math.floor(100 * share)}%"
            begins = ("nearly all of" if share > 0.995 else f"at least {percent} of" if holds_ else
                      f"as little as {percent} of")  # fmt: skip
            assert told.startswith(begins), told
            assert holds_ or told.endswith(f"; it takes {least:.0%}")
    assert asked >= 6


def test_shares_are_equal_within_two_hundredths():
    even = torch.ones(4, 4).tril() / torch.arange(1, 5)[:, None]
    for off, holds_ in ((0.0, True), (0.0199, True), (0.0201, False)):
        rows = even.clone()
        rows[3, 1] += off
        rows[3, 3] -= off
        found, told = build_a_head.mean(Seen(tokens=("a",) * 4, weights=rows))
        assert found is holds_
        assert told == f"a weight is up to {off:.2f} from an equal share; 0.02 is allowed"
    assert build_a_head.mean(Seen(tokens=("a",) * 2, weights=even[:2, :2]))[0]
    assert build_a_head.mean(Seen(tokens=("a",), weights=even[:1, :1]))[0] is None


def test_a_pronoun_hands_on_the_name_of_an_animal_and_of_nothing_else():
    words = ("the", "cat", "sleeps", "it")
    embeddings = torch.tensor([vector_of(word, place) for place, word in enumerate(words)])
    name = embeddings[1, [FEATURES.index("name_x"), FEATURES.index("name_y")]]
    for key, off, holds_ in ((1, 0.29, True), (1, 0.31, False), (2, 0.0, False)):
        weights = torch.zeros(4, 4)
        weights[3, key] = 1
        context = torch.full((4, 2), 9.0)
        context[3] = name + torch.tensor([off, 0.0])
        seen = Seen(tokens=words, weights=weights, embeddings=embeddings, context_vectors=context)
        found, told = build_a_head.copies(seen)
        assert found is holds_
        assert (f"up to {off:.2f} from that word's name" in told) == (key == 1)
        assert ("no animal" in told) == (key == 2)
    words = ("the", "it", "sleeps")
    assert build_a_head.copies(Seen(tokens=words)) == (None, "no word asks for it")
