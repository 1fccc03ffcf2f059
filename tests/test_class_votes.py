"""A class at a server, by protocol: what reaches whom, and what a hostile learner can change."""

import asyncio
import re
import shutil

import pytest

from class_of_visitors import Person, asked, made
from conftest import IN_CI
from serving import AppServer
from visitor import _about

pytestmark = pytest.mark.slow("10 s: a server of its own")


async def class_of(url, people, cookie=""):
    """The teacher and the people of a new class; all that each is sent gathers in `sent`."""
    for_all, mine = (link[link.index("class/") :] for link in await made(url, cookie))
    each = [await Person(url, path).enter() for path in (mine, *[for_all] * people)]
    for one in each:
        gathers(one)
    return each


def gathers(person):
    person.sent = []
    look = person.visitor._look

    def noted(answer):
        person.sent.append(answer.delta.SerializeToString())
        look(answer)

    person.visitor._look = noted


def of(teacher):
    """What the teacher's wall says of how many have answered."""
    found = re.findall(rb"\*\*(\d+)\*\* of (\d+) have answered", b"".join(teacher.sent))
    return tuple(map(int, found[-1])) if found else None


def test_votes_reach_the_wall_and_bars_no_learner_before_the_teacher_shows_them(app_url):
    async def lives():
        teacher, *people = await class_of(app_url, 5)
        await teacher.visitor.press("class_ask")
        for at, one in enumerate(people):
            assert await one.look()
            await one.vote(at % 2)
        assert not await people[0].look(), "what others answer changes nothing of her screen"
        assert await teacher.look()
        assert of(teacher) == (5, 5)
        for one in (teacher, *people):
            assert not any(b"chose each answer" in each for each in one.sent)
        assert not any(b"have answered" in each for one in people for each in one.sent)
        await teacher.visitor.press("class_shows_bars")
        for one in people:
            one.sent.clear()
            assert await one.look()
            told = b"".join(one.sent)
            assert b"0: The: 3; 1, 3, 5, 7, 9" in told
            assert b"right" not in told[told.index(b"chose each answer") :][:400]
        late = await Person(
            app_url, f"class/{teacher.cookies['attention_class'].split(':')[0]}"
        ).enter()
        gathers(late)
        await teacher.visitor.press("class_asks_again")
        assert await late.look()
        assert late.group.endswith("_0_1")
        await late.vote(1)
        assert await teacher.look()
        assert of(teacher) == (1, 6)
        for one in (teacher, late, *people):
            assert one.visitor.errors == []
            await one.leave()

    asyncio.run(lives())


def test_a_hostile_learner_changes_one_vote(app_url):
    async def lives():
        teacher, ann, eve = await class_of(app_url, 2)
        await teacher.visitor.press("class_ask")
        for one in (ann, eve):
            await one.look()
        await ann.vote(0)
        visitor, group = eve.visitor, eve.visitor.groups[eve.group]
        choices = eve.choices()
        for at in range(500):  # without waiting for an answer
            message, state = _about(group.id, group.fragment)
            state.string_array_value.data.append(choices[at % len(choices)])
            message.rerun_script.query_string = visitor.link
            message.rerun_script.page_name = visitor.page
            message.rerun_script.page_script_hash = visitor.script
            await visitor.socket.send(message.SerializeToString())
        for wrong in (["no such"], ["x" * 1_000_000], choices, [""], []):
            await visitor.pick(eve.group, *wrong)
        await eve.vote(3)
        # A tab of the same browser, and a cookie of nobody.
        tab = await Person(app_url, "", cookies=eve.cookies).open()
        await tab.vote(4)
        code = eve.cookies["attention_class"].split(":")[0]
        nobody = await Person(app_url, "", cookies={"attention_class": f"{code}:l:x"}).open()
        assert not [key for key in nobody.visitor.groups if key.startswith("class_")]
        await teacher.look()
        assert of(teacher) == (2, 2)
        await teacher.visitor.press("class_shows_bars")
        (told,) = {
            told
            for each in teacher.sent
            for told in re.findall(rb"How many chose each answer[^\n]*?10: cat: \d+", each)
        }
        assert [int(n) for n in re.findall(rb": (\d+)(?:;|$)", told)] == [1, 0, 0, 0, 1, 0, 0]
        assert asked(f"{app_url}/class/now")[3] == '{"pulse":""}'
        for one in (teacher, ann, eve, tab, nobody):
            await one.leave()

    asyncio.run(lives())


def test_two_classes_do_not_mix(app_url):
    async def lives():
        one, two = [await class_of(app_url, 2) for _ in range(2)]
        for teacher, *people in (one, two):
            await teacher.visitor.press("class_ask")
            for person in people:
                await person.look()
        await one[1].vote(0)
        await one[2].vote(0)
        await two[1].vote(1)
        assert await one[0].look()
        assert await two[0].look()
        assert [of(teacher) for teacher, *_ in (one, two)] == [(2, 2), (1, 2)]
        await one[0].visitor.press("class_shows_bars")
        assert not await two[1].look()
        # Who opens the link of another class is in that one.
        mover = await Person(app_url, f"class/{one[0].cookies['attention_class'].split(':')[0]}",
                             cookies=two[2].cookies).enter()  # fmt: skip
        assert mover.cookies["attention_class"] != two[2].cookies
        for person in (*one, *two, mover):
            assert person.visitor.errors == []
            await person.leave()

    asyncio.run(lives())


NGINX = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin:/opt/homebrew/bin")


@pytest.mark.skipif(
    NGINX is None and not IN_CI, reason="there is no nginx here (apt install nginx-light)"
)
def test_of_two_processes_the_one_that_has_a_class_is_asked(tmp_path):
    command = ["-m", "attention_explorer", "serve", "--processes", "2", "--address", "127.0.0.1"]
    with AppServer(tmp_path / "out.txt", start=(*command, "--port={port}")) as server:
        server.wait_until_healthy()
        for process in "12":
            links = asyncio.run(made(server.url, f"attention={process}"))
            path = links[0][links[0].index("class/") :]
            assert path.partition("/")[2][0] == process
            for cookie in ("", "attention=1", "attention=2"):
                status, _, given, _ = asked(f"{server.url}/{path}", cookie)
                assert status == 303
                assert given.get("attention", cookie[-1:]) == process
        other = "3" + path.partition("/")[2][1:]
        assert asked(f"{server.url}/class/{other}")[0] == 404
