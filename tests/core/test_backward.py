"""Gradients against torch's autograd in float64, of every operation and every lesson's trace."""

import pytest
import torch

from attention_core import EXAMPLES, attend_trainable, backward, embed
from attention_core import operations as ops
from attention_core.operations.base import Operation
from attention_core.published.building import BUILDERS
from checks import by_autograd, told
from sampling import each_once
from traces import OPERATIONS, workshop

REFUSING = {
    "JoinPair", "LogicalAnd", "OneHot", "PairCounts", "SoftmaxJacobian", "SplitWithoutTranspose",
}  # fmt: skip
"""What says in words that it has no backward pass, beside the slopes."""


class Doubled(Operation):
    """The numbers of a step that begins a trace, in float64."""

    numbers: torch.Tensor

    def value(self):
        return self.numbers

    def code(self):
        return "given"


def probed(trace, name):
    """The trace in float64 with a loss: a step's entries, each times a number of its own, added."""
    made = trace.emptied()
    for each in trace.values():
        begins = not each.inputs and each.value.is_floating_point()
        operation = Doubled(each.value.double()) if begins else each.operation
        made.step(each.name, operation, *[made[i.name] for i in each.inputs], axes=each.axes)
    step = made[name]
    numbers = torch.randn(step.value.shape, generator=torch.Generator().manual_seed(5))
    return made, told(made, step, Doubled(numbers.double()), "probed").name


def assert_as_autograd(trace, loss, of):
    found = backward(trace, loss, of)
    for name, right in zip(of, by_autograd(trace, loss, of), strict=True):
        made = found[f"grad_{name}"]
        assert made.axes == trace[name].axes
        right = right.nan_to_num(nan=0.0)  # 0/0, where a row sees nothing: here nothing flows
        size = max(1.0, right.abs().max().item())
        near = {"rtol": 1e-6, "atol": 1e-8 * size, "check_dtype": False}
        torch.testing.assert_close(made.value, right, **near, msg=lambda told, name=name: (
            f"the gradient of {name}, by the `backward` of what is made of it, is not what torch’s "
            f"autograd gives (`likewise` is right for linear operations alone)\n{told}"
        ))  # fmt: skip


def is_number(step):
    return step.value.is_floating_point() and step.value.dtype in (torch.float32, torch.float64)


def to_be_learned(step):
    return list(dict.fromkeys(each.name for each in step.inputs if is_number(each)))


WORKSHOP = workshop()
MADE = [
    name
    for name, step in WORKSHOP.items()
    if is_number(step)
    and step.value.isfinite().all()
    and to_be_learned(step)
    and all(each.value.isfinite().all() for each in step.inputs if is_number(each))
]


def learned_of(step):
    """The operands that something can be learned of: no draw of dropout, no angles."""
    known = {"Drop": 1, "Rotate": 1}.get(type(step.operation).__name__)
    return [n for n in to_be_learned(step) if known is None or step.inputs[known].name != n]


def refuses(step):
    kind = type(step.operation).__name__
    return kind in REFUSING or kind.endswith(SLOPES) or getattr(step.operation, "whole", False)


SLOPES = ("Slope", "ShareOfLargest", "ShareOfLarger")
# PutBack of one row, and a repeat along an axis in the middle, are second derivatives.
SECOND = {"one_put_back"}


@pytest.mark.parametrize("name", MADE)
def test_each_operation_is_as_autograd(name):
    step = WORKSHOP[name]
    trace, loss = probed(WORKSHOP, name)
    if refuses(step) or name in SECOND:
        with pytest.raises(ValueError, match=r"has no backward pass: .* "):
            backward(trace, loss, learned_of(step))
    else:
        assert_as_autograd(trace, loss, learned_of(step))


def test_every_operation_has_a_backward_pass_or_says_why_not():
    for kind in OPERATIONS.values():
        takes = object.__new__(kind).takes
        has = kind.backward is not Operation.backward
        assert has or kind.no_gradient or not takes, kind


LESSONS = [f"{lesson}/{example}" for lesson in BUILDERS for example in EXAMPLES]


def leaves_of(trace, end):
    """All numbers that something begins with, but for those that dropout draws."""
    drawn = {step.inputs[1].name for step in trace.values() if isinstance(step.operation, ops.Drop)}
    earlier = sorted(trace[end].earlier() - drawn)
    return [name for name in earlier if not trace[name].inputs and is_number(trace[name])]


@pytest.mark.parametrize("name", each_once(
    LESSONS, "0.1 s: the same of other examples", parts=lambda name: name.split("/")
))  # fmt: skip
def test_every_lesson_is_as_autograd(name):
    lesson, example = name.split("/")
    trace = BUILDERS[lesson](EXAMPLES[example], 0)
    used = {each.name for step in trace.values() for each in step.inputs}
    asked = 0
    for end in trace.keys() - used:
        leaves = leaves_of(trace, end)
        if not is_number(trace[end]) or not leaves:
            continue
        asked += 1
        probed_trace, loss = probed(trace, end)
        between = [trace[each] for each in (end, *trace[end].earlier()) if is_number(trace[each])]
        if any(refuses(step) for step in between if to_be_learned(step)):
            with pytest.raises(ValueError, match=r"has no backward pass: .* "):
                backward(probed_trace, loss, leaves)
        else:
            assert_as_autograd(probed_trace, loss, leaves)
    assert asked


def test_what_has_no_gradient_is_refused_in_words():
    trace = attend_trainable(embed(EXAMPLES["journey_123"].inputs))
    wanted = trace.step("wanted", ops.Entry((3, 1)), trace["weights"], axes=())
    before = list(trace)
    for loss, of, said in (
        ("nothing", ["W_query"], "no step 'nothing'"),
        ("wanted", ["W_none"], "no step 'W_none'"),
        ("weights", ["W_query"], "one number, but 'weights' has 36"),
        ("wanted", ["W_value"], "does not depend on 'W_value'"),
        ("wanted", ["token_ids"], "holds whole numbers"),
    ):
        with pytest.raises(ValueError, match=said):
            backward(trace, loss, of)
    assert list(trace) == before, "the given trace stays as it is"
    assert backward(trace, wanted.name, ["wanted"])["grad_wanted"].value.item() == 1


def test_a_slope_that_is_missing_is_asked_for_by_its_name(monkeypatch):
    monkeypatch.delattr(ops, "SoftCapSlope")
    trace, loss = probed(WORKSHOP, "capped")
    with pytest.raises(NotImplementedError, match="wants an operation SoftCapSlope with the set"):
        backward(trace, loss, learned_of(WORKSHOP["capped"]))
