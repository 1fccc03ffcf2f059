"""Each cell of a split says which head and token its number came from, and stands out elsewhere."""

import pytest
import torch

from attention_core import EXAMPLES, HeadsRecipe, attend_heads, embed
from attention_core.mechanism.multi_head import add_big_projection
from attention_ui.charts.live import live
from attention_ui.charts.matrix import Matrix
from attention_ui.charts.origins import origins
from attention_ui.charts.palette import HEADS
from attention_ui.charts.placed import Placed
from attention_ui.charts.sizes import SMALLEST, CellSize
from visiting import stands, visit

SIZE = CellSize(40, 28, 11)
SPLITS = ("split_queries", "mixed_queries")


@pytest.fixture(scope="module")
def trace():
    heads = attend_heads(embed(EXAMPLES["life_is_short"].inputs), HeadsRecipe(n_heads=3, d_head=5))
    return add_big_projection(heads)


@pytest.mark.parametrize("head", range(3))
@pytest.mark.parametrize("name", SPLITS)
def test_a_cell_comes_from_where_its_arithmetic_says(trace, name, head):
    step = trace[name]
    tokens, heads = origins(Matrix(step, lead=(head,), tells_origins=True))
    assert tokens.shape == heads.shape == step.value[head].shape
    for row, column in torch.cartesian_prod(*map(torch.arange, tokens.shape)).tolist():
        (cell,) = step.arithmetic((head, row, column)).cells()
        token, place = cell.index
        assert (tokens[row, column], heads[row, column]) == (token, place // 5)


@pytest.mark.parametrize("head", range(3))
def test_only_what_belongs_elsewhere_is_framed(trace, head):
    matrices = [Matrix(trace[name], lead=(head,), tells_origins=True) for name in SPLITS]
    chart = live(trace, [[Placed("", each, SIZE) for each in matrices]])
    framed = [0, 0]
    for cell in chart.frame.to_pylist():
        token, from_head = cell["origin"], cell["origin_head"]
        assert cell["is_foreign"] == ((token, from_head) != (cell["row"], head))
        framed[cell["matrix"]] += cell["is_foreign"]
    right, wrong = framed
    assert right == 0
    assert wrong > 0.8 * matrices[1].values.numel()


@pytest.mark.parametrize("size", [SIZE, SMALLEST], ids=["numbers", "none"])
def test_head_token_and_frame_are_drawn_and_told(trace, size):
    matrix = Matrix(trace["mixed_queries"], lead=(1,), tells_origins=True)
    chart = live(trace, [[Placed("", matrix, size)]])
    (view,) = chart.spec["vconcat"][0]["hconcat"]
    cells = view["layer"][0]
    calculated = {each["as"]: each["calculate"] for each in cells["transform"]}
    assert str(HEADS) in calculated[cells["encoding"]["color"]["field"]]
    tips = [tip for tip in cells["encoding"]["tooltip"] if tip["title"] == "came from"]
    assert "row_names_0[datum.origin]" in calculated[tips[0]["field"]]
    frames = [
        layer
        for layer in view["layer"]
        if {"filter": "datum.is_foreign"} in layer.get("transform", ())
    ]
    assert len(frames) == 1
    named = [layer for layer in view["layer"] if "token" in str(layer["encoding"].get("text"))]
    assert len(named) == (size.font > 0), "a name in a cell is read or absent"
    plain = live(trace, [[Placed("", Matrix(trace["mixed_queries"], lead=(1,)), size)]])
    assert "origin" not in plain.frame.column_names


@pytest.mark.slow("1 s: whole pages")
@pytest.mark.parametrize(
    ("cut_by", "said"), [("split", "22 of 22 rows"), ("reshape", "2 of 22 rows")]
)
def test_the_split_is_played_from_right_to_wrong(cut_by, said):
    at = visit("multi_head_attention", cut_by=cut_by)
    stands(at)
    assert any(said in each.value for each in at.markdown), said
