"""What takes many passes: each head off, one at a time, and each place from another text."""

from collections.abc import Hashable, Iterator
from math import ceil

from torch import Tensor

from attention_core.real_model.sweeps import (
    chance_of,
    logit_of,
    patch_each_place,
    without_each_head,
)
from attention_core.text.tokenizers import visible
from attention_core.utils.head_name import head_name

from ...cards.elements import Element, chart, progress, say, text
from ...frame.models import TINY
from ...reactive.control import Values
from ...reactive.long_run import Steps, Work, run_so_far
from . import words
from .charts import by_layers
from .lesson import DRAWN, OTHER_PROMPT, asked_of, encoded_of, other, seen, whole
from .running import in_turns, passes
from .seen import Seen

EACH_HEAD, PATCHED = "each_head_of_model", "patched_of_model"


def without_each(reading: Seen) -> Iterator[tuple[float, Tensor | None]]:
    """A run without each head: how far it is, and at last their streams, for whoever asks again."""
    if reading.without_each is None:
        for share, streams in in_turns(without_each_head(reading.run, reading.last)):
            if share < 1:
                yield share, None
            else:
                reading.without_each = streams
    yield 1.0, reading.without_each


def how_long(reading: Seen) -> str:
    """About how long: reading the model once, then each head’s arithmetic (measured on SmolLM2)."""
    n_heads = reading.run.weights.shape[0] * reading.run.weights.shape[1]
    seconds = reading.seconds * len(reading.run.ids) * n_heads / 250
    return f": about {5 * ceil(seconds / 5)} seconds" if seconds > 1 else ""


def _change_in(values: Values, reading: Seen, name: Hashable, streams: Tensor) -> Tensor:
    """The change of a chance, or of a lead of logits (…), in streams (…, d_model) of this name."""
    asked, against = asked_of(values, reading)
    run = reading.run

    def measured(stream: Tensor) -> Tensor:
        if against is None:
            return chance_of(run, stream, asked)
        return logit_of(run, stream, asked) - logit_of(run, stream, against)

    def change() -> Tensor:
        return measured(streams) - measured(run.final[[reading.last]])

    return reading.once((name, asked, against), change)


def taking_each_off(values: Values) -> Work:
    """Every head switched off, one at a time."""
    reading = seen(values)
    settings = reading.run.model.settings
    return Work(
        EACH_HEAD,
        whole(values),
        lambda: without_each(reading),
        f"{settings.n_layers * settings.n_heads} runs, each from the layer of its head on"
        f"{how_long(reading)}",
        quick=reading.without_each is not None or values.model == TINY,
    )


def each_head_off(v: Values) -> Iterator[Element]:
    """What becomes of the answer without each head, as soon as that is known."""
    yield progress(EACH_HEAD)
    streams, reading = run_so_far(EACH_HEAD).result, seen(v)
    if isinstance(streams, Tensor):
        changes = _change_in(v, reading, "without each", streams)
        cells = {
            (layer, head): (f"without {head_name(head, layer)}", change)
            for layer, of_layer in enumerate(changes.tolist())
            for head, change in enumerate(of_layer)
        }
        n_layers, n_heads = changes.shape
        told = f"What becomes of {words.of_what_is_measured(v, reading)} without each head."
        yield chart("each_head", by_layers(cells, [*map(str, range(n_heads))], n_layers, told), 940)
        yield text(words.most_needed(v, reading, changes))


def patching(values: Values) -> Work | None:
    """Each place of the stream taken from another text; None where that cannot be."""
    here, there = encoded_of(values).pieces, other(values)[1]
    if len(here) > DRAWN or len(here) != len(there):
        return None
    reading = seen(values)
    return Work(
        PATCHED,
        (whole(values), other(values)),
        lambda: _patches(values, reading),
        f"{reading.run.model.settings.n_layers * len(here)} runs, each from its layer on",
        quick=values.model == TINY,
    )


def patched(v: Values) -> Iterator[Element]:
    """What each vector of another text changes, as soon as that is known; or why it cannot be."""
    reading, pieces = seen(v), encoded_of(v).pieces
    n_layers = reading.run.model.settings.n_layers
    if len(pieces) > DRAWN:
        yield say(
            f"That would be {n_layers * len(pieces):,} runs, a row for each token: it is there for "
            f"texts of up to {DRAWN} tokens, and yours has {len(pieces)}."
        )
        return
    yield OTHER_PROMPT.at(width=560)
    if (there := len(other(v)[1])) != len(pieces):
        yield say(
            f"The two have {len(pieces)} and {there} tokens. Vectors can change places only "
            "between texts of as many tokens: change a word for one of the same length."
        )
        return
    yield progress(PATCHED)
    streams = run_so_far(PATCHED).result
    if isinstance(streams, Tensor):
        changes = _change_in(v, reading, other(v), streams)
        if not changes.isfinite().all():
            yield say("From the other text come vectors of nan or infinite numbers.")
            return
        names = [visible(piece) for piece in pieces]
        cells = {
            (layer, token): (f"“{names[token]}” before layer {layer}", change)
            for layer, of_layer in enumerate(changes.tolist())
            for token, change in enumerate(of_layer)
        }
        told = f"What becomes of {words.of_what_is_measured(v, reading)} with each vector patched."
        yield chart("patched", by_layers(cells, names, n_layers, told), 940)
        yield text(words.where_it_turns(v, reading, changes))


def _patches(values: Values, reading: Seen) -> Steps:
    """The other text's way through the model, and then each of its vectors in this one's."""
    for share, theirs in passes(other(values)):
        if theirs is None:
            yield 0.05 * share, None
            continue
        for done, streams in in_turns(patch_each_place(reading.run, theirs.run, reading.last)):
            yield done, streams if done >= 1 else None
