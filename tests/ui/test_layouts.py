"""Layouts without a browser: nothing overlaps, rows align, all fits its width, and what lights up
is what the arithmetic names.
"""

import itertools
from dataclasses import replace

import pytest
import torch

from attention_core import EXAMPLES, SimplifiedOptions, Trace, attend, embed, expand_query
from attention_core import operations as ops
from attention_core.mechanism.softmax import given_row, normalise_row
from attention_core.text.inputs import Inputs
from attention_ui.picture import table as cells
from attention_ui.picture.layout import (
    NARROW,
    TALL,
    WIDE,
    box_end,
    equation,
    matrices_of,
)
from attention_ui.picture.matrix import Matrix
from attention_ui.picture.numbers import text_width
from attention_ui.picture.sentence import with_sentence
from attention_ui.picture.spec import Stops, drawn
from traces import LESSONS, lesson_trace, workshop

WORKSHOP = workshop()
MADE = [name for name, step in WORKSHOP.items() if step.inputs and step.value.ndim < 4]


def of_tokens(n_tokens, d_in):
    """A trace of so many tokens, with vectors so wide."""
    sentence = " ".join(f"w{place}" for place in range(n_tokens))
    inputs = Inputs(sentence, tokenizer="blanks", d_in=d_in)
    return expand_query(attend(embed(inputs)), 0)


def lead_of(step):
    return (0,) * max(0, step.value.ndim - 2)


def drawn_alone(trace, step):
    """A step with its operands, each with the first of its heads."""
    parts = []
    for given in step.inputs:
        parts += [Matrix(given, lead=lead_of(given)), "·"]
    return equation(trace, *parts[:-1], "=", Matrix(step, lead=lead_of(step)))


def rectangles(layout):
    """Of each arrangement, the rectangles that matrices take."""
    for arrangement in (layout.wide, layout.narrow):
        found = []
        for matrix, box in zip(layout.matrices, arrangement.boxes, strict=True):
            n_rows, n_columns = matrix.sizes
            right = box.x + n_columns * box.width
            found.append((box.x, box.y, right, box.y + n_rows * box.height))
        yield arrangement, found


SIZES = [(1, 1), (2, 3), (9, 6), (9, 24), (24, 3), (64, 3), (64, 64)]


@pytest.mark.parametrize(("n_tokens", "d_in"), SIZES)
@pytest.mark.parametrize("name", ["scores", "weights", "context_vectors", "weighted_embeddings"])
def test_no_matrix_lies_on_another_and_all_fit_their_width(n_tokens, d_in, name):
    trace = of_tokens(n_tokens, d_in)
    layout = equation(trace, trace[name])
    for (arrangement, found), room in zip(rectangles(layout), (WIDE, NARROW), strict=True):
        for one, other in itertools.combinations(found, 2):
            apart = one[2] <= other[0] or other[2] <= one[0]
            assert apart or one[3] <= other[1] or other[3] <= one[1]
        assert max(right for _, _, right, _ in found) <= room + 1
        assert min(left for left, *_ in found) >= 0
        assert max(bottom for *_, bottom in found) <= arrangement.height
    assert layout.wide.height <= TALL + 40


def test_rows_of_the_same_axis_stand_side_by_side():
    trace = of_tokens(9, 6)
    layout = equation(trace, trace["context_vectors"])
    weights, _, contexts = layout.wide.boxes
    assert weights.y == contexts.y
    assert weights.height == contexts.height
    assert len({box.height for box in layout.wide.boxes}) == 1


def test_on_a_phone_an_equation_is_a_column_with_its_signs_between():
    trace = of_tokens(9, 6)
    narrow = equation(trace, trace["scores"]).narrow
    tops = [box.y for box in narrow.boxes]
    signs = [word for word in narrow.words if word.look == "sign"]
    assert tops == sorted(tops)
    assert [word.text for word in signs] == ["·", "="]
    for sign, above, below in zip(signs, narrow.boxes, narrow.boxes[1:], strict=False):
        assert above.y < sign.y < below.y


def test_words_stay_within_the_picture_and_off_each_other():
    trace = of_tokens(9, 6)
    layout = with_sentence(equation(trace, trace["weights"]), 0)
    for arrangement in (layout.wide, layout.narrow):
        flat = [word for word in arrangement.words if word.look in ("title", "shape", "legend")]
        for one, other in itertools.combinations(flat, 2):
            if abs(one.y - other.y) < 8:
                first, second = sorted((one, other), key=lambda word: word.x)
                assert first.x + text_width(first.text) * 0.92 <= second.x + 2
        assert all(0 <= word.y <= arrangement.height for word in arrangement.words)


def test_a_number_that_could_not_be_read_is_not_written():
    small, large = (of_tokens(n, 3) for n in (64, 9))
    unreadable, readable = (equation(each, each["weights"]) for each in (small, large))
    assert {box.decimals for box in unreadable.wide.boxes} == {-1}
    assert -1 not in {box.decimals for box in readable.wide.boxes}
    assert unreadable.wide.boxes[0].width * 64 + box_end(unreadable.wide.boxes[1], 64) > 0
    shown = cells.table(unreadable)
    of_cells = [
        text
        for kind, text in zip(shown["kind"].to_pylist(), shown["text"].to_pylist(), strict=True)
        if kind == cells.CELL
    ]
    assert set(of_cells) == {None}


def test_the_sentence_takes_as_many_lines_as_it_needs():
    long = of_tokens(64, 3)
    layout = with_sentence(equation(long, long["weights"]), 5)
    for boxes, room in ((layout.sentence.wide, WIDE), (layout.sentence.narrow, NARROW)):
        assert max(box.x + box.width for box in boxes) <= room
        for one, other in itertools.combinations(boxes, 2):
            assert (
                one.y != other.y or one.x + one.width <= other.x or other.x + other.width <= one.x
            )
    assert not layout.sentence.has_arcs


def test_a_sentence_needs_weights():
    trace = of_tokens(3, 2)
    with pytest.raises(ValueError, match="no weights"):
        with_sentence(equation(trace, trace["scores"]), 0)


def test_sums_that_are_not_1_are_loud():
    trace = Trace()
    given = trace.step("some_weights", ops.Given(((0.5, 0.5), (0.2, 0.2))), axes=("query", "key"))
    words = {word.text: word.look for word in equation(trace, Matrix(given)).wide.words}
    assert words["1.00"] == "sum"
    assert words["0.40"] == "loud"


# --- what lights up -------------------------------------------------------------------------------


def lit(rows, at):
    """The cells that the browser outlines as operands when the row at this place is pointed at."""
    found = set()
    for slot in range(cells.SLOTS):
        if rows.get(f"m{slot}", [cells.NONE] * (at + 1))[at] == cells.NONE:
            continue
        low = {axis: rows[f"{axis}0{slot}"][at] for axis in "lij"}
        high = {axis: rows[f"{axis}1{slot}"][at] for axis in "lij"}
        for other, m in enumerate(rows["m"]):
            place = {axis: rows[axis][other] for axis in "lij"}
            inside = all(low[axis] <= place[axis] <= high[axis] for axis in "lij")
            if m == rows[f"m{slot}"][at] and inside:
                found.add(other)
    return found


def check_lights(layout, step):
    """Every cell of a step lights exactly the drawn cells that its arithmetic names."""
    rows = cells.table(layout).to_pydict()
    is_cell = [kind == cells.CELL for kind in rows["kind"]]
    rows = {name: list(itertools.compress(column, is_cell)) for name, column in rows.items()}
    places = []  # of each row, its step and its index
    for matrix in layout.matrices:
        places += [(matrix.step.name, tuple(index)) for index in cells.index_of(matrix).tolist()]
    known = {}
    for at, place in enumerate(places):
        known.setdefault(place, set()).add(at)
    for at, (name, index) in enumerate(places):
        if name != step.name:
            continue
        named = {(cell.step, cell.index) for cell in step.arithmetic(index).cells()}
        wanted = named & known.keys()
        found = {places[other] for other in lit(rows, at)}
        assert found == wanted, (name, index)


@pytest.mark.parametrize("name", MADE)
def test_what_lights_up_is_what_the_arithmetic_names(name):
    step = WORKSHOP[name]
    check_lights(drawn_alone(WORKSHOP, step), step)


@pytest.mark.parametrize("name", LESSONS)
def test_the_same_in_the_equations_of_lessons(name):
    trace = lesson_trace(name)
    for step in trace.values():
        small = step.inputs and step.value.ndim < 4 and step.value.numel() <= 300
        if small and all(given.value.numel() <= 600 for given in step.inputs):
            check_lights(drawn_alone(trace, step), step)


def test_a_step_that_is_both_operands_lights_its_own_part_in_each():
    trace = of_tokens(4, 3)
    scores = trace["scores"]
    layout = equation(trace, scores)
    rows = cells.table(layout).to_pydict()
    at = next(
        place
        for place, kind in enumerate(rows["kind"])
        if kind == cells.CELL and rows["id"][place] == "2.1.3"
    )
    found = lit({name: column[: 4 * 3 * 2 + 16] for name, column in rows.items()}, at)
    assert {rows["id"][other] for other in found} == {
        *(f"0.1.{entry}" for entry in range(3)),
        *(f"1.{entry}.3" for entry in range(3)),
    }


def test_ids_of_rows_are_unique():
    trace = of_tokens(9, 6)
    shown = [Matrix(trace["query_weights"], as_bars=True), "→", Matrix(trace["weights"])]
    rows = cells.table(with_sentence(equation(trace, *shown), 0))
    ids = rows["id"].to_pylist()
    assert len(ids) == len(set(ids))


def test_a_covered_matrix_tells_nothing_of_its_numbers():
    trace = of_tokens(9, 6)
    other = attend(embed(Inputs("other words for the same number of tokens here")))
    covered = [
        cells.table(equation(each, Matrix(each["weights"], covered=True)))
        for each in (trace, other)
    ]
    told = ("text", "shade", "strength", "tip", "so")
    first, second = (
        {name: [v for v, m in zip(each[name].to_pylist(), each["m"].to_pylist(), strict=True)
                if m >= 0]
         for name in told if name in each.column_names}
        for each in covered
    )  # fmt: skip
    assert first == second
    assert set(first["text"]) == {"?"}


# --- positions of a control -----------------------------------------------------------------------


def stretched(trace, factor):
    return attend(trace.branch(), replace(OPTIONS, factor=factor))


OPTIONS = SimplifiedOptions(stretched=1, factor=2.0)


def test_each_position_shows_the_numbers_that_the_server_would():
    embedded = embed(next(iter(EXAMPLES.values())).inputs)
    values = (-1.0, 0.5, 2.0)

    def parts(factor):
        weights = stretched(embedded, factor)["weights"]
        return Matrix(weights.inputs[0], title="scores"), "→", Matrix(weights, title="weights")

    now = stretched(embedded, 2.0)
    layout = with_sentence(equation(now, *parts(2.0)), 0)
    lists = cells.positions(layout, [matrices_of(*parts(value)) for value in values])
    for at, value in enumerate(values):
        there = stretched(embedded, value)
        own = with_sentence(equation(there, *parts(value)), 0)
        if [b.decimals for b in own.wide.boxes] != [b.decimals for b in layout.wide.boxes]:
            continue
        rows = cells.table(own).to_pydict()
        for name, text, shade in zip(rows["id"], rows["text"], rows["shade"], strict=True):
            told = lists.get(name, {})
            if "texts" in told and not name.startswith("share"):
                assert told["texts"].split("|")[at] == text
            if "shades" in told and name[0].isdigit():
                assert abs(int(told["shades"].split("|")[at]) / 100 - shade) < 0.01


def test_a_position_with_other_cells_is_refused():
    three, four = of_tokens(3, 2), of_tokens(4, 2)
    layout = equation(three, three["scores"])
    with pytest.raises(ValueError, match="same cells"):
        cells.positions(layout, [matrices_of(four["scores"])])


def test_a_value_between_two_positions_is_none_of_them():
    stops = Stops("Factor", -4, 4, 0.25, 1.0, "place")
    assert stops.values[stops.position(1.25)] == 1.25
    assert stops.position(1.1) == -1


# --- the specification ----------------------------------------------------------------------------


def test_the_specification_is_the_same_for_all_pictures():
    assert drawn(100) is drawn(1_400)
    assert drawn(1_600)["usermeta"]["embedOptions"]["renderer"] == "canvas"
    assert "usermeta" not in drawn(100)


def test_masks_are_drawn_as_forbidden_and_hidden():
    trace = Trace()
    scores = trace.step("scores", ops.Draw("normal", (3, 3), seed=1), axes=("query", "key"))
    mask = trace.step("mask", ops.MayLook(3, 3), axes=("query", "key"))
    masked = trace.step("masked_scores", ops.Hide(), scores, mask, axes=("query", "key"))
    layout = equation(trace, Matrix(scores), "→", Matrix(masked))
    assert len(layout.wide.paths) == 2
    rows = cells.table(layout).to_pydict()
    each = zip(rows["kind"], rows["id"], rows["strength"], strict=True)
    hidden = {name for kind, name, strength in each if kind == cells.CELL and strength < 1}
    assert hidden == {"1.0.1", "1.0.2", "1.1.2"}
    assert torch.isneginf(masked.value).sum() == 3


# --- bars that go both ways -----------------------------------------------------------------------


def both_ways(scores):
    trace = normalise_row(given_row(scores))
    bars = Matrix(trace["sum_weights"], as_bars=True, both_ways=True)
    shares = Matrix(trace["softmax_weights"], as_bars=True)
    return trace, (
        Matrix(trace["score_row"]),
        "÷",
        Matrix(trace["score_sum"]),
        "=",
        bars,
        "",
        shares,
    )


def test_bars_of_both_kinds_have_one_scale_and_those_below_0_go_left():
    trace, parts = both_ways((2.0, 1.0, -0.5))
    layout = equation(trace, *parts)
    rows = cells.table(layout).to_pydict()
    for n, when in (("", cells.ON_WIDE), ("n", cells.ON_NARROW)):
        unit = {}
        for at, name in enumerate(rows["id"]):
            matrix, *_, row = (name or "").removeprefix("bar.").split(".")
            if not (name or "").startswith("bar.") or rows["when"][at] != when:
                continue
            unit.setdefault(matrix, []).append(round(rows[f"w{n}"][at]))
            weights = trace["sum_weights" if matrix == "2" else "softmax_weights"].value
            assert rows["shade"][at] == pytest.approx(weights[int(row)].item(), abs=1e-4)
        assert len({width for widths in unit.values() for width in widths}) == 1
        assert sorted(unit) == ["2", "3"]


def test_a_bar_that_is_cut_says_so_and_its_number_stays_in_its_room():
    trace, parts = both_ways((2.0, 1.0, -2.9))
    layout = equation(trace, *parts)
    rows = cells.table(layout).to_pydict()
    shown = dict(zip(rows["id"], zip(rows["text"], rows["shade"], strict=True), strict=True))
    assert shown["2.0.0"] == ("▸ 20.00", 1.0)
    assert shown["2.2.0"] == ("◂ −29.00", -1.0)
    box, following = layout.wide.boxes[2:]
    assert box.x + box.width <= following.x
    assert text_width("▸ 20.00") <= cells.BEHIND


def test_bars_move_with_their_numbers_in_the_picture():
    rows = [(2.0, 1.0, poor) for poor in (-4.0, -2.9, 0.5)]
    trace, now = both_ways(rows[1])
    lists = cells.positions(equation(trace, *now), [matrices_of(*both_ways(r)[1]) for r in rows])
    assert lists["2.0.0"]["texts"] == "◂ −2.00|▸ 20.00|0.57"
    assert lists["2.0.0"]["shades"] == lists[f"bar.2.{cells.ON_WIDE}.0"]["shades"] == "-100|100|57"


def test_what_is_no_number_has_no_bar():
    trace, parts = both_ways((1.0, -1.0))
    rows = cells.table(equation(trace, *parts)).to_pydict()
    bars = [s for name, s in zip(rows["id"], rows["shade"], strict=True) if "bar.2" in (name or "")]
    assert {*bars} <= {0.0, 1.0, -1.0}
