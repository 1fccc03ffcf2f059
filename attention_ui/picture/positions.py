"""What a control in a picture changes, row by row at each position, without the server."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from attention_core.trace import is_shares

from .forbidden import forbidden, leak_limit, outline
from .layout import NARROW, NO_PATH, Arrangement, Layout, Mark, Path, fitting, legend
from .margin import has_sums, is_one, is_one_row, row_sums
from .matrix import Matrix
from .numbers import written_each
from .scale import limits_each
from .sentence import Sentence, sentence_of, shares
from .table import (
    LEVELS,
    ON_NARROW,
    ON_WIDE,
    SEPARATOR,
    Lists,
    bar_lengths,
    by_head,
    decimals_shown,
    id_of_token,
    ids_of,
    look_of,
    percent_each,
    percents,
    percents_each,
    shades_of,
    strengths_of,
)

OTHER_CELLS = "the positions of a control in the picture must have the same cells"
FOLLOWS = "follows at rest"
"""Among what a control changes: that not all of it is told, so what shows it is drawn at rest."""


def positions(layout: Layout, each_there: Sequence[Sequence[Matrix] | Layout]) -> Lists:
    """What a control in the picture changes: for each of its positions, the matrices of the layout
    as they are there, or a layout with the same words, marks and paths around them. Raises
    ValueError where one has other cells than the layout.

    Only what is seen while a hand moves is told: the arithmetic follows when it rests.
    """
    lists: Lists = {}
    layouts = [each for each in each_there if isinstance(each, Layout)]
    others = [each.matrices if isinstance(each, Layout) else each for each in each_there]
    if {*map(len, others)} != {len(layout.matrices)}:
        raise ValueError(OTHER_CELLS)
    scales = limits_each(others, layout.signs)
    for at, (matrix, *there) in enumerate(zip(layout.matrices, *others, strict=True)):
        is_same = all(each is there[0] or each == there[0] for each in there)
        each_drawn = [each.drawn for each in (there[:1] if is_same else there)]
        if any(each.shape != matrix.drawn.shape for each in each_drawn):
            raise ValueError(OTHER_CELLS)
        if matrix.covered:
            continue
        seen = None if matrix.unseen is None else ~matrix.unseen.flatten().numpy()
        most = scales[:, at : at + 1]
        is_still = is_same and all(each.strengths is None for each in there)
        if is_still and not _has_a_mask(matrix) and (most == most[0]).all():
            continue
        values = torch.stack(each_drawn).float().flatten(1).numpy()
        values = np.broadcast_to(values, (len(there), values.shape[1]))
        ids = ids_of(at, matrix)
        is_read = any(one.boxes[at].is_readable for one in (layout.wide, layout.narrow))
        decimals = [2 if matrix.as_bars else -1] * len(there)
        if is_read and not matrix.as_bars:
            decimals = [decimals_shown(layout, at, each) for each in there]
        if _has_a_mask(matrix) and not matrix.as_bars:
            looks = [*map(look_of, there, most[:, 0].tolist(), map(leak_limit, others), decimals)]
            _masked_lists(lists, ids, looks, seen)
            continue
        if matrix.as_bars:
            shown = bar_lengths(matrix, values)
        else:
            shown = shades_of(values, most, is_shares(matrix.step))
        hidden = np.isneginf(values)
        strengths = (
            strengths_of(matrix, hidden)
            if all(each.strengths is None and each.faint == matrix.faint for each in there)
            else np.stack([*map(strengths_of, there, hidden)])
        )
        for name, all_of in (("texts", values), ("shades", shown), ("strengths", strengths)):
            changed = np.flatnonzero((all_of != all_of[:1]).any(axis=0))
            if name == "texts" and len(set(decimals)) > 1:  # 0, and 0.00 among others
                changed = np.arange(all_of.shape[1])
            changed = changed if seen is None else changed[seen[changed]]
            if not len(changed) or (name == "texts" and max(decimals) < 0):
                continue
            if name == "texts":
                texts = [
                    written_each(each, n) if n >= 0 else [""] * len(each)
                    for each, n in zip(all_of[:, changed].tolist(), decimals, strict=True)
                ]
                told = [*map(SEPARATOR.join, zip(*texts, strict=True))]
            else:
                told = percents_each(all_of.T[changed])
            for cell, text in zip(changed.tolist(), told, strict=True):
                lists.setdefault(ids[cell], {})[name] = text
                if matrix.as_bars and name == "shades":
                    row, bar = ids[cell].split(".")[1], {name: text}
                    lists |= {f"bar.{at}.{when}.{row}": bar for when in (ON_WIDE, ON_NARROW)}
    if layouts:
        _around_lists(lists, layouts)
    ends = zip(others, scales.tolist(), map(leak_limit, others), strict=True)
    _legend_lists(lists, layout, [*ends])
    sums = [] if layouts else _sums(others)
    for when, arrangement in ((ON_WIDE, layout.wide), (ON_NARROW, layout.narrow)):
        places = [at for at, word in enumerate(arrangement.words) if word.changes]
        if len(places) != len(sums):  # some are too low to be read: whose the others are is told
            if any(len({*zip(*each, strict=True)}) > 1 for each in sums):
                lists[FOLLOWS] = {}
            continue
        for at, (texts, are_one) in zip(places, sums, strict=True):
            if len(set(are_one)) > 1:
                lists[FOLLOWS] = {}  # loud at some of them
            if len(set(texts)) > 1:
                lists[f"words.{when}.{at}"] = {"texts": SEPARATOR.join(texts)}
        if not layouts:
            _outline_lists(lists, when, arrangement, others)
    if layout.sentence is not None:
        there = [each.sentence for each in layouts] or [sentence_of(layout, one) for one in others]
        _sentence_lists(lists, layout.sentence, there)
    return lists


def _around_lists(lists: Lists, layouts: Sequence[Layout]) -> None:
    """What becomes of the words, marks and paths around the matrices."""

    def strong(each: Mark | Path) -> str:
        return LEVELS[100 + round(100 * each.strength)]

    kinds = (
        ("words", "texts", lambda each: each.text),
        ("marks", "strengths", strong),
        ("marks", "wheres", lambda each: each.told[0]),
        ("marks", "tips", lambda each: each.told[1]),
        ("paths", "strengths", strong),
        ("paths", "texts", lambda each: each.drawn),
    )
    for when, name in ((ON_WIDE, "wide"), (ON_NARROW, "narrow")):
        arranged = [getattr(each, name) for each in layouts]
        for of, column, say in kinds:
            each_there = [getattr(each, of) for each in arranged]
            if len({*map(len, each_there)}) > 1:
                lists[FOLLOWS] = {}  # a legend that says more at one position
                continue
            for at, each in enumerate(zip(*each_there, strict=True)):
                if of == "words" and not each[0].changes and len({one.y for one in each}) > 1:
                    lists[FOLLOWS] = {}  # of another row: as many are off, but not the same ones
                    continue
                told = [say(one) for one in each]
                if len(set(told)) > 1:
                    row = f"{of}.{when}.{at}"
                    between = "" if column == "strengths" else SEPARATOR
                    lists[row] = {**lists.get(row, {}), column: between.join(told)}


def _legend_lists(lists: Lists, layout: Layout, each: Sequence[tuple[Any, Any, float]]) -> None:
    """What becomes of the ends of the scales."""
    known: dict[tuple[float, float], list] = {}
    for when, arrangement in ((ON_WIDE, layout.wide), (ON_NARROW, layout.narrow)):
        if arrangement.cut not in known:
            known[arrangement.cut] = [legend(*one, arrangement) for one in each]
        room = math.inf if when == ON_WIDE else NARROW
        scales = [fitting(one, room) for one in known[arrangement.cut]]
        if len({tuple(kind for kind, *_ in one) for one in scales}) > 1:
            lists[FOLLOWS] = {}
            return
        told = [[text for _, *ends in one for text in ends if text] for one in scales]
        places = [at for at, word in enumerate(arrangement.words)
                  if word.look == "legend" and not arrangement.leaves_out(word.y)]  # fmt: skip
        for at, texts in zip(places, zip(*told, strict=True), strict=False):
            if len(set(texts)) > 1:
                lists[f"words.{when}.{at}"] = {"texts": SEPARATOR.join(texts)}


def _outline_lists(
    lists: Lists, when: int, drawn: Arrangement, each_there: Sequence[Sequence[Matrix]]
) -> None:
    """What becomes of the outlines around what masks forbid."""
    places = (at for at, path in enumerate(drawn.paths) if path.colour == "forbidden")
    for box, there in zip(drawn.boxes, zip(*each_there, strict=True), strict=True):
        if forbidden(there[0]) is None:
            continue
        at = next(places, None)
        if at is None or any(each.allowed is None for each in there):
            lists[FOLLOWS] = {}  # nothing is forbidden at one of them
            continue
        may = torch.stack([each.allowed for each in there]).isnan()
        if not torch.equal(may, may[:1].expand_as(may)):
            regions = [forbidden(each) for each in there]
            turned = [each.T for each in regions] if there[0].transposed else regions
            told = [outline(each, box.width, box.height) or NO_PATH for each in turned]
            lists[f"paths.{when}.{at}"] = {"texts": SEPARATOR.join(told)}


def _has_a_mask(matrix: Matrix) -> bool:
    """Whether it is a mask, or what one has to do with: then more than numbers and shades moves."""
    is_mask = matrix.step.value.dtype == torch.bool
    return is_mask or matrix.mask is not None or matrix.allowed is not None


def _masked_lists(
    lists: Lists, ids: Sequence[str], looks: Sequence[dict[str, Any]], seen: np.ndarray | None
) -> None:
    """What becomes of a masked matrix's cells at each position: what is hidden, what leaks; but for
    those that a question covers.
    """

    def of(name: str) -> list[str]:
        each = [look[name] if isinstance(look[name], list) else [look[name] or ""] * len(ids)
                for look in looks]  # fmt: skip
        return [*map(SEPARATOR.join, zip(*each, strict=True))]

    told = {f"{name}s": percents_each(np.stack([each[name] for each in looks], axis=1))
            for name in ("shade", "strength")}  # fmt: skip
    told |= {f"{name}s": of(name) for name in ("look", "text") if any(each[name] for each in looks)}
    for at, each in enumerate(ids):
        if seen is not None and not seen[at]:
            continue
        lists[each] = {
            name: texts[at]
            for name, texts in told.items()
            if len({*(texts[at].split(SEPARATOR) if SEPARATOR in texts[at] else texts[at])}) > 1
        }


def _sums(each_there: Sequence[Sequence[Matrix]]) -> list[tuple[list[str], list[bool]]]:
    """What each row sums to at each position, in words, and whether that is 1."""
    found = []
    for there in zip(*each_there, strict=True):
        if has_sums(there[0]):
            before = "sum " if is_one_row(there[0]) else ""
            kind = there[0].step.value.dtype
            parts = {one.part: one for one in there}
            totals = {part: row_sums(one).tolist() for part, one in parts.items()}
            for row in zip(*(totals[one.part] for one in there), strict=True):
                words = [f"{before}{each}" for each in written_each(row)]
                found.append((words, [is_one(total, kind) for total in row]))
    return found


def _sentence_lists(lists: Lists, one: Sentence, others: Sequence[Sentence]) -> None:
    """Shares of a token, position by position, and within each query by query."""
    shown = torch.stack([by_head(shares(each)) for each in others]).numpy()
    weights = torch.stack([each.weights for each in others]).numpy()
    for at in range(len(one.tokens)):
        for number, head in enumerate(one.heads or (None,)):
            each = shown[:, number, :, at].ravel()
            plain = {"shades": percents(each)}
            lists[id_of_token("arc", at, head)] = lists[id_of_token("arcn", at, head)] = plain
            if head is not None:
                lists[id_of_token("strip", at, head)] = plain
                continue
            lists[f"token.{at}"] = {"shades": percents(np.sqrt(each))}
            lists[f"share.{at}"] = {"texts": percent_each(weights[:, :, at].ravel(), one.is_nan)}
