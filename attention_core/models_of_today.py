"""The attention of known models, by kind of layer, with a source of each fact; and their caches."""

import tomllib
from dataclasses import dataclass
from datetime import date
from pathlib import Path


@dataclass(frozen=True)
class KindOfLayer:
    """Layers of a model that are alike: how many, and what they do otherwise than in 2017."""

    n_layers: int
    slug: str = ""
    name: str = ""
    """Which layers of a model these are, in a word and as it is said; "" for all."""
    attends: bool = True
    """Whether they have attention."""
    positions: str = "rotary"
    rotary_share: float = 1.0
    window: int | None = None
    qk_norm: bool = False
    sink: bool = False
    gated: bool = False
    soft_cap: float | None = None
    kept: int | None = None
    """How many numbers a layer keeps for each token; None for the keys and values of all heads."""
    fixed: int = 0
    """How many it keeps however long the text."""
    more: str = ""
    """What it has beside, in words."""


@dataclass(frozen=True)
class ModelOfToday:
    """A known model: its heads, its kinds of layers, and where this stands."""

    title: str
    year: int
    source: str
    checked: date
    config: str
    differs: frozenset[str]
    n_heads: int
    n_kv_heads: int
    d_head: int
    context: int
    kinds: tuple[KindOfLayer, ...]

    @property
    def n_layers(self) -> int:
        """How many layers it has."""
        return sum(kind.n_layers for kind in self.kinds)

    def cached(self, n_tokens: int) -> int:
        """How many numbers it keeps of a text of so many tokens, in all layers."""
        found = 0
        for kind in self.kinds:
            kept = 2 * self.n_kv_heads * self.d_head if kind.kept is None else kind.kept
            n_kept = min(n_tokens, kind.window or n_tokens)
            found += kind.n_layers * (kept * n_kept + kind.fixed)
        return found


def _read() -> dict[str, ModelOfToday]:
    table = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
    made = {}
    for name, facts in table.items():
        n_heads, n_kv_heads, d_head = facts.pop("heads")
        kinds = tuple(KindOfLayer(**kind) for kind in facts.pop("kinds"))
        sizes = {"n_heads": n_heads, "n_kv_heads": n_kv_heads, "d_head": d_head}
        facts["differs"] = frozenset(facts["differs"])
        made[name] = ModelOfToday(**facts, **sizes, kinds=kinds)
    return made


MODELS_OF_TODAY = _read()
