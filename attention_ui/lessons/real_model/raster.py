"""All heads of a model as one picture: each a small box of its weights, to point at and click.
Below them the text, shaded by where one token looks in the head that is pointed at, with arcs.

One image for all weights: a mark for each of 270 heads × 64 × 64 weights would be a million.
"""

import base64
import io
from collections.abc import Callable, Hashable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
import pandas as pd
from PIL import Image

from attention_core.utils.head_name import head_id, head_name

from ...charts.chart import AS_WIDE, Chart
from ...charts.pixels import mark, words
from ...picture import palette
from ...picture.spec import GROUND, VEIL

WIDE, NARROW, TALL, LARGEST, GAP = 880, 320, 180, 100, 3
"""Pixels: in a wide window, on a phone, of all heads' height, of a head, and between two."""
LEFT, TOP, NAMED, BETWEEN, ARCS = 30, 34, 22, 20, 44
"""Pixels: for the numbers of heads, for those of layers, for the name above a head that stands
alone, between the heads and a text of several lines, and between them and one with arcs above it.
"""
STRIP, LINE, WORD = 26, 29, 56
"""Pixels: how high a token is, from line to line, and how wide it is at least."""
MOST_WRAPPED = 64
"""Of a longer text, a narrow window draws those before the token that looks."""
MOST_NUMBERS = 20
"""Of more layers than these, every second is numbered."""
FAINTEST = 0.01
"""Less of a token's weight has no arc."""
MARKED_FROM = 0.3
"""A head that gives so much of its weight to what is looked for is outlined."""
BROADEST = 2
"""Times as wide as high is a head at most."""
ROWS, BESIDE, LEAST = 3, 8, 76
"""Where the strongest come first: rows, heads in a row, and the least pixels of one."""


@dataclass(frozen=True)
class Heads:
    """Weights (layer, head, query, key), how well each head fits the measure (layer, head), the
    tokens, the query whose weights stand below, the chosen head, and the measure's name. Heads that
    fit less than `at_least` are faded, or left out where the best come first.
    """

    weights: np.ndarray
    scores: np.ndarray
    tokens: Sequence[str]
    query: int
    chosen: tuple[int, int]
    measure: str
    strongest_first: bool = False
    at_least: float = 0.0

    @property
    def fitting(self) -> np.ndarray:
        """Which heads fit well enough (layer, head)."""
        return self.scores >= self.at_least


ARC = (
    "datum.down == 0 && n_tokens <= per"
    " ? 'M0,0Q' + datum.way / 2 + ',' + -min(2 * between - 10, 18 + abs(datum.way) / 4) + ' '"
    " + datum.way + ',0'"
    " : datum.down == 0"
    f" ? 'M0,0Q' + datum.way / 2 + ',-16 ' + datum.way + ',0'"
    f" : datum.down < 0"
    f" ? 'M0,0C0,-14 ' + datum.way + ',' + (datum.down + {STRIP + 14})"
    f" + ' ' + datum.way + ',' + (datum.down + {STRIP})"
    f" : 'M0,' + {STRIP} + 'C0,' + {STRIP + 14} + ' ' + datum.way + ',' + (datum.down - 14)"
    " + ' ' + datum.way + ',' + datum.down"
)
"""The path from a key’s box to the query’s: above one line, flat in a line, or between lines."""


Once = Callable[[Hashable, Callable[[], str]], str]


def all_heads(heads: Heads, once: Once = lambda _, make: make()) -> Chart:
    """All heads by layer, or those that fit best, row by row; `once` keeps images by name."""
    n_layers, n_heads, _, n_tokens = heads.weights.shape
    order = np.argsort(-heads.scores, axis=None, kind="stable")
    best = divmod(int(order[0]), n_heads)
    if heads.strongest_first:
        n_drawn = min(ROWS * BESIDE, int(heads.fitting.sum()))
        best_first = (divmod(int(each), n_heads) for each in order[:n_drawn])
        places = {each: (at, 0) for at, each in enumerate(best_first)}
        sizes = {"most": max(1, min(BESIDE, len(places))), "left": 0, "top": 0, "named": NAMED}
        sizes |= {"down": -(-len(places) // BESIDE), "least": LEAST}
        side = LARGEST
        rows = [
            {"kind": "image", "c": c, "w": 1, "h": 1,
             "url": once(("image", at), partial(_raster, heads.weights[at][None, None], side))}
            for at, (c, _) in places.items()
        ]  # fmt: skip
        rows += [
            {"kind": "name", "c": c, "text": f"{head_id(*at)}: {heads.scores[at]:.0%}"}
            for at, (c, _) in places.items()
        ]
    else:
        places = {at: at for at in np.ndindex(n_layers, n_heads)}
        sizes = {"most": n_layers, "down": n_heads, "left": LEFT, "top": TOP, "named": 0}
        sizes["least"] = 1
        side = min(LARGEST, (WIDE - LEFT) // n_layers, TALL // n_heads)
        url = once("image", partial(_raster, heads.weights, side))
        rows = [{"kind": "image", "c": 0, "r": 0, "w": n_layers, "h": n_heads, "url": url}]
        rows += _numbers(n_layers, n_heads)
    rows += [
        {"kind": "head", "id": head_id(*at), "score": float(heads.scores[at]),
         "n": at[0] * n_heads + at[1], "chosen": at == heads.chosen,
         "faded": not heads.fitting[at],
         "c": c, "r": r, "w": 1, "h": 1}
        for at, (c, r) in places.items()
    ]  # fmt: skip
    rows += [{"kind": "part"}, *_looks(heads)]
    sizes |= {"side": side, "n_tokens": n_tokens, "asked": heads.query}
    spec = deepcopy(_template())
    spec["params"] = [*({"name": name, "value": size} for name, size in sizes.items()),
                      *spec["params"]]  # fmt: skip
    # A phone reads no long text; in a narrow window its words have as many lines as in a wide one.
    narrowest = NARROW if n_tokens <= MOST_WRAPPED else WIDE
    spec["height"] = max(_height(sizes, room) for room in range(narrowest, WIDE + 1, 8))
    n_fitting = len(places) if heads.strongest_first else int(heads.fitting.sum())
    told = (
        f"{n_fitting} heads, each a small box of its weights. {heads.measure}: most in "
        f"{head_name(best[1], best[0])}, {heads.scores[best]:.0%}."
    )
    return Chart(
        pd.DataFrame(rows).fillna({"c": 0, "r": 0, "chosen": False, "faded": False}), spec, told
    )


def _height(sizes: dict[str, int], room: int) -> int:
    """What the picture needs where it is so wide: as the template has it."""
    across = min(sizes["most"], room // sizes["least"])
    cell = min((room - sizes["left"]) / across, sizes["side"])
    lines = -(-sizes["n_tokens"] // max(1, room // WORD))
    between = ARCS if lines == 1 else BETWEEN
    return round(sizes["top"] + sizes["down"] * (cell + sizes["named"]) + between + lines * LINE)


def _numbers(n_layers: int, n_heads: int) -> list[dict]:
    """What stands along the picture: the numbers of layers and of heads."""
    every = 2 if n_layers > MOST_NUMBERS else 1
    return [
        *({"kind": "layer", "c": at, "text": f"{at}"} for at in range(0, n_layers, every)),
        *({"kind": "number", "r": at, "text": f"{at}"} for at in range(n_heads)),
        {"kind": "title", "c": 1, "text": "layer"},
        {"kind": "title", "r": 1, "text": "head"},
    ]


def _looks(heads: Heads) -> list[dict]:
    """The tokens, each with all heads’ weights in thousandths: a row for each would make 69,000."""
    weights = heads.weights[:, :, heads.query].reshape(-1, len(heads.tokens))
    thousandths = np.rint(1000 * np.nan_to_num(weights)).astype(int).T.tolist()
    first = heads.chosen[0] * heads.weights.shape[1] + heads.chosen[1]
    return [
        {"kind": "token", "c": at, "text": token, "n": first, "looks": "|".join(map(str, each))}
        for at, (token, each) in enumerate(zip(heads.tokens, thousandths, strict=True))
    ]


def _raster(weights: np.ndarray, side: int) -> str:
    """Weights (column, row, query, key) as an image of their roots; of many, the largest."""
    n_columns, n_rows, n_queries, n_keys = weights.shape
    few = max(1, n_keys // (2 * side))
    for axis, size in ((2, n_queries), (3, n_keys)) if few > 1 else ():
        weights = np.maximum.reduceat(weights, np.arange(0, size, few), axis=axis)
    *_, n_queries, n_keys = weights.shape
    scale = max(1, round(2 * side / n_keys))
    step = n_keys * scale + max(1, round(GAP * n_keys * scale / side))
    opaque = np.zeros((n_rows * step, n_columns * step), np.uint8)
    for column, row in np.ndindex(n_columns, n_rows):
        roots = np.sqrt(np.nan_to_num(weights[column, row]))
        shades = roots * (palette.FULL - palette.FAINT) + palette.FAINT
        cells = (255 * shades).astype(np.uint8).repeat(scale, 0).repeat(scale, 1)
        top, left = row * step, column * step
        opaque[top : top + n_queries * scale, left : left + n_keys * scale] = cells
    blue = tuple(int(palette.POSITIVE[at : at + 2], 16) for at in (1, 3, 5))
    image = Image.fromarray(opaque, "P")  # a byte a pixel: how much of the blue
    image.putpalette(blue * 256)
    written = io.BytesIO()
    image.save(written, "PNG", transparency=bytes(range(256)))
    return "data:image/png;base64," + base64.b64encode(written.getvalue()).decode()


@lru_cache(maxsize=1)
def _template() -> dict:
    """All in pixels, from the width that the browser has: in a wide window a head is wider than
    high, so that all its room is used, and no higher, since the height is there before the width.
    """
    once = {
        "across": "max(1, min(most, floor(width / least)))",
        "cell": "min((width - left) / across, side)",
        "broad": f"min((width - left) / across, {BROADEST} * side)",
        "per": f"max(1, floor(width / {WORD}))",
        "between": f"n_tokens <= per ? {ARCS} : {BETWEEN}",
        "below": "top + down * (cell + named) + between",
        "lines": f"max(1, floor((height - below) / {LINE}))",
        "n_drawn": "min(n_tokens, per * lines)",
        "first": "max(0, asked + 1 - n_drawn)",
        "wide": "min(width / min(per, n_tokens), 100)",
    }

    def only(kind: str, where: str = "true") -> str:
        return f"datum.kind === '{kind}' && {where}"

    def box(x: str, y: str, wide: str, high: str) -> dict[str, str]:
        return {"x": x, "x2": f"{x} + {wide}", "y": y, "y2": f"{y} + {high}"}

    there = "datum.c < across * down"
    column = "left + (datum.c % across) * broad"
    row = "top + (datum.r + floor(datum.c / across)) * (cell + named) + named"
    fills = {"aspect": False, "align": "left", "baseline": "top"}
    images = box(column, row, "datum.w * broad", "datum.h * cell")
    image = mark(only("image", there), "image", fills, **images)
    image["encoding"]["url"] = {"field": "url", "type": "nominal"}
    outline = (
        f"(over.n ? datum.n === over.n[0] : datum.chosen) ? '{palette.CHOSEN}' : "
        f"datum.score >= {MARKED_FROM} && !datum.faded ? '{palette.FED}' : 'transparent'"
    )
    pointed = mark(
        only("head", there),
        "rect",
        {
            **{"strokeWidth": 2, "cursor": "pointer", "fill": GROUND, "stroke": {"expr": outline}},
            "fillOpacity": {"expr": f"datum.faded ? {VEIL} : 0"},
        },
        [
            {"field": "id", "type": "nominal", "title": "head"},
            {"field": "score", "type": "quantitative", "title": "share", "format": ".0%"},
        ],
        **box(column, row, "broad - 2", "cell - 2"),
    )
    over = {"type": "point", "on": "pointerover", "clear": "pointerout", "fields": ["n"]}
    clicked = {"type": "point", "on": "click", "toggle": False, "fields": ["id"]}
    pointed["params"] = [{"name": "over", "select": over}, {"name": "head", "select": clicked}]
    quiet, small = {"color": palette.MUTED}, {"fontSize": {"expr": "min(12, cell)"}}
    middle = f"{column} + broad / 2"
    numbers = [
        words(only("layer"), "text", 12, middle, "top - 8", align="center", **quiet),
        words(only("number"), "text", 12, "left - 8", f"{row} + cell / 2", align="right",
              **quiet, **small),
        words(only("title"), "text", 12, "datum.c * left", "datum.c ? 10 : top - 8", **quiet),
        words(only("name", there), "text", 12, column, f"{row} - 10"),
    ]  # fmt: skip
    part = "n_drawn < n_tokens ? 'tokens ' + first + ' to ' + (first + n_drawn - 1) : ''"
    which = words(only("part"), part, 12, "0", "below - between / 2", **quiet)
    place, asked = "(datum.c - first)", "(asked - first)"
    x, y = f"({place} % per) * wide", f"below + floor({place} / per) * {LINE}"
    is_drawn = f"{place} >= 0 && {place} < n_drawn"
    weight = "toNumber(split(datum.looks, '|')[over.n ? over.n[0] : datum.n]) / 1000"
    shade = f"{palette.FAINT} + {palette.FULL - palette.FAINT} * sqrt(datum.weight)"
    cells = mark(
        only("token", is_drawn),
        "rect",
        {
            **{"cornerRadius": 3, "fill": palette.POSITIVE, "fillOpacity": {"expr": shade}},
            "stroke": {"expr": f"datum.c === asked ? '{palette.CHOSEN}' : 'transparent'"},
        },
        [
            {"field": "text", "type": "nominal", "title": "token"},
            {"field": "weight", "type": "quantitative", "format": ".1%"},
        ],
        {"weight": weight},
        **box(x, y, "wide - 2", f"{STRIP}"),
    )
    names = words(
        only("token", is_drawn), "text", 12, f"{x} + wide / 2 - 1", f"{y} + {STRIP / 2}",
        align="center", limit={"expr": "wide - 4"},
    )  # fmt: skip
    arcs = mark(
        only("token", f"{is_drawn} && datum.c !== asked"),
        "point",
        {
            **{"filled": False, "clip": True, "strokeCap": "round", "stroke": palette.CHOSEN},
            "size": 4,  # at which a path is drawn as it is written, in pixels
            "shape": {"expr": ARC},
            "strokeWidth": {"expr": "0.6 + 6 * datum.weight"},
            "opacity": {"expr": f"datum.weight < {FAINTEST} ? 0 : datum.down ? 0.5 : 0.7"},
        },
        also={
            "weight": weight,
            "way": f"({asked} % per - {place} % per) * wide",
            "down": f"(floor({asked} / per) - floor({place} / per)) * {LINE}",
        },
        x=f"{x} + wide / 2 - 1",
        y=y,
    )
    return AS_WIDE | {
        "width": "container",
        "params": [{"name": name, "expr": expr} for name, expr in once.items()],
        "layer": [image, pointed, *numbers, which, arcs, cells, names],
    }
