"""Which cases of a long product run every day; the others are `long`, for `make fuzz`."""

import random
from collections.abc import Iterable
from itertools import product
from typing import Any

import pytest


def few(cases: Iterable[Any], most: int) -> list:
    """All cases as params, of which the first and a seeded choice of the others, together `most`,
    run every day.
    """
    cases = list(cases)
    chosen = random.Random(len(cases)).sample(range(1, len(cases)), min(most, len(cases)) - 1)
    return [_param((case,), str(case), at in {0, *chosen}) for at, case in enumerate(cases)]


def pairs(firsts: Iterable[Any], seconds: Iterable[Any], *, more: int = 10) -> list:
    """The product of two lists as params, of which every day: each of the first with one of the
    second, taken in turn; the first of the first with each of the second; `more` seeded ones.
    """
    firsts, seconds = list(firsts), list(seconds)
    chosen = {(at, at % len(seconds)) for at in range(len(firsts))}
    chosen |= {(0, at) for at in range(len(seconds))}
    places = [*product(range(len(firsts)), range(len(seconds)))]
    chosen |= {*random.Random(len(places)).sample(places, min(more, len(places)))}
    return [
        _param((firsts[one], seconds[two]), f"{firsts[one]}-{seconds[two]}", (one, two) in chosen)
        for one, two in places
    ]


def _param(values: tuple, name: str, every_day: bool) -> Any:
    marks = () if every_day else pytest.mark.long
    return pytest.param(*values, id=name.removeprefix("pages/"), marks=marks)
