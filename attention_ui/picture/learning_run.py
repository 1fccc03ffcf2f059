"""What a watched training is made of: curves in panels, and the heads of each layer, at moments."""

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True, eq=False)
class Curve:
    """A number at each moment. One with a `label` is explained below its panel."""

    values: Sequence[float]
    colour: str
    label: str = ""


@dataclass(frozen=True)
class Level:
    """A quiet line at a height that no moment changes, and what it is, for below the panel."""

    value: float
    label: str


@dataclass(frozen=True, eq=False)
class Panel:
    """Curves that share an axis; `name` is that of their columns in the table: `name_0` …"""

    name: str
    title: str | Sequence[str]
    """What stands above, or what does at each moment."""
    ends: tuple[float, float]
    curves: Sequence[Curve]
    levels: Sequence[Level] = ()


@dataclass(frozen=True)
class Layer:
    """The words about the heads of a layer: above all of them, and above each at each moment."""

    title: str
    heads: Sequence[Sequence[str]]
    """(head, moment): its name."""
    below: Sequence[Sequence[str]]
    """(head, moment): what stands under its name, in small letters."""


@dataclass(frozen=True, eq=False)
class LearningRun:
    """A training to be watched, at its recorded moments."""

    steps: Sequence[int]
    panels: Sequence[Panel]
    layers: Sequence[Layer]
    tokens: Sequence[str]
    weights: Tensor
    """(moment, layer, head, query, key)"""
    targets: Tensor
    """(layer, head or 1, query, key): True where a head is expected to look: outlined."""
    appeared: int | None = None
    """A step to be marked on every panel."""
    ticks: Sequence[int] = ()
    """The steps written below the curves; none to let them be chosen."""
    crowded: float | None = None
    """Up to about this step each has as much room, later ones less; None: all the same."""
