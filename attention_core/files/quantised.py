"""Numbers of few bits, as GGUF files keep them: a row is cut into blocks, each with a scale of its
own, and what a block's bits say is multiplied by it.

All is left to `gguf.quants` but Q4_1, which takes it twice as long: SmolLM2 is kept so here.

Source: https://github.com/ggml-org/llama.cpp, ggml/src/ggml-common.h, the structures `block_q4_0`
and so on.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from .refused import needed


@dataclass(frozen=True)
class Kind:
    """A way of keeping numbers: how many a block holds, and in how many bytes."""

    name: str
    n_numbers: int
    n_bytes: int

    @property
    def words(self) -> str | None:
        """Such as `4 bits (Q4_1)`; None for numbers that are kept in full."""
        if self.n_numbers == 1:
            return None
        digit = next(character for character in self.name if character.isdigit())
        return f"{digit} bits ({self.name})" if digit != "1" else f"1 bit ({self.name})"


KINDS = {
    0: Kind("F32", 1, 4),
    1: Kind("F16", 1, 2),
    2: Kind("Q4_0", 32, 18),
    3: Kind("Q4_1", 32, 20),
    6: Kind("Q5_0", 32, 22),
    7: Kind("Q5_1", 32, 24),
    8: Kind("Q8_0", 32, 34),
    10: Kind("Q2_K", 256, 84),
    11: Kind("Q3_K", 256, 110),
    12: Kind("Q4_K", 256, 144),
    13: Kind("Q5_K", 256, 176),
    14: Kind("Q6_K", 256, 210),
    16: Kind("IQ2_XXS", 256, 66),
    17: Kind("IQ2_XS", 256, 74),
    18: Kind("IQ3_XXS", 256, 98),
    20: Kind("IQ4_NL", 32, 18),
    21: Kind("IQ3_S", 256, 110),
    22: Kind("IQ2_S", 256, 82),
    23: Kind("IQ4_XS", 256, 136),
    30: Kind("BF16", 1, 2),
}
"""By the number that stands in a file."""


Q4_1 = 3


def in_full(kind: int, stored: Tensor, n_columns: int) -> Tensor:
    """Rows of bytes (row, byte) in float32. Raises ModelRefused where `gguf` is needed."""
    if kind in _PLAIN:
        return stored.view(_PLAIN[kind]).float()
    blocks = stored.view(-1, KINDS[kind].n_bytes)
    if kind == Q4_1:
        return _q4_1(blocks).view(-1, n_columns)
    quants = needed("gguf.quants", f"reading numbers of the kind {KINDS[kind].name}")
    which = needed("gguf", "reading a GGUF file").GGMLQuantizationType(kind)
    return torch.from_numpy(quants.dequantize(stored.numpy(), which)).float().view(-1, n_columns)


def taken_apart(kind: int, block: Tensor, at: int) -> tuple[float, int, float] | None:
    """Scale, bits, and what is added, of a block's (byte,) number; None for other kinds."""

    def half(first: int) -> float:
        return float(block[first : first + 2].view(torch.float16))

    if kind in (2, Q4_1):
        first = 2 if kind == 2 else 4
        bits = int(block[first + at % 16]) >> 4 * (at // 16) & 15
        return half(0), bits, -8 * half(0) if kind == 2 else half(2)
    if kind == 8:
        return half(0), int(block[2 + at].view(torch.int8)), 0.0
    return None


def _q4_1(blocks: Tensor) -> Tensor:
    """The numbers of each block, (block, 32), in an order that torch multiplies out fastest."""
    pairs = blocks.contiguous().view(torch.int16)
    lower, upper = pairs & 0x0F0F, (pairs >> 4) & 0x0F0F
    ordered = torch.empty_like(blocks)
    ordered[:, :8] = (lower | lower >> 4)[:, 2:]
    ordered[:, 8:16] = (upper | upper >> 4)[:, 2:]
    ordered[:, 16:] = blocks[:, :4]
    return torch.ops.quantized.embedding_bag_4bit_unpack(ordered)


_PLAIN = {0: torch.float32, 1: torch.float16, 30: torch.bfloat16}
