"""A tiny language: a trained network whose heads have names, each measured."""

from functools import partial

import streamlit as st

from attention_core.small_models.figures import TEXTS
from attention_core.small_models.grammar import WORDS
from attention_core.utils.head_name import head_in_full
from attention_ui.cards import elements as ui
from attention_ui.cards.page import Page, is_covered
from attention_ui.cards.why_there import NUMBERS_WORDS, in_numbers, in_small, shaped
from attention_ui.lessons.tiny_language import charts, lesson, training, words
from attention_ui.picture.learning import learning
from attention_ui.picture.sentence import sentence
from attention_ui.reactive import settings
from attention_ui.reactive.widget import say_problem

TALL = 228
page = Page("tiny_language", has_pins=False)
MOST = page.ask(
    "most",
    words.most_question,
    ["logits"],
    [words.PARTS, "logits"],
    each=lambda v: WORDS.index(lesson.word_of(v)),
    again=None,
)


def tries(*labels):
    """A button for each of these beginnings; with it comes the head that is worth watching."""
    with st.container(horizontal=True, gap="xsmall", vertical_alignment="center"):
        st.caption("Try", width="content")
        for label in labels:
            beginning, kind = lesson.READY[label]
            chosen = {"beginning": beginning, "tiny_head": lesson.worth_watching(beginning, kind)}
            st.button(
                label,
                key=f"ready_{label}_of_{len(labels)}",
                type="tertiary",
                on_click=ui.set_values,
                args=({n: value for n, value in chosen.items() if n not in settings.fixed()},),
                disabled="beginning" in settings.fixed(),
            )


def looks(trace, head, query=-1):
    """The sentence, and where a head looks from a word, the last unless another is named."""
    return sentence(trace, lesson.weights_of(trace, head), query % trace.size("query"))


@page.card(
    "next",
    "What comes next",
    f"The network knows {len(WORDS) - 1} words. Give it a beginning, and it gives each word a "
    "chance to come next. Then switch off a head, such as "
    f"{head_in_full(1, 1)}, and see which sentences go wrong.",
)
def next_word(v):
    yield ui.row(lesson.BEGINNING.at(says_problem=False, width=430), lesson.TINY_OFF.at(width=330))

    def ready():
        # In the place of the buttons: nothing below moves.
        if not say_problem(lesson.BEGINNING.name, in_a_line=True):
            tries(*lesson.READY)

    yield ui.alive(ready, "has beginnings to try here, and reads any of yours")
    yield ui.chart("next", charts.next_word(v), 760)
    yield ui.light(*words.judged(v))


@page.card(
    "two_steps",
    "How it knows what “it” is",
    lambda v: words.the_two_steps(v),
    controls=lambda: [ui.alive(lambda: tries(*[*lesson.READY][:2]))],
)
def two_steps(v, trace):
    for at, head in enumerate(lesson.two_steps(v)):
        yield ui.caption(words.step_words(trace, head, ("One", "Two")[at]))
        yield ui.picture(looks(trace, head), f"step_{at + 1}")
    yield ui.note(words.of_the_pronoun(v))


@page.card(
    "watch",
    "Where a head looks",
    "Point at a word to see where this head looks from there. Follow “it” to its noun, "
    "then try “but” in place of “because”.",
    controls=[lesson.TINY_HEAD.at(width=330)],
)
def watch(v, trace):
    yield ui.picture(looks(trace, lesson.head_of(v.tiny_head), lesson.query_of(v)))
    yield ui.caption(f"{words.does(v)} All its weights as a matrix are in *Go deeper*.")


@page.card(
    "why",
    "Why there?",
    "A score is a sum over pairs: what each part wrote at the word that looks, times what each "
    "wrote at the one it looks at. Blue raises it above the other words’ scores. A sum is not a "
    "cause, so a head is taken away below. Click on a head to go there.",
    controls=[lesson.TINY_FROM.at(width=230)],
)
def why_there(v, trace):
    yield from in_small(
        trace,
        lesson.why_there(v, trace),
        lambda off: lesson.told(lesson.words_of(v), off),
        (lesson.TINY_HEAD.name, lesson.TINY_FROM.name),
        is_brief=True,
    )


@page.card(
    "brought",
    "Who brought what",
    "Before softmax, each word has a score for coming next: its **logit**, a sum of what the last "
    "word, its place and each head bring. Each bar begins where the one above it ends; the "
    "percentage is the word’s chance with that head switched off.",
    controls=[lesson.NEXT_WORD.at(width=190)],
    ask=MOST,
)
def brought(v):
    if is_covered(words.PARTS):
        return
    if v.tiny_off != "none":
        yield ui.note("All heads are on here, also the one that you switched off above.")
    yield ui.chart("brought", charts.parts(v), 820)
    yield ui.light(*words.adds_up(v))


each_head = page.fold(
    "each_head",
    "**What each head does**: how much of its weight goes where, and what it is called after",
    ":material/table_chart:",
    in_place=True,
)


@each_head.section(
    "heads",
    "What each head does",
    "A row is a head, a column what it might look for. The number is the share of its weight that "
    f"goes there, on average over {TEXTS} texts; a strong one names the head. One word can be "
    "in several columns, as both previous word and opening mark, so rows may sum to more than 1.",
)
def heads():
    yield ui.picture(charts.scores(), is_aside=True)
    yield ui.caption(words.meanings_of_names())


@page.card(
    "training",
    "How they came about",
    "Move through the training. Each square is one head on the same text: a row for each word that "
    "looks. Stronger colour, more weight.",
    controls=[ui.in_picture(lesson.TINY_STEP, width=300, told=False)],
)
def recorded():
    yield ui.moving(
        lesson.TINY_STEP, lambda step: learning(training.shipped(), lesson.STEPS.index(step))
    )


deeper = page.deeper("why a head looks there, how names are given")


@deeper.section("why_numbers", "", f"**Why there, in numbers.** {NUMBERS_WORDS}")
def why_numbers(v, trace):
    yield from in_numbers(lesson.why_there(v), partial(lesson.score_trace, v))
    yield from shaped(trace, lesson.why_there(v, trace))


@deeper.section(
    "queries_and_keys",
    "",
    "**Queries and keys of the head you watch.** Each word asks, each word can be found: a "
    "score is large where the two match. Divide the scores by √d, hide what comes later, "
    "and softmax turns them into the weights above. Click a number to take it apart, down "
    "to the trained weights.",
)
def queries_and_keys(v, trace):
    watched = lesson.head_of(v.tiny_head)
    parts = (*lesson.why(trace, watched), "→", lesson.weights_of(trace, watched))
    yield ui.matrices(trace, *parts, tall=TALL)


@deeper.section(
    "named",
    "",
    "A bar of *Who brought what* may lift many words alike: choose another word, and what "
    "differs decides between the two. All bars are divided by the spread of the whole, so "
    "switch a head off, and the others change too. A chance is orange where it is less than half "
    "of what it was; a head with a short bar can matter too: later heads read what it writes.",
)
def named():
    yield ui.say(words.rule())
    yield ui.say(words.how_good())
    yield ui.say(f"All {len(WORDS) - 1} words: {' · '.join(WORDS[1:])}")


page.answers(words.finds_it, words.decides, words.found_out)
page.show()
