"""How wide a widget will be that is as wide as its words."""

from collections.abc import Iterable

NARROW = " fijlrt(),.√1"
"""Letters about half as wide as others."""


def about_as_wide(label: str, choices: Iterable[str] = ()) -> int:
    """Pixels that a toggle or buttons will take: a grey bar, until their code is there."""
    buttons = [
        36 + 7 * len(each) - 3.2 * sum(letter in NARROW for letter in each) for each in choices
    ]
    return round(max(sum(buttons), 6 * len(label)) if buttons else 44 + 5.4 * len(label))
