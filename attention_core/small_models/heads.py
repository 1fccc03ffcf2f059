"""What each head does, on many texts: a kind's score is the share of weight where it looks."""

from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass

from .grammar import ANIMALS, CLOSES, PEOPLE, PLACES, SECOND_NAMES, WORDS

BAR = 0.6
"""A head may be called by a kind from this score on."""
FAR = 0.3
"""And only if its score is by so much above that of the same head before training."""
Keys = Callable[[Sequence[str], int], Sequence[int]]
"""The keys that a query of a text, by its place, is expected to look at; none for most."""


@dataclass(frozen=True)
class Kind:
    """What a head may do: its name, what it does in a few words, and where it would look."""

    name: str
    does: str
    keys: Keys

    def looks(self, words: Sequence[str]) -> Iterator[tuple[int, tuple[int, ...]]]:
        """Queries of a text, and the keys that each is expected to look at."""
        for query in range(1, len(words)):
            if keys := self.keys(words, query):
                yield query, tuple(keys)


def _same_word(words: Sequence[str], query: int) -> list[int]:
    return [key for key in range(query) if words[key] == words[query]]


def _word_before(word: Container[str], before: Container[str] = WORDS) -> Keys:
    """The word just before, where both are among some."""
    return lambda words, query: (
        [query - 1] if words[query] in word and words[query - 1] in before else []
    )


def _pronoun(words: Sequence[str], query: int) -> list[int]:
    """The animal that "it" stands for: the first after "because", else the second."""
    if words[query] != "it":
        return []
    *_, first, second = (key for key in range(query) if words[key] in ANIMALS)
    return [first if words[query - 1] == "because" else second]


def _opening(words: Sequence[str], query: int) -> list[int]:
    """From where a closing mark may come next."""
    marks = [key for key in range(query) if words[key] in MARKS]
    may_close = words[query] in VERBS or words[query] in PLACES
    return marks[-1:] if may_close and marks and words[marks[-1]] in CLOSES else []


MARKS = (*CLOSES, *CLOSES.values())
VERBS = {verb for own in ANIMALS.values() for verb in own}
KINDS = (
    Kind("previous word", "looks at the word just before", lambda _, query: [query - 1]),
    Kind("same word", "looks at where the same word stood before", _same_word),
    Kind(
        "whose name",
        "looks from a second name at the first name before it",
        _word_before(SECOND_NAMES),
    ),
    Kind(
        "because",
        "looks from “it” at a “because” just before it",
        _word_before({"it"}, {"because"}),
    ),
    Kind("but", "looks from “it” at a “but” just before it", _word_before({"it"}, {"but"})),
    Kind(
        "name again",
        "looks from a first name that comes again at what followed it before",
        lambda words, at: [key + 1 for key in _same_word(words, at) if words[at] in PEOPLE],
    ),
    Kind("pronoun to noun", "looks from “it” at the animal it stands for", _pronoun),
    Kind(
        "opening mark",
        "looks back at the mark that is still open, from words after which it may close",
        _opening,
    ),
    Kind(
        "sentence start",
        "looks at where the sentence began",
        lambda words, query: [key for key in range(query) if key == 0 or words[key] == "."][-1:],
    ),
    Kind("text start", "rests on the start of the text", lambda *_: [0]),
    Kind("itself", "looks at its own word", lambda _, query: [query]),
)


def named(scores: dict[str, float], untrained: dict[str, float]) -> tuple[str, ...]:
    """The kinds that a head may be called by, the highest score first; none where none fits."""
    fits = [
        name for name, score in scores.items() if score >= BAR and score - untrained[name] >= FAR
    ]
    return tuple(sorted(fits, key=lambda name: -scores[name]))
