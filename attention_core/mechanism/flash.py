"""Flash attention: the same context vectors without the table of weights, tile by tile. Sources:
Milakov & Gimelshein 2018, Online normalizer calculation for softmax (the running maximum and sum);
Dao et al. 2022, FlashAttention, algorithm 1; Dao 2023, FlashAttention-2, section 3.1 (the order of
the loops, and one division at the end).
"""

import math
from collections.abc import Collection
from itertools import groupby

from .. import operations as ops
from ..recipes import check_scale
from ..trace import Step, Trace
from ..utils.validation import validated
from .tiling import Tile, tiles_of

ONE = "row"
"""The axis of a row's one number: its maximum, its sum."""


@validated
def attend_in_tiles(
    trace: Trace,
    queries: Step,
    keys: Step,
    values: Step,
    tile_queries: int,
    tile_keys: int,
    scale: str = "sqrt_d",
    causal: bool = False,
    offset: int = 0,
    blocks: Collection[int] | None = None,
) -> list[Step]:
    """Add attention to a trace tile by tile: of `queries` (query, d), `keys` (key, d) and `values`
    (key, d_value). Returns the context vectors of each block of queries
    (query_block_0, d_value) and so on.

    Only the `blocks` of queries that are named are computed, all where none are. Steps of block 1:
    `tile_queries_1`; `running_largest_1_start` (−∞), `running_sum_1_start` and
    `running_output_1_start` (0); those of each tile, such as key block 2: `tile_keys_1_2`,
    `tile_values_1_2`, `tile_scores_1_2`, `tile_scaled_scores_1_2` where they are divided,
    `tile_mask_1_2` and `tile_masked_scores_1_2` where a causal mask cuts through the tile,
    `tile_largest_1_2`, `running_largest_1_2`, `shrink_1_2`, `tile_exponentials_1_2`,
    `tile_sum_1_2`, `running_sum_1_2`, `tile_output_1_2`, `running_output_1_2`; and
    `context_vectors_1`. Tiles that are wholly in the future are left out. Query i stands at the
    place i + `offset` among the keys. Raises ValueError for sizes below 1, a scale that there is
    not, and a block that there is not.
    """
    check_scale(scale)
    tiles = tiles_of(len(queries.value), len(keys.value), tile_queries, tile_keys, causal, offset)
    of_block = {row: list(each) for row, each in groupby(tiles, lambda tile: tile.query_block)}
    for block in () if blocks is None else blocks:
        if block not in of_block:
            raise ValueError(f"there is no block {block} of queries: the last is {max(of_block)}")
    names = {axis: trace.labels(axis) for axis in ("query", "key")}
    rows = {f"query_block_{tile.query_block}": ("query", tile.queries) for tile in tiles}
    columns = {f"key_block_{tile.key_block}": ("key", tile.keys) for tile in tiles}
    for label, (axis, places) in (rows | columns).items():
        trace.label(label, names[axis][places.start : places.stop])
    made = []
    for block in of_block if blocks is None else blocks:
        may_see_nothing = causal and offset < 0
        steps = _Block(trace, of_block[block], (queries, keys, values), scale, may_see_nothing)
        made.append(steps.attend())
    return made


class _Block:
    """The steps of one block of queries, which goes through all blocks of keys."""

    def __init__(
        self,
        trace: Trace,
        tiles: list[Tile],
        projected: tuple[Step, Step, Step],
        scale: str,
        may_see_nothing: bool,
    ) -> None:
        self._trace, self._tiles, self._scale = trace, tiles, scale
        self._queries, self._keys, self._values = projected
        self._at = tiles[0].query_block
        self._row = f"query_block_{self._at}"
        self._may_see_nothing = may_see_nothing

    def attend(self) -> Step:
        """All of it; the context vectors of the block."""
        at, places = self._at, self._tiles[0].queries
        name, symbol = f"tile_queries_{at}", f"Q_{{{at}}}"
        rows, axes = ops.Rows(places.start, places.stop), (self._row, self._queries.axes[-1])
        self._block = self._trace.step(name, rows, self._queries, axes=axes, symbol=symbol)
        n_rows, width = len(places), self._values.value.shape[-1]
        largest = self._start("largest", "m", -math.inf, n_rows, 1)
        total = self._start("sum", r"\ell", 0.0, n_rows, 1)
        output = self._start("output", "O", 0.0, n_rows, width)
        for tile in self._tiles:
            if not tile.is_hidden:
                n_before = len(self._trace)
                largest, total, output = self._go_on(tile, largest, total, output)
                self._trace.rounds.append((*self._trace,)[n_before:])
        divide = ops.MaskedDivide() if self._may_see_nothing else ops.Divide()
        name, symbol = f"context_vectors_{at}", f"Z_{{{at}}}"
        return self._trace.step(name, divide, output, total, axes=output.axes, symbol=symbol)

    def _start(self, name: str, symbol: str, number: float, n_rows: int, width: int) -> Step:
        """What runs along, before the first tile."""
        return self._trace.step(
            f"running_{name}_{self._at}_start",
            ops.Given(((number,) * width,) * n_rows),
            axes=(self._row, ONE if name != "output" else self._values.axes[-1]),
            symbol=rf"{symbol}_{{{self._at},\mathrm{{start}}}}",
        )

    def _go_on(
        self, tile: Tile, largest: Step, total: Step, output: Step
    ) -> tuple[Step, Step, Step]:
        """One tile: the running maximum, sum and output after it."""
        trace, where = self._trace, f"{tile.query_block}_{tile.key_block}"
        below = f"{tile.query_block},{tile.key_block}"
        row, column, wide = self._row, f"key_block_{tile.key_block}", self._values.axes[-1]

        def step(name, operation, *operands, axes, symbol) -> Step:
            return trace.step(
                f"{name}_{where}", operation, *operands, axes=axes, symbol=f"{symbol}_{{{below}}}"
            )

        picks = ops.Rows(tile.keys.start, tile.keys.stop)
        keys = step("tile_keys", picks, self._keys, axes=(column, self._keys.axes[-1]), symbol="K")
        values = step("tile_values", picks, self._values, axes=(column, wide), symbol="V")
        scores = self._scores(tile, keys, step)
        one, table = (row, ONE), (row, column)
        own = step("tile_largest", ops.RowLargest(), scores, axes=one, symbol=r"\hat m")
        now = step("running_largest", ops.RunningMaximum(), largest, own, axes=one, symbol="m")
        less, fall = ops.ExpDifference(self._may_see_nothing), ops.Rescale(self._may_see_nothing)
        shrink = step("shrink", fall, largest, now, axes=one, symbol=r"\alpha")
        powers = step("tile_exponentials", less, scores, now, axes=table, symbol="U")
        added = step("tile_sum", ops.RowSum(), powers, axes=one, symbol=r"\hat\ell")
        goes_on, context = ops.RescaleAndAdd(), (row, wide)
        total = step("running_sum", goes_on, total, shrink, added, axes=one, symbol=r"\ell")
        brought = step("tile_output", ops.MatMul(), powers, values, axes=context, symbol=r"\hat O")
        output = step("running_output", goes_on, output, shrink, brought, axes=context, symbol="O")
        return now, total, output

    def _scores(self, tile: Tile, keys: Step, step) -> Step:
        """The scores of a tile, divided, and hidden where a mask cuts through it."""
        table = (self._row, f"key_block_{tile.key_block}")
        product = ops.MatMul(transpose=True)
        scores = step("tile_scores", product, self._block, keys, axes=table, symbol="S")
        if self._scale != "none":
            divide = ops.Scale(self._keys.value.shape[-1], root=self._scale == "sqrt_d")
            scores = step("tile_scaled_scores", divide, scores, axes=table, symbol=r"\tilde S")
        if tile.is_cut:
            offset = tile.queries.start - tile.keys.start + tile.offset
            visible = ops.WindowMask(len(tile.queries), len(tile.keys), offset=offset)
            mask = step("tile_mask", visible, axes=table, symbol="M")
            hide = ops.MaskedFill()
            scores = step("tile_masked_scores", hide, scores, mask, axes=table, symbol=r"\bar S")
        return scores
