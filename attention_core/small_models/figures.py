"""What was measured of a network on texts that it was not trained on: its loss, and each head."""

import json
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path

from .heads import KINDS, named

TEXTS = 300
"""Of so many texts the heads are measured; the losses, on all."""

SHIPPED = Path(__file__).with_name("tiny_language.json")
"""Those of the network that comes with the package."""
Head = tuple[int, int]
"""A head: its layer and its number there, both counted from 0."""
Table = list[list[float]]
"""A number a head: (layer, head)."""


@dataclass(frozen=True)
class Figures:
    """Losses are means a word, in nats; scores are by the name of a kind of head."""

    loss: float
    entropy: float
    """What the grammar leaves open: the loss of a model that knows its chances."""
    bigram: float
    """The loss of counted pairs of words."""
    scores: dict[str, Table]
    untrained: dict[str, Table]
    """The scores of the same heads before training."""

    @property
    def heads(self) -> tuple[Head, ...]:
        """Every head."""
        layers = self.scores[KINDS[0].name]
        return tuple((layer, head) for layer, of in enumerate(layers) for head in range(len(of)))

    def names(self, head: Head) -> tuple[str, ...]:
        """The kinds that a head may be called by, the highest score first; none if none fits."""
        return named(self.scores_of(head), _at(self.untrained, head))

    def scores_of(self, head: Head) -> dict[str, float]:
        """A head's score for each kind."""
        return _at(self.scores, head)

    def best(self, kind: str) -> Head:
        """The head with the highest score for a kind."""
        return max(self.heads, key=lambda head: self.scores_of(head)[kind])

    def write(self) -> None:
        """Store these as those that `shipped_figures` reads."""
        SHIPPED.write_text(json.dumps(asdict(self)) + "\n", encoding="utf-8")


@lru_cache(maxsize=1)
def shipped_figures() -> Figures:
    """What was measured of the network that comes with the package. Loads no torch."""
    return Figures(**json.loads(SHIPPED.read_text(encoding="utf-8")))


def _at(tables: dict[str, Table], head: Head) -> dict[str, float]:
    layer, number = head
    return {name: table[layer][number] for name, table in tables.items()}
