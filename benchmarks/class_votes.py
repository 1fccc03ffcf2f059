"""Fifty people of a class, without browsers: they vote twice, see the numbers, and then move."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress

from class_of_visitors import Person, made
from serving import AppServer

from .crowd import BROWSER, _cpu, _move, _rest
from .measure import Figure, Part, server, spread

PEOPLE, SECONDS, PAUSE = 50, 20, 1.0
"""How many they are; so long they vote, twice, and move; and from one move to the next."""
MOST_SHARE = 0.5
"""Of a core, while they vote: less than half of what moving takes at a move a second."""


def class_votes(quick: bool) -> list[Part]:
    """A class at a server of its own."""
    people, seconds = (12, 8) if quick else (PEOPLE, SECONDS)
    with server() as app:
        figures = asyncio.run(_lives(app, people, seconds))
    how = (
        "A class by one link, who speak Streamlit's protocol, and ask once a second whether the "
        "class has gone on, as a browser does; their teacher, too. Each answers at some moment, "
        "and changes the answer once. *The numbers are shown* is from the teacher's press to the "
        "last screen that has them, of which each is drawn with its card; then all move the "
        "controls of the lesson, as in *A class at once*. CPU is the server's, with what all "
        "their asking takes; *lost* are votes that the bars have not."
    )
    return [Part("A class that votes, and then moves", how, figures)]


async def _lives(app: AppServer, n_people: int, seconds: int) -> list[Figure]:
    for_all, mine = (link[link.index("class/") :] for link in await made(app.url))
    teacher, *people = [
        await Person(app.url, path, BROWSER).enter() for path in (mine, *[for_all] * n_people)
    ]
    chance, figures = random.Random(7), []
    everybody = [teacher, *people]
    quiet = await _while(app, everybody, seconds, lambda _: asyncio.sleep(0))
    figures.append(Figure("nobody does anything", {"share of a core": quiet}))
    for press, what in (("class_ask", "they vote"), ("class_asks_again", "they vote again")):
        times: list[float] = []
        await teacher.visitor.press(press)

        async def votes(person: Person, times: list[float] = times) -> None:
            when = sorted(chance.uniform(1, 0.8 * seconds) for _ in range(2))
            for before, at in zip([0.0, *when], when, strict=False):
                await asyncio.sleep(at - before)
                while not person.is_asked:
                    await asyncio.sleep(0.1)
                times.append(1_000 * await person.vote(chance.randrange(len(person.choices()))))

        share = await _while(app, everybody, seconds, votes, people)
        figures.append(_figure(what, times, share, seconds, teacher, n_people))
    began, before = time.monotonic(), _cpu(app)
    await teacher.visitor.press("class_uncovers")
    shown = await asyncio.gather(*(_until_shown(one, began) for one in people))
    took = time.monotonic() - began
    cpu = _cpu(app) - before
    numbers = {**spread(shown), "CPU an answer": 1_000 * cpu / n_people}
    figures.append(Figure("the numbers are shown", {**numbers, "share of a core": cpu / took}))
    moves: list[float] = []

    async def moving(person: Person) -> None:
        ends = time.monotonic() + seconds - PAUSE
        await asyncio.sleep(chance.random() * PAUSE)
        while time.monotonic() < ends:
            next_move = time.monotonic() + PAUSE
            moves.append(1_000 * await _move(person.visitor))
            await _rest(person.visitor, next_move)
            await asyncio.sleep(max(0.0, next_move - time.monotonic()))

    for one in people:
        one.visitor.near = ""
        await _move(one.visitor)
    share = await _while(app, everybody, seconds, moving, people)
    figures.append(_figure("they move, one sentence", moves, share, seconds, None, 0))
    for one in everybody:
        await one.leave()
    return figures


async def _while(
    app: AppServer,
    everybody: list[Person],
    seconds: float,
    does: Callable[[Person], Awaitable[None]],
    who: list[Person] | None = None,
) -> float:
    """What each of them does, while all ask how the class is. The share of a core that it took."""

    async def asks(person: Person) -> None:
        await asyncio.sleep(random.Random(id(person)).random())
        while True:
            next_time = time.monotonic() + 1.0
            await person.look()
            await asyncio.sleep(max(0.0, next_time - time.monotonic()))

    before, began = _cpu(app), time.monotonic()
    asking = [asyncio.create_task(asks(one)) for one in everybody]
    await asyncio.gather(*(does(one) for one in who or everybody))
    await asyncio.sleep(max(0.0, began + seconds - time.monotonic()))
    took, cpu = time.monotonic() - began, _cpu(app) - before
    for one in asking:
        one.cancel()
        with suppress(asyncio.CancelledError):
            await one
    return cpu / took


async def _until_shown(person: Person, began: float) -> float:
    while not await person.look():
        await asyncio.sleep(1.0)
    return 1_000 * (time.monotonic() - began)


def _figure(
    what: str, times: list[float], share: float, seconds: float, teacher: Person | None, people: int
) -> Figure:
    goals = {"lost": 0.0, "errors": 0.0, "share of a core": MOST_SHARE if people else 1.0}
    numbers = {
        "a second": len(times) / seconds,
        **spread(times),
        "95th": sorted(times)[int(0.95 * len(times))],
        "CPU an answer": 1_000 * share * seconds / len(times),
        "share of a core": share,
    }
    if teacher:
        numbers["lost"] = people - teacher.counted
        numbers["errors"] = len(teacher.visitor.errors)
    return Figure(what, numbers, goals if teacher else {"share of a core": 1.0})
