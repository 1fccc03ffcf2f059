"""A vector, matrices, and below each the row that the product gives, entry by entry."""

from collections.abc import Sequence
from dataclasses import replace

from attention_core.trace import Step, Trace

from .layout import BELOW, Box, Layout, Word, decimals_in, equation
from .matrix import Matrix
from .scale import limits

SPACE, TITLE = 14, 18


def products(
    trace: Trace, vector: Step, pairs: Sequence[tuple[Step, Step]], tall: float = 330
) -> Layout:
    """One vector with several matrices: `pairs` of a matrix (entry, column) and its product."""
    matrices = [Matrix(matrix) for matrix, _ in pairs]
    results = [Matrix(result, transposed=True, row_labels=False) for _, result in pairs]
    layout = equation(trace, Matrix(vector), "·", *matrices, tall=tall)
    for arrangement in (layout.wide, layout.narrow):
        is_wide = arrangement is layout.wide
        boxes = arrangement.boxes
        bottom = max(box.y + matrix.sizes[0] * box.height for box, matrix
                     in zip(boxes, layout.matrices, strict=True))  # fmt: skip
        y = bottom + SPACE + TITLE
        for at, result in enumerate(results):
            under = boxes[1 + at]
            height = max(under.height, 18.0)
            x = under.x
            arrangement.words.append(Word(result.name, x, y - 10, "title"))
            # Its own: a product of whole numbers with others is none.
            decimals = decimals_in(under.width, result) if under.decimals >= 0 else -1
            boxes.append(Box(x, y, under.width, height, decimals))
            if not (is_wide or at + 1 == len(results) or boxes[2 + at].y == under.y):
                y += height + SPACE + TITLE
        added = y + (18.0 if is_wide else height) + BELOW - arrangement.height
        for number, word in enumerate(arrangement.words):
            if word.look == "legend":
                arrangement.words[number] = replace(word, y=word.y + added)
        for number, mark in enumerate(arrangement.marks):
            if mark.y > bottom:
                arrangement.marks[number] = replace(mark, y=mark.y + added)
        arrangement.height += added
    layout.matrices = (*layout.matrices, *results)
    layout.signs = (*layout.signs, *("" for _ in results))
    layout.limits = limits(layout.matrices, layout.signs)
    return layout
