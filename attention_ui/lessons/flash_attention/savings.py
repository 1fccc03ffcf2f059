"""What tiles save: bytes moved at a size that the reader sets, and numbers counted on the trace."""

from attention_core.mechanism.tile_traffic import (
    Traffic,
    held_by_tile,
    largest_tile,
    measured_plain,
    measured_products,
    measured_tiled,
    plain_traffic,
    tiled_traffic,
)
from attention_core.operations import MatMul
from attention_core.trace import Trace

from ...charts.traffic import traffic
from ...page.page import narrow
from ...page.show import formulas, show_within
from ...settings import session
from ...settings.control import control, control_row
from ...settings.offered import fitting_tile
from ...settings.settings import Settings

KIBI = 1_024
UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB")
KINDS = (
    "queries, keys and values, read",
    "scores and weights, written and read again",
    "context vectors, written",
)
CHART = 680
"""The width of the bars, with their names."""
PLAIN, TILED = "whole table", "tile by tile"


def show_savings() -> None:
    """The sizes, both bars, and what they come from."""
    with control_row():
        control("flash_tokens", width=200)
        control("flash_width", width=150)
        control("m_bytes", width="content")
        control("fast_memory", width=200)
    settings = session.current()
    side, whole, tiled = at_size(settings)
    size = int(settings.m_bytes)
    ways = {
        name: [part * size for part in (way.vectors, way.table, way.context)]
        for name, way in ((PLAIN, whole), (TILED, tiled))
    }
    show_within(traffic(ways, KINDS, written), CHART)
    narrow(words(settings, side, whole, tiled))
    formulas(
        r"\text{whole table: } 4N^2 + 2N(d + d_v)",
        r"\text{tiles: } \lceil N / B \rceil\,N(d + d_v) + N(d + d_v)",
    )
    narrow(
        "N are the tokens, d the width of queries and keys, $d_v$ that of values (in the bars both "
        "are the width of a head), B the queries in a tile: this is how many numbers are moved per "
        "head and text, without a mask. ⌈N / B⌉ is how many blocks of queries there are, each of "
        f"which reads all keys and values. {in_numbers(settings, side)}",
        caption=True,
    )


def in_numbers(settings: Settings, side: int) -> str:
    """Both formulas with the sizes that are set, worked out to bytes."""
    n_tokens, width, each = settings.flash_tokens, settings.flash_width, int(settings.m_bytes)
    sizes = (n_tokens, n_tokens, width, width)
    whole, tiled = plain_traffic(*sizes).moved, tiled_traffic(*sizes, side, side).moved
    blocks, both = -(-n_tokens // side), 2 * width
    return (
        f"Here 4 · {n_tokens:,}² + 2 · {n_tokens:,} · {both} = {whole:,} numbers, at {each} bytes "
        f"each {written(whole * each)}; and {blocks} · {n_tokens:,} · {both} + {n_tokens:,} · "
        f"{both} = {tiled:,} numbers, {written(tiled * each)}."
    )


def at_size(settings: Settings) -> tuple[int, Traffic, Traffic]:
    """The side of the largest tile that fits, and what is moved with the table and by tiles, of
    which a causal mask skips some.
    """
    tokens, width = settings.flash_tokens, settings.flash_width
    capacity = settings.fast_memory * KIBI // int(settings.m_bytes)
    side = min(largest_tile(capacity, width, width), tokens)
    sizes = (tokens, tokens, width, width)
    return side, plain_traffic(*sizes), tiled_traffic(*sizes, side, side, settings.causal_heads)


def words(settings: Settings, side: int, whole: Traffic, tiled: Traffic) -> str:
    """By how much the tiles win or lose, what is held at once, and what it is made of."""
    each, width = int(settings.m_bytes), settings.flash_width
    ratio = whole.moved / tiled.moved
    held = written(tiled.held * each)
    made_of = f"{held}: queries, keys, values and exponentials, and m, ℓ and O"
    if side >= settings.flash_tokens:
        fits = f"The whole table fits as one tile ({made_of})."
    else:
        next_one = written(held_by_tile(2 * side, 2 * side, width, width) * each)
        fits = (
            f"Tiles of {side} × {side} fit ({made_of}); of {2 * side} × {2 * side} they would "
            f"need {next_one}."
        )
    if ratio >= 1:
        moved = f"The whole table moves **{ratio:,.3g} times as many bytes**."
    else:
        moved = (
            f"So keys and values are read again and again, and tiles move **{1 / ratio:,.3g} times "
            "as many bytes as the whole table**: they need more fast memory."
        )
    if settings.causal_heads and side < settings.flash_tokens:
        moved += " Tiles that the causal mask skips are not counted."
    table = written(whole.held * each)
    if tiled.held > whole.held:
        return f"{fits} {moved} The table would be only {table}: a loss for so short a text."
    return f"{fits} {moved} The table would be {table}, and grows with the square of the tokens."


def written(size: float) -> str:
    """A number of bytes with its unit."""
    power = _power(size)
    return f"{size / KIBI**power:,.3g} {UNITS[power]}"


def _power(size: float) -> int:
    power = 0
    while size >= KIBI and power + 1 < len(UNITS):
        size, power = size / KIBI, power + 1
    return power


def counted(whole: Trace, plain: Trace, settings: Settings) -> str:
    """How many numbers the traces of this sentence move, and whether the arithmetic says so too."""
    n_tokens, d = whole["queries"].value.shape
    d_v = whole["values"].value.shape[-1]
    sizes = [fitting_tile(each, n_tokens) for each in (settings.tile_queries, settings.tile_keys)]
    by_table, by_tiles = measured_plain(plain).moved, measured_tiled(whole).moved
    shape = (n_tokens, n_tokens, d, d_v)
    said = (
        plain_traffic(*shape).moved,
        tiled_traffic(*shape, *sizes, settings.causal_heads).moved,
    )
    words = (
        "Counted on the steps of your sentence, with the tiles of the first picture "
        f"(N = {n_tokens}, B = {sizes[0]}, d = {d}, $d_v$ = {d_v}): the whole table moves "
        f"{by_table:,} numbers, the tiles {by_tiles:,}."
    )
    if said == (by_table, by_tiles):
        skipped = ", minus the reads of skipped tiles"
        return f"{words} The formulas give the same{skipped * settings.causal_heads}."
    return f"{words} The formulas give {said[0]:,} and {said[1]:,}."


def met(is_causal: bool) -> str:
    """Which keys each query meets, with a causal mask or without."""
    if is_causal:
        return "Each query still meets each key that is not later, about half of the table."
    return "Each query still meets each key."


def products_words(whole: Trace, plain: Trace) -> str:
    """How many multiplications the matrix products of both ways take, counted on the steps."""
    by_tiles = measured_products(_products(whole))
    by_table = measured_products(plain[name] for name in ("scores", "context_vectors"))
    if by_tiles == by_table:
        counted = (
            f"In the matrix products alone, both ways take {by_table:,} multiplications on your "
            "sentence: not one is saved."
        )
    else:
        counted = (
            f"In the matrix products alone, the whole table takes {by_table:,} multiplications on "
            f"your sentence, and the tiles {by_tiles:,}: only those of skipped tiles are saved, "
            "which the mask would have thrown away."
        )
    return f"{counted} Rescaling what was gathered comes on top, and is not counted."


def _products(whole: Trace) -> list:
    return [
        step
        for name, step in whole.items()
        if isinstance(step.operation, MatMul) and name.startswith(("tile_scores", "tile_output"))
    ]
