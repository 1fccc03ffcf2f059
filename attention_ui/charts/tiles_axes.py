"""What the parts of the picture of tiles share: the axis of the tokens, titles, and filters."""

from ..picture import palette

TABLE, LARGEST_CELL = 252, 34
"""The height of the table in pixels, and of one cell at most."""
SMALLEST_LABELLED = 9
"""A lower cell has no label, and no number beside it."""


def along(n_tokens: int, side: str, cell: int, is_labelled: bool) -> dict:
    """The axis of the tokens: a cell for each, from its place to the next."""
    axis = {
        "title": {"x": "keys", "y": "queries"}[side] if is_labelled else None,
        "titleFontWeight": "normal",
        "titleFontSize": 11,
        "titlePadding": 5,
        "titleColor": palette.MUTED,
        "orient": {"x": "top", "y": "left"}[side],
        "values": [place + 0.5 for place in range(n_tokens)],
        "labelExpr": "tokens[floor(datum.value)]",
        "labels": is_labelled and cell >= SMALLEST_LABELLED,
        "labelOverlap": False,
        "labelLimit": 84,
        "labelFontSize": min(11, cell),
        "labelAngle": -45 if side == "x" else 0,
        **({"labelAlign": "left"} if side == "x" else {}),
        "domain": False,
        "ticks": False,
        "grid": False,
    }
    return {
        "type": "quantitative",
        "scale": {"domain": [0, n_tokens], "nice": False, "zero": False, "reverse": side == "y"},
        "axis": axis,
    }


def title(text: object, size: int = 12) -> dict:
    """A title at the left."""
    return {"text": text, "anchor": "start", "frame": "group", "fontSize": size, "offset": 6}


def only(kind: int, *more: str) -> list[dict]:
    """The rows of the data of one kind, of which more may be asked."""
    return [{"filter": " && ".join([f"datum.kind === {kind}", *more])}]
