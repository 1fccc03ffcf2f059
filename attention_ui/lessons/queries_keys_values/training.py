"""Training the layer on the sentence, and scrubbing through what was recorded."""

import math
from collections.abc import Sequence

import streamlit as st
import torch

from attention_core.experiments.trained import attend_trained
from attention_core.experiments.training import (
    MostChanged,
    TrainingRecord,
    TrainingSettings,
    most_changed,
    next_tokens,
    parting,
    train_twice,
)
from attention_core.text.embedding import embed
from attention_core.text.tokenizers import visible

from ...charts.chart import Chart
from ...charts.curve import curve
from ...charts.training import Watched, frames_of, watch_training
from ...page.equation import equation
from ...page.page import narrow
from ...page.show import folded, light, note, one_of, show, show_played
from ...page.view import View
from ...picture.matrix import Matrix
from ...settings import session
from ...settings.control import control, control_row
from ...settings.settings import Settings
from ...widgets.long_run import Steps, go_on, long_run
from ...words import number

MATRICES = ("W_query", "W_key", "W_value", "W_output")


def train_it(view: View) -> None:
    """Controls, the run with its progress, and the recorded steps with a slider."""
    if len(session.current().inputs.tokens) < 2:
        st.markdown("A sentence of one token has no next token to predict. Add a word.")
        return
    _choose()
    settings = session.current()
    recipe = recipe_of(settings)

    def work() -> Steps:
        embeddings = embed(settings.inputs)["embeddings"].value
        return train_twice(embeddings, next_tokens(settings.inputs.tokens), recipe)

    about = (settings.inputs, recipe)
    cost = f"{settings.steps:,} steps of gradient descent"
    run = long_run("training", about, work, quick=False, cost=cost, verb="Train")
    if run.found:
        _scrub(view, settings, *run.found, is_running=run.steps is not None)
    go_on(run)


def _choose() -> None:
    with control_row():
        for name in ("rate", "steps", "t_width"):
            control(name, width=200)
        control("t_scaled")


def recipe_of(settings: Settings) -> TrainingSettings:
    """How the settings say to train."""
    return TrainingSettings(
        steps=settings.steps,
        learning_rate=settings.rate,
        seed=settings.t_seed,
        d_out=settings.t_width,
        scaled=settings.t_scaled,
    )


def _scrub(
    view: View,
    settings: Settings,
    records: list[TrainingRecord],
    twin: dict[int, float],
    is_running: bool,
) -> None:
    """The run as it can be watched: loss, weights and a matrix at each recorded step."""
    if not is_running:
        _say_outcome(settings, records)
        words = parting_words(settings.rate, parting(records, twin))
        if words:
            light(False, words)
    finite = [record for record in records if not record.diverged]
    if is_running or not finite:
        steps, losses = [r.step for r in records], [r.loss for r in records]
        title = f"Loss over {steps[-1]:,} steps, logarithmic."
        show(curve(steps, losses, len(records) - 1, "loss", title))
        return
    if finite[1:]:
        st.text(change_words(view.trace.labels("token"), most_changed(finite[0], finite[-1])))
    most = most_changed(finite[0], finite[-1]).matrix if finite[1:] else "W_query"
    matrix = one_of("Matrix", MATRICES, most, key="trained_matrix")
    names = view.trace.labels("d_in") if view.trace.has_axis("d_in") else ()
    show_played(watched(view.trace.labels("token"), names, finite, matrix), "watched_training")
    narrow(
        "Play it, or move the slider with the pointer or the arrow keys. Orange frames are the "
        "targets: the token each row has to predict. A mask hides that token from its row (the "
        "next lesson), so the row has to predict it from the tokens before.",
        caption=True,
    )
    narrow(loss_words(finite[-1].loss), caption=True)
    last = view.beside(
        attend_trained(embed(settings.inputs), finite[-1].matrices, settings.t_scaled)
    )
    _say_predictions(last)
    with folded("A recorded step, number by number", "one_step", ":material/calculate:") as is_open:
        if is_open:
            _one_step(view, settings, finite)


def watched(
    tokens: Sequence[str], components: Sequence[str], records: list[TrainingRecord], name: str
) -> Chart:
    """The chart of the recorded steps: the loss, the attention, and the matrix of this name.
    `components` are the names of an embedding's entries; none where they are numbered.
    """
    names = list(map(visible, tokens))
    n_tokens = len(names)
    turned = getattr(records[0].matrices, name)
    is_wide = turned.shape[0] > turned.shape[1]
    kept = frames_of(len(records), turned.numel() + n_tokens**2)
    shown = [records[at] for at in kept]
    matrices = [getattr(record.matrices, name) for record in shown]
    pairs = [(query, key) for query in range(n_tokens) for key in range(query + 1, n_tokens)]
    own, other = ([], list(dict.fromkeys(names))) if name == "W_output" else (list(components), [])
    rows, columns = (other, own) if is_wide else (own, other)
    return watch_training(
        [record.step for record in shown],
        [record.loss for record in shown],
        [
            Watched(
                "weights",
                torch.stack([record.weights for record in shown]),
                names,
                names,
                outlined=frozenset((query, query + 1) for query in range(n_tokens - 1)),
                hidden=frozenset(pairs),
                is_shares=True,
            ),
            Watched(
                name + ("ᵀ" if is_wide else ""),
                torch.stack([matrix.mT if is_wide else matrix for matrix in matrices]),
                rows,
                columns,
            ),
        ],
    )


def change_words(tokens: Sequence[str], most: MostChanged) -> str:
    """What changed most, in a sentence. It quotes a person's text: never Markdown."""
    query, key = (f"“{visible(tokens[at])}” (row {at})" for at in (most.query, most.key))
    way = "rose" if most.after > most.before else "fell"
    return (
        f"What changed most: the weight that {query} gives to {key} {way} from {most.before:.2f} "
        f"to {most.after:.2f}; of the matrices {most.matrix} moved farthest, "
        f"{number(most.moved, 2)} an entry on average."
    )


def _one_step(view: View, settings: Settings, records: list[TrainingRecord]) -> None:
    """The layer as it was at one recorded step, with the arithmetic of its cells."""
    steps = [record.step for record in records]
    at = 0
    if records[1:]:
        key = f"scrub_{len(records)}_{steps[-1]}"
        chosen = st.select_slider(
            "Recorded step", options=steps, value=steps[-1], key=key, width=420
        )
        at = steps.index(chosen)
    record = records[at]
    st.markdown(
        f"Step **{record.step:,}**, loss **{record.loss:.4f}**, gradient norm "
        f"**{record.gradient_norm:.3g}**. "
        "Left: the causal weights. Right: what each position expects to come next; the right "
        "token of row 0 is the token of row 1, and so on."
    )
    trained = view.beside(
        attend_trained(embed(settings.inputs), record.matrices, settings.t_scaled)
    )
    weights, expected = (Matrix(trained.trace[name]) for name in ("weights", "probabilities"))
    equation(trained, "trained", build=lambda _: (weights, "→", expected))


def loss_words(loss: float) -> str:
    """What a loss means for the right next token."""
    if not math.isfinite(loss):
        return "This loss is not a finite number, so it says nothing about the next token."
    return (
        f"A loss of {number(loss)} is as good as giving the right next token a probability of "
        f"{number(math.exp(-loss))} everywhere."
    )


def parting_words(rate: float, step: int | None) -> str:
    """What to say of a run that parts from its twin at a step; nothing of one that does not."""
    if step is None:
        return ""
    return (
        f"With a learning rate of {rate:g} the result depends on the last digit of the numbers: "
        f"start the same run with that digit changed, and its loss differs from step {step:,} on. "
        "Another processor may end elsewhere. Take a smaller learning rate, and both go the "
        "same way."
    )


def _say_outcome(settings: Settings, records: list[TrainingRecord]) -> None:
    """How the run ended, in words."""
    first, last = records[0], records[-1]
    if last.diverged:
        light(
            False,
            f"Diverged at step {last.step:,}: the loss is no longer a finite number. The learning "
            f"rate of {settings.rate:g} is too large here: each step overshoots further.",
        )
    elif first.loss > last.loss:
        light(
            True,
            f"The loss fell from {first.loss:.4f} to {last.loss:.4f}, "
            f"{first.loss / last.loss:,.1f} times smaller.",
        )
    else:
        light(False, f"The loss did not fall: {first.loss:.4f} at first, {last.loss:.4f} now.")


def _say_predictions(trained: View) -> None:
    """How many next tokens are right. The tokens are a person's text."""
    trace = trained.trace
    names = trace.labels("next")
    tokens = trace.labels("token")
    guesses = [names[place] for place in trace["probabilities"].value[:-1].argmax(dim=-1).tolist()]
    right = sum(guess == token for guess, token in zip(guesses, tokens[1:], strict=True))
    said = f"{right} of {len(guesses)} next tokens are the ones it finds most probable."
    if right == len(guesses):
        light(True, said)
    else:
        note(said)
    st.text("The sentence it predicts: " + " ".join(map(visible, [tokens[0], *guesses])))
