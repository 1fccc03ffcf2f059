"""Every end of every control: its bounds, its choices, on and off; packed into few links."""

import tomllib
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

from attention_core.examples import EXAMPLES
from attention_core.small_models import grammar
from attention_ui.controls import fields
from attention_ui.controls.control import Control, understood

_LINKS = tomllib.loads(Path(__file__).with_name("links.toml").read_text(encoding="utf-8"))
HARD, BAD = _LINKS["hard"], _LINKS["bad"] | {"too long": {"sentence": "x " * 500}}
"""Links of settings that are hard together, and of what cannot be used, by what they are."""
LONG = "word " * fields.MAX_TOKENS
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
    fields.Sentence: lambda field: ("Hello", LONG[: field.most_bytes]),
}
"""By the kind of a field, the texts of a link at its ends."""


def ends(one: Control, among: Sequence[Control]) -> list[str]:
    """A control at each of its ends, as a link has it; none for a place, a trail or a name."""
    start = understood({"example": "wild_cat"}, among)[0][one.name]
    found = ENDS.get(type(one.field), lambda _: ())(one.field)
    return [text for text in found if one.field.read(text) != start]


def links_to_the_ends(controls: Sequence[Control]) -> list[dict[str, str]]:
    """Links with each control at each end once, those that can be used beside all else."""
    made: list[dict[str, str]] = []
    left = [(one.name, text) for one in controls for text in ends(one, controls)]
    while left:
        waiting = [end for end in left if not _placed(made, controls, *end)]
        assert len(waiting) < len(left), f"no link takes {waiting}"
        left = waiting
    return made


def is_taken(link: Mapping[str, str], controls: Sequence[Control]) -> bool:
    """Whether all that a link says is used as it is."""
    values, wrong = understood(link, controls)
    said = [each for each in controls if each.name in link]
    return not wrong and all(values[one.name] == one.field.read(link[one.name]) for one in said)


def _placed(made: list[dict[str, str]], controls: Sequence[Control], name: str, text: str) -> bool:
    """Put an end into the first link that takes it: some fit one example or a long text alone."""
    examples = ({"example": example} for example in EXAMPLES)
    for link in [*made, {}, *examples, {"sentence": LONG, "tokenizer": "blanks"}]:
        tried = {"example": "wild_cat", **link, name: text}
        if name not in link and is_taken(tried, controls):
            if not any(link is each for each in made):
                made.append(link)
            link[name] = text
            return True
    return False
