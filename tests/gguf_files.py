"""GGUF files as bytes, right ones and wrong ones: written here, by the format's own words."""

import struct
from pathlib import Path

import numpy as np

FEW_BITS = Path(__file__).with_name("few_bits.gguf")
"""One tensor of 4 bits, `four_bits` (3, 64), as `python tests/gguf_files.py` writes it."""
KINDS = {"F32": 0, "F16": 1, "Q4_1": 3}


def string(text: str) -> bytes:
    content = text.encode()
    return struct.pack("<Q", len(content)) + content


def value(content: object) -> bytes:
    if isinstance(content, bool):
        return struct.pack("<I?", 7, content)
    if isinstance(content, int):
        return struct.pack("<II", 4, content)
    if isinstance(content, float):
        return struct.pack("<If", 6, content)
    if isinstance(content, str):
        return struct.pack("<I", 8) + string(content)
    if content and isinstance(content[0], str):
        return struct.pack("<IIQ", 9, 8, len(content)) + b"".join(map(string, content))
    if content and isinstance(content[0], float):
        return struct.pack("<IIQ", 9, 6, len(content)) + struct.pack(f"<{len(content)}f", *content)
    return struct.pack("<IIQ", 9, 5, len(content)) + struct.pack(f"<{len(content)}i", *content)


def four_bits(rows: np.ndarray) -> bytes:
    """Rows of a multiple of 32 numbers as Q4_1: a scale, the least number, nibbles."""
    blocks = rows.reshape(-1, 32)
    least = blocks.min(1, keepdims=True).astype(np.float16)
    scale = ((blocks.max(1, keepdims=True) - least) / 15).astype(np.float16)
    steps = ((blocks - least) / np.maximum(scale, 1e-7)).round().clip(0, 15).astype(np.uint8)
    packed = steps[:, :16] | steps[:, 16:] << 4
    return b"".join(each.tobytes() for f in zip(scale, least, packed, strict=True) for each in f)


def written(fields: dict[str, object], tensors: dict[str, np.ndarray], kinds=()) -> bytes:
    kinds = dict(kinds)
    front = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(fields))
    front += b"".join(string(name) + value(content) for name, content in fields.items())
    body = b""
    for name, numbers in tensors.items():
        kind = kinds.get(name, "F32")
        shape = numbers.shape[::-1]
        placed = (len(shape), *shape, KINDS[kind], len(body))
        front += string(name) + struct.pack(f"<I{len(shape)}QIQ", *placed)
        plain = np.float16 if kind == "F16" else np.float32
        content = four_bits(numbers) if kind == "Q4_1" else numbers.astype(plain).tobytes()
        body += content + bytes(-len(content) % 32)
    return front + bytes(-len(front) % 32) + body


if __name__ == "__main__":
    numbers = np.random.default_rng(0).normal(size=(3, 64))
    of, kinds = {"general.architecture": "none"}, {"four_bits": "Q4_1"}
    FEW_BITS.write_bytes(written(of, {"four_bits": numbers}, kinds))
