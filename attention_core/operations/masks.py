"""Hiding: which query may look at which key, and what becomes of what it may not see."""

import math

import torch
from torch import Tensor

from ..expression import Expression, Hidden, Number, Quotient, Seen, Sum, constant
from .base import Backward, Operation, check_place, kind_of, line, matched, written
from .declared import gradients, likewise
from .normalise import SumNormalise


class AttentionMask(Operation):
    """The mask, (query, key): True where a query may look, as in torch's
    `scaled_dot_product_attention`.

    `causal` hides keys after the query, `window` keys that are as many or more places away,
    `hidden_key` one key from everybody, such as padding; `flipped` turns single cells round.

    Raises ValueError for a key or a cell that the mask does not have, and for a window below 1.
    """

    in_words = (
        "True where the query may look at the key. torch's other mask, and many notebooks, use the "
        "opposite: True where it may not."
    )

    n_queries: int
    n_keys: int
    causal: bool = True
    window: int | None = None
    hidden_key: int | None = None
    flipped: tuple[tuple[int, int], ...] = ()

    def __post_init__(self) -> None:
        if min(self.n_queries, self.n_keys) < 1:
            raise ValueError("a mask needs at least one query and one key")
        if self.window is not None and self.window < 1:
            raise ValueError(f"a window of {self.window} hides every key: choose 1 or more")
        if self.hidden_key is not None:
            check_place("key", self.hidden_key, self.n_keys)
        for query, key in self.flipped:
            check_place("query", query, self.n_queries)
            check_place("key", key, self.n_keys)

    def value(self) -> Tensor:
        mask = torch.ones(self.n_queries, self.n_keys, dtype=torch.bool)
        if self.causal:
            mask = mask.tril()
        if self.window is not None:
            mask = mask.triu(1 - self.window).tril(self.window - 1)
        if self.hidden_key is not None:
            mask = mask & (torch.arange(self.n_keys) != self.hidden_key)
        if self.flipped:
            mask = mask.index_put(self._places, ~mask[self._places])
        return mask

    @property
    def _places(self) -> tuple[Tensor, Tensor]:
        queries, keys = zip(*self.flipped, strict=True)
        return torch.tensor(queries), torch.tensor(keys)

    def formula(self) -> str:
        rules = [r"j \le i"] * self.causal
        if self.window is not None:
            rules.append(rf"|i - j| < {self.window}")
        if self.hidden_key is not None:
            rules.append(rf"j \neq {self.hidden_key}")
        if self.flipped:
            rules.append(r"\text{cells flipped by hand}")
        return r",\ ".join(rules) or r"\text{always}"

    def code(self) -> str:
        code = f"torch.ones({self.n_queries}, {self.n_keys}, dtype=torch.bool)"
        code += ".tril()" * self.causal
        if self.window is not None:
            code += f".triu({1 - self.window}).tril({self.window - 1})"
        if self.hidden_key is not None:
            code += f" & (torch.arange({self.n_keys}) != {self.hidden_key})"
        if self.flipped:
            queries, keys = map(written, self._places)
            turned = f"torch.zeros({self.n_queries}, {self.n_keys}, dtype=torch.bool).index_put("
            turned += f"(torch.tensor({queries}), torch.tensor({keys})), torch.tensor(True))"
            code = f"({code}) ^ {turned}"
        return code

    def arithmetic(self, index: tuple[int, ...]) -> Expression:
        may = bool(self.value()[index])
        answer = "may look" if may else "hidden"
        return Number(float(may), rf"{self._reason(*index)}\text{{: {answer}}}")

    def _reason(self, query: int, key: int) -> str:
        """The rule that decides a cell, in LaTeX."""
        if (query, key) in self.flipped:
            return r"\text{flipped by hand}"
        if self.causal and key > query:
            return rf"\text{{key }}{key} > \text{{query }}{query}"
        if self.window is not None and abs(query - key) >= self.window:
            return rf"|{query} - {key}| \ge {self.window}"
        if key == self.hidden_key:
            return rf"\text{{key }}{key}\text{{ is left out}}"
        if self.causal:
            return rf"\text{{key }}{key} \le \text{{query }}{query}"
        return r"\text{no rule hides it}"


def check_mask(mask: Tensor, scores: Tensor) -> None:
    """Raises ValueError, in plain words, where a mask cannot hide cells of these scores."""
    if mask.dtype != torch.bool:
        raise ValueError(
            f"a mask is True where a query may look, but this one is {kind_of(mask)}: make it "
            "one of True and False, such as `mask > 0`"
        )
    if not _spreads_over(tuple(mask.shape), tuple(scores.shape)):
        has, wanted = (" × ".join(map(str, each.shape)) for each in (mask, scores))
        raise ValueError(
            f"a mask of {has} does not fit scores of {wanted}: it needs a row for each query and "
            "a column for each key"
        )


def _spreads_over(shape: tuple[int, ...], whole: tuple[int, ...]) -> bool:
    """Whether torch would repeat this shape to fill the whole one, and no more."""
    last = whole[len(whole) - len(shape) :]
    return len(shape) <= len(whole) and all(
        mine in (1, size) for mine, size in zip(shape, last, strict=True)
    )


class MaskedFill(Operation):
    """What the mask hides is replaced by `fill`. (…, query, key), (…, query, key) → (…, query, key)

    −∞ before a softmax gives exactly no weight; any finite number gives some.
    """

    takes = "(…) (…)"
    chooses = True
    signs = ("", None, "→")
    in_latex = r"{0}\ \text{{where }} {1},\ \text{{else }} {self.fill}"
    in_torch = "{0}.masked_fill(~{1}, {self.fill})"

    fill: float = -math.inf
    makes = None

    def value(self, scores: Tensor, mask: Tensor) -> Tensor:
        check_mask(mask, scores)
        return scores.masked_fill(~mask, self.fill)

    def arithmetic(self, index: tuple[int, ...], scores, mask) -> Expression:
        may_look = matched(mask, index)
        if may_look.value:
            return Seen(matched(scores, index), may_look)
        return Hidden((may_look,), r"\text{hidden by the mask}", self.fill)

    @property
    def in_words(self) -> str:
        instead = "minus infinity" if self.fill == -math.inf else f"{self.fill:g}"
        return f"Copied where the query may look; {instead} where it may not."

    def backward(self, back: Backward) -> None:
        _, mask = back.inputs
        back.into(0, back.ops.MaskGradient(), back.gradient, mask)


class TopK(Operation):
    """A mask: True at the `k` largest scores of each row that are not −∞, nan the largest of all;
    of equal ones, at those that come first. (…, query, key) → (…, query, key)

    Raises ValueError for a k below 1.

    Source: DeepSeek-AI 2025, DeepSeek-V3.2, section 2.1 (fine-grained token selection).
    """

    takes = "(…, key)"
    chooses = True
    no_gradient = "true and false cannot be moved a little"
    in_latex = r"\operatorname{{top}}_{{{self.k}}}\!\left({0}\right)"
    in_words = "True where the score is among the {self.k} largest of its row that are not hidden."

    k: int

    def __post_init__(self) -> None:
        if self.k < 1:
            raise ValueError(f"top {self.k} hides every key: choose 1 or more")

    def value(self, scores: Tensor) -> Tensor:
        order = scores.argsort(dim=-1, descending=True, stable=True)
        return (order.argsort(dim=-1) < self.k) & ~scores.isneginf()

    def code(self, scores: str) -> str:
        order = f"{scores}.argsort(dim=-1, descending=True, stable=True)"
        return f"({order}.argsort(dim=-1) < {self.k}) & ~{scores}.isneginf()"

    def arithmetic(self, index: tuple[int, ...], scores) -> Expression:
        cells, own = line(scores, index), scores.cell(index).value
        ranks = [(math.isnan(n), 0 if math.isnan(n) else n) for n in (c.value for c in cells)]
        mine = ranks[index[-1]]
        before = sum(rank > mine for rank in ranks) + ranks[: index[-1]].count(mine)
        if own == -math.inf:
            return Hidden(cells, r"\text{hidden already}")
        told = rf"{before}\text{{ scores of the row come before it}}"
        return Hidden(cells, told, float(before < self.k))


class MaskGradient(MaskedFill):
    """The way back of a mask: 0 where it hid. (…, query, key), (…, query, key) → (…, query, key)"""

    in_words = "Copied where the query may look; 0 where it may not, since nothing depends on it."

    def __init__(self) -> None:
        super().__init__(fill=0.0)


class Renormalise(SumNormalise):
    """Each entry divided by the sum of its row; a row that sums to 0 becomes zero."""

    in_words = "What is left of the row, divided by its sum, so that it sums to 1 again."

    def value(self, weights: Tensor) -> Tensor:
        total = weights.sum(dim=-1, keepdim=True)
        return (weights / total).masked_fill(total == 0, 0.0)

    def code(self, weights: str) -> str:
        total = f"{weights}.sum(dim=-1, keepdim=True)"
        return f"({weights} / {total}).masked_fill({total} == 0, 0.0)"

    def arithmetic(self, index: tuple[int, ...], weights) -> Expression:
        cells = line(weights, index)
        if Sum(cells).value == 0:
            return Hidden(cells, r"\text{nothing is left of this row}")
        return super().arithmetic(index, weights)


class Drop(Operation):
    """Dropout: an entry whose random number is below `probability` becomes 0, the others grow by
    1 / (1 − probability), so that the mean stays. (…), (…) → (…)

    Source: Srivastava et al. 2014, Dropout: A Simple Way to Prevent Neural Networks from
    Overfitting, with the rescaling done in training.
    """

    takes = "(…) (…)"
    chooses = True
    signs = ("", None, "→")
    in_latex = (
        r"\frac{{{0}}}{{1 - {self.probability}}}\ \text{{where }} {1} \ge {self.probability},"
        r"\ \text{{else }} 0"
    )
    in_torch = "({0} / (1 - {self.probability})).masked_fill({1} < {self.probability}, 0.0)"
    in_words = "Dropped to 0 by chance, or divided by the chance of being kept."
    makes = None
    backward = gradients(likewise)

    probability: float

    def __post_init__(self) -> None:
        if not 0 <= self.probability < 1:
            raise ValueError(f"dropout of {self.probability}: choose 0 or more, and less than 1")

    def value(self, weights: Tensor, draw: Tensor) -> Tensor:
        return (weights / (1 - self.probability)).masked_fill(draw < self.probability, 0.0)

    def arithmetic(self, index: tuple[int, ...], weights, draw) -> Expression:
        drawn, p = matched(draw, index), constant(self.probability)
        if drawn.value < self.probability:
            return Hidden((drawn,), rf"\text{{dropped: its number is below }}{p}")
        kept = Number(1 - self.probability, f"1 - {p}")
        return Seen(Quotient(matched(weights, index), kept), drawn)
