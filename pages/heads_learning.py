"""How heads learn: a network that comes to continue what repeats, watched while it learns."""

import streamlit as st

from attention_core.small_models.induction import best_head, shipped_run
from attention_ui.cards.card import card, light
from attention_ui.cards.question import question
from attention_ui.cards.show import Moving, moves, picture
from attention_ui.controls.control import Values
from attention_ui.frame.ends import answers, deeper, ends
from attention_ui.frame.page import open_lesson
from attention_ui.lessons.heads_learning import lesson, watching, words
from attention_ui.lessons.heads_learning.own_run import train_one
from attention_ui.picture.layout import equation
from attention_ui.picture.learning import learning
from attention_ui.words import number

PAGE = "heads_learning"
TALL = 340
values: Values = open_lesson(PAGE, lesson.CONTROLS)
trace = lesson.trace_of(values)
_, head = best_head(shipped_run().records[-1])

with card(
    "run",
    "A network learns",
    "Move through its training. Each square is one head on the same sixteen letters: a row for "
    "each letter that looks, darker where it looks harder.",
) as beside:
    with beside:
        moves("run", lesson.RECORDED_STEP, width=300, told=False)
    at = lesson.STEPS.index(values.recorded_step)
    moving = Moving(
        lesson.RECORDED_STEP,
        lambda step: learning(watching.shipped(), lesson.STEPS.index(step)),
        "recorded",
    )
    picture("run", learning(watching.shipped(), at), moving)

with card("watch", "The moment it happens", watching.moment_words(shipped_run().records)):
    st.caption(watching.looks_back_words(shipped_run().records[-1]))

with card(
    "induction_head",
    "What an induction head is",
    "What comes after the second D? Look where D stood before, and copy what came next: K. In the "
    "first layer a head looks at the token before, and writes into K’s vector: “D came before me”. "
    "It is a **previous-token head**.",
):
    st.markdown(
        "In the second layer, the second D asks: “who has D before them?” K answers, and is passed "
        f"on as the next token. That is an **induction head**. Here is head {head} of the second "
        "layer: in the lower half its scores are large along a slanting line, where each letter’s "
        "query fits the key of the letter that came after it the first time."
    )
    picture("scores", equation(trace, trace["scores"], tall=TALL))

with card(
    "weights",
    "Where it looks",
    "A causal mask hides what comes later, and softmax makes shares of the rest. In the first half "
    "no letter has been there before, and the head leaves "
    f"{number(lesson.on_first_key(trace), 2)} of its weight on the first letter. In the second half the "
    f"line takes {number(lesson.on_target(trace), 2)} on average: the **prefix-matching score** above.",
):
    picture("weights", equation(trace, trace["weights"], tall=TALL))
    off = (trace["weights"].value.sum(dim=-1) - 1).abs().max().item()
    light(off < 1e-5, f"Every row sums to 1: largest deviation {off:.1g}.")
    gap = lesson.recorded_gap(trace)
    light(
        gap < lesson.ROUNDED,
        "These weights, worked out step by step, are those recorded in training: largest "
        f"deviation {gap:.1g}.",
    )

with card(
    "two_layers",
    "Why it takes two layers",
    "A key can only say what its token’s vector holds. Which token came before is written into it "
    "by the layer below, or by nobody.",
):
    asked = words.one_layer_question(shipped_run())
    covered = question("one_layer", asked, trace, ("weights",), (words.ONE_LAYER,))
    if not covered:
        st.markdown(words.one_layer_words(shipped_run()))

with card(
    "train",
    "Train one yourself",
    "Another seed means other random numbers to start from, and other letters to learn from. Which "
    "heads take up the work changes from run to run; that some do, and roughly when, hardly "
    "changes. You can stop at any time and keep what it has learned so far.",
):
    train_one()

with deeper("where this was found") as is_open:
    if is_open:
        st.markdown(
            "After Olsson et al. 2022, *In-context Learning and Induction Heads*, who found the "
            "two heads, their scores and the sudden fall of the loss in models of all sizes."
        )

answers(words.answers(trace), covered)
ends(PAGE, trace, "context_vectors")
