"""What *How a matrix learns* draws and says, without a browser."""

import itertools

import pytest

from attention_core import EXAMPLES
from attention_core.experiments.learning import LOSSES
from attention_ui.frame.lights import lights_of
from attention_ui.lessons.how_a_matrix_learns import lesson, pictures, words
from attention_ui.lessons.how_a_matrix_learns.flow import flow
from attention_ui.reactive.control import understood

WAYS = list(itertools.product(["named_features", "life_is_short"], lesson.WAYS))


def values_of(**texts):
    found, wrong = understood(texts, lesson.CONTROLS)
    assert not wrong
    return found


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("example", EXAMPLES)
def test_the_tangent_touches_the_curve(example, loss):
    """The gradient is the slope of the drawn loss, at its start and elsewhere."""
    values = values_of(example=example, loss=loss)
    (name, cell), layer = lesson.entry_of(values), lesson.layer_of(values)
    for change in (-1.0, 0.0, 1.4):
        slope = layer.trace(layer.with_entry(name, cell, change))[f"grad_{name}"].value[cell]
        near = [layer.loss(layer.with_entry(name, cell, change + by)) for by in (-0.02, 0.02)]
        assert slope.item() == pytest.approx((near[1] - near[0]) / 0.04, rel=0.05, abs=2e-4)


def test_a_loss_that_does_not_move_is_said_once():
    values = values_of(entry_matrix="W_query", entry_row="1", entry_column="0")
    made = pictures.along_an_entry(values)(0.0).wide.words
    assert len({(each.x, round(each.y, 3)) for each in made}) == len(made)


@pytest.mark.parametrize(("example", "which"), WAYS)
def test_each_way_holds_what_it_says(example, which):
    values = values_of(example=example, gradient_way=which)
    trace = lesson.layer_of(values).way(values.gradient_way)
    good, said = words.way_words(trace, values)
    assert good, said
    assert pictures.way(trace, which).matrices


@pytest.mark.parametrize(("which", "step", "cell"), [
    ("mask", "grad_scaled_scores", (0, 3)),
    ("dropout", "grad_weights", None),
    ("heads", "grad_head_W_query", (1, 0, 0)),
])  # fmt: skip
def test_the_light_of_a_way_goes_out_when_too_much_comes_back(which, step, cell, monkeypatch):
    values = values_of(gradient_way=which)
    trace = lesson.layer_of(values).way(which)
    if cell is None:
        dropped = trace["kept"].value < trace["dropped_weights"].operation.probability
        cell = tuple(dropped.nonzero()[0].tolist())
    wrong = trace[step].value.clone()
    wrong[cell] = 0.1
    monkeypatch.setattr(trace[step], "_kept", wrong)
    assert not words.way_words(trace, values)[0]


def test_the_light_of_the_residual_goes_out(monkeypatch):
    values = values_of(gradient_way="residual")
    trace = lesson.layer_of(values).way("residual")
    through, *_ = trace["grad_embeddings"].inputs
    monkeypatch.setattr(trace["grad_embeddings"], "inputs", (trace["grad_values"],))
    assert not words.way_words(trace, values)[0]
    assert through.value.equal(trace["grad_after_attention"].value)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("example", EXAMPLES)
def test_what_holds_of_the_layer_is_measured_on_its_weights(example, loss):
    found = lights_of(lesson.trace_of(values_of(example=example, loss=loss)), "context_vectors")
    assert {"rows_sum_to_1", "hidden_is_zero", "slopes", "gradient_rows"} <= {e.name for e in found}
    # Two notebooks number their tokens in a way of their own.
    assert {each.name for each in found if not each.holds} <= {"ids"}


def test_the_flow_has_each_matrix_above_its_gradient():
    for loss in LOSSES:
        layout = flow(lesson.trace_of(values_of(loss=loss)))
        half = len(layout.matrices) // 2
        above, below = layout.matrices[:half], layout.matrices[half:]
        for one, other in zip(above, below, strict=True):
            assert other.step.name == f"grad_{one.step.name}"
        for arrangement in (layout.wide, layout.narrow):
            boxes = arrangement.boxes
            for one, other in zip(boxes, boxes[len(above) :], strict=False):
                assert (one.width, one.height) == (other.width, other.height)
                assert one.x == pytest.approx(other.x) or one.y == pytest.approx(other.y, abs=40)


def test_an_update_falls_as_expected_while_it_is_small_and_its_words_say_so():
    update = pictures.Update(values_of(loss="next_token"))
    small = update.before - update.losses[0.01]
    assert small == pytest.approx(0.01 * update.falls, rel=0.05)
    assert "tells the truth" in words.update_words(update, 0.1)
    assert "rose" in words.update_words(update, 1_000.0)


def test_moving_a_matrix_leaves_what_the_context_vector_is_to_be_like():
    layer = lesson.layer_of(values_of(loss="context", entry_matrix="W_value"))
    moved = layer.forward(layer.with_entry("W_value", (0, 0), 2.0))["target"].value
    assert moved.equal(layer.trace()["target"].value)


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_three_gradients_of_a_vector_are_its_own_and_add_up(example):
    values = values_of(example=example)
    *ways, together = pictures.three_ways(lesson.layer_of(values).three_ways).matrices
    assert [each.name for each in ways] == ["as a query", "as a key", "as a value"]
    assert sum(each.values for each in ways).allclose(together.values, atol=1e-6)
    # Only one query is asked of; every key that it sees is, and every value.
    asked = [each.values.abs().sum(dim=-1) > 0 for each in ways]
    assert asked[0].nonzero().flatten().tolist() == [values.learning_query]
