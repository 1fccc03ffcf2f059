"""A row of weights, guessed with one slider per key before it is shown."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import streamlit as st

from attention_core.text.tokenizers import visible

from ..charts.bars import bars, width_of
from ..charts.chart import Chart
from ..reactive.widget import is_there, put_in, sent
from ..words import listed
from .questions import Question, Verdict

MOST = 9
"""Sliders of one row; further keys share the last one. The first example has as many keys."""
SLIDERS = 330
"""Pixels across."""
START = 0.5
"""What each slider begins with."""
GUESS, TRUTH = "your guess", "the weights"
CLOSE = 0.1
"""A guess at most this far off counts as right."""
SLACK = 1e-3
"""How far the sum of a row may be from 1 once its numbers are rounded."""


def distance(guess: Sequence[float], truth: Sequence[float]) -> float:
    """The total variation distance of two rows that sum to 1: the weight that would move."""
    return sum(abs(p - q) for p, q in zip(guess, truth, strict=True)) / 2


def as_shares(values: Sequence[float]) -> tuple[float, ...] | None:
    """The numbers divided by their sum; None where all are 0."""
    total = sum(values)
    return tuple(value / total for value in values) if total else None


@dataclass(frozen=True, kw_only=True)
class Row(Question):
    """A row of weights over some keys. A slider a key, from 0 to 1; the row is their shares.

    `keys` are the places that the query may look at, `tokens` their tokens (a person's text),
    `weights` the truth, of which each is at least 0 and the sum is 1.
    """

    keys: Sequence[int]
    tokens: Sequence[str]
    weights: Sequence[float]
    missing: str = field(default="Give at least one key some weight first.", init=False)

    @property
    def single(self) -> int:
        """How many keys have a slider of their own."""
        return len(self.keys) if len(self.keys) <= MOST else MOST - 1

    @property
    def labels(self) -> list[str]:
        """The labels of the sliders. They hold nothing that a visitor typed."""
        rest = len(self.keys) - self.single
        return [f"key {key}" for key in self.keys[: self.single]] + (
            [f"the other {rest} keys together"] if rest else []
        )

    @property
    def names(self) -> list[str]:
        """The names beside the sliders and below the bars. A visitor's text."""
        named = [
            f"{key}: {visible(token)}" for key, token in zip(self.keys, self.tokens, strict=True)
        ]
        return named[: self.single] + (["others"] if len(named) > self.single else [])

    @property
    def truth(self) -> list[float]:
        """The weights, with those that share a slider added up."""
        rest = self.weights[self.single :]
        return [*self.weights[: self.single], *([sum(rest)] if rest else [])]

    @property
    def offered(self) -> Sequence[str]:
        return [f"{name}: ____" for name in self.names]

    def _keys(self, key: str) -> list[str]:
        return [f"{key}_{at}_of_{len(self.keys)}" for at in range(len(self.labels))]

    def ask(self, key: str) -> None:
        # So wide that the buttons stand below, and the bars beside the sliders.
        self.begin_with(key, [START] * len(self.labels))
        wide = SLIDERS + 2 * width_of(len(self.names))
        with st.container(horizontal=True, gap="medium", vertical_alignment="center", width=wide):
            with st.container(width=SLIDERS, gap="xsmall", key=f"sliders_{key}"):
                rows = zip(self._keys(key), self.labels, self.names, strict=True)
                for each, label, name in rows:
                    with st.container(horizontal=True, wrap=False, vertical_alignment="center"):
                        st.text(name, width=96)
                        st.slider(
                            label,
                            min_value=0.0,
                            max_value=1.0,
                            step=0.05,
                            key=each,
                            label_visibility="collapsed",
                        )
                st.caption("Only the ratios count: each bar is its slider's share of the total.")
            guess = self.guess(key) or [0.0] * len(self.names)
            chart = bars(self.names, {GUESS: guess})
            with st.container(width=width_of(len(self.names)), key=f"chart_of_{key}"):
                st.vega_lite_chart(chart.frame, chart.spec, width="stretch", alt=chart.alt)

    def begin_with(self, key: str, guess: Sequence[float]) -> None:
        """Set the sliders of this key to a guess, where they are not there yet."""
        for each, share in zip(self._keys(key), guess, strict=True):
            if not is_there(each):
                put_in(each, share)

    def where_left(self, key: str, shares: Sequence[float]) -> list[float]:
        """Where the sliders of this key stood when these shares were given; where those are gone,
        or have been moved since, places that give the same shares.
        """
        stood = [sent(each, 0.0) for each in self._keys(key)]
        given = as_shares(stood)
        if given and distance(given, shares) < SLACK:
            return stood
        largest = max(shares)  # only ratios count
        return [START if len(set(shares)) == 1 else each / largest for each in shares]

    def guess(self, key: str) -> tuple[float, ...] | None:
        return as_shares([sent(each, START) for each in self._keys(key)])

    def judged(self, guess: tuple[float, ...]) -> Verdict:
        off = distance(guess, self.truth)
        alike = distance([1 / len(guess)] * len(guess), self.truth)
        compared = f"; with all bars equal it would be {alike:.0%}" if len(set(guess)) > 1 else ""
        words = f"{off:.0%} of your weight would have to move to other keys{compared}."
        called = f" This share is called the total variation distance: {off:.4f}."
        return Verdict(off <= CLOSE, words + called, off)

    def answer(self) -> str:
        found = zip(self.truth, self.labels, strict=True)
        return f"The weights are {listed([f'{w:.2f} for {key}' for w, key in found])}."

    def understood(self, numbers: Sequence[float]) -> tuple[float, ...] | None:
        is_row = len(numbers) == len(self.labels) and all(0 <= each <= 1 for each in numbers)
        return tuple(numbers) if is_row and abs(sum(numbers) - 1) < SLACK else None

    def in_words(self, guess: tuple[float, ...]) -> str:
        most = max(guess)
        tops = [name for name, each in zip(self.names, guess, strict=True) if each == most]
        return f"most on {listed(tops)}" if len(tops) < len(guess) else "all alike"

    def drawn(self, guess: tuple[float, ...]) -> Chart:
        return bars(self.names, {GUESS: guess, TRUTH: self.truth})
