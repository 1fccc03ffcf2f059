"""Two sentences as a picture: above, the tokens that ask; below, those of the other sentence, as
strong as the weight that one query gives them, and a line to each, as wide as its weight.

It stands above a matrix of weights of cross-attention, in the same chart, as `sentence` does where
a sentence looks at itself.
"""

from collections.abc import Sequence

from attention_core.trace import Trace

from . import palette
from .matrix import names_of
from .sentence import BELOW_BOX, BOX, LEAST, at_pixels, box_edges, middle_of, sides_of, spans

BETWEEN = 62
KEYS = BOX + BETWEEN
"""Where the boxes of the keys begin, from the top."""
SOURCE = "other_embeddings"
"""The vectors of the other sentence, where a trace has two."""


def are_there(trace: Trace) -> bool:
    """Whether queries and keys of a trace are of two sentences."""
    return SOURCE in trace


def picture(trace: Trace, drawn: Sequence[int], number: int) -> dict:
    """The view. `drawn` are the numbers of the matrices of weights (query, key), `number` is its
    own. The names of both sentences are its own too; `focus` says which query is drawn.
    """
    rows = {axis: names_of(trace, axis) for axis in ("query", "key")}
    ends = {axis: spans(names)[1][-1] for axis, names in rows.items()}
    width = max(ends.values())
    lists = {}
    for axis, names in rows.items():
        shift = (width - ends[axis]) / 2
        lefts, rights = ([shift + at for at in side] for side in spans(names))
        lists[axis] = {"names": names, "lefts": lefts, "rights": rights}
    is_weight = " || ".join(f"datum.matrix === {at}" for at in drawn)
    share = {"calculate": "min(1, abs(datum.value))", "as": "share"}
    focused = {"filter": "focus < 0 ? datum.is_first : datum.i === focus"}
    of_query = [{"filter": f"({is_weight}) && isFinite(datum.value)"}, share, focused]
    own = {"filter": f"datum.matrix === {number}"}
    one_cell = {"filter": f"datum.matrix === {drawn[0]} && datum.j === 0"}
    one_row = {"filter": f"datum.matrix === {drawn[0]} && datum.i === 0"}
    asks, answers = _top("query"), _top("key")
    layers = [
        _boxes([own, *_sides("query", "datum.j")], asks),
        _boxes([one_row, *_sides("key", "datum.j")], answers),
        _shade(of_query, answers),
        _lines(of_query),
        _names([own, *_middle("query", "datum.j", "middle")], "query_names", asks),
        _names([one_row, *_middle("key", "datum.j", "middle")], "key_names", answers),
        {
            "transform": [*of_query, *_middle("key", "datum.j", "middle")],
            "mark": {"type": "text", "aria": False, "fontSize": 11, "baseline": "top"},
            "encoding": {
                "x": at_pixels("middle"),
                "y": {"value": KEYS + BOX + 4},
                "text": {"field": "value", "type": "quantitative", "format": ".0%"},
                "color": {"value": palette.MUTED},
            },
        },
        {
            "transform": [one_cell, focused, *_sides("query", "datum.i")],
            "mark": {"type": "rect", "cornerRadius": 5, "filled": False, "aria": False},
            "encoding": {
                **box_edges(asks),
                "color": {"value": palette.CHOSEN},
                "strokeWidth": {"value": 2.5},
            },
        },
        {
            "name": f"cells_{number}",
            "transform": [own, *_sides("query", "datum.j")],
            "mark": {"type": "rect", "fillOpacity": 0, "aria": False, "cursor": "pointer"},
            "encoding": box_edges(asks) | {"color": {"value": palette.MUTED}},
        },
    ]
    for layer in layers:
        layer["mark"]["tooltip"] = None  # they would tell of pixels
    return {
        "name": f"sentence_{number}",
        "width": width,
        "height": KEYS + BOX + BELOW_BOX,
        "view": {"stroke": None},
        "layer": layers,
        "params": [
            {"name": f"{axis}_{what}", "value": each}
            for axis, found in lists.items()
            for what, each in found.items()
        ],
    }


def _top(axis: str) -> int:
    return 0 if axis == "query" else KEYS


def _sides(axis: str, place: str) -> list[dict]:
    return sides_of(place, f"{axis}_lefts", f"{axis}_rights")


def _middle(axis: str, place: str, name: str) -> list[dict]:
    return [middle_of(place, name, f"{axis}_lefts", f"{axis}_rights")]


def _boxes(transform: list[dict], top: int) -> dict:
    return {
        "transform": transform,
        "mark": {"type": "rect", "cornerRadius": 5, "aria": False, "fillOpacity": 0.12},
        "encoding": {**box_edges(top), "color": {"value": palette.MUTED}},
    }


def _names(transform: list[dict], names: str, top: int) -> dict:
    return {
        "transform": [*transform, {"calculate": f"{names}[datum.j]", "as": "token"}],
        "mark": {
            "type": "text",
            "aria": False,
            "fontSize": 13,
            "baseline": "middle",
            "color": "currentColor",
        },
        "encoding": {
            "x": at_pixels("middle"),
            "y": {"value": top + BOX / 2},
            "text": {"field": "token", "type": "nominal"},
        },
    }


def _shade(of_query: list[dict], top: int) -> dict:
    """Keys as strong as their weight; a square root, so that a tenth is seen."""
    shown = {"calculate": "0.62 * sqrt(datum.share)", "as": "shown"}
    return {
        "transform": [*of_query, *_sides("key", "datum.j"), shown],
        "mark": {"type": "rect", "cornerRadius": 5, "aria": False},
        "encoding": {
            **box_edges(top),
            "color": {"value": palette.BAR},
            "fillOpacity": {"field": "shown", "type": "quantitative", "scale": None},
        },
    }


def _lines(of_query: list[dict]) -> dict:
    """From the query down to each key."""
    return {
        "transform": [
            *of_query,
            {"filter": f"datum.share > {LEAST}"},
            *_middle("query", "datum.i", "from"),
            *_middle("key", "datum.j", "to"),
            {"calculate": "0.6 + 9 * datum.share", "as": "wide"},
        ],
        "mark": {"type": "rule", "aria": False, "opacity": 0.75},
        "encoding": {
            "x": at_pixels("from"),
            "x2": {"field": "to"},
            "y": {"value": BOX + 1},
            "y2": {"value": KEYS - 1},
            "color": {"value": palette.CHOSEN},
            "strokeWidth": {"field": "wide", "type": "quantitative", "scale": None},
        },
    }
