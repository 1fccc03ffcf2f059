"""A question covers what its verdict is computed from, under whatever name it is drawn."""

from itertools import product
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
import torch

from attention_ui.charts.matrix import Matrix
from attention_ui.lessons.simplified_attention.one_query import asked_query
from attention_ui.lessons.tiny_language import beginning
from attention_ui.page import page as pages
from sampling import few
from visiting import PAGES, drawn, stands, visit


@pytest.fixture(autouse=True)
def nothing_changed_is_kept():
    yield
    beginning.told.cache_clear()


LEAVES = ("embedding_table",)
"""Also where numbers of it were typed."""
EXAMPLES = ("wild_cat", "journey_123")


def asked(shown, settings, change=None):
    """By name, each question of a page with what it covers and is about; `change` changes a step
    before anything is asked.
    """
    found = {}
    above = set()

    def ask(_, name, question, covers=(), about=()):
        if question is not None:
            found[name] = question, {*covers}, {*about}, {*above}

    def equation(_, __, *parts, **___):
        above.update(part.step.name for part in parts if isinstance(part, Matrix))

    beginning.told.cache_clear()  # its traces are kept, and are to be changed here
    view = shown._view_of(settings)
    if change:
        change(view.trace)
    with patch.object(pages.Page, "ask", ask), patch.object(pages.Page, "equation", equation):
        shown._lesson(pages.Page(view, draws=False))
    return found, view.trace


def verdict(question):
    """What is said of a guess, with the numbers in it."""
    if hasattr(question, "choices"):
        return question.judged([0]), question.judged([len(question.choices) - 1])
    if hasattr(question, "weights"):
        return tuple(question.weights)
    return getattr(question, "before", 0), getattr(question, "after", 0)


def other(name, row=None):
    """A change of a step, or of one of its rows, that is larger than any rounding."""

    def change(trace):
        value = trace[name].value.clone()
        rows = slice(None) if row is None else row
        # One row alone keeps its order, so that the same question is asked of it.
        value[rows] = (value.flip(-1) if row is None else value[rows]) * 1.7 + 0.3
        trace[name]._kept = value

    return change


def answers(shown, settings):
    """(question, covers, about, steps of the verdict, numbers that give it away) of each."""
    plain, trace = asked(shown, settings)
    said = {name: verdict(question) for name, (question, *_) in plain.items()}

    def changes(name, *step):
        return verdict(asked(shown, settings, other(*step))[0][name][0]) != said[name]

    floats = [n for n, s in trace.items() if s.value.is_floating_point() and not s.is_shared]
    moved = {}
    for step in floats:
        now, _ = asked(shown, settings, other(step))
        for name in plain:
            if verdict(now[name][0]) != said[name]:
                moved.setdefault(name, set()).add(step)
    for name, (question, covers, about, above) in plain.items():
        # What the answer is to be worked out from has to be there.
        leaves = {each for each, step in trace.items() if not step.inputs or each in LEAVES}
        given = (above | leaves) - covers
        given = {each: trace[each].value.double().flatten().numpy() for each in given}
        told = []
        for step in sorted(covers & trace.keys()):
            value = trace[step].value
            told += [*value] if value.ndim == 3 else [value]
            if step in moved.get(name, ()) and value.ndim == 2:
                told.append(value.max(dim=-1).values)
                rows = [row for row in range(len(value)) if changes(name, step, row)]
                told += [value[row] for row in rows] if len(rows) < len(value) else []
        yield name, question, covers, about, moved.get(name, set()), told, given


def taken_apart(page, **link):
    """The page with its questions open, and the answers of each."""
    found = []
    draw = pages.LessonOnScreen.draw

    def noted(self, settings):
        draw(self, settings)
        found[:] = answers(self, settings)

    with patch.object(pages.LessonOnScreen, "draw", noted):
        at = visit(page, predict="on", **link)
    stands(at)
    return at, found


def columns(picture):
    """The columns of numbers of a picture's table."""
    table = picture.table
    if table is None or picture.is_covered:
        return
    for name in table.column_names:
        if pa.types.is_floating(table[name].type):
            numbers = np.array(table[name].to_pylist(), dtype=float)
            yield name, numbers[np.isfinite(numbers)]


def is_in(told, shown):
    """Whether all of some numbers are among those shown, each as often."""
    left = np.sort(shown)
    for number in np.sort(told):
        near = np.flatnonzero(np.abs(left - number) <= 1e-5 * max(1e-3, abs(number)))
        if not len(near):
            return False
        left = np.delete(left, near[0])
    return True


def tells(shown, told, only_shapes):
    """Whether a column of a table has these numbers, or numbers in the same ratio to their sum. Of
    a question for a shape alone: whether it has that shape.
    """
    told = told.double().flatten().numpy()
    told = told[np.isfinite(told)]
    if len(np.setdiff1d(told.round(4), [0, 1])) < 3 or len(told) > len(shown):
        return False
    if only_shapes:
        return len(told) == len(shown) and is_in(told, shown)
    as_shares = len(told) == len(shown) and abs(told.sum() - 1) < 1e-5 and shown.sum() > 0
    return is_in(told, shown) or (as_shares and is_in(told, shown / shown.sum()))


@pytest.mark.slow("15 s: every page")
@pytest.mark.parametrize(
    ("page", "link"),
    [
        *(
            pytest.param(page, {"example": example}, marks=each.marks, id=each.id)
            for each in few(product(PAGES, EXAMPLES), 8)
            for page, example in [each.values]
        ),
        pytest.param("pages/simplified_attention.py", {"query": "asked"}, id="asked"),
    ],
)
def test_a_question_covers_what_it_is_judged_by_under_any_name(page, link):
    if link.get("query") == "asked":
        found = visit(page).session_state["shown"].page.view.trace["weights"].value
        link = {"query": str(asked_query(found))}
    at, found = taken_apart(page, **link)
    assert found or page.endswith("nothing_asked.py")
    for name, question, covers, about, moved, told, given in found:
        assert moved <= covers | about | given.keys(), f"{name} is judged by what it does not cover"
        for numbers in told:
            for picture in drawn(at):
                held = dict(columns(picture))
                if any(is_in(each, one) for each in held.values() for one in given.values()):
                    continue
                for column, shown in held.items():
                    assert not tells(shown, numbers, question.only_shapes), (
                        f"{column} of {picture.alt!r} answers {name}"
                    )


def test_a_picture_that_answers_under_another_name_is_found():
    weights = torch.tensor([[0.5, 0.3, 0.2], [0.1, 0.15, 0.75]])
    flat = weights.flatten().double().numpy()
    assert tells(flat[::-1], weights, False)
    assert tells(np.array([5.0, 3.0, 2.0]), weights[0], False)
    assert not tells(flat[:5], weights, False)
    assert not tells(np.array([0.5, 0.3, 0.1, 0.1]), weights[0], False)
