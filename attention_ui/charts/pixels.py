"""Marks at places in pixels, which the browser works out from the width that it has."""

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any

from ..picture import palette


def mark(
    where: str,
    kind: str,
    look: dict,
    tooltip: Collection = (),
    also: Mapping[str, str] = MappingProxyType({}),
    **places: str,
) -> dict[str, Any]:
    """Marks of the rows where that is so, at these places in pixels: columns, or expressions. What
    is `also` worked out of a row can be told and looked up in others.
    """
    encoding: dict[str, Any] = {}
    steps: list[dict[str, str]] = [{"filter": where}] if where else []
    steps += [{"calculate": made, "as": name} for name, made in also.items()]
    for name, place in places.items():
        if not place.isidentifier():
            steps.append({"calculate": place, "as": f"at_{name}"})
            place = f"at_{name}"
        encoding[name] = {"field": place}
        if name in ("x", "y"):
            encoding[name] |= {"type": "quantitative", "scale": None, "axis": None}
    if tooltip:
        encoding["tooltip"] = tooltip
    return {"transform": steps, "mark": {"type": kind, "aria": False, **look}, "encoding": encoding}


def words(
    where: str, what: str, size: int, x: str, y: str, tooltip: Collection = (), **look: Any
) -> dict[str, Any]:
    """Words in the rows where that is so: a column, or an expression."""
    look = {"fontSize": size, "color": palette.INK, "baseline": "middle", "align": "left", **look}
    if not what.isidentifier():
        return mark(where, "text", look | {"text": {"expr": what}}, tooltip, x=x, y=y)
    made = mark(where, "text", look, tooltip, x=x, y=y)
    made["encoding"]["text"] = {"field": what, "type": "nominal"}
    return made
