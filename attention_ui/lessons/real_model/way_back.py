"""The whole way back: from the answer to the heads that brought it, and on to the embedding."""

from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from functools import lru_cache
from math import ceil

import pandas as pd

from attention_core.real_model.circuit import MOST_HEADS, Circuit, Place, circuit_by_heads
from attention_core.real_model.measures import MEASURES
from attention_core.text.tokenizers import visible
from attention_core.utils.head_name import head_id

from ...cards.elements import Element, progress, text
from ...charts.chart import AS_WIDE, Chart
from ...charts.pixels import mark, words
from ...frame.models import TINY, said
from ...picture import palette
from ...reactive.control import Values
from ...reactive.long_run import Steps, Work, run_so_far
from ...words import percent
from .heads import choosing
from .lesson import asked_of, encoded_of, predicts, scores_by, seen, whole
from .raster import MARKED_FROM
from .running import in_turns
from .seen import Seen
from .words import of_what_is_asked

WAY, PASSES = "way_back_of_model", 4
"""Its work, and so many passes of the model it takes at most: measured on SmolLM2."""
NAMES = ("previous", "same", "induction", "first")
"""By these measures a head may be given a name."""
LEVEL, EDGE, LANES = 38, 16, 3
"""Pixels from layer to layer, and around; so many parts of a token stand side by side."""


def going_back(v: Values) -> Work | None:
    """The way back, a head after the other; nothing where the model says no next token."""
    if not predicts(v):
        return None
    found = seen(v)
    about = asked_of(v, found)
    cost = f"{MOST_HEADS} scores at most, each taken apart as above"
    seconds = ceil(PASSES * found.seconds)

    def pieces() -> Steps:
        yield from in_turns(circuit_by_heads(found.run, *about))

    cost += f": about {seconds} seconds" if seconds > 1 else ""
    return Work(WAY, (whole(v), about), pieces, cost, "Draw it", quick=v.model == TINY)


def whole_way(v: Values) -> Iterator[Element]:
    """The picture, and what is left out of it."""
    yield progress(WAY)
    run = run_so_far(WAY) if predicts(v) else None
    if not run or run.share < 1 or not isinstance(made := run.result, Circuit):
        return
    found = seen(v)
    asked, _ = asked_of(v, found)
    if not made.ways:
        yield text(f"No head brought anything to {of_what_is_asked(v, found)}.")
        return
    pieces = [visible(piece) for piece in encoded_of(v).pieces]
    yield choosing("way", chart(made, found, pieces, f"“{said(found.run.model, asked)}”"))
    yield text(told(v, made, found))


def told(v: Values, made: Circuit, found: Seen) -> str:
    """How much of it all is drawn."""
    settings = found.run.model.settings
    first = sum(way.side == "answer" for way in made.ways)
    return (
        f"Drawn are the {first} of {settings.n_layers * settings.n_heads} heads that brought most "
        f"to {of_what_is_asked(v, found)}: {percent(made.of_answer)} of what all heads that raise "
        f"it brought. Of why the {len(made.looks_at)} heads here look where they look, "
        f"{percent(made.of_keys)} is drawn, on average; the rest came from many small parts. All "
        "of it is sums: what a part is needed for, only taking it away tells."
    )


def name_of(place: Place, found: Seen) -> str:
    """What a head does on this text, where a measure says so: such as `previous token 90%`."""
    at = place.part.layer, place.part.head
    shares = {name: float(scores_by(name, found)[at]) for name in NAMES}
    best = max(shares, key=shares.__getitem__)
    called = MEASURES[best].name.partition(" (")[0]
    return f"{called} {percent(shares[best])}" if shares[best] >= MARKED_FROM else ""


def chart(made: Circuit, found: Seen, pieces: list[str], answer: str) -> Chart:
    """A column for each token, a line for each layer, from the words up to the answer."""
    places = dict.fromkeys(
        place for way in made.ways for place in (way.source, way.target) if place
    )
    levels = sorted({_level(place) for place in places})
    height = EDGE * 2 + LEVEL * (len(levels) + 1)
    beside = Counter(place.token for place in places)
    tokens = sorted(beside)
    widths = [min(LANES, beside[token]) for token in tokens]
    begins = [sum(widths[:at]) for at in range(len(tokens))]
    x, y, so_far = {}, {}, Counter()
    for place in sorted(places, key=lambda each: (_level(each), each.part.name)):
        at = tokens.index(place.token)
        lane = so_far[place.token] % widths[at]
        x[place] = (begins[at] + lane + 0.5) / sum(widths)
        y[place] = EDGE + LEVEL * (len(levels) - levels.index(_level(place)))
        so_far[place.token] += 1
    end = min(x[way.source] for way in made.ways if way.target is None)
    drawn = [
        {
            **{"kind": "way", "x": x[way.source], "y": y[way.source], "size": min(way.share, 1.0)},
            **{"x2": x[way.target] if way.target else end, "side": way.side},
            "y2": y[way.target] if way.target else EDGE,
            "told": f"{way.source.part.name} at “{pieces[way.source.token]}” brings "
            f"{percent(way.share)}" + ("" if way.target else f" to {answer}"),
        }
        for way in made.ways
    ]
    for place in places:
        is_head = place.part.kind == "head"
        what = name_of(place, found) if is_head else ""
        key, weight = made.looks_at.get(place, (0, 0.0))
        looks = f"looks at “{pieces[key]}”, {percent(weight)}" if place in made.looks_at else ""
        drawn.append(
            {
                **{"kind": "head" if is_head else "part", "x": x[place], "y": y[place]},
                "name": _short(place),
                "told": " · ".join(filter(None, (place.part.name, what, looks))),
                "what": what.rpartition(" ")[0],
                "id": head_id(place.part.layer, place.part.head) if is_head else "",
                "token": place.token,
            }
        )
    for at, token in enumerate(tokens):
        middle = (begins[at] + widths[at] / 2) / sum(widths)
        drawn.append({"kind": "token", "x": middle, "y": height - 10, "name": pieces[token]})
    drawn.append({"kind": "token", "x": end, "y": EDGE - 4, "name": answer})
    drawn += [
        {"kind": "layer", "x": 0.0, "y": EDGE + LEVEL * (len(levels) - at), "name": _line(level)}
        for at, level in enumerate(levels)
    ]
    spec = deepcopy(_spec())
    spec["height"] = height
    return Chart(pd.DataFrame(drawn), spec, "The way from the answer back to the words.")


def _level(place: Place) -> float:
    """Its layer; of a feed-forward, which comes behind the heads of its layer, a little above."""
    part = place.part
    if part.layer is None:
        return -1.0
    return part.layer + (0.5 if part.kind == "feed-forward" else 0.0)


def _line(level: float) -> str:
    return "embedding" if level < 0 else f"layer {int(level)}" if level == int(level) else ""


def _short(place: Place) -> str:
    part = place.part
    if part.kind == "head":
        return head_id(part.layer, part.head)
    return f"ffn {part.layer}" if part.kind == "feed-forward" else part.kind


@lru_cache(maxsize=1)
def _spec() -> dict:
    """The marks; where they stand across is worked out from the width, in the browser."""
    left = "(width < 600 ? 58 : 74)"
    x, x2 = (f"{left} + datum.{end} * (width - {left})" for end in ("x", "x2"))
    is_way, is_head, is_part, is_token, is_layer = (
        f"datum.kind === '{kind}'" for kind in ("way", "head", "part", "token", "layer")
    )
    is_place = f"{is_head} || {is_part}"
    told = [{"field": "told", "type": "nominal", "title": " "}]
    ways = mark(
        is_way,
        "rule",
        {
            **{"strokeCap": "round", "opacity": 0.55},
            "color": {"expr": f"datum.side === 'query' ? '{palette.FED}' : '{palette.BAR}'"},
            "strokeWidth": {"expr": "1 + 9 * datum.size"},
        },
        told,
        **{"x": x, "x2": x2, "y": "y", "y2": "y2"},
    )
    boxes = mark(
        is_place,
        "rect",
        {
            **{"cornerRadius": 6, "color": palette.NEUTRAL, "strokeWidth": 1.5},
            "stroke": {"expr": f"datum.id ? '{palette.BAR}' : '{palette.GREY}'"},
            "cursor": {"expr": "datum.id ? 'pointer' : 'default'"},
        },
        told,
        **{"x": f"{x} - 22", "x2": f"{x} + 22", "y": "datum.y - 10", "y2": "datum.y + 10"},
    )
    clicked = {"type": "point", "on": "click", "fields": ["id", "token"]}
    boxes["params"] = [{"name": "head", "select": clicked}]
    middle, quiet = {"align": "center"}, {"color": palette.MUTED}
    return AS_WIDE | {
        "width": "container",
        "layer": [
            ways,
            boxes,
            words(is_place, "name", 11, x, "y", color="black", **middle),
            words(is_head, "what", 10, x, "datum.y + 18", **quiet, **middle),
            words(is_token, "name", 12, x, "y", fontWeight="bold", **middle),
            words(is_layer, "name", 11, "x", "y", **quiet),
        ],
    }
