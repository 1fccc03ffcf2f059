"""What a model would say after each layer (nostalgebraist 2020, interpreting GPT)."""

from dataclasses import dataclass

import torch
from torch import Tensor

from .model import Model
from .run import Run, of_tokens, read_for_logits, vocabulary_in_slices


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
    read = read_for_logits(model, stream)
    n_rows = len(read)
    best, ids = torch.full((n_rows, 0), 0.0), torch.zeros((n_rows, 0), dtype=torch.int64)
    total = torch.full((n_rows,), -torch.inf)
    for tokens in vocabulary_in_slices(model):
        made = of_tokens(model, read, tokens)
        total = torch.logaddexp(total, made.logsumexp(dim=-1))
        best = torch.cat([best, made], dim=-1)
        ids = torch.cat([ids, torch.arange(tokens.start, tokens.stop).expand(n_rows, -1)], dim=-1)
        best, at = best.topk(min(most, best.shape[-1]), dim=-1)
        ids = ids.gather(-1, at)
    return Likeliest(ids, (best - total[:, None]).exp())


def lens(run: Run, most: int = 1, last: int | None = None) -> Likeliest:
    """What the model would say after each layer, (layer · query, rank), the stream before the first
    layer as layer 0: its last norm and its table on the stream there. Of the `last` queries only,
    where that is given: each costs a product with the whole table. Source: nostalgebraist 2020,
    interpreting GPT: the logit lens.
    """
    first = 0 if last is None else max(0, len(run.ids) - last)
    streams = torch.cat([run.before[:, first:], run.final[None, first:]])
    return likeliest(run.model, streams.flatten(0, 1), most)
