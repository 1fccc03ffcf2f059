"""Every control at its largest: what a session holds then."""

import asyncio
from contextlib import AsyncExitStack
from urllib.parse import urlencode

from attention_ui.frame.contents import LESSONS, Lesson
from largest import LARGEST

from .figures import Figure, Part, failed
from .process import cpu_seconds, resident_mib, server
from .visitor import Visitor

SESSIONS = 8
LINK = urlencode(LARGEST)


def largest(quick: bool) -> list[Part]:
    """Memory of a session on each lesson."""
    return asyncio.run(_largest(quick))


async def _largest(quick: bool) -> list[Part]:
    two_at_once = asyncio.Semaphore(2)

    async def one(lesson: Lesson) -> Figure:
        async with two_at_once:
            try:
                with server() as app:
                    numbers = await _sessions(app, lesson.name)
            except Exception as error:  # the others go on
                return failed(lesson.title, error)
        print(f"  {lesson.title}: {numbers['MiB a session']:.1f} MiB a session", flush=True)
        return Figure(lesson.title, numbers, {"MiB a session": 12})

    some = LESSONS[:2] if quick else LESSONS
    figures = await asyncio.gather(*(one(lesson) for lesson in some))
    how = (
        f"Resident memory of the server's process, one for each lesson. Two sessions open the "
        f"lesson with every control at its largest, then {SESSIONS} more, whose memory is shared "
        "out among them. *CPU*: the server's processor time for one of them."
    )
    title = "Memory of a session at the largest settings"
    return [Part(title, how, [*figures], unit="")]


async def _sessions(app, page: str) -> dict[str, float]:
    """Memory and processor time a session, and what the page takes on its way."""
    pid, visitors = app.process.pid, []
    async with AsyncExitStack() as leaving:

        async def enter() -> None:
            visitors.append(await Visitor(app.url, page, LINK).enter())
            leaving.push_async_callback(visitors[-1].leave)

        for _ in range(2):
            await enter()
            await asyncio.sleep(3)  # what is loaded in the background
        before, began = resident_mib(pid), cpu_seconds(pid)
        for _ in range(SESSIONS):
            await enter()
        used, after = cpu_seconds(pid) - began, resident_mib(pid)
    if errors := [error for visitor in visitors for error in visitor.errors]:
        raise RuntimeError(f"the page shows {errors[0]}")
    return {
        "MiB a session": (after - before) / SESSIONS,
        "all, MiB": after,
        "CPU, s": used / SESSIONS,
        "kB": visitors[-1].received / 1_000,
    }
