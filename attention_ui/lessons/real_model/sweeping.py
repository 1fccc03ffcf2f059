"""What goes deeper on the page of a real model, and takes many passes: each head off, one at a
time, and each place of the stream taken from another text.
"""

from collections.abc import Callable, Hashable, Iterator

import streamlit as st
from torch import Tensor

from attention_core.real_model.sweeps import (
    chance_of,
    logit_of,
    patch_each_place,
    without_each_head,
)
from attention_core.text.tokenizers import visible

from ...cards.show import chart
from ...controls import held
from ...controls.control import Values
from ...controls.widget import control
from ...frame.long_run import Run, Steps, go_on, long_run
from ...frame.models import TINY
from . import words
from .charts import by_layers
from .lesson import DRAWN, OTHER_PROMPT, asked_of, encoded_of, other, whole
from .running import in_turns, in_words, passes
from .seen import Seen


def without_each(found: Seen) -> Iterator[tuple[float, Tensor | None]]:
    """A run without each head: how far it is, and at last their streams, for whoever asks again."""
    if found.without_each is None:
        for swept in in_turns(without_each_head(found.run, found.last)):
            if swept.share < 1:
                yield swept.share, None
            else:
                found.without_each = swept.streams
    yield 1.0, found.without_each


def _change_in(values: Values, found: Seen, name: Hashable, streams: Tensor) -> Tensor:
    """How the chance of the token has changed in streams (…, d_model) that are known by this name,
    or how far its logit is above that of the other (…).
    """
    asked, against = asked_of(values, found)
    run = found.run

    def measured(stream: Tensor) -> Tensor:
        if against is None:
            return chance_of(run, stream, asked)
        return logit_of(run, stream, asked) - logit_of(run, stream, against)

    def change() -> Tensor:
        return measured(streams) - measured(run.final[[found.last]])

    return found.once((name, asked, against), change)


@st.fragment
@in_words
def each_head_off(values: Values, found: Seen) -> None:
    """Every head switched off, one at a time."""
    st.markdown(
        "**Every head off, one at a time.** What a head brings is not all that it is needed for: "
        "others read what it wrote. So each is taken away once, and the token measured again."
    )
    settings = found.run.model.settings
    n_heads = settings.n_layers * settings.n_heads
    going = _sweep(
        "each_head",
        whole(values),
        lambda: without_each(found),
        f"{n_heads} runs, each from the layer of its head on",
        is_known=found.without_each is not None,
    )
    if isinstance(going.found, Tensor):
        changes = _change_in(values, found, "without each", going.found)
        cells = {
            (layer, head): (f"without head {layer}.{head}", change)
            for layer, row in enumerate(changes.tolist())
            for head, change in enumerate(row)
        }
        names = [*map(str, range(settings.n_heads))]
        told = f"What becomes of {words.of_what_is_measured(values, found)} without each head."
        chart("each_head", by_layers(cells, names, settings.n_layers, told), 940)
        st.text(words.most_needed(values, found, changes))
    go_on(going)


@st.fragment
@in_words
def patched(values: Values, found: Seen) -> None:
    """Each place of the stream taken from another text."""
    st.markdown(
        "**Where does it stand?** Take the stream of another text, at one layer and one token, put "
        "it in the place of this one’s, and see what the model says then: where this turns the "
        "answer, that place held what decides (**activation patching**)."
    )
    pieces = encoded_of(values).pieces
    if len(pieces) > DRAWN:
        n_runs = found.run.model.settings.n_layers * len(pieces)
        st.markdown(
            f"That would be {n_runs:,} runs, a row for each token: it is there for texts of up to "
            f"{DRAWN} tokens, and yours has {len(pieces)}."
        )
        return
    control(OTHER_PROMPT, width=560)
    values = held.values()  # alone, this runs again with what was typed
    here, there = encoded_of(values).pieces, len(other(values)[1])
    if there != len(here):
        st.markdown(
            f"The two have {len(here)} and {there} tokens. Vectors can change places only between "
            "texts of as many tokens: change a word for one of the same length."
        )
        return
    settings = found.run.model.settings
    going = _sweep(
        "patched",
        (whole(values), other(values)),
        lambda: _patches(values, found),
        f"{settings.n_layers * len(here)} runs, each from its layer on",
    )
    if isinstance(going.found, Tensor):
        changes = _change_in(values, found, other(values), going.found)
        if not changes.isfinite().all():
            st.markdown("From the other text come vectors of nan or infinite numbers.")
            return go_on(going)
        cells = {
            (layer, token): (f"“{visible(here[token])}” before layer {layer}", change)
            for layer, row in enumerate(changes.tolist())
            for token, change in enumerate(row)
        }
        names = [visible(piece) for piece in here]
        told = (
            f"What becomes of {words.of_what_is_measured(values, found)} with each vector patched."
        )
        chart("patched", by_layers(cells, names, settings.n_layers, told), 940)
        st.text(words.where_it_turns(values, found, changes))
    go_on(going)


def _patches(values: Values, found: Seen) -> Steps:
    """The other text's way through the model, and then each of its vectors in this one's."""
    for share, theirs in passes(other(values)):
        if theirs is None:
            yield 0.05 * share, None
            continue
        for swept in in_turns(patch_each_place(found.run, theirs.run, found.last)):
            yield swept.share, swept.streams if swept.share >= 1 else None


def _sweep(
    name: str, about: Hashable, work: Callable[[], Steps], cost: str, is_known: bool = False
) -> Run:
    """Work that waits for its button, unless it is known or the model is small."""
    quick = is_known or held.values().model == TINY
    return long_run(f"{name}_of_model", about, work, quick=quick, cost=cost)
