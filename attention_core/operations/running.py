"""What a softmax keeps while it goes through its keys tile by tile: a maximum, a sum, an output.

Source: Milakov & Gimelshein 2018, Online normalizer calculation for softmax, section 3.
"""

import math
from functools import partial

import torch
from torch import Tensor

from ..expression import Called, Difference, Expression, Hidden, Largest, Product, Sum
from .base import Backward, Operation, matched
from .declared import as_it_is, computed, entrywise, gradients, times
from .entrywise import _power
from .rowwise import Divide

NOTHING_SEEN = r"\text{nothing seen so far}"


class RunningMaximum(Operation):
    """The larger of two entries at the same place: a maximum that goes on. (…), (…) → (…)"""

    takes = "(…) (…)"
    signs = ("", "max", "=")
    in_latex = r"\max\!\left({0},\ {1}\right)"
    in_torch = "torch.maximum({0}, {1})"
    in_words = "The larger of two: the maximum so far, and that of the new numbers."
    value = computed(torch.maximum)
    arithmetic = entrywise(lambda *both: Largest(both, compared=True))

    def backward(self, back: Backward) -> None:
        before, new = back.inputs
        for at, both in enumerate(((before, new), (new, before))):
            if back.wants(at):
                kind = ("first", "second")[at]
                larger = back.step(f"{kind}_larger", back.ops.ShareOfLarger(), *both)
                back.into(at, back.ops.Multiply(), larger, back.gradient)


class ExpDifference(Operation):
    """e to the power of each entry less its row's one number. (…, key), (…, 1) → (…, key)

    Less the largest number so far, none is above 1. With `may_see_nothing`, a row whose number is
    −∞, since all is hidden from it so far, becomes 0 and not ∞ − ∞.
    """

    takes = "(…, key) (…, 1)"
    signs = ("", "−", "→")
    in_latex = "e^{{{0} - {1}}}"
    in_words = "e to the power of the score less the largest so far: at most 1."

    may_see_nothing: bool = False

    def value(self, scores: Tensor, largest: Tensor) -> Tensor:
        powers = (scores - largest).exp()
        return powers.masked_fill(largest.isneginf(), 0.0) if self.may_see_nothing else powers

    def code(self, scores: str, largest: str) -> str:
        seen = f".masked_fill({largest}.isneginf(), 0.0)" if self.may_see_nothing else ""
        return f"({scores} - {largest}).exp(){seen}"

    def arithmetic(self, index: tuple[int, ...], scores, largest) -> Expression:
        score, less = matched(scores, index), matched(largest, index)
        if self.may_see_nothing and less.value == -math.inf:
            return Hidden((score, less), NOTHING_SEEN)
        power = partial(_power, scores.value.dtype)
        return Called(power, "e^{{{}}}", Difference(score, less))

    def backward(self, back: Backward) -> None:
        back.into(0, back.ops.Multiply(), back.gradient, back.result)
        if back.wants(1):
            powers = back.step("powers", back.ops.Multiply(), back.gradient, back.result)
            total = back.row("total", back.ops.RowSum(), powers)
            back.into(1, back.ops.ScaleBy(-1.0), total)


class Rescale(ExpDifference):
    """By how much all that was added up so far shrinks when the maximum rises: e to the old maximum
    less the new one, 1 where it stays. (…, 1), (…, 1) → (…, 1)
    """

    takes = "(…, 1) (…, 1)"
    in_words = "e to the old maximum less the new one: 1 where it has not risen."


class RescaleAndAdd(Operation):
    """What was added up so far times the shrink factor of its row, and what is new added.
    (…, d), (…, 1), (…, d) → (…, d)
    """

    takes = "(…, d) (…, 1) (…, d)"
    signs = ("", "⊙", "+", "=")
    in_latex = r"{1} \odot {0} + {2}"
    in_torch = "{0} * {1} + {2}"
    in_words = "What was there so far, shrunk to the new maximum, plus what this tile brings."
    value = computed(lambda before, shrink, new: before * shrink + new)
    arithmetic = entrywise(lambda before, shrink, new: Sum((Product((before, shrink)), new)))
    backward = gradients(times(1), times(0), as_it_is)


class MaskedDivide(Divide):
    """Every entry divided by its row's one number; a row that saw nothing has 0 there, and becomes
    0, as in torch's `scaled_dot_product_attention`. (…, key), (…, 1) → (…, key)
    """

    in_torch = "({0} / {1}).masked_fill({1} == 0, 0.0)"
    value = computed(lambda scores, number: (scores / number).masked_fill(number == 0, 0.0))

    def arithmetic(self, index: tuple[int, ...], scores, number) -> Expression:
        if (less := matched(number, index)).value == 0:
            return Hidden((less,), NOTHING_SEEN)
        return super().arithmetic(index, scores, number)
