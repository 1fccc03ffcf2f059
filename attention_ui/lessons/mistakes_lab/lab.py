"""The layer with one mistake beside the right one: its trace, its lines, its lights."""

import streamlit as st

from attention_core.lights.light import Light
from attention_core.mistakes.base import WRONG
from attention_core.mistakes.rounds import lights_with
from attention_core.mistakes.side_by_side import side_by_side
from attention_core.mistakes.switched import MISTAKES, Switched
from attention_core.trace import Trace

from ...cards.questions import Pick, Verdict
from ...picture.equation_parts import Parts
from ...picture.matrix import Matrix
from ...settings.control import control, control_row, offered
from ...settings.settings import Settings
from ...words import listed

LIGHTS = "lights"
"""What the lights show, for the question that covers them."""


def chosen(settings: Settings) -> Switched:
    """The mistake of the settings, or the first one, which any text can show."""
    mistake = MISTAKES[settings.mistake]
    return next(iter(MISTAKES.values())) if why_not(settings) else mistake


def why_not(settings: Settings) -> str:
    """Why the mistake of the settings cannot be shown on this text; "" where it can."""
    return MISTAKES[settings.mistake].applies(settings.inputs, settings.heads_recipe)


def instead_words(settings: Settings) -> str:
    """Says so where another mistake is shown than the one that was chosen; else ""."""
    why = why_not(settings)
    title = chosen(settings).named.title
    return f"{why} So you see “{title}” instead." if why else ""


def build(settings: Settings) -> Trace:
    """The right layer, the wrong one as far as it differs, and the difference."""
    mistake = chosen(settings)
    right, wrong = mistake.pair(settings.inputs, settings.heads_recipe)
    return side_by_side(right, wrong, mistake.step, mistake.wrong_step)


def choose(settings: Settings) -> None:
    """The mistake, and the head that is drawn."""
    with control_row():
        control("mistake", width=360)
        if len(offered("head", settings)) > 1 and _of_heads(settings):
            control("head", elsewhere=True)


def _of_heads(settings: Settings) -> bool:
    return chosen(settings).step.startswith("head_")


def names(settings: Settings) -> tuple[str, str]:
    """The steps that are compared: the right one and the wrong one."""
    mistake = chosen(settings)
    return mistake.step, f"{WRONG}{mistake.wrong_step or mistake.step}"


def compared(trace: Trace, settings: Settings) -> Parts:
    """Wrong less right: three matrices under one pointer."""
    right, wrong = names(settings)
    drawn = [_matrix(trace, name, settings) for name in (wrong, right, "difference")]
    return drawn[0], "−", drawn[1], "=", drawn[2]


def _matrix(trace: Trace, name: str, settings: Settings) -> Matrix:
    step = trace[name]
    lead = (min(settings.head, trace.size("head") - 1),) if step.value.ndim == 3 else ()
    return Matrix(step, lead=lead)


def made(trace: Trace, settings: Settings, is_wrong: bool) -> Parts:
    """The equation that makes one of the two."""
    step = trace[names(settings)[is_wrong]]
    parts: list[Matrix | str] = []
    signs = step.operation.signs
    for at, each in enumerate(step.inputs):
        if at < len(signs) - 1 and signs[at] is not None:
            lead = _matrix(trace, each.name, settings).lead
            turned = at == 1 and step.operation.transpose
            parts += [*([signs[at]] if signs[at] else []), Matrix(each, turned, lead=lead)]
    return (*parts, signs[-1] or "=", _matrix(trace, step.name, settings))


def show_lines(mistake: Switched) -> None:
    """The line, wrong and right."""
    wrong, right = st.columns(2)
    with wrong:
        st.markdown(":orange[:material/close:] Wrong")
        st.code(mistake.named.wrong, language="python", wrap_lines=True)
    with right:
        st.markdown(":green[:material/check:] Right")
        st.code(mistake.named.right, language="python", wrap_lines=True)


def found_in(settings: Settings) -> tuple[Light, ...]:
    """The lights of the layer with the chosen mistake."""
    return lights_with(settings.inputs, settings.heads_recipe, chosen(settings).name)


def which_lights(settings: Settings) -> Pick | None:
    """Which properties does this mistake break? Nothing to ask where no light sees it."""
    found = found_in(settings)
    asked = [each for each in found if each.holds is not None]
    broken = [at for at, each in enumerate(asked) if each.holds is False]
    if not broken:
        return None
    said = listed([f"“{asked[at].title}”" for at in broken])
    truth = f"What breaks is {said}."

    def judge(guess: list[int]) -> Verdict:
        if guess == broken:
            return Verdict(True, f"Right: {said}.")
        n_right = len({*guess} & {*broken})
        n_missing, n_wrong = len(broken) - n_right, len({*guess} - {*broken})
        counted = f"{n_right} of your choices break, {n_wrong} still hold, {n_missing} are missing."
        return Verdict(False, f"{counted} {truth}")

    return Pick(
        words="Which of these does the mistake break? Choose one or several: each is true of the "
        "layer done right.",
        choices=[each.title for each in asked],
        judge=judge,
        truth=lambda: truth,
        many=True,
        teaches="Each of these can be a test in your own code.",
    )
