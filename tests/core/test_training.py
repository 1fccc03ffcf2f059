"""Training against a module of torch's own, trained by torch's own gradient descent."""

import math
from itertools import islice

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from attention_core import EXAMPLES, embed
from attention_core.experiments import training
from attention_core.experiments.learning import (
    LOSSES,
    Goal,
    attend_to_learn,
    gradients_of,
    learned_by,
    moved,
    squared_norm,
    updated,
    with_gradients,
)
from attention_core.experiments.trained import attend_trained
from attention_core.experiments.training import TrainingSettings, next_tokens, start, train
from attention_core.mistakes.rewriting import at_temperatures
from attention_core.text.inputs import Inputs
from sampling import few

every_example = pytest.mark.parametrize("example", EXAMPLES)


class Layer(nn.Module):
    """The trained layer as one would write it, with modules of torch."""

    def __init__(self, matrices, scaled):
        super().__init__()
        for name, matrix in matrices._asdict().items():
            module = nn.Linear(*matrix.shape, bias=False)
            module.weight = nn.Parameter(matrix.T.clone())
            setattr(self, name, module)
        self.scale = None if scaled else 1.0

    def forward(self, vectors):
        made = (layer(vectors)[None] for layer in (self.W_query, self.W_key, self.W_value))
        return self.W_output(
            F.scaled_dot_product_attention(*made, is_causal=True, scale=self.scale)[0]
        )


def learned(example, **settings):
    inputs = EXAMPLES[example].inputs
    vectors = embed(inputs)["embeddings"].value
    settings = {"learning_rate": EXAMPLES[example].learning_rate} | settings
    return vectors, training.next_tokens(inputs.tokens), training.TrainingSettings(**settings)


@pytest.mark.parametrize("scaled", [False, True])
@every_example
def test_training_goes_where_torch_s_own_descent_goes(example, scaled):
    vectors, targets, settings = learned(example, steps=5, width=7, scaled=scaled, seed=3)
    first, *_, last = training.train(vectors, targets, settings)
    layer = Layer(first.matrices, scaled)
    descent = torch.optim.SGD(layer.parameters(), lr=settings.learning_rate)
    for step in range(5):
        descent.zero_grad()
        F.cross_entropy(layer(vectors)[:-1], targets).backward()
        if not step:
            norm = math.sqrt(sum(p.grad.square().sum().item() for p in layer.parameters()))
            assert first.gradient_norm == pytest.approx(norm, rel=1e-4)
        descent.step()
    with torch.no_grad():
        loss = F.cross_entropy(layer(vectors)[:-1], targets).item()
    assert last.loss == pytest.approx(loss, rel=1e-4)
    for name, matrix in last.matrices._asdict().items():
        theirs = getattr(layer, name).weight.detach().T
        assert torch.allclose(matrix, theirs, rtol=1e-4, atol=1e-5), name


@every_example
def test_a_rate_of_a_million_diverges_in_a_record_and_in_no_exception(example):
    *before, last = training.train(*learned(example, learning_rate=1e6))
    assert last.diverged
    assert not (math.isfinite(last.loss) and math.isfinite(last.gradient_norm))
    assert all(math.isfinite(record.loss) and not record.diverged for record in before)


def test_a_run_left_early_is_the_beginning_of_the_whole_run():
    arguments = learned("journey_123", steps=300)
    some, whole = list(islice(training.train(*arguments), 7)), list(training.train(*arguments))
    assert [record.step for record in some] == [record.step for record in whole[:7]]
    for left, right in zip(some, whole, strict=False):
        assert left.loss == right.loss
        assert all(map(torch.equal, left.matrices, right.matrices))
    assert len(whole) == len({record.step for record in whole}) == 100
    assert (whole[0].step, whole[-1].step) == (0, 300)


def test_training_leaves_its_operands_and_torch_s_own_generator():
    vectors, targets, settings = learned("wild_cat", steps=3)
    before, state = vectors.clone(), torch.get_rng_state()
    list(training.train(vectors, targets, settings))
    assert torch.equal(vectors, before)
    assert torch.equal(torch.get_rng_state(), state)
    assert not vectors.requires_grad


@pytest.mark.slow("5 s: trains")
@pytest.mark.parametrize("example", few(EXAMPLES, 4))
def test_the_default_run_falls_far_as_in_float64(example):
    vectors, targets, settings = learned(example)
    exact, found = (
        list(training.train(each, targets, settings)) for each in (vectors.double(), vectors)
    )
    losses = [record.loss for record in exact]
    assert exact[-1].step == settings.steps
    assert losses[-1] < losses[0] / 100
    assert [record.loss for record in found] == pytest.approx(losses, rel=1e-3)


@pytest.mark.parametrize("scaled", [False, True])
def test_a_recorded_step_is_a_trace_of_the_same_numbers(scaled):
    embedded = embed(EXAMPLES["wild_cat"].inputs)
    vectors, targets = embedded["embeddings"].value, next_tokens(embedded.labels("token"))
    *_, last = train(vectors, targets, TrainingSettings(steps=20, width=7, scaled=scaled))
    trace = attend_trained(embedded, last.matrices, scaled)
    weights, logits = training.predict(vectors, last.matrices, scaled)
    assert trace["weights"].value.equal(weights)
    assert trace["logits"].value.equal(logits)
    right = trace["probabilities"].value[:-1].gather(1, targets[:, None])
    assert -right.log().mean().item() == pytest.approx(last.loss, rel=1e-5)


# --- a layer that learns one thing ----------------------------------------------------------------
def layer(example, width=5, seed=28):
    embedded = embed(EXAMPLES[example].inputs)
    vectors, tokens = embedded["embeddings"].value, embedded.labels("token")
    settings = TrainingSettings(steps=1, width=width, seed=seed)
    matrices = start(vectors.shape[1], len(dict.fromkeys(tokens)), settings, vectors.dtype)
    return embedded, matrices, settings


@pytest.mark.parametrize("width", [1, 3, 7])
@pytest.mark.parametrize("example", EXAMPLES)
def test_the_first_update_is_the_first_step_of_the_training(example, width):
    embedded, matrices, settings = layer(example, width)
    vectors, targets = embedded["embeddings"].value, next_tokens(embedded.labels("token"))
    before, after = train(vectors, targets, settings)
    trace = with_gradients(attend_to_learn(embedded, matrices, Goal("next_token")))
    assert trace["loss"].value.item() == pytest.approx(before.loss, rel=1e-6)
    gradients = gradients_of(trace)
    assert math.sqrt(squared_norm(gradients)) == pytest.approx(before.gradient_norm, rel=1e-4)
    made = updated(matrices, gradients, settings.learning_rate)
    for ours, theirs in zip(made, after.matrices, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-6)


def test_a_loss_of_a_weight_or_a_context_vector_is_what_it_says():
    embedded, matrices, _ = layer("named_features")
    by_weight = attend_to_learn(embedded.branch(), matrices, Goal("weight", 7, 2))
    assert by_weight["loss"].value == -by_weight["weights"].value[7, 2]
    assert learned_by(by_weight) == ["W_query", "W_key"]
    by_context = attend_to_learn(embedded.branch(), matrices, Goal("context", 7, 2))
    away = by_context["context_vectors"].value[7] - by_context["values"].value[2]
    assert by_context["loss"].value.item() == pytest.approx(away.square().sum().item())
    assert learned_by(by_context) == ["W_query", "W_key", "W_value"]


@pytest.mark.parametrize("goal", LOSSES)
def test_traces_of_many_temperatures_are_those_of_each(goal):
    """On the way back too, where the gradient is divided by the temperature once more."""
    embedded, matrices, _ = layer("named_features")

    def trace_at(temperature):
        one = embedded.branch(), matrices, Goal(goal, 7, 2), temperature
        return with_gradients(attend_to_learn(*one))

    temperatures = [0.1, 1.0, 2.0, 3.7]
    for found, wanted in zip(
        at_temperatures(trace_at)(temperatures), map(trace_at, temperatures), strict=True
    ):
        assert [*found] == [*wanted]
        for name, step in wanted.items():
            assert torch.equal(found[name].value, step.value), name
            assert found[name].operation == step.operation, name


def test_one_entry_is_moved_and_nothing_else():
    _, matrices, _ = layer("journey_123")
    changed = moved(matrices, "W_key", (1, 2), 0.5)
    assert (changed.W_key - matrices.W_key)[1, 2].item() == pytest.approx(0.5)
    assert (changed.W_key != matrices.W_key).sum() == 1
    assert changed.W_query is matrices.W_query


@pytest.mark.parametrize(("goal", "said"), [
    (lambda: Goal("accuracy"), "must be 'weight' or"),
    (lambda: Goal("weight", 1, 3), "query 1 cannot look at key 3"),
    (lambda: Goal("weight", 6, 0), "of 6"),
    (lambda: Goal("weight", 1, -1), "key -1"),
])  # fmt: skip
def test_a_goal_that_cannot_be_is_refused_in_words(goal, said):
    embedded, matrices, _ = layer("journey_123")
    with pytest.raises(ValueError, match=said):
        attend_to_learn(embedded, matrices, goal())


def test_a_sentence_of_one_token_has_no_next_one():
    embedded = embed(Inputs("cat", d_in=3))
    matrices = start(3, 1, TrainingSettings(width=2), torch.float32)
    with pytest.raises(ValueError, match="no next token"):
        attend_to_learn(embedded, matrices, Goal("next_token"))
    alone = with_gradients(attend_to_learn(embedded, matrices, Goal("weight")))
    assert not alone["grad_W_query"].value.any(), "a weight that is always 1 teaches nothing"
