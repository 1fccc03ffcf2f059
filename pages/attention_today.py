"""What has changed in attention since 2017: shared heads, places, windows, caps, and the cache."""

from functools import partial

from attention_core.mechanism.today import PREFIX
from attention_core.trace import Trace
from attention_ui.charts.equation_parts import Parts, laid_out
from attention_ui.charts.matrix import Matrix
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
from attention_ui.lessons.attention_today.facts import PLAIN, kept_words, sharing_words, table
from attention_ui.lessons.attention_today.switches import (
    choose_heads,
    choose_switches,
    now_words,
    show_moved,
)
from attention_ui.page.begin_and_finish import begin, finish
from attention_ui.page.closing import closing
from attention_ui.page.equation import equation
from attention_ui.page.lights import sums_verdict
from attention_ui.page.page import Page, depends_on, open_on
from attention_ui.page.view import View
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
NEXT = "⇒"
"""Between what a switch makes and the weights that it changes."""


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
        "A model that writes keeps the keys and values of all tokens so far, in every layer. For "
        "long texts this cache takes more memory than anything else in attention."
    )
    page.ask("cache", cache_question(), covers=("cache",))
    page.part("costs", show_costs, shows=("cache",))
    page.header("Written token by token", anchor="decoding")
    page.words(
        "A model that writes has one new token at a time. It makes one query, one key and one "
        "value, and takes all earlier keys and values from the cache. Rotary keys are kept turned."
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
        page.changing(table(single.trace, NAMES, view.settings.d_model))
    finish(page, single)


def look(page: Page) -> None:
    """At first sight: one head of 2017 beside the same head today, and the switches."""
    settings, trace = page.view.settings, page.view.trace
    page.header("One head, then and now", anchor="today")
    page.words(
        "Left, the weights of a head as in 2017; right, the same head with the switches below. "
        "Point at a weight."
    )
    choices = [tuple(offered(name, settings).items()) for name in ("kv_heads", "window", "head")]
    page.controls(choose_switches, *choices, settings.window)
    page.equation("today", *then_and_now(trace, settings.head, PREFIX), side_by_side=True)
    page.changing(now_words(settings, is_odd(settings)))
    page.light(*sums_verdict(trace, f"{PREFIX}context_vectors"))


def then_and_now(trace: Trace, head: int, *prefixes: str) -> Parts:
    """The weights of one head, plain, and after each of some changes."""
    each = [trace[f"{prefix}weights"] for prefix in (PLAIN, *prefixes)]
    plain, *now = (Matrix(step, lead=(head,), compared=True) for step in each)
    return (plain, *(part for matrix in now for part in ("⇢", matrix)))


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
        "A model that writes keeps all keys and values. Where several query heads read the same "
        "ones, fewer have to be kept: grouped-query attention. With one key/value head for all it "
        "is multi-query attention."
    )
    page.controls(choose_heads, settings.n_heads, settings.d_model, settings.d_head)
    if n_heads == 1:
        page.changing("There is only one head here, so nothing can be shared. Choose more above.")
        return
    page.changing(sharing_words(fewer, n_heads))
    keys = Matrix(trace[f"{GROUPED}keys"], lead=(head // (n_heads // fewer),))
    beside(page, single, "sharing", keys, NEXT, *then_and_now(trace, head, GROUPED))
    page.light(*sharing_light(trace, fewer))


def turn(page: Page, single: View) -> None:
    """Queries and keys turned by their places."""
    settings, trace, head = page.view.settings, single.trace, page.view.settings.head
    page.header("Rotary positions", anchor="rotary")
    page.words(
        "Nothing in a dot product says where its words stand. So each query and key is turned, "
        "pair of columns by pair, by an angle that grows with its place. What is left in a score "
        "is how far apart two tokens stand. Values are not turned."
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
        Matrix(turned, lead=(head,), title=f"turned[{head}]"),
    )
    beside(page, single, "rotary", *parts, NEXT, *then_and_now(trace, head, ROTARY))
    page.part("moved", lambda: show_moved(single))


def add_distances(page: Page, single: View) -> None:
    """A bias that grows with the distance."""
    trace, head = single.trace, page.view.settings.head
    page.header("A bias for distance: ALiBi", anchor="alibi")
    page.words(
        "Simpler still: take something from each score for every place between query and key. "
        "Each head has a slope of its own, so some look near and some far. Nothing is learned, and "
        "texts may be longer than those in training."
    )
    bias = Matrix(trace[f"{ALIBI}distance_bias"], lead=(head,))
    beside(page, single, "alibi", bias, NEXT, *then_and_now(trace, head, ALIBI))
    page.light(*distance_light(trace, head))


def look_near(page: Page, single: View) -> None:
    """A window, and the first keys that stay visible outside of it."""
    settings, trace = page.view.settings, single.trace
    window, sinks = shown_window(settings), shown_sinks(settings)
    page.header("A window, and sinks", anchor="window")
    page.words(
        "With a sliding window a query sees only the last few keys, so a long text costs no more "
        "than a short one. But models like to leave weight on the first tokens, and fail without "
        "them: those stay visible, as attention sinks."
    )
    beside(page, single, "window", *then_and_now(trace, settings.head, WINDOWED, SUNK))
    page.light(*window_light(trace, window))
    page.light(*sinks_light(trace, sinks))
    page.changing(kept_words(len(settings.inputs.tokens), window, sinks))


def cap(page: Page, single: View) -> None:
    """Scores that never leave a range."""
    settings, trace, head = page.view.settings, single.trace, page.view.settings.head
    most = shown_cap(settings, trace)
    page.header("Scores kept in bounds", anchor="cap")
    page.words(
        "One huge score takes all the weight, and then hardly anything is learned. A soft cap "
        "bends large scores, by cap · tanh(score / cap), and leaves small ones nearly alone."
    )
    capped = Matrix(trace[f"{CAPPED}capped_scores"], lead=(head,))
    beside(page, single, "cap", capped, NEXT, *then_and_now(trace, head, CAPPED))
    page.light(*cap_light(trace, most))


open_on(PAGE, view_of, lesson)
