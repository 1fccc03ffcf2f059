"""Numbers of few bits, as GGUF files keep them: a row is cut into blocks, each with a scale of its
own, and what a block's bits say is multiplied by it.

The kinds that nearly all files have are worked out here, since `gguf.quants` takes twice as long
for the most common ones. What is rarer is left to it.

Source: https://github.com/ggml-org/llama.cpp, ggml/src/ggml-common.h, the structures `block_q4_0`
and so on.
"""

from collections.abc import Callable
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
AT_ONCE = 2**18
"""So many numbers are worked out at a time: what is on the way stays in the processor's cache."""


def in_full(kind: int, stored: Tensor, n_columns: int) -> Tensor:
    """Rows of bytes (row, byte) in float32. Raises ModelRefused where `gguf` is needed."""
    if kind in _PLAIN:
        return stored.view(_PLAIN[kind]).float()
    blocks = stored.view(-1, KINDS[kind].n_bytes)
    if kind == Q4_1:
        return _q4_1(blocks).view(-1, n_columns)
    if kind in _WORKED_OUT:
        numbers = torch.empty(len(blocks), KINDS[kind].n_numbers)
        at_once = AT_ONCE // KINDS[kind].n_numbers
        for few, their_numbers in zip(blocks.split(at_once), numbers.split(at_once), strict=True):
            _WORKED_OUT[kind](few, their_numbers)
        return numbers.view(-1, n_columns)
    quants = needed("gguf.quants", f"reading numbers of the kind {KINDS[kind].name}")
    which = needed("gguf", "reading a GGUF file").GGMLQuantizationType(kind)
    return torch.from_numpy(quants.dequantize(stored.numpy(), which)).float().view(-1, n_columns)


def taken_apart(kind: int, block: Tensor, at: int) -> tuple[float, int, float] | None:
    """Scale, bits, and what is added, of a block's (byte,) number; None for other kinds."""
    whole = block[None]
    if kind in (2, 3):
        scale, first = float(_halves(whole, 0, 2)), 2 if kind == 2 else 4
        added = -8 * scale if kind == 2 else float(_halves(whole, 2, 4))
        return scale, int(_nibbles(whole[:, first:])[0, at]), added
    if kind == 8:
        return float(_halves(whole, 0, 2)), int(block[2 + at].view(torch.int8)), 0.0
    return None


def _halves(blocks: Tensor, first: int, last: int) -> Tensor:
    """Numbers of 16 bits that stand in each block from a byte to another: (block, number)."""
    return blocks[:, first:last].contiguous().view(torch.float16).float()


def _q4_0(blocks: Tensor, numbers: Tensor) -> None:
    torch.mul(_nibbles(blocks[:, 2:]).sub_(8), _halves(blocks, 0, 2), out=numbers)


def _q4_1(blocks: Tensor) -> Tensor:
    """The numbers of each block, (block, 32), in an order that torch multiplies out fastest."""
    pairs = blocks.contiguous().view(torch.int16)
    lower, upper = pairs & 0x0F0F, (pairs >> 4) & 0x0F0F
    ordered = torch.empty_like(blocks)
    ordered[:, :8] = (lower | lower >> 4)[:, 2:]
    ordered[:, 8:16] = (upper | upper >> 4)[:, 2:]
    ordered[:, 16:] = blocks[:, :4]
    return torch.ops.quantized.embedding_bag_4bit_unpack(ordered)


def _nibbles(packed: Tensor) -> Tensor:
    """Two numbers of 4 bits a byte: first all lower halves of a block, then all upper ones."""
    packed = packed.contiguous()
    return torch.cat((packed & 15, packed >> 4), dim=1).float()


def _q8_0(blocks: Tensor, numbers: Tensor) -> None:
    numbers.copy_(blocks[:, 2:].contiguous().view(torch.int8))
    numbers.mul_(_halves(blocks, 0, 2))


def _q4_k(blocks: Tensor, numbers: Tensor) -> None:
    """Eight groups of 32, each with a scale and a least number of 6 bits."""
    packed = blocks[:, 4:16].view(-1, 3, 4)
    low, least, mixed = packed[:, 0], packed[:, 1], packed[:, 2]
    scales = torch.cat((low & 63, (mixed & 15) | ((low >> 2) & 48)), dim=1)
    minima = torch.cat((least & 63, (mixed >> 4) | ((least >> 2) & 48)), dim=1)
    groups = numbers.view(-1, 4, 2, 32)
    of_bits = blocks[:, 16:].view(-1, 4, 32)
    groups[:, :, 0] = of_bits & 15
    groups[:, :, 1] = of_bits >> 4
    flat = numbers.view(-1, 8, 32)
    flat.mul_((_halves(blocks, 0, 2) * scales)[:, :, None])
    flat.sub_((_halves(blocks, 2, 4) * minima)[:, :, None])


def _q6_k(blocks: Tensor, numbers: Tensor) -> None:
    """Sixteen groups of 16, each with a scale; 4 bits of a number stand apart from the other 2."""
    lower = blocks[:, :128].view(-1, 2, 1, 64)
    upper = blocks[:, 128:192].view(-1, 2, 1, 32)
    four = torch.cat((lower & 15, lower >> 4), dim=2).view(-1, 2, 4, 32)
    two = torch.cat([(upper >> shift) & 3 for shift in (0, 2, 4, 6)], dim=2)
    numbers.copy_((four | (two << 4)).view(len(blocks), 256))
    scales = blocks[:, 192:208].contiguous().view(torch.int8).float()
    scales = scales * _halves(blocks, 208, 210)
    numbers.sub_(32).view(-1, 16, 16).mul_(scales[:, :, None])


_PLAIN = {0: torch.float32, 1: torch.float16, 30: torch.bfloat16}
_WORKED_OUT: dict[int, Callable[[Tensor, Tensor], None]] = {
    2: _q4_0,
    8: _q8_0,
    12: _q4_k,
    14: _q6_k,
}
