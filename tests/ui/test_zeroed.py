"""A matrix of zeros: what is drawn of it, and what is said."""

import re

import pytest
import torch

from attention_core.examples import EXAMPLES
from attention_core.recipes import ROLES
from attention_ui.lessons.queries_keys_values.zeroed import with_zeros, zero_words
from attention_ui.settings.link import from_query
from drawn import opened
from visiting import COVERED, charts, words

LINKS = [
    *({"example": example} for example in EXAMPLES),
    {"bias": "on"},
    {"bias": "on", "scale": "none", "d_v": "5"},
    {"q_edits": "0.0:9", "k_edits": "0.0:9", "v_edits": "0.0:9"},
    {"sentence": "a", "tokenizer": "blanks"},
]


def computed(link, role):
    """The trace with this matrix at 0, and its scores, weights and context vectors worked out from
    the embeddings and the two other matrices.
    """
    settings, notices = from_query({**link, "zeroed": role})
    assert not notices
    trace = with_zeros(settings)
    X = trace["embeddings"].value.double()
    projected = {}
    for each in ROLES:
        matrix = trace[f"W_{each}"].value.double()
        projected[each] = X @ (torch.zeros_like(matrix) if each == role else matrix)
        if settings.bias:
            projected[each] += trace[f"b_{each}"].value.double()
    scores = projected["query"] @ projected["key"].T
    scores /= {"none": 1.0, "d": settings.d_out}.get(settings.scale, settings.d_out**0.5)
    weights = scores.exp() / scores.exp().sum(dim=1, keepdim=True)
    return trace, weights, weights @ projected["value"]


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("link", LINKS, ids=str)
def test_only_one_matrix_is_zero_and_what_is_said_of_the_others_is_so(link, role):
    trace, weights, context = computed(link, role)
    plain, _ = from_query(link)
    assert trace["weights"].value == pytest.approx(weights.float().numpy(), abs=1e-4)
    assert trace["context_vectors"].value == pytest.approx(context.float().numpy(), abs=1e-3)
    assert not trace[f"W_{role}"].value.any()
    said = zero_words(trace, role)
    assert said.startswith(f"Every {role} is {'its bias alone' if plain.bias else '0'}")
    even = torch.full_like(weights, 1 / len(weights))
    rows_agree = bool((weights - weights[0]).abs().max() < 1e-5)
    if role == "value":
        assert "do not notice" in said
        assert bool((context - context[0]).abs().max() < 1e-5)
        assert ("is 0. The" in said) == (not context.any())
    elif found := re.search(r"every weight is ([\d.]+), and every context vector", said):
        assert weights == pytest.approx(even.numpy(), abs=1e-5)
        assert float(found[1]) == pytest.approx(1 / len(weights), abs=0.0051)
    else:
        assert rows_agree, "so all queries are the same, and every row of weights too"
        assert not bool((weights - even).abs().max() < 1e-5)


def test_it_is_said_on_the_page_below_what_was_computed():
    at = opened("pages/queries_keys_values.py", zeroed="query")
    assert "fits all keys equally well" in words(at)


@pytest.mark.slow("1 s: whole pages")
@pytest.mark.parametrize("role", ROLES)
def test_of_it_only_what_would_answer_an_open_question_is_covered(role):
    """Only a W_value of zeros leaves the weights, which a question is about, as they are."""
    at = opened("pages/queries_keys_values.py", zeroed=role, predict="on")
    assert "What if a matrix were all 0?" in [each.label for each in at.expander]
    (alt,) = (each.alt for each in charts(at) if "queries_keys_values.zeroed" in each.id)
    weights, context = re.split(r" (?=Heatmap of )", alt)
    assert weights.startswith("Heatmap of weights: rows are query, columns are key.")
    assert weights.endswith(COVERED) == (role == "value")
    assert context.startswith("Heatmap of context_vectors: its shape is asked for.")
