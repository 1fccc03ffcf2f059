"""Rounds of the diagnosis game: which mistake is switched on unseen, and what tells two apart."""

import random
from collections.abc import Sequence
from functools import lru_cache, partial
from itertools import count, islice

from ..lights.light import Light
from ..lights.of_trace import Lights
from ..recipes import HeadsRecipe
from ..text.inputs import Inputs
from .layer import layer, right_inputs, right_layer
from .named import NAMED
from .switched import MISTAKES

LEVELS = ("one", "several", "none")
"""How many lights of the mistake are red."""
AGAIN = (2, 5)
"""So many rounds after it was missed, a mistake comes again."""
OUTPUT = "layer_output"
LARGEST_SEED = 2**32 - 1


@lru_cache(maxsize=2_048)
def lights_with(inputs: Inputs, recipe: HeadsRecipe, name: str = "") -> tuple[Light, ...]:
    """The lights of the layer with a mistake switched on, or right; called twice for the lights."""
    made = _lights(inputs, recipe, name)
    return tuple(made[each] for each in made.names)


@lru_cache(maxsize=8)
def _lights(inputs: Inputs, recipe: HeadsRecipe, name: str) -> Lights:
    right, mistake = right_layer(inputs, recipe), MISTAKES.get(name)
    first = mistake.layer(inputs, recipe) if mistake else right
    anew = partial(layer, right_inputs(inputs), recipe)
    second = partial(mistake.layer, inputs, recipe, call=1) if mistake else anew
    return Lights(first, right["mask"].value, second, OUTPUT)


def red(lights: tuple[Light, ...]) -> list[Light]:
    """The lights that are red."""
    return [each for each in lights if each.holds is False]


def suspects(inputs: Inputs, recipe: HeadsRecipe) -> list[str]:
    """The mistakes that this text and these heads can show."""
    return [name for name, each in MISTAKES.items() if not each.why_not(inputs, recipe)]


def switched_on(inputs: Inputs, recipe: HeadsRecipe, level: str, seed: int) -> str:
    """The mistake of a round, or "", measuring few. Raises ValueError for no such level."""
    if level not in LEVELS:
        raise ValueError(f"level is {level!r}, but must be one of {', '.join(LEVELS)}")
    names = suspects(inputs, recipe)
    random.Random(f"{seed} {level}").shuffle(names)
    names.sort(key=lambda each: _level(NAMED[each].lights) != level)  # the likely ones first
    return next((each for each in names if _is_of(level, inputs, recipe, each)), "")


def next_seed(inputs: Inputs, recipe: HeadsRecipe, level: str, seed: int, name: str = "") -> int:
    """The seed of the round after this one, or the next that switches on this mistake."""
    after = (seed + 1) % (LARGEST_SEED + 1)
    if name not in suspects(inputs, recipe) or not _is_of(level, inputs, recipe, name):
        return after
    later = (each % (LARGEST_SEED + 1) for each in count(after))
    return next(each for each in later if switched_on(inputs, recipe, level, each) == name)


def due(rounds: Sequence[tuple[str, bool]]) -> str:
    """The mistake that comes again in the next round; "" for none.

    `rounds` are those that were played, in order: the mistake's name, and whether it was missed.
    One that was missed comes again `AGAIN` rounds later, one mistake a round: of two that are due,
    the one that has waited longer is first.
    """
    waiting: list[tuple[int, str]] = []
    for at, (name, is_missed) in enumerate(rounds):
        back = next((one for one in sorted(waiting) if one[0] <= at and one[1] == name), None)
        if back is not None:
            waiting.remove(back)
        if is_missed:
            waiting += [(at + later, name) for later in AGAIN]
    ready = sorted(one for one in waiting if one[0] <= len(rounds))
    return ready[0][1] if ready else ""


def _level(red: Sequence[str]) -> str:
    return ("none", *LEVELS[:2])[min(len(red), 2)]


@lru_cache(maxsize=2_048)
def _is_of(level: str, inputs: Inputs, recipe: HeadsRecipe, name: str) -> bool:
    """Whether a mistake has as many red lights as the level asks for. It measures no more of them
    than that takes: first those that are expected to be red.
    """
    made = _lights(inputs, recipe, name)
    likely_first = dict.fromkeys((*NAMED[name].lights, *made.names))
    enough = 1 if level == "none" else 2
    found = islice((each for each in likely_first if made[each].holds is False), enough)
    return _level([*found]) == level


def ruled_out_by(
    lights: tuple[Light, ...], guessed: tuple[Light, ...]
) -> list[tuple[Light, Light]]:
    """The lights, as they are and as guessed, that would have ruled the guess out."""
    known = {each.name: each for each in guessed}
    pairs = [(here, known[here.name]) for here in lights if here.name in known]
    return [(here, there) for here, there in pairs if here.holds != there.holds]
