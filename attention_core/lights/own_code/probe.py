"""A function that runs, with what it is asked and what it answers.

The source of this file is part of the file that checks a learner's own code. It therefore needs
torch and the standard library alone.
"""

import torch
from torch import Tensor

from .calling import Caller, Stopped
from .reading import is_near, may_look
from .sentences import N_TOKENS, Sentence, Widths, matrices

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

    def of(self, sentence: Sentence) -> Tensor:
        """The output for a sentence: (token, d_v)."""
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
