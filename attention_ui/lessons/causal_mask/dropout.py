"""Dropout on the weights: the mean of many draws."""

import torch

from attention_core.trace import Trace

from ...charts.bars import bars
from ...charts.chart import Chart
from ...controls.control import Values
from ...words import number

DRAWS = 4_000


def many_draws(trace: Trace, values: Values) -> tuple[Chart, str]:
    """One query's weights beside the mean of many draws of dropout, and that in words."""
    query = values.query
    row, once = trace["weights"].value[query], trace["dropped_weights"].value[query]
    mean = _mean_of_draws(row, values.dropout)
    title = f"Weights of query {query}: as they are, and the mean of {DRAWS:,} draws of dropout."
    rows = {"as they are": row.tolist(), "mean of many": mean.tolist()}
    return bars(trace.labels("key"), rows, title), (
        f"Dropped once, as above, row {query} sums to {number(once.sum().item())}. Each weight "
        f"that is kept is divided by {1 - values.dropout:.2f}, so that the mean stays: over "
        f"{DRAWS:,} draws, it is off by at most {number((mean - row).abs().max().item())}. "
        "Dropout is for training only."
    )


def _mean_of_draws(row: torch.Tensor, probability: float) -> torch.Tensor:
    draws = torch.rand(DRAWS, len(row), generator=torch.Generator().manual_seed(0))
    kept = (row / (1 - probability)).expand(DRAWS, -1).masked_fill(draws < probability, 0.0)
    return kept.mean(dim=0)
