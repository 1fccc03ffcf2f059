"""Which name was meant where one is misspelt, for the message that says so."""

from collections.abc import Iterable
from difflib import get_close_matches
from itertools import takewhile


def among(name: object, names: Iterable[str]) -> str:
    """The names that there are, the likely one first: the end of a message."""
    names = [*names]
    like = get_close_matches(str(name), names, 1)
    likely = f": did you mean {like[0]!r}?" if like else "."
    return f"{likely} There {'are ' + ', '.join(names) if names else 'is none'}"


def meant_by(name: str, names: Iterable[str]) -> str:
    """The one of some names that a slip made this of; "" where it is one of them, or of none."""
    names = [*names]
    return "" if name in names else next((one for one in names if is_slip(name, one)), "")


def is_slip(name: str, meant: str) -> bool:
    """Whether one slip makes a name of another: a letter left out, put in or replaced, or two
    swapped. Names that differ by a digit are two names.
    """
    before = sum(
        1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(name, meant, strict=False))
    )
    one, other = name[before:], meant[before:]
    if one[:1].isdigit() or other[:1].isdigit():
        return False
    swapped = one[1:2] + one[:1] + one[2:]
    ways = (one[1:], other), (one, other[1:]), (one[1:], other[1:]), (swapped, other)
    return name != meant and any(left == right for left, right in ways)
