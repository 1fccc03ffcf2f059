"""The workbook: a sheet that says what to try, and one with the trace in live formulas."""

import io
import math
import re
from functools import cache
from itertools import groupby

import torch

from ...trace import Trace, is_shares, listed
from ...utils.validation import validated
from .branches import formula_of
from .formulas import MINUS_INFINITY, Formulas, NoFormula
from .layout import Block, Layout, Place
from .read_me import TO_CHANGE, lines, made_by

MOST_CELLS = 200_000
MOST_COLUMNS = 16_000
LONGEST = 240
"""Characters of a text in a cell, such as a token."""
NEGATIVE, POSITIVE = "#D4715F", "#5D97CF"
"""The full colours of the pictures, on white."""
SETTING = '[<-1000000000000000]"−∞";[<0]-General;General'
NUMBERS = '[<-1000000000000000]"−∞";[<0]-0.0000;0.0000'
"""How numbers are shown. The limit is written out: a format may have no exponent."""


@validated
def spreadsheet(trace: Trace, title: str) -> bytes:
    """The trace as an .xlsx file: formulas on the given cells, but values where a sheet has no such
    function. Raises ValueError, in words, for a trace that is `too_large`.
    """
    if reason := too_large(trace):
        raise ValueError(reason)
    # The core does without it until somebody asks for a sheet. It puts results beside formulas;
    # openpyxl, which is faster, leaves cells empty where nothing calculates (previews, phones).
    import xlsxwriter

    file = io.BytesIO()
    with xlsxwriter.Workbook(file, {"in_memory": True}) as book:
        book.set_properties({"title": plain(title)})
        read_me = book.add_worksheet("Read me")  # the first sheet
        _Sheet(book, trace).write(read_me, title)
    return file.getvalue()


def too_large(trace: Trace) -> str:
    """Why a trace is no sheet, in words; "" where it is one."""
    blocks = Layout(trace).blocks.values()
    if (cells := sum(block.n_cells for block in blocks)) > MOST_CELLS:
        return (
            f"These steps have {cells:,} numbers; a spreadsheet of more than {MOST_CELLS:,} "
            "formulas opens too slowly to be of use. Choose a shorter sentence or smaller vectors."
        )
    for block in blocks:
        if block.n_columns > MOST_COLUMNS:
            return (
                f"{block.step.name} has {block.n_columns:,} columns, more than a spreadsheet has. "
                "Choose smaller vectors or a smaller vocabulary."
            )
    return ""


class _Sheet:
    """The sheet with the trace, while it is written."""

    def __init__(self, book, trace: Trace) -> None:
        self._book = book
        self._trace = trace
        self._layout = Layout(trace)
        self._as_values: list[str] = []
        self._sheet = book.add_worksheet("Trace")
        self._format = cache(lambda *pairs: book.add_format(dict(pairs)))

    def write(self, read_me, title: str) -> None:
        """Both sheets."""
        sheet = self._sheet
        for each in (sheet, read_me):
            each.hide_gridlines(2)
            each.set_landscape()
            each.fit_to_pages(1, 0)
        sheet.freeze_panes(1, 1)
        sheet.set_zoom(90)
        sheet.set_column(0, 0, 24)
        sheet.set_column(1, MOST_COLUMNS, 9)
        how = "Cells with an orange edge are yours to change. The other numbers follow from them."
        sheet.write_string(0, 0, how, self._style(bold=True, font_color=TO_CHANGE))
        for block in self._layout.blocks.values():
            self._write_block(block)
        self._write_lines(read_me, lines(self._trace, self._layout, title, self._as_values))

    def _style(self, **options):
        return self._format(*sorted(options.items()))

    def _write_block(self, block: Block) -> None:
        step, (top, left) = block.step, block.start
        self._text(top, left, step.name, bold=True, font_size=13)
        self._text(top, left + 2 + len(step.name) // 8, step.shape, font_color="#666666")
        self._text(top + 1, left, made_by(step), font_name="Consolas")
        self._text(top + 2, left, step.words, font_color="#666666", italic=True)
        for at, (name, value) in enumerate(block.settings.items()):
            place = block.setting(at)
            self._text(place.row, place.column - 1, name, align="right")
            self._number(place, value, self._style(**GIVEN, num_format=SETTING))
        for at, lead in enumerate(block.leads):
            self._write_headers(block, at, lead)
        self._write_cells(block)
        self._colour(block)

    def _write_headers(self, block: Block, at: int, lead: tuple[int, ...]) -> None:
        """The names of rows and columns; in the corner, which matrix it is."""
        step, head = block.step, block.head(at)
        *leading, across = ("", "", *step.axes)[-max(2, len(step.axes)) :]
        down = leading[-1]
        named = [f"{axis} {place}" for axis, place in zip(step.axes, lead, strict=False)]
        corner = [f"{down} ↓"] if down else []
        if across and not block.start.column:  # beside others the corner is narrow
            corner.append(f"{across} →")
        axes = " ".join(corner)
        self._text(head.row, head.column, " · ".join([*named, axes]), font_color="#666666")
        in_head = dict(zip(step.axes, lead, strict=False)).get("head")
        style = {"font_color": "#666666", "bottom": 1, "bottom_color": "#BBBBBB", "align": "right"}
        for place in range(block.n_columns if across else 0):
            name = self._trace.labels(across, in_head)[place]
            self._text(head.row, head.column + 1 + place, name, **style)
        for place in range(block.n_rows if down else 0):
            row = head.row + 1 + place
            if block.rows is not None:
                number = self._style(font_color="#666666")
                self._sheet.write_number(row, head.column, block.rows[place], number)
            else:
                name = self._trace.labels(down, in_head)[place]
                self._text(row, head.column, name, font_color="#666666", align="right")

    def _write_cells(self, block: Block) -> None:
        step = block.step
        own, operands = listed(step), tuple(map(listed, step.inputs))
        kind = {"num_format": NUMBERS if step.value.is_floating_point() else "0"}
        given, made = self._style(**kind, **GIVEN), self._style(**kind)
        settings = {block.setting(at).absolute: v for at, v in enumerate(block.settings.values())}
        write = Formulas(self._layout, settings)
        as_values = False
        for index, place in block.places():
            value = own.cell(index).known
            if not operands:
                self._number(place, value, given)
                continue
            try:
                formula = formula_of(step.operation, index, operands, write)
            except NoFormula:
                self._number(place, value, made)
                as_values = True
                continue
            if re.fullmatch(r"-?[\d.]+(E[+-]?\d+)?", formula):  # typed over, by hand
                self._number(place, value, given)
            else:
                shown = value if math.isfinite(value) else MINUS_INFINITY if value < 0 else ""
                self._sheet.write_formula(*place, f"={formula}", made, shown)
        if as_values:
            self._as_values.append(step.name)

    def _colour(self, block: Block) -> None:
        """The colours of the pictures; grey for what a mask hides."""
        value = block.step.value
        if not value.is_floating_point() and value.dtype != torch.bool:
            return
        for at in range(len(block.leads)):
            first, last = block.corners(at)
            grey = self._style(bg_color="#E6E6E6")
            hidden = {"type": "cell", "criteria": "<", "stop_if_true": True, "format": grey}
            if value.dtype == torch.bool:
                self._sheet.conditional_format(*first, *last, {**hidden, "value": 1})
                continue
            self._sheet.conditional_format(*first, *last, {**hidden, "value": -1e200})
            if visible := self._visible(block, at):
                options = {**_scale(block), "multi_range": visible}
                self._sheet.conditional_format(*first, *last, options)

    def _visible(self, block: Block, at: int) -> str:
        """The ranges of a matrix but for −∞, which LibreOffice would colour as its smallest."""
        lead, head = block.leads[at], block.head(at)
        matrix = block.step.value[lead] if lead else block.step.value
        if not matrix.isneginf().any():
            return ":".join(corner.written for corner in block.corners(at))
        ranges = []
        for row, hidden in enumerate(matrix.reshape(-1, block.n_columns).isneginf().tolist()):
            for is_hidden, run in groupby(range(len(hidden)), hidden.__getitem__):
                if not is_hidden:
                    columns = [head.column + 1 + each for each in run]
                    ends = (Place(head.row + 1 + row, columns[at]) for at in (0, -1))
                    ranges.append(":".join(end.written for end in ends))
        return " ".join(ranges)

    def _text(self, row: int, column: int, text: str, **style) -> None:
        """Any text, a visitor's too: never a formula, and nothing that a file cannot hold."""
        self._sheet.write_string(row, column, plain(text), self._style(**style))

    def _number(self, place: Place, value: float, style) -> None:
        if math.isnan(value):
            self._sheet.write_formula(*place, "=NA()", style, "#N/A")
        else:
            within = max(MINUS_INFINITY, min(-MINUS_INFINITY, value))
            self._sheet.write_number(*place, within, style)

    def _write_lines(self, sheet, written) -> None:
        sheet.set_column(0, 0, 28)
        sheet.set_column(1, 1, 26)
        sheet.set_column(2, 2, 70)
        for row, line in enumerate(written):
            for column, text in enumerate(line.texts):
                style = self._style(**line.style)
                if column == 0 and line.goes_to:
                    link = f"internal:Trace!{line.goes_to}"
                    sheet.write_url(row, column, link, self._style(**LINK), plain(text))
                else:
                    sheet.write_string(row, column, plain(text), style)
        sheet.activate()


GIVEN = {"border": 1, "border_color": "#E08A00"}
LINK = {"font_color": "#1F6FB2", "underline": 1}


def plain(text: str) -> str:
    """A text on one line, of what can be seen, and not too long."""
    seen = "".join(each if each.isprintable() else "�" for each in text)
    return seen if len(seen) <= LONGEST else f"{seen[:LONGEST]}…"


def _scale(block: Block) -> dict:
    """The colours of a block: shares from 0 to 1, by their root; else from minus the largest."""
    scale = {"type": "3_color_scale", "min_type": "num", "mid_type": "num", "max_type": "num"}
    if is_shares(block.step):
        colours = {"min_color": "#FFFFFF", "mid_color": "#AECBE7", "max_color": POSITIVE}
        return {**scale, **colours, "min_value": 0, "mid_value": 0.25, "max_value": 1}
    value = block.step.value
    value = value if block.rows is None else value[list(block.rows)]
    finite = value[value.isfinite()].abs()
    most = float(finite.max()) if len(finite) and finite.max() > 0 else 1.0
    colours = {"min_color": NEGATIVE, "mid_color": "#FFFFFF", "max_color": POSITIVE}
    return {**scale, **colours, "min_value": -most, "mid_value": 0, "max_value": most}
