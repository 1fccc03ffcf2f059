"""Mistakes in splitting and joining heads."""

from .. import operations as ops
from .base import wrong_lines


@wrong_lines.register
def _(operation: ops.SplitHeads, joined: str) -> str:
    if operation.in_batch:
        return ""
    n_heads, right = operation.n_heads, operation.code(joined)
    front = "nflatten the columns first, then bring the heads to the front with transpose(0, 1)."
    return f"""
    u{front}
        {ops.SplitWithoutTranspose(n_heads).code(joined)} \
            # a reshape without a transpose mixes the rows
    head 0 takes the first columns.
        {right}.flip(0)  # the heads are in another order
    each head takes the columns after those of the one before.
        {right}[:1].repeat({n_heads}, 1, 1)  # head 0 stands in the place of every head
    u{front}
        {joined}.unflatten(-1, ({n_heads}, -1))  # the heads are not in front
    a row of numbers is ({n_heads}, width), the heads first. U{front}
        {joined}.unflatten(-1, (-1, {n_heads}))  # a view in the wrong order
    u{front}
        {joined}.mT.reshape({n_heads}, {joined}.shape[0], -1) \
            # a transpose before the reshape mixes the columns
    head 0 takes the first columns, side by side.
        {joined}.unflatten(-1, (-1, {n_heads})).permute(2, 0, 1) \
            # the columns are dealt out in turn"""


@wrong_lines.register
def _(operation: ops.JoinHeads, heads: str) -> str:
    if operation.in_batch:
        return ""
    front = "bring the tokens to the front with transpose(0, 1), then flatten the rest."
    return f"""
    {front}
        {heads}.reshape({heads}.shape[1], -1)  # a reshape without a transpose mixes the rows
    the columns of head 0 come first.
        {operation.code(f"{heads}.flip(0)")}  # the heads are in another order
    {front}
        {heads}.mT.reshape({heads}.shape[1], -1) \
            # a transpose of the wrong axes mixes the columns
        {heads}.flatten(1)  # the tokens are not in front
    they stand side by side, in one row.
        {heads}.flatten(0, 1)  # the heads are below one another
    all columns of head 0 come first.
        {heads}.permute(1, 2, 0).flatten(1)  # the columns of the heads take turns
    they stand side by side.
        {heads}.sum(dim=0)  # the heads are added"""
