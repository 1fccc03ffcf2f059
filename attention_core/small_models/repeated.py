"""Random tokens that repeat, none twice in a period: nothing can be learned by heart, and as the
period differs from sequence to sequence, no place tells which token comes next.
"""

import string

import torch
from torch import Tensor

N_TOKENS = 24
"""Words of the vocabulary. They have no meaning, so they are called by letters."""
NAMES = tuple(string.ascii_uppercase[:N_TOKENS])
LENGTH = 24
PERIODS = (5, 12)
"""Fewest and most tokens before a repeat: too alike, and the place alone would tell."""


def draw_sequences(
    n_sequences: int, generator: torch.Generator, periods: tuple[int, int] = PERIODS
) -> Tensor:
    """Token ids (sequence, token). Same state of the generator, same sequences."""
    least, most = periods
    each = torch.randint(least, most + 1, (n_sequences, 1), generator=generator)
    drawn = torch.rand(n_sequences, N_TOKENS, generator=generator).argsort(-1)
    return drawn.gather(1, torch.arange(LENGTH) % each)


def next_of_earlier(ids: Tensor) -> Tensor:
    """Keys (sequence, query, key) right after earlier places of the query's own token."""
    n_tokens = ids.shape[-1]
    earlier = torch.ones(n_tokens, n_tokens, dtype=torch.bool).tril(-1)
    same = (ids.unsqueeze(-1) == ids.unsqueeze(-2)) & earlier
    return torch.nn.functional.pad(same[..., :-1], (1, 0))
