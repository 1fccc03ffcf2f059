"""Which mistake own code makes: attention with each is computed, and has just its numbers.

Only what the evidence of the lights does not say as well is named.
"""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from ..light import Light
from ..measures import Measured
from .calling import Stopped
from .reading import NEAR, rotated
from .subjects import RIGHT, Code, Open, Parts, computed, hide

COARSE = 0.1
"""How far numbers of two or three digits may be off."""


def by_sum(scores: Tensor) -> Tensor:
    """Shares without exponentials."""
    return scores / scores.sum(-1, keepdim=True)


def raised(scores: Tensor) -> Tensor:
    """e to the scores, less the largest of each row."""
    return (scores - scores.amax(-1, keepdim=True)).exp()


def itself_hidden(seen: Tensor, first_too: bool) -> Tensor:
    """A mask that hides each token from itself; the first one too, or that one not."""
    others = ~torch.eye(len(seen), dtype=torch.bool)
    others[0, 0] = not first_too
    return seen & others


def shifted(seen: Tensor, by: int) -> Tensor:
    """A causal mask that ends later (or earlier) than it should."""
    return torch.ones_like(seen).tril(by)


def _masked(rule: Callable[[Tensor], Tensor], by: float = -torch.inf) -> Parts:
    return {"hide": lambda scores, seen: hide(scores, rule(seen), by)}


def _causal(rule: Callable[[Tensor], Tensor]) -> list[Parts]:
    """A mask of another rule, with −∞ or a large number, and with rows of nan set to 0."""
    zero = {"after": lambda weights, _: weights.nan_to_num()}
    return [_masked(rule), _masked(rule, -1e9), _masked(rule) | zero]


def _in_turn(roles: tuple[int, ...]) -> Parts:
    """Shared heads that take turns (0, 1, 0, 1), where neighbours share one (0, 0, 1, 1)."""

    def spread(parts: list[Tensor], n_heads: int) -> list[Tensor]:
        right = RIGHT["spread"](parts, n_heads)
        pairs = enumerate(zip(parts, right, strict=True))
        return [e.repeat(n_heads // len(e), 1, 1) if at in roles else r for at, (e, r) in pairs]

    return {"spread": spread}


def _turning(of_queries: tuple[bool, bool], of_keys: tuple[bool, bool]) -> list[Parts]:
    """Rotary positions of each usual base: whether numbers, and angles, are in pairs."""

    def turn(queries: Tensor, keys: Tensor, base: float) -> tuple[Tensor, Tensor]:
        return rotated(queries, base, *of_queries), rotated(keys, base, *of_keys)

    return [{"turn": partial(turn, base=base)} for base in BASES]


BASES = (1e4, 5e5, 1e6, 1e5, 100.0)
"""What rotary positions are a power of: the usual ones."""
PAIRS, HALVES = (True, True), (False, False)
ROTARY = [*_turning(HALVES, HALVES), *_turning(PAIRS, PAIRS)]
"""The ways in which queries and keys are turned by their positions, done right."""
LOWEST = (-torch.inf, -1e9, -1e20, -1e4)
"""What hidden numbers are filled with."""
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
    "infinity_after_softmax": [NOT_HIDDEN | {"after": partial(hide, by=by)} for by in LOWEST],
    "mask_ignored": [NOT_HIDDEN],
    "mask_added": [{"hide": lambda s, seen: s + seen}, {"hide": lambda s, seen: s - 1.0 * seen}],
    "zero_in_place_of_infinity": [
        _masked(lambda seen: seen, by) for by in (0.0, -1.0, -5.0, -10.0)
    ],
    "mask_transposed": _causal(lambda seen: seen.mT),
    "mask_opposite": _causal(lambda seen: ~seen),
    "mask_late": [each for by in (1, 2, 3) for each in _causal(partial(shifted, by=by))],
    "hides_itself": [
        each for first in (True, False) for each in _causal(partial(itself_hidden, first_too=first))
    ],
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
    "heads_repeated_in_turn": [_in_turn(roles) for roles in ((1, 2), (1,), (2,))],
    "model_width_root": [
        {"divide": lambda s, sizes: s / (sizes.n_heads * sizes.d_head) ** 0.5},
        {"divide": lambda s, sizes: s / (sizes.n_alike * sizes.d_in) ** 0.5},
        {"divide": lambda s, sizes: s / (sizes.heads[1] * sizes.d_head) ** 0.5},
    ],
    "rotary_mixed": [
        *(_turning((False, True), (False, True)) + _turning((True, False), (True, False))),
        *(_turning(HALVES, PAIRS) + _turning(PAIRS, HALVES)),
    ],
    "matrices_turned": [{"project": lambda x, matrix: x @ matrix.mT}],
}
"""Each mistake by its name: the parts that are done otherwise, in the ways that it is made."""


OF_CAUSAL_MASKS = (
    *("mask_after_softmax", "mask_ignored", "zero_in_place_of_infinity"),
    *("mask_transposed", "mask_opposite", "mask_late", "mask_added", "infinity_after_softmax"),
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
    rotary = ROTARY if subject.ways.turns and subject.sizes.d_head % 2 == 0 else []
    far_from_right = largest_of_same(output, _tried(subject, given, {}))
    if far_from_right <= NEAR or is_rotary(subject, given, output):
        return ""
    for turned in ({}, *rotary):
        for name, ways in MISTAKES_OF_CODE.items():
            if name in OF_CAUSAL_MASKS and not subject.causal:
                continue
            for way in ways:
                far = largest_of_same(output, _tried(subject, given, turned | way))
                if far <= NEAR and (
                    name != "model_width_root" or _at_each_width(subject, turned | way)
                ):
                    return name
    halves = (output.to(kind).double() for kind in (torch.bfloat16, torch.float16))
    is_rounded = far_from_right < COARSE and any(torch.equal(each, output) for each in halves)
    return "few_digits" if is_rounded else ""


def _at_each_width(subject: Open, way: Parts) -> bool:
    """Whether a mistake is the same with wider vectors: a number may be a width by chance."""
    for other in subject.of_two_widths():
        given, output = other.of_random()
        if not largest_of_same(output, _tried(other, given, way)) <= NEAR:
            return False
    return True


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


def is_rotary(subject: Open, given: list[Tensor], output: Tensor) -> bool:
    """Whether attention with rotary positions, done right, gives the output."""
    ways = ROTARY if subject.ways.turns and subject.sizes.d_head % 2 == 0 else []
    return any(largest_of_same(output, _tried(subject, given, way)) <= NEAR for way in ways)


def formula_when_turned(subject: Open) -> Measured:
    """The light `formula` where positions turn queries and keys: they may do so in two ways."""
    try:
        given, output = subject.of_random()
    except Stopped as stopped:
        return False, str(stopped)
    if is_rotary(subject, given, output):
        return True, "With matrices drawn at random, it is attention with rotary positions."
    if by_comparing(subject):
        return False, "With matrices drawn at random, it is attention with a mistake (below)."
    return None, "Which positions turn its vectors is not told."


def largest_of_same(one: Tensor, other: Tensor) -> float:
    """The largest difference of two tables (token, width), as a share of its row's largest number
    above 1; infinite where nan or ∞ stand in other rows, and where they stand in all.
    """
    if one.shape != other.shape:
        return torch.inf
    # By rows: a matrix that comes last makes nan of all that stands beside an infinity.
    kept = one.isfinite().all(-1)
    if not kept.any() or not torch.equal(kept, other.isfinite().all(-1)):
        return torch.inf
    sizes = one[kept].abs().amax(-1, keepdim=True).clamp(min=1.0)
    return float(((one - other)[kept].abs() / sizes).max())
