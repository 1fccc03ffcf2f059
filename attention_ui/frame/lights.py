"""The lights of a computation as a list: what holds, and what was measured."""

from collections.abc import Sequence

import streamlit as st
from torch import Tensor

from attention_core.lights.light import Light
from attention_core.lights.of_trace import Lights, lights
from attention_core.operations import MaskedFill
from attention_core.rounding import agree, difference, to_within
from attention_core.trace import Trace

from .contents import LESSONS, lesson

SIGNS = {
    True: ":green[:material/check_circle:]",
    False: ":red[:material/error:]",
    None: ":gray[:material/remove:]",
}
"""Green, red, and where the question does not arise."""
TAUGHT_IN = {"variance": "divide_by_sqrt_d"}
"""The lesson that explains a light, where earlier ones need not keep to it."""


def draw_lights(lights: Sequence[Light]) -> None:
    """A line for each light, red ones first: its sign, its title, and what was measured."""
    first = sorted(lights, key=lambda each: each.holds is not False)
    lines = [f"{SIGNS[each.holds]} **{each.title}.** {each.evidence}" for each in first]
    st.markdown("  \n".join(lines))


def light(good: bool, words: str) -> None:
    """A check that is on or off, in words too. `words` are ours, never a person's."""
    colour, icon = ("green", "check_circle") if good else ("orange", "error")
    st.markdown(f":{colour}[:material/{icon}:] {words}")


def agreement(
    words: str, pairs: Sequence[tuple[Tensor, Tensor]], *made: tuple[Trace, str]
) -> tuple[bool, str]:
    """For a light: whether two ways agree, in `words`, and how closely; `made`: their steps."""
    return agree(pairs, *made), f"{words}, {to_within(difference(pairs))}."


def note(words: str) -> None:
    """Something to notice, neither right nor wrong, if anything; `words` are ours."""
    if words:
        st.markdown(f":gray[:material/info:] {words}")


def as_taught(light: Light, page: str) -> Light:
    """A light as a page shows it: what only a later lesson explains is no fault there yet."""
    if light.holds or light.name not in TAUGHT_IN:
        return light
    order, taught = [each.name for each in LESSONS], lesson(TAUGHT_IN[light.name])
    about = f"{light.evidence} *{taught.title}* is about that."
    if light.holds is None:
        return light._replace(evidence=about)
    if order.index(page) < order.index(taught.name):
        return light._replace(holds=None, evidence=f"Not yet: {about}")
    return light


def lights_of(trace: Trace, output: str) -> list[Light]:
    """The lights of an output's attention, but for questions that do not arise."""
    found = lights(trace, _may_look(trace, output), output)
    return [each for each in found if each.holds is not None or each.step]


def sums_verdict(trace: Trace, output: str) -> tuple[bool, str]:
    """Whether every row of the weights that an output is made with sums to 1, in words."""
    found = Lights(trace, _may_look(trace, output), output=output)["rows_sum_to_1"]
    return found.holds is not False, f"{found.title}. {found.evidence}"


def _may_look(trace: Trace, output: str) -> Tensor | None:
    """The mask (query, key) of the output's own attention; None where it hides nothing."""
    needed = trace[output].earlier()
    hides = (s for n, s in trace.items() if n in needed and isinstance(s.operation, MaskedFill))
    masks = (step.inputs[1] for step in hides)
    return next((mask.value for mask in masks if mask.axes == ("query", "key")), None)
