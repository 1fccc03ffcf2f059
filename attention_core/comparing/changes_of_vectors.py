"""Changes to queries, keys and values before they meet, read off the two tensors themselves.

Rotary positions turn two numbers as one complex number is multiplied by another of length 1. So
where both sides pair the same numbers, the quotient of the two says at once by which angles ours is
turned farther than theirs: a constant is an offset of positions, and what grows with the place is
another rate. Where they pair others, theirs is turned back by each of the usual bases and on again.

Source of the rates: https://arxiv.org/abs/2104.09864, section 3.2.2.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import torch
from torch import Tensor

from .attention import repeated
from .changes_of_scores import in_turn
from .precision import NO_LENGTH, apart, as_numbers

BASES = (1e4, 5e5, 1e6, 1e5, 1.5e5, 1.6e5, 1e7, 5e6, 1e3, 100.0)
"""What rates are a power of, in published models."""
EPSILONS = (1e-6, 1e-5, 0.0, 1e-8)
"""What norms add to a mean square."""
ROUGH = 0.2
"""More than any precision explains."""
ANOTHER_RATE = "pairs turn at another rate"
EQUAL = 1e-3
"""How far an angle, or a slope of angles, may be off in radians."""


@dataclass(frozen=True)
class Found:
    """A change that turns one tensor into the other, and how far the two are apart after it."""

    name: str
    detail: str
    left: float
    """The share of the row that differs most."""
    is_likely: bool = True
    """Whether it says all: not where rates differ, and in no way that is known."""


@dataclass(frozen=True)
class Vectors:
    """Queries or keys of both sides, (batch, head, token, d) in float64."""

    ours: Tensor
    theirs: Tensor
    first: int
    """The place of the first token."""
    allowed: float
    """The share of a row that precision explains."""
    rates: Sequence[Tensor] = ()
    """By how much theirs turns for each place, where a model says so."""

    @property
    def places(self) -> Tensor:
        """(token, 1)"""
        n_tokens = self.ours.shape[-2]
        return torch.arange(self.first, self.first + n_tokens, dtype=torch.float64)[:, None]

    def left(self, made: Tensor) -> float:
        """How far ours is from what was made of theirs."""
        rough = float((self.ours - made).norm()) / max(float(made.norm()), NO_LENGTH)
        # No row that differs most is much nearer than all together: most that is tried ends here.
        return rough if rough > 4 * self.allowed else apart(self.ours, made).share

    def fits(self, left: float) -> bool:
        """Whether precision explains what is left."""
        return left <= self.allowed


def changes_of_vectors(both: Vectors) -> Iterator[Found]:
    """All that turn theirs into ours."""
    for each in chain(_in_other_order(both), _turned(both), _paired(both), _normed(both)):
        if both.fits(each.left):
            yield each


def constant_factor(both: Vectors) -> float | None:
    """The one number that ours is theirs times, where it is not 1; None for none."""
    length = float(both.theirs.square().sum())
    if not length or not math.isfinite(length):
        return None
    factor = float((both.ours * both.theirs).sum()) / length
    if not factor or not both.fits(both.left(both.theirs * factor)):
        return None
    return None if math.isclose(factor, 1.0, rel_tol=both.allowed) else factor


# Heads in another order.


def _in_other_order(both: Vectors) -> Iterator[Found]:
    theirs, n_heads = both.theirs, both.theirs.shape[1]
    n_texts, _, n_tokens, width = theirs.shape
    joined = theirs.transpose(1, 2).flatten(2)
    for n_kv in range(2, n_heads):  # each shared head stands there n_heads / n_kv times already
        if n_heads % n_kv == 0:
            few = theirs[:, :: n_heads // n_kv]
            if torch.equal(repeated(few, n_heads), theirs):
                yield Found("heads_repeated_in_turn", "", both.left(in_turn(few, n_heads)))
    if n_heads > 1:
        cut = joined.reshape(n_texts, n_heads, n_tokens, width)
        yield Found("heads_without_transpose", "", both.left(cut))
        taken = joined.unflatten(-1, (width, n_heads)).permute(0, 3, 1, 2)
        yield Found("heads_interleaved", "", both.left(taken))
        first = theirs[:, :1].expand_as(theirs)
        yield Found("one_head_repeated", "", both.left(first))


# Rotary positions of the same pairs.


def as_complex(vectors: Tensor, width: int, in_pairs: bool) -> Tensor:
    """The first `width` numbers as complex ones: neighbours (`in_pairs`), or one of each half."""
    turned = vectors[..., :width]
    if in_pairs:
        return torch.complex(turned[..., ::2].contiguous(), turned[..., 1::2].contiguous())
    return torch.complex(*(each.contiguous() for each in turned.chunk(2, dim=-1)))


def as_real(numbers: Tensor, rest: Tensor, in_pairs: bool) -> Tensor:
    """The way back; `rest` is what does not turn."""
    if in_pairs:
        made = torch.view_as_real(numbers).flatten(-2)
    else:
        made = torch.cat([numbers.real, numbers.imag], dim=-1)
    return torch.cat([made, rest], dim=-1)


def turned(vectors: Tensor, angles: Tensor, in_pairs: bool) -> Tensor:
    """Vectors turned by angles (token, width / 2)."""
    width = 2 * angles.shape[-1]
    by = torch.polar(torch.ones_like(angles), angles)
    return as_real(as_complex(vectors, width, in_pairs) * by, vectors[..., width:], in_pairs)


def rates_of(base: float, width: int) -> Tensor:
    """The angle by which each pair turns for each place."""
    return base ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)


def _widths(width: int) -> list[int]:
    """How many of a head's numbers may turn, all of them first."""
    found = [width, width // 2, width // 4, 3 * width // 4, 2 * width // 5]
    return [each for each in dict.fromkeys(found) if each >= 2 and each % 2 == 0]


def _rates_tried(both: Vectors) -> Iterator[tuple[Tensor, str]]:
    for rates in both.rates:
        yield rates.double(), ""
    for width in _widths(both.ours.shape[-1]):
        for base in BASES:
            yield rates_of(base, width), f" (base {base:,.0f})"


def _turned(both: Vectors) -> Iterator[Found]:
    for width in _widths(both.ours.shape[-1]):
        for in_pairs in (False, True):
            ours, theirs = (as_complex(e, width, in_pairs) for e in (both.ours, both.theirs))
            lengths = theirs.abs().square().sum(dim=(0, 1))
            quotient = (ours * theirs.conj()).sum(dim=(0, 1)) / lengths.clamp(min=1e-30)
            made = as_real(theirs * quotient, both.theirs[..., width:], in_pairs)
            left = both.left(made)
            if not both.fits(left) or not bool((lengths > 0).all()):
                continue
            size = quotient.abs()
            if float((size / size.mean() - 1).abs().max()) > max(10 * both.allowed, EQUAL):
                continue
            found = _named_angles(both, quotient.angle(), width)
            if found is not None:
                # Twice or three times the angles is what theirs lacks, or turns back, more likely.
                is_likely = not found[1].endswith((ANOTHER_RATE, "by 2 times", "by 3 times"))
                yield Found(*found, left, is_likely)
                return


def _wrapped(angles: Tensor) -> Tensor:
    """Angles between −π and π."""
    return (angles + math.pi) % (2 * math.pi) - math.pi


def _named_angles(both: Vectors, angles: Tensor, width: int) -> tuple[str, str] | None:
    """What angles (token, width / 2), by which ours is turned farther, come from."""
    slack = max(EQUAL, both.allowed)
    near = bool((_wrapped(angles - angles[:1]).abs() < slack).all())
    if near:
        return _of_offset(both, angles[0], width, slack)
    if len(angles) < 2:
        return None
    slopes = _wrapped(angles[1:] - angles[:-1])
    slope = torch.atan2(slopes.sin().mean(dim=0), slopes.cos().mean(dim=0))
    rest = _wrapped(angles - slope * both.places)
    constant = torch.atan2(rest.sin().mean(dim=0), rest.cos().mean(dim=0))
    if float(_wrapped(rest - constant).abs().max()) > slack * max(2, len(angles)):
        return None
    return _of_rates(both, slope, width, slack)


def _of_offset(both: Vectors, angles: Tensor, width: int, slack: float) -> tuple[str, str] | None:
    """Positions that begin later or earlier."""
    if float(angles.abs().max()) < slack:
        return None
    for rates, base in _rates_tried(both):
        if len(rates) != width // 2:
            continue
        for by in (1, -1, 2, -2, *range(3, 65), *range(-64, -2)):
            if float(_wrapped(angles - by * rates).abs().max()) < slack:
                told = f"in ours they begin at {by:+d}" if not both.first else f"by {by:+d}"
                return "positions_off", f"{told}{base}"
    return None


def _of_rates(both: Vectors, slope: Tensor, width: int, slack: float) -> tuple[str, str] | None:
    """Another base, or rates that are scaled."""
    for rates, base in _rates_tried(both):
        if len(rates) != len(slope):
            continue
        ours = rates + slope
        if float(_wrapped(ours).abs().max()) < slack:
            return "no_rotation", f"theirs has rotary positions{base}"
        if float(_wrapped(ours + rates).abs().max()) < slack:
            return "rotary_backwards", base.strip(" ()")
    for rates, base in _rates_tried(both):
        if len(rates) != len(slope) or len(slope) < 2:
            continue
        ours = rates + slope
        if abs(float(_wrapped(slope[:1]))) < slack:
            for other in _bases_through(ours, width):
                if float(_wrapped(rates_of(other, width) - ours).abs().max()) < slack:
                    return "rotary_base", f"ours has a base of {other:,.4g}{_theirs(base)}"
        factor = float(1 + _wrapped(slope[:1]) / rates[0])
        if factor > 0 and float(_wrapped(rates * factor - ours).abs().max()) < slack:
            told = f"of the angles of theirs, ours turns by {factor:.4g} times"
            return "rotary_scaling", told
    if float(slope.abs().max()) > slack:
        n_other = int((slope.abs() > slack / 10).sum())
        return "rotary_scaling", f"{n_other} of {len(slope)} {ANOTHER_RATE}"
    return None


def _theirs(base: str) -> str:
    return f", theirs {base.strip(' ()')}" if base else ""


def _bases_through(rates: Tensor, width: int) -> Iterator[float]:
    """The bases that the second rate may have."""
    yield from BASES
    second = float(rates[1])
    if second > 0:
        base = second ** (-width / 2)
        if 1 < base < 1e12:
            yield float(f"{base:.3g}")
            yield base


# Rotary positions of other pairs.


def _paired(both: Vectors) -> Iterator[Found]:
    for rates, base in _rates_tried(both):
        angles = both.places * rates
        width = 2 * len(rates)
        for in_pairs in (False, True):
            plain = turned(both.theirs, -angles, in_pairs)
            kinds = ("neighbours", "halves") if in_pairs else ("halves", "neighbours")
            told = f"theirs turns {kinds[0]}, ours {kinds[1]}{base}"
            yield Found("rotary_pairs", told, both.left(turned(plain, angles, not in_pairs)))
            for pairs, laid_out in ((True, False), (False, True)):
                mixed = _mixed(plain, angles, pairs, laid_out)
                yield Found("rotary_mixed", base.strip(" ()"), both.left(mixed))
            yield Found("no_rotation", f"theirs has rotary positions{base}", both.left(plain))
            if width < both.ours.shape[-1]:
                continue
            for offset in (1, -1):
                again = turned(plain, (both.places + offset) * rates, not in_pairs)
                told = f"and positions begin at {offset:+d}{base}"
                yield Found("rotary_pairs", told, both.left(again))


def _mixed(vectors: Tensor, angles: Tensor, in_pairs: bool, angles_in_pairs: bool) -> Tensor:
    """As `turned`, with angles laid out for other pairs than those that turn."""
    width = 2 * angles.shape[-1]
    each = angles.repeat_interleave(2, -1) if angles_in_pairs else torch.cat((angles, angles), -1)
    part = vectors[..., :width]
    if in_pairs:
        quarter = torch.stack((-part[..., 1::2], part[..., ::2]), -1).flatten(-2)
    else:
        quarter = torch.cat((-part[..., width // 2 :], part[..., : width // 2]), -1)
    return torch.cat([part * each.cos() + quarter * each.sin(), vectors[..., width:]], dim=-1)


# Norms.


def _normed(both: Vectors) -> Iterator[Found]:
    for rates, _ in ((None, ""), *_rates_tried(both)):
        for in_pairs in (False, True):
            ours, theirs = both.ours, both.theirs
            if rates is not None:
                angles = both.places * rates
                ours, theirs = (turned(each, -angles, in_pairs) for each in (ours, theirs))
            for kind in ("size", "mean and spread", "size of all heads"):
                for eps in EPSILONS:
                    left = _left_of_norm(ours, theirs, kind, eps)
                    yield Found("norm_missing", f"by {kind}: theirs has it", left)
                    left = _left_of_norm(theirs, ours, kind, eps)
                    yield Found("norm_missing", f"by {kind}: ours has it", left)
            if rates is not None:
                yield Found("norm_after_rotation", "", _left_of_late_norm(both, angles, in_pairs))
            if rates is None:
                break


def _left_of_norm(plain: Tensor, normed: Tensor, kind: str, eps: float) -> float:
    """How far the second is from a norm of the first, with a weight for each column."""
    if kind == "size of all heads":
        plain, normed = (each.transpose(1, 2).flatten(2) for each in (plain, normed))
    if kind == "mean and spread":
        plain = plain - plain.mean(dim=-1, keepdim=True)
    made = plain / (plain.square().mean(dim=-1, keepdim=True) + eps).sqrt()
    made = made.nan_to_num()
    rows, wanted = made.flatten(0, -2), normed.flatten(0, -2)
    if len(rows) < 3:
        return math.inf
    weight = (rows * wanted).sum(dim=0) / rows.square().sum(dim=0).clamp(min=1e-30)
    gap = rows * weight - wanted
    rough = float(gap.norm()) / max(float(wanted.norm()), NO_LENGTH)
    return rough if rough > ROUGH else apart(rows * weight, wanted).share


def _left_of_late_norm(both: Vectors, angles: Tensor, in_pairs: bool) -> float:
    """How far ours is from theirs, with the norm's weights multiplied in after the rotation.

    Turned first, each number keeps its own column's weight and gets its partner's number without
    the partner's: so ours says by its numbers what the two weights' ratio is.
    """
    plain = turned(both.theirs, -angles, in_pairs)
    width = 2 * angles.shape[-1]
    if width != plain.shape[-1] or plain.shape[-2] < 2 or both.allowed > ROUGH / 10:
        return math.inf  # with few digits, what is fitted would fit anything
    theirs, ours = (as_complex(each, width, in_pairs) for each in (plain, both.ours))
    cos, sin = angles.cos(), angles.sin()
    over = ((cos * theirs.real - ours.real) * sin * theirs.imag).sum(dim=(0, 1, 2))
    ratio = over / (sin * theirs.imag).square().sum(dim=(0, 1, 2)).clamp(min=1e-30)
    if not bool((ratio.abs() > 1e-6).all()) or bool((ratio.sub(1).abs() < EQUAL).all()):
        return math.inf
    made = torch.complex(
        cos * theirs.real - sin * ratio * theirs.imag, cos * theirs.imag + sin / ratio * theirs.real
    )
    return both.left(as_real(made, plain[..., width:], in_pairs))


def reached(ours: Tensor, theirs: Tensor) -> Tensor | None:
    """Theirs with as many heads as ours, each repeated for those that it serves; None for none."""
    theirs = as_numbers(theirs)
    if theirs.shape != ours.shape and theirs.ndim == ours.ndim == 4:
        if ours.shape[1] % theirs.shape[1] == 0:
            theirs = repeated(theirs, ours.shape[1])
        elif theirs.shape[1] % ours.shape[1] == 0:
            return theirs
    return theirs
