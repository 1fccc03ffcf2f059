"""The Markdown of this app as HTML: what Streamlit adds to it are icons, colours and formulas.

What a person typed comes here only where the app itself renders it as Markdown, escaped; and HTML
is text in any case.
"""

import html
import re
from functools import lru_cache
from typing import Any

from latex2mathml.converter import convert
from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline

from .in_file import in_file

ICONS = {
    "check_circle": "✔",
    "check": "✓",
    "error": "⚠",
    "info": "ⓘ",
    "remove": "–",
    "close": "✕",
    "trending_flat": "→",
    "psychology_alt": "",
    "keep": "",
}
"""In place of Streamlit's, which are letters of a font of 340 KB."""
LATEX = {
    r"\!": "",
    r"\tfrac": r"\frac",
    "{aligned}": "{align*}",
    r"\textstyle": "",
    r"\bigl": "",
    r"\bigr": "",
    r"\big": "",
    r"\lVert": r"\|",
    r"\rVert": r"\|",
}
"""What the lessons write, and what stands for it where the converter does not know it."""
_DIRECTIVE = re.compile(r":([a-z]+)(?:/(\w+):|\[)")
_FORMULA = re.compile(r"\$([^$\n]+)\$")


@lru_cache(maxsize=4_096)
def formula(latex: str, is_block: bool = False) -> str:
    """A formula in LaTeX as MathML."""
    for known, other in LATEX.items():
        latex = latex.replace(known, other)
    return convert(latex, display="block" if is_block else "inline")


def _directive(state: StateInline, silent: bool) -> bool:
    """`:material/check:` is an icon, `:red[…]` words in a colour."""
    found = _DIRECTIVE.match(state.src, state.pos)
    if not found:
        return False
    name, icon = found.groups()
    if icon is not None:
        if name != "material" or icon not in ICONS:
            return False
        if not silent:
            state.push("text", "", 0).content = ICONS[icon]
        state.pos = found.end()
        return True
    end = state.md.helpers.parseLinkLabel(state, found.end() - 1)
    if end < 0:
        return False
    if not silent:
        last, state.pos, state.posMax = state.posMax, found.end(), end
        state.push("colour_open", "span", 1).attrs = {"class": name}
        state.md.inline.tokenize(state)
        state.push("colour_close", "span", -1)
        state.posMax = last
    state.pos = end + 1
    return True


def _formula(state: StateInline, silent: bool) -> bool:
    found = _FORMULA.match(state.src, state.pos)
    if not found:
        return False
    if not silent:
        state.push("formula", "", 0).content = found[1]
    state.pos = found.end()
    return True


def _render_formula(tokens: Any, at: int, *_: Any) -> str:
    return formula(tokens[at].content)


@lru_cache(maxsize=1)
def _renderer() -> MarkdownIt:
    made = MarkdownIt("commonmark", {"html": False, "breaks": True})
    made.enable(["table", "strikethrough"])
    made.inline.ruler.before("emphasis", "directive", _directive)
    made.inline.ruler.before("emphasis", "formula", _formula)
    made.add_render_rule("formula", lambda _, *given: _render_formula(*given))
    return made


@lru_cache(maxsize=8_192)
def markdown(words: str) -> str:
    """Words of ours as paragraphs, as they are true in a file."""
    return _renderer().render(in_file(words))


@lru_cache(maxsize=8_192)
def inline(words: str) -> str:
    """Words of ours within a line."""
    return _renderer().renderInline(words)


def plain(words: str) -> str:
    """A person's words, or any other: text and nothing else."""
    return html.escape(words)
