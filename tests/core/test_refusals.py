"""What cannot be computed is refused by the core in plain words, before torch stumbles over it."""

import math
import re

import pytest
import torch

from attention_core import EXAMPLES, Inputs, SimplifiedOptions, Trace, embed, expand_query
from attention_core import attend as attend_simply
from attention_core import operations as ops
from attention_core.experiments.training import TrainingSettings, next_tokens, train
from attention_core.mechanism.attention import attention
from attention_core.mechanism.masking import attend_masked, change_token, mask_of
from attention_core.mechanism.multi_head import attend_heads, expand_word, switch_off
from attention_core.mechanism.softmax import given_row, store_row
from attention_core.mechanism.trainable import attend_trainable, expand_token
from attention_core.published.printed import notebook
from attention_core.recipes import HeadsRecipe, MaskRecipe, Projections, even_width
from attention_core.text.vocabulary import MAX_LABELLED_ROWS, Vocabulary
from checks import refused


def journey():
    return embed(EXAMPLES["journey_123"].inputs)


def of_matrix(operation):
    return lambda: operation.value(torch.ones(3, 5))


def made(what, **settings):
    """Something that is made with settings; a mask of 3 queries and 5 keys."""
    plain = {"n_queries": 3, "n_keys": 5} if what is ops.AttentionMask else {}
    return lambda: what(**plain | settings)


def typed(role):
    edits = [(), (), ()]
    edits[role] = ((0, 2, 1.0),)
    return lambda: attend_trainable(journey(), Projections(edits=tuple(edits)))


def trained(shape, n_targets):
    targets = next_tokens([str(place) for place in range(n_targets + 1)])
    return lambda: train(torch.ones(shape), targets)


EXPANDED = {
    "query": lambda place: expand_query(attend_simply(journey()), place),
    "token": lambda place: expand_token(attend_trainable(journey()), place),
    "word": lambda place: expand_word(attend_heads(journey()), place),
    "change": lambda place: change_token(attend_masked(journey()), place, 1.0),
}
WIDTHS = [(Projections, name) for name in ("d_query", "d_value")]
WIDTHS += [(HeadsRecipe, name) for name in ("n_heads", "d_head", "d_value", "d_model")]
ROW_3, ROW_BELOW = (f"there is no row {at}: the last of 3 is row 2" for at in (3, -1))
EDIT = "in a matrix of 3 rows and"
UNEVEN = "cannot be shared evenly among"
MASK, NO_ONE = ops.AttentionMask, "a mask needs at least one query and one key"
TOKENIZER = "'text' or 'blanks_kept' or 'blanks' or 'lower_words' or 'tiny_language'"
VOCABULARY = "'distinct' or 'duplicates' or 'random' or 'trained'"
REFUSED = [
    # places that do not exist
    (of_matrix(ops.Edit(((3, 0, 1.0),))), f"there is no cell [3, 0] {EDIT} 5 columns"),
    (of_matrix(ops.Edit(((0, 5, 1.0),))), f"there is no cell [0, 5] {EDIT} 5 columns"),
    (of_matrix(ops.Row(3)), ROW_3),
    (of_matrix(ops.ScaleRow(3, 2.0)), ROW_3),
    (of_matrix(ops.ShiftRow(-1, 2.0)), ROW_BELOW),
    *(
        (
            lambda head=head: switch_off(attend_heads(journey()), head),
            f"there is no head {head}: the last of 2 is head 1",
        )
        for head in (-1, 2)
    ),
    *(
        (lambda of=of: of(6), "there is no row 6: the last of 6 is row 5")
        for of in EXPANDED.values()
    ),
    # heads that cannot share
    *((of_matrix(ops.SplitHeads(n)), f"5 columns {UNEVEN} {n} heads") for n in (2, 0)),
    (of_matrix(ops.SplitWithoutTranspose(2)), f"5 columns {UNEVEN} 2 heads"),
    (of_matrix(ops.RowsOfHeads(2)), f"3 rows {UNEVEN} 2 heads"),
    *(
        (lambda n=n: even_width(4, n), f"d_model = 4 {UNEVEN} {n} heads. It can among 1, 2 or 4")
        for n in (0, 3)
    ),
    (lambda: even_width(11, 2), f"d_model = 11 {UNEVEN} 2 heads. It can among 1"),
    (lambda: even_width(0, 2), "d_model is 0, but must be 1 or more"),
    # typed numbers
    *((typed(role), f"there is no cell [0, 2] {EDIT} 2 columns") for role in range(3)),
    (made(ops.Edit, edits=()), "no cell was typed: an edit needs a row, a column and a number"),
    (
        made(ops.Edit, edits=((-1, 0, 9.0),)),
        "cells are counted from 0, so there is no cell [-1, 0]",
    ),
    # masks
    (made(MASK, n_queries=0), NO_ONE),
    (made(MASK, n_keys=-1), NO_ONE),
    (made(MASK, window=0), "a window of 0 hides every key: choose 1 or more"),
    (made(MASK, hidden_key=5), "there is no key 5: the last of 5 is key 4"),
    (made(MASK, hidden_key=-1), "there is no key -1: the last of 5 is key 4"),
    (made(MASK, flipped=((0, 0), (-1, 0))), "there is no query -1: the last of 3 is query 2"),
    (made(MASK, flipped=((0, 5),)), "there is no key 5: the last of 5 is key 4"),
    # dropout
    *(
        (made(ops.Drop, probability=p), f"dropout of {p}: choose 0 or more, and less than 1")
        for p in (-0.1, 1.0, 1.5, math.inf, math.nan)
    ),
    # caps
    *(
        (made(cap, cap=0.0), "a cap of 0 on the scores: choose a number above 0")
        for cap in (ops.SoftCap, ops.SoftCapSlope)
    ),
    # recipes
    *(
        (made(recipe, **{name: least}), f"{name} is {least}, but must be 1 or more")
        for recipe, name in WIDTHS
        for least in (0, -1)
    ),
    *(
        (made(recipe, **{name: value}), f"{name} is {value!r}, but {words}")
        for recipe in (Projections, HeadsRecipe)
        for name, value, words in (
            ("start", "normal", "must be 'rand' or 'linear' or 'given'"),
            ("start", "given", "no matrices are given"),
            ("scale", "sqrt", "must be 'sqrt_d' or 'none' or 'd'"),
        )
    ),
    (made(Projections, skipped_draws=-1), "skipped_draws is -1, but must be 0 or more"),
    # inputs
    *(
        (made(Inputs, sentence="cat", **{name: value}), f"{name} is {value!r}, but must be {what}")
        for name, value, what in (
            ("tokenizer", "nope", TOKENIZER),
            ("vocabulary", "sorted", VOCABULARY),
            ("d_in", 0, "1 or more"),
            ("reserved", -1, "0 or more"),
            ("skipped_draws", -1, "0 or more"),
        )
    ),
    # training
    *((made(TrainingSettings, steps=n), f"{n} steps: choose 1 to 5,000") for n in (0, 5_001)),
    *((made(TrainingSettings, width=n), f"a width of {n}: choose 1 to 64") for n in (0, 65)),
    *(
        (made(TrainingSettings, learning_rate=r), f"a learning rate of {r}: choose 0 or more")
        for r in (-0.1, math.nan, math.inf)
    ),
    (trained((65, 3), 64), "65 tokens are too many to train on: at most 64"),
    (trained((3, 65), 2), "embeddings of width 65 are too wide to train on: 64 fit"),
    (trained((1, 3), 0), "a sentence of one token has no next token to predict: add a word"),
    (trained((3, 5), 3), "3 tokens have 2 next ones, but there are targets of shape (3,)"),
]


@pytest.mark.parametrize(("call", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_what_cannot_be_is_refused_in_words(call, message):
    with refused(message):
        call()


def test_one_token_has_no_weights_alone_where_they_are_shared_down_another_axis():
    trace = attend_trainable(journey(), softmax_dim=-2)
    before = set(trace)
    with pytest.raises(ValueError, match="shared out along another axis than the keys"):
        expand_token(trace, 1)
    assert set(trace) == before


def test_the_mask_of_a_sentence_leaves_out_what_lies_outside_of_it():
    inside = MaskRecipe(hidden_key=1, flipped=((0, 1),))
    beyond = ((-1, 0), (0, -1), (0, 3), (3, 0), (99, 99))
    outside = MaskRecipe(hidden_key=1, flipped=(*beyond, (0, 1)))
    assert mask_of(outside, 3) == mask_of(inside, 3)
    for hidden_key in (3, -1):
        assert mask_of(MaskRecipe(hidden_key=hidden_key), 3) == mask_of(MaskRecipe(), 3)


def without(what, **settings):
    """Simplified attention, or masked attention, with a choice that there is not."""
    return lambda: what(journey(), **settings)


def on(operation, *operands):
    """An operation on tensors, or on ones of a shape."""
    given = [torch.ones(each) if isinstance(each, tuple) else each for each in operands]
    return lambda: operation.value(*given)


ALONE = Trace()
ROWS = ALONE.step("rows", ops.Given(((1.0, 2.0),)), axes=("token", "d"))
SEVEN, DRAW = Vocabulary.distinct("abcdefg"), ops.Draw("uniform", (2,), seed=1)
ONLY_PLAIN = attend_masked(journey(), ways=("",))
SAID = [
    (lambda: attention(ALONE, *[ROWS] * 3, scale="sqrt"), "scale is 'sqrt'"),
    (without(attend_masked, scale="sqrt"), "scale is 'sqrt'"),
    (without(attend_masked, ways=("", "zero")), "way of hiding is 'zero'"),
    (lambda: change_token(ONLY_PLAIN, 0, 1.0, "zeroed_"), "hiding is 'zeroed_', but must be ''"),
    *(
        (lambda name=name, wrong=wrong: SimplifiedOptions(**{name: wrong}), wrong)
        for name, wrong in (("similarity", "cosinus"), ("divide", "sqrt"), ("normalise", "max"))
    ),
    (lambda: ops.Draw("cauchy", (2, 3), seed=1).value(), "no distribution is called 'cauchy'"),
    *(
        (
            made(ops.Draw, distribution="normal", shape=(2, 3), **given),
            "a draw has either a seed or",
        )
        for given in ({}, {"seed": 1, "after": DRAW})
    ),
    (lambda: given_row(()), "at least one score"),
    (lambda: store_row(given_row((1.0,)), 0.0, "float8"), "float8"),
    (lambda: notebook("../x"), "no notebook is called '../x': there are wild_cat"),
    (Inputs("a", vocabulary="random").build_vocabulary, "random ids belong to no vocabulary"),
    (lambda: Vocabulary.distinct(["a"], ("<pad>", "<pad>")), "once only: <pad>, <pad>"),
    (lambda: Vocabulary((("a", 1), ("b", 5)), 5), 'the row of "b" is 5, but the table has 5 rows'),
    *(
        (lambda row=row: SEVEN.token(row), f"row {row} does not exist: the table")
        for row in (-1, 9)
    ),
    (Vocabulary((), n_rows=MAX_LABELLED_ROWS + 1).rows, "10,001 rows are too many"),
    # shapes that the arithmetic cannot tell; said from the first word, ^
    (on(ops.Divide(), (1, 2), (1, 2)), "^Divide takes (…, key) (…, 1), but was given (1, 2) (1"),
    (on(ops.Multiply(by_row=True), (3,), (2, 3, 5)), "^Multiply takes (key) (key, d), but"),
    (on(ops.ScaleRow(0, 2.0), (3, 3, 5)), "^ScaleRow takes (token, d), but was given (3, 3, 5)"),
    (on(ops.MatMulByLoop(), (2, 3), (5, 7)), "^MatMulByLoop takes (i, k) (j, k), but"),
    (on(ops.SumHeads(), (3, 5)), "^SumHeads takes (head, i, j), but was given (3, 5)"),
    (on(ops.Softmax(-2), (5,)), "^Softmax takes (…, query, key), but was given (5)"),
    (on(ops.SumLast(), ()), "^SumLast takes (…, d), but was given ()"),
    (on(ops.Add(), (3, 5), (3, 7)), "^Add takes (…) (…), but was given (3, 5) (3, 7)"),
    *(
        (on(ops.MaskedFill(), (3, 3), mask), f"^a mask {words}")
        for mask, words in (
            (torch.ones(3, 3), "is True where a query may look, but this one is float32"),
            (torch.ones(3, 3).long(), "is True where a query may look, but this one is int64"),
            (torch.ones(3, 4).bool(), "of 3 × 4 does not fit scores of 3 × 3"),
            (torch.ones(2, 3, 3).bool(), "of 2 × 3 × 3 does not fit scores of 3 × 3"),
            (torch.ones(2, 3).bool(), "of 2 × 3 does not fit scores of 3 × 3"),
        )
    ),
]


@pytest.mark.parametrize(("call", "words"), SAID, ids=[words for _, words in SAID])
def test_what_is_not_there_is_refused_by_its_name(call, words):
    with pytest.raises(ValueError, match=re.escape(words).replace(r"\^", "^")):
        call()


def test_what_makes_a_trace_is_told_to_who_gives_a_text_alone():
    with pytest.raises(ValueError, match=r"must be a trace .*: embed\('a b'\) makes one of a text"):
        attend_simply("a b")
    with pytest.raises(ValueError, match=r"must be a trace or a tensor or a list$"):
        attend_simply(3.5)
