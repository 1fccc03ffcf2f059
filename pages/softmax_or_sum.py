"""Lesson 3: why scores go through a softmax, and are not just divided by their sum."""

from dataclasses import replace

import streamlit as st

from attention_core.mechanism.softmax import exp_limits, normalise_row, store_row
from attention_core.rounding import to_within
from attention_core.trace import Trace
from attention_ui.cards.alone import Place, alone
from attention_ui.cards.begin import begin
from attention_ui.cards.card import card, light, note
from attention_ui.cards.question import question
from attention_ui.cards.show import Moving, chart, moves, picture
from attention_ui.controls import held
from attention_ui.controls.control import Values
from attention_ui.controls.widget import control
from attention_ui.frame.ends import answers, deeper, ends
from attention_ui.lessons.softmax_or_sum import lesson, words
from attention_ui.lessons.softmax_or_sum.by_hand import nudge, take_over
from attention_ui.lessons.softmax_or_sum.curves import over_factors
from attention_ui.lessons.softmax_or_sum.ledger import ledger
from attention_ui.picture.equation_parts import equation_of
from attention_ui.picture.layout import equation
from attention_ui.picture.matrix import Matrix
from attention_ui.picture.sentence import with_sentence
from attention_ui.words import number

TALL = 260
STANDING = 16
"""A query with more entries is too tall to stand beside the embeddings: it is a row of them."""
values, trace = begin("softmax_or_sum")
given = lesson.row_of(values)
row, by_sum, by_softmax = (trace[n] for n in ("score_row", "sum_weights", "softmax_weights"))
scores = row.value
hopeless = words.is_hidden(scores)
is_typed = values.row_from == "hand"


def both(made: Trace, hidden: frozenset[str] = frozenset()) -> tuple:
    """A row of scores, their sum, and bars of both ways to share."""
    moved, total = made["sum_weights"].inputs
    return (
        *(Matrix(moved, title="scores"), "÷", Matrix(total, title="sum"), "="),
        Matrix(
            made["sum_weights"],
            title="by the sum",
            as_bars=True,
            both_ways=True,
            covered="sum_weights" in hidden,
        ),
        "",
        Matrix(
            made["softmax_weights"],
            title="softmax",
            as_bars=True,
            covered="softmax_weights" in hidden,
        ),
    )


@alone(
    "two_ways",
    "Two ways to share",
    "Three words were compared with a query: a good match with a score of 2, a fair one with 1, "
    "and a poor one. What share should each get? Move the poor match’s score, and see which "
    "bars still make sense.",
)
def two_ways(values: Values, beside: Place) -> None:
    with beside:
        moves("two_ways", lesson.POOR)
    matches = lesson.matches_of(values.poor)
    moving = Moving(lesson.POOR, lambda poor: both(lesson.matches_of(poor)), (), elsewhere=True)
    picture("two_ways", equation(matches, *both(matches)), moving, is_aside=True)
    note(words.matches_words(matches, values.poor))


with card(
    "scores",
    "One row of scores",
    "A row of your own: the scores of one query, one for each key. Move one of them, or type "
    "others."
    if is_typed
    else "One **query** is compared with every token, the keys. These are the scores of the last "
    "lesson, but only one row of them, drawn upright.",
) as beside:
    with beside:
        control(lesson.ROW_FROM)
        if is_typed:
            control(lesson.TYPED, width=300)
        else:
            control(lesson.ROW_QUERY, width=150)
            take_over(values, scores)
    if is_typed:
        with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
            nudge(values.typed)
        picture("scores", equation(trace, Matrix(row)))
    else:
        first = trace.get("query_scores", row)
        result = Matrix(first, row_labels=False)
        parts = equation_of(*dict.fromkeys((first, row)), drawn=[result])
        if len(first.inputs[1].value) > STANDING:
            parts = (Matrix(first.inputs[0]), "→", *parts[parts.index("=") + 1 :])
        picture("scores", equation(trace, *parts, tall=TALL))
    if hopeless:
        light(
            False,
            "Every score is −∞: all keys are hidden, and there is nothing to share. Every weight "
            "is `nan` (not a number). Type at least one finite score.",
        )

finite = bool(by_sum.value.isfinite().all())
with card(
    "divide",
    "Divide by the sum",
    "The weights sum to 1, as shares should. Whether they are shares is another matter: look at "
    "the sum you divide by, and at the signs."
    if finite
    else "Look at the sum: dividing by it gives no weights.",
):
    covered = question("sum_best", words.sum_best(trace, values), trace, ("sum_weights",))
    drawn = [Matrix(by_sum, as_bars=True, both_ways=True, covered="sum_weights" in covered)]
    picture("divide", equation(trace, *equation_of(by_sum, drawn=drawn), tall=TALL))
    if not covered:
        light(*words.sum_verdict(scores, by_sum.value, trace.labels("key")))

with card(
    "softmax",
    "Softmax",
    "−∞ minus −∞ is `nan` (not a number), and so is everything computed from it."
    if hopeless
    else "First subtract the row’s largest score, so that the largest becomes 0. Then take e to "
    "the power of each: at most 1, never negative, and larger for larger scores. Now it is safe "
    "to divide by the sum: it is never below 1.",
):
    about = ("exponentials", "exponential_sum", "softmax_weights")
    covered |= question("softmax_row", words.softmax_most(trace), trace, about)
    drawn = [Matrix(by_softmax, as_bars=not hopeless, covered="softmax_weights" in covered)]
    drawn += [Matrix(trace[name], covered=name in covered) for name in about[:2]]
    steps = (trace[name] for name in ("lowered_scores", "exponentials", "softmax_weights"))
    shown = equation(trace, *equation_of(*steps, drawn=drawn), tall=TALL)
    picture("softmax", shown if is_typed else with_sentence(shown, values.row_query))
    if not hopeless and "softmax_weights" not in covered:
        off = abs(by_softmax.value.sum().item() - 1)
        light(
            off < 1e-5 and bool((by_softmax.value >= 0).all()),
            f"No weight is below 0, and they sum to 1, {to_within(off)}.",
        )

about = (*values.of(*lesson.MAKES_ROW), covered)
if not hopeless:

    @alone(
        "constant",
        "Add a constant",
        "Add the same number to all scores, and their differences stay as they are. Move it until "
        "the sum of the scores passes 0, and see which bars stay still.",
    )
    def add_a_constant(values: Values, beside: Place) -> None:
        zero = -scores.double().mean().item()
        nearest = round(zero * 200) / 200 if scores.isfinite().all() else 0.0
        with beside:
            if scores.isfinite().all():
                st.button(
                    "Bring the sum near 0",
                    key="to_zero",
                    type="tertiary",
                    on_click=held.change,
                    kwargs={"shift": nearest},
                    disabled=abs(nearest) > lesson.SHIFT.field.most,
                    help=f"The sum is 0 where the constant is {number(zero)}: minus the mean of "
                    "the scores.",
                )
            moves("constant", lesson.SHIFT)
            control(lesson.SHIFT, widget="text_input", label="Exactly", width=80)

        def shifted(shift: float) -> Trace:
            """Both ways from the row with a number added to all scores."""
            return normalise_row(given.branch(), shift=shift)

        now = shifted(values.shift)
        moving = Moving(lesson.SHIFT, lambda by: both(shifted(by), covered), about, elsewhere=True)
        picture("constant", equation(now, *both(now, covered), tall=TALL), moving)
        if "sum_weights" not in covered:
            moved, shares = now["sum_weights"].inputs[0], now["sum_weights"]
            light(*words.sum_verdict(moved.value, shares.value, trace.labels("key")))
        if values.shift and "softmax_weights" not in covered:
            light(*words.softmax_stays(trace, now))

    def magnified(factor: float) -> Trace:
        """Both ways from the row with all scores multiplied."""
        return normalise_row(given.branch(), magnify=factor)

    @alone(
        "magnify",
        "Multiply by a factor",
        "Long vectors make large scores. A factor above 0 leaves the shares by the sum alone, but "
        f"softmax reacts: near 0 all keys are alike; far to the right {words.winners(scores)}. A "
        "language model’s **temperature** is 1 divided by this factor.",
    )
    def multiply(values: Values, beside: Place) -> None:
        with beside:
            moves("magnify", lesson.MAGNIFY)

        now = magnified(values.magnify)
        moving = Moving(
            lesson.MAGNIFY, lambda by: both(magnified(by), covered), about, elsewhere=True
        )
        picture("magnify", equation(now, *both(now, covered), tall=TALL), moving)
        if not now["softmax_weights"].value.isfinite().all():
            light(False, "0 · (−∞) is not a number. With a hidden score, choose a factor above 0.")
        elif not covered:
            note(words.spread_words(now["softmax_weights"].value))
            if values.magnify:
                light(*words.sum_stays(trace, now))

    with deeper(
        "what is left to learn from, numbers that overflow, the formulas", "gradient"
    ) as is_open:
        if is_open:
            now = magnified(values.magnify)
            st.subheader("What is left to learn from", anchor="gradient")
            if "softmax_weights" in covered:
                note("These pictures wait for your guess at *Softmax*: they would give it away.")
            elif now["softmax_weights"].value.isfinite().all():
                st.markdown(
                    "**The gradient.** Training moves the scores along the derivatives of the "
                    "weights, drawn below. Cell j, k says how much weight j changes when score k "
                    "grows a little. The diagonal is never negative, the rest never positive. Each "
                    "column sums to 0, since the weights always sum to 1: what one key wins, the "
                    "others lose. Each row sums to 0 as well, since adding the same number to all "
                    "scores changes no weight. Where a weight is nearly 0 or nearly 1, its row is "
                    "nearly 0, and hardly anything is learned from it."
                )
                picture("gradient", equation(now, now["jacobian"]))
                if tie := words.what_a_tie_does(scores):
                    st.markdown(tie)
                chart("curves", over_factors(scores, values.magnify))
                st.caption(
                    "The **entropy** says how evenly the weights are spread; it is drawn as a "
                    "fraction of its maximum."
                )
            st.subheader("Numbers that overflow", anchor="overflow")
            st.markdown(
                "On paper, the weights are the same without subtracting the largest score. On a "
                "computer they may not be: its numbers cannot grow for ever. Move the scores, and "
                "try numbers of half the size, float16 and bfloat16."
            )
            with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
                control(lesson.PUSH, width=320)
                control(lesson.PRECISION)
            stored = store_row(given.branch(), values.push, values.precision)
            has = {name: step.value for name, step in stored.items()}
            largest, zero = exp_limits(values.precision)
            st.markdown(
                f"In {values.precision}, e to a power above **{number(largest, 2)}** is infinite, "
                f"and e to a power of **{number(zero, 2)}** or less is 0. The largest score is now "
                f"**{number(has['stored_scores'].max().item(), 2)}**."
            )
            if "softmax_weights" not in covered:
                with st.container(horizontal=True, gap="large"):
                    naive = {"score": "stored_scores", "e^score": "naive_exponentials"}
                    stable = {"score − largest": "lowered_scores", "e^(…)": "exponentials"}
                    for name, title, columns in (
                        ("naive", "As the formula is written", naive),
                        ("softmax", "With the largest subtracted first", stable),
                    ):
                        columns = {**columns, "weight": f"{name}_weights"}
                        told = {title: has[step] for title, step in columns.items()}
                        vanish = [*columns][1:]
                        made = ledger(stored.labels("key"), told, vanish, title)
                        chart(f"ledger_{name}", made, 400)
                st.caption("Red: `inf` or `nan`. Blue: 0 where the exact number is above 0.")
                lost = (has[f"naive_{name}"] for name in ("exponentials", "sum", "weights"))
                light(*words.lost_words(*lost))
                weights = has["softmax_weights"]
                light(*words.stable_words(weights, by_softmax.value, values.precision))
            st.subheader("Both in one line", anchor=False)
            st.latex(trace.formula("sum_weights", known=("score_row",)))
            st.latex(trace.formula("softmax_weights", known=("score_row", "largest")))

adding = words.on_adding(trace)
adding = replace(adding, card="softmax") if hopeless else adding
answers([words.why_e(trace), adding, words.on_a_lead(trace)], covered)
ends(trace, lesson="softmax_or_sum")
