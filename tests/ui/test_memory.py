"""What a session keeps of what it has shown. Streamlit keeps a record of every widget there was."""

import gc
import warnings
import weakref
from contextlib import suppress

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from attention_ui.cards import page as declared
from attention_ui.cards.cached import MOST_BYTES
from attention_ui.reactive.cache import Cache
from largest import LARGEST
from sampling import few
from visiting import LESSONS, noted_layouts, stands, visit

pytestmark = pytest.mark.slow("20 s: pages at the largest settings")

MOST_TENSORS = 5_000_000
"""Bytes of tensors that one session holds of any lesson."""


@pytest.mark.parametrize(("page", "link", "move"), [
    ("multi_head_attention", {"n_heads": "4"}, {"n_heads": "2"}),
    ("simplified_attention", {"cell": "scores.1.2"}, {"cell": "weights.2.1"}),
    ("tokenize_and_embed", {"reserved": "1"}, {"reserved": "2"}),
    ("queries_keys_values", {"example": "wild_cat"}, {"example": "journey_123"}),
])  # fmt: skip
def test_of_a_page_that_has_changed_no_tensor_is_kept(page, link, move, monkeypatch):
    # A server drops the downloads of the run before; the one that AppTest imitates does not.
    monkeypatch.setattr("attention_ui.frame.take_away.DOWNLOADS", ())
    # What cards came to is kept for everybody, and is bounded by bytes of its own.
    kept = Cache(MOST_BYTES)
    monkeypatch.setattr(declared.Page, "cache", kept)
    with noted_layouts() as found:
        at = stands(visit(page, **link))
    tensors = {name: weakref.ref(step.value) for a in found for name, step in a.trace.items()}
    assert len(tensors) > 3
    found.clear()
    kept._found.clear()
    for name, value in move.items():
        at.query_params[name] = value
    at.run()
    assert not at.exception
    gc.unfreeze()  # what the first page of a process met is never looked through again
    gc.collect()
    assert [name for name, tensor in tensors.items() if tensor() is not None] == []


def tensors_there_are():
    """The memory of every tensor in this process: bytes by place."""
    gc.unfreeze()
    gc.collect()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # old modules warn when they are looked at
        tensors = [each for each in gc.get_objects() if isinstance(each, torch.Tensor)]
        found: dict[int, int] = {}
        for each in tensors:
            # What torch.compile or vmap has left behind has no memory to ask for.
            with suppress(RuntimeError, NotImplementedError):
                memory = each.untyped_storage()
                found[memory.data_ptr()] = memory.nbytes()
    return found


def test_a_tensor_that_another_test_left_traced_has_no_memory_to_count():
    left = []
    torch.vmap(lambda one: left.append(one) or one)(torch.ones(3, 2))
    with FakeTensorMode():
        left.append(torch.ones(3))
    there = torch.ones(1_009)
    assert tensors_there_are()[there.untyped_storage().data_ptr()] == 4 * 1_009
    left.clear()


@pytest.mark.parametrize("page", few(LESSONS, 1, first="simplified_attention"))
def test_a_session_at_the_largest_settings_holds_few_tensors_of_its_own(page):
    """A second session with the same settings: what is drawn from a seed is there already."""
    first = stands(visit(page, **LARGEST))
    before = tensors_there_are()
    second = stands(visit(page, **LARGEST))
    own = {place: size for place, size in tensors_there_are().items() if place not in before}
    assert sum(own.values()) < MOST_TENSORS, sorted(own.values())[-8:]
    del first, second
