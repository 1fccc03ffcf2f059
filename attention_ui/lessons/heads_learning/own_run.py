"""A run of one's own: trained in slices, shown while it goes on, and watched afterwards."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from attention_core.small_models.induction import STEPS, LearningSettings, Record, learn_by_steps

from ...picture.layout import Layout
from ...picture.learning import learning
from ...reactive.control import Control, Values
from ...reactive.fields import Whole
from ...reactive.long_run import Steps, Work, run_so_far
from .lesson import OWN_STEP
from .watching import run_of


def training(values: Values) -> Work:
    """The training from a seed."""
    seed = values.network_seed

    def pieces() -> Steps:
        records: list[Record] = []
        for step, record in learn_by_steps(LearningSettings(seed)):
            records += [record] if record is not None else []
            yield step / STEPS, records

    return Work("heads", seed, pieces, f"{STEPS} steps of training, about 10 seconds", "Train")


def recorded() -> tuple[list[Record], bool]:
    """What was recorded so far, and whether it goes on."""
    run = run_so_far("heads")
    return run.result or [], run.steps is not None


def steps_of(records: Sequence[Record]) -> Control:
    """The control that moves through what was recorded, as far as the run came."""
    steps = tuple(record.step for record in records) or (0,)
    return replace(OWN_STEP, field=Whole(0, steps[-1], steps))


def watched(records: Sequence[Record]) -> Callable[[int], Layout]:
    """The picture at a step; at the last where that was not reached."""
    run, steps = run_of(records), [record.step for record in records]
    return lambda step: learning(run, steps.index(step if step in steps else steps[-1]))
