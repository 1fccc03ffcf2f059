"""Matrices that are added, copied or compared share one scale, and a legend says what it is."""

import math
from itertools import pairwise

import pytest
import torch

from attention_core import EXAMPLES, HeadsRecipe, Trace, attend, attend_heads, embed
from attention_core.mechanism.multi_head import add_batched, add_big_projection, add_head_parts
from attention_core.operations import Add, Given, MatMul, Softmax
from attention_core.trace import is_shares
from attention_ui.picture.layout import WIDE, equation
from attention_ui.picture.matrix import Matrix
from attention_ui.picture.palette import NEGATIVE, POSITIVE
from attention_ui.picture.scale import limits, limits_each
from attention_ui.picture.table import CELL, COLOURS, table


def drawn(trace, *parts):
    """What the strongest colour of each matrix means, by its cells, and the legend's words."""
    layout = equation(trace, *parts)
    most = {}
    for row in table(layout).to_pylist():
        if row["kind"] == CELL and row["shade"]:
            at, *place = map(int, row["id"].split("."))
            matrix = layout.matrices[at]
            place = place[::-1] if matrix.transposed else place
            value = matrix.drawn[tuple(place)].item()
            shade = row["shade"]
            if is_shares(matrix.step):
                shade = math.copysign(shade * shade, shade)
            known = most.setdefault(matrix.name, (0.0, 0.0))
            most[matrix.name] = max(known, (abs(shade), value / shade))
    words = [word.text for word in layout.wide.words if word.look == "legend"]
    return {name: end for name, (_, end) in most.items()}, words, layout


def numbers(scale, seed=0):
    generator = torch.Generator().manual_seed(seed)
    rows = scale * torch.randn(2, 3, generator=generator)
    return Given(tuple(map(tuple, rows.tolist())))


def of_heads(step):
    return [Matrix(step, lead=(head,)) for head in range(3)]


@pytest.fixture
def heads():
    trace = attend_heads(embed(EXAMPLES["life_is_short"].inputs), HeadsRecipe(n_heads=3))
    return add_head_parts(add_big_projection(add_batched(trace)))


def largest(*values):
    return max(value.abs().max().item() for value in values)


def test_what_is_added_shares_the_scale_of_the_sum():
    trace = Trace(query=("a", "b"), d_in=("d0", "d1", "d2"))
    axes = ("query", "d_in")
    small = trace.step("small", numbers(0.1), axes=axes)
    large = trace.step("large", numbers(5.0, seed=1), axes=axes)
    total = trace.step("total", Add(), small, large, axes=axes)
    most, words, _ = drawn(trace, total)
    end = largest(small.value, large.value, total.value)
    assert set(most) == {"small", "large", "total"}
    assert all(each == pytest.approx(end, rel=1e-3) for each in most.values())
    assert words == [f"−{end:.3g}", f"{end:.3g}"]
    by_its_sign, *_ = drawn(trace, Matrix(small), "+", Matrix(large))
    assert by_its_sign["small"] == pytest.approx(by_its_sign["large"], rel=1e-3)


def test_what_is_multiplied_does_not_and_the_legend_says_so():
    trace = attend(embed(EXAMPLES["life_is_short"].inputs))
    assert isinstance(trace["scores"].operation, MatMul)
    most, words, _ = drawn(trace, trace["scores"])
    assert most["embeddings"] == pytest.approx(largest(trace["embeddings"].value), rel=1e-3)
    assert most["scores"] == pytest.approx(largest(trace["scores"].value), rel=1e-3)
    assert words == ["below 0", "above 0, scale per matrix"]


def test_what_is_added_by_a_sign_copied_or_compared_shares_a_scale(heads):
    split, (a, b, c) = map(of_heads, (heads["split_queries"], heads["head_outputs"]))
    one, other = (Matrix(heads[f"head_{name}"], lead=(2,)) for name in ("queries", "keys"))
    first, *rest = (Matrix(heads[f"{w}_queries"], lead=(2,)) for w in ("head", "permuted", "split"))
    for parts in (
        (a, "+", b, "+", c, "=", Matrix(heads["output_from_heads"])),
        (Matrix(heads["joined_queries"]), "→", *split),
        (one, "≠", other),
        (first, "=", rest[0], "=", rest[1]),
    ):
        most, words, _ = drawn(heads, *parts)
        assert max(most.values()) - min(most.values()) < 1e-3
        assert len(words) == 2


def test_weights_say_that_they_are_shaded_by_their_square_root(heads):
    _, words, _ = drawn(heads, *of_heads(heads["head_weights"]))
    assert words == ["0", "1, small shares made easier to see"]


@pytest.mark.parametrize("name", ["scores", "weights"])
@pytest.mark.parametrize("where", ["wide", "narrow"])
def test_a_legend_has_the_colours_of_the_cells_and_the_strongest_at_its_largest_number(name, where):
    """In slices that touch, without a gradient, which would be lost with the page's address."""
    trace = attend(embed(EXAMPLES["wild_cat"].inputs))
    arrangement = getattr(equation(trace, Matrix(trace[name])), where)
    slices = arrangement.marks
    before, after = (word for word in arrangement.words if word.look == "legend")
    assert len(slices) > 9
    for one, following in pairwise(slices):
        assert one.x + one.width == pytest.approx(following.x)
    assert before.x < slices[0].x
    assert slices[-1].x + slices[-1].width < after.x < WIDE
    strengths = [each.strength for each in slices]
    assert max(strengths) == strengths[-1] > 0.8, "the darkest slice is the largest value"
    colours = [COLOURS[each.colour] for each in slices]
    half = 0 if name == "weights" else len(slices) // 2
    assert strengths[half:] == sorted(strengths[half:])
    assert strengths[half] < 0.1
    assert strengths[:half] == pytest.approx(strengths[half:][::-1][:half])
    assert colours == [NEGATIVE] * half + [POSITIVE] * (len(slices) - half)


def test_at_all_positions_at_once_each_row_of_a_step_has_its_own_limit():
    step = Trace(token=["a", "b", "c"]).step(
        "scores", Given(((1.0, -2.0), (0.5, 0.25), (math.inf, 8.0))), axes=("token", "d_in")
    )
    there = [[Matrix(step, rows=(row,))] for row in range(3)]
    assert limits_each(there, [""]).ravel().tolist() == [2.0, 0.5, 8.0]
    assert limits_each(there, [""]).tolist() == [limits(each, [""]) for each in there]


def test_a_picture_goes_by_what_numbers_are_and_not_by_what_a_step_is_called():
    def shades(*names):
        trace, axes = Trace(), ("query", "key")
        before = trace.step(names[0], Given(((5.0, -1.0), (0.0, 2.0))), axes=axes)
        after = trace.step(names[1], Softmax(), before, axes=axes)
        rows = table(equation(trace, Matrix(before), "→", Matrix(after))).to_pylist()
        return [row["shade"] for row in rows if row["kind"] == CELL]

    why = "a picture goes by a step's name: let the operation say what it `makes`"
    assert shades("scores", "weights") == shades("layer_weights", "attn"), why
