"""The kinds of values that only this app has, beside those of `attention_ui/reactive/fields.py`."""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from attention_core.small_models.grammar import ANIMALS, LONGEST, START, WORDS, nearest, split
from attention_core.text.tokenizers import clean, visible

from ..reactive.fields import AsItIs, nine_digits, parts_of
from ..words import listed, true_minus

MAX_CHARACTERS = 5_000
MAX_TOKENS = 64
MAX_EDITS = 200
MAX_TRAIL = 12
LARGEST_ENTRY = 1_000.0
MOST_QUOTED = 40
"""Characters that are quoted of a word that is not known."""


CellPlace = tuple[str, tuple[int, ...]]
"""A cell: the name of its step, and its index."""


@dataclass(frozen=True)
class ScoreRow:
    """A short row of scores with commas or blanks between them; `-inf` is a hidden one."""

    widget: ClassVar[str] = "text_input"
    most: float
    longest: int

    def read(self, text: str) -> tuple[float, ...]:
        parts = text.replace("−", "-").replace("∞", "inf").replace(",", " ").split()
        if not 1 <= len(parts) <= self.longest:
            raise ValueError(f"it must hold 1 to {self.longest} numbers, with commas between them")
        return tuple(map(self._score, parts))

    def remark(self, text: str) -> str | None:
        """What to say of how a text was read: `1,5 2,5` may have been meant as two decimals."""
        if not re.fullmatch(r"\s*[-+−]?\d+,\d+(\s+[-+−]?\d+,\d+)+\s*", text):
            return None
        scores = [true_minus(f"{score:g}") for score in self.read(text)]
        return (
            f"A comma stands between two scores, so these are {len(scores)} of them: "
            f"{listed(scores)}. Write a decimal with a point, such as 1.5."
        )

    def _score(self, part: str) -> float:
        score = nine_digits(part)
        if score != -math.inf and not abs(score) <= self.most:
            bounds = f"from −{self.most:,g} to {self.most:,g}"
            raise ValueError(f"each score must be a number {bounds}, or -inf for a hidden one")
        return score

    def write(self, value: tuple[float, ...]) -> str:
        return ",".join(f"{score:.9g}" for score in value)


@dataclass(frozen=True)
class Sentence(AsItIs):
    """A text, cleaned of characters that only do harm. Its control's `check` counts tokens."""

    widget: ClassVar[str] = "text_area"
    most_bytes: int | None = None
    """Where what is made of it counts bytes, so many fit."""

    def read(self, text: str) -> str:
        if len(text) > MAX_CHARACTERS:
            raise ValueError(
                f"it has {len(text):,} characters, and the limit is {MAX_CHARACTERS:,}: shorten it"
            )
        cleaned, _ = clean(text)
        if not cleaned:
            raise ValueError("it must have at least one word")
        n_bytes, most = len(cleaned.encode()), self.most_bytes
        if most and n_bytes > most:
            raise ValueError(f"it has {n_bytes:,} bytes, and {most} fit: shorten it")
        return cleaned

    def remark(self, text: str) -> str | None:
        """What to say of how a text was taken up."""
        gone = clean(text)[1]
        if not gone:
            return None
        signs = "1 invisible sign was" if gone == 1 else f"{gone:,} invisible signs were"
        return f"{signs} left out of the text: they show nothing."


def unknown_word(words: Iterable[str]) -> str | None:
    """What to say of the first word that is not of the tiny language; None where all are."""
    for word in words:
        if word == START or word not in WORDS:
            near = nearest(word[:MOST_QUOTED])
            others = listed([f"“{each}”" for each in near or ANIMALS])
            return (
                f"“{visible(word[:MOST_QUOTED])}” is none of the {len(WORDS) - 1} words here. "
                f"{'Spelled nearly like it' if near else 'Its animals'}: {others}"
            )
    return None


@dataclass(frozen=True)
class KnownWords(AsItIs):
    """Words of the tiny language, with blanks between them."""

    def read(self, text: str) -> str:
        if len(text) > MAX_CHARACTERS:
            raise ValueError(f"it has {len(text):,} characters: shorten it")
        words = split(clean(text)[0])
        if not words:
            raise ValueError("it must have at least one word")
        if problem := unknown_word(words):
            raise ValueError(problem)
        if len(words) >= LONGEST:
            raise ValueError(f"it has {len(words)} words, and {LONGEST - 1} fit: shorten it")
        return " ".join(words)


@dataclass(frozen=True)
class Edits:
    """Cells typed by hand: `row.column:number`, with commas between them; `none` for none."""

    def read(self, text: str) -> tuple[tuple[int, int, float], ...]:
        pattern, like = r"[0-9]{1,5}\.[0-9]{1,3}:.{1,24}", "2.0:0.5,3.1:-1 (row.column:number)"
        edits: dict[tuple[int, int], float] = {}
        for part in parts_of(text, MAX_EDITS, "numbers", pattern, like):
            row, column, number = re.split("[.:]", part, maxsplit=2)
            edits[int(row), int(column)] = entry(number)
        return tuple((row, column, number) for (row, column), number in sorted(edits.items()))

    def write(self, value: tuple[tuple[int, int, float], ...]) -> str:
        return ",".join(f"{row}.{column}:{number:.9g}" for row, column, number in value) or "none"


@dataclass(frozen=True)
class Places:
    """Some cells of a table: `row.column`, with commas between them; `none` for none."""

    most: int

    def read(self, text: str) -> tuple[tuple[int, int], ...]:
        pattern, like = r"[0-9]{1,2}\.[0-9]{1,2}", "2.5,3.1 (query.key)"
        cells = (part.split(".") for part in parts_of(text, self.most, "cells", pattern, like))
        return tuple(sorted({(int(row), int(column)) for row, column in cells}))

    def write(self, value: tuple[tuple[int, int], ...]) -> str:
        return ",".join(f"{row}.{column}" for row, column in value) or "none"


@dataclass(frozen=True)
class Trail:
    """The way to a cell: `step.row.column`, with commas between the stations; `none` for none."""

    def read(self, text: str) -> tuple[CellPlace, ...]:
        pattern = r"[A-Za-z_][A-Za-z0-9_]{0,39}(\.[0-9]{1,5}){1,4}"
        trail = []
        for part in parts_of(text, MAX_TRAIL, "cells", pattern, "scores.3.2 (step.row.column)"):
            step, *index = part.split(".")
            trail.append((step, tuple(map(int, index))))
        return tuple(trail)

    def write(self, value: tuple[CellPlace, ...]) -> str:
        return ",".join(".".join([step, *map(str, index)]) for step, index in value) or "none"


@dataclass(frozen=True)
class Lines:
    """Some lines of text, without those that are empty."""

    most: int
    longest: int

    def read(self, text: str) -> tuple[str, ...]:
        lines = tuple(filter(None, (clean(line)[0].strip() for line in text.splitlines())))
        if len(lines) > self.most:
            raise ValueError(f"there are {len(lines):,}, and {self.most} fit")
        for at, line in enumerate(lines):
            if len(line) > self.longest:
                raise ValueError(
                    f"line {at + 1} has {len(line):,} characters, and {self.longest} fit: "
                    "shorten it"
                )
        return lines

    def write(self, value: tuple[str, ...]) -> str:
        return "\n".join(value)


def entry(text: str) -> float:
    """A number typed into a vector. Raises ValueError for what is not finite or far too large."""
    number = nine_digits(text)
    if not abs(number) <= LARGEST_ENTRY:
        raise ValueError(
            f"numbers in a vector go from −{LARGEST_ENTRY:,.0f} to {LARGEST_ENTRY:,.0f}"
        )
    return number


@dataclass(frozen=True)
class Query(AsItIs):
    """Other values, as the parameters of a link."""

    most: int

    def read(self, text: str) -> str:
        if len(text) > self.most:
            raise ValueError(f"it has {len(text):,} characters, and {self.most:,} fit")
        if text and not re.fullmatch(r"[a-z_]+=[^&]*(&[a-z_]+=[^&]*)*", text):
            raise ValueError("it must be settings, such as example=wild_cat&seed=70")
        return text
