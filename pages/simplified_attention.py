"""Lesson 2: attention without any trainable matrix."""

import inspect
from textwrap import dedent

import streamlit as st

from attention_core.operations import MatMulByLoop
from attention_core.rounding import agree, difference, to_within
from attention_core.text.embedding import embed
from attention_ui.cards.begin import begin
from attention_ui.cards.card import card, light, note, waits_for
from attention_ui.cards.question import first_shown, question
from attention_ui.cards.show import Moving, chart, moves, picture
from attention_ui.charts.picture import picture as as_points
from attention_ui.controls import shared
from attention_ui.controls.widget import control
from attention_ui.frame.ends import answers, deeper, ends
from attention_ui.lessons.simplified_attention import lesson, words
from attention_ui.picture.layout import equation
from attention_ui.picture.matrix import Matrix
from attention_ui.picture.sentence import with_sentence

OF_ONE_QUERY = ("query_weights", "weighted_embeddings", "running_context")
values, trace = begin("simplified_attention")
scores, weights, contexts = trace["scores"], trace["weights"], trace["context_vectors"]
vectors, scaled = contexts.inputs[1], weights.inputs[0]
asked = words.asked_query(weights.value)

with card(
    "scores",
    "Scores",
    "A **score** is a dot product: large where two vectors are long and point the same way. Rows "
    "ask (the **query**), columns answer (the **key**). "
    + (
        "**Cosine** compares directions alone, so length changes nothing."
        if values.similarity == "cosine"
        else "Stretch a vector and watch its row and column."
    ),
) as beside:
    with beside:
        control(shared.SIMILARITY)
        control(lesson.STRETCH, width=140)
        moves("scores", shared.FACTOR)
    embedded = embed(shared.inputs_of(values))

    def compared(factor: float) -> tuple:
        """Every vector beside every other, with one of them stretched."""
        found = lesson.scores_with_factor(embedded, values, factor)
        each = found.inputs[0]
        called = "directions" if values.similarity == "cosine" else "vectors"
        turned = Matrix(each, title=f"{called}ᵀ (turned)", transposed=True)
        return Matrix(each, title=called), "·", turned, "=", Matrix(found)

    about = values.of(*lesson.MAKES_SCORES)
    moving = Moving(shared.FACTOR, compared, about, elsewhere=True)
    picture("scores", equation(trace, *compared(values.factor)), moving)

with card(
    "weights",
    "Weights",
    "**Softmax** turns each row of scores into shares: none is negative, and every row sums to 1. "
    "Point at a word, or read along a row, to see how one query spreads its attention.",
) as beside:
    with beside:
        control(shared.DIVIDE)
    of_query = OF_ONE_QUERY if values.query == asked else ()
    about = ("weights", *of_query)
    covered = question("looks_at", words.looks_at(trace, values), trace, about)
    first = first_shown(asked, shared.first_query(values))
    shown = [Matrix(scaled), "→", Matrix(weights, covered="weights" in covered)]
    if scaled is not scores:
        shown = [Matrix(scores), "÷ √d", *shown]
    picture("weights", with_sentence(equation(trace, *shown, tall=330), first))
    if values.factor != 1 and not covered:
        plain = lesson.with_factor(embed(shared.inputs_of(values)), values, 1.0)
        note(words.moved_words(plain, trace, values))
    note(words.blanks_words(trace, values))

with card(
    "context",
    "Context vectors",
    "Each token gets a new vector, its **context vector**: a mean of all vectors, weighted by its "
    "row of weights. Where that gives nearly all to one token, the context is nearly that token’s "
    "vector.",
) as beside:
    with beside:
        control(shared.POSITIONS)
    hidden = "weights" in covered
    picture(
        "context",
        equation(
            trace,
            *(Matrix(weights, covered=hidden), "·", Matrix(vectors)),
            *("=", Matrix(contexts, covered=hidden)),
        ),
    )
    st.caption(
        "Each place now adds a vector of its own, so a word that moves has another vector, and "
        "another context."
        if values.positions
        else "Order plays no part here: if two of the vectors change places, their context vectors "
        "move along, unchanged. Turn *Positions* on, and each place adds a vector of its own."
    )
    if (told := words.twice_words(trace, values)) and not hidden:
        note(told)

with card(
    "one_query",
    "One query, key by key",
    "Choose a token and walk through its keys. Each is compared with the query, gets its weight, "
    "and adds its share to the context vector: the last row of the sum. **Σ** means add up.",
) as beside:
    with beside:
        control(shared.QUERY, width=150)
        moves("one_query", shared.UP_TO)
    one_is_covered = bool(covered & {*OF_ONE_QUERY})

    def walked(reached: int) -> tuple:
        """The matrices of one query, up to the key that has been reached."""
        later = frozenset(range(int(reached), len(trace.labels("key"))))

        def part(name: str) -> Matrix:
            hides = one_is_covered and name in OF_ONE_QUERY
            bars = "weights" in name
            return Matrix(trace[name], faint=later, row_labels=False, as_bars=bars, covered=hides)

        divided = ("→", part("scaled_query_scores")) if "scaled_query_scores" in trace else ()
        return (
            *(Matrix(trace["query_key_products"], faint=later), "Σ", part("query_scores")),
            *(*divided, "→", part("query_weights"), "→", part("weighted_embeddings")),
            *("Σ", part("running_context")),
        )

    about = (*values.of(*lesson.MAKES_SCORES, shared.FACTOR, shared.QUERY), one_is_covered)
    picture(
        "one_query",
        equation(trace, *walked(values.shown_terms)),
        Moving(shared.UP_TO, walked, about),
    )

with card(
    "picture",
    "The context vector as a mean",
    "Each point is a vector, as large as the weight it gets from your query. The context vector "
    "lies among them, pulled towards the heavy ones. It can never leave the area between them."
    if values.d_in > 1
    else "With a width of 1 a vector is a single number, and there is only a line to draw: raise "
    "d_in in the sidebar. A context vector then lies between the smallest number and the largest.",
) as beside:
    if values.d_in > 1:
        with beside:
            control(shared.ACROSS, width=130)
            control(shared.UP, width=130)
        if one_is_covered:
            waits_for("Weights", "This picture")
        else:
            entries = (values.across, values.up)
            drawn = as_points(trace, vectors, *entries, weights, contexts, values.query)
            chart("picture", drawn)

with deeper("scores by a loop, all of it as a formula", "loop") as is_open:
    if is_open:
        pairs = [(trace["scores_by_loop"].value, scores.value)]
        light(
            agree(pairs, (trace, "scores_by_loop"), (trace, "scores")),
            "A loop that adds one product at a time gives the same scores as the matrix product, "
            f"{to_within(difference(pairs))}.",
        )
        st.code(dedent(inspect.getsource(MatMulByLoop.value)), language="python", wrap_lines=True)
        pairs = [(trace["running_context"].value[-1], contexts.value[values.query])]
        if not one_is_covered:
            light(
                agree(pairs, (trace, "running_context"), (trace, "context_vectors")),
                f"The last row of `running_context` is row {values.query} of `context_vectors`, "
                f"{to_within(difference(pairs))}.",
            )
        st.latex(trace.formula("context_vectors", known=(vectors.name, scores.inputs[0].name)))
        st.markdown(
            "All of it in one line: compare every token’s vector with every other, turn each row "
            "of scores into shares (softmax), and blend the vectors by these shares. Cosine "
            "compares directions only: every vector is brought to length 1 first. Dividing by √d "
            "brings all scores nearer to 0, and the weights nearer to each other, unless d is 1."
        )

answers(
    [
        words.which_axis(trace, values, covered),
        words.made_of(trace, values),
        words.on_order(trace, values),
    ],
    covered,
)
ends(trace, "context_vectors", "simplified")
