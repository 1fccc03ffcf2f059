"""A transformer block as a trace: one vector a token, the stream, which each part adds to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from torch import Tensor

from .. import operations as ops
from ..operations.layers import EPSILON
from ..recipes import ROLES, check_choice
from ..trace import Step, Trace
from ..utils.validation import known, validated
from .block_weights import draw_weights, give_weights
from .builder import Heads, attend_projected, project, times
from .options import Options
from .own_tensors import check_same_kind, give, given_labels, own

ORDERS = ("after", "before")
"""Norms after each residual (Vaswani et al. 2017) or before each part (Xiong et al. 2020)."""
ACTIVATIONS: dict[str, ops.Operation] = {
    "relu": ops.ReLU(),
    "gelu": ops.GELU(),
    "gelu_tanh": ops.GELU(tanh=True),
}


@dataclass(frozen=True)
class BlockOptions:
    """How a block is built. Raises ValueError, in words, for what cannot be."""

    n_heads: int = 1
    norm: str = "after"
    activation: str = "relu"
    epsilon: float = EPSILON
    dropout: float = 0.0
    """Of the weights of attention, of what each part adds, and within the feed-forward."""
    dropout_seed: int = 0
    residual: bool = True
    """Whether each part adds to the stream. Where it does not, what it makes takes its place."""

    def __post_init__(self) -> None:
        Heads(self.n_heads)
        check_choice("norm", self.norm, ORDERS)
        check_choice("activation", self.activation, ACTIVATIONS)
        ops.Standardise(self.epsilon)
        ops.Drop(self.dropout)


@validated
def encode_block(
    vectors: Tensor | Sequence,
    weights: Mapping[str, Tensor | Sequence] | None = None,
    *,
    n_heads: int = 1,
    d_hidden: int | None = None,
    norm: str = "after",
    activation: str = "relu",
    epsilon: float = EPSILON,
    seed: int = 0,
    dropout: float = 0.0,
    dropout_seed: int = 0,
    tokens: Sequence[str] = (),
    **options: Any,
) -> Trace:
    """An encoder's block on vectors of your own: a trace in which each number can be taken apart.

    `vectors` are (token, d_model) or (batch, token, d_model). `weights` are tensors by name:
    `W_query`, `W_key` (d_model, d_queries), `W_value` (d_model, d_concat), `W_output`
    (d_concat, d_model), `W_1` (d_model, d_hidden), `W_2` (d_hidden, d_model), and where you like
    their biases `b_query` … `b_2`, and the gain and bias of each layer norm, `attention_norm_gain`
    and `attention_norm_bias`, `feed_forward_norm_gain` and `feed_forward_norm_bias` (d_model,).
    Without weights they are drawn from `seed`, with a `d_hidden` of 4 · d_model if none is given.
    `norm` is one of `ORDERS`, `activation` one of `ACTIVATIONS`. What attention may vary (`causal`,
    `lengths`, `mask`, …) is that of `attend_tensors`. `from_torch_layer` reads all of it from a
    `torch.nn.TransformerEncoderLayer`.

    Steps: `embeddings`, the weights, and then those of `add_block`, the last of which is `output`
    (token, d_model). Raises ValueError, in words, for what does not fit.
    """
    shape = BlockOptions(n_heads, norm, activation, epsilon, dropout, dropout_seed)
    chosen = _attention_options(options, shape)
    trace, stream, _ = _begun(vectors, None, tokens, ())
    made = _weights(trace, stream, None, weights, shape, d_hidden, seed)
    add_block(trace, stream, made, shape, chosen)
    return trace


@validated
def decode_block(
    vectors: Tensor | Sequence,
    memory: Tensor | Sequence,
    weights: Mapping[str, Tensor | Sequence] | None = None,
    *,
    n_heads: int = 1,
    d_hidden: int | None = None,
    norm: str = "after",
    activation: str = "relu",
    epsilon: float = EPSILON,
    seed: int = 0,
    dropout: float = 0.0,
    dropout_seed: int = 0,
    causal: bool = True,
    memory_lengths: int | Sequence[int] | None = None,
    memory_mask: Tensor | Sequence | None = None,
    tokens: Sequence[str] = (),
    other_tokens: Sequence[str] = (),
    **options: Any,
) -> Trace:
    """A decoder's block: as `encode_block`, with cross-attention to `memory` between the two parts.

    `memory` (other, d_model), or (batch, other, d_other), is what an encoder has made of another
    sentence: queries come from the stream, keys and values from `memory`. The weights of the
    cross-attention have `cross_` before their names, and so have its steps; its layer norm has
    `cross_norm_gain` and `cross_norm_bias`. The self-attention is causal unless you say otherwise.
    `memory_lengths` and `memory_mask` hide rows of `memory`; all other options are those of the
    self-attention. Raises ValueError, in words, for what does not fit.
    """
    shape = BlockOptions(n_heads, norm, activation, epsilon, dropout, dropout_seed)
    chosen = _attention_options(options | {"causal": causal}, shape)
    crossed = _attention_options({"lengths": memory_lengths, "mask": memory_mask}, shape, 1)
    trace, stream, source = _begun(vectors, memory, tokens, other_tokens)
    made = _weights(trace, stream, source, weights, shape, d_hidden, seed)
    add_block(trace, stream, made, shape, chosen, source, crossed)
    return trace


@validated
def add_block(
    trace: Trace,
    stream: Step,
    weights: Mapping[str, Step],
    shape: BlockOptions,
    options: Options,
    memory: Step | None = None,
    memory_options: Options | None = None,
    prefix: str = "",
) -> Step:
    """Add a block to a trace, with weights that are steps of it. Returns `output`; without a
    residual and with the norms before, `feed_forward_output`.

    `stream` is (token, d) or (batch, token, d). Each part (`attention`; `cross` where there is a
    `memory`; `feed_forward`) makes `attention_output` and so on, and `after_attention` is the
    stream with that added. Attention has the steps `queries`, `head_queries`, `mask`,
    `head_scores`, … `head_context_vectors`, `concat`; that to the memory has `cross_` before them,
    and its keys the axis `other_key`. The feed-forward has `hidden` (token, d_hidden) and
    `activated`. A layer norm has `attention_norm_mean` (token, one), `attention_norm_variance`,
    `attention_norm_standardised` and `attention_normed`. The last step is called `output` in both
    orders. With dropout, `kept_attention_output` and `dropped_attention_output` stand before a
    residual. All names begin with `prefix`.

    Sources: Vaswani et al. 2017, Attention Is All You Need, section 3.1; Xiong et al. 2020 for the
    norm before.
    """
    making = _Block(trace, known("matrix", weights), shape, prefix)
    stream = making.part("attention", stream, None, options, is_last=False)
    if memory is not None:
        stream = making.part("cross", stream, memory, memory_options or Options(), is_last=False)
    return making.part("feed_forward", stream, None, options, is_last=True)


@dataclass(frozen=True)
class _Block:
    """A block under way: the trace, the weights by their names, how it is built."""

    trace: Trace
    weights: dict[str, Step]
    shape: BlockOptions
    prefix: str

    def step(
        self, name: str, operation: ops.Operation, *operands: Step, axes: tuple[str, ...]
    ) -> Step:
        return self.trace.step(f"{self.prefix}{name}", operation, *operands, axes=axes)

    def part(
        self, name: str, stream: Step, memory: Step | None, options: Options, is_last: bool
    ) -> Step:
        """One part with its residual and its layer norm, in the order chosen."""
        before = self.shape.norm == "before"
        read = self.norm(name, stream, f"{name}_normed") if before else stream
        if name == "feed_forward":
            added = self.feed_forward(read)
        else:
            answered = read if memory is None else memory
            added = self.attention(name, read, answered, options)
        added = self.dropped(f"{name}_output", added)
        if self.shape.residual:
            after = "output" if is_last and before else f"after_{name}"
            summed = self.step(after, ops.Add(), stream, added, axes=stream.axes)
        else:
            summed = added
        if before:
            return summed
        return self.norm(name, summed, "output" if is_last else f"{name}_normed")

    def norm(self, part: str, vectors: Step, made: str) -> Step:
        """Layer norm: mean and variance of each token's vector, and what the layer has learned."""
        of, one = f"{part}_norm", (*vectors.axes[:-1], "one")
        mean = self.step(f"{of}_mean", ops.RowMean(), vectors, axes=one)
        variance = self.step(f"{of}_variance", ops.RowVariance(), vectors, mean, axes=one)
        operands = (vectors, mean, variance)
        gain, bias = (self.weights.get(f"{of}_{kind}") for kind in ("gain", "bias"))
        standardise = ops.Standardise(self.shape.epsilon)
        if gain is None:
            return self.step(made, standardise, *operands, axes=vectors.axes)
        standard = self.step(f"{of}_standardised", standardise, *operands, axes=vectors.axes)
        learned = (gain,) if bias is None else (gain, bias)
        return self.step(made, ops.ScaleShift(), standard, *learned, axes=vectors.axes)

    def attention(self, part: str, asked: Step, answered: Step, options: Options) -> Step:
        """Multi-head attention of the vectors that ask to those that answer."""
        name = "cross_" if part == "cross" else ""
        trace, named = self.trace, f"{self.prefix}{name}"
        sources = {"query": asked, "key": answered, "value": answered}
        key_axis = "other_key" if name else "key"
        made = project(trace, sources, lambda role: self.matrix(f"{name}W_{role}"), named, key_axis)
        heads = Heads(self.shape.n_heads)
        matrix, bias = self.matrix(f"{name}W_output")
        concat = attend_projected(trace, made, heads, options, named, matrix.axes[0])
        return times(trace, f"{self.prefix}{part}_output", concat, matrix, bias)

    def feed_forward(self, vectors: Step) -> Step:
        """Two linear layers with a bend between them, for each token by itself."""
        hidden = times(self.trace, f"{self.prefix}hidden", vectors, *self.matrix("W_1"))
        bent = self.step("activated", ACTIVATIONS[self.shape.activation], hidden, axes=hidden.axes)
        activated = self.dropped("activated", bent)
        name = f"{self.prefix}feed_forward_output"
        return times(self.trace, name, activated, *self.matrix("W_2"))

    def matrix(self, name: str) -> tuple[Step, Step | None]:
        """A matrix, and its bias where it has one."""
        return self.weights[name], self.weights.get(name.replace("W_", "b_"))

    def dropped(self, name: str, vectors: Step) -> Step:
        """What is left after dropout, if there is any."""
        if not self.shape.dropout:
            return vectors
        # Each place has numbers of its own: one seed for all would drop the same cells everywhere.
        seed = self.shape.dropout_seed + len(self.trace)
        draw = ops.Draw("uniform", tuple(vectors.value.shape), seed=seed)
        kept = self.step(f"kept_{name}", draw, axes=vectors.axes)
        drop = ops.Drop(self.shape.dropout)
        return self.step(f"dropped_{name}", drop, vectors, kept, axes=vectors.axes)


def _attention_options(
    options: Mapping[str, Any], shape: BlockOptions, seeds_before: int = 0
) -> Options:
    """The options of an attention, with the block's dropout and a seed of its own for it."""
    seed = shape.dropout_seed + seeds_before
    return replace(Options(**options), dropout=shape.dropout, dropout_seed=seed)


def _begun(
    vectors: Tensor | Sequence,
    memory: Tensor | Sequence | None,
    tokens: Sequence[str],
    other_tokens: Sequence[str],
) -> tuple[Trace, Step, Step | None]:
    given = {"embeddings": own("embeddings", vectors, (2, 3))}
    if memory is not None:
        given["memory"] = own("memory", memory, (given["embeddings"].ndim,))
    check_same_kind(given)
    others = {"other": other_tokens, "other_key": other_tokens}
    trace = Trace(**given_labels(token=tokens, query=tokens, key=tokens, **others))
    batch = ("batch",) if given["embeddings"].ndim == 3 else ()
    stream = give(trace, "embeddings", given["embeddings"], (*batch, "token", "d_model"))
    if memory is None:
        return trace, stream, None
    same = given["memory"].shape[-1] == given["embeddings"].shape[-1]
    axes = (*batch, "other", "d_model" if same else "d_other")
    return trace, stream, give(trace, "memory", given["memory"], axes)


def _weights(
    trace: Trace,
    stream: Step,
    memory: Step | None,
    weights: Mapping[str, Tensor | Sequence] | None,
    shape: BlockOptions,
    d_hidden: int | None,
    seed: int,
) -> dict[str, Step]:
    d_other = None if memory is None else memory.axes[-1]
    if weights is None:
        return draw_weights(trace, d_other, shape.n_heads, d_hidden, seed)
    if d_hidden is not None:
        raise ValueError("d_hidden is for weights that are drawn: yours have their own")
    made = give_weights(trace, weights, d_other, stream.value.dtype)
    for prefix in ("",) if d_other is None else ("", "cross_"):
        widths = {role: made[f"{prefix}W_{role}"].value.shape[-1] for role in ROLES}
        Heads(shape.n_heads).check(widths)
    return made
