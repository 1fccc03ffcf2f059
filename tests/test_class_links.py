"""The addresses of a class, asked without a server: who gets in, and who does not."""

import asyncio
from http.cookies import SimpleCookie
from urllib.parse import urlsplit

import pytest
from starlette.applications import Starlette

from attention_ui.classroom.classes import CLASSES, MOST_TRIES, spoken
from attention_ui.classroom.classroom import Asked, Turn
from attention_ui.controls.in_class import COOKIE, parted
from attention_ui.frame import class_links

APP = Starlette(routes=class_links.class_links())


def ask(path, cookie="", address="10.0.0.1", method="GET", query="", **headers):
    """Status, headers and body of an answer, and the cookie that it gives."""
    given = {"host": "class.example", **headers}
    if cookie:
        given["cookie"] = f"phone=1; {COOKIE}={cookie}"
    scope = {
        **{"type": "http", "http_version": "1.1", "method": method, "scheme": "http"},
        **{
            "path": path,
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "root_path": "",
        },
        **{"client": (address, 1), "server": ("class.example", 80)},
        "headers": [
            (name.replace("_", "-").encode(), text.encode()) for name, text in given.items()
        ],
    }
    sent = []

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message):
        sent.append(message)

    asyncio.run(APP(scope, receive, send))
    found = {name.decode(): text.decode() for name, text in sent[0]["headers"]}
    body = b"".join(each.get("body", b"") for each in sent[1:]).decode()
    kept = SimpleCookie(found.get("set-cookie", "")).get(COOKIE)
    return sent[0]["status"], found, body, kept.value if kept else ""


@pytest.fixture
def room():
    made = CLASSES.make("causal_mask", {"seed": "3", "sentence": "a & b"})
    yield made
    made.ends()


@pytest.fixture(autouse=True)
def tries():
    CLASSES.tries._wrong.clear()


def test_a_link_brings_one_browser_in_once_and_to_where_the_class_is(room):
    status, headers, _, cookie = ask(f"/class/{spoken(room.code).lower()}")
    assert status == 303
    assert headers["location"] == "../causal_mask?seed=3&sentence=a+%26+b"
    code, role, person = parted(cookie)
    assert (code, role) == (room.code, "l")
    assert room.knows(person)
    assert ask(f"/class/{room.code}", cookie)[3] == "", "who is in it already stays who they are"
    assert ask(f"/class/{room.code}", f"{room.code}:l:forged")[3] != ""
    room.asks(Asked("a.b", object(), 1, "home", {}, "", ""), 0)
    assert ask(f"/class/{room.code}")[1]["location"] == "../"
    room.closes(True)
    assert ask(f"/class/{room.code}")[0] == 403
    assert ask(f"/class/{room.code}", cookie)[0] == 303


def test_no_script_reads_the_cookie_and_it_is_sent_to_this_site_alone(room):
    _, headers, *_ = ask(f"/class/{room.code}")
    for word in ("HttpOnly", "SameSite=lax", "Path=/"):
        assert word in headers["set-cookie"]
    assert "Secure" not in headers["set-cookie"]
    assert "Secure" in ask(f"/class/{room.code}", x_forwarded_proto="https")[1]["set-cookie"]
    assert headers["cache-control"] == "no-store"


def test_the_teacher_s_link_alone_leads_the_class(room):
    status, headers, _, cookie = ask(f"/class/{room.code}/{room.token}")
    assert (status, parted(cookie)) == (303, (room.code, "t", room.token))
    assert urlsplit(headers["location"]).path == "../../causal_mask"
    assert room.token not in headers["location"]
    other = CLASSES.make("home", {})
    for token in ("x", room.token[:-1], other.token, "%00", "é"):
        status, _, body, cookie = ask(f"/class/{room.code}/{token}")
        assert (status, cookie) == (404, "")
        assert token == "x" or token not in body
        assert "not the teacher’s link to this class" in body
    other.ends()


def test_who_guesses_codes_is_stopped_and_others_are_not(room):
    wrong = [ask(f"/class/BCDFGHJ{letter}")[0] for letter in "BCDFGHJKLMNPQRSTVWXZ"]
    assert wrong == [404] * MOST_TRIES
    assert ask("/class/BCDFGHJK")[0] == 429
    assert ask(f"/class/{room.code}")[0] == 429, "else the last guess would tell"
    assert ask(f"/class/{room.code}/{room.token}")[0] == 429
    assert ask(f"/class/{room.code}", address="10.0.0.2")[0] == 303


def test_a_code_can_be_typed_where_there_is_none_or_a_wrong_one(room):
    for path, action, home in (
        ("/class", "./class", "./"),
        ("/class/", "../class", "../"),
        ("/class/BCDFGHJK", "../class", "../"),
        ("/class/BCDFGHJK/token", "../../class", "../../"),
    ):
        body = ask(path)[2]
        assert f'<form action="{action}">' in body
        assert f'<a href="{home}">' in body
    body = ask(f"/class/{room.code}/wrong")[2]
    assert "<form" not in body
    assert '<a href="../../">' in body
    for path, leads in (("/class", "./class/"), ("/class/", "../class/")):
        typed = ask(path, query=f"code=+{spoken(room.code).lower()}")
        assert (typed[0], typed[1]["location"]) == (303, f"{leads}{room.code}")
    assert ask("/class", query="code=%2F..%2F")[0] == 200, "nothing that could be a code"
    assert "example" not in ask("/class", query="code=%2F%2Fexample")[1]["location"]


def test_who_guesses_a_teacher_s_code_is_stopped(room):
    for at in range(MOST_TRIES):
        assert ask(f"/class/{room.code}/{at}")[0] == 404
    assert ask(f"/class/{room.code}/{room.token}")[0] == 429


def test_behind_a_proxy_of_this_machine_an_address_is_what_it_says_last_and_nobody_else_s_word():
    for at in range(MOST_TRIES):
        ask("/class/B", address="127.0.0.1", x_forwarded_for=f"1.2.3.{at}, 10.9.9.9")
    told = {"address": "127.0.0.1", "x_forwarded_for": "10.9.9.9"}
    assert ask("/class/B", **told)[0] == 429
    assert ask("/class/B", address="127.0.0.1", x_forwarded_for="10.9.9.8")[0] == 404
    for at in range(MOST_TRIES):
        ask("/class/B", address="10.1.1.1", x_forwarded_for=f"1.2.3.{at}")
    assert ask("/class/B", address="10.1.1.1", x_forwarded_for="9.9.9.9")[0] == 429


def test_nothing_of_what_was_asked_for_is_in_an_answer():
    _, _, body, _ = ask("/class/<script>alert(1)</script>")
    assert "alert" not in body
    assert "There is no class with this code" in body


def test_the_pulse_tells_of_a_class_whoever_is_in_it_and_nobody_else(room):
    def pulse(cookie):
        return ask("/class/now", cookie)[2]

    person = room.joins()
    learner, teacher = f"{room.code}:l:{person}", f"{room.code}:t:{room.token}"
    before = pulse(learner), pulse(teacher)
    nothing = '{"pulse":""}'
    assert nothing not in before
    for forged in (
        "",
        f"{room.code}:l:x",
        f"{room.code}:t:x",
        f"B:t:{room.token}",
        "::",
        "x" * 500,
    ):
        assert pulse(forged) == nothing
    room.asks(Asked("a.b", object(), 1, "home", {}, "", ""), 0)
    assert pulse(learner) != before[0]
    room.votes(person, Turn(0, 0), (1,))
    assert pulse(teacher) != before[1]
    room.ends()
    assert pulse(learner) == pulse(teacher) == nothing


def test_to_leave_takes_the_cookie_away_and_is_no_link(room):
    person = room.joins()
    ask("/class/leave", f"{room.code}:l:{person}")
    assert room.knows(person)
    status, headers, *_ = ask("/class/leave", f"{room.code}:l:{person}", method="POST")
    assert not room.knows(person)
    assert status == 204
    assert "Max-Age=0" in headers["set-cookie"]
    assert "set-cookie" not in ask("/class/leave", f"{room.code}:l:x")[1]
