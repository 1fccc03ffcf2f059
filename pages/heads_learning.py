"""How heads learn: a network that comes to continue what repeats, watched while it learns."""

import streamlit as st

from attention_core.rounding import to_within
from attention_core.small_models.induction import best_head, shipped_run
from attention_ui.cards.alone import Place, alone
from attention_ui.cards.begin import begin
from attention_ui.cards.card import card, light
from attention_ui.cards.question import question
from attention_ui.cards.show import Moving, moves, picture
from attention_ui.controls.control import Values
from attention_ui.frame.ends import answers, deeper, ends
from attention_ui.frame.page import way_to_a_real_model
from attention_ui.lessons.heads_learning import lesson, watching, words
from attention_ui.lessons.heads_learning.own_run import train_one
from attention_ui.picture.layout import equation
from attention_ui.picture.learning import learning
from attention_ui.words import number

TALL = 340
values, trace = begin("heads_learning", has_pins=False)
_, head = best_head(shipped_run().records[-1])

with card(
    "run",
    "A network learns",
    "Move through its training. Each square is one head on the same sixteen letters: a row for "
    "each letter that looks, darker where it looks harder. **Red** is the loss on letters that "
    "repeat, **grey** on those that are there for the first time, which nobody can know.",
) as beside:
    with beside:
        moves("run", lesson.RECORDED_STEP, width=300, told=False)
    at = lesson.STEPS.index(values.recorded_step)
    run = watching.shipped()
    moving = Moving(
        lesson.RECORDED_STEP,
        lambda step: learning(run, lesson.STEPS.index(step)),
        "recorded",
    )
    picture("run", learning(run, at), moving)

moment, below = watching.moment_words(shipped_run().records)
with card("watch", "The moment it happens", moment):
    st.caption(f"{below} {watching.looks_back_words(shipped_run().records[-1])}")

with card(
    "induction_head",
    "What an induction head is",
    "What comes after the second D? Look where D stood before, and copy what came next: K. A "
    "**previous-token head** in the first layer has written into K’s vector: “D came before me”. "
    "An **induction head** in the second lets the second D ask for just that, and hands K on.",
):
    st.caption(
        f"Head {head} of the second layer. In the lower half, scores are large along a slanting "
        "line: each letter’s query fits the key of what came after it the first time."
    )
    picture("scores", equation(trace, trace["scores"], tall=TALL))
    way_to_a_real_model(
        "Induction heads of a real model",
        "induction",
        "cat river seven blue stone walk music apple cat river seven blue stone",
    )

with card(
    "weights",
    "Where it looks",
    "A causal mask hides what comes later, and softmax makes shares of the rest. A letter that has "
    f"not been there before leaves {number(lesson.on_first_key(trace), 2)} of its weight on the "
    f"first one; the others put {number(lesson.on_target(trace), 2)} of theirs on the line. "
    "That is on these letters; the mean over many sequences is the **prefix-matching score**.",
):
    picture("weights", equation(trace, trace["weights"], tall=TALL))
    off = (trace["weights"].value.sum(dim=-1) - 1).abs().max().item()
    light(off < 1e-5, f"Every row sums to 1, {to_within(off)}.")
    gap = lesson.recorded_gap(trace)
    light(
        gap < lesson.ROUNDED,
        "These weights, worked out step by step, are those recorded in training, "
        f"{to_within(gap)}.",
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
        st.markdown(
            asked.answer()
            if values.predict and not values.card
            else f"{asked.answer()} {asked.teaches}"
        )


@alone(
    "train",
    "Train one yourself",
    "Another seed starts from other random numbers, and learns from other letters. Which heads "
    "take up the work changes from run to run; that some do, and roughly when, hardly changes. You "
    "can stop at any time and keep what it has learned so far.",
)
def train(values: Values, _: Place) -> None:
    train_one(values)


with deeper("where this was found") as is_open:
    if is_open:
        st.markdown(
            "After Olsson et al. 2022, *In-context Learning and Induction Heads*, who found the "
            "two heads, their scores and the steep fall of the loss in models of all sizes but "
            "those of one layer."
        )

answers(
    [words.looks_for(trace), words.two_layers(shipped_run()), words.steeply(shipped_run())], covered
)
ends(trace, "context_vectors")
