"""A text in a model's own tokens, and back.

What a person types is text: `<|im_start|>` is cut like any other word, and never becomes the
control token of that name. What cuts it is a program of its own (`cutting.py`), for which there is
a bound in time and in memory.
"""

import json
import os
import re
import subprocess
import sys
import unicodedata
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from threading import Lock, Timer
from typing import Any

from ..files.refused import ModelRefused, needed
from ..files.tensor_file import quoted
from ..text.byte_level import bytes_of_characters, in_their_text
from ..text.byte_pairs import joins
from . import cutting

LONGEST_TEXT = 100_000
"""Characters that are cut into tokens at once."""
TRIED = "The quick brown fox jumps over the lazy dog, 0123456789 times: isn't that a lot?\n"
"""A text that a tokenizer has to cut before it is taken: whatever else becomes of it."""
MOST_STARTS = 3
"""So often is what cuts started anew for a text, and then no more: a page may have many."""


@dataclass(frozen=True)
class Encoded:
    """A text as tokens."""

    ids: tuple[int, ...]
    pieces: tuple[str, ...]
    """What each token stands for, spaces included; `好‹1/3›` for part 1 of 3 of a character."""
    unknown: tuple[str, ...] = ()
    """What of the text the model has no token for: one that means just that stands in its place."""
    left_out: tuple[str, ...] = ()
    """What of the text stands in no token at all, but for blanks and marks on letters."""


@dataclass(frozen=True)
class Joined:
    """One merge of a word: its number, from 1, the token made, and the word after it."""

    number: int
    token: str
    pieces: tuple[str, ...]


class Tokenizer:
    """Cuts text into a model's tokens, by what a `tokenizer.json` says. Made by `from_json`, or by
    `from_fields` of a GGUF file.

    `beginning` and `end` are tokens that the model puts before and after every text, `prefix` is
    what it puts before a text, and is no part of it.
    """

    def __init__(
        self,
        content: bytes,
        wrong: str,
        beginning: Sequence[int] = (),
        end: Sequence[int] = (),
        prefix: str = "",
    ) -> None:
        needed("tokenizers", "cutting text into a model's tokens")
        self._cutter, self._prefix = _Cutter(content), prefix
        try:
            about = self._cutter.start()
            if "error" in about:
                raise ModelRefused(f"{wrong}: {quoted(about['error'])}")
            self._cutter.ask("around", TRIED)
        except TokenizerNotTaken as error:
            raise ModelRefused(f"{wrong}: {error}") from error
        self.kind: str = about["kind"]
        self._beginning, self._end = tuple(beginning), tuple(end)
        self._tokens = {token: written for written, token in about["tokens"].items()}
        self._added = {token: content for token, content, _ in about["added"]}
        self._control = tuple(content for _, content, is_special in about["added"] if is_special)
        self.unknown: int | None = about["unknown"]
        """What stands for all that it has no token for, if anything does."""
        self.size = len(about["tokens"])
        """How many tokens there are."""
        self.highest_id = max(self._tokens, default=0)

    def __contains__(self, token: int) -> bool:
        """Whether there is a token of this number: a model's table may have more rows."""
        return token in self._tokens

    def encode(self, text: str) -> Encoded:
        """The tokens of a text, with those that the model puts around every text. A control token
        that is typed is text: only the model writes one. Raises ValueError, in words, for no text,
        one that is too long, or a word that cannot be cut.
        """
        if not text:
            raise ValueError("there is no text: type at least one word")
        if len(text) > LONGEST_TEXT:
            raise ValueError(
                f"the text has {len(text):,} characters, but at most {LONGEST_TEXT:,} can be cut"
            )
        text = text.encode("utf-8", "replace").decode("utf-8")  # no half of a pair
        found = self._cutter.ask("encode", self._prefix + text)
        if "strange" in found:
            word = quoted(found["strange"])
            known = range(self.size)[::-6][:9]
            some = ", ".join(f"“{quoted(self.piece(each))}”" for each in known)
            raise ValueError(
                f"“{word}” is none of the {self.size} words of this model, such as {some}"
            )
        if "error" in found:
            raise ValueError("the model's tokenizer cannot cut this text")
        # An offset is where a token stands in the text; control tokens around it stand nowhere.
        before = len(self._prefix)
        spans = [(max(0, first - before), last - before) for first, last in found["offsets"]]
        unknown = tuple(
            text[first:last]
            for token, (first, last) in zip(found["ids"], spans, strict=True)
            if token == self.unknown and last > first
        )
        ids = (*self._beginning, *found["ids"], *self._end)
        pieces = in_their_text([self._content(token) for token in ids])
        return Encoded(ids, tuple(pieces), unknown, _uncovered(text, spans))

    def with_ids(self, text: Encoded, ids: Sequence[int]) -> Encoded:
        """A text and tokens a model wrote behind it, by ids: cut anew, the text may have others."""
        whole = (*text.ids, *ids)
        pieces = in_their_text([self._content(token) for token in whole])
        return replace(text, ids=whole, pieces=tuple(pieces))

    def control_words(self, text: str) -> tuple[str, ...]:
        """What stands in a text as a control token is written: it is text, and cut like any."""
        return tuple(each for each in self._control if each and each in text)

    def decode(self, ids: Sequence[int]) -> str:
        """The text of some tokens. Raises ValueError where that cannot be told."""
        found = self._cutter.ask("decode", list(ids))
        if "error" in found:
            raise ValueError("the model's tokenizer cannot put these tokens together")
        return found["text"]

    def piece(self, token: int) -> str:
        """What one token stands for by itself, as `Encoded.pieces` has it; `‹E5A5…›` for the first
        bytes of a character, `‹…BD›` for its last. In words where the tokenizer has no such token.
        """
        (piece,) = in_their_text([self._content(token)])
        return piece

    def _content(self, token: int) -> bytes:
        if token in self._added and self.kind == "bytes":
            return self._added[token].encode()
        written = self._tokens.get(token)
        if written is None:
            return f"token {token}, which the tokenizer lacks".encode()
        return self._bytes_of(written)

    def _bytes_of(self, written: str) -> bytes:
        byte = re.fullmatch(r"<0x([0-9A-F]{2})>", written)
        if self.kind == "bytes":
            known = bytes_of_characters()
            if all(character in known for character in written):
                return bytes(known[character] for character in written)
        elif self.kind == "sentencepiece":
            return bytes([int(byte[1], 16)]) if byte else written.replace("▁", " ").encode()
        return written.encode()

    def joins_of(self, word: str) -> tuple[tuple[str, ...], tuple[Joined, ...]] | None:
        """What a word is at first, in bytes or characters, and the merges that make its tokens, in
        their order. None where it has no merges, or they alone do not make what `encode` gives:
        some vocabularies take a word that they know as it is.
        """
        found = self._cutter.ask("merges", self._prefix + word)
        if not found:
            return None
        ranks = {(left, right): number for number, left, right in found["merges"]}
        done, joined = found["parts"], []
        first = self._drawn(done)
        for at, part in enumerate(done):
            for number, place, made in joins(part, ranks):
                done[at] = made
                joined.append(Joined(number, self._drawn([[made[place]]])[0], self._drawn(done)))
        ids = self._cutter.ask("encode", self._prefix + word, False).get("ids", ())
        known = [self._tokens.get(token) for token in ids]
        return (first, tuple(joined)) if known == [each for part in done for each in part] else None

    def _drawn(self, parts: Sequence[Sequence[str]]) -> tuple[str, ...]:
        """Tokens as the vocabulary writes them, as what they stand for."""
        return tuple(in_their_text([self._bytes_of(each) for part in parts for each in part]))

    def id_of(self, text: str) -> int | None:
        """The one token that stands for a text; None where it takes several, or has none."""
        try:
            found = self._cutter.ask("encode", text, False).get("ids", ())
        except ValueError:
            return None
        return found[0] if len(found) == 1 else None

    def next_id(self, word: str) -> int | None:
        """The one token of a word as the next of a text, with its usual blank; None for several."""
        known = (self.id_of(each) for each in (f" {word}", word))
        return next((each for each in known if each is not None), None)


class TokenizerNotTaken(ValueError):
    """A tokenizer is wrong, or takes more time, memory or words than it may."""


class _Cutter:
    """The program that cuts texts, one for each tokenizer. Several threads may ask."""

    def __init__(self, content: bytes) -> None:
        self._content, self._lock = content, Lock()
        self._running: subprocess.Popen[bytes] | None = None
        self._starts_left = MOST_STARTS

    def start(self) -> dict:
        """What there is to know of the tokenizer."""
        if not self._starts_left:
            raise TokenizerNotTaken(_too_much(cutting.SECONDS))
        self._starts_left -= 1
        self._running = subprocess.Popen(
            [sys.executable, "-P", cutting.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "TOKENIZERS_PARALLELISM": "false"},
        )
        weakref.finalize(self, _end, self._running)
        content = b"%d\n" % len(self._content) + self._content
        return self._answer(content, cutting.SECONDS_TO_OPEN)

    def ask(self, *question: object) -> dict:
        """The answer to a question. Raises ValueError where it takes too much."""
        with self._lock:
            if self._running is None:
                self.start()
            found = self._answer(json.dumps(question).encode() + b"\n", cutting.SECONDS)
            self._starts_left = MOST_STARTS
            return found

    def _answer(self, question: bytes, seconds: float) -> dict:
        running = self._running
        clock = Timer(cutting.PATIENCE * seconds, running.kill)
        clock.daemon = True
        clock.start()
        try:
            running.stdin.write(question)
            running.stdin.flush()
            found = json.loads(running.stdout.readline())
        except (OSError, ValueError) as error:
            self._running = None
            _end(running)
            raise TokenizerNotTaken(_too_much(seconds)) from error
        finally:
            clock.cancel()
        if "not taken" in found:
            raise TokenizerNotTaken(found["not taken"])
        return found


def _end(running: subprocess.Popen) -> None:
    running.kill()
    running.communicate()


def _too_much(seconds: float) -> str:
    return (
        f"the tokenizer takes more than {seconds} seconds or {cutting.MOST_BYTES / 2**30:g} GB of "
        "memory, and was stopped"
    )


def _uncovered(text: str, spans: Sequence[tuple[int, int]]) -> tuple[str, ...]:
    """The parts of a text that no span covers, but for blanks and marks on letters."""
    left = [*text]
    for first, last in spans:
        left[first:last] = " " * (last - first)
    seen = "".join(each if unicodedata.category(each)[0] in "LNPS" else " " for each in left)
    return tuple(seen.split())


def from_json(said: Mapping[str, Any] | bytes, called: str = "tokenizer.json") -> Tokenizer:
    """A tokenizer of a `tokenizer.json`. Raises ModelRefused, with what it is `called`."""
    content = said if isinstance(said, bytes) else json.dumps(said).encode()
    return Tokenizer(content, f"{called} cannot be read")
