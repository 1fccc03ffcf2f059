"""Values that only this lesson has: names that a model gives, and what is switched off in it."""

import re
from dataclasses import dataclass

from attention_core.real_model.changes import Changes
from attention_core.text.tokenizers import clean

from ...controls.fields import Sentence
from ...reactive.fields import AsItIs, Word, parts_of

MOST_OFF, LONGEST_WORD = 40, 40
KINDS = "a|attention|f|feed-forward|t|token"
PART = re.compile(rf"(?:({KINDS}) ?(\d{{1,3}}))|(\d{{1,3}})\.(\d{{1,3}})")


NAME = Word(r"[a-z0-9.]{1,40}", "one of those that can be chosen here")
"""One of the control's choices, or a place: words and numbers of our own making."""


@dataclass(frozen=True)
class Prompt(AsItIs):
    """A text for the model's own tokenizer, which its control's `check` asks."""

    def read(self, text: str) -> str:
        if not text.strip():
            raise ValueError("it must have at least one word")
        return Sentence().read(text).rstrip("\n")  # of an Enter that was meant to have it read


@dataclass(frozen=True)
class Next(AsItIs):
    """What may come next, as a person types it; nothing for what the page proposes."""

    def read(self, text: str) -> str:
        if len(text) > LONGEST_WORD:
            raise ValueError(f"it has {len(text):,} characters, and {LONGEST_WORD} fit")
        return clean(text)[0]


@dataclass(frozen=True)
class Ids:
    """Tokens by their ids, as `8.120.7`; nothing for none."""

    most: int

    def read(self, text: str) -> tuple[int, ...]:
        parts = text.split(".") if text else []
        if len(parts) > self.most:
            raise ValueError(f"it names {len(parts):,} tokens, and {self.most} fit")
        for part in parts:
            if not re.fullmatch(r"[0-9]{1,9}", part):
                raise ValueError("it must look like 8.120.7: the ids of tokens")
        return tuple(map(int, parts))

    def write(self, value: tuple[int, ...]) -> str:
        return ".".join(map(str, value))


@dataclass(frozen=True)
class Parts(AsItIs):
    """Heads as `11.1`, `attention 5`, `feed-forward 5`, and `token 4`, which no other sees."""

    def read(self, text: str) -> str:
        given = ",".join(part.strip() for part in text.split(",") if part.strip()) or "none"
        like = "11.1 (layer.head), attention 5, feed-forward 5 (a layer), token 4 (its place)"
        return ", ".join(dict.fromkeys(parts_of(given, MOST_OFF, "parts", PART, like)))


def changes_of(written: str) -> Changes:
    """What is switched off, as `Parts` has it."""
    heads, attention, ffn, tokens = set(), set(), set(), set()
    for part in filter(None, written.split(", ")):
        found = PART.fullmatch(part)
        assert found is not None, part  # `Parts` has read it
        kind, place, of_head, head = found.groups()
        if kind is None:
            heads.add((int(of_head), int(head)))
        else:
            {"a": attention, "f": ffn, "t": tokens}[kind[0]].add(int(place))
    return Changes(*map(frozenset, (heads, attention, ffn, tokens)))
