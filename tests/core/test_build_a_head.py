"""The bench: each puzzle is solved by its answer, and by nothing else that is at hand."""

import pytest

from attention_core.experiments.build_a_head import (
    LONGEST,
    PUZZLES,
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
