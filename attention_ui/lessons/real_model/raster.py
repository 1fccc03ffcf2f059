"""All heads of a model as one picture: each a small square of its weights, with a rectangle over it
for pointing and clicking. Below it, where one query looks in the head that is pointed at.

One image for all weights: a mark for each of 270 heads × 64 × 64 weights would be a million.
"""

import base64
import io
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import lru_cache

import altair as alt
import numpy as np
import pandas as pd
from PIL import Image

from ...charts.chart import Chart, without_data
from ...picture import palette

WIDE, TALL, LARGEST, GAP, STRIP, BETWEEN = 900, 330, 100, 3, 26, 22
"""Pixels: of all layers beside each other, of all heads below each other, of one head at most,
between two, of the tokens below, and between those and the heads.
"""
MOST_NUMBERS = 20
"""Of more layers than these, every second is numbered."""
MARKED_FROM = 0.3
"""A head that gives so much of its weight to what is looked for is outlined."""
MOST_STRIPS = 20_000
"""Weights that the strip of tokens carries for all heads; above that, those of the chosen head."""


@dataclass(frozen=True)
class Heads:
    """What the picture shows: weights (layer, head, query, key), how well each head fits the
    measure (layer, head), the tokens, the query whose weights stand below, and the chosen head.
    """

    weights: np.ndarray
    scores: np.ndarray
    tokens: Sequence[str]
    query: int
    chosen: tuple[int, int]
    measure: str


def all_heads(heads: Heads) -> Chart:
    """The picture of all heads: layers from left to right, heads downwards."""
    n_layers, n_heads, _, n_tokens = heads.weights.shape
    side = min(LARGEST, WIDE // n_layers, TALL // n_heads)
    across, below, strip = WIDE / side, n_heads + BETWEEN / side, STRIP / side
    image = _raster(heads.weights, side)
    rows: list[dict] = [{"kind": "image", "url": image, "x2": n_layers, "y2": n_heads}]
    for layer, head in np.ndindex(n_layers, n_heads):
        score, chosen = float(heads.scores[layer, head]), (layer, head) == heads.chosen
        told = {"kind": "head", "id": f"{layer}.{head}", "score": score, "chosen": chosen}
        rows.append({**told, "x": layer, "x2": layer + 1, "y": head, "y2": head + 1})
    rows += _strips(heads, across / n_tokens, below, below + strip)
    frame = pd.DataFrame(rows)
    frame[["x", "y"]] = frame[["x", "y"]].fillna(0.0)
    frame["chosen"] = frame["chosen"].eq(True)
    spec = deepcopy(_template())
    for layer in spec["layer"]:
        for axis, ends, count, title in (
            ("x", [0, across], n_layers, "layer"),
            ("y", [below + strip, 0], n_heads, "head"),
        ):
            channel = layer["encoding"][axis]
            channel["scale"] = {"domain": ends, "nice": False}
            every = 2 if count > MOST_NUMBERS else 1
            channel["axis"] |= {"title": title, "values": [n + 0.5 for n in range(0, count, every)]}
    wide = WIDE / n_tokens
    spec["layer"][-1]["mark"] |= {
        "fontSize": 12 if wide > 40 else 10,
        "limit": {"expr": f"width / {n_tokens} - 2"},
    }
    spec["height"] = round(side * (below + strip))
    best = np.unravel_index(int(heads.scores.argmax()), heads.scores.shape)
    told = (
        f"{n_layers * n_heads} heads, each a small square of its weights. {heads.measure}: most in "
        f"head {best[0]}.{best[1]}, {heads.scores.max():.0%}."
    )
    return Chart(frame, spec, told)


def _strips(heads: Heads, step: float, top: float, bottom: float) -> list[dict]:
    """Where the query looks in each head, token by token."""
    row = heads.weights[:, :, heads.query]
    found = []
    for layer, head in np.ndindex(row.shape[:2]):
        is_chosen = (layer, head) == heads.chosen
        if row.size > MOST_STRIPS and not is_chosen:
            continue
        told = {"kind": "token", "id": f"{layer}.{head}", "chosen": is_chosen}
        for key, weight in enumerate(row[layer, head].tolist()):
            ends = {"x": key * step, "x2": (key + 1) * step, "y": top, "y2": bottom}
            found.append({**told, **ends, "token": heads.tokens[key], "weight": weight})
    return found


def _raster(weights: np.ndarray, side: int) -> str:
    """Weights (column, row, query, key) as an image: the root of each is how much blue lies on the
    page.
    """
    n_columns, n_rows, n_queries, n_keys = weights.shape
    scale = max(1, round(2 * side / n_keys))
    step = n_keys * scale + max(1, round(GAP * n_keys * scale / side))
    opaque = np.zeros((n_rows * step, n_columns * step), np.uint8)
    shades = np.sqrt(np.nan_to_num(weights)) * (palette.FULL - palette.FAINT) + palette.FAINT
    for column, row in np.ndindex(n_columns, n_rows):
        cells = (255 * shades[column, row]).astype(np.uint8).repeat(scale, 0).repeat(scale, 1)
        top, left = row * step, column * step
        opaque[top : top + n_queries * scale, left : left + n_keys * scale] = cells
    blue = tuple(int(palette.POSITIVE[at : at + 2], 16) for at in (1, 3, 5))
    image = Image.new("RGBA", opaque.shape[::-1], (*blue, 0))
    image.putalpha(Image.fromarray(opaque))
    written = io.BytesIO()
    image.save(written, "PNG")
    return "data:image/png;base64," + base64.b64encode(written.getvalue()).decode()


@lru_cache(maxsize=1)
def _template() -> dict:
    quiet = {"grid": False, "domain": False, "ticks": False, "labelFontSize": 12}
    quiet |= {
        "labelExpr": "floor(datum.value)",
        "titleAnchor": "start",
        "titleFontWeight": "normal",
    }
    quiet |= {"titlePadding": 2, "labelPadding": 2}
    base = alt.Chart(alt.Data(values=[])).encode(
        x=alt.X("x:Q", axis=alt.Axis(orient="top", **quiet)),
        y=alt.Y("y:Q", axis=alt.Axis(**{**quiet, "titleAnchor": "end"})),
    )
    boxes = base.encode(x2="x2:Q", y2="y2:Q")
    image = (
        boxes.transform_filter("datum.kind === 'image'")
        .mark_image(aspect=False, align="left", baseline="top", aria=False)
        .encode(url="url:N")
    )
    one = {"fields": ["id"], "empty": False}
    over = alt.selection_point(name="over", on="pointerover", clear="pointerout", **one)
    told = alt.selection_point(name="head", on="click", toggle=False, **one)
    stroke = (
        alt.when("over.id ? datum.id === over.id[0] : datum.chosen")
        .then(alt.value(palette.CHOSEN))
        .when(f"datum.score >= {MARKED_FROM}")
        .then(alt.value(palette.FED))
        .otherwise(alt.value("transparent"))
    )
    pointed = (
        boxes.transform_filter("datum.kind === 'head'")
        .mark_rect(fillOpacity=0.01, strokeWidth=2, cursor="pointer", aria=False)
        .encode(
            stroke=stroke,
            tooltip=[
                alt.Tooltip("id:N", title="head"),
                alt.Tooltip("score:Q", title="share", format=".0%"),
            ],
        )
        .add_params(over, told)
    )
    shown = "datum.kind === 'token' && (over.id ? datum.id === over.id[0] : datum.chosen)"
    shade = f"{palette.FAINT} + {palette.FULL - palette.FAINT} * sqrt(datum.weight)"
    cells = (
        boxes.transform_filter(shown)
        .transform_calculate(shade=shade)
        .mark_rect(aria=False, cornerRadius=3)
        .encode(
            fill=alt.value(palette.POSITIVE),
            fillOpacity=alt.FillOpacity("shade:Q", scale=None, legend=None),
            tooltip=[alt.Tooltip("token:N"), alt.Tooltip("weight:Q", format=".1%")],
        )
    )
    words = (
        base.transform_filter(shown)
        .transform_calculate(x="(datum.x + datum.x2) / 2", y="(datum.y + datum.y2) / 2")
        .mark_text(aria=False, color=palette.INK, baseline="middle")
        .encode(text="token:N")
    )
    chart = alt.layer(image, pointed, cells, words).properties(width="container")
    return without_data(chart.to_dict()) | {"autosize": {"type": "fit-x", "contains": "padding"}}
