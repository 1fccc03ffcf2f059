"""What stands before an equals sign is what the matrix after it is made of, on every page."""

import operator

import numpy as np
import pytest

from attention_ui.lessons.multi_head_attention.lesson import n_drawn
from attention_ui.page.equation import NEW_LINE
from attention_ui.picture.matrix import Matrix
from drawn import CASES, equations

MAKES = ("=", "→", "↠", "Σ")
"""Operators before a result; "↠" is before one that several steps make of a single matrix."""
COMBINED = {
    "·": np.matmul,
    "⊙": np.multiply,
    "+": np.add,
    "−": np.subtract,
    "÷": np.divide,
    "max": np.maximum,
    "÷√": lambda left, right: left / np.sqrt(right + 1e-5),  # of a variance, to which ε is added
    "↻": lambda vectors, angles: turned(vectors, angles),
    "": lambda *heads: np.concatenate(heads, axis=1),
}


def turned(vectors, angles):
    """Pairs of columns, k and k + d/2, turned by their angles: by complex numbers."""
    left, right = np.split(vectors, 2, axis=1)
    made = (left + 1j * right) * np.exp(1j * angles)
    return np.concatenate([made.real, made.imag], axis=1)


def claims(parts):
    """(operands, operators between them, sign, result) of each result in an equation."""
    matrices, signs, begins = [], [], {0}
    sign = before = ""
    for part in parts:
        if isinstance(part, Matrix):
            if before == NEW_LINE and signs[-1] in MAKES:
                begins.add(len(matrices))  # a line after a result is an equation of its own
            matrices.append(part)
            signs.append(sign)
            sign = ""
        elif part != NEW_LINE:
            sign = part
        before = part
    results = [at for at, sign in enumerate(signs) if sign in MAKES]
    for at in results:
        if not is_made(matrices, at) and at != results[-1]:
            continue  # an operand of the next one, as a table is that ids point into
        first = at - 1
        while first not in begins and (signs[first] not in MAKES or not is_made(matrices, first)):
            first -= 1
        yield matrices[first:at], signs[first + 1 : at], signs[at], matrices[at]


def is_made(matrices, at):
    """Whether a matrix comes from one before it, by any steps, or is another way to it."""
    before = {matrix.step.name for matrix in matrices[:at]}
    return bool(before & upstream(matrices[at].step))


def upstream(step):
    return {step.name}.union(*map(upstream, step.inputs))


def is_equal(matrix, other):
    return matrix.axes == other.axes and same(drawn(matrix), drawn(other))


def drawn(matrix):
    """The numbers of a matrix as they stand on the page, (rows, columns)."""
    numbers = matrix.drawn.double().numpy()
    numbers = numbers.reshape(len(numbers), -1)
    return numbers.T if matrix.transposed else numbers


def same(one, other):
    largest = np.abs(other[np.isfinite(other)]).max(initial=1.0)
    return one.shape == other.shape and np.allclose(
        one, other, rtol=1e-4, atol=1e-5 * largest, equal_nan=True
    )


def steps_fit(operands, sign, result):
    """Whether the operands are the inputs of the result's step. After an arrow some may be left
    out, such as the mask, which is drawn into the scores; the first may not.
    """
    inputs = result.step.inputs
    known = [
        next(
            (  # the step itself first: two operands may have the same numbers
                at
                for fits in (operator.is_, equals)
                for at, given in enumerate(inputs)
                if fits(operand.step, given)
            ),
            None,
        )
        for operand in operands
    ]
    wanted = {at for at, given in enumerate(inputs) if given not in inputs[:at]}
    return None not in known and (wanted == {*known} or (sign == "→" and 0 in known))


def equals(step, given):
    return step is given or (step.axes == given.axes and step.value.equal(given.value))


def heads_fit(operands, result):
    """Whether each operand is drawn for the result's head, or for all of them."""
    for operand in operands:
        heads = [each.lead for each in operands if each.step is operand.step]
        if operand.lead and result.lead != operand.lead:
            return not result.lead and heads == [(h,) for h in range(n_drawn(operand.step))]
    return True


def numbers_fit(operands, between, sign, result):
    """Whether what stands on the page is true of the numbers that stand there."""
    if sign == "→" or "→" in between:
        return True
    if any(each.lead and n_drawn(each.step) < len(each.step.value) for each in operands):
        return True  # not all heads are drawn
    made = drawn(operands[0])
    with np.errstate(all="ignore"):
        for sign_before, operand in zip(between, operands[1:], strict=True):
            made = COMBINED[sign_before](made, drawn(operand))
    if sign == "Σ":
        sums = made.sum(axis=1, keepdims=True), made.cumsum(axis=0)
        return any(same(each, drawn(result)) for each in sums)
    return same(made, drawn(result))


def is_true(operands, between, sign, result):
    """Whether a claim holds: one matrix made of others, or two that are equal."""
    if not result.step.inputs:
        return False
    if sign == "=" and {*between} <= {"="} and all(is_equal(each, result) for each in operands):
        return True
    names = {operand.step.name for operand in operands}
    if sign == "→" and {*between} == {""} and len(names) > 1:
        return names <= upstream(result.step)  # the matrices that a whole lesson begins with
    if sign == "↠":
        (source,) = operands
        return source.step is not result.step and source.name in upstream(result.step)
    return (
        steps_fit(operands, sign, result)
        and heads_fit(operands, result)
        and numbers_fit(operands, between, sign, result)
    )


def said(operands, between, sign, result):
    signs = [*between, sign]
    left = " ".join(f"{each.name} {sign}" for each, sign in zip(operands, signs, strict=True))
    return f"{left} {result.name}"


@pytest.mark.slow("25 s: every page with every example")
@pytest.mark.parametrize(("page", "link"), CASES)
def test_what_stands_before_the_sign_is_what_the_result_is_made_of(page, link):
    found = [claim for each in equations(page, link) for claim in claims(each.parts)]
    assert found or link.get("row_from") == "hand"
    wrong = [said(*claim) for claim in found if not is_true(*claim)]
    assert not wrong
