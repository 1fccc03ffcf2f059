"""What the notebooks print, as data."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from functools import cached_property, lru_cache
from importlib.resources import files
from typing import Any

NOTEBOOKS = ("wild_cat", "journey_123", "sorry_dave", "life_is_short", "journey_789")

NUMBER_KINDS = ("tensor", "scalar")
"""Kinds of results whose entries are rounded numbers; entries of the others are exact."""


@dataclass(frozen=True)
class Result:
    """One printed result: what it is, how it is computed again, and how exact the print is."""

    id: str
    description: str
    how: str
    """The recipe: seed, order of draws, formula."""
    kind: str
    """`tensor`, `scalar`, `ints`, `shape`, `bool`, `text`, or `derived`: a relation of others."""
    shape: tuple[int, ...]
    """Of the whole value, also where the print is cut."""
    values: list | float | int | bool
    """The printed entries, nested like `shape`; of a cut print, those that can be read."""
    reproduces: bool
    """Whether the recipe gives these entries again."""
    reproduces_as_shown: bool
    """Whether the code that the notebook shows gives them."""
    note: str
    source_line: int
    reason: str = ""
    """Why nothing can give these entries, in a few words; "" where the recipe does."""
    decimals: int | None = None
    significant: int | None = None
    """Printed digits of a number that has an exponent; `decimals` is None then."""
    rel_slack: float = 0.0
    """Relative difference between processors that was measured, beyond the rounding."""
    abs_slack: float = 0.0
    """The most that is allowed of it, little more than the largest gap measured."""
    differing_by_environment: dict[str, int] = field(default_factory=dict)
    """By the settings of a processor that were measured: entries that print as others there."""

    @cached_property
    def count(self) -> int:
        """How many entries are printed."""
        return sum(1 for _ in entries(self.values, len(self.shape)))


@dataclass(frozen=True)
class Notebook:
    """A published notebook: what it is, and its printed results."""

    name: str
    source: str
    results: dict[str, Result]


@lru_cache
def notebook(name: str) -> Notebook:
    """The printed results of a notebook. Raises ValueError for a name not in `NOTEBOOKS`."""
    if name not in NOTEBOOKS:
        raise ValueError(f"no notebook is called {name!r}: there are {', '.join(NOTEBOOKS)}")
    data = json.loads(files(__package__).joinpath(f"{name}.json").read_text(encoding="utf-8"))
    results = {entry["id"]: _result(entry) for entry in data["results"]}
    return Notebook(name, data["source"], results)


def _result(entry: dict) -> Result:
    entry = entry | entry.get("check", {}) | {"shape": tuple(entry["shape"])}
    return Result(**{each.name: entry[each.name] for each in fields(Result) if each.name in entry})


def entries(values: Any, depth: int) -> Iterator:
    """The entries of lists nested `depth` deep, in reading order."""
    if depth == 0:
        yield values
    else:
        for part in values:
            yield from entries(part, depth - 1)
