"""The lights of a computation as a list, and what they say of the layer done right."""

from collections.abc import Sequence

import streamlit as st

from attention_core.lights.light import Light
from attention_core.mistakes.rounds import lights_with, red

from ..settings.settings import Settings

SIGNS = {
    True: ":green[:material/check_circle:]",
    False: ":orange[:material/error:]",
    None: ":gray[:material/remove:]",
}
"""Green, red, and where the question does not arise."""


def draw_lights(found: Sequence[Light]) -> None:
    """One line for each light: its sign, what it says when it is green, and what was measured."""
    with st.container(gap="small"):
        for each in found:
            st.markdown(f"{SIGNS[each.holds]} **{each.title}.** {each.evidence}")


def right_verdict(settings: Settings) -> tuple[bool, str]:
    """Whether the layer done right turns every light green, in words."""
    off = red(lights_with(settings.inputs, settings.heads_recipe))
    if off:
        return False, f"Done right, the same layer breaks “{off[0].title}”: {off[0].evidence}"
    return True, "Done right, the same layer turns every one of them green."
