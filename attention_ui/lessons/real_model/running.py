"""Sentences through a model: one at a time for all visitors, a layer after the other, the last few
kept.
"""

from collections import OrderedDict
from collections.abc import Iterator
from functools import cached_property
from threading import Lock

from torch import Tensor

from attention_core.real_model.attribution import Attribution, attribution
from attention_core.real_model.lens import Likeliest, lens
from attention_core.real_model.run import Run, layer_by_layer, logits

from ...frame.models import opened
from .own_fields import changes_of

MOST_KEPT = 6
"""Runs that are kept: with 64 tokens one of SmolLM2 takes 40 MB."""


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


About = tuple[str, tuple[int, ...], str]
"""The name of a model, the tokens, and what is switched off in it, as `Parts` has it."""
_TURN, _kept = Lock(), OrderedDict[About, Seen]()


def passes(about: About) -> Iterator[tuple[float, Seen | None]]:
    """A sentence's way through a model: after each layer how far it is, and at last the run."""
    name, ids, off = about
    if found := kept(about):
        yield 1.0, found
        return
    layers = layer_by_layer(opened(name), ids, changes_of(off))
    while True:
        with _TURN:  # between two layers it is another visitor's turn
            share, run = next(layers)
        if run is None:
            yield share, None
            continue
        seen = Seen(run)
        _keep(about, seen)
        yield 1.0, seen
        return


def kept(about: About) -> Seen | None:
    """A run that somebody has made lately."""
    with _TURN:
        if about in _kept:
            _kept.move_to_end(about)
        return _kept.get(about)


def _keep(about: About, found: Seen) -> None:
    with _TURN:
        _kept[about] = found
        while len(_kept) > MOST_KEPT:
            _kept.popitem(last=False)
