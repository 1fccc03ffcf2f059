"""`show`: what it draws, and what it says of what it cannot draw."""

import json
import re

import pytest
import torch

pytest.importorskip("vl_convert", reason="pictures in a notebook need vl-convert-python")

from attention_core import EXAMPLES, Trace, attend, attend_heads, embed
from attention_core import operations as ops
from attention_explorer import show
from attention_ui.notebook.show import MOST_NUMBERS, MOST_TOKENS
from traces import lesson_trace

TOKENS = ["The", "cat", "sat", "on", "it"]


def weights(*shape, seed=1):
    return torch.rand(*shape, generator=torch.Generator().manual_seed(seed)).softmax(dim=-1)


def drawn(picture):
    return [each.step.name for each in picture.layout.matrices]


def test_a_trace_is_drawn_as_what_it_is_about():
    assert drawn(show(lesson_trace("simplified/wild_cat"))) == [
        "scores", "weights", "embeddings", "context_vectors"
    ]  # fmt: skip
    layer = show(attend_heads(embed(EXAMPLES["wild_cat"].inputs), EXAMPLES["wild_cat"].heads))
    assert {"W_query", "head_weights", "output"} <= set(drawn(layer))
    assert layer.layout.sentence is not None


@pytest.mark.parametrize("name", ["scores", "weights", "context_vectors"])
def test_a_step_is_drawn_as_its_equation_with_the_names_of_its_tokens(name):
    trace = lesson_trace("simplified/wild_cat")
    by_name, alone = show(trace, name), show(trace[name])
    assert drawn(by_name) == drawn(alone) == [*(i.name for i in trace[name].inputs), name]
    assert by_name._columns() == alone._columns()
    assert any("cat" in (where or "") for where in alone._columns()["where"])


def test_a_step_whose_trace_is_gone_is_drawn_too():
    step = attend(embed(EXAMPLES["wild_cat"].inputs))["weights"]
    assert drawn(show(step)) == ["scores", "weights"]


@pytest.mark.parametrize("front", [(), (3,), (1, 3), (2, 3), (2, 1, 3), (1, 2, 3)])
def test_weights_of_anyone_are_the_numbers_that_are_drawn(front):
    given = weights(*front, 5, 5)
    picture = show(given, TOKENS)
    shown = torch.stack([each.drawn for each in picture.layout.matrices])
    n_heads = front[-1] if front else 1
    assert torch.equal(shown, given.reshape(-1, n_heads, 5, 5)[0])
    n_layers = given.numel() // (25 * n_heads)
    assert (picture.stops is not None) == (n_layers > 1)
    if picture.stops:
        assert picture.stops.most == n_layers - 1
    assert picture.notices == []


def test_the_layers_of_a_model_are_a_slider_and_one_is_chosen_by_its_number():
    layers = tuple(weights(1, 3, 5, 5, seed=seed) for seed in range(4))
    assert show(layers, TOKENS).stops.most == 3
    (one,) = show(layers, TOKENS, layer=2, head=1).layout.matrices
    assert torch.equal(one.drawn, layers[2][0, 1])


def test_a_picture_shows_what_was_there_when_it_was_asked_for():
    given = weights(5, 5)
    picture, before = show(given), given.clone()
    given.zero_()
    assert torch.equal(picture.layout.matrices[0].drawn, before)


WRONG = {
    "a number": (lambda: show(torch.tensor(1.0)), "a single number"),
    "one axis": (lambda: show(weights(5)), "5, but should be (query, key)"),
    "a batch of 2": (lambda: show(weights(2, 2, 3, 5, 5)), "a batch of 1"),
    "nothing": (lambda: show(torch.zeros(0, 5)), "0 × 5"),
    "words": (lambda: show("weights"), "no weights"),
    "nan": (lambda: show(torch.tensor([[0.5, torch.nan]])), "nan at [0, 1]"),
    "inf": (lambda: show(torch.tensor([[torch.inf, 0.5]])), "inf at [0, 0]"),
    "long": (lambda: show(weights(257, 257)), f"257 keys: a picture has room for {MOST_TOKENS}"),
    "many": (lambda: show(weights(12, 12, 60, 60)), f"{MOST_NUMBERS:,}: choose one with layer="),
    "tokens": (lambda: show(weights(5, 5), TOKENS[:4]), "4 tokens but 5 keys"),
    "queries": (lambda: show(weights(4, 5), TOKENS, query_tokens=TOKENS), "5 query_tokens but 4"),
    "one string": (lambda: show(weights(3, 3), "cat"), "a list of strings"),
    "ids": (lambda: show(weights(2, 2), [1, 2]), "a list of strings"),
    "a layer": (lambda: show(weights(2, 3, 5, 5), layer=2), "no layer 2: choose one from 0 to 1"),
    "a head": (lambda: show(weights(3, 5, 5), head="1"), "no head '1': choose one from 0 to 2"),
    "a step": (lambda: show(attend(embed(EXAMPLES["wild_cat"].inputs)), "wieghts"), "'wieghts'"),
    "no steps": (lambda: show(Trace()), "no steps yet"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_drawn_is_said(name):
    show_it, words = WRONG[name]
    with pytest.raises(ValueError, match=re.escape(words)):
        show_it()


def test_a_step_that_is_too_large_says_its_size():
    trace = Trace()
    trace.step("scores", ops.Draw("normal", (300, 2), seed=1), axes=("query", "key"))
    with pytest.raises(ValueError, match="scores is query 300 × key 2"):
        show(trace)
    assert "No picture: scores" in trace._repr_mimebundle_()["text/plain"]


def test_rows_that_sum_to_something_else_are_drawn_with_a_notice():
    given = weights(5, 5)
    given[2] *= 2
    assert show(given).notices == ["Row 2 of weights sums to 2, not 1."]
    assert show(given - 0.3).notices[-1] == "Some weights are below 0, which no share is."


def test_no_text_of_a_person_stands_in_the_html():
    tokens = ["<script>alert(1)</script>", "**bold**", "</script>", "$x$", "'\"&"]
    picture = show(weights(5, 5), tokens)
    bundle = picture._repr_mimebundle_()
    for token in tokens[:4]:
        assert token not in re.sub(r'"[A-Za-z0-9+/=]{1000,}"', "", bundle["text/html"])[:-9]
        assert token not in bundle["text/plain"]


def test_a_trace_or_a_step_as_the_last_line_is_the_same_picture():
    trace = lesson_trace("simplified/wild_cat")
    for thing in (trace, trace["weights"]):
        bundle = thing._repr_mimebundle_(include=None, exclude=None)
        assert bundle["text/plain"] == repr(show(thing))
        assert set(bundle) == {"text/plain", "image/png", "text/html"}
        assert thing._mime_()[0] == "text/html"


def test_a_picture_is_not_megabytes():
    sizes = [
        len(json.dumps(show(each)._repr_mimebundle_()))
        for each in (lesson_trace("simplified/wild_cat"), weights(12, 11, 11))
    ]
    assert max(sizes) < 650_000
