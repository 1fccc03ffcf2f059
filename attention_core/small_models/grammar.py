"""The grammar of a tiny language: what may come next after any words, and how likely it is.

Some words can only be known by looking back. After "because it" the first animal of the sentence
decides the verb, after "but it" the second; a person who was named before has the same second name
again; what was opened, “ or (, is closed. Every choice is seen in the words at once, so the chance
of the next word, given all words before, is just the chance of that choice.

    next_words(("<start>", "the", "cat"))  # {'sees': 0.15, …, 'purrs': 0.2, 'meows': 0.2}
"""

import difflib
import random
import re
from collections.abc import Generator, Mapping, Sequence

START = "<start>"
"""Stands before every text, and never again."""
ANIMALS = {
    "cat": ("purrs", "meows"),
    "dog": ("barks", "growls"),
    "cow": ("moos", "grazes"),
    "bird": ("sings", "flies"),
    "frog": ("croaks", "hops"),
    "horse": ("neighs", "trots"),
}
"""Each animal and what it alone does."""
ADJECTIVES = ("tired", "small", "old", "happy")
MEETINGS = ("sees", "follows", "likes", "meets")
PEOPLE = ("anna", "ben", "clara", "david", "emma")
SECOND_NAMES = ("brook", "stone", "wood", "field", "hill", "lake")
ACTIONS = ("finds", "holds", "paints")
THINGS = ("ball", "apple", "drum", "kite")
PLACES = ("garden", "house", "forest", "river")
CLOSES = {"“": "”", "(": ")"}
"""What is opened, and what closes it."""
WORDS = (
    *(START, ".", *CLOSES, *CLOSES.values(), "the", "it", "because", "but", "and", "in", "says"),
    *(*ANIMALS, *(verb for verbs in ANIMALS.values() for verb in verbs)),
    *(*ADJECTIVES, *MEETINGS, *PEOPLE, *SECOND_NAMES, *ACTIONS, *THINGS, *PLACES),
)
"""The vocabulary: a word's place is its id."""

LONGEST = 32
"""Words that a network of this language reads at most, START among them."""

Chances = Mapping[str, float]
Told = Generator[Chances, str, str | None]
"""Words being told: it yields what may come next, and is sent the word that does."""


def split(text: str) -> list[str]:
    """The words and marks of a text as typed: a first " opens a quotation, the next closes it."""
    parts = re.findall(r'["“”().]|[^\s"“”().]+', text.lower())
    opens = True
    for place, part in enumerate(parts):
        if part == '"':
            parts[place] = "“" if opens else "”"
        if part in '"“”':
            opens = parts[place] == "”"
    return parts


NEAR = 0.7
"""How much alike two spellings are, from 0 to 1, where one may be meant by the other."""


def nearest(word: str, n: int = 3) -> list[str]:
    """The words of the vocabulary that are spelled nearly like this one; none where none are."""
    return difflib.get_close_matches(word, WORDS[1:], n, cutoff=NEAR)


def next_words(words: Sequence[str]) -> dict[str, float]:
    """The chance of each next word after all before. Raises ValueError for what is never said."""
    text = _text()
    chances: Mapping[str, float] = {START: 1.0}
    next(text)
    for place, word in enumerate(words):
        if word not in chances:
            before = " ".join(words[:place]) or "nothing"
            raise ValueError(f"{word!r} cannot come after {before}: choose one of {set(chances)}")
        chances = text.send(word)
    return dict(chances)


def spoken(source: random.Random, n_words: int) -> tuple[list[str], list[float]]:
    """A text of so many words after START, and each one's chance; its end may be cut off."""
    text = _text()
    chances = next(text)
    words: list[str] = []
    had: list[float] = []
    while len(words) < n_words:
        (word,) = source.choices(tuple(chances), tuple(chances.values()))
        words.append(word)
        had.append(chances[word])
        chances = text.send(word)
    return words, had


def _text() -> Told:
    yield {START: 1.0}
    names: dict[str, str] = {}
    while True:
        first = yield {"the": 0.4} | _person(names, 0.6)
        yield from _animals() if first == "the" else _people(first, names)


def _animals() -> Told:
    """… tired cat sees the dog because it purrs. Or: … tired cat purrs in the garden."""
    first = yield from _animal()
    verb = yield _evenly(MEETINGS, 0.75) | _evenly(ANIMALS[first], 0.25)
    if verb in ANIMALS[first]:
        return (yield from _end("."))
    yield {"the": 1.0}
    second = yield from _animal(besides=first)
    joint = yield {"because": 0.5, "but": 0.5}
    yield {"it": 1.0}
    yield _evenly(ANIMALS[first if joint == "because" else second])
    return (yield {".": 1.0})


def _people(first: str, names: dict[str, str]) -> Told:
    """… brook says “ the cat purrs ” . Or: … brook ( the cat purrs ) finds the ball and …"""
    yield from _second_name(first, names)
    verb = yield {"says": 0.3, "(": 0.2} | _evenly(ACTIONS, 0.5)
    if verb == "says":
        yield {"“": 1.0}
        yield from _clause(CLOSES["“"])
        return (yield {".": 1.0})
    if verb == "(":
        yield from _clause(CLOSES["("])
        yield _evenly(ACTIONS)
    yield {"the": 1.0}
    yield _evenly(THINGS)
    if (yield {".": 0.5, "and": 0.5}) == "and":
        other = yield _person(names)
        yield from _second_name(other, names)
        yield _evenly(ACTIONS)
        yield {"the": 1.0}
        yield _evenly(THINGS)
        yield {".": 1.0}
    return None


def _person(names: Mapping[str, str], together: float = 1.0) -> dict[str, float]:
    """Somebody who was named before, three times in five; else, or where nobody was, a new one."""
    new = [person for person in PEOPLE if person not in names]
    known = 0.6 * together if names and new else together * bool(names)
    return _evenly(tuple(names), known) | _evenly(new, together - known)


def _second_name(person: str, names: dict[str, str]) -> Told:
    """Any of them for somebody new, the same again for somebody who was named before."""
    known = names.get(person)
    names[person] = yield _evenly(SECOND_NAMES) if known is None else {known: 1.0}
    return names[person]


def _clause(mark: str) -> Told:
    """the old dog barks in the house, and the mark that ends it."""
    yield {"the": 1.0}
    animal = yield from _animal()
    yield _evenly(ANIMALS[animal])
    return (yield from _end(mark))


def _animal(besides: str | None = None) -> Told:
    """… tired cat, without or with the adjective: the animal."""
    animals = tuple(animal for animal in ANIMALS if animal != besides)
    word = yield _evenly(ADJECTIVES, 0.5) | _evenly(animals, 0.5)
    return (yield _evenly(animals)) if word in ADJECTIVES else word


def _end(mark: str) -> Told:
    """Perhaps … in the garden, then the mark."""
    if (yield {mark: 0.6, "in": 0.4}) == "in":
        yield {"the": 1.0}
        yield _evenly(PLACES)
        yield {mark: 1.0}
    return mark


def _evenly(words: Sequence[str], together: float = 1.0) -> dict[str, float]:
    return {word: together / len(words) for word in words}
