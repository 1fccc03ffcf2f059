"""A trace as a workbook of live formulas, made from the arithmetic of its cells."""

from .workbook import MOST_CELLS, spreadsheet, too_large

__all__ = ["MOST_CELLS", "spreadsheet", "too_large"]
