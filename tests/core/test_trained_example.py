"""The example whose vectors and heads were trained, against the network itself."""

from dataclasses import replace

import pytest
import torch

from attention_core.examples import EXAMPLES
from attention_core.mechanism.multi_head import attend_heads
from attention_core.small_models import given, shipped
from attention_core.small_models.figures import shipped_figures
from attention_core.small_models.grammar import START, WORDS
from attention_core.small_models.tracing import pass_through
from attention_core.text.embedding import embed

TRAINED = EXAMPLES["tiny_language"]
SENTENCES = [
    TRAINED.inputs.sentence,
    "the old frog meets the cow but it grazes .",
    'anna brook says "the bird sings in the garden" .',
    "it",
]


def saying(sentence, **changes):
    return replace(TRAINED.inputs, sentence=sentence, **changes)


@pytest.mark.parametrize("sentence", SENTENCES)
def test_the_lessons_show_what_the_network_does(sentence):
    inputs = saying(sentence)
    network = pass_through(shipped.weights(), WORDS, list(inputs.tokens))
    trace = attend_heads(embed(inputs), TRAINED.heads)
    assert inputs.tokens[0] == START
    for name, there in (
        ("embeddings", "layer_1_normed"),
        ("head_weights", "layer_1_weights"),
        ("layer_0_stream", "layer_0_stream"),
        ("output", "layer_1_output"),
    ):
        assert torch.allclose(trace[name].value, network[there].value, atol=1e-5), name


def test_heads_have_their_measured_names():
    measured = [shipped_figures().names((given.LAYER, head)) for head in range(4)]
    names = tuple(names[0] if names else "no name" for names in measured)
    assert given.heads().names == names


def test_what_does_not_fit_the_network_is_drawn_and_has_no_first_layer():
    narrow = embed(saying("the cat purrs", d_in=5))
    assert narrow["embeddings"].value.shape == (4, 5)
    assert "layer_0_stream" not in narrow
    assert "position_table" not in narrow
    without = embed(saying("the cat purrs", positions=False))
    assert "position_embeddings" not in without
    (read,) = without["layer_0_normed"].inputs
    assert read.name == "token_embeddings"


@pytest.mark.parametrize("sentence", ["the elephant purrs", "The cat, it purrs"])
def test_words_without_a_trained_vector_are_refused(sentence):
    with pytest.raises(ValueError, match="is not in the vocabulary"):
        embed(saying(sentence))
