"""What is said and written of a few things, in files that `python tests/said.py` writes anew."""

import io
import json
import re
import sys
import tomllib
import zipfile
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from attention_core import HeadsRecipe, Inputs, attend_heads, embed
from attention_core.export.spreadsheet import spreadsheet
from attention_core.lights.of_trace import lights
from attention_core.mistakes.layer import layer, right_inputs, with_backward
from attention_core.mistakes.named import NAMED
from attention_core.mistakes.rounds import OUTPUT, lights_with
from attention_core.mistakes.switched import MISTAKES
from compared import PAIRS, RECORDED, said_of_pair, said_of_recording
from pieces import apart, every_piece, said_of
from recalculated import NAMESPACE, TRACE
from serving import ROOT

FOLDER = ROOT / "tests"
OF_CODE, OF_MISTAKES, OF_PAIRS, SHEET = (
    FOLDER / f"{each}"
    for each in ("said_of_code.toml", "said_of_mistakes.toml", "said_of_pairs.toml", "sheet.txt")
)
OF_PAIRS_SAY = """# What is said of two computations that differ by one thing, and of recordings
# (compared.py). `python tests/said.py` writes it anew: look at what differs."""
PRIME = (
    Inputs("a b c a d b e", tokenizer="blanks", d_in=5, seed=7),
    HeadsRecipe(n_heads=3, d_head=7, d_value=2, d_model=11, start="rand", by_head=True),
)
"""Sizes that are all prime and different, and matrices that are all above 0."""
SMALL = (
    Inputs("a b a", tokenizer="blanks", d_in=2, reserved=1, edits=((0, 1, 0.5),)),
    HeadsRecipe(n_heads=2, d_head=1, d_value=2, d_model=3, causal=True),
)


def said_of_mistake(name):
    """The signs of a layer's lights with a mistake, and what they say; "" for none."""
    inputs, recipe = PRIME
    mistake = MISTAKES.get(name)
    if mistake and mistake.why_not(inputs, recipe):
        recipe = replace(recipe, d_value=recipe.d_head)
    if mistake and mistake.learns:
        made = mistake.layer(inputs, recipe)
        found = lights(made, mistake.right(inputs, recipe)["mask"].value, OUTPUT)
    elif name == "backward":
        made = with_backward(layer(right_inputs(inputs), recipe))
        found = lights(made, made["mask"].value, OUTPUT)
    else:
        found = lights_with(inputs, recipe, name)
    return "".join({True: "✓", False: "✗", None: "–"}[e.holds] for e in found), [
        f"{each.evidence} ({each.step})" for each in found
    ]


def sheet():
    """Each row of a small workbook, its cells in one line; then how wide its columns are, and what
    colours its cells.
    """
    inputs, recipe = SMALL
    book = spreadsheet(attend_heads(embed(inputs), recipe), "A title")
    with zipfile.ZipFile(io.BytesIO(book)) as parts:
        shared = ElementTree.fromstring(parts.read("xl/sharedStrings.xml"))
        texts = ["".join(each.itertext()) for each in shared]
        pages = [
            ElementTree.fromstring(parts.read(each)) for each in (TRACE.replace("2", "1"), TRACE)
        ]
    for page in pages:
        for row in page.iterfind(".//row", NAMESPACE):
            yield " | ".join(_cell(each, texts) for each in row)
        for each in page.iterfind(".//col", NAMESPACE):
            yield " ".join(f"{name}:{each.get(name)}" for name in ("min", "max", "width"))
        for each in page.iterfind(".//conditionalFormatting", NAMESPACE):
            told = [(one.tag.rpartition("}")[2], sorted(one.attrib.items())) for one in each.iter()]
            yield re.sub(r"[^\w.:#-]+", " ", f"{told[0][1]} {told[1:]}").strip()


def _cell(each, texts):
    formula, value = (each.findtext(of, None, NAMESPACE) for of in "fv")
    if each.get("t") == "s":
        told = texts[int(value)]
    else:
        told = f"={formula}" if formula else f"{float(value):.5g}" if value else ""
    return f"{each.get('r')}:{each.get('s', '')} {told}"


def write():
    """What is said now, in the place of what was."""
    _write(
        OF_CODE, [*tomllib.loads(OF_CODE.read_text("utf-8"))], lambda name: said_of(*PIECES[name])
    )
    _write(OF_MISTAKES, ["", "backward", *NAMED], said_of_mistake)
    told = {**dict.fromkeys(PAIRS, said_of_pair), **dict.fromkeys(RECORDED, said_of_recording)}
    rows = [OF_PAIRS_SAY]
    for name, said in told.items():
        lines = "".join(f"  {json.dumps(each, ensure_ascii=False)},\n" for each in said(name))
        rows.append(f"{json.dumps(name, ensure_ascii=False)} = [\n{lines}]")
    OF_PAIRS.write_text("\n\n".join(rows) + "\n", encoding="utf-8")
    SHEET.write_text("".join(f"{each}\n" for each in sheet()), encoding="utf-8")


def _write(path, names, said):
    known, rows = set(), [path.read_text(encoding="utf-8").partition("\n\n")[0].rstrip()]
    for name in names:
        signs, lines = said(name)
        new = [each for each in dict.fromkeys(lines) if apart(each)[0] not in known]
        known |= {apart(each)[0] for each in lines}
        told = "".join(f"  {json.dumps(each, ensure_ascii=False)},\n" for each in new)
        key = json.dumps(name, ensure_ascii=False)
        rows.append(f'[{key}]\nlights = "{signs}"\nsays = [\n{told}]')
    path.write_text("\n\n".join(rows) + "\n", encoding="utf-8")


PIECES = dict(every_piece())

if __name__ == "__main__":
    write()
