"""What a lesson opens with: the query, the head and the vector that have most to show."""

import pytest
import torch

from attention_core import EXAMPLES, attend, attend_heads, attend_trainable, embed
from attention_core.largest_effect import (
    effect_of_rows,
    largest_cell,
    moving_vector,
    parting_row,
    spread_entries,
    telling_head,
    telling_query,
)

NAMED = EXAMPLES["named_features"]


def test_a_row_has_an_effect_as_far_as_it_tells_other_tokens_apart():
    rows = torch.tensor([[1.0, 0, 0, 0], [0.25] * 4, [0, 0.5, 0.5, 0], [0.9, 0, 0, 0.1]])
    even_of_three = torch.tensor([[1.0, 0, 0], [0.5, 0.5, 0], [1 / 3, 1 / 3, 1 / 3]])
    own, even, half, most = effect_of_rows(rows).tolist()
    assert own == 0
    assert even == pytest.approx(0)
    assert half == pytest.approx(0.5 * torch.tensor(0.5 * 2).log().item(), abs=1e-12)
    assert most == pytest.approx(0.9 * torch.tensor(0.9 * 2).log().item(), rel=1e-6)
    assert effect_of_rows(even_of_three).abs().max() < 1e-6
    assert effect_of_rows(torch.full((2, 3), torch.nan)).tolist() == [0, 0]
    assert telling_query(rows) == 3
    assert telling_head(torch.stack([rows[[1, 1, 1, 1]], rows])) == 1


def test_the_default_rows_of_the_first_example_are_those_that_the_function_finds():
    alike, asked = (
        attend(embed(NAMED.inputs)),
        attend_trainable(embed(NAMED.inputs), NAMED.projections),
    )
    for trace in (alike, asked):
        assert telling_query(trace["weights"].value) == NAMED.query == NAMED.token
    heads = attend_heads(embed(NAMED.inputs), NAMED.heads)["head_weights"].value
    asks = telling_query(heads)
    assert heads[:, asks].max() > 0.5, "a query that asks for something"


def test_the_vector_that_moves_most_is_found_by_stretching_each():
    vectors = embed(NAMED.inputs)["embeddings"].value.double()

    def moved(token):
        longer = vectors.clone()
        longer[token] *= 2
        gap = ((longer @ longer.T).softmax(-1) - (vectors @ vectors.T).softmax(-1)).abs().sum(-1)
        return gap.sum() - gap[token]

    found = moving_vector(vectors @ vectors.T)
    assert found == max(range(len(vectors)), key=moved)


def test_the_row_is_found_that_softmax_and_the_sum_share_out_most_differently():
    rows = torch.tensor([[1.0, 1, 1], [2, 1, 0], [8, 6, 2], [0.1, 0.2, 0.1]])

    def lift(row):
        return row.softmax(-1).max() - row.max() / row.sum()

    assert parting_row(rows) == max(range(4), key=lambda at: lift(rows[at])) == 2
    for below_0 in ([2.0, 1, -4], [2, 1, -2]):
        assert parting_row(torch.cat((rows, torch.tensor([below_0])))) == 4, "no shares at all"
    assert parting_row(torch.tensor([[1.0, -1], [3, 1]])) == 1, "0 is no sum to divide by"


@pytest.mark.parametrize(
    ("columns", "found"),
    [([[0, 9, 1], [0, 1, 5]], (1, 2)), ([[5, 0, 1], [1, 0, 9]], (0, 2)), ([[7], [1]], (0, 0)),
     ([[2, 2, 2], [2, 2, 2]], (0, 1)), ([[1, 0, 0], [0, 2, 0], [0, 0, 99]], (0, 1))],
)  # fmt: skip
def test_vectors_are_drawn_by_the_entries_in_which_they_differ_most(columns, found):
    weights = torch.tensor([0.5, 0.5, 0])[: len(columns)]  # nothing of the third is mixed
    assert spread_entries(torch.tensor(columns, dtype=torch.float32), weights) == found


def test_the_largest_cell_is_the_farthest_from_0():
    table = torch.tensor([[1.0, -3.0], [2.0, torch.nan], [-torch.inf, 0.0]])
    assert (largest_cell(table), largest_cell(table[1:].T)) == ((0, 1), (0, 0))
