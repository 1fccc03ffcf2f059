"""Watch heads learn: its controls, and the head that a run ended with."""

from functools import lru_cache

from attention_core.real_model.score_in_small import small_score_trace
from attention_core.small_models.induction import EXAMPLE as LETTERS
from attention_core.small_models.induction import (
    EXAMPLE_IDS,
    SIZE,
    best_head,
    induction_head,
    shipped_run,
)
from attention_core.small_models.repeated import NAMES, next_of_earlier
from attention_core.small_models.tracing import pass_through
from attention_core.trace import Trace
from attention_core.utils.head_name import head_id, head_name

from ...cards.why_there import Why, why_in_small
from ...controls.shared import EXAMPLE, seed_of
from ...reactive.control import Control, Values
from ...reactive.fields import Choice, Whole

TARGETS = next_of_earlier(EXAMPLE_IDS)
ROUNDED = 2e-3
"""Recorded weights are kept in half precision: three digits."""
STEPS = tuple(record.step for record in shipped_run().records)
RECORDED_STEP = Control(
    "recorded_step", Whole.among(*STEPS), "Training step", STEPS[-1], of_page=True
)
NETWORK_SEED = seed_of("network_seed", "Seed of the network", 1)
OWN_STEP = Control("own_step", Whole.among(*STEPS), "Training step", STEPS[-1], of_page=True)
HEADS = [(layer, head) for layer in range(SIZE.n_layers) for head in range(SIZE.n_heads)]
WHY_HEAD = Control(
    "why_head", Choice({head_id(*each): head_name(*each[::-1]) for each in HEADS}), "Head",
    head_id(*best_head(shipped_run().records[-1])),
)  # fmt: skip
WHY_FROM = Control(
    "why_from", Choice({f"{at}": f"{at}: {letter}" for at, letter in enumerate(LETTERS)}),
    "Where it looks from", f"{int(TARGETS.any(-1).int().argmax())}",
)  # fmt: skip
"""At first the first letter that has been there before."""
CONTROLS = (EXAMPLE, RECORDED_STEP, WHY_HEAD, WHY_FROM, NETWORK_SEED, OWN_STEP)


def trace_of(_: Values) -> Trace:
    """The lesson's trace: no control changes it."""
    return induction_head(shipped_run())


def recorded_gap(trace: Trace) -> float:
    """How far the weights, worked out anew, are from those recorded at the end of the training."""
    last = shipped_run().records[-1]
    return (trace["weights"].value - last.weights[best_head(last)]).abs().max().item()


def on_target(trace: Trace) -> float:
    """The mean weight that queries which have been there before give to the outlined cells."""
    return ((trace["weights"].value * TARGETS).sum() / TARGETS.any(-1).sum()).item()


def on_first_key(trace: Trace) -> float:
    """The mean weight on the first key of later queries that have not been there before."""
    return trace["weights"].value[~TARGETS.any(-1)][1:, 0].mean().item()


@lru_cache(maxsize=8)
def whole(off: str = "") -> Trace:
    """The way of the letters through the whole network, one head of it off."""
    head = (int(off[0]), int(off[2:])) if off else None
    return pass_through(shipped_run().weights, NAMES, LETTERS, head)


def why_there(values: Values) -> Why:
    """Of a head, at first the induction head: what made it look where it looks most."""
    layer, head = map(int, values.why_head.split("."))
    return why_in_small(whole(), layer, head, int(values.why_from))


def score_trace(*at: int) -> Trace:
    """A score of it (layer, head, query, key) as a trace."""
    return small_score_trace(shipped_run().weights, NAMES, LETTERS, *at)
