"""Flash attention: its controls, and its traces as functions of their values."""

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from attention_core import operations as ops
from attention_core.gradients import backward
from attention_core.mechanism.attention import attention, divisor_of
from attention_core.mechanism.flash import attend_in_tiles
from attention_core.mechanism.masking import mask_of
from attention_core.mechanism.tiling import Tile, tiles_of
from attention_core.mechanism.trainable import project
from attention_core.mistakes.rewriting import by, rewritten
from attention_core.mistakes.side_by_side import side_by_side
from attention_core.recipes import MaskRecipe
from attention_core.text.embedding import embed
from attention_core.trace import Step, Trace

from ...controls.fields import MAX_TOKENS
from ...controls.shared import (
    CAUSAL_HEADS,
    M_BYTES,
    MAKES_VECTORS,
    PROJECTED,
    inputs_of,
    projections_of,
)
from ...frame.lights import agreement
from ...picture.layout import Layout
from ...picture.matrix import Matrix
from ...picture.tiles import tiles
from ...reactive.control import Control, Values
from ...reactive.fields import Whole

TALL, MOST_COLUMNS = 284, 12
MAX_BLOCKS = 8
"""Into so many blocks at most the queries, and the keys, are cut: each tile takes a dozen steps."""
TOKEN_COUNTS = (64, 256, 1_024, 2_048, 4_096, 8_192, 16_384, 32_768, 65_536, 131_072)
FAST_MEMORIES = (16, 32, 48, 64, 96, 128, 160, 192, 224, 256)
OTHERS = 0.45
"""How strongly rows are seen that the held tile does not belong to."""


def least_tile(n_tokens: int) -> int:
    """The smallest tile of which a table's side has no more than MAX_BLOCKS."""
    return max(1, -(-n_tokens // MAX_BLOCKS))


def _tile_size(axis: str, label: str) -> Control:
    def sizes(values: Values) -> dict[int, str]:
        n_tokens = len(inputs_of(values).tokens)
        return {size: str(size) for size in range(least_tile(n_tokens), n_tokens + 1)}

    def start(values: Values) -> int:
        n_tokens = len(inputs_of(values).tokens)
        return max(least_tile(n_tokens), min(3, n_tokens))

    return Control(
        f"tile_{axis}", Whole(1, MAX_TOKENS), label, start, options=sizes, widget="select_slider"
    )


def cut(values: Values) -> tuple[Tile, ...]:
    """The tiles that the table of this text is cut into, in their order."""
    n_tokens = max(len(inputs_of(values).tokens), 1)
    sizes = values.tile_queries, values.tile_keys
    return tiles_of(n_tokens, n_tokens, *sizes, causal=values.causal_heads)


def tile_called(tile: Tile) -> str:
    """A tile by its places: `queries 0 to 2, keys 3 to 5`."""
    sides = (("quer", "y", "ies", tile.queries), ("key", "", "s", tile.keys))
    return ", ".join(
        f"{stem}{one} {places[0]}"
        if len(places) == 1
        else f"{stem}{many} {places[0]} to {places[-1]}"
        for stem, one, many, places in sides
    )


def visited(values: Values) -> dict[int, str]:
    """The places of the tiles that are computed, and what each is called."""
    return {at: tile_called(tile) for at, tile in enumerate(cut(values)) if not tile.is_hidden}


def _first_shown(values: Values) -> int:
    """The second tile, or else the next that goes on from another and so shrinks something."""
    each, computed = cut(values), [*visited(values)]
    if 1 in computed or len(each) == 1:
        return min(1, len(each) - 1)
    later = [at for at in computed if at > 1]
    return next((at for at in later if each[at].key_block), (later or computed)[-1])


TILE_QUERIES = _tile_size("queries", "Queries in a tile")
TILE_KEYS = _tile_size("keys", "Keys in a tile")
TILE = Control(
    "tile", Whole(0, MAX_BLOCKS**2 - 1), "Tile to take apart", _first_shown, options=visited
)
FLASH_TOKENS = Control("flash_tokens", Whole.among(*TOKEN_COUNTS), "Tokens", 8_192, shown="{:,}")
FLASH_WIDTH = Control("flash_width", Whole.among(16, 32, 64, 128, 256), "Width of one head", 64)
FAST_MEMORY = Control("fast_memory", Whole.among(*FAST_MEMORIES), "Fast memory, in KiB", 160)
CONTROLS = (
    *(*MAKES_VECTORS, *PROJECTED, CAUSAL_HEADS, TILE_QUERIES, TILE_KEYS, TILE),
    *(FLASH_TOKENS, FLASH_WIDTH, M_BYTES, FAST_MEMORY),
)


def trace_of(values: Values) -> Trace:
    """The lesson's trace: the block of queries that the chosen tile is in, through all its keys."""
    return all_blocks(values, [chosen(values).query_block])


def all_blocks(values: Values, blocks: list[int] | None = None) -> Trace:
    """The same for every block of queries, or for some."""
    trace = embed(inputs_of(values))
    made = project(trace, projections_of(values))
    sizes = values.tile_queries, values.tile_keys
    attend_in_tiles(trace, *made, *sizes, values.scale, values.causal_heads, blocks=blocks)
    return trace


def plain(values: Values) -> Trace:
    """Attention of the same queries, keys and values with the whole table."""
    trace = embed(inputs_of(values))
    _attend(trace, values, *project(trace, projections_of(values)))
    return trace


def _attend(trace: Trace, values: Values, *made: Step) -> Step:
    """Attention with the whole table. Returns the context vectors."""
    mask = None
    if values.causal_heads:
        may_look = mask_of(MaskRecipe(causal=True), len(trace.labels("query")))
        mask = trace.step("mask", may_look, axes=("query", "key"))
    return attention(trace, *made, scale=values.scale, mask=mask)


def chosen(values: Values) -> Tile:
    """The tile that is held, and taken apart."""
    return cut(values)[values.tile]


def where(tile: Tile) -> str:
    """What the names of a tile's steps end with: `1_2`."""
    return f"{tile.query_block}_{tile.key_block}"


def before(tile: Tile) -> str:
    """The same for what runs along, before a tile: `1_1`, or `1_start`."""
    return f"{tile.query_block}_{tile.key_block - 1 if tile.key_block else 'start'}"


# --- the table, tile by tile ----------------------------------------------------------------------


def held_at(values: Values, whole: Trace, at: int) -> Layout:
    """The table with this tile held, and beside it what is kept for each query."""
    each = cut(values)
    trace, matrices = kept_at(values, whole, at)
    computed = [*visited(values)]
    title = f"Tile {computed.index(at) + 1} of {len(computed)}: {visited(values)[at]}"
    return tiles(trace, matrices, each, at, title, TALL)


def kept_at(values: Values, whole: Trace, at: int) -> tuple[Trace, list[Matrix]]:
    """A trace with what is kept after this tile, and its parts: exponentials, m, α, ℓ, O, done."""
    each = cut(values)
    tile = each[at]
    trace = whole.branch()
    last: dict[int, str] = {}
    for one in each[: at + 1]:
        if not one.is_hidden:
            last[one.query_block] = where(one)
    blocks = range(each[-1].query_block + 1)
    ends = [last.get(block, f"{block}_start") for block in blocks]
    single, wide = ("query", "row"), ("query", whole["values"].axes[-1])
    largest, total, output = (
        _joined(trace, f"{name}_so_far", [f"running_{name}_{end}" for end in ends], axes)
        for name, axes in (("largest", single), ("sum", single), ("output", wide))
    )
    factors = [f"running_sum_{block}_start" for block in blocks]
    factors[tile.query_block] = f"shrink_{where(tile)}"
    shrink = _joined(trace, "shrink_now", factors, single)
    names = [f"context_vectors_{block}" for block in blocks]
    contexts = _joined(trace, "context_vectors", names, wide)
    output, contexts_shown = (_first_columns(trace, each) for each in (output, contexts))
    n = len(whole["queries"].value)
    mine = torch.zeros(n, 1)
    mine[tile.queries[0] : tile.queries[-1] + 1] = 1.0
    is_last = all(one.is_hidden or one.query_block != tile.query_block for one in each[at + 1 :])
    done = torch.arange(n)[:, None] < tile.queries[-1 if is_last else 0] + is_last
    in_tile = torch.zeros(n, n)
    in_tile[tile.queries[0] : tile.queries[-1] + 1, tile.keys[0] : tile.keys[-1] + 1] = 1.0
    quiet = mine.clamp(min=OTHERS)
    return trace, [
        Matrix(trace["exponentials"], title="e^(score − m)", strengths=in_tile),
        Matrix(largest, title="m", strengths=quiet),
        Matrix(shrink, title="α", strengths=mine if tile.key_block else torch.zeros(n, 1)),
        Matrix(total, title="ℓ", strengths=quiet),
        Matrix(output, title="O", strengths=quiet.expand(n, output.value.shape[-1])),
        Matrix(
            contexts_shown,
            title="context, at the end",
            strengths=done.float().expand_as(contexts_shown.value),
        ),
    ]


def _first_columns(trace: Trace, step: Step) -> Step:
    """A step, or its first columns where it is too wide to be drawn beside the table."""
    if step.value.shape[-1] <= MOST_COLUMNS:
        return step
    axis = f"first_{step.axes[-1]}"
    if not trace.has_axis(axis):
        trace.label(axis, trace.labels(step.axes[-1])[:MOST_COLUMNS])
    columns = ops.Columns(0, MOST_COLUMNS)
    return trace.step(f"{step.name}_first", columns, step, axes=(step.axes[0], axis))


def _joined(trace: Trace, name: str, parts: list[str], axes: tuple[str, str]) -> Step:
    """Steps of one block after the other, as rows below each other."""
    return trace.step(name, ops.JoinRows(len(parts)), *[trace[part] for part in parts], axes=axes)


def with_table(whole: Trace, each: tuple[Tile, ...]) -> Trace:
    """A trace with the exponentials of all tiles in one table (query, key), 0 elsewhere."""
    trace = whole.branch()
    n_blocks = each[-1].query_block + 1
    for block in range(n_blocks):
        row = f"query_block_{block}"
        upright = []
        for tile in (one for one in each if one.query_block == block):
            at, column = where(tile), f"key_block_{tile.key_block}"
            if tile.is_hidden:
                nothing = ((0.0,) * len(tile.queries),) * len(tile.keys)
                trace.step(f"upright_{at}", ops.Given(nothing), axes=(column, row))
            else:
                powers = trace[f"tile_exponentials_{at}"]
                trace.step(f"upright_{at}", ops.Transpose(), powers, axes=(column, row))
            upright.append(f"upright_{at}")
        columns = _joined(trace, f"upright_{block}", upright, ("key", row))
        trace.step(f"exponentials_{block}", ops.Transpose(), columns, axes=(row, "key"))
    blocks = [f"exponentials_{block}" for block in range(n_blocks)]
    _joined(trace, "exponentials", blocks, ("query", "key"))
    return trace


# --- checks ---------------------------------------------------------------------------------------


def unshrunk(trace: Trace, block: int) -> Trace:
    """The trace beside one in which nothing shrinks: the `difference` in a block of queries."""
    adds = (name for name, step in trace.items() if isinstance(step.operation, ops.RescaleAndAdd))
    only_added = by(ops.Add(), of=lambda _, inputs: inputs[::2])
    wrong = rewritten(trace, dict.fromkeys(adds, only_added))
    return side_by_side(trace, wrong, f"context_vectors_{block}")


def weights_again(values: Values, whole: Trace) -> Trace:
    """The tiles' trace with the table, and a backward pass: `scores` … `weights`, `loss` (), the
    squares of all context vectors added up, and the gradient of what softmax was given. Beside
    them the weights once more, `weights_again` (query, key), from nothing but the scores and what
    tiles have kept of each row: the largest score and the sum (query, row).
    """
    trace, tiles_left = whole.branch(), [one for one in cut(values) if not one.is_hidden]
    last = {one.query_block: where(one) for one in tiles_left}
    kept = [
        _joined(trace, f"kept_{name}", [f"running_{name}_{end}" for end in last.values()],
                ("query", "row"))
        for name in ("largest", "sum")
    ]  # fmt: skip
    context = _attend(trace, values, *(trace[name] for name in ("queries", "keys", "values")))
    scores = trace["weights"].inputs[0]
    powers = trace.step(
        "exponentials_again", ops.ExpDifference(), scores, kept[0], axes=scores.axes
    )
    trace.step("weights_again", ops.Divide(), powers, kept[1], axes=scores.axes)
    squares = trace.step("squares", ops.Multiply(), context, context, axes=context.axes)
    rows = trace.step("squares_of_rows", ops.SumLast(), squares, axes=("query",))
    trace.step("loss", ops.SumLast(), rows, axes=())
    return backward(trace, "loss", [scores.name, "weights"])


def same_gradient(again: Trace) -> tuple[bool, str]:
    """Whether p (g − D) is the same with weights computed again (Dao et al. 2022, B.4)."""
    name = again["weights"].inputs[0].name
    context, of_context = (
        again[each].value for each in ("context_vectors", "grad_context_vectors")
    )
    shares = (of_context * context).sum(dim=-1, keepdim=True)
    made = again["weights_again"].value * (again["grad_weights"].value - shares)
    pairs = [(made, again[f"grad_{name}"].value)]
    told = "The gradient of the scores is the same as with kept weights"
    return agreement(told, pairs, (again, f"grad_{name}"), (again, "weights_again"))


def contexts(trace: Trace) -> list[Step]:
    """The context vectors of each block of queries."""
    return [step for name, step in trace.items() if name.startswith("context_vectors_")]


def same_as_plain(whole: Trace, table: Trace) -> tuple[bool, str]:
    """Whether all blocks together are what the whole table gives, with the largest difference."""
    return _compared(whole, table, table["context_vectors"].value, "the whole table of weights")


def same_as_torch(whole: Trace, table: Trace) -> tuple[bool, str]:
    """The same compared with `scaled_dot_product_attention`."""
    queries, keys, values = (table[name].value for name in ("queries", "keys", "values"))
    scale = 1 / divisor_of(table)
    made = scaled_dot_product_attention(
        queries, keys, values, is_causal="mask" in table, scale=scale
    )
    return _compared(whole, table, made, "`torch.nn.functional.scaled_dot_product_attention`")


def _compared(whole: Trace, table: Trace, wanted: Tensor, called: str) -> tuple[bool, str]:
    pairs = [(torch.cat([step.value for step in contexts(whole)]), wanted)]
    made = [(whole, step.name) for step in contexts(whole)]
    return agreement(f"The same as {called}", pairs, (table, "context_vectors"), *made)
