"""What a model would say after each layer: its last norm and its vocabulary's table, put to the
stream as it is there.

Source: nostalgebraist 2020, interpreting GPT: the logit lens.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from .run import Run, logits_of


@dataclass(frozen=True)
class Said:
    """The likeliest next tokens behind each layer, from the embeddings on."""

    ids: Tensor
    """(row, rank): row 0 is before the first layer, row n behind layer n − 1."""
    probabilities: Tensor
    """(row, rank)"""


def streams(found: Run, position: int = -1) -> Tensor:
    """The stream at one token (row, d_model): before the first layer, and behind each."""
    return torch.cat((found.before[:, position], found.final[None, position]))


@torch.no_grad()
def logit_lens(found: Run, position: int = -1) -> Tensor:
    """The logits that the stream at a token would give behind each layer (row, vocabulary); the
    last row is what the model says. Raises ValueError where the model says no next token.
    """
    return logits_of(found.model, streams(found, position))


def said_by_layer(found: Run, position: int = -1, n: int = 5) -> Said:
    """The `n` likeliest next tokens behind each layer."""
    best = logit_lens(found, position).softmax(-1).topk(n, dim=-1)
    return Said(best.indices, best.values)
