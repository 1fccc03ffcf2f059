"""Why a term is 0, followed upstream to a mask, a draw, a one-hot row, a score of −∞."""

import math
from collections.abc import Sequence

from ..expression import (
    Called,
    Cell,
    Difference,
    Exponential,
    Expression,
    Hidden,
    Indicator,
    Number,
    OutOfRange,
    Picked,
    Product,
    Quotient,
    Seen,
    Share,
)
from ..trace import Step
from .plain_text import plain_text

ONE_HOT, SMALL, INFINITE = "one-hot", "too small a number: rounded to 0", "a score of −∞"
MASKED = "hidden by the mask"


def why_term(step: Step, term: Expression) -> str | None:
    """Why a term is 0, or None where it is not."""
    if term.value != 0:
        return None
    if isinstance(term, Exponential):
        return why(step, term.score) if term.score.value == -math.inf else SMALL
    factors: Sequence[Expression] = term.parts if isinstance(term, Product) else (term,)
    for factor in factors:
        if factor.value == 0 and (reason := why(step, factor)):
            return reason
    return ""


def why(step: Step, expression: Expression) -> str:
    """Why an expression of this step's arithmetic is 0 or −∞: followed upstream; '' if unknown."""
    if isinstance(expression, Cell):
        source = next((each for each in step.inputs if each.name == expression.step), None)
        if source is None:
            return ""
        made = source.arithmetic(expression.index)
        if made.value != 0 and expression.value == 0:
            return SMALL
        return why(source, made)
    if isinstance(expression, OutOfRange):
        return SMALL
    if isinstance(expression, Hidden):
        return plain_text(expression.reason)
    if isinstance(expression, Indicator):
        return ONE_HOT
    if isinstance(expression, Exponential):
        return why(step, expression.score) if expression.score.value == -math.inf else SMALL
    if isinstance(expression, Share):
        return why(step, expression.parts[expression.picked])
    if isinstance(expression, Number):
        return INFINITE if expression.value == -math.inf else ""
    if isinstance(expression, Seen | Picked):
        return why(step, expression.chosen)
    if isinstance(expression, Quotient):
        return why(step, expression.top)
    if isinstance(expression, Called):
        return why(step, expression.argument)
    if isinstance(expression, Difference) and expression.left.value == -math.inf:
        return why(step, expression.left)
    return ""
