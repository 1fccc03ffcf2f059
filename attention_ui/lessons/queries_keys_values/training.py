"""Training the layer on the sentence, and scrubbing through what was recorded."""

import math

import streamlit as st

from attention_core.experiments.trained import attend_trained
from attention_core.experiments.training import (
    TrainingRecord,
    TrainingSettings,
    next_tokens,
    parting,
    train_twice,
)
from attention_core.text.embedding import embed
from attention_core.text.tokenizers import visible

from ...charts.curve import curve
from ...charts.matrix import Matrix
from ...page.equation import equation
from ...page.show import light, note, one_of, show
from ...page.view import View
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
    """The curve of the loss, and the layer as it was at the recorded step that is chosen."""
    if not is_running:
        _say_outcome(settings, records)
        words = parting_words(settings.rate, parting(records, twin))
        if words:
            light(False, words)
    steps = [record.step for record in records]
    losses = [record.loss for record in records]
    at = len(records) - 1
    if at and not is_running:
        key = f"scrub_{len(records)}_{records[-1].step}"
        chosen = st.select_slider(
            "Recorded step", options=steps, value=steps[-1], key=key, width=420
        )
        at = steps.index(chosen)
    record = records[at]
    with st.container(horizontal=True, vertical_alignment="center", gap="large"):
        show(curve(steps, losses, at, "loss", f"Loss over {steps[-1]:,} steps, logarithmic."))
        with st.container(width=300):
            st.markdown(
                f"Step **{record.step:,}**  \nloss **{record.loss:.4f}**  \n"
                f"gradient norm **{record.gradient_norm:.3g}**"
            )
            st.caption(loss_words(record.loss))
    if record.diverged:
        st.markdown("At this step the numbers are no longer finite, so there is nothing to draw.")
        return
    trained = view.beside(
        attend_trained(embed(settings.inputs), record.matrices, settings.t_scaled)
    )

    st.markdown(
        "Left: the causal weights. Right: what each position expects to come next; the right "
        "token of row 0 is the token of row 1, and so on."
    )
    weights, expected = (Matrix(trained.trace[name]) for name in ("weights", "probabilities"))
    equation(trained, "trained", build=lambda _: (weights, "→", expected))
    _say_predictions(trained)
    matrix = one_of("Matrix", MATRICES, "W_query", key="trained_matrix")
    wide = trained.trace[matrix].value.shape[0] > trained.trace[matrix].value.shape[1]
    equation(
        trained,
        "trained_matrix",
        build=lambda _: (Matrix(trained.trace[matrix], transposed=wide),),
    )


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
