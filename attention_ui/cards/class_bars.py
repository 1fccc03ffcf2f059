"""What a class has answered, as a chart: by the question's own words and its own judgement."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from ..charts.chart import Chart
from ..charts.votes import LETTERS, rows_over, votes
from ..classroom.classroom import Guess
from .questions import NONE, Pick, Question
from .row_question import Row

Tally = Sequence[tuple[Guess, int]]
MOST_BARS = 16
"""Of more choices than these, only those that somebody has picked are shown."""


def drawn(asked: Any, tallies: Sequence[Tally], is_open: bool, letters: int = LETTERS) -> Chart:
    """The bars of the last two turns; of a row of weights, everybody's rows over one another.
    Once the numbers are open, what is right is marked. A letter is `letters` pixels high.
    """
    if isinstance(asked, Row):
        before, rows = (
            [guess for guess, n in tally for _ in range(n)] for tally in ((), *tallies)[-2:]
        )
        return rows_over(asked.names, rows, asked.truth if is_open else None, letters, before)
    counts = [Counter(dict(each)) for each in tallies[-2:]]
    if isinstance(asked, Pick):
        names, turns, right = _picked(asked, counts)
    else:
        names, turns, right = _written(asked, counts)
    people = [sum(n for _, n in tally) for tally in tallies[-2:]]
    return votes(names, turns, people, right if is_open else (), letters)


def how_many_right(asked: Question, tallies: Sequence[Tally]) -> str:
    """How many were right at each turn, in words."""
    each = [
        (sum(n for guess, n in tally if is_right(asked, guess)), sum(n for _, n in tally))
        for tally in tallies
    ]
    return f"Right: {', then '.join(f'**{right}** of {n}' for right, n in each)}."


def in_words(asked: Question, guess: Guess) -> str:
    """An answer in words, among which may be a text that somebody typed."""
    return asked.in_words(asked.understood(guess))


def is_right(asked: Question, guess: Guess) -> bool:
    """As the question judges it."""
    return asked.judged(asked.understood(guess)).right


def _picked(
    asked: Pick, counts: Sequence[Counter[Guess]]
) -> tuple[list[str], list[list[int]], list[bool]]:
    """The choices, how often each was picked in each turn, and which are right."""
    places = range(len(asked.choices))
    each = [
        [sum(n for guess, n in turn.items() if place in guess) for place in places]
        for turn in counts
    ]
    shown = [at for at in places if len(places) <= MOST_BARS or any(turn[at] for turn in each)]
    names = [asked.choices[at] for at in shown]
    turns = [[turn[at] for at in shown] for turn in each]
    if asked.many:  # several are judged together, in words, and not one by one
        return [*names, NONE], [[*turn, n[()]] for turn, n in zip(turns, counts, strict=True)], []
    return names, turns, [is_right(asked, (at,)) for at in shown]


def _written(
    asked: Question, counts: Sequence[Counter[Guess]]
) -> tuple[list[str], list[list[int]], list[bool]]:
    """What was written, the most common first, how often in each turn, and which is right."""
    every: Counter[Guess] = sum(counts, Counter())
    found = [guess for guess, _ in every.most_common(MOST_BARS)]
    names = [in_words(asked, guess) for guess in found]
    turns = [[turn[guess] for guess in found] for turn in counts]
    return names, turns, [is_right(asked, guess) for guess in found]
