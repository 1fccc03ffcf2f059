"""A layout as one table: a row for each cell, word, mark and path, with its place.

A cell says its names (query, key, token, head), where it is in its own step, and the rectangles of
cells that it is made of, in the coordinates of the steps that they belong to. So the same step
drawn twice, or by head, needs no more, and one rule in the browser serves every picture.
"""

import itertools
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import replace
from functools import cache, lru_cache, partial
from typing import Any
from zlib import crc32

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import torch

from attention_core.explain.extents import NONE, alike, extents
from attention_core.explain.plain_text import plain_text
from attention_core.text.tokenizers import visible
from attention_core.trace import JOINED, Step, Trace, is_shares, listed
from attention_core.utils.caching import cached_by_key, digest

from .changed import changed_cells
from .forbidden import SEEN_ON, leaks
from .layout import BAR, BEHIND, BEYOND, Arrangement, Box, Layout, Mark, Path, Word, decimals_in
from .margin import is_grid
from .matrix import COVERED, Matrix, names_along, names_of, origins
from .numbers import text_width, written, written_each
from .palette import CHOSEN, FORBIDDEN, HEADS, MUTED, NEGATIVE, POSITIVE
from .sentence import BOX, Sentence, shares

CELL, WORD, MARK, PATH, UNDER, SIZE, LEFT_OUT = range(7)
"""What a row is; `UNDER` is a mark below the cells. The last row has the size of the picture, wide
and narrow, and says at which position of a control its rows were made (`strength`), and what
its steps are called, by their numbers (`text`).
"""
BOTH, ON_WIDE, ON_NARROW = range(3)
"""In which arrangement it stands."""
FIXED, BY_STEP, BY_QUERY, BY_BOTH = range(4)
"""What chooses among its lists: nothing, a control in the picture, the query that is pointed at."""
SLOTS = 6
"""Rectangles that a cell is made of, at most: what an operation reads is no more."""
ENDS = ("l0", "l1", "i0", "i1", "j0", "j1")
"""Of a rectangle of cells, the first and the last place along each axis of their step."""
BLOCK = 1 + 3 * len(ENDS)
"""Numbers of a block, which is a rectangle for every cell of a matrix: the number of its step, and
of each end how it lies for the cell at 0, 0, and how far it goes along with the cell's own i and j.
"""
NAMES = ("q", "k", "t", "of_head")
OWN = ("m", "l", "i", "j")
"""Where a cell is: the number of its step in the picture, and its place in it."""
AXES = {"query": "q", "key": "k", "token": "t", "head": "of_head"}
MOST_TOLD = 2_000
"""A matrix that is made of more numbers tells its arithmetic after a click."""
MOST_POINTED = 10_000
"""In a picture of more cells none could be aimed at."""
MANY, MOST_KINDS = 1_500, 32_000
"""More marks are drawn on a canvas, and tables packed, by columns of at most so many values."""
HALF = BAR + BEYOND
ROOM = 2 * HALF + BEHIND
"""Pixels of a bar that goes one way, and of bars that go both ways, with a number."""
LONGEST_BAR = 1e3
"""What is larger has no longer bar."""
HIDDEN, HIDDEN_STRENGTH = "·", 0.45
FIRST = "Answer the question above first."
"""In the place of what is told of a covered cell."""
COLOURS = {
    "ground": "ground",
    "plus": POSITIVE,
    "minus": NEGATIVE,
    "loud": CHOSEN,
    "forbidden": FORBIDDEN,
}
COLOURS |= {"muted": MUTED, "ink": MUTED}
COLOURS |= {f"head {at}": HEADS[at % len(HEADS)] for at in range(64)}
SEPARATOR = "|"
LEVELS = "".join(map(chr, range(256, 457)))
"""For the whole percents from −100 to 100 in a list, where the browser finds one by its place."""
PERCENTS = np.array([f"{whole}%" for whole in range(101)], object)

NUMBERS = {
    **{name: pa.int8() for name in ("kind", "when", "by", "open")},
    **{name: pa.float32() for name in ("x", "y", "w", "h", "xn", "yn", "wn", "hn")},
    **{name: pa.float32() for name in ("shade", "strength", "first", "n", "per", "zero", "one")},
    **{name: pa.int16() for name in (*OWN, *NAMES, "ai", "aj")},
    "rel": pa.float64(),
    "exact": pa.float32(),
    **{f"made{slot}": pa.int32() for slot in range(SLOTS)},
}
NUMPY = {name: kind.to_pandas_dtype() for name, kind in NUMBERS.items()}
TEXTS = ("id", "look", "text", "where", "along", "tip", "so", "colour", "asks", "share", "gives")
TEXTS += ("blocks",)
"""Of a path, `text` is how it is drawn; of what goes from a query to its keys, where each query
stands: its x, and of a curve its y too. Of the last row, `blocks` are all that cells are made of.
"""
LISTS = ("texts", "shades", "strengths", "looks", "wheres", "tips")
"""What stands for `text`, `shade`, `strength` (in percent), and so on where something chooses."""
EMPTY = dict.fromkeys(NUMBERS, 0) | dict.fromkeys((*TEXTS, *LISTS))
EMPTY |= dict.fromkeys((*OWN, *NAMES, "ai", "aj"), NONE) | {"strength": 1.0}
EMPTY |= {f"made{slot}": NONE for slot in range(SLOTS)} | {"exact": np.nan}

Open = tuple[tuple[str, tuple[int, ...]], frozenset[tuple[str, tuple[int, ...]]]]
"""The cell that is open, and the cells that it is made of: names of steps and indices."""


Lists = dict[str, dict[str, str]]
"""For rows that a control in the picture changes, by their ids: what they show at each position."""


class _Rows:
    """Rows column by column; a column that no row sets is left out at the end."""

    def __init__(self) -> None:
        self.length = 0
        self.parts: dict[str, list[tuple[int, int, Any]]] = {}

    def add(self, length: int, **columns: Any) -> None:
        """So many rows; a column is all their values, or the one that all of them have."""
        for name, value in columns.items():
            self.parts.setdefault(name, []).append((self.length, self.length + length, value))
        self.length += length

    def column(self, name: str) -> list:
        """A column in a list."""
        found = [EMPTY[name]] * self.length
        for first, end, value in self.parts.get(name, ()):
            is_many = isinstance(value, list | np.ndarray)
            found[first:end] = value if is_many else [value] * (end - first)
        return found

    def table(self, click: int, lists: Lists) -> pa.Table:
        """The rows; those in `lists` have what they show at each position of a control."""
        arrays = {name: self._array(name) for name in self.parts}
        if lists:
            told = [lists.get(each) for each in self.column("id")]
            turned = {BY_QUERY: BY_BOTH}
            by = [turned.get(was, BY_STEP) if each else was
                  for was, each in zip(self.column("by"), told, strict=True)]  # fmt: skip
            arrays["by"] = pa.array(by, NUMBERS["by"])
            for name in {name for each in lists.values() for name in each}:
                own = zip(self.column(name), told, strict=True)
                arrays[name] = pa.array([each.get(name, was) if each else was for was, each in own])
        return pa.table(arrays | {"click": pa.array(np.full(self.length, click, np.int16))})

    def _array(self, name: str) -> pa.Array:
        if name not in NUMBERS:
            return pa.array(self.column(name))
        numbers = np.full(self.length, EMPTY[name], NUMPY[name])
        for first, end, value in self.parts[name]:
            numbers[first:end] = value
        return pa.array(numbers, from_pandas=name == "exact")


def packed(rows: pa.Table) -> pa.Table:
    """A table as sent: texts said once, of many rows numbers too, without ids and fine shades."""
    columns = dict(zip(rows.column_names, rows.columns, strict=True))
    is_large = n_marks(rows) > MANY
    if is_large:
        del columns["id"]
        columns["shade"] = pc.round(columns["shade"], 2)
    return pa.table(
        {
            name: _each_once(column) if is_large or name not in NUMBERS else column
            for name, column in columns.items()
        }
    )


def _each_once(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """A column that says the same again and again, each value once."""
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    found = column.dictionary_encode()
    few = len(found.dictionary)
    if few > min(MOST_KINDS, len(column) // 2):
        return column
    kind = pa.uint8() if few < 256 else pa.int16()
    return pa.DictionaryArray.from_arrays(found.indices.cast(kind), found.dictionary)


def table(
    layout: Layout,
    opened: Open | None = None,
    lists: Lists | None = None,
    now: int = 0,
    click: int = 0,
    told: bool = True,
) -> pa.Table:
    """All rows of a layout. `opened` is the cell whose arithmetic is open: it and what it is made
    of are outlined. `lists` are what a control in the picture changes, `now` its position. A cell
    that is clicked on is reported with `click`: with another number, so is the same cell again.
    What each cell comes about by is `told` in a line, which takes most of a table's time.
    """
    rows = _Rows()
    numbers = numbers_of(layout.matrices)
    n_cells = sum(each.drawn.numel() for each in layout.matrices)
    earlier = [each.step.earlier() for each in layout.matrices]
    made, blocks = None, ""
    if n_cells <= MOST_POINTED:
        made, blocks = _all_made(_how_made(layout.matrices, numbers), layout.matrices, numbers)
    for at in range(len(layout.matrices)):
        _add_cells(rows, layout, at, numbers, earlier, made and made[at], opened, told)
    if layout.sentence is not None:
        _add_sentence(rows, layout.sentence, max(numbers, default=-1) + 1)
    for when, arrangement in ((ON_WIDE, layout.wide), (ON_NARROW, layout.narrow)):
        _add_around(rows, when, arrangement)
    wide, narrow = layout.wide, layout.narrow
    size = {"x": wide.width, "y": wide.height, "xn": narrow.width, "yn": narrow.height}
    # What the browser compares is told of every row: a column that is missing is equal to nothing.
    compared = dict.fromkeys((*NAMES, "ai", "aj"), NONE)
    called = dict(zip(numbers, (each.step.name for each in layout.matrices), strict=True))
    also = {"strength": float(now if lists else NONE), "text": SEPARATOR.join(called.values())}
    also["blocks"] = blocks
    rows.add(1, kind=SIZE, when=BOTH, **also, **size, **compared)
    return rows.table(click, lists or {})


def n_marks(rows: pa.Table) -> int:
    """How many rows of a table are drawn at a time: those of one arrangement."""
    return int((rows["when"].to_numpy() != ON_NARROW).sum())


def n_slots(rows: pa.Table) -> int:
    """How many rectangles the cells of a table are made of, at most."""
    return len({f"made{slot}" for slot in range(SLOTS)} & {*rows.column_names})


def numbers_of(matrices: Sequence[Matrix]) -> list[int]:
    """The number of each matrix: its step's; a step that is both operands has one for each."""
    known: dict[tuple[str, int], int] = {}
    twice = {
        given.name
        for each in matrices
        for given in each.step.inputs
        if sum(other is given for other in each.step.inputs) > 1
        and sum(other.step is given for other in matrices) > 1
    }
    found, seen = [], dict.fromkeys(twice, 0)
    for matrix in matrices:
        name = matrix.step.name
        copy = seen.get(name, 0)
        if name in seen:
            seen[name] += 1
        found.append(known.setdefault((name, copy), len(known)))
    return found


def _add_cells(
    rows: _Rows,
    layout: Layout,
    at: int,
    numbers: list[int],
    earlier: Sequence[set[str]],
    made: dict[str, np.ndarray] | None,
    opened: Open | None,
    told: bool,
) -> None:
    is_pointed = made is not None
    matrix, trace = layout.matrices[at], layout.trace
    step, wide, narrow = matrix.step, layout.wide.boxes[at], layout.narrow.boxes[at]
    when = ON_WIDE if layout.narrow.leaves_out(narrow.y) else BOTH
    narrow = replace(narrow, y=layout.narrow.up(narrow.y))
    own = index_of(matrix)
    row, column = drawn_at(matrix)
    length = len(row)
    lead, i, j = _padded(own)
    look = look_of(matrix, layout.limits[at], layout.leaks, decimals_shown(layout, at, matrix))
    columns: dict[str, Any] = {
        **{name: look[name] for name in ("shade", "strength", "text", "look")},
        **_place("", wide, row, column),
        **_place("n", narrow, row, column),
        **{"m": numbers[at], "l": lead, "i": i, "j": j},
        **_names(trace, matrix, own),
        **_flow(layout.matrices, numbers, earlier, at),
    }
    if layout.sentence is not None:  # a word that is pointed at leaves what is its own bright
        columns["rel"] += 2.0 ** (max(numbers) + 1)
    columns["id"] = ids_of(at, matrix)
    if matrix.as_bars and not matrix.covered:
        columns["zero"], columns["one"] = ends_of_bars(matrix)
    if matrix.tells_origins and not matrix.covered:
        columns |= _origins(trace, matrix, wide)
    if matrix.covered:
        columns["tip"] = FIRST
    else:
        columns |= _where(trace, matrix, own)
        columns |= _told(matrix, own, is_pointed and told)
        if is_grid(matrix) and is_pointed:
            columns |= _meaning(trace, matrix)
        columns |= made or {}
        if opened and not matrix.tells_origins:
            columns["open"] = _opened(step, own, opened)
        if matrix.unseen is not None:
            _hide(columns, matrix.unseen.flatten().numpy())
    if matrix.left_out is not None:
        there = ~matrix.left_out.flatten().numpy()
        columns = {name: _of_them(column, there) for name, column in columns.items()}
        length = int(there.sum())
    rows.add(length, kind=CELL, when=when, **columns)
    if not (matrix.covered or matrix.as_bars):
        _add_changed(rows, matrix, at, when, (wide, narrow), row, column)
    if matrix.as_bars and not matrix.covered:
        zero, one = ends_of_bars(matrix)
        both = ((ON_WIDE, wide), (ON_NARROW, narrow))
        for one_way, box in both if when == BOTH else both[:1]:
            n = "" if one_way == ON_WIDE else "n"
            place = _place(n, box, row, column)
            gap = box.width - place[f"w{n}"]
            place |= {f"x{n}": box.x + zero * box.width, f"w{n}": one * box.width - gap}
            bars = [f"bar.{at}.{one_way}.{r}" for r in row.tolist()]
            rows.add(
                length,
                kind=UNDER,
                when=one_way,
                **place,
                **{"id": bars, "shade": look["shade"], "colour": "bar", "strength": 0.95},
            )


def _hide(columns: dict[str, Any], unseen: np.ndarray) -> None:
    """Of cells that a question covers, nothing is told but where they are."""
    for name, instead in (("tip", FIRST), ("exact", np.nan), ("share", None)):
        if name in columns:
            columns[name] = [instead if is_so else was
                             for is_so, was in zip(unseen, columns[name], strict=True)]  # fmt: skip
    columns.setdefault("tip", [FIRST if is_so else None for is_so in unseen])


def _add_changed(
    rows: _Rows,
    matrix: Matrix,
    at: int,
    when: int,
    boxes: tuple[Box, Box],
    row: np.ndarray,
    column: np.ndarray,
) -> None:
    """A line below each number that was changed by hand."""
    changed = changed_cells(matrix.step)
    if changed is None:
        return
    there = matrix.picked(changed[matrix.lead]).flatten().numpy()
    if not there.any():
        return
    row, column = row[there], column[there]
    place = {}
    for n, box in zip(("", "n"), boxes, strict=True):
        place |= _place(n, box, row, column)
        high = min(3.0, box.height / 3)
        place |= {f"y{n}": place[f"y{n}"] + place[f"h{n}"] - high, f"h{n}": high}
    ids = [f"changed.{at}.{r}.{c}" for r, c in zip(row.tolist(), column.tolist(), strict=True)]
    rows.add(len(row), kind=MARK, when=when, id=ids, colour=CHOSEN, shade=1.0, **place)


def ends_of_bars(matrix: Matrix) -> tuple[float, float]:
    """Where a bar begins, and how long a bar of 1 is, as shares of the room of all bars."""
    return (HALF / ROOM, HALF / ROOM) if matrix.both_ways else (0.0, 1.0)


def bar_lengths(matrix: Matrix, values: np.ndarray) -> np.ndarray:
    """How far bars go, as shares of their room; those beyond 1 by the root of their logarithm."""
    values = np.nan_to_num(values)
    if not matrix.both_ways:
        return np.clip(values, 0.0, 1.0)
    size = np.abs(values)
    beyond = np.sqrt(np.log(np.clip(size, 1.0, LONGEST_BAR)) / np.log(LONGEST_BAR))
    return np.sign(values) * (BAR * np.minimum(size, 1.0) + BEYOND * beyond) / HALF


def _of_them(column: object, there: np.ndarray) -> object:
    if isinstance(column, np.ndarray):
        return column[there]
    return [*itertools.compress(column, there)] if isinstance(column, list) else column


def index_of(matrix: Matrix) -> np.ndarray:
    """The step's own index of each cell, in the order in which they are drawn (cell, axis)."""
    picked = (each if each is None else tuple(each) for each in (matrix.rows, matrix.columns))
    return _index_of(tuple(matrix.step.value.shape), tuple(matrix.lead), *picked)


@lru_cache(maxsize=256)
def _index_of(shape: tuple, lead: tuple, *picked: tuple | None) -> np.ndarray:
    along = [range(size) for size in shape[len(lead) :]]
    along[:2] = [was if each is None else each
                 for was, each in zip(along[:2], picked, strict=False)]  # fmt: skip
    cells = [(*lead, *cell) for cell in itertools.product(*along)]
    return np.array(cells, np.int64).reshape(len(cells), len(shape))


def drawn_at(matrix: Matrix) -> tuple[np.ndarray, np.ndarray]:
    """The row and the column in which each of these cells is drawn."""
    row, column = _drawn_at(*(*matrix.drawn.shape, 1, 1)[:2])
    return (column, row) if matrix.transposed else (row, column)


@lru_cache(maxsize=256)
def _drawn_at(n_rows: int, n_columns: int) -> tuple[np.ndarray, np.ndarray]:
    return np.repeat(np.arange(n_rows), n_columns), np.tile(np.arange(n_columns), n_rows)


def ids_of(at: int, matrix: Matrix) -> list[str]:
    """What the rows of the cells of the matrix at this place are called."""
    row, column = drawn_at(matrix)
    return [f"{at}.{r}.{c}" for r, c in zip(row.tolist(), column.tolist(), strict=True)]


def _padded(index: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Places along the last three axes; 0 where there are fewer."""
    length, n_axes = index.shape
    wide = np.zeros((length, max(3, n_axes)), np.int64)
    wide[:, wide.shape[1] - n_axes :] = index
    lead = wide[:, :-2]
    flat = lead[:, -1] if lead.shape[1] == 1 else lead[:, -1] + 4_096 * lead[:, -2]
    return flat, wide[:, -2], wide[:, -1]


def _place(suffix: str, box: Box, row: np.ndarray, column: np.ndarray) -> dict[str, Any]:
    gap = 2 if min(box.width, box.height) >= 14 else 1 if min(box.width, box.height) >= 6 else 0.4
    return {
        f"x{suffix}": box.x + column * box.width,
        f"y{suffix}": box.y + row * box.height,
        f"w{suffix}": box.width - gap,
        f"h{suffix}": box.height - gap,
    }


def look_of(matrix: Matrix, most: float, most_leaks: float, decimals: int) -> dict[str, Any]:
    """The shade of each cell from −1 to 1, how strongly it is drawn, and its number as written."""
    if matrix.covered:
        return {"shade": 0.0, "strength": 1.0, "text": COVERED, "look": "number"}
    values = matrix.drawn.flatten()
    numbers, floats, hidden = values.tolist(), values.float().numpy(), _hidden(matrix)
    shown = shades_of(floats, np.array(most), is_shares(matrix.step)).astype(np.float32)
    look: Any = "bar" if matrix.as_bars else "number"
    loud = leaks(matrix)
    if loud is not None and loud.any():
        is_loud = loud.flatten().numpy()
        share = np.sqrt(np.minimum(np.abs(floats) / np.float32(most_leaks or 1.0), 1))
        shown = np.where(is_loud, np.float32(SEEN_ON) * share, shown)
        look = ["loud" if each else "number" for each in is_loud.tolist()]
    texts: list[str] | None = None
    if matrix.as_bars:
        shown = bar_lengths(matrix, floats)
        texts = written_each(numbers)
    elif decimals >= 0 and values.dtype == torch.bool:
        texts = ["✓" if value else HIDDEN for value in numbers]
    elif decimals >= 0:
        texts = written_each(numbers, decimals)
        for at in np.flatnonzero(hidden & ~np.isneginf(floats)).tolist():
            texts[at] = HIDDEN
    shade, strength = np.round(shown.astype(float), 4), strengths_of(matrix, hidden)
    if matrix.unseen is not None:
        unseen = matrix.unseen.flatten().numpy()
        shade[unseen], strength[unseen] = 0.0, 1.0
        each = zip(unseen, texts or [None] * len(unseen), strict=True)
        texts = [COVERED if is_so else text for is_so, text in each]
    return {"shade": shade, "strength": strength, "text": texts, "look": look}


def strengths_of(matrix: Matrix, hidden: np.ndarray) -> np.ndarray:
    """How strongly each cell (…, cell) is drawn, from 0 to 1, where these are hidden."""
    strength = np.ones(hidden.shape, np.float32)
    if matrix.faint:
        rows = range(len(matrix.drawn)) if matrix.rows is None else matrix.rows
        each = np.array([0.2 if row in matrix.faint else 1.0 for row in rows], np.float32)
        strength *= np.repeat(each, hidden.shape[-1] // len(each))
    strength[hidden] = HIDDEN_STRENGTH
    return strength if matrix.strengths is None else strength * matrix.strengths.flatten().numpy()


def _hidden(matrix: Matrix) -> np.ndarray:
    values = matrix.drawn.flatten()
    if not values.is_floating_point():
        return np.zeros(len(values), bool)
    hidden = values.isneginf()
    if matrix.mask is not None:
        mask = matrix.mask.value.expand(matrix.step.value.shape)[matrix.lead]
        hidden = ~matrix.picked(mask).flatten() & ((values == 0) | hidden)
    return hidden.numpy()


def _names(trace: Trace, matrix: Matrix, own: np.ndarray) -> dict[str, Any]:
    """Each cell's query, key, token and head; of other axes the number and the place."""
    found: dict[str, Any] = {}
    axes = matrix.step.axes
    for at, axis in enumerate(axes):
        if axis in AXES:
            found[AXES[axis]] = own[:, at]
        elif at >= len(axes) - 2:
            found["aj" if at == len(axes) - 1 else "ai"] = crc32(axis.encode()) % 30_000
        if axis in JOINED and trace.has_axis("head"):
            found["of_head"] = own[:, at] // (trace.size(axis) // trace.size("head"))
    return found


def _flow(
    matrices: Sequence[Matrix], numbers: list[int], earlier: Sequence[set[str]], at: int
) -> dict[str, float]:
    """Which steps of the picture come before or after this one, as bits of a number."""
    step = matrices[at].step
    related = {
        numbers[other]
        for other, each in enumerate(matrices)
        if each.step is step or each.step.name in earlier[at] or step.name in earlier[other]
    }
    if matrices[at].compared:
        related |= {numbers[k] for k, each in enumerate(matrices) if each.compared}
    return {"rel": float(sum(2**number for number in related))}


Blocks = dict[tuple[int, ...], int]
"""The blocks of a picture, and where the numbers of each begin among all of them."""


def _how_made(matrices: Sequence[Matrix], numbers: list[int]) -> Hashable:
    """The same for two pictures whose cells are made of each other alike, whatever the numbers."""
    names = {each.step.name for each in matrices}
    steps = {id(each.step): each.step for each in matrices}
    waiting, reads = [*steps.values()], set()
    for step in waiting:  # those before it follow where something drawn is among them
        if not names.isdisjoint(step.earlier()):
            reads.add(id(step))
            waiting += [one for one in step.inputs if id(one) not in steps]
            steps |= {id(one): one for one in step.inputs}
    places = {each: at for at, each in enumerate(steps)}
    made = (
        (step.name, alike(step), *(places[id(one)] for one in step.inputs))
        if each in reads
        else (step.name, tuple(step.value.shape))
        for each, step in steps.items()
    )
    drawn = (
        (places[id(each.step)], each.lead, each.rows, each.columns, each.covered)
        for each in matrices
    )
    return tuple(made), tuple(drawn), tuple(numbers)


@cached_by_key(1_024)
def _all_made(
    matrices: Sequence[Matrix], numbers: list[int]
) -> tuple[list[dict[str, np.ndarray]], str]:
    """Of each matrix which blocks its cells are made of, and all these blocks."""
    known: Blocks = {}
    made = [
        {} if each.covered else _made(matrices, numbers, at, index_of(each), known)
        for at, each in enumerate(matrices)
    ]
    return made, ",".join(str(number) for each in known for number in each)


def _made(
    matrices: Sequence[Matrix], numbers: list[int], at: int, own: np.ndarray, known: Blocks
) -> dict[str, np.ndarray]:
    """Which blocks each cell is made of, in the coordinates of their own steps."""
    step = matrices[at].step
    columns: dict[str, np.ndarray] = {}
    for operand in range(len(step.inputs)):
        for source, which, blocks in _sources(matrices, matrices[at], operand, own):
            if len(columns) == SLOTS:
                return columns
            drawn = [k for k, one in enumerate(matrices) if one.step is source and not one.covered]
            twins = [place for place, one in enumerate(step.inputs) if one is source]
            turn = twins.index(operand) if operand in twins else 0
            number = numbers[drawn[min(turn, len(drawn) - 1)]]
            places = [known.setdefault((number, *one), BLOCK * len(known)) for one in blocks]
            columns[f"made{len(columns)}"] = np.array([*places, NONE])[which]
    return columns


Placed = tuple[np.ndarray, list[tuple[int, ...]]]
"""Of each cell, which of some blocks it is made of, the one after the last for none; the blocks."""


def _sources(
    matrices: Sequence[Matrix], matrix: Matrix, operand: int, own: np.ndarray
) -> Iterator[tuple[Step, np.ndarray, list[tuple[int, ...]]]]:
    """The blocks of an operand that a matrix is made of, with the step that they are cells of."""
    step = matrix.step
    given = step.inputs[operand]
    drawn = [each for each in matrices if each.step is given]
    if drawn and not all(each.covered for each in drawn):
        key = (alike(step), operand, matrix.lead, matrix.rows, matrix.columns)
        yield from ((given, *each) for each in _of_operand(key, matrix, operand, own))
    elif not {each.step.name for each in matrices}.isdisjoint(given.earlier()):
        for source, there in _drawn_sources(matrices, given, _extents(matrix, operand)):
            if not (there == NONE).all():
                yield source, *_moved(there, own)


def _extents(matrix: Matrix, operand: int) -> list[np.ndarray]:
    """The rectangles of an operand that each drawn cell reads (cell, axis, 2)."""
    there = matrix.picked(extents(matrix.step, operand)[matrix.lead])
    there = there.flatten(0, -4) if there.ndim > 3 else there[None]
    return [each.numpy().astype(np.int64) for each in there.unbind(dim=1)]


@cached_by_key(1_024)
def _of_operand(matrix: Matrix, operand: int, own: np.ndarray) -> list[Placed]:
    return [_moved(each, own) for each in _extents(matrix, operand) if not (each == NONE).all()]


def _moved(there: np.ndarray, own: np.ndarray) -> Placed:
    """Rectangles (cell, axis, 2) of cells at `own` places, as few blocks, said once where even."""
    is_some = (there != NONE).all(axis=(1, 2))
    there = there[is_some]
    _, *ij = (each[is_some] for each in _padded(own))
    lows, highs = (_padded(there[:, :, side]) for side in (0, 1))
    rest = np.stack([*itertools.chain(*zip(lows, highs, strict=True))], axis=1)
    along = []
    for here, other in (ij, ij[::-1]):
        order = np.lexsort((here, other))
        one, next_one = order[:-1], order[1:]
        beside = other[one] == other[next_one]
        steps = (here[next_one] - here[one])[beside, None]
        goes = (rest[next_one] - rest[one])[beside]
        first = goes[0] // steps[0] if len(steps) else np.zeros(len(ENDS), np.int64)
        first = np.where((goes == first * steps).all(axis=0), first, 0)
        rest = rest - first * here[:, None]
        along.append(first.tolist())
    if (rest == rest[0]).all():
        found, which = rest[:1], np.zeros(len(rest), np.int64)
    else:
        found, which = np.unique(rest, axis=0, return_inverse=True)
    blocks = [tuple(itertools.chain(*zip(ends, *along, strict=True))) for ends in found.tolist()]
    each = np.full(len(own), len(blocks))
    each[is_some] = which.ravel()
    return each, blocks


def _drawn_sources(
    matrices: Sequence[Matrix], given: Step, blocks: list[np.ndarray]
) -> Iterator[tuple[Step, np.ndarray]]:
    """Where a picture leaves a step out, what that is made of: blocks of an operand, and of the
    operands before it, as far back as the first that are drawn. A step that is covered ends the
    way, and so does one that reads cells apart from each other.
    """
    drawn = [each for each in matrices if each.step is given]
    if drawn:
        if not all(each.covered for each in drawn):
            yield from ((given, block) for block in blocks)
        return
    known = {each.step.name for each in matrices}
    if len(blocks) != 1 or not known & {*given.earlier()}:
        return
    there = blocks[0]
    is_none = (there == NONE).any(axis=(1, 2))
    corners = np.where(is_none[:, None, None], 0, there)
    for operand, source in enumerate(given.inputs):
        before = extents(given, operand).numpy().astype(np.int64)
        if before.shape[given.value.ndim] != 1:
            continue
        ends = [before[(*corners[:, :, side].T, 0)][:, :, side] for side in (0, 1)]
        reached = np.stack(ends, axis=-1)
        # A rectangle of which one corner reads nothing there is none that can be outlined.
        reached[is_none | (reached == NONE).any(axis=(1, 2))] = NONE
        yield from _drawn_sources(matrices, source, [reached])


def _where(trace: Trace, matrix: Matrix, own: np.ndarray) -> dict[str, list[str]]:
    """Where each cell is by its axes: `query 2 “cat”`, and along the last, `key 5 “mouse”`."""
    axes, called = matrix.step.axes, cache(partial(place_called, trace))
    places = zip(axes, own.T.tolist(), strict=True)
    if "head" in axes:
        heads = own[:, axes.index("head")].tolist()
        names = [[*map(called, itertools.repeat(axis), each, heads)] for axis, each in places]
    else:
        sizes = dict(zip(axes, matrix.step.value.shape, strict=True))
        known = {axis: [called(axis, at) for at in range(size)] for axis, size in sizes.items()}
        names = [[*map(known[axis].__getitem__, each)] for axis, each in places]
    if len(names) < 2:
        return {"where": names[0] if names else [""] * len(own)}
    before = names[0] if len(names) == 2 else [*map(" · ".join, zip(*names[:-1], strict=True))]
    return {"where": before, "along": names[-1]}


def place_called(trace: Trace, axis: str, place: int, head: int | None = None) -> str:
    """A place of an axis, with its name if it has one."""
    name = trace.name_of(axis, place, head)
    return f"{axis} {place}" if name is None else f"{axis} {place} “{visible(name)}”"


def _told(matrix: Matrix, own: np.ndarray, is_pointed: bool) -> dict[str, Any]:
    """Each cell's arithmetic in a line; its number alone where long, covered, or not aimed at."""
    step = matrix.step
    if not is_pointed or not step.inputs or not len(own):
        return _numbers_alone(matrix.drawn)
    cells = [tuple(index) for index in own.tolist()]
    if len(cells) * _n_told((alike(step), cells[0]), step, cells[0]) > MOST_TOLD:
        return _numbers_alone(matrix.drawn)
    # The same step is drawn in several pictures, and for many people: it is told once.
    names = tuple(given.name for given in step.inputs)
    numbers = tuple(digest(each.value) for each in (step, *step.inputs))
    key = (step.operation, names, numbers, matrix.lead, matrix.rows, matrix.columns)
    told = _arithmetic(key, step, cells)
    if matrix.untold is None:
        return {"tip": told}
    alone = _numbers_alone(matrix.drawn)
    untold = matrix.picked(matrix.untold[matrix.lead]).flatten().numpy()
    tips = zip(untold, told, alone.get("tip") or [None] * len(told), strict=True)
    exact = np.where(untold, alone["exact"], np.nan)
    return {"tip": [number if is_so else made for is_so, made, number in tips], "exact": exact}


@cached_by_key(512)
def _n_told(step: Step, index: tuple[int, ...]) -> int:
    return sum(1 for _ in step.arithmetic(index).cells())


@cached_by_key(256)
def _arithmetic(step: Step, cells: Sequence[tuple[int, ...]]) -> list[str]:
    told = []
    has = listed(step)
    for each, index in zip(step.arithmetics(cells), cells, strict=True):
        made, number = plain_text(each.latex()), written_long(has.cell(index).known)
        is_said = step.value.dtype == torch.bool or made.endswith(number)
        told.append(made if is_said else f"{made} = {number}")
    return told


def _numbers_alone(drawn: torch.Tensor) -> dict[str, Any]:
    """Numbers that the browser writes with four decimals, and texts for those it cannot."""
    values = drawn.flatten().double().numpy()
    plain = np.abs(values) < 1_000
    # Rounded here: of 0.03125 a browser would make 0.0313.
    exact = {"exact": np.where(plain, np.round(np.where(plain, values, 0.0), 4), np.nan)}
    if plain.all():
        return exact
    each = zip(values.tolist(), plain.tolist(), strict=True)
    return exact | {"tip": [None if is_plain else written_long(value) for value, is_plain in each]}


def written_long(value: float) -> str:
    """A number with up to four decimals."""
    return written(value) if not np.isfinite(value) else f"{value:.4f}".replace("-", "−")


def _meaning(trace: Trace, matrix: Matrix) -> dict[str, list[str]]:
    """What each weight does: which query takes in what share of which key."""
    n_queries, n_keys = matrix.drawn.shape
    queries, keys = names_along(trace, matrix)
    return {
        "asks": [name for name in queries for _ in range(n_keys)],
        "share": [f"{share:.0%}" for share in matrix.drawn.flatten().tolist()],
        "gives": [*keys] * n_queries,
    }


def _origins(trace: Trace, matrix: Matrix, box: Box) -> dict[str, Any]:
    """Each cell in its head's colour, with its token; outlined where that is another."""
    tokens, heads = (each.flatten().tolist() for each in origins(matrix))
    names = names_of(trace, matrix.axes[0])
    rows = np.repeat(np.arange(matrix.sizes[0]), matrix.sizes[1]).tolist()
    fits = [text_width(name) * 0.95 <= box.width for name in names]
    return {
        "shade": 0.5,
        "colour": [COLOURS[f"head {head}"] for head in heads],
        "text": [names[token] if fits[token] else str(token) for token in tokens],
        "open": [
            int(token != row or head != matrix.lead[0])
            for token, head, row in zip(tokens, heads, rows, strict=True)
        ],
        "so": [
            f"its number came from head {head}, query {token} “{names[token]}”"
            for token, head in zip(tokens, heads, strict=True)
        ],
    }


def _opened(step: Step, own: np.ndarray, opened: Open) -> list[int]:
    """2 for the cell that is open, 1 for what it is made of."""
    cell, operands = opened
    return [
        2 if (step.name, index) == cell else 1 if (step.name, index) in operands else 0
        for index in map(tuple, own.tolist())
    ]


def _add_sentence(rows: _Rows, one: Sentence, number: int) -> None:
    """A box for each token, which is shaded by the weight that the query gives it, its share, and
    an arc or a curve from the query; of several heads, a bar and an arc for each.
    """
    length = len(one.tokens)
    shown = by_head(shares(one))  # (head, query, key)
    n_queries = shown.shape[1]
    by = BY_QUERY if one.asks is None else FIXED
    ways = (
        ("", ON_WIDE, one.wide_way, one.wide_askers or one.wide),
        ("n", ON_NARROW, one.narrow_way, one.narrow_askers or one.narrow),
    )
    asks = one.first if one.asks is None else one.asks
    chosen = {"first": float(one.first), "n": float(n_queries), "by": by}
    if one.sources:
        # Weights of several heads stand below each other, so many rows a head.
        chosen["per"] = float(n_queries // len(one.sources))
    places: dict[str, Any] = {**_boxes("", one.wide), **_boxes("n", one.narrow), **chosen}
    is_asked = one.asks is not None or bool(one.askers)
    names = {"k" if is_asked else "q": list(range(length))}
    same = {"m": number, "l": 0, "look": "token box", "rel": 2.0**number - 1}
    single = None if one.heads else shown[0]
    shades = None if single is None or not by else [percents(k) for k in single.sqrt().T.numpy()]
    rows.add(
        length,
        kind=CELL,
        when=BOTH,
        id=[f"token.{at}" for at in range(length)],
        shade=0.0 if single is None else single[one.first].sqrt().tolist(),
        shades=shades,
        i=0,
        j=list(range(length)),
        where=[f"token {at + one.place} “{token}”" for at, token in enumerate(one.tokens)],
        **same,
        **names,
        **places,
    )
    if one.askers:
        _add_askers(rows, one, {**same, **chosen})
    centre = {
        f"x{n}": [x + w / 2 for x, w in zip(places[f"x{n}"], places[f"w{n}"], strict=True)]
        for n in ("", "n")
    }
    if single is not None:
        below = {name: [value + 37 for value in places[name]] for name in ("y", "yn")}
        told = [
            SEPARATOR.join(percent(each, one.is_nan) for each in key)
            for key in one.weights.T.tolist()
        ]
        rows.add(
            length,
            kind=WORD,
            when=BOTH,
            id=[f"share.{at}" for at in range(length)],
            text=[percent(value, one.is_nan) for value in one.weights[one.first].tolist()],
            texts=told if by else None,
            look="share",
            **{**places, **below, **centre},
        )
    for at, weights in enumerate(shown):
        head = one.heads[at] if one.heads else None
        lists = {"shade": weights[one.first].tolist()}
        lists["shades"] = [percents(key) for key in weights.T.numpy()] if by else None
        lists["colour"] = CHOSEN if head is None else COLOURS[f"head {head}"]
        if head is not None:
            strips = {f"y{n}": [y + 32 + 8 * at for y in places[f"y{n}"]] for n in ("", "n")}
            # Equal weights have equal bars, however long their words are.
            strips |= {f"w{n}": [min(places[f"w{n}"])] * length for n in ("", "n")}
            rows.add(
                length,
                kind=MARK,
                when=BOTH,
                id=[f"strip.{key}.{head}" for key in range(length)],
                **lists,
                **{**places, **strips, "h": 6.0, "hn": 6.0},
            )
        for n, when, way, asking in ways:
            if not way:
                continue
            rows.add(
                length,
                kind=PATH,
                when=when,
                id=[id_of_token(f"arc{n}", key, head) for key in range(length)],
                text=SEPARATOR.join(_middle(box, way) for box in asking),
                look=way,
                # On top of each other, the arcs of several heads would be brown.
                strength=1.0 if head is None else 1 - 0.55 * at / len(one.heads),
                j=[asks] * length,
                **lists,
                # From below the share, or the bars, of the upper line.
                **places
                | centre
                | {f"y{n}": [y - 1 for y in places[f"y{n}"]], f"h{n}": BOX + one.below},
            )


def _add_askers(rows: _Rows, one: Sentence, same: dict[str, Any]) -> None:
    """The tokens of the sentence that asks: the one whose weights are shown is shaded."""
    length = len(one.askers)
    own = np.eye(length)
    rows.add(
        length,
        kind=CELL,
        when=BOTH,
        id=[f"asker.{at}" for at in range(length)],
        shade=own[one.first],
        shades=[percents(row) for row in own],
        i=1,
        j=list(range(length)),
        q=list(range(length)),
        where=[f"query {at} “{token}”" for at, token in enumerate(one.askers)],
        **same,
        **_boxes("", one.wide_askers),
        **_boxes("n", one.narrow_askers),
    )


def _middle(box: Box, way: str) -> str:
    """Where a query stands, for what goes from it to its keys."""
    x = f"{box.x + box.width / 2:.1f}"
    return f"{x};{box.y - 1:.1f}" if way == "curve" else x


def _boxes(suffix: str, boxes: Sequence[Box]) -> dict[str, list[float]]:
    return {
        f"{name}{suffix}": [getattr(box, of) for box in boxes]
        for name, of in (("x", "x"), ("y", "y"), ("w", "width"), ("h", "height"))
    }


def percent(value: float, is_nan: str = "nan") -> str:
    """A share as words beside a token."""
    return f"{value:.0%}".replace("-", "−") if np.isfinite(value) else is_nan


def percent_each(values: np.ndarray, is_nan: str = "nan") -> str:
    """Many shares as a list of such words."""
    values = values.astype(float)
    if not ((values >= 0) & (values <= 1)).all():
        return SEPARATOR.join(percent(each, is_nan) for each in values.tolist())
    return SEPARATOR.join(PERCENTS[np.round(100 * values).astype(int)].tolist())


Around = tuple[Any, dict[str, Any]]
"""Of words, marks or paths: what each is, and their other columns."""


def _add_around(rows: _Rows, when: int, arrangement: Arrangement) -> None:
    """Words, marks and paths of one arrangement, at its own places."""
    n = "" if when == ON_WIDE else "n"
    made: dict[str, Callable[[Any, str], Around]]
    made = {"words": _words, "marks": _marks, "paths": _paths}
    for name, columns_of in made.items():
        if not (each := getattr(arrangement, name)):
            continue
        kinds, columns = columns_of(each, n)
        if any(arrangement.cut):
            left_out = [arrangement.leaves_out(one.y) for one in each]
            kinds = np.where(left_out, LEFT_OUT, kinds)
        columns |= {f"x{n}": [one.x for one in each]}
        columns |= {f"y{n}": [arrangement.up(one.y) for one in each]}
        ids = [f"{name}.{when}.{at}" for at in range(len(each))]
        rows.add(len(each), id=ids, when=when, kind=kinds, **columns)


def _words(each: Sequence[Word], n: str) -> Around:
    wide = [float(text_width(one.text)) for one in each]
    told = {"text": [one.text for one in each], "look": [one.look for one in each]}
    return WORD, {f"w{n}": wide, **told}


def _marks(each: Sequence[Mark], n: str) -> Around:
    place = {f"w{n}": [one.width for one in each], f"h{n}": [one.height for one in each]}
    where, tip = ([one.told[at] or None for one in each] for at in (0, 1))
    kinds = [UNDER if one.is_under else MARK for one in each]
    return kinds, {"shade": 1.0, **_looks(each), **place, "where": where, "tip": tip}


def _paths(each: Sequence[Path], _: str) -> Around:
    return PATH, {"look": "edge", "text": [one.drawn for one in each], **_looks(each)}


def _looks(each: Sequence[Mark | Path]) -> dict[str, list]:
    colours = [COLOURS.get(one.colour, one.colour) for one in each]
    return {"colour": colours, "strength": [one.strength for one in each]}


CELLS_GROW = 1.2
"""How much more than their letters cells grow in a wide window."""


def decimals_shown(layout: Layout, at: int, matrix: Matrix) -> int:
    """As many decimals as a window and a phone have room for, where their cells are large enough
    to show a number: both have the same words. `matrix` is the one in this place, now or at another
    position of a control. −1 where there is no room, or none to tell numbers from 0.
    """
    boxes = [one.boxes[at] for one in (layout.wide, layout.narrow)]
    now = min((each.decimals for each in boxes if each.is_readable), default=-1)
    if matrix is not layout.matrices[at] and now >= 0:
        there = min(decimals_in(each.width, matrix) for each in boxes if each.is_readable)
        now = there if there >= 0 else now  # too long for these cells, which are wider there
    if now > 1 and not boxes[0].is_readable:  # a wide window makes it so, by more than its letters
        now = max(1, decimals_in(boxes[0].width * CELLS_GROW, matrix))
        some = matrix.drawn[matrix.drawn != 0].float()
        if some.round(decimals=now).count_nonzero() <= some.numel() / 2:
            return -1  # its colours say more than so many zeros
    return now


def percents(shade: np.ndarray) -> str:
    """Shares as a list says them: a letter for each."""
    return percents_each(shade[None])[0]


def percents_each(shades: np.ndarray) -> list[str]:
    """A list for each row of shares."""
    letters = (np.round(100 * shades) + ord(LEVELS[100])).astype(np.uint32)
    return np.ascontiguousarray(letters).view(f"U{letters.shape[1]}").ravel().tolist()


def shades_of(values: np.ndarray, most: np.ndarray, are_shares: bool) -> np.ndarray:
    """Values from −1 to 1 for colours, none where not finite; shares by their root."""
    with np.errstate(all="ignore"):
        shade = np.clip(values / np.where(most == 0, np.inf, most), -1, 1)
    shade = np.where(np.isfinite(values), shade, 0.0)
    return np.sign(shade) * np.sqrt(np.abs(shade)) if are_shares else shade


def by_head(weights: torch.Tensor) -> torch.Tensor:
    """Weights (head, query, key), also of a single head."""
    return weights if weights.ndim == 3 else weights[None]


def id_of_token(what: str, at: int, head: int | None) -> str:
    """The id of what belongs to a token."""
    return f"{what}.{at}" if head is None else f"{what}.{at}.{head}"
