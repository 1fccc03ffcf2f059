"""Mistakes in what runs along from tile to tile: a maximum, a shrink factor, sums that shrink."""

from .. import operations as ops
from .base import Mistake, mistakes


@mistakes.register
def _(_: ops.Larger, before: str, new: str) -> tuple[Mistake, ...]:
    words = f"a maximum never falls: take the larger of {before} and {new}."
    return (
        Mistake("the new maximum alone", words, new),
        Mistake("the old maximum alone", words, before),
        Mistake("the smaller of both", words, f"torch.minimum({before}, {new})"),
        Mistake("both are added", words, f"{before} + {new}"),
    )


@mistakes.register
def _(_: ops.ExpLess, scores: str, largest: str) -> tuple[Mistake, ...]:
    words = f"take {largest} away first: no exponential is above 1 then."
    return (
        Mistake("the maximum is not taken away", words, f"{scores}.exp()"),
        Mistake("the wrong way round", words, f"({largest} - {scores}).exp()"),
        Mistake("e is missing", "take e to the power of the difference.", f"{scores} - {largest}"),
    )


@mistakes.register
def _(_: ops.Shrink, before: str, now: str) -> tuple[Mistake, ...]:
    words = f"it is e to the old maximum, {before}, less the new one, {now}: at most 1."
    return (
        Mistake("the shrink factor is upside down", words, f"({now} - {before}).exp()"),
        Mistake("e is missing", words, f"{before} - {now}"),
        Mistake("nothing shrinks", words, f"torch.ones_like({now})"),
        Mistake("one maximum divided by the other", words, f"{before} / {now}"),
    )


@mistakes.register
def _(_: ops.ShrinkAndAdd, before: str, shrink: str, new: str) -> tuple[Mistake, ...]:
    words = f"{before} was measured from the old maximum: multiply it by {shrink} first."
    return (
        Mistake(f"{before} is not shrunk", words, f"{before} + {new}"),
        Mistake("the shrink factor is upside down", words, f"{before} / {shrink} + {new}"),
        Mistake(
            "what is new shrinks too",
            f"{new} is measured from the new maximum already: shrink {before} alone.",
            f"({before} + {new}) * {shrink}",
        ),
        Mistake(
            "what is new shrinks instead",
            f"shrink {before}, and leave {new} as it is.",
            f"{before} + {new} * {shrink}",
        ),
        Mistake("what was there is forgotten", f"add {new} to it.", new),
        Mistake(f"{new} is missing", "add what the tile brings.", f"{before} * {shrink}"),
    )
