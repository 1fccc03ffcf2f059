"""What the server takes from the system: open files, connections that do not hold messages back,
and memory, of which it may keep so much.
"""

import asyncio
import ctypes
import gc
import os
import socket
import sys
from contextlib import suppress
from functools import wraps
from pathlib import Path
from typing import Any

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


def send_at_once() -> None:
    """Let no message wait until the one before it has been acknowledged: “now and then a move took
    a moment longer”, 40 ms of it. asyncio asks for that only of sockets that say their protocol,
    and Streamlit's, as uvicorn's own (its issue 3149), say none
    (docs/streamlit/waits_to_be_acknowledged.py). Before the event loop that runs serves any.
    """
    serve = (loop := asyncio.get_running_loop()).create_server

    @wraps(serve)
    async def serve_at_once(*given: Any, **named: Any) -> asyncio.Server:
        with suppress(KeyError, AttributeError, OSError):  # none yet, or of no network
            named["sock"].setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return await serve(*given, **named)

    with suppress(AttributeError):  # a loop of another kind, which does so by itself
        loop.create_server = serve_at_once


def pack_with_less_effort() -> None:
    """Pack what is sent in half of uvicorn's time, into as many bytes: a page is mostly one
    specification, many times, which lie further apart than uvicorn looks back. Replaces one name of
    uvicorn's, which has no option for it: docs/streamlit/README.md has what it saves.
    """
    with suppress(KeyError, AttributeError):  # another server, or another uvicorn
        sends: Any = sys.modules["uvicorn.protocols.websockets.websockets_sansio_impl"]
        packs, settings = sends.ServerPerMessageDeflateFactory, {"level": 3, "memLevel": 7}
        if isinstance(packs, type):  # once a process
            sends.ServerPerMessageDeflateFactory = lambda **named: packs(
                **named | {"server_max_window_bits": 14, "compress_settings": settings}
            )


def search_seldom() -> None:
    """Search for garbage every 10,000 objects. Python's own 700 take half a second while torch is
    imported, and 7 % of the processor time of 50 people.
    """
    gc.set_threshold(10_000, 10, 10)


def give_large_blocks_back() -> None:
    """Give large blocks back to the system when freed, which glibc does not go on to do."""
    with suppress(AttributeError, OSError, TypeError):
        # M_MMAP_THRESHOLD in glibc's malloc.h, and the bytes that it begins with.
        ctypes.CDLL(None).mallopt(-3, 128 * 1024)


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
