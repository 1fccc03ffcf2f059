"""The arithmetic of one cell in words, LaTeX and tables. Draws nothing."""

import math
from collections.abc import Sequence

import pandas as pd
import torch

from attention_core.expression import (
    Cell,
    Exponential,
    Expression,
    Hidden,
    Number,
    Product,
    Share,
    Sum,
    number,
    plus_signs,
)
from attention_core.trace import Step, Trace, head_at

from ..picture.numbers import written

TERMS_A_LINE = 3
MOST_LINES = 4
"""A sum of more lines than this is not written out: its largest terms are."""


def cell_equation(step: Step, index: tuple[int, ...], arithmetic: Expression) -> str:
    """The cell as an equation in LaTeX, in several lines where long, largest terms first."""
    # A symbol with two indices of its own, such as a tile's, is kept apart from those of its cell.
    symbol = rf"\left({step.symbol}\right)" if "," in step.symbol else f"{{{step.symbol}}}"
    left = f"{symbol}_{{{','.join(map(str, index))}}}"
    result = number(float(step.value[index]))
    terms = [term.latex() for term in arithmetic.terms]
    if isinstance(arithmetic, Sum) and len(terms) >= TERMS_A_LINE:
        if is_long(arithmetic):
            most = largest_first(arithmetic.terms)[: TERMS_A_LINE * (MOST_LINES - 1)]
            terms = [*(term.latex() for term in most), r"\cdots"]
        lines = [
            plus_signs(terms[at : at + TERMS_A_LINE]) for at in range(0, len(terms), TERMS_A_LINE)
        ]
        return _in_lines(left, r" \\ & + ".join(lines).replace("+ -", "- "), result)
    made = arithmetic.latex()
    if isinstance(arithmetic, Hidden):
        return f"{left} = {made}"  # its number is said first
    if isinstance(arithmetic, Number) and arithmetic.written and step.value.dtype == torch.bool:
        return rf"{left} = \text{{{str(bool(arithmetic.value)).lower()}}}\quad({made})"
    if isinstance(arithmetic, Share) and len(terms) >= TERMS_A_LINE:
        return _in_lines(left, made, result)
    return f"{left} = {made}" + ("" if made.endswith(result) else f" = {result}")


def _in_lines(left: str, made: str, result: str) -> str:
    return rf"\begin{{aligned}}{left} = {{}} & {made} \\ = {{}} & {result}\end{{aligned}}"


def is_long(arithmetic: Expression) -> bool:
    """Whether a sum has too many terms to write out."""
    return isinstance(arithmetic, Sum) and len(arithmetic.terms) > TERMS_A_LINE * MOST_LINES


def largest_first(terms: Sequence[Expression]) -> list[Expression]:
    """Terms of a sum, those first that make most of it; what is no number before all others."""
    return sorted(
        terms, key=lambda term: -abs(term.value) if term.value == term.value else -math.inf
    )


def of_the_rest(arithmetic: Expression) -> str:
    """What is not written out of a long sum."""
    terms = largest_first(arithmetic.terms)
    n_shown = TERMS_A_LINE * (MOST_LINES - 1)
    rest = sum(term.value for term in terms[n_shown:])
    return (
        f"The {n_shown} largest of {len(terms)} terms are written out, the largest first; the "
        f"other {len(terms) - n_shown} add up to {plain_number(rest)}."
    )


def operand_groups(arithmetic: Expression) -> tuple[tuple[Cell, ...], ...]:
    """The leaves as a learner thinks of them: a dot product's row and column, a softmax's row."""
    terms = arithmetic.terms
    if is_long(arithmetic):
        terms = largest_first(terms)
    if all(isinstance(term, Product) for term in terms):
        columns = zip(*(tuple(term.cells()) for term in terms), strict=False)
        return tuple(tuple(dict.fromkeys(column)) for column in columns)
    by_step: dict[str, dict[Cell, None]] = {}
    for cell in arithmetic.cells():
        by_step.setdefault(cell.step, {})[cell] = None
    return tuple(tuple(cells) for cells in by_step.values())


def common_place(group: tuple[Cell, ...]) -> str:
    """The place of a group of cells in one line, for example `embeddings[8, :]`."""
    places = zip(*(cell.index for cell in group), strict=True)
    shared = [str(place[0]) if len(set(place)) == 1 else ":" for place in places]
    return f"{group[0].step}[{', '.join(shared)}]"


def operand_label(names: dict[Cell, str], cell: Cell) -> str:
    told = (f"[{', '.join(map(str, cell.index))}]", names[cell], plain_number(cell.value))
    return " ".join(filter(None, told))


def components(trace: Trace, cells: Sequence[Cell]) -> dict[Cell, str]:
    """The names of the components of cells, among the others; "" for only a number."""
    found = dict.fromkeys(cells, "")
    axes = trace[cells[0].step].axes
    alike = [cell for cell in found if cell.step == cells[0].step]
    places = zip(*(cell.index for cell in alike), strict=True)
    along = [at for at, each in enumerate(places) if len(set(each)) > 1]
    if len(along) != 1 or not axes[along[0]].startswith("d_"):
        return found
    for cell in alike:
        place = cell.index[along[0]]
        found[cell] = trace.name_of(axes[along[0]], place, head_at(axes, cell.index)) or ""
    return found


def terms_table(arithmetic: Expression) -> pd.DataFrame:
    """The terms of an arithmetic: where each comes from, its value, and how they add up."""
    terms = arithmetic.terms
    rows = {
        "from": [" · ".join(map(str, term.cells())) for term in terms],
        "numbers": [
            " · ".join(plain_number(cell.value) for cell in term.cells()) for term in terms
        ],
    }
    values = [term.value for term in terms]
    if isinstance(arithmetic, Share):
        name = "e to (score − largest)" if isinstance(terms[0], Exponential) else "score"
        shares = [value / arithmetic.total for value in values]
        return pd.DataFrame({**rows, name: values, "share": shares})
    return pd.DataFrame({**rows, "term": values, "sum so far": pd.Series(values).cumsum()})


def long_number(value: float) -> str:
    return f"{value:.7g}".replace("-", "−").replace("inf", "∞")


def plain_number(value: float) -> str:
    if math.isinf(value):
        return long_number(value)
    return f"{value:.4f}".replace("-", "−") if value % 1 else written(value, decimals=0)
