"""From an answer back to the words: the heads that brought it, for each the part that made it look
where it looks, for each of these heads again, and so on down to the embedding. All of it from the
tables of `attribution` and `score_parts`, and what is not followed is a share that is told. Source:
Elhage et al. 2021, A Mathematical Framework for Transformer Circuits.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace

from torch import Tensor

from .attribution import attribution
from .run import Run
from .score_parts import ScoreParts, score_parts
from .written import Writer

MOST_HEADS, FIRST, LEAST = 12, 3, 0.1
"""Most heads followed, how many that brought the answer, and the least share of a part."""


@dataclass(frozen=True)
class Place:
    """A part of the model at a token: what it wrote there."""

    part: Writer
    token: int


@dataclass(frozen=True)
class Way:
    """What a part at a token did for a head at another, its key or query; or for the answer."""

    source: Place
    target: Place | None
    side: str
    """`key`, `query` or `answer`."""
    amount: float
    share: float
    """Of the score's lead over the other keys, or of what all heads that raise it brought."""


@dataclass(frozen=True)
class Circuit:
    """The ways from an answer back to the words, those of the answer first."""

    ways: tuple[Way, ...]
    looks_at: dict[Place, tuple[int, float]]
    """Where each head that was followed looks: its key of most weight, and how much."""

    @property
    def of_answer(self) -> float:
        """Which share of what all heads that raise the answer brought is drawn."""
        return sum(way.share for way in self.ways if way.side == "answer")

    @property
    def of_keys(self) -> float:
        """Which share of why heads look where they look is drawn: at the key, on average."""
        drawn = dict.fromkeys(self.looks_at, 0.0)
        for way in self.ways:
            if way.side == "key":
                drawn[way.target] += way.share
        return sum(min(share, 1.0) for share in drawn.values()) / max(1, len(drawn))


def circuit_by_heads(
    found: Run, token: int, against: int | None = None, position: int = -1
) -> Iterator[tuple[float, Circuit]]:
    """The way from a next token, or from how far its logit is above another's, back to the words, a
    head after the other: how much is done, from 0 to 1, and the circuit so far.

    Of each head it follows what did most at the key it looks at most and what did most at the
    query, and the heads that did most there, where they bring a tenth or more of the score's lead:
    heads go on, anything else ends there. Raises ValueError as `attribution` does.
    """
    last = range(len(found.ids))[position]
    heads = [part for part in attribution(found, token, last, against).heads if part.amount > 0]
    total = sum(part.amount for part in heads)
    made = Circuit((), {})
    known: dict[Place, None] = {}
    for part in heads[:FIRST]:
        place = Place(Writer("head", part.layer, part.head), last)
        way = Way(place, None, "answer", part.amount, part.amount / total)
        made = replace(made, ways=(*made.ways, way))
        known[place] = None
    waiting = deque(known)
    while waiting:
        yield len(made.looks_at) / MOST_HEADS, made
        place = waiting.popleft()
        row = found.weights[place.part.layer, place.part.head, place.token]
        key = int(row.argmax())
        parts = score_parts(found, place.part.layer, place.part.head, place.token, key)
        ways = [*made.ways]
        for side, at, amounts in (
            ("key", key, parts.by_key()),
            ("query", place.token, parts.by_query()),
        ):
            for way in _best(parts, amounts, at, place, side):
                is_new = way.source.part.kind == "head" and way.source not in known
                if is_new and len(known) == MOST_HEADS:
                    continue
                ways.append(way)
                if is_new:
                    known[way.source] = None
                    waiting.append(way.source)
        made = Circuit(tuple(ways), made.looks_at | {place: (key, float(row[key]))})
    yield 1.0, made


def _best(parts: ScoreParts, amounts: Tensor, at: int, target: Place, side: str) -> list[Way]:
    """What did most on a side, and the head that did, where they bring a tenth or more."""
    lead = float(parts.above.sum())
    heads = [at for at, part in enumerate(parts.parts) if part.kind == "head"]
    best = {int(amounts.argmax()), *(sorted(heads, key=lambda each: -amounts[each])[:1])}
    return [
        Way(Place(parts.parts[each], at), target, side, float(amounts[each]), share)
        for each in sorted(best, key=lambda each: -amounts[each])
        if lead > 0 and (share := float(amounts[each]) / lead) >= LEAST
    ]
