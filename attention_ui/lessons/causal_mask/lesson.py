"""The causal mask: the controls, and traces as functions of their values."""

from attention_core.mechanism.masking import attend_masked, change_token
from attention_core.recipes import MaskRecipe
from attention_core.text.embedding import embed
from attention_core.trace import Trace

from ...controls import fields, shared
from ...reactive.control import Control, Values
from ...reactive.fields import Choice, Decimal, Flag, OptionalWhole, Whole

WAYS = {
    "minus_infinity": "−∞ before softmax",
    "zero_filled": "0 before softmax",
    "zeroed": "0 after softmax",
    "renormalised": "0 after, then divided by the sum",
}


def _last(values: Values) -> int:
    return len(shared.inputs_of(values).tokens) - 1


CAUSAL = Control("causal", Flag(), "Causal: no later key", True)
WINDOW = Control(
    "window",
    Whole(0, fields.MAX_TOKENS),
    "Window: keys, its own included",
    0,
    hint="0: all",
    options=lambda values: {count: str(count) for count in range(_last(values) + 2)},
)
"""How many keys back a query may look, itself included; 0 for all."""
HIDDEN = Control(
    "hidden",
    OptionalWhole(0, fields.MAX_TOKENS - 1),
    "Key hidden from every query",
    None,
    options=lambda values: {None: "none", **shared.numbered_tokens(values)},
    look={"placeholder": "none"},
)
"""A key that no query may look at, such as padding."""
TURNED = Control(
    "turned", fields.Places(32), "Cells of the mask flipped by hand", (), changes="mask"
)
MASKING = Control("masking", Choice(WAYS), "Hide by", "zero_filled")
CHANGED_TOKEN = shared.place_of_token("changed_token", "Change the vector of", _last)
CHANGE_BY = Control("change_by", Decimal(-4, 4), "Add to each entry", 1.0, look={"step": 0.25})
MAKES_MASK = (CAUSAL, WINDOW, HIDDEN, TURNED)
CONTROLS = (
    *(*shared.MAKES_VECTORS, shared.DIVIDE, *MAKES_MASK, MASKING, CHANGED_TOKEN, CHANGE_BY),
)


def mask_of(values: Values) -> MaskRecipe:
    """Which query may look at which key."""
    return MaskRecipe(values.causal, values.window or None, values.hidden, values.turned)


def trace_of(values: Values) -> Trace:
    """The lesson's trace, with every way to hide."""
    return attend_masked(embed(shared.inputs_of(values)), mask_of(values), values.divide)


def with_window(embedded: Trace, values: Values, window: float) -> Trace:
    """The mask and what it hides, with another window."""
    mask = mask_of(values.but(window=int(window)))
    return attend_masked(embedded.branch(), mask, values.divide, ways=("",))


def prefix_of(way: str) -> str:
    """What the names of a way's steps begin with."""
    return "" if way == "minus_infinity" else f"{way}_"


def changed(values: Values, way: str = "", masked: Trace | None = None) -> Trace:
    """Everything again with one token's vector changed; `masked` is the trace before, if made."""
    prefix = prefix_of(way or values.masking)
    if masked is None:
        masked = attend_masked(
            embed(shared.inputs_of(values)), mask_of(values), values.divide, ways=(prefix,)
        )
    return change_token(masked, values.changed_token, values.change_by, prefix)
