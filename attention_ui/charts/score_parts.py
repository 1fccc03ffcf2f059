"""Who wrote what makes a query and a key fit: the pairs as a table, with both sums."""

from copy import deepcopy
from functools import lru_cache

import pandas as pd
from torch import Tensor

from attention_core.real_model.score_parts import ScoreParts

from ..picture import palette
from ..words import signed, true_minus
from .chart import AS_WIDE, Chart
from .pixels import mark, words

FEW = 4
"""So many parts of each side are drawn; the rest together."""
TITLE, BAR, ROW = 20, 30, 21
"""Pixels of a title, of the longest bar at the key, and of a row."""
SHORT = (
    "width >= 600 ? datum.name : replace(replace(replace("
    "replace(datum.name, 'feed-forward', 'ffn'), 'head ', ''), /^[0-9]+ others$/, 'rest'), "
    "/^(tok|pos)(en|ition)$/, '$1')"
)
"""A name, on a phone a shorter one."""
BASE = TITLE + 14 + BAR
TOP = BASE + 22
"""Where bars at the key stand, and where the table begins, below their names."""


def chart(parts: ScoreParts, tokens: tuple[str, str], few: int = FEW) -> Chart:
    """By how much pairs bring the score above the mean; a click goes to the head that wrote it."""
    above, places = parts.above, {"q": parts.query, "k": parts.key}
    sides = {"q": _groups(parts, parts.by_query(), few), "k": _groups(parts, parts.by_key(), few)}
    table = [
        [float(above[rows][:, columns].sum()) for _, columns in sides["k"]]
        for _, rows in sides["q"]
    ]
    sums: dict[str, list[float]] = {
        "q": [*map(sum, table)],
        "k": [*map(sum, zip(*table, strict=True))],
    }
    drawn = []
    for side, groups in sides.items():
        most = max(map(abs, sums[side])) or 1.0
        for at, ((name, _), amount) in enumerate(zip(groups, sums[side], strict=True)):
            drawn.append(
                {
                    **{"kind": side, "row": at, "column": at, "name": name, "amount": amount},
                    **{"told": signed(amount), "size": abs(amount) / most, "shade": palette.FULL},
                    **_goes({side: name}, places),
                }
            )
    most = max(abs(amount) for row in table for amount in row) or 1.0
    for row, (of_query, _) in enumerate(sides["q"]):
        for column, (of_key, _) in enumerate(sides["k"]):
            amount = table[row][column]
            strength = (abs(amount) / most) ** 0.5
            drawn.append(
                {
                    **{"kind": "cell", "row": row, "column": column, "amount": amount, "size": 1.0},
                    **{"name": f"{of_query} × {of_key}", "told": true_minus(f"{amount:+.2f}")},
                    "shade": palette.FAINT + (palette.FULL - palette.FAINT) * strength,
                    **_goes({"k": of_key, "q": of_query}, places),
                }
            )
    for kind, word, at in zip("QK", tokens, places.values(), strict=True):
        name = f"written at\n{word}\n(query)" if kind == "Q" else f"written at {word} (key)"
        drawn.append({"kind": kind, "name": name, "row": 0, "column": 0, "token": at, "id": ""})
    spec = deepcopy(_spec())
    spec["params"].insert(0, {"name": "n_columns", "value": len(sides["k"])})
    spec["height"] = TOP + ROW * len(sides["q"])
    return Chart(pd.DataFrame(drawn), spec, "Who wrote what makes the query and the key fit.")


def _goes(names: dict[str, str], places: dict[str, int]) -> dict[str, object]:
    """Where a click goes: to the first of these parts that is a head, at the token it wrote at."""
    for side, name in names.items():
        if name.startswith("head "):
            return {"id": name.removeprefix("head "), "token": places[side], "goes": name}
    return {"id": "", "token": -1, "goes": "no head"}


def _groups(parts: ScoreParts, amounts: Tensor, few: int) -> list[tuple[str, list[int]]]:
    """The parts that weigh most on a side, and the rest as one."""
    most = amounts.abs().topk(min(few, len(amounts))).indices.tolist()
    rest = [at for at in range(len(amounts)) if at not in most]
    named = [(parts.parts[at].name, [at]) for at in most]
    return [*named, (f"{len(rest)} others", rest)] if rest else named


@lru_cache(maxsize=1)
def _spec() -> dict:
    is_query, is_key, is_cell = (f"datum.kind === '{kind}'" for kind in ("q", "k", "cell"))
    column, line = "left + datum.column * each", f"{TOP} + datum.row * {ROW}"
    end, bar = "left + n_columns * each + 8", "datum.size * (right - 52)"
    tall = f"datum.size * {BAR}"
    hue = f"datum.amount < 0 ? '{palette.NEGATIVE}' : '{palette.POSITIVE}'"
    told = [
        {"field": "name", "type": "nominal", "title": "written by"},
        {"field": "amount", "type": "quantitative", "title": "brings", "format": "+.3f"},
        {"field": "goes", "type": "nominal", "title": "a click goes to"},
    ]
    pointer = {"cursor": {"expr": "datum.id ? 'pointer' : 'default'"}}
    is_title = "(datum.kind === 'Q' || datum.kind === 'K')"
    boxes = mark(
        f"!{is_title}",
        "rect",
        {"cornerRadius": 3, "fill": {"expr": hue}, **pointer},
        told,
        x=f"{is_query} ? {end} : {column} + ({is_key} ? each / 4 : 1)",
        x2=f"{is_query} ? {end} + {bar} : {column} + each - ({is_key} ? each / 4 : 1)",
        y=f"{is_key} ? {BASE} - {tall} : {line} + ({is_query} ? 5 : 1)",
        y2=f"{is_key} ? {BASE} : {line} + {ROW} - ({is_query} ? 5 : 1)",
    )
    boxes["encoding"]["fillOpacity"] = {"field": "shade", "type": "quantitative", "scale": None}
    clicked = {"type": "point", "on": "click", "fields": ["id", "token"]}
    boxes["params"] = [{"name": "head", "select": clicked}]
    amounts = words(
        f"!{is_title} && ({is_cell} ? each > 34 : true)",
        "told",
        11,
        f"{is_query} ? {end} + {bar} + 5 : {column} + each / 2",
        f"{is_key} ? {BASE} - {tall} - 7 : {line} + {ROW / 2}",
        align={"expr": f"{is_query} ? 'left' : 'center'"},
    )
    at_left = f"{is_query} || datum.kind === 'Q'"
    names = words(
        f"!({is_cell})",
        SHORT,
        12,
        f"{at_left} ? left - 7 : datum.kind === 'K' ? left : {column} + each / 2",
        f"{is_query} ? {line} + {ROW / 2} : {is_key} ? {BASE + 11} : "
        f"datum.kind === 'K' ? {TITLE / 2} : {BASE - 17}",
        told,
        align={"expr": f"{at_left} ? 'right' : {is_key} ? 'center' : 'left'"},
        lineBreak="\n",
        limit={"expr": f"{at_left} ? left - 8 : {is_key} ? each - 2 : width - left"},
        fontWeight={"expr": f"{is_title} ? 'bold' : 'normal'"},
        **pointer,
    )
    params = {
        "left": "width < 600 ? 66 : 116",
        "right": "width < 600 ? 78 : 150",
        "each": "max(1, (width - left - right) / n_columns)",
    }
    return AS_WIDE | {
        "width": "container",
        "params": [{"name": name, "expr": expr} for name, expr in params.items()],
        "layer": [boxes, amounts, names],
    }
