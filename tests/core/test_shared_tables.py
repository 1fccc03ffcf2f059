"""Large tables that are drawn from a seed: one for all traces, and none is kept by a trace."""

import gc
import weakref
from dataclasses import replace

import pytest
import torch

from attention_core import EXAMPLES, embed
from attention_core.operations.inputs import LARGE
from attention_core.utils.caching import cached_by_key

LARGE_INPUTS = replace(EXAMPLES["wild_cat"].inputs, vocabulary="random", d_in=64)
EDITS = ((3, 1, 0.5), (3, 1, 0.25), (19_999, 63, -1.0))


def storage(step):
    return step.value.untyped_storage().data_ptr()


@pytest.mark.parametrize("edits", [(), EDITS], ids=["drawn", "typed over"])
def test_traces_of_one_seed_share_their_table(edits):
    one, other = (embed(replace(LARGE_INPUTS, edits=edits)) for _ in range(2))
    for name in {"embedding_table", "drawn_table"} & {*one}:
        assert one[name].value.numel() > LARGE
        assert storage(one[name]) == storage(other[name])
        assert one[name].is_shared
    assert storage(one["embeddings"]) != storage(other["embeddings"])


@pytest.mark.slow("1 s: draws the largest table")
@pytest.mark.parametrize("edits", [(), EDITS], ids=["drawn", "typed over"])
def test_a_table_that_no_trace_keeps_is_the_same_when_it_is_drawn_again(edits):
    """More seeds than tables are kept for: the first is gone by then, and drawn again."""
    trace = embed(replace(LARGE_INPUTS, edits=edits))
    numbers = trace["embedding_table"].value.clone()
    gone = weakref.ref(trace["embedding_table"].value)
    for seed in range(100, 108):
        embed(replace(LARGE_INPUTS, seed=seed, edits=edits))
    gc.collect()
    assert gone() is None
    table = trace["embedding_table"].value
    assert torch.equal(table, numbers)
    assert torch.equal(table[trace["token_ids"].value], trace["embeddings"].value)
    for (row, column), number in {edit[:2]: edit[2] for edit in edits}.items():
        assert table[row, column] == number
    assert table._version == 0


def test_what_is_small_or_computed_is_kept_by_its_trace():
    trace = embed(replace(EXAMPLES["wild_cat"].inputs, edits=((0, 0, 1.0),)))
    assert not any(step.is_shared for step in trace.values())
    assert all(step.value is step.value for step in trace.values())


# --- results that are kept by a key ---------------------------------------------------------------
def test_a_result_is_made_once_for_a_key_and_forgets_what_it_was_made_from():
    made = []

    @cached_by_key(2)
    def doubled(number):
        made.append(number)
        return 2 * number

    assert [doubled(key, key) for key in (1, 2, 1, 3, 2)] == [2, 4, 2, 6, 4]
    assert made == [1, 2, 3, 2], "two are kept: the third drove out 2"
