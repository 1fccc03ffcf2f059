"""What is known of a sentence's way through a model: what it would say after each layer, and what
each part brought to what it says.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from .model import Model
from .run import ROWS_AT_ONCE, Run, read_for_logits, values_of


@dataclass(frozen=True)
class Likeliest:
    """The likeliest next tokens after some vectors of the stream, each with its chance."""

    ids: Tensor
    """(row, rank)"""
    chances: Tensor
    """(row, rank)"""


@torch.no_grad()
def likeliest(model: Model, stream: Tensor, most: int) -> Likeliest:
    """The likeliest tokens of vectors of the stream (row, d_model), after the model's last norm and
    by the vocabulary's table, slice by slice: the logits of a whole vocabulary are never there at
    once. Raises ValueError where the model says no next token.
    """
    read, table = read_for_logits(model, stream), _table(model)
    n_rows, n_vocabulary = len(read), model.settings.n_vocabulary
    best, ids = torch.full((n_rows, 0), 0.0), torch.zeros((n_rows, 0), dtype=torch.int64)
    total = torch.full((n_rows,), -torch.inf)
    for first in range(0, n_vocabulary, ROWS_AT_ONCE):
        last = min(first + ROWS_AT_ONCE, n_vocabulary)
        made = _capped(model, read @ model.matrix(table, range(first, last)).T)
        total = torch.logaddexp(total, made.logsumexp(dim=-1))
        best = torch.cat([best, made], dim=-1)
        ids = torch.cat([ids, torch.arange(first, last).expand(n_rows, -1)], dim=-1)
        best, at = best.topk(min(most, best.shape[-1]), dim=-1)
        ids = ids.gather(-1, at)
    return Likeliest(ids, (best - total[:, None]).exp())


def lens(run: Run, most: int = 1) -> Likeliest:
    """What the model would say after each layer, (layer · query, rank), the stream before the first
    layer as layer 0: its last norm and its table on the stream there.

    Source: nostalgebraist 2020, interpreting GPT: the logit lens.
    """
    streams = torch.cat([run.before, run.final[None]])
    return likeliest(run.model, streams.flatten(0, 1), most)


@dataclass(frozen=True)
class Brought:
    """The logit of a token as a sum of what each part brought to it."""

    embedding: float
    heads: Tensor
    """(layer, head)"""
    biases: Tensor
    """(layer,): what attention adds whatever it sees."""
    ffn: Tensor
    """(layer,)"""
    last: float
    """What the bias of the last norm brings."""

    @property
    def total(self) -> float:
        """The logit, before any soft cap."""
        parts = self.heads.double().sum() + self.biases.double().sum() + self.ffn.double().sum()
        return self.embedding + float(parts) + self.last


@torch.no_grad()
def brought(run: Run, query: int, token: int, against: int | None = None) -> Brought:
    """What each part brought to the logit of a token after a query, or to how far it is above that
    of another, `against` which it is held. The last norm divides by one number, which is held as it
    was: so the parts add up.

    Raises ValueError for a model whose norms stand after its parts, or around them: there what a
    part adds is normed with all before it, and no sum says what it brought.

    Source: Elhage et al. 2021, A Mathematical Framework for Transformer Circuits, "direct path".
    """
    model, settings = run.model, run.model.settings
    reads, last = _reads(run, query, token, against)
    heads, biases = [], []
    for layer in range(settings.n_layers):
        of_heads = torch.zeros(settings.n_heads, dtype=torch.float64)
        if layer not in run.changes.attention:
            contexts = run.context_vectors[layer, :, query].double()
            of_heads = (contexts * _read_by_heads(model, layer, reads)).sum(dim=-1)
        heads.append(of_heads)
        biases.append(run.attention_added[layer, query].double() @ reads - of_heads.sum())
    embedding, ffn = run.before[0, query].double() @ reads, run.ffn_added[:, query].double() @ reads
    return Brought(float(embedding), torch.stack(heads), torch.stack(biases), ffn, last)


@torch.no_grad()
def from_tokens(
    run: Run, layer: int, head: int, query: int, token: int, against: int | None = None
) -> Tensor:
    """What a head brought of that, key by key (key,): the weight of each key, times what its value
    would bring with a weight of 1. They add up to what `brought` says of the head. Raises
    ValueError as it does.
    """
    reads, _ = _reads(run, query, token, against)
    whole = values_of(run, layer)[head].double() @ _read_by_heads(run.model, layer, reads)[head]
    return run.weights[layer, head, query].double() * whole


def _reads(run: Run, query: int, token: int, against: int | None) -> tuple[Tensor, float]:
    """What a vector in the stream is multiplied by to give its part of a logit (d_model,), and what
    the bias of the last norm brings beside.
    """
    model, settings = run.model, run.model.settings
    if settings.norms != "before":
        raise ValueError(
            f"{model.name} norms what its parts add, so that they do not add up to a logit"
        )
    direction = model.matrix(_table(model), [token])[0].double()
    if against is not None:
        direction = direction - model.matrix(_table(model), [against])[0].double()
    gain, bias = model.norm("final_norm")
    scaled = direction * (gain.double() + 1 if settings.norm_adds_one else gain.double())
    stream = run.final[query].double()
    if settings.norm == "layer":
        scaled = scaled - scaled.mean()  # the norm takes the mean away: here from what it meets
        stream = stream - stream.mean()
    size = (stream.square().mean() + settings.epsilon).rsqrt()
    return scaled * size, 0.0 if bias is None else float(direction @ bias.double())


def _read_by_heads(model: Model, layer: int, reads: Tensor) -> Tensor:
    """What is read of the stream, as each head's context vector meets it (head, d_head)."""
    return (reads @ model.matrix(f"{layer}.W_output").double()).view(model.settings.n_heads, -1)


def _table(model: Model) -> str:
    if not model.settings.predicts:
        raise ValueError(f"{model.name} says no next token: a {model.family} reads whole sentences")
    return "token_table" if model.settings.tied else "W_unembed"


def _capped(model: Model, made: Tensor) -> Tensor:
    cap = model.settings.logit_cap
    return made if cap is None else cap * (made / cap).tanh()
