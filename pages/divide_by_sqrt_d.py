"""Why divide by √d: how the spread of a dot product grows with the width, and what that does."""

import streamlit as st

from attention_core.examples import EXAMPLES
from attention_core.experiments.saturation import N_KEYS, trials_at
from attention_ui.cards.begin import begin
from attention_ui.cards.card import card, note, waits_for
from attention_ui.cards.common_questions import largest_when_divided
from attention_ui.cards.question import question
from attention_ui.cards.show import Moving, moves, picture
from attention_ui.controls import held
from attention_ui.controls.parts import part
from attention_ui.controls.shared import MAX_SEED
from attention_ui.controls.widget import control
from attention_ui.frame.ends import answers, deeper, ends
from attention_ui.lessons.divide_by_sqrt_d import lesson, words
from attention_ui.lessons.divide_by_sqrt_d.looks import look
from attention_ui.lessons.divide_by_sqrt_d.published_variances import published_variances
from attention_ui.picture.layout import Layout, equation

values, trace = begin("divide_by_sqrt_d")
products, sums, divided = (
    trace[name] for name in ("products", "dot_products", "scaled_dot_products")
)
n_trials, d = products.value.shape

with card(
    "products",
    "Products",
    f"Each row is a trial: two vectors of width d = {d}, multiplied entry by entry. All entries "
    "are drawn with mean 0 and **variance** 1, which says how far numbers spread. The products "
    "have variance 1 too: most are small, a few are not.",
) as beside:
    with beside:
        control(lesson.DRAW_SEED, width=130)
        st.button(
            "Draw again",
            key="draw_again",
            icon=":material/casino:",
            on_click=held.change,
            kwargs={"draw_seed": (values.draw_seed + 1) % (MAX_SEED + 1)},
        )
    picture("products", equation(trace, products))

with card(
    "dot_products",
    "Dot products",
    f"The {d} products of a row are added: that is q·k, a **score**. Some cancel, but not all, and "
    f"the sums spread farther than a single product does. Dividing by √{d} brings them back.",
):
    about = ("dot_products", "scaled_dot_products")
    # The numbers stand there: what they become in a softmax is on no picture.
    question("largest", largest_when_divided(sums.value, divided.value, d), trace, about, ())
    picture("dot_products", equation(trace, sums, divided))

with card(
    "many_trials",
    "Many trials",
    f"{n_trials} trials say little. Here are as many as you like, at any width. Dividing by √d "
    "assumes entries with a standard deviation of 1: choose another, and see what happens.",
) as beside:
    asked = words.growth(values.draw_seed)
    waits = bool(question("growth", asked, trace, ("dot_products",), ("many_trials",)))
    if waits:
        note("The pictures wait for your guess: they would give it away.")
    else:
        with beside:
            control(lesson.LOOK)
        part("look", lambda: look(held.values()))

with card(
    "three_divisors",
    "Nothing, √d or d",
    "Softmax must neither give one key everything nor treat all keys alike. A **gradient** is how "
    "much a weight still moves when its score moves: near 0, a layer no longer learns. Widen the "
    "vectors, and watch both.",
) as beside:
    with beside:
        moves("three_divisors", lesson.VD, width=230, told=False)

    def at_width(d: float) -> Layout:
        """What each divisor makes of vectors of this width."""
        return lesson.by_divisor(int(d), words.effects_at(int(d), values.draw_seed))

    moving = Moving(lesson.VD, at_width, values.of(lesson.DRAW_SEED), elsewhere=True)
    picture("three_divisors", at_width(values.vector_width), moving, is_aside=True)
    measured = words.effects_at(values.vector_width, values.draw_seed)
    note(words.told_at(values.vector_width, measured))
    n_draws = trials_at(values.vector_width)
    st.caption(
        f"One random query and {N_KEYS} random keys, drawn {n_draws:,} times: weights are means of "
        "the draws, the gradient is that of the middle draw, the median."
    )

with deeper("the two formulas, and what the notebook prints of this experiment") as is_open:
    if is_open and waits:
        waits_for("Many trials")
    elif is_open:
        st.latex(r"\operatorname{Var}(q \cdot k) = d\,s^4")
        st.latex(r"\operatorname{Var}\!\left(\frac{q \cdot k}{\sqrt d}\right) = s^4")
        st.markdown("Here s is the standard deviation of the entries, whose mean is 0.")
        if EXAMPLES[values.example].notebook:
            st.subheader("Checked against the notebook", anchor="notebook")
            published_variances()

answers(
    [
        words.why_the_root(words.WIDE),
        words.assumes(trace),
        words.without(words.WIDE, values.draw_seed),
    ],
    frozenset({"variances"} if waits else ()),
)
ends(trace)
