"""What decides how a model computes: every number and switch of its arithmetic."""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Turn:
    """How queries and keys are turned by their places."""

    rates: tuple[float, ...]
    """By how much each pair of columns turns from one place to the next."""
    neighbours: bool
    """Whether columns 2k and 2k + 1 turn together, and not k and k + n/2 of the n that turn."""
    rest: int
    """So many columns at the end are left as they are."""
    stretch: float
    """How many times longer what is turned becomes."""


@dataclass(frozen=True)
class Settings:
    """All that changes a model's arithmetic beside its matrices."""

    n_layers: int
    d_model: int
    n_heads: int
    n_key_heads: int
    """How many heads keys and values have: each serves several query heads where they are fewer."""
    d_head: int
    d_ffn: int
    """The width inside of the feed-forward; 0 where a model has none."""
    n_vocabulary: int
    longest: int | None
    """The most tokens that it can read, where there is such a number."""

    norm: str = "rms"
    """`rms`: divided by the root of the mean square; `layer`: the mean taken away first."""
    epsilon: float = 1e-5
    norm_adds_one: bool = False
    """Whether a norm multiplies by 1 + gain, and not by the gain."""
    norms: str = "before"
    """Norms stand `before` each part, `after` its sum with the stream, on what is to be `added`, or
    `around` the part: before it, and on what it adds.
    """
    side_by_side: bool = False
    """Whether the feed-forward reads what attention reads, and not what that has added to."""
    added_scale: float = 1.0
    """What each part adds to the stream is multiplied by this."""
    embedding_norm: bool = False
    embedding_scale: float = 1.0

    positions: str = "rotary"
    """`rotary`: queries and keys are turned; `learned`: a vector of each place is added."""
    rates: tuple[tuple[float, ...], ...] = ()
    """By how much each pair of columns turns from one place to the next, for each layer: none where
    it turns nothing. Columns that no pair has are left as they are.
    """
    stretches: tuple[float, ...] = ()
    """How many times longer what is turned becomes, for each layer."""
    longer: tuple[int, tuple[tuple[float, ...], ...]] | None = None
    """Texts of more tokens than this are read with these rates."""
    rotary_base: float | None = None
    rotary_pairs: str = "halves"
    """Which columns turn together: k and k + d/2 (`halves`), or 2k and 2k + 1 (`neighbours`)."""

    windows: tuple[int | None, ...] = ()
    """How many keys a query sees at most, itself among them, for each layer; None for all."""
    causal: bool = True
    score_scale: float = 1.0
    """What scores are multiplied by: 1 / √d_head nearly everywhere."""
    deeper_smaller: bool = False
    """Whether scores of layer n, counted from 1, are divided by n too."""
    score_cap: float | None = None
    logit_cap: float | None = None
    logit_scale: float = 1.0
    query_key_norms: str = ""
    """What is normed before queries and keys are compared: of each `head`, or of `all`."""

    activation: str = "silu"
    gated: bool = True
    """Whether the feed-forward is the product of two layers, one of them bent."""
    token_types: int = 0
    """How many kinds of sentences there are vectors of; the first is added everywhere."""
    biases: tuple[str, ...] = ()
    """The names of what is added after a product, such as `b_query`, of those that a layer has."""
    tied: bool = True
    """Whether what a next token may be is read off the same table that tokens are looked up in."""
    predicts: bool = True
    """Whether the model says what a next token may be."""

    def window(self, layer: int) -> int | None:
        """How many keys a query of a layer sees at most."""
        return self.windows[layer] if self.windows else None

    def scale(self, layer: int) -> float:
        """What scores of a layer are multiplied by."""
        return self.score_scale / (layer + 1 if self.deeper_smaller else 1)

    @property
    def norms_read(self) -> bool:
        """Whether what a part reads is normed."""
        return self.norms in ("before", "around")

    @property
    def norms_added(self) -> bool:
        """Whether what a part is about to add is normed."""
        return self.norms in ("added", "around")

    def turn(self, layer: int) -> "Turn | None":
        """How a layer turns queries and keys by their places; None where it does not."""
        if not self.rates or not self.rates[layer]:
            return None
        own, neighbours = self.rates[layer], self.rotary_pairs == "neighbours"
        stretch = self.stretches[layer] if self.stretches else 1.0
        return Turn(own, neighbours, self.d_head - 2 * len(own), stretch)

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of each tensor that the model has once, by our name for it."""
        wide: tuple[int, ...] = (self.d_model,)
        found: dict[str, tuple[int, ...]] = {"token_table": (self.n_vocabulary, self.d_model)}
        if self.positions == "learned":
            found["position_table"] = (self.longest or 0, self.d_model)
        if self.token_types:
            found["type_table"] = (self.token_types, self.d_model)
        if self.embedding_norm:
            found |= self._norm("embedding_norm", wide)
        if self.norms != "after":
            found |= self._norm("final_norm", wide)
        if self.predicts and not self.tied:
            found["W_unembed"] = (self.n_vocabulary, self.d_model)
        return found

    def shapes_of_layer(self) -> dict[str, tuple[int, ...]]:
        """The shape of each tensor of a layer, by our name for it; matrices are (out, in)."""
        wide, queries, keys = self.d_model, self.n_heads, self.n_key_heads
        found = {} if self.norms == "added" else self._norm("attention_norm", (wide,))
        found |= {
            "W_query": (queries * self.d_head, wide),
            "W_key": (keys * self.d_head, wide),
            "W_value": (keys * self.d_head, wide),
            "W_output": (wide, queries * self.d_head),
        }
        for role in ("query", "key") if self.query_key_norms else ():
            all_heads = self.query_key_norms == "all"
            found[f"{role}_norm_gain"] = found[f"W_{role}"][:1] if all_heads else (self.d_head,)
        if self.d_ffn:
            found |= {} if self.norms == "added" else self._norm("ffn_norm", (wide,))
            found |= {"W_up": (self.d_ffn, wide), "W_down": (wide, self.d_ffn)}
            if self.gated:
                found["W_gate"] = (self.d_ffn, wide)
        if self.norms_added:
            found |= self._norm("attention_after_norm", (wide,))
            found |= self._norm("ffn_after_norm", (wide,))
        return found | {
            name: found[name.replace("b_", "W_", 1)][:1]
            for name in self.biases
            if name.replace("b_", "W_", 1) in found
        }

    def _norm(self, name: str, shape: tuple[int, ...]) -> dict[str, tuple[int, ...]]:
        kinds = ("gain", "bias") if self.norm == "layer" else ("gain",)
        return {f"{name}_{kind}": shape for kind in kinds}


def rates(base: float, n_pairs: float) -> tuple[float, ...]:
    """How far each pair turns per place, base^(−k/pairs) (Su et al. 2021, section 3.2.2). A half
    pair more is a whole one, as some have it who turn an odd number of columns.
    """
    return tuple(base ** (-pair / n_pairs) for pair in range(math.ceil(n_pairs)))


def one_over_root(width: float) -> float:
    """1 / √d, what scores are multiplied by."""
    return 1 / math.sqrt(width)
