"""The sentence itself as a picture: its tokens as a line of text, shaded by the weight that one
query gives them, with arcs from the query to its keys, or, where they take several lines, with
curves from line to line; of several heads, a bar and an arc in the colour of each. Or two
sentences, one above that asks, one below that answers. Another query's weights are shown, in the
browser, while one of its cells or its token is pointed at.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from attention_core.trace import Trace

from .layout import NARROW, WIDE, Arrangement, Box, Layout, Word, move
from .margin import is_grid, is_one_row
from .matrix import COVERED, Matrix, names_of
from .numbers import text_width

BOX, ARCS, SPACE = 28, 64, 6
PADDING = 18
SHARE = 15
"""For the share in numbers, below a token."""
LOOP = 13
"""Above each of several lines, for what goes from token to token."""
STRIP = 8
"""For the bar of a head, below a token."""
BETWEEN = 62
"""From the tokens that ask to those that answer."""
WORD = "a word"
"""In the place of a step's name: a token of the sentence that was clicked on, by its place."""
SOURCE = "other_embeddings"
"""The vectors of the other sentence, where a trace has two."""


@dataclass(frozen=True)
class Sentence:
    """Whose weights are shown: one row a query, one number a key."""

    tokens: tuple[str, ...]
    weights: Tensor
    """(query, key), (1, key) for one query, or (head, query, key) below each other."""
    first: int
    """The row that is shown until another is pointed at."""
    sources: tuple[int, ...] = ()
    """The places of the matrices of which one's weights are shown at a time, a head each."""
    asks: int | None = None
    """The query, where there are the weights of one alone."""
    wide: tuple[Box, ...] = ()
    narrow: tuple[Box, ...] = ()
    wide_way: str = ""
    narrow_way: str = ""
    """What goes from a query to its keys: an `arc` over one line, a `line` to another sentence, a
    `curve` among several lines, only to keys that get much, or, where these would be a tangle,
    nothing. Of several heads, there are curves on a phone alone.
    """
    place: int = 0
    """The place of the first of the tokens, where it is a part of a longer text."""
    heads: tuple[int, ...] = ()
    """Which heads these are, where there are several."""
    askers: tuple[str, ...] = ()
    """The tokens of the sentence that asks, where it is another one."""
    is_nan: str = "nan"
    """How a weight is written that is no number: a question may cover it."""
    wide_askers: tuple[Box, ...] = ()
    narrow_askers: tuple[Box, ...] = ()

    @property
    def below(self) -> float:
        """The room below the tokens, for shares or for the bars of heads."""
        return STRIP * len(self.heads) + 4 if self.heads else SHARE


def with_sentence(
    layout: Layout,
    first: int,
    of: Sequence[int] = (),
    two: bool = False,
    weights: Matrix | None = None,
) -> Layout:
    """The same layout with the sentence above it, or both where queries and keys are of two: by
    their names, or since somebody says so (`two`). Raises ValueError where no weights are drawn,
    and none are given; where they are covered, the sentence would tell them, and is left out.

    The weights are the last that are drawn, of all their heads together; or those `of` several
    matrices, by their places: then those of the head that is pointed at are shown.
    """
    if of:
        each = [layout.matrices[at] for at in of]
        if any(one.covered for one in each) or _hides(each, first):
            return layout
        one = _of(layout.trace, each[:1], first, two)
        return above(layout, replace(one, sources=tuple(of), weights=torch.cat(_each(each))))
    found = [weights] if weights else weighted(layout.matrices)
    if not found:
        names = ", ".join(each.name for each in layout.matrices)
        raise ValueError(f"no weights (query, key) or (key) among {names} to shade a sentence by")
    if any(each.covered for each in found) or _hides(found, first):
        return layout
    return above(layout, _of(layout.trace, found, first, two))


def _hides(each: Sequence[Matrix], first: int) -> bool:
    """Whether what is shown at first is covered, if only in part."""
    hidden = [torch.atleast_2d(one.unseen) for one in each if one.unseen is not None]
    return any(one[min(first, len(one) - 1)].any() for one in hidden)


def weighted(matrices: Sequence[Matrix]) -> list[Matrix]:
    """The last weights among matrices, of every head that is drawn."""
    found = [each for each in matrices if is_grid(each) or is_one_row(each)]
    return [each for each in found if each.step is found[-1].step]


def sentence(trace: Trace, matrix: Matrix, first: int) -> Layout:
    """The sentence alone, as a picture of its own."""
    empty = Layout(trace, (), (), [], 0.0, Arrangement(), Arrangement())
    return above(empty, _of(trace, [matrix], first))


def sentence_of(layout: Layout, matrices: Sequence[Matrix]) -> Sentence:
    """What the sentence of a layout shows with these matrices in the place of its own."""
    own = layout.sentence
    if own.sources:
        return replace(own, weights=torch.cat(_each([matrices[at] for at in own.sources])))
    return replace(own, weights=_weights(weighted(matrices)))


def _each(matrices: Sequence[Matrix]) -> list[Tensor]:
    """What is drawn of each, as rows; nan where a question covers it."""
    return [torch.atleast_2d(matrix.seen.float()) for matrix in matrices]


def _weights(matrices: Sequence[Matrix]) -> Tensor:
    each = _each(matrices)
    return torch.stack(each) if len(each) > 1 else each[0]


def _of(trace: Trace, matrices: Sequence[Matrix], first: int, two: bool = False) -> Sentence:
    picked = matrices[0].columns
    weights, tokens = _weights(matrices), tuple(names_of(trace, "key", picked))
    is_nan = "nan" if all(one.hidden is None for one in matrices) else COVERED
    if is_one_row(matrices[0]):
        return Sentence(tokens, weights, 0, asks=first, is_nan=is_nan)
    first = min(first, weights.shape[-2] - 1)
    heads = tuple(each.lead[-1] for each in matrices) if len(matrices) > 1 else ()
    two = two or SOURCE in trace or trace.labels("query") != trace.labels("key")
    askers = tuple(names_of(trace, "query")) if two else ()
    place = picked[0] if picked else 0
    return Sentence(tokens, weights, first, place=place, heads=heads, askers=askers, is_nan=is_nan)


def above(layout: Layout, one: Sentence) -> Layout:
    """A layout with this sentence above its matrices."""
    one = replace(one, **_places(one, "wide", WIDE), **_places(one, "narrow", NARROW))
    for arrangement, boxes, asking in (
        (layout.wide, one.wide, one.wide_askers),
        (layout.narrow, one.narrow, one.narrow_askers),
    ):
        down = max(box.y + box.height for box in boxes) + one.below
        down += 14 if layout.matrices else 0
        move(arrangement, 0.0, down)
        arrangement.height += down
        every = list(zip((*one.tokens, *one.askers), (*boxes, *asking), strict=True))
        arrangement.width = max(arrangement.width, *(box.x + box.width for _, box in every))
        arrangement.words += [
            Word(token, box.x + box.width / 2, box.y + BOX / 2, "token") for token, box in every
        ]
    layout.sentence = one
    return layout


def _places(one: Sentence, when: str, room: float) -> dict[str, Any]:
    boxes, lines = _set(one.tokens, room, one.below)
    asking: tuple[Box, ...] = ()
    way = "arc" if lines == 1 else "" if one.heads and when == "wide" else "curve"
    top = ARCS if lines == 1 else 0.0
    if one.askers:
        asking, more = _set(one.askers, room, 0.0)
        lines = max(lines, more)
        way = "line" if lines == 1 else ""
        top = BETWEEN if lines == 1 else SPACE * 3
    elif way == "curve":
        boxes, lines = _set(one.tokens, room, one.below + LOOP)
        top = LOOP
    if asking:
        top += max(box.y for box in asking) + BOX
        boxes, asking = _centred(boxes, asking) if lines == 1 else (boxes, asking)
    boxes = tuple(replace(box, y=box.y + top) for box in boxes)
    return {when: boxes, f"{when}_askers": asking, f"{when}_way": way}


def _centred(*lines: tuple[Box, ...]) -> list[tuple[Box, ...]]:
    """Lines of boxes, the shorter in the middle of the longer, but not out of sight."""
    widest = max(line[-1].x + line[-1].width for line in lines)
    return [
        tuple(replace(box, x=box.x + min((widest - line[-1].x - line[-1].width) / 2, 160))
              for box in line)
        for line in lines
    ]  # fmt: skip


def _set(tokens: tuple[str, ...], room: float, below: float) -> tuple[tuple[Box, ...], int]:
    """The boxes of the tokens, in lines no longer than the room, and how many lines there are."""
    widths = [min(text_width(token) * 1.12 + PADDING, room) for token in tokens]
    x, line = 0.0, 0
    boxes = []
    for width in widths:
        if x and x + width > room:
            x, line = 0.0, line + 1
        boxes.append(Box(x, line * (BOX + below + 3), width, BOX))
        x += width + SPACE
    return tuple(boxes), line + 1


def shares(one: Sentence) -> Tensor:
    """What is drawn of the weights, between 0 and 1, whatever the shares are."""
    return torch.nan_to_num(one.weights.abs(), nan=0.0).clamp(max=1.0)
