"""Where everything stands: a layout is a function from steps to places, in pixels.

Each layout is arranged twice, for a wide window and for a phone; the specification takes the one
that fits, and lets it grow where there is room. Knows no chart, so that it is tested without one.
"""

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise, repeat
from operator import ge
from typing import Any

from attention_core.trace import Step, Trace, is_shares

from .changed import changed_cells
from .equation_parts import UNNAMED, in_lines, laid_out, written_out
from .forbidden import forbidden, leak_limit, outline, with_masks
from .margin import has_sums, is_one, is_one_row, row_sums
from .matrix import Matrix, heads_of, names_along
from .numbers import text_width, written
from .scale import is_signed, limits

WIDE, NARROW = 896, 316
"""Pixels within a card, in a window of 1280 and on a phone of 390."""
TALL = 420
"""A wide picture is no taller, so that its card is a screen; its cells shrink instead."""
CELL, ROW = (3.5, 46.0), (3.5, 28.0)
"""The smallest and the largest width of a cell, and height of a row."""
READABLE = (21.0, 14.0)
"""A cell that is smaller shows no number."""
SIGN, GAP, BAR, SUMS, FEW_SUMS, LABEL = 34, 16, 80, 40, 25, 92
BEYOND, BEHIND = 24, 58
"""Of bars that go both ways: the room of what is longer than 1, at either end, and of a number."""
BREAK = 3
TITLE, SHAPE, SLANT, ABOVE = 18, 15, 0.72, 24
NEAR_TITLES = 34
"""Titles of one line stand at one height if they would be nearer to it than this."""
BROKEN_BARS = "gap in a bar: longer than 1, drawn shorter"
"""What is said below bars that go both ways, where there is room for it."""
CHANGED, TIMES = "changed by hand", "⊙ times, entry by entry"
"""What a line below a number means, and what ⊙ means, said where there is room for it."""
Said = tuple[str, str, str]
"""One thing of a legend: its kind, what stands before its bar, and after."""
MADE = "=→⇒↠|"
"""Signs before a result, or before what stands beside: it can be read without what is before."""
LEAST_LINE, LEAST_COMPACT = 12, 9
"""Pixels from one row's label to the next: where rows are lower, some have none."""
SOLVED = 240
"""On a last sheet rows stand as close as they can be read, so that all answers have room on it."""
BELOW = 28
"""For the legend."""
NO_PATH = "M0,0"
BAND = 6
"""The coloured band of a head, and the room that it takes."""


# Not frozen: made by the thousand, which took five times as long.
@dataclass(slots=True)
class Box:
    """A matrix in its place: its upper left corner, and the size of a cell."""

    x: float
    y: float
    width: float
    height: float
    decimals: int = 2
    """Of the numbers in its cells; −1 where there are none, since they could not be read."""

    @property
    def is_readable(self) -> bool:
        """Whether a cell is large enough for a number."""
        return self.width >= READABLE[0] and self.height >= READABLE[1]


@dataclass(slots=True)
class Word:
    """Words in a place; `look` is a kind of spec.py; `changes`: they depend on numbers."""

    text: str
    x: float
    y: float
    look: str
    changes: bool = False


@dataclass(slots=True)
class Mark:
    """A filled rectangle that is no cell: the band of a head, a bar, a slice of the legend."""

    x: float
    y: float
    width: float
    height: float
    colour: str
    strength: float = 1.0
    changes: bool = False
    """Whether its width, a share of the one it has, depends on numbers: then that is `strength`."""
    is_under: bool = False
    """Whether it lies below the cells."""
    told: tuple[str, str] = ("", "")
    """What it is, and what of, for who points at it."""


@dataclass(slots=True)
class Path:
    """A line around cells, or from token to token, from its beginning on."""

    x: float
    y: float
    drawn: str
    colour: str
    strength: float = 1.0


@dataclass
class Arrangement:
    """One way to arrange a layout: how large it is, a box for each matrix, and what is around."""

    width: float = 0.0
    height: float = 0.0
    boxes: list[Box] = field(default_factory=list)
    words: list[Word] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    paths: list[Path] = field(default_factory=list)
    lines: list[float] = field(default_factory=list)
    """Where lines of matrices begin, where it has such."""
    cut: tuple[float, float] = (0.0, 0.0)
    """What is left out of it, from one height to another: the rest moves up."""

    def leaves_out(self, y: float) -> bool:
        """Whether what stands at this height is left out."""
        return self.cut[0] <= y < self.cut[1]

    def up(self, y: float) -> float:
        """Where what stands at this height is drawn."""
        return y - (self.cut[1] - self.cut[0]) * (y >= self.cut[1])


@dataclass
class Layout:
    """The matrices of a picture, the strongest number of each, and two arrangements."""

    trace: Trace
    matrices: tuple[Matrix, ...]
    signs: tuple[str, ...]
    limits: list[float]
    leaks: float
    wide: Arrangement
    narrow: Arrangement
    sentence: Any = None
    """What the sentence above shows, if it stands there (see sentence.py)."""

    @property
    def tells(self) -> bool:
        """Whether a mark of it tells something when it is pointed at."""
        return any(any(each.told) for each in self.wide.marks)

    @property
    def alt(self) -> str:
        """The picture in words of ours; without sizes, or the browser would build it anew."""
        told = [
            f"{each.name} ({' by '.join(axis for axis in each.axes if axis)})"
            + (", covered by a question" if each.covered else "")
            + (", in part covered by a question" if each.hidden is not None else "")
            for each in self.matrices
        ]
        if not self.matrices:
            return "The sentence, each token shaded by its weight."
        above = (
            "The sentence, shaded by weights; below it matrices" if self.sentence else "Matrices"
        )
        return f"{above} of numbers, from left to right: {'; '.join(told)}."


def equation(
    trace: Trace, *parts: Step | Matrix | str, tall: float = TALL, room: float = WIDE
) -> Layout:
    """Matrices with signs between them, rows aligned. A step stands for its whole equation: its
    operands, their signs, itself. Wide, it is one line, or one more at each NEW_LINE, all of them
    at most so `tall` where their numbers can be read then, in so much `room`; on a phone in as many
    lines as it takes.
    """
    return placed(trace, in_lines(laid_out(parts)), tall, room)


def matrices_of(*parts: Step | Matrix | str) -> list[Matrix]:
    """The matrices of an equation, without their places: what a position of a control changes."""
    return with_masks([part for part in written_out(parts) if isinstance(part, Matrix)])


def brief(layout: Layout, most: float = 340, stays: Collection[str] = ()) -> Layout:
    """The same, no higher than this on a phone if what its last lines come from is left out, with
    the sign before them; but for the lines of the steps and of the matrices that stay.
    """
    narrow = layout.narrow
    first, *later = narrow.lines or [0.0]
    if narrow.height <= most or not later:
        return layout
    drawn = [*zip(layout.matrices, narrow.boxes, strict=True)]
    held = [box.y for each, box in drawn if each.stays or each.step.name in stays]
    if any(layout.signs):
        fits = [line for line in later if narrow.height - (line - first) <= most]
        seen = [box.y for each, box in drawn if not each.covered][-1:]  # not question marks alone
        end = min([min(fits, default=later[-1]), *held, *seen])
        cut = first, max(line for line in narrow.lines if line <= end)
    else:
        start = max([line for line in later if line + BELOW <= most] or [later[0], *held])
        # Below the last cells there is a legend, or nothing.
        ends = (box.y + each.sizes[0] * box.height for each, box in drawn)
        end = max([narrow.height - BELOW, *ends])
        cut = min((line for line in later if line >= start), default=end), end
    if cut[0] == cut[1]:
        return layout
    less = replace(narrow, cut=cut, height=narrow.height - (cut[1] - cut[0]))
    at = next((at for at, box in enumerate(narrow.boxes) if not less.leaves_out(box.y)), 0)
    if at and layout.signs[at]:
        signs = [at for at, word in enumerate(narrow.words) if word.look == "sign"]
        words, lost = [*narrow.words], signs[sum(map(bool, layout.signs[:at]))]
        sign = words[lost]
        # Beside the title: further down are the names of rows.
        short = {"text": f"(…) {sign.text}", "y": cut[1] + TITLE / 2}
        new = {"y": cut[0]} if sign.text in MADE else short
        words[lost] = replace(sign, **new)
        less = replace(less, words=words)
    low = narrow.height - 13
    words = [replace(one, y=cut[0]) if one.y > low else one for one in less.words]
    marks = [replace(one, y=cut[0]) if one.y > low else one for one in less.marks]
    if words != less.words:  # it has a legend, which now speaks of nothing that is left out
        less = replace(less, words=words, marks=marks)
        add_legend(layout, less, NARROW)
    return replace(layout, narrow=less)


def uncovered(layout: Layout) -> Layout:
    """The matrices of an equation with all their numbers, in as many lines as these need to be
    read; in one line where that does not help.
    """
    each = [replace(matrix, covered=False, hidden=None, untold=None) for matrix in layout.matrices]
    pairs = [*zip(layout.signs, each, strict=True)]
    ways = []
    for count in range(len(pairs), 0, -1):
        lines = [pairs[at : at + count] for at in range(0, len(pairs), count)]
        ways.append(placed(layout.trace, lines, tall=SOLVED * len(lines)))
        if all(box.is_readable for box in ways[-1].wide.boxes):
            return ways[-1]
    return ways[0]


def placed(
    trace: Trace,
    lines: Sequence[Sequence[tuple[str, Matrix]]],
    tall: float = TALL,
    room: float = WIDE,
) -> Layout:
    """The layout of lines of matrices, each with the sign before it."""
    signs, drawn = zip(*(pair for line in lines for pair in line), strict=True)
    matrices = with_masks(drawn)
    each = map(Footprint, repeat(trace), signs, matrices)
    footprints = [[next(each) for _ in line] for line in lines]
    wide = _in_rows(footprints, room, tall)
    narrow = _on_a_phone(trace, [one for line in footprints for one in line])
    if matrices[0].lead and {*signs} == {"", "+", "="}:  # heads to be added: all written alike
        has = [n for box in (*wide.boxes, *narrow.boxes) if (n := box.decimals) > 0]
        wide.boxes = [replace(box, decimals=min([box.decimals, *has])) for box in wide.boxes]
    return with_legend(trace, matrices, signs, wide, narrow, 0.0, room)


def with_legend(
    trace: Trace,
    matrices: Sequence[Matrix],
    signs: Sequence[str],
    wide: Arrangement,
    narrow: Arrangement,
    below: float,
    room: float = WIDE,
) -> Layout:
    """The layout of these arrangements, with a legend in so much more room below each."""
    ends, leaks = limits(matrices, signs), leak_limit(matrices)
    made = Layout(trace, tuple(matrices), tuple(signs), ends, leaks, wide, narrow)
    for arrangement, width in ((wide, room), (narrow, NARROW)):
        arrangement.height += below
        add_legend(made, arrangement, width)
    return made


def _in_rows(lines: Sequence[Sequence["Footprint"]], room: float, tall: float) -> Arrangement:
    if len(lines) == 1:
        return _in_a_row(_Line(lines[0], room, tall))
    each = [_Line(line, room) for line in lines]
    row = (tall - sum(line.around for line in each)) / sum(line.n_rows for line in each)
    # Heads of one step keep their size in a last line that has fewer of them.
    is_one = len({one.matrix.step.name for line in lines for one in line}) == 1
    most = min(line.cell for line in each) if is_one else math.inf
    made = Arrangement()
    for line in each:
        lower = _Line(line.each, room, line.around + line.n_rows * row)
        lower.cell = min(lower.cell, most)
        one = _in_a_row(lower)
        put_below(made, one)
        made.width = max(made.width, one.width)
    made.height += BELOW - 12
    return made


def put_below(made: Arrangement, other: Arrangement) -> None:
    """A line of matrices below all that stands in an arrangement."""
    move(other, 0.0, made.height)
    made.lines.append(made.height)
    take(made, other)
    made.height += other.height - BELOW + 12


def take(made: Arrangement, *others: Arrangement) -> None:
    """All that stands in other arrangements, too."""
    for name in ("boxes", "words", "marks", "paths"):
        for other in others:
            getattr(made, name).extend(getattr(other, name))


def in_a_row(
    trace: Trace, pairs: Sequence[tuple[str, Matrix]], room: float, tall: float
) -> Arrangement:
    """All matrices from left to right, centred on one line."""
    return _in_a_row(_Line([Footprint(trace, *pair) for pair in pairs], room, tall))


class _Line:
    """How large the cells of a line of matrices are in so much room: nothing is put there yet."""

    def __init__(self, each: Sequence["Footprint"], room: float, tall: float = math.inf) -> None:
        self.each = each
        for at, one in enumerate(each):
            # On a phone the sign before a line stands above the labels of its rows.
            one.in_corner = at == 0 and room == NARROW and one.of_sign <= one.label
        n_columns = max(1, sum(one.n_columns for one in each if not one.is_bars))
        beside = sum(one.beside for one in each) + GAP * (len(each) - 1)
        cell = between((room - beside) / n_columns, *CELL)
        self.n_rows = max(one.n_rows for one in each)
        self.above = above = max(one.above(cell) for one in each)
        row = between((tall - above - BELOW) / self.n_rows, ROW[0], min(ROW[1], max(cell * 0.8, 6)))
        # A lower picture is still one whose numbers are read, also where it shrinks a little.
        row = max(row, min(READABLE[1] + 1.5, (TALL - above - BELOW) / self.n_rows))
        # A title wider than its matrix takes its room from the cells of all.
        for _ in range(3):
            needed = beside + sum(one.width(cell) for one in each)
            if needed <= room or cell <= CELL[0]:
                break
            cell = max(CELL[0], cell - (needed - room) / n_columns)
        self.cell, self.row = cell, row
        self.around = above + BELOW + 10 * any(one.is_upright and one.sums for one in each)
        """What stands above and below the cells, however high these are."""

    @property
    def width(self) -> float:
        """From the first sign to the end of the last matrix."""
        x, ends = 0.0, [0.0]
        for one in self.each:
            left, following = one.spans(x, self.cell)
            ends.append(left + one.n_columns * (one.bar or self.cell))
            x = following
        last = self.each[-1]
        return max(max(ends) + (0 if last.is_upright else last.room_of_sums), x - GAP)


def _in_a_row(line: _Line) -> Arrangement:
    width = line.width + line.each[-1].overhang(line.cell)
    made = Arrangement(width, line.around + line.n_rows * line.row)
    x = 0.0
    for one in line.each:
        x = stand(made, one, x, line.above, line.cell, line.row, line.n_rows, 0.0)
    return made


def _on_a_phone(trace: Trace, each: Sequence["Footprint"]) -> Arrangement:
    """In lines, in each as many matrices as leave each other the decimals that they have alone."""
    lines: list[list[Footprint]] = []
    decimals: list[int] = []
    for one in each:
        matrix = one.matrix
        first = (
            one
            if matrix.row_labels
            else Footprint(trace, one.sign, replace(matrix, row_labels=True))
        )
        alone = _Line([first], NARROW)
        own = first.decimals(alone.cell, alone.row)
        longer = _Line([*(lines[-1] if lines else ()), one], NARROW)
        each_has = (beside.decimals(longer.cell, longer.row) for beside in longer.each)
        if lines and longer.width <= NARROW and all(map(ge, each_has, [*decimals, own])):
            lines[-1].append(one)
            decimals.append(own)
        else:
            lines.append([first])
            decimals = [own]
    made = _in_rows(lines, NARROW, TALL)
    made.width = max(NARROW, made.width)
    return made


def frame_cells(layout: Layout, number: int, cells: Collection[tuple[int, int]]) -> None:
    """Add a frame around cells (row, column) of a matrix of a layout, as they are drawn, wide and
    narrow.
    """
    for arrangement in (layout.wide, layout.narrow):
        box = arrangement.boxes[number]
        frame = f"M0,0H{box.width - 2}V{box.height - 2}H0Z"
        for cell in cells:
            row, column = cell[::-1] if layout.matrices[number].transposed else cell
            place = (box.x + column * box.width, box.y + row * box.height)
            arrangement.paths.append(Path(*place, frame, "loud"))


def move(made: Arrangement, right: float, down: float) -> None:
    for name in ("boxes", "words", "marks", "paths"):
        setattr(made, name, [_moved(each, right, down) for each in getattr(made, name)])
    made.lines = [line + down for line in made.lines]


def titled(layout: Layout, title: str) -> Layout:
    """The layout below a title: what a control has chosen, where the control does not say it."""
    for arrangement in (layout.wide, layout.narrow):
        move(arrangement, 0.0, ABOVE)
        arrangement.height += ABOVE
        arrangement.words.append(Word(title, 0.0, 9.0, "title"))
    return layout


def make_room(layout: Layout, across: float, above: float) -> None:
    """Room at the left of a wide picture, and above that of a phone."""
    move(layout.wide, across, 0.0)
    layout.wide.width += across
    move(layout.narrow, 0.0, above)
    layout.narrow.height += above
    layout.narrow.width = NARROW


def _moved(each: Any, right: float, down: float) -> Any:
    """The same elsewhere: `replace` takes ten times as long, and a picture has hundreds of them."""
    other = object.__new__(type(each))
    for name in each.__slots__:
        setattr(other, name, getattr(each, name))
    other.x, other.y = each.x + right, each.y + down
    return other


class Footprint:
    """What a matrix needs around its cells, little where `compact`; its title may be above."""

    def __init__(
        self, trace: Trace, sign: str, matrix: Matrix, compact: bool = False, titled: bool = True
    ) -> None:
        self.matrix, self.sign, self.compact = matrix, sign, compact
        self.title = matrix.name if titled else ""
        self.in_corner = False
        self.n_rows, self.n_columns = matrix.sizes
        self.rows, self.columns = names_along(trace, matrix)
        if not matrix.row_labels or matrix.axes[0] in UNNAMED:
            self.rows = []
        elif matrix.row_numbers:
            places = matrix.columns if matrix.transposed else matrix.rows
            numbered = zip(places or range(self.n_rows), self.rows, strict=True)
            self.rows = [f"{place}: {name}" for place, name in numbered]
        if not matrix.column_labels or matrix.axes[1] in UNNAMED:
            self.columns = []
        self.longest = max(map(text_width, self.columns), default=0)
        self.is_bars = matrix.as_bars and not matrix.covered
        self.bar = (2 * (BAR + BEYOND) + BEHIND if matrix.both_ways else BAR) if self.is_bars else 0
        self.sums = has_sums(matrix)
        self.is_upright = is_one_row(matrix)
        self.heads = heads_of(trace, matrix)
        self.shape = "" if compact else " × ".join(axis for axis in matrix.axes if axis)
        self.room_of_sums = (FEW_SUMS if compact else SUMS) if self.sums else 0
        self.label = min(LABEL, max(map(text_width, self.rows), default=-8) + 8)
        if self.heads[0]:
            self.label += BAND

    @property
    def of_sign(self) -> float:
        """The room of its sign, which may be a word, such as max."""
        return max(SIGN, 2.1 * text_width(self.sign) + 8) if self.sign else 0.0

    @property
    def beside(self) -> float:
        """What its sign, its labels and its sums take."""
        sign = 0.0 if self.in_corner else self.of_sign
        return sign + self.label + (0 if self.is_upright else self.room_of_sums) + self.bar

    def width(self, cell: float) -> float:
        """Of its cells, or of its title where that is wider; bars are counted beside."""
        own = 0.0 if self.is_bars else self.n_columns * cell
        free = self.bar + (0 if self.is_upright else self.room_of_sums)
        return max(own, text_width(self.matrix.name) * (1.04 if self.compact else 1.12) - free)

    def spans(self, x: float, cell: float) -> tuple[float, float]:
        """From where its cells begin to where the next matrix does, if it begins at x itself."""
        left = x + self.label + (0.0 if self.in_corner else self.of_sign)
        own = self.n_columns * (self.bar or cell)
        taken = self.bar if self.is_bars else max(self.width(cell), own)
        return left, left + taken + (0 if self.is_upright else self.room_of_sums) + GAP

    def decimals(self, cell: float, row: float) -> int:
        """Of its numbers in cells so large; −1 where they cannot be read."""
        if self.is_bars or cell < READABLE[0] or row < READABLE[1]:
            return -1
        return decimals_in(cell, self.matrix)

    def is_slanted(self, cell: float) -> bool:
        return self.longest + 4 > cell * self.every(cell)

    def overhang(self, cell: float) -> float:
        """How far a slanted label stands out on the right of its cells and sums."""
        if self.is_bars or not self.is_slanted(cell):
            return 0.0
        shown = [*enumerate(self.columns)][:: self.every(cell)]
        far = [at * cell + min(LABEL, text_width(name)) * SLANT for at, name in shown]
        own = self.n_columns * cell + (0 if self.is_upright else self.room_of_sums)
        return max(0.0, max(far) + 0.35 * cell + 3 - own)

    def every(self, cell: float) -> int:
        """Every how many columns have a label."""
        crowded = cell < 16 and self.matrix.axes[1].startswith("d_")
        return 4 if crowded else max(1, round(15 / cell + 0.49))

    def above(self, cell: float) -> float:
        """The room of its title and of the labels of its columns."""
        labels = (
            min(LABEL, self.longest) * SLANT + 14
            if self.is_slanted(cell)
            else 18
            if self.columns
            else 4
        )
        title = (TITLE - 2 if self.compact else TITLE + SHAPE) if self.title else 0
        return title + labels + (BAND if self.heads[1] else 0)


def put(made: Arrangement, one: Footprint, x: float, y: float, cell: float, row: float) -> float:
    """Put a matrix and what is around it into an arrangement; returns where the next begins."""
    return stand(made, one, x, y + one.above(cell), cell, row, one.n_rows)


def widest(width: Callable[[float], float], room: float, least: float, most: float) -> float:
    """The widest cell with which `width` fits a room; titles count, so there is no formula."""
    for _ in range(12):
        middle = (least + most) / 2
        least, most = (middle, most) if width(middle) <= room else (least, middle)
    return least


def between(value: float, least: float, most: float) -> float:
    return max(least, min(value, most))


def stand(
    made: Arrangement,
    one: Footprint,
    x: float,
    above: float,
    cell: float,
    row: float,
    most_rows: int,
    titles: float | None = None,
) -> float:
    """Put a matrix and what belongs to it where its line's `titles` are; where the next begins."""
    matrix, words = one.matrix, made.words
    width = one.bar or cell
    y = above + (most_rows - one.n_rows) * row / 2
    if one.sign and one.in_corner:
        words.append(Word(one.sign, one.of_sign / 2 - GAP / 4, y - one.above(cell) + 12, "sign"))
    elif one.sign:
        middle = above + most_rows * row / 2
        words.append(Word(one.sign, x + one.of_sign / 2 - GAP / 4, middle, "sign"))
    x, following = one.spans(x, cell)
    made.boxes.append(Box(x, y, width, row, one.decimals(cell, row)))
    if one.is_bars and matrix.both_ways:
        made.marks += [
            Mark(x + BEYOND + at - BREAK / 2, y, BREAK, one.n_rows * row, "ground", is_under=True)
            for at in (0, 2 * BAR)
        ]
    top = y - one.above(cell)
    if titles is not None and (one.n_rows == most_rows or top - titles < NEAR_TITLES):
        top = titles
    if one.title:
        words.append(Word(one.title, x, top + 8, "title"))
    widest = max(one.n_columns * width, text_width(matrix.name)) + 24
    if one.shape and text_width(one.shape) <= widest:
        words.append(Word(one.shape, x, top + TITLE + 5, "shape"))
    labels = 0 if not one.heads[0] else BAND
    every = max(1, math.ceil((LEAST_COMPACT if one.compact else LEAST_LINE) / row))
    for at, name in enumerate(one.rows):
        if at % every == matrix.asked % every:
            look = "small row" if one.compact and row < LEAST_LINE else "row"
            words.append(Word(name, x - 6 - labels, y + (at + 0.5) * row, look))
    slanted = one.is_slanted(cell)
    up = BAND if one.heads[1] else 0
    every = one.every(cell)
    asked = matrix.asked if matrix.axes[1] in ("query", "key") else 0
    for at, name in enumerate(one.columns):
        if at % every == asked % every:
            place = x + (at + (0.35 if slanted else 0.5)) * width
            look = "slanted" if slanted else "column"
            words.append(Word(name, place, y - 7 - up, look))
    _add_bands(made, one, x, y, width, row)
    if one.sums:
        _add_sums(made, one, x + one.n_columns * width + 6, y, row)
    if (region := forbidden(matrix)) is not None:  # also of none: a mask may move
        region = region.T if matrix.transposed else region
        drawn = outline(region, width, row) or NO_PATH
        made.paths.append(Path(x - 1, y - 1, drawn, "forbidden"))
    return following


def decimals_in(width: float, matrix: Matrix) -> int:
    """Decimals that all numbers have, two at most, and that fit; one if 0.4; −1 for no room."""
    if matrix.covered or not matrix.step.value.is_floating_point():
        return 0
    return next((n for n, longest in matrix.number_widths if longest <= width - 1), -1)


def _add_bands(
    made: Arrangement, one: Footprint, x: float, y: float, width: float, row: float
) -> None:
    for side, marks in zip("yx", one.heads, strict=True):
        start = 0
        for at, (head, following) in enumerate(pairwise((*marks, None))):
            if head != following:
                n, colour = at + 1 - start, f"head {head}"
                band = (
                    Mark(x - BAND - 1, y + start * row, 4, n * row - 2, colour)
                    if side == "y"
                    else Mark(x + start * width, y - BAND - 1, n * width - 2, 4, colour)
                )
                made.marks.append(band)
                start = at + 1


def _add_sums(made: Arrangement, one: Footprint, x: float, y: float, row: float) -> None:
    """In the margin: what each row of weights sums to, loud where that is not 1."""
    sums, kind = row_sums(one.matrix), one.matrix.step.value.dtype
    if one.is_upright:
        told = f"sum {written(float(sums[0]))}"
        look = "sum" if is_one(float(sums[0]), kind) else "loud"
        left = made.boxes[-1].x
        made.words.append(Word(told, left, y + one.n_rows * row + 8, look, changes=True))
        return
    readable, small = row >= (7.5 if one.compact else 10), "small " if one.compact else ""
    if readable:
        made.words.append(Word("sum", x, y - 8, f"{small}sum"))
    told_of: dict[int, Word] = {}
    # Of more rows than there is room for, those that are off most are told.
    for at, total in sorted(enumerate(sums.tolist()), key=lambda each: -abs(each[1] - 1)):
        place = y + (at + 0.5) * row
        look = small + ("sum" if is_one(total, kind) else "loud")
        has_room = all(abs(place - other.y) >= LEAST_COMPACT for other in told_of.values())
        if readable or (look == "loud" and not one.compact and has_room):
            told_of[at] = Word(written(total), x, place, look, changes=readable)
    # In the order of rows, by which `positions` finds them: what is off most differs between them.
    made.words += [told_of[at] for at in sorted(told_of)]


def add_legend(made: Layout, arrangement: Arrangement, room: float) -> None:
    """What the colours mean: one thin line at the bottom, from the matrices."""
    x, y, slices = 0.0, arrangement.height - 8, 18
    y += arrangement.cut[1] - arrangement.cut[0]
    said = legend(made.matrices, made.limits, made.leaks, arrangement)
    signs = zip(made.signs, arrangement.boxes, strict=False)
    times = any(sign == "⊙" and not arrangement.leaves_out(box.y) for sign, box in signs)
    said += [(TIMES, "", TIMES)] * times
    for kind, before, after in fitting(said, room):
        length, left, right = _lengths(kind, before, after)
        if before:
            arrangement.words.append(Word(before, x, y, "legend"))
            x += left + 5
        for at in range(slices if before else 0):
            share = (at + 0.5) / slices
            share = 2 * share - 1 if kind == "signed" else share
            colour = "loud" if kind == "leaks" else "minus" if share < 0 else "plus"
            place = (x + at * length / slices, y - 4, length / slices, 8)
            arrangement.marks.append(Mark(*place, colour, 0.05 + 0.8 * abs(share)))
        arrangement.marks += [Mark(x, y + 1, length, 3, "loud")] if kind == CHANGED else []
        arrangement.words.append(Word(after, x + length + 5, y, "legend"))
        x += length + right + 34
        arrangement.width = max(arrangement.width, x - 22)


def _lengths(kind: str, before: str, after: str) -> tuple[float, float, float]:
    left, right = (text_width(each) * 0.92 for each in (before, after))
    return {CHANGED: 13.0, BROKEN_BARS: 0.0, TIMES: 0.0}.get(kind, 54.0), left, right


def fitting(said: Sequence[Said], room: float) -> list[Said]:
    """What a legend has room for, in short where it must."""
    x, found = 0.0, []
    for kind, before, after in said:
        for text in (after, after.partition(",")[0]):
            length, left, right = _lengths(kind, before, text)
            if x + left + length + right + 12 <= room:
                found.append((kind, before, text))
                x += (left + 5 if before else 0) + length + right + 34
                break
        else:
            break
    return found


def legend_end(arrangement: Arrangement) -> float:
    """How far to the right what the colours mean is said."""
    words = (each for each in arrangement.words if each.look == "legend")
    return max((each.x + text_width(each.text) * 0.92 for each in words), default=0.0)


def legend(
    matrices: Sequence[Matrix], limits: Sequence[float], leaks: float, arrangement: Arrangement
) -> list[Said]:
    """Each scale in use, and what else is said: its kind, what stands before its bar, and after."""
    each = zip(matrices, limits, arrangement.boxes, strict=False)
    pairs = [(one, most) for one, most, box in each
             if not (one.covered or arrangement.leaves_out(box.y))]  # fmt: skip
    shown = [one for one, _ in pairs]
    drawn = [(one, most) for one, most in pairs if one.step.value.is_floating_point()
             and not (one.as_bars or one.tells_origins)]  # fmt: skip
    found = []
    signed = sorted({most for matrix, most in drawn if is_signed(matrix) and most})
    if len(signed) == 1:
        end = f"{signed[0]:.3g}"
        found.append(("signed", f"−{end}", end))
    elif signed:
        found.append(("signed", "below 0", "above 0, scale per matrix"))
    if any(is_shares(matrix.step) for matrix, _ in drawn):
        found.append(("shares", "0", "1, small shares made easier to see"))
    if leaks and leak_limit(shown):
        found.append(("leaks", "0", f"{leaks:.3g} where it must be 0"))
    if any(changed_cells(each.step) is not None for each in shown):
        found.append((CHANGED, "", CHANGED))
    if any(each.both_ways and (each.seen.abs() > 1).any() for each in shown):
        found.append((BROKEN_BARS, "", BROKEN_BARS))
    return found
