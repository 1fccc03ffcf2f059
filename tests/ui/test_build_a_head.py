"""The bench as a page: hints one at a time, the answer last, and what a link says."""

import pytest

from attention_core.experiments.build_a_head import PUZZLES
from attention_ui.lessons.build_a_head import lesson
from chosen import of, read
from visiting import stands, texts, values_of, visit, words

SLOW = pytest.mark.slow("8 s: whole pages")
PAGE = "build_a_head"


def link_of(puzzle):
    settings = lesson.settings_of(puzzle.answer)
    typed = {each.name: each.field.write(settings[each.name]) for each in lesson.EDITS}
    return {"puzzle": puzzle.name} | {name: text for name, text in typed.items() if text != "none"}


@pytest.mark.parametrize("puzzle", PUZZLES, ids=lambda each: each.name)
def test_a_link_with_the_answer_is_solved_and_one_with_another_puzzles_is_not(puzzle):
    assert lesson.is_solved(of(lesson.CONTROLS, **link_of(puzzle)))
    assert not lesson.is_solved(of(lesson.CONTROLS, puzzle=puzzle.name))
    for other in PUZZLES:
        values, wrong = read(lesson.CONTROLS, **link_of(other) | {"puzzle": puzzle.name})
        assert other is puzzle or wrong or not lesson.is_solved(values)


@SLOW
def test_hints_come_one_at_a_time_and_the_answer_last_with_why():
    at, puzzle = visit(PAGE), PUZZLES[0]
    assert "Hint 1" not in words(at)
    for count in range(1, len(puzzle.hints) + 1):
        assert puzzle.why not in words(at)
        assert not [each for each in at.button if each.key == "answer"]
        at.button(key="hint").click().run()
        assert f"Hint {count}" in words(stands(at))
        assert f"Hint {count + 1}" not in words(at)
    at.button(key="answer").click().run()
    assert puzzle.why in words(stands(at))
    assert "holds on 5 of 5" in words(at)
    at.button(key="next").click().run()
    values = values_of(stands(at))
    assert values.puzzle == PUZZLES[1].name
    assert (values.hints, *values.of(*lesson.EDITS)) == (0, *[()] * len(lesson.EDITS)), "begun anew"


def test_a_sentence_of_ones_own_may_ask_for_nothing_and_other_words_are_refused():
    at = visit(PAGE, **link_of(PUZZLES[2]), head_sentence="the cat sleeps")
    assert "no word asks for it" in words(at)
    assert PUZZLES[2].why in words(at), "it is solved where the question arises"
    at.text_input(key="control_head_sentence").set_value("the bird sleeps").run()
    assert "“bird” is none of the words here" in texts(stands(at))
    assert values_of(at).head_sentence == "the cat sleeps"


def test_the_query_that_is_shown_first_is_the_one_that_the_answer_moves():
    for name in ("pronoun", "copies"):
        values = of(lesson.CONTROLS, puzzle=name)
        assert values.head_sentence.split()[lesson.asks_first(values)] == "it"
