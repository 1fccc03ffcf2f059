"""What goes deeper on the page of a real model, and takes many passes: each head off, one at a
time, and each place of the stream taken from another text.
"""

from collections.abc import Callable, Iterator

import streamlit as st
from torch import Tensor

from attention_core.real_model.sweeps import (
    Swept,
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
from . import words
from .charts import by_layers
from .lesson import OTHER_PROMPT, asked_of, encoded_of, other, whole
from .running import passes
from .seen import Seen


def _slices(sweep: Iterator[Swept], read: Callable[[Tensor], Tensor]) -> Steps:
    """A sweep as steps, the last with what is read of the streams at its end."""
    for swept in sweep:
        yield swept.share, read(swept.streams) if swept.share >= 1 else None


def _read(values: Values, found: Seen) -> Callable[[Tensor], Tensor]:
    """What is measured of a stream at the end: the chance of the token, or how far its logit is
    above that of the other, in comparison with the run as it is.
    """
    asked, against = asked_of(values, found)
    run = found.run

    def read(streams: Tensor) -> Tensor:
        if against is None:
            return chance_of(run, streams, asked)
        return logit_of(run, streams, asked) - logit_of(run, streams, against)

    def change(streams: Tensor) -> Tensor:
        return read(streams) - read(run.final[[found.last]])

    return change


@st.fragment
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
        (whole(values), *asked_of(values, found)),
        lambda: _slices(without_each_head(found.run, found.last), _read(values, found)),
        f"{n_heads} runs, each from the layer of its head on",
    )
    if isinstance(going.found, Tensor):
        cells = {
            (layer, head): (f"without head {layer}.{head}", change)
            for layer, row in enumerate(going.found.tolist())
            for head, change in enumerate(row)
        }
        names = [*map(str, range(settings.n_heads))]
        told = f"What becomes of {words.of_what_is_measured(values, found)} without each head."
        chart("each_head", by_layers(cells, names, settings.n_layers, told), 940)
        st.text(words.most_needed(values, found, going.found))
    go_on(going)


@st.fragment
def patched(values: Values, found: Seen) -> None:
    """Each place of the stream taken from another text."""
    st.markdown(
        "**Where does it stand?** Take the stream of another text, at one layer and one token, put "
        "it in the place of this one’s, and see what the model says then: where this turns the "
        "answer, that place held what decides (**activation patching**)."
    )
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
        (whole(values), other(values), *asked_of(values, found)),
        lambda: _patches(values, found),
        f"{settings.n_layers * len(here)} runs, each from its layer on",
    )
    if isinstance(going.found, Tensor):
        cells = {
            (layer, token): (f"“{visible(here[token])}” before layer {layer}", change)
            for layer, row in enumerate(going.found.tolist())
            for token, change in enumerate(row)
        }
        names = [visible(piece) for piece in here]
        told = (
            f"What becomes of {words.of_what_is_measured(values, found)} with each vector patched."
        )
        chart("patched", by_layers(cells, names, settings.n_layers, told), 940)
        st.text(words.where_it_turns(values, found, going.found))
    go_on(going)


def _patches(values: Values, found: Seen) -> Steps:
    """The other text's way through the model, and then each of its vectors in this one's."""
    for share, theirs in passes(other(values)):
        if theirs is None:
            yield 0.05 * share, None
            continue
        sweep = patch_each_place(found.run, theirs.run, found.last)
        yield from _slices(sweep, _read(values, found))


def _sweep(name: str, about: tuple, work: Callable[[], Steps], cost: str) -> Run:
    """Work that waits for its button, unless the model is small."""
    quick = about[0][0] == "tiny"
    return long_run(f"{name}_of_model", about, work, quick=quick, cost=cost)
