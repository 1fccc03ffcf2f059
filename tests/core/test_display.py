"""What a notebook shows of a trace, and where a step's trace is found."""

import gc

import pytest
import torch

from attention_core import Inputs, Trace, attend, embed
from attention_core import operations as ops
from attention_core.utils import display


class Drawn:
    def __init__(self, of):
        self.of = of

    def _repr_mimebundle_(self):
        return {"image": self.of.name}

    def _mime_(self):
        return "image", self.of.name


def one_step():
    return embed(Inputs("a b", tokenizer="blanks"))["embeddings"]


def refuse(_):
    raise ValueError("it is too large")


def test_a_step_is_drawn_where_something_draws_and_else_is_told_in_words(monkeypatch):
    step = one_step()
    monkeypatch.setattr(display, "drawers", [])
    assert step._repr_mimebundle_() == {"text/plain": repr(step)}
    assert step._mime_() == ("text/plain", repr(step))
    monkeypatch.setattr(display, "drawers", [refuse, Drawn])
    assert step._repr_mimebundle_(include=None) == {"image": "embeddings"}
    assert step._mime_() == ("image", "embeddings")
    monkeypatch.setattr(display, "drawers", [Drawn, refuse])
    words = f"{step!r}\nNo picture: it is too large"
    assert step._repr_mimebundle_() == {"text/plain": words}
    assert step._mime_() == ("text/plain", words)


def test_a_step_knows_its_trace_and_without_it_all_that_it_is_made_of():
    trace = attend(embed(Inputs("a b", tokenizer="blanks")))
    weights = trace["weights"]
    assert Trace.of(weights) is trace
    needed = {"weights", *weights.earlier()}
    del trace
    gc.collect()
    again = Trace.of(weights)
    assert {*again} == needed
    assert [*again][-1] == "weights"
    assert all(operand.name in [*again][:at] for at, step in enumerate(again.values())
               for operand in step.inputs)  # fmt: skip
    with pytest.raises(ValueError, match="3 long in 'odd' but 2 long in"):
        again.step("odd", ops.Draw("normal", (3,), seed=1), axes=("query",))
    assert torch.equal(again["weights"].value, weights.value)
