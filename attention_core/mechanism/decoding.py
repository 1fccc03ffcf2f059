"""One step of decoding: a single new query, and keys and values kept from earlier steps."""

from typing import Any

from ..recipes import PLURAL
from ..trace import Step, Trace
from ..utils.validation import validated
from .builder import append_to_past, attend_steps, gated, times
from .own_tensors import give
from .today import PREFIX, Today, norm_and_turn

DECODED = "decoded_"
"""What the names of a step of decoding begin with, where the whole computation has a like step."""


@validated
def decode_step(whole: Trace, today: Today, place: int) -> Trace:
    """The step in which the token at `place` is new, as a trace of its own, from a trace of
    `attend_today` with the same `today`.

    Only the new token's vector is used: `new_embedding` (query 1, d_in). Steps: `head_W_query` and
    so on, given; `head_queries` (head, query 1, d_head), `new_keys` (kv_head, new_key 1, d_head),
    `new_values`; those with norms of their own, and turned by their place, where they are;
    `past_keys` (kv_head, past, d_head) and `past_values`, as earlier steps left them in the cache,
    so turned already; `decoded_keys` and `decoded_values`, both joined; the steps of `attend_steps`
    with `decoded_` before their names, and of gates. The first token has nothing before it, and no
    such rows: its own stand for all. Raises ValueError where there is no such token, and for
    heads with dropout.

    Source: Shazeer 2019, Fast Transformer Decoding, section 2.4 (incremental inference).
    """
    n_tokens = whole.size("token")
    if not 0 <= place < n_tokens:
        raise ValueError(f"there is no token {place}: the last of {n_tokens} is {n_tokens - 1}")
    options = today.options_in(whole)
    if options.dropout:
        raise ValueError(
            f"a dropout of {options.dropout:g} is for training: what writes drops nothing. Set it "
            "to 0"
        )
    tokens = whole.labels("token")
    labels = {"query": [tokens[place]], "key": tokens[: place + 1]}
    if place:
        labels |= {"past": tokens[:place], "new_key": [tokens[place]]}
    trace = Trace(**labels)
    _label_heads(trace, whole, today)
    row = whole["embeddings"].value[place : place + 1]
    new = give(trace, "new_embedding", row, ("query", "d_in"))
    made = {"query": _projected(trace, new, whole["head_W_query"], "head_queries", "query")}
    for role in ("key", "value"):
        matrix = whole.get(f"{PREFIX}W_{role}") or whole[f"head_W_{role}"]
        row_axis = "new_key" if place else "key"
        made[role] = _projected(trace, new, matrix, f"new_{PLURAL[role]}", row_axis)
    norm_and_turn(trace, made, today, "", place)
    for role in ("key", "value") if place else ():
        name, kept = PLURAL[role], cached(whole, role).value[:, :place]
        made[role] = append_to_past(trace, name, kept, made[role], f"{DECODED}{name}")
    named: dict[str, Any] = {"prefix": DECODED, "mask_prefix": DECODED}
    context = attend_steps(trace, *made.values(), options=options, n_past=place, **named)
    if today.gated:
        matrix = whole[f"{PREFIX}W_gate"]
        own = give(trace, matrix.name, matrix.value, matrix.axes, matrix.symbol)
        gated(trace, new, context, own, prefix=DECODED)
    return trace


def cached(whole: Trace, role: str) -> Step:
    """Keys or values as a cache keeps them (head or kv_head, key, width): normed and turned."""
    name = PLURAL[role]
    names = (*(f"{PREFIX}{made}{name}" for made in ("turned_", "normed_", "")), f"head_{name}")
    return next(whole[each] for each in names if each in whole)


def _label_heads(trace: Trace, whole: Trace, today: Today) -> None:
    """Name heads as in the whole computation, and columns where they still mean the same."""
    n_heads = whole.size("head")
    trace.label("head", whole.labels("head"))
    turns = today.turns(whole["head_queries"].value.shape[-1])
    if today.n_kv_heads < n_heads or turns or today.qk_norm:
        return
    for axis in ("d_head", "d_value"):
        if whole.has_axis(axis):
            trace.label_by_head(axis, [whole.labels(axis, head) for head in range(n_heads)])


def _projected(trace: Trace, new: Step, matrix: Step, name: str, row: str) -> Step:
    """The new vector times the matrix of each head."""
    own = give(trace, matrix.name, matrix.value, matrix.axes, matrix.symbol)
    return times(trace, name, new, own, lead=(matrix.axes[0], row))
