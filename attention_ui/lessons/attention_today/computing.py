"""The lesson's traces: today's attention beside that of 2017, and each switch alone."""

from dataclasses import replace

from attention_core.mechanism.multi_head import attend_heads
from attention_core.mechanism.today import ROTARY_BASE, Today, attend_today
from attention_core.text.embedding import embed
from attention_core.trace import Trace

from ...settings.choices import CAPS
from ...settings.settings import SETTINGS, Settings

GROUPED, ROTARY, ALIBI, WINDOWED, SUNK, CAPPED = (
    "grouped_",
    "rotary_",
    "alibi_",
    "windowed_",
    "sinks_",
    "cap_",
)
"""What the names of the steps begin with in which one thing alone is done otherwise."""


def build(settings: Settings) -> Trace:
    """The lesson's trace: plain attention with heads, causal, and `today_` steps beside it, both up
    to the context vectors: what comes behind has not changed.
    """
    recipe = replace(settings.heads_recipe, causal=True)
    trace = attend_heads(embed(settings.inputs), recipe, joined=False)
    return attend_today(trace, today_of(settings), joined=False)


def today_of(settings: Settings) -> Today:
    """What is switched on."""
    return Today(
        n_kv_heads=settings.kv_heads,
        rotary_base=ROTARY_BASE if settings.places == "rotary" else None,
        alibi=settings.places == "alibi",
        window=settings.window or None,
        sinks=settings.sinks if settings.window else 0,
        soft_cap=settings.soft_cap or None,
        scale=settings.heads_recipe.scale,
    )


def alone(settings: Settings, whole: Trace) -> Trace:
    """The lesson's trace, and beside it each switch alone, as it is set, or as an example of it."""
    trace = whole.branched()
    n_heads = trace.size("head")
    plain = Today(n_heads, scale=settings.heads_recipe.scale)
    window = shown_window(settings)
    switched = {
        GROUPED: {"n_kv_heads": shown_kv_heads(settings)},
        ROTARY: {"rotary_base": ROTARY_BASE},
        ALIBI: {"alibi": True},
        WINDOWED: {"window": window},
        SUNK: {"window": window, "sinks": shown_sinks(settings)},
        CAPPED: {"soft_cap": shown_cap(settings, trace)},
    }
    for prefix, changes in switched.items():
        attend_today(trace, replace(plain, **changes), prefix, joined=False)
    return trace


def shown_kv_heads(settings: Settings) -> int:
    """How many heads of keys the card has: what is chosen, or the most that are fewer."""
    fitting = [count for count in SETTINGS["kv_heads"].values(settings) if count < settings.n_heads]
    return min(settings.kv_heads, max(fitting, default=1))


def shown_window(settings: Settings) -> int:
    """The window of the card: what is chosen, or about a third of the sentence."""
    n_tokens = len(settings.inputs.tokens)
    return settings.window or max(2, (n_tokens + 1) // 3)


def shown_sinks(settings: Settings) -> int:
    """The sinks of the card: what is chosen, or one."""
    return settings.sinks or 1


def shown_cap(settings: Settings, trace: Trace) -> float:
    """The cap of the card: what is chosen, or one that the largest scores of the trace feel."""
    if settings.soft_cap:
        return settings.soft_cap
    scores = trace["head_masked_scores"].inputs[0].value
    most = scores.abs().max().item()
    return max((cap for cap in CAPS if 0 < cap <= most / 2), default=CAPS[1])


def is_odd(settings: Settings) -> bool:
    """Whether a head has a column left over where rotary positions need pairs."""
    return settings.heads_recipe.d_head % 2 == 1
