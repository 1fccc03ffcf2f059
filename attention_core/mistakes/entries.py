"""Mistakes in lookups, sums of a row, and what is done entry by entry."""

from .. import operations as ops
from .base import Mistake, mistakes


@mistakes.register
def _(_: ops.Lookup, table: str, ids: str) -> tuple[Mistake, ...]:
    words = f"row i is the row of the table that {ids}[i] points at."
    return (
        Mistake("the first rows of the table", words, f"{table}[:len({ids})]"),
        Mistake(
            "the ids are counted from 1",
            f"row 0 is the first: take {ids} as they are.",
            f"{table}[{ids} - 1]",
        ),
        Mistake(
            "the row after the one that is meant", f"take {ids} as they are.", f"{table}[{ids} + 1]"
        ),
        Mistake("the ids are sorted", words, f"{table}[{ids}.sort().values]"),
        Mistake("each id once", words, f"{table}[{ids}.unique()]"),
        Mistake("columns in place of rows", words, f"{table}[:, {ids}]"),
    )


@mistakes.register
def _(_: ops.Add, left: str, right: str) -> tuple[Mistake, ...]:
    return (
        Mistake(f"{right} is missing", "add it.", left),
        Mistake("subtracted, not added", "write +.", f"{left} - {right}"),
        Mistake("multiplied, not added", "write +.", f"{left} * {right}"),
    )


@mistakes.register
def _(_: ops.Sinusoid) -> tuple[Mistake, ...]:
    words = "even columns have a sine, odd ones a cosine."
    swapped = "torch.where(columns % 2 == 0, angles.cos(), angles.sin()).float()"
    return (
        Mistake("sine and cosine have changed places", words, swapped),
        Mistake("sines alone", words, "angles.sin().float()"),
        Mistake("cosines alone", words, "angles.cos().float()"),
        Mistake("the angles themselves", words, "angles.float()"),
    )


@mistakes.register
def _(_: ops.SumLast, products: str) -> tuple[Mistake, ...]:
    words = "add the entries of each row: sum(dim=-1)."
    return (
        Mistake("added over the wrong axis", words, f"{products}.sum(dim=0)"),
        Mistake("everything is added", words, f"{products}.sum()"),
        Mistake("a mean in place of a sum", words, f"{products}.mean(dim=-1)"),
    )


@mistakes.register
def _(_: ops.RowSum, scores: str) -> tuple[Mistake, ...]:
    kept = "keep the axis that is added up: keepdim=True."
    return (
        Mistake("the axis is gone", kept, f"{scores}.sum(dim=-1)"),
        Mistake("a mean in place of a sum", "add.", f"{scores}.mean(dim=-1, keepdim=True)"),
        Mistake(
            "the sum of absolute values", "keep the signs.", f"{scores}.abs().sum(-1, keepdim=True)"
        ),
    )


@mistakes.register
def _(_: ops.RowLargest, scores: str) -> tuple[Mistake, ...]:
    kept = "keep the axis: keepdim=True."
    largest = "the largest number, with its sign."
    return (
        Mistake("the axis is gone", kept, f"{scores}.amax(dim=-1)"),
        Mistake("the smallest", largest, f"{scores}.amin(dim=-1, keepdim=True)"),
        Mistake("the largest size", largest, f"{scores}.abs().amax(dim=-1, keepdim=True)"),
        Mistake("the place of the largest", largest, f"{scores}.argmax(dim=-1, keepdim=True)"),
    )


@mistakes.register
def _(_: ops.Subtract, left: str, right: str) -> tuple[Mistake, ...]:
    return (
        Mistake("the wrong way round", f"take {right} away from {left}.", f"{right} - {left}"),
        Mistake("added, not subtracted", "write -.", f"{left} + {right}"),
        Mistake("nothing is subtracted", f"take {right} away from {left}.", left),
    )


@mistakes.register
def _(_: ops.Divide, scores: str, number: str) -> tuple[Mistake, ...]:
    return (
        Mistake("upside down", f"divide {scores} by {number}.", f"{number} / {scores}"),
        Mistake("multiplied, not divided", "write /.", f"{scores} * {number}"),
        Mistake("not divided", f"divide {scores} by {number}.", scores),
    )


@mistakes.register
def _(_: ops.Exp, scores: str) -> tuple[Mistake, ...]:
    return (
        Mistake("powers of 2", "take e to the power of each.", f"{scores}.exp2()"),
        Mistake("one minus sign too many", "take e to each number as it is.", f"(-{scores}).exp()"),
        Mistake("squares", "take e to the power of each.", f"{scores} ** 2"),
    )
