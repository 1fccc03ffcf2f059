"""The small charts of the lesson on a real model."""

from collections.abc import Mapping, Sequence
from math import ceil

import altair as alt
import pandas as pd

from attention_core.real_model.attribution import Attribution
from attention_core.real_model.measures import MEASURES
from attention_core.real_model.model import Model
from attention_core.real_model.settings import Settings
from attention_core.real_model.survey import Survey
from attention_core.text.tokenizers import visible
from attention_core.utils.head_name import head_id

from ...charts.chart import AS_WIDE, Chart
from ...charts.template import QUIET, blank, template, tips
from ...picture import palette
from ...words import percent
from .seen import Seen

WIDE = {"width": "container", "padding": AS_WIDE["padding"]}
CLOSE = 6
"""Pixels from the names of rows and columns to their cells."""
MOST, STEP = 5, 16
"""So many of the likeliest tokens are drawn, and how high each is."""
ROW, COLUMN, MOST_ROWS, PART = 18, 46, 11, 18
"""Pixels of a layer and, at least, of a token; layers at most; and pixels of a head’s row."""


def next_tokens(reading: Seen, without: Seen | None) -> Chart:
    """Bars of the likeliest next tokens, with an orange tick where each ends `without` a part."""
    left = (without or reading).chances
    best = reading.chances.topk(min(MOST, len(left))).indices.tolist()
    if without is not None:
        new = [each for each in left.topk(min(3, len(left))).indices.tolist() if each not in best]
        best = [*best[: MOST - len(new)], *new]
    rows = []
    for place, token in enumerate(best):
        chance, now = float(reading.chances[token]), float(left[token])
        text = percent(chance) if without is None else f"{percent(chance)} → {percent(now)}"
        ends = {"chance": chance, "left": now, "end": max(chance, now)}
        name = label(reading.run.model, token)
        rows.append({"place": place, "token": name, **ends, "text": text})
    spec = _bars()
    spec["params"] = [{"name": "tokens", "value": [row["token"] for row in rows]}]
    spec["height"] = STEP * len(rows)
    return Chart(pd.DataFrame(rows), spec, "The likeliest next tokens and their chances.")


def label(model: Model, token: int) -> str:
    """A token, where there is little room."""
    known = token in model.tokenizer
    return visible(model.tokenizer.piece(token)) if known else f"token {token}"


@template("fit-x")
def _bars() -> alt.LayerChart:
    quiet = QUIET | {"labelLimit": 130, "labelPadding": CLOSE}
    base = blank().encode(
        y=alt.Y(
            "place:O",
            title=None,
            axis=alt.Axis(labelExpr="tokens[datum.value]", **quiet),
            scale=alt.Scale(paddingInner=0.25),
        )
    )
    x = alt.X("chance:Q", axis=None, scale=alt.Scale(domain=[0, 1.15]))
    told = tips(("token:N",), ("chance:Q", None, ".2%"))
    bars = base.mark_bar(aria=False, cornerRadius=2, color=palette.BAR).encode(x=x, tooltip=told)
    left = base.mark_tick(aria=False, thickness=3, color=palette.CHOSEN).encode(
        x=alt.X("left:Q", axis=None, scale=alt.Scale(domain=[0, 1.15])),
        opacity=alt.when("datum.left === datum.chance").then(alt.value(0)).otherwise(alt.value(1)),
    )
    texts = base.mark_text(align="left", dx=6, fontSize=12, aria=False, color=palette.INK).encode(
        x=alt.X("end:Q", axis=None, scale=alt.Scale(domain=[0, 1.15])), text="text:N"
    )
    return alt.layer(bars, left, texts).properties(**WIDE)


def after_each_layer(reading: Seen, pieces: Sequence[str]) -> Chart:
    """The likeliest next token after each layer: a row a layer, a column a token, the last ones."""
    model, told = reading.run.model, reading.lens
    n_layers, n = model.settings.n_layers, len(reading.run.ids)
    ids, chances = (each.view(n_layers + 1, -1) for each in (told.ids, told.chances))
    first = n - ids.shape[1]
    every = ceil(n_layers / MOST_ROWS)
    drawn = [*range(n_layers, -1, -every)][::-1]  # the last among them
    rows = [
        {
            **{"layer": layer, "place": place, "token": visible(pieces[place])},
            **{"says": label(model, int(ids[layer, place - first])), "chance": chance},
            "shade": palette.FAINT + (palette.FULL - palette.FAINT) * chance**0.5,
            "after": f"layer {layer - 1}" if layer else "the embedding alone",
        }
        for layer in drawn
        for place in range(first, n)
        for chance in [float(chances[layer, place - first])]
    ]
    spec = _table()
    spec["params"] = [
        {"name": "tokens", "value": [visible(each) for each in pieces]},
        {"name": "n_columns", "value": n - first},
        {"name": "n_drawn", "expr": f"min(n_columns, max(1, floor(width / {COLUMN})))"},
        {"name": "limit", "expr": "max(10, width / n_drawn - 6)"},
    ]
    spec["height"] = len(drawn) * ROW
    return Chart(pd.DataFrame(rows), spec, "The likeliest next token after each layer.")


@template("fit-x")
def _table() -> alt.LayerChart:
    quiet = QUIET | {"labelOverlap": False, "labelPadding": CLOSE, "titlePadding": CLOSE}
    layers = alt.Axis(
        title="after layer",
        titleAngle=0,
        titleAlign="right",
        titleX=-CLOSE,
        titleY=-2 * CLOSE,
        labelBaseline="middle",
        labelExpr="datum.value == 0 ? 'embedding' : format(datum.value - 1, 'd')",
        **quiet,
    )
    base = blank().encode(
        x=alt.X(
            "place:O",
            title=None,
            scale=alt.Scale(paddingInner=0.04),
            axis=alt.Axis(orient="top", labelExpr="tokens[datum.value]", labelAngle=0,
                          labelLimit=alt.expr("limit"), **quiet),
        ),
        y=alt.Y("layer:O", axis=layers, scale=alt.Scale(paddingInner=0.08)),
    )  # fmt: skip
    cells = base.mark_rect(aria=False, cornerRadius=3).encode(
        fill=alt.value(palette.POSITIVE),
        fillOpacity=alt.FillOpacity("shade:Q", scale=None, legend=None),
        tooltip=tips(
            ("after:N", "after"),
            ("token:N", "behind"),
            ("says:N", "it would say"),
            ("chance:Q", "chance", ".1%"),
        ),
    )
    words = base.mark_text(
        aria=False, fontSize=11, color=palette.INK, limit=alt.expr("limit")
    ).encode(text="says:N")
    return (
        alt.layer(cells, words)
        .transform_filter("datum.place >= length(tokens) - n_drawn")
        .properties(
            **WIDE,
            title=alt.Title(
                alt.expr("n_drawn < length(tokens) ? 'the last ' + n_drawn + ' of '"
                         " + length(tokens) + ' tokens' : ''"),
                anchor="start", offset=0, fontSize=12, fontWeight="normal", color=palette.MUTED,
            ),
        )
    )  # fmt: skip


def who_brought(made: Attribution, settings: Settings, chosen: tuple[int, int], of: str) -> Chart:
    """By layer, what each head, a row, and the feed-forward below brought to what this is `of`."""
    cells = {
        (part.layer, settings.n_heads if part.head is None else part.head): (part.name, part.amount)
        for part in made.parts
        if part.kind == "head" or (part.kind == "feed-forward" and settings.d_ffn)
    }
    names = [*map(str, range(settings.n_heads)), *(["feed-forward"] if settings.d_ffn else [])]
    return by_layers(cells, names, settings.n_layers, f"What each part brought to {of}.", chosen)


def by_layers(
    cells: Mapping[tuple[int, int], tuple[str, float]],
    names: Sequence[str],
    n_layers: int,
    words: str,
    chosen: tuple[int, int] | None = None,
) -> Chart:
    """Named amounts by (layer, row), blue above 0, red below; rows are called by `names`."""
    most = max((abs(amount) for _, amount in cells.values()), default=0.0) or 1.0
    rows = [
        {
            **{"layer": layer, "row": row, "called": called, "amount": amount},
            "shade": palette.FAINT + (palette.FULL - palette.FAINT) * (abs(amount) / most) ** 0.5,
            "id": called.removeprefix("head "),
            "chosen": (layer, row) == chosen,
        }
        for (layer, row), (called, amount) in cells.items()
    ]
    spec = _amounts()
    spec["params"] = [*spec["params"], {"name": "part_names", "value": list(names)}]
    every = 1 if n_layers < 20 else 2
    spec["encoding"]["x"]["axis"]["values"] = [*range(0, n_layers, every)]
    spec["height"] = PART * len(names)
    return Chart(pd.DataFrame(rows), spec, words)


@template("fit-x")
def _amounts() -> alt.Chart:
    quiet = QUIET | {"labelPadding": CLOSE, "titlePadding": CLOSE}
    return (
        blank()
        .mark_rect(aria=False, cornerRadius=3, strokeWidth=2)
        .encode(
            x=alt.X("layer:O", title="layer", scale=alt.Scale(paddingInner=0.06),
                    axis=alt.Axis(orient="top", titleAnchor="start", labelAngle=0, **quiet)),
            y=alt.Y("row:O", title=None, scale=alt.Scale(paddingInner=0.06),
                    axis=alt.Axis(labelExpr="part_names[datum.value]", labelBaseline="middle",
                                **quiet)),
            fill=alt.when("datum.amount < 0")
            .then(alt.value(palette.NEGATIVE))
            .otherwise(alt.value(palette.POSITIVE)),
            fillOpacity=alt.FillOpacity("shade:Q", scale=None, legend=None),
            stroke=alt.when("datum.chosen")
            .then(alt.value(palette.CHOSEN))
            .otherwise(alt.value("transparent")),
            tooltip=tips(("called:N", "part"), ("amount:Q", " ", "+.3f")),
        )
        .add_params(alt.selection_point(name="head", on="click", fields=["id"], empty=False))
        .properties(**WIDE)
    )  # fmt: skip


def plane(survey: Survey, across: str, up: str, chosen: tuple[int, int]) -> Chart:
    """Heads as points: how much each does of two measures, by their names in MEASURES."""
    _, n_layers, n_heads = survey.means.shape
    rows = [
        {
            **{"id": head_id(layer, head), "chosen": (layer, head) == chosen},
            **{"across": survey.mean(across, layer, head), "up": survey.mean(up, layer, head)},
        }
        for layer in range(n_layers)
        for head in range(n_heads)
    ]
    rows.sort(key=lambda row: row["chosen"])  # drawn last, it lies above the others
    frame = pd.DataFrame(rows).dropna()
    spec = _points()
    for axis, measure in (("x", across), ("y", up)):
        spec["encoding"][axis]["title"] = MEASURES[measure].name
    for tooltip, measure in zip(spec["encoding"]["tooltip"][1:], (across, up), strict=True):
        tooltip["title"] = MEASURES[measure].name
    told = f"{len(frame)} heads by {MEASURES[across].name} and {MEASURES[up].name}."
    for row in frame[frame["chosen"]].itertuples():
        told += f" Head {row.id}: {percent(row.across)} and {percent(row.up)}."
    return Chart(frame, spec, told)


@template("fit-x")
def _points() -> alt.Chart:
    def share(field: str) -> dict:
        axis = alt.Axis(format="%", tickCount=5, **QUIET)
        return {"shorthand": f"{field}:Q", "scale": alt.Scale(domain=[0, 1]), "axis": axis}

    clicked = alt.selection_point(name="head", fields=["id"], toggle=False)
    is_chosen = alt.when("datum.chosen")
    return (
        blank()
        .mark_circle(aria=False)
        .encode(
            x=alt.X(**share("across")),
            y=alt.Y(**share("up")),
            color=is_chosen.then(alt.value(palette.CHOSEN)).otherwise(alt.value(palette.BAR)),
            size=is_chosen.then(alt.value(170)).otherwise(alt.value(70)),
            opacity=is_chosen.then(alt.value(1)).otherwise(alt.value(0.55)),
            tooltip=tips(("id:N", "head"), ("across:Q", "across", ".1%"), ("up:Q", "up", ".1%")),
        )
        .add_params(clicked)
        # Streamlit adds 20 below.
        .properties(
            width="container", height=340, padding={"left": 2, "top": 6, "right": 8, "bottom": 2}
        )
    )
