"""Sentences of the lessons that follow from settings: each says what is so, and nothing else."""

import re
from dataclasses import replace

import pytest
import torch

from attention_core.recipes import HEADS
from attention_ui.controls.control import understood
from attention_ui.lessons.multi_head_attention.lesson import CONTROLS, trace_of
from attention_ui.lessons.multi_head_attention.words import one_sum, widths_words
from attention_ui.lessons.softmax_or_sum.words import winners
from attention_ui.words import number
from visiting import box, charts, rendered, texts, visit, visit_deeper

pytestmark = pytest.mark.slow("20 s: whole pages")

HEADS_PAGE = "pages/multi_head_attention.py"


@pytest.mark.parametrize(
    ("value", "said"),
    [(-0.60641, "−0.6064"), (0.0, "0.0000"), (-0.0, "0.0000"), (-3.4e-7, "−3e-07")],
)
def test_a_number_keeps_its_sign_and_is_no_0_that_it_is_not(value, said):
    assert number(value) == said


@pytest.mark.parametrize(("changes", "said"), [
    ({}, "2 × 2 = 4, so the heads share d_model."),
    ({"d_value": 3}, "Joined they are 6 wide, and `W_output` turns that into a width of 4."),
    ({"d_head": 3}, "Joined they are 4 wide, and `W_output` turns that into a width of 4."),
    ({"n_heads": 1, "d_head": 4, "d_value": 4}, "it has all of d_model."),
])  # fmt: skip
def test_heads_share_d_model_only_where_values_do_too(changes, said):
    assert widths_words(replace(HEADS, **changes)).endswith(said)


def test_the_cost_of_heads_names_both_widths_and_one_head_is_not_dealt_out():
    words = rendered(visit_deeper(HEADS_PAGE, example="life_is_short"))
    assert "One head of width 72 and values of width 84 has 4,992" in words
    assert "padded with zeros, which changes no result, and `W_query` was scaled" in words
    words = rendered(visit_deeper(HEADS_PAGE, n_heads="1", d_in="4"))
    assert "There is only one head here." in words
    assert "only dealt out to more heads" not in words
    assert "padded with zeros" not in words


@pytest.mark.parametrize("example", ["named_features", "journey_123", "life_is_short"])
def test_the_head_that_an_identity_would_leave_a_number_is_the_one_that_owns_its_column(example):
    values, _ = understood({"example": example}, CONTROLS)
    trace = trace_of(values)
    found = re.match(r"`output\[\d+, (\d+)\]` .* come from head (\d+) alone", one_sum(trace, 0))
    rows = trace["W_output"].value.shape[0] // trace.size("head")
    assert int(found[1]) // rows == int(found[2])


def test_with_an_identity_the_heads_are_said_not_to_meet():
    assert "the heads do not meet." in rendered(visit(HEADS_PAGE, mix="identity"))
    assert "the heads do not meet." not in rendered(visit(HEADS_PAGE))


def test_equal_largest_scores_share():
    assert winners(torch.tensor([3.0, 1.0])) == "the largest score takes all"
    assert "here 2 are equal, and get 1/2 each" in winners(torch.tensor([3.0, 1.0, 3.0]))


def test_a_cell_that_no_link_named_is_not_said_to_be_lost():
    page = "pages/divide_by_sqrt_d.py"
    assert "The link’s cell" not in texts(visit(page, predict="on"))
    linked = visit("pages/causal_mask.py", predict="on", cell="changed_embeddings.0.0")
    assert "The link’s cell" in texts(linked)


@pytest.mark.parametrize(("width", "promised"), [("1", False), ("2", True)])
def test_no_picture_of_points_is_promised_where_there_is_none(width, promised):
    at = visit("pages/simplified_attention.py", d_in=width, cell="none")
    assert ("Each point is a vector" in rendered(at)) == promised
    assert ("there is only a line" in rendered(at)) != promised
    assert any("as points" in chart.alt for chart in charts(at)) == promised


@pytest.mark.parametrize(("name", "value"), [("vocabulary", "duplicates"), ("reserved", 0)])
def test_a_choice_for_the_table_that_is_not_in_use_says_so_beside_it(name, value):
    """No row is left for a word that the example's sentence does not have."""
    link = {"learned": "example", "sentence": "The zebra sat", "tokenizer": "text"}
    at = visit("pages/tokenize_and_embed.py", cell="none", **link)
    control = box(at, name) if name == "vocabulary" else at.slider(key=f"control_{name}")
    control.set_value(value).run()
    assert at.session_state["visit"].values[name] != value
    assert at.session_state["visit"].problems[name] in texts(at)
    assert "Not applied:" in rendered(at)
    assert "The earlier one is still shown." in texts(at)
