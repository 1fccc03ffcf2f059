"""Writing a text token by token: one new query, and keys and values that were kept."""

from attention_core.costs import AttentionSize
from attention_core.mechanism.decoding import DECODED, decode_step
from attention_core.rounding import agree, difference
from attention_core.trace import Trace

from ...charts.equation_parts import NEW_LINE, Parts
from ...charts.matrix import Matrix
from ...page.equation import equation
from ...page.show import light, note
from ...page.view import View
from ...settings import session
from ...settings.control import control
from ...settings.settings import Settings
from .computing import today_of


def decoded(settings: Settings, whole: Trace) -> Trace:
    """The step of decoding that is shown, beside the lesson's trace."""
    return decode_step(whole, today_of(settings), min(settings.decoded, whole.size("token") - 1))


def show_decoding(view: View) -> None:
    """The new token, its row by the cache and in the whole computation, and what it cost."""
    widget = "select_slider" if view.trace.size("token") > 1 else "selectbox"
    control("decoded", widget=widget, width=420)
    now = session.current()
    trace, place = decoded(now, view.trace), now.decoded
    equation(view.beside(trace), "decoding", *with_cache(trace, now.head))
    equation(view, "in_the_whole", *in_the_whole(view.trace, now.head, place))
    light(*same_row(trace, view.trace, place))
    note(products_words(now, place))


def with_cache(trace: Trace, head: int) -> Parts:
    """The new token's query with all keys, its weights, and its context vector."""
    scores = trace[f"{DECODED}scores"]
    queries, keys = scores.inputs
    weights = trace[f"{DECODED}weights"]
    return (
        Matrix(queries, lead=(head,)),
        "·",
        Matrix(keys, lead=(head,), transposed=True),
        NEW_LINE,
        "⇒",
        Matrix(weights, lead=(head,)),
        "⇒",
        Matrix(trace[f"{DECODED}context_vectors"], lead=(head,)),
    )


def in_the_whole(trace: Trace, head: int, place: int) -> Parts:
    """The same row where all queries are computed at once."""
    weights, context = trace["today_weights"], trace["today_context_vectors"]
    return (
        Matrix(weights, lead=(head,), rows=(place,)),
        "⇒",
        Matrix(context, lead=(head,), rows=(place,)),
    )


def same_row(trace: Trace, whole: Trace, place: int) -> tuple[bool, str]:
    """Whether the step gives the rows of the whole computation, in all heads."""
    pairs = []
    for name in ("weights", "context_vectors"):
        row = whole[f"today_{name}"].value[:, place]
        if name == "weights":
            row = row[:, : place + 1]
        pairs.append((trace[f"{DECODED}{name}"].value[:, 0], row))
    last = f"{DECODED}context_vectors"
    good = agree(pairs, (trace, last), (whole, "today_context_vectors"))
    return good, (
        "With the cache, the new token gets the same weights and context vector in every head: the "
        f"largest difference is {difference(pairs):.1g}."
    )


def products_words(settings: Settings, place: int) -> str:
    """How many products the step takes with the cache and without, and all steps so far."""
    size = page_size(settings)
    step, anew = (size.products_of_step(place, has_cache) for has_cache in (True, False))
    every = [
        sum(size.products_of_step(at, has_cache) for at in range(place + 1))
        for has_cache in (True, False)
    ]
    kept = size.cached(place)
    return (
        f"This step multiplies {step:,} pairs of numbers with the cache and {anew:,} without, "
        f"where all tokens so far are computed again; all steps up to here together {every[0]:,} "
        f"and {every[1]:,}. The price: {kept:,} numbers are kept from the steps before."
    )


def page_size(settings: Settings) -> AttentionSize:
    """The sizes of the attention on this page."""
    recipe = settings.heads_recipe
    return AttentionSize(
        1,
        settings.d_in,
        recipe.n_heads,
        settings.kv_heads,
        recipe.d_head,
        recipe.d_value,
        recipe.d_model,
    )
