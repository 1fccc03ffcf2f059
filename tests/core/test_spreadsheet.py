"""A trace as a workbook: recalculated elsewhere it has the same numbers, and follows a change."""

import io
import re
import zipfile
from functools import partial
from xml.etree import ElementTree

import pytest
import torch

from attention_core import EXAMPLES, Trace, embed
from attention_core import operations as ops
from attention_core.export.spreadsheet import MOST_CELLS, spreadsheet, too_large
from attention_core.export.spreadsheet.layout import Layout
from recalculated import NAMESPACE, TRACE, cells, needs_office, wrong
from traces import all_ways_to_hide, lesson_trace, score_in_small, workshop

# The traces of all lessons, as their pages make them: test_take_away.
TRACES = {each.__name__: each for each in (workshop, all_ways_to_hide, score_in_small)}
TRACES |= {f"simplified-{each}": partial(lesson_trace, f"simplified/{each}") for each in EXAMPLES}
AS_VALUES = {"stored", "counted", "joined_pieces"}
"""What a sheet has no function for, in `workshop`: rounding to bfloat16, and joining of pairs."""


@needs_office
@pytest.mark.slow("10 s: LibreOffice recalculates it all, twice")
def test_recalculated_by_libreoffice_the_numbers_are_the_same_and_follow_a_change(tmp_path):
    found = wrong({name: make() for name, make in TRACES.items()}, tmp_path)
    assert {which: apart for which, apart in found.items() if which[1] not in AS_VALUES} == {}


@pytest.mark.parametrize("make", [workshop, all_ways_to_hide], ids=["workshop", "hidden"])
def test_what_is_given_is_a_number_and_all_else_a_formula(make):
    trace = make()
    found, layout = cells(spreadsheet(trace, "")), Layout(trace)
    for name, block in layout.blocks.items():
        formulas = [found[place.written][0] is not None for _, place in block.places()]
        if not trace[name].inputs or name in AS_VALUES:
            assert not any(formulas), name
        elif isinstance(trace[name].operation, ops.Edit):
            assert sum(formulas) == len(formulas) - len(trace[name].operation.edits)
        elif isinstance(trace[name].operation, (ops.PutBack, ops.PutEntry)):
            assert sum(formulas) == trace[name].inputs[0].value.numel()
        else:
            kind = type(trace[name].operation).__name__
            assert all(formulas), (
                f"no formula for {name} ({kind}): add the function to CALLS in "
                "attention_core/export/spreadsheet/formulas.py"
            )


TEXTS = ["=1+1", "@SUM(A1)", "+x", "-x", "\t=cmd|'/c calc'!A0", "http://evil/", "{=1}", "🐈" * 9]
UNWRITTEN = [
    "\x00\x07\x1b", "a\ufffe\uffff", "_x000D_", "\ud800", "\u2028\n\r", "\u202e", "w" * 40_000,
]  # fmt: skip


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


def test_what_to_try_leads_to_the_cell_that_it_names():
    with zipfile.ZipFile(io.BytesIO(spreadsheet(lesson_trace("qkv/wild_cat"), ""))) as parts:
        said = parts.read("xl/sharedStrings.xml").decode()
        links = parts.read("xl/worksheets/sheet1.xml").decode()
        styles = parts.read("xl/styles.xml").decode()
    cell = said.partition("Type another number in ")[2].partition(",")[0]
    assert f'location="Trace!{cell}" display="Type another number in {cell}' in links
    assert styles.count("<u/>") == styles.count("<u") == 1, "as links look"
    widths = [float(each) for each in re.findall(r'<col [^>]*width="([\d.]+)"', links)]
    assert [round(width) for width in widths] == [29, 27, 71], "of names, of shapes, of words"


def test_what_may_be_changed_is_said_in_the_row_that_stays_in_view():
    book = spreadsheet(lesson_trace("qkv/wild_cat"), "")
    with zipfile.ZipFile(io.BytesIO(book)) as parts:
        sheet = ElementTree.fromstring(parts.read(TRACE))
        said = ElementTree.fromstring(parts.read("xl/sharedStrings.xml"))
    pane = sheet.find(".//pane", NAMESPACE)
    n_rows, n_columns = int(pane.get("ySplit")), int(pane.get("xSplit"))
    first = min(block.start for block in Layout(lesson_trace("qkv/wild_cat")).blocks.values())
    assert (n_rows, n_columns) == (1, 1), "the line above, and the names of rows"
    assert first[0] >= n_rows
    _, kind, at = cells(book)["A1"]
    assert kind == "s"
    assert "yours to change" in "".join(said[int(at)].itertext())


@pytest.mark.parametrize(("numbers", "ends"), [
    (((-3.0, 2.0),), (-3, 0, 3)), (((0.0, 0.0),), (-1, 0, 1)),
    (((0.5, -torch.inf),), (-0.5, 0, 0.5)),
    (((-torch.inf,),), ()), (((1e-3, torch.nan),), (-1e-3, 0, 1e-3)),
])  # fmt: skip
def test_colours_reach_as_far_below_0_as_above_and_leave_out_what_is_no_number(numbers, ends):
    trace = Trace()
    trace.step("given", ops.Given(numbers), axes=("i", "j"))
    with zipfile.ZipFile(io.BytesIO(spreadsheet(trace, ""))) as parts:
        sheet = ElementTree.fromstring(parts.read(TRACE))
    found = [float(each.get("val")) for each in sheet.iterfind(".//cfvo", NAMESPACE)]
    assert found == pytest.approx(list(ends))
