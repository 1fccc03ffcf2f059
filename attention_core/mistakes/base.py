"""The mistakes that learners make in a step, each with the line that makes it.

A mistake belongs to an operation: whatever trace has the operation, its exercise can name them.
"""

import math
from collections.abc import Iterator
from functools import partial, singledispatch
from typing import NamedTuple

from .. import operations as ops

WRONG = "wrong_"
"""What the names of a wrong computation's steps begin with, where it stands beside a right one."""


class Mistake(NamedTuple):
    """A mistake of one step."""

    name: str
    words: str
    """What to do about it, in one sentence. Never holds a person's text."""
    line: str
    """The PyTorch expression that makes it, from the names of the operands."""


def is_mistake(operation: ops.Operation) -> bool:
    """Whether an operation is itself a mistake, kept in a trace to be shown."""
    match operation:
        case ops.Softmax():
            return operation.dim != -1
        case ops.Scale():
            return not operation.root
        case ops.MaskGradient():
            return False
        case ops.MaskedFill():
            return operation.fill != -math.inf
        case ops.LayerNorm():
            return operation.whole
    return isinstance(operation, ops.SplitWithoutTranspose)


def mistakes(operation: ops.Operation, *names: str) -> tuple[Mistake, ...]:
    """What may go wrong where this operation is applied to the tensors of these names.

    None for an operation that only prepares something: it is given in an exercise, not asked for.
    """
    return tuple(read(wrong_lines(operation, *names)))


def plain(text: str) -> None:
    """Give operations their mistakes where these need no code: paragraphs, each below the name of
    an operation. In one `{0}` is the first operand, `{self.width}` a setting, and `{code}` the line
    done right.
    """
    for paragraph in text.strip().split("\n\n"):
        name, _, lines = paragraph.partition("\n")
        wrong_lines.register(getattr(ops, name), partial(_filled, lines))


def _filled(lines: str, operation: ops.Operation, *names: str) -> str:
    return lines.format(*names, self=operation, code=operation.code(*names))


@singledispatch
def wrong_lines(operation: ops.Operation, *names: str) -> str:  # noqa: ARG001
    """The mistakes as text, `line  # name of the mistake`, most likely first. What to do about them
    stands above the first that it is true of.
    """
    return ""


def read(text: str) -> Iterator[Mistake]:
    """The mistakes of such a text."""
    words = ""
    for row in text.splitlines():
        line, _, name = (" ".join(part.split()) for part in row.partition("  # "))
        if name:
            yield Mistake(name, words, line)
        else:
            words = line or words
