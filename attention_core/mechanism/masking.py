"""The causal mask, the other ways people hide the future, and what leaks through them."""

from collections.abc import Iterable

from .. import operations as ops
from ..recipes import CAUSAL, MaskRecipe, check_choice, check_scale
from ..trace import Step, Trace
from ..utils.validation import validated
from .attention import attention, scale_of, score
from .own_tensors import Vectors, trace_of

TABLE = ("query", "key")
WAYS = {
    "": "−∞ before softmax",
    "zero_filled_": "0 before softmax",
    "zeroed_": "0 after softmax",
    "renormalised_": "0 after, renormalised",
}
"""The ways of hiding, by what the names of their steps begin with. The first and last are right."""


def mask_of(recipe: MaskRecipe, n_tokens: int) -> ops.AttentionMask:
    """The mask of a sentence; what lies outside of it is left out."""
    hidden = recipe.hidden_key if recipe.hidden_key in range(n_tokens) else None
    flipped = tuple(cell for cell in recipe.flipped if min(cell) >= 0 and max(cell) < n_tokens)
    return ops.AttentionMask(n_tokens, n_tokens, recipe.causal, recipe.window, hidden, flipped)


@validated
def attend_masked(
    trace: Vectors, mask: MaskRecipe = CAUSAL, scale: str = "sqrt_d", ways: Iterable[str] = WAYS
) -> Trace:
    """Add masked self-attention to a trace that has `embeddings`, which are queries, keys and
    values at once. Steps: `mask` (query, key), `scores`, `scaled_scores` where they are divided,
    and for each way of WAYS its weights and context vectors: `masked_scores`, `weights`,
    `context_vectors`; `zero_filled_scores`, `zero_filled_weights`, `zero_filled_context_vectors`;
    `unmasked_weights`, `zeroed_weights`, `zeroed_context_vectors`; `renormalised_weights`,
    `renormalised_context_vectors`. Raises ValueError for a scale or a way that there is not.
    """
    trace = trace_of(trace)
    check_scale(scale)
    ways = tuple(ways)
    for way in ways:
        check_choice("way of hiding", way, WAYS)
    may_look = trace.step("mask", mask_of(mask, len(trace["embeddings"].value)), axes=TABLE)
    _attend(trace, trace["embeddings"], may_look, scale, ways, "")
    return trace


@validated
def change_token(trace: Trace, token: int, amount: float, way: str = "") -> Trace:
    """Add what happens to the context vectors when one token's vector changes, to a trace made by
    `attend_masked` with this way of hiding among its ways. Steps: `changed_embeddings` (token,
    d_in), attention on them with `changed_` before each name, and `moved` (query, d_in): the new
    context vectors less the old. Raises ValueError for another way, and where there is no such
    token.
    """
    check_choice("way of hiding", way, [kept for kept in WAYS if f"{kept}context_vectors" in trace])
    vectors, shift = trace["embeddings"], ops.ShiftRow(token, amount)
    vectors = trace.step("changed_embeddings", shift, vectors, axes=vectors.axes)
    _attend(trace, vectors, trace["mask"], scale_of(trace), (way,), "changed_")
    operands = (trace[f"changed_{way}context_vectors"], trace[f"{way}context_vectors"])
    trace.step("moved", ops.Subtract(), *operands, axes=("query", "d_in"))
    return trace


def _attend(
    trace: Trace, vectors: Step, mask: Step, scale: str | float, ways: tuple[str, ...], prefix: str
) -> None:
    def step(name: str, operation: ops.Operation, *operands: Step) -> Step:
        return trace.step(f"{prefix}{name}", operation, *operands, axes=TABLE)

    scaled = score(trace, vectors, vectors, scale, prefix)
    if "" in ways:
        attention(trace, vectors, vectors, vectors, mask=mask, prefix=prefix, scored=scaled)
    if "zero_filled_" in ways:
        filled = step("zero_filled_scores", ops.MaskedFill(0.0), trace[f"{prefix}scores"], mask)
        if scale != "none":
            filled = step("zero_filled_scaled_scores", scaled.operation, filled)
        weights = step("zero_filled_weights", ops.Softmax(), filled)
        _context(trace, weights, vectors, f"{prefix}zero_filled_")
    if "zeroed_" in ways or "renormalised_" in ways:
        unmasked = step("unmasked_weights", ops.Softmax(), scaled)
        zeroed = step("zeroed_weights", ops.MaskedFill(0.0), unmasked, mask)
        _context(trace, zeroed, vectors, f"{prefix}zeroed_")
    if "renormalised_" in ways:
        shares = step("renormalised_weights", ops.Renormalise(), zeroed)
        _context(trace, shares, vectors, f"{prefix}renormalised_")


def _context(trace: Trace, weights: Step, vectors: Step, prefix: str) -> None:
    trace.step(f"{prefix}context_vectors", ops.MatMul(), weights, vectors, axes=("query", "d_in"))
