"""What anyone gives as weights, as one tensor, wherever it stands in what a model returns."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attention_core.mechanism.own_tensors import PRECISIONS, sizes

KINDS = ("attentions", "cross_attentions", "decoder_attentions", "encoder_attentions")
"""What a model's output calls its weights; others, such as `vision_attentions`, end so too."""
MOST_NAMED = 6
"""So many names of what was given are said, and how many more there are."""
RECORD_IT = "record it as it runs: `with recorded(model) as seen: model(…)`, then show(seen)"
NO_WEIGHTS = f"this model returned no weights: {RECORD_IT}"


def layers_of(given: Any) -> tuple[Tensor, str, bool, list[str]]:
    """Weights (layer, head, query, key), their name, if `generate`d, notices. Or ValueError."""
    if isinstance(given, torch.nn.Module):
        raise ValueError("this is a model: show what it returns, such as show(model(…), tokens)")
    kind, is_written, notices, beams = "", False, [], None
    if parts := _parts_of(given):
        beams = parts.get("beam_indices")
        kind, given, notices = _named_weights(given, parts)
    elif _has_parts(given) and len({isinstance(each, tuple | list) for each in given}) > 1:
        # What a model returns with return_dict=False has them among its other parts.
        given = next((one for one in given if _is_nothing(one) or _is_layers(one)), None)
    if _is_nothing(given):
        raise ValueError(NO_WEIGHTS)
    if _has_parts(given):
        if _has_parts(given[0]) and _tensor(_part(given[0], 0)).ndim > 2:
            steps = given if _is_nothing(beams) else _of_best_beam(given, beams, notices)
            given, is_written = _joined(steps), True
        tensor = _stacked(given)
    else:
        tensor = _tensor(given)
    axes = "(query, key), (head, query, key) or (layer, head, query, key)"
    if tensor.ndim == 5 and tensor.shape[1] == 1:
        tensor = tensor[:, 0]
    elif tensor.ndim == 5 and tensor.shape[0] == 1 and not _has_parts(given):
        tensor = tensor[0]
    if not 2 <= tensor.ndim <= 4 or not tensor.numel():
        one = "[each[:1] for each in step] for step in" if is_written else "each[:1] for each in"
        beams_too = (
            ". Of a search with beams, show all that generate returned: its beam_indices say which "
            "rows belong to the text"
        )
        raise ValueError(
            f"these weights are {sizes(tensor)}, but should be {axes}, or with a batch of 1: of "
            f"several texts choose one, such as [{one} weights]{beams_too * is_written}"
        )
    if not tensor.isfinite().all():
        at = (~tensor.isfinite()).nonzero()[0].tolist()
        raise ValueError(f"these weights have {tensor[tuple(at)].item()} at {at}: no share of 1")
    whole = _as_they_were(tensor).reshape((1,) * (4 - tensor.ndim) + tensor.shape)
    return whole, kind, is_written, notices


def _parts_of(given: Any) -> Mapping[str, Any]:
    """What is given by name: a mapping, or what a model returned; nothing where it is no such."""
    if isinstance(given, Mapping):
        return given or {"": None}
    if isinstance(given, Tensor) or hasattr(given, "shape"):
        return {}
    if hasattr(given, "_asdict"):
        return given._asdict()
    named = {name: getattr(given, name) for name in KINDS if hasattr(given, name)}
    return {**named, **getattr(given, "__dict__", {})} if named else {}


def _named_weights(given: Any, parts: Mapping[str, Any]) -> tuple[str, Any, list[str]]:
    """The weights among what is given by name: what they are called, they, and notices of others.
    Raises ValueError where there are none.
    """
    if found := _attentions(parts):
        (kind, weights), *others = found.items()
        has_names = hasattr(given, kind.partition(".")[0])
        more = ", ".join(f"show(output{f'.{n}' if has_names else [n]})" for n, _ in others)
        said = [f"These are the {kind}. There are others: {more}."] if others else []
        return kind, weights, said
    there = {name: each for name, each in parts.items() if _has_rows(each)}
    # A model's output has its parts as attributes too.
    is_output = any(name in parts for name in KINDS) or all(hasattr(given, str(n)) for n in parts)
    if is_output or not there:
        raise ValueError(NO_WEIGHTS)
    shares = {name: each for name, each in there.items() if _are_shares(each)}
    if not shares:
        name = next(iter(there))
        raise ValueError(
            f"no rows of {_told(there)} sum to 1, as those of weights do: choose what to draw, "
            f"such as show(weights[{name!r}])"
        )
    (name, first), *others = shares.items()
    if not others:
        return "", first, []
    shapes = {getattr(each, "shape", None) for each in shares.values()}
    if len(shapes) == 1 and None not in shapes:
        layers = [_tensor(each) for each in shares.values()]
        said = f"Each layer here is one of these, in this order: {_told(shares)}."
        return "", [each[None] if each.ndim == 2 else each for each in layers], [said]
    more = ", ".join(f"show(weights[{each!r}])" for each, _ in others[:MOST_NAMED])
    return "", first, [f"These are the weights of {name}. There are others: {more}."]


def _told(names: Iterable[object]) -> str:
    names = [str(each) for each in names]
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _attentions(parts: Mapping[str, Any], deep: int = 2) -> dict[str, Any]:
    """What is called so, by the way to it, such as CLIP's `text_model_output.attentions`."""
    called = [name for name in parts if isinstance(name, str) and name.endswith("attentions")]
    called.sort(key=lambda name: KINDS.index(name) if name in KINDS else len(KINDS))
    found = {name: parts[name] for name in called if not _is_nothing(parts[name])}
    for name in parts if deep else ():
        if name not in called:
            inside = _attentions(_parts_of(parts[name]), deep - 1)
            found |= {f"{name}.{each}": weights for each, weights in inside.items()}
    return found


def _has_rows(given: Any) -> bool:
    """Whether it can be a matrix, or several."""
    if _has_parts(given):
        return all(_is_nothing(each) or _has_rows(each) for each in given)
    try:
        return len(np.shape(given)) > 1
    except ValueError:  # rows of different lengths
        return False


def _are_shares(given: Any) -> bool:
    """Whether all rows are shares of 1; one that sees nothing may be empty."""
    if _has_parts(given):
        return all(_is_nothing(each) or _are_shares(each) for each in given)
    try:
        weights = _tensor(given).float()
    except ValueError:
        return False
    off = (weights.sum(dim=-1) - 1).abs()
    is_one = off < 0.02  # in 16 bits rows of many keys are that far off
    return bool(is_one.any() and (is_one | (off == 1)).all() and (weights >= 0).all())


def _of_best_beam(steps: Sequence, beams: Any, notices: list[str]) -> list:
    """Of what `generate` returned with beams, the rows of the text it chose. Each step goes on from
    the beam that `beam_indices` (text, step) names; below 0 the text had ended.
    """
    rows = torch.as_tensor(beams).tolist()
    if len(rows) > 1:
        notices.append(f"Of {len(rows)} texts that were written, the first is drawn.")
    chosen = [at for at in rows[0] if at >= 0]
    return [
        [None if _is_nothing(layer) else layer[at : at + 1] for layer in step]
        for step, at in zip(steps, chosen, strict=False)
    ]


def _is_nothing(given: Any) -> bool:
    return given is None or (isinstance(given, tuple | list) and all(map(_is_nothing, given)))


def _is_layers(given: Any) -> bool:
    return _has_parts(given) and all(getattr(each, "ndim", 0) == 4 for each in given)


def _has_parts(given: Any) -> bool:
    """Whether it is several tensors, such as one a layer, and not the rows of one."""
    if not isinstance(given, tuple | list):
        return False
    return any(each is None or hasattr(each, "shape") or _has_parts(each) for each in given)


def _part(given: Sequence, at: int) -> Any:
    """One of several tensors. Raises ValueError where a model has none there."""
    if _is_nothing(given[at]):
        raise ValueError(f"layer {at} has no weights (None): leave it out, or {RECORD_IT}")
    return given[at]


def _stacked(given: Sequence) -> Tensor:
    """Tensors of one shape, with an axis for them in front."""
    each = [_part(given, at) for at in range(len(given))]
    each = [_stacked(one) if _has_parts(one) else _tensor(one) for one in each]
    for at, one in enumerate(each):
        if one.shape != each[0].shape:
            raise ValueError(
                f"layer {at} is {sizes(one)}, but layer 0 is {sizes(each[0])}: show each by itself"
            )
    return torch.stack(each)


def _joined(steps: Sequence) -> list[Tensor]:
    """What `generate` returns as one tensor a layer, later tokens' rows below; 0 for no key."""
    joined = []
    for at in range(len(steps[0])):
        each = [_tensor(_part(step, at)) for step in steps]
        first = each[0].shape[-2]
        if [one.shape[-2] for one in each] == [*range(first, first + len(each))]:
            each = each[-1:]  # written without a cache: each step has all rows before it again
        behind = np.cumsum([one.shape[-2] for one in each]).tolist()
        n_keys = [one.shape[-1] for one in each]
        # As many from the first token on: another sentence's keys, or places kept free for all.
        is_fixed = len({*n_keys}) == 1 and each[0].shape[-2] != n_keys[0]
        firsts = [0 if is_fixed else max(0, b - k) for b, k in zip(behind, n_keys, strict=True)]
        most = max(map(sum, zip(firsts, n_keys, strict=True)))
        rows = [
            torch.nn.functional.pad(one, (first, most - first - k))
            for one, first, k in zip(each, firsts, n_keys, strict=True)
        ]
        found = torch.cat(rows, dim=-2)
        # Places that a cache kept free, and nothing was written to.
        is_free = is_fixed and not found[..., behind[-1] :].any()
        joined.append(found[..., : behind[-1]] if is_free else found)
    return joined


def _tensor(given: Any) -> Tensor:
    """A tensor of numbers, dense and on the CPU. Raises ValueError for what is none."""
    try:
        tensor = given if isinstance(given, Tensor) else torch.tensor(np.asarray(given))
    except (RuntimeError, TypeError, ValueError) as error:
        raise ValueError(
            "these are no weights: show takes a trace, a step, a tensor, or what a model returns"
        ) from error
    if tensor.is_meta or tensor.is_nested or tensor.is_complex():
        kind = "nested" if tensor.is_nested else "complex"
        kind = "on the meta device, without numbers" if tensor.is_meta else kind
        raise ValueError(f"these weights are {kind}: show takes a tensor of plain numbers")
    if tensor.is_quantized:
        tensor = tensor.dequantize()
    if not tensor.is_floating_point():
        kind = "true and false" if tensor.dtype == torch.bool else "whole numbers, such as ids"
        raise ValueError(
            f"these are {kind} ({tensor.dtype}), and weights are shares of 1: if they are weights "
            "all the same, give them as floats, such as weights.float()"
        )
    tensor = tensor.detach().to_dense() if tensor.layout != torch.strided else tensor.detach()
    return tensor.cpu() if tensor.dtype in PRECISIONS else tensor.cpu().float()


def _as_they_were(weights: Tensor) -> Tensor:
    """The same numbers in the 16 bits they had before: rows are as near to 1 as that allows."""
    if weights.dtype == torch.float32 and ((weights.sum(dim=-1) - 1).abs() > 1e-3).any():
        for kind in (torch.bfloat16, torch.float16):
            if torch.equal(weights.to(kind).float(), weights):
                return weights.to(kind)
    return weights
