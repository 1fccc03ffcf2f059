"""Lesson 6: hiding the future, and what leaks when it is done otherwise."""

from attention_core.mechanism.masking import attend_masked
from attention_core.text.embedding import embed
from attention_core.trace import Trace
from attention_ui.cards.questions import Pick
from attention_ui.lessons.causal_mask.answers import answers
from attention_ui.lessons.causal_mask.dropout import dropout, dropped
from attention_ui.lessons.causal_mask.leaks import (
    changed,
    judge_leaks,
    leak,
    leaky_ways,
    share_verdict,
    ways_to_hide,
)
from attention_ui.lessons.causal_mask.mask import (
    choose_mask,
    context_words,
    mask_words,
    say_blind,
    weights_words,
)
from attention_ui.page.begin_and_finish import begin, finish
from attention_ui.page.closing import closing
from attention_ui.page.lights import show_checks
from attention_ui.page.page import Page, open_on
from attention_ui.page.view import View
from attention_ui.predict.common_questions import row_to_share, whole_row
from attention_ui.settings.choices import WAYS_TO_HIDE
from attention_ui.settings.control import control, offered
from attention_ui.settings.settings import Settings

PAGE = "causal_mask"
OTHER_WEIGHTS = ("zero_filled_weights", "zeroed_weights", "renormalised_weights")


def build(settings: Settings) -> Trace:
    """The lesson's trace."""
    return attend_masked(embed(settings.inputs), settings.mask, settings.divide)


def view_of(settings: Settings) -> View:
    view = View.of(PAGE, settings, build, lesson="causal")
    hidden = (~view.trace["mask"].value).nonzero().tolist()
    view.opens_with = ("masked_scores", tuple(next(iter(hidden), (0, 0))))
    return view


def lesson(page: Page) -> None:
    """What stands on the page, from top to bottom."""
    view = page.view
    experiments = view.beside(changed(view.settings)), view.beside(dropped(view.settings))
    begin(page, *experiments)
    hide(page)
    attend(page)
    compare_ways(page)
    page.part("checks", lambda: show_checks(view, "context_vectors"))
    closing(page, answers(view))
    with page.deeper("dropout, which hides weights by chance"):
        page.header("Dropout on the weights", anchor="dropout")
        page.words(
            "In training, some weights are dropped by chance, so that no query relies on one key. "
            "The remaining weights are scaled up."
        )
        page.part("dropout", lambda: dropout(view), shows=("weights",))
    finish(page, *experiments)


def hide(page: Page) -> None:
    """The mask, what makes it, and the masked scores."""
    trace, settings = page.view.trace, page.view.settings
    mask = trace["mask"]
    page.header("The mask", anchor="mask")
    page.changing(mask_words(settings, mask.value))
    page.equation("mask", mask)
    page.words(
        "True means *may look*, as in torch's `scaled_dot_product_attention`. "
        "`nn.MultiheadAttention` and the notebooks use the opposite, True for hidden. That is why "
        "the program below writes `~mask` where it fills in −∞.",
        caption=True,
    )
    about = [offered(name, settings) for name in ("window", "hidden")]
    page.controls(lambda: choose_mask(settings), *about, settings.turned)
    page.part("blind", lambda: say_blind(trace))
    page.beat(
        "masked_scores",
        "Masked scores",
        "Hidden scores become minus infinity before the softmax, since e to the minus infinity is "
        "exactly 0. All others are copied. In this lesson the embeddings are queries, keys and "
        "values.",
        trace["masked_scores"],
    )
    page.formulas(
        r"A = \operatorname{softmax}(S_M)",
        r"(S_M)_{ij} = \begin{cases} S_{ij} & \text{if } M_{ij} \\ -\infty & \text{else} "
        r"\end{cases}",
        r"M_{ij}\text{: query } i \text{ may look at key } j",
    )
    page.words(
        "In words: where a query may not look, its score becomes −∞. Softmax takes e to the power "
        "of each score, and e to the power of −∞ is 0: a hidden key gets no share.",
        caption=True,
    )


def attend(page: Page) -> None:
    """Weights and context vectors."""
    trace = page.view.trace
    mask, weights = trace["mask"], trace["weights"]
    shared = row_to_share(mask.value, trace.labels("query"))
    page.header("Weights", anchor="weights")
    page.changing(weights_words(mask.value))
    page.ask(
        "row",
        whole_row(
            "Share out the weights of this query among the keys that it may look at. Their masked "
            "scores are in the row of the matrix above.",
            trace.labels("key"),
            weights.value[shared],
            mask.value[shared],
            asked=f"Query {page.view.settings.numbered_tokens[shared]}",
            teaches="A hidden key gets nothing, so the visible keys share the whole 1.",
        ),
        covers=("weights",),
        about=("mask",),
    )
    page.equation("weights", weights, sentence=True)
    page.light(*share_verdict(trace, "minus_infinity"))
    page.header("Context vectors", anchor="context")
    page.changing(context_words(mask.value))
    page.equation("context", trace["context_vectors"])


def compare_ways(page: Page) -> None:
    """Four ways to hide, with a question about what leaks."""
    view = page.view
    page.header("Four ways to hide", anchor="ways")
    page.words(
        "Some notebooks fill in 0 instead, before the softmax or after it. Rows may still sum to 1 "
        "then, so checking the sums alone does not find the mistake."
    )
    page.ask(
        "leaks",
        Pick(
            words="Through which of these ways does a hidden token still change the context "
            "vectors of earlier queries?",
            choices=list(WAYS_TO_HIDE.values()),
            judge=lambda guess: judge_leaks(guess, view.settings),
            truth=lambda: f"It is {leaky_ways(view.settings)[1]}.",
            many=True,
            teaches="A 0 before softmax is a score like any other, since e⁰ = 1. A 0 after softmax "
            "comes too late: the sum that the others were divided by contains the hidden score.",
        ),
        covers=OTHER_WEIGHTS,
    )
    page.controls(lambda: control("way"))
    page.part("ways", lambda: ways_to_hide(view), shows=OTHER_WEIGHTS)
    page.header("Measure the leak", anchor="leak")
    page.words(
        "Change one token and compute everything again. If a query may not look at it, its context "
        "vector must stay as it is. *Hide by*, above, chooses the way that is measured."
    )
    page.part("leak", lambda: leak(view), shows=OTHER_WEIGHTS)


open_on(PAGE, view_of, lesson)
