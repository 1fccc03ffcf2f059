"""What cannot be computed is refused by the core in plain words, before torch stumbles over it."""

import math
import re

import pytest
import torch

from attention_core import EXAMPLES, Inputs, Trace, embed, expand_query
from attention_core import attend as attend_simply
from attention_core import operations as ops
from attention_core.experiments.training import TrainingSettings, next_tokens, train
from attention_core.mechanism.attention import attention
from attention_core.mechanism.head_ways import heads_one_by_one
from attention_core.mechanism.masking import attend_masked, change_token, drop_weights, mask_of
from attention_core.mechanism.multi_head import attend_heads, expand_word, switch_off
from attention_core.mechanism.trainable import attend_trainable, expand_token
from attention_core.recipes import HeadsRecipe, MaskRecipe, Projections, even_width
from checks import refused

JOURNEY = EXAMPLES["journey_123"].inputs
MATRIX = torch.ones(3, 5)


def journey():
    return embed(JOURNEY)


# --- places that do not exist ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        (ops.Edit(((3, 0, 1.0),)), "there is no cell [3, 0] in a matrix of 3 rows and 5 columns"),
        (ops.Edit(((0, 5, 1.0),)), "there is no cell [0, 5] in a matrix of 3 rows and 5 columns"),
        (ops.Row(3), "there is no row 3: the last of 3 is row 2"),
        (ops.ScaleRow(3, 2.0), "there is no row 3: the last of 3 is row 2"),
        (ops.ScaleRow(-1, 2.0), "there is no row -1: the last of 3 is row 2"),
        (ops.ShiftRow(3, 2.0), "there is no row 3: the last of 3 is row 2"),
        (ops.ShiftRow(-1, 2.0), "there is no row -1: the last of 3 is row 2"),
        (ops.SplitHeads(2), "5 columns cannot be shared evenly among 2 heads"),
        (ops.SplitHeads(0), "5 columns cannot be shared evenly among 0 heads"),
        (ops.SplitHeads(-5), "5 columns cannot be shared evenly among -5 heads"),
        (ops.SplitWithoutTranspose(2), "5 columns cannot be shared evenly among 2 heads"),
        (ops.RowsOfHeads(2), "3 rows cannot be shared evenly among 2 heads"),
    ],
    ids=str,
)
def test_a_place_that_does_not_exist_is_named(operation, message):
    with refused(message):
        operation.value(MATRIX)


@pytest.mark.parametrize("head", [-1, 2, 99])
def test_a_head_that_does_not_exist_cannot_be_switched_off(head):
    with refused(f"there is no head {head}: the last of 2 is head 1"):
        switch_off(attend_heads(journey()), head)


@pytest.mark.parametrize(
    "expand",
    [
        lambda place: expand_query(attend_simply(journey()), place),
        lambda place: expand_token(attend_trainable(journey()), place),
        lambda place: expand_word(attend_heads(journey()), place),
        lambda place: change_token(attend_masked(journey()), place, 1.0),
    ],
    ids=["query", "token", "word", "change"],
)
def test_a_token_that_does_not_exist_is_named(expand):
    with refused("there is no row 6: the last of 6 is row 5"):
        expand(6)
    with pytest.raises(ValueError, match="no row -1"):
        expand(-1)


@pytest.mark.parametrize("role", [0, 1, 2], ids=["query", "key", "value"])
def test_a_typed_number_outside_its_matrix_is_named(role):
    edits = [(), (), ()]
    edits[role] = ((0, 2, 1.0),)
    with refused("there is no cell [0, 2] in a matrix of 3 rows and 2 columns"):
        attend_trainable(journey(), Projections(edits=tuple(edits)))


# --- shapes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("operation", "shapes", "message"),
    [
        (
            ops.Divide(),
            [(1, 2), (1, 2)],
            "Divide takes (…, key) (…, 1), but was given (1, 2) (1, 2)",
        ),
        (ops.Multiply(by_row=True), [(3,), (2, 3, 5)], "Multiply takes (key) (key, d), but"),
        (ops.ScaleRow(0, 2.0), [(3, 3, 5)], "ScaleRow takes (token, d), but was given (3, 3, 5)"),
        (ops.MatMulByLoop(), [(2, 3), (5, 7)], "MatMulByLoop takes (i, k) (j, k), but"),
        (ops.SumHeads(), [(3, 5)], "SumHeads takes (head, i, j), but was given (3, 5)"),
        (ops.Softmax(-2), [(5,)], "Softmax takes (…, query, key), but was given (5)"),
        (ops.SumLast(), [()], "SumLast takes (…, d), but was given ()"),
        (ops.Add(), [(3, 5), (3, 7)], "Add takes (…) (…), but was given (3, 5) (3, 7)"),
    ],
    ids=str,
)
def test_operands_of_shapes_that_the_arithmetic_cannot_tell_are_refused(operation, shapes, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        operation.value(*[torch.ones(shape) for shape in shapes])


def test_one_token_has_no_weights_alone_where_they_are_shared_down_another_axis():
    trace = attend_trainable(journey(), softmax_dim=-2)
    before = set(trace)
    with pytest.raises(ValueError, match="shared out along another axis than the keys"):
        expand_token(trace, 1)
    assert set(trace) == before


# --- masks ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_queries": 0, "n_keys": 3}, "a mask needs at least one query and one key"),
        ({"n_queries": 3, "n_keys": -1}, "a mask needs at least one query and one key"),
        ({"window": 0}, "a window of 0 hides every key: choose 1 or more"),
        ({"window": -2}, "a window of -2 hides every key: choose 1 or more"),
        ({"hidden_key": 5}, "there is no key 5: the last of 5 is key 4"),
        ({"hidden_key": -1}, "there is no key -1: the last of 5 is key 4"),
        ({"flipped": ((3, 0),)}, "there is no query 3: the last of 3 is query 2"),
        ({"flipped": ((0, 0), (-1, 0))}, "there is no query -1: the last of 3 is query 2"),
        ({"flipped": ((0, 5),)}, "there is no key 5: the last of 5 is key 4"),
    ],
    ids=str,
)
def test_a_mask_has_only_rules_that_it_can_keep(arguments, message):
    with refused(message):
        ops.AttentionMask(**{"n_queries": 3, "n_keys": 5} | arguments)


def test_the_mask_of_a_sentence_leaves_out_what_lies_outside_of_it():
    inside = MaskRecipe(hidden_key=1, flipped=((0, 1),))
    beyond = ((-1, 0), (0, -1), (0, 3), (3, 0), (99, 99))
    outside = MaskRecipe(hidden_key=1, flipped=(*beyond, (0, 1)))
    assert mask_of(outside, 3) == mask_of(inside, 3)
    for hidden_key in (3, -1):
        assert mask_of(MaskRecipe(hidden_key=hidden_key), 3) == mask_of(MaskRecipe(), 3)


@pytest.mark.parametrize(
    ("mask", "message"),
    [
        (torch.ones(3, 3), "a mask is True where a query may look, but this one is float32"),
        (torch.ones(3, 3).long(), "a mask is True where a query may look, but this one is int64"),
        (torch.ones(3, 4).bool(), "a mask of 3 × 4 does not fit scores of 3 × 3"),
        (torch.ones(2, 3, 3).bool(), "a mask of 2 × 3 × 3 does not fit scores of 3 × 3"),
        (torch.ones(2, 3).bool(), "a mask of 2 × 3 does not fit scores of 3 × 3"),
    ],
    ids=["floats", "whole numbers", "a key too many", "heads in front", "a query too few"],
)
def test_a_mask_of_another_kind_or_shape_is_named(mask, message):
    matrices = torch.ones(3, 2, 5, 7).unbind()
    for refuse in (
        lambda: ops.MaskedFill().value(torch.ones(3, 3), mask),
        lambda: heads_one_by_one(torch.ones(3, 5), *matrices, mask=mask),
    ):
        with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
            refuse()


@pytest.mark.parametrize("probability", [-0.1, 1.0, 1.5, math.inf, math.nan])
def test_dropout_leaves_something(probability):
    message = f"dropout of {probability}: choose 0 or more, and less than 1"
    with refused(message):
        ops.Drop(probability)
    with refused(message):
        drop_weights(attend_masked(journey(), ways=("",)), probability, seed=1)


# --- recipes --------------------------------------------------------------------------------------


@pytest.mark.parametrize("least", [0, -1])
@pytest.mark.parametrize(
    ("recipe", "name"),
    [
        *((Projections, name) for name in ("d_query", "d_value")),
        *((HeadsRecipe, name) for name in ("n_heads", "d_head", "d_value", "d_model")),
    ],
)
def test_a_width_or_a_number_of_heads_below_1_is_refused(recipe, name, least):
    with refused(f"{name} is {least}, but must be 1 or more"):
        recipe(**{name: least})


@pytest.mark.parametrize("recipe", [Projections, HeadsRecipe])
def test_a_recipe_offers_choices_and_no_others(recipe):
    with refused("start is 'normal', but must be 'rand' or 'linear' or 'given'"):
        recipe(start="normal")
    with refused("scale is 'sqrt', but must be 'sqrt_d' or 'none' or 'd'"):
        recipe(scale="sqrt")


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        (
            {"tokenizer": "nope"},
            "tokenizer is 'nope', but must be 'text' or 'blanks_kept' or 'blanks' or "
            "'lower_words' or 'tiny_language'",
        ),
        (
            {"vocabulary": "sorted"},
            "vocabulary is 'sorted', but must be 'distinct' or 'duplicates' or 'random' or "
            "'trained'",
        ),
        ({"d_in": 0}, "d_in is 0, but must be 1 or more"),
        ({"reserved": -1}, "reserved is -1, but must be 0 or more"),
        ({"skipped_draws": -1}, "skipped_draws is -1, but must be 0 or more"),
    ],
    ids=str,
)
def test_inputs_have_only_what_there_is(setting, message):
    with refused(message):
        Inputs("cat", **setting)


@pytest.mark.parametrize("n_heads", [0, -2, 3])
def test_a_width_that_heads_cannot_share_is_refused_with_those_that_can(n_heads):
    with refused(
        f"d_model = 4 cannot be shared evenly among {n_heads} heads. It can among 1, 2 or 4"
    ):
        even_width(4, n_heads)


def test_no_width_cannot_be_shared():
    with refused("d_model is 0, but must be 1 or more"):
        even_width(0, 2)


def test_what_attention_divides_by_and_hides_by_is_one_of_its_choices():
    trace = Trace()
    rows = trace.step("rows", ops.Given(((1.0, 2.0),)), axes=("token", "d"))
    with pytest.raises(ValueError, match="scale is 'sqrt'"):
        attention(trace, rows, rows, rows, "sqrt")
    with pytest.raises(ValueError, match="scale is 'sqrt'"):
        attend_masked(journey(), scale="sqrt")
    with pytest.raises(ValueError, match="way of hiding is 'zero'"):
        attend_masked(journey(), ways=("", "zero"))
    with pytest.raises(ValueError, match=r"way of hiding is 'zeroed_', but must be ''$"):
        change_token(attend_masked(journey(), ways=("",)), 0, 1.0, "zeroed_")


# --- typed numbers --------------------------------------------------------------------------------


def test_an_edit_without_numbers_or_outside_of_what_is_counted_is_refused():
    with refused("cells are counted from 0, so there is no cell [-1, 0]"):
        ops.Edit(((-1, 0, 9.0),))
    with refused("no cell was typed: an edit needs a row, a column and a number"):
        ops.Edit(())


# --- training -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"steps": 0}, "0 steps: choose 1 to 5,000"),
        ({"steps": 5_001}, "5001 steps: choose 1 to 5,000"),
        ({"width": 0}, "a width of 0: choose 1 to 64"),
        ({"width": 65}, "a width of 65: choose 1 to 64"),
        ({"learning_rate": -0.1}, "a learning rate of -0.1: choose 0 or more"),
        ({"learning_rate": math.nan}, "a learning rate of nan: choose 0 or more"),
        ({"learning_rate": math.inf}, "a learning rate of inf: choose 0 or more"),
    ],
    ids=str,
)
def test_training_has_settings_within_its_bounds(arguments, message):
    with refused(message):
        TrainingSettings(**arguments)


@pytest.mark.parametrize(
    ("shape", "n_targets", "message"),
    [
        ((65, 3), 64, "65 tokens are too many to train on: at most 64"),
        ((3, 65), 2, "embeddings of width 65 are too wide to train on: 64 fit"),
        ((3, 5), 3, "3 tokens have 2 next ones, but there are targets of shape (3,)"),
    ],
    ids=str,
)
def test_training_refuses_what_is_too_large_or_does_not_fit_before_its_first_step(
    shape, n_targets, message
):
    targets = next_tokens([str(place) for place in range(n_targets + 1)])
    with refused(message):
        train(torch.ones(shape), targets)
