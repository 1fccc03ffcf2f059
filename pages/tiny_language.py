"""A tiny language: a trained network whose heads have names, each measured."""

from functools import partial

from attention_core.small_models.figures import TEXTS, shipped_figures
from attention_core.small_models.grammar import WORDS
from attention_core.small_models.recording import shipped_recording
from attention_ui.lessons.tiny_language.answers import answers
from attention_ui.lessons.tiny_language.beginning import all_words, build, choose, judged, next_word
from attention_ui.lessons.tiny_language.brought_by import (
    PARTS,
    adds_up,
    most_question,
    show_parts,
)
from attention_ui.lessons.tiny_language.heads import (
    choose_head,
    does,
    first_cell,
    meanings_of_names,
    rule,
    show_scores,
    show_spreads,
    weights_of,
    why,
)
from attention_ui.lessons.tiny_language.training import (
    watch_training,
    what_came_first,
    which_run,
)
from attention_ui.page.closing import closing
from attention_ui.page.page import Page, open_on
from attention_ui.page.show import cell_notice
from attention_ui.page.take_away import take_away
from attention_ui.page.view import View
from attention_ui.settings.control import control
from attention_ui.settings.settings import Settings
from attention_ui.shell.frame import close_lesson

PAGE = "tiny_language"


def view_of(settings: Settings) -> View:
    # Without a way to build it anew: a pin is about sentences, which this network cannot read.
    return View(PAGE, settings, build(settings), opens_with=first_cell(settings))


def lesson(page: Page) -> None:
    """What stands on the page, from top to bottom."""
    view, settings = page.view, page.view.settings
    begun = settings.beginning
    page.part("begin", lambda: cell_notice(view))
    page.controls(choose, begun)
    page.part("next_word", partial(next_word, settings), about=(begun, settings.tiny_off, "next"))
    page.light(*judged(settings))
    page.words(_how_good(), caption=True)
    with page.folded(f"All {len(WORDS) - 1} words", "all_words", icon=":material/abc:"):
        page.words(all_words())
    page.header("Where a head looks", anchor="watch")
    page.words(
        "Point at a word: its arcs show where this head looks from there. Follow “it” to its noun, "
        "then type “but” in place of “because”."
    )
    page.controls(choose_head)
    page.changing(does(settings))
    page.equation("watch", weights_of(settings), sentence=True)
    page.header("Who brought what", anchor="brought")
    page.words(
        "Before softmax, every word has a score for coming next: its **logit**. It is a sum of "
        "what the last word brings, what its place brings, and what each head adds (1.2 is head 2 "
        "of layer 1, both counted from 0). Each bar begins where the one above it ends."
    )
    page.controls(lambda: control("next_word", elsewhere=True, width=230))
    page.ask("most", most_question(settings), covers=(PARTS,), about=(*view.trace,))
    about = (begun, settings.next_word)
    page.part("brought", partial(show_parts, settings), about=about, shows=(PARTS,))
    page.light(*adds_up(settings), shows=(PARTS,))
    page.words(
        "A bar may lift many words alike: choose another word, and what differs is what decides "
        "between the two. The bars add up exactly, but a head does more than its own bar shows: "
        "later heads read what it wrote, and a last step divides everything by the spread of the "
        "whole. Switch the head off above, and the other bars would change too.",
        caption=True,
    )
    page.header("What each head does", anchor="heads")
    page.words(
        "Each row is a head, each column something it might look for. The number is the share of "
        f"its weight that goes there, on average over {TEXTS} texts. An outline is what gives a "
        "head its name; point at a number to see what it was before training."
    )
    page.part("scores", show_scores, about="scores")
    page.words(meanings_of_names())
    page.words(rule())
    page.words(
        "An average can hide a lot. Below, a bar is the higher, the more words give that share of "
        "their weight, from 0 on the left to 1 on the right. Where two bars stand far apart, the "
        "head does it in some sentences and not in others.",
        caption=True,
    )
    page.part("spreads", show_spreads, about="spreads")
    page.header("How they came about", anchor="training")
    page.words(
        "Play a training, or move the slider. Each square is one head on the same text: a row for "
        "each word that looks, darker where it looks harder. The curves give early steps more room."
    )
    page.part("training", watch_training, about="training")
    page.words(what_came_first(shipped_recording()))
    page.words(which_run(shipped_recording()), caption=True)
    closing(page, answers(view))
    with page.deeper("why a head looks there"):
        page.header("Queries and keys of the head you watch", anchor="why")
        page.words(
            "Each word asks, each word can be found: a score is large where the two match. Divide "
            "the scores by √d, hide what comes later, and softmax turns them into the weights "
            "above. Click a number to take it apart, down to the trained weights."
        )
        page.equation("why", *why(settings))
    page.part("take_away", lambda: take_away(view), about=begun)
    page.part("way", lambda: close_lesson(PAGE))


def _how_good() -> str:
    figures = shipped_figures()
    return (
        "How surprised is it by texts it never saw? Its loss, the mean of −log of the chance it "
        f"gave to the word that came, is {figures.loss:.3f}. The grammar leaves so much to chance "
        f"that even knowing all of it gives {figures.entropy:.3f}; knowing only which word follows "
        f"which gives {figures.bigram:.3f}. "
        "The sentence in the sidebar plays no part here."
    )


open_on(PAGE, view_of, lesson)
