"""Training against a module of torch's own, trained by torch's own gradient descent."""

import math
from itertools import islice

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from attention_core import EXAMPLES, embed
from attention_core.training import TrainingSettings, next_tokens, train

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
    return vectors, next_tokens(inputs.tokens), TrainingSettings(**settings)


@pytest.mark.parametrize("scaled", [False, True])
@every_example
def test_training_goes_where_torch_s_own_descent_goes(example, scaled):
    vectors, targets, settings = learned(example, steps=5, d_out=7, scaled=scaled, seed=3)
    first, *_, last = train(vectors, targets, settings)
    layer = Layer(first.matrices, scaled)
    descent = torch.optim.SGD(layer.parameters(), lr=settings.learning_rate)
    for _ in range(5):
        descent.zero_grad()
        F.cross_entropy(layer(vectors)[:-1], targets).backward()
        descent.step()
    with torch.no_grad():
        loss = F.cross_entropy(layer(vectors)[:-1], targets).item()
    assert last.loss == pytest.approx(loss, rel=1e-4)
    for name, matrix in last.matrices._asdict().items():
        theirs = getattr(layer, name).weight.detach().T
        assert torch.allclose(matrix, theirs, rtol=1e-4, atol=1e-5), name


@every_example
def test_a_rate_of_a_million_diverges_in_a_record_and_in_no_exception(example):
    *before, last = train(*learned(example, learning_rate=1e6))
    assert last.diverged
    assert not (math.isfinite(last.loss) and math.isfinite(last.gradient_norm))
    assert not any(record.diverged for record in before)


def test_a_run_left_early_is_the_beginning_of_the_whole_run():
    arguments = learned("journey_123", steps=300)
    some, whole = list(islice(train(*arguments), 7)), list(train(*arguments))
    assert [record.step for record in some] == [record.step for record in whole[:7]]
    for left, right in zip(some, whole, strict=False):
        assert left.loss == right.loss
        assert all(map(torch.equal, left.matrices, right.matrices))
    assert len(whole) == len({record.step for record in whole}) == 100
    assert (whole[0].step, whole[-1].step) == (0, 300)


def test_training_leaves_its_operands_and_torch_s_own_generator():
    vectors, targets, settings = learned("wild_cat", steps=3)
    before, state = vectors.clone(), torch.get_rng_state()
    list(train(vectors, targets, settings))
    assert torch.equal(vectors, before)
    assert torch.equal(torch.get_rng_state(), state)
    assert not vectors.requires_grad


def test_next_tokens_are_numbered_as_they_first_appear():
    assert next_tokens(("b", "a", "b", "c", "a")).tolist() == [1, 0, 2, 1]
    assert next_tokens(("a",)).tolist() == []
