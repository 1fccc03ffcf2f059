"""What the lesson on the attention of today says of its switches, and asks."""

from attention_core.costs import kept_tokens
from attention_core.mechanism.today import PREFIX
from attention_core.rounding import difference, largest
from attention_core.trace import Trace

from ...controls.shared import heads_recipe_of, inputs_of
from ...frame.ends import closes
from ...reactive.control import Values
from ...words import in_bytes, number
from .checks import moved_light
from .costs import ASKED
from .decoding import page_size
from .facts import kept, parameters
from .lesson import GROUPED, KINDS, OPENED, PLAIN, alone, heads, model_that_is_on, shown_kv_heads

TOO_SMALL = 0.02
"""A change of a score that moves no weight by more than 0.005, which two decimals do not show."""


BOTH = (
    "The weights of one head as in 2017, and as the switches make them. Each switch has a card "
    "that explains it, below or in *Go deeper*."
)


def on_words(values: Values) -> str:
    """Which of the two pictures is which, and what is not seen."""
    name = model_that_is_on(values)
    if name == "gpt2":
        return (
            f"{BOTH} Nothing is on, so they are the same. GPT-2 has learned positions, added to "
            "the embeddings: not shown here."
        )
    model, _ = KINDS[name] if name else (None, None)
    if model is None or model.n_kv_heads == model.n_heads:
        return BOTH
    heads = f"{model.n_kv_heads} key/value heads for {model.n_heads} query heads"
    return f"{BOTH} {model.title} has {heads}."


def wide_cap_words(values: Values, trace: Trace) -> str:
    """Says so where the soft cap that is on is too wide to be seen; else ''."""
    capped = trace.get(f"{PREFIX}capped_scores")
    if capped is None or difference([(capped.value, capped.inputs[0].value)]) >= TOO_SMALL:
        return ""
    most = number(largest(capped.inputs[0].value), 2)
    return f"A cap of ±{values.soft_cap:g} is too wide to be seen: your largest score is {most}."


def wider_words(values: Values) -> str:
    """Why a head is wider than it would be, where rotary positions need it; '' where it is not."""
    own, used = heads_recipe_of(values).d_head, heads(values).d_head
    if own == used:
        return ""
    pairs = "in pairs" if values.rotary_share == "all" else "in pairs, and here not all of them"
    return (
        f"Rotary positions turn columns {pairs}, so each head’s queries and keys are {used} wide "
        f"here, not {own}."
    )


def own_heads_words(values: Values, spun: Trace) -> str:
    """Where the heads of the card on rotary positions come from, if not from the page; else ''."""
    own, used = heads(values).d_head, spun.size("d_head")
    if own == used:
        return ""
    return (
        f"Your heads are {own} wide, and two pairs of columns need {used}: so these are other "
        "heads, with matrices drawn for this card."
    )


@closes("What does it save when heads share keys and values?", "sharing", "cache")
def what_sharing_saves(values: Values, trace: Trace) -> str:
    """With the numbers of this page, and the memory of a known model."""
    n_heads, fewer = trace.size("head"), shown_kv_heads(values)
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
    trained = [parameters(trace, each, values.d_model) for each in (GROUPED, PLAIN)]
    return (
        f"Here {n_heads} query heads with {heads} keep {kept(trace, GROUPED):,} numbers for each "
        f"token instead of {kept(trace, PLAIN):,}, and have {trained[0]:,} "
        f"parameters instead of {trained[1]:,}. The number of queries, and of "
        f"products of queries with keys, stays. {known}"
    )


@closes("Why does no score with rotary positions change when the text moves?", "rotary")
def why_distance(values: Values, trace: Trace) -> str:
    """With the largest difference, measured."""
    words = (
        "A query is turned by an angle that grows with its place, and so is a key. Turned by the "
        "same angle, two vectors keep their dot product. So only the difference of the angles "
        "counts: how far apart the tokens stand, wherever that is."
    )
    good, _ = moved_light(trace, values.moved_by)
    kept = "every score stays" if good else "scores do not stay"
    return f"{words} Moved by {values.moved_by:,} places, {kept} what it was but for rounding."


@closes("Is QK-norm a layer norm of the stream, and a gate a dropout?", "today")
def what_norms_and_gates_do(values: Values) -> str:
    """Against two beliefs, with the gates of this page."""
    gates = alone(values, OPENED)[f"{OPENED}gates"].value
    least, most = (number(each.item(), 2) for each in (gates.min(), gates.max()))
    return (
        "Neither. QK-norm norms each head’s queries and keys by themselves; values and the vectors "
        "of the stream keep their lengths. Dropout strikes at random, in training only. A gate is "
        "made from the token’s own vector, the same each time: a share for each number of the "
        f"context vector, here from {least} to {most}. The weights stay as they are."
    )


@closes("Why does a model that writes need a cache, and what does it cost?", "decoding")
def why_cache(values: Values) -> str:
    """With products and numbers of the last token of this page."""
    size, n_tokens = page_size(values), len(inputs_of(values).tokens)
    with_it, without = (
        sum(size.products_of_step(place, has_cache) for place in range(n_tokens))
        for has_cache in (True, False)
    )
    window = values.window or None
    kept = size.cached(kept_tokens(n_tokens, window, values.sinks))
    memory = f"{kept:,} numbers here, and more with every token"
    if window is not None:
        memory = f"{kept:,} numbers here with the window, however long the text"
    return (
        "Each new token looks at tokens before it. Its query is asked once, and never again, so no "
        "cache of queries is needed. Keys and values of earlier tokens never change, since "
        f"none of them looks ahead, so they are kept. For {n_tokens} tokens, one after the other, "
        f"that is {with_it:,} products instead of {without:,}. It costs memory: {memory}."
    )
