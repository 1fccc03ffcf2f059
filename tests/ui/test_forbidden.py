"""What a mask forbids is outlined as one region, and what leaks there is loud on its own scale."""

import re
from dataclasses import replace

import pytest
import torch

from attention_core import EXAMPLES, HeadsRecipe, MaskRecipe, attend_heads, embed
from attention_core.mechanism.masking import WAYS, attend_masked, change_token
from attention_ui.charts.live import live
from attention_ui.charts.placed import Placed
from attention_ui.charts.sizes import CellSize
from attention_ui.lessons.causal_mask.leaks import may_move
from attention_ui.picture.equation_parts import equation_of, laid_out
from attention_ui.picture.forbidden import forbidden, with_masks
from attention_ui.picture.matrix import Matrix

SIZE = CellSize(40, 20, 11)
MASKS = (
    MaskRecipe(),
    MaskRecipe(window=2),
    MaskRecipe(causal=False, hidden_key=3),
    MaskRecipe(flipped=((0, 4), (5, 1), (5, 5))),
    MaskRecipe(causal=False),
)


def masked(mask=MASKS[0], example="journey_123"):
    return attend_masked(embed(EXAMPLES[example].inputs), mask)


def drawn(trace, *parts):
    """The cells of each matrix of an equation, by place, and the chart."""
    matrices = [part for part in laid_out(parts) if isinstance(part, Matrix)]
    chart = live(trace, [[Placed("", each, SIZE) for each in matrices]])
    found = [{} for _ in matrices]
    for cell in chart.frame.to_pylist():
        if cell["matrix"] >= 0:
            found[cell["matrix"]][cell["row"], cell["column"]] = cell
    return matrices, found, chart


def inside(path, row, column):
    """Whether the middle of a cell lies within a path: a line to it crosses an odd number of edges,
    from the left as from above.
    """
    x, y = (column + 0.5) * SIZE.width, (row + 0.5) * SIZE.height
    down = re.findall(r"M(\d+),(\d+)V(\d+)", path or "")
    across = re.findall(r"M(\d+),(\d+)H(\d+)", path or "")
    left = sum(int(at) < x and int(top) < y < int(end) for at, top, end in down) % 2
    above = sum(int(at) < y and int(start) < x < int(end) for start, at, end in across) % 2
    assert left == above, "the outline is not closed"
    return left == 1


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("mask", MASKS, ids=str)
def test_the_outline_runs_around_exactly_what_the_mask_forbids(mask, transposed):
    trace = masked(mask)
    may_look = trace["mask"].value.T if transposed else trace["mask"].value
    for name in ("mask", "masked_scores", "weights", "zero_filled_weights", "zeroed_weights"):
        _, (cells,), _ = drawn(trace, Matrix(trace[name], transposed=transposed))
        paths = [cell["region"] for cell in cells.values() if cell["region"]]
        assert len(paths) == (not may_look.all())
        for row, column in cells:
            expected = not may_look[row, column]
            assert inside("".join(paths), row, column) == expected, (name, row, column)


def test_what_a_mask_is_applied_to_is_outlined_beside_it():
    trace = masked()
    for name in ("masked_scores", "zeroed_weights"):
        matrices = [part for part in laid_out([trace[name]]) if isinstance(part, Matrix)]
        before, after = (forbidden(each) for each in with_masks(matrices))
        assert before.equal(~trace["mask"].value)
        assert after.equal(~trace["mask"].value)
    assert forbidden(with_masks([Matrix(trace["scores"])])[0]) is None


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
    _, found, chart = drawn(trace, trace["zero_filled_weights"])
    loud = [cell for cell in found[-1].values() if cell["loud"]]
    most = max(cell["value"] for cell in loud)
    assert most < 0.5, "else its own scale would be much the same"
    for cell in loud:
        assert cell["shade"] == pytest.approx(0.8 * (cell["value"] / most) ** 0.5, abs=1e-5)
    assert f"{most:.3g} where it must be 0" in chart.frame["text"].to_pylist()


@pytest.mark.parametrize(("way", "leaks"), [("", False), ("zero_filled_", True), ("zeroed_", True)])
def test_what_must_not_move_is_outlined_and_loud_where_it_moves(way, leaks):
    token, amount = 5, 0.01
    trace = change_token(masked(), token, amount, way)
    moved = Matrix(trace["moved"], allowed=may_move(trace, token))
    _, found, _ = drawn(trace, *equation_of(trace["moved"], drawn=[moved]))
    cells = found[-1]
    path = cells[0, 0]["region"]
    assert {row for row, column in cells if inside(path, row, column)} == {0, 1, 2, 3, 4}
    loud = {row for (row, _), cell in cells.items() if cell["loud"]}
    assert loud == ({0, 1, 2, 3, 4} if leaks else set())
    if leaks:
        largest = max(cell["shade"] for cell in cells.values() if cell["loud"])
        assert largest == pytest.approx(0.8), "a small leak is as loud as a large one"


def test_a_covered_matrix_tells_nothing_of_what_leaks():
    trace = masked()
    covered = Matrix(trace["zero_filled_weights"], covered=True)
    _, (cells,), chart = drawn(trace, covered)
    assert not any(cell.get("loud") or cell.get("region") for cell in cells.values())
    assert not any(text and "must be 0" in text for text in chart.frame["text"].to_pylist())


def test_every_head_is_outlined_alike_and_picked_rows_keep_their_part():
    recipe = HeadsRecipe(n_heads=3, causal=True)
    trace = attend_heads(embed(EXAMPLES["life_is_short"].inputs), recipe)
    hidden = ~trace["mask"].value
    for head in range(3):
        matrix = Matrix(trace["head_weights"], lead=(head,))
        assert forbidden(with_masks([matrix])[0]).equal(hidden)
        picked = with_masks([replace(matrix, rows=(4, 1))])[0]
        assert forbidden(picked).equal(hidden[torch.tensor([4, 1])])


def test_a_flipped_mask_changes_the_data_and_not_the_specification():
    one, other = (drawn(masked(mask), masked(mask)["weights"])[2] for mask in MASKS[::3])
    assert one.frame["region"].to_pylist() != other.frame["region"].to_pylist()
    assert one.spec == other.spec
