"""What a picture carries for each position of its control is what the page draws there."""

from unittest.mock import patch

import pytest

from attention_ui.cards import show
from attention_ui.controls import visit
from attention_ui.picture.table import SEPARATOR, table
from visiting import LESSONS, stands, visit_deeper

LISTS = {"texts": "text", "shades": "shade", "strengths": "strength", "looks": "look"}


def carried(lesson, **link):
    """By name, each picture with a control in it: the control, its values, what the picture carries
    for each of them, and its layout.
    """
    found, lists_of = {}, show._lists_of

    def noted(one, layout, control, now):
        lists, values = lists_of(one, layout, control, now), visit.values()
        at_all = show.stops_of(control, values, values[control.name], "").values
        found[one.name] = control, at_all, lists, layout
        return lists

    with patch.object(show, "_lists_of", noted):
        stands(visit_deeper(lesson, **link))
    return found


def rows_of(layout):
    """The rows of a picture by their ids; a list for each query is told apart."""
    rows = {row["id"]: row for row in table(layout).to_pylist() if row["id"]}
    for row in rows.values():
        for name, one in LISTS.items():
            row[name] = row[name].split(SEPARATOR) if row.get(name) else [row.get(one)]
    return rows


def is_same(told, drawn):
    """Whether both say the same: a share, in percent where it is carried, a number as far as both
    have decimals, or a text.
    """
    if isinstance(drawn, float):
        return abs((told if isinstance(told, float) else int(told) / 100) - drawn) < 0.006
    try:
        numbers = [each.replace("−", "-").replace(",", "") for each in (told, drawn)]
        one, other = map(float, numbers)
    except (ValueError, AttributeError):
        return told == drawn
    return one == other or abs(one - other) < 0.6 / 10 ** min(
        len(each.partition(".")[2]) for each in numbers
    )


@pytest.mark.slow("50 s: every page, at three positions of each of its pictures")
@pytest.mark.parametrize("lesson", LESSONS)
def test_each_position_that_a_picture_carries_is_the_picture_drawn_there(lesson):
    """Cells and outlines with all that they show, and of all else what is carried: a legend, for
    one, follows at rest.
    """
    for name, (control, at_all, lists, at_rest) in carried(lesson).items():
        assert lists, f"{name} is too large to be carried on the example"
        before = rows_of(at_rest)
        for place in {0, len(at_all) // 2, len(at_all) - 1}:
            value = control.field.write(at_all[place])
            *_, there = carried(lesson, **{control.name: value})[name]
            where = f"{name} at {control.name}={value}"
            assert there.alt == at_rest.alt, f"{where} is built anew: its text alternative differs"
            drawn = rows_of(there)
            whole = {each for each in drawn if each[0].isdigit() or each.startswith("paths")}
            for row in whole | lists.keys() & drawn.keys():
                for column in LISTS if row in whole else lists[row]:
                    told = lists.get(row, {}).get(column)
                    if told is None:
                        told = before[row][column]
                    else:
                        told = told.split(SEPARATOR)
                        n = len(told) // len(at_all)
                        told = told[n * place : n * (place + 1)]
                    for one, other in zip(told, drawn[row][column], strict=True):
                        same = one == other or None in (one, other) or is_same(one, other)
                        assert same, (
                            f"{where} shows {one!s:.60} as {column} of {row}, not {other!s:.60}"
                        )
