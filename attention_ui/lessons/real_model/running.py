"""Sentences through a model: one at a time for all visitors, a layer after the other, the last few
kept.
"""

from collections import OrderedDict
from collections.abc import Iterator
from threading import Lock

from attention_core.real_model.changes import Changes
from attention_core.real_model.run import Run, layer_by_layer

from .models import opened

MOST_KEPT = 6
"""Runs that are kept: with 64 tokens one of SmolLM2 takes 40 MB."""
About = tuple[str, tuple[int, ...], Changes]
"""The name of a model, the tokens, and what is changed in it."""
_TURN, _kept = Lock(), OrderedDict[About, Run]()


def passes(about: About) -> Iterator[tuple[float, Run | None]]:
    """A sentence's way through a model: after each layer how far it is, and at last the run."""
    name, ids, changes = about
    if found := kept(about):
        yield 1.0, found
        return
    layers = layer_by_layer(opened(name), ids, changes)
    while True:
        with _TURN:  # between two layers it is another visitor's turn
            share, found = next(layers)
        if found is not None:
            _keep(about, found)
        yield share, found
        if found is not None:
            return


def kept(about: About) -> Run | None:
    """A run that somebody has made lately."""
    with _TURN:
        if about in _kept:
            _kept.move_to_end(about)
        return _kept.get(about)


def _keep(about: About, found: Run) -> None:
    with _TURN:
        _kept[about] = found
        while len(_kept) > MOST_KEPT:
            _kept.popitem(last=False)
