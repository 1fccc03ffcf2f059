"""What a lesson as a file says, read out of it as its script reads it."""

import base64
import gzip
import html
import json
import re
from collections.abc import Mapping
from typing import Any

from attention_ui.cards.review import declared
from attention_ui.picture.table import BY_STEP, CELL
from attention_ui.site.reader import Reader
from attention_ui.site.told import COLUMN, Told
from attention_ui.site.writer import Writer
from conftest import ROOT

PACKED = '<script type="text/plain" id="{}">([^<]*)</script>'


def told_in(page: str) -> dict[str, Any]:
    """What the script of a page is told, with what comes once something moves."""
    first, more = (
        json.loads(gzip.decompress(base64.b64decode(re.search(PACKED.format(each), page)[1])))
        for each in ("told", "more")
    )
    return whole({**first, "more": more})


def whole(told: dict[str, Any]) -> dict[str, Any]:
    """All tables of what is told: those with which a page opens, and the rest behind them."""
    more = told["more"]
    tables = {name: [*told[name], *each] for name, each in more.items() if name != "columns"}
    names = {*told["columns"], *more["columns"]}
    columns = {
        name: [*told["columns"].get(name, ()), *more["columns"].get(name, ())] for name in names
    }
    return {**told, **tables, "columns": columns}


def columns_of(told: dict[str, Any], place: int) -> dict[str, list[Any]]:
    """A picture of a told lesson, column by column."""
    one = told["pictures"][place]
    like = told["pictures"][one["like"]] if "like" in one else one
    found = {}
    for name, parts in {**like["columns"], **one["columns"]}.items():
        if parts is None:
            continue
        cuts = like["cuts"] if len(parts) == len(like["cuts"]) else [one["n"]]
        column: list[Any] = []
        for part, length in zip(parts, cuts, strict=True):
            each = told["columns"][name][part]
            column += each if isinstance(each, list) else [each] * length
        found[name] = column
    return found


def pictures_in(written: str) -> list[int]:
    """The places of the pictures in a piece of a page."""
    return [int(each) for each in re.findall(r'data-picture="(\d+)"', written)]


LIVE = re.compile(r'(data-control="[^>]*?) data-value="[^"]*" data-words="[^"]*"')
"""Where a control stands that moves: the script says it."""
CARRIES = re.compile(r'data-carries="(\w+)" data-texts="([^"]*)"')


def tables_of(told: Any) -> dict[str, Any]:
    """The tables of a `Told`, as those of a file."""
    names = [each for each in told.tables if each.startswith(COLUMN)]
    columns = {each.removeprefix(COLUMN): told.tables[each] for each in names}
    return {**told.tables, "columns": columns}


def seen(told: dict[str, Any], place: int | str, move: Mapping[str, str]) -> list[Any]:
    """A piece of a page as it is seen after a move: its HTML without the places of its pictures,
    and each of these column by column; of one that carries a control which was moved, what is
    written in it at that position.
    """
    written = told["html"][place] if isinstance(place, int) else place
    plain = re.sub(r' (data-(picture|first|texts)|style)="[^"]*"', "", written)
    found: list[Any] = [LIVE.sub(r"\1", plain)]
    for tag in re.findall(r"<div[^>]*data-picture[^>]*>", written):
        (at,) = pictures_in(tag)
        columns, carried = columns_of(told, at), CARRIES.search(tag)
        if carried is not None and carried[1] in move:
            texts = json.loads(html.unescape(carried[2]))
            found.append(written_at(columns, texts.index(move[carried[1]])))
        else:
            found.append({name: each for name, each in columns.items() if any(map(is_told, each))})
    return found


def is_told(value: Any) -> bool:
    """Whether there is anything in a row."""
    return value is not None


def written_at(columns: dict[str, list[Any]], at: int) -> dict[str, list[Any]]:
    """What is written in each cell of a picture where its control is at this position."""
    empty = [None] * len(columns["kind"])
    texts, by = (columns.get(name, empty) for name in ("texts", "by"))
    each = zip(columns["kind"], texts, by, columns.get("text", empty), strict=True)
    return {
        "text": [
            many.split("|")[at] if way == BY_STEP and many is not None else text or ""
            for kind, many, way, text in each
            if kind == CELL  # around them there may be other words, such as a scale's ends
        ]
    }


def page_at(name: str, texts: dict[str, str]) -> tuple[dict[str, Any], dict[str, str]]:
    """A page at these settings with no question open, and its cards by their names. Work that a
    click begins is as far as where the lesson opens: done there alone.
    """
    page = declared(ROOT / "pages" / f"{name}.py")
    reader, told = Reader(page, texts, most_seconds=0.0), Told()
    here, first, cards = reader.base, Reader(page, {}).base, {}
    with reader.here():
        writer = Writer(reader, told, is_base=False)
        for card in page.every_card():
            reader.base = first
            reader.goes_to(here, (), texts)
            with reader.within(card):
                made = reader.made(card)
                reader.base = here  # where the controls in pictures stand
                at = (card.name, (), frozenset())
                cards[card.name] = "" if made is None else writer.card(card, made, at)
    return tables_of(told), cards
