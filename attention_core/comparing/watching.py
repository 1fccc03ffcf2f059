"""Looks on while a module or a function runs: what each of its modules gives, in order, and what
each attention in it was given and gave, also where that is written by hand.

Attention by hand is found by its softmax: scores are followed back from it to the product of
queries and keys, and weights on to their product with the values.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from ..recording.recorder import Recorder
from .attention import LOW, Attention, of_call
from .precision import as_numbers

OUTPUT, JOINED, ATTENTION = "output", "joined", "attention"
"""Kinds of what was seen."""
WHOLE = "the attention"
"""What a function is called, or a module that is no part of another."""
MOST_FOLLOWED = 4_096
"""How many tensors are followed at a time, back to the products they were made of."""


@dataclass
class Seen:
    """One thing that was seen, in the order in which it was there."""

    kind: str
    name: str
    tensor: Tensor | None = None
    attention: Attention | None = None


@dataclass
class Watched:
    """All that was seen of one side."""

    seen: list[Seen] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    result: list[Tensor] = field(default_factory=list)
    """The tensors that it returned."""

    @property
    def attentions(self) -> list[Attention]:
        """Those of its layers, in order."""
        return [each.attention for each in self.seen if each.attention is not None]


class OfFunction(nn.Module):
    """A function as a module, so that it is watched in the same way."""

    def __init__(self, function: Callable) -> None:
        super().__init__()
        self.function = function

    def forward(self, *given: Any, **named: Any) -> Any:
        """What the function gives."""
        return self.function(*given, **named)


def watched(
    what: Callable, given: Sequence, named: Mapping[str, Any], which: str, most_bytes: int
) -> Watched:
    """What is seen of a module or a function while it runs, without gradients, with these inputs.
    Raises ValueError, in words, where it stops.
    """
    module = what if isinstance(what, nn.Module) else OfFunction(what)
    looks = _Watcher(module, most_bytes)
    given = [_own(each) for each in given]
    named = {name: _own(each) for name, each in named.items()}
    with torch.no_grad():
        try:
            with looks, _ByHand(looks):
                result = module(*given, **named)
        except Exception as error:
            if isinstance(error, ValueError) and "cannot be recorded" in str(error):
                raise
            told = str(error).strip().partition("\n")[0]
            raise ValueError(
                f"{which} stopped while it ran: {type(error).__name__}: {told[:200]}"
            ) from error
    found = Watched(looks.seen, looks.notices)
    found.result = [*_tensors(result)]
    buffers = module.named_buffers()
    rates = [as_numbers(each) for name, each in buffers if name.endswith("inv_freq")]
    for each in found.seen:
        if each.kind == ATTENTION:
            layer = looks.recording.layers[each.name]
            call = layer.calls[looks.taken.pop(id(each))]
            if each.name == type(module).__name__:  # it has no name: it is all there is
                each.name = WHOLE
            each.attention = of_call(call, each.name)
            each.attention.rates.extend(rates)
    return found


def _own(value: Any) -> Any:
    """A copy, since a cache, say, is written into."""
    if isinstance(value, Tensor):
        return value.detach().clone()
    try:
        return deepcopy(value)
    except Exception:  # what cannot be copied is handed over as it is
        return value


class _Watcher(Recorder):
    """Keeps what each module gives, beside what a recorder keeps."""

    def __init__(self, model: nn.Module, most_bytes: int) -> None:
        super().__init__(model, None, None, None, most_bytes)
        self.seen: list[Seen] = []
        self.taken: dict[int, int] = {}
        """By the identity of what was seen: which call of its layer it is."""
        self.notices: list[str] = []
        self._joins_of = ""
        self._free = most_bytes

    def _tell(self) -> None:
        if self._left_out or self._free < 0:
            self.notices.append(
                f"Only the first {self._most / 2**20:,.0f} MB were compared: give fewer tokens, or "
                "more most_bytes."
            )

    def _begins(self, module: nn.Module, given: Any) -> None:
        super()._begins(module, given)
        is_leaf = next(module.children(), None) is None
        if self._joins_of and is_leaf and not self._is_within:
            for tensor in _tensors(given):
                self._keep(JOINED, self._joins_of, tensor)
                break
            self._joins_of = ""

    def _ends(self, module: nn.Module, *rest: Any) -> None:
        super()._ends(module, *rest)
        if self._is_within:
            return
        name = self._names[module]
        tensors = [*_tensors(rest[-1])]
        # The cosines and sines of positions, but not the weights beside an output.
        alike = [each for each in tensors[:2] if each.shape == tensors[0].shape]
        for at, tensor in enumerate(alike if name else ()):
            self._keep(OUTPUT, f"{name} ({at})" if at else name, tensor)

    def _keep(self, kind: str, name: str, tensor: Tensor) -> None:
        self._free -= tensor.numel() * tensor.element_size()
        if self._free >= 0:
            self.seen.append(Seen(kind, name, tensor.detach().clone()))

    def take(self, module: nn.Module, *given: Any, **named: Any) -> None:
        """As a recorder does; its place among all that was seen is kept."""
        before = {name: len(layer.calls) for name, layer in self.recording.layers.items()}
        super().take(module, *given, **named)
        for name, layer in self.recording.layers.items():
            if len(layer.calls) > before.get(name, 0):
                there = Seen(ATTENTION, name)
                self.taken[id(there)] = len(layer.calls) - 1
                self.seen.append(there)
                self._joins_of = name


def _tensors(value: Any) -> Iterator[Tensor]:
    """The tensors of numbers in what a module gives."""
    if isinstance(value, Tensor):
        if value.is_floating_point() and value.numel():
            yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _tensors(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _tensors(each)


# Attention by hand.

PRODUCTS = ("matmul", "__matmul__", "bmm", "einsum")
PASSES = (
    *("div", "__truediv__", "true_divide", "mul", "__mul__", "__rmul__", "multiply", "divide"),
    *("add", "__add__", "__radd__", "sub", "__sub__", "masked_fill", "masked_fill_", "where"),
    *("tanh", "to", "float", "double", "half", "bfloat16", "type_as", "contiguous", "type"),
    *("dropout", "nan_to_num", "clamp", "unsqueeze", "squeeze", "__imul__", "__iadd__"),
    *("__itruediv__", "div_", "mul_", "add_", "clone", "detach"),
)
"""What may stand between a product and the softmax, or between that and the next product."""


@dataclass
class _Made:
    """How a tensor was made."""

    result: Tensor
    name: str
    given: tuple


class _ByHand(TorchFunctionMode):
    """Sees attention that is written out."""

    def __init__(self, watcher: _Watcher) -> None:
        super().__init__()
        self._watcher = watcher
        self._made: dict[int, _Made] = {}

    def __torch_function__(
        self, function: Callable, _: object, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        result = function(*args, **(kwargs or {}))
        name = getattr(function, "__name__", "")
        if not self._watcher.looks or not isinstance(result, Tensor):
            return result
        if name == "softmax" or name in PRODUCTS or name in PASSES:
            if len(self._made) > MOST_FOLLOWED:
                self._made.clear()
            given = (*args, *(kwargs or {}).values())
            if name in PRODUCTS:
                self._look(_Made(result, name, given))
            if not any(each is result for each in given):  # written in place, it stays what it was
                self._made[id(result)] = _Made(result, name, given)
        return result

    def _look(self, product: _Made) -> None:
        """Hand over an attention whose weights meet their values in a product."""
        operands = _operands(product)
        if operands is None:
            return
        weights, values = operands
        softmax, _ = self._back(_first_tensor(product), ("softmax",))
        if softmax is None:
            return
        masked = next(each for each in softmax.given if isinstance(each, Tensor))
        scores, scale = self._back(masked, PRODUCTS)
        pair = _operands(scores) if scores is not None else None
        if pair is None:
            return
        queries, keys = pair[0], pair[1].mT
        context = product.result
        if product.name == "einsum":  # which may have the axes of its result in any order
            context = weights @ values
        raw = pair[0] @ pair[1]
        if not (context.ndim == raw.ndim == values.ndim and 2 <= raw.ndim <= 4):
            return
        if raw.shape != masked.shape or context.shape[-2] != queries.shape[-2]:
            return
        mask = _mask_of(as_numbers(raw) * scale, as_numbers(masked))
        self._made.clear()
        self._watcher.take(
            self._watcher.innermost(), "by hand", (queries, keys, values), mask, scale,
            {"is_causal": False}, context, _with_batch,
        )  # fmt: skip

    def _back(self, tensor: Tensor, names: Sequence[str]) -> tuple[_Made | None, float]:
        """What of these names a tensor was made of, and by what number it was multiplied since;
        what comes after a cap multiplies no scores.
        """
        scale, capped = 1.0, False
        for _ in range(32):
            made = self._made.get(id(tensor))
            if made is None:
                return None, scale
            if made.name in names:
                return made, scale
            if made.name == "softmax" or made.name in PRODUCTS:
                return None, scale
            tensors = [each for each in made.given if isinstance(each, Tensor)]
            before = [each for each in tensors if id(each) in self._made and each is not tensor]
            if not before:
                return None, scale
            capped = capped or made.name == "tanh"
            if not capped:
                scale *= _factor(made, before[0])
            tensor = before[0]
        return None, scale


def _with_batch(tensor: Tensor) -> Tensor:
    return tensor[(None,) * (4 - tensor.ndim)]


def _factor(made: _Made, of: Tensor) -> float:
    """The number by which a tensor was multiplied; 1 for none."""
    others = [each for each in made.given if each is not of and not isinstance(each, str)]
    if len(others) != 1 or made.name.strip("_")[:3] not in (
        "div",
        "mul",
        "tru",
        "imu",
        "itr",
        "rmu",
    ):
        return 1.0
    (other,) = others
    if isinstance(other, Tensor):
        if other.numel() != 1:
            return 1.0
        other = float(other)
    if not isinstance(other, int | float) or not other:
        return 1.0
    divides = "div" in made.name
    return 1 / other if divides else float(other)


def _mask_of(scores: Tensor, masked: Tensor) -> Tensor | None:
    """What hides, and what is added, between scores and softmax; None for nothing."""
    sees = masked > LOW
    added = (masked - scores).masked_fill(~sees, 0.0)
    size = float(scores.abs().max()) + 1
    if float(added.abs().max()) <= 1e-5 * size:
        return None if sees.all() else _with_batch(sees)
    return _with_batch(added.masked_fill(~sees, -torch.inf).float())


def _first_tensor(product: _Made) -> Tensor:
    """The first operand as it was given."""
    flat = [
        one
        for each in product.given
        for one in (each if isinstance(each, list | tuple) else [each])
    ]
    return next(each for each in flat if isinstance(each, Tensor))


def _operands(product: _Made) -> tuple[Tensor, Tensor] | None:
    """The two tensors of a product, laid out as for `@`; None where it is none of two."""
    tensors = [each for each in product.given if isinstance(each, Tensor)]
    if product.name != "einsum":
        return (tensors[0], tensors[1]) if len(tensors) == 2 else None
    listed = [each for each in product.given if isinstance(each, list | tuple)]
    tensors = tensors or [*listed[0]] if listed else tensors
    equation = next((each for each in product.given if isinstance(each, str)), "")
    return _laid_out(equation.replace(" ", ""), tensors)


def _laid_out(equation: str, tensors: list[Tensor]) -> tuple[Tensor, Tensor] | None:
    sides, arrow, out = equation.partition("->")
    names = sides.split(",")
    if not arrow or len(names) != 2 or len(tensors) != 2 or "." in equation:
        return None
    left, right = names
    (summed, *more) = [x for x in left if x in right and x not in out] or [""]
    rows = [x for x in out if x in left and x not in right]
    columns = [x for x in out if x in right and x not in left]
    batch = [x for x in out if x in left and x in right]
    if more or not summed or len(rows) != 1 or len(columns) != 1:
        return None
    first = tensors[0].permute([left.index(x) for x in (*batch, rows[0], summed)])
    second = tensors[1].permute([right.index(x) for x in (*batch, summed, columns[0])])
    return first, second
