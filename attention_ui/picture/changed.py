"""Which cells of a step were changed by hand."""

import torch
from torch import Tensor

from attention_core.operations import AttentionMask, Edit, Lookup, Row, Transpose
from attention_core.trace import Step


def changed_cells(step: Step) -> Tensor | None:
    """True for each cell that was changed by hand, or is a copy of one; None where none was."""
    made = step.operation
    match made:
        case Edit(edits=edits):
            places = [(row, column) for row, column, _ in edits]
        case AttentionMask(flipped=places):
            pass
        case Lookup() | Row() | Transpose():
            source, *rest = step.inputs
            found = changed_cells(source)
            copied = None if found is None else made.value(found, *(each.value for each in rest))
            return copied if copied is not None and copied.any() else None
        case _:
            return None
    if not places:
        return None
    changed = torch.zeros(step.value.shape, dtype=torch.bool)
    changed[tuple(zip(*places, strict=True))] = True
    return changed
