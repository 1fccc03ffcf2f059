"""What a model keeps and lets go, how it reads a text that is too long, and what is changed."""

from dataclasses import replace

import pytest
import torch

from attention_core.real_model import tiny
from attention_core.real_model.changes import Changes
from attention_core.real_model.model import open_model
from attention_core.real_model.run import run
from attention_core.real_model.score_parts import ScoreParts


def test_a_longer_text_is_read_by_a_model_that_turns_otherwise_and_is_made_once():
    model = open_model(tiny.TINY)
    assert model.reading(10**6) is model, "it has one way alone"
    model.settings = replace(model.settings, longer=(5, ((0.5, 0.25),)))
    assert model.reading(5) is model
    longer = model.reading(6)
    assert longer is model.reading(7) is not model
    assert longer.settings == replace(model.settings, rates=((0.5, 0.25),), longer=None)
    assert longer.reading(6) is longer
    assert longer.source is model.source


def test_a_model_that_is_let_go_keeps_nothing_and_still_reads():
    model = open_model(tiny.TINY)
    model.settings = replace(model.settings, longer=(5, ((0.5,),)))
    longer, before = model.reading(6), run(model, (0, 1, 2)).final
    layer = model.layer(1)
    assert model.layer(1) is layer, "kept"
    model.let_go()
    assert (model.kept_bytes, longer.kept_bytes) == (0, 0)
    assert not model._kept
    assert not model._tables
    assert model.layer(1) is not layer
    assert torch.equal(run(model, (0, 1, 2)).final, before)
    assert len(model._kept) == 1, "the last one alone"


SETTINGS = open_model(tiny.TINY).settings
N_TOKENS = 4
WHOLE = torch.zeros(SETTINGS.d_model)
LAYERS, HEADS = SETTINGS.n_layers, SETTINGS.n_heads
BOUNDS = [
    ("attention", lambda layer: {layer}, 0, LAYERS - 1, "layer"),
    ("ffn", lambda layer: {layer}, 0, LAYERS - 1, "layer"),
    ("heads", lambda layer: {(layer, 0)}, 0, LAYERS - 1, "layer"),
    ("heads", lambda head: {(0, head)}, 0, HEADS - 1, "head"),
    ("patches", lambda layer: {(layer, 0): WHOLE}, 0, LAYERS, "layer"),
    ("patches", lambda token: {(0, token): WHOLE}, 0, N_TOKENS - 1, "token"),
    ("hidden_tokens", lambda token: {token}, 0, N_TOKENS - 1, "token"),
]


@pytest.mark.parametrize(("what", "of", "first", "last", "one"), BOUNDS)
def test_what_is_changed_is_one_of_those_there_are(what, of, first, last, one):
    settings = replace(SETTINGS, d_ffn=8)
    for at in (first, last):
        Changes(**{what: of(at)}).check(settings, N_TOKENS)
    for beyond in (first - 1, last + 1):
        with pytest.raises(ValueError, match=f"there is no {one} {beyond}: "):
            Changes(**{what: of(beyond)}).check(settings, N_TOKENS)


def test_a_vector_is_as_wide_as_the_stream_that_it_is_put_into():
    for wrong in (WHOLE[1:], torch.cat([WHOLE, WHOLE[:1]])):
        with pytest.raises(ValueError, match="cannot stand in a stream that is 48 wide"):
            Changes(patches={(0, 0): wrong}).check(SETTINGS, N_TOKENS)


def test_no_feed_forward_is_taken_out_where_there_is_none():
    without = Changes(ffn=frozenset({0}))
    with pytest.raises(ValueError, match="this model has attention alone"):
        without.check(replace(SETTINGS, d_ffn=0), N_TOKENS)
    without.check(replace(SETTINGS, d_ffn=8), N_TOKENS)


def test_pairs_are_told_with_the_query_s_part_first_and_no_more_than_there_are():
    above = torch.tensor([[0.0, 3.0], [-1.0, 2.0]])
    parts = ScoreParts(0, 0, 1, 0, ("one", "other"), above + 1, above, None)
    best = [("one", "other", 3.0), ("other", "other", 2.0), ("one", "one", 0.0)]
    assert [*parts.pairs(3)] == best
    assert [*parts.pairs(9)] == [*best, ("other", "one", -1.0)]
    assert parts.by_key().tolist() == [-1.0, 5.0]
    assert parts.by_query().tolist() == [3.0, 1.0]
    assert parts.score == 8.0
