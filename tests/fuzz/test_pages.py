"""Whole pages on any link: no traceback, and no NaN on the screen that is not explained."""

import math
import re
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import ipc, types

from attention_ui.controls.shared import SIZES
from attention_ui.frame.lesson_modules import controls_of
from chosen import FIELDS
from guesses import links, texts
from sampling import few, is_long
from visiting import EVERYWHERE, LESSONS, has_no_exception, has_sentence, visit

pytestmark = pytest.mark.slow("1 min: whole pages")

EXPLAINED = "not a number"
"""What the pages say wherever they show a NaN."""
NO_NUMBER = re.compile(r"(?<![\w.])(nan|NaN)(?![\w.])")
QUICK = not is_long()


def opened(page, link):
    sent = {name: as_sent(value) for name, value in link.items()}
    return visit(page, **{"predict": "on", **sent})


def as_sent(text):
    """Text as a browser sends it, in UTF-8, which has no lone surrogates."""
    return text.encode("utf-8", "replace").decode()


def explains(at):
    """A title, or for a picture alone a picture or why not; no exception, no unexplained NaN."""
    has_no_exception(at)
    assert at.title or at.get("vega_lite_chart") or at.main.text, "the page is empty"
    kinds = (at.markdown, at.caption, at.latex, at.metric)
    words = [str(element.value) for kind in kinds for element in kind]
    if not any(EXPLAINED in each for each in words):
        assert not [each for each in words if NO_NUMBER.search(each)]
        assert not [chart.proto.alt for chart in at.get("vega_lite_chart") if has_nan(chart.proto)]


def has_nan(chart):
    """Whether the data of a chart hold a NaN; −∞ is a hidden cell, and drawn as one."""
    tables = [each.data.data for each in (chart, *chart.datasets) if each.data.data]
    columns = [column for raw in tables for column in ipc.open_stream(raw).read_all().columns]
    numbers = (column for column in columns if types.is_floating(column.type))
    return any(math.isnan(each) for column in numbers for each in column.drop_null().to_pylist())


@pytest.mark.parametrize("page", few(EVERYWHERE, 3))
@settings(max_examples=6 if QUICK else 150)
@given(link=links())
def test_any_link_opens_the_page(page, link):
    explains(opened(page, link))


@pytest.mark.parametrize("page", few(LESSONS, 4))
@settings(max_examples=4 if QUICK else 150)
@given(data=st.data())
def test_any_link_of_its_own_controls_opens_a_lesson(page, data):
    """What all lessons have controls for is mostly of other lessons."""
    names = [each.name for each in controls_of(page)]
    explains(opened(page, data.draw(links(names=names))))


@pytest.mark.parametrize("page", few(filter(has_sentence, EVERYWHERE), 3))
@settings(max_examples=1 if QUICK else 25)
@given(link=links(hostile=False), typed=st.lists(texts, min_size=1, max_size=3))
def test_any_text_that_is_typed_leaves_the_page_standing(page, link, typed):
    link = {name: value for name, value in link.items() if name not in ("hide", "lock")}
    at = opened(page, link)
    for text in typed:
        at.text_area(key="control_sentence").set_value(as_sent(text)).run()
        explains(at)


@pytest.mark.parametrize(("page", "end"), few(product(EVERYWHERE, ["least", "most"]), 7))
def test_all_numbers_at_one_end(page, end):
    """What a link may hold, a slider must be able to show."""
    sizes = {each.name for each in SIZES}
    ends = {name: getattr(field, end) for name, field in FIELDS.items() if hasattr(field, "least")}
    link = {name: str(value) for name, value in ends.items() if name not in sizes}
    explains(opened(page, link))
