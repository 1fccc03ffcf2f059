"""Mistakes in matrix products and in products of entries."""

from .. import operations as ops
from .base import Mistake, mistakes


@mistakes.register
def _(operation: ops.MatMul, left: str, right: str, *bias: str) -> tuple[Mistake, ...]:
    plus = "".join(f" + {each}" for each in bias)
    if operation.transpose:
        turned, rule = f"{left} @ {right}", f"rows meet rows here, so write {right}.mT"
        name, flipped = "the transpose is missing", f"{right} @ {left}.mT"
    else:
        turned, rule = f"{left} @ {right}.mT", f"take {right} as it is"
        name, flipped = "one transpose too many", f"{right} @ {left}"
    found = (
        Mistake(name, f"{rule}.", turned + plus),
        Mistake(
            "the wrong order",
            f"the rows of the result are those of {left}, so {left} stands first.",
            flipped + plus,
        ),
        Mistake(
            "the transpose is on the wrong side"
            if operation.transpose
            else f"one transpose too many, on {left}",
            f"each row of {left} makes a row of the result, so leave {left} as it is.",
            f"{left}.mT @ {right}{plus}",
        ),
        Mistake(
            "entry by entry",
            "* multiplies entries and adds nothing up; a matrix product is @.",
            f"{left} * {right}{plus}",
        ),
    )
    if operation.transpose:
        units = (f"torch.nn.functional.normalize({each}, dim=-1)" for each in (left, right))
        cosine = Mistake(
            "the cosine in place of the dot product",
            "a dot product counts how long the vectors are: do not divide by their lengths.",
            " @ ".join(units) + f".mT{plus}",
        )
        found = (*found, cosine)
    if not bias:
        return found
    product = f"{left} @ {right}.mT" if operation.transpose else f"{left} @ {right}"
    forgotten = Mistake("the bias is missing", f"add {bias[0]} to every row.", product)
    return (forgotten, *found)


@mistakes.register
def _(_: ops.MatVec, rows: str, vector: str) -> tuple[Mistake, ...]:
    return (
        Mistake(
            "the products are not added",
            "a dot product is one number: add the products of each row, or write @.",
            f"{rows} * {vector}",
        ),
        Mistake("a mean in place of a sum", "add the products.", f"({rows} * {vector}).mean(-1)"),
    )


@mistakes.register
def _(operation: ops.Multiply, left: str, right: str) -> tuple[Mistake, ...]:
    if operation.by_row:
        words = f"each number of {left} belongs to a whole row: give it an axis, {left}[:, None]."
        return (
            Mistake("the weights run along the columns", words, f"{left} * {right}"),
            Mistake("added, not multiplied", "write *.", f"{left}[:, None] + {right}"),
        )
    return (
        Mistake("added, not multiplied", "write *.", f"{left} + {right}"),
        Mistake(
            "a matrix product",
            "the entries are only multiplied here, and added in the next step: write *.",
            f"{left} @ {right}.mT",
        ),
    )
