"""Find the mistake: the lab's other way in. Name an unseen mistake from its tensors and lights."""

import streamlit as st

from attention_core.mistakes.named import NAMED
from attention_ui.cards.alone import Place, alone
from attention_ui.cards.begin import begin
from attention_ui.cards.card import card, light, note
from attention_ui.cards.question import question, was_missed
from attention_ui.cards.show import moves, picture
from attention_ui.controls.control import Values
from attention_ui.controls.shared import HEAD
from attention_ui.controls.widget import control
from attention_ui.frame.ends import answers, ends
from attention_ui.frame.lights import draw_lights
from attention_ui.frame.page import way_to
from attention_ui.lessons.mistakes_lab import game, lesson, words

values, trace = begin("diagnosis")
name, this_round = game.hidden(values), game.name_of_round(values)

with card(
    "context",
    "Something in this layer is wrong",
    "You see its numbers, and not how they were made: that would name the mistake. *Share* gives a "
    "class the link to this round.",
) as beside:
    with beside:
        control(game.LEVEL, widget="selectbox", width=140)
        control(game.ROUND, width=80)
        st.button("Next round", on_click=game.next_round)
        if values.n_heads > 1:
            control(HEAD, width=140)
    picture("context", game.of_head(trace, values, "head_context_vectors", tall=380))

with card(
    "lights",
    "What the lights say",
    "A **light** is one property that attention should have, measured on this layer. Green: it "
    "holds. Red: it does not. Grey: nothing to measure here.",
):
    draw_lights(lesson.lights_with(*lesson.layer_of(values), name))
    light(*words.right_verdict(values))


@alone("tensor", "More tensors", "Look at any of them: what should be equal, and is not?")
def more_tensors(values: Values, beside: Place) -> None:
    with beside:
        control(game.TENSOR, width=240)
    picture("tensor", game.of_head(trace, values, values.tensor, tall=380))


with card(
    "name_it",
    "Name it",
    "Two questions: which mistake it is, and what proves it. One that you miss comes again two "
    "rounds later, and five.",
) as beside:
    with beside:
        st.button("Next round", key="next_round", on_click=game.next_round)
    covered = question(this_round, words.which_mistake(values), trace, game.BEFORE, (game.MISTAKE,))
    if not covered:
        covered = question(
            f"why_{this_round}", words.why(trace, values), trace, game.BEFORE, (game.MISTAKE,)
        )
    if not name:
        st.markdown(words.TOO_SHORT)
    elif not covered:
        shown = values.but(mistake=name)
        made = lesson.trace_of(shown)
        with beside:
            moves("truth", lesson.SWITCH, width=140)
        picture("truth", *lesson.compared(made, shown, tall=230))
        lesson.show_lines(NAMED[name])
        way_to("mistakes_lab", "Look at it in the mistakes lab", mistake=name)
    if was_missed(this_round):
        note("You will meet this one again: in two rounds, and in five.")

answers([words.gave_it_away(values), words.finds_most(values), words.finds_none(values)], covered)
ends(trace)
