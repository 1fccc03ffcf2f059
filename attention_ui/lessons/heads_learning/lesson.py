"""Watch heads learn: its controls, and the head that a run ended with."""

from attention_core.small_models.induction import EXAMPLE_IDS, best_head, shipped_run
from attention_core.small_models.induction_head import induction_head
from attention_core.small_models.repeated import next_of_earlier
from attention_core.trace import Trace

from ...controls.control import Control, Values
from ...controls.fields import Whole
from ...controls.shared import EXAMPLE, MAX_SEED

TARGETS = next_of_earlier(EXAMPLE_IDS)
ROUNDED = 2e-3
"""Recorded weights are kept in half precision: three digits."""
STEPS = tuple(record.step for record in shipped_run().records)
RECORDED_STEP = Control(
    "recorded_step", Whole.among(*STEPS), "Training step", STEPS[-1], of_page=True
)
NETWORK_SEED = Control(
    "network_seed", Whole(0, MAX_SEED), "Seed of the network", 1, widget="text_input"
)
OWN_STEP = Control("own_step", Whole.among(*STEPS), "Training step", STEPS[-1], of_page=True)
CONTROLS = (EXAMPLE, RECORDED_STEP, NETWORK_SEED, OWN_STEP)


def trace_of(_: Values) -> Trace:
    """The lesson's trace: no control changes it."""
    return induction_head(shipped_run())


def recorded_gap(trace: Trace) -> float:
    """How far the weights, worked out anew, are from those recorded at the end of the training."""
    last = shipped_run().records[-1]
    return (trace["weights"].value - last.weights[best_head(last)]).abs().max().item()


def on_target(trace: Trace) -> float:
    """The mean weight that queries which have been there before give to the outlined cells."""
    weights = trace["weights"].value
    return ((weights * TARGETS).sum() / TARGETS.any(-1).sum()).item()


def on_first_key(trace: Trace) -> float:
    """The mean weight on the first key of queries that have not been there before, but the first
    one, which has no choice.
    """
    return trace["weights"].value[~TARGETS.any(-1)][1:, 0].mean().item()
