"""All lessons as a folder for any file host: what they share stands there once."""

import gzip
import html
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from ..frame.contents import HOME, LESSONS, Lesson, lesson
from ..frame.glossary import TERMS
from .lesson_file import (
    MOST_BYTES,
    SHARED,
    SHARED_HEAD,
    LessonFile,
    document,
    lesson_file,
    read,
    shared_files,
)
from .markdown import inline, markdown, plain


@dataclass
class Folder:
    """The files of a site, by their names."""

    files: dict[str, str] = field(default_factory=dict)
    lessons: list[LessonFile] = field(default_factory=list)

    @property
    def n_bytes(self) -> int:
        """Of all files as they lie there."""
        return sum(len(text.encode()) for text in self.files.values())

    @property
    def n_on_the_wire(self) -> int:
        """The same as a host sends them."""
        return sum(len(gzip.compress(text.encode(), 6)) for text in self.files.values())

    def write(self, folder: Path) -> None:
        """Write all files into a folder, which is made where it is not there."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in self.files.items():
            (folder / name).write_text(text, encoding="utf-8")


def folder(
    pages: Path,
    names: Sequence[str] = (),
    texts: Mapping[str, str] | None = None,
    app: str = "",
    moves: bool = True,
    most_bytes: int = MOST_BYTES,
    says: Callable[[str], None] = lambda _: None,
) -> Folder:
    """A site of the lessons of these names, of all where none is named, at settings `texts` as far
    as each has controls for them. `says` is told of each lesson as it is written. Raises CannotBe
    for settings that cannot be.
    """
    chosen = [each for each in LESSONS if not names or each.name in names]
    known = {each.name for each in chosen}

    def link(name: str, at: Mapping[str, str]) -> str:
        return f"{name}.html" + (f"#{urlencode(at)}" if at else "") if name in known else ""

    made = Folder()
    for at, each in enumerate(chosen):
        one = lesson_file(
            pages / f"{each.name}.py",
            texts or {},
            app,
            link=link,
            moves=moves,
            most_bytes=most_bytes,
        )
        made.lessons.append(one)
        before = chosen[at - 1] if at else None
        after = chosen[at + 1] if at + 1 < len(chosen) else None
        text = made.files[f"{each.name}.html"] = one.page_of_site(HEAD, _ways(before, after))
        says(f"{each.name}.html: {each.title}, {len(text) / 1_000:,.0f} kB")
    made.files |= {
        **shared_files(),
        "home.js": read("answers.js") + read("home.js"),
        "index.html": _home(made.lessons, chosen),
        "glossary.html": _glossary(known),
    }
    made.files[SHARED["worker"]] = _worker(made.files)
    return made


HEAD = (
    '<nav class="site"><a href="index.html">Attention Explorer</a> '
    '<a href="glossary.html">Glossary</a></nav>'
)


def _ways(before: Lesson | None, after: Lesson | None) -> str:
    """To the lessons before and after this one."""
    each = [
        f'<a href="{one.name}.html">{which}: {plain(one.title)}</a>'
        for which, one in (("Previous", before), ("Next", after))
        if one
    ]
    return f'<nav class="ways-on">{" ".join(each)}</nav>'


def _home(files: Sequence[LessonFile], chosen: Sequence[Lesson]) -> str:
    body = f"<header><h1>{HOME.title}</h1></header>"
    body += markdown(
        "How attention works, number by number. Point at any number to see what it is made of; "
        "click, and it is taken apart down to its products."
    )
    body += (
        '<p><label for="search">Search all lessons</label><br>'
        '<input id="search" type="search" autocomplete="off"></p>'
        '<ul id="found" aria-live="polite"></ul>'
        '<p id="none" hidden>Nothing here has these words.</p>'
        f'<p id="due" hidden><b>Coming back</b>: <span></span>. {plain(BACK)}</p>'
    )
    for group, each in groupby(chosen, lambda one: one.group):
        body += f"<h2>{plain(group)}</h2><dl>"
        for one in each:
            body += f'<dt><a href="{one.name}.html">{plain(one.title)}</a>'
            body += f'<small class="caption" data-lesson="{one.name}"></small></dt>'
            body += f"<dd>{inline(one.idea)}</dd>"
        body += "</dl>"
    body += f'<footer class="caption"><p>{plain(KEPT)}</p><p id="mine"></p></footer>'
    lessons = [
        {
            "name": one.name,
            "title": one.title,
            "key": f"{one.name}.{one.settings}",
            "questions": len(one.told["asks"]),
        }
        for one in files
    ]
    data = _json("index", [*_index(files)]) + _json("lessons", lessons)
    run = f'{data}<script src="home.js"></script>'
    return document(HOME.title, f"{HEAD}<main>{body}</main>{run}", SHARED_HEAD)


BACK = "Answer their questions once more. Each time you still know them, the next wait is longer."
KEPT = (
    "Your answers stay in this browser, and nothing is sent anywhere. To go on in another browser, "
    "save them as a file and load it there."
)


def _json(name: str, made: Any) -> str:
    text = json.dumps(made, ensure_ascii=False).replace("</", "<\\/")
    return f'<script type="application/json" id="{name}">{text}</script>'


def _index(files: Sequence[LessonFile]) -> Iterator[dict[str, str]]:
    """What can be found: lessons, their cards and last questions, and the glossary's words."""
    for one in files:
        here, address = lesson(one.name), f"{one.name}.html"
        yield {"title": here.title, "lesson": "", "address": address, "words": _bare(here.idea)}
        for piece in one.baked.pieces:
            words = one.baked.told.tables["html"][piece.states["?"]]
            if piece.name == "closing_answers":
                told = f"One of the questions that “{here.title}” answers."
                for asked in re.findall(r"<summary>(.*?)</summary>", words):
                    at = {"address": f"{address}#answers", "words": told}
                    yield {"title": _bare(asked), "lesson": here.title, **at}
            elif piece.card and words:
                said = re.match(r'<div class="band"><div class="words">(.*?)</div>', words, re.S)
                yield {
                    "title": _bare(inline(piece.title)) or here.title,
                    "lesson": here.title,
                    "address": f"{address}#{piece.name}",
                    "words": _bare(said[1]) if said else "",
                }
    for term in TERMS:
        about = {"lesson": "Glossary", "address": f"glossary.html#{_anchor(term.word)}"}
        yield {"title": term.word, **about, "words": _bare(inline(term.meaning))}


def _bare(made: str) -> str:
    """HTML without its tags, as text."""
    return html.unescape(re.sub(r"<[^>]+>", "", made)).strip()


def _anchor(word: str) -> str:
    return re.sub(r"\W+", "_", word.lower())


def _glossary(known: set[str]) -> str:
    body = "<h1>Glossary</h1><dl>"
    for term in TERMS:
        way = ""
        if term.page in known:
            way = f' <a href="{term.page}.html">{plain(lesson(term.page).title)}</a>'
        body += f'<dt id="{_anchor(term.word)}">{inline(term.heading())}{way}</dt>'
        body += f"<dd>{inline(term.meaning)}</dd>"
    return document("Glossary", f"{HEAD}<main>{body}</dl></main>", SHARED_HEAD)


def _worker(files: Mapping[str, str]) -> str:
    """The service worker: of another version wherever a file is another."""
    version = sha256("".join(sorted(map(str, files.items()))).encode()).hexdigest()[:12]
    text = read("worker.js")
    return text.replace("VERSION", version).replace("FILES_OF_SITE", json.dumps(["./", *files]))
