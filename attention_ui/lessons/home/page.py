"""The home page: what this is, a sentence with its attention, and where to begin. One screen."""

from pathlib import Path

import streamlit as st

from attention_core.examples import EXAMPLES

from ...controls import session
from ...controls.in_class import InClass
from ...controls.lesson_session import this_session
from ...controls.shared import MAKES_VECTORS, PROJECTED
from ...frame.basics import LINE
from ...frame.contents import AT_A_GLANCE, FIRST_CHECKED, HOME, LESSONS, WAY, lesson
from ...frame.lesson_modules import example_query
from ...frame.page import link, open_page, show_what_differs
from ...frame.tasks import show_tasks
from ...reactive import settings
from ...reactive.fragments import fragment
from .own_text import own_text, takes_own_text

ARROW = ":material/arrow_forward:"
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

Language models such as ChatGPT stack many layers of this, and all of it is plain arithmetic. Here
you can see every number, change it, predict it, take it apart down to its products, check it
against five published notebooks (*The notebooks' numbers* says which), and carry it away as code
that gives the same number.
"""
HISTORY = """
Translation by neural networks began with two recurrent networks, which read and write one word at
a time. An *encoder* kept what it had read of the source sentence in a single vector; a *decoder*
unrolled that vector into the other language (Sutskever et al. 2014).

One vector of fixed size has to hold the whole sentence. The longer the sentence, the more of its
beginning was lost: Cho et al. (2014) measured how quality falls as sentences grow.

Bahdanau et al. (2014) let the decoder look back. At every word it writes, it scores all positions
of the source, turns the scores into weights, and reads a weighted mean. That is attention, between
two sequences.

Self-attention applies the same idea to one sequence: every token looks at every token of its own
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


CONTROLS = (*MAKES_VECTORS, *PROJECTED)
LEARNED = lesson("tiny_language")


def home(pages: Path) -> None:
    """The whole page. `pages` is the folder of the lessons."""
    values = open_page("home", CONTROLS)
    if not values.card:
        st.title(HOME.title, anchor=False)
        _class()
        show_what_differs()
        show_tasks()
        first, *_ = EXAMPLES.values()
        is_first = values.sentence == first.inputs.sentence
        st.markdown(WHAT_IT_MEANS if is_first else WHAT, width=LINE)
    place = st.container(key="hero")
    place.empty()  # Streamlit leaves out a place that has nothing: it would have no height yet
    if not values.card:
        _begin()
        _way()
        with st.container(gap="xsmall", key="more"):
            again = st.container()
            _more()
    # Imported last: all else needs no torch, and is on the screen while torch is loaded.
    from .hero import hero
    from .spaced_repetition import coming_back

    if not values.card:
        with again:
            fragment("coming_back", lambda: coming_back(pages))

    with place:
        hero(values)
    session.settle_cell()


def _class() -> None:
    if this_session().own(InClass).code:
        from ...cards.class_part import put_class  # it loads torch, which the page can do without

        put_class()


def _way() -> None:
    look = {"horizontal": True, "gap": "xsmall", "vertical_alignment": "center"}
    with st.container(key="way", **look):
        st.markdown("**The way:** a text")
        for becomes, page in WAY:
            st.markdown("→")
            link(page, settings.link_query("way"), becomes)


def _begin() -> None:
    with st.container(horizontal=True, vertical_alignment="top", gap="large", key="begin"):
        with st.container(width="content", gap="xxsmall"):
            for page, where, words, look in (
                (FIRST_CHECKED, "start", "**New here?** Start with", {"icon": ARROW}),
                (AT_A_GLANCE, "map", "**You know the words already?** Open", {}),
                (LEARNED, "learned", "**Learned, not set by hand?** Open", {}),
            ):
                link(page, settings.link_query(where), f"{words} *{page.title}*", **look)
        if takes_own_text():
            with st.container(width=440, gap="xsmall"):
                own_text()
        else:
            st.markdown("The link that you opened keeps its own sentence.")


def _more() -> None:
    with st.expander("**Examples**: made to be read, trained, or from a published notebook",
                     icon=":material/menu_book:", key="row_examples"):  # fmt: skip
        for example in EXAMPLES.values():
            query, why_not = example_query(FIRST_CHECKED.name, example.name)
            with st.container(horizontal=True, gap="small"):
                look = {"icon": ARROW, "disabled": bool(why_not)}
                label = example.title
                st.page_link(FIRST_CHECKED.page, label=label, query_params=query, width=370, **look)
                st.caption(why_not or example.about, width=470)
    with st.expander("**The lessons**, and what each is about", icon=":material/list:",
                     key="row_lessons"):  # fmt: skip
        for each in LESSONS:
            with st.container(horizontal=True, gap="small"):
                link(each, settings.link_query("home"), width=270)
                st.caption(each.idea, width=520)
    with st.expander("**Why attention**, and where it comes from", icon=":material/history_edu:",
                     key="row_history"):  # fmt: skip
        for words in (WHY, HISTORY, SOURCES):
            st.markdown(words, width=LINE)
