"""A run of one's own: trained in slices, shown while it goes on, and watched afterwards."""

import streamlit as st

from attention_core.small_models.induction import (
    STEPS,
    LearningSettings,
    Record,
    learn_by_steps,
)

from ...charts.curve import curve
from ...page.page import narrow
from ...page.show import show
from ...settings import session
from ...settings.control import control
from ...widgets.long_run import Steps, go_on, long_run
from ...words import number
from .watching import moment_words, show_run


def train_one() -> None:
    """The seed, the run with its progress, and the player of what was recorded."""
    control("network_seed", width=200)
    seed = session.current().network_seed

    def work() -> Steps:
        records: list[Record] = []
        for step, record in learn_by_steps(LearningSettings(seed)):
            records += [record] if record is not None else []
            yield step / STEPS, records

    cost = f"{STEPS} steps of training, about 10 seconds"
    run = long_run("heads", seed, work, quick=False, cost=cost, verb="Train")
    if run.found and run.steps is not None:
        _show_so_far(run.found)
    elif run.found:
        show_run(run.found, "watched_heads_own")
        narrow(moment_words(run.found))
    go_on(run)


def _show_so_far(records: list[Record]) -> None:
    """The loss and the best score of a run that goes on."""
    steps, losses = [r.step for r in records], [r.loss_repeated for r in records]
    title = f"Loss on repeated tokens over {steps[-1]:,} steps, logarithmic."
    show(curve(steps, losses, len(records) - 1, "loss on repeated tokens", title))
    last = records[-1]
    best = number(last.prefix_matching[1].max().item(), 2)
    st.markdown(
        f"Step {last.step}: loss {number(last.loss_repeated, 3)}, and the highest prefix-matching "
        f"score in the second layer is {best}."
    )
