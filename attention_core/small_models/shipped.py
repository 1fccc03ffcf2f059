"""The weights of the trained network that comes with the package."""

from functools import lru_cache

import torch
from torch import Tensor

from ..files import tensor_file
from .given import WEIGHTS
from .network import Network
from .tiny_language import SIZE


def write(network: Network) -> None:
    """Store a network where `weights` reads it."""
    about = {"made by": "python -m attention_core.small_models"}
    tensor_file.write(WEIGHTS, dict(network.named_parameters()), about)


@lru_cache(maxsize=1)
def weights() -> dict[str, Tensor]:
    """The weights, by the names that they have in `Network`; nobody's to change."""
    return tensor_file.read(WEIGHTS)


def network() -> Network:
    """A network with these weights."""
    made = Network(SIZE, seed=0)
    with torch.no_grad():
        for name, parameter in made.named_parameters():
            parameter.copy_(weights()[name])
    return made.requires_grad_(False)
