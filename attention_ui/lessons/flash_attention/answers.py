"""What the lesson on flash attention leaves its reader able to answer."""

from attention_core.trace import Trace

from ...page.closing import Answer
from ...settings.settings import Settings
from ...words import number
from .building import before, where
from .savings import at_size, written


def answers(settings: Settings, trace: Trace) -> list[Answer]:
    """On what is kept, on the shrink factor, and on what is saved."""
    return [
        Answer("What is kept from tile to tile?", what_is_kept(trace, where(settings)), "playing"),
        Answer(
            "Why does what was added up so far have to shrink?",
            why_it_shrinks(settings, trace),
            "shrinking",
            ("unshrunk",),
        ),
        Answer("What does flash attention save?", what_it_saves(settings), "savings"),
    ]


def what_is_kept(trace: Trace, at: str) -> str:
    """With how many numbers that is, beside a row of weights."""
    n_keys, width = trace["values"].value.shape
    maximum, total = (
        number(trace[f"running_{name}_{at}"].value[0, 0].item(), 2) for name in ("largest", "sum")
    )
    return (
        f"For each query its maximum so far, its sum so far and its output so far: {width + 2} "
        f"numbers, however many keys there are. A row of the table would have {n_keys} here. For "
        f"the first query of the tile above, maximum and sum are {maximum} and {total}."
    )


def why_it_shrinks(settings: Settings, trace: Trace) -> str:
    """With the row of the chosen tile whose maximum rises most."""
    old, new = (
        trace[f"running_largest_{each}"].value[:, 0] for each in (before(settings), where(settings))
    )
    reason = (
        "Every exponential is e to the power of a score minus the maximum so far. When the maximum "
        "rises, those that were added before are too large by one and the same factor."
    )
    rise = new - old
    finite = rise.isfinite()
    if not finite.any() or rise[finite].max() <= 0:
        return f"{reason} In the tile above no maximum rises, so each factor is 1 or not needed."
    row = int(rise.where(finite, -1.0).argmax())
    shrink = trace[f"shrink_{where(settings)}"].value[row, 0].item()
    factor = "less than 0.001" if shrink < 0.001 else number(shrink, 3)
    return (
        f"{reason} In the tile above the maximum of query {settings.chosen_tile.queries[row]} "
        f"rises from {number(old[row].item(), 2)} to {number(new[row].item(), 2)}, and its sum and "
        f"output so far are multiplied by {factor}."
    )


def what_it_saves(settings: Settings) -> str:
    """At the size that is set."""
    _, whole, tiled = at_size(settings)
    each = int(settings.m_bytes)
    return (
        "Not products: bytes that are moved, and memory. With "
        f"{settings.flash_tokens:,} tokens, the whole table moves {written(whole.moved * each)} "
        f"for each head and holds {written(whole.held * each)}; tiles move "
        f"{written(tiled.moved * each)} and hold {written(tiled.held * each)}."
    )
