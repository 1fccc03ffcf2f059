"""The whole layer: every step from tokens to output on one screen."""

import streamlit as st

from attention_core.mistakes.rewriting import at_temperatures
from attention_ui.cards import elements as ui
from attention_ui.cards.page import Page
from attention_ui.controls import shared
from attention_ui.frame import contents
from attention_ui.frame.lights import sums_verdict
from attention_ui.frame.page import link
from attention_ui.lessons.whole_layer import lesson, words
from attention_ui.picture.layer import layer_matrices, n_drawn, whole_layer
from attention_ui.picture.matrix import Matrix
from attention_ui.reactive import settings
from attention_ui.words import heads_left_out

LESSON_OF = {
    "embeddings": "tokenize_and_embed",
    "W_query": "queries_keys_values",
    "scores": "simplified_attention",
    "scaled": "divide_by_sqrt_d",
    "masked": "causal_mask",
    "weights": "softmax_or_sum",
    "output": "multi_head_attention",
}
page = Page("whole_layer", "output", sidebar=(shared.N_HEADS, shared.D_MODEL, shared.H_SEED))
HOTTER = page.ask("hotter", words.when_hotter, ["head_weights"], lambda: ())  # given, not hidden


def ways_to_lessons():
    """From the name of a matrix to the lesson that it is taught in."""
    if settings.values().card:
        return
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="ways"):
        st.caption("More about", width="content")
        query = settings.link_query("ways")
        for name, target in LESSON_OF.items():
            taught = contents.lesson(target)
            link(taught, query, f"`{name}`", icon=None, help=taught.title)


@page.card(
    "layer",
    "From tokens to output",
    "Each **head** compares all tokens in its own way; `W_output` mixes what they find. Point at a "
    "cell: the orange ones go into it, and it goes into the green ones. A lower **temperature** "
    "gives the best match more weight, a higher one makes the weights more even.",
    controls=[
        shared.SCALE.at(label="Divide scores by"),
        shared.CAUSAL_HEADS.at(label="Causal"),
        ui.in_picture(shared.TEMPERATURE, width=150),
    ],
)
def layer(v, trace):
    traces = at_temperatures(lambda t: lesson.trace_of(v.but(temperature=t)))
    at, asks = ui.Along(traces, layer_matrices), lesson.first_query(v)
    yield ui.moving(shared.TEMPERATURE, at, lambda made, _: whole_layer(made, asks))
    below = "Each can be opened with its numbers below."
    yield ui.note(heads_left_out(n_drawn(trace), trace.size("head"), below))
    yield ui.alive(ways_to_lessons)


@page.card(
    "opened",
    "With its numbers",
    "Above, numbers are colours. Choose a matrix to read them, in the equation that makes it. Each "
    "row of **weights** is a query that shares out 1 among the keys.",
    controls=[
        lesson.OPENED.at(width=160),
        lesson.HEAD.at(widget="selectbox", width=150),
        shared.NORMALISE,
    ],
    ask=HOTTER,
)
def opened(v, trace):
    yield ui.matrices(trace, *lesson.in_numbers(trace, v), tall=262)
    yield ui.light(*sums_verdict(trace, "output"))


@page.card(
    "dropout",
    "Dropout",
    "In training, **dropout** sets random weights to 0 and scales up the rest, so that no token "
    "can rely on a single other one. The layer above is drawn without.",
    controls=[shared.DROP_SEED.at(width=130), ui.in_picture(shared.DROPOUT, width=210)],
)
def dropout(v, trace):
    def left(rate):
        made = lesson.with_dropout(trace, v, rate)
        before, after = (
            Matrix(made[name], lead=(v.head,)) for name in ("head_weights", "head_dropped_weights")
        )
        return made, (before, "→", after)

    yield ui.moving(shared.DROPOUT, left, tall=300)
    yield ui.note(words.left_by_dropout(lesson.with_dropout(trace, v, v.dropout)))


page.answers(
    lambda v, trace: words.which_axis(trace, lesson.first_query(v)),
    lambda v, trace: words.what_sums_to_1(trace, lesson.first_query(v)),
    lambda v, trace: words.what_a_weight_does(trace, lesson.first_query(v)),
)
page.show()
