"""Every control at its largest: what a session holds then, and what reloads cost a neighbour."""

import asyncio
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlencode

from attention_ui.frame.contents import LESSONS
from largest import LARGEST
from serving import start_server

from .figures import Figure, Part, spread
from .process import cpu_seconds, resident_mib
from .visitor import Visitor

SESSIONS = 12
RELOADING = 10
SECONDS = 40
MOVES_ALONE = 10
LINK = urlencode(LARGEST)
QUIET = "simplified_attention"
"""The lesson of the neighbour, as it opens."""


def largest(quick: bool) -> list[Part]:
    """Memory of a session on each lesson, then a neighbour of those who reload the largest one."""
    return asyncio.run(_largest(quick))


async def _largest(quick: bool) -> list[Part]:
    figures, sizes = [], {}
    for lesson in LESSONS:
        with tempfile.TemporaryDirectory() as folder:
            app = start_server(Path(folder) / "app.txt")
            try:
                numbers, sizes[lesson.name] = await _sessions(app, lesson.name)
            finally:
                app.stop()
        figures.append(Figure(lesson.title, numbers, {"MiB a session": 12}))
        print(f"  {lesson.title}: {numbers['MiB a session']:.1f} MiB a session", flush=True)
    how = (
        f"Resident memory of the server's process, one for each lesson. Two sessions open the "
        f"lesson with every setting at its largest, then {SESSIONS} more, whose memory is shared "
        "out among them. *CPU*: the server's processor time for one of them."
    )
    page = max(sizes, key=sizes.__getitem__)
    with tempfile.TemporaryDirectory() as folder:
        app = start_server(Path(folder) / "app.txt")
        try:
            beside = await _beside(app, page, 10 if quick else SECONDS)
        finally:
            app.stop()
    return [Part("Memory of a session at the largest settings", how, figures, unit=""), beside]


async def _sessions(app, page: str) -> tuple[dict[str, float], int]:
    """Memory and processor time a session, and the bytes that the page takes."""
    pid = app.process.pid
    async with _visitors() as visitors:
        for _ in range(2):
            visitors.append(await Visitor(app.url, page, LINK).enter())
            await asyncio.sleep(3)  # what is loaded in the background
        before, began = resident_mib(pid), cpu_seconds(pid)
        for _ in range(SESSIONS):
            visitors.append(await Visitor(app.url, page, LINK).enter())
        used = cpu_seconds(pid) - began
        after = resident_mib(pid)
        numbers = {
            "MiB a session": (after - before) / SESSIONS,
            "all, MiB": after,
            "CPU, s": used / SESSIONS,
        }
        errors = [error for visitor in visitors for error in visitor.errors]
        if errors:
            raise RuntimeError(f"{page} showed an error: {errors[0]}")
        return numbers, visitors[-1].received


async def _beside(app, page: str, seconds: int) -> Part:
    """A neighbour's moves, alone and while others reload a page as soon as it is there."""
    async with _visitors() as visitors:
        await (await Visitor(app.url, page, LINK).enter()).leave()
        await asyncio.sleep(3)
        neighbour = await Visitor(app.url, QUIET).enter()
        visitors.append(neighbour)
        alone = [await _move(neighbour) for _ in range(MOVES_ALONE)]
        ends = time.monotonic() + seconds
        reloading = [asyncio.create_task(_reload(app.url, page, ends)) for _ in range(RELOADING)]
        times = []
        while time.monotonic() < ends:
            times.append(await _move(neighbour))
        loads = [took for each in await asyncio.gather(*reloading) for took in each]
    title = next(lesson.title for lesson in LESSONS if lesson.name == page)
    how = (
        f"{RELOADING} visitors reload *{title}*, the page with most bytes, every setting at its "
        "largest, each as soon as it is there. Meanwhile a neighbour on another lesson moves a "
        "slider, and the next one half a second after the answer. From the message to the end of "
        "the script, at the other end of the connection."
    )
    figures = [
        Figure("a neighbour's move, alone", {**spread(alone), "count": len(alone)}, {}),
        Figure(
            f"a neighbour's move while {RELOADING} reload",
            {**spread(times), "count": len(times)},
            {"median": 1_000},
        ),
        Figure("one reload", {**spread(loads), "count": len(loads)}, {}),
    ]
    return Part("Beside those who reload the largest page", how, figures)


async def _move(neighbour: Visitor) -> float:
    await asyncio.sleep(0.5)
    return await neighbour.move() * 1_000


async def _reload(url: str, page: str, ends: float) -> list[float]:
    """Open a page again and again, each time in a session of its own, as a browser does."""
    times = []
    while time.monotonic() < ends:
        began = time.monotonic()
        visitor = await Visitor(url, page, LINK).enter()
        times.append((time.monotonic() - began) * 1_000)
        await visitor.leave()
    return times


@asynccontextmanager
async def _visitors() -> AsyncIterator[list[Visitor]]:
    """Visitors who leave at the end."""
    visitors: list[Visitor] = []
    try:
        yield visitors
    finally:
        for visitor in visitors:
            await visitor.leave()
