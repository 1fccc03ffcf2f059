"""Two sentences as a picture: above, the tokens that ask; below, those of the other sentence, as
strong as the weight that one query gives them, and a line to each, as wide as its weight.

It stands above a matrix of weights of cross-attention, in the same chart, as `sentence` does where
a sentence looks at itself.
"""

from collections.abc import Sequence

from attention_core.trace import Trace

from ..picture import palette
from ..picture.matrix import names_of
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

BETWEEN = 62
KEYS = BOX + BETWEEN
"""Where the boxes of the keys begin, from the top."""
FARTHEST = 160
"""The shorter sentence stands in the middle of the longer one, but not out of sight."""
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
    ends = {axis: spans(called)[1][-1] for axis, called in rows.items()}
    width = max(ends.values())
    lists = {}
    for axis, called in rows.items():
        shift = min((width - ends[axis]) / 2, FARTHEST)
        lefts, rights = ([shift + at for at in side] for side in spans(called))
        lists[axis] = {"names": called, "lefts": lefts, "rights": rights}
    is_weight = " || ".join(f"datum.matrix === {at}" for at in drawn)
    share = {"calculate": "min(1, abs(datum.value))", "as": "share"}
    focused = {"filter": "focus < 0 ? datum.is_first : datum.i === focus"}
    of_query = [{"filter": f"({is_weight}) && isFinite(datum.value)"}, share, focused]
    own = {"filter": f"datum.matrix === {number}"}
    one_cell = {"filter": f"datum.matrix === {drawn[0]} && datum.j === 0"}
    one_row = {"filter": f"datum.matrix === {drawn[0]} && datum.i === 0"}
    asks, answers = _top("query"), _top("key")
    key_middle = _middle("key", "datum.j", "middle")
    layers = [
        boxes([own, *_sides("query", "datum.j")], asks),
        boxes([one_row, *_sides("key", "datum.j")], answers),
        shade([*of_query, *_sides("key", "datum.j")], answers),
        _lines(of_query),
        names([own, _middle("query", "datum.j", "middle")], "query_names", asks),
        names([one_row, key_middle], "key_names", answers),
        shares([*of_query, key_middle], answers),
        outline([one_cell, focused, *_sides("query", "datum.i")], asks),
        touched([own, *_sides("query", "datum.j")], asks, number),
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


def _middle(axis: str, place: str, name: str) -> dict:
    return middle_of(place, name, f"{axis}_lefts", f"{axis}_rights")


def _lines(of_query: list[dict]) -> dict:
    """From the query down to each key."""
    return {
        "transform": [
            *of_query,
            {"filter": f"datum.share > {LEAST}"},
            _middle("query", "datum.i", "from"),
            _middle("key", "datum.j", "to"),
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
