"""Matrices that are added, copied or compared share one scale, and a legend says what it is."""

from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import pytest
import torch

from attention_core import EXAMPLES, HeadsRecipe, Trace, attend, attend_heads, embed
from attention_core.compare import difference
from attention_core.mechanism.multi_head import add_batched, add_big_projection, add_head_parts
from attention_core.operations import Add, Given, MatMul
from attention_ui.charts import legend
from attention_ui.charts.equation_parts import laid_out
from attention_ui.charts.live import live
from attention_ui.charts.matrix import Matrix
from attention_ui.charts.placed import Placed
from attention_ui.charts.sizes import CellSize
from attention_ui.lessons.multi_head_attention.heads import added, side_by_side
from attention_ui.page.since_the_pin import side_by_side as since_the_pin

SIZE = CellSize(40, 20, 11)
NEAR = 1e-6


def drawn(trace, *parts):
    """What the strongest colour of each matrix means, by its cells, and the legend's words."""
    operator, placed = "", []
    for part in laid_out(parts):
        if isinstance(part, Matrix):
            placed.append(Placed(operator, part, SIZE))
        operator = part if isinstance(part, str) else ""
    chart = live(trace, [placed])
    most, words = {}, []
    for cell in chart.frame.to_pylist():
        if cell["matrix"] < 0:
            words += [cell["text"]] if cell["text"] else []
        elif cell["shade"]:
            name = placed[cell["matrix"]].matrix.name
            most.setdefault(name, set()).add(round(cell["value"] / cell["shade"], 4))
    return {name: max(each) for name, each in most.items()}, words, chart


def numbers(scale, seed=0):
    generator = torch.Generator().manual_seed(seed)
    rows = scale * torch.randn(2, 3, generator=generator)
    return Given(tuple(map(tuple, rows.tolist())))


@pytest.fixture
def heads():
    recipe = HeadsRecipe(n_heads=3)
    trace = attend_heads(embed(EXAMPLES["life_is_short"].inputs), recipe)
    add_batched(trace)
    add_big_projection(trace)
    add_head_parts(trace)
    return trace


def largest(*values):
    return round(max(value.abs().max().item() for value in values), 4)


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


def test_what_is_multiplied_does_not_and_the_legend_says_so():
    trace = attend(embed(EXAMPLES["life_is_short"].inputs))
    assert isinstance(trace["scores"].operation, MatMul)
    most, words, _ = drawn(trace, trace["scores"])
    assert most["embeddings"] == pytest.approx(largest(trace["embeddings"].value), rel=1e-3)
    assert most["scores"] == pytest.approx(largest(trace["scores"].value), rel=1e-3)
    assert words == ["−max", "max, each matrix its own"]


def test_now_before_and_their_difference_share_a_scale():
    was = attend(embed(EXAMPLES["journey_123"].inputs))
    now = attend(embed(EXAMPLES["journey_789"].inputs))
    trace = difference(was["scores"], now["scores"], now)
    most, words, _ = drawn(trace, *since_the_pin(trace))
    assert len(most) >= 1
    assert len(set(most.values())) == 1
    assert len(words) == 2


def test_heads_that_are_added_share_the_scale_of_their_sum(heads):
    parts = (*added(side_by_side(heads, "head_outputs")), "=", Matrix(heads["output_from_heads"]))
    most, _, _ = drawn(heads, *parts)
    end = largest(heads["head_outputs"].value, heads["output_from_heads"].value)
    assert len(most) == 4
    assert all(each == pytest.approx(end, rel=1e-3) for each in most.values())


def test_what_is_copied_or_compared_shares_a_scale(heads):
    most, _, _ = drawn(
        heads, Matrix(heads["joined_queries"]), "→", *side_by_side(heads, "split_queries")
    )
    assert max(most.values()) - min(most.values()) < 1e-3
    twice = heads["head_keys"]
    most, _, _ = drawn(
        heads, Matrix(heads["head_queries"], lead=(2,)), "≠", Matrix(twice, lead=(2,))
    )
    assert max(most.values()) - min(most.values()) < 1e-3
    three = [Matrix(heads[f"{way}_queries"], lead=(2,)) for way in ("head", "permuted", "split")]
    most, words, _ = drawn(heads, three[0], "=", three[1], "=", three[2])
    assert max(most.values()) - min(most.values()) < 1e-3
    assert len(words) == 2


def test_weights_say_that_they_are_shaded_by_their_square_root(heads):
    _, words, _ = drawn(heads, *side_by_side(heads, "head_weights"))
    assert words == ["0", "1, small shares made easier to see"]


def test_a_matrix_without_colours_has_no_legend():
    trace = embed(EXAMPLES["wild_cat"].inputs)
    _, words, chart = drawn(trace, Matrix(trace["token_ids"]))
    assert words == []
    assert "'name': 'legend'" not in str(chart.spec)


def test_a_legend_changes_its_numbers_and_not_the_specification():
    inputs = EXAMPLES["wild_cat"].inputs
    (_, one, first), (_, other, second) = (
        drawn(trace, Matrix(trace["scores"]))
        for trace in (attend(embed(inputs)), attend(embed(replace(inputs, seed=7))))
    )
    assert one != other
    assert first.spec == second.spec


def views(spec):
    """The views of a specification that have a name."""
    if "name" in spec:
        yield spec["name"], spec
    for part in (*spec.get("hconcat", ()), *spec.get("vconcat", ())):
        yield from views(part)


@pytest.mark.parametrize("name", ["scores", "weights"])
def test_a_legend_has_the_colours_of_the_cells_and_the_strongest_at_its_largest_number(name):
    """In slices that touch, without a gradient, which would be lost with the page's address."""
    trace = attend(embed(EXAMPLES["wild_cat"].inputs))
    found = dict(views(drawn(trace, Matrix(trace[name]))[2].spec))
    cells = found["matrix_0"]["layer"][0]["encoding"]["color"]
    negative = next(one["value"] for one in cells["condition"] if "shade < 0" in one["test"])
    kind = legend.SIGNED if name == "scores" else legend.SHARES
    bar = next(
        layer
        for layer in found["legend"]["layer"]
        if layer["transform"][0]["filter"] == f"datum.row === {kind}"
    )
    worked_out = {one["as"]: one["calculate"] for one in bar["transform"] if "calculate" in one}
    colour, slices = bar["encoding"]["color"], []
    for at in range(legend.BAR // legend.SLICE):
        datum = SimpleNamespace(slice=at, column=0)
        for each in ("left", "right", "share", "opacity"):
            setattr(datum, each, eval(worked_out[each], {"datum": datum, "abs": abs}))
        is_below = eval(colour["condition"]["test"], {"datum": datum})
        slices.append((datum, colour["condition"]["value"] if is_below else colour["value"]))
    shares = [datum.share for datum, _ in slices]
    assert shares == sorted(shares)
    assert shares[-1] > 0.9
    assert shares[0] < -0.9 if name == "scores" else 0 < shares[0] < 0.1
    for (one, _), (after, _) in pairwise(slices):
        assert one.right == after.left
        assert (one.opacity < after.opacity) == (abs(one.share) < abs(after.share))
    for datum, shown in slices:
        assert shown == (negative if datum.share < 0 else cells["value"]) != ""
