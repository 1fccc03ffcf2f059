"""The matrices of an nn.Module by names and sizes, so that others can be put in their place."""

import re
from collections.abc import Iterator, Mapping
from itertools import product
from typing import NamedTuple

import torch
from torch import Tensor, nn

from .sentences import Sizes

NOT_TOLD = "weights?|matrix|linear|proj(ection)?|layer|lin|fc|to|net|transform|head|_|\\d"
"""What the name of a parameter may hold beside what it makes."""
LETTERS = {"q": "q", "k": "k", "v": "v", "que": "q", "key": "k", "val": "v"}
HEADS_OF_MODULES = ("n_heads", "num_heads", "n_head", "nhead", "heads", "num_attention_heads", "h")
MOST_TRIED = 16
"""So many heads are tried where a module does not say how many it has."""


class Slot(NamedTuple):
    """A parameter, and how it is kept."""

    name: str
    is_turned: bool
    """Whether it is (d_out, d_in), as nn.Linear keeps it."""
    has_heads: bool
    """Whether it is (head, d_in, d_head)."""


class Opened(NamedTuple):
    """Where a module keeps its matrices, and how large they are."""

    slots: dict[str, list[Slot]]
    """By what they make: q, k, v, or several of them in one, such as qkv; o for what comes last."""
    by_head: bool
    """Whether several in one stand head by head."""
    sizes: Sizes
    biases: dict[str, Tensor]
    """The biases of all, as zeros, and what norms have learned, as ones."""
    last: dict[str, Tensor]
    """The matrix that comes last, as one that changes nothing."""

    def parameters(self, *matrices: Tensor) -> dict[str, Tensor]:
        """What a module's parameters become with these W_q, W_k and W_v."""
        by_letter = dict(zip("qkv", matrices, strict=True))
        made = self.biases | self.last
        for letters, slots in self.slots.items():
            parts = [by_letter[letter] for letter in letters]
            if self.by_head:
                heads = [each.unflatten(1, (self.sizes.n_heads, -1)) for each in parts]
                parts = [torch.cat(heads, 2).flatten(1)]
            columns = torch.cat(parts, 1).chunk(len(slots), 1)
            for slot, part in zip(slots, columns, strict=True):
                made[slot.name] = part.mT.contiguous() if slot.is_turned else part
                if slot.has_heads:
                    made[slot.name] = part.unflatten(1, (self.sizes.n_heads, -1)).transpose(0, 1)
        return made


def opened_in(
    module: nn.Module, n_heads: int, unused: tuple[str, ...] = (), of_one_head: bool = False
) -> Iterator[Opened]:
    """The ways in which a module's parameters may be its matrices, most likely first.

    `unused` are the names of those that play no part. `of_one_head`: whether the matrices are
    those of one head, however many the module has.
    """
    named = dict(module.named_parameters())
    # (head, 1, 1) is a number for each head, (1, 1, d) a key or a value beside the text's.
    thin = [name for name, each in named.items() if each.ndim == 1 or list(each.shape).count(1) > 1]
    wide = {
        name: each
        for name, each in named.items()
        if each.ndim in (2, 3) and name not in thin and name not in unused
    }
    biases = {
        name: torch.zeros_like(named[name]) for name in thin if "bias" in name.rpartition(".")[2]
    }
    biases |= _gains(named, thin)
    names: dict[str, list[str]] = {}
    for name in wide:
        names.setdefault(letters_of(name), []).append(name)
    rest = names.pop("", [])
    if not names and len(rest) in (3, 4):  # nothing is told by names: by their order
        names, rest = {letter: [name] for letter, name in zip("qkv", rest, strict=False)}, rest[3:]
    elif not names and len(rest) in (1, 2):
        names, rest = {"qkv": rest[:1]}, rest[1:]
    if sorted("".join(names)) != ["k", "q", "v"] or len(rest) > 1:
        return
    linear = {id(e.weight) for e in module.modules() if isinstance(e, nn.Linear)}
    of_heads = [len(each) for each in wide.values() if each.ndim == 3]
    counts = of_heads[:1] or _counts(module, n_heads, max(map(len, names.values())))
    counts = [1] if of_one_head else counts
    for is_turned, n, by_head in product((False, True), counts, (False, True)):
        slots: dict[str, list[Slot]] = {letters: [] for letters in names}
        for letters, name in ((key, each) for key in names for each in names[key]):
            rows, columns = wide[name].shape[-2:]
            has_heads = wide[name].ndim == 3
            turned = is_turned and not has_heads
            if id(wide[name]) in linear or name.endswith("in_proj_weight"):
                turned = True
            elif not has_heads and max(rows, columns) == 3 * min(rows, columns):
                turned = rows > columns
            slots[letters].append(Slot(name, turned, has_heads))
        sizes = _sizes(wide, slots, n)
        if not sizes or (by_head and (n == 1 or max(map(len, names)) == 1)):
            continue
        last = {e: torch.eye(wide[e][..., 0].numel(), wide[e].shape[-1]) for e in rest}
        fits = all(min(each.shape) >= n * sizes.d_value for each in last.values())
        last = {e: each.view_as(wide[e]) for e, each in last.items()}
        if fits:
            yield Opened(slots, by_head, sizes, biases, last)


def _gains(named: Mapping[str, Tensor], thin: list[str]) -> dict[str, Tensor]:
    """What norms have learned to multiply by, as ones, where it is not one number for all."""
    gains = (name for name in thin if "norm" in name and "bias" not in name)
    return {e: torch.ones_like(named[e]) for e in gains if named[e].numel() and named[e].std() > 0}


def _counts(module: nn.Module, n_heads: int, n_parts: int) -> list[int]:
    """How many heads a module may have: as many as it says, or as it has matrices."""
    told = [getattr(module, name, None) for name in HEADS_OF_MODULES]
    told = [each for each in told if type(each) is int and each > 0]
    if n_parts > 1 or told or n_heads > 1:
        return [n_parts if n_parts > 1 else (told or [n_heads])[0]]
    return list(range(1, MOST_TRIED + 1))


def _sizes(wide: Mapping[str, Tensor], slots: dict[str, list[Slot]], n_heads: int) -> Sizes | None:
    """How large queries, keys and values are in so many heads; None where they cannot be."""
    total, widths_in = dict.fromkeys("qkv", 0), set()
    for letters, kept in slots.items():
        for slot in kept:
            n_out, n_in = wide[slot.name].shape[-2:][:: 1 if slot.is_turned else -1]
            if slot.has_heads:
                n_out *= len(wide[slot.name])
            widths_in.add(n_in)
            for letter in letters:
                total[letter] += n_out // len(letters)
    d_head = total["q"] // n_heads
    n_shared = total["k"] // d_head if d_head else 0
    d_in = min(widths_in)
    if len(widths_in) > 1 or d_in < 3 or not n_shared:
        return None
    leftover = (total["q"] % n_heads, total["k"] % d_head, n_heads % n_shared)
    if any(leftover) or total["v"] % n_shared:
        return None
    return Sizes(n_heads, d_head, total["v"] // n_shared, d_in, n_shared)


def letters_of(name: str) -> str:
    """What a parameter of this name makes: q, k, v, or several in one, such as qkv; "" for none."""
    for part in reversed(name.lower().split(".")):
        plain = re.sub(NOT_TOLD, "", part)
        if fused := re.search("qkv|kqv|vkq|qvk|kvq|vqk|kv", plain):
            return fused[0]
        if part in ("c_attn", "in_proj_weight", "in_proj"):
            return "qkv"
        for start, letter in LETTERS.items():
            if plain in (start, f"w{start}", f"x{start}") or (
                len(start) > 1 and re.fullmatch(f"w?{start}[a-z]*", plain)
            ):
                return letter
        if plain:
            return ""
    return ""
