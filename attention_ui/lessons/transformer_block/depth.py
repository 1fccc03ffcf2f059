"""How much of a gradient comes back through many blocks, with a residual and without."""

import math
from collections.abc import Mapping, Sequence

import altair as alt
import pandas as pd

from attention_core.experiments.depth import gradient_norms
from attention_core.kept import digest, kept_by_key
from attention_core.mechanism.block import BlockOptions
from attention_core.trace import Trace

from ...charts.chart import Chart
from ...charts.template import GRID, blank, template, tips
from ...controls.control import Values
from ...picture import palette
from ...words import number
from .lesson import heads_that_share, hidden_width

HEIGHT = 150
LINES = {True: "added to the stream", False: "put in its place"}
COLOURS = {True: palette.POSITIVE, False: palette.NEGATIVE}
LEAST = 1e-12
"""What is less is drawn here: an axis of powers has no 0."""
Shares = Mapping[bool, Sequence[float]]


def shares(trace: Trace, values: Values) -> Shares:
    """What of the gradient is left before each block of a stack of the page's own kind."""
    vectors = trace["embeddings"].value
    options = BlockOptions(heads_that_share(values), values.norm, values.activation)
    sizes = (values.n_blocks, hidden_width(values), values.block_seed)
    return _kept_shares((digest(vectors), options, *sizes), vectors, options, *sizes)


@kept_by_key(64)
def _kept_shares(vectors, options: BlockOptions, n_blocks: int, d_hidden: int, seed: int) -> Shares:
    return gradient_norms(vectors, n_blocks, options, d_hidden=d_hidden, seed=seed)


def by_block(shares: Shares) -> Chart:
    """The two lines, on an axis of powers of ten."""
    n_blocks = len(shares[True]) - 1
    frame = pd.DataFrame(
        [
            {"block": at, "line": LINES[kind], "share": share, "shown": max(share, LEAST)}
            for kind, each in shares.items()
            for at, share in enumerate(each)
        ]
    )
    spec = _template()
    low = math.floor(math.log10(frame["shown"].min()))
    high = math.ceil(math.log10(frame["shown"].max()))
    every = -(-(high - low) // 5) or 1
    for layer in spec["layer"]:
        x, y = layer["encoding"]["x"], layer["encoding"]["y"]
        x["scale"]["domain"] = [0, n_blocks]
        x["axis"]["values"] = [*range(n_blocks + 1)]
        y["scale"]["domain"] = [10.0**low, 10.0**high]
        y["axis"]["values"] = [10.0**power for power in range(high, low - 1, -every)]
    told = "; ".join(f"{LINES[kind]}, {each[0]:.2g}" for kind, each in shares.items())
    return Chart(
        frame,
        spec,
        f"What is left of the gradient at each of {n_blocks} blocks, that after the last being 1. "
        f"Before the first block: {told}.",
    )


@template()
def _template() -> alt.LayerChart:
    text = {"labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal"}
    x = alt.X(
        "block:Q",
        title="after block (0: before the first)",
        scale=alt.Scale(domain=[0, 8], nice=False),
        axis=alt.Axis(values=[0], format="d", **GRID, **text),
    )
    y = alt.Y(
        "shown:Q",
        title=None,
        scale=alt.Scale(type="log", domain=[LEAST, 1], nice=False),
        axis=alt.Axis(values=[1], format="~g", minExtent=44, **GRID, **text),
    )
    scale = {"domain": [*LINES.values()], "range": [*COLOURS.values()]}
    look = {"orient": "top", "title": None, "labelFontSize": 12, "labelLimit": 300}
    legend = alt.Legend(symbolType="stroke", symbolStrokeWidth=2.5, symbolOpacity=1, **look)
    shared = {
        "x": x,
        "y": y,
        "color": alt.Color("line:N", scale=alt.Scale(**scale), legend=legend),
        "strokeDash": alt.StrokeDash(
            "line:N", scale=alt.Scale(domain=scale["domain"], range=[[1, 0], [5, 3]]), legend=legend
        ),
    }
    base = blank()
    line = base.mark_line(strokeWidth=2, aria=False).encode(**shared)
    told = tips(
        ("line:N", "what a part makes is"),
        ("block:Q", "after block"),
        ("share:Q", "gradient left", ".3~g"),
    )
    del shared["strokeDash"]
    dots = base.mark_circle(size=42, opacity=1, aria=False).encode(tooltip=told, **shared)
    return alt.layer(line, dots).properties(width="container", height=HEIGHT)


def left_words(shares: Shares) -> str:
    """What is left at the first block, in both stacks."""
    with_it, without = shares[True][0], shares[False][0]
    said = f"Added, **{_amount(with_it)}** of the gradient reaches the first block; "
    return f"{said}put in its place, **{_amount(without)}**."


def _amount(share: float) -> str:
    """A share as people say it: 1.7 times, 12%, one part in 38,000."""
    if share >= 1:
        return f"{number(share, 1)} times as much"
    if share >= 0.01:
        return f"{share:.0%}"
    if share < LEAST:
        return "nothing"
    return f"1 part in {float(f'{1 / share:.2g}'):,.0f}"
