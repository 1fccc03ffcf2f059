"""Where a model's numbers stop being numbers: what is said, and which weights are counted."""

import math

import pytest
import torch

from attention_core.real_model import tiny
from attention_core.real_model.model import open_model
from attention_core.real_model.not_finite import not_finite
from attention_core.real_model.run import logits, run

NAN, INFINITE = math.nan, math.inf
HUGE = 3e38


def spoilt(name, *numbers):
    """A model with other numbers in the first cells of one of its tensors."""
    model = open_model(tiny.TINY)
    plain = model.matrix

    def matrix(asked, rows=None):
        if asked != name:
            return plain(asked, rows)
        found = plain(asked).contiguous().clone()
        found.view(-1)[: len(numbers)] = torch.tensor(numbers)
        return found if rows is None else found[list(rows)]

    model.matrix = matrix
    return model


def said(model, *ids):
    done = run(model, ids)
    return not_finite(done, logits(done))


@pytest.mark.parametrize(("name", "numbers", "where", "told"), [
    ("1.W_query", (NAN,), "In layer 1", "1 nan"),
    ("0.W_value", (INFINITE, NAN, -INFINITE), "In layer 0", "1 nan and 2 infinite"),
    ("token_table", (INFINITE,), "In its embeddings", "1 infinite"),
    ("final_norm_gain", (NAN, NAN), "At its last step", "2 nan"),
    ("W_unembed", (INFINITE, INFINITE, NAN), "At its last step", "1 nan and 2 infinite"),
])  # fmt: skip
def test_it_is_said_where_they_begin_and_what_the_file_holds(name, numbers, where, told):
    model = spoilt(name, *numbers)
    words = said(model, 0, 1)
    assert words.startswith(f"{where} this model’s numbers become nan (not a number) or infinite: ")
    of = model.where(name).name
    assert words.endswith(f"“tiny_language” holds {told} in {of}."), words


def test_of_weights_that_are_finite_it_is_said_that_their_sums_are_too_large():
    words = said(spoilt("0.W_value", *[HUGE] * 400), 0, 1, 2)
    assert words.startswith("In layer 0 ")
    assert words.endswith("its weights are finite, but sums of them are larger than 3.4e38.")


def test_of_numbers_nothing_is_said_and_logits_count_alone():
    done = run(open_model(tiny.TINY), (0, 1))
    assert not_finite(done) == not_finite(done, logits(done)) == ""
    assert not_finite(done, torch.tensor([NAN])).startswith("At its last step ")
