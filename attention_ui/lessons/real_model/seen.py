"""A run of a model, with all that the page has asked of it."""

from functools import cached_property

from torch import Tensor

from attention_core.real_model.attribution import Attribution, attribution
from attention_core.real_model.lens import Likeliest, lens
from attention_core.real_model.run import Run, logits


class Seen:
    """A run, and what the page has asked of it: worked out once."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self._brought: dict[tuple[int, int | None], Attribution] = {}

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
        """What it would say after each layer."""
        return lens(self.run)

    def brought(self, asked: int, against: int | None) -> Attribution:
        """What each part brought to the logit of a next token."""
        key = asked, against
        if key not in self._brought:
            self._brought[key] = attribution(self.run, asked, self.last, against)
        return self._brought[key]
