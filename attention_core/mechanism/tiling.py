"""Which tiles a table of scores is cut into, and which of them a causal mask leaves. No tensors."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Tile:
    """Some rows and columns of the table: a block of queries that meets a block of keys."""

    query_block: int
    key_block: int
    queries: range
    keys: range
    offset: int | None = None
    """With a causal mask, how many places further along the keys each query stands; else None."""

    @property
    def is_hidden(self) -> bool:
        """Whether every key comes later than every query, so that nothing is to be computed."""
        return self.offset is not None and self.keys[0] > self.queries[-1] + self.offset

    @property
    def is_cut(self) -> bool:
        """Whether the mask hides some of its cells, and not all."""
        later = self.offset is not None and self.keys[-1] > self.queries[0] + self.offset
        return later and not self.is_hidden


def tiles_of(
    n_queries: int,
    n_keys: int,
    tile_queries: int,
    tile_keys: int,
    causal: bool = False,
    offset: int = 0,
) -> tuple[Tile, ...]:
    """All tiles, in the order in which they are gone through: for each block of queries, every
    block of keys. The last of a row or a column is smaller where the sizes do not divide.

    Query i stands at the place i + `offset` among the keys. Raises ValueError for sizes below 1.
    Source: Dao 2023, FlashAttention-2, section 3.1 (the order of the loops).
    """
    for what, size in (("queries", tile_queries), ("keys", tile_keys)):
        if size < 1:
            raise ValueError(f"tiles of {size} {what}: choose 1 or more")
    if min(n_queries, n_keys) < 1:
        raise ValueError("a table of scores needs at least one query and one key")
    return tuple(
        Tile(row, column, queries, keys, offset if causal else None)
        for row, queries in enumerate(_blocks(n_queries, tile_queries))
        for column, keys in enumerate(_blocks(n_keys, tile_keys))
    )


def n_blocks(size: int, block: int) -> int:
    """How many blocks of so many places an axis of this size is cut into."""
    return -(-size // block)


def _blocks(size: int, block: int) -> list[range]:
    return [range(first, min(first + block, size)) for first in range(0, size, block)]
