"""What the arithmetic of a cell does not show at a glance, in words: terms that are 0, and why."""

import math
from collections import Counter

from ..expression import (
    Cell,
    Exponential,
    Expression,
    Hidden,
    Indicator,
    Picked,
    Product,
    Quotient,
    Seen,
    Share,
    Sum,
)
from ..trace import Step
from .plain_text import plain_text
from .reasons import MASKED, ONE_HOT, SMALL, why, why_term


def remarks(step: Step, index: tuple[int, ...], arithmetic: Expression | None = None) -> list[str]:
    """Sentences about the cell at `index`, in Markdown without any of the learner's text. Its
    `arithmetic` may be known.
    """
    arithmetic = arithmetic or step.arithmetic(index)
    if isinstance(arithmetic, Sum) and len(arithmetic.parts) > 1:
        return _of_sum(step, arithmetic)
    if isinstance(arithmetic, Product):
        return _of_product(step, arithmetic)
    if isinstance(arithmetic, Share):
        return _of_share(step, arithmetic)
    if isinstance(arithmetic, Quotient) and arithmetic.top.value == 0 == arithmetic.value:
        return [f"0 divided by any other number is 0{_because(why(step, arithmetic.top), 1)}."]
    if isinstance(arithmetic, Picked):
        row = f"row {arithmetic.chosen.index[0]} of `{arithmetic.chosen.step}`"
        return [f"A lookup: the id picks {row}. Nothing is multiplied or added."]
    if isinstance(arithmetic, Indicator):
        id = int(arithmetic.pointer.value)
        if arithmetic.value:
            return [f"The id is {id}, and this is column {id}: the single 1 of its row."]
        return [f"The id is {id}, not {arithmetic.id}: all columns but column {id} hold 0."]
    if isinstance(arithmetic, Hidden):
        instead = f"{arithmetic.value:g} stands in its place."
        if arithmetic.value == -math.inf:
            instead = "−∞ stands in its place, and softmax turns that into exactly 0."
        return [f"Nothing is computed here ({plain_text(arithmetic.reason)}): {instead}"]
    if isinstance(arithmetic, Seen) and isinstance(arithmetic.chosen, Cell):
        return [f"`{arithmetic.because}` is true, so the number is copied as it is."]
    return []


def zero_terms(step: Step, arithmetic: Expression) -> list[str | None]:
    """For each term: None where it counts, else why it adds nothing ('' if nobody knows)."""
    return [why_term(step, term) for term in arithmetic.terms]


def _of_sum(step: Step, arithmetic: Sum) -> list[str]:
    reasons = zero_terms(step, arithmetic)
    n_terms, left = len(reasons), [at for at, reason in enumerate(reasons) if reason is None]
    if len(left) == n_terms:
        return []
    products = all(isinstance(term, Product) for term in arithmetic.terms)
    copied = _copied(arithmetic.terms[left[0]]) if len(left) == 1 else None
    if copied is not None and set(reasons) <= {None, ONE_HOT}:
        picked = _place(arithmetic, copied)
        return [f"A one-hot row: only one term is not 0, so this picks {picked}."]
    if not left and len(set(reasons)) > 1 and not products:
        return [f"All {n_terms} terms are 0."]
    noun, are = ("products", "times 0") if products else ("terms", "0")
    said = [_counted(count, n_terms, noun, are, reason) for reason, count in _tallied(reasons)]
    if copied is not None:
        said.append(f"What is left is 1 times `{copied}`: a copy.")
    return said


def _of_product(step: Step, arithmetic: Product) -> list[str]:
    reason = why_term(step, arithmetic)
    if reason is None:
        return []
    return [f"One factor is 0, so the product is 0, whatever the other is{_because(reason, 1)}."]


def _of_share(step: Step, arithmetic: Share) -> list[str]:
    reasons = zero_terms(step, arithmetic)
    n_terms, seen = len(reasons), reasons.count(None)
    if seen == n_terms:
        return []
    what = "e to the −∞, exactly 0" if isinstance(arithmetic.parts[0], Exponential) else "0"
    said = []
    for reason, count in _tallied(reasons):
        exactly = 0 if reason == SMALL else what
        said.append(_counted(count, n_terms, "terms of the sum", exactly, reason))
    if reasons[arithmetic.picked] is not None:
        said.append("This cell is one of them, so its share is 0.")
    elif seen == 1 and arithmetic.value == 1:
        said.append("No other term is left, so this cell gets all: 1.")
    return said


def _tallied(reasons: list[str | None]) -> list[tuple[str, int]]:
    """How many terms are 0 for each reason, in the order of the terms."""
    return list(Counter(reason for reason in reasons if reason is not None).items())


def _counted(count: int, total: int, noun: str, what: object, reason: str) -> str:
    """Such as `3 of the 6 products are times 0: the mask hides their keys.`"""
    many = f"All {total}" if count == total else f"{count} of the {total}"
    return f"{many} {noun} {'is' if count == 1 else 'are'} {what}{_because(reason, count)}."


def _because(reason: str, count: int) -> str:
    if reason == MASKED:
        return ": the mask hides " + ("its key" if count == 1 else "their keys")
    if reason == ONE_HOT:
        return ": in a one-hot row all entries but one are"
    return f" ({reason})" if reason else ""


def _copied(term: Expression) -> Cell | None:
    """The other factor of 1 times something."""
    if isinstance(term, Product) and len(term.parts) == 2:
        left, right = term.parts
        for one, other in ((left, right), (right, left)):
            if one.value == 1 and isinstance(other, Cell):
                return other
    return None


def _place(arithmetic: Sum, cell: Cell) -> str:
    """The row (or column) that a sum picks, from where its terms' factors differ."""
    others = [part for term in arithmetic.terms for part in term.cells() if part.step == cell.step]
    columns = zip(*(each.index for each in others), strict=True)
    moving = [at for at, places in enumerate(columns) if len(set(places)) > 1]
    if len(cell.index) == 2 and len(moving) == 1:
        return f"{('row', 'column')[moving[0]]} {cell.index[moving[0]]} of `{cell.step}`"
    return f"`{cell}`"
