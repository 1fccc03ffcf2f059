"""Tokens that are bytes: how a vocabulary writes them, and how they are read as text."""

import re
from collections.abc import Sequence
from functools import lru_cache


@lru_cache(maxsize=1)
def bytes_of_characters() -> dict[str, int]:
    """The byte of each character of a byte-level vocabulary (GPT-2, `bytes_to_unicode`)."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in plain]
    found = {chr(byte): byte for byte in plain}
    return found | {chr(256 + at): byte for at, byte in enumerate(others)}


def in_their_text(contents: Sequence[bytes]) -> list[str]:
    """What tokens stand for: of a character in parts `好‹1/3›`, of stray bytes `‹E5A5…›`."""
    owners = [token for token, content in enumerate(contents) for _ in content]
    pieces, at = [""] * len(contents), 0
    for character in b"".join(contents).decode("utf-8", "surrogateescape"):
        size = len(character.encode("utf-8", "surrogateescape"))
        parts = [*dict.fromkeys(owners[at : at + size])]
        for part, token in enumerate(parts, 1):
            of_all = f"‹{part}/{len(parts)}›" if len(parts) > 1 else ""
            pieces[token] += character + of_all
        at += size
    return [re.sub("[\udc80-\udcff]+", _no_character, piece) for piece in pieces]


def _no_character(found: re.Match[str]) -> str:
    """Bytes that make no character, and where there must be more of them."""
    content = found[0].encode("utf-8", "surrogateescape")
    before = "" if content[0] >= 0xC0 else "…"
    after = "…" if found.end() == len(found.string) and max(content) >= 0xC0 else ""
    return f"‹{before}{content.hex().upper()}{after}›"
