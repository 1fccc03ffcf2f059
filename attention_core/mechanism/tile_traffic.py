"""How many numbers attention moves between the large slow memory and the small fast one: with the
whole table of weights, and tile by tile. Plain arithmetic, without tensors.

Counted is what the two ways read and write in the large memory, for one head and one text: queries
and keys are `d` wide, values `d_v`.

Sources: Dao et al. 2022, FlashAttention, section 3.2 (what is counted, and why it decides the
time); Dao 2023, FlashAttention-2, section 3.1 (keys and values once for each block of queries).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .tiling import n_blocks

if TYPE_CHECKING:
    from ..trace import Step, Trace


@dataclass(frozen=True)
class Traffic:
    """Numbers that are moved, and the most that is held beside what goes in and comes out."""

    vectors: int
    """Queries, keys and values, read."""
    table: int
    """Scores and weights, written and read again."""
    context: int
    """Context vectors, written."""
    held: int

    @property
    def moved(self) -> int:
        """Numbers read and written together."""
        return self.vectors + self.table + self.context


def plain_traffic(n_queries: int, n_keys: int, d: int, d_v: int) -> Traffic:
    """In three passes, each of which reads and writes the large memory: queries and keys make
    scores, scores make weights, weights and values make context vectors.
    """
    vectors = n_queries * d + n_keys * d + n_keys * d_v
    table = n_queries * n_keys
    return Traffic(vectors, table=4 * table, context=n_queries * d_v, held=table)


def tiled_traffic(
    n_queries: int,
    n_keys: int,
    d: int,
    d_v: int,
    tile_queries: int,
    tile_keys: int,
    causal: bool = False,
) -> Traffic:
    """Tile by tile: queries are read once, context vectors written once, keys and values read once
    for each block of queries; with a causal mask without the tiles that are wholly in the future.
    Only what `held_by_tile` counts is held.
    """
    seen = 0
    for block in range(n_blocks(n_queries, tile_queries)):
        last = min((block + 1) * tile_queries, n_queries)
        visited = n_blocks(last, tile_keys) * tile_keys if causal else n_keys
        seen += min(visited, n_keys)
    held = held_by_tile(min(tile_queries, n_queries), min(tile_keys, n_keys), d, d_v)
    return Traffic(n_queries * d + seen * (d + d_v), 0, context=n_queries * d_v, held=held)


def held_by_tile(tile_queries: int, tile_keys: int, d: int, d_v: int) -> int:
    """The numbers that have to be in the fast memory at once: tiles of queries, keys and values, a
    tile of scores, and for each query its output, maximum and sum.
    """
    vectors = (tile_queries + tile_keys) * (d + d_v)
    return vectors + tile_queries * tile_keys + 2 * tile_queries


def largest_tile(capacity: int, d: int, d_v: int) -> int:
    """The side of the largest square tile, a power of 2, that a fast memory of `capacity` numbers
    has room for. Raises ValueError where not even one query and one key fit.
    """
    if (least := held_by_tile(1, 1, d, d_v)) > capacity:
        raise ValueError(
            f"a fast memory of {capacity:,} numbers holds no tile: one query and one key need "
            f"{least:,} at a width of {d}"
        )
    side = 1
    while held_by_tile(2 * side, 2 * side, d, d_v) <= capacity:
        side *= 2
    return side


def measured_plain(trace: "Trace") -> Traffic:
    """The same as `plain_traffic`, counted on a trace of `attention`: the cells that its three
    passes read and write. Dividing by √d and a mask belong to the second pass.
    """
    scores, weights, context = (trace[name] for name in ("scores", "weights", "context_vectors"))
    values = context.inputs[1]
    return Traffic(
        _cells(*scores.inputs, values),
        _cells(scores, weights.inputs[0], weights, weights),
        _cells(context),
        held=_cells(weights),
    )


def measured_tiled(trace: "Trace") -> Traffic:
    """The same as `tiled_traffic`, counted on a trace of `attend_in_tiles`: every cell that is
    copied from the whole queries, keys and values, and the context vectors. Held is the most of
    any tile.
    """
    wholes = {trace[name] for name in ("queries", "keys", "values")}
    copied = [step for step in trace.values() if wholes & {*step.inputs}]
    written = [step for name, step in trace.items() if name.startswith("context_vectors_")]
    tiles = (
        name.removeprefix("tile_exponentials_")
        for name in trace
        if name.startswith("tile_exponentials_")
    )
    held = max((_held(trace, where) for where in tiles), default=0)
    return Traffic(_cells(*copied), 0, _cells(*written), held)


def _held(trace: "Trace", where: str) -> int:
    """The cells of a tile that are needed at once."""
    names = [f"tile_queries_{where.partition('_')[0]}"]
    names += [f"{name}_{where}" for name in ("tile_keys", "tile_values", "tile_exponentials")]
    names += [f"running_{name}_{where}" for name in ("largest", "sum", "output")]
    return _cells(*(trace[name] for name in names))


def measured_products(steps: Iterable["Step"]) -> int:
    """How many multiplications these matrix products take: one for each entry of a row, in each
    cell.
    """
    return sum(step.value.numel() * step.inputs[0].value.shape[-1] for step in steps)


def _cells(*steps: "Step") -> int:
    return sum(step.value.numel() for step in steps)
