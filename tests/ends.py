"""Every end of every setting, from its field: its bounds, its choices, on and off; packed into few
links. And which settings a page has: those that it reads.
"""

import dataclasses
import sys
from collections.abc import Callable, Collection
from contextlib import contextmanager

from attention_core.examples import EXAMPLES
from attention_core.small_models import grammar
from attention_ui.controls import fields
from attention_ui.settings import fit
from attention_ui.settings import link as links
from attention_ui.settings import settings as all_settings
from attention_ui.settings.link import from_query
from attention_ui.settings.settings import FIELDS, MAX_TOKENS, Settings

ENDS: dict[type, Callable[..., Collection[str]]] = {
    fields.Choice: lambda field: field.options,
    fields.Flag: lambda _: ("on", "off"),
    fields.Whole: lambda field: (str(field.least), str(field.most)),
    fields.OptionalWhole: lambda field: (str(field.least), str(field.most)),
    fields.Decimal: lambda field: (f"{field.least:g}", f"{field.most:g}"),
    fields.ScoreRow: lambda field: (
        f"-{field.most}",
        ",".join([f"{field.most}", "-inf"] * (field.longest // 2)),
    ),
    fields.Edits: lambda _: (f"0.0:{fields.LARGEST_ENTRY}", f"0.0:-{fields.LARGEST_ENTRY}"),
    fields.KnownWords: lambda _: (".", "the cat " * ((grammar.LONGEST - 1) // 2)),
    fields.Search: lambda field: ("0.7785", "x" * field.longest),
    fields.Sentence: lambda _: ("Hello", "word " * MAX_TOKENS),
}
"""By the kind of a field, the texts of a link at its ends."""


def ends(name: str) -> list[str]:
    """A setting at each of its ends, as a link has it; none for a place, a trail or a name."""
    start = getattr(Settings.of(EXAMPLES["wild_cat"]), name)
    field = FIELDS[name]
    found = ENDS.get(type(field), lambda _: ())(field)
    return [text for text in found if field.read(text) != start]


def links_to_the_ends(names: Collection[str]) -> list[dict[str, str]]:
    """Links in which each of these settings is at each of its ends once, and which are used as
    they are: some ends fit only beside others, as a query of 63 beside 64 tokens.
    """
    made: list[dict[str, str]] = []
    left = [(name, text) for name in FIELDS if name in names for text in ends(name)]
    while left:
        waiting = [end for end in left if not _placed(made, *end)]
        assert len(waiting) < len(left), f"no link takes {waiting}"
        left = waiting
    return made


def _placed(made: list[dict[str, str]], name: str, text: str) -> bool:
    """Put an end into the first link that takes it. Some belong to the first example alone."""
    for link in [*made, {}, {"example": links.FIRST}]:
        if name not in link and not from_query({"example": "wild_cat", **link, name: text})[1]:
            if not any(link is each for each in made):
                made.append(link)
            link[name] = text
            return True
    return False


@contextmanager
def reading():
    """`with reading() as names`: the settings that are read by anything but what handles all of
    them alike, such as what writes a link.
    """
    names: set[str] = set()
    handling_all = (dataclasses, all_settings, fit, links)
    alike = {"<string>", *(module.__file__ for module in handling_all)}

    def read(settings, name):
        if name in FIELDS:
            frame = sys._getframe(1)
            while frame.f_code in passing_on:  # a property is read by who asks for it
                frame = frame.f_back
            if frame.f_code.co_filename not in alike:
                names.add(name)
        return object.__getattribute__(settings, name)

    properties = [each for each in vars(Settings).values() if isinstance(each, property)]
    passing_on = {read.__code__, *(each.fget.__code__ for each in properties)}
    Settings.__getattribute__ = read
    try:
        yield names
    finally:
        del Settings.__getattribute__
