"""What a first visit shows: a question covers what would answer it, and nothing else is missing."""

import re
from itertools import product
from math import inf, isfinite, nan
from pathlib import Path
from unittest.mock import patch

import pytest
import torch

from attention_core.examples import EXAMPLES
from attention_ui.cards import show
from attention_ui.controls.lesson_session import LessonSession
from attention_ui.controls.shared import FIRST
from attention_ui.picture.table import CELL, COVERED, ON_WIDE, table
from attention_ui.picture.table import FIRST as TOLD
from sampling import few, of_each_kind
from visiting import (
    A_PAGE,
    PAGES,
    ROWS,
    _opened,
    charts,
    noted_layouts,
    pictures,
    stands,
    visit,
    words,
)

pytestmark = pytest.mark.slow("1 min: pages with every example, each question by itself")


def headings(at):
    return [each.value for each in (*at.header, *at.subheader)]


def labels(at):
    return [each.label for each in at.expander]


def buttons(at, kind):
    return [button for button in at.button if (button.key or "").startswith(kind)]


def uncovered(at):
    """The page once every question has been skipped, and what it draws then."""
    while skips := buttons(at, "skip_"):
        skips[0].click().run()
        stands(at)
    return drawn_on(at)


def drawn_on(at):
    """What a page draws once it has come to rest: one that waits for a long run draws again."""
    return [layout for _, (*_, layout) in sorted(at.session_state["session"].pictures.items())]


def matrices(layouts):
    return [[each.name for each in layout.matrices] for layout in layouts]


def is_covered(layouts):
    return any(each.asks for layout in layouts for each in layout.matrices)


# Each page with the first example, and one page with every example.
PLACES = of_each_kind(
    product(PAGES, [FIRST, *(name for name in EXAMPLES if name != FIRST)]),
    lambda place: place if place[0] == A_PAGE else place[0],
)


@pytest.mark.parametrize("place", PLACES)
def test_a_question_covers_cells_and_nothing_is_missing_once_it_is_answered(place):
    page, example = place
    shown = stands(visit(page, example=example))
    plain = drawn_on(shown)
    with noted_layouts() as found:
        at = stands(visit(page, example=example, predict="on"))
    asked = drawn_on(at)
    assert not is_covered(plain)
    assert labels(at) == labels(shown)
    rows = [row for row in ROWS if at.session_state.get(row)]
    if rows:  # those among the cards that a question opened; what goes deeper waits
        assert "row_deeper" not in rows
        for row in rows:
            shown.session_state[row] = True
        plain = drawn_on(stands(shown.run()))
    assert headings(at) == headings(shown)
    sends_nothing_that_is_covered(found)
    if not buttons(at, "skip_"):
        assert example != FIRST, "every lesson asks"
        assert matrices(asked) == matrices(plain)
        return
    draws_what_a_covered_matrix_is_made_of(found)
    after = uncovered(at)
    assert not is_covered(after)
    assert matrices(after) == matrices(plain)
    assert len(charts(at)) == len(charts(shown))


def draws_what_a_covered_matrix_is_made_of(layouts):
    """A question without its operands could not be answered."""
    each_drawn = [each for layout in layouts for each in layout.matrices]
    drawn = {each.step.name for each in each_drawn if not each.covered}
    covered = {each.step.name for each in each_drawn if each.asks}

    def can_be_worked_out(step):
        """From what is drawn, or by way of what is covered itself."""
        names = {given.name for given in step.inputs}
        behind = [given for given in step.inputs if given.name in covered]
        return bool(drawn & names) or any(map(can_be_worked_out, behind))

    for layout in layouts:
        if layout.matrices and all(each.covered for each in layout.matrices):
            for each in layout.matrices:
                assert can_be_worked_out(each.step), layout.alt


def sends_nothing_that_is_covered(layouts):
    """Neither covered numbers nor arithmetic of them."""
    for layout in layouts:
        sent = table(layout)
        rows = [row for row in sent.to_pylist() if row["kind"] == CELL and row["m"] >= 0]
        for at, matrix in enumerate(layout.matrices):
            own = [row for row in rows if row["id"].startswith(f"{at}.")]
            unseen = torch.full(matrix.drawn.shape, matrix.covered)
            if matrix.unseen is not None:
                unseen |= matrix.unseen
            is_hidden = unseen.flatten().tolist()
            # One with nothing hidden may have fewer rows than cells: some are drawn as no number.
            if any(is_hidden):
                covered = [row for row, is_so in zip(own, is_hidden, strict=True) if is_so]
                assert {row["text"] for row in covered} == {COVERED}
                assert {row["shade"] for row in covered} == {0}
                assert {row["tip"] for row in covered} == {TOLD}
                assert not any(isfinite(row.get("exact") or nan) for row in covered)
                assert not any(row.get("share") for row in covered)
            if matrix.untold is not None:
                untold = matrix.picked(matrix.untold[matrix.lead]).flatten().tolist()
                for row, is_so in zip(own, untold, strict=True):
                    assert not (is_so and "=" in (row["tip"] or ""))


SAID = re.compile(r"(?<![\d.])[−-]?\d+\.\d{4,}")
OTHERS = {
    "mistakes_lab": "the lights measure sums, and say their ends in full, as the check of own code",
    "how_a_matrix_learns": "a length and a fall of the loss, which are no cells' numbers",
}
"""Pages that say numbers in full, and why."""


@pytest.mark.parametrize("page", few([each for each in PAGES if Path(each).stem not in OTHERS], 6))
def test_a_number_is_said_with_the_decimals_that_it_is_drawn_with(page):
    """Once each question was answered with *Show me*: in words and in a picture it is the same."""
    at = stands(visit(page, example=FIRST, predict="on"))
    layouts = uncovered(at)
    drawn = {}
    for layout in layouts:
        for matrix, box in zip(layout.matrices, layout.wide.boxes, strict=True):
            if matrix.as_bars or box.decimals == 2:
                numbers = matrix.drawn.double().flatten().abs().tolist()
                drawn |= {round(each, 4): matrix.name for each in numbers if 0.005 < each < inf}
    told = {each: round(float(each.strip("−-")), 4) for each in SAID.findall(words(at))}
    twice = {said: drawn[number] for said, number in told.items() if number in drawn}
    assert not twice, f"pictures have two decimals of it: {twice}"


def test_a_link_to_a_covered_cell_opens_its_picture():
    def of_weights(**link):
        found = pictures(A_PAGE, predict="on", **link)
        return next(m for layout in found for m in layout.matrices if m.name == "weights")

    asked = of_weights().unseen.all(dim=-1).nonzero().flatten().tolist()
    assert len(asked) == 1
    assert not of_weights(cell=f"weights.{asked[0]}.1", section="weights").asks
    assert of_weights(cell="weights.2.1", section="weights").asks, "another row answers nothing"


@pytest.mark.parametrize("page", ["queries_keys_values", "multi_head_attention", "causal_mask"])
def test_a_phone_is_told_of_question_marks_where_it_has_some(page):
    """A phone leaves out what the last lines of a picture come from: those may be what waits."""
    session = LessonSession(window=frozenset({"phone"}))
    drawn = []
    waiting = show._solved_or_waiting

    def noted(name, layout):
        with patch.object(show.st, "caption", wraps=show.st.caption) as caption:
            waiting(name, layout)
        drawn.append((layout, caption.called))

    with patch.object(show, "_solved_or_waiting", noted):
        stands(_opened(page, {"predict": "on"}, session=session, row_deeper=True))
    assert {is_told for _, is_told in drawn} == {True, False}
    for layout in (layout for layout, is_told in drawn if is_told):
        rows = table(layout).to_pydict()
        here = zip(rows["kind"], rows["when"], rows["text"], strict=True)
        assert any(
            kind == CELL and when != ON_WIDE and told == COVERED for kind, when, told in here
        )
