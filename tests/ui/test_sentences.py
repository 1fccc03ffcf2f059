"""Sentences of the lessons that follow from settings: each says what is so, and nothing else."""

import math
from dataclasses import replace

import pytest
import torch

from attention_core.examples import EXAMPLES
from attention_core.experiments.training import TrainingSettings
from attention_core.recipes import HEADS
from attention_ui.controls.shared import heads_of
from attention_ui.lessons.multi_head_attention.checks import torch_words
from attention_ui.lessons.multi_head_attention.words import parameter_words, widths_words
from attention_ui.lessons.queries_keys_values.projections import SATURATED
from attention_ui.lessons.queries_keys_values.training import loss_words, recipe_of
from attention_ui.lessons.softmax_or_sum.experiments import winners
from attention_ui.settings.settings import Settings
from attention_ui.words import number
from visiting import box, charts, lesson_of, rendered, texts, visit

pytestmark = pytest.mark.slow("20 s: whole pages")


@pytest.mark.parametrize(
    ("value", "said"),
    [(-0.60641, "−0.6064"), (0.0, "0.0000"), (-0.0, "0.0000"), (-3.4e-7, "−3e-07")],
)
def test_a_number_keeps_its_sign_and_is_no_0_that_it_is_not(value, said):
    assert number(value) == said


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "2 × 2 = 4, so the heads share d_model."),
        ({"d_value": 3}, "Joined they are 6 wide, and `W_output` turns that into a width of 4."),
        ({"d_head": 3}, "Joined they are 4 wide, and `W_output` turns that into a width of 4."),
        ({"n_heads": 1, "d_head": 4, "d_value": 4}, "it has all of d_model."),
    ],
)
def test_heads_share_d_model_only_where_values_do_too(changes, said):
    assert widths_words(replace(HEADS, **changes)).endswith(said)


def test_the_cost_of_heads_names_both_widths_and_one_head_is_not_dealt_out():
    values, trace = lesson_of("multi_head_attention", example="life_is_short")
    words = parameter_words(values.d_in, heads_of(values))
    assert "One head of width 72 and values of width 84 has 4,992" in words
    assert "zeros, which changes no result, and `W_query` was scaled" in torch_words(trace)
    values, trace = lesson_of("multi_head_attention", n_heads="1", d_in="4")
    words = parameter_words(values.d_in, heads_of(values))
    assert "There is only one head here." in words
    assert "only dealt out to more heads" not in words
    assert not torch_words(trace)


def test_a_loss_that_is_no_number_is_no_probability():
    assert "0.0000" not in loss_words(math.nan)
    assert loss_words(math.log(4)).endswith("a probability of 0.2500 everywhere.")


@pytest.mark.parametrize("example", EXAMPLES.values(), ids=lambda example: example.name)
def test_the_page_trains_by_the_defaults_of_the_core(example):
    expected = TrainingSettings(learning_rate=example.learning_rate)
    assert recipe_of(Settings.of(example)) == expected


@pytest.mark.parametrize(("rate", "hangs"), [(1, True), (0.05, False)])
def test_a_training_that_hangs_on_the_last_digit_is_said_to(rate, hangs):
    page = visit("pages/queries_keys_values.py", rate=rate, steps=200)
    page.button(key="start_or_stop_training").click().run()
    assert not page.exception
    said = rendered(page)
    assert "The loss fell from" in said or "The loss did not fall" in said
    assert (f"learning rate of {rate} the result depends on the last digit" in said) == hangs
    assert ("Another processor may end elsewhere" in said) == hangs


def test_the_start_without_slope_is_named_where_there_is_one():
    page = "pages/queries_keys_values.py"
    assert "7 of 8 with `torch.rand` and 0 of 8 with `nn" in rendered(
        visit(page, example=SATURATED)
    )
    words = rendered(visit(page))
    assert "no row of any start" in words
    assert EXAMPLES[SATURATED].title in words


def test_equal_largest_scores_share():
    assert winners(torch.tensor([3.0, 1.0])) == "the largest score takes all"
    assert "here 2 are equal, and get 1/2 each" in winners(torch.tensor([3.0, 1.0, 3.0]))


def test_a_cell_that_no_link_named_is_not_said_to_be_lost():
    page = "pages/divide_by_sqrt_d.py"
    assert "The link's cell" not in texts(visit(page, predict="on"))
    linked = visit("pages/causal_mask.py", predict="on", cell="changed_embeddings.0.0")
    assert "The link's cell" in texts(linked)


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
    assert getattr(at.session_state["settings"], name) != value
    assert at.session_state[f"problem_{name}"] in texts(at)
    assert "Not applied:" in rendered(at)


def test_a_tokenizer_that_leaves_too_many_tokens_says_so_beside_it():
    at = visit("app.py", sentence="a b " * 30, tokenizer="blanks")
    box(at, "tokenizer").set_value("blanks_kept").run()
    assert at.session_state["settings"].tokenizer == "blanks"
    assert "at most 64 fit" in texts(at)
