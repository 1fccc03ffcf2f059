"""How wide a widget will be that is as wide as its words."""

from collections.abc import Iterable


def about_as_wide(label: str, choices: Iterable[str] = ()) -> int:
    """Pixels that a toggle, or buttons side by side, will take. Until their code is in the browser
    Streamlit shows a grey bar in their place; where that was narrower, the words beside them would
    break anew when they come. Once they are there, they are as wide as they are: `STYLE`.
    """
    buttons = [33 + 6.5 * len(each) for each in choices]
    return round(max(sum(buttons), 6 * len(label)) if buttons else 44 + 5.4 * len(label))
