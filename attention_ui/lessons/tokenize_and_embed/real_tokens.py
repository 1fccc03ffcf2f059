"""The same text in a real model's tokens, and the words that lie near each other in its table."""

import re
from dataclasses import dataclass

import streamlit as st

from attention_core.real_model.nearest import added_up, nearest
from attention_core.text.tokenizers import clean, visible

from ...controls.control import Control, Values
from ...controls.fields import AsItIs
from ...controls.widget import control
from ...frame.models import TINY, choices, first, not_known, opened, readable, said
from ...words import listed, number

MOST_WORDS, LONGEST, SHOWN = 6, 120, 8


@dataclass(frozen=True)
class Sum(AsItIs):
    """Words that are added and taken away: `king - man + woman`."""

    def read(self, text: str) -> str:
        if len(text) > LONGEST:
            raise ValueError(f"it has {len(text):,} characters, and {LONGEST} fit: shorten it")
        terms = terms_of(clean(text)[0])
        if not terms:
            raise ValueError("it must have at least one word, such as king - man + woman")
        if len(terms) > MOST_WORDS:
            raise ValueError(f"it has {len(terms)} words, and {MOST_WORDS} fit")
        return " ".join(f"{sign} {word}" for sign, word in terms).removeprefix("+ ")


def terms_of(text: str) -> list[tuple[str, str]]:
    """The words of a sum, each with its sign."""
    parts = re.findall(r"([+\-−–]?)\s*([^\s+−–-]+)", text)
    return [("-" if sign and sign in "-−–" else "+", word) for sign, word in parts]


NEAREST_TO = Control("nearest_to", Sum(), "Nearest to", "king - man + woman", widget="text_input")


def has_a_real_model() -> bool:
    """Whether there is a model other than the tiny one."""
    return first() != TINY


def in_a_real_model(values: Values) -> None:
    """What a real model makes of the text."""
    with readable(first(), "tokens"):
        _tokens_and_vectors(values)


def _tokens_and_vectors(values: Values) -> None:
    """Its tokens of the sentence, and what lies near a sum of its vectors."""
    name = first()
    model = opened(name)
    try:
        cut = model.tokenizer.encode(values.sentence)
    except ValueError as error:
        st.text(f"This text cannot be cut: {error}.")
        return
    st.text(
        f"{choices()[name]} cuts your text into {len(cut.pieces)} of its "
        f"{model.settings.n_vocabulary:,} tokens:"
    )
    with st.container(horizontal=True, gap="xsmall", key="chips_real"):
        for piece in cut.pieces:
            st.text(visible(piece))
    for told in not_known(model, cut):
        st.text(told)
    st.markdown(
        "Its vectors were learned. Words that are used alike point nearly the same way: type one, "
        "or add some and take others away."
    )
    control(NEAREST_TO, width=330)
    terms = [
        (sign, word, model.tokenizer.next_id(word)) for sign, word in terms_of(values.nearest_to)
    ]
    if strange := [word for _, word, token in terms if token is None]:
        st.text(
            f"{listed([f'“{visible(word)}”' for word in strange])}: not one token of this model."
        )
        return
    vector = added_up(model, [(1 if sign == "+" else -1, token or 0) for sign, _, token in terms])
    own = {token for _, _, token in terms}
    found: dict[str, float] = {}  # a word is there with a blank before it and without: once here
    for each in nearest(model, vector, 2 * SHOWN + len(own)):
        if each.token not in own:
            found.setdefault(said(model, each.token), each.cosine)
    if not found:
        st.text("The vectors of these words hold nan or infinite numbers: nothing is near those.")
        return
    told = [f"“{word}” {number(cosine, 2)}" for word, cosine in [*found.items()][:SHOWN]]
    st.text(f"Nearest by cosine, but for the words themselves: {', '.join(told)}.")
