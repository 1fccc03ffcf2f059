"""Numbers and counts as a sentence has them."""

import re
from collections import Counter
from collections.abc import Sequence
from string import punctuation

WRONG_SIGN, RIGHT_SIGN = ":orange[:material/close:]", ":green[:material/check:]"
"""Before a line of code or of a story."""


def number(value: float, digits: int = 4) -> str:
    """A number in a sentence: with a true minus, and as 0.00004 rather than as a 0 it is not."""
    text = f"{value:.{digits}f}"
    if float(text) == 0:
        text = f"{value:.1g}" if value else text.removeprefix("-")
        text = f"{value:.5f}" if text.endswith("e-05") else text
    return true_minus(text)


PLAIN_WORD = re.compile(r"[^\W_]{1,24}\*?")
"""Letters and digits, and a `*` of a drawn word, which begins no emphasis there."""


def word_at(tokens: Sequence[str], place: int, axis: str = "token") -> str:
    """A token in our Markdown: “cat”; “the” (key 4) if repeated; `key 4` if no plain word."""
    token = tokens[place]
    if token == str(place) or not PLAIN_WORD.fullmatch(token):
        return f"{axis} {place}"
    return f"“{token}” ({axis} {place})" if tokens.count(token) > 1 else f"“{token}”"


def true_minus(text: str) -> str:
    """A written number with the sign that the charts have."""
    return f"−{text[1:]}" if text.startswith("-") else text


def signed(value: float) -> str:
    """A number with its sign."""
    text = number(value, 2)
    return text if text.startswith("−") or value == 0 else f"+{text}"


def capital(words: str) -> str:
    """Words as a sentence begins with them."""
    return words[0].upper() + words[1:]


def escaped(words: str) -> str:
    """Words in which nothing is Markdown, whatever stands in them."""
    return re.sub(f"([{re.escape(punctuation)}])", r"\\\1", words)


def percent(share: float) -> str:
    """A share from 0 to 1 in a sentence: 0% and 100% only where it is that."""
    if 0 < share < 0.005:
        return "less than 1%"
    return "over 99%" if 0.995 <= share < 1 else f"{share:.0%}"


def in_bytes(size: float) -> str:
    """A size in memory as people say it: 1.5 GiB."""
    unit, *larger = ("bytes", "KiB", "MiB", "GiB", "TiB")
    while size >= 1_024 and larger:
        size, unit, *larger = size / 1_024, *larger
    return f"{size:,.0f} {unit}" if size >= 1_000 else f"{size:.3g} {unit}"


def heads_left_out(n_drawn: int, n_heads: int, where: str) -> str:
    """Says so where not all heads are drawn, and `where` the others are; else ""."""
    if n_drawn == n_heads:
        return ""
    return f"Drawn here: {n_drawn} of {n_heads} heads, to keep the page quick. {where}"


def listed(names: list[str]) -> str:
    """Some names in a row: `a, b and c`."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)


def repeated(tokens: tuple[str, ...]) -> tuple[int, int] | None:
    """The first two places of a token that stands there twice, if any; rather a word."""
    twice = [token for token, count in Counter(tokens).items() if count > 1]
    if not twice:
        return None
    token = min(twice, key=str.isspace)
    first = tokens.index(token)
    return first, tokens.index(token, first + 1)
