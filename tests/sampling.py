"""Which cases of a product run every day; the others are `long`, for `make fuzz` alone."""

import random
from collections.abc import Callable, Hashable, Iterable
from itertools import combinations, product
from typing import Any

import hypothesis
import pytest


def is_long() -> bool:
    return hypothesis.settings.get_current_profile_name() == "long"


def few(cases: Iterable[Any], most: int, *, first: Any = None) -> list:
    """All cases as params, of which the first and a seeded choice, `most` in all, run every day."""
    cases = [case if isinstance(case, tuple) else (case,) for case in cases]
    if first is not None:
        cases.sort(key=lambda case: case != (first,))
    chosen = random.Random(len(cases)).sample(range(1, len(cases)), min(most, len(cases)) - 1)
    return _params((c, "-".join(map(str, c)), at in {0, *chosen}) for at, c in enumerate(cases))


def of_each_kind(cases: Iterable[Any], kind: Callable[[Any], Hashable]) -> list:
    """All cases as params, of which the first of each kind runs every day."""
    cases = list(cases)
    chosen = {kind(case): case for case in reversed(cases)}
    return _params(((case,), str(case), chosen[kind(case)] is case) for case in cases)


def pairs(
    firsts: Iterable[Any], seconds: Iterable[Any], *, whole: Any = None, more: int = 10
) -> list:
    """The product of two lists as params; every day each once, all of `whole`, and `more`."""
    firsts, seconds = list(firsts), list(seconds)
    chosen = {(at, at % len(seconds)) for at in range(len(firsts))}
    chosen |= {(0 if whole is None else firsts.index(whole), at) for at in range(len(seconds))}
    places = [*product(range(len(firsts)), range(len(seconds)))]
    chosen |= {*random.Random(len(places)).sample(places, min(more, len(places)))}
    return _params(
        ((firsts[one], seconds[two]), f"{firsts[one]}-{seconds[two]}", (one, two) in chosen)
        for one, two in places
    )


def each_once(cases: Iterable[Any], why: str, *, parts: Callable[[Any], tuple] = tuple) -> list:
    """All cases as params, of which `make check` runs so many that each part of each case is in
    one: a seeded choice. The others are slow, since what they hold is the same rule.
    """
    cases = list(cases)
    shuffled, seen, plain = random.Random(len(cases)).sample(cases, len(cases)), set(), []
    for case in shuffled:
        if new := {*enumerate(parts(case))} - seen:
            seen |= new
            plain.append(case)
    slow = pytest.mark.slow(why)
    return [
        pytest.param(*(each if isinstance(each, tuple) else (each,)), marks=[slow][each in plain :])
        for each in cases
    ]


def in_twos(case: Iterable[Any]) -> tuple:
    """Every two parts of a case, for `each_once`: most faults need no more than two at once."""
    return tuple(combinations(case, 2))


def marked(cases, plain, mark=pytest.mark.long):
    """All cases as params, with a mark on those that are not among the plain ones."""
    return [
        pytest.param(*(each if isinstance(each, tuple) else (each,)), marks=[mark][each in plain :])
        for each in cases
    ]


def _params(cases: Iterable[tuple[tuple, str, bool]]) -> list:
    """Of values, a name, and whether they run every day."""
    return [
        pytest.param(
            *values, id=name.replace("pages/", ""), marks=() if every_day else pytest.mark.long
        )
        for values, name, every_day in cases
        if every_day or is_long()
    ]
