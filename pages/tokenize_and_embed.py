"""Lesson 1: from a sentence to embeddings."""

import streamlit as st

from attention_core.embedding import embed
from attention_ui import session
from attention_ui.anatomy import begin, finish
from attention_ui.beats import beat, equation
from attention_ui.charts.matrix import Matrix
from attention_ui.charts.picture import picture
from attention_ui.frame import open_lesson
from attention_ui.predict import is_open
from attention_ui.questions import Pick
from attention_ui.settings import LEARNED, VOCABULARIES
from attention_ui.show import light, show
from attention_ui.tokens import (
    identical_rows,
    judge_identical,
    say_identical,
    size_of_table,
    token_chips,
    type_vectors,
    vocabulary_chips,
)
from attention_ui.view import View

PAGE = "tokenize_and_embed"

settings = open_lesson(PAGE)
view = View.of(
    PAGE,
    settings,
    lambda settings: embed(settings.inputs),
    opens_with=("embeddings", (0, 0)),
    lesson="tokenize",
)
trace = view.trace
begin(view)
small_table = "one_hot" in trace
ids = frozenset(trace["token_ids"].value.tolist())
unused_rows = frozenset(range(trace.size("vocabulary"))) - ids if small_table else frozenset()
used_rows = None if small_table else tuple(dict.fromkeys(trace["token_ids"].value.tolist()))

st.latex(trace["embeddings"].formula, width="content")

st.header("Tokens", anchor="tokens")
st.markdown(
    "The text is cut into tokens. Blanks are drawn as ␣ so that you can see them. "
    "Try another tokenizer in the sidebar and watch the cuts move."
)
token_chips(settings)

st.header("Vocabulary", anchor="vocabulary")
vocabulary_chips(settings)

beat(
    view,
    "ids",
    "Ids",
    "Each token gets a whole number, its id: the row of the table that belongs to it. "
    "Ids are names, not amounts; 4 is not twice 2.",
    Matrix(trace["token_ids"], transposed=True),
)

if is_open(
    view,
    "identical",
    Pick(
        words="Which rows of `embeddings` will be identical to another row?",
        choices=settings.numbered_tokens,
        judge=lambda guess: judge_identical(guess, trace["embeddings"].value),
        many=True,
        teaches="The same id always picks the same row: what a vector says is which token it is, "
        "not where it stands."
        if not settings.positions
        else "The same id picks the same row, but each place adds a vector of its own.",
    ),
    covers=("embeddings",),
):
    beat(
        view,
        "lookup",
        "Embeddings",
        "The id picks a row of `embedding_table`, and that row is the token's vector. Rows that "
        "no token picks are faint. Choose a cell of `embeddings`: the id and the entry it points "
        "at are outlined.",
        Matrix(trace["token_ids"]),
        "→",
        Matrix(trace["embedding_table"], rows=used_rows, faint=unused_rows),
        "=",
        Matrix(trace["token_embeddings" if settings.positions else "embeddings"]),
    )
    if settings.positions:
        st.markdown(
            "A position vector is added to each token's vector, so that the same word at another "
            "place is another vector."
        )
        equation(
            view,
            "positions",
            Matrix(trace["token_embeddings"]),
            "+",
            Matrix(trace["position_embeddings"]),
            "=",
            Matrix(trace["embeddings"]),
        )
    say_identical(identical_rows(trace["embeddings"].value), settings)

    if small_table:
        beat(
            view,
            "one_hot",
            "The lookup is a matrix product",
            "Write each id as a row with a single 1. Multiplied by the table, it copies one row "
            "and nothing else: every other term is 0 times something.",
            Matrix(trace["one_hot"]),
            "·",
            Matrix(trace["embedding_table"]),
            "=",
            Matrix(trace["embeddings_by_product"]),
        )
        looked_up = trace["token_embeddings" if settings.positions else "embeddings"].value
        gap = (trace["embeddings_by_product"].value - looked_up).abs().max().item()
        light(gap == 0, f"The product and the lookup agree: the largest difference is {gap:.1g}.")

    st.header("A picture of the vectors", anchor="picture")
    st.markdown(
        "Two entries of each vector, drawn as a point. Tokens at one point share both entries. "
        + (
            "These vectors were given by the notebook."
            if settings.inputs.has_given_vectors()
            else "They are random, nothing has been trained: near does not mean alike."
        )
    )
    if settings.width > 1:
        with st.container(horizontal=True):
            for name, label in (("across", "Across"), ("up", "Up")):
                session.control(
                    st.selectbox,
                    label,
                    name,
                    version=settings.width,
                    options=list(range(settings.width)),
                    format_func=lambda column: f"d{column + 1}",
                    width=120,
                )
        show(picture(trace, trace["embeddings"], settings.across, settings.up))
    else:
        st.markdown("With a width of 1 there is only a line: raise `d_in` in the sidebar.")

st.header("How large the table is", anchor="parameters")
st.markdown(
    "Every entry of the table is a parameter: a number that training may change. "
    "Move the sliders to the size of a real model."
)
size_of_table()

st.header("Change it", anchor="change")
st.markdown(
    "Random tables belong to their seed *and* their size: with one reserved row more, the same "
    "seed gives other vectors to many tokens. Positions make repeated words different. The seed "
    "and the width are in the sidebar."
)
with st.container(horizontal=True, vertical_alignment="bottom"):
    session.control(
        st.selectbox,
        "Ids",
        "ids",
        options=list(VOCABULARIES),
        format_func=VOCABULARIES.__getitem__,
        width=260,
    )
    session.control(
        st.selectbox,
        "Vocabulary built from",
        "learned",
        options=list(LEARNED),
        format_func=LEARNED.__getitem__,
        width=240,
        disabled=settings.ids == "random",
    )
    session.control(
        st.slider,
        "Reserved rows",
        "reserved",
        min_value=0,
        max_value=8,
        width=200,
        disabled=settings.ids != "distinct",
    )
    session.control(st.toggle, "Positions", "positions")
if settings.ids == "random":
    st.markdown(
        "Random ids mean nothing: the same word gets two ids, another run gives others, and "
        "two words may share one. That is what the notebook does, and what to avoid."
    )
if small_table:
    type_vectors(view)

finish(view)
