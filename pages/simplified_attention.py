"""Lesson 2: attention without any trainable matrix."""

import inspect
import math
from textwrap import dedent

import streamlit as st

from attention_core.mechanism.simplified import SimplifiedOptions, attend, expand_query
from attention_core.operations import MatMulByLoop
from attention_core.rounding import agree, difference
from attention_core.text.embedding import embed
from attention_core.trace import Trace
from attention_ui.charts.equation_parts import Parts
from attention_ui.charts.matrix import Matrix
from attention_ui.charts.picture import picture
from attention_ui.lessons.simplified_attention.answers import answers
from attention_ui.lessons.simplified_attention.one_query import (
    asked_query,
    blanks_words,
    most_alike,
    stepper,
    stretch,
    twice_words,
)
from attention_ui.page.begin_and_finish import begin, finish
from attention_ui.page.closing import closing
from attention_ui.page.lights import show_checks, sums_verdict
from attention_ui.page.page import Page, open_on
from attention_ui.page.show import show
from attention_ui.page.view import View
from attention_ui.predict.common_questions import which_key
from attention_ui.settings.control import control, control_row
from attention_ui.settings.settings import Settings

PAGE = "simplified_attention"
# What gives the weights of the chosen query away.
OF_ONE_QUERY = ("query_weights", "weighted_embeddings", "running_context")


def build(settings: Settings) -> Trace:
    """The lesson's trace."""
    options = SimplifiedOptions(settings.similarity, settings.divide)
    return expand_query(attend(embed(settings.inputs), options), settings.query)


def view_of(settings: Settings) -> View:
    last = len(settings.inputs.tokens) - 1
    # Where a question is asked, not the very score that answers it.
    first = ("scores", (0, last) if settings.predict else (min(8, last), min(6, last)))
    view = View.of(PAGE, settings, build, opens_with=first, lesson="simplified")
    if settings.inputs.components and settings.has_given_vectors:
        view.opens_with = ("scores", most_alike(view.trace))
    return view


def lesson(page: Page) -> None:
    """What stands on the page, from top to bottom."""
    begin(page)
    compare(page)
    mix(page)
    one_query(page)
    draw_mean(page)
    view = page.view
    page.part("checks", lambda: show_checks(view, "context_vectors"))
    closing(page, answers(view))
    with page.deeper("scores by a loop, other ways to compare, one vector stretched"):
        try_otherwise(page)
    finish(page)


def compare(page: Page) -> None:
    """Scores; and scaled, if they are."""
    trace = page.view.trace
    scores = trace["scores"]
    page.beat(
        "scores",
        "Scores",
        "Row by row, each token asks (the query), and every token answers (the keys). A score is "
        "the dot product of two vectors: large when both are long and point the same way. "
        "Look at the diagonal: there each token meets itself.",
        scores,
    )
    if "scaled_scores" in trace:
        page.beat(
            "scaled_scores",
            "Scaled scores",
            "All scores are divided by the square root of the width of the vectors, so that wide "
            "vectors do not make them huge.",
            trace["scaled_scores"],
        )


def show_loop() -> None:
    with st.expander("The loop", icon=":material/code:"):
        st.code(dedent(inspect.getsource(MatMulByLoop.value)), language="python", wrap_lines=True)


def mix(page: Page) -> None:
    """Scores become weights, and weights mix the vectors."""
    trace = page.view.trace
    weights = trace["weights"]
    settings, asked = page.view.settings, asked_query(weights.value)
    page.header("Weights", anchor="weights")
    page.words(
        "Softmax turns each row of scores into shares: none is negative, and every row sums to 1. "
        "Read along a row to see how one query spreads its attention over the keys. Point at a "
        "cell for all its digits."
    )
    page.ask(
        "looks_at",
        which_key(
            "Which token will this query look at most? Its scores are in the row of the matrix.",
            trace.labels("key"),
            weights.value[asked],
            asked=f"Query {settings.numbered_tokens[asked]}",
            teaches="The largest score gets the largest weight, and a score that is larger by 1 "
            f"gets e = {math.e:.2f} times the weight.",
        ),
        covers=("weights", *(OF_ONE_QUERY if settings.query == asked else ())),
    )
    page.equation("weights", weights, sentence=True)
    page.light(*sums_verdict(trace, "context_vectors"))
    page.beat(
        "context",
        "Context vectors",
        "A context vector is a mean of all vectors, weighted by one row of the weights. "
        "Where a row gives nearly all to one token, its context is nearly that token's vector.",
        trace["context_vectors"],
    )
    page.changing(
        "Each place now adds a vector of its own, so a word that moves has another vector, and "
        "another context."
        if settings.positions
        else "Order plays no part in this: if two words change places, their context vectors move "
        "along, unchanged. Switch positions on, and each place adds a vector of its own."
    )
    page.changing(twice_words(settings, trace))
    page.controls(lambda: control("positions"), settings.positions)
    compared, vectors = trace["scores"].inputs[0], trace["context_vectors"].inputs[1]
    page.formulas(trace.formula("context_vectors", known=(vectors.name, compared.name)))
    page.words(
        "All of it in one line: compare every token's vector with every other, turn each row of "
        "scores into shares (softmax), and blend the vectors by these shares.",
        caption=True,
    )


def one_query(page: Page) -> None:
    """One query, key by key."""
    trace, settings = page.view.trace, page.view.settings
    page.header("One query, term by term", anchor="one_query")
    page.words(
        "Choose a token and walk through its keys. Each key is compared with the query, gets its "
        "weight, and adds its share to the context vector."
    )
    page.controls(lambda: control("query", width=240), settings.numbered_tokens)
    page.equation("one_query", build=lambda now: walk(trace, now))
    end = trace["running_context"].value[-1]
    pairs = [(end, trace["context_vectors"].value[settings.query])]
    page.light(
        agree(pairs, (trace, "running_context"), (trace, "context_vectors")),
        f"The last row of `running_context` is row {settings.query} of `context_vectors`: "
        f"the largest difference is {difference(pairs):.1g}.",
        shows=OF_ONE_QUERY,
    )


def walk(trace: Trace, now: Settings) -> Parts:
    """The matrices of one query, up to the key that has been reached."""
    compared = trace["scores"].inputs[0]
    later = frozenset(range(stepper(now), len(now.inputs.tokens)))

    def part(name: str) -> Matrix:
        # A row of its own for each key, which the labels of the first matrix name.
        return Matrix(trace[name], faint=later, row_labels=False, as_bars="weights" in name)

    scaled = ("→", part("scaled_query_scores")) if "scaled_query_scores" in trace else ()
    return (
        *(Matrix(trace["query"], transposed=True), "⊙", Matrix(compared, faint=later), "="),
        *(part("query_key_products"), "Σ", part("query_scores"), *scaled),
        *("→", part("query_weights")),
        *("→", part("weighted_embeddings"), "Σ", part("running_context")),
    )


def try_otherwise(page: Page) -> None:
    """The scores by a loop, another similarity, one vector stretched."""
    view = page.view
    trace, settings = view.trace, view.settings
    page.header("Scores by a loop", anchor="loop")
    pairs = [(trace["scores_by_loop"].value, trace["scores"].value)]
    page.light(
        agree(pairs, (trace, "scores_by_loop"), (trace, "scores")),
        f"A loop that adds one product at a time gives the same scores as the matrix product: "
        f"the largest difference is {difference(pairs):.1g}.",
    )
    page.controls(show_loop)
    page.header("Other ways to compare", anchor="compare")
    page.words(
        "Cosine compares directions only: every vector is brought to length 1 first. Dividing by "
        "√d brings all scores nearer to 0, and the weights nearer to each other, unless d is 1. "
        "Both change every picture of this page, also those above."
    )
    page.controls(choose_similarity)
    page.note(blanks_words(trace, settings))
    page.header("Stretch one vector", anchor="stretch")
    options = SimplifiedOptions(settings.similarity, settings.divide)
    page.part("stretch", lambda: stretch(view, options), shows=OF_ONE_QUERY)


def draw_mean(page: Page) -> None:
    """The vectors as points, and the context vector among them."""
    trace, settings = page.view.trace, page.view.settings
    page.header("The context vector as a mean", anchor="picture")
    if settings.d_in == 1:
        page.words(
            "With a width of 1 a vector is a single number, and there is only a line to draw: "
            "raise `d_in` in the sidebar. A context vector then lies between the smallest number "
            "and the largest."
        )
    else:
        page.words(
            "Each point is a vector, as large as the weight it gets from your query. The context "
            "vector lies among them, drawn towards the heavy ones. It can never leave the area "
            "between them."
        )
        vectors, contexts = trace["context_vectors"].inputs[1], trace["context_vectors"]
        entries = (settings.across, settings.up)
        page.part(
            "picture",
            lambda: show(
                picture(trace, vectors, *entries, trace["weights"], contexts, settings.query)
            ),
            shows=OF_ONE_QUERY,
        )


def choose_similarity() -> None:
    with control_row():
        control("similarity")
        control("divide")


open_on(PAGE, view_of, lesson)
