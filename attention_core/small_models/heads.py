"""What each head does: measured on many texts, and named by rule.

A kind of head says where it looks: from which words, and at which ones. A head's score for it is
the share of its weight that goes there, on average over all such words of many texts.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from .grammar import ANIMALS, CLOSES, PEOPLE, PLACES, SECOND_NAMES

BAR = 0.6
"""A head may be called by a kind from this score on."""
FAR = 0.3
"""And only if its score is by so much above that of the same head before training."""
Looks = Iterator[tuple[int, tuple[int, ...]]]
"""Queries, and the keys that each is expected to look at."""


@dataclass(frozen=True)
class Kind:
    """What a head may do: its name, what it does in a few words, and where it would look."""

    name: str
    does: str
    looks: Callable[[Sequence[str]], Looks]


def _word_before(words: Sequence[str]) -> Looks:
    for query in range(1, len(words)):
        yield query, (query - 1,)


def _same_word(words: Sequence[str]) -> Looks:
    for query, word in enumerate(words):
        earlier = tuple(key for key in range(query) if words[key] == word)
        if earlier:
            yield query, earlier


def _first_name(words: Sequence[str]) -> Looks:
    for query in range(1, len(words)):
        if words[query] in SECOND_NAMES:
            yield query, (query - 1,)


def _from_it_after(joint: str) -> Callable[[Sequence[str]], Looks]:
    def looks(words: Sequence[str]) -> Looks:
        for query in range(1, len(words)):
            if words[query] == "it" and words[query - 1] == joint:
                yield query, (query - 1,)

    return looks


def _name_again(words: Sequence[str]) -> Looks:
    for query, keys in _same_word(words):
        if words[query] in PEOPLE:
            yield query, tuple(key + 1 for key in keys)


def noun_of(words: Sequence[str], query: int) -> int:
    """The place of the animal that "it" stands for: the first of its sentence after "because",
    the second after "but".
    """
    *_, first, second = (key for key in range(query) if words[key] in ANIMALS)
    return first if words[query - 1] == "because" else second


def _pronoun(words: Sequence[str]) -> Looks:
    for query, word in enumerate(words):
        if word == "it":
            yield query, (noun_of(words, query),)


def _opening(words: Sequence[str]) -> Looks:
    """From where a closing mark may come next."""
    verbs = {verb for own in ANIMALS.values() for verb in own}
    opened = None
    for query, word in enumerate(words):
        if word in CLOSES:
            opened = query
        elif word in CLOSES.values():
            opened = None
        elif opened is not None and (word in verbs or word in PLACES):
            yield query, (opened,)


def _sentence_start(words: Sequence[str]) -> Looks:
    """At the full stop before the sentence, or at the start of the text."""
    begun = 0
    for query, word in enumerate(words):
        if query > begun:
            yield query, (begun,)
        if word == ".":
            begun = query


def _text_start(words: Sequence[str]) -> Looks:
    for query in range(1, len(words)):
        yield query, (0,)


def _itself(words: Sequence[str]) -> Looks:
    for query in range(1, len(words)):
        yield query, (query,)


KINDS = (
    Kind("previous word", "looks at the word just before", _word_before),
    Kind("same word", "looks at where the same word stood before", _same_word),
    Kind("whose name", "looks from a second name at the first name before it", _first_name),
    Kind("because", "looks from “it” at a “because” just before it", _from_it_after("because")),
    Kind("but", "looks from “it” at a “but” just before it", _from_it_after("but")),
    Kind(
        "name again",
        "looks from a first name that comes again at what followed it before",
        _name_again,
    ),
    Kind("pronoun to noun", "looks from “it” at the animal it stands for", _pronoun),
    Kind(
        "opening mark",
        "looks back at the mark that is still open, from words after which it may close",
        _opening,
    ),
    Kind("sentence start", "looks at where the sentence began", _sentence_start),
    Kind("text start", "rests on the start of the text", _text_start),
    Kind("itself", "looks at its own word", _itself),
)


def named(scores: dict[str, float], untrained: dict[str, float]) -> tuple[str, ...]:
    """The kinds that a head may be called by, the highest score first; none where none fits."""
    fits = [
        name for name, score in scores.items() if score >= BAR and score - untrained[name] >= FAR
    ]
    return tuple(sorted(fits, key=lambda name: -scores[name]))
