"""A trace as a workbook: recalculated elsewhere it has the same numbers, and follows a change."""

import math

import pytest
import torch

from attention_core import EXAMPLES
from attention_core import operations as ops
from attention_core.export.spreadsheet import spreadsheet
from attention_core.export.spreadsheet.layout import Layout
from attention_core.published.building import BUILDERS
from recalculated import cells, needs_office, recalculated, typed
from traces import workshop

SMALL = ("wild_cat", "journey_123", "named_features")
TRACES = {
    "workshop": workshop,
    **{
        f"{lesson}-{example}": lambda lesson=lesson, example=example: BUILDERS[lesson](
            EXAMPLES[example], 0
        )
        for lesson in BUILDERS
        for example in EXAMPLES
        if example in SMALL or lesson in ("simplified", "causal", "qkv", "multi_head")
    },
}
NOT_FOLLOWED = {"stored"}
"""Steps of `workshop` that a sheet has no function for."""


def worked_out(trace, changed):
    """Every step's value in float64, once some numbers of given steps are others."""
    exact = {}
    for name, step in trace.items():
        if step.inputs:
            given = [exact[each.name] for each in step.inputs]
            if isinstance(step.operation, ops.Edit):  # for float32 alone
                given = [each.float() for each in given]
            value = step.operation.value(*given)
        else:
            value = step.value.clone()
            for index, number in changed.get(name, {}).items():
                value[index] = number
        exact[name] = value.double() if value.is_floating_point() else value
    return exact


def changes(trace):
    """Other numbers for one cell of each matrix and mask that is given, and of what it is like."""
    layout = Layout(trace)
    changed, at = {}, {}
    for name, step in trace.items():
        used = any(step in other.inputs for other in trace.values())
        if step.inputs or not used or not step.value.ndim:
            continue
        index, place = list(layout.blocks[name].places())[-1]
        old = step.value[index].item()
        if step.value.dtype == torch.bool:
            changed[name] = {index: not old}
        elif step.value.is_floating_point() and math.isfinite(old):
            changed[name] = {index: old + 0.375}
        else:
            continue
        at[place.written] = float(changed[name][index])
    return changed, at


def farthest(trace, exact, book):
    """By step, how far the numbers of a sheet are from those worked out, against their size."""
    found, layout = cells(book), Layout(trace)
    apart = {}
    for name, block in layout.blocks.items():
        value = exact[name].double()
        largest = max([1.0, *value[value.isfinite()].abs().flatten().tolist()])
        for index, place in block.places():
            wanted = float(value[index])
            if math.isnan(wanted) or wanted == math.inf:
                continue
            formula, kind, text = found[place.written]
            has = float(text) if kind == "n" else math.nan
            if wanted == -math.inf:
                gap = 0.0 if has < -1e200 else math.inf
            else:
                gap = abs(has - wanted) / max(largest, abs(wanted))
            if not gap <= apart.get(name, (0.0,))[0]:
                apart[name] = (gap, place.written, formula, has, wanted)
    return apart


@needs_office
@pytest.mark.slow("60 s: LibreOffice recalculates every lesson, twice")
def test_recalculated_by_libreoffice_the_numbers_are_the_same_and_follow_a_change(tmp_path):
    traces = {name: make() for name, make in TRACES.items()}
    books, wanted = {}, {}
    for name, trace in traces.items():
        books[name] = spreadsheet(trace, name)
        wanted[name] = worked_out(trace, {})
        changed, at = changes(trace)
        books[f"{name}-changed"] = typed(books[name], at)
        wanted[f"{name}-changed"] = worked_out(trace, changed)
    wrong = {}
    for name, book in recalculated(books, tmp_path).items():
        trace = traces[name.removesuffix("-changed")]
        for step, apart in farthest(trace, wanted[name], book).items():
            if not apart[0] <= 1e-6 and step not in NOT_FOLLOWED:
                wrong[name, step] = apart
    for k, v in wrong.items():
        print(k, v)
    assert wrong == {}
