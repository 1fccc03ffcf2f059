"""Specifications that are authored in Altair once, and what they are made of."""

from collections.abc import Callable
from copy import deepcopy
from functools import lru_cache, wraps
from typing import Any

import altair as alt
import pyarrow as pa

from ..picture import palette
from .chart import without_data

QUIET = {"domain": False, "ticks": False, "labelFontSize": 12}
"""An axis without a line of its own, and without ticks."""
GRID = {"gridColor": palette.MUTED, "gridOpacity": 0.2, "domain": False, "ticks": False}
"""An axis with faint lines, and neither a line of its own nor ticks."""


def template(fit: str = "") -> Callable[[Callable[..., Any]], Callable[..., dict]]:
    """A function that authors a chart becomes one that gives its specification, compiled once."""
    takes = {"type": fit} if fit == "pad" else {"type": fit, "contains": "padding"}

    def made(author: Callable[..., Any]) -> Callable[..., dict]:
        @lru_cache
        def compiled(*given: Any) -> dict:
            spec = without_data(author(*given).to_dict())
            return spec | {"autosize": takes} if fit else spec

        @wraps(author)
        def copied(*given: Any) -> dict:
            return deepcopy(compiled(*given))

        return copied

    return made


def blank() -> alt.Chart:
    """A chart whose rows come later."""
    return alt.Chart(alt.Data(values=[]))


def tips(*each: tuple[str, str | None, str | None] | tuple[str, str | None]) -> list[alt.Tooltip]:
    """What the pointer tells: a field, what it is called unless by its name, and its format."""
    look = ("title", "format")
    return [
        alt.Tooltip(field, **{k: v for k, v in zip(look, said, strict=False) if v is not None})
        for field, *said in each
    ]


def table(rows: list[tuple], **kinds: pa.DataType) -> pa.Table:
    """Rows as a table with a column of each kind, in their order."""
    columns = zip(*rows, strict=True) if rows else [()] * len(kinds)
    named = zip(kinds.items(), columns, strict=True)
    return pa.table({name: pa.array(column, kind) for (name, kind), column in named})
