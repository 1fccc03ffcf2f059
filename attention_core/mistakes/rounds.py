"""Rounds of the diagnosis game: which mistake is switched on unseen, and what tells two apart."""

import random
from functools import lru_cache

from ..lights.light import Light
from ..lights.of_trace import lights
from ..recipes import HeadsRecipe
from ..text.inputs import Inputs
from .layer import layer, right_inputs
from .switched import MISTAKES

LEVELS = ("one", "several", "none")
"""How many lights of the mistake are red."""


@lru_cache(maxsize=64)
def lights_with(inputs: Inputs, recipe: HeadsRecipe, name: str = "") -> tuple[Light, ...]:
    """The lights of the lab's layer with a mistake switched on, by its name; of the right layer
    without one. It is called twice, as the light on a second call wants it.
    """
    right = layer(right_inputs(inputs), recipe)
    may_look = right["mask"].value
    if not name:
        return lights(right, may_look, layer(right_inputs(inputs), recipe))
    first, second = (MISTAKES[name].layer(inputs, recipe, call) for call in (0, 1))
    return lights(first, may_look, second)


def red(found: tuple[Light, ...]) -> list[Light]:
    """The lights that are red."""
    return [each for each in found if each.holds is False]


def suspects(inputs: Inputs, recipe: HeadsRecipe) -> list[str]:
    """The mistakes that this text and these heads can show."""
    return [name for name, each in MISTAKES.items() if not each.applies(inputs, recipe)]


def switched_on(inputs: Inputs, recipe: HeadsRecipe, level: str, seed: int) -> str:
    """The mistake of a round: same text, heads, level and seed, same mistake; "" where this text
    can show no such mistake. Raises ValueError for a level that there is not.
    """
    if level not in LEVELS:
        raise ValueError(f"level is {level!r}, but must be one of {', '.join(LEVELS)}")
    fitting = [name for name in suspects(inputs, recipe) if _level(inputs, recipe, name) == level]
    return random.Random(f"{level} {seed}").choice(fitting) if fitting else ""


def _level(inputs: Inputs, recipe: HeadsRecipe, name: str) -> str:
    n_red = len(red(lights_with(inputs, recipe, name)))
    return LEVELS[min(n_red, 2) - 1] if n_red else "none"


def ruled_out_by(found: tuple[Light, ...], guessed: tuple[Light, ...]) -> list[tuple[Light, Light]]:
    """The lights that are not the same with the mistake and with the guess: what would have ruled
    the guess out. Each is the light as it is, and as the guess would have it.
    """
    pairs = zip(found, guessed, strict=True)
    return [(here, there) for here, there in pairs if here.holds != there.holds]
