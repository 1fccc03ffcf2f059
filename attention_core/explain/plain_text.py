"""An arithmetic on one line of plain text, for places that cannot show LaTeX, such as tooltips."""

import re
from functools import lru_cache

from ..utils.toml_file import read_toml

SIGNS: dict[str, str] = read_toml(__package__, "signs.toml")
_GROUP = r"\{((?:[^{}]|\{[^{}]*\})*)\}"
_SIGN = re.compile("|".join(re.escape(sign) for sign in sorted(SIGNS, key=len, reverse=True)))
_SHAPES = (
    (re.compile(r"\\(?:text|mathrm|operatorname|overline|widehat|hat|tilde)" + _GROUP), r"\1"),
    (re.compile(r"\\(?:hat|tilde) "), ""),
    (re.compile(r"\\t?frac" + _GROUP + _GROUP), r"(\1) / (\2)"),
    (re.compile(r"\\sqrt" + _GROUP), r"√(\1)"),
    (re.compile(r"\\sqrt ([\w.]+)"), r"√(\1)"),
    (re.compile(r"10\^" + _GROUP), r"10^\1"),
    (re.compile(r"\^" + _GROUP), r"^(\1)"),
    (re.compile(r"_\{(\w+)\}"), r"_\1"),
    (re.compile("_" + _GROUP), r"_(\1)"),
    (re.compile(r"(?<![\w}^])" + _GROUP), r"\1"),
)
_NEEDLESS = (
    (re.compile(r"(?<![\w^√])\((-?[\w.∞]+|e\^\([^()]*\))\) /"), r"\1 /"),
    (re.compile(r"/ \(([\w.∞]+|√\([^()]*\))\)"), r"/ \1"),
    (re.compile(r"\(([\w.]+)\)(?=·)|(?<=·)\(([\w.]+)\)"), r"\1\2"),
)
"""Brackets around one thing."""


_NUMBER = re.compile(r"(\d+(?:\.\d+)?)")
_PLACE = "0.0"
"""What stands for any number, while the text around it is worked out."""


def plain_text(latex: str) -> str:
    r"""LaTeX of this package as plain text: `\frac{e^{0.5}}{2}` as `e^(0.5) / 2`."""
    parts = _NUMBER.split(latex)  # each second one is a number
    around = _around(_PLACE.join(parts[::2]))
    if len(around) != len(parts[::2]):
        return _written(latex)
    parts[::2] = around
    return "".join(parts)


@lru_cache(maxsize=4_096)
def _around(latex: str) -> list[str]:
    """What stands between the numbers of LaTeX that has the same one everywhere: many cells do."""
    return _written(latex).split(_PLACE)


def _written(latex: str) -> str:
    text = _SIGN.sub(lambda found: SIGNS[found[0]], latex)
    before = None
    while text != before:  # from the inside out
        before = text
        for shape, plain in _SHAPES:
            text = shape.sub(plain, text)
    text = text.replace(")(", ")·(")
    for brackets, bare in _NEEDLESS:
        text = brackets.sub(bare, text)
    return re.sub(r"\s+", " ", text.replace("-", "−").replace("− −", "+ ")).strip()
