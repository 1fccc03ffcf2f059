"""Why a head looks there: the score of a query and a key as a sum over pairs of parts, of what each
part of the model wrote to the query's stream and what each wrote to the key's.

All between the stream and a score is linear, but for norms, which are frozen (`written`), and a cap
where a model has one: the score before it is the sum. A sum is not a cause: what is taken away may
be made up for by later parts, so it is believed only after switching it off.

Source: Elhage et al. 2021, A Mathematical Framework for Transformer Circuits.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from ..utils.validation import validated
from .run import Run, hidden_keys, rotated
from .written import Reading, Writer, gain_of, one_over_size


@dataclass(frozen=True)
class ScoreParts:
    """The score of a query and a key of a head, taken apart into who wrote what."""

    layer: int
    head: int
    query: int
    key: int
    parts: tuple[Writer, ...]
    table: Tensor
    """What each pair of parts adds to the score (query part, key part)."""
    above: Tensor
    """The same less its mean over the query's other keys: softmax sees differences alone."""
    cap: float | None
    """The score is capped at this afterwards, where there is such a number."""

    @property
    def score(self) -> float:
        """What all add up to: the model's own score, scaled, and before a cap."""
        return float(self.table.sum())

    @property
    def is_alone(self) -> bool:
        """Whether the query sees no other key: its weight is 1 whatever the score."""
        return not self.above.any()

    def by_key(self) -> Tensor:
        """By how much each part, by what it wrote at the key, brings the score above the others."""
        return self.above.sum(0)

    def by_query(self) -> Tensor:
        """The same by what it wrote at the query."""
        return self.above.sum(1)

    def pairs(self, most: int) -> Iterator[tuple[Writer, Writer, float]]:
        """The pairs that bring most, the query's part first."""
        best = self.above.flatten().topk(min(most, self.above.numel()))
        for at, amount in zip(best.indices.tolist(), best.values.tolist(), strict=True):
            query, key = divmod(at, len(self.parts))
            yield self.parts[query], self.parts[key], amount


@validated
@torch.no_grad()
def score_parts(run: Run, layer: int, head: int, query: int, key: int) -> ScoreParts:
    """The score of a query and a key in a head of a layer, taken apart: the parts that wrote to the
    stream before the layer, biases among them, and the table of pairs (query part, key part).
    Raises ValueError for a layer, a head or a token that there is not, for a key that the query
    does not see, and where numbers are not finite.
    """
    seen = visible_keys(run, layer, head, query, key)
    parts, queries = read_by_head(run, layer, head, "query", [query])
    _, keys = read_by_head(run, layer, head, "key", range(seen[-1] + 1))
    settings = run.model.settings
    queries = queries[:, 0].double() * settings.scale(layer)
    return table_of((layer, head, query, key), parts, queries, keys, seen, settings.score_cap)


def table_of(
    at: tuple[int, int, int, int],
    parts: tuple[Writer, ...],
    queries: Tensor,
    keys: Tensor,
    seen: Sequence[int],
    cap: float | None = None,
) -> ScoreParts:
    """The table of what parts wrote as the query (part, d_head), scaled, and as the keys (part,
    token, d_head), of which those are `seen`. Raises ValueError where numbers are not finite.
    """
    layer, _, _, key = at
    queries, keys = queries.double(), keys.double()
    own = keys[:, key]
    others = [each for each in seen if each != key]
    mean = keys[:, others].mean(1) if others else own
    table = queries @ own.T
    if not table.isfinite().all():
        raise ValueError(
            f"numbers that are not finite stand in the stream before layer {layer}: a score made "
            "of them has no parts"
        )
    return ScoreParts(*at, parts, table, queries @ (own - mean).T, cap)


def read_by_head(
    run: Run, layer: int, head: int, role: str, tokens: Sequence[int]
) -> tuple[tuple[Writer, ...], Tensor]:
    """What of a head's queries or keys each part wrote (part, token, d_head), turned by place."""
    model, settings = run.model, run.model.settings
    if role == "key":
        head = head // (settings.n_heads // settings.n_key_heads)
    own = range(head * settings.d_head, (head + 1) * settings.d_head)
    rows = None if settings.query_key_norms == "all" else own
    reading = Reading(run, tokens, model.matrix(f"{layer}.W_{role}", rows).T)
    if settings.norms_read:
        reading.norm("attention_norm", run.before[layer], layer)
    parts, read = reading.back(layer)
    if any(f"b_{each}" in settings.biases for each in ("query", "key")):
        bias = torch.zeros(read.shape[-1])
        if f"b_{role}" in settings.biases:
            bias = model.matrix(f"{layer}.b_{role}", rows)
        read = torch.cat((read, bias.expand(1, len(tokens), -1)))
        parts = (*parts, Writer("bias"))
    if settings.query_key_norms:
        gain = gain_of(settings, model.matrix(f"{layer}.{role}_norm_gain"))
        read = read * one_over_size(settings, read.sum(0)) * gain
        if settings.query_key_norms == "all":
            read = read[..., own.start : own.stop]
    turn = settings.turn(layer)
    return parts, read if turn is None else rotated(read, turn, tokens[0])


def visible_keys(run: Run, layer: int, head: int, query: int, key: int) -> list[int]:
    """The keys a query of a head sees. Raises ValueError where a place is missing or hidden."""
    settings, n = run.model.settings, len(run.ids)
    for name, asked, count in (
        ("layer", layer, settings.n_layers),
        ("head", head, settings.n_heads),
        ("token", query, n),
        ("token", key, n),
    ):
        if not 0 <= asked < count:
            raise ValueError(f"there is no {name} {asked}: counted from 0, the last is {count - 1}")
    hidden = hidden_keys(settings, n, settings.window(layer), run.changes)[query]
    if hidden[key]:
        why = "stands behind it" if settings.causal and key > query else "is hidden from it"
        raise ValueError(
            f"token {query} does not see token {key}, which {why}: its score is masked out"
        )
    return (~hidden).nonzero().flatten().tolist()
