"""The lights of a computation as a list, and what they say of the layer done right."""

from collections.abc import Sequence

import streamlit as st
from torch import Tensor

from attention_core.lights.light import Light
from attention_core.lights.of_trace import lights, one_light
from attention_core.mistakes.rounds import lights_with, red
from attention_core.trace import Trace

from ..settings.settings import Settings
from ..shell.contents import LESSONS, lesson
from .show import folded
from .view import View

SIGNS = {
    True: ":green[:material/check_circle:]",
    False: ":red[:material/error:]",
    None: ":gray[:material/remove:]",
}
"""Green, red, and where the question does not arise."""


TAUGHT_IN = {"variance": "divide_by_sqrt_d"}
"""The lesson that explains a light, where earlier ones need not keep to it."""


def draw_lights(found: Sequence[Light]) -> None:
    """One line for each light: its sign, what it says when it is green, and what was measured."""
    with st.container(gap="small"):
        for each in found:
            st.markdown(f"{SIGNS[each.holds]} **{each.title}.** {each.evidence}")


def sums_verdict(trace: Trace, output: str) -> tuple[bool, str]:
    """Whether every row of the weights that an output is made with sums to 1, in words."""
    found = one_light(trace, "rows_sum_to_1", _mask(trace), output)
    return found.holds is not False, f"{found.title}. {found.evidence}"


def show_checks(view: View, output: str) -> None:
    """Folded away: every property that can be measured on the way to an output."""
    with folded("What holds of this attention", "checks", ":material/fact_check:") as is_open:
        if is_open:
            found = lights(view.trace, _mask(view.trace), output=output)
            draw_lights([as_taught(each, view.page) for each in found if each.holds is not None])


def as_taught(light: Light, page: str) -> Light:
    """A light as a page shows it: what only a later lesson explains is no fault there yet."""
    order, taught = [each.name for each in LESSONS], TAUGHT_IN.get(light.name, page)
    if light.holds is not False or order.index(page) >= order.index(taught):
        return light
    return light._replace(
        holds=None, evidence=f"Not yet: {light.evidence} *{lesson(taught).title}* is about that."
    )


def _mask(trace: Trace) -> Tensor | None:
    return trace["mask"].value if "mask" in trace else None


def right_verdict(settings: Settings) -> tuple[bool, str]:
    """Whether the layer done right turns every light green, in words."""
    off = red(lights_with(settings.inputs, settings.heads_recipe))
    if off:
        return False, f"Done right, the same layer breaks “{off[0].title}”: {off[0].evidence}"
    return True, "Done right, this layer turns every light green."
