"""The attention of one layer as it was seen, and its parts, each of which may be done otherwise."""

from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import Tensor

from ..lights.own_code.subjects import hide
from ..recording.call import SINKS, SOFT_CAP, Call
from .precision import apart, as_numbers, eps_of

LOW = -9e3
"""A number as low as this, added to a score, hides: e to its power is 0."""


@dataclass(frozen=True)
class Parts:
    """How scores become context vectors. All tensors have the axes (batch, head, query, key), where
    those in front may be 1 long."""

    scale: float
    sees: Tensor
    """True where a query may look."""
    added: Tensor | None = None
    """Numbers that are added to the scores."""
    soft_cap: float | None = None
    sinks: Tensor | None = None
    """The logit of each head's sink."""
    cap_first: bool = False
    """Whether the cap comes before the scale."""
    keys_repeated: Callable[[Tensor, int], Tensor] = lambda heads, n: repeated(heads, n)
    values_repeated: Callable[[Tensor, int], Tensor] = lambda heads, n: repeated(heads, n)
    compare: Callable[[Tensor, Tensor], Tensor] = lambda q, k: q @ k.mT
    hide: Callable[[Tensor, Tensor], Tensor] = hide
    share: Callable[[Tensor], Tensor] = lambda scores: scores.softmax(dim=-1)
    after: Callable[[Tensor, Tensor], Tensor] = lambda weights, _: weights
    join: Callable[[Tensor], Tensor] = lambda context: context


@dataclass(frozen=True)
class Made:
    """What parts make of queries, keys and values."""

    scores: Tensor
    weights: Tensor
    context: Tensor


@dataclass(frozen=True)
class Attention:
    """One layer's attention: what was seen of it, None for the rest. `queries` (batch, head, query,
    d_head), `keys` and `values` (batch, kv_head, key, …), `output` (batch, head, query, d_value):
    the context vectors, `weights` (batch, head, query, key).
    """

    name: str
    queries: Tensor | None = None
    keys: Tensor | None = None
    values: Tensor | None = None
    output: Tensor | None = None
    weights: Tensor | None = None
    parts: Parts | None = None
    """How its output was computed, as far as it was told."""
    dropout: float = 0.0
    first: int = 0
    """How many tokens stand before its first query."""
    rates: list[Tensor] = field(default_factory=list)
    """Angles that rotary positions turn by for each place, where the model says so."""

    @property
    def is_whole(self) -> bool:
        """Whether its output can be computed again."""
        there = (self.queries, self.keys, self.values)
        return all(each is not None for each in there) and self.result is not None

    @property
    def result(self) -> Tensor | None:
        """What can be computed again: context vectors, else weights."""
        return self.output if self.output is not None else self.weights

    def result_of(self, made: Made) -> Tensor:
        """The same of what was computed."""
        return made.context if self.output is not None else made.weights

    @property
    def eps(self) -> float:
        """The rounding of its numbers."""
        there = (self.queries, self.keys, self.values, self.result)
        return eps_of(*(each for each in there if each is not None))

    @property
    def given(self) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values of one that is whole."""
        assert self.queries is not None
        assert self.keys is not None
        assert self.values is not None
        return self.queries, self.keys, self.values

    @property
    def numbers(self) -> Tensor:
        """The result of one that has one, to be computed with."""
        assert self.result is not None
        return as_numbers(self.result)

    def made_by(self, parts: Parts) -> Made:
        """Its queries, keys and values, with parts of any attention."""
        return computed(parts, *map(as_numbers, self.given))

    @property
    def unseeing(self) -> Tensor | None:
        """Rows (batch, head or 1, query) of queries that see nothing: what comes out there is
        nobody's business, and differs from kernel to kernel. None for no such row.
        """
        if self.parts is None:
            return None
        nothing = ~self.parts.sees.any(dim=-1)
        return nothing if nothing.any() else None


def of_call(call: Call, name: str) -> Attention:
    """What was recorded of a layer in one call."""
    mask = call.mask_of_all().cpu()
    scale = call.scale if call.scale is not None else call.queries.shape[-1] ** -0.5
    sinks = call.options.get(SINKS)
    if sinks is not None:
        sinks = as_numbers(sinks).reshape(-1).expand(call.n_heads)
    parts = Parts(float(scale), *sees_and_added(mask), call.options.get(SOFT_CAP) or None, sinks)
    first = max(0, call.keys.shape[-2] - call.n_queries) + int(
        call.rows[0] if len(call.rows) else 0
    )
    return Attention(name, call.queries, call.keys, call.values, call.output, None, parts,
                     float(call.options.get("dropout") or 0), first)  # fmt: skip


def sees_and_added(mask: Tensor) -> tuple[Tensor, Tensor | None]:
    """A mask as what may be seen, and what is added there."""
    if mask.dtype == torch.bool:
        return mask, None
    numbers = as_numbers(mask)
    sees = numbers > LOW
    added = numbers.masked_fill(~sees, 0.0)
    return sees, added if added.any() else None


def repeated(heads: Tensor, n_heads: int) -> Tensor:
    """Each key head for the query heads that it serves, one after the other."""
    return heads.repeat_interleave(n_heads // heads.shape[1], dim=1)


def computed(parts: Parts, queries: Tensor, keys: Tensor, values: Tensor) -> Made:
    """Attention by these parts."""
    n_heads = queries.shape[1]
    scores = parts.compare(queries, parts.keys_repeated(keys, n_heads))
    cap = parts.soft_cap
    if cap is not None and parts.cap_first:
        scores = cap * torch.tanh(scores / cap)
    scores = scores * parts.scale
    if cap is not None and not parts.cap_first:
        scores = cap * torch.tanh(scores / cap)
    if parts.added is not None:
        scores = scores + parts.added
    hidden = parts.hide(scores, parts.sees)
    if parts.sinks is None:
        shares = parts.share(hidden)
    else:
        sinks = parts.sinks[None, :, None, None].expand(*hidden.shape[:-1], 1)
        shares = parts.share(torch.cat([hidden, sinks], dim=-1))[..., :-1]
    weights = parts.after(shares, parts.sees)
    context = parts.join(weights @ parts.values_repeated(values, n_heads))
    return Made(hidden, weights, context)


def allowed_of(made: Made, eps: float) -> float:
    """How far a row of context vectors may lie from what a layer computed itself: an error in a
    score grows with the score.
    """
    seen = made.scores[made.scores.isfinite() & (made.scores > LOW)]
    largest = float(seen.abs().max()) if seen.numel() else 0.0
    slack = 32 if eps < 1e-6 else 4
    return slack * eps * (1 + largest)


def by_its_parts(attention: Attention) -> bool:
    """Whether what was seen of a layer is what its parts make: whether it is understood."""
    if attention.parts is None or not attention.is_whole:
        return False
    result = attention.result
    assert result is not None
    made = attention.made_by(attention.parts)
    gap = apart(result, attention.result_of(made), attention.unseeing)
    return gap.share <= allowed_of(made, attention.eps)
