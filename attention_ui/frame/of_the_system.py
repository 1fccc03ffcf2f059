"""What the server takes from the system: open files, and memory, of which it may keep so much."""

import ctypes
import gc
import os
from contextlib import suppress
from pathlib import Path

MOST_OPEN = 65_536
"""Open files that are asked for where the hard limit is larger or endless."""


def raise_open_files() -> None:
    """Raise the soft limit of open files to the hard one, or `MOST_OPEN`: a session takes four."""
    try:
        import resource
    except ImportError:
        return
    with suppress(ValueError, OSError):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = MOST_OPEN if hard == resource.RLIM_INFINITY else min(hard, MOST_OPEN)
        if soft != resource.RLIM_INFINITY and soft < wanted:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def search_seldom() -> None:
    """Search for garbage every 10,000 objects. Python's own 700 take half a second while torch is
    imported, and 7 % of the processor time of 50 people.
    """
    gc.set_threshold(10_000, 10, 10)


M_MMAP_THRESHOLD = -3
"""The option's number in glibc's malloc.h."""
LARGE = 128 * 1024
"""Bytes, glibc's own value to begin with."""


def give_large_blocks_back() -> None:
    """Give large blocks back to the system when freed, which glibc does not go on to do."""
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, LARGE)


SHARE, LEAST, MOST = 16, 16 << 20, 128 << 20
"""One part in so many of the host's memory is for what is kept for everybody, within bounds."""


def share_of_memory() -> int:
    """Bytes for what is kept for everybody: a share of what the host gives to this process."""
    found = [MOST * SHARE]
    with suppress(AttributeError, ValueError, OSError):  # no such thing on Windows
        found.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    for limit in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        with suppress(OSError, ValueError):
            found.append(int(Path(limit).read_text(encoding="ascii")))
    return max(LEAST, min(found) // SHARE)
