"""Sentences through a model: one at a time for all visitors, layer by layer; some are kept."""

from collections import OrderedDict
from collections.abc import Iterator
from threading import Lock
from time import perf_counter
from typing import TypeVar

from attention_core.real_model.model import Model
from attention_core.real_model.run import layer_by_layer

from ...reactive.code_check import for_one_visitor
from ...reactive.long_run import run_so_far
from .own_fields import changes_of
from .seen import Seen

KEPT_BYTES = 240 * 2**20
"""So much of runs is kept: with 64 tokens one of SmolLM2 takes 26 MB, with 256 some 150."""

Step = TypeVar("Step")
About = tuple[Model, tuple[int, ...], str]
"""A model, the tokens, and what is switched off in it, as `Parts` has it."""
_TURN, _kept = Lock(), OrderedDict[About, Seen]()


@for_one_visitor
def passes(about: About) -> Iterator[tuple[float, Seen | None]]:
    """A sentence's way through a model: after each layer how far it is, and at last the run."""
    model, ids, off = about
    if reading := kept(about):
        yield 1.0, reading
        return
    layers, seconds = layer_by_layer(model, ids, changes_of(off)), 0.0
    while True:
        with _TURN:  # between two layers it is another visitor's turn
            start = perf_counter()
            share, run = next(layers)
            seconds += perf_counter() - start
        if run is None:
            yield share, None
            continue
        reading = Seen(run, seconds)
        with _TURN:
            _kept[about] = reading
            while len(_kept) > 1 and sum(each.run.n_bytes for each in _kept.values()) > KEPT_BYTES:
                _kept.popitem(last=False)
        yield 1.0, reading
        return


def in_turns(steps: Iterator[Step]) -> Iterator[Step]:
    """Steps of other work on a model, each while nobody else's is done."""
    while True:
        with _TURN:
            found = next(steps, None)
        if found is None:
            return
        yield found


def kept(about: About) -> Seen | None:
    """A run that somebody has made lately."""
    with _TURN:
        if about in _kept:
            _kept.move_to_end(about)
        return _kept.get(about)


def at_hand(name: str, about: About) -> Seen | None:
    """A run that somebody has made, or else the visitor's own work of this name; None before."""
    if reading := kept(about):
        return reading
    run = run_so_far(name)
    return run.result if run and run.about == about else None
