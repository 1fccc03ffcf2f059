"""What the diagnosis game leaves its reader able to answer."""

from attention_core.lights.light import TITLES
from attention_core.mistakes.named import NAMED
from attention_core.mistakes.rounds import lights_with, red, suspects

from ...page.closing import Answer
from ...page.view import View
from ...words import listed
from .game import MISTAKE, gives_away, hidden


def answers(view: View) -> list[Answer]:
    """On the evidence of this round, and on which light finds most."""
    settings = view.settings
    name = hidden(settings)
    was = f"It was “{NAMED[name].title}”: " if name else ""
    return [
        Answer(
            "What gave the mistake away?",
            f"{was}{gives_away(settings)}",
            "name_it",
            (MISTAKE,),
        ),
        Answer("Which check finds most mistakes?", finds_most(view), "lights"),
        Answer("What can no check find?", finds_none(view), "lights"),
    ]


def _by_light(view: View) -> dict[str, list[str]]:
    """The mistakes that each light sees on this text."""
    settings = view.settings
    found: dict[str, list[str]] = {name: [] for name in TITLES}
    for name in suspects(settings.inputs, settings.heads_recipe):
        for light in red(lights_with(settings.inputs, settings.heads_recipe, name)):
            found[light.name].append(name)
    return found


def finds_most(view: View) -> str:
    """Counted over all mistakes that this text can show."""
    settings = view.settings
    found = _by_light(view)
    best = max(found, key=lambda name: len(found[name]))
    n_all = len(suspects(settings.inputs, settings.heads_recipe))
    if not n_all:
        return "On a text of one token every check passes: type a longer one."
    return (
        f"“{TITLES[best]}” turns red for {len(found[best])} of the {n_all} mistakes that this text "
        f"can show, “{TITLES['rows_sum_to_1']}” for {len(found['rows_sum_to_1'])}. In your own "
        "code: change the last token, and see whether anything before it moves."
    )


def finds_none(view: View) -> str:
    """The mistakes that leave every property as it is."""
    settings = view.settings
    names = suspects(settings.inputs, settings.heads_recipe)
    unseen = [NAMED[name].title for name in names if NAMED[name].unseen]
    if not unseen:
        return "This text is too short to tell."
    said = listed([f"“{title}”" for title in unseen])
    return (
        f"{said}. They are attention too, only not the one that was meant. For these, read the "
        "code, or compare with numbers that are known to be right."
    )
