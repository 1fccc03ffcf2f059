"""What the lesson on the attention of today leaves its reader able to answer."""

from attention_core.costs import kept_tokens
from attention_core.trace import Trace

from ...page.closing import Answer
from ...page.view import View
from ...settings.settings import Settings
from .checks import moved_light
from .computing import GROUPED, is_odd, shown_kv_heads
from .costs import ASKED, in_bytes
from .decoding import page_size
from .facts import PLAIN, kept, parameters


def answers(view: View, trace: Trace) -> list[Answer]:
    """On shared heads, on rotary positions, and on the cache. `trace` has each switch alone."""
    settings = view.settings
    return [
        Answer(
            "What does it save when heads share keys and values?",
            what_sharing_saves(settings, trace),
            "sharing",
            ("cache",),
        ),
        Answer(
            "Why does no score with rotary positions change when the text moves?",
            why_distance(settings, trace),
            "rotary",
        ),
        Answer(
            "Why does a model that writes need a cache, and what does it cost?",
            why_cache(settings),
            "decoding",
        ),
    ]


def what_sharing_saves(settings: Settings, trace: Trace) -> str:
    """With the numbers of this page, and the memory of a known model."""
    n_heads, fewer = trace.size("head"), shown_kv_heads(settings)
    size = ASKED.size
    plain, own = (
        size.with_kv_heads(count).cached(ASKED.context) * 2
        for count in (size.n_heads, size.n_kv_heads)
    )
    known = (
        f"In {ASKED.title}, {size.n_heads} heads share {size.n_kv_heads}: the keys and values of "
        f"{ASKED.context:,} tokens take {in_bytes(own)} instead of {in_bytes(plain)}."
    )
    if n_heads == 1:
        return f"With one head, as here, nothing. {known}"
    heads = "one key/value head" if fewer == 1 else f"{fewer} key/value heads"
    trained = [parameters(trace, each, settings.d_model) for each in (GROUPED, PLAIN)]
    return (
        f"Here {n_heads} query heads with {heads} keep {kept(trace, GROUPED):,} numbers for each "
        f"token instead of {kept(trace, PLAIN):,}, and have {trained[0]:,} "
        f"parameters instead of {trained[1]:,}. The number of queries, and of "
        f"products of queries with keys, stays. {known}"
    )


def why_distance(settings: Settings, trace: Trace) -> str:
    """With the largest difference, measured."""
    words = (
        "A query is turned by an angle that grows with its place, and so is a key. Turned by the "
        "same angle, two vectors keep their dot product. So only the difference of the angles "
        "counts: how far apart the tokens stand, wherever that is."
    )
    if is_odd(settings):
        return f"{words} The heads here have an odd width, so nothing is turned."
    good, _ = moved_light(trace, settings.moved_by)
    kept = "every score stays" if good else "scores do not stay"
    return f"{words} Moved by {settings.moved_by:,} places, {kept} what it was but for rounding."


def why_cache(settings: Settings) -> str:
    """With products and numbers of the last token of this page."""
    size, n_tokens = page_size(settings), len(settings.inputs.tokens)
    with_it, without = (
        sum(size.products_of_step(place, has_cache) for place in range(n_tokens))
        for has_cache in (True, False)
    )
    window = settings.window or None
    kept = size.cached(kept_tokens(n_tokens, window, settings.sinks))
    memory = f"{kept:,} numbers here, and more with every token"
    if window is not None:
        memory = f"{kept:,} numbers here with the window, however long the text"
    return (
        "Each new token looks at tokens before it. Their keys and values never change, since "
        f"none of them looks ahead, so they are kept. For {n_tokens} tokens, one after the other, "
        f"that is {with_it:,} products instead of {without:,}. It costs memory: {memory}."
    )
