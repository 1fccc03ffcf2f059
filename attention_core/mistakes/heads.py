"""Mistakes in splitting and joining heads."""

from .. import operations as ops
from .base import Mistake, mistakes


@mistakes.register
def _(operation: ops.SplitHeads, joined: str) -> tuple[Mistake, ...]:
    if operation.in_batch:
        return ()
    n_heads = operation.n_heads
    front = "unflatten the columns first, then bring the heads to the front with transpose(0, 1)."
    return (
        Mistake(
            "a reshape without a transpose mixes the rows",
            front,
            ops.SplitWithoutTranspose(n_heads).code(joined),
        ),
        Mistake(
            "the heads are in another order",
            "head 0 takes the first columns.",
            f"{operation.code(joined)}.flip(0)",
        ),
        Mistake(
            "head 0 stands in the place of every head",
            "each head takes the columns after those of the one before.",
            f"{operation.code(joined)}[:1].repeat({n_heads}, 1, 1)",
        ),
        Mistake("the heads are not in front", front, f"{joined}.unflatten(-1, ({n_heads}, -1))"),
        Mistake(
            "a view in the wrong order",
            f"a row of numbers is ({n_heads}, width), the heads first. {front.capitalize()}",
            f"{joined}.unflatten(-1, (-1, {n_heads}))",
        ),
        Mistake(
            "a transpose before the reshape mixes the columns",
            front,
            f"{joined}.mT.reshape({n_heads}, {joined}.shape[0], -1)",
        ),
        Mistake(
            "the columns are dealt out in turn",
            "head 0 takes the first columns, side by side.",
            f"{joined}.unflatten(-1, (-1, {n_heads})).permute(2, 0, 1)",
        ),
    )


@mistakes.register
def _(operation: ops.JoinHeads, heads: str) -> tuple[Mistake, ...]:
    if operation.in_batch:
        return ()
    front = "bring the tokens to the front with transpose(0, 1), then flatten the rest."
    return (
        Mistake(
            "a reshape without a transpose mixes the rows",
            front,
            f"{heads}.reshape({heads}.shape[1], -1)",
        ),
        Mistake(
            "the heads are in another order",
            "the columns of head 0 come first.",
            operation.code(f"{heads}.flip(0)"),
        ),
        Mistake(
            "a transpose of the wrong axes mixes the columns",
            front,
            f"{heads}.mT.reshape({heads}.shape[1], -1)",
        ),
        Mistake("the tokens are not in front", front, f"{heads}.flatten(1)"),
        Mistake(
            "the heads are below one another",
            "they stand side by side, in one row.",
            f"{heads}.flatten(0, 1)",
        ),
        Mistake(
            "the columns of the heads take turns",
            "all columns of head 0 come first.",
            f"{heads}.permute(1, 2, 0).flatten(1)",
        ),
        Mistake("the heads are added", "they stand side by side.", f"{heads}.sum(dim=0)"),
    )


@mistakes.register
def _(operation: ops.RowsOfHeads, matrix: str) -> tuple[Mistake, ...]:
    return (
        Mistake(
            "the rows are dealt out in turn",
            "the first rows meet head 0, side by side.",
            f"{matrix}.unflatten(0, (-1, {operation.n_heads})).transpose(0, 1)",
        ),
        Mistake(
            "the heads are in another order",
            "the first rows meet head 0.",
            f"{operation.code(matrix)}.flip(0)",
        ),
    )


@mistakes.register
def _(_: ops.SumHeads, heads: str) -> tuple[Mistake, ...]:
    return (
        Mistake("a mean in place of a sum", "add the heads.", f"{heads}.mean(dim=0)"),
        Mistake("added over the wrong axis", "the heads are dim=0.", f"{heads}.sum(dim=1)"),
        Mistake("added over the wrong axis", "the heads are dim=0.", f"{heads}.sum(dim=-1)"),
    )
