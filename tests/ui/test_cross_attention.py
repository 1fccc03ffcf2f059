"""The lesson on cross-attention: its weights by plain torch, padding, the roles, and its words."""

from dataclasses import replace

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from attention_core.examples import EXAMPLES
from attention_core.mechanism.trainable import attend_trainable
from attention_core.text.embedding import embed
from attention_ui.controls.shared import inputs_of, projections_of, source_inputs_of
from attention_ui.lessons.cross_attention.agreement import torch_agrees
from attention_ui.lessons.cross_attention.lesson import CONTROLS, look_across, trace_of
from attention_ui.lessons.cross_attention.words import unmasked_share, verdicts
from attention_ui.reactive.control import understood
from visiting import rendered, texts, visit


def values_of(name, **changes):
    return understood({"example": name}, CONTROLS)[0].but(**changes)


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("n_padding", [0, 3])
def test_weights_and_context_vectors_are_those_of_plain_torch(name, n_padding):
    values = values_of(name, bias=n_padding > 0)
    trace, plain = look_across(values, n_padding), trace_of(values)
    own, other = trace["embeddings"].value, trace["other_embeddings"].value
    assert own.equal(embed(inputs_of(values))["embeddings"].value)

    def made(role, vectors):
        bias = trace[f"b_{role}"].value if n_padding else 0
        return vectors @ trace[f"W_{role}"].value + bias

    queries, keys, value_rows = made("query", own), made("key", other), made("value", other)
    n_words = len(other) - n_padding
    seen = torch.arange(len(other)) < n_words
    scores = (queries @ keys.mT / keys.shape[-1] ** 0.5).masked_fill(~seen, -torch.inf)
    torch.testing.assert_close(trace["weights"].value, scores.softmax(dim=-1))
    wanted = scaled_dot_product_attention(queries, keys, value_rows, attn_mask=seen[None])
    torch.testing.assert_close(trace["context_vectors"].value, wanted, rtol=1e-4, atol=1e-5)
    assert trace["weights"].value.shape == (len(own), len(other))
    assert (trace["weights"].value[:, n_words:] == 0).all()
    assert all(good for good, _ in verdicts(trace, plain))
    assert torch_agrees(trace)[0]
    if n_padding:
        bare = (queries @ keys.mT / keys.shape[-1] ** 0.5).softmax(dim=-1)
        assert unmasked_share(trace) == pytest.approx(bare[:, n_words:].sum(dim=-1).max().item())


@pytest.mark.parametrize("temperature", [0.1, 4.0])
def test_a_temperature_divides_the_scores_and_is_told(temperature):
    trace = look_across(values_of("wild_cat").but(temperature=temperature), 2)
    cooled = look_across(values_of("wild_cat"), 2)["masked_scores"].value / temperature
    torch.testing.assert_close(trace["weights"].value, cooled.softmax(dim=-1))
    assert torch_agrees(trace)[0]


def test_matrices_are_those_of_the_lesson_on_queries_and_the_source_has_a_table_of_its_own():
    values = values_of("wild_cat", source="cat The dog")
    trace = trace_of(values)
    alone = attend_trainable(embed(inputs_of(values)), projections_of(values))
    for name in ("W_query", "W_key", "W_value", "queries"):
        assert trace[name].value.equal(alone[name].value)
    assert trace.labels("key") == ("cat", " ", "The", " ", "dog")
    assert not trace["other_embeddings"].value[0].equal(trace["embeddings"].value[-1])


@pytest.mark.parametrize(("name", "changes", "shared"), [
    ("named_features", {}, True),
    ("named_features", {"source": "the wolf xqz purrs"}, True),
    ("named_features", {"d_in": 5}, False),
    ("tiny_language", {}, True),
    ("tiny_language", {"source": "the wolf purrs"}, False),
    ("tiny_language", {"source": "the cat " * 20}, False),
    ("journey_123", {}, True),
    ("journey_123", {"positions": True}, True),
    ("wild_cat", {}, False),
    ("sorry_dave", {}, False),
])  # fmt: skip
def test_given_vectors_are_shared_where_they_cover_the_source(name, changes, shared):
    values = values_of(name, **changes)
    assert source_inputs_of(values).has_given_vectors() == shared
    trace = look_across(values, 1)
    if shared:
        alone = embed(replace(inputs_of(values), sentence=values.source))["embeddings"].value
        assert trace["other_embeddings"].value[:-1].equal(alone)


def test_the_page_follows_its_source_and_its_padding():
    at = visit("cross_attention", example="journey_123", padding="2", source="one small step")
    words = rendered(at)
    assert "no vector was made for it: “small”" in texts(at)
    assert "A score for each pair: 6 × 3 = 18." in words
    assert "for the words of both sentences, but for those with *" in words
    assert "Weight on padding: exactly 0." in words
    at.slider(key="control_padding").set_value(0).run()
    assert "There is no padding now" in rendered(at)
    at.text_input(key="control_source").set_value(" ").run()
    assert any("this text holds blanks only" in each.value for each in at.text)
    assert not at.exception
