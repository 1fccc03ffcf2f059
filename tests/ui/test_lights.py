"""Lights are green for right numbers of any size, and go out where something is wrong."""

from dataclasses import replace

import hypothesis
import pytest
import torch
from hypothesis import strategies as st

from attention_core import EXAMPLES, embed
from attention_core.mechanism import multi_head
from attention_core.mechanism.masking import attend_masked, change_token
from attention_core.mechanism.simplified import SimplifiedOptions, attend
from attention_core.mechanism.softmax import given_row, normalise_row
from attention_core.published.building import BUILDERS
from attention_core.recipes import HeadsRecipe, MaskRecipe
from attention_core.rounding import agree, rounding
from attention_ui.frame.lights import as_taught, lights_of, sums_verdict
from attention_ui.lessons.causal_mask import leaks
from attention_ui.lessons.causal_mask import lesson as causal_mask
from attention_ui.lessons.causal_mask.lesson import prefix_of
from attention_ui.lessons.multi_head_attention import checks as head_checks
from attention_ui.lessons.queries_keys_values import lesson as trainable
from attention_ui.lessons.queries_keys_values import words as of_matrices
from chosen import of

TYPED = st.one_of(st.floats(-1000, 1000, width=32), st.sampled_from([-1000.0, 1000.0, 0.001]))
EDITS = st.dictionaries(
    st.tuples(st.integers(0, 5), st.integers(0, 2)), TYPED, min_size=1, max_size=18
)
EXACT = ("minus_infinity", "renormalised")


def typed(edits):
    """Six tokens, 3 wide, with these numbers typed into their table."""
    edits = tuple((*at, value) for at, value in sorted(edits.items()))
    return replace(EXAMPLES["journey_123"].inputs, edits=edits)


def moved(inputs, way):
    masked = attend_masked(embed(inputs), MaskRecipe(causal=True), EXAMPLES["journey_123"].divide)
    return change_token(masked, 5, 1.0, prefix_of(way))


def heads_of(inputs):
    recipe = HeadsRecipe(n_heads=2, d_head=3, d_value=2, d_model=4, seed=3, causal=True)
    trace = multi_head.add_batched(multi_head.attend_heads(embed(inputs), recipe))
    return multi_head.add_head_parts(multi_head.add_big_projection(trace))


def lights(inputs):
    """By name, what is checked of typed embeddings beside the mask."""
    example = replace(EXAMPLES["journey_123"], inputs=inputs)
    heads = heads_of(inputs)
    found = [head_checks.sum_agrees(heads), head_checks.torch_agrees(heads)]
    found += of_matrices.ways_agree(BUILDERS["qkv_linear"](example, None))
    simple = BUILDERS["simplified"](example, 2)
    for one, other in (
        (simple["scores_by_loop"].value, simple["scores"]),
        (simple["running_context"].value[-1], simple["context_vectors"]),
    ):
        value = other.value[2] if one.ndim == 1 else other.value
        made = (simple, "running_context" if one.ndim == 1 else "scores_by_loop")
        found.append((agree([(one, value)], made, (simple, other.name)), other.name))
    return found


@hypothesis.settings(max_examples=60, deadline=None)
@hypothesis.given(EDITS, st.floats(-1000, 1000, width=32))
@hypothesis.example({(0, 0): 0.0, (0, 2): 1000.0, (4, 2): 1000.0}, 0.0)
def test_right_numbers_of_any_size_are_green(edits, shift):
    inputs = typed(edits)
    for good, words in lights(inputs):
        assert good, words
    for way in EXACT:
        trace = moved(inputs, way)
        good, words = leaks.leak_verdict(way, trace, 5)
        assert good or ("moves by up to" in words and "without a leak" in words), words
        if way == "minus_infinity":
            assert good
            assert sums_verdict(trace, "context_vectors")[0]
    row = BUILDERS["softmax_or_sum"](replace(EXAMPLES["journey_123"], inputs=inputs), 1)
    there = normalise_row(given_row(row["score_row"].value.tolist()), shift=shift)
    name = "softmax_weights"
    assert agree([(there[name].value, row[name].value)], (there, name), (row, name))


@hypothesis.settings(max_examples=40, deadline=None)
@hypothesis.given(EDITS)
def test_a_leak_of_a_thousandth_is_seen(edits):
    trace = moved(typed(edits), "renormalised")
    context = trace["renormalised_context_vectors"].value
    wrong = trace["moved"].value.clone()
    wrong[2] = 0.001 * context[2].abs().max()
    hypothesis.assume(rounding(trace)["moved"] < wrong[2, 0])
    size = (trace["renormalised_weights"].value @ trace["embeddings"].value.abs())[2].max()
    hypothesis.assume(context[2].abs().max() > 0.1 * size)
    hypothesis.assume(not leaks.underflowed(trace, 5)[2])  # told apart: see above
    trace["moved"]._kept = wrong
    assert leaks.leak_verdict("renormalised", trace, 5)[1].startswith("It leaks: ")


def test_rows_that_sum_to_less_than_1_are_seen():
    trace = moved(typed({(5, 0): 1000.0}), "minus_infinity")
    trace["weights"]._kept = trace["weights"].value * torch.tensor([1, 1, 0.99, 1, 1, 1])[:, None]
    assert not sums_verdict(trace, "context_vectors")[0]


@pytest.mark.parametrize("size", [1.0, 1000.0])
@pytest.mark.parametrize(("step", "at"), [("output", 0), ("output", 1), ("output_from_heads", 0)])
def test_a_wrong_step_turns_its_light_off(step, at, size):
    trace = heads_of(typed({(0, 0): size}))
    value = trace[step].value.clone()
    value.view(-1)[0] += 0.001 * value.abs().max()
    trace[step]._kept = value
    found = head_checks.sum_agrees(trace), head_checks.torch_agrees(trace)
    assert not found[at][0]


def test_where_tokens_are_compared_as_they_are_nobody_asks_for_divided_scores():
    """Red is for the lessons whose queries and keys are made to be divided by √d."""
    trace = causal_mask.trace_of(of(causal_mask.CONTROLS, example="wild_cat"))
    quiet = light_of(trace, "context_vectors", "variance", "causal_mask")
    assert quiet.holds is None
    assert "Not asked here" in quiet.evidence
    assert "*Why divide by √d*" in quiet.evidence
    trace = causal_mask.trace_of(of(causal_mask.CONTROLS, example="wild_cat", divide="sqrt_d"))
    assert light_of(trace, "context_vectors", "variance", "causal_mask").holds
    trace = trainable.trace_of(of(trainable.CONTROLS, scale="none", d_query="8"))
    assert light_of(trace, "context_vectors", "variance", "queries_keys_values").holds is False


def light_of(trace, output, name, page):
    (found,) = [each for each in lights_of(trace, output) if each.name == name]
    return as_taught(found, page)


@pytest.mark.parametrize("factor", [1.0, 2.5, -1.5])
def test_a_stretched_vector_moves_along_with_its_token(factor):
    options = SimplifiedOptions(factor=factor, stretched=1)
    trace = attend(embed(EXAMPLES["journey_123"].inputs), options)
    (told,) = (each for each in lights_of(trace, "context_vectors") if "reordered" in each.evidence)
    assert told.holds, told.evidence
