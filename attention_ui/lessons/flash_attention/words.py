"""What the lesson on flash attention says of its numbers, and what its question asks."""

from math import exp

from attention_core.mechanism.tile_traffic import (
    FLOAT32,
    Traffic,
    largest_tile,
    plain_traffic,
    tile_bytes,
    tiled_traffic,
)
from attention_core.mechanism.tiling import Tile
from attention_core.trace import Trace

from ...cards.common_questions import one_of
from ...cards.questions import Pick
from ...charts.amounts import amounts
from ...charts.chart import Chart
from ...frame.ends import closes
from ...picture import palette
from ...reactive.control import Values
from ...words import in_bytes, number
from .lesson import before, chosen, where

RIGHT = 1
CHOICES = (
    "Nothing: at the end everything is divided by the sum",
    "Keys that were seen early get too much weight",
    "Keys that were seen late get too much weight",
    "The weights no longer add up to 1",
)
WORKED = (2.0, 4.0), 5.0
"""The scores of one row in two tiles."""
KIBI = 1_024
KINDS = {
    "queries, keys and values, read": palette.POSITIVE,
    "scores and weights, written and read again": palette.NEGATIVE,
    "context vectors, written": palette.FED,
}


def skipped_words(tiles: tuple[Tile, ...]) -> str:
    """How many tiles a causal mask leaves out, or would leave out."""
    later = sum(tile.keys[0] > tile.queries[-1] for tile in tiles)
    is_causal = any(tile.offset is not None for tile in tiles)
    lie = ("is" if later == 1 else "are") if is_causal else "would be, with the causal switch on,"
    return f"Of {len(tiles)} tiles {later} {lie} wholly in the future and skipped."


# --- why it shrinks -------------------------------------------------------------------------------


def without_shrinking() -> Pick:
    """What comes of adding exponentials that were measured from different maxima."""
    return one_of(
        "A row's maximum rises in its second tile, and nothing shrinks. What becomes of its "
        "context vector?",
        CHOICES,
        RIGHT,
        f"{CHOICES[RIGHT]}.",
        teaches="Early exponentials were measured from a lower maximum, so they are too large "
        "beside late ones. The sum is too large in the same way, so the weights still add up to 1.",
    )


def worked_row() -> str:
    """A row of three scores in words, so that the factor is seen before the tables are."""
    first, late = WORKED
    old = max(first)
    was = sum(exp(score - old) for score in first)
    factor = exp(old - late)
    return (
        f"Say a row's scores are {first[0]:g} and {first[1]:g} in one tile, and {late:g} in the "
        f"next. After the first, m = {old:g} and ℓ = {exp(first[0] - old):.2f} + 1 = {was:.2f}. "
        f"Then m becomes {late:g}, so what was added is multiplied by e to the power of "
        f"{old:g} − {late:g}, {factor:.2f}: ℓ = {was:.2f} × {factor:.2f} + 1 = "
        f"{was * factor + 1:.2f}, as if {late:g} had been known from the start."
    )


def off_words(beside: Trace) -> str:
    """How far off the worst entry is where nothing shrinks."""
    off = beside["difference"].value.abs().max().item()
    if off < 1e-6:
        return "Here no maximum rises after the first tile that is seen, so both are the same."
    return (
        f"Without shrinking, context vectors are off by up to {number(off, 3)}. There is "
        "no error and the shapes fit, but early keys get too much weight."
    )


# --- what it saves --------------------------------------------------------------------------------


def bars(values: Values) -> Chart:
    """The bytes of each kind that both ways move at the size that is set."""
    _, *ways = at_size(values)
    size, pieces = int(values.m_bytes), []
    for way in ways:
        parts = (way.vectors, way.table, way.context)
        pieces.append({kind: n * size for kind, n in zip(KINDS, parts, strict=True)})
    names = ("whole table", "tile by tile")
    texts = [in_bytes(sum(each.values())) for each in pieces]
    return amounts(names, pieces, texts, KINDS, "Moved between the memories", written=in_bytes)


def at_size(values: Values) -> tuple[int, Traffic, Traffic]:
    """The side of the largest tile that fits, and what is moved with the table and by tiles."""
    tokens, width = values.flash_tokens, values.flash_width
    capacity = values.fast_memory * KIBI
    side = min(largest_tile(capacity, width, width, int(values.m_bytes)), tokens)
    sizes = (tokens, tokens, width, width)
    return side, plain_traffic(*sizes), tiled_traffic(*sizes, side, side, values.causal_heads)


def saved_words(values: Values, side: int, whole: Traffic, tiled: Traffic) -> str:
    """By how much the tiles win or lose, what is held at once, and what it is made of."""
    each, width = int(values.m_bytes), values.flash_width
    ratio = whole.moved / tiled.moved
    held, room = in_bytes(tiled.held_bytes(each)), in_bytes(values.fast_memory * KIBI)
    made_of = f"{held}: queries, keys and values, and in float32 scores, m, ℓ and O"
    if side >= values.flash_tokens:
        fits = f"Into {room} of fast memory the whole table fits as one tile ({made_of})."
    else:
        next_one = in_bytes(tile_bytes(2 * side, width, width, each))
        fits = (
            f"Into {room} of fast memory fit tiles of {side} × {side}, square for simplicity "
            f"({made_of}); of {2 * side} × {2 * side} they would need {next_one}."
        )
    if ratio >= 1:
        told = f"The whole table moves **{ratio:,.3g} times as many bytes**."
    else:
        told = (
            f"So keys and values are read again and again, and tiles move **{1 / ratio:,.3g} times "
            "as many bytes as the whole table**: square ones need more fast memory."
        )
    if values.causal_heads and side < values.flash_tokens:
        told += " Tiles that the causal mask skips are not counted."
    table = whole.held_bytes(each)
    so = "the table grows with the square of the tokens"
    if table <= values.fast_memory * KIBI:
        so = "at this length that hardly matters"
    slow = f"In slow memory the table takes {in_bytes(table)}, and tiles need none: {so}."
    return f"{fits} {told} {slow}"


# --- what training keeps --------------------------------------------------------------------------


def kept_bars(values: Values) -> Chart:
    """The bytes that stay until the backward pass, for one head: every weight, or m and ℓ."""
    n_tokens = values.flash_tokens
    kinds = {"weights": palette.NEGATIVE, "m and ℓ, in float32": palette.POSITIVE}
    sizes = (n_tokens**2 * int(values.m_bytes), 2 * n_tokens * FLOAT32)
    pieces = [{kind: size} for kind, size in zip(kinds, sizes, strict=True)]
    names = ("every weight, N²", "two numbers a row, 2N")
    texts = [in_bytes(size) for size in sizes]
    return amounts(names, pieces, texts, kinds, "Kept for the backward pass", written=in_bytes)


# --- what can now be answered ---------------------------------------------------------------------


@closes("What is kept from tile to tile?", "tiles")
def what_is_kept(trace: Trace, values: Values) -> str:
    """With how many numbers that is, beside a row of weights."""
    tile = chosen(values)
    n_keys, width = trace["values"].value.shape
    maximum, total = (
        number(trace[f"running_{name}_{where(tile)}"].value[0, 0].item(), 2)
        for name in ("largest", "sum")
    )
    return (
        f"For each query its maximum so far, its sum so far and its output so far: {width + 2} "
        f"numbers, however many keys there are. A row of the table would have {n_keys} here. For "
        f"the first query of the held tile, maximum and sum are {maximum} and {total}."
    )


@closes("Why does what was added up so far have to shrink?", "shrinking", "difference")
def why_it_shrinks(trace: Trace, values: Values) -> str:
    """With the row of the chosen tile whose maximum rises most."""
    tile = chosen(values)
    old, new = (
        trace[f"running_largest_{each}"].value[:, 0] for each in (before(tile), where(tile))
    )
    reason = (
        "Every exponential is e to the power of a score minus the maximum so far. When the maximum "
        "rises, those that were added before are too large by one and the same factor."
    )
    rise = new - old
    finite = rise.isfinite()
    if not finite.any() or rise[finite].max() <= 0:
        return f"{reason} In the held tile no maximum rises, so each factor is 1 or not needed."
    row = int(rise.where(finite, -1.0).argmax())
    shrink = trace[f"shrink_{where(tile)}"].value[row, 0].item()
    factor = "less than 0.001" if shrink < 0.001 else number(shrink, 3)
    return (
        f"{reason} In the held tile the maximum of query {tile.queries[row]} rises from "
        f"{number(old[row].item(), 2)} to {number(new[row].item(), 2)}, and its sum and output so "
        f"far are multiplied by {factor}."
    )


@closes("What does flash attention save?", "savings")
def what_it_saves(values: Values) -> str:
    """At the size that is set."""
    _, whole, tiled = at_size(values)
    each = int(values.m_bytes)
    return (
        "Not products: bytes that are moved, and slow memory. With "
        f"{values.flash_tokens:,} tokens, the whole table moves {in_bytes(whole.moved * each)} "
        f"for each head; tiles move {in_bytes(tiled.moved * each)}, and hold "
        f"{in_bytes(tiled.held_bytes(each))} at once in fast memory."
    )
