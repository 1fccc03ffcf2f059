"""Results that are kept by what they depend on, for all who ask, as many as there is room for."""

import hashlib
from collections.abc import Callable, Hashable
from functools import lru_cache, wraps
from typing import Any

import torch
from torch import Tensor


def digest(tensor: Tensor) -> tuple[bytes, tuple[int, ...], str]:
    """What tells a tensor from others in a key: shape, kind, and a digest in place of megabytes."""
    flat = tensor.contiguous().flatten().view(torch.uint8)
    told = hashlib.blake2b(flat.numpy().data, digest_size=16).digest()
    return told, tuple(tensor.shape), str(tensor.dtype)


class _Request:
    """What something is made from; equal where the keys are, whatever else is asked with."""

    __slots__ = ("key", "made_from")

    def __init__(self, key: Hashable, made_from: tuple) -> None:
        self.key, self.made_from = key, made_from

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Request) and self.key == other.key


def cached_by_key(most: int) -> Callable[[Callable], Callable]:
    """For a function that takes a key before its arguments: its results are kept by the key alone,
    which must say all they depend on. The last `most` stay; nobody may change one.
    """

    def of(make: Callable) -> Callable:
        @lru_cache(maxsize=most)
        def found(asked: _Request) -> Any:
            return make(*asked.made_from)

        @wraps(make)
        def kept(key: Hashable, *made_from: object) -> Any:
            asked = _Request(key, made_from)
            try:
                return found(asked)
            finally:
                asked.made_from = ()

        return kept

    return of
