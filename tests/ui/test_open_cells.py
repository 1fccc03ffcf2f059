"""What is outlined for an open cell, and the table of its terms, for every step of every lesson."""

import math
import random
from dataclasses import replace
from itertools import accumulate

import pytest

from attention_core.expression import Exponential, Product, Share
from attention_ui.page.inspector import terms_table
from drawn import CASES, traces

pytestmark = pytest.mark.slow("60 s: every page with every example")

SAMPLED = 3


def opened(page, link):
    """(view, step, index, arithmetic) of some cells of every step: the corners, and others."""
    chance = random.Random(page)
    for view, trace in traces(page, link):
        for step in trace.values():
            shape = step.value.shape
            some = [tuple(chance.randrange(size) for size in shape) for _ in range(SAMPLED)]
            for index in {(0,) * len(shape), tuple(size - 1 for size in shape), *some}:
                settings = replace(view.settings, cell=((step.name, index),))
                yield replace(view, settings=settings), step, index, step.arithmetic(index)


def places(cells, step):
    return {cell.index for cell in cells if cell.step == step}


@pytest.mark.parametrize(("page", "link"), CASES)
def test_the_cells_that_are_outlined_are_those_that_the_open_one_is_made_of(page, link):
    for view, step, _, arithmetic in opened(page, link):
        cells = [*arithmetic.cells()]
        for name in {*view.trace} - {cell.step for cell in cells}:
            assert not view.highlighted(name)
        for name in {cell.step for cell in cells}:
            assert view.highlighted(name) == places(cells, name), step
        factors = [[*term.cells()] for term in arithmetic.terms]
        # The two terms of GELU are products of the same cell, once and twice.
        alike = len({*map(len, factors)}) == 1
        if alike and all(isinstance(term, Product) for term in arithmetic.terms):
            for at, column in enumerate(zip(*factors, strict=True)):
                name = column[0].step
                assert view.highlighted(name, at) == places(column, name), step


def sums(values):
    return [*accumulate(values)]


WITHOUT_TERMS = ("pages/notebooks_numbers.py",)
"""Pages with cells of a single term alone: differences of two."""


@pytest.mark.parametrize(("page", "link"), CASES)
def test_the_table_of_terms_adds_up_to_the_cell(page, link):
    held = 0
    for _, step, index, arithmetic in opened(page, link):
        terms = arithmetic.terms
        if len(terms) < 2:
            continue
        held += 1
        table = terms_table(arithmetic)
        for row, term in zip(table.to_dict("records"), terms, strict=True):
            cells = [*term.cells()]
            assert row["from"] == " · ".join(f"{c.step}{[*c.index]}" for c in cells)
            assert row["numbers"].count(" · ") == max(0, len(cells) - 1)
            value = math.prod(c.value for c in cells) if isinstance(term, Product) else None
            if isinstance(term, Exponential):
                scores = [each.score.value for each in terms]
                value = math.exp(term.score.value - max(scores))
            if value is not None and all(isinstance(part, type(cells[0])) for part in term.parts):
                column = next(c for c in table.columns if c in ("term", "e to (score − largest)"))
                assert row[column] == pytest.approx(value, nan_ok=True), step
        if isinstance(arithmetic, Share):
            values = table.iloc[:, 2].tolist()
            total = math.fsum(values)
            if total:
                assert table["share"].tolist() == pytest.approx([v / total for v in values])
                assert math.fsum(table["share"]) == pytest.approx(1)
                has = float(step.value[index])
                assert table["share"][arithmetic.picked] == pytest.approx(has, rel=1e-3, abs=1e-6)
        else:
            values = [term.value for term in terms]
            assert table["term"].tolist() == pytest.approx(values, nan_ok=True)
            so_far = table["sum so far"].tolist()
            if all(map(math.isfinite, values)):
                assert so_far == pytest.approx(sums(values))
    assert held or page in WITHOUT_TERMS
