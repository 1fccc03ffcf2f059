"""What a page's script is told: tables of what stands in many places, each entry once."""

import json
import math
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

TABLES = ("html", "pictures", "specs", "cells")
COLUMN = "of "
"""Stands before a column's name, for the table of its parts: similar numbers lie together."""


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
        key = table, made if isinstance(made, str) and table in TABLES else as_json(made)
        if key not in self._known:
            entries = self.tables.setdefault(table, [])
            self._known[key] = len(entries)
            entries.append(made)
        return self._known[key]

    def parts(self, name: str, column: list[Any], cuts: list[int]) -> list[int]:
        """The places of the parts of a column, which have so many rows each; a single part where
        all rows have the same value. A part whose rows have the same value is told as that value.
        """
        if column.count(column[0]) == len(column):
            return [self.once(COLUMN + name, column[0])]
        found, at = [], 0
        for length in cuts:
            part = column[at : at + length]
            is_one = part.count(part[0]) == length
            found.append(self.once(COLUMN + name, part[0] if is_one else part))
            at += length
        return found


class Weight:
    """How many bytes all that was told takes, packed, counted while more comes. It adds up the
    tables packed one by one, which is close, since a packer looks no further back than 32 kB.
    """

    def __init__(self, told: Told) -> None:
        self.told = told
        self._packers: dict[str, tuple[Any, int]] = {}
        """By table what packs it, and how many bytes that has given so far."""
        self._whole: dict[str, int] = {}
        self._counted: dict[str, int] = {}

    def _new(self) -> Iterator[tuple[str, Any, int]]:
        for table, entries in self.told.tables.items():
            first = self._counted.get(table, 0)
            if first < len(entries):
                packer, n_bytes = self._packers.get(table, (None, 0))
                packer = packer.copy() if packer else zlib.compressobj(6)
                n_bytes += len(packer.compress(as_json(entries[first:]).encode()))
                yield table, packer, n_bytes

    def with_what_is_new(self) -> int:
        """Bytes, with all that was told since it was counted last."""
        whole = dict(self._whole)
        for table, packer, n_bytes in self._new():
            whole[table] = n_bytes + len(packer.flush())
        return sum(whole.values())

    @property
    def counted(self) -> int:
        """Bytes of what counts so far."""
        return sum(self._whole.values())

    def count(self) -> None:
        """What is new counts from now on."""
        for table, packer, n_bytes in [*self._new()]:
            self._packers[table] = packer, n_bytes
            self._whole[table] = n_bytes + len(packer.copy().flush())
        self.forget()

    def forget(self) -> None:
        """Leave what is new uncounted: no state has it."""
        self._counted = {table: len(each) for table, each in self.told.tables.items()}


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
