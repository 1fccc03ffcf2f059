"""A round of the game: what is on the table, the guess, and what gives the mistake away."""

import streamlit as st

from attention_core.lights.light import Light
from attention_core.mistakes.layer import layer, right_inputs
from attention_core.mistakes.named import NAMED
from attention_core.mistakes.rounds import (
    lights_with,
    red,
    ruled_out_by,
    suspects,
    switched_on,
)
from attention_core.mistakes.switched import MISTAKES
from attention_core.operations import Given
from attention_core.recipes import PLURAL
from attention_core.trace import Trace

from ...cards.questions import Pick, Verdict
from ...picture.equation_parts import Parts, equation_of
from ...picture.matrix import Matrix
from ...settings import session
from ...settings.choices import TENSORS
from ...settings.control import control, control_row, offered
from ...settings.settings import Settings
from ...words import listed

TOO_SHORT = (
    "Nothing is wrong here: on this text no mistake of this kind can be seen. Type a longer one, "
    "or choose another number of red lights."
)
MISTAKE = "mistake"
"""What the question covers: which mistake it is."""
BEFORE = ("token_ids", "embeddings", "head_queries", "head_keys", "head_values", "mask")
BEFORE += ("head_weights", "W_output")
"""Steps whose numbers are on the table. Not how they came about: that would name the mistake."""
AFTER = {
    "head_context_vectors": ("head_weights", "head_values"),
    "concat": ("head_context_vectors",),
    "output": ("concat", "W_output"),
}
"""Steps that every layer makes from others in the same way."""


def hidden(settings: Settings) -> str:
    """The mistake of this round; "" where this text can show none."""
    inputs, recipe = settings.inputs, settings.heads_recipe
    return switched_on(inputs, recipe, settings.level, settings.round_seed)


def build(settings: Settings) -> Trace:
    """The tensors on the table: numbers that were given, and what is made from them in any case."""
    inputs, recipe, name = settings.inputs, settings.heads_recipe, hidden(settings)
    made = MISTAKES[name].layer(inputs, recipe) if name else layer(right_inputs(inputs), recipe)
    weights, _ = made["head_context_vectors"].inputs  # whatever is done to them on the way
    found = {step: made[step] for step in (*BEFORE, *AFTER, *TENSORS)}
    found["head_weights"] = weights
    trace = made.emptied()
    for name, step in found.items():
        operation, inputs = Given(_nested(step.value.tolist())), []
        if name in AFTER:  # no mistake changes how these are made
            operation, inputs = step.operation, [trace[each] for each in AFTER[name]]
        trace.step(name, operation, *inputs, axes=step.axes)
    return trace


def _nested(values: list | float) -> tuple | float:
    return tuple(map(_nested, values)) if isinstance(values, list) else values


def choose(settings: Settings) -> None:
    """The level, the round, and the head that is drawn."""
    with control_row():
        control("level")
        control("round_seed", width=140)
        st.button("Next round", on_click=session.next_seed, args=("round_seed",))
        if len(offered("head", settings)) > 1:
            control("head", elsewhere=True)


def choose_tensor() -> None:
    """Which other tensor is looked at."""
    control("tensor", elsewhere=True, width=260)


def tensor(trace: Trace, settings: Settings) -> Parts:
    """The chosen tensor, with what it is made from where that may be told."""
    if settings.tensor == "head_queries":
        return _roles(trace, settings)
    return _of_head(trace, settings.tensor, settings)


def context(trace: Trace, settings: Settings) -> Parts:
    """Weights and values of one head, and what comes of them."""
    return _of_head(trace, "head_context_vectors", settings)


def _roles(trace: Trace, settings: Settings) -> Parts:
    head = min(settings.head, trace.size("head") - 1)
    return tuple(Matrix(trace[f"head_{role}"], lead=(head,)) for role in PLURAL.values())


def _of_head(trace: Trace, name: str, settings: Settings) -> Parts:
    head = min(settings.head, trace.size("head") - 1)
    step = trace[name]
    drawn = [Matrix(e, lead=(head,)) for e in (*step.inputs, step) if e.value.ndim == 3]
    return equation_of(step, drawn=drawn)


def _found(settings: Settings, name: str = "") -> tuple[Light, ...]:
    inputs, recipe = settings.inputs, settings.heads_recipe
    return lights_with(inputs, recipe, name or hidden(settings))


def which_mistake(settings: Settings) -> Pick | None:
    """The question of the game; None where nothing could be switched on."""
    truth = hidden(settings)
    if not truth:
        return None
    names = suspects(settings.inputs, settings.heads_recipe)

    def judge(guess: list[int]) -> Verdict:
        guessed = names[guess[0]]
        if guessed == truth:
            return Verdict(True, f"Right: {gives_away(settings)}")
        return Verdict(False, f"Not quite. {rules_out(settings, guessed)}")

    return Pick(
        words="Which mistake was switched on? Look at the lights, then at the tensors.",
        choices=[NAMED[name].title for name in names],
        judge=judge,
        truth=lambda: f"It is “{NAMED[truth].title}”: {gives_away(settings)}",
        until_right=True,
    )


def gives_away(settings: Settings) -> str:
    """The evidence for the mistake, in words."""
    if not hidden(settings):
        return TOO_SHORT
    truth = NAMED[hidden(settings)]
    found = red(_found(settings))
    if not found:
        return f"no light is red, only the tensors show it. {truth.unseen}"
    first = found[0]
    others = listed([f"“{each.title}”" for each in found[1:]])
    also = f" Red too: {others}." if others else ""
    return f"the red light “{first.title}” gives it away. {first.evidence}{also}"


def rules_out(settings: Settings, guessed: str) -> str:
    """What would have ruled out a guess."""
    here, there = _found(settings), _found(settings, guessed)
    apart = ruled_out_by(here, there)
    if not apart:
        said = _otherwise(here, there)
        return f"With “{NAMED[guessed].title}”, every light would have the same colour. {said}"
    light, other = apart[0]
    colour = {True: "green", False: "red", None: "grey"}
    return (
        f"With “{NAMED[guessed].title}”, the light “{light.title}” would be {colour[other.holds]}. "
        f"Here it is {colour[light.holds]}: {light.evidence}"
    )


def _otherwise(here: tuple[Light, ...], there: tuple[Light, ...]) -> str:
    for mine, other in zip(here, there, strict=True):
        if mine.holds is False and mine.evidence != other.evidence:
            return f"Here: {mine.evidence} With that one: {other.evidence}"
    return "No light tells the two apart: only the tensors do."


def show_truth(settings: Settings) -> None:
    """What it was, its line, and the way to the lab."""
    name = hidden(settings)
    if not name:
        st.markdown(TOO_SHORT)
        return
    mistake = NAMED[name]
    st.markdown(f"**{mistake.title}.** {mistake.words}")
    wrong, right = st.columns(2)
    with wrong:
        st.code(mistake.wrong, language="python", wrap_lines=True)
    with right:
        st.code(mistake.right, language="python", wrap_lines=True)
    st.page_link(
        "pages/mistakes_lab.py",
        label="Look at it in the mistakes lab",
        query_params={**session.link_query("mistakes_lab"), "mistake": name},
    )
