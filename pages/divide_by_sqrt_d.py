"""Why divide by √d: how the spread of a dot product grows with the width, and what that does."""

import streamlit as st

from attention_core.variance import few_trials
from attention_ui.asked import largest_when_divided
from attention_ui.beats import beat
from attention_ui.charts.matrix import Matrix
from attention_ui.frame import close_lesson, open_lesson
from attention_ui.many_trials import choose_seed, judge_growth, many_trials
from attention_ui.predict import is_open
from attention_ui.published_variances import published_variances
from attention_ui.questions import Pick
from attention_ui.show import cell_notice, formulas
from attention_ui.takeaway import take_away
from attention_ui.view import View

PAGE = "divide_by_sqrt_d"

settings = open_lesson(PAGE)
trace = few_trials(settings.draw_seed)
view = View(PAGE, settings, trace, opens_with=("dot_products", (0,)))
cell_notice(view)
n_trials, d = trace["products"].value.shape

formulas(
    r"\operatorname{Var}(q \cdot k) = d\,s^4",
    r"\operatorname{Var}\!\left(\frac{q \cdot k}{\sqrt d}\right) = s^4",
)
with st.container(width=760):
    st.markdown(
        "Here q and k are random vectors of width d, and s is the standard deviation of their "
        "entries, whose mean is 0. All are drawn from the seed below; the sentence in the sidebar "
        "plays no part in this lesson."
    )
choose_seed()

beat(
    view,
    "products",
    "Products",
    f"Each row is a trial: two vectors of width d = {d}, all entries drawn with mean 0 and "
    "variance 1, multiplied entry by entry. Look how most products are small and a few are not. "
    "Their variance is 1, like that of the entries.",
    Matrix(trace["queries"]),
    "⊙",
    Matrix(trace["keys"], row_labels=False),
    "=",
    Matrix(trace["products"], row_labels=False),
)

revealed = is_open(
    view,
    "growth",
    Pick(
        words="Entries keep mean 0 and variance 1, and the vectors grow from d = 4 to d = 64. What "
        "happens to the standard deviation of q·k?",
        choices=("It stays as it is", "4 times as large", "16 times as large", "64 times as large"),
        judge=lambda guess: judge_growth(guess[0], settings.draw_seed),
        teaches="The variance grows as d does, 16 times; its root, the standard deviation, 4 "
        "times: as √d does.",
    ),
    covers=("dot_products", "scaled_dot_products"),
)
if revealed:
    beat(
        view,
        "dot_products",
        "Dot products",
        f"The {d} products of a row are added: that is q·k. Some cancel, but not all, and the sums "
        f"spread farther than a single product does. Dividing by √{d} brings them back.",
        Matrix(trace["products"]),
        "Σ",
        Matrix(trace["dot_products"]),
        "→",
        Matrix(trace["scaled_dot_products"], row_labels=False),
    )

if revealed and is_open(
    view,
    "largest",
    largest_when_divided(trace["dot_products"].value, trace["scaled_dot_products"].value, d),
    about=("dot_products",),
):
    st.header("Many trials", anchor="many_trials")
    with st.container(width=760):
        st.markdown(
            f"{n_trials} trials say little. Here are as many as you like, at any width. Make the "
            "vectors wider, then give their entries a standard deviation other than 1: dividing "
            "by √d is made for 1."
        )
    many_trials(view)

published_variances(view)
take_away(view)
close_lesson(PAGE)
