"""Who comes second sees what would be there on a fresh server, whoever has come first.

What a card has come to is kept for everybody. Each page is opened as by one visitor, then as by
others who differ from that one in one thing, in both orders, on one server; what is sent to each
must be what a server sends that nobody else has asked.
"""

import re
import sys
from unittest.mock import PropertyMock, patch

import pytest
from google.protobuf.message import Message
from streamlit.runtime.context import ContextProxy
from streamlit.testing.v1 import AppTest

from attention_core.real_model import generation
from attention_ui.cards.cached import MOST_BYTES, cache
from attention_ui.cards.question import Guess, Guesses
from attention_ui.controls.lesson_session import LessonSession
from attention_ui.frame.lesson_modules import controls_of
from attention_ui.frame.spaced_repetition import ComingBack
from attention_ui.lessons.real_model import running
from serving import HANG, ROOT
from visiting import EVERYWHERE, _nodes

DAY = 20_000
"""Since 1970: the day on which a lesson comes back."""
BY_CHANCE = re.compile(rb"\$\$ID-[0-9a-f]+-|[0-9a-f]{32}|\d{18,20}")
"""In what is sent: the name of an element, the time that a view begins to count at, and by which
name a browser knows a visit.
"""


@pytest.fixture(autouse=True)
def no_time_passes(monkeypatch):
    """While a real model computes, since the page tells how long it took."""
    for module in (generation, running):
        monkeypatch.setattr(module, "perf_counter", lambda: 0.0)


@pytest.fixture(autouse=True)
def kept_is_fresh():
    """Here it is compared with what a fresh server sends."""


class Answered(dict):
    """Whatever is asked was answered: the visitor has had it shown."""

    def get(self, *_):
        return Guess(0)


def as_told(state: LessonSession) -> None:
    """Who has answered all questions."""
    state.renew(Guesses(given=Answered()))


def on_phone(state: LessonSession) -> None:
    state.window = frozenset({"phone"})


def who_comes_back(state: LessonSession) -> None:
    """Of whom a browser says that a lesson was finished, and what day it is."""
    here = state.own(ComingBack)
    here.text, here.day = f'{{"simplified_attention": [0, {DAY}]}}', DAY


def another_browser(**has) -> list:
    """What Streamlit says of the browser."""
    each = {name: PropertyMock(return_value=value) for name, value in has.items()}
    return [patch.object(ContextProxy, name, value) for name, value in each.items()]


def fixed(page: str) -> str:
    """All controls of a page by name, as a link fixes them."""
    if page == "app":
        return "sentence,tokenizer,vocabulary,seed"
    return ",".join(each.name for each in controls_of(page) if each.name not in AROUND)


AROUND = ("hide", "lock", "card", "paper", "cell", "section", "pin", "done", "tasks", "example")
Theme = type("Theme", (), {"type": "dark"})
Headers = {"Accept-Language": "de"}  # no browser, to which pictures come without their positions
DIFFERS = {
    "nothing": {},
    "lock": {"link": lambda page: {"lock": fixed(page)}},
    "hide": {"link": lambda page: {"hide": fixed(page)}},
    "sections hidden": {"link": lambda _: {"hide": "glossary,answers,pin,share"}},
    "answered": {"state": as_told},
    "asked nothing": {"link": lambda _: {"predict": "off"}},
    "window": {"state": on_phone},
    "theme": {"browser": {"theme": Theme()}},
    "language": {"browser": {"locale": "de", "timezone": "Europe/Berlin", "headers": Headers}},
    "embed": {"browser": {"is_embedded": True}},
    "day": {"state": who_comes_back},
    "paper": {"link": lambda _: {"paper": "on"}},
    "large": {"link": lambda _: {"large": "on"}},
    "seed": {"link": lambda _: {"seed": "7"}},
}
"""In what a visitor differs from the one who differs in nothing."""


def sent_to(page: str, who: str) -> list[bytes]:
    """All that is sent to a visitor who opens a page."""
    differs = DIFFERS[who]
    state = LessonSession()
    differs.get("state", lambda _: None)(state)
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=HANG)
    at.session_state["session"] = state
    at.session_state["row_deeper"] = True
    if page != "app":
        at.switch_page(f"pages/{page}.py")
    link = {"predict": "on", **differs.get("link", lambda _: {})(page)}
    for name, value in link.items():
        at.query_params[name] = value
    patches = another_browser(**differs.get("browser", {}))
    for each in patches:
        each.start()
    try:
        at.run()
    finally:
        for each in patches:
            each.stop()
    assert not at.exception, [each.message for each in at.exception]
    protos = (getattr(each, "proto", None) for each in _nodes(at._tree))
    return [told(each) for each in protos if isinstance(each, Message)]


def told(proto: Message) -> bytes:
    """An element as it is sent, without what is otherwise at each visit."""
    return proto.DESCRIPTOR.name.encode() + BY_CHANCE.sub(b"", proto.SerializeToString())


def begin_anew() -> None:
    """As a server that nobody has asked anything: nothing is kept, here or by a lesson."""
    cache.__init__(MOST_BYTES)
    for name, module in [*sys.modules.items()]:
        if name.startswith("attention_ui.lessons."):
            for each in vars(module).values():
                if hasattr(each, "cache_clear"):
                    each.cache_clear()


def differing(sees: list[bytes], fresh: list[bytes]) -> list[tuple[bytes, bytes]]:
    """Where two things that were sent differ, a little of each."""
    if len(sees) != len(fresh):
        missing, more = [*({*fresh} - {*sees})], [*({*sees} - {*fresh})]
        return [
            (b"%d sent, not %d" % (len(sees), len(fresh)), b""),
            *zip(more, missing, strict=False),
        ]
    return [
        (one[:300], other[:300]) for one, other in zip(sees, fresh, strict=True) if one != other
    ]


def check(page: str, among: tuple[str, ...]) -> None:
    """That of these visitors each is sent what a fresh server sends, whoever has come before."""
    fresh = {}
    for who in among:
        begin_anew()
        fresh[who] = sent_to(page, who)
    for order in (among, among[::-1]):
        begin_anew()
        for who in order:
            wrong = differing(sent_to(page, who), fresh[who])
            assert wrong == [], f"{who}, after {order[: order.index(who)]}, sees another’s {page}"


def test_nobody_sees_what_a_link_a_guess_or_a_phone_is_for_another():
    check("queries_keys_values", ("nothing", "lock", "answered", "window"))


NAMES = [each.removeprefix("pages/").removesuffix(".py") for each in EVERYWHERE]


@pytest.mark.slow("6 s a page, which is opened 42 times")
@pytest.mark.parametrize("page", NAMES)
def test_nobody_sees_what_is_anothers(page):
    check(page, tuple(DIFFERS))
