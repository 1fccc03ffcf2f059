"""What a picture carries for each position of its control is what the page draws there."""

from unittest.mock import patch

import numpy as np
import pytest

from attention_ui.cards import show
from attention_ui.cards.changing import OfCell
from attention_ui.picture.positions import FOLLOWS
from attention_ui.picture.table import LEVELS, SEPARATOR, percents_each, table
from attention_ui.reactive import settings
from visiting import LESSONS, stands, visit_deeper

LISTS = {"texts": "text", "shades": "shade", "strengths": "strength", "looks": "look"}

CELLS = [
    ("queries_keys_values", "matrices", "W_query.5.1"),
    ("queries_keys_values", "weights", "W_key.0.0"),
    ("simplified_attention", "scores", "embeddings.2.1"),
    ("cross_attention", "scores", "W_query.1.0"),
    ("tokenize_and_embed", "lookup", "embedding_table.1.0"),
]


def carried(lesson, has_lists=True, **link):
    """Each picture with a control, by name: the control, its value, those that there are, what it
    carries, its layout.
    What they carry is most of the work, and left out where only the layouts are looked at.
    """
    found, lists_of, at_cell = {}, show._lists_of, show._lists_at_cell

    def noted(one, layout, control, now):
        lists = lists_of(one, layout, control, now) if has_lists else {}
        return known(one, layout, control, settings.values()[control.name], lists)

    def noted_cell(one, layout, cell):
        lists = at_cell(one, layout, cell) if has_lists else {}
        return known(one, layout, cell, cell.drawn, lists)

    def known(one, layout, control, now, lists):
        at_all = show.stops_of(control, settings.values(), now, "").values
        found[one.name] = control, now, at_all, lists, layout
        return lists

    with patch.multiple(show, _lists_of=noted, _lists_at_cell=noted_cell):
        stands(visit_deeper(lesson, **link))
    return found


def taken_apart(name, told):
    is_of_letters = name in ("shades", "strengths")
    return [LEVELS.index(one) - 100 for one in told] if is_of_letters else told.split(SEPARATOR)


def rows_of(layout):
    """The rows of a picture by their ids; a list for each query is told apart."""
    rows = {row["id"]: row for row in table(layout).to_pylist() if row["id"]}
    for row in rows.values():
        for name, one in (LISTS | {"wheres": "where", "tips": "tip"}).items():
            row[name] = taken_apart(name, row[name]) if row.get(name) else [row.get(one)]
    return rows


def widths(layout):
    return [box.width for one in (layout.wide, layout.narrow) for box in one.boxes]


def is_same(told, drawn, is_cut):
    """Whether both say the same: a share, a number with as many decimals as fit, or a text."""
    if isinstance(drawn, float):
        # Where no position differs by a percent, none is carried: so both round to the same.
        told = round(100 * told) if isinstance(told, float) else int(told)
        return abs(told / 100 - drawn) < 0.005001
    try:
        numbers = [each.replace("−", "-").replace(",", "") for each in (told, drawn)]
        one, other = map(float, numbers)
    except (ValueError, AttributeError):
        return told == drawn
    decimals, others = (len(each.partition(".")[2]) for each in numbers)
    least = min(decimals, others)
    return (is_cut or decimals == others) and abs(one - other) < 0.6 / 10**least


@pytest.mark.slow("50 s: every page, at three positions of each of its pictures")
@pytest.mark.parametrize("lesson", LESSONS)
def test_each_position_that_a_picture_carries_is_the_picture_drawn_there(lesson):
    """Cells, outlines and words with all that they show; of all else what is carried."""
    for name, known in carried(lesson).items():
        _is_drawn_at_each(lesson, name, *known, {})


@pytest.mark.slow("20 s: five pages, at three numbers each")
@pytest.mark.parametrize(("lesson", "section", "cell"), CELLS)
def test_each_number_that_a_cell_can_be_moved_to_is_the_picture_drawn_there(lesson, section, cell):
    link = {"example": "named_features", "section": section, "cell": cell}
    known = carried(lesson, **link)[section]
    assert isinstance(known[0], OfCell)
    _is_drawn_at_each(lesson, section, *known, link)


def _is_drawn_at_each(lesson, name, control, now, at_all, lists, at_rest, link):
    assert lists, f"{name} is too large to be carried on the example"
    before = rows_of(at_rest)
    for place in {0, len(at_all) // 2, len(at_all) - 1}:
        value = control.field.write(at_all[place])
        chosen = {control.name: value}
        if isinstance(control, OfCell):
            chosen = {control.edits: "{}.{}:{}".format(*control.place, value)}
        there = at_rest
        if at_all[place] != now:
            *_, there = carried(lesson, False, **link, **chosen)[name]
        where = f"{name} at {control.name}={value}"
        assert there.alt == at_rest.alt, f"{where} is built anew: its text alternative differs"
        drawn = rows_of(there)
        wider = widths(there) != widths(at_rest)
        # Words that change with no list follow at rest: where the picture says that some do, and
        # where a number is changed, which is marked then.
        follow = FOLLOWS in lists or isinstance(control, OfCell)
        looked_at = ("paths", "bar.", *([] if follow else ["words."]))
        whole = {each for each in drawn if each[0].isdigit() or each.startswith(looked_at)}
        for row in whole | lists.keys() & drawn.keys():
            for column in LISTS if row in whole else lists[row]:
                told = lists.get(row, {}).get(column)
                if told is None:
                    told = before[row][column]
                else:
                    told = taken_apart(column, told)
                    n = len(told) // len(at_all)
                    told = told[n * place : n * (place + 1)]
                for one, other in zip(told, drawn[row][column], strict=True):
                    same = one == other or None in (one, other) or is_same(one, other, wider)
                    assert same, (
                        f"{where} shows {one!s:.60} as {column} of {row}, not {other!s:.60}"
                    )


def test_what_is_no_number_has_no_shade_at_any_position():
    """A row of 0/0, as one of the mistakes makes it, among others that are numbers."""
    shades = np.array([[np.nan, 0.5], [np.nan, np.nan]])
    assert percents_each(shades) == [LEVELS[100] + LEVELS[150], LEVELS[100] * 2]
