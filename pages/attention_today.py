"""What has changed in attention since 2017: shared heads, places, windows, caps, and the cache."""

from dataclasses import replace
from functools import partial

from attention_core.mechanism.today import PREFIX
from attention_core.trace import Trace
from attention_ui.lessons.attention_today.answers import answers
from attention_ui.lessons.attention_today.checks import (
    cap_light,
    distance_light,
    sharing_light,
    sinks_light,
    window_light,
)
from attention_ui.lessons.attention_today.computing import (
    ALIBI,
    CAPPED,
    GROUPED,
    ROTARY,
    SUNK,
    WINDOWED,
    alone,
    build,
    is_odd,
    shown_cap,
    shown_kv_heads,
    shown_sinks,
    shown_window,
)
from attention_ui.lessons.attention_today.costs import cache_question, show_costs
from attention_ui.lessons.attention_today.decoding import decoded, show_decoding
from attention_ui.lessons.attention_today.facts import (
    PLAIN,
    kept_of,
    kept_words,
    sharing_words,
    table,
)
from attention_ui.lessons.attention_today.switches import (
    choose_heads,
    choose_switches,
    now_words,
    on_words,
    show_moved,
)
from attention_ui.page.begin_and_finish import begin, finish
from attention_ui.page.closing import closing
from attention_ui.page.equation import equation
from attention_ui.page.lights import sums_verdict
from attention_ui.page.page import Page, depends_on, open_on
from attention_ui.page.view import View
from attention_ui.picture.equation_parts import Parts, laid_out
from attention_ui.picture.matrix import Matrix
from attention_ui.settings.control import offered
from attention_ui.settings.settings import Settings

PAGE = "attention_today"
NAMES = {
    GROUPED: "Shared heads",
    ROTARY: "Rotary positions",
    ALIBI: "ALiBi",
    WINDOWED: "A window",
    SUNK: "A window with sinks",
    CAPPED: "Soft cap",
}
NEXT, BESIDE = "⇒", "|"
"""Between what a switch makes and the weights that come of it; before it, those of 2017."""


def view_of(settings: Settings) -> View:
    return View.of(PAGE, settings, build)


def lesson(page: Page) -> None:
    """What stands on the page, from top to bottom."""
    view = page.view
    single = view.beside(alone(view.settings, view.trace))
    begin(page, single, view.beside(decoded(view.settings, view.trace)))
    look(page)
    share(page, single)
    turn(page, single)
    add_distances(page, single)
    look_near(page, single)
    page.header("What it costs in a real model", anchor="costs")
    page.words(
        "While a model generates text, it keeps the keys and values of all tokens so far, in every "
        "layer. For long texts this cache takes more memory than anything else in attention."
    )
    page.ask("cache", cache_question(), covers=("cache",))
    page.part("costs", show_costs, shows=("cache",))
    page.header("Written token by token", anchor="decoding")
    page.words(
        "Each new token makes one query, one key (outlined) and one value. All earlier keys and "
        "values come from the cache, where rotary keys are kept turned. They never change, since "
        "no token looks ahead. What is on at the top is on here too."
    )
    page.part("decoding_step", lambda: show_decoding(view))
    closing(page, answers(view, single.trace))
    with page.deeper("scores kept in bounds, and what each switch changes in shapes and costs"):
        cap(page, single)
        page.header("Shapes and costs", anchor="shapes")
        page.words(
            "What another shape means for a model: fewer parameters, or less to keep. All tensors "
            "that are not named stay as they were."
        )
        tokens = kept_of(view.settings)
        page.changing(table(single.trace, NAMES, view.settings.d_model, tokens))
    finish(page, single)


def look(page: Page) -> None:
    """At first sight: one head of 2017 beside the same head today, and the switches."""
    settings, trace = page.view.settings, page.view.trace
    page.header("One head, then and now", anchor="today")
    page.changing(on_words(settings, is_odd(settings)))
    choices = [tuple(offered(name, settings).items()) for name in ("kv_heads", "window", "head")]
    page.controls(choose_switches, *choices, settings.window)
    plain, now = (weights(trace, settings.head, prefix) for prefix in (PLAIN, PREFIX))
    page.equation("today", plain, "⇢", now, side_by_side=True)
    page.changing(now_words(settings, is_odd(settings)))
    page.light(*sums_verdict(trace, f"{PREFIX}context_vectors"))


def weights(trace: Trace, head: int, prefix: str) -> Matrix:
    """The weights of one head, beside others."""
    return Matrix(trace[f"{prefix}weights"], lead=(head,), compared=True)


def then_and_now(trace: Trace, head: int, prefix: str, made: Matrix) -> Parts:
    """The weights of one head, plain; what a switch makes; and the weights that come of it."""
    now = replace(weights(trace, head, prefix), row_labels=False)
    return weights(trace, head, PLAIN), BESIDE, made, NEXT, now


def beside(page: Page, view: View, name: str, *parts: Matrix | str) -> None:
    """An equation of another trace than the lesson's own."""
    parts = laid_out(parts)
    draw = partial(equation, view, name, *parts, side_by_side=True)
    page.part(name, draw, about=depends_on(view, parts))


def share(page: Page, single: View) -> None:
    """Fewer heads of keys and values than of queries."""
    settings, trace = page.view.settings, single.trace
    fewer, n_heads, head = shown_kv_heads(settings), settings.n_heads, settings.head
    page.header("Heads share keys and values", anchor="sharing")
    page.words(
        "Above, all switches count together. Each of the next parts switches on one thing alone. "
        "While a model generates text, it stores every key and value. If several "
        "query heads use "
        "the same ones, there is less to store: grouped-query attention. With one key/value head "
        "for all it is multi-query attention."
    )
    page.controls(choose_heads, settings.n_heads, settings.d_model, settings.d_head)
    if n_heads == 1:
        page.changing("There is only one head here, so nothing can be shared. Choose more above.")
        return
    page.changing(sharing_words(fewer, n_heads, settings.kv_heads))
    group = head // (n_heads // fewer)
    keys = Matrix(trace[f"{GROUPED}keys"], lead=(group,), row_labels=False)
    beside(page, single, "sharing", *then_and_now(trace, head, GROUPED, keys))
    page.light(*sharing_light(trace, fewer))


def turn(page: Page, single: View) -> None:
    """Queries and keys turned by their places."""
    settings, trace, head = page.view.settings, single.trace, page.view.settings.head
    page.header("Rotary positions", anchor="rotary")
    page.words(
        "A dot product does not know where in the text the two words are. So each query and key "
        "is turned (↻), pair of columns by pair, by an angle that grows with its position, where "
        "6.28 is a full turn. A score then depends on the two vectors and on how many places apart "
        "their tokens stand, not on where in the text they are. Values are not turned.\n\n"
        "Column k is paired with column k + d/2, one from each half, as `rotate_half` does in the "
        "Llama models. The first paper paired neighbours, 2k and 2k + 1. Both work, but weights "
        "trained for one do not fit the other."
    )
    if is_odd(settings):
        page.changing(
            f"A head is {settings.heads_recipe.d_head} wide here, so a column would be left over. "
            "Choose an even width under *Heads share keys and values*."
        )
        return
    turned = trace[f"{ROTARY}turned_queries"]
    queries, angles = turned.inputs
    parts = (
        Matrix(queries, lead=(head,), title=f"queries[{head}]"),
        "↻",
        Matrix(angles, title="angles"),
        "=",
        Matrix(turned, lead=(head,), title=f"turned_queries[{head}]"),
    )
    beside(page, single, "rotary", *parts, NEXT, weights(trace, head, ROTARY))
    page.part("moved", lambda: show_moved(single))


def add_distances(page: Page, single: View) -> None:
    """A bias that grows with the distance."""
    trace, head = single.trace, page.view.settings.head
    page.header("A bias for distance: ALiBi", anchor="alibi")
    page.words(
        "Simpler still: subtract a fixed amount from a score for each step between query and key. "
        "This amount, the slope, differs from head to head. Nothing is learned, and texts may be "
        "longer than in training."
    )
    bias = Matrix(trace[f"{ALIBI}distance_bias"], lead=(head,))
    beside(page, single, "alibi", *then_and_now(trace, head, ALIBI, bias))
    page.light(*distance_light(trace, head))


def look_near(page: Page, single: View) -> None:
    """A window, and the first keys that stay visible outside of it."""
    settings, trace = page.view.settings, single.trace
    window, sinks = shown_window(settings), shown_sinks(settings)
    page.header("A window, and sinks", anchor="window")
    page.words(
        "With a sliding window a query sees only the last few keys, so each new token costs the "
        "same, however long the text. But softmax must put its weight somewhere. A trained "
        "model puts weight that it has no use for on the first tokens, which every query saw in "
        "training. So these stay visible too, as attention sinks."
    )
    page.changing(kept_words(settings))
    each = [weights(trace, settings.head, prefix) for prefix in (PLAIN, WINDOWED, SUNK)]
    beside(page, single, "window", each[0], "⇢", each[1], "⇢", each[2])
    page.light(*window_light(trace, window))
    page.light(*sinks_light(trace, sinks))


def cap(page: Page, single: View) -> None:
    """Scores that never leave a range."""
    settings, trace, head = page.view.settings, single.trace, page.view.settings.head
    most = shown_cap(settings, trace)
    page.header("Scores kept in bounds", anchor="cap")
    page.words(
        "One huge score takes all the weight, and then hardly anything is learned. A soft cap "
        "bends large scores, by cap · tanh(score / cap), and leaves small ones nearly alone."
    )
    off = not settings.soft_cap
    page.changing(f"Here with a cap of {most:g}, since it is off above." if off else "")
    capped = Matrix(trace[f"{CAPPED}capped_scores"], lead=(head,))
    beside(page, single, "cap", *then_and_now(trace, head, CAPPED, capped))
    page.light(*cap_light(trace, most))


open_on(PAGE, view_of, lesson)
