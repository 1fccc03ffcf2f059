"""Charts of several heads: one scale, bands of their colours, outlines in their own head only."""

import pytest

from attention_core import EXAMPLES, embed
from attention_core.mechanism.multi_head import add_big_projection, attend_heads
from attention_core.recipes import HeadsRecipe
from attention_ui.charts.fit import size_for
from attention_ui.charts.heatmap import heatmap
from attention_ui.charts.parts import parts
from attention_ui.charts.sizes import CellSize
from attention_ui.picture.matrix import Matrix
from attention_ui.picture.palette import HEADS

SIZE = CellSize(38, 28, 11)


@pytest.fixture(scope="module")
def trace():
    recipe = HeadsRecipe(3, d_head=2, d_value=5, d_model=7)
    return add_big_projection(attend_heads(embed(EXAMPLES["wild_cat"].inputs), recipe))


def bands(chart, side):
    """The heads that the thin bands along one side of a heatmap show, in their order."""
    along, other = ("column", "row") if side == "x" else ("row", "column")
    drawn = [
        layer
        for layer in chart.spec["layer"]
        if any(f"datum.{along}_head" in str(each) for each in layer.get("transform", ()))
    ]
    rows = [row for row in chart.frame.to_pylist() if row[other] == 0]
    return [
        [row[f"{along}_head"] for row in sorted(rows, key=lambda row: row[along])] for _ in drawn
    ]


def column(chart, name):
    return chart.frame[name].to_pylist()


def test_joined_columns_and_rows_are_marked_by_head(trace):
    queries = heatmap(trace, Matrix(trace["joined_queries"]), SIZE)
    assert bands(queries, "x") == [[0, 0, 1, 1, 2, 2]]
    assert bands(queries, "y") == []
    output = heatmap(trace, Matrix(trace["W_output"]), SIZE)
    assert bands(output, "y") == [[head for head in range(3) for _ in range(5)]]
    assert bands(output, "x") == []


def test_one_head_is_marked_by_its_colour_and_named(trace):
    chart = heatmap(trace, Matrix(trace["head_weights"], lead=(2,)), SIZE)
    assert bands(chart, "x") == [[2] * 11]
    assert chart.spec["title"]["text"] == "head_weights[2]"
    assert "head_weights[2]" in chart.alt
    turned = heatmap(trace, Matrix(trace["head_keys"], lead=(1,), transposed=True), SIZE)
    assert bands(turned, "x") == [[1] * 11]


def test_what_belongs_to_no_head_has_no_band(trace):
    for name in ("embeddings", "output"):
        chart = heatmap(trace, Matrix(trace[name]), SIZE)
        assert bands(chart, "x") == bands(chart, "y") == []


def test_all_heads_share_one_scale_of_colours(trace):
    scores = trace["head_scores"].value
    largest = scores.abs().max().item()
    for head in range(3):
        chart = heatmap(trace, Matrix(trace["head_scores"], lead=(head,)), SIZE)
        expected = (scores[head] / largest).flatten().tolist()
        assert column(chart, "shade") == pytest.approx(expected, abs=1e-6)


def test_a_cell_is_outlined_in_its_own_head_only(trace):
    for head, width in ((0, 0), (1, 3)):
        matrix = Matrix(trace["head_weights"], lead=(head,), chosen=(1, 4, 6))
        assert max(column(heatmap(trace, matrix, SIZE), "outline")) == width


def test_more_heads_wrap_and_do_not_shrink():
    def size(n_heads):
        recipe = HeadsRecipe(n_heads, d_head=1, d_value=1)
        trace = attend_heads(embed(EXAMPLES["wild_cat"].inputs), recipe)
        weights = [Matrix(trace["head_weights"], lead=(head,)) for head in range(n_heads)]
        return size_for(trace, weights)

    assert size(8) == size(2)
    assert size(8).font > 0


def test_the_parts_of_a_sum_are_bars_from_0_in_the_colours_of_the_heads():
    chart = parts([0.5, -0.25], "output[3, 0]")
    assert chart.frame["value"].tolist() == [0.5, -0.25, 0.25]
    assert chart.frame["colour"].tolist()[:2] == HEADS[:2]
    assert chart.frame["written"].tolist() == ["0.5000", "−0.2500", "0.2500"]
    assert chart.spec["layer"][0]["encoding"]["x"]["scale"]["domain"] == [-0.25, 0.5]
    assert "output[3, 0]" in chart.alt
    zero = parts([0.0], "output[0, 0]").spec["layer"][0]["encoding"]["x"]["scale"]["domain"]
    assert zero[0] < 0 < zero[1]
