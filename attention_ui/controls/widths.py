"""How wide a widget will be that is as wide as its words."""

from collections.abc import Iterable


def about_as_wide(label: str, choices: Iterable[str] = ()) -> int:
    """Pixels that a toggle or buttons will take: a grey bar, until their code is there."""
    buttons = [33 + 6.5 * len(each) for each in choices]
    return round(max(sum(buttons), 6 * len(label)) if buttons else 44 + 5.4 * len(label))
