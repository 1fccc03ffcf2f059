"""The same layer begun in each way: how far its scores spread, and how sure its rows are."""

import pandas as pd

from attention_core.mechanism.trainable import attend_trainable
from attention_core.text.embedding import embed
from attention_core.trace import Trace

from ...charts.bars import bars
from ...charts.chart import Chart
from ...controls.control import Values
from ...controls.shared import START, inputs_of, projections_of
from .words import sure_rows


def compared_starts(values: Values) -> dict[str, Trace]:
    """The lesson's trace with each start, by its title."""
    return {
        title: attend_trainable(embed(inputs_of(values)), projections_of(values, start))
        for start, title in START.choices(values).items()
    }


def bars_of_starts(starts: dict[str, Trace]) -> Chart:
    """The largest weight of each row, by start."""
    largest = {
        title: trace["weights"].value.max(dim=-1).values.tolist() for title, trace in starts.items()
    }
    (first, *_) = starts.values()
    return bars(first.labels("query"), largest, "The largest weight of each query, by start.")


def spread(starts: dict[str, Trace]) -> pd.DataFrame:
    """How far the scores of each spread, and what is left of the softmax's slope."""
    rows = [_spread(trace) for trace in starts.values()]
    return pd.DataFrame(rows, index=pd.Index(list(starts), name="start"))


def _spread(trace: Trace) -> dict[str, object]:
    scores, weights = trace["scores"].value, trace["weights"].value
    top = weights.max(dim=-1).values
    return {
        "smallest score": round(scores.min().item(), 2),
        "largest score": round(scores.max().item(), 2),
        "rows above 0.99": sure_rows(weights),
        "mean slope w(1 − w) of the top weight": round((top * (1 - top)).mean().item(), 6),
    }
