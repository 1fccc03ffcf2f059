"""A real model: its controls, and what follows from their values."""

import torch

from attention_core.operations import Given
from attention_core.real_model.changes import Changes
from attention_core.real_model.run import Run, run
from attention_core.real_model.tokenizer import Encoded
from attention_core.text.tokenizers import visible
from attention_core.trace import Trace

from ...controls.control import Control, Values
from ...controls.fields import Choice, Sentence
from ...controls.shared import EXAMPLE
from .models import SMOL, TINY, choices, is_refused, opened
from .own_fields import Name, Parts, changes_of

MOST_TOKENS = 64
STARTS = {
    TINY: "the tired cat sees the dog because it",
    SMOL: "When Mary and John went to the store, John gave a drink to",
}
LIKELIEST, LAST, STRONGEST = "likeliest", "last", "strongest"
MEASURES = {
    "previous": "look at the token before",
    "first": "look at the first token",
    "same": "look at the same token before",
    "induction": "look at what followed the same token",
    "near": "look at the three nearest",
    "spread": "spread over many tokens",
}


def _opens(name: str, _: Values) -> str | None:
    return is_refused(name) or None


def _fits(text: str, values: Values) -> str | None:
    """What stops a text from being read by the model, in words."""
    try:
        encoded = opened(values.model).tokenizer.encode(text)
    except ValueError as error:
        return f"{error}"
    if len(encoded.ids) > MOST_TOKENS:
        return f"this text has {len(encoded.ids):,} tokens; at most {MOST_TOKENS} fit. Shorten it"
    return None


def _tokens(values: Values) -> dict[str, str]:
    """The tokens as choices, each with its place."""
    pieces = encoded_of(values).pieces
    each = {str(place): f"{place}: {visible(piece)}" for place, piece in enumerate(pieces)}
    return {LAST: "the last token", **each}


def _heads(values: Values) -> dict[str, str]:
    settings = opened(values.model).settings
    each = [(n, h) for n in range(settings.n_layers) for h in range(settings.n_heads)]
    return {STRONGEST: "the strongest", **{f"{n}.{h}": f"layer {n}, head {h}" for n, h in each}}


MODEL = Control(
    "model",
    Name(),
    "Model",
    lambda _: next(iter(choices())),
    widget="selectbox",
    options=lambda _: choices(),
    check=_opens,
    undoes=("prompt", "model_head", "looks_from", "model_off"),
)
PROMPT = Control(
    "prompt",
    Sentence(),
    "Your text",
    lambda values: STARTS.get(values.model, STARTS[SMOL]),
    widget="text_input",
    check=_fits,
    undoes=("looks_from",),
)
MEASURE = Control("measure", Choice(MEASURES), "Mark the heads that", "previous", widget="selectbox")
MODEL_HEAD = Control(
    "model_head", Name(), "Head", STRONGEST, widget="selectbox", options=_heads
)
LOOKS_FROM = Control(
    "looks_from", Name(), "Looks from", LAST, widget="selectbox", options=_tokens
)
MODEL_OFF = Control("model_off", Parts(), "Switch off", "", widget="text_input")
CONTROLS = (EXAMPLE, MODEL, PROMPT, MEASURE, MODEL_HEAD, LOOKS_FROM, MODEL_OFF)


def encoded_of(values: Values) -> Encoded:
    """The text in the model's own tokens."""
    return opened(values.model).tokenizer.encode(values.prompt)


def about(values: Values) -> tuple[str, tuple[int, ...], Changes]:
    """Which run the page shows."""
    return values.model, encoded_of(values).ids, changes_of("")
