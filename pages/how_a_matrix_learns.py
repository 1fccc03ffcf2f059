"""How a matrix learns: the backward pass, number by number."""

import streamlit as st

from attention_ui.cards.alone import Place, alone
from attention_ui.cards.begin import begin
from attention_ui.cards.card import card, light, note, waits_for
from attention_ui.cards.question import question
from attention_ui.cards.show import Moving, moves, picture
from attention_ui.controls.control import Values
from attention_ui.controls.shared import TEMPERATURE
from attention_ui.controls.widget import control
from attention_ui.frame.ends import answers, deeper, ends
from attention_ui.lessons.how_a_matrix_learns import lesson, pictures, words
from attention_ui.lessons.how_a_matrix_learns.flow import flow
from attention_ui.picture.layout import equation

ROW = {"horizontal": True, "vertical_alignment": "bottom", "gap": "small"}
values, trace = begin("how_a_matrix_learns")
layer, of_layer = lesson.layer_of(values), values.of(*lesson.OF_LAYER)

with card(
    "slope",
    "One number and the loss",
    f"{words.loss_words(values)} Click another entry to move it.",
) as beside:
    with beside:
        moves("slope", lesson.ENTRY_CHANGE, width=250)
    slope = pictures.Slope(values)
    moving = Moving(lesson.ENTRY_CHANGE, slope.at, (of_layer, values.of(*lesson.OF_ENTRY)))
    picture("slope", slope.at(values.entry_change), moving, choosing=lesson.entry_at)
    with st.container(key="makes_slope", **ROW):
        control(lesson.LOSS)
        if values.loss != "next_token":
            control(lesson.ASKS, width=88)
            control(lesson.ANSWERS, width=88)
        control(lesson.ENTRY_MATRIX, width=104)
        control(lesson.ENTRY_ROW, width=96)
        control(lesson.ENTRY_COLUMN, width=68)
    note(words.slope_words(trace, values))

with card(
    "gradients",
    "A gradient for every number",
    "Start at the right, where the loss would follow. Each step to the left asks how its numbers "
    "depend on those before them, and multiplies the slopes. Red in the lower row: raising this "
    "entry lowers the loss, so an update raises it. Point at a gradient to see what made it.",
) as beside:
    with beside:
        control(lesson.WIDTH, width=150)
    covered = question("row_sum", words.row_sum(trace), trace, ("grad_scaled_scores",))
    picture("gradients", flow(trace, covered & {"grad_scaled_scores"}))
    if not covered and (told := words.chain_words(trace, values)):
        note(told)


@alone(
    "softmax",
    "One row of softmax",
    "g is the slope of the loss by each weight. But raising one score raises its own weight and "
    "lowers all others of its row. So each score gets **p × (g − the average of g, weighted by "
    f"p)**, in short {words.FORMULA}.",
)
def row_of_softmax(values: Values, beside: Place) -> None:
    if covered:
        waits_for("A gradient for every number")
    else:
        with beside:
            moves("softmax", TEMPERATURE, width=200)
        drawn_from = layer.row(values.temperature)
        parts = pictures.softmax_row(values, values.temperature)
        moving = Moving(
            TEMPERATURE, lambda t: pictures.softmax_row(values, t), of_layer, elsewhere=True
        )
        picture("softmax", equation(drawn_from, *parts, tall=262), moving, is_aside=True)
        note(words.share_words(drawn_from, values))


@alone(
    "reach",
    "Why √d, once more",
    "A row that is all or nothing has no gradient left, and wide vectors make such rows. Here one "
    "random query meets random keys, and W_query is to learn from it. Widen the vectors.",
)
def reach(values: Values, beside: Place) -> None:
    with beside:
        moves("reach", lesson.REACH, width=230, told=False)
    moving = Moving(lesson.REACH, pictures.reach, (), elsewhere=True)
    picture("reach", pictures.reach(values.reach_width), moving, is_aside=True)
    note(words.reach_words(values.reach_width))


@alone(
    "ways",
    "What comes back, and what does not",
    "Parts of a layer let gradients through, stop them, or hand them on as they are.",
)
def ways_back(values: Values, beside: Place) -> None:
    if covered:
        waits_for("A gradient for every number")
    else:
        with beside:
            control(lesson.WAY)
        shown = layer.way(values.gradient_way)
        picture("ways", pictures.way(shown, values.gradient_way), is_aside=True)
        light(*words.way_words(shown, values))


@alone(
    "update",
    "One update",
    "Every entry takes a step against its gradient, as long as the **learning rate** says. Blue is "
    "the loss after it, from a real pass; the other line is what the slope promises.",
)
def one_update(values: Values, beside: Place) -> None:
    with beside:
        moves("update", lesson.RATE, width=230, told=False)
    update = pictures.Update(values)
    moving = Moving(
        lesson.RATE, update.at, (of_layer, values.of(lesson.ENTRY_MATRIX)), elsewhere=True
    )
    picture("update", update.at(values.update_rate), moving, is_aside=True)
    st.markdown(words.update_words(update, values.update_rate))
    if values.loss == "next_token":
        light(*words.same_as_training(*layer.apart_from_training(values.update_rate)))


with deeper("the chain rule in formulas, and another start") as is_open:
    if is_open:
        control(lesson.STARTS, width=200)
        st.markdown(
            "The chain rule: how the loss depends on a number is how it depends on what is made of "
            "that number, times how that depends on the number; over all that is made of it, "
            "added. So it goes from the loss ℓ back to W_query, a line for each step. dA is short "
            "for the gradient by A, ⊙ multiplies entry by entry, the bar is the mean Σ p g of a "
            "row, and the hat what is left when that is taken away:"
        )
        way_back = {*trace["grad_W_query"].earlier(), "grad_W_query"}
        for name, step in trace.items():
            if name in way_back and "grad_" in name and step.inputs:
                st.latex(step.formula)

answers(
    [
        words.why_up(trace, values),
        words.why_it_sums_to_0(trace),
        words.why_hidden_keys_learn_nothing(),
        words.how_far(trace),
    ],
    covered,
    about_weights=False,
)
ends(trace, "context_vectors")
