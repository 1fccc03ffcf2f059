"""Workbooks recalculated by LibreOffice, and cells of them changed as a person would."""

import io
import math
import re
import shutil
import subprocess
import zipfile
from xml.etree import ElementTree

import pytest
import torch

from attention_core import operations as ops
from attention_core.export.spreadsheet import spreadsheet
from attention_core.export.spreadsheet.layout import Layout
from serving import HANG

SOFFICE = shutil.which("soffice") or shutil.which("libreoffice")
needs_office = pytest.mark.skipif(
    SOFFICE is None, reason="no LibreOffice here (apt install libreoffice-calc-nogui)"
)
ALWAYS = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry"><item
oor:path="/org.openoffice.Office.Calc/Formula/Load"><prop oor:name="OOXMLRecalcMode" oor:op="fuse"
><value>0</value></prop></item></oor:items>"""
"""Says: recalculate all that is opened, whatever results a file brings."""
NAMESPACE = {"": "http://schemas.openxmlformats.org/spreadsheetml/2006/main"}
TRACE = "xl/worksheets/sheet2.xml"


def cells(book):
    """Every cell of the sheet with the trace: its formula, the kind of its value, its value."""
    with zipfile.ZipFile(io.BytesIO(book)) as parts:
        tree = ElementTree.fromstring(parts.read(TRACE))
    return {
        each.get("r"): (
            each.findtext("f", None, NAMESPACE),
            each.get("t", "n"),
            each.findtext("v", None, NAMESPACE),
        )
        for each in tree.iterfind(".//c", NAMESPACE)
    }


def typed(book, numbers):
    """The workbook with other numbers in some cells that are given, by their names."""
    changed = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(book)) as parts,
        zipfile.ZipFile(changed, "w", zipfile.ZIP_DEFLATED) as made,
    ):
        for name in parts.namelist():
            text = parts.read(name)
            for cell, number in numbers.items() if name == TRACE else ():
                old = rf'(<c r="{cell}"[^>]*><v>)[^<]*(</v>)'.encode()
                text, found = re.subn(old, rf"\g<1>{number!r}\2".encode(), text)
                assert found == 1, f"{cell} is no cell with a number"
            made.writestr(name, text)
    return changed.getvalue()


def recalculated(books, folder):
    (folder / "profile" / "user").mkdir(parents=True)
    (folder / "profile" / "user" / "registrymodifications.xcu").write_text(ALWAYS)
    for name, book in books.items():
        (folder / f"{name}.xlsx").write_bytes(book)
    profile = f"-env:UserInstallation={(folder / 'profile').as_uri()}"
    files = [str(folder / f"{name}.xlsx") for name in books]
    to = ["--headless", "--convert-to", "xlsx:Calc MS Excel 2007 XML", "--outdir"]
    command = [SOFFICE, profile, *to, str(folder / "out"), *files]
    subprocess.run(command, check=True, capture_output=True, timeout=HANG)
    return {name: (folder / "out" / f"{name}.xlsx").read_bytes() for name in books}


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


def wrong(traces, folder):
    """The steps that LibreOffice has farther than 1e-6 off, as they are and after a change."""
    books, wanted, of = {}, {}, {}
    for name, trace in traces.items():
        changed, at = changes(trace)
        book = spreadsheet(trace, name)
        for ending, made, edits in (("", book, {}), ("-changed", typed(book, at), changed)):
            books[name + ending] = made
            wanted[name + ending], of[name + ending] = worked_out(trace, edits), trace
        assert at, f"nothing of {name} can be changed"
    return {
        (name, step): apart
        for name, book in recalculated(books, folder).items()
        for step, apart in farthest(of[name], wanted[name], book).items()
        if not apart[0] <= 1e-6
    }
