"""A function that runs, with what it is asked and what it answers."""

import torch
from torch import Tensor

from .calling import Caller, Stopped
from .reading import factor_of_scores, is_near, may_look
from .sentences import N_TOKENS, Sentence, Widths, matrices
from .ways import Ways, ways_in

LARGE = 10_000
"""The largest of the large scores."""


class Probe:
    """A function that runs, with what was asked of it and what it answered."""

    def __init__(self, call: Caller, widths: Widths, causal: bool) -> None:
        self.call, self.widths, self.causal = call, widths, causal
        self.given = matrices(widths)
        self.sentence = Sentence.drawn(widths.n_heads)
        self.output = self.of(self.sentence)
        again = self.of(self.sentence)
        # nan is no number, and not near itself.
        self.is_repeatable = torch.equal(self.output.isnan(), again.isnan()) and is_near(
            self.output.nan_to_num(), again.nan_to_num()
        )
        self.weights = self.weights_in(self.output)
        self.unread = self._why_unread()
        later = self.weights[:, ~may_look(N_TOKENS, True)]
        self.hides_later = not causal and not self.unread and is_near(later, 0.0)
        """Whether later keys get no weight although nothing was said of a mask."""
        self.seen = may_look(N_TOKENS, causal or self.hides_later)
        self.ways = Ways()
        if not self.unread:
            self.ways = ways_in(self.weights, self.sentence.scores(), self.seen)
            self.seen = self.seen & self.ways.sees(N_TOKENS)

    def factor(self) -> float | None:
        """What q·k is multiplied by before softmax; None for no one number."""
        plain = self.weights * torch.as_tensor(self.ways.bias(N_TOKENS)).neg().exp()
        return factor_of_scores(plain, self.sentence.scores(), self.seen)

    def dense(self) -> list[Tensor]:
        """Vectors and three matrices at random, none of them chosen to be read from outside."""
        generator = torch.Generator().manual_seed(3)
        shapes = [(N_TOKENS, self.widths.d_in), *(each.shape for each in self.given)]
        vectors, *drawn = (torch.randn(shape, generator=generator) for shape in shapes)
        return [vectors, *(each / self.widths.d_in**0.5 for each in drawn)]

    def alone_dense(self) -> tuple[Tensor, list[Tensor]]:
        """The output for one token alone, and its query, key and value, all at random."""
        vectors, *drawn = self.dense()
        output = self.call(vectors[:1], *drawn)[0]
        return output, [vectors[0].double() @ each.double() for each in drawn]

    def of(self, sentence: Sentence) -> Tensor:
        """The output for a sentence: (token, d_value)."""
        return self.call(sentence.vectors(self.widths), *self.given)

    def weights_in(self, output: Tensor) -> Tensor:
        """The weights (head, query, key), where the values are an identity matrix."""
        heads = output.unflatten(-1, (self.widths.n_heads, -1)).transpose(0, 1)
        return heads[..., : len(output)]

    def weights_of(self, sentence: Sentence) -> Tensor:
        """The weights (head, query, key) for a sentence."""
        return self.weights_in(self.of(sentence))

    def large(self) -> Sentence:
        """The sentence with large scores."""
        largest = float(self.sentence.scores().abs().max()) / self.widths.d_head**0.5
        return self.sentence._replace(queries=self.sentence.queries * (LARGE / largest))

    def alone(self, sign: float = 1.0) -> tuple[Tensor, Tensor]:
        """The output for one token alone, and its value, which that should be."""
        one = Sentence.drawn(self.widths.n_heads, 1, seed=1)
        one = one._replace(values=one.values.abs() + 0.1, unread=sign * one.unread)
        return self.of(one)[0], one.vectors(self.widths).double()[0] @ self.given[2].double()

    def _why_unread(self) -> str:
        """Why its output does not tell the weights; "" where it does."""
        try:
            (output, value), (other, _) = self.alone(), self.alone(-2.0)
        except Stopped:  # it takes one length only, which is another light
            return ""
        if not output.isfinite().all():  # which is another light
            return ""
        if is_share_of(output, value, self.widths.n_heads) and is_near(output, other):
            return ""
        return "a single token does not come out as its own value, so weights cannot be read"


def is_share_of(output: Tensor, value: Tensor, n_heads: int) -> bool:
    """Whether a token's output is, head by head, a number times its value."""
    heads, values = output.unflatten(0, (n_heads, -1)), value.unflatten(0, (n_heads, -1))
    share = (heads * values).sum(-1, keepdim=True) / values.square().sum(-1, keepdim=True)
    return is_near(heads, share * values)
