"""Tokens as boxes in a line: where they stand, and what is drawn on them."""

from collections.abc import Sequence

from ..picture import palette
from ..picture.numbers import text_width

BOX, BELOW_BOX = 34, 18
NARROWEST, GAP = 34, 6
LEAST = 0.005
"""A smaller weight has no line."""


def spans(names: Sequence[str]) -> tuple[list[int], list[int]]:
    """Where the box of each token begins and ends, from left to right."""
    lefts, rights, at = [], [], 0
    for name in names:
        lefts.append(at)
        rights.append(at + max(NARROWEST, text_width(name) + 20))
        at = rights[-1] + GAP
    return lefts, rights


def at_pixels(name: str) -> dict:
    """A place in pixels."""
    return {"field": name, "type": "quantitative", "scale": None, "axis": None}


def box_edges(top: int) -> dict:
    """The box of a token that knows its sides."""
    return {
        "x": at_pixels("left"),
        "x2": {"field": "right"},
        "y": {"value": top},
        "y2": {"value": top + BOX},
    }


def middle_of(place: str, name: str, lefts: str = "lefts", rights: str = "rights") -> dict:
    """The middle of a token's box, from the names of the lists of their sides."""
    return {"calculate": f"({lefts}[{place}] + {rights}[{place}]) / 2", "as": name}


def sides_of(place: str, lefts: str = "lefts", rights: str = "rights") -> list[dict]:
    """The sides of a token's box, from the names of the lists."""
    return [
        {"calculate": f"{sides}[{place}]", "as": side}
        for side, sides in (("left", lefts), ("right", rights))
    ]


def boxes(sided: list[dict], top: int) -> dict:
    """The boxes themselves, faint. `sided` are the transforms that end with their sides."""
    return {
        "transform": sided,
        "mark": {"type": "rect", "cornerRadius": 5, "aria": False, "fillOpacity": 0.12},
        "encoding": {**box_edges(top), "color": {"value": palette.MUTED}},
    }


def shade(sided: list[dict], top: int) -> dict:
    """Tokens as strong as their weight, `share`; a square root, so that a tenth is seen."""
    return {
        "transform": [*sided, {"calculate": "0.62 * sqrt(datum.share)", "as": "shown"}],
        "mark": {"type": "rect", "cornerRadius": 5, "aria": False},
        "encoding": {
            **box_edges(top),
            "color": {
                "condition": {"test": "datum.value < 0", "value": palette.NEGATIVE},
                "value": palette.BAR,
            },
            "fillOpacity": {"field": "shown", "type": "quantitative", "scale": None},
        },
    }


def names(centred: list[dict], names_list: str, top: int) -> dict:
    """The tokens' names in their boxes. `centred` are the transforms that end with `middle`."""
    return {
        "transform": [*centred, {"calculate": f"{names_list}[datum.j]", "as": "token"}],
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


def shares(centred: list[dict], top: int) -> dict:
    """The weights in per cent, below their tokens."""
    return {
        "transform": centred,
        "mark": {"type": "text", "aria": False, "fontSize": 11, "baseline": "top"},
        "encoding": {
            "x": at_pixels("middle"),
            "y": {"value": top + BOX + 4},
            "text": {"field": "value", "type": "quantitative", "format": ".0%"},
            "color": {"value": palette.MUTED},
        },
    }


def outline(sided: list[dict], top: int) -> dict:
    """A frame around the token that asks."""
    return {
        "transform": sided,
        "mark": {"type": "rect", "cornerRadius": 5, "filled": False, "aria": False},
        "encoding": {
            **box_edges(top),
            "color": {"value": palette.CHOSEN},
            "strokeWidth": {"value": 2.5},
        },
    }


def touched(sided: list[dict], top: int, number: int) -> dict:
    """What takes the pointer: boxes that are not seen, of the matrix with this number."""
    return {
        "name": f"cells_{number}",
        "transform": sided,
        "mark": {"type": "rect", "fillOpacity": 0, "aria": False, "cursor": "pointer"},
        "encoding": box_edges(top) | {"color": {"value": palette.MUTED}},
    }
