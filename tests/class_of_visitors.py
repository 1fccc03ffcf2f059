"""A class without browsers: its links are asked for by HTTP, its people speak Streamlit's protocol
(visitor.py) and ask for its pulse as a browser does.
"""

import asyncio
import http.client
import json
import re
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from urllib.parse import urlencode, urlsplit

from serving import HANG
from visitor import Visitor

LESSON, LINK = "simplified_attention", urlencode({"example": "wild_cat"})
CHANGES = "class_changes"


def asked(url: str, cookie: str = "") -> tuple[int, str, dict[str, str], str]:
    """Status, where to, cookies and body of an address."""
    parts = urlsplit(url)
    line = http.client.HTTPConnection(parts.hostname, parts.port, timeout=HANG)
    line.request("GET", parts.path, headers={"Cookie": cookie} if cookie else {})
    answer = line.getresponse()
    body = answer.read().decode()
    given = SimpleCookie()
    for each in answer.headers.get_all("Set-Cookie", []):
        given.load(each)
    line.close()
    cookies = {name: one.value for name, one in given.items()}
    return answer.status, answer.headers.get("Location", ""), cookies, body


def written(cookies: dict[str, str]) -> str:
    return "; ".join(f"{name}={value}" for name, value in cookies.items())


async def made(url: str, cookie: str = "") -> list[str]:
    """The links of a new class: for all, and for its teacher."""
    visitor = await Visitor(url, LESSON, LINK, cookie=cookie).enter()
    await visitor.press("share")
    await visitor.press("make_class")
    await visitor.leave()
    # The address is that of the page as the browser says it, which a visitor does not.
    return [link for link in visitor.codes if "class/" in link]


@dataclass
class Person:
    """One of a class, or its teacher, by the class's link."""

    url: str
    path: str
    agent: str = "visitor"
    cookies: dict[str, str] = field(default_factory=dict)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    """One thing at a time: a visitor waits for the answer to what was sent."""

    async def enter(self) -> "Person":
        status, _, given, _ = await asyncio.to_thread(
            asked, f"{self.url}/{self.path}", written(self.cookies)
        )
        assert status == 303, status
        self.cookies |= given
        return await self.open()

    async def open(self) -> "Person":
        """The page, as in a new tab of the same browser."""
        cookie = written(self.cookies)
        self.visitor = await Visitor(self.url, LESSON, LINK, self.agent, cookie).enter()
        return self

    @property
    def told(self) -> dict:
        return json.loads(self.visitor.others[CHANGES][2])

    async def look(self) -> bool:
        """Ask whether the class has gone on, and show it if so. Whether it has."""
        *_, body = await asyncio.to_thread(asked, f"{self.url}/class/now", written(self.cookies))
        pulse = json.loads(body)["pulse"]
        async with self.lock:
            if pulse == self.told["pulse"]:
                return False
            await self.visitor.tell(CHANGES, changed=pulse)
        return True

    @property
    def group(self) -> str:
        """The key of what the class is asked last, where it is shown."""
        keys = [key for key in self.visitor.groups if key.startswith("class_")]
        return max(keys, key=lambda key: [int(part) for part in key.split("_")[2:]])

    def choices(self) -> list[str]:
        return [each.content for each in self.visitor.groups[self.group].proto.options]

    @property
    def is_asked(self) -> bool:
        return any(key.startswith("class_") for key in self.visitor.groups)

    @property
    def counted(self) -> int:
        """What a teacher's wall says of how many have answered."""
        return int(re.findall(r"\*\*(\d+)\*\* of \d+ have answered", self.visitor.said)[-1])

    async def vote(self, place: int) -> float:
        async with self.lock:
            return await self.visitor.pick(self.group, self.choices()[place])

    async def leave(self) -> None:
        await self.visitor.leave()
