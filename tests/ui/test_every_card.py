"""All cards of every lesson, made without a page: what their pictures say, and what moves them."""

from functools import cache

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from alone import Visitor, other_texts
from attention_ui.cards.elements import Picture, Row
from attention_ui.charts.chart import Chart
from attention_ui.controls.shared import AROUND, MAKES_VECTORS
from attention_ui.frame.lesson_modules import controls_of
from attention_ui.picture.forbidden import mask_before
from attention_ui.picture.table import CELL, COVERED, HIDDEN, numbers_of, table
from attention_ui.reactive import settings
from attention_ui.reactive.control import Placed, understood
from attention_ui.reactive.source import tracking
from sampling import marked
from visiting import LESSONS, lesson_module

LINK = {"example": "wild_cat", "predict": "off"}
SLOW = pytest.mark.slow("1 s a lesson: all its cards, for each of its controls")
LARGE = ("attention_today", "cross_attention", "real_model", "tiny_language", "transformer_block")
"""Lessons whose cards take longest."""
MOVED = ("causal_mask", "multi_head_attention", "simplified_attention")
"""Lessons whose controls are moved in `make check`."""


@cache
def visitor_of(lesson):
    """Somebody on a lesson, and all its cards, each with what it has read."""
    visitor = Visitor(lesson, **LINK)
    return visitor, visitor.makes()


def pictures_in(elements):
    for each in elements:
        if isinstance(each, Row):
            yield from pictures_in(each.elements)
        if isinstance(each, Picture):
            yield each


def layouts_of(lesson):
    visitor, made = visitor_of(lesson)
    with visitor.here():
        for card, (one, _) in made.items():
            for each in pictures_in(one.elements) if one else ():
                yield f"{card}/{each.name}", each.now()


def number_of(text):
    return float(text.replace("−", "-").replace("∞", "inf"))


def says(text, value):
    """Whether a text is a number, rounded to as many places as it has."""
    near = 0.5001 * 10.0 ** -len(text.partition(".")[2]) + 1e-6 * abs(value)
    near = near if "e" not in text else 0.06 * abs(value)
    return np.isclose(number_of(text), value, rtol=0, atol=near, equal_nan=True)


@pytest.mark.parametrize("lesson", marked(LESSONS, {*LESSONS} - {*LARGE}, SLOW))
def test_each_cell_says_its_own_number_or_that_a_mask_hides_it(lesson):
    """Not 0 where a key is hidden, nor a point where a number just happens to be 0."""
    for where, layout in layouts_of(lesson):
        rows = [row for row in table(layout, told=False).to_pylist() if row["kind"] == CELL]
        known = {}
        for number, matrix in zip(numbers_of(layout.matrices), layout.matrices, strict=True):
            known.setdefault(number, []).append(matrix)
        for row in rows:
            # A picture of several traces has a step of one name from each.
            several, text = known.get(row["m"], [None]), row.get("text")
            matrix = several[0]
            if matrix is None or not text or matrix.tells_origins:
                continue  # the sentence, or a cell that has no room for a number
            if matrix.covered:
                assert text == COVERED, where
                continue
            step = matrix.step
            if step.value.ndim > 3:
                continue
            index = (row["l"], row["i"], row["j"])[3 - step.value.ndim :]
            value = step.value[index].item()
            if isinstance(value, bool):
                assert text == ("✓" if value else HIDDEN), (where, step, index)
                continue
            if text == HIDDEN:
                mask = matrix.mask.value.expand(step.value.shape)
                assert value == 0, (where, step, index)
                assert not mask[index], (where, step, index)
                assert mask_before(step) is matrix.mask, (where, step)
                continue
            mask = matrix.mask
            is_hidden = mask is not None and not mask.value.expand(step.value.shape)[index]
            assert not (is_hidden and value == 0), f"{where}: {step.name}{index} is hidden, not 0"
            values = [each.step.value[index].item() for each in several]
            assert any(says(text, each) for each in values), (where, step, index, text, values)


def drawn_in(lesson):
    """The controls that the cards of a lesson draw, and those beside the sentence, but for what all
    lessons share.
    """
    visitor, made = visitor_of(lesson)
    placed = {one.control.name for card, _ in made.values() if card for one in placed_in(card)}
    placed |= {each.name for each in visitor.state.declared.sidebar}
    shared = () if lesson == "tokenize_and_embed" else MAKES_VECTORS
    known = controls_of(lesson)
    return [each for each in known if each.name in placed and each not in (*AROUND, *shared)]


def placed_in(made):
    waiting = [*made.controls, *made.elements]
    for each in waiting:
        if isinstance(each, Row):
            waiting += each.elements
        if isinstance(each, Placed):
            yield each


STILL = {
    "steps": "of a training that somebody starts", "rate": "of the same", "trained": "of the same",
    "network_seed": "of a training that somebody starts", "own_step": "of the same",
    "next_temperature": "of a word that is written on", "top_k": "of the same",
    "top_p": "of the same", "min_p": "of the same", "stretch": "moves nothing by a factor of 1",
    "typed": "counts where scores are typed", "learned": "counts with another sentence",
    "model_word": "is there with another model", "drop_seed": "counts where something is dropped",
}  # fmt: skip
"""Controls that move nothing as a lesson opens, and why."""


def with_another(visitor, lesson, one):
    """Visitors for whom one control has other values."""
    seen = {one.field.write(visitor.state.values[one.name])}
    for text in other_texts(one, visitor.state.values):
        texts = {**visitor.state.chosen, one.name: text}
        values, wrong = understood(texts, visitor.state.controls)
        told = None if wrong else one.field.write(values[one.name])
        if told is not None and told not in seen and len(seen) < 5:
            seen.add(told)
            yield Visitor(lesson, **texts)


@pytest.mark.parametrize("lesson", marked(LESSONS, MOVED, SLOW))
def test_each_control_of_a_lesson_moves_something_there(lesson):
    """Of the trace where that reads it; else of a card that does."""
    visitor, made = visitor_of(lesson)
    with visitor.here(), tracking() as of_trace:
        before = visitor.state.declared.trace_of
        before = before and {**before(settings.values())}
    silent = []
    for one in drawn_in(lesson):
        cards = [card for card, (_, reads) in made.items() if reads_of(one, reads)]
        others = [*with_another(visitor, lesson, one)]
        is_in_trace = before and reads_of(one, of_trace)
        if not others or (is_in_trace and any(map_moves(before, lesson, others))):
            continue
        if not any(moves_card(made[card][0], other.makes(card)[card][0], visitor, other)
                   for card in cards for other in others):  # fmt: skip
            silent.append(one.name)
    assert [name for name in silent if name not in STILL] == []


def reads_of(one, reads):
    values = settings.value, settings.in_picture, settings.in_widget
    return any((source, one.name) in reads for source in values)


def map_moves(before, lesson, others):
    for other in others:
        with other.here():
            now = lesson_module(lesson).trace_of(settings.values())
        yield {*now} != {*before} or any(
            now[name].value.shape != step.value.shape
            or not np.array_equal(now[name].value.numpy(), step.value.numpy(), equal_nan=True)
            for name, step in before.items()
            if now[name].value.is_floating_point()
        )


def moves_card(one, other, visitor, there):
    if one is None or other is None:
        return one is not other
    with visitor.here():
        before = said(one)
    with there.here():
        return said(other) != before


def said(made):
    """All that a card says and draws, in text."""
    return repr((made.words, made.controls, [*map(said_of, made.elements)]))


def said_of(each):
    if isinstance(each, Row):
        return [*map(said_of, each.elements)]
    if isinstance(each, Picture):
        return table(each.now(), told=False).to_pydict()
    return [said_of_given(one) for one in getattr(each, "given", ())]


def said_of_given(one):
    if isinstance(one, Chart):
        return said_of_given(one.frame), one.spec, one.alt
    if isinstance(one, pa.Table):
        return one.to_pydict()
    return one.to_csv() if isinstance(one, pd.DataFrame) else one
