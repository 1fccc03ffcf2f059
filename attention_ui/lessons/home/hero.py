"""The picture on the home page: where each token looks, and how one context vector is made."""

import streamlit as st

from attention_core.mechanism.simplified import SimplifiedOptions, attend
from attention_core.mechanism.trainable import attend_trainable
from attention_core.text.embedding import embed
from attention_core.text.tokenizers import visible
from attention_core.trace import Trace

from ...cards.elements import picture
from ...controls import shared
from ...frame.contents import lesson
from ...picture.layout import equation
from ...picture.matrix import Matrix
from ...picture.sentence import with_sentence
from ...reactive.control import Values
from ...words import percent

TALL = 250
POINT = (
    "Point at a word to see where it looks: the shares below the words, its row of `weights`, say "
    "how much of each word’s vector goes into its context vector."
)
BY_HAND = (
    " Vectors and matrices were set by hand, so that “it” asks for an animal that hunts: the verb "
    "plays no part, and “because it barks” gives the same."
)


def hero(values: Values) -> None:
    """The sentence, shaded by the weights of the token that is pointed at, and all its weights."""
    embedded = embed(shared.inputs_of(values))
    alike = attend(embedded.branch(), SimplifiedOptions(divide=shared.example_of(values).divide))
    trace, projections = alike, shared.projections_of(values)
    if projections.given_for("query", values.d_in):  # by hand, so that it makes sense
        trace = attend_trainable(embedded.branch(), projections)
    query = shared.telling_query(values)
    with st.container(border=True, key="card_layer", gap="xsmall"):
        st.text(most_looked_at(trace, query, alike))
        contexts = trace["context_vectors"]
        parts = [Matrix(trace["weights"]), "·", Matrix(contexts.inputs[1]), "=", Matrix(contexts)]
        picture(with_sentence(equation(trace, *parts, tall=TALL), query), "layer").draw()
        st.caption(POINT + how_made(trace, alike, values) + BY_HAND * shared.is_set_by_hand(values))


def most_looked_at(trace: Trace, query: int, alike: Trace) -> str:
    """Which tokens a query looks at most, and would by likeness alone. Plain text."""
    names = [visible(token) for token in trace.labels("key")]
    shares, places = trace["weights"].value[query].topk(min(2, len(names)))
    whom = ["itself" if at == query else f"“{names[at]}”" for at in places]
    most, *less = zip(shares.tolist(), whom, strict=True)
    told = f"“{names[query]}” gives {percent(most[0])} of its attention to {most[1]}"
    told += "".join(f", and {percent(share)} to {name}" for share, name in less) + "."
    if trace is alike:
        return told
    by_likeness = [*map(percent, alike["weights"].value[query][places].tolist())]
    plain = lesson("simplified_attention").title
    return f"{told} By likeness alone, as in “{plain}”: {' and '.join(by_likeness)}."


def how_made(trace: Trace, alike: Trace, values: Values) -> str:
    """What was done to the scores, where it is taught, and if it has no meaning."""
    if shared.has_random_numbers(values):
        return " Its vectors are drawn at random, so it means nothing which word it looks at."
    if trace is alike or values.scale != "sqrt_d":
        return ""
    title = lesson("queries_keys_values").title
    return f" Its scores are divided by √{values.d_query}, as in *{title}*."
