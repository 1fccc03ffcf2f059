"""The whole layer: every step from tokens to output on one screen."""

import streamlit as st

from attention_core.text.embedding import embed
from attention_ui.cards.begin import begin
from attention_ui.cards.card import card, light, note
from attention_ui.cards.question import question
from attention_ui.cards.show import Moving, moves, picture
from attention_ui.controls import held, shared
from attention_ui.controls.widget import control
from attention_ui.frame import contents
from attention_ui.frame.ends import answers, ends
from attention_ui.frame.page import link
from attention_ui.lessons.whole_layer import lesson, words
from attention_ui.picture.layer import layer_matrices, whole_layer
from attention_ui.picture.layout import equation
from attention_ui.picture.matrix import Matrix

LESSON_OF = {
    "embeddings": "tokenize_and_embed",
    "W_query": "queries_keys_values",
    "scores": "simplified_attention",
    "scaled": "divide_by_sqrt_d",
    "masked": "causal_mask",
    "weights": "softmax_or_sum",
    "output": "multi_head_attention",
}
values, trace = begin("whole_layer", sidebar=(shared.N_HEADS, shared.D_MODEL, shared.H_SEED))
asks = lesson.first_query(trace, values)

with card(
    "layer",
    "From tokens to output",
    "Each **head** compares all tokens in its own way; `W_output` mixes what they find. Point at a "
    "cell: the orange ones go into it, and it goes into the green ones. A lower **temperature** "
    "gives the best match more weight.",
) as beside:
    with beside:
        control(shared.SCALE, label="Divide scores by")
        control(shared.CAUSAL_HEADS, label="Causal")
        moves("layer", shared.TEMPERATURE, width=150)
    embedded = embed(shared.inputs_of(values))
    about = values.of(
        *(
            each
            for each in lesson.CONTROLS
            if each not in (shared.TEMPERATURE, lesson.OPENED, lesson.HEAD)
        )
    )

    def at(temperature: float) -> list[Matrix]:
        """All matrices at a temperature."""
        return layer_matrices(lesson.at_temperature(embedded, values, temperature))

    moving = Moving(shared.TEMPERATURE, at, about, elsewhere=True)
    picture("layer", whole_layer(trace, asks), moving)
    note(words.left_out_words(trace))
    note(words.rows_of_equal_scores(trace, values.temperature))
    note(words.one_head_says(trace, values))

if not values.card:
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="ways"):
        st.caption("More about", width="content")
        query = held.link_query("ways")
        for name, target in LESSON_OF.items():
            taught = contents.lesson(target)
            link(taught, query, f"`{name}`", icon=None, help=taught.title)

with card(
    "opened",
    "With its numbers",
    "Above, numbers are colours. Choose a matrix to read them, in the equation that makes it. Each "
    "row of **weights** is a query that shares out 1 among the keys.",
) as beside:
    with beside:
        control(lesson.OPENED, width=160)
        control(lesson.HEAD, widget="selectbox", width=150)
        control(shared.NORMALISE)
    picture("opened", equation(trace, *lesson.in_numbers(trace, values), tall=262))
    light(*words.sums_verdict(trace))
    question("hotter", words.when_hotter(trace), trace, ("head_weights",))

with card(
    "dropout",
    "Dropout",
    "In training, **dropout** sets random weights to 0 and scales up the rest, so that no token "
    "can rely on a single other one. The layer above is drawn without.",
) as beside:
    with beside:
        control(shared.DROP_SEED, width=130)
        moves("dropout", shared.DROPOUT)

    def left(rate: float) -> tuple:
        """The weights of one head, and what dropout at this rate leaves of them."""
        steps = lesson.with_dropout(trace, values, rate)
        before, after = steps["head_weights"], steps["head_dropped_weights"]
        return Matrix(before, lead=(values.head,)), "→", Matrix(after, lead=(values.head,))

    now = lesson.with_dropout(trace, values, values.dropout)
    drawn = equation(now, *left(values.dropout), tall=300)
    about = values.of(*lesson.BEFORE_DROPOUT, shared.DROP_SEED, lesson.HEAD)
    picture("dropout", drawn, Moving(shared.DROPOUT, left, about, elsewhere=True))
    note(words.left_by_dropout(now))

answers(
    [
        words.which_axis(trace, asks),
        words.what_sums_to_1(trace, asks),
        words.what_a_weight_does(trace, asks),
    ]
)
ends(trace, "output")
