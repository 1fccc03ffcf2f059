"""A card that runs alone where nothing else of the page shows what its controls change."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import wraps
from typing import Any

from ..controls import held
from ..controls.control import Values
from ..controls.parts import part
from .card import card

Place = AbstractContextManager[Any]
"""Where a card's controls stand, beside its words."""
Draw = Callable[[Values, Place], None]


def alone(name: str, title: str, words: str | Callable[[Values], str]) -> Callable[[Draw], None]:
    """A card, as `card` makes it, that is drawn by a function of the values, and runs alone.

        @alone("leak", "Measure the leak", "Change one token …")
        def leak(values: Values, beside: Place) -> None:
            with beside:
                control(CHANGED)
            picture("leak", equation(…))

    The function may use what the page has made before, but must take from its argument the values
    that its own controls change.
    """

    def drawn_by(draw: Draw) -> None:
        @wraps(draw)
        def whole() -> None:
            values = held.values()
            told = words if isinstance(words, str) else words(values)
            with card(name, title, told) as beside:
                draw(values, beside)

        part(name, whole)

    return drawn_by
