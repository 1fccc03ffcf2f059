"""Changes to how scores become context vectors, each by the name that the mistake has."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from ..lights.own_code.naming import by_sum, itself_hidden
from ..lights.own_code.subjects import hide
from .attention import Parts

CAPS = (20.0, 30.0, 50.0)
"""What published models cap scores at."""
FILLS = (0.0, -1.0, -5.0, -10.0)
NONE_HIDDEN: dict[str, Any] = {"hide": lambda scores, _: scores}
FITS = 1e-4
HALVES = (torch.bfloat16, torch.float16)


@dataclass(frozen=True)
class Change:
    """What turns theirs into ours."""

    name: str
    """The mistake's, in `mistakes.toml`."""
    step: str
    """The step that it shows in first."""
    parts: Callable[[Parts], Parts]
    detail: str = ""
    """What it is in this case, in words; "" where the name says all."""


@dataclass(frozen=True)
class Widths:
    """What a scale may have been taken from."""

    n_heads: int
    n_kv_heads: int
    d_head: int
    d_value: int
    n_queries: int
    n_keys: int

    @property
    def first(self) -> int:
        """How many keys stand before the first query."""
        return self.n_keys - self.n_queries


def changes_of_scores(parts: Parts, widths: Widths) -> Iterator[Change]:
    """All that are tried, in the order in which they come to mind."""
    yield from _scales(parts, widths)
    yield from _heads(widths)
    # Without its sink, a row is as if a mask came after softmax: the sink is likelier.
    yield from _caps_and_sinks(parts, widths)
    yield from _masks(parts, widths)
    yield from _slopes(parts, widths)
    yield from _softmaxes(parts)
    yield from _joins()


def _put(name: str, step: str, detail: str = "", **others: Any) -> Change:
    return Change(name, step, lambda parts: replace(parts, **others), detail)


# Scale.


def _scales(parts: Parts, widths: Widths) -> Iterator[Change]:
    root = widths.d_head**-0.5
    known = [
        ("no_scaling", 1.0, "ours divides scores by nothing"),
        ("divided_by_d", 1 / widths.d_head, f"ours divides by {widths.d_head}"),
        ("model_width_root", (widths.n_heads * widths.d_head) ** -0.5,
         f"ours divides by √{widths.n_heads * widths.d_head}"),
    ]  # fmt: skip
    others = {widths.d_head, widths.d_value, 2 * widths.d_head, widths.d_head // 2,
              widths.n_kv_heads * widths.d_head, widths.n_heads}  # fmt: skip
    others -= {0, 1, widths.n_heads * widths.d_head}
    known += [
        ("other_width_root", width**-0.5, f"ours divides by √{width}") for width in sorted(others)
    ]
    known += [("no_scaling", parts.scale * root, "ours divides a second time")]
    known += [("no_scaling", parts.scale / root, "ours divides once less")]
    for name, scale, detail in known:
        if not math.isclose(scale, parts.scale, rel_tol=FITS):
            told = f"{detail}, and theirs multiplies by {parts.scale:.4g}"
            yield _put(name, "scores", told, scale=scale)


# Heads of keys.


def in_turn(heads: Tensor, n_heads: int) -> Tensor:
    """Shared heads that take turns (0, 1, 0, 1)."""
    return heads.repeat(1, n_heads // heads.shape[1], 1, 1)


def _heads(widths: Widths) -> Iterator[Change]:
    if 1 < widths.n_kv_heads < widths.n_heads:
        name = "heads_repeated_in_turn"
        yield _put(name, "scores", keys_repeated=in_turn, values_repeated=in_turn)
        yield _put(name, "scores", "those of keys alone", keys_repeated=in_turn)
        yield _put(name, "context_vectors", "those of values alone", values_repeated=in_turn)
    if widths.n_kv_heads == widths.n_heads and widths.n_queries == widths.n_keys:
        yield _put("query_and_key_swapped", "scores", compare=lambda q, k: k @ q.mT)


# Mask.


def _causal(widths: Widths, first: int) -> Tensor:
    return torch.ones(widths.n_queries, widths.n_keys, dtype=torch.bool).tril(first)


def _later(sees: Tensor, by: int) -> Tensor:
    """A mask whose right edge lies `by` keys farther right."""
    made = sees
    for _ in range(by):
        made = made | torch.nn.functional.pad(made[..., :-1], (1, 0))
    return made


def _sooner(sees: Tensor) -> Tensor:
    """A mask whose left edge lies one key farther left."""
    return sees | torch.nn.functional.pad(sees[..., 1:], (0, 1))


def _without_first(sees: Tensor) -> Tensor:
    """A mask that hides the first key that each query sees."""
    return sees & (sees.cumsum(dim=-1) > 1)


def _masks(parts: Parts, widths: Widths) -> Iterator[Change]:
    sees, is_square = parts.sees, widths.n_queries == widths.n_keys
    some = sees.any(dim=-2, keepdim=True)
    """Keys that any query sees: the others are padding."""
    if sees.all():
        right = _causal(widths, widths.first)
        yield from _hidden_by("hides_later_tokens", right)
        return
    yield _put("mask_ignored", "mask", sees=torch.ones_like(sees))
    yield from _hidden_by("mask_opposite", ~sees)
    if is_square:
        yield from _hidden_by("mask_transposed", sees.mT)
    for sign in (1.0, -1.0):
        for shown in (sees, ~sees):
            number = sign * shown.double()
            yield _put("mask_added", "mask", hide=lambda s, _, by=number: s + by)
    for by in (1, 2, 3):
        if not torch.equal(late := _later(sees, by) & some, sees):
            yield from _hidden_by("mask_late", late, f"it ends {by} too late")
    if is_square and sees.shape[-1] > 1:
        each = torch.eye(widths.n_queries, dtype=torch.bool)
        for first_too in (True, False):
            others = sees & itself_hidden(torch.ones_like(each), first_too)
            yield from _hidden_by("hides_itself", others)
    for first in {0, widths.first}:
        other = _causal(widths, first) & some
        if not torch.equal(other.expand_as(sees), sees) and widths.first:
            yield from _hidden_by("mask_other_corner", other)
    yield from _windows(sees, some, widths)
    yield from _padding(sees, widths)
    for fill in FILLS:
        told = f"hidden scores are {fill:g}"
        yield _put("zero_in_place_of_infinity", "mask", told,
                   hide=lambda s, seen, by=fill: hide(s, seen, by))  # fmt: skip
    after: dict[str, Any] = NONE_HIDDEN | {"after": lambda weights, seen: weights * seen}
    yield _put("mask_after_softmax", "weights", **after)
    again = NONE_HIDDEN | {"after": lambda weights, seen: by_sum(weights * seen)}
    yield _put("mask_after_softmax", "weights", "and rows are made to sum to 1 again", **again)


def _hidden_by(name: str, sees: Tensor, detail: str = "") -> Iterator[Change]:
    """A mask of another rule, with −∞ or a large number, and with rows of nan set to 0."""
    yield _put(name, "mask", detail, sees=sees)
    if not sees.any(dim=-1).all():
        large = {"hide": lambda scores, seen: hide(scores, seen, -1e9)}
        yield _put(name, "mask", detail, sees=sees, **large)
        yield _put(name, "mask", detail, sees=sees, after=lambda weights, _: weights.nan_to_num())


def _windows(sees: Tensor, some: Tensor, widths: Widths) -> Iterator[Change]:
    order = torch.arange(widths.n_keys)
    last = torch.where(sees, order, -1).amax(dim=-1, keepdim=True)
    before = (order <= last) & some
    n_seen = int(sees.sum(dim=-1).max())
    is_window = not torch.equal(before, sees)
    if is_window:
        yield _put("window_off", "mask", "ours has no window", sees=before)
        yield _put("window_off", "mask", f"a query sees {n_seen + 1} keys, and in theirs {n_seen}",
                   sees=_sooner(sees) & some)  # fmt: skip
        both = _later(_sooner(sees), 1) & some
        yield _put("window_off", "mask", "on both sides", sees=both)
        shorter = sees & (last - order < n_seen - 1)
        yield _put("window_off", "mask", f"a query sees {n_seen - 1} keys, and in theirs {n_seen}",
                   sees=shorter)  # fmt: skip
        narrower = _without_first(sees) & _without_first(sees.flip(-1)).flip(-1)
        yield _put("window_off", "mask", "on both sides", sees=narrower)
    elif torch.equal(sees, (_causal(widths, widths.first) & some).expand_as(sees)):
        for window in range(1, min(widths.n_keys, 64)):
            near = sees & (last - order < window)
            yield _put("window_off", "mask", f"ours has a window of {window}", sees=near)


def _padding(sees: Tensor, widths: Widths) -> Iterator[Change]:
    """Keys that no query sees are seen after all: as in the other texts, or as causal masks do."""
    hidden = ~sees.any(dim=-2, keepdim=True)
    if not hidden.any():
        return
    for base in (
        sees.any(dim=0, keepdim=True).expand_as(sees),
        _causal(widths, widths.first).expand_as(sees),
        torch.ones_like(sees),
    ):
        yield _put("padding_seen", "mask", sees=sees | (base & hidden))
    yield _put("padding_seen", "mask", sees=_causal(widths, widths.first).expand_as(sees))


# Cap, sinks, slopes.


def _caps_and_sinks(parts: Parts, widths: Widths) -> Iterator[Change]:
    cap = parts.soft_cap
    if cap is not None:
        yield _put("soft_cap_off", "scores", f"ours has none, theirs {cap:g}", soft_cap=None)
        told = "ours caps scores before it scales them"
        yield _put("soft_cap_off", "scores", told, cap_first=True)
    for other in CAPS:
        if other != cap:
            there = f"{cap:g}" if cap else "none"
            told = f"ours caps at {other:g}, theirs has {there}"
            yield _put("soft_cap_off", "scores", told, soft_cap=other)
    zero = torch.zeros(widths.n_heads, dtype=torch.float64)
    if parts.sinks is not None:
        yield _put("sink_off", "weights", "ours has none", sinks=None)
        yield _put("sink_off", "weights", "ours gives it a logit of 0", sinks=zero)
        yield _put("sink_off", "weights", "ours takes it away", sinks=-parts.sinks)
        in_other_order = parts.sinks.flip(0)
        yield _put("sink_off", "weights", "of the heads in another order", sinks=in_other_order)
    else:
        yield _put("sink_off", "weights", "ours has one with a logit of 0", sinks=zero)


def slopes_in_powers(n_heads: int) -> list[float]:
    """ALiBi's slopes as if any number of heads were a power of two."""
    return [2 ** (-8 * (head + 1) / n_heads) for head in range(n_heads)]


def slopes_as_published(n_heads: int) -> list[float]:
    """Those of the largest power of two, then every second one of twice as many."""
    fits = 2 ** int(math.log2(n_heads))
    return [*slopes_in_powers(fits), *slopes_in_powers(2 * fits)[::2][: n_heads - fits]]


def _slopes(parts: Parts, widths: Widths) -> Iterator[Change]:
    found = slopes_of(parts, widths)
    if found is None:
        return
    fits = 2 ** int(math.log2(widths.n_heads))
    far = _distances(widths)
    tried: list[tuple[str, Sequence[float]]] = [
        ("as if their number were a power of two", slopes_in_powers(widths.n_heads)),
        ("as published", slopes_as_published(widths.n_heads)),
        (f"the first of those for {2 * fits} heads",
         slopes_in_powers(2 * fits)[: widths.n_heads]),
        (f"those for {fits} heads, again from the first",
         (slopes_in_powers(fits) * 2)[: widths.n_heads]),
        ("the wrong way round, so that far keys gain", [-each for each in found]),
        ("of the heads in another order", found[::-1]),
        ("none", [0.0] * widths.n_heads),
    ]  # fmt: skip
    for detail, slopes in tried:
        heads = torch.tensor(slopes, dtype=torch.float64)[:, None, None]
        yield _put("alibi_slopes", "scores", f"ours has slopes {detail}", added=-heads * far)


def _distances(widths: Widths) -> Tensor:
    queries = torch.arange(widths.n_queries, dtype=torch.float64) + widths.first
    return (queries[:, None] - torch.arange(widths.n_keys, dtype=torch.float64)).abs()


def slopes_of(parts: Parts, widths: Widths) -> list[float] | None:
    """The slope of each head where what is added falls by it for each token of distance, but for a
    number that a whole row shares; None where something else is added.
    """
    if parts.added is None or widths.n_keys < 2:
        return None
    shape = (parts.added.shape[0], widths.n_heads, widths.n_queries, widths.n_keys)
    added, sees = parts.added.expand(shape)[0], parts.sees.expand(shape)[0]
    n_seen = sees.sum(dim=-1, keepdim=True).clamp(min=1)
    far = _distances(widths).expand_as(added)

    def centred(numbers: Tensor) -> Tensor:
        kept = numbers.masked_fill(~sees, 0.0)
        return (kept - kept.sum(dim=-1, keepdim=True) / n_seen).masked_fill(~sees, 0.0)

    made, along = centred(added), centred(far)
    slopes = -(made * along).sum(dim=(-2, -1)) / along.square().sum(dim=(-2, -1)).clamp(min=FITS)
    rest = (made + slopes[:, None, None] * along).abs().max()
    size = float(made.abs().max())
    return slopes.tolist() if size and float(rest) <= 1e-2 * size else None


# Softmax and what comes after.


def _softmaxes(parts: Parts) -> Iterator[Change]:
    step = "weights"

    def of(name: str, share: Callable[[Tensor], Tensor], detail: str = "") -> Iterator[Change]:
        yield _put(name, step, detail, share=share)
        yield _put(name, step, detail, share=lambda scores: share(scores).nan_to_num())
        if not parts.sees.all():
            large = {"hide": lambda scores, seen: hide(scores, seen, -1e9)}
            yield _put(name, step, detail, share=share, **large)

    yield from of("softmax_over_queries", lambda s: s.softmax(dim=-2))
    yield from of("heads_normalised", lambda s: s.softmax(dim=1))
    yield from of("softmax_over_everything", lambda s: s.flatten(2).softmax(-1).view_as(s))
    yield from of("softmax_over_batch", lambda s: s.softmax(dim=0))
    yield _put("softmax_twice", step, share=lambda s: s.softmax(-1).softmax(-1))
    zero: dict[str, Any] = {"hide": lambda scores, seen: scores * seen}
    yield _put("no_softmax", step, share=lambda s: s)
    yield _put("no_softmax", step, share=lambda s: s, **zero)
    yield _put("divided_by_the_sum", step, share=by_sum)
    yield _put("divided_by_the_sum", step, share=by_sum, **zero)
    for kind in HALVES:
        name = str(kind).removeprefix("torch.")
        told = f"softmax in {name}"
        yield _put("softmax_in_16_bits", step, f"the scores are rounded to {name}",
                   share=lambda s, kind=kind: s.to(kind).double().softmax(-1))  # fmt: skip
        yield _put("softmax_in_16_bits", step, told,
                   share=lambda s, kind=kind: s.float().to(kind).softmax(-1).double())  # fmt: skip
        yield _put("softmax_in_16_bits", step, f"the weights are rounded to {name}",
                   share=lambda s, kind=kind: s.float().softmax(-1).to(kind).double())  # fmt: skip


def _joins() -> Iterator[Change]:
    name = "heads_without_transpose"

    def by_reshape(context: Tensor) -> Tensor:
        """(text, head, query, d) as it lies, cut into rows, and in heads again."""
        n_texts, n_heads, n_queries, width = context.shape
        joined = context.reshape(n_texts, n_queries, n_heads * width)
        return joined.unflatten(-1, (n_heads, width)).transpose(1, 2)

    def by_columns(context: Tensor) -> Tensor:
        """The columns of all heads in turn."""
        n_heads = context.shape[1]
        joined = context.permute(0, 2, 3, 1).flatten(2)
        return joined.unflatten(-1, (n_heads, -1)).transpose(1, 2)

    def swapped(context: Tensor) -> Tensor:
        """Queries and heads taken for each other once more."""
        n_heads = context.shape[1]
        return context.transpose(1, 2).reshape(len(context), n_heads, *context.shape[2:])

    yield _put(name, "joined", join=by_reshape)
    yield _put("heads_interleaved", "joined", join=by_columns)
    yield _put(name, "joined", "and split so again", join=swapped)


JOINS: dict[str, list[Callable[[Tensor], Tensor]]] = {}
for _each in _joins():
    JOINS.setdefault(_each.name, []).append(
        _each.parts(Parts(1.0, torch.ones(1, 1, 1, 1, dtype=torch.bool))).join
    )
