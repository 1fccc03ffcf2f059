"""A matrix in its place in an equation."""

from dataclasses import dataclass

from ..picture.matrix import Matrix
from .sizes import CellSize


@dataclass(frozen=True)
class Placed:
    """A matrix of an equation, the operator before it, and how it is drawn."""

    operator: str
    matrix: Matrix
    size: CellSize
    tells: bool = True
    """Whether the arithmetic of its cells may be told: a question may cover what it is made of."""
    compact: bool = False
    """Drawn without its shape above it, where room is scarce: tooltips name the axes."""
