"""Multi-head latent attention (MLA): all heads make their keys and values of one small vector a
token, the latent, which is all that is kept of it. Positions have columns of their own.

Sources: DeepSeek-AI 2024, DeepSeek-V2, section 2.1 and appendix C (the absorbed form); DeepSeek-AI
2024, DeepSeek-V3, section 2.1.1.
"""

from collections.abc import Callable, Mapping

from .. import operations as ops
from ..recipes import check_choice
from ..trace import Step, Trace
from ..utils.validation import known, validated
from .attention import attention
from .builder import check_matrices, rotated, times
from .today import ROTARY_BASE

ABSORBED = "absorbed_"
"""What the names of the steps begin with that never make a key or a value."""
POSITIONS = {
    "apart": "In columns of their own",
    "latent": "On the latent",
    "keys": "On the keys made of it",
}
"""Where rotary positions may go; the last two are mistakes."""
PAIR = ("W_rotary_query", "W_rotary_key")
MATRICES = ("W_latent", "W_query", "W_up_key", "W_up_value", *PAIR)


@validated
def attend_latent(
    trace: Trace,
    vectors: Step,
    matrices: Mapping[str, Step],
    *,
    mask: Step | None = None,
    query_vectors: Step | None = None,
    positions: str = "apart",
    rotary_base: float = ROTARY_BASE,
    place: int = 0,
    neighbours: bool = False,
    normed: Callable[[Step], Step] | None = None,
    prefix: str = "head_",
) -> Step:
    """Add attention whose keys and values are made of one latent a token to a trace that has
    `vectors` (token, d_in). Returns the context vectors, `head_context_vectors`
    (head, query, d_value).

    `matrices` are `W_latent` (d_in, d_latent), `W_query` (head, d_in, d_head), `W_up_key`
    (head, d_latent, d_head), `W_up_value` (head, d_latent, d_value), and for positions
    `W_rotary_query` (head, d_in, d_rotary) and `W_rotary_key` (d_in, d_rotary), of which all heads
    share the keys. `query_vectors` are what queries are made of, where it is something else;
    `normed` is what is done to the latents. `positions` other than `apart` show a mistake; without
    the two matrices for them, there are none. The first token stands at `place`; `neighbours` is
    which columns turn together, `prefix` what stands in the place of `head_` before the names.

    Steps: `latents` (key, d_latent); `head_queries`, `head_keys`, `head_values`; `rotary_queries`,
    `rotary_keys` (key, d_rotary), with their angles, and `rotary_turned_queries` and so on;
    `head_content_scores` and
    `rotary_scores`, whose sum are `head_scores`; those of `attention`. Then
    the same without keys and values, `absorbed_` before the names: `absorbed_queries`
    (head, query, d_latent), the queries times W_up_keyᵀ, are compared with the latents themselves,
    the weights are those of `absorbed_context_vectors` (head, query, d_latent), and
    `absorbed_values` (head, query, d_value) are made of these last. Raises ValueError, in words,
    for an odd width of what is turned, and for shapes that do not fit.
    """
    check_choice("positions", positions, POSITIONS)
    check_matrices(matrices, MATRICES)
    query_vectors, matrices = query_vectors or vectors, known("matrix", matrices)

    def turned(role: str, step: Step, named: str) -> Step:
        how = ops.Rotate(neighbours)
        return rotated(trace, role, step, rotary_base, place, prefix=named, how=how)

    def of_heads(name: str, vectors: Step, matrix: Step, row: str) -> Step:
        return times(trace, f"{prefix}{name}", vectors, matrix, lead=(*matrix.axes[:-2], row))

    latents = times(trace, "latents", vectors, matrices["W_latent"], lead=("key",))
    if normed:
        latents = normed(latents)
    if positions == "latent":
        latents = turned("key", latents, "latent_")
    queries = of_heads("queries", query_vectors, matrices["W_query"], "query")
    keys = of_heads("keys", latents, matrices["W_up_key"], "key")
    values = of_heads("values", latents, matrices["W_up_value"], "key")
    if positions == "keys":
        queries, keys = turned("query", queries, prefix), turned("key", keys, prefix)
    table, width, rotary = (*queries.axes[:-1], "key"), queries.value.shape[-1], None
    if positions == "apart" and any(name in matrices for name in PAIR):
        matrix = matrices["W_rotary_query"]
        lead = (*matrix.axes[:-2], "query")
        asked = times(trace, "rotary_queries", query_vectors, matrix, lead=lead)
        found = times(trace, "rotary_keys", vectors, matrices["W_rotary_key"], lead=("key",))
        both = turned("query", asked, "rotary_"), turned("key", found, "rotary_")
        rotary = trace.step("rotary_scores", ops.MatMul(transpose=True), *both, axes=table)
        width += matrix.value.shape[-1]

    def scored(own: str, queries: Step, keys: Step) -> Step:
        name = f"{own}content_scores" if rotary else f"{own}scores"
        made = trace.step(name, ops.MatMul(transpose=True), queries, keys, axes=table)
        if rotary:
            made = trace.step(f"{own}scores", ops.Add(), made, rotary, axes=table)
        return trace.step(f"{own}scaled_scores", ops.Scale(width), made, axes=table)

    plain = scored(prefix, queries, keys)
    context = attention(trace, queries, keys, values, mask=mask, prefix=prefix, scored=plain)
    # Keys that are turned are no product of the latents and a matrix: these miss the turning.
    absorbed = trace.step(
        f"{ABSORBED}queries", ops.MatMul(transpose=True), queries, matrices["W_up_key"],
        axes=(*queries.axes[:-1], latents.axes[-1]),
    )  # fmt: skip
    given = absorbed, latents, latents
    again = scored(ABSORBED, absorbed, latents)
    mixed = attention(trace, *given, mask=mask, prefix=ABSORBED, scored=again)
    times(trace, f"{ABSORBED}values", mixed, matrices["W_up_value"])
    return context
