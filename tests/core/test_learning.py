"""A layer that learns: its first update is that of the training, its losses are what they say."""

import math

import pytest
import torch

from attention_core import EXAMPLES, embed
from attention_core.experiments.learning import (
    Goal,
    attend_to_learn,
    gradients_of,
    learned_by,
    moved,
    squared_norm,
    updated,
    with_gradients,
)
from attention_core.experiments.training import TrainingSettings, next_tokens, start, train
from attention_core.text.inputs import Inputs


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
