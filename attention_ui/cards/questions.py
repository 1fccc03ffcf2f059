"""Kinds of questions: each draws its widgets, reads a guess, and judges it by the tensor."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from ..reactive.widget import sent

NONE = "none of them"
"""The choice for "no other choice applies", where several can be picked."""

MOST_SIDE = 9_999
"""The longest side of a shape that can be typed."""


@dataclass(frozen=True)
class Verdict:
    """Whether a guess is right, and how far off, in words; a row has only a `distance` (0 to 1)."""

    right: bool
    words: str
    distance: float | None = None


@dataclass(frozen=True, kw_only=True)
class Question(ABC):
    """What all kinds share. `words` and verdicts are ours; `asked` may be a person's: plain."""

    words: str
    teaches: str = ""
    """What to learn from the answer, said once it is on the screen."""
    asked: str = ""
    missing: str = field(default="Choose an answer first.", init=False)
    """What is said when Check is pressed without a guess."""
    until_right: bool = False
    """Whether a wrong guess leaves the pictures covered, so that one can guess again."""
    at: Mapping[str, Sequence[int]] = field(default_factory=dict)
    """The places along named axes of what it is about that it asks for; all where none is named."""
    only_shapes = False
    """Whether the answer depends only on the shapes of the tensors, not on their numbers."""

    @property
    def offered(self) -> Sequence[str]:
        """What there is to choose from, in words, on paper. May hold a person's text."""
        return ()

    @abstractmethod
    def ask(self, key: str) -> None:
        """Draw the widgets, with keys that begin with `key`."""

    @abstractmethod
    def guess(self, key: str) -> Any | None:
        """What the widgets hold; None where nothing was chosen."""

    @abstractmethod
    def judged(self, guess: Any) -> Verdict:
        """Whether it is right, or how far off it is."""

    @abstractmethod
    def answer(self) -> str:
        """What is right, in a sentence of ours: said to who has not guessed."""

    @abstractmethod
    def understood(self, numbers: Sequence[float]) -> Any | None:
        """The guess that these numbers stand for, whoever sent them; None where they are none."""

    @abstractmethod
    def in_words(self, guess: Any) -> str:
        """A guess in a few words, among which may be a text that somebody typed."""

    def drawn(self, _: Any) -> Any | None:
        """The truth over the guess, where there is a picture of it."""
        return None


@dataclass(frozen=True, kw_only=True)
class Pick(Question):
    """One of many, or some of them if `many`: an arg-max, a count, the rows that are alike.

    `choices` may hold a person's text. `judge` gets the places that were picked, in order; `truth`
    says what is right, in a sentence of ours.
    """

    choices: Sequence[str]
    judge: Callable[[list[int]], Verdict]
    truth: Callable[[], str]
    many: bool = False
    in_full: bool = False
    """Whether the choices are sentences of ours, below each other: none with a person's text."""

    def __post_init__(self) -> None:
        if self.many:  # of a frozen class
            object.__setattr__(self, "missing", f"Choose one or more, or “{NONE}” alone.")

    @property
    def offered(self) -> Sequence[str]:
        return [f"☐ {each}" for each in self._choices]

    @property
    def _choices(self) -> list[str]:
        return [*self.choices, *([NONE] if self.many else [])]

    def ask(self, key: str) -> None:
        choices = self._choices
        places = sorted(range(len(choices)), key=lambda at: choices[at] != NONE)  # not below 64
        options: dict[str, Any] = {"format_func": choices.__getitem__, "key": key}
        if self.many:
            st.multiselect("Your guess", places, width=520, **options)
        else:
            st.selectbox(
                "Your guess", places, index=None, placeholder="Choose one", width=320, **options
            )

    def guess(self, key: str) -> list[int] | None:
        picked = sent(key)
        if not self.many:
            return None if picked is None else [picked]
        chosen = [at for at in sorted(picked or ()) if at < len(self.choices)]
        is_guess = bool(picked) and (not chosen or len(chosen) == len(picked))
        return chosen if is_guess else None  # none of them, and one of them, is no guess

    def judged(self, guess: list[int]) -> Verdict:
        return self.judge(guess)

    def answer(self) -> str:
        return self.truth()

    def understood(self, numbers: Sequence[float]) -> list[int] | None:
        places = [int(each) for each in numbers if each in range(len(self.choices))]
        is_one = len(places) == len(numbers) == len({*places})
        return sorted(places) if is_one and (self.many or len(places) == 1) else None

    def in_words(self, guess: list[int]) -> str:
        return ", ".join(self.choices[place] for place in guess) or NONE


@dataclass(frozen=True, kw_only=True)
class Shape(Question):
    """The shape of a tensor, (name, length) an axis; `sides` are what to call them before."""

    truth: tuple[tuple[str, int], ...]
    sides: tuple[str, ...] = ("Rows", "Columns")
    missing: str = field(default="Type a number for each side first.", init=False)
    only_shapes = True

    def _keys(self, key: str) -> list[str]:
        return [f"{key}_{at}" for at in range(len(self.truth))]

    def ask(self, key: str) -> None:
        with st.container(horizontal=True, vertical_alignment="bottom", width="content"):
            for side, each in zip(self.sides, self._keys(key), strict=True):
                st.number_input(
                    side, min_value=1, max_value=MOST_SIDE, value=None, step=1, key=each, width=132
                )

    def guess(self, key: str) -> tuple[int, ...] | None:
        sizes = [sent(each) for each in self._keys(key)]
        return None if None in sizes else tuple(map(int, sizes))

    def answer(self) -> str:
        return f"It is {self._shape()}."

    def understood(self, numbers: Sequence[float]) -> tuple[int, ...] | None:
        sizes = tuple(int(each) for each in numbers if each in range(1, MOST_SIDE + 1))
        return sizes if len(sizes) == len(numbers) == len(self.truth) else None

    def in_words(self, guess: tuple[int, ...]) -> str:
        return " × ".join(map(str, guess))

    def _shape(self) -> str:
        return " × ".join(f"{axis} {size}" for axis, size in self.truth)

    def judged(self, guess: tuple[int, ...]) -> Verdict:
        shape = self._shape()
        sizes = tuple(size for _, size in self.truth)
        if guess == sizes:
            return Verdict(True, f"Right: {shape}.")
        if sorted(guess) == sorted(sizes):
            return Verdict(False, f"It is {shape}: the numbers are right, their order is not.")
        off = [
            f"{side.lower()} {size} instead of {given}"
            for side, size, given in zip(self.sides, sizes, guess, strict=True)
            if size != given
        ]
        return Verdict(False, f"It is {shape}: {' and '.join(off)}.")
