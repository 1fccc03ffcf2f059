"""A text in a model's own tokens, and back.

What a person types is text: `<|im_start|>` is cut like any other word, and never becomes the
control token of that name.
"""

import copy
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ..files.refused import ModelRefused, needed
from ..files.tensor_file import quoted

LIKE_CONTROL = re.compile(r"<[^\s<>]+>|\[[^\s\[\]]+\]")
"""What a control token looks like: `<think>`, which Qwen3 does not mark as one, `<|im_end|>`,
`[MASK]`."""
LONGEST_TEXT = 100_000
"""Characters that are cut into tokens at once."""


@dataclass(frozen=True)
class Encoded:
    """A text as tokens."""

    ids: tuple[int, ...]
    pieces: tuple[str, ...]
    """What each token stands for, spaces included; `\\xe2` for a byte that is no character."""
    unknown: tuple[str, ...] = ()
    """What of the text the model has no token for: one that means just that stands in its place."""


class Tokenizer:
    """Cuts text into a model's tokens. Made by `from_json`, or by `from_fields` of a GGUF file."""

    def __init__(self, made, kind: str, beginning: Sequence[int] = (), end: Sequence[int] = ()):
        self._made, self.kind = made, kind
        self._beginning, self._end = tuple(beginning), tuple(end)
        self.size = made.get_vocab_size(with_added_tokens=True)
        """How many tokens there are."""
        self.highest_id = max(made.get_vocab(with_added_tokens=True).values(), default=0)
        unknown = getattr(made.model, "unk_token", None)
        self._unknown = None if unknown is None else made.token_to_id(unknown)
        if kind == "sentencepiece" and getattr(made.model, "byte_fallback", False):
            self._unknown = None  # there, an unknown character is written as its bytes

    def encode(self, text: str) -> Encoded:
        """The tokens of a text, with those that the model puts before and after every text. Raises
        ValueError, in words, for no text, one that is too long, or a word that it cannot cut.
        """
        if not text:
            raise ValueError("there is no text: type at least one word")
        if len(text) > LONGEST_TEXT:
            raise ValueError(
                f"the text has {len(text):,} characters, but at most {LONGEST_TEXT:,} can be cut"
            )
        text = text.encode("utf-8", "replace").decode("utf-8")  # no half of a pair
        found = _calm(self._made.encode, text, self._strange(text))
        ids = (*self._beginning, *found.ids, *self._end)
        # An offset is where a token stands in the text; control tokens around it stand nowhere.
        unknown = tuple(
            text[first:last]
            for token, (first, last) in zip(found.ids, found.offsets, strict=True)
            if token == self._unknown and last > first
        )
        return Encoded(ids, tuple(map(self.piece, ids)), unknown)

    def control_words(self, text: str) -> tuple[str, ...]:
        """What stands in a text as a control token is written: it is text, and cut like any."""
        added = self._made.get_added_tokens_decoder().values()
        return tuple(each.content for each in added if each.special and each.content in text)

    def decode(self, ids: Sequence[int]) -> str:
        """The text of some tokens."""
        return self._made.decode(list(ids), skip_special_tokens=False)

    def piece(self, token: int) -> str:
        """What one token stands for, as `Encoded.pieces` has it. Raises ValueError where no token
        has this number.
        """
        written = self._made.id_to_token(token) if 0 <= token < 2**31 else None
        if written is None:
            raise ValueError(f"there is no token {token}")
        return PIECES[self.kind](written)

    def id_of(self, text: str) -> int | None:
        """The one token that stands for a text; None where it takes several, or has none."""
        try:
            found = self._made.encode(text, add_special_tokens=False).ids
        except Exception:
            return None
        return found[0] if len(found) == 1 else None

    def next_id(self, word: str) -> int | None:
        """The one token that a word is as the next of a text, with a blank before it where that is
        usual; None where it takes several.
        """
        known = (self.id_of(each) for each in (f" {word}", word))
        return next((each for each in known if each is not None), None)

    def _strange(self, text: str) -> Callable[[], str]:
        """What to say where the text cannot be cut."""

        def said() -> str:
            if self.kind == "words":
                known = self._made.get_vocab()
                parts = self._made.pre_tokenizer.pre_tokenize_str(text)
                strange = [part for part, _ in parts if part not in known]
                if strange:
                    return f"“{quoted(strange[0])}” is none of the {self.size} words of this model"
            return "the model's tokenizer cannot cut this text"

        return said


def _calm(call: Callable, text: str, said: Callable[[], str]) -> object:
    """Calls the library, whose errors become a ValueError, its panics among them."""
    try:
        return call(text)
    except BaseException as error:
        if isinstance(error, Exception) or type(error).__name__ == "PanicException":
            raise ValueError(said()) from error
        raise


@lru_cache(maxsize=1)
def _bytes_of_characters() -> dict[str, int]:
    """The byte that each character of a byte-level vocabulary stands for.

    Source: Radford et al. 2019, GPT-2, `bytes_to_unicode` in encoder.py.
    """
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in plain]
    found = {chr(byte): byte for byte in plain}
    return found | {chr(256 + at): byte for at, byte in enumerate(others)}


def _of_bytes(written: str) -> str:
    known = _bytes_of_characters()
    if any(character not in known for character in written):
        return written
    return bytes(known[character] for character in written).decode("utf-8", "backslashreplace")


def _of_sentencepiece(written: str) -> str:
    byte = re.fullmatch(r"<0x([0-9A-F]{2})>", written)
    if byte:
        return bytes([int(byte[1], 16)]).decode("utf-8", "backslashreplace")
    return written.replace("▁", " ")


PIECES: Mapping[str, Callable[[str], str]] = {
    "bytes": _of_bytes,
    "sentencepiece": _of_sentencepiece,
    "wordpiece": str,
    "words": str,
}


def from_json(said: dict[str, object]) -> Tokenizer:
    """A tokenizer by what a `tokenizer.json` says. Raises ModelRefused where it cannot be made."""
    tokenizers = needed("tokenizers", "cutting text into a model's tokens")
    said = copy.copy(said)
    added = said.get("added_tokens")
    if isinstance(added, list) and all(isinstance(each, dict) for each in added):
        said["added_tokens"] = [
            each | {"special": True} if LIKE_CONTROL.fullmatch(str(each.get("content"))) else each
            for each in added
        ]
    try:
        made = _calm(tokenizers.Tokenizer.from_str, json.dumps(said), lambda: "")
    except ValueError as error:
        reason = quoted(str(error.__cause__))
        raise ModelRefused(f"tokenizer.json cannot be read: {reason}") from error
    made.no_padding()
    made.no_truncation()
    made.encode_special_tokens = True
    return Tokenizer(made, _kind(said))


def _kind(said: Mapping[str, object]) -> str:
    """How the words of a vocabulary are written."""
    written = json.dumps(said.get("decoder"))
    model = said.get("model")
    kind = model.get("type") if isinstance(model, dict) else None
    if '"ByteLevel"' in written:
        return "bytes"
    if "▁" in written or "\\u2581" in written or '"Metaspace"' in written:
        return "sentencepiece"
    return "wordpiece" if kind == "WordPiece" else "words"
