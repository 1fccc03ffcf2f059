"""What makes an operation a mistake, and how the steps of one are called."""

import math

from .. import operations as ops

WRONG = "wrong_"
"""What the names of a wrong computation's steps begin with, where it stands beside a right one."""


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
