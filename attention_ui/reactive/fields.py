"""How a control's value is read from a link, or refused by a ValueError in words, and written.

A kind of your own is a class with these two methods, and with the `widget` that sets it:

    @dataclass(frozen=True)
    class Colour(AsItIs):
        def read(self, text: str) -> str:
            if not re.fullmatch("#[0-9a-f]{6}", text):
                raise ValueError("it must be a colour, such as #00ff7f")
            return text
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

MOST_CHOICES = 10
"""Of more choices than these, the rest is counted."""
MOST_BESIDE = 4
"""Of more choices than these, a list drops down."""


@dataclass(frozen=True)
class AsItIs:
    """What is written as it is."""

    widget: ClassVar[str] = "text_input"
    """Streamlit's name for what sets it."""

    def write(self, value: str) -> str:
        return value


@dataclass(frozen=True)
class Choice(AsItIs):
    """One of some words; `options` are word and label."""

    options: Mapping[str, str]

    @property
    def widget(self) -> str:  # type: ignore[override]  # by how many there are
        return "selectbox" if len(self.options) > MOST_BESIDE else "segmented_control"

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

    options: tuple[Any, ...]

    @property
    def widget(self) -> str:
        return "select_slider" if self.options else "slider"

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
    """A whole number within bounds, or nothing, which is None."""

    widget = "text_input"  # type: ignore[assignment]  # a slider always stands somewhere

    def read(self, text: str) -> int | None:
        return super().read(text) if text.strip() else None

    def write(self, value: int | None) -> str:
        return "" if value is None else str(value)


SMALLEST = 1e-30
"""Anything nearer to 0 counts as 0: results of it could fall below what a float32 has, 1e-38."""


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
            ends = f"{self.least:,g} to {self.most:,g}".replace("-", "−")
            raise ValueError(f"it must be a number from {ends}")
        _check_stop(value, self.options)
        return value if abs(value) >= SMALLEST else 0.0

    def write(self, value: float) -> str:
        return f"{value:.9g}"


@dataclass(frozen=True)
class Flag:
    """On or off."""

    widget: ClassVar[str] = "toggle"

    def read(self, text: str) -> bool:
        if text not in {"on", "off"}:
            raise ValueError("it must be on or off")
        return text == "on"

    def write(self, value: bool) -> str:
        return "on" if value else "off"


@dataclass(frozen=True)
class Word(AsItIs):
    """A short name of the app's own making, such as a card's."""

    pattern: str = r"[a-z_]{0,40}"
    must_be: str = "a name of a part of the page"

    def read(self, text: str) -> str:
        if not re.fullmatch(self.pattern, text):
            raise ValueError(f"it must be {self.must_be}")
        return text


@dataclass(frozen=True)
class Names:
    """Names, with commas between them, each once; unknown ones are kept."""

    def read(self, text: str) -> tuple[str, ...]:
        if not re.fullmatch(r"[A-Za-z_]{0,40}(,[A-Za-z_]{1,40}){0,199}", text):
            raise ValueError("it must be names with commas between them, such as apples,price")
        return tuple(dict.fromkeys(filter(None, text.split(","))))

    def write(self, value: tuple[str, ...]) -> str:
        return ",".join(value)


def parts_of(text: str, most: int, what: str, pattern: str | re.Pattern, like: str) -> list[str]:
    """The parts of a text between commas, each as the pattern has it; the text `none` has none."""
    parts = [] if text == "none" else text.split(",")
    if len(parts) > most:
        raise ValueError(f"it holds more than {most} {what}")
    if not all(re.fullmatch(pattern, part) for part in parts):
        raise ValueError(f"it must look like {like}")
    return parts


def nine_digits(text: str) -> float:
    """A number as a link has it: nine digits tell float32 apart; nan for what is none."""
    try:
        return float(f"{float(text):.9g}")
    except ValueError:
        return math.nan
