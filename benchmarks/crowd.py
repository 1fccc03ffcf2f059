"""A class at once, without browsers: how many answers a second, how long each takes and costs."""

import asyncio
import json
import os
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

from attention_core.examples import EXAMPLES
from attention_ui.frame.contents import LESSONS
from serving import AppServer
from visitor import Visitor

from .measure import Figure, Part, server, spread

SECONDS = 60
WORDS = ["cat", "dog", "bird", "fish", "horse", "teacher", "river", "garden", "window", "letter"]
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
    goals: tuple[float, float, float] = (1_500, 33, 1)
    """The 95th percentile, CPU time an answer, both in ms, and the share of a core."""


ROWS = (
    Row("50 people, a move a second, fifty sentences"),
    Row("the same, one sentence", is_a_class=True),
    Row("48 of them, while one trains and one has a model read", at_work=True),
    Row("30 people, a move in five seconds", people=30, pause=5.0, goals=(300, 30, 0.3)),
)


def crowd(quick: bool) -> list[Part]:
    """Each class, at a server of its own."""
    figures = []
    for row in ROWS:
        with server() as app:
            figures.append(asyncio.run(_measured(row, app, 12 if quick else SECONDS)))
            print(" ", figures[-1].what, figures[-1].numbers, figures[-1].note, flush=True)
    how = (
        f"People on {len(LESSONS)} lessons, who speak Streamlit's protocol: each moves the sliders "
        "and the controls in pictures of its lesson in turn, and the next one after the pause, or "
        "when the answer has come, if that is later. From the message to the end of its run, at "
        "the other end of the connection. CPU is the server's."
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
    visitor = await Visitor(url, page, link).enter()
    await _look_at(visitor, "")
    return visitor


async def _look_at(visitor: Visitor, picture: str) -> None:
    """Say what is near, as a window of 900 pixels does: a card with this picture and the one after
    it, the first two of the page for none; and that a hand is on the picture's control.
    """
    if "near" in visitor.others:
        names = json.loads(visitor.others["near"][2])["parts"]
        at = names.index(f"card_{picture}") if f"card_{picture}" in names else 0
        await visitor.tell("near", near=",".join(names[at : at + 2]), hand=picture)


async def _move(visitor: Visitor) -> float:
    """The next of the controls of a page, by their names; without any, the page again. What is
    looked at before is no part of the answer.
    """
    controls = {**visitor.sliders, **visitor.charts}
    if not controls:
        return await visitor.move()
    visitor.turn += 1
    name = sorted(controls)[visitor.turn % len(controls)]
    if name in visitor.charts:
        await _look_at(visitor, name.removeprefix("chart_"))
    return await visitor.set(controls[name])


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
    visitor = await Visitor(url, "queries_keys_values", link).enter()
    await visitor.press("start_or_stop_training")
    await visitor.leave()


async def _read(url: str, at: int) -> None:
    text = "".join(LONG_TEXT.format(*(WORDS[(at + n) % 10] for n in (m, m + 3))) for m in range(3))
    link = urlencode({"predict": "off", "prompt": text})
    await (await Visitor(url, "real_model", link).enter()).leave()


def _cpu(app: AppServer) -> float:
    """Seconds of processor time that a server has taken; 0 where the system does not tell."""
    try:
        told = Path(f"/proc/{app.process.pid}/stat").read_text()
    except OSError:
        return 0.0
    return sum(map(int, told.rpartition(")")[2].split()[11:13])) / TICKS
