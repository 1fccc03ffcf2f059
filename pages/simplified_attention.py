"""Lesson 2: attention without any trainable matrix."""

import inspect
import math

import streamlit as st

from attention_core.embedding import embed
from attention_core.operations import MatMulByLoop
from attention_core.simplified import SimplifiedOptions, attend, expand_query
from attention_core.trace import Trace
from attention_ui import session
from attention_ui.anatomy import begin, finish
from attention_ui.asked import which_key
from attention_ui.beats import beat, equation
from attention_ui.charts.matrix import Matrix
from attention_ui.charts.picture import picture
from attention_ui.frame import open_lesson
from attention_ui.look import (
    asked_query,
    choose_query,
    say_blanks,
    stepper,
    stretch,
)
from attention_ui.predict import is_open
from attention_ui.settings import Settings
from attention_ui.show import light, show
from attention_ui.view import View

PAGE = "simplified_attention"

settings = open_lesson(PAGE)
options = SimplifiedOptions(settings.likeness, settings.divide)
last = len(settings.inputs.tokens) - 1


def build(settings: Settings) -> Trace:
    """The lesson's trace."""
    options = SimplifiedOptions(settings.likeness, settings.divide)
    return expand_query(attend(embed(settings.inputs), options), settings.query)


view = View.of(
    PAGE,
    settings,
    build,
    opens_with=("scores", (min(8, last), min(6, last))),
    lesson="simplified",
)
trace = view.trace
begin(view)

scores, weights, context_vectors = trace["scores"], trace["weights"], trace["context_vectors"]
compared, vectors = scores.inputs[0], context_vectors.inputs[1]
before_softmax = weights.inputs[0]

st.latex(trace.formula("context_vectors", known=(vectors.name, compared.name)), width="content")

beat(
    view,
    "scores",
    "Scores",
    "Row by row, each token asks (the query), and every token answers (the keys). A score is the "
    "dot product of two vectors: large when both are long and point the same way. "
    "Look at the diagonal: there each token meets itself.",
    Matrix(compared),
    "·",
    Matrix(compared, transposed=True),
    "=",
    Matrix(scores),
)
gap = (trace["scores_by_loop"].value - scores.value).abs().max().item()
light(
    gap <= 1e-5 * max(1.0, scores.value.abs().max().item()),
    f"A loop that adds one product at a time gives the same scores as the matrix product: "
    f"the largest difference is {gap:.1g}.",
)
with st.expander("The loop", icon=":material/code:"):
    st.code(inspect.getsource(MatMulByLoop.value), language="python")
if "scaled_scores" in trace:
    beat(
        view,
        "scaled_scores",
        "Scaled scores",
        "All scores are divided by the square root of the width of the vectors, so that wide "
        "vectors do not make them huge.",
        Matrix(scores),
        "→",
        Matrix(trace["scaled_scores"], row_labels=False),
    )

asked = asked_query(weights.value)
revealed = is_open(
    view,
    "looks_at",
    which_key(
        "Which token will this query look at most? Its scores are in the matrix above.",
        settings.numbered_tokens,
        trace.labels("key"),
        weights.value[asked],
        asked=f"Query {settings.numbered_tokens[asked]}",
        teaches="The largest score gets the largest weight, and a score that is larger by 1 gets "
        f"e = {math.e:.2f} times the weight.",
    ),
    covers=("weights", "context_vectors"),
)
if revealed:
    beat(
        view,
        "weights",
        "Weights",
        "Softmax turns each row of scores into shares: none is negative, and every row sums to 1. "
        "Read along a row: how one query spreads its attention over the keys. Point at a cell for "
        "all its digits.",
        Matrix(before_softmax),
        "→",
        Matrix(weights, row_labels=False),
    )
    off = (weights.value.sum(dim=-1) - 1).abs().max().item()
    light(off < 1e-5, f"Every row sums to 1: the farthest is off by {off:.1g}.")
    beat(
        view,
        "context",
        "Context vectors",
        "A context vector is a mean of all vectors, weighted by one row of the weights. "
        "Where a row gives nearly all to one token, its context is nearly that token's vector.",
        Matrix(weights),
        "·",
        Matrix(vectors),
        "=",
        Matrix(context_vectors),
    )

    st.header("One query, term by term", anchor="one_query")
    st.markdown(
        "Choose a token and walk through its keys. Each key is compared with the query, gets its "
        "weight, and adds its share to the context vector."
    )
    choose_query(settings)

    def walk(now: Settings) -> tuple[Matrix | str, ...]:
        """The matrices of one query, up to the key that has been reached."""
        later = frozenset(range(stepper(now), last + 1))

        def part(name: str) -> Matrix:
            first = name == compared.name
            return Matrix(trace[name], faint=later, row_labels=first, as_bars="weights" in name)

        return (
            *(Matrix(trace["query"], transposed=True), "⊙", part(compared.name), "="),
            *(part("query_key_products"), "Σ", part("query_scores"), "→", part("query_weights")),
            *("→", part("weighted_embeddings"), "Σ", part("running_context")),
        )

    equation(view, "one_query", build=walk)
    end = trace["running_context"].value[-1]
    far = (end - context_vectors.value[settings.query]).abs().max().item()
    light(
        far < 1e-4,
        f"The last row of `running_context` is row {settings.query} of `context_vectors`: "
        f"the largest difference is {far:.1g}.",
    )

    st.header("Compare otherwise", anchor="compare")
    st.markdown(
        "Cosine compares directions only: every vector is brought to length 1 first. Dividing by "
        "√d brings all scores nearer to 0, and the weights nearer to each other, unless d is 1. "
        "Both change the whole page."
    )
    with st.container(horizontal=True, gap="medium"):
        session.choice("Compare by", "likeness")
        session.choice("Divide scores by", "divide")
    say_blanks(trace, settings)

    st.header("Stretch one vector", anchor="stretch")
    stretch(view, options)

    st.header("The context vector as a mean", anchor="picture")
    st.markdown(
        "Each point is a vector, as large as the weight it gets from your query. The context "
        "vector lies among them, drawn towards the heavy ones; it can never leave their hull."
    )
    if settings.width > 1:
        points = (settings.across, settings.up)
        show(picture(trace, vectors, *points, weights, context_vectors, settings.query))

finish(view)
