"""A run of one's own: trained in slices, shown while it goes on, and watched afterwards."""

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from attention_core.small_models.induction import STEPS, LearningSettings, Record, learn_by_steps

from ...cards.show import Moving, chart, moves, picture
from ...controls.control import Values
from ...controls.fields import Whole
from ...controls.widget import control
from ...frame.long_run import Run, Steps, go_on, long_run
from ...picture.learning import learning
from ...words import number
from .curve import curve
from .lesson import NETWORK_SEED, OWN_STEP
from .watching import moment_words, run_of


def train_one(values: Values) -> None:
    """The seed, the run with its progress, and what was recorded, to be moved through."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="large"):
        control(NETWORK_SEED, width=180)
        run = _run(values.network_seed)
        if run.found and run.steps is None:
            moves("own", OWN_STEP, width=260, told=False)
    if run.found and run.steps is not None:
        _show_so_far(run.found)
    elif run.found:
        _watch(run.found, values)
    go_on(run)


def _run(seed: int) -> Run:
    def work() -> Steps:
        records: list[Record] = []
        for step, record in learn_by_steps(LearningSettings(seed)):
            records += [record] if record is not None else []
            yield step / STEPS, records

    cost = f"{STEPS} steps of training, about 10 seconds"
    return long_run("heads", seed, work, quick=False, cost=cost, verb="Train")


def _watch(records: Sequence[Record], values: Values) -> None:
    """What was recorded, as far as the run came."""
    run = run_of(records)
    steps = tuple(record.step for record in records)
    there = replace(OWN_STEP, field=Whole(0, steps[-1], steps))
    now = values.own_step
    at = steps.index(now) if now in steps else len(steps) - 1
    about = (values.network_seed, len(steps))
    moving = Moving(there, lambda step: learning(run, steps.index(step)), about)
    picture("own", learning(run, at), moving)
    st.caption(" ".join(moment_words(records)))


def _show_so_far(records: list[Record]) -> None:
    """The loss and the best score of a run that goes on."""
    steps, losses = [r.step for r in records], [r.loss_repeated for r in records]
    title = f"Loss on repeated tokens over {steps[-1]:,} steps, logarithmic."
    chart("so_far", curve(steps, losses, len(records) - 1, "loss on repeated tokens", title), None)
    last = records[-1]
    best = number(last.prefix_matching[1].max().item(), 2)
    st.markdown(
        f"Step {last.step}: loss {number(last.loss_repeated, 3)}, and the highest prefix-matching "
        f"score in the second layer is {best}."
    )
