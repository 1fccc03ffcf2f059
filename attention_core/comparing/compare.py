"""`compare`: two modules with one input, two recordings, or two files of tensors."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from ..recording.recorder import MOST_BYTES
from ..recording.recording import Recording
from ..utils.validation import shown, validated
from .attention import Attention, of_call
from .changes_of_scores import JOINS
from .comparison import Compared, Comparison
from .explaining import ORDER, Difference, NamedChange, OfLayer, of_layer
from .files import attention_of, place_of, read_tensors, role_of
from .precision import GROWTH, apart, as_numbers, eps_of, slack_of
from .watching import ATTENTION, JOINED, OUTPUT, Seen, Watched, watched

MOST_NAMED = 3
"""Names of what one side alone has that are listed."""
SHIFTS = (1, -1, 2, -2)
WHOLE_EPS = 1e-6
"""Coarser rounding than this is that of 16 bits, or fewer."""


@validated
def compare(
    mine: object,
    theirs: object,
    *inputs: Any,
    tokens: Sequence[str] | None = None,
    most_bytes: int = MOST_BYTES,
    **named_inputs: Any,
) -> Comparison:
    """Find where two computations of attention part first, and which change turns one into the
    other:

        print(compare(my_model, their_model, input_ids=ids))  # two modules, or functions
        print(compare(seen, load_recording("theirs.safetensors")))  # two recordings
        print(compare("mine.npz", "theirs.safetensors"))  # two files, or two dicts, of tensors

    Modules of PyTorch or `transformers` run once each with the same inputs, as they stand: in
    training where they are in training. Steps are set side by side by their names, and by shape and
    order where names are missing. A step counts as different where precision does not explain it:
    float32 against bfloat16, or SDPA against eager code, is no difference. Each change that is
    named was tried by computing it. `tokens` name the places in pictures; each side keeps at most
    `most_bytes` while it runs.

    Raises ValueError, in words, for what cannot be compared, such as two kinds of things, a file
    that holds no tensors, or a module that stops.
    """
    names = tuple(str(each) for each in tokens or ())
    sides = [_read(each) for each in (mine, theirs)]
    kinds = [_kind(each, which) for each, which in zip(sides, ("mine", "theirs"), strict=True)]
    if kinds[0] != kinds[1]:
        raise ValueError(
            f"mine is {kinds[0]}, and theirs {kinds[1]}: compare two modules, two recordings, or "
            "two files of tensors"
        )
    if kinds[0] == "a module":
        return _of_modules(sides[0], sides[1], inputs, named_inputs, names, most_bytes)
    if inputs or named_inputs:
        raise ValueError(f"inputs are for two modules, and each side is {kinds[0]}: leave them out")
    if kinds[0] == "a recording":
        seen = [Watched([*_of_recording(each)], list(each.notices)) for each in sides]
        found = [each for side in sides for each in side.tokens_of(0)] if not names else []
        return _compared(seen[0], seen[1], names or tuple(found[: len(found) // 2]))
    return _of_tensors(sides[0], sides[1], names)


def _read(what: object) -> Any:
    return read_tensors(Path(what)) if isinstance(what, str | Path) else what


def _kind(what: object, which: str) -> str:
    if isinstance(what, type):
        raise ValueError(f"{which} is a class: make a module first, as in {what.__name__}(…)")
    if isinstance(what, Recording):
        return "a recording"
    if isinstance(what, Mapping):
        wrong = [name for name, each in what.items()
                 if not isinstance(name, str) or not _is_tensor(each)]  # fmt: skip
        if wrong or not what:
            told = (
                f"holds {shown(wrong[0])}, which is no tensor by its name" if wrong else "is empty"
            )
            raise ValueError(f"{which} {told}: give tensors by their names")
        return "tensors"
    if callable(what):
        return "a module"
    raise ValueError(
        f"{which} is {shown(what)}: give a module, a recording, or a file or dict of tensors"
    )


def _is_tensor(value: object) -> bool:
    return isinstance(value, Tensor) or hasattr(value, "__array__")


# What there is.


def _of_modules(
    mine: Callable,
    theirs: Callable,
    inputs: Sequence,
    named: Mapping[str, Any],
    tokens: tuple[str, ...],
    most_bytes: int,
) -> Comparison:
    if not inputs and not named:
        raise ValueError(
            "there is no input to run both with: give it behind them, such as "
            "compare(mine, theirs, input_ids=ids)"
        )
    devices = range(torch.cuda.device_count())

    def run(what: Callable, which: str, seed: int = 0) -> Watched:
        with torch.random.fork_rng(devices):
            torch.manual_seed(seed)
            return watched(what, inputs, named, which, most_bytes)

    yours, own = run(theirs, "theirs"), run(mine, "mine")
    found = _compared(own, yours, tokens)
    if found.same or found.changes:
        return found
    for side, what, which in ((own, mine, "ours"), (yours, theirs, "theirs")):
        if _is_random(side, run(what, which, seed=1)):
            told = f"{which} gives other numbers each time it is called"
            change = NamedChange("random_numbers", "weights", told)
            return replace(found, changes=(change,), explained=1.0)
    return found


def _is_random(before: Watched, again: Watched) -> bool:
    pairs = zip(before.seen, again.seen, strict=False)
    return len(before.seen) != len(again.seen) or any(
        not torch.equal(one.tensor.nan_to_num(), other.tensor.nan_to_num())
        for one, other in pairs
        if one.tensor is not None
        and other.tensor is not None
        and one.tensor.shape == other.tensor.shape
    )  # fmt: skip


def _of_recording(recording: Recording) -> Iterator[Seen]:
    for layer in recording:
        calls = [layer.call()] if len(layer.calls) == 1 else layer.calls
        for call in calls:
            yield Seen(ATTENTION, layer.name, attention=of_call(call, layer.name))


def _of_tensors(
    mine: Mapping[str, Any], theirs: Mapping[str, Any], tokens: tuple[str, ...]
) -> Comparison:
    sides = [
        {name: _dense(f"{which}, {name}", each) for name, each in side.items()}
        for which, side in (("mine", mine), ("theirs", theirs))
    ]
    wholes = [_attentions_in(side) for side in sides]
    shared = {*wholes[0]} & {*wholes[1]}
    for place in shared:  # what is no attention on one side is compared number by number
        if wholes[0][place] is None or wholes[1][place] is None:
            wholes[0][place] = wholes[1][place] = None
    own, yours = (Watched([*_seen_in(*each)]) for each in zip(sides, wholes, strict=True))
    return _compared(own, yours, tokens)


def _dense(name: str, value: Any) -> Tensor:
    """A tensor with all its numbers. Raises ValueError, in words, for what has none."""
    try:
        tensor = torch.as_tensor(value)
        tensor = tensor if tensor.layout == torch.strided else tensor.to_dense()
    except (TypeError, ValueError, RuntimeError) as error:
        raise ValueError(f"{name} is {shown(value)}, and no tensor of numbers") from error
    if tensor.is_meta:
        raise ValueError(f"{name} has a shape and no numbers (device meta): load it first")
    return tensor


def _attentions_in(tensors: Mapping[str, Tensor]) -> dict[str, Attention | None]:
    """The attention of each layer, by its place; None for what cannot be one."""
    layers: dict[str, dict[str, Tensor]] = {}
    for name, tensor in tensors.items():
        if role := role_of(name):
            layers.setdefault(place_of(name), {}).setdefault(role, tensor)
    return {place: attention_of(place or "attention", given) for place, given in layers.items()}


def _seen_in(
    tensors: Mapping[str, Tensor], whole: Mapping[str, Attention | None]
) -> Iterator[Seen]:
    """Tensors in their order, those of one layer's attention as one."""
    told = set()
    for name, tensor in tensors.items():
        place = place_of(name)
        attention = whole.get(place) if role_of(name) else None
        if attention is None:
            yield Seen(OUTPUT, name, tensor)
        elif place not in told:
            told.add(place)
            yield Seen(ATTENTION, attention.name, attention=attention)


# Side by side.


@dataclass(frozen=True)
class _Aligned:
    pairs: list[tuple[Seen, Seen]]
    notices: list[str]


def _keys(seen: Sequence[Seen]) -> list[tuple]:
    """What each is called, with how often that was there before."""
    counts: dict[tuple, int] = {}
    found = []
    for each in seen:
        key = (each.kind, each.name)
        counts[key] = counts.get(key, -1) + 1
        found.append((*key, counts[key]))
    return found


def _shape_of(each: Seen) -> tuple:
    if each.attention is not None:
        return (ATTENTION,)
    return each.kind, tuple(each.tensor.shape) if each.tensor is not None else ()


def _aligned(own: Sequence[Seen], yours: Sequence[Seen]) -> _Aligned:
    """What belongs together: by name where most names are shared, else by shape and order."""
    mine, theirs = _keys(own), _keys(yours)
    shared = {*mine} & {*theirs}
    attends = [[key for key in keys if key[0] == ATTENTION] for keys in (mine, theirs)]
    by_name = 2 * len(shared) >= min(len(mine), len(theirs)) and (
        not all(attends) or bool({*attends[0]} & {*attends[1]})
    )
    if by_name:
        at = dict(zip(mine, own, strict=True))
        pairs = [(at[key], each) for key, each in zip(theirs, yours, strict=True) if key in at]
        left = [[key for key in keys if key not in shared] for keys in (mine, theirs)]
    else:
        matcher = SequenceMatcher(None, [*map(_shape_of, own)], [*map(_shape_of, yours)], False)
        blocks = matcher.get_matching_blocks()
        pairs = [(own[b.a + at], yours[b.b + at]) for b in blocks for at in range(b.size)]
        found = [{id(pair[side]) for pair in pairs} for side in (0, 1)]
        left = [
            [key for key, each in zip(keys, seen, strict=True) if id(each) not in of]
            for keys, seen, of in zip((mine, theirs), (own, yours), found, strict=True)
        ]
    notices = []
    for which, names in zip(("ours", "theirs"), left, strict=True):
        if names:
            listed = ", ".join(dict.fromkeys(str(key[1]) for key in names[: 4 * MOST_NAMED]))
            listed = ", ".join(listed.split(", ")[:MOST_NAMED])
            notices.append(f"Not compared, since only {which} has it: {listed}"
                           f"{' and others' if len(names) > MOST_NAMED else ''}.")  # fmt: skip
    if not by_name and pairs:
        notices.append("Names differ, so steps were set side by side by their shapes and order.")
    return _Aligned(pairs, notices)


def _compared(own: Watched, yours: Watched, tokens: tuple[str, ...]) -> Comparison:
    _with_unseen(own, yours)
    aligned = _aligned(own.seen, yours.seen)
    notices = [*aligned.notices, *own.notices, *(e for e in yours.notices if e not in own.notices)]
    if not aligned.pairs:
        return _of_results(own, yours, notices, tokens)
    compared: list[Compared] = []
    first: Difference | None = None
    noise, context, ignored = 0.0, None, None
    for mine, theirs in aligned.pairs:
        if mine.attention is not None and theirs.attention is not None:
            found = of_layer(mine.attention, theirs.attention, noise)
            noise, context = max(noise, found.noise), (mine.attention, theirs.attention)
            ignored = _rows_ignored(theirs.attention, ignored)
            notices += found.notices
            compared += _steps_of(theirs.name, found)
            if found.differs:
                return _with_layer(first, found, compared, notices, tokens)
            continue
        if mine.tensor is None or theirs.tensor is None:
            continue
        there = _tensors_apart(mine, theirs, noise, ignored)
        compared.append(there[1])
        in_16_bits = there[0] is not None and there[0].eps > WHOLE_EPS
        if in_16_bits and first is None and ".experts" in theirs.name:
            compared.pop()
            notices.append(
                f"From {theirs.name} on nothing was compared: in 16 bits a token may be sent to "
                "other experts by rounding alone. In float32 it can be told."
            )
            break
        if there[0] is None:
            noise = max(noise, there[2])
            if _chooses_others(mine, theirs, aligned.pairs):
                notices.append(
                    f"From {theirs.name} on nothing was compared: for some token two experts are "
                    "as good as each other, but for rounding, and each side chose another."
                )
                break
            continue
        first = first or there[0]
        if mine.kind == JOINED and context:
            for side, own_attention, in_theirs in (
                (mine, context[0], False),
                (theirs, context[1], True),
            ):
                if change := _joined(side, own_attention):
                    found_there = (replace(change, is_in_theirs=in_theirs),)
                    return _made(first, found_there, 1.0, compared, notices, tokens)
    change = _of_output(first) if first else None
    changes = (change,) if change else ()
    return _made(first, changes, 1.0 if change else 0.0, compared, notices, tokens)


def _chooses_others(mine: Seen, theirs: Seen, pairs: Sequence[tuple[Seen, Seen]]) -> bool:
    """Whether a router of experts, that says the same but for rounding, prefers others by that."""
    home, _, last = theirs.name.rpartition(".")
    if last not in ("gate", "router") or mine.tensor is None or theirs.tensor is None:
        return False
    if not any(each.name.startswith(f"{home}.experts") for _, each in pairs):
        return False
    return not torch.equal(mine.tensor.argsort(dim=-1), theirs.tensor.argsort(dim=-1))


def _with_unseen(own: Watched, yours: Watched) -> None:
    """Where one side's attention is written in a way that is not seen, and is all that the side
    does: its result for the queries, keys and values that the other side has.
    """
    for side, other in ((own, yours), (yours, own)):
        if side.seen or len(other.seen) != 1 or len(side.result) < 1:
            continue
        (there,), result = other.attentions or [None], side.result[0]
        if there is None or there.output is None or not other.result:
            continue
        if result.shape != other.result[0].shape:
            continue
        if result.numel() != there.output.numel():
            continue
        output = _in_heads(result, there.output, other.result[0])
        if output is not None:
            attention = replace(there, output=output, parts=None, rates=[])
            side.seen.append(Seen(ATTENTION, other.seen[0].name, attention=attention))


def _in_heads(result: Tensor, like: Tensor, of_like: Tensor) -> Tensor | None:
    """A result as context vectors (batch, head, query, d), as the other side's result is of its."""
    n_texts, n_heads, n_queries, width = like.shape
    like, of_like = as_numbers(like), as_numbers(of_like)
    as_it_is = of_like.reshape(like.shape)
    if torch.allclose(as_it_is, like, atol=1e-6, equal_nan=True):
        return result.reshape(like.shape)
    rows = (n_texts, n_queries, n_heads, width)
    if torch.allclose(of_like.reshape(rows).transpose(1, 2), like, atol=1e-6, equal_nan=True):
        return result.reshape(rows).transpose(1, 2)
    return None


def _rows_ignored(attention: Attention, before: Tensor | None) -> Tensor | None:
    """Tokens (text, token) that see nothing, of which nobody says what they give."""
    unseeing = attention.unseeing
    return before if unseeing is None else unseeing.all(dim=1)


def _with_layer(
    first: Difference | None,
    found: OfLayer,
    compared: list[Compared],
    notices: list[str],
    tokens: tuple[str, ...],
) -> Comparison:
    found.differs.sort(key=lambda each: ORDER.index(each.step))
    difference = first or found.differs[0]
    also = tuple(each.step for each in found.differs if each is not difference)
    made = _made(difference, tuple(found.changes), found.explained, compared, notices, tokens)
    if first is not None and not found.changes and (change := _of_output(first)):
        made = replace(made, changes=(change,), explained=1.0)
    return replace(made, also=() if first is not None else also)


def _made(
    difference: Difference | None,
    changes: tuple[NamedChange, ...],
    explained: float,
    compared: list[Compared],
    notices: list[str],
    tokens: tuple[str, ...],
) -> Comparison:
    explained = explained if changes else float(difference is None)
    return Comparison(difference, changes, explained, tuple(compared), tuple(notices), tokens)


def _steps_of(name: str, found: OfLayer) -> list[Compared]:
    if not found.differs:
        return [Compared(name, "attention", found.noise, False)]
    return [
        Compared(name, each.step, each.apart.share if each.apart else float("inf"), True)
        for each in found.differs
    ]


def _tensors_apart(
    mine: Seen, theirs: Seen, noise: float, ignored: Tensor | None
) -> tuple[Difference | None, Compared, float]:
    """How what a module gives differs, or a tensor of a file; and how far it lies apart where that
    is no difference.
    """
    one, other = mine.tensor, theirs.tensor
    assert one is not None
    assert other is not None
    step = JOINED if mine.kind == JOINED else OUTPUT
    if one.shape != other.shape or one.is_complex() != other.is_complex():
        shapes = [" × ".join(map(str, each.shape)) or "one number" for each in (one, other)]
        words = f"ours is {shapes[0]}, and theirs {shapes[1]}"
        difference = Difference(theirs.name, step, None, None, None, 0.0, words=words)
        return difference, Compared(theirs.name, step, float("inf"), True), 0.0
    out = (
        ignored if ignored is not None and one.ndim > 2 and ignored.shape == one.shape[:2] else None
    )
    if out is not None and one.ndim > 3:
        out = None
    # A number, or a row of them, is a table of one row.
    left, right = (
        each.reshape(1, -1) if each.ndim < 2 else each for each in map(as_numbers, (one, other))
    )
    eps = eps_of(one, other)
    gap = apart(left, right, out, eps)
    allowed = max(slack_of(eps), GROWTH * noise)
    if not one.is_floating_point() and not other.is_floating_point():
        allowed = 0.0  # whole numbers are as they are
    differs = gap.share > allowed
    difference = Difference(theirs.name, step, left, right, gap, allowed, eps) if differs else None
    return difference, Compared(theirs.name, step, gap.share, differs), gap.noise


def _joined(mine: Seen, own: Attention) -> NamedChange | None:
    """How our context vectors were joined, where they were the same."""
    if own.output is None or mine.tensor is None:
        return None
    context = as_numbers(own.output)
    for name, joins in JOINS.items():
        for join in joins:
            wrong = join(context).transpose(1, 2).flatten(2)
            if wrong.numel() != mine.tensor.numel():
                continue
            gap = apart(as_numbers(mine.tensor).reshape(wrong.shape), wrong)
            if gap.share <= slack_of(eps_of(mine.tensor, own.output)):
                return NamedChange(name, JOINED, "")
    return None


def _of_output(first: Difference) -> NamedChange | None:
    """What turns one module's output into the other's: positions that begin elsewhere."""
    one, other = first.ours, first.theirs
    if one is None or other is None or one.ndim < 2:
        return None
    for by in SHIFTS:
        n_tokens = one.shape[-2]
        if n_tokens <= abs(by) + 1:
            continue
        start, end = max(0, -by), n_tokens - max(0, by)
        mine, yours = one[..., start:end, :], other[..., start + by : end + by, :]
        if apart(mine, yours).share <= first.allowed:
            where = f"{abs(by)} {'later' if by > 0 else 'earlier'}"
            told = f"ours has at each place what theirs has {where}"
            return NamedChange("positions_off", "output", told)
    return None


def _of_results(
    own: Watched, yours: Watched, notices: list[str], tokens: tuple[str, ...]
) -> Comparison:
    """Where no step belongs to another: what both give at the end."""
    pairs = zip(own.result, yours.result, strict=False)
    compared: list[Compared] = []
    for at, (mine, theirs) in enumerate(pairs):
        name = "the result" if not at else f"the result ({at})"
        difference, one, _ = _tensors_apart(
            Seen(OUTPUT, name, mine), Seen(OUTPUT, name, theirs), 0.0, None
        )
        compared.append(one)
        if difference is not None:
            return _made(difference, (), 0.0, compared, notices, tokens)
    if not compared:
        raise ValueError(
            "there is nothing to compare: no step of one has a name, or a shape, of the other"
        )
    return _made(None, (), 1.0, compared, notices, tokens)
