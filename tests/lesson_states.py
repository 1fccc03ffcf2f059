"""What a lesson as a file says, read out of it as its script reads it."""

import base64
import gzip
import json
import re
from typing import Any

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


def pictures_in(html: str) -> list[int]:
    """The places of the pictures in a piece of a page."""
    return [int(each) for each in re.findall(r'data-picture="(\d+)"', html)]
