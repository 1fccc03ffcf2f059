"""What stands between the matrices of an equation belongs to the operation of its result."""

import re

import pytest

from attention_core.operations.base import Operation
from traces import every_kind

OPERATIONS = [
    kind
    for kind in every_kind()
    if kind.value is not Operation.value and kind.__module__.startswith("attention_core.")
]

ARROWS = ("ExpDifference", "Rescale")
"""What does more with its operands than the sign between them says, such as e to the difference."""


@pytest.mark.parametrize("kind", OPERATIONS, ids=lambda kind: kind.__name__)
def test_every_operation_says_what_stands_before_each_operand_and_its_result(kind):
    operation = object.__new__(kind)  # only its signs are asked for, whatever it is made with
    n_operands = len(re.findall(r"\(.*?\)", operation.takes))
    if not n_operands:  # nothing stands before what is given or drawn
        return
    *before, equals = operation.signs
    assert len(before) == n_operands
    assert before.count("") == 1, "one operand stands first"
    assert equals
    drawn = [sign for sign in before if sign is not None]
    does_more = kind.__name__ in ARROWS
    assert (equals == "=") == (len(drawn) > 1 and not does_more), "= behind operands, an arrow else"


@pytest.mark.parametrize(("kind", "signs"), [
    ("MatMul", ("", "·", "=")), ("Add", ("", "+", "=")), ("Subtract", ("", "−", "=")),
    ("Multiply", ("", "⊙", "=")), ("Divide", ("", "÷", "=")), ("Lookup", ("→", "", "=")),
    ("Softmax", ("", "→")), ("SumLast", ("", "Σ")),
])  # fmt: skip
def test_the_signs_are_those_of_a_formula(kind, signs):
    (found,) = [each for each in OPERATIONS if each.__name__ == kind]
    assert found().signs == signs
