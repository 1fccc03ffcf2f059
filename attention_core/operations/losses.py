"""What a loss is made of: one number that says how wrong the others are."""

import math

import torch
from torch import Tensor

from ..expression import Called, Difference, Exponential, Expression, Number, Seen, Share, Sum
from .base import Backward, Operation, check_place, line
from .declared import computed, gradients, mean_of, through


class CrossEntropy(Operation):
    """Minus the logarithm of the probability that the logits of a row give to its target:
    (query, vocabulary), (query,) → (query,). 0 where the target is certain.

    Raises ValueError for a target that no logit stands for.

    Source: Goodfellow et al. 2016, Deep Learning, section 6.2.2.3.
    """

    takes = "(query, vocabulary) (query)"
    chooses = True
    signs = ("", None, "→")
    in_latex = r"-\ln \operatorname{{softmax}}({0})_{{{1}}}"
    in_torch = "torch.nn.functional.cross_entropy({0}, {1}, reduction='none')"
    in_words = "Minus the logarithm of the probability of the right token: 0 where it is certain."

    def value(self, logits: Tensor, targets: Tensor) -> Tensor:
        for target in targets.tolist():
            check_place("logit", target, logits.shape[-1])
        return torch.nn.functional.cross_entropy(logits, targets, reduction="none")

    def arithmetic(self, index: tuple[int, ...], logits, targets) -> Expression:
        target = targets.cell(index)
        cells = line(logits, (*index, 0))
        largest = max(cell.value for cell in cells)
        powers = tuple(Exponential(cell, largest) for cell in cells)
        share = Share(powers, picked=int(target.value))
        if share.value > 0:
            return Seen(Called(_minus_log, r"-\ln\!\left({}\right)", share), target)
        # Too small a probability even for float64: its logarithm, from the logits themselves.
        away = Difference(Number(largest), cells[int(target.value)])
        return Seen(Sum((away, Called(math.log, r"\ln\!\left({}\right)", Sum(powers)))), target)

    def backward(self, back: Backward) -> None:
        logits, targets = back.inputs
        n_logits = logits.value.shape[-1]
        shares = back.step("probabilities", back.ops.Softmax(), logits, axes=logits.axes)
        right = back.step("right", back.ops.OneHot(n_logits), targets, axes=logits.axes)
        error = back.step("error", back.ops.Subtract(), shares, right, axes=logits.axes)
        back.into(0, back.ops.Multiply(by_row=True), back.gradient, error)


class Mean(Operation):
    """The mean of a row, as one number: (i,) → ()."""

    takes = "(i)"
    signs = ("", "mean")
    in_latex = r"\tfrac{{1}}{{n}} \textstyle\sum_i {0}_i"
    in_torch = "{0}.mean()"
    in_words = "All of them, added and divided by how many there are."
    value = computed(torch.mean)

    def arithmetic(self, _: tuple[int, ...], losses) -> Expression:
        return mean_of(line(losses, (0,)))

    def backward(self, back: Backward) -> None:
        (losses,) = back.inputs
        n = len(losses.value)
        share = back.step("share", back.ops.ScaleBy(1 / n), back.gradient, axes=())
        back.into(0, back.ops.Repeat(n, 0, new=True), share)


class Entry(Operation):
    """One entry, copied: (…) → (). Raises ValueError where there is no such entry."""

    takes = "(…)"
    in_words = "Copied: the one entry that counts."
    backward = gradients(
        through(lambda own, back: PutEntry(own.index, tuple(back.inputs[0].value.shape)))
    )

    index: tuple[int, ...]

    def value(self, numbers: Tensor) -> Tensor:
        if len(self.index) != numbers.ndim:
            raise ValueError(f"{list(self.index)} is no entry of a tensor of {numbers.ndim} axes")
        for place, size in zip(self.index, numbers.shape, strict=True):
            check_place("place", place, size)
        return numbers[self.index].clone()

    def formula(self, numbers: str) -> str:
        return rf"({numbers})_{{{','.join(map(str, self.index))}}}"

    def code(self, numbers: str) -> str:
        return f"{numbers}[{', '.join(map(str, self.index))}].clone()"

    def arithmetic(self, _: tuple[int, ...], numbers) -> Expression:
        return numbers.cell(self.index)


class PutEntry(Operation):
    """One number at its place in a tensor of zeros: () → (…)."""

    takes = "()"
    in_words = "The gradient where the entry was taken from, 0 everywhere else."
    backward = gradients(through(lambda own, _: Entry(own.index)))

    index: tuple[int, ...]
    shape: tuple[int, ...]

    def value(self, number: Tensor) -> Tensor:
        made = number.new_zeros(self.shape)
        made[self.index] = number
        return made

    def formula(self, number: str) -> str:
        return rf"{number}\ \text{{at }} {','.join(map(str, self.index))},\ \text{{else }} 0"

    def code(self, number: str) -> str:
        places = ", ".join(f"torch.tensor({place})" for place in self.index)
        return f"torch.zeros({', '.join(map(str, self.shape))}).index_put(({places},), {number})"

    def arithmetic(self, index: tuple[int, ...], number) -> Expression:
        return number.cell(()) if index == self.index else Number(0.0)


def _minus_log(value: float) -> float:
    return -math.log(value)
