"""Ways to cut a text into tokens, and how a token is written so that it can be seen. The default,
"text", knows no language: it turns a text into its *shape*, one letter for the kind of each
character, and reads that with one regular expression: "I can't 🙂" has the shape "a aaa'a s", hence
three tokens.
"""

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from ..small_models import grammar
from ..utils.validation import known, validated


@validated
@dataclass(frozen=True)
class Tokenizer:
    """A rule that cuts a text into tokens.

    `name` is its key in `TOKENIZERS`, `title` a short label for a select box, `rule` one plain
    sentence saying what it does, and `split` the rule itself. `split` takes any string, also an
    empty one (no tokens), and raises nothing.
    """

    name: str
    title: str
    rule: str
    split: Callable[[str], list[str]]


_KIND_OF = {
    "\u200d": "j",  # zero-width joiner: ligatures, and emoji made of emoji
    "\u200c": "z",  # zero-width non-joiner, inside Persian words
    "\u180e": "z",  # Mongolian vowel separator, the same
    "\u20e3": "c",  # the key drawn around the digit of a keycap
    "\U000e007f": "q",  # the end of a tag sequence
    "\u2019": "'",  # the curly apostrophe, which is filed with the closing quotation marks
    **dict.fromkeys("\u200b\u115f\u1160\u2800\u3164\uffa0", " "),  # blank to the eye
    # Filed with the invisible format characters, yet drawn: they enclose the number that follows.
    **dict.fromkeys("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u0890\u0891\u08e2", "d"),
}
_KIND_OF_RANGE = (
    (0x1F1E6, 0x1F1FF, "r"),  # regional indicators: two of them are a flag
    (0x1F3FB, 0x1F3FF, "t"),  # skin tones
    (0xE0020, 0xE007E, "g"),  # tags, which spell the region of a flag such as Scotland's
)
_KIND_OF_SCRIPT = {  # by the first word of a letter's Unicode name
    "CJK": "h",  # Han
    "IDEOGRAPHIC": "h",
    "HIRAGANA": "i",
    "HENTAIGANA": "i",
    "KATAKANA": "k",
    "KATAKANA-HIRAGANA": "o",  # the long-vowel mark of both
}
_KIND_OF_CATEGORY = {  # by the category, else by its first letter; punctuation has no entry
    "L": "a",  # letter
    "N": "d",  # digit
    "M": "m",  # mark: an accent, a vowel sign, a variation selector
    "S": "s",  # symbol, emoji among them
    "Ps": "b",  # brackets and quotation marks
    "Pe": "b",
    "Pi": "b",
    "Pf": "b",
    "Cn": "s",  # not assigned in this Python's Unicode: perhaps a newer emoji
    "Co": "s",
    "C": "x",  # controls, format characters, surrogates: dropped
}


@lru_cache(maxsize=8192)
def _kind(char: str) -> str:
    """The letter for the kind of a character, or the character itself for punctuation."""
    code, category = ord(char), unicodedata.category(char)
    if char in _KIND_OF:
        return _KIND_OF[char]
    if char.isspace():
        return " "
    if _is_noncharacter(code):
        return "x"
    for first, last, kind in _KIND_OF_RANGE:
        if first <= code <= last:
            return kind
    if category[0] in "LN":
        script = unicodedata.name(char, "").removeprefix("HALFWIDTH ").split(" ")[0]
        if script in _KIND_OF_SCRIPT:
            return _KIND_OF_SCRIPT[script]
    if category[0] == "S" and char.isascii():
        return char  # so that "==" and "$$" are runs, where two emoji are two tokens
    return _KIND_OF_CATEGORY.get(category) or _KIND_OF_CATEGORY.get(category[0], char)


# What is matched is the shape: a letter here is a kind, and "." or "?" is itself.
_MARKS = r"(?:[jz]*m)*"
_LETTER = rf"[ad](?!m*c){_MARKS}"  # not the digit of a keycap
_INNER_SIGNS = r"\u2010\u2011\u05be\u00b7\u05f3\u05f4"  # hyphens, Catalan dot, Hebrew geresh
_ASKING_SIGNS = r"\u00bf\u00a1\u203d\u061f\uff1f\uff01"
_PICTURE = rf"[st]t*{_MARKS}t*(?:g{{1,6}}q)?"
_TOKEN = re.compile(
    rf"""
      [^\ jzgqxmc]m*c[mc]*                  # a keycap
    | {_LETTER}                             # a word or number: a letter or digit, and on
      (?: (?: [jz]*                         #   to the next, over nothing or joiners,
            | [-_'{_INNER_SIGNS}]           #   over one hyphen or apostrophe: can't,
            | (?<=d)[.,\u066b\u066c](?=d)   #   over one point or comma between digits: 3.14;
          ) {_LETTER} )*
      (?:(?<=m)j)?                          #   and a joiner that shapes the last letter
    | h{_MARKS}                             # one Han character
    | i{_MARKS}(?:[io]{_MARKS})*            # a run of hiragana
    | (?:[ko]{_MARKS})+                     # a run of katakana
    | {_PICTURE}(?:j{_PICTURE})*            # one symbol or emoji, perhaps joined of several
    | rr?{_MARKS}                           # a flag
    | b{_MARKS}                             # one bracket or quotation mark
    | [?!{_ASKING_SIGNS}]+{_MARKS}          # question and exclamation marks: ?!
    | (?P<sign>[^a-z\ ])(?P=sign)*{_MARKS}  # any other sign, or a run of the same: ...
    | [mc]+                                 # marks that have lost their letter
    """,
    re.VERBOSE,
)


def _spans(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in _TOKEN.finditer("".join(map(_kind, text)))]


def _split_text(text: str) -> list[str]:
    # Dropped first, so that a soft hyphen or a stray control inside a word does not cut it.
    kept = "".join(char for char in text if _kind(char) != "x")
    return [kept[start:end] for start, end in _spans(kept)]


TINY_LANGUAGE = "tiny_language"
"""The tokenizer of the language that the shipped network was trained on."""


def _split_tiny_language(text: str) -> list[str]:
    words = grammar.split(text)
    return [grammar.START, *words] if words else []


_TOKENIZERS: dict[str, Tokenizer] = {
    tokenizer.name: tokenizer
    for tokenizer in (
        Tokenizer(
            "text",
            "Words and signs",
            "Words, numbers, punctuation marks, emoji and Chinese characters are tokens of their "
            "own, and blanks are dropped.",
            _split_text,
        ),
        Tokenizer(
            "blanks_kept",
            "Split at blanks, keep them",
            "The text is cut at every blank, each blank is a token too, and punctuation stays on "
            "its word.",
            lambda text: [token for token in re.split(r"(\s)", text) if token],
        ),
        Tokenizer(
            "blanks",
            "Split at blanks",
            "The text is cut at blanks, which are dropped, and punctuation stays on its word.",
            str.split,
        ),
        Tokenizer(
            "lower_words",
            "Lower-case words",
            "Only words and numbers are kept, in lower case, with the apostrophes and hyphens "
            "inside them (can't is one word).",
            lambda text: [e.lower() for e in _split_text(text) if any(map(str.isalnum, e))],
        ),
        Tokenizer(
            TINY_LANGUAGE,
            "Words of the tiny language",
            "Words in lower case and marks are tokens, and one that says where the text starts "
            "stands before them.",
            _split_tiny_language,
        ),
    )
}
TOKENIZERS = known("tokenizer", _TOKENIZERS)

_MAX_MARKS = 8  # on one letter; more is a prank that covers the lines above and below
_BIDI_CONTROLS = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
_WRITTEN = {" ": "␣", "\n": "↵", "\t": "⇥"}


@lru_cache(maxsize=4_096)
def visible(token: str) -> str:
    """How a token is written on screen, so that blanks and invisible characters can be seen.

    A space is ␣, a line break ↵, a tab ⇥; another blank, a control or format character, a
    surrogate or an unassigned character is its code (‹U+200B›); a mark without a letter stands
    on ◌. Joiners that do their work, in an emoji or a Persian word, are left alone. The result is
    never empty (‹empty› for an empty token), and `visible` of the result changes nothing.
    """
    inside: set[int] = set()
    bare_marks: set[int] = set()
    for start, end in _spans(token):
        inside.update(range(start, end))
        if _kind(token[start]) in "mc":
            bare_marks.add(start)
    written = []
    for place, char in enumerate(token):
        if char in _WRITTEN:
            written.append(_WRITTEN[char])
        elif place not in inside or _has_no_glyph(char) or _joins_nothing(token, place):
            written.append(f"‹U+{ord(char):04X}›")
        else:
            written.append("◌" * (place in bare_marks) + char)
    return "".join(written) or "‹empty›"


def clean(text: str) -> tuple[str, int]:
    """The text without characters that only do harm, and how many of them were removed.

    Removed: controls other than tab and line break, bidirectional controls, lone surrogates,
    noncharacters, the byte-order mark, and marks beyond the eighth on one letter. A line break of
    another system (\\r\\n or \\r) becomes \\n and is not counted. Nothing is normalised otherwise:
    é stays one character or two, as it was typed. Cleaning twice changes nothing more.
    """
    lines = re.sub(r"\r\n?", "\n", text)
    kept: list[str] = []
    n_marks = 0
    for char in lines:
        if _is_harmful(char):
            continue
        category = unicodedata.category(char)
        if category[0] == "M":
            n_marks += 1
            if n_marks > _MAX_MARKS:
                continue
        elif category != "Cf":  # an invisible character between marks does not start a new letter
            n_marks = 0
        kept.append(char)
    return "".join(kept), len(lines) - len(kept)


def _is_noncharacter(code: int) -> bool:
    return code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF


def _is_harmful(char: str) -> bool:
    return (
        (unicodedata.category(char) in ("Cc", "Cs") and char not in "\t\n")
        or char in _BIDI_CONTROLS
        or char == "\ufeff"
        or _is_noncharacter(ord(char))
    )


def _has_no_glyph(char: str) -> bool:
    # Phones have emoji, and fonts Han, that are newer than the Unicode of a given Python.
    newer = 0x1F000 <= ord(char) <= 0x1FAFF or 0x20000 <= ord(char) <= 0x3FFFD
    return unicodedata.category(char) in ("Cn", "Co") and not newer


def _joins_nothing(token: str, place: int) -> bool:
    # A joiner after a letter that has capitals (Latin, Greek, Cyrillic) changes nothing one sees.
    before = token[place - 1]
    return _kind(token[place]) in "jz" and (before.isascii() or before.lower() != before.upper())
