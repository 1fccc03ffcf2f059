"""A lesson as one file: words, formulas, pictures and Vega in it, alive without a server.

    lesson_file(script, {"sentence": "A cat sat"}).page()

All that a page's script is told is packed data; no text of a person stands in the HTML but escaped.
"""

import base64
import gzip
import html
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from fontTools import subset

from ..cards.page import Fold
from ..cards.review import declared
from ..controls import session
from ..controls.shared import PREDICT, SENTENCE, TASKS, random_fallback_notice
from ..frame.basics import takes
from ..frame.contents import HOME, lesson
from ..frame.glossary import terms_in
from ..frame.tasks import parted
from .baking import Baked
from .markdown import inline, markdown, plain
from .reader import MOST_SECONDS, CannotBe, Reader
from .told import Told, as_json
from .vega import vega
from .writer import Link, Writer, attributes, no_page

_HERE = Path(__file__).parent
MOST_BYTES = 800_000
"""Of a file."""
LETTERS = [
    *range(32, 127),
    *range(160, 384),
    *range(0x391, 0x3CA),
    *map(ord, "−–—‘’“”…√·→↠⇒∞≈≠Σ≤≥×÷ᵀ⊙␣↵⇥‹›✓✔✕⚠ⓘ€"),
]
"""Those that are taken along of the app's own font: the West's, and what formulas are named by."""
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; font-src data:; "
    "img-src data: blob:; base-uri 'none'; form-action 'none'"
)
"""What a strict file holds itself to: nothing from anywhere, and no text becomes code but its own.
"""


def packed(text: str) -> str:
    """As letters that stand in HTML, and that every browser unpacks."""
    return base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode()


@lru_cache(maxsize=1)
def fonts() -> str:
    """The app's own letters as a style, so that pictures have the room that they were laid out for:
    26 KB each in place of 170.
    """
    (streamlit,) = find_spec("streamlit").submodule_search_locations
    folder, found = Path(streamlit, "static", "static", "media"), ""
    for name, style in (("SourceSansVF-Upright", "normal"), ("SourceSansVF-Italic", "italic")):
        options, made = subset.Options(flavor="woff2", layout_features=["kern"]), io.BytesIO()
        font = subset.load_font(str(next(folder.glob(f"{name}*"))), options)
        few = subset.Subsetter(options)
        few.populate(unicodes=LETTERS)
        few.subset(font)
        subset.save_font(font, made, options)
        found += f'@font-face{{font-family:"Source Sans";font-style:{style};font-weight:200 900;'
        found += f"src:url(data:font/woff2;base64,{base64.b64encode(made.getvalue()).decode()})}}"
    return found


def read(name: str) -> str:
    """A file that stands beside this one."""
    return (_HERE / name).read_text(encoding="utf-8")


def script() -> str:
    """What runs in a page."""
    saves = (_HERE.parent / "streamlit_workarounds" / "saved_picture.js").read_text("utf-8")
    saves = saves.replace("export default", "window.attentionSavePicture =")
    return f"{read('answers.js')}(() => {{\n{saves}}})();\n{read('page.js')}"


def style() -> str:
    """How a page looks, in both themes, on a phone and on paper."""
    return read("page.css")


SHARED = {
    "vega": "vega.js",
    "script": "page.js",
    "style": "page.css",
    "fonts": "fonts.css",
    "worker": "worker.js",
}
"""The files that the lessons of a site share."""


def shared_files() -> dict[str, str]:
    """What the lessons of a site or of a course share, by the names of the files."""
    made = {"vega": vega(), "script": script(), "style": style(), "fonts": fonts()}
    return {SHARED[each]: text for each, text in made.items()}


SHARED_HEAD = "".join(
    f'<link rel="stylesheet" href="{SHARED[each]}">' for each in ("fonts", "style")
)


def document(title: str, body: str, head: str) -> str:
    """A page of HTML."""
    called = title if title == HOME.title else f"{title} · {HOME.title}"
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">{head}'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<link rel="icon" href="data:,">'
        f"<title>{plain(called)}</title></head><body>{body}</body></html>"
    )


@dataclass
class LessonFile:
    """A lesson at some settings, written."""

    name: str
    baked: Baked
    told: dict[str, Any]
    body: str
    app: str = ""
    strict: bool = False

    @property
    def title(self) -> str:
        return lesson(self.name).title

    def page(self, before: str = "") -> str:
        """All of it in one file; `before` stands before what runs in it."""
        rule = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        head = f"{rule if self.strict else ''}<style>{fonts()}{style()}</style>"
        foot = f"{before}{_data('vega', _packed_vega())}{self._data()}<script>{script()}</script>"
        return document(self.title, f"<main>{self.body}</main>{foot}", head)

    def page_of_site(self, before: str, after: str) -> str:
        """The same where what lessons share stands beside it, with ways to others."""
        data = self._data(vega=SHARED["vega"], worker=SHARED["worker"])
        foot = f'{data}<script src="{SHARED["script"]}"></script>'
        return document(self.title, f"{before}<main>{self.body}{after}</main>{foot}", SHARED_HEAD)

    def page_of_package(self, before: str) -> str:
        """The same in a course platform, which has its own ways to other lessons; `before` is put
        before the page's scripts.
        """
        data = self._data(vega=SHARED["vega"])
        foot = f'{before}{data}<script src="{SHARED["script"]}"></script>'
        return document(self.title, f"<main>{self.body}</main>{foot}", SHARED_HEAD)

    @property
    def settings(self) -> str:
        """A short name of the settings that it opens with."""
        texts = as_json(dict(self.baked.reader.texts)).encode()
        return blake2b(texts, digest_size=6).hexdigest()

    def _data(self, **also: Any) -> str:
        # Else what was answered in one file of a lesson would be answered in another.
        also |= {"settings": self.settings, "strict": self.strict}
        told = {**self.told, "lesson": self.name, **also}
        more = told.pop("more")
        return _data("told", packed(as_json(told))) + _data("more", packed(as_json(more)))

    def counted(self) -> dict[str, list[str]]:
        """The names of cards that are whole here, and of those of which only the app has all; of
        controls that move in pictures, that move beside them, and that do not move.
        """
        moves, placed = self.baked.controls, self.baked.writer.placed
        carried = set(self.baked.writer.carried)
        cards = [each for each in self.baked.pieces if each.card and any(self._html(each))]
        in_cards = {name for each in placed.values() for name in each}
        return {
            "whole": [each.name for each in cards if each.name not in self.baked.writer.needs_app],
            "with a reason": [
                each.name for each in cards if each.name in self.baked.writer.needs_app
            ],
            "moves in a picture": sorted(in_cards & carried),
            "moves": sorted((in_cards - carried) & moves.keys()),
            "stands": sorted(in_cards - carried - moves.keys()),
        }

    def _html(self, piece: Any) -> list[str]:
        return [self.baked.told.tables["html"][at] for at in piece.states.values()]


@lru_cache(maxsize=1)
def _packed_vega() -> str:
    return packed(vega())


def _data(name: str, text: str) -> str:
    return f'<script type="text/plain" id="{name}">{text}</script>'


def lesson_file(
    script_of_page: Path,
    texts: Mapping[str, str],
    app: str = "",
    strict: bool = False,
    link: Link = no_page,
    most_bytes: int = MOST_BYTES,
    most_seconds: float = MOST_SECONDS,
    moves: bool = True,
) -> LessonFile:
    """A lesson that opens at settings that a link of the app names, as `texts`. `app` is where the
    app is, if anywhere; `link` gives the addresses of other lessons. Raises CannotBe, in words, for
    settings that cannot be. Without `moves` no control moves but those in pictures: for who only
    looks at what a page opens with.
    """
    page = declared(script_of_page)
    reader = Reader(page, texts, most_seconds)
    room = most_bytes - len(_packed_vega()) - len(fonts()) - len(script()) - len(style())
    with reader.here():
        writer = Writer(reader, Told(), link, _app_at(app))
        baked = Baked(reader, writer, max(room - 12_000, 0), moves).bake()
        body = _body(baked)
        told = baked.told_now()
    return LessonFile(page.name, baked, told, body, app, strict)


def _app_at(app: str) -> Link:
    def address(name: str, texts: Mapping[str, str]) -> str:
        if not app:
            return ""
        return f"{app.rstrip('/')}/{name}" + (f"?{urlencode(texts)}" if texts else "")

    return address


def _body(baked: Baked) -> str:
    """The page: its head, a section for each card, folds, and what it ends with."""
    reader, writer = baked.reader, baked.writer
    page, here = reader.page, lesson(reader.page.name)
    made = f'<header><div class="head"><h1>{plain(here.title)}</h1>{_quiet(baked)}</div>'
    made += f'<div class="idea">{markdown(f"{here.idea} {takes(here)}".strip())}</div>'
    if SENTENCE.name in reader.base:
        told = plain(str(reader.base[SENTENCE.name]))
        made += f'<p class="text caption">Sentence: {told}</p>'
        if notice := random_fallback_notice(reader.base):
            made += f'<p class="text caption">{plain(notice)}</p>'
    made += "".join(_settings(baked)) + f"{_tasks(baked)}</header>"
    folds: dict[int | None, list[Fold]] = {}
    for fold in page.folds:
        folds.setdefault(fold.place, []).append(fold)
    for at, card in enumerate(page.cards):
        made += "".join(_fold(each) for each in folds.get(at, ()))
        made += _section(card.name, card.title, card.is_section)
    for place in (len(page.cards), None):
        made += "".join(_fold(each) for each in folds.get(place, ()))
    made += '<section class="closing piece" id="closing_answers" data-piece></section>'
    if page.output:
        made += (
            '<details class="fold"><summary>What holds of this attention</summary>'
            '<section class="card bare piece" id="what_holds" data-piece></section></details>'
        )
    made += _words(baked)
    address = writer.app(page.name, reader.texts)
    way = f' <a href="{html.escape(address)}">Open the app</a>' if address else ""
    return f"{made}{FOOT.replace('WAY', way)}"


def _tasks(baked: Baked) -> str:
    """A teacher's tasks, to be answered beside the file."""
    told = ""
    for task in baked.reader.base[TASKS.name]:
        about, words = parted(task)
        way = ""
        if about:
            address = baked.writer.link(about.name, {})
            title = plain(about.title)
            way = f'<a href="{html.escape(address)}">{title}</a>: ' if address else f"{title}: "
        told += f"<li>{way}{plain(words)}</li>"
    return f"<h2>Tasks</h2><ol>{told}</ol>" if told else ""


def _words(baked: Baked) -> str:
    """The words of this lesson that the glossary has, folded."""
    if "glossary" in session.names_in("hide"):
        return ""
    told = baked.told.tables["html"]
    here = lesson(baked.reader.page.name)
    said = [here.title, here.idea]
    said += [told[each.states["?"]] for each in baked.pieces if each.card and "?" in each.states]
    bare = (re.sub(r"<(code|math)\b.*?</\1>|<[^>]+>", " ", each, flags=re.S) for each in said)
    found = dict.fromkeys(term for words in bare for term in terms_in(html.unescape(words)))
    if not found:
        return ""
    each = sorted(found, key=lambda term: term.word.lower())
    each_told = "".join(
        f"<dt>{inline(term.heading())}</dt><dd>{inline(term.meaning)}</dd>" for term in each
    )
    return (
        '<details id="words"><summary>The words of this lesson</summary>'
        f"<dl>{each_told}</dl></details>"
    )


ALONE = "as a file: it needs no server, and sends nothing."
FOOT = (
    f'<footer class="caption"><p>A lesson of <b>Attention Explorer</b> {ALONE} In the app every '
    "control moves, numbers can be changed, and a program, a notebook and a spreadsheet of what "
    "is shown can be taken along.WAY</p>"
    '<p id="tally"></p><p id="mine"></p></footer>'
    "<noscript><p>This page needs JavaScript. Turn it on in your browser.</p></noscript>"
)


def _quiet(baked: Baked) -> str:
    if not baked.reader.base[PREDICT.name] or PREDICT.name in baked.reader.session.fixes():
        return ""
    given = attributes(
        class_="control",
        data_control=PREDICT.name,
        data_kind="switch",
        data_label=PREDICT.label,
        data_value="on",
        data_words="on",
        data_choices='[["on","on"],["off","off"]]',
    )
    return f"<div{given}></div>"


def _settings(baked: Baked) -> list[str]:
    """The controls that stand beside the sentence in the app, as far as they move."""
    moves = [one for one in baked.reader.page.sidebar if one.name in baked.controls]
    if not moves:
        return []
    baked.reader.goes_to(baked.reader.base)
    each = "".join(baked.writer.control(one) for one in moves)
    return [f'<div class="row settings">{each}</div>']


def _section(name: str, title: str, is_section: bool) -> str:
    tag = "h3" if is_section else "h2"
    heading = f"<{tag}>{inline(title)}</{tag}>" if title else ""
    bare = " bare" if is_section else ""
    return (
        f'<section class="card{bare} piece" id="{name}" data-piece>{heading}'
        '<div class="made"></div></section>'
    )


def _fold(fold: Fold) -> str:
    label = inline(fold.label)
    inside = "".join(_section(each.name, each.title, each.is_section) for each in fold.cards)
    return f'<details class="fold" id="row_{fold.key}"><summary>{label}</summary>{inside}</details>'


__all__ = ["CannotBe", "LessonFile", "lesson_file"]
