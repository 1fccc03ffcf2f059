"""Writing a text token by token: one new query, and keys and values that were kept."""

from attention_core.costs import AttentionSize, kept_tokens
from attention_core.mechanism.decoding import DECODED, decode_step
from attention_core.rounding import agree
from attention_core.trace import Trace

from ...page.equation import equation
from ...page.show import light, note
from ...page.view import View
from ...picture.equation_parts import NEW_LINE, Parts
from ...picture.matrix import Matrix
from ...settings import session
from ...settings.control import control
from ...settings.settings import Settings
from .checks import differs_by
from .computing import today_of


def decoded(settings: Settings, whole: Trace) -> Trace:
    """The step of decoding that is shown, beside the lesson's trace."""
    return decode_step(whole, today_of(settings), min(settings.decoded, whole.size("token") - 1))


def show_decoding(view: View) -> None:
    """The new token, its row by the cache and in the whole computation, and what it cost."""
    control("decoded", width=420)
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
    _, n_keys, width = keys.value.shape
    new = frozenset((head, n_keys - 1, column) for column in range(width))
    return (
        Matrix(queries, lead=(head,)),
        "·",
        Matrix(keys, lead=(head,), transposed=True, highlighted=new),
        NEW_LINE,
        Matrix(weights, lead=(head,), title=f"{weights.name}[{head}], with the cache"),
        "⇒",
        Matrix(trace[f"{DECODED}context_vectors"], lead=(head,), column_labels=False),
    )


def in_the_whole(trace: Trace, head: int, place: int) -> Parts:
    """The same row where all queries are computed at once."""
    weights, context = trace["today_weights"], trace["today_context_vectors"]
    return (
        Matrix(
            weights, lead=(head,), rows=(place,), title=f"{weights.name}[{head}], without a cache"
        ),
        "⇒",
        Matrix(context, lead=(head,), rows=(place,), column_labels=False),
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
        "With the cache, the new token gets the same weights and context vector in every head, "
        f"{differs_by(pairs)}."
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
    window = ""
    if settings.window:
        n_seen = kept_tokens(place + 1, settings.window, settings.sinks)
        window = (
            f" What the window does not show is still drawn here, without a weight. Left out, "
            f"{size.cached(n_seen):,} numbers would be enough."
        )
    return (
        f"With the cache this step needs {step:,} multiplications; recomputing everything would "
        f"need {anew:,}. All steps up to here need {every[0]:,} and {every[1]:,}. The price: "
        f"{kept:,} numbers are kept from the steps before, {size.cached(place + 1):,} with the new "
        f"one.{window}"
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
