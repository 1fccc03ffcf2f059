"""One layer of a real model as a trace, down to the numbers that stand in the file."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from .. import operations as ops
from ..files.gguf_file import GgufFile
from ..mechanism.block import ACTIVATIONS
from ..mechanism.builder import Heads, attend_projected, times
from ..mechanism.options import Options
from ..recipes import PLURAL, ROLES
from ..trace import Step, Trace
from ..utils.validation import validated
from .model import Model
from .names import Where
from .settings import rates as plain_rates

BENDS = ACTIVATIONS | {"silu": ops.SiLU()}
MOST_TOKENS = 256
"""A trace has no more tokens: each number of the stream is written out in its program."""


@validated
def layer_trace(
    model: Model, stream_in: Tensor, layer: int, pieces: Sequence[str] = (), parts: str = "all"
) -> Trace:
    """One layer of a model, from the stream before it (token, d_model), such as one of
    `Run.before`.

    `pieces` name the tokens. With `parts` = "attention" the trace ends with what attention adds.
    The matrices are read from the file, and so are they by the trace's program.

    Steps are those of a block (`mechanism.block.add_block`): `embeddings` (token, d_model), the
    stream; `attention_norm_…` and `attention_normed`; `W_query`, … as stored, upright (out, in) or
    (in, out); `queries`, `head_queries`, `turned_queries`, … `head_weights` (head, query, key),
    `head_context_vectors`, `concat`; `attention_output` (query, d_model); then, for each head
    apart, `head_W_output` and `head_outputs` (head, query, d_model), which together are
    `attention_output` but for its bias; `after_attention`; `feed_forward_normed`, `hidden`
    (token, d_hidden), with a gate `gate` and `gated`, `activated`, `feed_forward_output`, and
    `output` (token, d_model).

    Raises ValueError, in words, for a layer that there is not, more tokens than `MOST_TOKENS`, or
    vectors that do not fit.
    """
    settings = model.settings
    if not 0 <= layer < settings.n_layers:
        raise ValueError(f"there is no layer {layer}: the model has {settings.n_layers}")
    if stream_in.ndim != 2 or stream_in.shape[-1] != settings.d_model:
        sizes = " × ".join(map(str, stream_in.shape))
        raise ValueError(f"the stream is {sizes}, but must be tokens × {settings.d_model}")
    if not 1 <= len(stream_in) <= MOST_TOKENS:
        raise ValueError(f"{len(stream_in)} tokens: 1 to {MOST_TOKENS} can be traced")
    model = model.reading(len(stream_in))
    trace = Trace(**{axis: tuple(pieces) for axis in ("token", "query", "key") if pieces})
    stream = trace.step("embeddings", ops.Given.of(stream_in.float()), axes=("token", "d_model"))
    making = PartsOfLayer(trace, model, layer)
    making.attention(stream, only=parts == "attention")
    if parts == "all":
        making.feed_forward()
    return trace


@dataclass(frozen=True)
class PartsOfLayer:
    """A layer under way."""

    trace: Trace
    model: Model
    layer: int

    def attention(self, stream: Step, only: bool) -> None:
        """Attention, its residual, and its norms."""
        settings, trace = self.model.settings, self.trace
        is_read = settings.norms_read
        read = self.norm("attention", stream, "attention_normed") if is_read else stream
        added = self.attend(read)
        self.each_head()
        added = self.made_ready("attention", added)
        if only:
            return
        name = "after_attention" if settings.d_ffn else "output"
        summed = trace.step(name, ops.Add(), stream, added, axes=stream.axes)
        if settings.norms == "after":
            self.norm("attention", summed, "attention_normed")

    def made_ready(self, part: str, added: Step) -> Step:
        """What a part adds, behind what stands between it and the stream."""
        settings, which = self.model.settings, "ffn" if part == "feed_forward" else part
        if settings.norms_added:
            added = self.norm(f"{which}_after", added, f"{part}_added")
        if settings.added_scale == 1:
            return added
        scale = ops.ScaleBy(settings.added_scale)
        return self.trace.step(f"{part}_scaled", scale, added, axes=added.axes)

    def attend(self, read: Step) -> Step:
        """Attention on vectors (token, d_model), its heads put together."""
        projected, made = [self.projected(role, read) for role in ROLES], self.options
        concat = attend_projected(self.trace, projected, self.heads, made, normed=self.head_norm)
        return self.times("attention_output", concat, "output", ("d_model", concat.axes[-1]))

    def feed_forward(self) -> None:
        """The feed-forward, its residual, and its norms: the layer's output."""
        settings, trace = self.model.settings, self.trace
        if not settings.d_ffn:
            return
        after = settings.norms == "after"
        stream = trace["attention_normed" if after else "after_attention"]
        read = trace["embeddings"] if settings.side_by_side else stream
        if settings.norms_read:
            read = self.norm("ffn", read, "feed_forward_normed")
        inside = ("d_hidden", "d_model")
        hidden = self.times("hidden", read, "up", inside)
        bend = BENDS[settings.activation]
        if settings.gated:
            gate = self.times("gate", read, "gate", inside)
            activated = trace.step("activated", bend, gate, axes=gate.axes)
            hidden = trace.step("gated", ops.Multiply(), activated, hidden, axes=hidden.axes)
        else:
            hidden = trace.step("activated", bend, hidden, axes=hidden.axes)
        added = self.times("feed_forward_output", hidden, "down", inside[::-1])
        added = self.made_ready("feed_forward", added)
        name = "after_feed_forward" if after else "output"
        summed = trace.step(name, ops.Add(), stream, added, axes=stream.axes)
        if after:
            self.norm("ffn", summed, "output")

    def each_head(self) -> None:
        """What each head adds to the stream: context vectors times its rows of the output."""
        trace, matrix = self.trace, self.trace["W_output"]
        n_heads = self.model.settings.n_heads
        upright = not self.model.where(f"{self.layer}.W_output").transposed
        split = ops.SplitHeads(n_heads) if upright else ops.RowsOfHeads(n_heads)
        pair = ("d_model", "d_value") if upright else ("d_value", "d_model")
        own = trace.step("head_W_output", split, matrix, axes=("head", *pair))
        product = ops.MatMul(transpose=upright)
        axes = ("head", "query", "d_model")
        trace.step("head_outputs", product, trace["head_context_vectors"], own, axes=axes)

    @property
    def heads(self) -> Heads:
        settings = self.model.settings
        turn, base = settings.turn(self.layer), settings.rotary_base
        if turn is None:
            return Heads(settings.n_heads, settings.n_key_heads)
        return Heads(
            settings.n_heads,
            settings.n_key_heads,
            base,
            rates=() if turn.rates == plain_rates(base, len(turn.rates)) else turn.rates,
            neighbours=turn.neighbours,
            rest=turn.rest,
            stretch=turn.stretch,
        )

    @property
    def options(self) -> Options:
        """What the model decides of them."""
        settings = self.model.settings
        window = settings.window(self.layer)
        scale = settings.scale(self.layer)
        root = scale == 1 / settings.d_head**0.5
        return Options(
            scale="sqrt_d" if root else scale,
            causal=settings.causal,
            window=(None if window is None else window - 1, None),
            soft_cap=settings.score_cap,
        )

    def projected(self, role: str, read: Step) -> Step:
        """Queries, keys or values, the heads side by side."""
        row = "query" if role == "query" else "key"
        made = self.times(PLURAL[role], read, role, (self.heads.joined(role), "d_model"), row)
        if role == "value" or self.model.settings.query_key_norms != "all":
            return made
        return self.norm(role, made, f"normed_{PLURAL[role]}")

    def head_norm(self, role: str, step: Step) -> Step:
        """The norm of each head's queries or keys, where there is one."""
        if self.model.settings.query_key_norms != "head":
            return step
        return self.norm(role, step, f"normed_{PLURAL[role]}")

    def times(
        self, made: str, vectors: Step, name: str, axes: tuple[str, str], row: str | None = None
    ) -> Step:
        """Vectors times a stored matrix (out, in), and its bias where the layer has one."""
        matrix, bias = self.stored(f"W_{name}", axes), None
        if f"b_{name}" in self.model.settings.shapes_of_layer():
            bias = self.stored(f"b_{name}", axes[:1])
        lead = (*vectors.axes[:-2], row or vectors.axes[-2])
        if self.model.where(f"{self.layer}.W_{name}").transposed:
            return times(self.trace, made, vectors, matrix, bias, lead)
        operands = (vectors, matrix) if bias is None else (vectors, matrix, bias)
        return self.trace.step(made, ops.Linear(), *operands, axes=(*lead, axes[0]))

    def norm(self, part: str, vectors: Step, made: str) -> Step:
        """A norm: its mean and variance, or its mean square, and what it has learned."""
        settings, one = self.model.settings, (*vectors.axes[:-1], "one")
        stored, axis = f"{part}_norm", vectors.axes[-1:]
        of = stored.replace("ffn", "feed_forward")

        def step(name: str, operation: ops.Operation, *operands: Step, axes=vectors.axes) -> Step:
            return self.trace.step(f"{of}_{name}", operation, *operands, axes=axes)

        if settings.norm == "layer":
            mean = step("mean", ops.RowMean(), vectors, axes=one)
            variance = step("variance", ops.RowVariance(), vectors, mean, axes=one)
            standardise = ops.Standardise(settings.epsilon)
            standard = step("standardised", standardise, vectors, mean, variance)
            learned = [
                self.stored(f"{stored}_{kind}", axis, f"{of}_{kind}") for kind in ("gain", "bias")
            ]
        else:
            square = step("mean_square", ops.RowMeanSquare(), vectors, axes=one)
            standard = step("standardised", ops.DivideByRoot(settings.epsilon), vectors, square)
            gain = self.stored(f"{stored}_gain", axis, f"{of}_gain")
            if settings.norm_adds_one:
                gain = step("gain_and_one", ops.Shift(1.0), gain, axes=axis)
            learned = [gain]
        return self.trace.step(made, ops.ScaleShift(), standard, *learned, axes=vectors.axes)

    def stored(self, ours: str, axes: tuple[str, ...], name: str | None = None) -> Step:
        """A tensor of the layer as it stands in the file: `axes` are those of (out, in)."""
        where = self.model.where(f"{self.layer}.{ours}")
        axes = axes[::-1] if where.transposed else axes
        made = name or ours
        if not where.beside:
            return self.trace.step(made, self.read(where.name), axes=axes)
        first, end, n_groups = self.model.place_in(where)
        joined = self.joined(where, axes)
        pick = (ops.Columns if where.transposed or len(axes) == 1 else ops.Rows)(first, end)
        if n_groups == 1:
            return self.trace.step(made, pick, joined, axes=axes)
        inside = ("head", axes[0].replace("d_", "d_one_of_"), *axes[1:])
        own = self.trace.step(f"{made}_of_heads", pick, joined, axes=inside)
        return self.trace.step(made, ops.JoinRowsOfHeads(), own, axes=axes)

    def joined(self, where: Where, axes: tuple[str, ...]) -> Step:
        """The matrix or bias in which several stand, dealt out to heads that have their own."""
        called = "qkv" if "query" in where.beside[0] else "gate_up"
        made, of = f"{called}_{'matrix' if len(axes) == 2 else 'bias'}", f"d_{called}"
        if made not in self.trace:
            wide = tuple("d_model" if axis == "d_model" else of for axis in axes)
            self.trace.step(made, self.read(where.name), axes=wide)
        if not where.by_head:
            return self.trace[made]
        joined, dealt = self.trace[made], f"{made}_of_heads"
        if dealt not in self.trace:
            split = ops.RowsOfHeads(self.model.settings.n_heads)
            self.trace.step(dealt, split, joined, axes=("head", f"{of}_of_a_head", *axes[1:]))
        return self.trace[dealt]

    def read(self, name: str, rows: Sequence[int] = ()) -> ops.Operation:
        """What reads a tensor, or rows of it, by the file's name for it."""
        source = self.model.source
        if isinstance(source, GgufFile):
            kind: Any = ops.StoredInGguf
            file, called = source.path, "MODEL"
        else:
            file, files, kind = source.places[name].file, source.files, ops.Stored
            called = "MODEL" if len(files) == 1 else f"MODEL_{files.index(file) + 1}"
        return kind(str(file), name, tuple(rows), called, self.model.as_opened.get(file))
