"""Each step of a lesson has the axes, the operation, the operands and the meaning that it had."""

import pytest

from steps_of_lessons import known, steps_of_lesson

KNOWN = known()


@pytest.mark.parametrize("name", KNOWN)
def test_the_steps_of_a_lesson_are_those_that_it_had(name):
    """Where another one is meant, `python tests/steps_of_lessons.py` writes the file anew, with any
    new lesson.
    """
    assert steps_of_lesson(name) == KNOWN[name]
