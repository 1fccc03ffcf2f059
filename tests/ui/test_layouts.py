"""Layouts without a browser: nothing overlaps, rows align, all fits its width, and what lights up
is what the arithmetic names.
"""

import itertools
from dataclasses import replace

import pytest
import torch

from attention_core import EXAMPLES, SimplifiedOptions, Trace, attend, embed, expand_query
from attention_core import operations as ops
from attention_core.text.inputs import Inputs
from attention_ui.lessons.attention_today import lesson as today
from attention_ui.lessons.multi_head_attention.lesson import side_by_side
from attention_ui.picture import table as cells
from attention_ui.picture.layout import (
    NARROW,
    TALL,
    WIDE,
    box_end,
    equation,
    matrices_of,
)
from attention_ui.picture.matrix import Matrix, names_of
from attention_ui.picture.numbers import text_width
from attention_ui.picture.sentence import with_sentence
from attention_ui.picture.spec import Stops, drawn
from traces import LESSONS, lesson_trace, workshop
from visiting import lesson_of

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


# --- heads, lines, two sentences ------------------------------------------------------------------


def overlaps(layout):
    for _, found in rectangles(layout):
        for one, other in itertools.combinations(found, 2):
            apart = one[2] <= other[0] or other[2] <= one[0]
            yield not (apart or one[3] <= other[1] or other[3] <= one[1])


@pytest.mark.parametrize("n_heads", ["1", "3", "8"])
def test_heads_stand_in_lines_that_fit_and_the_sentence_tells_each_in_its_colour(n_heads):
    _, trace = lesson_of("multi_head_attention", n_heads=n_heads)
    parts = side_by_side(trace["head_weights"])
    layout = with_sentence(equation(trace, *parts, tall=265), 2)
    assert not any(overlaps(layout))
    assert layout.wide.width <= WIDE + 1
    lines = {box.y for box in layout.wide.boxes}
    assert len(lines) == (2 if n_heads == "8" else 1)
    rows = {row["id"]: row for row in cells.table(layout).to_pylist()}
    if n_heads == "1":
        assert "share.0" in rows
        return
    for head in range(int(n_heads)):
        weights = trace["head_weights"].value[head, 2]
        for key, weight in enumerate(weights.tolist()):
            assert rows[f"strip.{key}.{head}"]["shade"] == pytest.approx(weight, abs=1e-6)
            assert rows[f"arc.{key}.{head}"]["colour"] == cells.COLOURS[f"head {head}"]


def test_a_cell_of_a_head_keeps_its_height():
    _, trace = lesson_of("multi_head_attention", n_heads="3")
    layout = equation(trace, *side_by_side(trace["head_weights"]))
    heights = {row["h"] for row in cells.table(layout).to_pylist() if row["kind"] == cells.CELL}
    assert len(heights) == 1
    assert heights.pop() > 5


def test_two_sentences_stand_one_above_the_other_with_a_line_to_each_key():
    _, trace = lesson_of("cross_attention", source="the cat")
    layout = with_sentence(equation(trace, Matrix(trace["weights"])), 1)
    one = layout.sentence
    assert one.askers == tuple(names_of(trace, "query"))
    assert max(box.y for box in one.wide_askers) < min(box.y for box in one.wide)
    rows = {row["id"]: row for row in cells.table(layout).to_pylist()}
    assert rows["asker.1"]["shade"] == 1
    assert rows["asker.0"]["shade"] == 0
    assert rows["arc.0"]["look"] == "line"
    for key, weight in enumerate(trace["weights"].value[1].tolist()):
        assert rows[f"arc.{key}"]["shade"] == pytest.approx(weight, abs=1e-6)
        assert rows[f"token.{key}"]["k"] == key


@pytest.mark.parametrize("example", ["named_features", "wild_cat", "tiny_language"])
def test_pictures_of_today_fit_and_none_lies_on_another(example):
    values, trace = lesson_of("attention_today", example=example)
    single = today.alone(values, trace)
    for prefix in (today.SLOPED, today.WINDOWED, today.ROTARY):
        made = Matrix(single["slope_bias"], lead=(0,))
        layout = equation(single, *today.then_and_now(single, 0, prefix, made), tall=235)
        assert not any(overlaps(layout))
        assert layout.wide.width <= WIDE + 1
