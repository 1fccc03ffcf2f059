"""The exercise of any page with any example: no wrong line gives the right numbers."""

import itertools
import random
from unittest.mock import patch

import pytest

from attention_core import EXAMPLES
from attention_core.export.exercise import exercise_steps, exercise_trace
from attention_core.export.telling import unnoticed
from attention_ui.frame import ends
from visiting import LESSONS, stands, visit

PLACES = list(itertools.product(LESSONS, EXAMPLES))
TELLING = [
    ("flash_attention", "wild_cat"),
    ("flash_attention", "journey_123"),
    ("transformer_block", "wild_cat"),
    ("simplified_attention", "sorry_dave_first_run"),
    ("cross_attention", "journey_123"),
    *random.Random(28).sample(PLACES, 5),
]
"""Where wrong lines gave right numbers once, and some more."""


def trace_of(lesson, example):
    given = []
    with patch.object(ends, "put_ends", lambda trace, *_: given.append(trace)):
        stands(visit(lesson, example=example))
    return given[0]


CASES = [pytest.param(*each, marks=pytest.mark.slow("2 s: many lines")) for each in TELLING]
CASES += [pytest.param(*each, marks=pytest.mark.long) for each in PLACES]


@pytest.mark.parametrize(("lesson", "example"), CASES)
def test_no_wrong_line_and_no_operand_as_it_is_passes_in_an_exercise(lesson, example):
    trace = exercise_trace(trace_of(lesson, example))
    wanted = exercise_steps(trace)
    needed = {name for step in wanted for name in (step, *trace[step].earlier())}
    assert not unnoticed(trace, [trace[name] for name in trace if name in needed], wanted)
