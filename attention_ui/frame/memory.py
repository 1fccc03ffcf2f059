"""How the server takes memory from the system."""

import ctypes
from contextlib import suppress

M_MMAP_THRESHOLD = -3
"""The option's number in glibc's malloc.h."""
LARGE = 128 * 1024
"""Bytes, glibc's own value to begin with."""


def give_large_blocks_back() -> None:
    """Take every large block from the system by itself, and give it back when it is freed.

    glibc stops to do so once a larger one has been freed: then the memory of one large experiment
    stays with the server in pieces. Does nothing where there is no glibc.
    """
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, LARGE)
