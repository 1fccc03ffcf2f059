"""Charts: their data is the trace's own; no specification holds data, or a text as code."""

import json
import math
from copy import deepcopy
from dataclasses import replace
from functools import cache

import altair as alt
import pandas as pd
import pyarrow as pa
import pytest
import torch

from attention_core import EXAMPLES, SimplifiedOptions, Trace, attend, embed, expand_query
from attention_core.operations import Given, MatMul, Softmax, SumNormalise
from attention_core.text.tokenizers import visible
from attention_ui.charts.bars import bars
from attention_ui.charts.fit import band_above
from attention_ui.charts.heatmap import heatmap
from attention_ui.charts.picture import picture
from attention_ui.charts.sizes import SMALLEST, WITH_NUMBERS
from attention_ui.picture.matrix import Matrix, names_of
from attention_ui.picture.numbers import decimals_of, written

SIZE, TINY = WITH_NUMBERS[0], SMALLEST


@cache
def trace_of(example):
    inputs = EXAMPLES[example].inputs
    options = SimplifiedOptions(divide=EXAMPLES[example].divide)
    return expand_query(attend(embed(inputs), options), EXAMPLES[example].query)


@cache
def any_trace(*tokens, operation=None, axes=("query", "key")):
    """A trace with one step `scores` of given numbers, labelled with these tokens."""
    trace = Trace(token=tokens, query=tokens, key=tokens)
    trace.step("scores", operation or square(len(tokens)), axes=axes)
    return trace


def square(n):
    return Given(tuple(tuple(float(row - column) for column in range(n)) for row in range(n)))


def drawable(trace):
    """The steps of a trace that a heatmap has room for."""
    return [
        step
        for step in trace.values()
        if max(step.value.shape) <= 64 and step.value.ndim <= 2 and step.name != "layer_0_mask"
    ]


def cells(chart):
    """The rows of a heatmap's data by place."""
    rows = frame_rows(chart)
    by_place = {(row["row"], row["column"]): row for row in rows}
    assert len(by_place) == len(rows), "two rows for one cell"
    return by_place


def frame_rows(chart):
    frame = chart.frame
    return frame.to_pylist() if isinstance(frame, pa.Table) else frame.to_dict("records")


def parameter(chart, name):
    (found,) = [p["value"] for p in chart.spec["params"] if p["name"] == name]
    return found


def strings_of(part, path=()):
    """Every text within a specification, with the way to it."""
    if isinstance(part, dict):
        for key, value in part.items():
            yield (*path, "a key"), key
            yield from strings_of(value, (*path, key))
    elif isinstance(part, list):
        for value in part:
            yield from strings_of(value, path)
    elif isinstance(part, str):
        yield path, part


def check_specification(chart):
    """It is JSON, and carries no data of its own."""
    spec = chart.spec
    assert json.loads(json.dumps(spec, allow_nan=False)) == spec
    assert "data" not in spec
    assert not [path for path, _ in strings_of(spec) if "datasets" in path]
    # A layer with data of its own draws one mark, such as the operator.
    assert all(
        layer.get("data", {"values": [{}]}) == {"values": [{}]} for layer in spec.get("layer", ())
    )


def check_with_altair(chart):
    """It is valid Vega-Lite with its data. Takes a quarter of a second, so not for every chart."""
    check_specification(chart)
    spec = deepcopy(chart.spec)
    if "subtitle" in spec.get("title", {}):
        spec["title"]["subtitle"] = "the schema knows no expression here"
    alt.Chart.from_dict({**spec, "data": {"values": frame_rows(chart)[:5]}}, validate=True)


# --- heatmaps of every example --------------------------------------------------------------------


@pytest.mark.parametrize("example", EXAMPLES)
def test_a_heatmap_has_every_cell_of_its_step_and_no_more(example):
    for step in drawable(trace_of(example)):
        drawn = cells(heatmap(trace_of(example), Matrix(step), SIZE))
        values = step.value if step.value.ndim == 2 else step.value[:, None]
        assert drawn.keys() == {(*place,) for place in torch.ones(values.shape).nonzero().tolist()}
        for (row, column), cell in drawn.items():
            value = values[row, column].item()
            assert cell["value"] == value, f"{step.name}[{row}, {column}]"
            assert cell["text"] == written(value, decimals_of(values.float()))
            assert cell["strength"] == 1
            assert cell["outline"] == 0


@pytest.mark.parametrize("example", EXAMPLES)
@pytest.mark.parametrize("size", [SIZE, TINY])
def test_a_heatmap_carries_no_data_in_its_specification(example, size):
    trace = trace_of(example)
    for step in drawable(trace):
        check_specification(heatmap(trace, Matrix(step), size, operator="·"))
        check_specification(heatmap(trace, Matrix(step, transposed=True), size))


@pytest.mark.parametrize(
    ("step", "how"),
    [
        ("scores", {}),
        ("token_ids", {"transposed": True}),
        ("query_weights", {"as_bars": True}),
        (
            "embedding_table",
            {"rows": (2, 0), "row_labels": False, "highlighted": frozenset({(2, 1)})},
        ),
    ],
)
@pytest.mark.parametrize("size", [SIZE, TINY])
def test_a_heatmap_is_valid_vega_lite(size, step, how):
    trace = trace_of("wild_cat")
    check_with_altair(heatmap(trace, Matrix(trace[step], **how), size, operator="="))


@pytest.mark.parametrize("example", EXAMPLES)
def test_weights_are_coloured_by_their_root_and_all_else_around_0(example):
    for step in drawable(trace_of(example)):
        drawn = cells(heatmap(trace_of(example), Matrix(step), SIZE)).values()
        largest = max(abs(cell["value"]) for cell in drawn)
        for cell in drawn:
            if step.name in ("weights", "query_weights"):
                assert cell["shade"] == pytest.approx(math.sqrt(cell["value"]), rel=1e-6)
                assert 0 <= cell["shade"] <= 1, "a tenth is seen, and no weight is off the scale"
            elif step.name == "one_hot":
                assert cell["shade"] == cell["value"] in (0, 1)
            elif step.name in ("token_ids", "place_ids"):
                assert cell["shade"] == 0, "ids are names, not amounts"
            else:
                assert cell["shade"] == pytest.approx(cell["value"] / largest, abs=1e-6)


@pytest.mark.parametrize("example", EXAMPLES)
def test_words_for_a_heatmap_name_its_step_and_its_shape(example):
    trace = trace_of(example)
    for step in drawable(trace):
        words = heatmap(trace, Matrix(step), SIZE).alt
        assert words.startswith(f"Heatmap of {step.name}: ")
        assert all(axis in words for axis in step.axes)
    words = heatmap(trace, Matrix(trace["embeddings"], transposed=True), SIZE).alt
    assert words == "Heatmap of embeddings, transposed: rows are d_in, columns are token."


@pytest.mark.parametrize("example", EXAMPLES)
def test_a_heatmap_says_its_name_and_shape_and_names_its_axes(example):
    trace = trace_of(example)
    chart = heatmap(trace, Matrix(trace["weights"]), SIZE)
    shape = "'query ' + domain('y').length + ' × ' + 'key ' + domain('x').length"
    assert chart.spec["title"]["text"] == "weights"
    assert chart.spec["title"]["subtitle"] == {"expr": shape}
    encoding = chart.spec["encoding"]
    assert encoding["y"]["axis"]["title"] == "query"
    assert encoding["x"]["axis"]["title"] == "key"
    flipped = heatmap(trace, Matrix(trace["embeddings"], transposed=True), SIZE).spec
    assert flipped["title"]["text"] == "embeddingsᵀ"
    assert flipped["title"]["subtitle"]["expr"].endswith("'token ' + domain('x').length")
    assert flipped["encoding"]["x"]["axis"]["title"] == "token"


@pytest.mark.parametrize("example", EXAMPLES)
def test_labels_are_the_tokens_made_visible(example):
    trace = trace_of(example)
    chart = heatmap(trace, Matrix(trace["scores"]), SIZE)
    tokens = [visible(token) for token in EXAMPLES[example].inputs.tokens]
    assert parameter(chart, "row_names") == parameter(chart, "column_names") == tokens
    named = list(EXAMPLES[example].inputs.components)
    assert names_of(trace, "d_in")[:2] == (named or ["d0", "d1"])[:2]


# --- which cells, and how -------------------------------------------------------------------------


def places_by(chart, what):
    return {place for place, cell in cells(chart).items() if what(cell)}


def test_the_chosen_cell_has_the_strongest_outline_and_its_operands_a_weaker_one():
    trace = trace_of("wild_cat")
    highlighted = frozenset({(8, 0), (8, 1), (8, 2), (2, 1)})
    chart = heatmap(
        trace, Matrix(trace["embeddings"], highlighted=highlighted, chosen=(2, 1)), SIZE
    )
    assert places_by(chart, lambda cell: cell["outline"] == 3) == {(2, 1)}
    assert places_by(chart, lambda cell: cell["outline"] == 2) == {(8, 0), (8, 1), (8, 2)}
    assert places_by(chart, lambda cell: cell["outline"] == 0) == cells(chart).keys() - highlighted


def test_transposing_swaps_rows_and_columns_of_values_names_and_outlines():
    trace = trace_of("wild_cat")
    matrix = {"step": trace["embeddings"], "highlighted": frozenset({(8, 0)}), "chosen": (2, 1)}
    upright = heatmap(trace, Matrix(**matrix), SIZE)
    lying = heatmap(trace, Matrix(**matrix, transposed=True), SIZE)
    swapped = {(column, row): cell for (row, column), cell in cells(upright).items()}
    for place, cell in cells(lying).items():
        for what in ("value", "shade", "outline", "text", "strength"):
            assert cell[what] == swapped[place][what]
    assert parameter(lying, "row_names") == parameter(upright, "column_names")
    assert parameter(lying, "column_names") == parameter(upright, "row_names")


def test_a_single_row_is_drawn_lying_or_standing():
    trace = trace_of("wild_cat")
    standing = heatmap(trace, Matrix(trace["token_ids"], chosen=(4,)), SIZE)
    lying = heatmap(trace, Matrix(trace["token_ids"], transposed=True, chosen=(4,)), SIZE)
    ids = trace["token_ids"].value.tolist()
    assert [cells(standing)[place, 0]["value"] for place in range(len(ids))] == ids
    assert [cells(lying)[0, place]["value"] for place in range(len(ids))] == ids
    assert places_by(standing, lambda cell: cell["outline"] == 3) == {(4, 0)}
    assert places_by(lying, lambda cell: cell["outline"] == 3) == {(0, 4)}


def test_rows_that_are_picked_keep_their_values_names_and_outlines():
    trace = trace_of("sorry_dave")
    table, ids = trace["embedding_table"], trace["token_ids"].value.tolist()
    rows = tuple(dict.fromkeys(ids))
    faint = frozenset({rows[0]})
    matrix = Matrix(
        table,
        rows=rows,
        faint=faint,
        chosen=(rows[2], 5),
        highlighted=frozenset({(rows[1], 0), (7, 7)}),
    )
    chart = heatmap(trace, matrix, SIZE)
    for (row, column), cell in cells(chart).items():
        assert cell["value"] == table.value[rows[row], column].item()
        assert cell["strength"] == (pytest.approx(0.2) if row == 0 else 1)
    assert len(cells(chart)) == len(rows) * 32
    assert parameter(chart, "row_names") == [str(row) for row in rows]
    assert places_by(chart, lambda cell: cell["outline"] == 3) == {(2, 5)}
    assert places_by(chart, lambda cell: cell["outline"] == 2) == {(1, 0)}
    check_specification(chart)


@pytest.mark.parametrize("as_bars", [False, True])
def test_rows_without_labels_still_have_a_name_to_hover_over(as_bars):
    trace = trace_of("wild_cat")
    step = trace["query_weights" if as_bars else "weights"]
    chart = heatmap(trace, Matrix(step, row_labels=False, as_bars=as_bars), SIZE)
    layer = chart.spec["layer"][0]
    assert layer["encoding"]["tooltip"][0]["field"] == "row_name"
    (naming,) = [t["calculate"] for t in layer["transform"] if t["as"] == "row_name"]
    assert "row_names[datum.row] :" in naming
    assert parameter(chart, "row_names") == [visible(token) for token in trace.labels("token")]


def test_bars_in_a_row_are_as_long_as_their_weights():
    trace = trace_of("wild_cat")
    chart = heatmap(trace, Matrix(trace["query_weights"], as_bars=True), SIZE)
    x = chart.spec["encoding"]["x"]
    assert x["field"] == "value"
    assert x["scale"]["domain"] == [0, 1]
    assert [row["value"] for row in frame_rows(chart)] == trace["query_weights"].value.tolist()


def test_no_label_of_a_long_text_is_left_out():
    tokens = tuple(f"token{place}" for place in range(64))
    trace = any_trace(*tokens)
    chart = heatmap(trace, Matrix(trace["scores"]), TINY)
    assert parameter(chart, "row_names") == parameter(chart, "column_names") == list(tokens)
    assert len(cells(chart)) == 64 * 64
    for channel in ("x", "y"):
        assert chart.spec["encoding"][channel]["axis"]["labelOverlap"] is False
    assert "text" not in frame_rows(chart)[0], "cells this small have no room for numbers"
    assert TINY.font == 0


def test_repeated_tokens_are_cells_of_their_own():
    trace = any_trace("is", "is", "is")
    assert len(cells(heatmap(trace, Matrix(trace["scores"]), SIZE))) == 9


def test_what_is_not_finite_is_written_and_has_no_colour():
    inf, nan = math.inf, math.nan
    trace = any_trace("a", "b", operation=Given(((2.0, -inf), (nan, inf))))
    chart = heatmap(trace, Matrix(trace["scores"]), SIZE)
    drawn = cells(chart)
    assert [drawn[place]["text"] for place in sorted(drawn)] == ["2.00", "−∞", "nan", "∞"]
    assert [drawn[place]["shade"] for place in sorted(drawn)] == [1, 0, 0, 0]
    assert drawn[0, 1]["value"] == -inf
    json.dumps(chart.spec, allow_nan=False)


def test_shares_beyond_0_and_1_keep_their_sign_and_the_end_of_the_scale():
    trace = any_trace("a", "b", operation=Given(((-0.25, 1.25), (5.0, -4.0))))
    shares = trace.step("weights", SumNormalise(), trace["scores"], axes=("query", "key"))
    drawn = cells(heatmap(trace, Matrix(shares), SIZE))
    assert [drawn[place]["shade"] for place in sorted(drawn)] == [-0.5, 1, 1, -1]


def test_a_tensor_of_zeros_has_no_colour():
    trace = any_trace("a", "b", operation=Given(((0.0, 0.0), (-0.0, 0.0))))
    drawn = cells(heatmap(trace, Matrix(trace["scores"]), SIZE)).values()
    assert {cell["shade"] for cell in drawn} == {0}


# --- a person's text ------------------------------------------------------------------------------

HOSTILE = (
    "datum.value + alarm",
    "'], alarm(), ['",
    '"]; alarm(); ["',
    "<script>alarm</script>",
    "![alarm](http://127.0.0.1:9/x.png)",
    "alarm\\",
    "${alarm}",
    "\u202ealarm",
    "alarm\x00",
    "__proto__alarm",
    "alarm" * 100,
)


def assert_text_is_data(chart):
    """A person's text stands where it is only shown: in the values of parameters, not in code."""
    found = [path for path, text in strings_of(chart.spec) if "alarm" in text]
    assert found, "the labels are not in the specification at all"
    assert set(found) == {("params", "value")}


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("size", [SIZE, TINY])
def test_tokens_are_values_of_parameters_and_never_part_of_an_expression(transposed, size):
    trace = any_trace(*HOSTILE)
    chart = heatmap(trace, Matrix(trace["scores"], transposed=transposed), size, operator="=")
    assert_text_is_data(chart)
    check_specification(chart)
    assert "alarm" not in chart.alt
    assert not any("alarm" in str(value) for row in frame_rows(chart) for value in row.values())


def test_tokens_of_bars_are_values_too():
    weights = [1 / len(HOSTILE)] * len(HOSTILE)
    chart = bars(HOSTILE, {"before": weights, "now": weights}, "Weights")
    assert_text_is_data(chart)


# --- kept specifications --------------------------------------------------------------------------


def test_a_heatmap_leaves_the_specifications_before_it_as_they_were():
    first, other = trace_of("wild_cat"), trace_of("life_is_short")
    chart = heatmap(first, Matrix(first["scores"]), SIZE, operator="=", band=60)
    before = deepcopy(chart.spec)
    longer = band_above(other, Matrix(other["scores"]), SIZE) + 30
    heatmap(other, Matrix(other["scores"]), SIZE, operator="·", band=longer)
    heatmap(first, Matrix(first["scores"], transposed=True, title="else"), SIZE, "Σ", band=9)
    heatmap(first, Matrix(first["scores"], row_labels=False), TINY)
    changed = heatmap(first, Matrix(first["weights"], chosen=(0, 0)), SIZE, operator="=", band=60)
    assert chart.spec == before
    assert heatmap(first, Matrix(first["scores"]), SIZE, operator="=", band=60).spec == before
    assert changed.spec["title"]["text"] == "weights"


def test_other_values_leave_a_heatmap_as_it_is_but_for_its_data():
    """Else the browser builds the chart anew, which takes twice as long."""
    first = any_trace("a", "b", operation=Given(((1.0, 2.0), (3.0, 4.0))))
    other = any_trace("a", "b", operation=Given(((-9.0, 0.25), (70.0, 8.0))))
    one, two = (heatmap(trace, Matrix(trace["scores"]), SIZE) for trace in (first, other))
    assert (one.spec, one.alt) == (two.spec, two.alt)
    assert one.frame != two.frame


def test_another_width_leaves_a_heatmap_as_it_is_but_for_its_data():
    def drawn(width, transposed=False):
        inputs = replace(EXAMPLES["wild_cat"].inputs, d_in=width)
        trace = attend(embed(inputs))
        return heatmap(trace, Matrix(trace["embeddings"], transposed=transposed), SIZE)

    for transposed in (False, True):
        one, two = drawn(3, transposed), drawn(5, transposed)
        assert (one.spec, one.alt) == (two.spec, two.alt)
        assert len(two.frame) == 11 * 5


def test_bars_leave_the_specifications_before_them_as_they_were():
    chart = bars(("a", "b"), {"before": [0.5, 0.5], "now": [0.9, 0.1]}, "Weights")
    before = deepcopy(chart.spec)
    bars(("c", "d"), {"left": [0.5, 0.5], "right": [0.9, 0.1]}, "Weights")
    bars(("c", "d"), {"alone": [0.5, 0.5]}, "Weights")
    assert chart.spec == before


def test_a_picture_leaves_the_specifications_before_it_as_they_were():
    trace = trace_of("life_is_short")
    chart = picture(trace, trace["embeddings"], 0, 1)
    before = deepcopy(chart.spec)
    picture(trace, trace["embeddings"], 5, 9)
    picture(trace, trace["embeddings"], 7, 3, trace["weights"], trace["context_vectors"], 2)
    assert chart.spec == before


# --- bars and pictures ----------------------------------------------------------------------------


@pytest.mark.parametrize("example", EXAMPLES)
def test_bars_are_as_high_as_the_numbers_and_keep_the_order_of_the_tokens(example):
    trace = trace_of(example)
    tokens = trace.labels("key")
    rows = {"before": trace["weights"].value[0].tolist(), "now": trace["weights"].value[1].tolist()}
    chart = bars(tokens, rows, "Weights of query 0")
    drawn = frame_rows(chart)
    for name, values in rows.items():
        mine = [row for row in drawn if row["row"] == name]
        assert [row["value"] for row in mine] == values
        assert [row["place"] for row in mine] == list(range(len(tokens)))
        assert [row["name"] for row in mine] == [visible(token) for token in tokens]
    assert len(drawn) == 2 * len(tokens)
    assert chart.alt == "Weights of query 0"
    spec = chart.spec
    assert spec["encoding"]["y"]["scale"]["domain"] == [0, 1]
    assert spec["encoding"]["x"]["axis"]["labelOverlap"] is False
    assert spec["encoding"]["color"]["scale"]["domain"] == ["before", "now"]
    check_specification(chart)


def test_bars_of_one_row_need_no_legend():
    chart = bars(("a", "b"), {"now": [0.25, 0.75]}, "Weights")
    assert chart.spec["encoding"]["color"]["legend"] is None
    assert [row["value"] for row in frame_rows(chart)] == [0.25, 0.75]


def test_bars_without_a_number_for_every_token_are_refused():
    with pytest.raises(ValueError, match="shorter"):
        bars(("a", "b"), {"now": [1.0]}, "Weights")


def test_bars_and_pictures_are_valid_vega_lite():
    trace = trace_of("wild_cat")
    context = (trace["weights"], trace["context_vectors"], 8)
    check_with_altair(bars(("a",), {"now": [1.0]}, "Weights"))
    check_with_altair(bars(("a",), {"before": [1.0], "now": [1.0]}, "Weights"))
    check_with_altair(picture(trace, trace["embeddings"], 0, 1))
    check_with_altair(picture(trace, trace["embeddings"], 0, 1, *context))


@pytest.mark.parametrize("example", EXAMPLES)
def test_points_stand_where_the_vectors_are(example):
    trace = trace_of(example)
    vectors = trace["embeddings"]
    chart = picture(trace, vectors, 2, 0)
    check_specification(chart)
    by_place = {(row["x"], row["y"]): row["name"] for row in frame_rows(chart)}
    for vector, token in zip(vectors.value.tolist(), trace.labels("token"), strict=True):
        assert visible(token) in by_place[vector[2], vector[0]].split(", ")
    assert len(by_place) == len({(vector[2], vector[0]) for vector in vectors.value.tolist()})
    first, _, third, *_ = EXAMPLES[example].inputs.components or ("d0", "d1", "d2")
    assert chart.alt == f"embeddings as points, by their entries {third} and {first}."
    for layer in chart.spec["layer"]:
        assert layer["encoding"]["x"]["axis"]["title"] == third
        assert layer["encoding"]["y"]["axis"]["title"] == first


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_context_vector_stands_among_the_vectors_with_their_weights(example):
    trace, query = trace_of(example), EXAMPLES[example].query
    vectors, weights, context = trace["embeddings"], trace["weights"], trace["context_vectors"]
    chart = picture(trace, vectors, 0, 1, weights, context, query)
    check_specification(chart)
    rows = frame_rows(chart)
    (here,) = [row for row in rows if row["kind"] == "context"]
    others = [row for row in rows if row["kind"] == "vector"]
    assert (here["x"], here["y"]) == tuple(context.value[query, :2].tolist())
    assert here["name"] == f"context of {visible(trace.labels('token')[query])}"
    assert sum(row["weight"] for row in others) == pytest.approx(1, abs=1e-5)
    for channel in ("x", "y"):
        mean = sum(row["weight"] * row[channel] for row in others)
        assert mean == pytest.approx(here[channel], rel=1e-4, abs=1e-4)
        assert {row[f"{channel}0"] for row in rows} == {here[channel]}


def test_points_on_one_place_share_a_label_and_their_weights():
    trace = Trace(token=("a", "b", "a"), query=("a", "b", "a"), key=("a", "b", "a"))
    vectors = trace.step(
        "embeddings", Given(((1.0, 2.0), (3.0, 4.0), (1.0, 2.0))), axes=("token", "d_in")
    )
    scores = trace.step("scores", MatMul(transpose=True), vectors, vectors, axes=("query", "key"))
    weights = trace.step("weights", Softmax(), scores, axes=("query", "key"))
    context = trace.step("context_vectors", MatMul(), weights, vectors, axes=("query", "d_in"))
    chart = picture(trace, vectors, 0, 1, weights, context, 1)
    shared, alone, _ = frame_rows(chart)
    assert (shared["x"], shared["y"], shared["name"]) == (1, 2, "a")
    assert alone["name"] == "b"
    row = weights.value[1].tolist()
    assert shared["weight"] == pytest.approx(row[0] + row[2])
    assert alone["weight"] == pytest.approx(row[1])


# --- numbers in cells -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.00"),
        (-0.0, "0.00"),
        (0.004, "0.00"),
        (-0.004, "0.00"),
        (-0.006, "−0.01"),
        (1.0, "1.00"),
        (-1.5, "−1.50"),
        (99.94, "99.94"),
        (99.96, "100"),
        (-99.96, "−100"),
        (1234.5678, "1235"),
        (-1e6, "−1000000"),
        (math.inf, "∞"),
        (-math.inf, "−∞"),
        (math.nan, "nan"),
    ],
)
def test_a_number_is_written_with_two_decimals_or_none(value, text):
    assert written(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (7.0, "7"), (19_999.0, "19999"), (-2.0, "−2"), (-0.0, "0"), (-math.inf, "−∞")],
)
def test_a_whole_number_is_written_without_decimals(value, text):
    assert written(value, decimals=0) == text


@pytest.mark.parametrize(
    ("values", "decimals"),
    [
        ((0.0, 7.0, -2.0), 0),
        ((1.0, -math.inf), 0),
        ((0.3, -1.8, 2.0), 1),
        ((0.3, 0.25), 2),
        ((1 / 3, 0.0), 2),
        ((math.nan, 1.0), 2),
    ],
)
def test_a_matrix_shows_as_many_decimals_as_its_numbers_have(values, decimals):
    numbers = torch.tensor(values)
    assert decimals_of(numbers) == decimals
    if decimals < 2:
        shown = [written(value, decimals).replace("−", "-") for value in numbers.tolist()]
        assert torch.equal(
            torch.tensor([float(text.replace("∞", "inf")) for text in shown]), numbers
        )


def test_frames_of_bars_and_pictures_are_tables_that_streamlit_can_send():
    trace = trace_of("wild_cat")
    for chart in (
        bars(("a",), {"now": [1.0]}, "Weights"),
        picture(trace, trace["embeddings"], 0, 1),
    ):
        assert isinstance(chart.frame, pd.DataFrame)
        assert pa.Table.from_pandas(chart.frame).num_rows == len(chart.frame)
