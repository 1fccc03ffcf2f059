"""The words of the lessons, in a drawer that opens from any page."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import streamlit as st

from attention_core.symbols import SYMBOLS
from attention_core.utils.toml_file import read_toml

from ..controls import session
from ..reactive import settings
from .basics import SPREAD
from .contents import HOME, lesson


@dataclass(frozen=True)
class Term:
    """A word, its meaning, its page; `names` are what code calls it, with blanks."""

    word: str
    meaning: str
    page: str
    names: str = ""

    def heading(self) -> str:
        """The word, its names, and their symbols in formulas, as Markdown."""
        named = [
            f"`{name}`" + (f" ${SYMBOLS[name]}$" if name in SYMBOLS else "")
            for name in self.names.split()
        ]
        return f"**{self.word}**" + (" · " + ", ".join(named) if named else "")


TERMS = tuple(Term(word, **each) for word, each in read_toml(__package__, "glossary.toml").items())


def _forms(word: str) -> str:
    singular = word.partition(" (")[0]
    plural = re.sub("ry$", "rie", singular) + "s"  # query, vocabulary; but key
    return rf"\b(?:{re.escape(singular)}|{re.escape(plural)})\b"


_FOUND_BY = {
    term: re.compile(_forms(term.word), re.IGNORECASE)
    for term in sorted(TERMS, key=lambda term: -len(term.word))
}
"""Longer words first: what is a “causal mask” is not looked up as a “mask”."""


@lru_cache(maxsize=1_000)
def terms_in(words: str) -> tuple[Term, ...]:
    """The terms that stand in a paragraph, in its order. Names in code are none."""
    left = re.sub(r"`[^`]*`|\$[^$]*\$", "", words)
    found = []
    for term, pattern in _FOUND_BY.items():
        if match := pattern.search(left):
            found.append((match.start(), term))
            left = pattern.sub(lambda each: " " * len(each[0]), left)
    return tuple(term for _, term in sorted(found, key=lambda one: one[0]))


def meanings(terms: Sequence[Term]) -> str:
    """What the terms mean, as Markdown."""
    return "\n\n".join(f"**{term.word}**: {term.meaning}" for term in terms)


@st.fragment
def title_and_glossary() -> None:
    """The app's title, and the glossary's button: a part of its own, for no slider redraws it."""
    with st.container(**SPREAD, gap=None, key="app_title"):
        st.markdown(f"**{HOME.title}**", width="content")
        is_offered = "glossary" not in session.names_in("hide")
        if is_offered and st.button("Glossary", type="tertiary", key="glossary"):
            _glossary()


@st.dialog("Glossary", position="right")
def _glossary() -> None:
    st.caption(
        "Names such as `queries` stand in pictures and in programs, letters such as $Q$ in "
        "formulas. Each link leads to where the word is explained, with your settings."
    )
    query = settings.link_query("glossary")
    for term in TERMS:
        page = lesson(term.page)
        with st.container(gap=None):
            with st.container(**SPREAD, gap=None):
                st.markdown(term.heading(), width="content")
                label = "Home" if page is HOME else page.title
                st.page_link(page.page, label=label, icon=page.icon, query_params=query)
            st.markdown(term.meaning)
