"""Mistakes on the way from scores to weights: dividing, softmax, hiding."""

from .. import operations as ops
from .base import Mistake, mistakes


@mistakes.register
def _(operation: ops.Scale, scores: str) -> tuple[Mistake, ...]:
    width = operation.width
    root = f"divide by the square root of the width, {width} ** 0.5."
    return (
        Mistake("√d is missing", root, scores),
        Mistake("d in place of √d, or divided by √d twice", root, f"{scores} / {width}"),
        Mistake("multiplied by √d", root, f"{scores} * {width} ** 0.5"),
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
        Mistake(
            "the sum has lost its axis",
            "each row has a sum of its own: write sum(dim=-1, keepdim=True).",
            f"{scores}.exp() / {scores}.exp().sum(dim=-1)",
        ),
        Mistake(
            "softmax over all entries", rows, f"{scores}.flatten().softmax(dim=0).view_as({scores})"
        ),
        Mistake(
            "softmax over all entries of a head",
            rows,
            f"{scores}.flatten(-2).softmax(dim=-1).view_as({scores})",
        ),
        Mistake(
            "one minus sign too many",
            f"the largest score gets the largest weight: take {scores} as they are.",
            f"(-{scores}).softmax(dim=-1)",
        ),
        Mistake("the logarithm of softmax", "write softmax.", f"{scores}.log_softmax(dim=-1)"),
    )
    overflow = Mistake(
        "e to large scores overflows",
        "take the row's largest score away from each first, or write softmax.",
        f"{scores}.exp() / {scores}.exp().sum(dim=-1, keepdim=True)",
    )
    if not isinstance(operation, ops.SoftmaxOfSeen):
        return (*found, overflow)
    plain = Mistake(
        "0/0 in a row that sees nothing",
        "where every key is hidden, softmax gives nan; the lesson has 0 there.",
        f"{scores}.softmax(dim=-1)",
    )
    return (*found, Mistake(found[0].name, rows, f"{scores}.softmax(dim=-2)"), plain, overflow)


@mistakes.register
def _(_: ops.SumNormalise, scores: str) -> tuple[Mistake, ...]:
    return (
        Mistake(
            "divided by the sum over the wrong axis",
            "each row has a sum of its own: write sum(dim=-1, keepdim=True).",
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


@mistakes.register
def _(operation: ops.MayLook) -> tuple[Mistake, ...]:
    code = operation.code()
    table = f"torch.ones({operation.n_queries}, {operation.n_keys}, dtype=torch.bool)"
    turned = "True means that the query may look, as in scaled_dot_product_attention."
    side = "queries are rows and keys are columns, so the future lies right of the diagonal."
    return (
        Mistake("the mask is on the wrong side", side, f"({code}).mT"),
        Mistake("the opposite convention", turned, f"~({code})"),
        Mistake("a token cannot see itself", "keep the diagonal.", f"{table}.tril(-1)"),
        Mistake("the wrong side, and the opposite convention", turned, f"~({code}).mT"),
        Mistake(
            "one key of the future is seen",
            "tril() keeps the diagonal and what lies left of it, tril(1) one key more.",
            f"{table}.tril(1)",
        ),
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
        Mistake(
            "the diagonal is hidden too",
            "a token may see itself: triu(1) begins right of the diagonal, triu() on it.",
            f"{scores}.masked_fill(~{mask} | torch.eye(len({mask})).bool(), {minus})",
        ),
        Mistake("the opposite convention", may, f"{scores}.masked_fill({mask}, {minus})"),
        Mistake("the mask is on the wrong side", may, f"{scores}.masked_fill(~{mask}.mT, {minus})"),
        Mistake(
            "the mask is on the wrong side, the opposite convention",
            may,
            f"{scores}.masked_fill({mask}.mT, {minus})",
        ),
        Mistake("0 in place of −∞, the opposite convention", may, f"{scores} * ~{mask}"),
        Mistake(
            "+∞ in place of −∞",
            'softmax turns plus infinity into nan: write float("-inf"), with a minus.',
            f'{scores}.masked_fill(~{mask}, float("inf"))',
        ),
        Mistake("nothing is hidden", may, scores),
        Mistake(
            "the mask is added as 1 and 0",
            f"that moves a score by 1 and hides nothing: hide where {mask} is False.",
            f"{scores} + {mask}.float()",
        ),
        Mistake(
            "0 · ∞ is nan",
            f"where {mask} is True this multiplies 0 by ∞: choose with masked_fill or torch.where.",
            f'{scores} - float("inf") * ~{mask}',
        ),
        *(
            Mistake(
                f"a finite number, {fill}, in place of −∞",
                'it leaves no weight only while the scores are small: write float("-inf").',
                f"{scores}.masked_fill(~{mask}, {fill})",
            )
            for fill in ("-1e9", "-1e4", "torch.finfo(torch.float32).min")
        ),
    )
