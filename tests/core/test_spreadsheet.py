"""A trace as a workbook: recalculated elsewhere it has the same numbers, and follows a change."""

import io
import math
import zipfile
from itertools import product
from xml.etree import ElementTree

import pytest
import torch

from attention_core import EXAMPLES, Inputs, Trace, embed
from attention_core import operations as ops
from attention_core.export.spreadsheet import MOST_CELLS, spreadsheet, too_large
from attention_core.export.spreadsheet.layout import Layout
from attention_core.mechanism.masking import attend_masked, drop_weights
from attention_core.published.building import BUILDERS
from attention_core.recipes import MaskRecipe
from recalculated import cells, needs_office, recalculated, typed
from traces import workshop


def hidden_and_dropped():
    """A query that sees nothing, a window, a typed vector, and weights dropped by chance."""
    mask = MaskRecipe(window=3, hidden_key=0, flipped=((0, 5), (5, 2)))
    inputs = Inputs("a b c d a b", d_in=3, edits=((0, 1, 0.5), (1, 2, -2.0)))
    return drop_weights(attend_masked(embed(inputs), mask, scale="d"), 0.3, seed=9)


def of_lesson(lesson, example):
    return lambda: BUILDERS[lesson](EXAMPLES[example], 0)


# What the example of 33 tokens and the small model are, with all their heads, takes minutes.
LARGE = ("tiny_language", "life_is_short", "sorry_dave", "sorry_dave_first_run")
MANY_HEADS = ("multi_head", "multi_head_wrong_axis", "token_axis", "decoder", "heads_redrawn")
TRACES = {
    "workshop": workshop,
    "hidden_and_dropped": hidden_and_dropped,
    **{
        f"{lesson}-{example}": of_lesson(lesson, example)
        for lesson, example in product(BUILDERS, EXAMPLES)
        if example not in LARGE or lesson not in MANY_HEADS
    },
}
AS_VALUES = {"stored"}
"""What a sheet has no function for: in `workshop`, what is rounded to bfloat16."""


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
@pytest.mark.slow("90 s: LibreOffice recalculates every lesson, twice")
def test_recalculated_by_libreoffice_the_numbers_are_the_same_and_follow_a_change(tmp_path):
    traces = {name: make() for name, make in TRACES.items()}
    books, wanted = {}, {}
    for name, trace in traces.items():
        books[name] = spreadsheet(trace, name)
        wanted[name] = worked_out(trace, {})
        changed, at = changes(trace)
        assert at, name
        books[f"{name}-changed"] = typed(books[name], at)
        wanted[f"{name}-changed"] = worked_out(trace, changed)
    wrong = {
        (name, step): apart
        for name, book in recalculated(books, tmp_path).items()
        for step, apart in farthest(
            traces[name.removesuffix("-changed")], wanted[name], book
        ).items()
        if not apart[0] <= 1e-6 and step not in AS_VALUES
    }
    assert wrong == {}


@pytest.mark.parametrize("make", [workshop, hidden_and_dropped], ids=["workshop", "hidden"])
def test_what_is_given_is_a_number_and_all_else_a_formula(make):
    trace = make()
    found, layout = cells(spreadsheet(trace, "")), Layout(trace)
    for name, block in layout.blocks.items():
        formulas = [found[place.written][0] is not None for _, place in block.places()]
        if not trace[name].inputs or name in AS_VALUES:
            assert not any(formulas), name
        elif isinstance(trace[name].operation, ops.Edit):
            assert sum(formulas) == len(formulas) - len(trace[name].operation.edits)
        else:
            assert all(formulas), name


TEXTS = ["=1+1", "@SUM(A1)", "+x", "-x", "\t=cmd|'/c calc'!A0", "http://evil/", "{=1}", "🐈" * 9]
UNWRITTEN = [
    "\x00\x07\x1b",
    "a\ufffe\uffff",
    "_x000D_",
    "\ud800",
    "\u2028\n\r",
    "\u202e",
    "w" * 40_000,
]


@pytest.mark.parametrize("text", [*TEXTS, *UNWRITTEN])
def test_a_text_of_a_person_is_a_string_that_the_file_can_hold(text):
    trace = Trace(token=[text, "cat"], d_in=["d", text])
    given = trace.step("given", ops.Given(((1.0, 2.0), (3.0, 4.0))), axes=("token", "d_in"))
    trace.step("sums", ops.SumLast(), given, axes=("token",))
    book = spreadsheet(trace, text)
    with zipfile.ZipFile(io.BytesIO(book)) as parts:
        for name in parts.namelist():
            ElementTree.fromstring(parts.read(name))
        shared = parts.read("xl/sharedStrings.xml").decode()
        assert not [name for name in parts.namelist() if "externalLink" in name]
        assert all(b"evil" not in parts.read(n) for n in parts.namelist() if n.endswith(".rels"))
    assert len(shared) < 4_000
    if text in TEXTS[:4]:
        assert f">{text}<" in shared
    formulas = {formula for formula, _, _ in cells(book).values() if formula}
    assert len(formulas) == 2
    assert all(formula.startswith("SUM(") for formula in formulas)


def test_a_large_table_stands_there_with_the_rows_that_are_looked_up():
    trace = embed(EXAMPLES["sorry_dave"].inputs)
    assert sum(step.value.numel() for step in trace.values()) > MOST_CELLS
    assert not too_large(trace)
    block = Layout(trace).blocks["embedding_table"]
    assert set(block.rows) == set(trace["token_ids"].value.tolist())


@pytest.mark.parametrize("shape", [(500, 401), (2, 20_000)])
def test_what_a_sheet_cannot_hold_is_refused_in_words(shape):
    trace = Trace()
    trace.step("drawn", ops.Draw("normal", shape, seed=1), axes=("i", "j"))
    with pytest.raises(ValueError, match=r"200,500 numbers|drawn has 20,000 columns"):
        spreadsheet(trace, "")


def test_the_first_sheet_says_what_is_a_value_and_what_to_try():
    with zipfile.ZipFile(io.BytesIO(spreadsheet(hidden_and_dropped(), ""))) as parts:
        said = parts.read("xl/sharedStrings.xml").decode()
    assert "In mask (" in said
    assert "-1E+300" in said
    assert "random numbers of " in said
    with zipfile.ZipFile(io.BytesIO(spreadsheet(workshop(), ""))) as parts:
        assert "Numbers of stored are values" in parts.read("xl/sharedStrings.xml").decode()
