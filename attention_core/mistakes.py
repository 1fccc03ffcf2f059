"""The mistakes that learners make in a step, each with the line that makes it.

A mistake belongs to an operation: whatever trace has the operation, its exercise can name them.
"""

import math
from functools import singledispatch
from typing import NamedTuple

from . import operations as ops


class Mistake(NamedTuple):
    """A mistake of one step."""

    name: str
    words: str
    """What to do about it, in one sentence. Never holds a person's text."""
    line: str
    """The PyTorch expression that makes it, from the names of the operands."""


def is_mistake(operation: ops.Operation) -> bool:
    """Whether an operation is itself a mistake, kept in a trace to be shown."""
    match operation:
        case ops.Softmax():
            return operation.dim != -1
        case ops.Scale():
            return not operation.root
        case ops.Hide():
            return operation.fill != -math.inf
        case ops.LayerNorm():
            return operation.whole
    return isinstance(operation, ops.SplitWithoutTranspose)


@singledispatch
def mistakes(operation: ops.Operation, *names: str) -> tuple[Mistake, ...]:  # noqa: ARG001
    """What may go wrong where this operation is applied to the tensors of these names.

    None for an operation that only prepares something: it is given in an exercise, not asked for.
    """
    return ()


# --- products -------------------------------------------------------------------------------------


@mistakes.register
def _(operation: ops.MatMul, left: str, right: str, *bias: str) -> tuple[Mistake, ...]:
    plus = "".join(f" + {each}" for each in bias)
    if operation.transpose:
        turned, rule = f"{left} @ {right}", f"rows meet rows here, so write {right}.mT"
        name, flipped = "the transpose is missing", f"{right} @ {left}.mT"
    else:
        turned, rule = f"{left} @ {right}.mT", f"take {right} as it is"
        name, flipped = "a transpose too many", f"{right} @ {left}"
    found = (
        Mistake(name, f"{rule}.", turned + plus),
        Mistake(
            "the wrong order",
            f"the rows of the result are those of {left}, so {left} stands first.",
            flipped + plus,
        ),
        Mistake(
            "the transpose is on the wrong side",
            f"the rows of {left} are what is combined, so leave {left} as it is.",
            f"{left}.mT @ {right}{plus}",
        ),
        Mistake(
            "entry by entry",
            "* multiplies entries and adds nothing up; a matrix product is @.",
            f"{left} * {right}{plus}",
        ),
    )
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


# --- scores to weights ----------------------------------------------------------------------------


@mistakes.register
def _(operation: ops.Scale, scores: str) -> tuple[Mistake, ...]:
    width = operation.width
    root = f"divide by the square root of the width, {width} ** 0.5."
    return (
        Mistake("√d is missing", root, scores),
        Mistake("d in place of √d", root, f"{scores} / {width}"),
        Mistake("multiplied by √d", root, f"{scores} * {width} ** 0.5"),
        Mistake(
            "the root of the number of keys",
            f"d is the width of a vector, {width}, not how many there are.",
            f"{scores} / {scores}.shape[-1] ** 0.5",
        ),
    )


@mistakes.register
def _(operation: ops.Softmax, scores: str) -> tuple[Mistake, ...]:
    rows = "the weights of a row sum to 1: write dim=-1."
    found = (
        Mistake("softmax over the wrong axis", rows, type(operation)(-2).code(scores)),
        Mistake("softmax over the wrong axis, the heads", rows, type(operation)(-3).code(scores)),
        Mistake(
            "divided by the sum, without exponentials",
            "a softmax takes e to each score first.",
            ops.SumNormalise().code(scores),
        ),
        Mistake(
            "the exponentials are not divided by their sum",
            "divide each by the sum of its row, or write softmax.",
            f"{scores}.exp()",
        ),
        Mistake("the logarithm of softmax", "write softmax.", f"{scores}.log_softmax(dim=-1)"),
    )
    if not isinstance(operation, ops.SoftmaxOfSeen):
        return found
    plain = Mistake(
        "0/0 in a row that sees nothing",
        "where every key is hidden, softmax gives nan; the lesson has 0 there.",
        f"{scores}.softmax(dim=-1)",
    )
    return (*found, Mistake(found[0].name, rows, f"{scores}.softmax(dim=-2)"), plain)


@mistakes.register
def _(_: ops.SumNormalise, scores: str) -> tuple[Mistake, ...]:
    return (
        Mistake(
            "divided by the sum over the wrong axis",
            "the numbers of a row sum to 1: add along dim=-1.",
            f"{scores} / {scores}.sum(dim=-2, keepdim=True)",
        ),
        Mistake(
            "each column divided by a row's sum",
            "keep the axis that is added up: keepdim=True.",
            f"{scores} / {scores}.sum(dim=-1)",
        ),
        Mistake(
            "divided by the sum of all rows",
            "each row has a sum of its own: write dim=-1, keepdim=True.",
            f"{scores} / {scores}.sum()",
        ),
        Mistake("a softmax", "no exponentials here.", f"{scores}.softmax(dim=-1)"),
    )


@mistakes.register
def _(_: ops.UnitRows, vectors: str) -> tuple[Mistake, ...]:
    words = "the length is the root of the sum of the squares, along dim=-1."
    return (
        Mistake("the wrong axis", words, f"{vectors} / {vectors}.norm(dim=0, keepdim=True)"),
        Mistake(
            "divided by the squared length",
            words,
            f"{vectors} / {vectors}.square().sum(dim=-1, keepdim=True)",
        ),
        Mistake("divided by the sum", words, f"{vectors} / {vectors}.sum(dim=-1, keepdim=True)"),
    )


# --- masks ----------------------------------------------------------------------------------------


@mistakes.register
def _(operation: ops.MayLook) -> tuple[Mistake, ...]:
    code = operation.code()
    table = f"torch.ones({operation.n_queries}, {operation.n_keys}, dtype=torch.bool)"
    turned = "True means that the query may look, as in scaled_dot_product_attention."
    side = "queries are rows and keys are columns, so the future lies right of the diagonal."
    return (
        Mistake("the mask is on the wrong side", side, f"({code}).mT"),
        Mistake("the opposite convention", turned, f"~({code})"),
        Mistake("the wrong side, and the opposite convention", turned, f"~({code}).mT"),
        Mistake("a token cannot see itself", "keep the diagonal.", f"{table}.tril(-1)"),
        Mistake("the diagonal alone", "earlier keys may be seen too.", f"{table}.tril().triu()"),
        Mistake("nothing is hidden", "hide what the rule hides.", table),
    )


@mistakes.register
def _(_: ops.Hide, scores: str, mask: str) -> tuple[Mistake, ...]:
    infinite = 'softmax gives a score of 0 some weight, and only float("-inf") none.'
    may = f"{mask} is True where a query may look, so hide where it is not: ~{mask}."
    minus = 'float("-inf")'
    return (
        Mistake("0 in place of −∞", infinite, ops.Hide(0.0).code(scores, mask)),
        Mistake("the opposite convention", may, f"{scores}.masked_fill({mask}, {minus})"),
        Mistake("the mask is on the wrong side", may, f"{scores}.masked_fill(~{mask}.mT, {minus})"),
        Mistake(
            "the mask is on the wrong side, the opposite convention",
            may,
            f"{scores}.masked_fill({mask}.mT, {minus})",
        ),
        Mistake("0 in place of −∞, the opposite convention", may, f"{scores} * ~{mask}"),
        Mistake("+∞ in place of −∞", infinite, f'{scores}.masked_fill(~{mask}, float("inf"))'),
        *(
            Mistake(
                f"a finite number, {fill}, in place of −∞",
                'it leaves no weight only while the scores are small: write float("-inf").',
                f"{scores}.masked_fill(~{mask}, {fill})",
            )
            for fill in ("-1e9", "-1e4", "torch.finfo(torch.float32).min")
        ),
    )


# --- heads ----------------------------------------------------------------------------------------


@mistakes.register
def _(operation: ops.SplitHeads, joined: str) -> tuple[Mistake, ...]:
    n_heads = operation.n_heads
    front = "unflatten the columns first, then bring the heads to the front with transpose(0, 1)."
    return (
        Mistake(
            "a reshape without a transpose mixes the rows",
            front,
            ops.SplitWithoutTranspose(n_heads).code(joined),
        ),
        Mistake("the heads are not in front", front, f"{joined}.unflatten(-1, ({n_heads}, -1))"),
        Mistake(
            "the columns are dealt out in turn",
            "head 0 takes the first columns, side by side.",
            f"{joined}.unflatten(-1, (-1, {n_heads})).permute(2, 0, 1)",
        ),
    )


@mistakes.register
def _(_: ops.JoinHeads, heads: str) -> tuple[Mistake, ...]:
    front = "bring the tokens to the front with transpose(0, 1), then flatten the rest."
    return (
        Mistake(
            "a reshape without a transpose mixes the rows",
            front,
            f"{heads}.reshape({heads}.shape[1], -1)",
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
    )


@mistakes.register
def _(_: ops.SumHeads, heads: str) -> tuple[Mistake, ...]:
    return (
        Mistake("a mean in place of a sum", "add the heads.", f"{heads}.mean(dim=0)"),
        Mistake("added over the wrong axis", "the heads are dim=0.", f"{heads}.sum(dim=1)"),
        Mistake("added over the wrong axis", "the heads are dim=0.", f"{heads}.sum(dim=-1)"),
    )


# --- entries and rows -----------------------------------------------------------------------------


@mistakes.register
def _(_: ops.Lookup, table: str, ids: str) -> tuple[Mistake, ...]:
    words = f"row i is the row of the table that {ids}[i] points at."
    return (
        Mistake("the first rows of the table", words, f"{table}[:len({ids})]"),
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
    swapped = "torch.where(columns % 2 == 0, angles.cos(), angles.sin())"
    return (
        Mistake("sine and cosine have changed places", words, swapped),
        Mistake("sines alone", words, "angles.sin()"),
        Mistake("cosines alone", words, "angles.cos()"),
        Mistake("the angles themselves", words, "angles * 1.0"),
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
    )


@mistakes.register
def _(_: ops.Divide, scores: str, number: str) -> tuple[Mistake, ...]:
    return (
        Mistake("upside down", f"divide {scores} by {number}.", f"{number} / {scores}"),
        Mistake("multiplied, not divided", "write /.", f"{scores} * {number}"),
    )


@mistakes.register
def _(_: ops.Exp, scores: str) -> tuple[Mistake, ...]:
    return (
        Mistake("powers of 2", "take e to the power of each.", f"{scores}.exp2()"),
        Mistake("minus too many", "take e to each number as it is.", f"(-{scores}).exp()"),
        Mistake("squares", "take e to the power of each.", f"{scores} ** 2"),
    )


@mistakes.register
def _(_: ops.LayerNorm, vectors: str) -> tuple[Mistake, ...]:
    rows = "each row is normalised alone."
    return (
        Mistake("the whole matrix at once", rows, ops.LayerNorm(whole=True).code(vectors)),
        Mistake("the wrong axis", rows, ops.LayerNorm().code(f"{vectors}.mT") + ".mT"),
    )


@mistakes.register
def _(_: ops.ReLU, vectors: str) -> tuple[Mistake, ...]:
    return (Mistake("absolute values", "negative numbers become 0.", f"{vectors}.abs()"),)
