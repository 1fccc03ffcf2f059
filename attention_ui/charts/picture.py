"""Vectors as points in a plane: two of their entries, each a real cell."""

from collections.abc import Collection, Sequence
from textwrap import wrap

import altair as alt
import pandas as pd

from attention_core.trace import Step, Trace

from ..picture import palette
from ..picture.matrix import names_of
from ..picture.spec import GROUND
from .chart import Chart
from .template import GRID, blank, template, tips

SIDE = 320
NEAR, LINE, LONG = 0.05, 14, 20
"""Labels closer than this share of the axis stand a line apart; and how long a line of one is."""


def picture(
    trace: Trace,
    vectors: Step,
    across: int,
    up: int,
    weights: Step | None = None,
    context: Step | None = None,
    query: int = 0,
    without: Collection[int] = (),
) -> Chart:
    """The rows of `vectors` (token, d_in) by their entries `across` and `up`.

    With `weights` and `context` (both one row per query) also the context vector of `query`, a
    line from it to every vector, and points as large as their weights. Tokens `without` have none.
    """
    names = names_of(trace, "token")
    points = map(tuple, vectors.value[:, [across, up]].tolist())
    share = weights.value[query].tolist() if weights else [0.3] * len(names)
    # Tokens that share a point are one, with their names and all their weight.
    found: dict[tuple[float, float], dict] = {}
    for at, ((x, y), name, weight) in enumerate(zip(points, names, share, strict=True)):
        if at in without:
            continue
        one = found.setdefault((x, y), {"x": x, "y": y, "name": {}, "weight": 0.0})
        one["name"][name], one["weight"] = None, one["weight"] + weight
    rows = [{**one, "name": ", ".join(one["name"]), "kind": "vector"} for one in found.values()]
    entries = names_of(trace, vectors.axes[1], (across, up))
    title = f"{vectors.name} as points, by their entries {' and '.join(entries)}"
    if context is not None:
        x, y = context.value[query, across].item(), context.value[query, up].item()
        here = {"x": x, "y": y, "name": f"context of {names[query]}"}
        rows.append({**here, "weight": 0.3, "kind": "context"})
        title += ", with the context vector"
    for row in rows:
        row["label"] = "\n".join(wrap(row["name"], LONG, max_lines=3, placeholder=" …"))
        row["x0"], row["y0"] = (x, y) if context is not None else (row["x"], row["y"])
    _lift(rows[: len(found)])
    spec = _template(weights is not None)
    for channel, entry in zip("xy", entries, strict=True):
        numbers = [each[at] for each in rows for at in (channel, f"{channel}0")]
        ends = [float(min(0, *numbers)), float(max(0, *numbers))]
        ends = ends if any(ends) else [-1.0, 1.0]  # given, or Vega warns before the data arrive
        for layer in spec["layer"]:
            if channel in layer["encoding"]:
                layer["encoding"][channel]["axis"]["title"] = entry
                layer["encoding"][channel]["scale"]["domain"] = ends
    return Chart(pd.DataFrame(rows), spec, title + ".")


def _lift(rows: Sequence[dict]) -> None:
    """Raise each label, by its first line, so that none stands on that of its neighbour."""
    across, up = ([0.0, *(row[axis] for row in rows)] for axis in "xy")
    near, far = NEAR * ((max(up) - min(up)) or 1.0), ((max(across) - min(across)) or 1.0) / 2
    lifted: list[dict] = []
    for row in sorted(rows, key=lambda row: -row["x"]):
        beside = [other["lift"] for other in lifted
                  if abs(other["y"] - row["y"]) < near and other["x"] - row["x"] < far]  # fmt: skip
        row["lift"] = max(beside, default=-LINE) + LINE * (1 + row["label"].count("\n"))
        lifted.append(row)


@template("pad")
def _template(weighted: bool) -> alt.LayerChart:
    quiet = {**GRID, "tickCount": 5}
    scale = alt.Scale(zero=True, nice=True, padding=24)
    place = {
        "x": alt.X("x:Q", axis=alt.Axis(**quiet), scale=scale),
        "y": alt.Y("y:Q", axis=alt.Axis(**quiet), scale=scale),
    }
    base = blank()
    is_context = "datum.kind == 'context'"
    colour = alt.when(is_context).then(alt.value(palette.CHOSEN))
    size = alt.Size(
        "weight:Q",
        scale=alt.Scale(domain=[0, 1], range=[30, 900]) if weighted else None,
        legend=None,
    )
    if not weighted:
        size = alt.value(110)
    points = base.mark_circle(opacity=0.85).encode(
        **place,
        size=size,
        color=colour.otherwise(alt.value("#4C86BD")),
        tooltip=[
            alt.Tooltip("name:N", title="token"),
            alt.Tooltip("x:Q", format=".4~f"),
            alt.Tooltip("y:Q", format=".4~f"),
            *(tips(("weight:Q", None, ".4~f")) if weighted else []),
        ],
    )
    label = {**place, "text": "label:N"}
    ground = {"stroke": GROUND, "strokeWidth": 5, "strokeJoin": "round"}
    named = [
        base.transform_filter(which)
        .mark_text(
            align="left", dx=9, fontSize=12, lineBreak="\n", lineHeight=LINE, **look, **around
        )
        .encode(**label)
        # No line goes through a name: it stands on ground of its own.
        for around in (ground, {})
        for which, look in (
            (
                "datum.kind == 'vector'",
                {"dy": alt.expr("-9 - datum.lift"), "limit": 160, "color": palette.MUTED},
            ),
            (is_context, {"dy": 12, "limit": 180, "color": palette.CHOSEN}),
        )
    ]
    lines = base.mark_rule(color="#4C86BD").encode(
        **place,
        x2="x0:Q",
        y2="y0:Q",
        strokeWidth=alt.StrokeWidth("weight:Q", scale=None),
        opacity=alt.value(0.45),
    )
    lines = lines.transform_calculate(weight="1 + 6 * datum.weight")
    layers = [lines, points, *named] if weighted else [points, *named[::2]]
    return alt.layer(*layers).properties(width=SIDE, height=SIDE)
