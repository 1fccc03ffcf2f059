"""Attention as models of today have it, beside the attention of 2017, on the same vectors."""

from dataclasses import dataclass
from typing import Any

from ..asked import answers
from ..operations import JoinHeads, MeanHeads
from ..recipes import PLURAL
from ..trace import Step, Trace
from .attention import scale_of
from .builder import attend_steps, rotated, times
from .options import Options

PREFIX = "today_"
"""What the names of today's steps begin with, if nothing else is said."""
ROTARY_BASE = 10_000.0


@dataclass(frozen=True)
class Today:
    """What is done otherwise than in 2017, all causal. Raises ValueError for what cannot be."""

    n_kv_heads: int
    """How many heads keys and values have: each serves several heads of queries."""
    rotary_base: float | None = None
    """The base of rotary positions; None for none. A head of odd width has none: see `turns`."""
    alibi: bool = False
    window: int | None = None
    """How many keys a query sees, its own included; None for all."""
    sinks: int = 0
    """How many of the first keys stay visible outside of the window."""
    soft_cap: float | None = None
    scale: str = "sqrt_d"

    def __post_init__(self) -> None:
        if self.n_kv_heads < 1:
            raise ValueError(f"{self.n_kv_heads} heads of keys and values: choose 1 or more")
        if self.window is not None and self.window < 1:
            raise ValueError(f"a window of {self.window} hides every key: choose 1 or more")
        self.options  # noqa: B018

    @property
    def options(self) -> Options:
        """What `attend_steps` needs to know."""
        left = None if self.window is None else self.window - 1
        return Options(
            scale=self.scale,
            causal=True,
            window=(left, None),
            sinks=self.sinks,
            alibi=self.alibi,
            soft_cap=self.soft_cap,
        )

    def times(self, n_heads: int) -> int:
        """How many query heads share one head of keys. Raises ValueError where they cannot."""
        if n_heads % self.n_kv_heads:
            raise ValueError(
                f"{n_heads} query heads cannot be shared evenly among {self.n_kv_heads} key heads"
            )
        return n_heads // self.n_kv_heads

    def turns(self, d_head: int) -> bool:
        """Whether heads of this width are turned: rotary positions need pairs of columns."""
        return self.rotary_base is not None and d_head % 2 == 0


@answers
def attend_today(
    trace: Trace, today: Today, prefix: str = PREFIX, joined: bool = True, place: int = 0
) -> Trace:
    """Add attention of today to a trace of `attend_heads`, whose matrices it shares.

    With fewer heads of keys and values, the matrix of each is the mean of those of its group.
    Steps, each with `prefix` before its name: `W_key` (kv_head, d_in, d_head), `keys`
    (kv_head, key, d_head) and those of values, where they are shared; `query_angles` (query,
    d_pairs), `turned_queries` (head, query, d_head) and those of keys with rotary positions; the
    steps of `attend_steps`, from the plain scores where queries and keys are plain; and, if
    `joined`, `concat` (query, d_concat) and `output` (query, d_model). The first token stands at
    `place`. Returns the same trace. Raises ValueError for heads that cannot be shared evenly.

    Source of the means: Ainslie et al. 2023, GQA, section 2.1.
    """
    n_shared = today.times(trace.size("head"))
    made = {"query": trace["head_queries"]}
    for role in ("key", "value"):
        made[role] = _shared(trace, role, n_shared, prefix)
    scored = None
    turns = today.turns(made["query"].value.shape[-1])
    if n_shared == 1 and not turns and today.scale == scale_of(trace, "head_"):
        scored = trace.get("head_scaled_scores") or trace["head_scores"]
    turn(trace, made, today, prefix, place)
    named: dict[str, Any] = {"prefix": prefix, "mask_prefix": prefix}
    context = attend_steps(trace, *made.values(), options=today.options, scored=scored, **named)
    if not joined:
        return trace
    axes = ("query", "d_concat")
    concat = trace.step(f"{prefix}concat", JoinHeads(), context, axes=axes)
    times(trace, f"{prefix}output", concat, trace["W_output"])
    return trace


def key_matrix(trace: Trace, role: str) -> Step:
    """The matrix that makes today's keys or values, of each head that they have."""
    return trace.get(f"{PREFIX}W_{role}") or trace[f"head_W_{role}"]


def turn(trace: Trace, made: dict[str, Step], today: Today, prefix: str, place: int = 0) -> None:
    """Turn queries and keys (…, row, d_head) by their places, where they are turned today."""
    width = made["query"].value.shape[-1]
    if not today.turns(width):
        return
    if not trace.has_axis("d_pairs"):  # one angle turns two columns of a vector
        half = width // 2
        trace.label("d_pairs", [f"d{column},d{half + column}" for column in range(half)])
    for role in ("query", "key"):
        made[role] = rotated(trace, role, made[role], today.rotary_base, place, prefix=prefix)


def _shared(trace: Trace, role: str, n_shared: int, prefix: str) -> Step:
    """Keys or values, made with the means of groups of heads where several share them."""
    plain = trace[f"head_{PLURAL[role]}"]
    if n_shared == 1:
        return plain
    matrix = trace[f"head_W_{role}"]
    axes = ("kv_head", *matrix.axes[1:])
    mean = trace.step(f"{prefix}W_{role}", MeanHeads(n_shared), matrix, axes=axes)
    lead = ("kv_head", plain.axes[1])
    return times(trace, f"{prefix}{PLURAL[role]}", trace["embeddings"], mean, lead=lead)
