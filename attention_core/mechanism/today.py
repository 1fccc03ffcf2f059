"""Attention as models of today have it, beside the attention of 2017, on the same vectors."""

from dataclasses import dataclass, replace
from typing import Any

from ..operations import Draw, JoinHeads, MeanHeads, Rotate, Softmax
from ..recipes import PLURAL, check_least, shared_by
from ..trace import Step, Trace
from ..utils.validation import validated
from .attention import scale_of
from .builder import attend_steps, gated, head_norm, rotated, times
from .options import Options
from .trainable import last_draw

PREFIX = "today_"
"""What the names of today's steps begin with, if nothing else is said."""
ROTARY_BASE = 10_000.0
EPSILON = 1e-6
"""What is added under the root of a norm of queries and keys."""


@validated
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
    rotary_share: float = 1.0
    """Which share of a head's columns is turned, the first ones: in pairs, one at least."""
    qk_norm: bool = False
    """Whether each head's queries and keys have a norm of their own, before they are turned."""
    sink_logit: float | None = None
    """A score that no key stands for, in every row of every head; None for none."""
    gated: bool = False
    """Whether context vectors are multiplied by gates that the token makes of its own vector."""

    def __post_init__(self) -> None:
        check_least(self, 1, "n_kv_heads")
        if self.window is not None and self.window < 1:
            raise ValueError(f"a window of {self.window} hides every key: choose 1 or more")
        if not 0 < self.rotary_share <= 1:
            raise ValueError(
                f"a share of {self.rotary_share:g} of a head's columns: choose one above 0, up to 1"
            )
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
            sink_logits=self.sink_logit,
        )

    def options_in(self, trace: Trace) -> Options:
        """With a trace's temperature and dropout. Raises ValueError without a softmax over keys."""
        made = trace["head_weights"].operation
        if not isinstance(made, Softmax) or made.dim != -1:
            raise ValueError(
                "the attention of today has a softmax over keys: so must the heads beside it"
            )
        options, tempered = self.options, trace.get("head_tempered_scores")
        if tempered:
            options = replace(options, temperature=1 / tempered.operation.factor)
        if dropped := trace.get("head_dropped_weights"):
            seed = trace["head_kept"].operation.seed
            chosen = {"dropout": dropped.operation.probability, "dropout_seed": seed}
            options = replace(options, **chosen)
        return options

    def turns(self, d_head: int) -> bool:
        """Whether heads of this width are turned: rotary positions need pairs of columns."""
        return self.rotary_base is not None and d_head % 2 == 0


@validated
def attend_today(
    trace: Trace, today: Today, prefix: str = PREFIX, joined: bool = True, place: int = 0
) -> Trace:
    """Add attention of today to a trace of `attend_heads`, whose matrices it shares.

    With fewer heads of keys and values, the matrix of each is the mean of those of its group.
    Steps, each with `prefix` before its name: `W_key` (kv_head, d_in, d_head), `keys` (kv_head,
    key, d_head) and those of values, where they are shared; `normed_queries` (head, query, d_head)
    and those of keys with norms of their own; `query_angles` (query, d_pairs), `turned_queries`
    (head, query, d_head) and those of keys with rotary positions; the steps of `attend_steps`, from
    the plain scores where queries and keys are plain; `W_gate` (head, d_in, d_value), drawn behind
    all that was drawn before, `gate_scores`, `gates` and `gated_vectors` (head, query, d_value)
    with gates; and, if `joined`, `concat` (query, d_concat) and `output` (query, d_model). The
    first token stands at `place`. Temperature and dropout are those of the plain heads. Raises
    ValueError for heads that cannot be shared evenly, and for those without a softmax over keys.

    Source of the means: Ainslie et al. 2023, GQA, section 2.1.
    """
    n_shared = shared_by(trace.size("head"), today.n_kv_heads)
    made = {"query": trace["head_queries"]}
    for role in ("key", "value"):
        made[role] = _shared(trace, role, n_shared, prefix)
    scored = None
    changed = today.qk_norm or today.turns(made["query"].value.shape[-1])
    if n_shared == 1 and not changed and today.scale == scale_of(trace, "head_"):
        scored = trace.get("head_scaled_scores") or trace["head_scores"]
    norm_and_turn(trace, made, today, prefix, place)
    named: dict[str, Any] = {"prefix": prefix, "mask_prefix": prefix}
    context = attend_steps(trace, *made.values(), options=today.options_in(trace), scored=scored,
                           **named)  # fmt: skip
    if today.gated:
        context = gated(trace, trace["embeddings"], context, _gate(trace, prefix), prefix=prefix)
    if not joined:
        return trace
    concat = trace.step(f"{prefix}concat", JoinHeads(), context, axes=("query", "d_concat"))
    times(trace, f"{prefix}output", concat, trace["W_output"])
    return trace


def norm_and_turn(
    trace: Trace, made: dict[str, Step], today: Today, prefix: str, place: int = 0
) -> None:
    """Give queries and keys norms of their own, and turn them by their places, as today has it."""
    for role in ("query", "key") if today.qk_norm else ():
        made[role] = head_norm(trace, role, made[role], EPSILON, prefix=prefix)
    width = made["query"].value.shape[-1]
    base = today.rotary_base
    if base is None or not today.turns(width):
        return
    half = max(1, int(width * today.rotary_share) // 2)  # of the columns that are turned
    if not trace.has_axis("d_pairs"):  # one angle turns two columns of a vector
        trace.label("d_pairs", [f"d{column},d{half + column}" for column in range(half)])
    named: dict[str, Any] = {"prefix": prefix, "how": Rotate(rest=width - 2 * half)}
    for role in ("query", "key"):
        made[role] = rotated(trace, role, made[role], base, place, **named)


def _gate(trace: Trace, prefix: str) -> Step:
    values = trace["head_W_value"]
    drawn = Draw.behind(last_draw(trace), "linear", tuple(values.value.shape), len(values.value[0]))
    return trace.step(f"{prefix}W_gate", drawn, axes=values.axes)


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
