"""All heads of a model as points in a plane of two measures, over many sentences."""

import altair as alt
import pandas as pd

from attention_core.head_name import head_id
from attention_core.real_model.measures import MEASURES
from attention_core.real_model.survey import Survey

from ...charts.chart import Chart
from ...charts.template import QUIET, blank, template, tips
from ...picture import palette
from ...words import percent

HEIGHT = 340


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
            width="container", height=HEIGHT, padding={"left": 2, "top": 6, "right": 8, "bottom": 2}
        )
    )
