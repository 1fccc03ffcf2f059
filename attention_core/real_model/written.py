"""The stream as a sum: what each part of a model wrote to it.

A norm divides by one number, taken as it came out: frozen. So what went through a norm, one that
stands on the stream or one on what is about to be added, is a sum of the same parts still. Source:
Elhage et al. 2021, A Mathematical Framework for Transformer Circuits.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from ..utils.head_name import head_name
from .run import Run, added_up
from .settings import Settings

NORMS = {
    "embedding_norm": "embedding",
    "attention_norm": "attention",
    "ffn_norm": "feed-forward",
    "final_norm": "last",
}
"""What norms on the stream are called."""


@dataclass(frozen=True)
class Writer:
    """One part of a model that writes to the stream."""

    kind: str
    """`token`, `position`, `type`, `head`, `attention bias`, `feed-forward`, the bias of a norm,
    such as `attention norm's bias`, `bias`, that of queries or keys, or `put in its place`, what
    stands there after a patch.
    """
    layer: int | None = None
    head: int | None = None

    @property
    def name(self) -> str:
        """Such as `head 18.6` (layer 18, head 6) or `feed-forward 3`."""
        if self.head is not None:
            return head_name(self.head, self.layer)
        return self.kind if self.layer is None else f"{self.kind} {self.layer}"


class Reading:
    """What was written to the stream at some tokens, as a matrix (d_model, d_read) reads it: one
    goes back from there through the layers, and notes what each part wrote on the way. All is
    worked out in the precision of the matrix.
    """

    def __init__(self, run: Run, tokens: Sequence[int], matrix: Tensor) -> None:
        self.found, self.tokens, self.matrix = run, [*tokens], matrix
        self.size = matrix.new_ones(len(self.tokens), 1)
        """What the norms between a writer and the matrix multiply it by, for each token."""
        self.noted: list[tuple[Writer, Tensor]] = []
        self.put = matrix.new_zeros(len(self.tokens), matrix.shape[1])

    def note(self, writer: Writer, vectors: Tensor) -> None:
        """What a part wrote: (token, d_model), or the same (d_model,) for each token."""
        self.noted.append((writer, self.read(vectors)))

    def read(self, vectors: Tensor) -> Tensor:
        """Vectors of the stream (token, d_model) there, as the matrix reads them."""
        return (vectors.to(self.matrix.dtype) * self.size) @ self.matrix

    def norm(self, name: str, stream: Tensor, layer: int | None = None) -> None:
        """Back through a norm that made (token, d_model) of all that is on the stream there."""
        settings, dtype = self.found.model.settings, self.matrix.dtype
        gain, bias = _learned(self.found, name, layer)
        if bias is not None:
            self.note(Writer(f"{NORMS[name]} norm's bias", layer), bias)
        self.size = self.size * one_over_size(settings, stream[self.tokens].to(dtype))
        self.matrix = gain_of(settings, gain).to(dtype)[:, None] * self.matrix
        if settings.norm == "layer":  # the mean of each part is taken away here
            self.matrix = self.matrix - self.matrix.mean(0)

    def back(self, layer: int) -> tuple[tuple[Writer, ...], Tensor]:
        """Back from before a layer: parts noted, first to last, and what is read of them."""
        settings = self.found.model.settings
        self._patches(layer)
        for each in reversed(range(layer)):
            self._layer(each)
            self._patches(each)
        model, ids = self.found.model, [self.found.ids[token] for token in self.tokens]
        if settings.embedding_norm:
            self.norm("embedding_norm", added_up(model, self.found.ids))
        if settings.token_types:
            self.note(Writer("type"), model.matrix("type_table", [0])[0])
        if settings.positions == "learned":
            self.note(Writer("position"), model.matrix("position_table", self.tokens))
        own = model.matrix("token_table", ids) * settings.embedding_scale
        self.note(Writer("token"), own)
        if self.found.changes.patches:
            self.noted.append((Writer("put in its place"), self.put))
        writers, read = zip(*reversed(self.noted), strict=True)
        return writers, torch.stack(read)

    def _layer(self, layer: int) -> None:
        found, settings = self.found, self.found.model.settings
        after = settings.norms == "after"
        if after and settings.d_ffn:
            stream = found.between[layer] + found.ffn_added[layer]
            self.norm("ffn_norm", stream, layer)
        if settings.d_ffn:
            self.note(Writer("feed-forward", layer), found.ffn_added[layer, self.tokens])
        if after:
            stream = found.before[layer] + found.attention_added[layer]
            self.norm("attention_norm", stream, layer)
        self._attention(layer)

    def _attention(self, layer: int) -> None:
        """What each head wrote, and the bias of its output where there is one."""
        contexts = self.found.context_vectors[layer][:, self.tokens].to(self.matrix.dtype)
        columns, bias, frozen = self.of_heads(layer)
        is_on = layer not in self.found.changes.attention
        if bias is not None:
            self.note(Writer("attention bias", layer), bias * frozen * is_on)
        read = self.read(contexts @ columns * frozen * is_on)
        self.noted += [(Writer("head", layer, head), read[head]) for head in range(len(read))][::-1]

    def of_heads(self, layer: int) -> tuple[Tensor, Tensor | None, Tensor]:
        """What each head has gathered is multiplied by this (head, d_head, d_model) to say what it
        wrote; the bias of their output (d_model,), where there is one; and what both are multiplied
        by before they are added (token, d_model): by a norm, by a number, or 1.
        """
        model, settings, dtype = self.found.model, self.found.model.settings, self.matrix.dtype
        columns, bias = model.matrix(f"{layer}.W_output").to(dtype).T, None
        columns = columns.unflatten(0, (settings.n_heads, settings.d_head))
        if "b_output" in settings.biases:
            bias = model.matrix(f"{layer}.b_output").to(dtype)
        if not settings.norms_added:
            return columns, bias, torch.full((1, 1), settings.added_scale, dtype=dtype)
        contexts = self.found.context_vectors[layer][:, self.tokens].to(dtype)
        whole = (contexts @ columns).sum(0) + (0 if bias is None else bias)
        gain = gain_of(settings, model.matrix(f"{layer}.attention_after_norm_gain")).to(dtype)
        return columns, bias, one_over_size(settings, whole) * gain * settings.added_scale

    def _patches(self, layer: int) -> None:
        """What was put in the stream's place before a layer: of what was there, nothing is left."""
        patches = self.found.changes.patches
        for at, token in enumerate(self.tokens):
            if (vector := patches.get((layer, token))) is not None:
                self.put[at] += self.read(vector)[at]
                self.size[at] = 0


def one_over_size(settings: Settings, vectors: Tensor) -> Tensor:
    """What a norm multiplies vectors (…, d) by beside its gain: (…, 1)."""
    is_layer = settings.norm == "layer"
    square = vectors.var(-1, correction=0) if is_layer else vectors.square().mean(-1)
    return (square + settings.epsilon).rsqrt()[..., None]


def gain_of(settings: Settings, gain: Tensor) -> Tensor:
    """What a norm multiplies each component by, of what it has learned (d,)."""
    return gain + 1 if settings.norm_adds_one else gain


def _learned(run: Run, name: str, layer: int | None) -> tuple[Tensor, Tensor | None]:
    model = run.model
    if layer is None:
        return model.norm(name)
    bias = f"{name}_bias" in model.settings.shapes_of_layer()
    read = f"{layer}.{name}"
    return model.matrix(f"{read}_gain"), model.matrix(f"{read}_bias") if bias else None
