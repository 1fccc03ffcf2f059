"""Lesson 2: attention without any trainable matrix."""

import inspect
from textwrap import dedent

from attention_core.operations import MatMulByLoop
from attention_core.text.embedding import embed
from attention_ui.cards import elements as ui
from attention_ui.cards.page import Page, is_covered, waits_for
from attention_ui.charts.picture import picture as as_points
from attention_ui.controls import shared
from attention_ui.frame.lights import agreement
from attention_ui.lessons.simplified_attention import lesson, words
from attention_ui.picture.matrix import Matrix

AS_A_MEAN = (
    "Each point is a vector, as large as the weight it gets from your query. The context vector "
    "lies among them, pulled towards the heavy ones. It can never leave the area between them."
)
ON_A_LINE = (
    "With a width of 1 a vector is a single number, and there is only a line to draw: raise d_in "
    "in the sidebar. A context vector then lies between the smallest number and the largest."
)
OF_ONE_QUERY = ("query_weights", "weighted_embeddings", "running_context")
page = Page("simplified_attention", "context_vectors", "simplified")
LOOKS_AT = page.ask("looks_at", words.looks_at, ["weights"], again=["scores"])


@page.card(
    "scores",
    "Scores",
    lambda v: (
        "A **score** is a dot product: multiply two vectors number by number, and add up. It is "
        "large where both are long and point the same way. Rows ask (the **query**), columns "
        "answer (the **key**). "
        + (
            "**Cosine** compares directions alone, so length changes nothing."
            if v.similarity == "cosine"
            else "Stretch a vector and watch its row and column."
        )
    ),
    controls=[shared.SIMILARITY, lesson.STRETCH.at(width=140), ui.in_picture(shared.FACTOR)],
)
def scores(v):
    embedded = embed(shared.inputs_of(v))
    called = "directions" if v.similarity == "cosine" else "vectors"

    def compared(factor):
        """Every vector beside every other, with one of them stretched."""
        made = lesson.with_factor(embedded, v, factor)
        each = made["scores"].inputs[0]
        turned = Matrix(each, title=f"{called}ᵀ (turned)", transposed=True)
        return made, (Matrix(each, title=called), "·", turned, "=", Matrix(made["scores"]))

    yield ui.moving(shared.FACTOR, compared)


@page.card(
    "weights",
    "Weights",
    "**Softmax** turns each row of scores into shares: none is negative, and every row sums to 1. "
    "Point at a word, or read along a row, to see how one query spreads its attention.",
    controls=[shared.DIVIDE],
    ask=LOOKS_AT,
)
def weights(v, trace):
    weights, scores = trace["weights"], trace["scores"]
    shown = (Matrix(weights.inputs[0]), "→", Matrix(weights))
    if weights.inputs[0] is not scores:
        shown = (Matrix(scores), "÷ √d", *shown)
    yield ui.matrices(trace, *shown, tall=330, asks=shared.telling_query(v))
    yield ui.note(words.blanks_words(trace, v))


@page.card(
    "context",
    "Context vectors",
    "Each token gets a new vector, its **context vector**: a mean of all vectors, weighted by its "
    "row of weights. Where that gives nearly all to one token, the context is nearly that token’s "
    "vector.",
    controls=[shared.POSITIONS],
)
def context(v, trace):
    yield ui.matrices(trace, trace["context_vectors"])
    yield ui.caption(
        "Each place now adds a vector of its own, so a word that moves has another vector, and "
        "another context."
        if v.positions
        else "Order plays no part here: if two of the vectors change places, their context vectors "
        "move along, unchanged. Turn *Positions* on, and each place adds a vector of its own."
    )


@page.card(
    "one_query",
    "One query, key by key",
    "Choose a token and walk through its keys. Each is compared with the query, gets its weight, "
    "and adds its share to the context vector: the last row of the sum. **Σ** means add up.",
    controls=[shared.QUERY.at(width=150), ui.in_picture(shared.SHOWN_TERMS)],
)
def one_query(trace):
    n_keys = len(trace.labels("key"))
    scaled = ("→", "scaled_query_scores") if "scaled_query_scores" in trace else ()
    steps = (
        *("query_key_products", "Σ", "query_scores", *scaled, "→", "query_weights"),
        *("→", "weighted_embeddings", "Σ", "running_context"),
    )

    def walked(reached):
        """The matrices of one query, up to the key that has been reached."""
        later = frozenset(range(int(reached), n_keys))
        return trace, [
            Matrix(trace[each], faint=later, row_labels=at == 0, as_bars="weights" in each)
            if each in trace
            else each
            for at, each in enumerate(steps)
        ]

    yield ui.moving(shared.SHOWN_TERMS, walked)


@page.card(
    "picture",
    "The context vector as a mean",
    lambda v: AS_A_MEAN if v.d_in > 1 else ON_A_LINE,
    controls=lambda v: [shared.ACROSS.at(width=130), shared.UP.at(width=130)] * (v.d_in > 1),
)
def as_a_mean(v, trace):
    if v.d_in == 1:
        return
    if is_covered(*OF_ONE_QUERY):
        yield waits_for("weights", "This picture")
        return
    weights, contexts = trace["weights"], trace["context_vectors"]
    entries = (v.across, v.up)
    yield ui.chart(
        "picture", as_points(trace, contexts.inputs[1], *entries, weights, contexts, v.query), 880
    )


deeper = page.deeper("scores by a loop, all of it as a formula")


@deeper.section("loop", "Scores by a loop")
def loop(v, trace):
    scores, contexts = trace["scores"], trace["context_vectors"]
    pairs = [(trace["scores_by_loop"].value, scores.value)]
    told = "A loop that adds one product at a time gives the same scores as the matrix product"
    yield ui.light(*agreement(told, pairs, (trace, "scores_by_loop"), (trace, "scores")))
    yield ui.code(dedent(inspect.getsource(MatMulByLoop.value)), wrap_lines=True)
    if not is_covered(*OF_ONE_QUERY):
        pairs = [(trace["running_context"].value[-1], contexts.value[v.query])]
        told = f"The last row of `running_context` is row {v.query} of `context_vectors`"
        made = (trace, "running_context"), (trace, "context_vectors")
        yield ui.light(*agreement(told, pairs, *made))


@deeper.section("formula", "All of it in one line")
def in_one_line(trace):
    known = (trace["context_vectors"].inputs[1].name, trace["scores"].inputs[0].name)
    yield ui.formula_of(trace, "context_vectors", *known)
    yield ui.say(
        "Compare every token’s vector with every other, turn each row of scores into shares "
        "(softmax), and blend the vectors by these shares. Cosine compares directions only: every "
        "vector is brought to length 1 first. Dividing by √d brings all scores nearer to 0, and "
        "the weights nearer to each other, unless d is 1."
    )


page.answers(
    lambda v, trace: words.which_axis(trace, v, is_covered("weights")),
    words.made_of,
    words.on_order,
)
page.show()
