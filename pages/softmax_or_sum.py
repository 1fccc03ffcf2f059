"""Lesson 3: why scores go through a softmax, and are not just divided by their sum."""

import streamlit as st

from attention_core.softmax import normalise_row
from attention_core.trace import Trace
from attention_ui.anatomy import begin, finish
from attention_ui.asked import which_key, whole_row
from attention_ui.beats import beat
from attention_ui.charts.matrix import Matrix
from attention_ui.frame import open_lesson
from attention_ui.overflow import overflow
from attention_ui.predict import is_open
from attention_ui.score_row import choose_row, is_hidden, numbered_keys, row_trace, sum_verdict
from attention_ui.settings import Settings
from attention_ui.show import formulas, light
from attention_ui.softmax_experiments import add_constant, magnify, winners
from attention_ui.view import View

PAGE = "softmax_or_sum"
STANDING = 16

settings = open_lesson(PAGE)


def build(settings: Settings) -> Trace:
    """The lesson's trace."""
    return normalise_row(row_trace(settings))


by_hand = settings.row_from == "hand"
trace = build(settings)
score_row, sum_weights, weights = (
    trace[name] for name in ("score_row", "sum_weights", "softmax_weights")
)
best = int(score_row.value.argmax())
first = trace.get("query_scores", score_row)
opens_with = None if by_hand else (first.name, (best,))
view = View.of(PAGE, settings, build, opens_with, lesson=PAGE)
magnified = normalise_row(row_trace(settings), magnify=settings.magnify)
begin(view, view.beside(magnified))

formulas(
    trace.formula("sum_weights", known=("score_row",)),
    trace.formula("softmax_weights", known=("score_row", "largest")),
)

choose_row(settings)
if by_hand:
    beat(
        view,
        "scores",
        "One row of scores",
        "A row that you set: the scores of one query for each of its keys.",
        Matrix(score_row, transposed=True),
    )
else:
    vectors, query = first.inputs
    parts = [Matrix(first, row_labels=False)]
    if first is not score_row:
        parts += ["→", Matrix(score_row, row_labels=False)]
    # A long query would stand too tall: then only its row of the embeddings shows it.
    compared = ("·", Matrix(query), "=") if len(query.value) <= STANDING else ("→",)
    beat(
        view,
        "scores",
        "One row of scores",
        "One query is compared with every token: the dot products of the last lesson, of one row "
        "alone. Here the row stands upright.",
        *(Matrix(vectors), *compared, *parts),
    )
hopeless = is_hidden(score_row.value)
if hopeless:
    light(
        False,
        "Every score is −∞: all keys are hidden, and there is nothing to share. Every weight comes "
        "to `nan`, no number. Type at least one finite score.",
    )

revealed = not sum_weights.value.isfinite().all() or is_open(
    view,
    "sum_best",
    which_key(
        "Divide each score by the sum of the row: which key gets the largest weight?",
        numbered_keys(settings),
        trace.labels("key"),
        sum_weights.value,
        teaches="A sum can be negative, or nearly 0: then the smallest score gets the largest "
        "weight, or all weights explode.",
    ),
    covers=("sum_weights", "softmax_weights"),
)
if revealed:
    beat(
        view,
        "divide",
        "Divide by the sum",
        "The weights sum to 1, as shares should. But look at the sum itself, and at the signs."
        if sum_weights.value.isfinite().all()
        else "Look at the sum: dividing by it gives no weights.",
        *(Matrix(score_row), "÷", Matrix(trace["score_sum"], row_labels=False)),
        *("=", Matrix(sum_weights, row_labels=False)),
    )
    light(*sum_verdict(score_row.value, sum_weights.value))
if revealed and is_open(
    view,
    "softmax_row",
    whole_row(
        "Now the exponentials of the scores, divided by their sum. How will the weights be shared "
        "out? The scores are above; a score larger by 1 counts e = 2.72 times as much.",
        trace.labels("key"),
        weights.value,
        score_row.value.isfinite(),
        teaches="Only differences of scores count, and each step of 1 multiplies by e: the largest "
        "soon takes most of the row, and no key gets less than nothing.",
    ),
    covers=("softmax_weights",),
):
    beat(
        view,
        "softmax",
        "Softmax",
        "−∞ less −∞ is no number, and nothing that is made of it is one."
        if hopeless
        else "First subtract the row's largest score, m in the formula above, so that the largest "
        "is 0. Then e to the power of each: at most 1, never negative, and larger for larger "
        "scores. Now a division by the sum can do no harm: it is never below 1.",
        *(Matrix(score_row), "−", Matrix(trace["largest"], row_labels=False)),
        *("→", Matrix(trace["lowered_scores"], row_labels=False)),
        *("→", Matrix(trace["exponentials"], row_labels=False)),
        *("÷", Matrix(trace["exponential_sum"], row_labels=False)),
        *("=", Matrix(weights, row_labels=False, as_bars=not hopeless)),
    )
    if not hopeless:
        off = abs(weights.value.sum().item() - 1)
        light(
            off < 1e-5 and bool((weights.value >= 0).all()),
            f"No weight is below 0, and they sum to 1: off by {off:.1g}.",
        )
        st.header("Side by side, plus a constant", anchor="constant")
        st.markdown(
            "A number added to all scores leaves their differences as they are. "
            "Move it to where the sum of the scores passes 0, and see which bars stay."
        )
        add_constant(view)

        st.header("Magnify the scores", anchor="magnify")
        st.markdown(
            "Long vectors have large scores, and a softmax feels that: at ×0 all keys are alike, "
            f"far to the right {winners(score_row.value)}. One over the factor is the temperature. "
            "The entropy is large where the weights are alike; its curve is a share of its most."
        )
        magnify(view)

        st.header("Numbers that overflow", anchor="overflow")
        st.markdown(
            "Without subtracting the largest, the formula has the same weights, but a computer "
            "may not: its numbers end somewhere. Move the scores, and try the half precisions."
        )
        overflow(view)

finish(view)
