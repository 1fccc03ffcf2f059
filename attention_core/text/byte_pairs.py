"""Byte-pair encoding: a vocabulary that is learned from a text, and texts cut by it.

    learned = learn_merges("low lower lowest", 3)
    [learned.tokens[merge.token] for merge in learned.merges]  # [b"lo", b"low", b" low"]
    learned.cut("lowly")  # [b"low", b"l", b"y"]

Source: Sennrich et al. 2016, Neural Machine Translation of Rare Words with Subword Units; on bytes,
Radford et al. 2019, GPT-2.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

from .. import operations as ops
from ..operations.pairs import NOTHING
from ..trace import Trace
from ..utils.validation import validated
from .byte_level import bytes_of_characters, in_their_text
from .tokenizers import visible

_SHORT = "strevmld"
"""The letters of 's, 't, 're, 've, 'm, 'll and 'd, which are kept apart from their word."""
_PARTS = re.compile(
    r"'(?:s|t|re|ve|m|ll|d)"
    rf"| ?[L{_SHORT}]+| ?N+| ?[P']+|[ w]+(?![^ w])|[ w]+"
)


def pre_tokens(text: str) -> list[str]:
    """A text in the parts within which tokens are made: a word with the blank before it, digits,
    signs, or blanks. Source: the regular expression of GPT-2 (encoder.py), here read on the kinds
    of characters, which the standard library cannot ask a regular expression for.
    """
    shape = "".join(map(_kind, text))
    return [text[found.start() : found.end()] for found in _PARTS.finditer(shape)]


def _kind(character: str) -> str:
    """A letter (L, or itself), a number (N), a blank, another blank (w), or any other sign (P)."""
    if character in f"{_SHORT}' ":
        return character
    if character.isspace() and not "\x1c" <= character <= "\x1f":
        return "w"
    category = unicodedata.category(character)[0]
    return category if category in "LN" else "P"


def joins(parts: Sequence[Any], ranks: Mapping[Any, int]) -> Iterator[tuple[int, int, list]]:
    """How merges make tokens of the parts of a word: the number of each merge, the place of the
    first of the two it joins, and the word after it. The earliest merge is done first.
    """
    parts = list(parts)
    while can := [(ranks[two], at) for at, two in enumerate(pairwise(parts)) if two in ranks]:
        rank, at = min(can)
        parts[at : at + 2] = [parts[at] + parts[at + 1]]
        yield rank, at, [*parts]


@dataclass(frozen=True)
class Merge:
    """One merge: the ids of the two tokens, and that of the token they make."""

    left: int
    right: int
    token: int


@dataclass(frozen=True, eq=False)  # by itself: all that it holds would be hashed each time
class Learned:
    """What byte-pair encoding learned from a text. Made by `learn_merges`."""

    words: tuple[tuple[str, int], ...]
    """The parts of the text that merges never cross, and how often each came."""
    tokens: tuple[bytes, ...]
    """The vocabulary, by id: the bytes of the text, then what merges made."""
    merges: tuple[Merge, ...]
    counts: tuple[tuple[tuple[int, int, int], ...], ...]
    """Before each merge and after the last: how often each pair stands, and its ids; next first."""

    @property
    def pairs(self) -> tuple[tuple[bytes, bytes], ...]:
        """The two tokens of each merge."""
        return tuple((self.tokens[each.left], self.tokens[each.right]) for each in self.merges)

    def n_next(self, n_merges: int) -> int:
        """How many pairs are the most frequent after so many merges; 0 where none is left."""
        counts = self.counts[min(n_merges, len(self.counts) - 1)]
        return sum(often == counts[0][0] for often, *_ in counts)

    def n_rows(self, n_merges: int) -> tuple[int, int]:
        """What has a row in the table after so many merges: single bytes, and joined tokens."""
        n_bytes = len({each for word, _ in self.words for each in word.encode()})
        return n_bytes, len({each.token for each in self.merges[:n_merges]})

    def cut(self, text: str, n_merges: int | None = None) -> list[bytes]:
        """A text in tokens, by all merges or the first few; an unknown byte stays alone."""
        pairs = self.pairs[:n_merges]
        ranks = {pair: at for at, pair in reversed([*enumerate(pairs)])}
        return [each for part in pre_tokens(text) for each in _cut(single_bytes(part), ranks)]

    @cached_property
    def trace(self) -> Trace:
        """The merges as steps: `word_counts` (word) and `pieces_0` (word, place), the ids of the
        bytes of each word; then for each merge `pair_counts_1` (first, second) and `pieces_1`.
        """
        names = [*map(written, self.tokens)]
        trace = Trace(word=[visible(word) for word, _ in self.words], first=names, second=names)
        came = ops.Given(tuple(float(n) for _, n in self.words))
        often = trace.step("word_counts", came, axes=("word",), symbol="n")
        rows, two = ("word", "place"), ("first", "second")
        pieces = trace.step("pieces_0", ops.Given(_rows(self)), axes=rows, symbol="T_{0}")
        for at, merge in enumerate(self.merges, 1):
            made = ops.PairCounts(len(self.tokens)), often, pieces
            counted = trace.step(f"pair_counts_{at}", *made, axes=two, symbol=f"C_{{{at}}}")
            join = ops.JoinPair(merge.token), counted, pieces
            pieces = trace.step(f"pieces_{at}", *join, axes=rows, symbol=f"T_{{{at}}}")
        return trace


@validated
def learn_merges(text: str, n_merges: int) -> Learned:
    """The first merges of byte-pair encoding on a text: again and again the most frequent pair of
    neighbours becomes a token. There are fewer where every word is one token before.

    Of pairs that are equally frequent it takes the one whose tokens came into the vocabulary first:
    the single bytes in the order of their characters in it, as the package `tokenizers` has it.
    Raises ValueError where there is no text.
    """
    if not text:
        raise ValueError("there is no text to learn from: it needs at least one word")
    words = Counter(pre_tokens(text))
    parts = {word: single_bytes(word) for word in words}
    order = [*bytes_of_characters().values()]
    alphabet = sorted(
        {each for word in parts.values() for each in word}, key=lambda one: order.index(one[0])
    )
    ids, merges, rounds = {each: at for at, each in enumerate(alphabet)}, list[Merge](), []
    while True:
        counts = Counter[tuple[int, int]]()
        for word, often in words.items():
            for left, right in pairwise(parts[word]):
                counts[ids[left], ids[right]] += often
        found = sorted((-often, *pair) for pair, often in counts.items())
        rounds.append(tuple((-often, left, right) for often, left, right in found))
        if not found or len(merges) >= n_merges:
            return Learned(tuple(words.items()), tuple(ids), tuple(merges), tuple(rounds))
        _, first, second = found[0]
        tokens = [*ids]
        pair = tokens[first], tokens[second]
        merges.append(Merge(first, second, ids.setdefault(pair[0] + pair[1], len(ids))))
        parts = {word: _cut(each, {pair: 0}) for word, each in parts.items()}


def _cut(parts: list[bytes], ranks: Mapping[Any, int]) -> list[bytes]:
    return [parts, *(made for *_, made in joins(parts, ranks))][-1]


def _rows(learned: Learned) -> tuple[tuple[int, ...], ...]:
    """The ids of the bytes of each word, in rows that are as long as the longest."""
    ids = {token: at for at, token in enumerate(learned.tokens)}
    rows = [[ids[byte] for byte in single_bytes(word)] for word, _ in learned.words]
    longest = max(map(len, rows))
    return tuple(tuple(row + [NOTHING] * (longest - len(row))) for row in rows)


def written(token: bytes) -> str:
    """A token as it is drawn: a blank can be seen, and so can bytes that make no character."""
    return visible(in_their_text([token])[0])


def single_bytes(text: str) -> list[bytes]:
    """The bytes of a text (UTF-8), one by one."""
    return [bytes([byte]) for byte in text.encode("utf-8", "replace")]
