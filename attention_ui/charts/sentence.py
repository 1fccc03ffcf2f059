"""The sentence itself as a picture: its tokens shaded by the weight that one query gives them, and
arcs from the query to its keys, as wide as the weight; dashed where it is negative.

It stands above a matrix of weights, in the same chart, and draws a row of it: that of the token, or
of the weight, that is pointed at. Above the weights of one query alone it draws these.
"""

from collections.abc import Sequence

import pyarrow as pa

from attention_core.trace import Trace

from ..picture import palette
from ..picture.matrix import Matrix, names_of
from .margin import is_one_row, is_shares
from .token_boxes import (
    BELOW_BOX,
    BOX,
    LEAST,
    at_pixels,
    boxes,
    middle_of,
    names,
    outline,
    shade,
    shares,
    sides_of,
    spans,
    touched,
)

HIGHEST, STRIP = 74, 9
NESTED = 0.55
"""The share of an arc's height that tells heads apart: on top of each other they would be brown."""


def weighted(matrices: Sequence[Matrix]) -> list[int]:
    """Which matrices the sentence draws: the last weights among them, those of every head."""
    of_weights = (each for each in reversed(matrices) if is_shares(each) or is_one_row(each))
    last = next((each.step for each in of_weights), None)
    same = [at for at, each in enumerate(matrices) if each.step is last]
    return [] if any(matrices[at].covered for at in same) else same


def tokens(trace: Trace, axis: str, number: int) -> pa.Table:
    """A row for each token: what is pointed at, when one points at the sentence; as a query, or as
    a key of the only one.
    """
    n_tokens = trace.size(axis)
    place = pa.array(range(n_tokens), pa.int16())
    zero = pa.array([0] * n_tokens, pa.int16())
    return pa.table(
        {
            "matrix": pa.array([number] * n_tokens, pa.int16()),
            "row": zero,
            "column": place,
            "i": place,
            "j": place,
        }
    )


def parameters(trace: Trace, matrices: Sequence[Matrix], axis: str, number: int) -> list[dict]:
    """The names and places of the tokens, and the query whose weights are drawn (`focus`)."""
    called = names_of(trace, axis)
    lefts, rights = spans(called)
    expr = "-1"
    for at, each in enumerate(matrices):
        for side, axis in zip("ij", each.axes, strict=True):
            if axis == "query" and not each.covered:
                expr = f"hover.matrix[0] === {at} ? hover.{side}[0] : {expr}"
    pointed = f"hover.matrix[0] === {number} ? hover.i[0] : {expr}"
    return [
        {"name": "tokens", "value": called},
        {"name": "lefts", "value": lefts},
        {"name": "rights", "value": rights},
        {"name": "focus", "expr": f"hover.matrix ? ({pointed}) : -1"},
    ]


def sentence(trace: Trace, drawn: Sequence[int], number: int, of_one: bool = False) -> dict:
    """The view. `drawn` are the numbers of the matrices of weights, `number` is its own. Weights of
    one query alone name it themselves (`asks`), and have keys along their rows.
    """
    query, key = ("datum.asks", "datum.i") if of_one else ("datum.i", "datum.j")
    is_weight = " || ".join(f"datum.matrix === {at}" for at in drawn)
    # Two filters: only the second is worked out again for each cell that is pointed at.
    focused = {"filter": "true" if of_one else "focus < 0 ? datum.is_first : datum.i === focus"}
    # Shares by a sum may be anything: what is drawn of them stays between 0 and 1.
    share = {"calculate": "min(1, abs(datum.value))", "as": "share"}
    of_query = [{"filter": f"({is_weight}) && isFinite(datum.value)"}, share, focused]
    own = {"filter": f"datum.matrix === {number}"}
    many = len(drawn) > 1
    first = drawn[0]
    head = f"indexof([{', '.join(map(str, drawn))}], datum.matrix)"
    colour = f"{palette.HEADS}[({head}) % {len(palette.HEADS)}]" if many else f"'{palette.CHOSEN}'"
    sides = [own, *sides_of("datum.j")]
    sides_of_key = [*of_query, *sides_of(key)]
    chosen = [{"filter": f"datum.matrix === {first} && {key} === 0"}, focused, *sides_of(query)]
    layers = [
        boxes(sides, HIGHEST),
        _strips(sides_of_key, head, colour) if many else shade(sides_of_key, HIGHEST),
        _arcs(of_query, query, key, colour, f"1 - {NESTED} * ({head}) / {len(drawn)}"),
        names([own, middle_of("datum.j", "middle")], "tokens", HIGHEST),
        *([] if many else [shares([*of_query, middle_of(key, "middle")], HIGHEST)]),
        outline(chosen, HIGHEST),
        touched(sides, HIGHEST, number),
    ]
    for layer in layers:
        layer["mark"]["tooltip"] = None  # they would tell of pixels
    n_strips = len(drawn) if many else 0
    return {
        "name": f"sentence_{number}",
        "width": spans(names_of(trace, "key" if of_one else "query"))[1][-1],
        "height": HIGHEST + BOX + (n_strips * STRIP + 8 if many else BELOW_BOX),
        "view": {"stroke": None},
        "layer": layers,
    }


def _strips(sided: list[dict], head: str, colour: str) -> dict:
    """Below each token a bar for each head, in the head's colour."""
    top = HIGHEST + BOX + 4
    return {
        "transform": [
            *sided,
            {"calculate": f"{top} + {STRIP} * ({head})", "as": "top"},
            {"calculate": f"datum.top + {STRIP - 2}", "as": "bottom"},
            {"calculate": "datum.left + datum.share * (datum.right - datum.left)", "as": "end"},
            {"calculate": colour, "as": "colour"},
        ],
        "mark": {"type": "rect", "aria": False, "cornerRadius": 1},
        "encoding": {
            "x": at_pixels("left"),
            "x2": {"field": "end"},
            "y": at_pixels("top"),
            "y2": {"field": "bottom"},
            "fill": {"field": "colour", "type": "nominal", "scale": None},
        },
    }


def _arcs(of_query: list[dict], query: str, key: str, colour: str, share_of_height: str) -> dict:
    """From the query to each key, higher where it is farther; those of later heads lie below."""
    return {
        "transform": [
            *of_query,
            {"filter": f"datum.share > {LEAST} && {query} !== {key}"},
            middle_of(query, "from"),
            middle_of(key, "to"),
            {"calculate": "datum.to - datum.from", "as": "way"},
            {
                "calculate": f"min({2 * HIGHEST - 16}, 24 + abs(datum.way) / 2.2)"
                f" * ({share_of_height})",
                "as": "up",
            },
            {
                "calculate": "'M0,0Q' + datum.way / 2 + ',' + (-datum.up) + ' ' + datum.way + ',0'",
                "as": "path",
            },
            {"calculate": "0.6 + 9 * datum.share", "as": "wide"},
            {"calculate": colour, "as": "colour"},
        ],
        "mark": {"type": "point", "filled": False, "size": 4, "aria": False, "opacity": 0.75},
        "encoding": {
            "x": at_pixels("from"),
            "y": {"value": HIGHEST - 1},
            "shape": {"field": "path", "type": "nominal", "scale": None},
            "stroke": {"field": "colour", "type": "nominal", "scale": None},
            "strokeWidth": {"field": "wide", "type": "quantitative", "scale": None},
            "strokeDash": {
                "condition": {"test": "datum.value < 0", "value": [4, 4]},
                "value": [1, 0],
            },
        },
    }
