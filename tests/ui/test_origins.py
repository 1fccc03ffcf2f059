"""Each cell of a split says which head and token its number came from, and stands out elsewhere."""

import pytest
import torch

from attention_core import EXAMPLES, HeadsRecipe, attend_heads, embed
from attention_core.mechanism.multi_head import add_big_projection
from attention_core.text.tokenizers import visible
from attention_ui.picture.layout import equation
from attention_ui.picture.matrix import Matrix, origins
from attention_ui.picture.table import CELL, COLOURS, table

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
def test_only_what_belongs_elsewhere_is_framed_and_each_tells_where_it_came_from(trace, head):
    for name in SPLITS:
        matrix = Matrix(trace[name], lead=(head,), tells_origins=True)
        rows = table(equation(trace, Matrix(trace["joined_queries"]), "→", matrix)).to_pylist()
        cells = [row for row in rows if row["kind"] == CELL and row["colour"]]
        tokens, heads = origins(matrix)
        assert len(cells) == matrix.values.numel()
        for cell, token, from_head in zip(cells, tokens.flatten(), heads.flatten(), strict=True):
            assert cell["colour"] == COLOURS[f"head {from_head}"]
            assert cell["open"] == (int(token) != cell["i"] or int(from_head) != head)
            told = visible(trace.labels("query")[token])
            assert cell["text"] in (told, str(int(token)))
            assert cell["so"] == f"its number came from head {from_head}, query {token} “{told}”"
        framed = sum(cell["open"] for cell in cells)
        assert framed == 0 if name == "split_queries" else framed > 0.8 * len(cells)
