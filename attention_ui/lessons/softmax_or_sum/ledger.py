"""Steps of a row as columns of written numbers, in which what is no number stands out."""

import math
from collections.abc import Mapping, Sequence
from copy import deepcopy
from functools import lru_cache

import altair as alt
import pyarrow as pa
from torch import Tensor

from attention_core.text.tokenizers import visible

from ...charts.chart import Chart, without_data
from ...picture import palette
from ...picture.layout import LABEL

LOST, GONE = "inf or nan", "too small: 0"
CELL = {"width": {"step": 92}, "height": {"step": 24}}


def ledger(
    names: Sequence[str], columns: Mapping[str, Tensor], vanishing: Sequence[str], title: str
) -> Chart:
    """One row a token, one column a step (key,), the scores first. Cells that are inf or nan are
    red; a 0 in one of the `vanishing` columns, which is never 0 but for rounding, is blue, unless
    the score is hidden.
    """
    hidden = [score == -math.inf for score in next(iter(columns.values())).tolist()]
    rows = [
        (place, at, written(value), _state(value, name in vanishing and not hidden[place]))
        for at, (name, values) in enumerate(columns.items())
        for place, value in enumerate(values.tolist())
    ]
    places, ats, texts, states = zip(*rows, strict=True)
    frame = pa.table(
        {
            "place": pa.array(places, pa.int16()),
            "column": pa.array(ats, pa.int16()),
            "text": pa.array(texts, pa.string()),
            "state": pa.array(states, pa.string()),
        }
    )
    spec = deepcopy(_template())
    labels = {"names": [visible(name) for name in names], "columns": list(columns)}
    for parameter in spec["params"]:
        parameter["value"] = labels[parameter["name"]]
    spec["title"]["text"] = title
    lost = sum(state == LOST for state in states)
    return Chart(frame, spec, f"Table: {title}. {lost} of {len(states)} cells are inf or nan.")


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


@lru_cache(maxsize=1)
def _template() -> dict:
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
                labelExpr="names[datum.value]",
                labelLimit=LABEL,
                labelBaseline="middle",
                **quiet,
            ),
            scale=alt.Scale(paddingInner=0.06, paddingOuter=0),
        ),
    }
    colours = alt.Scale(
        domain=["", LOST, GONE],
        range=[palette.NEUTRAL, palette.LOST, palette.GONE],
    )
    base = alt.Chart(alt.Data(values=[]))
    cells = base.mark_rect(cornerRadius=3, aria=False).encode(
        **place, color=alt.Color("state:N", scale=colours, legend=None)
    )
    texts = base.mark_text(fontSize=11, aria=False, color="#000000").encode(**place, text="text:N")
    parameters = [alt.param(name="names", value=[]), alt.param(name="columns", value=[])]
    spec = without_data(alt.layer(cells, texts).add_params(*parameters).to_dict())
    title = {"text": "", "anchor": "start", "frame": "group", "fontSize": 12, "offset": 6}
    return spec | CELL | {"autosize": {"type": "pad"}, "title": title}
