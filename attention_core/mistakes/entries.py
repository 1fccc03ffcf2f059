"""Mistakes in products, and those of every operation whose wrong lines need no code: lookups, sums
of a row, what is done entry by entry, what runs along from tile to tile.
"""

from .. import operations as ops
from .base import plain, wrong_lines


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


plain(
    """
MatVec
    a dot product is one number: add the products of each row, or write @.
        {0} * {1}  # the products are not added
    add the products.
        ({0} * {1}).mean(-1)  # a mean in place of a sum

Lookup
    row i is the row of the table that {1}[i] points at.
        {0}[:len({1})]  # the first rows of the table
    row 0 is the first: take {1} as they are.
        {0}[{1} - 1]  # the ids are counted from 1
    take {1} as they are.
        {0}[{1} + 1]  # the row after the one that is meant
    row i is the row of the table that {1}[i] points at.
        {0}[{1}.sort().values]  # the ids are sorted
        {0}[{1}.unique()]  # each id once
        {0}[:, {1}]  # columns in place of rows

Add
    add it.
        {0}  # {1} is missing
    write +.
        {0} - {1}  # subtracted, not added
        {0} * {1}  # multiplied, not added

Sinusoid
    even columns have a sine, odd ones a cosine.
        torch.where(columns % 2 == 0, angles.cos(), angles.sin()).float() \
            # sine and cosine have changed places
        angles.sin().float()  # sines alone
        angles.cos().float()  # cosines alone
        angles.float()  # the angles themselves

SumLast
    add the entries of each row: sum(dim=-1).
        {0}.sum(dim=0)  # added over the wrong axis
        {0}.sum()  # everything is added
        {0}.mean(dim=-1)  # a mean in place of a sum

RowSum
    keep the axis that is added up: keepdim=True.
        {0}.sum(dim=-1)  # the axis is gone
    add.
        {0}.mean(dim=-1, keepdim=True)  # a mean in place of a sum
    keep the signs.
        {0}.abs().sum(-1, keepdim=True)  # the sum of absolute values

RowLargest
    keep the axis: keepdim=True.
        {0}.amax(dim=-1)  # the axis is gone
    the largest number, with its sign.
        {0}.amin(dim=-1, keepdim=True)  # the smallest
        {0}.abs().amax(dim=-1, keepdim=True)  # the largest size
        {0}.argmax(dim=-1, keepdim=True)  # the place of the largest

Subtract
    take {1} away from {0}.
        {1} - {0}  # the wrong way round
    write -.
        {0} + {1}  # added, not subtracted
    take {1} away from {0}.
        {0}  # nothing is subtracted

Divide
    divide {0} by {1}.
        {1} / {0}  # upside down
    write /.
        {0} * {1}  # multiplied, not divided
    divide {0} by {1}.
        {0}  # not divided

Exp
    take e to the power of each.
        {0}.exp2()  # powers of 2
    take e to each number as it is.
        (-{0}).exp()  # one minus sign too many
    take e to the power of each.
        {0} ** 2  # squares

RunningMaximum
    a maximum never falls: take the larger of {0} and {1}.
        {1}  # the new maximum alone
        {0}  # the old maximum alone
        torch.minimum({0}, {1})  # the smaller of both
        {0} + {1}  # both are added

ExpDifference
    take {1} away first: no exponential is above 1 then.
        {0}.exp()  # the maximum is not taken away
        ({1} - {0}).exp()  # the wrong way round
    take e to the power of the difference.
        {0} - {1}  # e is missing

Rescale
    it is e to the old maximum, {0}, less the new one, {1}: at most 1.
        ({1} - {0}).exp()  # the shrink factor is upside down
        {0} - {1}  # e is missing
        torch.ones_like({1})  # nothing shrinks
        {0} / {1}  # one maximum divided by the other

RescaleAndAdd
    {0} was measured from the old maximum: multiply it by {1} first.
        {0} + {2}  # {0} is not shrunk
        {0} / {1} + {2}  # the shrink factor is upside down
    {2} is measured from the new maximum already: shrink {0} alone.
        ({0} + {2}) * {1}  # what is new shrinks too
    shrink {0}, and leave {2} as it is.
        {0} + {2} * {1}  # what is new shrinks instead
    add {2} to it.
        {2}  # what was there is forgotten
    add what the tile brings.
        {0} * {1}  # {2} is missing

Square
    multiply each number by itself.
        {0}.abs()  # the size in place of the square
        2 * {0}  # doubled, not squared

Scale
    divide by the square root of the width, {self.width} ** 0.5.
        {0}  # √d is missing
        {0} / {self.width}  # d in place of √d, or divided by √d twice
        {0} * {self.width} ** 0.5  # multiplied by √d

SumNormalise
    each row has a sum of its own: write sum(dim=-1, keepdim=True).
        {0} / {0}.sum(dim=-2, keepdim=True) \
            # divided by the sum over the wrong axis
    keep the axis that is added up: keepdim=True.
        {0} / {0}.sum(dim=-1)  # each column divided by a row's sum
    each row has a sum of its own: write dim=-1, keepdim=True.
        {0} / {0}.sum()  # divided by the sum of all rows
    no exponentials here.
        {0}.softmax(dim=-1)  # a softmax

L2Normalize
    the length is the root of the sum of the squares, along dim=-1.
        {0} / {0}.norm(dim=0, keepdim=True)  # the wrong axis
        {0} / {0}.square().sum(dim=-1, keepdim=True)  # divided by the squared length
        {0} / {0}.sum(dim=-1, keepdim=True)  # divided by the sum

RowsOfHeads
    the first rows meet head 0, side by side.
        {0}.unflatten(0, (-1, {self.n_heads})).transpose(0, 1) \
            # the rows are dealt out in turn
    the first rows meet head 0.
        {code}.flip(0)  # the heads are in another order

SumHeads
    add the heads.
        {0}.mean(dim=0)  # a mean in place of a sum
    the heads are dim=0.
        {0}.sum(dim=1)  # added over the wrong axis
        {0}.sum(dim=-1)  # added over the wrong axis

RowMean
    each row by itself: dim=-1, keepdim=True.
        {0}.mean()  # one mean of the whole matrix
        {0}.mean(-2, keepdim=True)  # over the tokens, not over the entries
    keep it: keepdim=True.
        {0}.mean(dim=-1)  # the axis is gone
    take the mean.
        {0}.sum(-1, keepdim=True)  # a sum in place of a mean

RowVariance
    layer norm divides by d, all entries: correction=0.
        {0}.var(dim=-1, keepdim=True)  # divided by d − 1
    each row by itself: dim=-1, keepdim=True.
        {0}.var(correction=0)  # one variance of the whole matrix
        {0}.var(-2, correction=0, keepdim=True)  # over the tokens, not over the entries
    the root comes in the next step.
        {0}.std(-1, correction=0, keepdim=True)  # the standard deviation
    take {1} away before you square.
        {0}.square().mean(-1, keepdim=True)  # the mean is still in it
    square them: else those below the mean and those above it cancel.
        ({0} - {1}).mean(-1, keepdim=True)  # distances that are not squared
    take the mean of the squares.
        ({0} - {1}).square().sum(-1, keepdim=True)  # added, not averaged

MeanHeads
    the first {self.times} heads make the first one: unflatten(0, (-1, {self.times})).
        {0}.unflatten(0, ({self.times}, -1)).mean(dim=0)  # heads that do not follow each other
    divide by {self.times}.
        {0}.unflatten(0, (-1, {self.times})).sum(dim=1)  # a sum in place of a mean
    take the mean of all heads of the group.
        {0}[::{self.times}]  # the first head of each group

TransposedMatMul
    each row of {0} meets the same row of {1}: write {0}.mT @ {1}.
        ({0}.mT @ {1}).mT  # the result is transposed
        {0} @ {1}  # the transpose is missing
    the gradients of all rows are added, and not averaged.
        {0}.mT @ {1} / {0}.shape[-2]  # a mean over the rows in place of a sum

SumFirst
    add, and do not average.
        {0}.mean(dim=0)  # a mean in place of a sum
    add over the first axis: dim=0.
        {0}.sum(dim=-1)  # added over the wrong axis

MaskGradient
    not asked for: a weight of 0 has let nothing through already.

CrossEntropy
    take the logarithm of the probability of the target, with a minus.
        {0}.softmax(dim=-1)[torch.arange(len({1})), {1}]  # the probability itself
        {0}.softmax(dim=-1).log()[torch.arange(len({1})), {1}]  # the minus is missing
        -{0}[torch.arange(len({1})), {1}] \
            # the logit in place of the logarithm of its share

Mean
    divide by how many there are.
        {0}.sum()  # a sum in place of a mean"""
)
