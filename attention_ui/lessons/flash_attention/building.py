"""Flash attention on the learner's sentence as a trace, and the plain way beside it."""

from attention_core.mechanism.attention import attention
from attention_core.mechanism.flash import attend_in_tiles
from attention_core.mechanism.masking import mask_of
from attention_core.mechanism.trainable import project
from attention_core.recipes import MaskRecipe
from attention_core.text.embedding import embed
from attention_core.trace import Step, Trace

from ...settings.offered import fitting_tile
from ...settings.settings import Settings


def build(settings: Settings) -> Trace:
    """The lesson's trace: the block of queries that the chosen tile is in, through all its keys."""
    return _in_tiles(settings, [settings.chosen_tile.query_block])


def all_blocks(settings: Settings) -> Trace:
    """The same for every block of queries."""
    return _in_tiles(settings, None)


def _in_tiles(settings: Settings, blocks: list[int] | None) -> Trace:
    trace = embed(settings.inputs)
    made = project(trace, settings.projections)
    n_tokens = len(settings.inputs.tokens)
    attend_in_tiles(
        trace,
        *made,
        fitting_tile(settings.tile_queries, n_tokens),
        fitting_tile(settings.tile_keys, n_tokens),
        settings.scale,
        settings.causal_heads,
        blocks=blocks,
    )
    return trace


def plain(settings: Settings) -> Trace:
    """Attention of the same queries, keys and values with the whole table."""
    trace = embed(settings.inputs)
    made = project(trace, settings.projections)
    mask = None
    if settings.causal_heads:
        may_look = mask_of(MaskRecipe(causal=True), len(settings.inputs.tokens))
        mask = trace.step("mask", may_look, axes=("query", "key"))
    attention(trace, *made, settings.scale, mask)
    return trace


def where(settings: Settings) -> str:
    """What the names of the chosen tile's steps end with: `1_2`."""
    tile = settings.chosen_tile
    return f"{tile.query_block}_{tile.key_block}"


def before(settings: Settings) -> str:
    """The same for what runs along, before the chosen tile: `1_1`, or `1_start`."""
    tile = settings.chosen_tile
    return f"{tile.query_block}_{tile.key_block - 1 if tile.key_block else 'start'}"


def contexts(trace: Trace) -> list[Step]:
    """The context vectors of each block of queries."""
    return [step for name, step in trace.items() if name.startswith("context_vectors_")]
