"""What a switch changes: parameters, and what a cache keeps."""

from attention_core.costs import kept_tokens
from attention_core.operations.distances import alibi_slopes
from attention_core.recipes import PLURAL
from attention_core.rounding import agree
from attention_core.trace import Step, Trace

from ...controls.shared import inputs_of
from ...reactive.control import Values
from ...words import number
from .lesson import GROUPED, PLAIN, SLOPED, shown_sinks


def parameters(trace: Trace, prefix: str, d_model: int) -> int:
    """How many numbers training may change, with an output of width d_model."""
    key, value = (_own(trace, prefix, f"W_{role}") for role in ("key", "value"))
    n_heads, _, d_value = trace[f"{PLAIN}context_vectors"].value.shape
    steps = [trace["head_W_query"], key, value]
    steps += [trace[f"{prefix}W_gate"]] if f"{prefix}W_gate" in trace else []
    return sum(step.value.numel() for step in steps) + n_heads * d_value * d_model


def kept(trace: Trace, prefix: str) -> int:
    """How many numbers of keys and values there are for each token."""
    steps = (_own(trace, prefix, PLURAL[role]) for role in ("key", "value"))
    return sum(step.value.numel() for step in steps) // trace.size("key")


def _own(trace: Trace, prefix: str, name: str) -> Step:
    return trace.get(f"{prefix}{name}") or trace[f"{PLAIN}{name}"]


def same_words(trace: Trace) -> str:
    """By how much sharing changes the context vectors, and when it would not."""
    name = f"{GROUPED}context_vectors"
    before, now = (trace[each].value for each in (f"{PLAIN}context_vectors", name))
    if agree([(before, now)], (trace, name)):
        return "Here the heads that share had the same keys and values anyway: nothing changes."
    return (
        "Here a shared matrix is the mean of its heads’. Sharing changes context vectors by up to "
        f"{number((now - before).abs().max().item(), 2)}: it saves memory, not products."
    )


def kept_words(values: Values) -> str:
    """Of how many tokens a cache keeps keys and values, and how others are still heard of."""
    n_tokens, window, n_sinks = len(inputs_of(values).tokens), values.near, shown_sinks(values)
    sinks = "1 sink" if n_sinks == 1 else f"{n_sinks} sinks"
    back = "1 token" if window == 2 else f"{window - 1} tokens"
    through = (
        f"With a window of 1 a token sees itself alone: but for {sinks}, nothing comes from before."
        if window == 1
        else f"What lies further back still arrives **through layers**: the vector that a key is "
        f"made of has taken in {back} before it, in the layer below. So L layers reach "
        f"L × {window - 1} tokens back at most, and what is passed on so often thins out."
    )
    return (
        f"Of {n_tokens} tokens, a cache holds {kept_tokens(n_tokens, window)}, or "
        f"{kept_tokens(n_tokens, window, n_sinks)} with {sinks}. {through}"
    )


def far_words(trace: Trace, head: int) -> str:
    """What the farthest token ends up with under a bias for distance, and the head's own slope."""
    n_heads, n_tokens, _ = trace["head_weights"].value.shape
    own = alibi_slopes(n_heads)[head]
    told = f"The slider overrides head {head}’s own slope, {number(own)}."
    before, after = (trace[f"{each}weights"].value[head, -1, 0].item() for each in (PLAIN, SLOPED))
    if n_tokens == 1 or before == after:
        return told
    return (
        f"For the last query, the farthest token fades from {number(before)} to {number(after)}, "
        f"never to 0. {told}"
    )
