"""Which mistake own code makes: attention with each is computed, and has just its numbers.

Only what the evidence of the lights does not say as well is named.
"""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from ..light import Light
from .calling import Stopped
from .reading import NEAR
from .subjects import Code, Open, Parts, computed, hide

COARSE = 0.1
"""How far numbers of two or three digits may be off."""


def by_sum(scores: Tensor) -> Tensor:
    """Shares without exponentials."""
    return scores / scores.sum(-1, keepdim=True)


def raised(scores: Tensor) -> Tensor:
    """e to the scores, less the largest of each row."""
    return (scores - scores.amax(-1, keepdim=True)).exp()


def shifted(seen: Tensor, by: int) -> Tensor:
    """A causal mask that ends later (or earlier) than it should."""
    return torch.ones_like(seen).tril(by)


def _masked(rule: Callable[[Tensor], Tensor], by: float = -torch.inf) -> Parts:
    return {"hide": lambda scores, seen: hide(scores, rule(seen), by)}


def _causal(rule: Callable[[Tensor], Tensor]) -> list[Parts]:
    """A mask of another rule, with −∞ or a large number, and with rows of nan set to 0."""
    zero = {"after": lambda weights, _: weights.nan_to_num()}
    return [_masked(rule), _masked(rule, -1e9), _masked(rule) | zero]


NOT_HIDDEN: Parts = {"hide": lambda scores, _: scores}
CUT_WRONG: Parts = {"split": lambda joined, n: joined.reshape(n, len(joined), -1)}
JOINED_WRONG: Parts = {"join": lambda heads: heads.reshape(heads.shape[1], -1)}
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
    "heads_normalised": [
        {"share": lambda s: s.softmax(0)},
        _masked(lambda seen: seen, -1e9) | {"share": lambda s: s.softmax(0)},
    ],
    "no_softmax": [
        {"share": lambda s: s},
        {"hide": lambda s, seen: s * seen, "share": lambda s: s},
    ],
    "softmax_twice": [{"share": lambda s: s.softmax(-1).softmax(-1)}],
    "divided_by_the_sum": [
        {"share": by_sum},
        {"share": lambda s: by_sum(s.abs())},
        {"hide": lambda s, seen: s * seen, "share": by_sum},
    ],
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
    "mask_late": [each for by in (1, 2, 3) for each in _causal(partial(shifted, by=by))],
    "hides_later_tokens": _causal(lambda seen: seen.tril()),
    "query_and_key_swapped": [{"compare": lambda q, k: k @ q.mT}],
    "queries_as_keys": [{"roles": lambda q, _k, v: (q, q, v)}],
    "keys_as_values": [{"roles": lambda q, k, _v: (q, k, k)}],
    "queries_as_values": [{"roles": lambda q, k, _v: (q, k, q)}],
    "heads_without_transpose": [CUT_WRONG, JOINED_WRONG, CUT_WRONG | JOINED_WRONG],
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
}
"""Each mistake by its name: the parts that are done otherwise, in the ways that it is made."""


OF_CAUSAL_MASKS = (
    *("mask_after_softmax", "mask_ignored", "zero_in_place_of_infinity"),
    *("mask_transposed", "mask_opposite", "mask_late"),
)
"""Mistakes that there are only where later tokens should be hidden."""
OF_LIGHTS = {"repeatable": "random_numbers", "any_length": "one_length"}
"""What a light that is the first red one means, whatever the numbers are."""


def named(subject: Code, lights: list[Light]) -> tuple[str, ...]:
    """The mistake that a subject with a red light makes; none where the evidence is all."""
    red = next((light.name for light in lights if light.holds is False), "")
    asked = subject.inside or subject
    if not red or subject.call.overwrites:
        return ()
    if subject.is_repeatable and isinstance(asked, Open) and (found := by_comparing(asked)):
        return (found,)
    if red == "finite":
        if not subject.output.isfinite().all():
            return ()
        # Renormalised, a row whose largest weight was hidden is 0/0, and the last hides none.
        hides_late = subject.causal and _last_is_finite(subject)
        return ("mask_after_softmax",) if hides_late else ("softmax_overflow",)
    return (OF_LIGHTS[red],) if red in OF_LIGHTS else ()


def by_comparing(subject: Open) -> str:
    """The mistake with which attention gives what the code gives; "" for none."""
    try:
        given, output = subject.of_random()
    except Stopped:
        return ""
    far = largest_of_same(output, _tried(subject, given, {}))
    if far <= NEAR:
        return ""
    for name, ways in MISTAKES_OF_CODE.items():
        if name in OF_CAUSAL_MASKS and not subject.causal:
            continue
        if any(largest_of_same(output, _tried(subject, given, way)) <= NEAR for way in ways):
            return name
    halves = (output.to(kind).double() for kind in (torch.bfloat16, torch.float16))
    is_rounded = far < COARSE and any(torch.equal(each, output) for each in halves)
    return "few_digits" if is_rounded else ""


def _last_is_finite(subject: Code) -> bool:
    """Whether large scores leave the last token's output finite."""
    try:
        *_, (large, *_) = subject.large()
    except Stopped:
        return False
    return bool(large[-1].isfinite().all())


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
