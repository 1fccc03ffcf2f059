"""Many sessions at once: memory, and how long a rerun takes, on a server of its own."""

import asyncio
import time

from attention_ui.frame.contents import LESSONS

from .figures import Figure, Part, spread
from .process import resident_mib
from .visitor import Visitor

SESSIONS = 50
RERUNS = 600
SECONDS = 60
AT_ONCE = 4
"""Reruns that are asked for at the same time while memory is measured."""


def memory(app, quick: bool) -> list[Part]:
    """Memory with one session, with 50, and after so many reruns."""
    return asyncio.run(_memory(app, 200 if quick else RERUNS))


async def _memory(app, reruns: int) -> list[Part]:
    def now() -> float:
        return resident_mib(app.process.pid)

    def figure(what: str, most: dict[str, float], **more: float) -> Figure:
        print(f"  {what}: {now():.0f} MiB", flush=True)
        return Figure(what, {"MiB": now(), **more}, most)

    figures = [figure("server started, nobody there", {})]
    visitors = [await Visitor(app.url, "simplified_attention").enter()]
    await asyncio.sleep(5)  # torch is loaded in the background
    await visitors[0].move()
    figures.append(figure("one session", {"MiB": 420}))
    for number in range(1, SESSIONS):
        visitors.append(await Visitor(app.url, LESSONS[number % len(LESSONS)].name).enter())
    before = now()
    figures.append(figure(f"{SESSIONS} sessions on {len(LESSONS)} lessons", {"MiB": 450}))
    for done in range(0, reruns, AT_ONCE):
        some = [visitors[(done + each) % SESSIONS] for each in range(AT_ONCE)]
        await asyncio.gather(*(visitor.move() for visitor in some))
    growth = (now() / before - 1) * 100
    figures.append(
        figure(f"after {reruns:,} reruns", {"growth in %": 3}, **{"growth in %": growth})
    )
    errors = sum(len(visitor.errors) for visitor in visitors)
    for visitor in visitors:
        await visitor.leave()
    await asyncio.sleep(3)
    figures.append(figure("all have left", {}))
    how = (
        "Resident memory of the server's process. The sessions speak Streamlit's own protocol "
        "without a browser, each on one lesson, and move its sliders in turn. "
        f"Errors shown on any page: {errors}."
    )
    return [Part("Memory", how, figures, unit="")]


def crowd(app, quick: bool) -> list[Part]:
    """50 sessions that each move a slider once a second, until the time is over."""
    return asyncio.run(_crowd(app, 15 if quick else SECONDS))


async def _crowd(app, seconds: int) -> list[Part]:
    visitors = []
    for number in range(SESSIONS):
        visitors.append(await Visitor(app.url, LESSONS[number % len(LESSONS)].name).enter())
    ends = time.monotonic() + seconds
    told = await asyncio.gather(
        *(_person(visitor, at / SESSIONS, ends) for at, visitor in enumerate(visitors))
    )
    times = [took * 1_000 for each, _ in told for took in each]
    lost = [reason for _, reason in told if reason]
    errors = [error for visitor in visitors for error in visitor.errors]
    for visitor in visitors:
        await visitor.leave()
    numbers = {
        **spread(times),
        "95th": sorted(times)[int(0.95 * len(times))],
        "reruns": len(times),
        "a second": len(times) / seconds,
        "lost": len(lost),
        "errors": len(errors),
    }
    how = (
        f"{SESSIONS} sessions on {len(LESSONS)} lessons; each moves a slider, the lesson's in "
        "turn, and the next one a second later, or when the answer has come, if that is later. "
        "From the message to the end of the script, at the other end of the connection."
    )
    goals = {"95th": 2_000.0, "lost": 0.0, "errors": 0.0}
    what = f"one rerun, {seconds} s, {SESSIONS} sessions"
    note = "; ".join(dict.fromkeys([*lost, *errors]))[:200]
    return [Part("Fifty people at once", how, [Figure(what, numbers, goals, note)])]


async def _person(visitor: Visitor, wait: float, ends: float) -> tuple[list[float], str]:
    """The times of all moves until the end, and why the session was lost, if it was."""
    times = []
    next_move = time.monotonic() + wait
    try:
        while (now := time.monotonic()) < ends:
            await asyncio.sleep(max(0.0, next_move - now))
            next_move += 1
            times.append(await visitor.move())
            next_move = max(next_move, time.monotonic())
    except Exception as error:  # whatever ends a session early is what is looked for
        return times, f"{type(error).__name__}: {error}"
    return times, ""
