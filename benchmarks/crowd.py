"""A class at once, without browsers: how many answers a second, how long each takes and costs."""

import asyncio
import json
import os
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from attention_core.examples import EXAMPLES
from attention_ui.frame.contents import LESSONS
from serving import AppServer
from visitor import Visitor

from .measure import Figure, Part, server, spread

SECONDS = 60
NEAR, SCROLLS = 3, 6
"""So many parts of a page are seen in a window of 900 pixels (2.98, where one scrolls through all
lessons); a scroll after so many moves.
"""
WORDS = ["cat", "dog", "bird", "fish", "horse", "teacher", "river", "garden", "window", "letter"]
BROWSER = "Mozilla/5.0"
LONG_TEXT = "Once upon a time there was a little {} who lived in a large old house near the {}. "
TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


@dataclass(frozen=True)
class Row:
    """A class: how many people, and the seconds from one move of a person to the next."""

    what: str
    people: int = 50
    pause: float = 1.0
    is_a_class: bool = False
    """Whether all have the same sentence."""
    at_work: bool = False
    """Whether two of them have the server work for long: a training, a text for a real model."""
    processes: int = 1
    goals: tuple[float, float, float] = (1_500, 33, 1)
    """The 95th percentile, CPU time an answer, both in ms, and the share of a core."""


ROWS = (
    Row("50 people, a move a second, fifty sentences"),
    Row("the same, one sentence", is_a_class=True),
    Row("fifty sentences, two processes", processes=2, goals=(1_200, 33, 2)),
    Row("48 of them, while one trains and one has a model read", at_work=True),
    Row("30 people, a move in five seconds", people=30, pause=5.0, goals=(300, 30, 0.3)),
)


def crowd(quick: bool) -> list[Part]:
    """Each class, at a server of its own."""
    figures = []
    for row in ROWS:
        command = ["-m", "attention_explorer", "serve", "--address=127.0.0.1", "--port={port}"]
        start = [*command, f"--processes={row.processes}"] if row.processes > 1 else []
        with server(start=start) as app:
            figures.append(asyncio.run(_measured(row, app, 12 if quick else SECONDS)))
            print(" ", figures[-1].what, figures[-1].numbers, figures[-1].note, flush=True)
    how = (
        f"People on {len(LESSONS)} lessons, who speak Streamlit's protocol: each moves the "
        "sliders, switches and choices and the controls in pictures of its lesson in turn, and "
        "the next one "
        "after the pause, or when the answer has come, if that is later. From the message to the "
        "end of its run, at the other end of the connection. They tell what is near, scroll now "
        "and then and ask for what waits, as a browser does, where the page asks for that. CPU is "
        "the server's."
    )
    return [Part("A class at once", how, figures)]


async def _measured(row: Row, app: AppServer, seconds: int) -> Figure:
    movers = row.people - 2 * row.at_work
    people = [await _enter(app.url, at, row.is_a_class) for at in range(movers)]
    for each in people:  # what is made once a process, and once a session
        await _move(each)
    times: list[float] = []
    reasons: list[str] = []
    before, began = _cpu(app), time.monotonic()
    ends = began + seconds

    async def person(at: int, each: Visitor) -> None:
        next_move = time.monotonic() + at / movers * row.pause
        while next_move < ends:
            await asyncio.sleep(max(0.0, next_move - time.monotonic()))
            times.append(1_000 * await _move(each))
            next_move = max(next_move + row.pause, time.monotonic())
            await _rest(each, next_move)

    async def to_its_end(work: Awaitable[None]) -> None:
        try:
            await work
        except Exception as error:  # whatever ends a session early is what is looked for
            reasons.append(f"{type(error).__name__}: {error}")

    done = {"trained": 0, "read": 0}
    work = [person(at, each) for at, each in enumerate(people)]
    if row.at_work:
        work += [_again(each, app.url, ends, done) for each in (_train, _read)]
    await asyncio.gather(*map(to_its_end, work))
    took, cpu = time.monotonic() - began, _cpu(app) - before
    errors = [error for each in people for error in each.errors]
    for each in people:
        await each.leave()
    numbers = {
        "a second": len(times) / took,
        **spread(times),
        "95th": sorted(times)[int(0.95 * len(times))],
        "CPU an answer": 1_000 * cpu / len(times),
        "share of a core": cpu / took,
        "lost": len(reasons),
        "errors": len(errors),
        **(done if row.at_work else {}),
    }
    names = ("95th", "CPU an answer", "share of a core")
    goals = {**dict(zip(names, row.goals, strict=True)), "lost": 0, "errors": 0}
    note = "; ".join(dict.fromkeys([*reasons, *errors]))[:200]
    return Figure(row.what, numbers, goals, note)


async def _enter(url: str, at: int, is_a_class: bool) -> Visitor:
    page = LESSONS[at % len(LESSONS)].name
    texts = [each.inputs.sentence for each in EXAMPLES.values() if not each.is_trained]
    of_ones_own = f"the {WORDS[at % 10]} sees the {WORDS[at // 10]} because it sleeps"
    sentence = texts[0] if is_a_class else of_ones_own
    link = urlencode({"predict": "off", "sentence": sentence})
    visitor = await Visitor(url, page, link, BROWSER).enter()
    visitor.turn, visitor.near = at, ""  # nobody scrolls when all others do
    return visitor


async def _move(visitor: Visitor) -> float:
    """The next of the controls in sight, by their names, after a scroll now and then and to where
    there is one; on a page without any, the page again. Before it, what a browser tells: which
    parts are near, and at which control in a picture a hand is.
    """
    names, scrolled = await _in_sight(visitor), 0
    while not names and scrolled < len(visitor.parts):
        visitor.turn += SCROLLS - visitor.turn % SCROLLS
        names, scrolled = await _in_sight(visitor), scrolled + 1
    visitor.turn += 1
    if not names:
        return await visitor.again()
    name = names[visitor.turn % len(names)]
    if name.startswith("chart_") and "near" in visitor.others:
        hands, place = _told(visitor)["hands"], name.replace("chart_", "moves_", 1)
        if place not in hands:
            await visitor.tell("near", hand=",".join(sorted([*hands, place])))
    control = {**visitor.charts, **visitor.choices, **visitor.sliders}.get(name)
    return await (visitor.set(control) if control else visitor.again())


async def _in_sight(visitor: Visitor) -> list[str]:
    """The names of the controls that a visitor sees, who may have scrolled."""
    parts, first = [*visitor.parts], 0
    if "near" in visitor.others and parts:
        first = min(visitor.turn // SCROLLS * (NEAR - 1) % len(parts), max(0, len(parts) - NEAR))
        parts = parts[first : first + NEAR]
        if (near := ",".join(sorted(parts))) != visitor.near:
            visitor.near = near
            await visitor.tell("near", near=near)
    sight = [visitor.parts[name] for name in parts]
    places = {f"chart_{name}": at for name, at in visitor.rooms.items()}
    places |= {n: one.place for n, one in visitor.choices.items() if not one.place[0]}
    places |= {n: one.place for n, one in visitor.sliders.items()}
    return [
        name
        for name, place in sorted(places.items())
        if place[0] or any(place[: len(part)] == part for part in sight)
    ]


async def _rest(visitor: Visitor, until: float) -> None:
    """Ask for what waits, one after the other, as a browser does when nothing has come."""
    while "near" in visitor.others and (told := _told(visitor))["waiting"]:
        if until - time.monotonic() <= told["rest"] / 1_000:
            return
        await asyncio.sleep(told["rest"] / 1_000)
        await visitor.tell("near", rest=time.time())


def _told(visitor: Visitor) -> dict[str, Any]:
    """What the server has told the browser last."""
    return json.loads(visitor.others["near"][2])


async def _again(
    once: Callable[[str, int], Awaitable[None]], url: str, ends: float, done: dict[str, int]
) -> None:
    """Long work, one after the other, each with other numbers."""
    (name,) = (each for each in done if each.startswith(once.__name__[1:]))
    while time.monotonic() < ends:
        await once(url, done[name])
        done[name] += 1


async def _train(url: str, at: int) -> None:
    link = urlencode({"predict": "off", "steps": 2_000, "t_seed": 28 + at})
    visitor = await Visitor(url, "queries_keys_values", link, BROWSER).enter()
    await visitor.press("start_or_stop_training")
    await visitor.leave()


async def _read(url: str, at: int) -> None:
    text = "".join(LONG_TEXT.format(*(WORDS[(at + n) % 10] for n in (m, m + 3))) for m in range(3))
    link = urlencode({"predict": "off", "prompt": text})
    await (await Visitor(url, "real_model", link, BROWSER).enter()).leave()


def _cpu(app: AppServer) -> float:
    """Seconds of processor time that a server and what it started have taken; 0 where the system
    does not tell.
    """
    ours = Path(f"/proc/{app.process.pid}")
    try:
        told = " ".join(each.read_text() for each in ours.glob("task/*/children"))
        stats = [Path(f"/proc/{pid}/stat").read_text() for pid in (ours.name, *told.split())]
    except OSError:
        return 0.0
    fields = [each.rpartition(")")[2].split()[11:13] for each in stats]
    return sum(int(ticks) for both in fields for ticks in both) / TICKS
