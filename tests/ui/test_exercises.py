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


def every_line_matters(lesson, example):
    """No wrong line that is known, and no operand passed on as it is, gives the right numbers."""
    trace = exercise_trace(trace_of(lesson, example))
    wanted = exercise_steps(trace)
    needed = {name for step in wanted for name in (step, *trace[step].earlier())}
    assert not unnoticed(trace, [trace[name] for name in trace if name in needed], wanted)


@pytest.mark.slow("2 s: many wrong lines")
@pytest.mark.parametrize(("lesson", "example"), TELLING)
def test_no_wrong_line_of_an_exercise_passes(lesson, example):
    every_line_matters(lesson, example)


@pytest.mark.long
@pytest.mark.parametrize(("lesson", "example"), PLACES)
def test_no_wrong_line_of_any_exercise_passes(lesson, example):
    every_line_matters(lesson, example)
