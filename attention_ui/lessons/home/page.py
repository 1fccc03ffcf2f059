"""The home page: what this is, where attention comes from, and a sentence on its way."""

import streamlit as st

from attention_core.examples import EXAMPLES

from ...settings import session
from ...shell.contents import FIRST_CHECKED, HOME, LESSONS
from ...shell.frame import LINE, open_page, show_notices
from ...shell.tasks import show_tasks
from .own_text import own_text

WHAT_IT_MEANS = """
*The hungry cat chases the mouse because it purrs.* Who purrs? You knew at once: you looked back
from “it”, past the mouse, to the word that fits. **Attention** is how a computer does the same.
"""
WHAT = "**Attention** is how each word of a sentence finds the others that matter to it."
WHY = """
A computer knows a word as a list of numbers, the same list wherever the word stands. But what “it”
or “bank” means differs from sentence to sentence: that has to come from the words around it.

With attention, every word looks at all the others and takes up something of those that matter to
it. Each word **asks for** something (its *query*), can be **found by** something (its *key*), and
has something to **hand on** (its *value*). Where a query and a key fit, much of the value flows;
where they do not, hardly any.

Language models such as ChatGPT are built of many layers of this, and all of it is multiplying and
adding. Here you can see every number of it, change it, predict it, take it apart down to its
products, check it against a published notebook, and carry it away as code that gives the same
number.
"""
HISTORY = """
Translation by neural networks began with two recurrent networks. An *encoder* read the source
sentence one word at a time and kept what it had read in a single vector; a *decoder* unrolled
that vector into the other language (Sutskever et al. 2014).

One vector of fixed size has to hold the whole sentence. The longer the sentence, the more of its
beginning was lost: Cho et al. (2014) measured how quality falls as sentences grow.

Bahdanau et al. (2014) let the decoder look back. At every word it writes, it scores all positions
of the source, turns the scores into weights, and reads a weighted mean. That is attention, between
two sequences.

Self-attention turns the same idea on one sequence: every token looks at every token of its own
sentence. Vaswani et al. (2017) built the Transformer from it and dropped the recurrence.
"""
SOURCES = """
- Sutskever, Vinyals, Le (2014), *Sequence to Sequence Learning with Neural Networks*,
  [arXiv:1409.3215](https://arxiv.org/abs/1409.3215)
- Cho, van Merriënboer, Bahdanau, Bengio (2014), *On the Properties of Neural Machine Translation:
  Encoder–Decoder Approaches*, [arXiv:1409.1259](https://arxiv.org/abs/1409.1259)
- Bahdanau, Cho, Bengio (2014), *Neural Machine Translation by Jointly Learning to Align and
  Translate*, [arXiv:1409.0473](https://arxiv.org/abs/1409.0473)
- Vaswani et al. (2017), *Attention Is All You Need*,
  [arXiv:1706.03762](https://arxiv.org/abs/1706.03762)
"""


def home() -> None:
    """The whole page."""
    settings = open_page("home")

    st.title(HOME.title, anchor=False)
    show_notices()
    show_tasks(settings)
    first, *_ = EXAMPLES.values()
    st.markdown(WHAT_IT_MEANS if settings.sentence == first.inputs.sentence else WHAT, width=LINE)

    place = st.container(key="hero")
    st.page_link(
        FIRST_CHECKED.page,
        label=f"New here? Start with *{FIRST_CHECKED.title}*",
        icon=":material/arrow_forward:",
        query_params=session.link_query("start"),
    )

    st.header("Why attention", anchor="why")
    st.markdown(WHY, width=LINE)

    st.header("Start", anchor="start")
    if session.takes_own_text():
        st.markdown(
            "Type a sentence of your own to see the whole layer at work on it, or take an example "
            "through the lessons. The first was made to be read, and the second was trained. The "
            "others come from notebooks that people learn attention from, and stand beside the "
            "numbers printed there.",
            width=LINE,
        )
        own_text()
    else:
        st.markdown("The link that you opened keeps its own sentence.", width=LINE)
    examples = list(EXAMPLES.values())
    for start in range(0, len(examples), 3):
        for column, example in zip(st.columns(3), examples[start : start + 3], strict=False):
            with column, st.container(border=True, height="stretch"):
                st.markdown(f"**{example.title}**")
                st.caption(example.about)
                query, why_not = session.example_query(example.name)
                st.page_link(
                    FIRST_CHECKED.page,
                    label="Open",
                    icon=":material/arrow_forward:",
                    query_params=query,
                    disabled=bool(why_not),
                )
                if why_not:
                    st.caption(why_not)

    st.header("The lessons", anchor="lessons")
    for lesson in LESSONS:
        with st.container(horizontal=True, vertical_alignment="top", wrap=True):
            st.page_link(
                lesson.page,
                label=lesson.title,
                icon=lesson.icon,
                query_params=session.link_query("home"),
                width=240,
            )
            st.caption(lesson.idea, width=520)

    st.header("Where attention comes from", anchor="history")
    with st.container(width=LINE):
        st.markdown(HISTORY)
        with st.expander("Sources"):
            st.markdown(SOURCES)

    st.header("A sentence on its way", anchor="journey")
    st.markdown(
        "Your text becomes tokens, each token a vector, and all vectors together one context "
        "vector for the chosen query. Here vectors are compared by likeness alone; what a word "
        "asks for comes later. From left to right: each token's vector, its share, its vector "
        "times that share, and the sum so far, whose last row is the context vector.",
        width=LINE,
    )
    # Imported here: all else needs no torch, and is on the screen while torch is loaded.
    from .hero import hero
    from .journey import journey

    with place:
        hero(settings)
    journey(settings)
