"""The tokens nearest to a vector, against all cosines at once."""

import pytest
import torch

from attention_core.real_model.model import open_model
from attention_core.real_model.nearest import added_up, nearest
from attention_core.real_model.tiny import TINY


@pytest.fixture(scope="module")
def model():
    return open_model(TINY)


@pytest.mark.parametrize("slice_", [7, 8192])
def test_the_nearest_are_those_of_the_largest_cosines(model, slice_, monkeypatch):
    monkeypatch.setattr("attention_core.real_model.nearest.ROWS_AT_ONCE", slice_)
    table = model.matrix("token_table").double()
    vector = added_up(model, [(1, 5), (-1, 9), (1, 30)])
    torch.testing.assert_close(vector.double(), table[5] - table[9] + table[30])
    cosines = torch.nn.functional.cosine_similarity(table, vector.double()[None])
    wanted = cosines.topk(11)
    found = nearest(model, vector, 11)
    assert [each.token for each in found] == wanted.indices.tolist()
    assert [each.cosine for each in found] == pytest.approx(wanted.values.tolist(), abs=1e-6)
    alone = nearest(model, added_up(model, [(1, 17)]), 1)
    assert alone[0].token == 17
    assert alone[0].cosine == pytest.approx(1)


def test_a_vector_that_is_no_number_is_near_to_nothing(model, monkeypatch):
    table = model.matrix("token_table").clone()
    table[3] = torch.nan
    monkeypatch.setattr(model, "matrix", lambda _, rows: table[list(rows)])
    assert {each.token for each in nearest(model, table[17], len(table))} == {
        token for token in range(len(table)) if token != 3
    }
    assert nearest(model, table[3], 5) == []
