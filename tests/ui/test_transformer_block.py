"""The lesson on the transformer block: its stream by plain torch, its norms, and its words."""

from itertools import product

import pytest
import torch

import chosen
from attention_core.examples import EXAMPLES
from attention_core.text.embedding import embed
from attention_ui.controls.shared import inputs_of
from attention_ui.lessons.transformer_block import depth, lesson, norms
from attention_ui.lessons.transformer_block.activation_curve import activation_curve
from attention_ui.lessons.transformer_block.agreement import torch_agrees
from attention_ui.lessons.transformer_block.ribbons import WIDE
from attention_ui.lessons.transformer_block.stream import adds_up, ribbons, walk
from attention_ui.lessons.transformer_block.words import (
    both_orders,
    heads_words,
    nothing_looks_ahead,
    stream_is_untouched,
)
from attention_ui.picture.matrix import Matrix
from attention_ui.picture.scale import limits
from visiting import stands, visit


def values_of(name, **changes):
    return chosen.of(lesson.CONTROLS, example=name).but(**changes)


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("norm", ["before", "after"])
def test_the_block_is_torch_s_own_layer_on_every_example(name, norm):
    values = values_of(name, norm=norm, activation="gelu" if norm == "after" else "relu")
    trace = lesson.trace_of(values)
    assert trace["embeddings"].value.equal(embed(inputs_of(values))["embeddings"].value)
    for each in (trace, lesson.trace_of(values.but(block="decoder", positions=True))):
        for good, words in (
            torch_agrees(each, norm, values.activation),
            adds_up(each),
            norms.every_row_is_standard(each),
        ):
            assert good, words
    assert nothing_looks_ahead(each)[0]
    assert each["cross_head_weights"].shape.endswith(f"other_key {each.size('other_key')}")
    assert stream_is_untouched(both_orders(values)[0])[0]


@pytest.mark.parametrize(
    ("width", "asked_for", "n_heads"), [(6, 3, 3), (7, 3, 1), (10, 4, 2), (1, 8, 1), (15, 4, 3)]
)
def test_heads_are_as_many_as_can_share_the_width(width, asked_for, n_heads):
    values = values_of("wild_cat", d_in=width, n_heads=asked_for, d_head=1, d_value=1)
    assert lesson.heads_that_share(values) == n_heads == lesson.trace_of(values).size("head")
    assert ("cannot share" in heads_words(values)) == (n_heads != asked_for)
    assert f"{n_heads} head" in heads_words(values) or f"has {n_heads}." in heads_words(values)


def test_the_hidden_width_is_what_is_asked_for_up_to_what_can_be_drawn():
    for d, width in ((1, 4), (6, 24), (24, 96), (25, 96), (64, 96)):
        assert lesson.hidden_width(values_of("wild_cat", d_in=d, ffn_multiplier=4)) == width


@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_the_bend_has_the_numbers_of_the_token_on_its_curve(activation):
    trace = lesson.trace_of(values_of("named_features", activation=activation))
    chart = activation_curve(trace, activation, 2)
    frame = chart.frame
    points = frame[frame.kind == "number"]
    assert points.x.tolist() == pytest.approx(trace["hidden"].value[2].tolist())
    assert points.y.tolist() == pytest.approx(trace["activated"].value[2].tolist(), abs=1e-6)
    curve = frame[frame.kind == "curve"]
    assert curve.x.min() < points.x.min()
    assert curve.x.max() > points.x.max()
    for layer, side in product(chart.spec["layer"], "xy"):
        low, high = layer["encoding"][side]["scale"]["domain"]
        assert low <= frame[side].min() < frame[side].max() <= high, "not all of it is seen"


@pytest.mark.parametrize("norm", ["before", "after"])
def test_the_picture_walks_from_embeddings_to_output(norm):
    values = values_of("named_features", norm=norm, block="decoder", positions=True)
    trace = lesson.trace_of(values)
    token = values.token
    frame = ribbons(trace, token).frame
    words = frame[frame.kind == "part"].text.tolist()
    added = ["+ attention", "+ cross-attention", "+ feed-forward"]
    wanted = added if norm == "before" else [w for part in added for w in (part, "norm")]
    assert words == wanted
    told = [each for each in frame[frame.kind == "told"].text if each]
    assert len(told) == (0 if norm == "before" else 3)
    if told:  # what the norm subtracts and divides by gives what stands behind it
        off, deviation = told[0].split(", ÷ ")
        off = float(off.replace("− ", "-").replace("+ ", ""))
        went_in, came_out = (step.value[token] for step in walk(trace)[1:3])
        torch.testing.assert_close((went_in + off) / float(deviation), came_out, atol=0.05, rtol=0)
    cells = frame[frame.kind == "cell"]
    first = cells[cells.x == 0].text.str.replace("−", "-").astype(float).tolist()
    last = cells[cells.x2 == WIDE].text.str.replace("−", "-").astype(float).tolist()
    assert first == pytest.approx(trace["embeddings"].value[token].tolist(), abs=0.006)
    assert last == pytest.approx(trace["output"].value[token].tolist(), abs=0.006)
    drawn = frame[frame.kind == "ribbon"]
    assert (drawn.y2 >= drawn.y).all()
    assert drawn.y.min() >= 0
    assert drawn.y2.max() <= trace.size("d_in")


def test_dropout_drops_in_the_page_s_block_and_not_in_the_checks():
    values = values_of("named_features", layer_dropout=0.5)
    trace = lesson.trace_of(values)
    assert "dropped_attention_output" in trace
    assert adds_up(trace)[0]
    assert "dropped_attention_output" not in lesson.without_dropout(values, norm="after")
    ribbons(trace, 0)


def test_what_is_standardised_keeps_its_size_and_has_colours_of_its_own():
    values = values_of("named_features")
    stretched = lesson.stretched(embed(inputs_of(values)), values.token, 4.0)
    question = norms.longer_question(stretched, values.token)
    assert [question.judged([at]).right for at in range(4)] == [False, False, True, False]
    parts = norms.of_factor(stretched, values.token)
    matrices = [part for part in parts if isinstance(part, Matrix)]
    own = limits(matrices, ["", "−", "÷ √", "="])[-1]
    assert own == pytest.approx(matrices[-1].drawn.abs().max())


@pytest.mark.parametrize("sentence", ["cat", "the dog chases " * 21 + "cat"])
@pytest.mark.parametrize("norm", ["before", "after"])
def test_a_stack_is_drawn_and_told_of_one_token_and_of_many(norm, sentence):
    values = values_of("named_features", sentence=sentence, norm=norm, n_blocks=16)
    found = depth.shares(lesson.trace_of(values), values)
    assert len(found[True]) == len(found[False]) == 17
    assert found[False][0] < found[True][0] / 100
    assert depth.by_block(found).frame["value"].between(depth.LEAST, 10).all()
    assert "of the gradient reaches the first block" in depth.left_words(found)


def test_where_dropout_leaves_a_corner_of_a_row_nothing_is_outlined():
    sentence = "the fish sees the fish because it sleeps"
    sizes = {"n_heads": "7", "d_in": "11", "d_model": "7", "layer_dropout": "0.5"}
    stands(visit("transformer_block", example="named_features", sentence=sentence, **sizes))
