"""What is known of a sentence's way through a model: measures of heads on patterns made for them,
what is said after each layer, and what each part brought.
"""

import pytest
import torch

from attention_core.real_model.changes import Changes
from attention_core.real_model.known import brought, from_tokens, lens, likeliest
from attention_core.real_model.measures import MEASURES
from attention_core.real_model.model import open_model
from attention_core.real_model.run import logits, run
from attention_core.real_model.tiny import TINY

TEXT = "anna brook finds the ball . ben hill paints the kite . anna"
# Token 3 stands again at 5 and 9, token 4 at 6: what followed them stands at 4, 7 and 5.
IDS = [0, 1, 2, 3, 4, 3, 4, 7, 8, 3]


@pytest.fixture(scope="module")
def model():
    return open_model(TINY)


@pytest.fixture(scope="module")
def found(model):
    return run(model, model.tokenizer.encode(TEXT).ids)


def looking(places):
    """Weights that lie where `places` say for each query, on itself where they say nothing."""
    weights = torch.eye(len(IDS))
    for query, keys in places.items():
        weights[query] = 0
        weights[query, list(keys)] = 1 / len(keys)
    return weights


@pytest.mark.parametrize(
    ("name", "places"),
    [
        ("previous token", {query: [query - 1] for query in range(1, 10)}),
        ("first token", {query: [0] for query in range(1, 10)}),
        ("same token", {5: [3], 6: [4], 9: [3, 5]}),
        ("induction", {5: [4], 6: [5], 9: [4, 6]}),
        ("near tokens", {query: [query - 2, query] for query in range(3, 10)}),
        ("spread", {query: range(query + 1) for query in range(10)}),
    ],
)
def test_a_measure_is_1_where_a_head_does_just_that_and_else_what_share_it_gives(name, places):
    does = looking(places)
    elsewhere = torch.eye(len(IDS))
    if name == "near tokens":
        elsewhere = looking({query: [0] for query in range(10)})
    both = torch.stack([does, 0.5 * does + 0.5 * elsewhere, elsewhere])
    scores = MEASURES[name].scores(both, IDS)
    assert scores[0] == pytest.approx(1)
    if name == "spread":
        assert 0.5 < scores[1] < 0.99
        return
    assert scores[1:].tolist() == pytest.approx([0.5, 0])
    row, column = MEASURES[name].pairs(IDS).nonzero().T
    assert {*row.tolist()} == {*places}
    assert (column <= row).all()


def test_where_no_token_comes_again_nobody_can_look_at_it():
    assert MEASURES["induction"].scores(torch.eye(5)[None], range(5)).tolist() == [0]


def test_the_lens_says_after_the_last_layer_what_the_model_says(model, found):
    n_layers, n = model.settings.n_layers, len(found.ids)
    told = lens(found, most=3)
    wanted = logits(found).softmax(dim=-1).topk(3)
    assert told.ids.view(n_layers + 1, n, 3)[-1].equal(wanted.indices)
    torch.testing.assert_close(told.chances.view(n_layers + 1, n, 3)[-1], wanted.values)


def test_slices_of_the_vocabulary_change_nothing(model, found, monkeypatch):
    whole = likeliest(model, found.final, 5)
    monkeypatch.setattr("attention_core.real_model.known.ROWS_AT_ONCE", 7)
    sliced = likeliest(model, found.final, 5)
    assert sliced.ids.equal(whole.ids)
    torch.testing.assert_close(sliced.chances, whole.chances)


@pytest.mark.parametrize(
    "changes", [Changes(), Changes(heads=frozenset({(0, 1)})), Changes(attention=frozenset({1}))]
)
def test_what_each_part_brought_adds_up_to_the_logit(model, found, changes):
    changed = run(model, found.ids, changed=changes)
    for query, token in ((3, 7), (len(found.ids) - 1, 41)):
        logit = float(logits(changed, [query])[0, token])
        parts = brought(changed, query, token)
        assert parts.total == pytest.approx(logit, rel=1e-4, abs=1e-4)
        above = brought(changed, query, token, against=5).total
        other = float(logits(changed, [query])[0, 5])
        assert above == pytest.approx(logit - other, rel=1e-4, abs=1e-4)
        assert (parts.heads[0, 1] == 0) == bool(changes.heads)
        for layer in range(model.settings.n_layers):
            each = from_tokens(changed, layer, 2, query, token)
            if layer not in changes.attention:
                assert float(each.sum()) == pytest.approx(float(parts.heads[layer, 2]), abs=1e-5)
            assert each[query + 1 :].eq(0).all()
