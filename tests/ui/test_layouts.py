"""Layouts without a browser: nothing overlaps, all fits, and what lights up is computed."""

import itertools
import json
import math
import re
import tomllib
from dataclasses import replace
from decimal import ROUND_HALF_UP, Decimal

import altair as alt
import pytest
import torch
from vl_convert import vegalite_to_vega

from attention_core import EXAMPLES, Trace, attend, embed, expand_query
from attention_core import operations as ops
from attention_core.mechanism.multi_head import attend_heads
from attention_core.mechanism.softmax import given_row, normalise_row
from attention_core.mechanism.trainable import attend_trainable, expand_token
from attention_core.operations.base import Meaning
from attention_core.recipes import HeadsRecipe
from attention_core.text.inputs import Inputs
from attention_core.text.tokenizers import visible
from attention_ui.cards.arithmetic import cell_equation, is_long, of_the_rest, operand_groups
from attention_ui.cards.show import first_cell
from attention_ui.controls.shared import telling_query
from attention_ui.lessons.transformer_block import lesson as block
from attention_ui.lessons.transformer_block.stream import written_out
from attention_ui.lessons.whole_layer import lesson as layer
from attention_ui.picture import table as cells
from attention_ui.picture.below import products
from attention_ui.picture.curve import ACROSS, with_curve
from attention_ui.picture.equation_parts import NEW_LINE
from attention_ui.picture.layer import whole_layer
from attention_ui.picture.layout import (
    BROKEN_BARS,
    NARROW,
    TALL,
    TIMES,
    WIDE,
    brief,
    equation,
    frame_cells,
    uncovered,
)
from attention_ui.picture.margin import row_sums
from attention_ui.picture.matrix import Matrix
from attention_ui.picture.numbers import number_width, text_width
from attention_ui.picture.palette import INK
from attention_ui.picture.positions import FOLLOWS, positions
from attention_ui.picture.sentence import sentence, with_sentence
from attention_ui.picture.spec import _PLACE, GROUNDS, WAYS, Stops, drawn
from attention_ui.picture.stacked import stacked
from attention_ui.reactive.control import understood
from conftest import ROOT
from traces import workshop

WORKSHOP = workshop()
MADE = [name for name, step in WORKSHOP.items() if step.inputs and step.value.ndim < 4]


def of_tokens(n_tokens, d_in):
    sentence = " ".join(f"w{place}" for place in range(n_tokens))
    return expand_query(attend(embed(Inputs(sentence, tokenizer="blanks", d_in=d_in))), 0)


def lead_of(step):
    return (0,) * max(0, step.value.ndim - 2)


def drawn_alone(trace, step):
    parts = []
    for given in step.inputs:
        parts += [Matrix(given, lead=lead_of(given)), "·"]
    return equation(trace, *parts[:-1], "=", Matrix(step, lead=lead_of(step)))


def rectangles(layout):
    for arrangement in (layout.wide, layout.narrow):
        found = []
        for matrix, box in zip(layout.matrices, arrangement.boxes, strict=True):
            n_rows, n_columns = matrix.sizes
            right = box.x + n_columns * box.width
            found.append((box.x, box.y, right, box.y + n_rows * box.height))
        yield arrangement, found


def lie_apart(found):
    for one, other in itertools.combinations(found, 2):
        apart = one[2] <= other[0] or other[2] <= one[0]
        assert apart or one[3] <= other[1] or other[3] <= one[1]


SIZES = [(1, 1), (2, 3), (9, 6), (9, 24), (24, 3), (64, 3), (64, 64)]


@pytest.mark.parametrize(("n_tokens", "d_in"), SIZES)
@pytest.mark.parametrize("name", ["scores", "weights", "context_vectors", "weighted_embeddings"])
def test_no_matrix_lies_on_another_and_all_fit_their_width(n_tokens, d_in, name):
    trace = of_tokens(n_tokens, d_in)
    layout = equation(trace, trace[name])
    for (arrangement, found), room in zip(rectangles(layout), (WIDE, NARROW), strict=True):
        lie_apart(found)
        assert max(right for _, _, right, _ in found) <= room + 1
        assert min(left for left, *_ in found) >= 0
        assert max(bottom for *_, bottom in found) <= arrangement.height
    assert layout.wide.height <= TALL + 40


@pytest.mark.parametrize("name", ["scores", "weights", "context_vectors"])
def test_on_a_phone_an_equation_is_read_line_by_line_with_its_signs_between(name):
    trace = of_tokens(9, 6)
    layout = equation(trace, trace[name])
    signs = [word for word in layout.narrow.words if word.look == "sign"]
    assert [word.text for word in signs] == [*filter(None, layout.signs)]
    _, (first, *later) = [*rectangles(layout)][1]
    before = [first, *later[:-1]]
    for sign, above, below in zip(signs, before, later, strict=True):
        assert below[0] > above[2] or below[1] > above[3], "after the one before it"
        assert sign.x < below[0]
        assert above[1] < sign.y < below[3]


@pytest.mark.parametrize("sign", ["", "→", "⊙"])
def test_what_a_phone_leaves_out_is_drawn_in_a_window_as_before(sign):
    """Of what is computed the end stays, of what stands beside each other the beginning."""
    trace = of_tokens(9, 6)
    each = [Matrix(trace[name]) for name in ("scores", "weights", "context_vectors")]
    parts = [part for one in each for part in (sign, one)][1:]
    layout = with_sentence(equation(trace, *filter(None, parts)), 0)
    less = brief(layout)
    assert less.narrow.height <= 400 < layout.narrow.height
    stays = [not less.narrow.leaves_out(box.y) for box in layout.narrow.boxes]
    assert stays == ([False, False, True] if sign else [True, False, False])
    whole, rows = (cells.table(one).to_pylist() for one in (layout, less))
    assert positions(less, [each, each]) == positions(layout, [each, each])
    on_phone = [row for row in rows if row["when"] != cells.ON_WIDE]
    said = [row for row in on_phone if row["kind"] == cells.WORD]
    titles = {row["text"] for row in said if row["look"] == "title"}
    assert titles == {one.name for one, is_there in zip(each, stays, strict=True) if is_there}
    for at, one in enumerate(each):  # what stays, as what may be changed does
        longer = brief(layout, stays={one.name}).narrow
        left = [
            word.text
            for word in longer.words
            if word.look == "sign" and not longer.leaves_out(word.y)
        ]
        shown = [not longer.leaves_out(box.y) for box in longer.boxes]
        cut = ["(…) ⊙"] * (at > 0 and sign == "⊙")
        assert left == cut + [sign] * (2 - at if sign else 0), "no product of its last factor alone"
        told = [word.y for word in longer.words if word.look == "sign" and word.text in cut]
        named = [word.y for word in longer.words if word.look == "row"]
        assert not any(abs(y - row) < 12 for y in told for row in named), "over the name of a row"
        assert shown == ([other >= at for other in range(3)] if sign else [True, at > 0, at > 1])
    asked = equation(trace, each[1], "→", replace(each[2], covered=True))
    assert not any(map(brief(asked, 300).narrow.leaves_out, [0, asked.narrow.boxes[0].y]))
    drawn = [row for row in on_phone if row["kind"] in (cells.CELL, cells.WORD)]
    assert all(0 <= row["yn"] <= less.narrow.height for row in drawn)
    for was, now in zip(*([row for row in each if row["when"] != cells.ON_NARROW]
                          for each in (whole, rows)), strict=True):  # fmt: skip
        assert [was[name] for name in "xywh"] == [now[name] for name in "xywh"]
    alone = equation(trace, each[stays.index(True)]).narrow.words
    ends = [word.text for word in alone if word.look == "legend"] + [TIMES] * (sign == "⊙")
    assert ends == [row["text"] for row in said if row["look"] == "legend"], "of what is drawn"


def test_heads_are_as_large_in_a_line_with_fewer_and_written_alike_in_a_sum():
    trace = attend_heads(embed(Inputs("a b " * 12, d_in=6)), HeadsRecipe(n_heads=3, d_head=4))
    each = [Matrix(trace["head_weights"], lead=(head,)) for head in range(3)]
    boxes = equation(trace, *each[:2], NEW_LINE, each[2]).wide.boxes
    assert len({box.width for box in boxes}) == 1
    names = "head_weights", "head_scores", "head_scores"  # the first has room for more decimals
    one, *more = (Matrix(trace[each], lead=(0,), columns=(*range(11),)) for each in names)
    boxes = equation(trace, one, "+", more[0], "=", more[1], tall=900).wide.boxes
    assert {box.decimals for box in boxes} == {1}


def test_all_that_was_asked_for_can_be_read_on_the_last_sheet():
    trace = of_tokens(9, 6)
    each = [Matrix(trace[name], covered=True) for name in ("scores", "weights") * 4]
    made = uncovered(equation(trace, *each))
    assert all(box.is_readable for box in made.wide.boxes)
    assert [one.step for one in made.matrices] == [one.step for one in each]
    assert not any(one.covered for one in made.matrices)


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
    rows = cells.table(unreadable).to_pylist()
    assert {row["text"] for row in rows if row["kind"] == cells.CELL} == {None}


def test_the_results_of_products_stand_below_their_columns():
    example = next(iter(EXAMPLES.values()))
    trace = expand_token(attend_trainable(embed(example.inputs), example.projections), 2)
    pairs = [(trace[f"W_{role}"], trace[f"one_{role}"]) for role in ("query", "key", "value")]
    layout = products(trace, trace["one_embedding"], pairs)
    for arrangement in (layout.wide, layout.narrow):
        vector, *rest = arrangement.boxes
        for above, below in zip(rest[:3], rest[3:], strict=True):
            assert below.width == above.width
            assert below.x == above.x
            assert below.y > above.y + 6 * above.height
            assert below.y + below.height < arrangement.height
    vector, *matrices = layout.wide.boxes[:4]
    assert {(box.y, box.height) for box in matrices} == {(vector.y, vector.height)}
    for step in (trace["one_query"], trace["one_value"]):
        check_lights(layout, step)


def test_a_curve_stands_beside_matrices_and_above_them_on_a_phone():
    trace = of_tokens(9, 3)
    layout = equation(trace, Matrix(trace["weights"]), tall=260, room=590)
    layout = with_curve(layout, [2.0, 1.0, 0.1], [0, 10, 50], 1, "after step 10")
    assert all(box.x >= ACROSS for box in layout.wide.boxes)
    assert all(box.y > 90 for box in layout.narrow.boxes)
    (shown,) = (path for path in layout.wide.paths if path.colour == "loud")
    assert layout.wide.marks[-1].width / 2 == float(shown.drawn[1:].split(",")[0])
    assert max(word.x for word in layout.wide.words) <= WIDE


def test_the_sentence_takes_as_many_lines_as_it_needs():
    long = of_tokens(64, 3)
    layout = with_sentence(equation(long, long["weights"]), 5)
    for boxes, room in ((layout.sentence.wide, WIDE), (layout.sentence.narrow, NARROW)):
        assert max(box.x + box.width for box in boxes) <= room
        for one, two in itertools.combinations(boxes, 2):
            assert one.y != two.y or one.x + one.width <= two.x or two.x + two.width <= one.x
    assert (layout.sentence.wide_way, layout.sentence.narrow_way) == ("curve", "curve")
    rows = cells.table(layout).to_pydict()
    drawn = [at for at, look in enumerate(rows["look"]) if look == "curve"]
    assert sorted(rows["when"][at] for at in drawn) == [cells.ON_WIDE] * 64 + [cells.ON_NARROW] * 64
    for at in drawn:
        boxes = (
            layout.sentence.wide if rows["when"][at] == cells.ON_WIDE else layout.sentence.narrow
        )
        places = [f"{box.x + box.width / 2:.1f};{box.y - 1:.1f}" for box in boxes]
        assert rows["text"][at].split(cells.SEPARATOR) == places


@pytest.mark.parametrize(("n", "ways"), [(3, ("arc", "arc")), (12, ("arc", "curve"))])
def test_a_line_has_arcs_and_several_lines_have_curves(n, ways):
    trace = attend(embed(Inputs(" ".join(f"word{at}" for at in range(n)))))
    one = with_sentence(equation(trace, trace["weights"]), 0).sentence
    assert (one.wide_way, one.narrow_way) == ways


def test_equal_weights_of_heads_have_equal_bars_below_words_of_any_length():
    trace = attend_heads(embed(Inputs("a incomprehensibilities a")), HeadsRecipe(n_heads=2))
    each = [Matrix(trace["head_weights"], lead=(head,)) for head in range(2)]
    rows = cells.table(with_sentence(equation(trace, *each), 0)).to_pylist()
    bars, boxes = (
        [row for row in rows if (row["id"] or "").startswith(kind)] for kind in ("strip.", "token.")
    )
    assert len(bars) == 2 * len(boxes)
    for width in ("w", "wn"):
        assert len({row[width] for row in boxes}) > 1, "the words are not equally long"
        assert {row[width] for row in bars} == {min(row[width] for row in boxes)}


def test_a_way_from_a_token_to_itself_is_no_way():
    """Both ends are placed alike: else what is in one line would count as in two."""
    made = json.dumps(drawn(100))
    for name, of, at in (("way", "px", 0), ("down", "py", 1)):
        (place,) = {*re.findall(rf'"calculate": "([^"]+)", "as": "{of}"', made)}
        axis = of[1]
        own = place.replace(f"(narrow ? datum.{axis}n : datum.{axis})", "7.5")
        way = WAYS[name].replace(f"toNumber({_PLACE}[{at}])", "7.5")
        for grown in ("1", "1.37"):
            ends = own.replace("grown", grown)
            assert eval(way.replace("grown", grown).replace(f"datum.{of}", f"({ends})")) == 0


def test_a_frame_stands_around_its_cell_wide_and_narrow():
    trace = attend(embed("the cat sat on the mat"))
    layout = equation(trace, Matrix(trace["scores"]), "→", Matrix(trace["weights"]))
    frame_cells(layout, 1, [(0, 1), (4, 2)])
    for arrangement in (layout.wide, layout.narrow):
        box = arrangement.boxes[1]
        corners = [(box.x + column * box.width, box.y + row * box.height)
                   for row, column in ((0, 1), (4, 2))]  # fmt: skip
        assert [(path.x, path.y) for path in arrangement.paths] == corners


def test_sums_that_are_not_1_are_loud():
    trace = Trace()
    numbers = ops.Given(((0.5, 0.5), (0.2, 0.2)))
    given = trace.step("some", numbers, axes=("query", "key"), meaning=Meaning.SHARES)
    words = {word.text: word.look for word in equation(trace, Matrix(given)).wide.words}
    assert (words["1.00"], words["0.40"]) == ("sum", "loud")


# --- what lights up -------------------------------------------------------------------------------
def lit(rows, at):
    """The cells that the browser outlines as operands when the row at this place is pointed at."""
    found, blocks = set(), [*map(int, filter(None, rows["blocks"][-1].split(",")))]
    for slot in range(cells.SLOTS):
        made = rows.get(f"made{slot}", [cells.NONE] * (at + 1))[at]
        if made == cells.NONE:
            continue
        m, *ends = blocks[made : made + cells.BLOCK]
        ends = [
            first + by_i * rows["i"][at] + by_j * rows["j"][at]
            for first, by_i, by_j in zip(*(ends[each::3] for each in range(3)), strict=True)
        ]
        for other, of in enumerate(rows["m"]):
            place = [rows[axis][other] for axis in "lij"]
            low_and_high = zip(ends[::2], place, ends[1::2], strict=True)
            if of == m and all(low <= each <= high for low, each, high in low_and_high):
                found.add(other)
    return found


def drawn_sources(layout, step, index):
    """The cells an arithmetic names; of a step left out, those that it is made of."""
    known = {matrix.step.name for matrix in layout.matrices}
    for cell in step.arithmetic(index).cells():
        given = layout.trace[cell.step]
        if cell.step in known or not known & given.earlier():
            yield cell.step, cell.index
        else:
            yield from drawn_sources(layout, given, cell.index)


def check_lights(layout, step):
    """Every cell of a step lights exactly the drawn cells that its arithmetic names."""
    rows = cells.table(layout).to_pydict()
    is_cell = [kind == cells.CELL for kind in rows["kind"]]
    blocks = rows["blocks"]
    rows = {name: list(itertools.compress(column, is_cell)) for name, column in rows.items()}
    rows["blocks"] = blocks
    places = []  # of each row, its step and its index
    for matrix in layout.matrices:
        places += [(matrix.step.name, tuple(index)) for index in cells.index_of(matrix).tolist()]
    known = {}
    for at, place in enumerate(places):
        known.setdefault(place, set()).add(at)
    for at, (name, index) in enumerate(places):
        if name != step.name:
            continue
        wanted = {*drawn_sources(layout, step, index)} & known.keys()
        assert {places[other] for other in lit(rows, at)} == wanted, (name, index)


@pytest.mark.parametrize("name", MADE)
def test_what_lights_up_is_what_the_arithmetic_names(name):
    step = WORKSHOP[name]
    check_lights(drawn_alone(WORKSHOP, step), step)


@pytest.mark.parametrize("of", ["every operation", "heads that name their columns"])
def test_a_cell_says_its_own_place_by_the_names_on_its_axes(of):
    trace = WORKSHOP if of == "every operation" else layer_at({"example": next(iter(EXAMPLES))})[1]
    for step in (each for each in trace.values() if 0 < each.value.ndim < 4):
        matrix = Matrix(step, lead=tuple(size - 1 for size in step.value.shape[:-2]))
        rows = cells.table(equation(trace, matrix)).to_pydict()
        for at, index in enumerate(cells.index_of(matrix).tolist()):
            head = dict(zip(step.axes, index, strict=True)).get("head")
            wanted = []
            for axis, place in zip(step.axes, index, strict=True):
                name = trace.name_of(axis, place, head)
                wanted += [
                    f"{axis} {place}" if name is None else f"{axis} {place} “{visible(name)}”"
                ]
            told = rows["where"][at].split(" · ")
            told += [rows["along"][at]] if len(wanted) > 1 else []
            assert told == wanted, (step.name, index)


def test_a_step_that_is_both_operands_lights_its_own_part_in_each():
    trace = of_tokens(4, 3)
    rows = cells.table(equation(trace, trace["scores"])).to_pydict()
    at = next(p for p, k in enumerate(rows["kind"]) if k == cells.CELL and rows["id"][p] == "2.1.3")
    found = lit(rows, at)
    assert {rows["id"][other] for other in found} == {
        *(f"0.1.{entry}" for entry in range(3)),
        *(f"1.{entry}.3" for entry in range(3)),
    }


# --- a whole layer --------------------------------------------------------------------------------
LAYERS = [
    {"example": "named_features"},
    {"example": "wild_cat", "n_heads": "3", "d_model": "6"},
    {"example": "journey_123", "scale": "none", "normalise": "sum"},
    {"example": "tiny_language", "temperature": "0.5"},
    {"example": "sorry_dave_first_run"},
    {"n_heads": "8", "d_model": "8", "causal_heads": "on"},
    {"n_heads": "8", "d_model": "64", "sentence": "a b " * 32, "tokenizer": "blanks"},
    {"n_heads": "1", "d_model": "1", "sentence": "a", "tokenizer": "blanks"},
]


def layer_at(link):
    values, wrong = understood({"example": "wild_cat", **link}, layer.CONTROLS)
    assert not wrong
    trace = layer.trace_of(values)
    return values, trace, whole_layer(trace, telling_query(values))


@pytest.mark.parametrize("link", LAYERS)
def test_a_whole_layer_fits_its_card_and_nothing_lies_on_another(link):
    _, _, layout = layer_at(link)
    for (arrangement, found), room in zip(rectangles(layout), (WIDE, NARROW), strict=True):
        lie_apart(found)
        assert min(left for left, *_ in found) >= 0
        assert max(right for _, _, right, _ in found) <= room + 1
        titles = [word for word in arrangement.words if word.look == "title"]
        for one, other in itertools.combinations(titles, 2):
            if abs(one.y - other.y) < 10:
                first, second = sorted((one, other), key=lambda word: word.x)
                assert first.x + text_width(first.text) <= second.x + 2
    assert layout.wide.height - max(box.y + box.height for box in layout.sentence.wide) <= 440 + 60


LONG = {"example": "named_features", "sentence": "the cat sees the dog and " * 10 + "a mouse it it"}
CHINESE = {"example": "named_features", "sentence": "饥饿的猫追老鼠因为它在呼噜"}


def test_beside_many_tokens_no_matrix_of_a_layer_is_a_speck():
    _, _, layout = layer_at(LONG)
    for matrix, box in zip(layout.matrices, layout.wide.boxes, strict=True):
        n_rows, n_columns = matrix.sizes
        assert min(box.width * n_columns, box.height * n_rows) >= 12, matrix.name


@pytest.mark.parametrize("link", [CHINESE, {"example": "named_features"}], ids=["short", "long"])
def test_each_row_of_a_layer_has_its_name_and_each_head_its_own_place(link):
    """Embeddings, concat, output, and the queries of each head."""
    _, trace, layout = layer_at(link)
    words = layout.wide.words
    names = [word.text for word in words if word.look.endswith("row")]
    assert sorted(names) == sorted([*trace.labels("query")] * (3 + trace.size("head")))
    heads = [word for word in words if word.text.startswith("head ")]
    assert len(heads) == 3
    for head, title in itertools.product(heads, [w for w in words if w.look == "title"]):
        is_left = head.x + text_width(head.text) <= title.x or title.x < head.x
        assert is_left or abs(head.y - title.y) > 12


SMALL = {"example": "journey_123"}


@pytest.mark.parametrize(
    "link", [SMALL, {**SMALL, "temperature": "2", "causal_heads": "on"}], ids=str
)
def test_a_whole_layer_lights_what_its_arithmetic_names(link):
    _, trace, layout = layer_at(link)
    for name in {each.step.name: None for each in layout.matrices}:
        if trace[name].inputs:
            check_lights(layout, trace[name])


# --- rows below each other ------------------------------------------------------------------------
@pytest.mark.parametrize("link", [{}, {"norm": "after", "block": "decoder", "d_in": "64"}], ids=str)
def test_a_sum_is_written_entry_under_entry(link):
    values, _ = understood({"example": "named_features", **link}, block.CONTROLS)
    trace = block.trace_of(values)
    layout = stacked(trace, *written_out(trace, values.token))
    for (arrangement, found), room in zip(rectangles(layout), (WIDE, NARROW), strict=True):
        assert len({(left, right) for left, _, right, _ in found}) == 1
        assert all(one[3] <= other[1] for one, other in itertools.pairwise(found))
        assert max(right for _, _, right, _ in found) <= room + 1
        assert len([word for word in arrangement.words if word.look == "title"]) == len(found)
    assert [word.text for word in layout.wide.words if word.look == "sign"][:2] == ["+", "="]
    if not link:
        check_lights(layout, trace["after_attention"])
        check_lights(layout, trace["output"])


# --- positions of a control -----------------------------------------------------------------------
def test_of_rows_and_columns_that_are_picked_each_cell_is_its_own():
    trace = of_tokens(7, 3)
    weights, values = trace["context_vectors"].inputs
    picked = {"rows": (1, 3, 6), "columns": (2, 3)}
    keys = Matrix(values, rows=picked["columns"])
    layout = equation(trace, Matrix(weights.inputs[0], **picked), Matrix(weights, **picked), keys,
                      Matrix(trace["context_vectors"], rows=picked["rows"]))  # fmt: skip
    for step in (weights, trace["context_vectors"]):
        check_lights(layout, step)
    made = layout.matrices[1]
    torch.testing.assert_close(made.drawn, weights.value[[1, 3, 6]][:, [2, 3]])
    assert row_sums(made).tolist() == pytest.approx([1, 1, 1]), "of all keys, drawn or not"
    rows = cells.table(layout).to_pydict()
    of_weights = [at for at, each in enumerate(rows["id"]) if (each or "").startswith("1.")]
    assert [(rows["q"][at], rows["k"][at]) for at in of_weights] == [
        (query, key) for query in picked["rows"] for key in picked["columns"]
    ]
    assert [rows["gives"][at] for at in of_weights] == [*trace.labels("key")[2:4]] * 3
    told = cells.table(sentence(trace, made, 1)).to_pydict()
    where = [each for each in told["where"] if each]
    assert where[0].startswith(f"token 2 “{trace.labels('key')[2]}”")


@pytest.mark.parametrize("n", [14, 37, 64])
@pytest.mark.parametrize("asked", [0, 5, -1])
def test_names_of_a_long_text_have_room_and_the_token_that_is_asked_has_its_own(n, asked):
    trace = attend(embed(Inputs(" ".join(f"w{at}" for at in range(n)))))
    asked = asked % n
    layout = equation(trace, Matrix(trace["weights"], asked=asked))
    for arrangement in (layout.wide, layout.narrow):
        for look, across in (("row", "y"), ("slanted", "x"), ("column", "x")):
            words = [word for word in arrangement.words if word.look == look]
            places = sorted(getattr(word, across) for word in words)
            room = [text_width(word.text) for word in words] if look == "column" else [12]
            assert all(b - a >= max(room) - 1e-6 for a, b in itertools.pairwise(places)), look
        named = [w.text for w in arrangement.words if w.look in ("row", "small row", "slanted")]
        named += [word.text for word in arrangement.words if word.look == "column"]
        assert sum(text.endswith(f"w{asked}") for text in named) == 2, "as query and as key"


def test_a_value_between_two_positions_is_none_of_them_and_uneven_ones_have_places():
    stops = Stops("Factor", -4, 4, 0.25, 1.0, "place")
    assert (stops.values[stops.position(1.25)], stops.position(1.1)) == (1.25, -1)
    stops = Stops("Step", 0, 3, 1, 3, "place", (0, 7, 15, 1_500))
    assert stops.values == (0, 7, 15, 1_500)
    assert [stops.position(value) for value in (7, 1_500, 8)] == [1, 3, -1]
    assert stops.value(2) == 15


# --- the specification ----------------------------------------------------------------------------
def test_one_specification_is_for_all_pictures_and_a_canvas_has_an_ink_that_it_knows():
    """A canvas does not know the page's `currentColor`, and would take it for black."""
    assert drawn(100) is drawn(1_400)
    assert drawn(1_600)["usermeta"]["embedOptions"]["renderer"] == "canvas"
    assert "usermeta" not in drawn(100)
    assert INK == "currentColor"
    assert INK in json.dumps(drawn(1_400))
    for theme in ("light", "dark", None):
        assert INK not in json.dumps(drawn(1_600, theme=theme))
    assert drawn(1_600, theme="dark") != drawn(1_600, theme="light")


def test_nothing_below_the_veil_depends_on_the_pointer_and_the_veil_is_the_page():
    """What a move costs is the number of marks that depend on it."""
    below = itertools.takewhile(
        lambda each: each.get("name") == "under" or "light-dark" not in json.dumps(each),
        drawn(100)["layer"],
    )
    told = json.dumps([*below])
    assert "cells" in told
    # For a formula of cells that comes later, the browser would copy all rows once more.
    whole = drawn(100) | {"data": {"name": "source", "values": []}}
    assert alt.LayerChart.from_dict(whole)  # the app itself does not check what it authors
    data = vegalite_to_vega(whole)["data"]
    around = {each["name"] for each in data if "kind != 0" in json.dumps(each)}
    has_formulas = [each for each in data if "formula" in json.dumps(each)]
    assert [each["name"] for each in has_formulas if each["source"] not in around] == ["data_0"]
    assert not re.search(r"\bp_\w|\bfocus\b", told)
    theme = tomllib.loads((ROOT / ".streamlit/config.toml").read_text())["theme"]
    assert {each: theme[each]["backgroundColor"] for each in GROUNDS} == GROUNDS
    for each, ground in GROUNDS.items():
        assert ground in json.dumps(drawn(1_600, theme=each))


# --- bars that go both ways -----------------------------------------------------------------------
def both_ways(scores):
    trace = normalise_row(given_row(scores))
    bars = Matrix(trace["sum_weights"], as_bars=True, both_ways=True)
    shares = Matrix(trace["softmax_weights"], as_bars=True)
    row, total = (Matrix(trace[f"score_{which}"]) for which in ("row", "sum"))
    return trace, (row, "÷", total, "=", bars, "", shares)


def test_bars_of_both_kinds_have_one_scale_and_those_below_0_go_left():
    trace, parts = both_ways((2.0, 1.0, -0.5))
    layout = equation(trace, *parts)
    rows, found = cells.table(layout).to_pydict(), set()
    for n, when in (("", cells.ON_WIDE), ("n", cells.ON_NARROW)):
        for at, name in enumerate(rows["id"]):
            if not (name or "").startswith("bar.") or rows["when"][at] != when:
                continue
            matrix, *_, row = name.removeprefix("bar.").split(".")
            weights = trace["sum_weights" if matrix == "2" else "softmax_weights"].value
            long = rows[f"w{n}"][at] * rows["shade"][at]
            assert long == pytest.approx(cells.BAR * weights[int(row)].item(), abs=1.5)
            found.add(matrix)
        assert found == {"2", "3"}
    assert BROKEN_BARS not in rows["text"], "no bar has a gap"
    longer = equation(trace, *both_ways((2.0, 1.0, -2.9))[1]).matrices
    assert FOLLOWS in positions(layout, [layout.matrices, longer])


def test_of_two_bars_beyond_1_the_larger_is_longer():
    trace, parts = both_ways((2.0, 1.0, -2.9))
    rows = cells.table(equation(trace, *parts)).to_pydict()
    assert BROKEN_BARS in rows["text"]
    shown = dict(zip(rows["id"], rows["shade"], strict=True))
    ten, twenty, minus_29 = (shown[f"2.{row}.0"] for row in (1, 0, 2))
    assert cells.BAR / cells.HALF + 0.1 < ten < twenty < -minus_29 < 0.97


# --- as it is sent --------------------------------------------------------------------------------
def test_a_large_table_is_sent_with_each_value_once_and_says_the_same():
    trace = of_tokens(40, 6)
    plain = cells.table(equation(trace, *trace["scores"].inputs, trace["scores"]))
    sent = cells.packed(plain)
    assert cells.n_marks(plain) > cells.MANY
    assert sent.nbytes < plain.nbytes / 2
    assert {*plain.column_names} - {*sent.column_names} == {"id"}
    for name in sent.column_names:
        told, meant = sent[name].to_pylist(), plain[name].to_pylist()
        assert told == (pytest.approx(meant, abs=0.0051) if name == "shade" else meant), name


def test_numbers_that_the_browser_writes_are_those_of_the_arithmetic():
    values = torch.tensor([[0.03125, -0.00004, 1234.5678], [float("-inf"), 0.5, -999.99994]])
    told = cells._numbers_alone(values)
    each = zip(told["exact"], told["tip"], values.flatten().tolist(), strict=True)
    for exact, text, value in each:
        assert (text is None) == (abs(value) < 1_000)
        # As JavaScript's toFixed: the nearest with four decimals, of two the larger.
        made = text or f"{Decimal(exact).quantize(Decimal('0.0001'), ROUND_HALF_UP)}"
        made = made.replace("-", "−")
        assert made == (f"{value:.4f}".replace("-", "−") if math.isfinite(value) else "−∞")


# --- what stands first, and what is said ----------------------------------------------------------
def test_a_word_that_is_pointed_at_is_related_to_every_matrix_and_compared_by_every_name():
    """Without, the browser finds nothing that belongs to it, and all matrices fade."""
    trace = of_tokens(4, 3)
    shown = [Matrix(trace["query_weights"], as_bars=True), "→", Matrix(trace["weights"])]
    rows = cells.table(with_sentence(equation(trace, *shown), 0)).to_pydict()
    assert len(rows["id"]) == len({*rows["id"]}), "rows of one id lose their marks"
    word = rows["id"].index("token.2")
    of_cells = [at for at, m in enumerate(rows["m"]) if 0 <= m != rows["m"][word]]
    assert of_cells
    assert all(rows["rel"][at] // 2 ** rows["m"][word] % 2 == 1 for at in of_cells)
    assert {*cells.NAMES, "ai", "aj"} <= rows.keys()
    alone = cells.table(sentence(trace, Matrix(trace["weights"]), 0)).to_pydict()
    assert alone["where"][alone["id"].index("token.2")] == "token 2 “w2”"


def test_the_cell_that_is_offered_first_is_the_largest_in_the_row_whose_arcs_are_shown():
    trace = of_tokens(5, 3)
    contexts = Matrix(trace["context_vectors"])
    parts = (Matrix(trace["weights"]), "·", Matrix(trace["embeddings"]), "=", contexts)
    row = trace["context_vectors"].value[3]
    of_all = divmod(int(trace["context_vectors"].value.abs().argmax()), 3)
    assert first_cell(equation(trace, *parts), contexts) == of_all
    picked = Matrix(trace["context_vectors"], rows=(1, 2), columns=(2, 0))
    place = first_cell(equation(trace, picked), picked)
    assert trace["context_vectors"].value[place].abs() == picked.drawn.abs().max()
    asked = Matrix(trace["weights"], rows=(1, 2, 3), asked=2)
    assert first_cell(equation(trace, asked), asked)[0] == 3
    shown = with_sentence(equation(trace, *parts), 3)
    assert first_cell(shown, contexts) == (3, int(row.abs().argmax()))
    _, layer_trace, whole = layer_at({"example": "named_features"})
    head = next(each for each in whole.matrices if each.step.name == "head_weights" and each.lead)
    query, key = first_cell(whole, head)[-2:]
    weights = layer_trace["head_weights"].value[head.lead]
    assert (query, key) == (whole.sentence.first, int(weights[query].argmax()))


def test_a_number_has_room_in_its_cell_in_a_window_and_on_a_phone():
    """As many decimals as the narrower of the two has room for; none where one has no room."""
    trace = Trace(query=["a", "b"], key=["c", "d"])
    scores = trace.step("scores", ops.Given(((-11.15, 2.5), (0.25, -0.24))), axes=("query", "key"))
    for room in range(60, 900, 20):
        layout = equation(trace, *[Matrix(scores)] * 6, room=room)
        boxes = (layout.wide.boxes[0], layout.narrow.boxes[0])
        text = cells.table(layout).to_pydict().get("text", [None])[0]
        for box in boxes:
            assert text is None or not box.is_readable or number_width(text) <= box.width - 1


# --- a cell taken apart ---------------------------------------------------------------------------
@pytest.mark.parametrize(("d", "long"), [(12, False), (13, True), (29, True)])
def test_of_a_long_sum_the_largest_terms_are_written_out_and_the_rest_is_said(d, long):
    trace = embed(Inputs("a b c", d_in=d))
    embeddings = trace["embeddings"]
    scores = trace.step(
        "scores", ops.MatMul(transpose=True), embeddings, embeddings, axes=("query", "key")
    )
    made = scores.arithmetic((0, 2))
    assert is_long(made) == long
    products = (embeddings.value[0] * embeddings.value[2]).tolist()
    in_order = sorted(range(d), key=lambda at: -abs(products[at])) if long else [*range(d)]
    queries, keys = operand_groups(made)
    assert [cell.index for cell in queries] == [(0, at) for at in in_order]
    assert [cell.index for cell in keys] == [(2, at) for at in in_order]
    written = cell_equation(scores, (0, 2), made)
    assert ("cdots" in written) == long
    if long:
        first = made.terms[in_order[0]].latex()
        assert written.index(first) < written.index(made.terms[in_order[8]].latex())
        rest = sum(products[at] for at in in_order[9:])
        assert f"the other {d - 9} add up to {rest:.4f}".replace("-", "−") in of_the_rest(made)


def test_how_cells_are_made_is_worked_out_once_for_all_words(monkeypatch):
    def made(words):
        trace = attend(embed(Inputs(words, d_in=7)))
        return cells.table(equation(trace, trace["scores"], trace["weights"]))["made0"]

    first = made("a b c d e")
    monkeypatch.setattr(cells, "_made", lambda *_: pytest.fail("worked out again"))
    assert made("v w x y z") == first


def test_pictures_that_are_made_otherwise_share_nothing():
    heads = attend_heads(embed(Inputs("a b c d", d_in=4)), HeadsRecipe(n_heads=2, d_head=4))
    some = ({}, {"rows": (0, 2)}, {"columns": (1, 3)}, {"covered": True})
    for is_other, lead, picked in itertools.product((True, False), ((0,), (1,)), some):
        trace, axes = heads.emptied(), heads["head_scores"].axes
        given = (heads["head_queries"], heads["head_keys"])
        q, k = (trace.step(e.name, ops.Given.of(e.value), axes=e.axes) for e in given)
        scores = trace.step("head_scores", ops.MatMul(is_other), q, k, axes=axes)
        each = Matrix(q, lead=lead), Matrix(k, lead=lead), Matrix(scores, lead=lead, **picked)
        kept = cells._all_made(cells._how_made(each, [0, 1, 2]), each, [0, 1, 2])
        assert str(kept) == str(cells._all_made.__wrapped__(each, [0, 1, 2]))
