"""How many numbers attention moves between the large slow memory and the small fast one: with the
whole table of weights, and tile by tile. Plain arithmetic, without tensors.

Counted is what the two ways read and write in the large memory, for one head and one text: queries
and keys are `d` wide, values `d_value`.

Sources: Dao et al. 2022, FlashAttention, section 3.2 (what is counted, and why it decides the
time); Dao 2023, FlashAttention-2, section 3.1 (keys and values once for each block of queries).
"""

from dataclasses import dataclass

from .tiling import n_blocks

FLOAT32 = 4
"""The bytes of a number that is added up, at least: kernels keep sums in float32."""


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
    summed: int = 0
    """Of what is held, what kernels keep in float32: scores, and each query's m, ℓ and output."""

    @property
    def moved(self) -> int:
        """Numbers read and written together."""
        return self.vectors + self.table + self.context

    def held_bytes(self, n_bytes: int) -> int:
        """What is held, where queries, keys and values have so many bytes a number."""
        return (self.held - self.summed) * n_bytes + self.summed * max(n_bytes, FLOAT32)


def plain_traffic(n_queries: int, n_keys: int, d: int, d_value: int) -> Traffic:
    """In three passes over the large memory: scores, weights, context vectors."""
    vectors = n_queries * d + n_keys * d + n_keys * d_value
    table = n_queries * n_keys
    return Traffic(vectors, table=4 * table, context=n_queries * d_value, held=table)


def tiled_traffic(
    n_queries: int,
    n_keys: int,
    d: int,
    d_value: int,
    tile_queries: int,
    tile_keys: int,
    causal: bool = False,
) -> Traffic:
    """Tile by tile: queries are read once, context vectors written once, keys and values read once
    for each block of queries; with a causal mask without the tiles that are wholly in the future.
    Held are tiles of queries, keys and values, a tile of scores, and for each query its output,
    maximum and sum.
    """
    seen = 0
    for block in range(n_blocks(n_queries, tile_queries)):
        last = min((block + 1) * tile_queries, n_queries)
        visited = n_blocks(last, tile_keys) * tile_keys if causal else n_keys
        seen += min(visited, n_keys)
    rows, columns = min(tile_queries, n_queries), min(tile_keys, n_keys)
    summed = rows * (columns + d_value + 2)
    held = rows * d + columns * (d + d_value) + summed
    return Traffic(n_queries * d + seen * (d + d_value), 0, n_queries * d_value, held, summed)


def tile_bytes(side: int, d: int, d_value: int, n_bytes: int) -> int:
    """The bytes that a square tile needs in the fast memory."""
    return tiled_traffic(side, side, d, d_value, side, side).held_bytes(n_bytes)


def largest_tile(capacity: int, d: int, d_value: int, n_bytes: int) -> int:
    """The largest square tile, a power of 2, in `capacity` bytes. Raises ValueError for none."""
    if (least := tile_bytes(1, d, d_value, n_bytes)) > capacity:
        raise ValueError(
            f"a fast memory of {capacity:,} bytes holds no tile: one query and one key need "
            f"{least:,} at a width of {d}"
        )
    side = 1
    while tile_bytes(2 * side, d, d_value, n_bytes) <= capacity:
        side *= 2
    return side
