"""The tokens whose vectors lie nearest to another one, in a model's own table."""

from collections.abc import Sequence

import torch
from torch import Tensor

from .model import Model
from .run import vocabulary_in_slices


@torch.no_grad()
def nearest(model: Model, vector: Tensor, n: int) -> list[tuple[int, float]]:
    """The `n` tokens nearest to a vector (d_model,), each with the cosine of the angle between its
    own vector and that one; none to nan or infinite ones.
    """
    direction = vector / vector.norm()
    best, tokens = torch.empty(0), torch.empty(0, dtype=torch.int64)
    for these in vocabulary_in_slices(model):
        rows = model.matrix("token_table", these)
        cosines = rows @ direction / rows.norm(dim=-1).clamp(min=1e-12)
        best = torch.cat([best, cosines.nan_to_num(-torch.inf)])
        tokens = torch.cat([tokens, torch.arange(these.start, these.stop)])
        best, at = best.topk(min(n, len(best)))
        tokens = tokens[at]
    each = zip(tokens.tolist(), best.tolist(), strict=True)
    return [(token, cosine) for token, cosine in each if cosine > -torch.inf]


def added_up(model: Model, terms: Sequence[tuple[int, int]]) -> Tensor:
    """A sum of tokens' vectors (d_model,), each a sign (1 or −1) and a token."""
    rows = model.matrix("token_table", [token for _, token in terms])
    return torch.tensor([sign for sign, _ in terms], dtype=rows.dtype) @ rows
