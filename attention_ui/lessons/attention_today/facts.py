"""What a switch changes: shapes before and now, parameters, and what a cache keeps."""

from attention_core.costs import kept_tokens
from attention_core.recipes import PLURAL
from attention_core.trace import Step, Trace

PLAIN = "head_"
COMPARED = ("W_key", "W_value", "keys", "values", "scores", "weights", "context_vectors")


def table(trace: Trace, names: dict[str, str], d_model: int) -> str:
    """For each switch, by the prefix of its steps: which tensors have another shape than before,
    its parameters, and the numbers that a cache keeps for each token.
    """
    rows = []
    for prefix, name in names.items():
        trained = (parameters(trace, each, d_model) for each in (PLAIN, prefix))
        cached = (kept(trace, each) for each in (PLAIN, prefix))
        shapes = shapes_words(trace, prefix)
        rows.append(f"| {name} | {shapes} | {_changed(*trained)} | {_changed(*cached)} |")
    head = "| Alone | Shapes, before → now | Parameters | In the cache, for each token |"
    return "\n".join([head, "|---|---|---|---|", *rows])


def shapes_words(trace: Trace, prefix: str) -> str:
    """Which tensors have another shape than before."""
    changed: dict[tuple[str, str], list[str]] = {}
    for name in COMPARED:
        before, now = trace[f"{PLAIN}{name}"], trace.get(f"{prefix}{name}")
        if now is not None and now.shape != before.shape:
            changed.setdefault((before.shape, now.shape), []).append(f"`{name}`")
    told = [f"{' and '.join(names)}: {a} → {b}" for (a, b), names in changed.items()]
    return "<br>".join(told) or "none changes"


def _changed(before: int, now: int) -> str:
    return f"{before:,} → {now:,}" if before != now else f"{before:,}"


def parameters(trace: Trace, prefix: str, d_model: int) -> int:
    """How many numbers training may change, with an output of width d_model."""
    key, value = (_own(trace, prefix, f"W_{role}") for role in ("key", "value"))
    n_heads, _, d_value = trace[f"{PLAIN}context_vectors"].value.shape
    steps = (trace["head_W_query"], key, value)
    return sum(step.value.numel() for step in steps) + n_heads * d_value * d_model


def kept(trace: Trace, prefix: str) -> int:
    """How many numbers of keys and values there are for each token."""
    steps = (_own(trace, prefix, PLURAL[role]) for role in ("key", "value"))
    return sum(step.value.numel() for step in steps) // trace.size("key")


def _own(trace: Trace, prefix: str, name: str) -> Step:
    return trace.get(f"{prefix}{name}") or trace[f"{PLAIN}{name}"]


def sharing_words(shown: int, n_heads: int) -> str:
    """Which heads share, and how their matrices were made."""
    times = n_heads // shown
    heads = "1 key/value head" if shown == 1 else f"{shown} key/value heads, {times} for each"
    return (
        f"Here {n_heads} query heads have {heads}. Its matrices are the means of those of the "
        f"{times} heads, as a trained model is changed to fewer."
    )


def kept_words(n_tokens: int, window: int, sinks: int) -> str:
    """Of how many tokens a cache has to keep keys and values."""
    alone, both = kept_tokens(n_tokens, window), kept_tokens(n_tokens, window, sinks)
    return (
        f" Of {n_tokens} tokens a cache keeps {alone} at most with the window, and {both} with the "
        "sinks."
    )
