"""What a page's script is told: tables of what stands in many places, each entry once."""

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

TABLES = ("html", "pictures", "specs", "cells")


def as_json(made: Any) -> str:
    """As short as JSON can be."""
    return json.dumps(made, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


@dataclass
class Told:
    """The tables, by their names; an entry is known by its place, such as `pictures` 3."""

    tables: dict[str, list[Any]] = field(default_factory=lambda: {each: [] for each in TABLES})
    _known: dict[tuple[str, str], int] = field(default_factory=dict)

    def once(self, table: str, made: Any) -> int:
        """The place of an entry, which is added where it is not there."""
        key = table, made if isinstance(made, str) else as_json(made)
        if key not in self._known:
            self._known[key] = len(self.tables[table])
            self.tables[table].append(made)
        return self._known[key]


def rounded(values: Iterable[Any], digits: int = 5) -> list[Any]:
    """What JSON has a word for, and no more digits than can be seen."""
    return [_rounded(each, digits) for each in values]


def _rounded(value: Any, digits: int) -> Any:
    if not isinstance(value, float):
        return value
    if not math.isfinite(value):
        return None
    short = round(value, digits)
    return int(short) if short.is_integer() else short
