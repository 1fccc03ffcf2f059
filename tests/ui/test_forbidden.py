"""What a mask forbids is outlined as one region, and what leaks there is loud on its own scale."""

import re
from dataclasses import replace

import pytest
import torch

from attention_core import EXAMPLES, HeadsRecipe, MaskRecipe, attend_heads, embed
from attention_core.mechanism.masking import WAYS, attend_masked, change_token
from attention_ui.lessons.causal_mask.leaks import may_move
from attention_ui.picture.equation_parts import equation_of
from attention_ui.picture.forbidden import forbidden, with_masks
from attention_ui.picture.layout import equation
from attention_ui.picture.matrix import Matrix
from attention_ui.picture.table import CELL, table

MASKS = (
    MaskRecipe(), MaskRecipe(window=2), MaskRecipe(causal=False, hidden_key=3),
    MaskRecipe(flipped=((0, 4), (5, 1), (5, 5))), MaskRecipe(causal=False),
)  # fmt: skip


def masked(mask=MASKS[0], example="journey_123"):
    return attend_masked(embed(EXAMPLES[example].inputs), mask)


def drawn(trace, *parts):
    """The cells of each matrix of an equation, by place, and the layout."""
    layout = equation(trace, *parts)
    found = [{} for _ in layout.matrices]
    for row in table(layout).to_pylist():
        if row["kind"] == CELL and row["m"] >= 0:
            at, *place = map(int, row["id"].split("."))
            matrix = layout.matrices[at]
            inner = place[::-1] if matrix.transposed else place
            value = matrix.drawn[tuple(inner)].item()
            found[at][tuple(place)] = {**row, "loud": row["look"] == "loud", "value": value}
    return layout.matrices, found, layout


def inside(layout, row, column, at=0):
    """Whether a cell's middle lies within the outline: its lines cross an odd number of edges."""
    box = layout.wide.boxes[at]
    own = [each for each in layout.wide.paths if abs(each.x - box.x + 1) < 0.01]
    path = "".join(each.drawn for each in own if each.colour == "forbidden")
    x, y = (column + 0.5) * box.width, (row + 0.5) * box.height
    number = r"(-?[\d.]+)"
    down = re.findall(rf"M{number},{number}V{number}", path)
    across = re.findall(rf"M{number},{number}H{number}", path)
    left = sum(float(at) < x and float(a) < y < float(b) for at, a, b in down) % 2
    above = sum(float(at) < y and float(a) < x < float(b) for a, at, b in across) % 2
    assert left == above, "the outline is not closed"
    return left == 1


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("mask", MASKS, ids=str)
def test_the_outline_runs_around_exactly_what_the_mask_forbids(mask, transposed):
    trace = masked(mask)
    may_look = trace["mask"].value.T if transposed else trace["mask"].value
    for name in ("mask", "masked_scores", "weights", "zero_filled_weights", "zeroed_weights"):
        _, (cells,), layout = drawn(trace, Matrix(trace[name], transposed=transposed))
        for row, column in cells:
            expected = not may_look[row, column]
            assert inside(layout, row, column) == expected, (name, row, column)


@pytest.mark.parametrize("way", WAYS)
def test_a_weight_on_a_forbidden_key_is_loud_and_no_other(way):
    trace = masked()
    may_look = trace["mask"].value
    for name in (f"{way}weights", "unmasked_weights"):
        step = trace["zeroed_weights"] if name == "unmasked_weights" else trace[name]
        matrices, found, _ = drawn(trace, step)
        for matrix, cells in zip(matrices, found, strict=True):
            is_weights = matrix.step.name.endswith("weights")
            for place, cell in cells.items():
                expected = is_weights and not may_look[place] and cell["value"] != 0
                assert bool(cell["loud"]) == bool(expected), (matrix.step.name, place)
    assert (trace["zero_filled_weights"].value[~may_look] > 0).all(), "else nothing was loud"


def test_a_leak_has_a_scale_of_its_own_and_the_legend_says_it():
    trace = masked()
    _, found, layout = drawn(trace, trace["zero_filled_weights"])
    loud = [cell for cell in found[-1].values() if cell["loud"]]
    most = max(cell["value"] for cell in loud)
    assert most < 0.5, "else its own scale would be much the same"
    for cell in loud:
        assert cell["shade"] == pytest.approx(0.8 * (cell["value"] / most) ** 0.5, abs=1e-4)
    assert f"{most:.3g} where it must be 0" in [word.text for word in layout.wide.words]


@pytest.mark.parametrize(("way", "leaks"), [("", False), ("zero_filled_", True), ("zeroed_", True)])
def test_what_must_not_move_is_outlined_and_loud_where_it_moves(way, leaks):
    token, amount = 5, 0.01
    trace = change_token(masked(), token, amount, way)
    moved = Matrix(trace["moved"], allowed=may_move(trace, token))
    _, found, layout = drawn(trace, *equation_of(trace["moved"], drawn=[moved]))
    cells, last = found[-1], len(found) - 1
    assert {row for row, column in cells if inside(layout, row, column, last)} == {0, 1, 2, 3, 4}
    loud = {row for (row, _), cell in cells.items() if cell["loud"]}
    assert loud == ({0, 1, 2, 3, 4} if leaks else set())
    if leaks:
        largest = max(cell["shade"] for cell in cells.values() if cell["loud"])
        assert largest == pytest.approx(0.8), "a small leak is as loud as a large one"


def test_every_head_is_outlined_alike_and_picked_rows_keep_their_part():
    recipe = HeadsRecipe(n_heads=3, causal=True)
    trace = attend_heads(embed(EXAMPLES["life_is_short"].inputs), recipe)
    hidden = ~trace["mask"].value
    for head in range(3):
        matrix = Matrix(trace["head_weights"], lead=(head,))
        assert forbidden(with_masks([matrix])[0]).equal(hidden)
        picked = with_masks([replace(matrix, rows=(4, 1))])[0]
        assert forbidden(picked).equal(hidden[torch.tensor([4, 1])])
