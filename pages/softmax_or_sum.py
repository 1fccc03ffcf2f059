"""Lesson 3: why scores go through a softmax, and are not just divided by their sum."""

from attention_core.mechanism.softmax import normalise_row
from attention_core.trace import Trace
from attention_ui.lessons.softmax_or_sum.answers import answers
from attention_ui.lessons.softmax_or_sum.experiments import add_constant, magnify, winners
from attention_ui.lessons.softmax_or_sum.hero import hero
from attention_ui.lessons.softmax_or_sum.overflow import overflow
from attention_ui.lessons.softmax_or_sum.score_row import (
    choose_row,
    is_hidden,
    numbered_keys,
    row_trace,
    sum_verdict,
)
from attention_ui.page.begin_and_finish import begin, finish
from attention_ui.page.closing import closing
from attention_ui.page.page import Page, open_on
from attention_ui.page.view import View
from attention_ui.picture.equation_parts import equation_of
from attention_ui.picture.matrix import Matrix
from attention_ui.predict.common_questions import which_key, whole_row
from attention_ui.settings.settings import Settings

PAGE = "softmax_or_sum"
STANDING = 16


def build(settings: Settings) -> Trace:
    """The lesson's trace."""
    return normalise_row(row_trace(settings))


def view_of(settings: Settings) -> View:
    return View.of(PAGE, settings, build, lesson=PAGE)


def lesson(page: Page) -> None:
    """What stands on the page, from top to bottom."""
    view = page.view
    trace, settings = view.trace, view.settings
    magnified = normalise_row(row_trace(settings), magnify=settings.magnify)
    begin(page, view.beside(magnified))
    page.header("Two ways to share", anchor="two_ways")
    page.words(
        "Three words were compared with a query: one is a good match, with a score of 2, one a "
        "fair match with 1, and one a poor match. Which share should each get? Move the poor "
        "match's score, and see which bars still make sense."
    )
    page.part("hero", hero)
    page.header("One row of scores", anchor="scores")
    page.part("choose_row", lambda: choose_row(settings))
    show_row(page)
    hopeless = is_hidden(trace["score_row"].value)
    if hopeless:
        page.light(
            False,
            "Every score is −∞: all keys are hidden, and there is nothing to share. Every weight "
            "is `nan` (not a number). Type at least one finite score.",
        )
    divide(page)
    try_softmax(page, hopeless)
    if not hopeless:
        experiment(page)
    closing(page, answers(view))
    if not hopeless:
        with page.deeper("numbers that overflow, and how subtracting the largest saves them"):
            let_it_overflow(page)
    finish(page)


def show_row(page: Page) -> None:
    """The row of scores, and where it comes from."""
    trace = page.view.trace
    score_row = trace["score_row"]
    if page.view.settings.row_from == "hand":
        page.words("A row of your own: the scores of one query, one for each key.")
        page.equation("scores", Matrix(score_row, transposed=True))
        return
    first = trace.get("query_scores", score_row)
    vectors, query = first.inputs
    # The tokens are the keys, and named already.
    result = Matrix(first, row_labels=False)
    parts = equation_of(*dict.fromkeys((first, score_row)), drawn=[result])
    if len(query.value) > STANDING:  # too tall: only its row of the embeddings shows it
        parts = (Matrix(vectors), "→", *parts[parts.index("=") + 1 :])
    page.words(
        "One query is compared with every token. These are the dot products of the last lesson, "
        "but only one row of them, drawn upright."
    )
    page.equation("scores", *parts)


def divide(page: Page) -> None:
    """Dividing by the sum."""
    trace, settings = page.view.trace, page.view.settings
    score_row, sum_weights = trace["score_row"], trace["sum_weights"]
    finite = bool(sum_weights.value.isfinite().all())
    page.header("Divide by the sum", anchor="divide")
    page.changing(
        "The weights sum to 1, as shares should. Whether they are shares is another matter: look "
        "at the sum you divide by, and at the signs. Negative scores spoil it, as in the picture "
        "at the top."
        if finite
        else "Look at the sum: dividing by it gives no weights."
    )
    if finite:
        page.ask(
            "sum_best",
            which_key(
                "Divide each score by the sum of the row: which key gets the largest weight?",
                trace.labels("key"),
                sum_weights.value,
                teaches="A sum can be negative: then the smallest score gets the largest "
                "weight. Or it can be nearly 0: then all weights explode.",
                choices=numbered_keys(settings),
            ),
            covers=("sum_weights",),
        )
    page.equation("divide", sum_weights, sentence=settings.row_from == "example")
    page.formulas(trace.formula("sum_weights", known=("score_row",)))
    verdict = sum_verdict(score_row.value, sum_weights.value)
    page.light(*verdict)


def try_softmax(page: Page, hopeless: bool) -> None:
    """The softmax, step by step."""
    trace = page.view.trace
    score_row, weights = trace["score_row"], trace["softmax_weights"]
    page.header("Softmax", anchor="softmax")
    page.changing(
        "−∞ minus −∞ is `nan` (not a number), and so is everything computed from it."
        if hopeless
        else "First subtract the row's largest score, m in the formula below, so that the largest "
        "becomes 0. Then take e to the power of each: at most 1, never negative, and larger for "
        "larger scores. Now it is safe to divide by the sum: it is never below 1."
    )
    page.ask(
        "softmax_row",
        whole_row(
            "How will the weight be shared out, when the exponential of each score is divided by "
            "the sum of them all? A score larger by 1 counts e = 2.72 times as much.",
            trace.labels("key"),
            weights.value,
            score_row.value.isfinite(),
            teaches="Only the differences between scores count, and every step of 1 multiplies the "
            "weight by e. So the largest score soon takes most of the row, and no weight is ever "
            "negative.",
        ),
        covers=("exponentials", "softmax_weights"),
    )
    steps = (trace[name] for name in ("lowered_scores", "exponentials", "softmax_weights"))
    page.equation(
        "softmax",
        *equation_of(*steps, drawn=[Matrix(weights, as_bars=not hopeless)]),
        sentence=page.view.settings.row_from == "example",
    )
    page.formulas(trace.formula("softmax_weights", known=("score_row", "largest")))


def experiment(page: Page) -> None:
    """A constant added, and the scores magnified."""
    view = page.view
    scores, weights = (view.trace[name].value for name in ("score_row", "softmax_weights"))
    off = abs(weights.sum().item() - 1)
    page.light(
        off < 1e-5 and bool((weights >= 0).all()),
        f"No weight is below 0, and they sum to 1 (off by {off:.1g}).",
    )
    page.header("Side by side, plus a constant", anchor="constant")
    page.words(
        "Add the same number to all scores, and their differences stay as they are. "
        "Move it to where the sum of the scores passes 0, and see which bars keep still."
    )
    page.part("constant", lambda: add_constant(view), shows=("sum_weights", "softmax_weights"))
    page.header("Magnify the scores", anchor="magnify")
    page.words(
        "Long vectors make large scores. The shares by the sum keep still; softmax reacts: at ×0 "
        f"all keys are alike; far to the right {winners(scores)}. The temperature that language "
        "models use is 1 divided by this factor. The entropy is large where the weights are alike; "
        "it is drawn as a fraction of its maximum."
    )
    page.part("magnify", lambda: magnify(view), shows=("softmax_weights",))


def let_it_overflow(page: Page) -> None:
    """Scores that are too large for the numbers of a computer."""
    view = page.view
    page.header("Numbers that overflow", anchor="overflow")
    page.words(
        "On paper, the weights are the same without subtracting the largest score. On a computer "
        "they may not be: its numbers cannot grow for ever. Move the scores, and try the half "
        "precisions."
    )
    page.part("overflow", lambda: overflow(view), shows=("softmax_weights",))


open_on(PAGE, view_of, lesson)
