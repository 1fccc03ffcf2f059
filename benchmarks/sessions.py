"""Sessions without a browser: what they hold."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from urllib.parse import urlencode

from attention_ui.frame.contents import LESSONS, Lesson
from largest import LARGEST
from serving import AppServer
from visitor import Visitor

from .figures import Figure, Part, tried
from .watching import server

SESSIONS, RERUNS = 50, 600
AT_ONCE = 4
"""Reruns that are asked for at the same time while memory is measured."""
LARGEST_SESSIONS = 8
PEOPLE = f"{SESSIONS} sessions on {len(LESSONS)} lessons"


def resident_mib(app: AppServer) -> float:
    """Memory of a server's process that is in RAM, in MiB; 0 where the system does not tell."""
    try:
        lines = Path(f"/proc/{app.process.pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    (line,) = [line for line in lines if line.startswith("VmRSS:")]
    return int(line.split()[1]) / 1024


async def _enter(app: AppServer, first: int = 0) -> list[Visitor]:
    """A visitor for each session, the lessons in turn."""
    names = [LESSONS[at % len(LESSONS)].name for at in range(first, SESSIONS)]
    return [await Visitor(app.url, name).enter() for name in names]


def memory(quick: bool) -> list[Part]:
    """Memory with one session, with 50, and after so many reruns."""
    with server() as app:
        return asyncio.run(_memory(app, 200 if quick else RERUNS))


async def _memory(app: AppServer, reruns: int) -> list[Part]:
    figures = []

    def note(what: str, most: dict[str, float], **more: float) -> float:
        now = resident_mib(app)
        print(f"  {what}: {now:.0f} MiB", flush=True)
        figures.append(Figure(what, {"MiB": now, **more}, most))
        return now

    visitors = [await Visitor(app.url, "simplified_attention").enter()]
    await asyncio.sleep(5)  # torch is loaded in the background
    await visitors[0].move()
    note("one session", {"MiB": 420})
    visitors += await _enter(app, first=1)
    before = note(PEOPLE, {"MiB": 450})
    for done in range(0, reruns, AT_ONCE):
        some = [visitors[(done + each) % SESSIONS] for each in range(AT_ONCE)]
        await asyncio.gather(*(visitor.move() for visitor in some))
    growth = {"growth in %": (resident_mib(app) / before - 1) * 100}
    note(f"after {reruns:,} reruns", {"growth in %": 3}, **growth)
    for visitor in visitors:
        await visitor.leave()
    errors = sum(len(visitor.errors) for visitor in visitors)
    how = (
        "Resident memory of the server's process. The sessions speak Streamlit's own protocol "
        "without a browser, each on one lesson, and move its sliders in turn. "
        f"Errors shown on any page: {errors}."
    )
    return [Part("Memory", how, figures, unit="")]


def largest(quick: bool) -> list[Part]:
    """Memory of a session on each lesson, with every control at its largest."""
    return asyncio.run(_largest(LESSONS[:2] if quick else LESSONS))


async def _largest(lessons: tuple[Lesson, ...]) -> list[Part]:
    two_at_once = asyncio.Semaphore(2)

    async def one(lesson: Lesson) -> list[Figure]:
        async with two_at_once:
            with tried(lesson.title) as rows, server() as app:
                held = await _held(app, lesson.name)
                print(f"  {lesson.title}: {held:.1f} MiB a session", flush=True)
                rows.append(Figure(lesson.title, {"MiB a session": held}, {"MiB a session": 12}))
        return rows

    figures = [row for rows in await asyncio.gather(*map(one, lessons)) for row in rows]
    how = (
        f"Resident memory of the server's process, one for each lesson. Two sessions open the "
        f"lesson with every control at its largest, then {LARGEST_SESSIONS} more, whose memory is "
        "shared out among them."
    )
    return [Part("Memory of a session at the largest settings", how, figures, unit="")]


async def _held(app: AppServer, page: str) -> float:
    """MiB a session."""
    visitors = []
    async with AsyncExitStack() as leaving:

        async def enter() -> None:
            visitors.append(await Visitor(app.url, page, urlencode(LARGEST)).enter())
            leaving.push_async_callback(visitors[-1].leave)

        for _ in range(2):
            await enter()
            await asyncio.sleep(3)  # what is loaded in the background
        before = resident_mib(app)
        for _ in range(LARGEST_SESSIONS):
            await enter()
        after = resident_mib(app)
    if errors := [error for visitor in visitors for error in visitor.errors]:
        raise RuntimeError(f"the page shows {errors[0]}")
    return (after - before) / LARGEST_SESSIONS
