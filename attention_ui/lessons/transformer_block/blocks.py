"""The lesson's block, as the settings have it: an encoder's or a decoder's, in either order."""

from dataclasses import replace

from attention_core.mechanism.block import BlockOptions, add_block
from attention_core.mechanism.block_weights import draw_weights
from attention_core.mechanism.options import Options
from attention_core.text.embedding import embed
from attention_core.text.source import add_source
from attention_core.trace import Trace

from ...settings.choices import MAX_JOINED
from ...settings.settings import Settings
from ...settings.source import source_inputs

MEMORY = "memory"
"""What an encoder has made of the source; here the source's vectors themselves."""


def build(settings: Settings) -> Trace:
    """The lesson's trace: the steps of `embed`, those of the source where the block is a decoder's,
    the weights of the block, drawn as torch's layers start, and the steps of `add_block`.
    """
    trace = embed(settings.inputs)
    memory = None
    if is_decoder(settings):
        source = source_inputs(settings)
        trace.label("other_key", source.tokens)
        memory = add_source(trace, source, name=MEMORY)
    n_heads = heads_that_share(settings)
    d_other = None if memory is None else "d_in"
    seed, d_hidden = settings.block_seed, hidden_width(settings)
    weights = draw_weights(trace, d_other, n_heads, d_hidden, seed, d_model="d_in")
    dropout = {"dropout": settings.layer_dropout, "dropout_seed": settings.drop_seed}
    shape = BlockOptions(n_heads, settings.norm, settings.activation, **dropout)
    own = Options(causal=memory is not None, **dropout)
    # Another seed: else the same cells of both attentions would be dropped.
    crossed = Options(dropout=settings.layer_dropout, dropout_seed=settings.drop_seed + 1)
    add_block(trace, trace["embeddings"], weights, shape, own, memory, crossed)
    return trace


def is_decoder(settings: Settings) -> bool:
    """Whether the block has cross-attention, and hides what comes later."""
    return settings.block == "decoder"


def without_dropout(settings: Settings, **changes: str) -> Trace:
    """The same block in another order or of another kind, with nothing dropped."""
    return build(replace(settings, layer_dropout=0.0, **changes))


def heads_that_share(settings: Settings) -> int:
    """The largest number of heads, up to what is set, that can share the width of the vectors."""
    return next(n for n in range(settings.n_heads, 0, -1) if settings.d_in % n == 0)


def heads_words(settings: Settings) -> str:
    """How many heads there are, and how wide."""
    n_heads = heads_that_share(settings)
    if n_heads == 1:
        return f"This block has 1 head, as wide as the stream: {settings.d_in}."
    return (
        f"This block has {n_heads} heads, each {settings.d_in // n_heads} wide. The weights drawn "
        "are those of the first: the bar above them has its colour."
    )


def heads_set_words(settings: Settings) -> str:
    """Why there are fewer heads than the slider says; '' where there are as many."""
    n_heads = heads_that_share(settings)
    if n_heads == settings.n_heads:
        return ""
    return (
        f"Heads share the width of the stream evenly. {settings.n_heads} heads cannot share "
        f"{settings.d_in}, so the block has {n_heads}."
    )


def hidden_width(settings: Settings) -> int:
    """The width between the two linear layers; wider matrices are slow to draw."""
    return min(settings.wider * settings.d_in, max(MAX_JOINED, settings.d_in))


def hidden_words(settings: Settings) -> str:
    """From which width to which the vectors go, and why it is less than set, where it is."""
    asked, made = settings.wider * settings.d_in, hidden_width(settings)
    width = "1 number" if settings.d_in == 1 else f"{settings.d_in} numbers"
    if asked == made:
        return f"Each vector of {width} becomes one of {made}, and of {settings.d_in} again."
    return (
        f"Each vector of {width} becomes one of {made}, not of {asked}: wider "
        "matrices would be too slow to draw."
    )
