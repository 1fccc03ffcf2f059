"""The same text in a real model's tokens, and the words that lie near each other in its table."""

import re
from dataclasses import dataclass

import streamlit as st

from attention_core.real_model.nearest import added_up, nearest
from attention_core.text.tokenizers import clean, visible

from ...controls.fields import Sentence
from ...frame.models import TINY, choices, first, not_known, opened, readable, said
from ...reactive.control import Control, Values
from ...reactive.fields import AsItIs
from ...reactive.widget import control
from ...words import listed, number
from .merges import MOST_OF_WORD

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


MODEL_WORD = Control("model_word", Sentence(most_bytes=MOST_OF_WORD), "Word", "tokens",
                     "text_input", of_page=True)  # fmt: skip


def word_of_a_real_model(values: Values) -> None:
    """Which merges made a word, with the blank before it and without."""
    control(MODEL_WORD, width=220)
    with readable(first(), "merges"):
        _by_merges(values.model_word.strip() or values.model_word)


def _by_merges(word: str) -> None:
    model = opened(first())
    ids = []
    for each in (f" {word}", word):
        try:
            found = model.tokenizer.joins_of(each)
            ids.append(model.tokenizer.id_of(each))
        except ValueError as error:
            st.text(f"This word cannot be cut: {error}.")
            return
        if found is None:
            st.text(
                f"{choices()[first()]} does not make “{visible(each)}” by merges alone: its tokens "
                "are words, or it takes words that it knows as they are."
            )
            return
        before, joined = found
        rows = [("", before), *((f"merge {one.number:,}", one.pieces) for one in joined)]
        wide = max(len(name) for name, _ in rows)
        lines = [f"{name:>{wide}}  {' | '.join(map(visible, pieces))}" for name, pieces in rows]
        st.code("\n".join(lines), language=None)
    if None in ids or ids[0] == ids[1]:
        return
    table = model.matrix("token_table", ids)
    cosine = (table[0] @ table[1] / table.norm(dim=-1).prod()).item()
    st.text(
        f"“{visible(f' {word}')}” has id {ids[0]:,} and “{visible(word)}” id {ids[1]:,}: two rows "
        f"of the table, each learned by itself. Their cosine is {number(cosine, 2)}. The "
        f"table has {model.settings.n_vocabulary:,} rows of {model.settings.d_model:,} numbers."
    )


def has_a_real_model() -> bool:
    """Whether there is a model other than the tiny one."""
    return first() != TINY


def in_a_real_model(values: Values) -> None:
    """What a real model makes of the text."""
    with readable(first(), "tokens"):
        _tokens_and_vectors(values)


def _tokens_and_vectors(values: Values) -> None:
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
    for token, cosine in nearest(model, vector, 2 * SHOWN + len(own)):
        if token not in own:
            found.setdefault(said(model, token), cosine)
    if not found:
        st.text("The vectors of these words hold nan or infinite numbers: nothing is near those.")
        return
    told = [f"“{word}” {number(cosine, 2)}" for word, cosine in [*found.items()][:SHOWN]]
    st.text(f"Nearest by cosine, but for the words themselves: {', '.join(told)}.")
