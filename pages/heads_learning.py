"""How heads learn: a network that comes to continue what repeats, watched while it learns."""

from attention_core.small_models.induction import best_head, shipped_run
from attention_ui.lessons.heads_learning.answers import answers
from attention_ui.lessons.heads_learning.induction import (
    ROUNDED,
    build,
    on_first_key,
    on_target,
    one_layer_question,
    one_layer_words,
    recorded_gap,
)
from attention_ui.lessons.heads_learning.own_run import train_one
from attention_ui.lessons.heads_learning.watching import (
    looks_back_words,
    moment_words,
    watch_shipped,
)
from attention_ui.page.begin_and_finish import begin, finish
from attention_ui.page.closing import closing
from attention_ui.page.page import Page, open_on
from attention_ui.page.view import View
from attention_ui.settings.settings import Settings
from attention_ui.words import number

PAGE = "heads_learning"


def view_of(settings: Settings) -> View:
    # Without a way to build it anew: no setting of a pin changes this trace.
    return View(PAGE, settings, build(settings), opens_with=("weights", (8, 1)))


def lesson(page: Page) -> None:
    """What stands on the page, from top to bottom."""
    begin(page)
    page.words(
        "Play its training, or move the slider. Each square is one head on the same sixteen "
        "letters: a row for each letter that looks, darker where it looks harder."
    )
    page.part("finished_run", watch_shipped, about="shipped")
    page.header("The moment it happens", anchor="watch")
    page.words(moment_words(shipped_run().records))
    say_what_it_is(page)
    ask_for_one_layer(page)
    page.header("Train one yourself", anchor="train")
    page.words(
        "Another seed means other random numbers to start from, and other letters to learn from. "
        "Which heads take up the work changes from run to run; that some do, and roughly when, "
        "hardly changes. You can stop at any time and keep what it has learned so far."
    )
    page.part("train", train_one)
    closing(page, answers(page.view))
    finish(page)


def say_what_it_is(page: Page) -> None:
    """The idea, and the head that this run ended with, number by number."""
    trace = page.view.trace
    _, head = best_head(shipped_run().records[-1])
    page.header("What an induction head is", anchor="induction_head")
    page.words(
        "What comes after the second D? Look where D stood before, and copy what came next: K. "
        "That takes two heads, one above the other. In the first layer, a head looks at the token "
        "before and writes into K's vector: “D came before me”. It is called a **previous-token "
        "head**. In the second layer, the second D asks: “who has D before them?” K answers, and "
        "is passed on as the next token. That is an **induction head**."
    )
    page.words(looks_back_words(shipped_run().records[-1]))
    page.words(
        f"Here is head {head} of the second layer at the end of the run above. In the lower half "
        "its scores are large along a slanting line: each letter's query fits the key of the "
        "letter that came after it the first time."
    )
    page.equation("scores", trace["scores"])
    page.words(
        "A causal mask hides what comes later, and softmax makes shares of the rest. In the first "
        "half no letter has been there before: there is nothing to find, and the head leaves "
        f"{number(on_first_key(trace), 2)} of its weight on the first letter. In the second half "
        f"the line takes {number(on_target(trace), 2)} of the weight on average. That average, "
        "over many sequences, is the **prefix-matching score** drawn above."
    )
    page.equation("weights", trace["weights"])
    off = (trace["weights"].value.sum(dim=-1) - 1).abs().max().item()
    page.light(off < 1e-5, f"Every row sums to 1: largest deviation {off:.1g}.")
    gap = recorded_gap(trace)
    page.light(
        gap < ROUNDED,
        "These weights, worked out step by step, are those recorded in training: largest "
        f"deviation {gap:.1g}.",
    )
    page.words(
        "After Olsson et al. 2022, *In-context Learning and Induction Heads*, who found the two "
        "heads, their scores and the sudden fall of the loss in models of all sizes.",
        caption=True,
    )


def ask_for_one_layer(page: Page) -> None:
    """The same network with one layer."""
    run = shipped_run()
    page.header("Why it takes two layers", anchor="two_layers")
    page.ask("one_layer", one_layer_question(run), covers=("one_layer",))
    page.changing(one_layer_words(run), shows=("one_layer",))
    page.words(
        "A key can only say what its token's vector holds. Which token came before is written "
        "into it by the layer below, or by nobody."
    )


open_on(PAGE, view_of, lesson)
