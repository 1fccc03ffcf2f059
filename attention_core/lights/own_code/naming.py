"""Which mistakes own code makes: attention with each is computed, and has just its numbers."""

from collections.abc import Callable
from functools import partial
from itertools import combinations
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from ..light import Light
from .calling import Stopped
from .reading import NEAR, distances, is_near, may_look
from .subjects import Closed, Code, Open, is_share_of

COARSE = 0.1
"""How far numbers of two or three digits may be off."""
Parts = dict[str, Callable]
"""What is done otherwise, by the parts of `computed`."""


def computed(subject: Open, given: list[Tensor], other: Parts) -> Tensor:
    """Attention of vectors and three matrices (token, d_value), some parts done otherwise."""
    does = RIGHT | other
    sizes = subject.sizes
    vectors, *drawn = (each.double() for each in given)
    joined = [does["project"](does["before"](vectors), each) for each in drawn]
    joined = does["roles"](*joined, vectors)
    split = zip(joined, sizes.heads, strict=True)
    parts = (does["split"](each, n) for each, n in split)
    queries, keys, values = does["heads"](
        *(each.repeat_interleave(sizes.n_heads // len(each), dim=0) for each in parts)
    )
    scores = does["compare"](queries, keys) / does["divisor"](sizes, len(vectors))
    scores = scores + subject.ways.bias(len(vectors))
    seen = subject.seen if subject.seen.shape[0] == len(vectors) else seen_of(scores, subject)
    weights = does["after"](does["share"](does["hide"](scores, seen)), seen)
    return does["end"](does["join"](weights @ values))


def seen_of(scores: Tensor, subject: Open) -> Tensor:
    """Who may see whom among other tokens than those that the subject was asked with."""
    return may_look(len(scores[0]), subject.causal)


def hide(scores: Tensor, seen: Tensor, by: float = -torch.inf) -> Tensor:
    """The scores with another number where a query may not look."""
    return scores.masked_fill(~seen, by)


def by_columns(joined: Tensor, n_heads: int) -> Tensor:
    """Heads (head, token, d_head) as they should be split."""
    return joined.unflatten(-1, (n_heads, -1)).transpose(0, 1)


def normed(numbers: Tensor, correction: int = 0, epsilon: float = 1e-5) -> Tensor:
    """All numbers of a table, as far from their mean as they are spread."""
    kept = numbers[numbers.isfinite()]
    correction = min(correction, len(kept) - 1)
    return (numbers - kept.mean()) / (kept.var(correction=correction) + epsilon).sqrt()


def by_sum(scores: Tensor) -> Tensor:
    """Shares without exponentials."""
    return scores / scores.sum(-1, keepdim=True)


def raised(scores: Tensor) -> Tensor:
    """e to the scores, less the largest of each row."""
    return (scores - scores.amax(-1, keepdim=True)).exp()


def shifted(seen: Tensor, by: int) -> Tensor:
    """A causal mask that ends later (or earlier) than it should."""
    return torch.ones_like(seen).tril(by)


def without_last(scores: Tensor) -> Tensor:
    """Scores without the last key, as where a loop ends one too early."""
    return torch.cat([scores[..., :-1], torch.full_like(scores[..., :1], -torch.inf)], -1)


RIGHT: Parts = {
    "before": lambda x: x,
    "project": lambda x, matrix: x @ matrix,
    "roles": lambda q, k, v, _: (q, k, v),
    "split": by_columns,
    "heads": lambda q, k, v: (q, k, v),
    "compare": lambda q, k: q @ k.mT,
    "divisor": lambda sizes, _: sizes.d_head**0.5,
    "hide": hide,
    "share": lambda scores: scores.softmax(-1),
    "after": lambda weights, _: weights,
    "join": lambda heads: heads.transpose(0, 1).flatten(1),
    "end": lambda output: output,
}
"""Every part of attention, done right."""


def _masked(rule: Callable[[Tensor], Tensor], by: float = -torch.inf) -> Parts:
    return {"hide": lambda scores, seen: hide(scores, rule(seen), by)}


def _causal(rule: Callable[[Tensor], Tensor]) -> list[Parts]:
    """A mask of another rule, with −∞ or a large number, and with rows of nan set to 0."""
    zero = {"after": lambda weights, _: weights.nan_to_num()}
    return [_masked(rule), _masked(rule, -1e9), _masked(rule) | zero]


NOT_HIDDEN: Parts = {"hide": lambda scores, _: scores}
MISTAKES_OF_CODE: dict[str, list[Parts]] = {
    "softmax_over_queries": [
        {"share": lambda s: s.softmax(-2)},
        {"share": lambda s: raised(s) / raised(s).sum(-2, keepdim=True)},
    ],
    "softmax_over_everything": [
        {"share": lambda s: s.flatten(1).softmax(-1).view_as(s)},
        {"share": lambda s: s.flatten().softmax(0).view_as(s)},
        {"share": lambda s: raised(s) / raised(s).sum((-2, -1), keepdim=True)},
    ],
    "softmax_over_batch": [{"share": torch.ones_like}],
    "heads_normalised": [{"share": lambda s: s.softmax(0)}],
    "no_softmax": [
        {"share": lambda s: s},
        {"hide": lambda s, seen: s * seen, "share": lambda s: s},
    ],
    "not_normalised": [{"share": torch.exp}],
    "softmax_twice": [{"share": lambda s: s.softmax(-1).softmax(-1)}],
    "sigmoid_for_softmax": [{"share": torch.sigmoid}],
    "divided_by_the_sum": [
        {"share": by_sum},
        {"share": lambda s: by_sum(s.abs())},
        {"hide": lambda s, seen: s * seen, "share": by_sum},
    ],
    "minus_sign": [{"compare": lambda q, k: -(q @ k.mT)}],
    "mask_after_softmax": [
        NOT_HIDDEN | {"after": lambda weights, seen: weights * seen},
        NOT_HIDDEN | {"after": lambda weights, seen: by_sum(weights * seen)},
    ],
    "mask_ignored": [NOT_HIDDEN, {"hide": lambda s, seen: s + seen}],
    "zero_in_place_of_infinity": [
        _masked(lambda seen: seen, by) for by in (0.0, -1.0, -5.0, -10.0)
    ],
    "mask_transposed": _causal(lambda seen: seen.mT),
    "mask_opposite": _causal(lambda seen: ~seen),
    "diagonal_hidden": _causal(lambda seen: seen & (distances(len(seen)) != 0)),
    "mask_late": [each for by in (1, 2, 3) for each in _causal(partial(shifted, by=by))],
    "hides_later_tokens": _causal(lambda seen: seen.tril()),
    "one_short": [
        {"share": lambda s: without_last(s).softmax(-1)},
        {"end": lambda output: torch.cat([output[:-1], 0 * output[-1:]])},
    ],
    "query_and_key_swapped": [{"compare": lambda q, k: k @ q.mT}],
    "query_unused": [{"roles": lambda _q, k, v, _x: (k, k, v)}],
    "queries_as_keys": [{"roles": lambda q, _k, v, _x: (q, q, v)}],
    "keys_as_values": [{"roles": lambda q, k, _v, _x: (q, k, k)}],
    "queries_as_values": [{"roles": lambda q, k, _v, _x: (q, k, q)}],
    "values_changed": [
        {"roles": lambda q, k, v, x: (q, k, x[:, : v.shape[1]])},
        {"roles": lambda q, k, v, _: (q, k, v + 1)},
    ],
    "no_scaling": [{"divisor": lambda *_: 1.0}],
    "divided_by_d": [{"divisor": lambda sizes, _: sizes.d_head}],
    "multiplied_by_root": [{"divisor": lambda sizes, _: sizes.d_head**-0.5}],
    "divided_by_another_width": [
        {"divisor": lambda sizes, n, of=of: of(sizes, n) ** 0.5}
        for of in (
            lambda sizes, _: sizes.n_heads * sizes.d_head,
            lambda _, n: n,
            lambda sizes, _: sizes.d_in,
            lambda sizes, _: sizes.d_value,
            lambda sizes, _: sizes.n_heads,
            lambda sizes, _: sizes.d_head**0.5,
        )
    ],
    "heads_without_transpose": [
        {"split": lambda joined, n: joined.reshape(n, len(joined), -1)},
        {"join": lambda heads: heads.reshape(heads.shape[1], -1)},
        {
            "split": lambda joined, n: joined.reshape(n, len(joined), -1),
            "join": lambda heads: heads.reshape(heads.shape[1], -1),
        },
    ],
    "heads_interleaved": [
        {"split": lambda joined, n: joined.unflatten(-1, (-1, n)).permute(2, 0, 1)},
        {"join": lambda heads: heads.permute(1, 2, 0).flatten(1)},
    ],
    "one_head_repeated": [
        {
            "heads": lambda *parts, which=which: tuple(
                e[:1].expand_as(e) if at in which else e for at, e in enumerate(parts)
            )
        }
        for which in ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2))
    ],
    "matrices_turned": [{"project": lambda x, matrix: x @ matrix.mT}],
    "matrices_on_tokens": [
        {"project": lambda x, matrix: matrix @ x},
        {"project": lambda x, matrix: matrix.mT @ x},
    ],
    "whole_matrix_norm": [
        {part: lambda x, by=by: by(x)}
        for part in ("before", "end")
        for by in (
            normed,
            lambda x: normed(x, 1, 0.0),
            lambda x: x / x.norm(),
            lambda x: (x - x.mean(0)) / (x.var(0, correction=0) + 1e-5).sqrt(),
        )
    ]
    + [{"share": lambda s, c=c: normed(s, c, 0.0).softmax(-1)} for c in (0, 1)]
    + [{"compare": lambda q, k, c=c: normed(q @ k.mT, c, 0.0)} for c in (0, 1)],
    "relu_last": [{"end": F.relu}],
}
"""Each mistake by its name: the parts that are done otherwise, in the ways that it is made."""


OF_CAUSAL_MASKS = (
    *("mask_after_softmax", "mask_ignored", "zero_in_place_of_infinity"),
    *("mask_transposed", "mask_opposite", "mask_late"),
)
"""Mistakes that there are only where later tokens should be hidden."""
NOT_SHARED = {"divided_by_the_sum", "no_softmax"}
"""Of these, hidden scores of −1e9 leave nothing but the mask."""


def named(subject: Code, lights: list[Light]) -> tuple[str, ...]:
    """The mistakes that a subject with a red light makes; none where none is known to fit."""
    red = [light.name for light in lights if light.holds is False]
    if not red:
        return ()
    if subject.call.overwrites:
        return ("inputs_overwritten",)
    if red[0] == "repeatable" or not subject.is_repeatable:
        return _of_second_call(subject)
    if red[0] in subject.stops:
        return subject.stops[red[0]]
    asked = subject.inside or subject
    found = _by_comparing(asked) if isinstance(asked, Open) else ()
    return found or _by_light(subject, red)


def _by_comparing(subject: Open) -> tuple[str, ...]:
    """The mistake, or the two, with which attention gives what the code gives."""
    try:
        given, output = subject.of_random()
        if not subject.opened and is_near(output, subject.of_random(times=-2.0)[1]):
            return ("matrices_ignored",)
    except Stopped:
        return ()
    single: list[tuple[str, Any]] = [
        ("", _masked(lambda seen: seen, -1e9))
    ]  # no mistake, where rows are shared out
    for name, ways in MISTAKES_OF_CODE.items():
        if subject.causal or name not in OF_CAUSAL_MASKS:
            single += [(name, way) for way in ways]
    if largest_of_same(output, _tried(subject, given, {})) <= NEAR:
        return ()
    for names, ways in (
        *(((name,), way) for name, way in single),
        *(
            (tuple(dict.fromkeys((one, other))), first | second)
            for (one, first), (other, second) in combinations(single, 2)
            if not first.keys() & second.keys()
            and not ({one, other} & NOT_SHARED and "hide" in second)
        ),
    ):
        if largest_of_same(output, _tried(subject, given, ways)) <= NEAR:
            return tuple(filter(None, names))
    far = largest_of_same(output, _tried(subject, given, {}))
    return ("few_digits",) if far < COARSE and has_few_digits(output) else ()


def _tried(subject: Open, given: list[Tensor], ways: Parts) -> Tensor:
    """What attention with a mistake gives; nothing where it cannot be made at these sizes."""
    try:
        return computed(subject, given, ways)
    except (RuntimeError, IndexError):
        return torch.zeros(0)


def largest_of_same(one: Tensor, other: Tensor) -> float:
    """The largest difference of two tables with nan in the same places; infinite for others."""
    if one.shape != other.shape or one.isnan().all() or not one.isnan().equal(other.isnan()):
        return torch.inf
    one, other = one.nan_to_num(), other.nan_to_num()
    return float((one - other).abs().max()) / max(1.0, float(one.abs().max()))


def has_few_digits(numbers: Tensor) -> bool:
    """Whether they are rounded as bfloat16 or float16 rounds them."""
    kinds = (torch.bfloat16, torch.float16)
    return any(torch.equal(numbers.to(kind).double(), numbers) for kind in kinds)


def _of_second_call(subject: Any) -> tuple[str, ...]:
    """Why a second call gives something else: numbers are drawn, or something is remembered."""
    made = []
    for _ in range(2):
        torch.manual_seed(0)
        made.append(subject.of(subject.draw()).nan_to_num())
    if not torch.equal(*made):
        return ("remembers",)
    if isinstance(subject, Closed):
        return ("random_numbers",)
    alone = [subject.alone() for _ in range(5)]
    if not all(is_share_of(e[: len(v)], v, subject.sizes.n_heads) for e, v in alone):
        return ("weights_redrawn",)
    # Dropout leaves a token alone a multiple of its value, or nothing.
    return ("random_numbers" if all(is_near(*e) for e in alone) else "dropout_left_on",)


def _by_light(subject: Code, red: list[str]) -> tuple[str, ...]:
    """What a first red light means that can mean one thing only."""
    if red == ["finite"] and subject.output.isfinite().all():
        *_, (large, *_) = subject.large()
        # Renormalised, a row whose largest weight was hidden is 0/0, and the last hides none.
        hides_late = subject.causal and large[-1].isfinite().all()
        return ("mask_after_softmax",) if hides_late else ("softmax_overflow",)
    if "order_free" in red:
        alike = subject.of(subject.draw()[:1].expand(subject.n_tokens, -1))
        if not is_near(alike, alike[:1].expand_as(alike)):
            return ("positions_inside",)
        if (
            red[0] == "order_free"
            and not subject.of_other_token(subject.places[-1]).rows[:-1].any()
        ):
            return ("hides_later_tokens",)
    means = {"any_length": ("one_length",), "both_signs": ("relu_last",)}
    return means.get(red[0], ())
