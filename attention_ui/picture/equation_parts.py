"""An equation as matrices with signs between them, worked out from the steps that it shows."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from attention_core.operations import MatMul
from attention_core.trace import Step

from .matrix import Matrix

Parts = tuple[Matrix | str, ...]
NEW_LINE = "\n"
"""Among the parts of an equation: what follows begins a line of its own."""
UNNAMED = ("", "row")
"""Along rows of these axes nothing has a name: a vector that lies down, one number of a row."""


def equation_of(*steps: Step, drawn: Sequence[Matrix] = ()) -> Parts:
    """Steps as one equation: the operands of the first, with its operation's signs, and the step;
    then what each further one does with the last. `drawn` are matrices to draw otherwise. A vector
    stands upright, as a column, unless a matrix product has it as a row.
    """
    own = {matrix.step.name: matrix for matrix in drawn}
    is_product = any(isinstance(step.operation, MatMul) for step in steps)

    def matrix(step: Step, turned: bool = False) -> Matrix:
        lies = is_product and step.value.ndim == 1
        return own.get(step.name) or Matrix(step, transposed=lies or turned)

    parts: list[Matrix | str] = []
    last = None
    for step in steps:
        *before, equals = step.operation.signs
        signed = [(sign, at) for at, sign in enumerate(before) if sign is not None]
        for sign, at in sorted(signed, key=lambda one: one[0] != "") if step.inputs else ():
            if at < len(step.inputs) and not (sign == "" and step.inputs[at] is last):
                operand = matrix(step.inputs[at], turned=step.operation.turns(at))
                parts += [sign, operand] if sign else [operand]
        parts += [equals, matrix(step)] if step.inputs else [matrix(step)]
        last = step
    return tuple(parts)


def written_out(parts: Sequence[Step | Matrix | str]) -> list[Matrix | str]:
    """An equation's parts with its steps written out."""
    written: list[Matrix | str] = []
    for are_steps, group in groupby(parts, key=lambda part: isinstance(part, Step)):
        each = tuple(group)
        written += equation_of(*each) if are_steps else each
    return written


def in_lines(parts: Sequence[Matrix | str]) -> list[list[tuple[str, Matrix]]]:
    """The matrices of an equation, each with the sign before it, in the lines it is written in."""
    lines: list[list[tuple[str, Matrix]]] = [[]]
    sign = ""
    for part in parts:
        if isinstance(part, Matrix):
            lines[-1].append((sign, part))
            sign = ""
        elif part == NEW_LINE:
            lines.append([])
        else:
            sign = part.strip()
    return lines


def laid_out(parts: Sequence[Step | Matrix | str]) -> Parts:
    """An equation's parts as drawn: steps written out, and shared labels of rows only once."""
    written = written_out(parts)
    labelled = None
    for at, part in enumerate(written):
        if isinstance(part, Matrix):
            axis = part.axes[0]
            along = axis, part.rows, part.lead if axis.startswith("d_") else ()
            if axis in UNNAMED or along == labelled:
                written[at] = replace(part, row_labels=False)
            else:
                labelled = along
        elif part == NEW_LINE:
            labelled = None
    return tuple(written)
