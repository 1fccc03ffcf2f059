"""What is drawn of flash attention on one sentence, moment by moment, and the table of it."""

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from attention_core.mechanism.tiling import Tile

EVER = 10_000
"""More than there are moments."""
CELL, TILE, STATE, OUTPUT = range(4)
"""What a row of the chart's data is about."""


@dataclass(frozen=True, eq=False)
class State:
    """What runs along for one query from the moment `start` on, up to, not including, `end`."""

    query: int
    start: int
    end: int
    largest: float
    shrink: float | None
    """None before the first tile, when there is nothing to shrink, and when all is done."""
    total: float
    output: Sequence[float]
    is_done: bool = False


@dataclass(frozen=True, eq=False)
class TilesPlayed:
    """Everything that is drawn of flash attention on one sentence."""

    tokens: Sequence[str]
    tiles: Sequence[Tile]
    """All of them; those that are not hidden are the moments, in this order."""
    titles: Sequence[str]
    """What stands above at each moment."""
    exponentials: Sequence[Sequence[Sequence[float]]]
    """Of each tile that is gone through, as measured there: the rows of its queries."""
    states: Sequence[State]


def table_of(played: TilesPlayed, n_columns: int) -> pa.Table:
    """A row for each cell, tile, state of a query, and entry of its output."""
    visited = [tile for tile in played.tiles if not tile.is_hidden]
    held = played.exponentials
    moment = {id(tile): at for at, tile in enumerate(visited)}
    rows: list[dict] = []
    for tile in played.tiles:
        when = moment.get(id(tile), EVER)
        ends = {"row2": tile.queries.stop, "column2": tile.keys.stop}
        corner = {"row": tile.queries.start, "column": tile.keys.start}
        rows.append({"kind": TILE, **corner, **ends, "start": when, "is_done": when == EVER})
        rows += [
            {"kind": CELL, "row": row, "column": column, "start": when, "number": number}
            for row, numbers in zip(tile.queries, held[when] if when != EVER else (), strict=False)
            for column, number in zip(tile.keys, numbers, strict=True)
        ]
    limit = max((abs(x) for state in played.states for x in state.output[:n_columns]), default=1)
    for state in played.states:
        here = {"row": state.query, "start": state.start, "end": state.end}
        here["is_done"] = state.is_done
        own = {"largest": state.largest, "shrink": state.shrink, "total": state.total}
        rows.append({"kind": STATE, **here, **own})
        rows += [
            {
                **{"kind": OUTPUT, **here, "column": column, "number": value},
                "shade": abs(value) / (limit or 1),
            }
            for column, value in enumerate(state.output[:n_columns])
        ]
    names = ("kind", "row", "column", "row2", "column2", "start", "end")
    floats = ("number", "shade", "largest", "shrink", "total")
    fields = [*((name, pa.int16()) for name in names), *((name, pa.float32()) for name in floats)]
    return pa.Table.from_pylist(rows, pa.schema([*fields, ("is_done", pa.bool_())]))
