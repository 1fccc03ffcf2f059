"""A whole layer as one picture, as numbers flow, left to right; on a phone, downwards."""

from collections.abc import Sequence

from attention_core.trace import Step, Trace

from .forbidden import with_masks
from .layout import (
    BAND,
    GAP,
    LEAST_COMPACT,
    NARROW,
    WIDE,
    Arrangement,
    Footprint,
    Layout,
    Word,
    between,
    put,
    widest,
    with_legend,
)
from .matrix import Matrix
from .numbers import text_width
from .sentence import with_sentence

GIVEN, MATRICES = "embeddings", ("W_query", "W_key", "W_value")
BEFORE_SHARES = ("head_tempered_scores", "head_scaled_scores", "head_scores")
"""The first of these in a layer are its scores before a mask, so cells stay at any temperature."""
OUTPUTS = ("concat", "W_output", "output")
TALL = 388
"""With the sentence above it, as high as leaves room for words and controls on a screen."""
CELL, ROW = (1.0, 30.0), (1.0, 20.0)
LEAST_ROW = 2.4
"""A head with lower rows is not drawn."""
MOST_CELLS = 12_000
"""Of all matrices together; with more, heads are left out, to keep the page quick."""
BETWEEN_LINES, BEFORE_TITLE, LEGEND, HEAD = 3, 14, 26, 11
"""Between lines, before one with a title, below all, and above for a head's number."""
TALLEST, ENOUGH = 452, 5.0
"""A layer of many heads is higher, until rows are so high, or each has its name."""
TO_BE_SEEN, ROOM = 6.0, 48.0
"""Cells along what is no token are this large, in this room: beside 64 tokens no speck."""
TOKENS = ("token", "query", "key")


def whole_layer(trace: Trace, first_query: int, tall: float = TALL) -> Layout:
    """All matrices of `attend_heads`, below the sentence of the head and query pointed at."""
    matrices = with_masks(layer_matrices(trace))
    wide = _as_it_flows(trace, matrices, tall - LEGEND, TALLEST - LEGEND)
    narrow = _from_top_to_bottom(trace, matrices)
    made = with_legend(trace, matrices, ("",) * len(matrices), wide, narrow, LEGEND)
    weights = [at for at, each in enumerate(matrices) if each.step.name == "head_weights"]
    return with_sentence(made, first_query, weights)


def layer_matrices(trace: Trace) -> list[Matrix]:
    """What is drawn of a layer: what heads share, a line for each head, and the joining."""

    def shared(name: str) -> Matrix:
        labelled = name in (GIVEN, "concat", "output")
        return Matrix(trace[name], row_labels=labelled, column_labels=False)

    def of_head(step: Step, title: str, head: int) -> Matrix:
        return Matrix(
            step,
            lead=(head,),
            title=title,
            row_labels=step.name == "head_queries",
            column_labels=False,
        )

    steps = _of_a_head(trace)
    return [
        *map(shared, (GIVEN, *MATRICES)),
        *(of_head(*each, head) for head in range(n_drawn(trace)) for each in steps),
        *map(shared, OUTPUTS),
    ]


def _of_a_head(trace: Trace) -> list[tuple[Step, str]]:
    """The steps of a head, each with its title: without what its place in the picture says."""
    last = next(trace[name] for name in BEFORE_SHARES if name in trace)
    names = ("head_masked_scores", "head_weights", "head_values")
    given = [trace["head_queries"], trace["head_keys"], trace["head_scores"]]
    made = [trace[name] for name in names if name in trace]
    before, after = (
        [(step, step.name.removeprefix("head_").split("_")[0]) for step in steps]
        for steps in (given, [*made, trace["head_context_vectors"]])
    )
    return [*before, (last, "scaled"), *after]


def n_drawn(trace: Trace) -> int:
    """How many heads are drawn: all, or as many as there is room for, and at least one."""
    n_rows = len(trace["embeddings"].value)
    of_one = sum(step.value[0].numel() for step, _ in _of_a_head(trace))
    most = min(MOST_CELLS // of_one, int(TALLEST / (LEAST_ROW * n_rows + HEAD)))
    return max(1, min(trace.size("head"), most))


def _as_it_flows(
    trace: Trace, matrices: Sequence[Matrix], tall: float, tallest: float
) -> Arrangement:
    """Columns from left to right: vectors, matrices, a line for each head, what joins them."""
    n_given, n_out = 1 + len(MATRICES), len(OUTPUTS)
    each = [
        # Heads stand below each other, and their titles above the first.
        Footprint(trace, "", matrix, compact=True, titled=matrix.lead in ((), (0,)))
        for matrix in matrices
    ]
    inside = each[n_given:-n_out]
    heads = [[one for one in inside if one.matrix.lead == (head,)] for head in range(len(inside))]
    columns = [
        [each[:1]],
        [[one] for one in each[1:n_given]],
        [line for line in heads if line],
        [[one] for one in each[-n_out:]],
    ]
    for one in inside:
        if one.rows:  # the name of a head stands above those of its rows
            one.label = max(one.label, text_width("head 0") + 6)
    cell = _cell_that_fits(columns)
    around, n_rows = _height(columns[2], cell, 0.0), sum(map(_n_rows, columns[2]))
    named = around + LEAST_COMPACT * n_rows
    enough = named if named <= tallest else around + ENOUGH * n_rows
    tall = between(enough, tall, max(tall, tallest))
    rows = [
        between((tall - _height(lines, cell, 0.0)) / sum(map(_n_rows, lines)), *ROW)
        for lines in columns
    ]
    # What has a row for each token has rows as high in all columns, where it can.
    rows = [min(row, rows[2], 1.3 * cell + 3) for row in rows]
    made, x = Arrangement(), 0.0
    heights = [_height(lines, cell, row) for lines, row in zip(columns, rows, strict=True)]
    most = max(heights)
    for lines, row, height in zip(columns, rows, heights, strict=True):
        y, end = (most - height) / 2, x
        for at, line in enumerate(lines):
            y += _gap(line) if at else 0
            if head := line[0].matrix.lead:
                place = y + _above(line, cell) - (BAND + HEAD / 2 + 1 if head != (0,) else 16)
                made.words.append(Word(f"head {head[0]}", x, place, "shape"))
            along = x
            for one in line:
                top = y + _above(line, cell) - one.above(cell)
                along = put(made, one, along, top, _wide(one, cell), _high(line, row))
            end = max(end, along)
            y += _above(line, cell) + _n_rows(line) * _high(line, row)
        x = end
    made.width, made.height = x - GAP, most
    return made


def _wide(one: Footprint, cell: float) -> float:
    is_of_tokens = one.matrix.axes[1] in TOKENS
    return cell if is_of_tokens else max(cell, min(TO_BE_SEEN, ROOM / one.n_columns))


def _high(line: Sequence[Footprint], row: float) -> float:
    is_of_tokens = line[0].matrix.axes[0] in TOKENS
    return row if is_of_tokens else max(row, min(TO_BE_SEEN, ROOM / _n_rows(line)))


def _n_rows(line: Sequence[Footprint]) -> int:
    return max(one.n_rows for one in line)


def _above(line: Sequence[Footprint], cell: float) -> float:
    has_title = any(one.title for one in line)
    return max(one.above(cell) for one in line) + (0 if has_title else HEAD)


def _height(lines: Sequence[Sequence[Footprint]], cell: float, row: float) -> float:
    each = [_above(line, cell) + _n_rows(line) * (row and _high(line, row)) for line in lines]
    return sum(each) + sum(map(_gap, lines[1:]))


def _gap(line: Sequence[Footprint]) -> int:
    return BEFORE_TITLE if any(one.title for one in line) else BETWEEN_LINES


def _cell_that_fits(columns: Sequence[Sequence[Sequence[Footprint]]]) -> float:
    def width(cell: float) -> float:
        return sum(
            max(
                sum(one.beside + one.width(_wide(one, cell)) + GAP for one in line)
                for line in lines
            )
            for lines in columns
        )

    return widest(width, WIDE + GAP, *CELL)


def _from_top_to_bottom(trace: Trace, matrices: Sequence[Matrix]) -> Arrangement:
    """For a phone: left to right as far as there is room, then below, cells as large as can be."""
    each = [Footprint(trace, "", matrix, compact=True) for matrix in matrices]
    most = min((NARROW - one.beside) / one.n_columns for one in each)
    sizes = [most] if most < 7 else [min(most, 11 - at / 2) for at in range(9)]
    cell = min(sizes, key=lambda size: len(_lines(each, size)))
    row = between(cell * 0.9, *ROW)
    made, y = Arrangement(width=NARROW), 0.0
    for line in _lines(each, cell):
        x = 0.0
        for one in line:
            x = put(made, one, x, y + _above(line, cell) - one.above(cell), cell, row)
        y += _above(line, cell) + _n_rows(line) * row + 10
    made.height = y - 10
    return made


def _lines(each: Sequence[Footprint], cell: float) -> list[list[Footprint]]:
    """Matrices in lines that fit a phone; each head begins one."""
    lines: list[list[Footprint]] = [[]]
    x = 0.0
    for one in each:
        needed = one.beside + one.width(cell) + GAP
        begins = one.matrix.step.name in ("head_queries", OUTPUTS[0])
        if lines[-1] and (begins or x + needed > NARROW + GAP):
            lines.append([])
            x = 0.0
        lines[-1].append(one)
        x += needed
    return lines
