"""A run of a model, with all that the page has asked of it."""

from collections.abc import Callable, Hashable
from functools import cached_property, partial
from typing import Any

from torch import Tensor

from attention_core.real_model.attribution import Attribution, attribution
from attention_core.real_model.lens import Likeliest, lens
from attention_core.real_model.run import Run, logits

MOST_AFTER = 24
"""What the model would say after each layer is asked of so many tokens, the last."""


class Seen:
    """A run, and what the page has asked of it: worked out once."""

    def __init__(self, run: Run, seconds: float = 0.0) -> None:
        self.run, self.seconds = run, seconds  # so long it took here
        self.without_each: Tensor | None = None
        """The last token's stream without each head (layer, head, d_model), once it is known."""
        self._known: dict[Hashable, Any] = {}

    def once(self, what: Hashable, make: Callable[[], Any]) -> Any:
        """Something of this run that is worked out when it is asked for first."""
        if what not in self._known:
            self._known[what] = make()
        return self._known[what]

    @property
    def last(self) -> int:
        """The place of the last token, after which the next one comes."""
        return len(self.run.ids) - 1

    @cached_property
    def next_logits(self) -> Tensor:
        """What the model would say next (vocabulary,)."""
        return logits(self.run, [self.last])[0]

    @cached_property
    def chances(self) -> Tensor:
        """The chance of each next token (vocabulary,)."""
        return self.next_logits.softmax(dim=-1)

    @cached_property
    def lens(self) -> Likeliest:
        """What it would say after each layer, for the last tokens."""
        return lens(self.run, last=MOST_AFTER)

    def brought(self, asked: int, against: int | None) -> Attribution:
        """What each part brought to the logit of a next token."""
        make = partial(attribution, self.run, asked, self.last, against)
        return self.once(("brought", asked, against), make)
