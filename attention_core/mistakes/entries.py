"""Mistakes in products, lookups, sums of a row, what is done entry by entry, and what runs along
from tile to tile.
"""

from .. import operations as ops
from .base import wrong_lines


@wrong_lines.register
def _(operation: ops.MatMul, left: str, right: str, *bias: str) -> str:
    plus = "".join(f" + {each}" for each in bias)
    forgotten = cosine = ""
    if operation.transpose:
        product, turned, flipped = f"{left} @ {right}.mT", f"{left} @ {right}", f"{right} @ {left}"
        rule, name = f"rows meet rows here, so write {right}.mT", "the transpose is missing"
        flipped, left_turned = f"{flipped}.mT", "the transpose is on the wrong side"
        units = (f"torch.nn.functional.normalize({each}, dim=-1)" for each in (left, right))
        cosine = f"""
    a dot product counts how long the vectors are: do not divide by their lengths.
        {" @ ".join(units)}.mT{plus}  # the cosine in place of the dot product"""
    else:
        product, turned, flipped = f"{left} @ {right}", f"{left} @ {right}.mT", f"{right} @ {left}"
        rule, name = f"take {right} as it is", "one transpose too many"
        left_turned = f"one transpose too many, on {left}"
    if bias:
        forgotten = f"add {bias[0]} to every row.\n{product}  # the bias is missing"
    return f"""{forgotten}
    {rule}.
        {turned}{plus}  # {name}
    the rows of the result are those of {left}, so {left} stands first.
        {flipped}{plus}  # the wrong order
    each row of {left} makes a row of the result, so leave {left} as it is.
        {left}.mT @ {right}{plus}  # {left_turned}
    * multiplies entries and adds nothing up; a matrix product is @.
        {left} * {right}{plus}  # entry by entry{cosine}"""


@wrong_lines.register
def _(_: ops.MatVec, rows: str, vector: str) -> str:
    return f"""
    a dot product is one number: add the products of each row, or write @.
        {rows} * {vector}  # the products are not added
    add the products.
        ({rows} * {vector}).mean(-1)  # a mean in place of a sum"""


@wrong_lines.register
def _(operation: ops.Multiply, left: str, right: str) -> str:
    if operation.by_row:
        return f"""
    each number of {left} belongs to a whole row: give it an axis, {left}[:, None].
        {left} * {right}  # the weights run along the columns
    write *.
        {left}[:, None] + {right}  # added, not multiplied"""
    return f"""
    write *.
        {left} + {right}  # added, not multiplied
    the entries are only multiplied here, and added in the next step: write *.
        {left} @ {right}.mT  # a matrix product"""


@wrong_lines.register
def _(_: ops.Lookup, table: str, ids: str) -> str:
    words = f"row i is the row of the table that {ids}[i] points at."
    return f"""
    {words}
        {table}[:len({ids})]  # the first rows of the table
    row 0 is the first: take {ids} as they are.
        {table}[{ids} - 1]  # the ids are counted from 1
    take {ids} as they are.
        {table}[{ids} + 1]  # the row after the one that is meant
    {words}
        {table}[{ids}.sort().values]  # the ids are sorted
        {table}[{ids}.unique()]  # each id once
        {table}[:, {ids}]  # columns in place of rows"""


@wrong_lines.register
def _(_: ops.Add, left: str, right: str) -> str:
    return f"""
    add it.
        {left}  # {right} is missing
    write +.
        {left} - {right}  # subtracted, not added
        {left} * {right}  # multiplied, not added"""


@wrong_lines.register
def _(_: ops.Sinusoid) -> str:
    return """
    even columns have a sine, odd ones a cosine.
        torch.where(columns % 2 == 0, angles.cos(), angles.sin()).float() \
            # sine and cosine have changed places
        angles.sin().float()  # sines alone
        angles.cos().float()  # cosines alone
        angles.float()  # the angles themselves"""


@wrong_lines.register
def _(_: ops.SumLast, products: str) -> str:
    return f"""
    add the entries of each row: sum(dim=-1).
        {products}.sum(dim=0)  # added over the wrong axis
        {products}.sum()  # everything is added
        {products}.mean(dim=-1)  # a mean in place of a sum"""


@wrong_lines.register
def _(_: ops.RowSum, scores: str) -> str:
    return f"""
    keep the axis that is added up: keepdim=True.
        {scores}.sum(dim=-1)  # the axis is gone
    add.
        {scores}.mean(dim=-1, keepdim=True)  # a mean in place of a sum
    keep the signs.
        {scores}.abs().sum(-1, keepdim=True)  # the sum of absolute values"""


@wrong_lines.register
def _(_: ops.RowLargest, scores: str) -> str:
    return f"""
    keep the axis: keepdim=True.
        {scores}.amax(dim=-1)  # the axis is gone
    the largest number, with its sign.
        {scores}.amin(dim=-1, keepdim=True)  # the smallest
        {scores}.abs().amax(dim=-1, keepdim=True)  # the largest size
        {scores}.argmax(dim=-1, keepdim=True)  # the place of the largest"""


@wrong_lines.register
def _(_: ops.Subtract, left: str, right: str) -> str:
    return f"""
    take {right} away from {left}.
        {right} - {left}  # the wrong way round
    write -.
        {left} + {right}  # added, not subtracted
    take {right} away from {left}.
        {left}  # nothing is subtracted"""


@wrong_lines.register
def _(_: ops.Divide, scores: str, number: str) -> str:
    return f"""
    divide {scores} by {number}.
        {number} / {scores}  # upside down
    write /.
        {scores} * {number}  # multiplied, not divided
    divide {scores} by {number}.
        {scores}  # not divided"""


@wrong_lines.register
def _(_: ops.Exp, scores: str) -> str:
    return f"""
    take e to the power of each.
        {scores}.exp2()  # powers of 2
    take e to each number as it is.
        (-{scores}).exp()  # one minus sign too many
    take e to the power of each.
        {scores} ** 2  # squares"""


@wrong_lines.register
def _(_: ops.RunningMaximum, before: str, new: str) -> str:
    return f"""
    a maximum never falls: take the larger of {before} and {new}.
        {new}  # the new maximum alone
        {before}  # the old maximum alone
        torch.minimum({before}, {new})  # the smaller of both
        {before} + {new}  # both are added"""


@wrong_lines.register
def _(_: ops.ExpDifference, scores: str, largest: str) -> str:
    return f"""
    take {largest} away first: no exponential is above 1 then.
        {scores}.exp()  # the maximum is not taken away
        ({largest} - {scores}).exp()  # the wrong way round
    take e to the power of the difference.
        {scores} - {largest}  # e is missing"""


@wrong_lines.register
def _(_: ops.Rescale, before: str, now: str) -> str:
    return f"""
    it is e to the old maximum, {before}, less the new one, {now}: at most 1.
        ({now} - {before}).exp()  # the shrink factor is upside down
        {before} - {now}  # e is missing
        torch.ones_like({now})  # nothing shrinks
        {before} / {now}  # one maximum divided by the other"""


@wrong_lines.register
def _(_: ops.RescaleAndAdd, before: str, shrink: str, new: str) -> str:
    return f"""
    {before} was measured from the old maximum: multiply it by {shrink} first.
        {before} + {new}  # {before} is not shrunk
        {before} / {shrink} + {new}  # the shrink factor is upside down
    {new} is measured from the new maximum already: shrink {before} alone.
        ({before} + {new}) * {shrink}  # what is new shrinks too
    shrink {before}, and leave {new} as it is.
        {before} + {new} * {shrink}  # what is new shrinks instead
    add {new} to it.
        {new}  # what was there is forgotten
    add what the tile brings.
        {before} * {shrink}  # {new} is missing"""


@wrong_lines.register
def _(_: ops.Square, numbers: str) -> str:
    return f"""
    multiply each number by itself.
        {numbers}.abs()  # the size in place of the square
        2 * {numbers}  # doubled, not squared"""
