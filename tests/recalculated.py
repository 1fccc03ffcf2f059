"""Workbooks recalculated by LibreOffice, and cells of them changed as a person would."""

import io
import re
import shutil
import subprocess
import zipfile
from xml.etree import ElementTree

import pytest

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
    """Each workbook, by its name, as LibreOffice saves it again: one start for all."""
    (folder / "profile" / "user").mkdir(parents=True)
    (folder / "profile" / "user" / "registrymodifications.xcu").write_text(ALWAYS)
    for name, book in books.items():
        (folder / f"{name}.xlsx").write_bytes(book)
    profile = f"-env:UserInstallation={(folder / 'profile').as_uri()}"
    files = [str(folder / f"{name}.xlsx") for name in books]
    to = ["--headless", "--convert-to", "xlsx:Calc MS Excel 2007 XML", "--outdir"]
    command = [SOFFICE, profile, *to, str(folder / "out"), *files]
    subprocess.run(command, check=True, capture_output=True, timeout=380)
    return {name: (folder / "out" / f"{name}.xlsx").read_bytes() for name in books}
