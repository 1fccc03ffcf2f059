"""How far two tensors lie apart, and how much of that their precision explains."""

from dataclasses import dataclass

import torch
from torch import Tensor

from ..mechanism.own_tensors import PRECISIONS

WHOLE_SLACK, HALF_SLACK = 32, 8
"""How many roundings two right ways may lie apart, in float32 and in numbers of fewer digits."""
MOST_EXPLAINED = 0.25
"""Even in 8 bits, a row is most of what it was."""
GROWTH = 6
"""How many times farther apart one step may take what was apart already, by rounding, before it."""
NO_LENGTH = 1e-30
SMALLEST = {torch.finfo(torch.float16).eps: torch.finfo(torch.float16).smallest_normal}
"""By its rounding: below what a kind of number loses digits, where that is not next to nothing."""


@dataclass(frozen=True)
class Apart:
    """How two tensors of one shape differ."""

    largest: float
    """The largest difference of two numbers; infinite where one of them is none."""
    noise: float
    """The share of the row that differs most, also where its numbers are so small that float16 has
    no digits for them: what comes after may make them large."""
    rows: Tensor
    """Of each row (all axes but the last): the length of the difference, as a share of the row's,
    or of the middle row's where that is longer."""

    @property
    def share(self) -> float:
        """That of the row which differs most."""
        return float(self.rows.max()) if self.rows.numel() else 0.0

    @property
    def overall(self) -> float:
        """That of all rows together (root mean square)."""
        return float(self.rows.square().mean().sqrt()) if self.rows.numel() else 0.0


def apart(ours: Tensor, theirs: Tensor, ignored: Tensor | None = None, eps: float = 0.0) -> Apart:
    """How two tensors of one shape differ; `ignored` rows (broadcast to all axes but the last)
    count as equal. Numbers that are the same infinity, or both not a number, are equal. `eps` is
    their rounding: float16 has few digits left for what is very small.
    """
    ours, theirs = as_numbers(ours), as_numbers(theirs)
    if ours.ndim == 0:
        ours, theirs = ours[None], theirs[None]
    if ignored is not None:
        out = ignored.expand(ours.shape[:-1])[..., None]
        ours, theirs = ours.masked_fill(out, 0.0), theirs.masked_fill(out, 0.0)
    alike = (ours == theirs) | (ours.isnan() & theirs.isnan())
    odd = ~(ours.isfinite() & theirs.isfinite()) & ~alike
    gap = (ours - theirs).masked_fill(alike, 0.0).masked_fill(odd, torch.inf).abs()
    length = theirs.masked_fill(~theirs.isfinite(), 0.0).norm(dim=-1)
    kept = length if ignored is None else length[~ignored.expand(length.shape)]
    middle = kept.median() if kept.numel() else length.new_ones(())
    least = SMALLEST.get(eps, NO_LENGTH) * ours.shape[-1] ** 0.5
    rows = gap.norm(dim=-1) / length.clamp(min=max(float(middle), least))
    exact = gap.norm(dim=-1) / length.clamp(min=max(float(middle), NO_LENGTH))
    noise = float(exact.max()) if exact.numel() else 0.0
    return Apart(float(gap.max()) if gap.numel() else 0.0, noise, rows)


def as_numbers(tensor: Tensor) -> Tensor:
    """A tensor of any kind as float64, on the processor."""
    if tensor.is_quantized:
        tensor = tensor.dequantize()
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor)
    return tensor.detach().cpu().double()


def eps_of(*tensors: Tensor) -> float:
    """The rounding of the coarsest of these tensors; float32's where they are finer or whole."""
    kinds = {each.dtype for each in tensors if each.is_floating_point()}
    return max([torch.finfo(torch.float32).eps, *(torch.finfo(kind).eps for kind in kinds)])


def slack_of(eps: float) -> float:
    """The share of a row that rounding explains in one step."""
    return min(eps * (WHOLE_SLACK if eps < 1e-6 else HALF_SLACK), MOST_EXPLAINED)


def kind_of(eps: float) -> str:
    """What a precision is called, by its rounding."""
    found = [kind for kind in PRECISIONS if torch.finfo(kind).eps == eps]
    return str(found[0]).removeprefix("torch.") if found else "its precision"
