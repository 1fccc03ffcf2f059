"""Two traces compared: what changed first, and what did not."""

import math
from dataclasses import replace

import pytest

from attention_core import EXAMPLES, embed
from attention_core.compare import changes, difference, first_changed
from attention_core.mechanism.masking import attend_masked
from attention_core.mechanism.trainable import attend_trainable
from attention_core.recipes import MaskRecipe


def layer(example, **updates):
    recipe = replace(EXAMPLES[example].projections, **updates)
    return attend_trainable(embed(EXAMPLES[example].inputs), recipe)


@pytest.mark.parametrize("example", EXAMPLES)
def test_a_new_seed_for_w_query_changes_queries_first_and_no_keys_or_values(example):
    before, now = layer(example), layer(example, seeds=(7, None, None))
    found = {change.name: change for change in changes(before, now)}
    assert first_changed(list(found.values())).name == "queries"
    assert not found["keys"].changed
    assert not found["values"].changed
    assert found["scores"].changed
    assert found["W_query"].changed
    assert found["W_query"].is_input
    apart = (now["queries"].value - before["queries"].value).abs()
    assert found["queries"].largest == pytest.approx(apart.max().item())
    assert found["queries"].n_changed == (apart > 0).sum()


def test_the_same_settings_change_nothing():
    assert first_changed(changes(layer("wild_cat"), layer("wild_cat"))) is None


def test_another_shape_is_a_change_and_names_the_old_one():
    found = {c.name: c for c in changes(layer("wild_cat"), layer("wild_cat", d_query=5))}
    assert found["queries"].largest is None
    assert found["queries"].was == "query 11 × d_query 2"
    assert found["scores"].largest is not None


def test_equal_infinities_do_not_differ():
    vectors = EXAMPLES["journey_123"].inputs
    before = attend_masked(embed(vectors))
    now = attend_masked(embed(vectors), MaskRecipe(flipped=((0, 3),)))
    step = "masked_scores"
    trace = difference(before[step], now[step], now)
    apart = trace["difference"].value
    assert apart[0, 3] == math.inf
    assert (apart.flatten() != 0).sum() == 1
    (change,) = [each for each in changes(before, now) if each.name == step]
    assert change.n_changed == 1
    cell = trace["difference"].arithmetic((1, 0))
    assert cell.value == 0
    assert trace["before"].value[0, 4] == 0, "hidden before and now: neither more nor less"
