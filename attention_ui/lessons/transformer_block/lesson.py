"""The transformer block: its controls and trace, an encoder's or a decoder's, either order."""

from attention_core.mechanism.block import BlockOptions, add_block
from attention_core.mechanism.block_weights import draw_weights
from attention_core.mechanism.options import Options
from attention_core.operations import RowMean, RowVariance, ScaleRow, Standardise
from attention_core.text.embedding import embed
from attention_core.text.source import add_source
from attention_core.trace import Step, Trace

from ...controls import shared
from ...reactive.control import Control, Values
from ...reactive.fields import Choice, Whole

MEMORY = "memory"
"""What an encoder has made of the source; here the source's vectors themselves."""
NORM = Control(
    "norm",
    Choice({"before": "Before each part", "after": "After each part"}),
    "Layer norms",
    "before",
)
BLOCK = Control(
    "block",
    Choice({"encoder": "Encoder", "decoder": "Decoder"}),
    "Kind of block",
    "encoder",
    look={
        "help": "An encoder's block reads the whole sentence. A decoder's writes: it sees no later "
        "token, and here, as in a translator, looks at a second sentence too, the source."
    },
)
ACTIVATION = Control(
    "activation", Choice({"relu": "ReLU", "gelu": "GELU"}), "Between the two linear layers", "relu"
)
FFN_MULTIPLIER = Control(
    "ffn_multiplier",
    Whole.among(1, 2, 4),
    "Hidden width of the feed-forward",
    4,
    shown="{:g} × d_in",
)
BLOCK_SEED = shared.seed_of("block_seed", "Seed of the block's matrices", 101)
N_BLOCKS = Control("n_blocks", Whole.among(2, 4, 8, 16), "Blocks", 8)
CONTROLS = (
    *(*shared.MAKES_VECTORS, *shared.SIZES, shared.LAYER_DROPOUT, shared.DROP_SEED),
    *(NORM, BLOCK, ACTIVATION, FFN_MULTIPLIER, BLOCK_SEED, shared.SOURCE),
    *(shared.TOKEN, shared.FACTOR, N_BLOCKS),
)


def trace_of(values: Values) -> Trace:
    """The lesson's trace: `embed`, a decoder's source, weights as torch starts, `add_block`."""
    trace = embed(shared.inputs_of(values))
    memory = None
    if values.block == "decoder":
        source = shared.source_inputs_of(values)
        trace.label("other_key", source.labels)
        memory = add_source(trace, source, name=MEMORY)
    n_heads = heads_that_share(values)
    d_other = None if memory is None else "d_in"
    seed, d_hidden = values.block_seed, hidden_width(values)
    weights = draw_weights(trace, d_other, n_heads, d_hidden, seed, d_model="d_in")
    dropout = {"dropout": values.layer_dropout, "dropout_seed": values.drop_seed}
    shape = BlockOptions(n_heads, values.norm, values.activation, **dropout)
    own = Options(causal=memory is not None, **dropout)
    # Another seed: else the same cells of both attentions would be dropped.
    crossed = Options(dropout=values.layer_dropout, dropout_seed=values.drop_seed + 1)
    add_block(trace, trace["embeddings"], weights, shape, own, memory, crossed)
    return trace


def without_dropout(values: Values, **changes: str) -> Trace:
    """The same block in another order or of another kind, with nothing dropped."""
    return trace_of(values.but(layer_dropout=0.0, **changes))


def heads_that_share(values: Values) -> int:
    """The largest number of heads, up to what is chosen, that can share the vectors' width."""
    return next(n for n in range(values.n_heads, 0, -1) if values.d_in % n == 0)


def hidden_width(values: Values) -> int:
    """The width between the two linear layers; wider matrices are slow to draw."""
    return min(values.ffn_multiplier * values.d_in, max(shared.MAX_JOINED, values.d_in))


def stretched(embedded: Trace, token: int, factor: float) -> Trace:
    """The embeddings standardised, and once more with one token's so many times as long."""
    trace = embedded.branch()
    vectors = trace["embeddings"]
    _standardise(trace, vectors, "")
    again = trace.step("stretched_embeddings", ScaleRow(token, factor), vectors, axes=vectors.axes)
    _standardise(trace, again, "stretched_")
    return trace


def _standardise(trace: Trace, vectors: Step, prefix: str) -> None:
    one = ("token", "one")
    mean = trace.step(f"{prefix}mean", RowMean(), vectors, axes=one)
    variance = trace.step(f"{prefix}variance", RowVariance(), vectors, mean, axes=one)
    given = (vectors, mean, variance)
    trace.step(f"{prefix}standardised", Standardise(), *given, axes=vectors.axes)


def added_by(trace: Trace, part: str) -> Step:
    """What a part adds to the stream: its output, or what dropout has left of it."""
    name = f"{part}_output"
    return trace[f"dropped_{name}" if f"dropped_{name}" in trace else name]


def most_uneven_head(weights: Step, query: int) -> int:
    """The head (head, query, key) in which a query's largest weight on another key is largest."""
    rows = weights.value[:, query].clone()
    if rows.shape[-1] > 1 and weights.axes[-1] == "key":
        rows[:, query] = 0
    return int(rows.amax(dim=-1).argmax())
