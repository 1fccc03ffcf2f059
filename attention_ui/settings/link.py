"""How settings are written in a link. A link holds its example, and only what differs from it, so
`?example=life_is_short` says it all. An address without any setting is a first visit.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from urllib.parse import parse_qsl, urlencode

from attention_core.examples import EXAMPLES
from attention_core.text.tokenizers import clean

from ..controls.fields import Choice, Field
from .fit import choices_below, limits, misfit, problem_with_heads
from .settings import FIELDS, HEADS, KEPT, SETTINGS, VIEW_ONLY, Settings, label

MAX_LINK = 7_620
"""Characters of a link after its question mark; browsers and servers take 8,000 in all."""
FIRST = next(iter(EXAMPLES))
"""The example of an address that names none."""
FIRST_VISIT = {"example": FIRST}
"""What an address without any setting stands for."""
MAX_PIN = 4_050
MAX_UNKNOWN = 4


def problem_with(settings: Settings) -> str | None:
    """What stops these settings from being used, in words; None if nothing does."""
    return misfit(settings) or problem_with_link(settings)


def problem_with_link(settings: Settings) -> str | None:
    """What stops a link from giving these settings back, in words; None if nothing does."""
    query = to_query(settings)
    for name, text in query.items():
        try:
            FIELDS[name].read(text)
        except ValueError as error:
            return f"{label(name).capitalize()}: {error}."
    length = len(urlencode(query))
    if length <= MAX_LINK:
        return None
    return (
        f"The link to this page would have {length:,} characters, and {MAX_LINK:,} fit. Shorten "
        "the text, take typed numbers back, or unpin."
    )


def to_query(settings: Settings) -> dict[str, str]:
    """The link's parameters: the example, and what differs from it."""
    plain = settings.start_of_own
    query = {"example": settings.example}
    for name in FIELDS:
        value = getattr(settings, name)
        if value != getattr(plain, name):
            query[name] = FIELDS[name].write(value)
    return query


def from_query(query: Mapping[str, str]) -> tuple[Settings, list[str]]:
    """The settings of a link, and a notice for everything in it that could not be used.

    Parameters that are not ours are left alone, without a notice.
    """
    notices = []

    def refuse(words: str, instead: str = "The example's own is used.") -> None:
        notices.append(f"{words} {instead}")

    values: dict[str, object] = {}
    for name, kind in FIELDS.items():
        if name in query:
            try:
                values[name] = kind.read(query[name])
            except ValueError as error:
                shown = repr(_quoted(query[name])) if query[name] else "empty"
                words = f"The link's {name} is {shown}, but {error}."
                if name == "example":
                    refuse(words, f"“{EXAMPLES[FIRST].title}” is shown instead.")
                elif name in KEPT:
                    refuse(words, "It was left out.")
                else:
                    refuse(words)
    example = EXAMPLES[str(values.pop("example", FIRST))]
    plain = Settings.of(example)
    settings = replace(plain, **values)
    settings = replace(settings.start_of_own, **values)
    problem = problem_with_heads(settings)
    if problem:
        said = ", ".join(f"{name} {values[name]}" for name in HEADS if name in values)
        refuse(f"The link's {said} cannot be used: {problem}")
        settings = replace(settings, **{name: getattr(plain, name) for name in HEADS})
    for name, (most, but) in limits(settings).items():
        if getattr(settings, name) > most:
            own = getattr(settings.start_of_own, name)
            if name in values:  # else another setting left it no room: it goes along
                refuse(f"The link's {name} is {values[name]}, but {but}.")
            settings = replace(settings, **{name: min(own, most)})
    for name, choice in choices_below(settings).items():
        if getattr(settings, name) == values.get(name):
            choices = " or ".join(SETTINGS[name].values(settings).values())
            words = f"The link's {name} is {values[name]}, but here it can be {choices}."
            refuse(words, f"{choice} is used.")
        settings = replace(settings, **{name: choice})
    problem = problem_with(settings)
    if problem:
        refuse(f"The link's settings do not fit together: {problem}")
        kept = {name: getattr(settings, name) for name in KEPT if name != "pin"}
        settings = replace(plain, **kept)
    return settings, notices


def unknown_names(names: Sequence[str]) -> str:
    """What is said of a link's names that are no settings: a few of them, shortened."""
    told = ", ".join(f"“{_quoted(name, 20)}”" for name in names[:MAX_UNKNOWN])
    more = len(names) - MAX_UNKNOWN
    told += f" and {more:,} more" if more > 0 else ""
    return f"The link has names that this app does not know; they were left out: {told}."


def _quoted(text: str, most: int = 40) -> str:
    """The beginning of a text of a link, fit to be shown."""
    return clean(text if len(text) <= most else text[:most] + "…")[0]


def to_pin(settings: Settings) -> str:
    """What to pin of these settings: those that make a lesson's numbers."""
    query = to_query(settings)
    return urlencode({name: text for name, text in query.items() if name not in VIEW_ONLY})


def read_pin(text: str) -> str:
    """What a link pins, written anew. Raises ValueError for what cannot be used."""
    if len(text) > MAX_PIN:
        raise ValueError(f"it has {len(text):,} characters, and {MAX_PIN:,} fit: shorten the text")
    if not text:
        return ""
    query = dict(parse_qsl(text, keep_blank_values=True))
    if not query or not query.keys() <= FIELDS.keys() - VIEW_ONLY:
        raise ValueError("it must be settings, such as example=wild_cat&seed=70")
    settings, notices = from_query(query)
    if notices:
        reason = notices[0].partition(", but ")[2] or notices[0]
        raise ValueError(f"it pins what cannot be used: {reason.partition('. ')[0]}")
    return to_pin(settings)


def pinned(settings: Settings) -> Settings | None:
    """The settings that are pinned, or None."""
    return from_query(dict(parse_qsl(settings.pin)))[0] if settings.pin else None


def what_changed(before: Settings, now: Settings) -> list[str]:
    """The settings that make other numbers now, a line each. May quote the person."""
    lines = []
    for name, kind in FIELDS.items():
        old, new = getattr(before, name), getattr(now, name)
        if name not in VIEW_ONLY and old != new:
            lines.append(f"{label(name)}: {_shown(kind, old)} → {_shown(kind, new)}")
    return lines


def _shown(kind: Field, value: object) -> str:
    """A value in the words of its control."""
    text = kind.options[value] if isinstance(kind, Choice) else kind.write(value)
    text = text or "as the example"
    return text if len(text) <= 60 else text[:60] + "…"
