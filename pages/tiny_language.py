"""A tiny language: a trained network whose heads have names, each measured."""

import streamlit as st

from attention_core.small_models.figures import TEXTS
from attention_core.small_models.grammar import WORDS
from attention_core.small_models.recording import shipped_recording
from attention_ui.cards.alone import Place, alone
from attention_ui.cards.begin import begin
from attention_ui.cards.card import card, light, note
from attention_ui.cards.question import question
from attention_ui.cards.show import Moving, chart, moves, picture
from attention_ui.controls.control import Values
from attention_ui.controls.widget import control, say_problem
from attention_ui.frame.ends import answers, deeper, ends
from attention_ui.lessons.tiny_language import charts, lesson, training, words
from attention_ui.lessons.tiny_language.tries import tries
from attention_ui.picture.layout import equation
from attention_ui.picture.learning import learning
from attention_ui.picture.sentence import sentence

TALL = 228
values, trace = begin("tiny_language", has_pins=False)
last, watched = len(trace.labels("query")) - 1, lesson.head_of(values.tiny_head)


@alone(
    "next",
    "What comes next",
    f"The network knows {len(WORDS) - 1} words. Give it a beginning, and it gives each word a "
    "chance to come next. Then switch a head off, and see which sentences go wrong.",
)
def next_word(values: Values, _: Place) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        control(lesson.BEGINNING, says_problem=False, width=430)
        control(lesson.TINY_OFF, width=330)
    # In the place of the buttons: nothing below moves.
    if not say_problem(lesson.BEGINNING.name, in_a_line=True):
        tries(*lesson.READY)
    chart("next", charts.next_word(values), 760)
    light(*words.judged(values))


with card(
    "two_steps",
    "How it knows what “it” is",
    "“The cat sees the dog because it …”: here it is the cat; after “but”, the dog. The first "
    "step writes into the vector of “it” that a “because” was there. So in the next layer, the "
    "query of “it” can ask for the first animal.",
) as beside:
    with beside:
        tries(*[*lesson.READY][:2])
    for at, head in enumerate(lesson.two_steps(values)):
        st.caption(words.step_words(trace, head, ("One", "Two")[at]))
        picture(f"step_{at + 1}", sentence(trace, lesson.weights_of(trace, head), last))
    note(words.of_the_pronoun(values))

with card(
    "watch",
    "Where a head looks",
    "Point at a word to see where this head looks from there. Follow “it” to its noun, "
    "then try “but” in place of “because”.",
) as beside:
    with beside:
        control(lesson.TINY_HEAD, width=330)
    picture("watch", sentence(trace, lesson.weights_of(trace, watched), last))
    st.caption(f"{words.does(values)} All its weights as a matrix are in *Go deeper*.")

with card(
    "brought",
    "Who brought what",
    "Before softmax, each word has a score for coming next: its **logit**, a sum of what the last "
    "word, its place and each head bring (1.2 is head 2 of layer 1, both counted from 0). Each bar "
    "begins where the one above it ends.",
) as beside:
    with beside:
        control(lesson.NEXT_WORD, width=190)
    asked = f"most_{WORDS.index(lesson.word_of(values))}"
    about = (words.PARTS, "logits")
    covered = question(asked, words.most_question(values), trace, about)
    if not covered:
        chart("brought", charts.parts(values), 820)
        light(*words.adds_up(values))
        st.caption(
            "*Without it* is the chance that this word has left with that head switched off; "
            "orange where that is less than half of what it had. A head can matter with a short "
            "bar, since later heads read it."
        )

with card(
    "heads",
    "What each head does",
    "A row is a head, a column what it might look for. The number is the share of its weight that "
    f"goes there, on average over {TEXTS} texts; an outline gives a head its name. One word can be "
    "in several columns, the previous one and the opening mark, so rows may sum to more than 1.",
):
    chart("scores", charts.scores(), None)
    st.caption(words.meanings_of_names())

with card(
    "training",
    "How they came about",
    "Move through the training. Each square is one head on the same text: a row for each word that "
    "looks, darker where it looks harder.",
) as beside:
    with beside:
        moves("training", lesson.TINY_STEP, width=300, told=False)
    moments, run = shipped_recording(), training.shipped()
    at = lesson.STEPS.index(values.tiny_step)
    moving = Moving(
        lesson.TINY_STEP, lambda step: learning(run, lesson.STEPS.index(step)), "recorded"
    )
    picture("training", learning(run, at), moving)

with deeper("when each head came, why a head looks there, how names are given", "why") as is_open:
    if is_open:
        st.markdown(training.what_came_first(moments))
        st.caption(training.which_run(moments))
        st.markdown(
            "**Queries and keys of the head you watch.** Each word asks, each word can be found: a "
            "score is large where the two match. Divide the scores by √d, hide what comes later, "
            "and softmax turns them into the weights above. Click a number to take it apart, down "
            "to the trained weights."
        )
        parts = (*lesson.why(trace, watched), "→", lesson.weights_of(trace, watched))
        picture("why", equation(trace, *parts, tall=TALL))
        st.markdown(
            "A bar of *Who brought what* may lift many words alike: choose another word, and what "
            "differs decides between the two. All bars are divided by the spread of the whole, so "
            "switch a head off, and the others change too."
        )
        st.markdown(words.rule())
        st.markdown(
            "An average can hide a lot. Below, a bar is the higher, the more words give that share "
            "of their weight, from 0 to 1. Two bars far apart: the head does it in some sentences "
            "and not in others."
        )
        chart("spreads", charts.how_spread(), None)
        st.markdown(words.how_good())
        st.markdown(f"All {len(WORDS) - 1} words: {words.all_words()}")

answers([words.finds_it(), words.decides(values), words.found_out()], covered)
ends(trace)
