"""What a class has answered: a bar for each answer, or faint rows of shares over one another."""

from collections.abc import Sequence

import altair as alt
import pyarrow as pa

from ..picture import palette
from ..picture.numbers import written
from .bars import HEIGHT, LONG, up
from .chart import Chart
from .template import QUIET, blank, table, template, tips

STEP, LETTERS = 40, 13
"""Pixels of a choice with its name above it, and of its letters."""
BEFORE, NOW, TRUE = "before", "now", "true"
LONGEST = 60
"""Characters of a choice beside its bar."""


def votes(
    names: Sequence[str],
    turns: Sequence[Sequence[int]],
    people: Sequence[int],
    right: Sequence[bool] = (),
    letters: int = LETTERS,
) -> Chart:
    """A bar for each choice, as long as the share of that turn's `people` who chose it, with their
    number. Of two turns, the first is a thin bar above the second. Choices that are `right` are
    marked: pass none before that may be known. A letter is `letters` pixels high.
    """
    rows = []
    for turn, (counts, n_people) in enumerate(zip(turns, people, strict=True)):
        kind = NOW if turn == len(turns) - 1 else BEFORE
        for place, (name, count) in enumerate(zip(names, counts, strict=True)):
            mark = "✓ " if right and right[place] else ""
            short = name if len(name) <= LONGEST else name[: LONGEST - 1] + "…"
            rows.append((place, mark + short, kind, count / (n_people or 1), str(count)))
    kinds = {"place": pa.int16(), "name": pa.string(), "kind": pa.string()}
    frame = table(rows, **kinds, share=pa.float32(), text=pa.string())
    spec = _votes(letters) | {"height": round(STEP * letters / LETTERS) * len(names)}
    said = ", now and before" if len(turns) > 1 else ""
    told = "; ".join(
        f"{name}: {', before '.join(str(counts[place]) for counts in reversed(turns))}"
        + (", which is right" if right and right[place] else "")
        for place, name in enumerate(names)
    )
    return Chart(frame, spec, f"How many chose each answer{said}. {told}.")


@template("fit-x")
def _votes(letters: int) -> alt.LayerChart:
    size = letters / LETTERS
    base = blank().encode(
        y=alt.Y("place:O", axis=None, scale=alt.Scale(paddingInner=0, paddingOuter=0))
    )
    across = {"x": alt.X("share:Q", axis=None, scale=alt.Scale(domain=[0, 1.08]))}
    told = tips(("name:N", "answer"), ("kind:N", " "), ("text:N", "how many"))
    look = {"aria": False, "cornerRadiusEnd": 3}
    now, before = (base.transform_filter(f"datum.kind == '{kind}'") for kind in (NOW, BEFORE))
    bar = now.mark_bar(size=13 * size, yOffset=9 * size, color=palette.BAR, **look)
    thin = before.mark_bar(size=3 * size, yOffset=0, color=palette.GREY, **look)
    line = {"align": "left", "baseline": "middle", "aria": False, "fontSize": letters}
    name = now.mark_text(dy=-10 * size, limit=50 * letters, color=palette.INK, **line)
    count = now.mark_text(dy=9 * size, dx=6, fontWeight="bold", color=palette.INK, **line)
    return alt.layer(
        bar.encode(**across, tooltip=told),
        thin.encode(**across, tooltip=told),
        name.encode(x=alt.value(0), text="name:N"),
        count.encode(**across, text="text:N"),
    ).properties(width="container")


def rows_over(
    names: Sequence[str],
    rows: Sequence[Sequence[float]],
    truth: Sequence[float] | None = None,
    letters: int = LETTERS,
    before: Sequence[Sequence[float]] = (),
) -> Chart:
    """Everybody's shares over the same names, a faint line each, grey for the turn `before`; and
    the true ones as bars, once they may be known. A letter is `letters` pixels high.
    """
    kinds_of_rows = [
        *([] if truth is None else [(TRUE, truth)]),
        *((BEFORE, row) for row in before),
        *((NOW, row) for row in rows),
    ]
    cells = [
        (who, kind, place, name, float(share), written(float(share)))
        for who, (kind, row) in enumerate(kinds_of_rows)
        for place, (name, share) in enumerate(zip(names, row, strict=True))
    ]
    kinds = {"who": pa.int16(), "kind": pa.string(), "place": pa.int16(), "name": pa.string()}
    frame = table(cells, **kinds, share=pa.float32(), text=pa.string())
    spec = _rows(truth is not None, letters)
    spec["params"] = [{"name": "row_names", "value": list(names)}]
    for layer in spec["layer"]:
        aslant = any(len(name) > LONG for name in names)
        layer["encoding"]["x"]["axis"]["labelAngle"] = -30 if aslant else 0
    mean = [sum(row[place] for row in rows) / (len(rows) or 1) for place in range(len(names))]
    answers = "1 answer" if len(rows) == 1 else f"{len(rows)} answers"
    told = f"{answers}, each a row of shares; on average {_told(names, mean)}"
    if before:
        mean = [sum(row[place] for row in before) / len(before) for place in range(len(names))]
        told += f"; in the vote before, {_told(names, mean)}"
    told += "" if truth is None else f". The weights are {_told(names, truth)}"
    return Chart(frame, spec, f"{told}.")


def _told(names: Sequence[str], shares: Sequence[float]) -> str:
    return ", ".join(f"{name} {written(share)}" for name, share in zip(names, shares, strict=True))


@template("fit-x")
def _rows(has_truth: bool, letters: int) -> alt.LayerChart:
    quiet = {**QUIET, "labelFontSize": letters, "labelLimit": 8 * letters}
    across = alt.X(
        "place:O",
        title=None,
        axis=alt.Axis(labelExpr="row_names[datum.value]", labelOverlap=False, **quiet),
        scale=alt.Scale(paddingInner=0.3, paddingOuter=0.2),
    )
    base = blank()
    shape = {"x": across, "y": up("share:Q"), "detail": "who:N"}
    drawn = []
    for kind, color in ((BEFORE, palette.GREY), (NOW, palette.CHOSEN)):
        lines = base.transform_filter(f"datum.kind == '{kind}'")
        look = {"color": color, "aria": False}
        line = lines.mark_line(strokeWidth=1.5, opacity=0.3, interpolate="linear", **look)
        tick = lines.mark_tick(thickness=3, opacity=0.45, width={"band": 0.6}, **look)
        drawn += [line.encode(**shape), tick.encode(**shape)]
    if has_truth:
        true = base.transform_filter(f"datum.kind == '{TRUE}'")
        told = tips(("name:N", "token"), ("share:Q", "the weight", ".4f"))
        bar = true.mark_bar(color=palette.BAR, width={"band": 0.6}, cornerRadiusEnd=3, aria=False)
        bold = {"fontSize": letters, "fontWeight": "bold", "color": palette.INK, "aria": False}
        number = true.mark_text(dy=-letters / 2 - 2, **bold)
        drawn = [
            bar.encode(x=across, y=up("share:Q"), tooltip=told),
            *drawn,
            number.encode(x=across, y=up("share:Q"), text="text:N"),
        ]
    return alt.layer(*drawn).properties(width="container", height=(HEIGHT + 40) * letters / LETTERS)
