"""What attention on any tensors may vary."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, fields

from torch import Tensor

from ..operations import SoftCap
from ..recipes import check_choice, check_scale

CORNERS = ("top_left", "bottom_right")
"""Where the diagonal of a causal mask or a window begins: the first query stands at the first key,
or the last query at the last key."""


@dataclass(frozen=True)
class Options:
    """What `attend_tensors` may vary, as it says there. Raises ValueError, in words, for what
    cannot be."""

    scale: str | float = "sqrt_d"
    mask: Tensor | Sequence | None = None
    causal: bool = False
    corner: str = "top_left"
    window: tuple[int | None, int | None] = (None, None)
    sinks: int = 0
    alibi: bool = False
    lengths: int | Sequence[int] | None = None
    soft_cap: float | None = None
    temperature: float = 1.0
    dropout: float = 0.0
    dropout_seed: int = 0

    def __post_init__(self) -> None:
        check_choice("corner", self.corner, CORNERS)
        if isinstance(self.scale, str):
            check_scale(self.scale)
        numbers = {"temperature": self.temperature, "dropout": self.dropout}
        if not isinstance(self.scale, str):
            numbers["scale"] = self.scale
        if self.soft_cap is not None:
            numbers["soft_cap"] = self.soft_cap
        for name, number in numbers.items():
            if not is_number(number, float):
                raise ValueError(f"{name} is {number!r}, but must be a finite number")
        if self.soft_cap is not None:
            SoftCap(self.soft_cap)  # refuses what is not above 0
        if self.causal not in (True, False):
            raise ValueError(
                f"causal is {self.causal!r}, but must be True or False: `corner` says from where"
            )
        if self.alibi not in (True, False):
            raise ValueError(
                f"alibi is {self.alibi!r}, but must be True or False: the slopes follow from the "
                "number of heads"
            )
        sides = self.window if isinstance(self.window, tuple | list) else ()
        if len(sides) != 2 or not all(each is None or is_number(each, int) for each in sides):
            raise ValueError(
                f"window is {self.window!r}, but must be two whole numbers: how many keys to the "
                "left and to the right, None for all"
            )
        if not is_number(self.sinks, int) or self.sinks < 0:
            raise ValueError(f"sinks is {self.sinks!r}, but must be a whole number of 0 or more")
        if self.sinks and sides[0] is None:
            raise ValueError(
                f"sinks is {self.sinks}, but there is no window: sinks are the first keys, which "
                "stay visible outside of it, so give window=(how many keys to the left, …) too"
            )

    @staticmethod
    def of(settings: dict[str, object]) -> "Options":
        """Options from their names. Raises ValueError for a name that there is not."""
        known = [field.name for field in fields(Options)]
        for name in settings:
            if name not in known:
                raise ValueError(f"there is no option {name!r}: there are {', '.join(known)}")
        return Options(**settings)


def is_number(value: object, kind: type) -> bool:
    """Whether it is a whole number, or any finite one, and not True or False."""
    kinds = (int,) if kind is int else (int, float)
    if not isinstance(value, kinds) or isinstance(value, bool):
        return False
    return abs(value) <= sys.float_info.max  # math.isfinite raises where an int is too large
