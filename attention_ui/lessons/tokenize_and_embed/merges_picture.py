"""A text in its tokens, after so many merges: which pair is next, how often each stands there, the
text cut anew, the vocabulary, and a word that the text does not have.

A token is a bar below its letters, and all bars there ever are stand in the picture from the start:
a slider shows and hides them, so that it answers within a frame.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, pairwise

from attention_core.text.byte_pairs import Learned, Merge, pre_tokens, written
from attention_core.text.tokenizers import visible
from attention_core.trace import Trace

from ...picture.layout import NARROW, WIDE, Arrangement, Layout, Mark, Path, Word
from ...picture.numbers import text_width
from ...picture.table import SEPARATOR

LETTER, BYTE, LINE, HIGH = 13.0, 18.0, 32.0, 23.0
"""The room of a letter of one byte, and of each byte of another; of a line, and of a bar in it."""
LEFT, BETWEEN, ROW = 262.0, 26.0, 22.0
"""The pairs at the left, and the height of one."""
PAIRS, PAIRS_NARROW, SQUARES, SQUARE = 8, 4, 12, 10.0
"""So many pairs are shown, and a square for each place of one up to so many."""
GAP, SINGLE, JOINED, UNSEEN = 16.0, 0.13, 0.32, 0.001
TERMS = 6
"""So many words are named in which a pair stands."""

Spans = frozenset[tuple[int, int]]
"""Where the tokens of a text begin and end, in bytes."""
Where = tuple[int, float, float]
"""After how many merges, and the left and the right edge of what is drawn."""


@dataclass
class CutAnew(Layout):
    """The picture, with words of its own for who does not see it."""

    @property
    def alt(self) -> str:
        return (
            "Byte-pair encoding: the pairs of neighbouring tokens with their counts, the most "
            "frequent first; the text in its tokens; the vocabulary; and a new word in its tokens."
        )


def cut_anew(learned: Learned, text: str, word: str, n_merges: int, most: int) -> CutAnew:
    """The picture after so many merges of at most so many. `learned` has one more."""
    arranged, cuts = [], [_cuts(learned, each, most) for each in (text, word)]
    stands = [
        (each, came, Counter(pairwise(learned.cut(each, n_merges)))) for each, came in learned.words
    ]
    for room in (WIDE, NARROW):
        made, is_wide = Arrangement(width=room), room == WIDE
        below = _pairs(made, learned, n_merges, PAIRS if is_wide else PAIRS_NARROW, stands)
        left, down = (LEFT + BETWEEN, 0.0) if is_wide else (0.0, below + 14)
        where = (n_merges, left, room)
        down = _in_tokens(made, learned, "The text, cut anew", text, cuts[0], down, where)
        down = _vocabulary(made, learned.merges[:most], learned, down, where)
        told = "Another word, cut by what was learned"
        down = _in_tokens(made, learned, told, word, cuts[1], down, where)
        made.height = max(below, down - GAP)
        arranged.append(made)
    return CutAnew(Trace(), (), (), [], 0.0, *arranged)


def _shown(text: str) -> str:
    """What may stand in a list of positions, which a sign of its own cuts."""
    return text.replace(SEPARATOR, "∣")


def _pairs(made: Arrangement, learned: Learned, at: int, most: int, stands: "Stands") -> float:
    """The most frequent pairs and their counts; the one that is joined next is loud."""
    counts = learned.counts[min(at, len(learned.counts) - 1)]
    made.words.append(Word("How often each pair stands there", 0.0, 9.0, "title"))
    top = 22.0
    for nth in range(most):
        y = top + nth * ROW
        often, left, right = counts[nth] if nth < len(counts) else (0, 0, 0)
        pair = f"{_token(learned, left)} + {_token(learned, right)}" if often else ""
        two = learned.tokens[left], learned.tokens[right]
        told = _shown(f"{pair}, side by side"), _shown(_sum(stands, two, often))
        strength = UNSEEN if nth else 0.13 if often else 0.0
        told = told if often else ("", "")
        made.marks.append(Mark(0.0, y, LEFT, ROW - 2, "loud", strength, told=told))
        look = "legend" if nth else "loud"
        middle = y + ROW / 2 - 1
        made.words.append(Word(_shown(pair), 6.0, middle, look, changes=True))
        made.words.append(Word(f"{often}" if often else "", 108.0, middle, look, changes=True))
        colour = "muted" if nth else "loud"
        for square in range(SQUARES):
            x = 128.0 + square * (SQUARE + 1)
            strength = 0.65 if square < often else 0.0
            made.marks.append(Mark(x, y + 5, SQUARE, SQUARE, colour, strength, changes=True))
    y = top + most * ROW + 8
    for told in _next_words(learned.n_next(at)):
        made.words.append(Word(told, 0.0, y, "legend", changes=True))
        y += 15
    return y


Stands = Sequence[tuple[str, int, Counter[tuple[bytes, bytes]]]]
"""Of each word, how often it came, and which tokens stand side by side in it how often."""


def _sum(stands: Stands, pair: tuple[bytes, bytes], often: int) -> str:
    terms = [
        f"{came} × {each[pair]} in “{visible(word.strip() or word)}”".removeprefix("1 × ")
        for word, came, each in stands
        if each[pair]
    ]
    if len(terms) > TERMS:
        terms[TERMS:] = [f"{len(terms) - TERMS} more words"]
    return f"{' + '.join(terms)} = {often}"


@lru_cache(maxsize=1_024)
def _what(learned: Learned, token: bytes) -> tuple[str, str]:
    """What a token is, and which merge made it."""
    name = f"“{_shown(written(token))}”"
    if len(token) == 1:
        is_known = token in learned.tokens
        there = "there from the start" if is_known else "which the text does not have"
        return name, f"a single byte, {token[0]:02X}, {there}"
    number = next(n for n, pair in enumerate(learned.pairs) if b"".join(pair) == token)
    often, left, right = learned.counts[number][0]
    pair = _shown(f"{_token(learned, left)} + {_token(learned, right)}")
    return name, f"{pair}, joined by merge {number + 1}: side by side {often} times then"


def _next_words(equal: int) -> tuple[str, str]:
    if not equal:
        return "No pair is left: every word is one token.", ""
    if equal == 1:
        return "The first is joined next: no other is as frequent.", ""
    return (
        f"{equal} pairs are equally frequent: next is the one",
        "whose tokens came into the vocabulary first.",
    )


def _in_tokens(
    made: Arrangement,
    learned: Learned,
    told: str,
    text: str,
    cuts: Sequence[Spans],
    top: float,
    where: Where,
) -> float:
    """A text with a bar below each token, a frame around the next pair; where the next begins."""
    at, left, room = where
    now, then, n, raw = cuts[at], cuts[at + 1], len(cuts[at]), text.encode()
    told = f"{told}: {n} token" + ("" if n == 1 else "s")
    made.words.append(Word(told, left, top + 9, "title", changes=True))
    places = _places(text, left, room)
    top += 20

    def parts(first: int, end: int) -> list[tuple[float, float, float]]:
        lines = dict.fromkeys(line for line, *_ in places[first:end])
        each = ([place for place in places[first:end] if place[0] == line] for line in lines)
        return [(one[0][1], one[-1][1] + one[-1][2] - one[0][1], one[0][0]) for one in each]

    for span in sorted(frozenset().union(*cuts)):
        is_single = span[1] - span[0] == 1
        strength = (SINGLE if is_single else JOINED) if span in now else 0.0
        for x, width, line in parts(*span):
            y, colour = top + line * LINE, "muted" if is_single else "plus"
            what = _what(learned, raw[slice(*span)])
            made.marks.append(Mark(x + 1, y, width - 2, HIGH, colour, strength, True, told=what))
            if not is_single:
                frame = f"M0,0H{width - 2:g}V{HIGH:g}H0Z"
                strong = 1.0 if span in then and span not in now else 0.0
                made.paths.append(Path(x + 1, y, frame, "loud", strong))
    end = 0
    for character in text:
        first, end = end, end + len(character.encode())
        whole = any(a <= first and end <= b for a, b in now)
        x, width, line = parts(first, end)[0]
        y = top + line * LINE + HIGH / 2
        shown = _shown(visible(character)) if whole else ""
        made.words.append(Word(shown, x + width / 2, y, "token", changes=True))
        if end - first > 1:
            for place, byte in zip(places[first:end], character.encode(), strict=True):
                line, x, width = place
                told, y = "" if whole else f"{byte:02X}", top + line * LINE + HIGH / 2
                made.words.append(Word(told, x + width / 2, y, "column", changes=True))
    return top + (places[-1][0] + 1) * LINE - LINE + HIGH + GAP


def _places(text: str, left: float, room: float) -> list[tuple[int, float, float]]:
    """Where each byte stands: line, x, width. No word is broken that fits in a line."""
    places, line, x = list[tuple[int, float, float]](), 0, left
    for part in pre_tokens(text):
        each = ((len(one.encode()), LETTER if one.isascii() else BYTE) for one in part)
        widths = [width for n, width in each for _ in range(n)]
        if x > left and x + sum(widths) > room:
            line, x = line + 1, left
        for width in widths:
            if x + width > room:
                line, x = line + 1, left
            places.append((line, x, width))
            x += width
    return places


def _vocabulary(
    made: Arrangement, merges: Sequence[Merge], learned: Learned, top: float, where: Where
) -> float:
    """What has a row in the table; returns where the next begins."""
    at, left, room = where
    n_bytes, n = learned.n_rows(at)
    told = f"The vocabulary: {n_bytes} bytes + {n} joined = {n_bytes + n} rows"
    made.words.append(Word(told, left, top + 9, "title", changes=True))
    x, y = left, top + 20
    for place, merge in enumerate(merges):
        name, is_there = _shown(_token(learned, merge.token)), place < at
        width = text_width(name) * 1.15 + 14
        if x > left and x + width > room:
            x, y = left, y + LINE - 4
        strength = JOINED if is_there else 0.0
        what = _what(learned, learned.tokens[merge.token])
        made.marks.append(Mark(x, y, width - 4, HIGH, "plus", strength, True, told=what))
        shown = Word(name if is_there else "", x + width / 2 - 2, y + HIGH / 2, "token", True)
        made.words.append(shown)
        x += width
    return y + HIGH + GAP


def _token(learned: Learned, token: int) -> str:
    return written(learned.tokens[token])


@lru_cache(maxsize=64)
def _cuts(learned: Learned, text: str, most: int) -> list[Spans]:
    """Where the tokens of a text begin and end, in bytes, after each number of merges, and one."""
    cuts = []
    for n_merges in range(most + 2):
        ends = accumulate(map(len, learned.cut(text, n_merges)), initial=0)
        cuts.append(frozenset(pairwise(ends)))
    return cuts
