"""How a value is read from a link and written; ValueError, in words, for what it cannot be."""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self

from attention_core.small_models.grammar import ANIMALS, LONGEST, START, WORDS, nearest, split
from attention_core.text.tokenizers import clean, visible

from ..words import listed, true_minus

MAX_CHARACTERS = 5_000
MAX_TOKENS = 64
MAX_EDITS = 200
MAX_TRAIL = 12
LARGEST_ENTRY = 1_000.0
MOST_CHOICES = 10
"""Of more choices than these, the rest is counted."""
MOST_QUOTED = 40
"""Characters that are quoted of a word that is not known."""


CellPlace = tuple[str, tuple[int, ...]]
"""A cell: the name of its step, and its index."""


@dataclass(frozen=True)
class AsItIs:
    """What is written as it is."""

    def write(self, value: str) -> str:
        return value


@dataclass(frozen=True)
class Choice(AsItIs):
    """One of some words; `options` are word and label."""

    options: Mapping[str, str]

    def read(self, text: str) -> str:
        if text not in self.options:
            told = [*self.options][:MOST_CHOICES]
            more = len(self.options) - len(told)
            also = f" and {more} more" if more else ""
            raise ValueError(f"it must be one of {', '.join(told)}{also}")
        return text


def _check_stop(value: float, stops: tuple[float, ...]) -> None:
    """Raises ValueError, with the stops beside it, for a number where a slider does not stop."""
    if stops and value not in stops:
        beside = max(stop for stop in stops if stop < value), min(s for s in stops if s > value)
        near = " and ".join(f"{stop:,g}" for stop in beside)
        raise ValueError(f"it must be a stop of its slider, and the nearest are {near}")


class Stops:
    """A number that may be one of some stops alone."""

    @classmethod
    def among(cls, *stops: float) -> Self:
        """A field of these stops, in their order."""
        return cls(stops[0], stops[-1], stops)  # type: ignore[call-arg]  # as each kind takes


@dataclass(frozen=True)
class Whole(Stops):
    """A whole number within bounds."""

    least: int
    most: int
    options: tuple[int, ...] = ()
    """Where only some of them can be chosen."""

    def read(self, text: str) -> int:
        text = text.strip()
        if not re.fullmatch(r"[+-]?[0-9]{1,12}", text) or not self.least <= int(text) <= self.most:
            raise ValueError(f"it must be a whole number from {self.least:,} to {self.most:,}")
        _check_stop(int(text), self.options)
        return int(text)

    def write(self, value: int) -> str:
        return str(value)


@dataclass(frozen=True)
class OptionalWhole(Whole):
    """A whole number within bounds, or nothing: the example's own then."""

    def read(self, text: str) -> int | None:
        return super().read(text) if text.strip() else None

    def write(self, value: int | None) -> str:
        return "" if value is None else str(value)


SMALLEST = 1e-30
"""Nearer to 0 would be 0 in some cells' arithmetic only: a float32 goes down to 1e-38."""


@dataclass(frozen=True)
class Decimal(Stops):
    """A finite number within bounds."""

    least: float
    most: float
    options: tuple[float, ...] = ()
    """Where only some of them can be chosen."""

    def read(self, text: str) -> float:
        value = nine_digits(text.replace("−", "-"))
        if not self.least <= value <= self.most:
            ends = " to ".join(true_minus(f"{end:,g}") for end in (self.least, self.most))
            raise ValueError(f"it must be a number from {ends}")
        _check_stop(value, self.options)
        return value if abs(value) >= SMALLEST else 0.0

    def write(self, value: float) -> str:
        return f"{value:.9g}"


@dataclass(frozen=True)
class ScoreRow:
    """A short row of scores with commas or blanks between them; `-inf` is a hidden one."""

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
class Flag:
    """On or off."""

    def read(self, text: str) -> bool:
        if text not in {"on", "off"}:
            raise ValueError("it must be on or off")
        return text == "on"

    def write(self, value: bool) -> str:
        return "on" if value else "off"


@dataclass(frozen=True)
class Sentence(AsItIs):
    """A text, cleaned of characters that only do harm. Its control's `check` counts tokens."""

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


def parts_of(text: str, most: int, what: str, pattern: str | re.Pattern, like: str) -> list[str]:
    """The parts of a text between commas, each as the pattern has it; none of the text `none`."""
    parts = [] if text == "none" else text.split(",")
    if len(parts) > most:
        raise ValueError(f"it holds more than {most} {what}")
    if not all(re.fullmatch(pattern, part) for part in parts):
        raise ValueError(f"it must look like {like}")
    return parts


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
class Word(AsItIs):
    """A short name of our own making, such as a beat's."""

    pattern: str = r"[a-z_]{0,40}"
    must_be: str = "a name of a part of the lesson"

    def read(self, text: str) -> str:
        if not re.fullmatch(self.pattern, text):
            raise ValueError(f"it must be {self.must_be}")
        return text


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


def nine_digits(text: str) -> float:
    """A number as a link has it: nine digits tell float32 apart; nan for what is none."""
    try:
        return float(f"{float(text):.9g}")
    except ValueError:
        return math.nan


def entry(text: str) -> float:
    """A number typed into a vector. Raises ValueError for what is not finite or far too large."""
    number = nine_digits(text)
    if not abs(number) <= LARGEST_ENTRY:
        raise ValueError(
            f"numbers in a vector go from −{LARGEST_ENTRY:,.0f} to {LARGEST_ENTRY:,.0f}"
        )
    return number


@dataclass(frozen=True)
class Names:
    """Names of controls, sections or lessons, with commas between them; unknown ones are kept."""

    def read(self, text: str) -> tuple[str, ...]:
        if not re.fullmatch(r"[A-Za-z_]{0,40}(,[A-Za-z_]{1,40}){0,199}", text):
            raise ValueError("it must be names with commas between them, such as seed,d_in")
        return tuple(dict.fromkeys(filter(None, text.split(","))))

    def write(self, value: tuple[str, ...]) -> str:
        return ",".join(value)


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
