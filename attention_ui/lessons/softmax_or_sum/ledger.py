"""Steps of a row as columns of written numbers, in which what is no number stands out."""

import math
from collections.abc import Mapping, Sequence

import altair as alt
import pyarrow as pa
from torch import Tensor

from attention_core.text.tokenizers import visible

from ...charts.chart import Chart
from ...charts.template import blank, table, template
from ...picture import palette
from ...picture.layout import LABEL

LOST, GONE = "inf or nan", "too small: 0"
CELL = {"width": {"step": 92}, "height": {"step": 24}}


def ledger(
    names: Sequence[str], columns: Mapping[str, Tensor], vanishing: Sequence[str], title: str
) -> Chart:
    """One row a token, one column a step (key,); inf and nan red, rounded-away 0 blue."""
    hidden = [score == -math.inf for score in next(iter(columns.values())).tolist()]
    rows = [
        (place, at, written(value), _state(value, name in vanishing and not hidden[place]))
        for at, (name, values) in enumerate(columns.items())
        for place, value in enumerate(values.tolist())
    ]
    kinds = {"place": pa.int16(), "column": pa.int16(), "text": pa.string(), "state": pa.string()}
    title_look = {"text": title, "anchor": "start", "frame": "group", "fontSize": 12, "offset": 6}
    spec = _template() | CELL | {"title": title_look}
    labels = {"names": [visible(name) for name in names], "columns": list(columns)}
    for parameter in spec["params"]:
        parameter["value"] = labels[parameter["name"]]
    lost = sum(state == LOST for *_, state in rows)
    told = f"Table: {title}. {lost} of {len(rows)} cells are inf or nan."
    return Chart(table(rows, **kinds), spec, told)


def _state(value: float, vanishing: bool) -> str:
    if not math.isfinite(value) and value != -math.inf:
        return LOST
    return GONE if vanishing and value == 0 else ""


def written(value: float) -> str:
    """A number in at most nine signs, or the word for what is none."""
    if not math.isfinite(value):
        return "nan" if math.isnan(value) else ("inf" if value > 0 else "−inf")
    if value == 0:
        return "0"
    small = value != 0 and not 1e-4 <= abs(value) < 1e5
    return (f"{value:.2e}" if small else f"{value:.4f}").replace("-", "−")


@template("pad")
def _template() -> alt.LayerChart:
    quiet = {"labelOverlap": False, "domain": False, "ticks": False, "grid": False, "title": None}
    quiet["labelFlush"] = False
    place = {
        "x": alt.X(
            "column:O",
            axis=alt.Axis(orient="top", labelAngle=0, labelExpr="columns[datum.value]", **quiet),
            scale=alt.Scale(paddingInner=0.04, paddingOuter=0),
        ),
        "y": alt.Y(
            "place:O",
            axis=alt.Axis(
                labelExpr="names[datum.value]", labelLimit=LABEL, labelBaseline="middle", **quiet
            ),
            scale=alt.Scale(paddingInner=0.06, paddingOuter=0),
        ),
    }
    colours = alt.Scale(
        domain=["", LOST, GONE], range=[palette.NEUTRAL, palette.LOST, palette.GONE]
    )
    base = blank()
    cells = base.mark_rect(cornerRadius=3, aria=False).encode(
        **place, color=alt.Color("state:N", scale=colours, legend=None)
    )
    texts = base.mark_text(fontSize=11, aria=False, color="#000000").encode(**place, text="text:N")
    parameters = [alt.param(name="names", value=[]), alt.param(name="columns", value=[])]
    return alt.layer(cells, texts).add_params(*parameters)
