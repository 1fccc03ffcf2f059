"""The addresses of a class: the link that all open, the teacher's own, and the class's pulse.

The links set one cookie, which no script can read: so a person is a browser, however often a page
is loaded or opened, and no address that a wall shows has the teacher's token in it. No answer
repeats what a visitor has sent.
"""

from html import escape
from urllib.parse import quote, urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from ..classroom.classes import CLASSES, plain
from ..classroom.classroom import LASTS, Classroom
from ..controls.in_class import COOKIE, LEARNER, TEACHER, parted
from .contents import HOME

SERVED: list[bool] = []
"""Whether these addresses are there: a server that knows no `st.App` has none of them."""
NEW = {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}
NO_CLASS = (
    "There is no class with this code. Check each letter, or ask your teacher for the link. The "
    "class may have ended; a restart of the server ends every class too."
)
NOT_YOURS = (
    "This is not the teacher’s link to this class. Copy the whole link that “Share” gave you. "
    "Nobody can look it up: if it is lost, make a new class."
)
TYPE_IT = "Type the class’s code. You need not give a name."
FULL = "Nobody else can join this class: it is full, or your teacher has closed it."
TOO_MANY = "Too many wrong codes came from your network. Wait a minute, then try again."
LOOK = (
    ":root{color-scheme:light dark}body{font:1.1rem/1.5 sans-serif;max-width:34rem;"
    "margin:12vh auto;padding:0 1.2rem}input,button{font:inherit;padding:.3rem .6rem}"
    "input{max-width:11rem}"
)


def class_links() -> list[Route]:
    """The routes of a class, before those of the pages."""
    SERVED[:] = [True]
    return [
        Route("/class/now", _pulse),
        Route("/class/leave", _leave, methods=["POST"]),
        Route("/class", _door),
        Route("/class/", _door),
        Route("/class/{code}", _join),
        Route("/class/{code}/{token}", _teach),
    ]


async def _door(asked: Request) -> Response:
    """Where the code on a wall can be typed."""
    if code := plain(asked.query_params.get("code", "")):
        return RedirectResponse(f"{_above(asked)}class/{quote(code)}", 303, headers=NEW)
    return _said(asked, TYPE_IT, 200, "Join a class")


async def _join(asked: Request) -> Response:
    """Take part: as the person that this browser already is in the class, or as a new one."""
    room = _room(asked)
    if not isinstance(room, Classroom):
        return room
    code, role, name = parted(asked.cookies.get(COOKIE, ""))
    is_known = code == room.code and (
        room.knows(name) if role == LEARNER else room.is_teacher(name)
    )
    if is_known:
        return _to(room, "..")
    person = room.joins()
    return (
        _with(_to(room, ".."), asked, room, LEARNER, person)
        if person
        else _said(asked, FULL, 403, "This class is closed")
    )


async def _teach(asked: Request) -> Response:
    """Lead the class."""
    room = _room(asked)
    if not isinstance(room, Classroom):
        return room
    token = asked.path_params["token"][:100]
    if not room.is_teacher(token):
        CLASSES.tries.was_wrong(_address(asked))
        return _said(asked, NOT_YOURS, 404)
    return _with(_to(room, "../.."), asked, room, TEACHER, token)


async def _leave(asked: Request) -> Response:
    """Be in no class any more."""
    code, role, name = parted(asked.cookies.get(COOKIE, ""))
    if role == LEARNER and (room := CLASSES.get(code)):
        room.leaves(name)
    gone = Response(status_code=204, headers=NEW)
    gone.delete_cookie(COOKIE, httponly=True, samesite="lax")
    return gone


async def _pulse(asked: Request) -> Response:
    """A short text that changes whenever the screen of this browser should."""
    code, role, name = parted(asked.cookies.get(COOKIE, ""))
    room = CLASSES.get(code) if code else None
    pulse = ""
    if room and role == LEARNER and room.knows(name):
        room.hears(name)
        pulse = room.pulse(is_teacher=False)
    elif room and role == TEACHER and room.is_teacher(name):
        pulse = room.pulse(is_teacher=True)
    return JSONResponse({"pulse": pulse}, headers=NEW)


def _room(asked: Request) -> Classroom | Response:
    """The class of a link; or what is said where there is none, or too many codes were tried."""
    address = _address(asked)
    if not CLASSES.tries.may(address):
        return _said(asked, TOO_MANY, 429)
    room = CLASSES.get(asked.path_params["code"])
    if room is None:
        CLASSES.tries.was_wrong(address)
        return _said(asked, NO_CLASS, 404)
    return room


def _address(asked: Request) -> str:
    """Where a request comes from. Only a proxy on this machine is believed: what it adds last."""
    host = asked.client.host if asked.client else ""
    if host in ("127.0.0.1", "::1"):
        host = asked.headers.get("x-forwarded-for", "").rpartition(",")[2].strip()[:60] or host
    return host


def _to(room: Classroom, above: str) -> Response:
    page, link = room.where()
    name = "" if page == HOME.name else page
    query = f"?{urlencode(link)}" if link else ""
    return RedirectResponse(f"{above}/{name}{query}", 303, headers=NEW)


def _with(answer: Response, asked: Request, room: Classroom, role: str, name: str) -> Response:
    scheme = asked.headers.get("x-forwarded-proto", asked.url.scheme)
    answer.set_cookie(
        COOKIE,
        f"{room.code}:{role}:{name}",
        max_age=int(LASTS),
        httponly=True,
        samesite="lax",
        secure=scheme == "https",
    )
    return answer


def _above(asked: Request) -> str:
    """The way from one of these addresses to the home page, wherever the app is served."""
    depth = len(asked.path_params) + asked.url.path.endswith("/")
    return "../" * depth or "./"


def _said(asked: Request, words: str, status: int, title: str = "No class here") -> Response:
    """A page of words. Where there is no code yet, or a wrong one, there is room to type it."""
    above = _above(asked)
    form = (
        f'<form action="{above}class"><p><label>The code on the wall<br><input name="code" '
        'required autofocus maxlength="40" autocomplete="off" autocapitalize="characters" '
        'spellcheck="false"></label> <button>Join</button></p></form>'
    )
    page = (
        '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" '
        f'content="width=device-width"><title>{HOME.title}</title><style>{LOOK}</style>'
        f"<p>{HOME.title}</p><h1>{title}</h1><p>{escape(words)}</p>"
        f"{form if words in (TYPE_IT, NO_CLASS) else ''}"
        f'<p><a href="{above}">Go on alone</a></p></html>'
    )
    return HTMLResponse(page, status, headers=NEW)
