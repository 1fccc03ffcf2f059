"""One layer's attention on both sides: its first step that differs, and which change it is."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from ..utils.toml_file import read_toml
from .attention import Attention, Made, Parts, allowed_of, by_its_parts
from .changes_of_scores import Change, Widths, changes_of_scores
from .changes_of_vectors import Vectors, changes_of_vectors, constant_factor, reached
from .precision import GROWTH, Apart, apart, as_numbers, eps_of, slack_of

ORDER = ("queries", "keys", "values", "scores", "mask", "weights", "context_vectors", "joined")
"""The steps of a layer, in the order in which they are made."""
MOST_IN_PAIRS = 20_000
"""So many weights at most, and more pairs of changes are tried."""
BEST, FEWER = 16, 4
"""So many changes are tried together with each other one: those that leave least by themselves."""
MOST = 0.8
"""The share of a difference that changes must explain, if they do not explain all, to be named."""
WORDS = {
    name: entry.get("change") or entry["likely"]
    for name, entry in read_toml("attention_core.mistakes", "mistakes.toml").items()
    if "change" in entry or "likely" in entry
}
"""What each change is, by its name."""


@dataclass(frozen=True)
class NamedChange:
    """A change that turns theirs into ours."""

    name: str
    """The mistake's, in `attention_core/mistakes/mistakes.toml`."""
    step: str
    """The step that it shows in first."""
    detail: str
    """What it is in this case; "" where the name says all."""
    is_in_theirs: bool = False
    """Whether theirs has the mistake: the change turns ours into theirs."""

    @property
    def words(self) -> str:
        """In a sentence or two."""
        told = f"{WORDS[self.name]} ({self.detail})" if self.detail else WORDS[self.name]
        return f"In theirs: {_the_other_way_round(told)}" if self.is_in_theirs else told

    def __str__(self) -> str:
        return f"{self.words} [{self.name}]"


def _the_other_way_round(words: str) -> str:
    other = {"ours": "theirs", "theirs": "ours"}
    return re.sub(r"\b(ours|theirs)\b", lambda found: other[found[0]], words)


@dataclass(frozen=True)
class Difference:
    """A step that differs by more than its precision explains."""

    place: str
    """The layer's or module's name."""
    step: str
    """A step of attention, such as "queries", or "output" for what a module gives."""
    ours: Tensor | None
    theirs: Tensor | None
    """None where there is nothing to set side by side."""
    apart: Apart | None
    allowed: float
    """The share of a row that precision explains."""
    eps: float = 0.0
    words: str = ""
    """What there is to say where numbers cannot be compared, such as two shapes."""


@dataclass
class OfLayer:
    """What was found in one layer."""

    differs: list[Difference] = field(default_factory=list)
    changes: list[NamedChange] = field(default_factory=list)
    explained: float = 1.0
    """The share of the difference that the changes explain, the least of all."""
    notices: list[str] = field(default_factory=list)
    noise: float = 0.0
    """How far steps that count as equal lie apart."""


def of_layer(ours: Attention, theirs: Attention, noise: float) -> OfLayer:
    """How one layer's attention differs; `noise` is how far what came before lies apart."""
    found = OfLayer(noise=noise)
    if not _vectors(ours, theirs, found):
        return found
    parts = theirs.parts
    if ours.result is None or theirs.result is None:
        return found
    if parts is None or not by_its_parts(theirs) or not ours.is_whole:
        if not found.differs and by_its_parts(ours) and theirs.is_whole:
            _in_theirs(ours, theirs, found)
        if not found.differs:
            _by_result(ours, theirs, found)
        return found
    _scores(ours, theirs, _compensated(ours, theirs, parts), found)
    return found


def _in_theirs(ours: Attention, theirs: Attention, found: OfLayer) -> None:
    """Where ours is what its parts make, and theirs is not: the mistake is in theirs."""
    assert ours.parts is not None
    back = OfLayer(noise=found.noise)
    _scores(theirs, replace(ours, name=theirs.name), _compensated(theirs, ours, ours.parts), back,
            is_back=True)  # fmt: skip
    if not back.differs or not back.changes:
        return
    found.changes = [replace(each, is_in_theirs=True) for each in back.changes]
    found.explained = back.explained
    found.differs = [replace(each, ours=each.theirs, theirs=each.ours) for each in back.differs]


def _vectors(ours: Attention, theirs: Attention, found: OfLayer) -> bool:
    """Queries, keys and values; whether they have shapes that can go on."""
    unseeing = theirs.unseeing
    for name in ("queries", "keys", "values"):
        mine, yours = getattr(ours, name), getattr(theirs, name)
        if mine is None or yours is None:
            continue
        n_heads = max(mine.shape[1], yours.shape[1])
        one, other = (_spread(as_numbers(each), n_heads) for each in (mine, yours))
        if one.shape != other.shape:
            words = f"ours are {_shape(mine)}, and theirs {_shape(yours)}"
            found.differs.append(Difference(theirs.name, name, None, None, None, 0.0, words=words))
            return False
        ignored = None
        if unseeing is not None and unseeing.shape[-1] == one.shape[-2]:
            ignored = unseeing.any(dim=1, keepdim=True)
        eps = eps_of(mine, yours)
        gap = apart(one, other, ignored, eps)
        allowed = max(slack_of(eps), GROWTH * found.noise)
        if gap.share <= allowed:
            found.noise = max(found.noise, gap.noise)
            continue
        both = Vectors(one, other, theirs.first if name == "queries" else 0, allowed, theirs.rates)
        if name != "values" and (factor := constant_factor(both)) is not None and factor > 0:
            continue  # the scale stands before the product: what matters is both together
        found.differs.append(Difference(theirs.name, name, one, other, gap, allowed, eps))
        finite = one.isfinite().all() and other.isfinite().all()
        change = _named(both, name, ours, theirs) if finite else None
        if change is None:
            found.explained = 0.0
        elif not any(each.name == change.name for each in found.changes):
            found.changes.append(change)
    _tell_alike(found)
    return True


def _named(both: Vectors, name: str, ours: Attention, theirs: Attention) -> NamedChange | None:
    """The change of queries, keys or values."""
    others = {"keys": ("queries", "queries_as_keys"), "values": ("keys", "keys_as_values")}
    for other, mistake in [others[name]] if name in others else []:
        tensor = getattr(ours, other)
        if tensor is not None and _is_same(both, tensor):
            return NamedChange(mistake, name, "")
    swapped = {"queries": theirs.keys, "keys": theirs.queries}.get(name)
    if swapped is not None and _is_same(both, swapped):
        return NamedChange("query_and_key_swapped", name, "")
    back = Vectors(both.theirs, both.ours, both.first, both.allowed, ours.rates)
    unlikely = None
    for way, is_in_theirs in ((both, False), (back, True)):
        for each in changes_of_vectors(way):
            if name == "values" and not each.name.startswith(("heads", "one_head")):
                continue
            found = NamedChange(each.name, name, each.detail, is_in_theirs)
            if each.is_likely:
                return found
            unlikely = unlikely or found
    return unlikely


def _is_same(both: Vectors, other: Tensor) -> bool:
    """Whether our vectors are those of another role."""
    made = reached(both.ours, other)
    return made is not None and made.shape == both.ours.shape and both.fits(both.left(made))


def _tell_alike(found: OfLayer) -> None:
    """Which of queries and keys a change is in, where it is not in both."""
    steps = {each.step for each in found.differs}
    if len(found.changes) == 1 and len(steps & {"queries", "keys"}) == 1:
        (change,), (step,) = found.changes, steps & {"queries", "keys"}
        rotary = change.name.startswith(("rotary", "positions", "no_rotation", "norm"))
        if rotary and change.step == step:
            detail = (
                f"{change.detail}; in the {step} alone" if change.detail else f"in the {step} alone"
            )
            found.changes[0] = replace(change, detail=detail)


def _compensated(ours: Attention, theirs: Attention, parts: Parts) -> Parts:
    """Their parts for our queries and keys: the scale without what is in those already."""
    scale = parts.scale
    for name in ("queries", "keys"):
        mine, yours = getattr(ours, name), getattr(theirs, name)
        n_heads = max(mine.shape[1], yours.shape[1])
        one, other = (_spread(as_numbers(each), n_heads) for each in (mine, yours))
        both = Vectors(one, other, 0, slack_of(eps_of(mine, yours)))
        factor = constant_factor(both)
        if factor is not None and factor > 0:
            scale /= factor
    return replace(parts, scale=scale)


def _scores(
    ours: Attention, theirs: Attention, parts: Parts, found: OfLayer, is_back: bool = False
) -> None:
    """From scores to context vectors: ours again, by their parts."""
    result, other, ignored = ours.numbers, theirs.numbers, theirs.unseeing
    queries, keys, values = ours.given
    if parts.sees.shape[-1] != keys.shape[-2] or result.shape != other.shape:
        words = f"ours are {_shape(result)}, and theirs {_shape(other)}"
        found.differs.append(
            Difference(theirs.name, "context_vectors", None, None, None, 0.0, words=words)
        )
        return
    plain = ours.made_by(parts)
    allowed = allowed_of(plain, ours.eps)
    gap = apart(result, ours.result_of(plain), ignored, ours.eps)
    if gap.share <= allowed:
        if not found.differs:
            far = apart(result, other, ignored)
            found.noise = max(found.noise, min(far.noise, 1.0))
        return
    heads = queries.shape[1], keys.shape[1], queries.shape[-1], values.shape[-1]
    widths = Widths(*heads, *plain.scores.shape[-2:])
    changes, made, explained = explain(ours, result, parts, widths, ignored)
    if not changes and not is_back and not found.differs and by_its_parts(ours):
        _in_theirs(ours, theirs, found)
        if found.differs:
            return
    if not changes and ours.dropout and ours.dropout != theirs.dropout:
        told = f"dropout of {ours.dropout:g} was on in ours"
        changes, explained = [Change("random_numbers", "weights", lambda each: each, told)], 1.0
    found.changes += [NamedChange(each.name, each.step, each.detail) for each in changes]
    found.explained = min(found.explained, explained)
    found.differs.append(_seen_difference(ours, theirs, plain, made, changes, gap, allowed))


def _seen_difference(
    ours: Attention,
    theirs: Attention,
    plain: Made,
    made: Made | None,
    changes: Sequence[Change],
    gap: Apart,
    allowed: float,
) -> Difference:
    """The first step of those that changes name; context vectors where nothing explains them."""
    eps, mine = ours.eps, ours.parts
    step = "context_vectors" if ours.output is not None else "weights"
    if changes and made is not None:
        step = min((each.step for each in changes), key=ORDER.index)
        if step in ("scores", "weights", "mask"):
            pair = (
                (made.scores, plain.scores) if step == "scores" else (made.weights, plain.weights)
            )
            return Difference(theirs.name, step, *pair, apart(*pair), allowed, eps)
    elif mine is not None and theirs.parts is not None and ours.name:
        same = _same_mask(mine, theirs.parts, plain)
        step = step if same else "mask"
    return Difference(theirs.name, step, ours.numbers, ours.result_of(plain), gap, allowed, eps)


def _same_mask(ours: Parts, theirs: Parts, plain: Made) -> bool:
    shape = plain.weights.shape
    try:
        return torch.equal(ours.sees.expand(shape), theirs.sees.expand(shape))
    except RuntimeError:
        return False


def explain(
    ours: Attention, result: Tensor, parts: Parts, widths: Widths, ignored: Tensor | None
) -> tuple[list[Change], Made | None, float]:
    """The change, or the pair of changes, with which theirs is ours; what it makes, and the share
    of the difference that it explains. No change where none explains most of it.
    """

    def tried(of: Parts) -> tuple[float, bool, Made] | None:
        try:
            made = ours.made_by(of)
        except (RuntimeError, IndexError):  # it cannot be made at these sizes
            return None
        gap = apart(result, ours.result_of(made), ignored)
        return gap.overall, gap.share <= allowed_of(made, ours.eps), made

    first = tried(parts)
    before = first[0] if first else math.inf
    singles = []
    for change in changes_of_scores(parts, widths):
        if (outcome := tried(change.parts(parts))) is not None:
            singles.append(((change,), *outcome))
    if (best := _best(singles)) and best[2]:
        return [*best[0]], best[3], 1.0
    n_weights = math.prod((len(result), widths.n_heads, widths.n_queries, widths.n_keys))
    if ours.dropout:
        return [], None, 0.0
    order = sorted(singles, key=lambda each: each[1] if math.isfinite(each[1]) else math.inf)
    pairs = []
    for (change,), *_ in order[: BEST if n_weights <= MOST_IN_PAIRS else FEWER]:
        changed = change.parts(parts)
        for second in changes_of_scores(changed, widths):
            if second.name == change.name:
                continue
            if (outcome := tried(second.parts(changed))) is not None:
                pairs.append(((change, second), *outcome))
                if outcome[1]:
                    break
        else:
            continue
        break
    best = _best([*singles, *pairs])
    if best is None:
        return [], None, 0.0
    share = 1.0 if best[2] else 1 - best[1] / before if before and math.isfinite(before) else 0.0
    return ([*best[0]], best[3], share) if share >= MOST else ([], None, max(share, 0.0))


def _best(tried: list) -> tuple | None:
    """What leaves least; of several that leave nothing to speak of, the first."""
    fits = [each for each in tried if each[2]]
    if fits:
        least = min(each[1] for each in fits)
        return next(each for each in fits if each[1] <= 3 * least + 1e-12)
    there = [each for each in tried if math.isfinite(each[1])]
    return min(there, key=lambda each: each[1], default=None)


def _by_result(ours: Attention, theirs: Attention, found: OfLayer) -> None:
    """Where theirs cannot be computed again, results alone can be compared."""
    mine, yours = ours.numbers, theirs.numbers
    step = "context_vectors" if ours.output is not None else "weights"
    if mine.shape != yours.shape:
        words = f"ours are {_shape(mine)}, and theirs {_shape(yours)}"
        found.differs.append(Difference(theirs.name, step, None, None, None, 0.0, words=words))
        return
    eps = max(ours.eps, theirs.eps)
    gap = apart(mine, yours, theirs.unseeing, eps)
    allowed = max(slack_of(eps), GROWTH * found.noise)
    if gap.share <= allowed:
        found.noise = max(found.noise, gap.noise)
        return
    if theirs.is_whole and theirs.parts is not None:
        told = "is not what its queries, keys, values and mask make, so no change was tried there"
        if theirs.dropout:
            told += f". Dropout of {theirs.dropout:g} was on: call eval() first"
        found.notices.append(f"{theirs.name}: theirs {told}.")
    found.differs.append(Difference(theirs.name, step, mine, yours, gap, allowed, eps))
    found.explained = 0.0


def _spread(tensor: Tensor, n_heads: int) -> Tensor:
    """Each head of keys for the query heads that it serves."""
    if tensor.ndim < 4 or n_heads % tensor.shape[1]:
        return tensor
    return tensor.repeat_interleave(n_heads // tensor.shape[1], dim=1)


def _shape(tensor: Tensor) -> str:
    return " × ".join(map(str, tensor.shape)) or "one number"
