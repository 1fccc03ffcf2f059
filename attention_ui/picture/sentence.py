"""The sentence itself as a picture: its tokens as a line of text, shaded by the weight that one
query gives them, with arcs from the query to its keys. Another query's weights are shown, in the
browser, while one of its cells or its token is pointed at.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from attention_core.trace import Trace

from .layout import NARROW, WIDE, Arrangement, Box, Layout, Word, move
from .margin import is_grid, is_one_row
from .matrix import Matrix, names_of
from .numbers import text_width

BOX, ARCS, SPACE, LINE = 28, 64, 6, 46
PADDING = 18
SHARE = 15
"""For the share in numbers, below a token."""


@dataclass(frozen=True)
class Sentence:
    """Whose weights are shown: one row a query, one number a key."""

    tokens: tuple[str, ...]
    weights: Tensor
    """(query, key), or (1, key) for the weights of one query alone; those of several heads below
    each other.
    """
    first: int
    """The row that is shown until another is pointed at."""
    sources: tuple[int, ...] = ()
    """The places of the matrices that have these weights, among those of the layout."""
    heads: tuple[int, ...] = ()
    """The heads that they belong to, where there are several."""
    asks: int | None = None
    """The query, where there are the weights of one alone."""
    wide: tuple[Box, ...] = ()
    narrow: tuple[Box, ...] = ()
    has_arcs: bool = True


def with_sentence(layout: Layout, first: int, of: Sequence[int] = ()) -> Layout:
    """The same layout with the sentence above it. Raises ValueError where no weights are drawn;
    where they are covered, the sentence would tell them, and is left out.

    The weights are the last that are drawn; or those `of` several heads, by their places among the
    matrices, from the first head on: then those of the head that is pointed at are shown.
    """
    found = [at for at, each in enumerate(layout.matrices) if is_grid(each) or is_one_row(each)]
    if not found:
        names = ", ".join(each.name for each in layout.matrices)
        raise ValueError(f"no weights (query, key) or (key) among {names} to shade a sentence by")
    sources = tuple(of or found[-1:])
    matrices = [layout.matrices[at] for at in sources]
    if any(each.covered for each in matrices):
        return layout
    one = replace(_of(layout.trace, matrices[0], first), sources=sources)
    if len(matrices) > 1:
        heads = tuple(each.lead[0] for each in matrices)
        one = replace(one, weights=_rows(matrices), heads=heads)
    return above(layout, one)


def _rows(matrices: Sequence[Matrix]) -> Tensor:
    """The weights of matrices, below each other."""
    each = [matrix.drawn.float() for matrix in matrices]
    return torch.cat([one if one.ndim == 2 else one[None] for one in each])


def sentence(trace: Trace, matrix: Matrix, first: int) -> Layout:
    """The sentence alone, as a picture of its own."""
    empty = Layout(trace, (), (), [], 0.0, Arrangement(), Arrangement())
    return above(empty, _of(trace, matrix, first))


def sentence_of(layout: Layout, matrices: Sequence[Matrix]) -> Sentence:
    """What the sentence of a layout shows with these matrices in the place of its own."""
    own = layout.sentence
    return replace(own, weights=_rows([matrices[at] for at in own.sources]))


def _of(trace: Trace, matrix: Matrix, first: int) -> Sentence:
    weights = matrix.drawn.float()
    tokens = tuple(names_of(trace, "key"))
    if weights.ndim == 1:
        return Sentence(tokens, weights[None], 0, asks=first)
    return Sentence(tokens, weights, min(first, len(weights) - 1))


def above(layout: Layout, one: Sentence) -> Layout:
    """A layout with this sentence above its matrices."""
    wide, lines = _set(one.tokens, WIDE)
    narrow, _ = _set(one.tokens, NARROW)
    one = replace(one, wide=wide, narrow=narrow, has_arcs=lines == 1)
    for arrangement, boxes in ((layout.wide, wide), (layout.narrow, narrow)):
        down = max(box.y + box.height for box in boxes) + SHARE + (14 if layout.matrices else 0)
        move(arrangement, 0.0, down)
        arrangement.height += down
        arrangement.width = max(arrangement.width, *(box.x + box.width for box in boxes))
        arrangement.words += [
            Word(token, box.x + box.width / 2, box.y + BOX / 2, "token")
            for token, box in zip(one.tokens, boxes, strict=True)
        ]
    layout.sentence = one
    return layout


def _set(tokens: tuple[str, ...], room: float) -> tuple[tuple[Box, ...], int]:
    """The boxes of the tokens, in lines no longer than the room, and how many lines there are."""
    widths = [min(text_width(token) * 1.12 + PADDING, room) for token in tokens]
    is_one_line = sum(widths) + SPACE * (len(widths) - 1) <= room
    x, line = 0.0, 0
    top = ARCS if is_one_line else 0.0
    boxes = []
    for width in widths:
        if x and x + width > room:
            x, line = 0.0, line + 1
        boxes.append(Box(x, top + line * LINE, width, BOX))
        x += width + SPACE
    return tuple(boxes), line + 1


def shares(one: Sentence) -> Tensor:
    """What is drawn of the weights: between 0 and 1, also of shares by a sum, which may be
    anything.
    """
    return torch.nan_to_num(one.weights.abs(), nan=0.0).clamp(max=1.0)
