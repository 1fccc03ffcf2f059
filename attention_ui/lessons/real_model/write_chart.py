"""The picture of the next token that is drawn: its logits and chances as bars, and the chances
behind each other as the line from 0 to 1 on which a number falls.

All of the arithmetic of the four controls is done in the browser, from the logits of the few
hundred likeliest tokens. The others are one row, which carries how many of them each position of a
control keeps, and how much of the chance these have: every cut keeps the likeliest, so with these
the cuts are exact.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import pandas as pd

from attention_core.real_model.drawing import Ranked, n_by_min_p, n_by_top_p
from attention_core.text.tokenizers import visible

from ...charts.chart import AS_WIDE, Chart
from ...charts.pixels import mark, words
from ...picture import palette
from ...picture.numbers import text_width
from ...picture.spec import TURN
from ...streamlit_workarounds.room_of_control import in_room

CARRIED, BARS = 240, 6
"""So many of the likeliest tokens the browser has, and of so many it draws bars."""
TEMPERATURES = tuple(each / 10 for each in range(1, 21))
TOP_KS = (1, 2, 3, 5, 10, 20, 50, 100, 200, 0)
"""The last is all."""
TOP_PS = tuple(each / 20 for each in range(1, 21))
MIN_PS = tuple(each / 50 for each in range(26))
STOPS = {"next_temperature": TEMPERATURES, "next_top_k": TOP_KS, "top_p": TOP_PS, "min_p": MIN_PS}
LINE, TOP, ROW = 62, 116, 21
"""Pixels down to the line from 0 to 1, and to the bars, and from one bar to the next."""
HEIGHT = TOP + ROW * (BARS + 1)
ALT = "How likely each next token is, and the number that is drawn on the line from 0 to 1."


def rows(order: Ranked, names: Sequence[str], number: float) -> pd.DataFrame:
    """A row for each token that is carried, by `names`, for all others, and the number drawn."""
    n = len(order.ids)
    carried = min(CARRIED, n)
    logits, above = order.logits[:carried], order.above[:carried].tolist()
    made: list[dict[str, Any]] = [
        {
            **{"kind": "token", "rank": rank, "name": name, "logit": logit, "above": above[rank]},
            **{"l": logit - float(order.logits[0]), "n": 1},
        }
        for rank, (name, logit) in enumerate(zip(names, logits.tolist(), strict=True))
    ]
    last = made[-1]
    ties = int((order.logits[carried:] == order.logits[carried - 1]).sum())
    others = f"{n - carried:,} others" if n > carried else ""
    rest = {"kind": "rest", "rank": carried, "name": others, "n": n - carried, "ties": ties}
    made.append(rest | {"l": last["l"], "above": last["above"]} | _of_the_rest(order, carried))
    made.append({"kind": "number", "rank": carried + 1, "name": "", "n": 0})
    return pd.DataFrame(made).assign(u=number, vocabulary=n)


def _of_the_rest(order: Ranked, carried: int) -> dict[str, str]:
    """By the controls’ positions, how large the other tokens are, and how many each cut keeps."""
    told: dict[str, list[float]] = {name: [] for name in ("sizes", "pn", "ps", "mn", "ms")}
    for temperature in TEMPERATURES:
        sizes = order.sizes(temperature)
        upto = [0.0, *sizes[carried:].cumsum(0).tolist()]
        told["sizes"].append(upto[-1])
        counts = [*n_by_top_p(sizes, TOP_PS[:-1]), len(sizes)]
        for name, kept in (("p", counts), ("m", n_by_min_p(sizes, MIN_PS))):
            beyond = [max(0, each - carried) for each in kept]
            told[f"{name}n"] += beyond
            told[f"{name}s"] += [upto[each] for each in beyond]
    return {name: "|".join(f"{each:.12g}" for each in row) for name, row in told.items()}


def told_by(selection: dict[str, Any]) -> dict[str, float]:
    """The values of the controls that the browser tells."""
    found = {}
    for name, stops in STOPS.items():
        match selection.get(name):
            case [{"value": int() | float() as place}, *_] if place in range(len(stops)):
                found[name] = stops[int(place)]
    return found


def _at(field: str, *places: str) -> str:
    """A number of a list of the row of all others."""
    return f"toNumber(split(datum.{field}, '|')[{' + '.join(places)}])"


_SIZE = "exp(datum.l / T)"
_P, _M = (f"at_temperature * {len(stops)}" for stops in (TOP_PS, MIN_PS))
_IS_REST, _IS_TOKEN = "datum.kind === 'rest'", "datum.kind === 'token'"
_TIES = f"ceil((P * datum.all_k - datum.upto_k + datum.s_k) / {_SIZE})"
# One after the other: the size of each row, what top-k leaves of it, of that top-p, of that min-p;
# `n_` is how many tokens these are, `s_` their size together.
ARITHMETIC: tuple[dict[str, Any] | tuple[str, str], ...] = (
    ("size", f"{_IS_TOKEN} ? {_SIZE} : {_IS_REST} ? {_at('sizes', 'at_temperature')} : 0"),
    ("n_k", "!K ? datum.n : datum.above >= K ? 0 : isValid(datum.ties) ? datum.ties : datum.n"),
    ("s_k", f"!datum.n_k ? 0 : {_IS_REST} && K ? datum.n_k * {_SIZE} : datum.size"),
    {"window": [{"op": "sum", "field": "s_k", "as": "upto_k"}], "sort": [{"field": "rank"}],
     "frame": [None, 0]},
    {"joinaggregate": [{"op": "sum", "field": "s_k", "as": "all_k"}]},
    (
        "n_p",
        f"P === 1 || !datum.n_k ? datum.n_k : {_IS_TOKEN}"
        " ? (!datum.rank || 1 - (datum.upto_k - datum.s_k) / datum.all_k > 1 - P ? 1 : 0)"
        f" : K ? clamp({_TIES}, 0, datum.n_k) : {_at('pn', _P, 'at_p')}",
    ),
    (
        "s_p",
        f"{_IS_TOKEN} ? datum.n_p * datum.size : !datum.n_p ? 0 :"
        f" K ? datum.n_p * {_SIZE} : {_at('ps', _P, 'at_p')}",
    ),
    (
        "n_m",
        f"{_IS_TOKEN} || K ? ({_SIZE} >= M ? datum.n_p : 0)"
        f" : {_IS_REST} ? min(datum.n_p, {_at('mn', _M, 'at_m')}) : 0",
    ),
    (
        "s_m",
        "datum.n_m === datum.n_p ? datum.s_p : !datum.n_m ? 0 : "
        f"{_at('ms', _M, 'at_m')}",
    ),
    ("beyond", f"datum.rank >= {BARS} ? 1 : 0"),
    ("s_beyond", "datum.beyond * datum.s_m"),
    ("size_beyond", "datum.beyond * datum.size"),
    ("n_beyond", "datum.beyond * datum.n"),
    {"window": [{"op": "sum", "field": "s_m", "as": "upto"}], "sort": [{"field": "rank"}],
     "frame": [None, 0]},
    {
        "joinaggregate": [
            {"op": "sum", "field": field, "as": f"all_{field}"}
            for field in ("size", "n_k", "n_p", "n_m", "s_m", "s_beyond", "size_beyond", "n_beyond")
        ]
    },
    ("from", "(datum.upto - datum.s_m) / datum.all_s_m"),
    ("to", "datum.upto / datum.all_s_m"),
    ("is_drawn", "datum.s_m > 0 && datum.from <= datum.u && datum.u < datum.to ? 1 : 0"),
    ("drawn_at", "datum.is_drawn * datum.rank"),
    ("is_kept", f"{_IS_REST} ? datum.all_s_beyond > 0 : datum.n_m > 0"),
    {"joinaggregate": [{"op": "max", "field": "drawn_at", "as": "drawn"}]},
)  # fmt: skip
"""What the browser works out: calculations by name, and what Vega-Lite calls otherwise."""
OF_ANY = (
    ("chance", f"({_IS_REST} ? datum.all_s_beyond : datum.s_m) / datum.all_s_m"),
    ("was", f"({_IS_REST} ? datum.all_size_beyond : datum.size) / datum.all_size"),
    ("row", f"min(datum.rank, {BARS})"),
    ("called", f"{_IS_REST} ? format(datum.all_n_beyond, ',') + ' others' : datum.name"),
    (
        "told",
        "datum.n_m ? 'kept' : 'cut off by ' + (!datum.n_k ? 'top-k' : !datum.n_p ? 'top-p' :"
        " 'min-p')",
    ),
)  # fmt: skip
"""The same for what is drawn of these rows: of bars alone, there are few."""
SHARE = "(datum.is_kept ? datum.chance : datum.was)"
SHARE = f"{SHARE} < 0.0005 ? 'under 0.1%' : format({SHARE}, '.1%')"
# Where it stands: names, then logits, then chances.
_OF_BARS = {
    "y": f"{TOP} + datum.row * {ROW}",
    "y2": f"{TOP} + datum.row * {ROW} + {ROW - 5}",
    "ym": f"{TOP} + datum.row * {ROW} + {(ROW - 5) / 2}",
    "x_was": "begins + datum.was * across",
    "x_chance": "begins + datum.chance * across",
    "x_text": "begins + max(datum.was, datum.chance) * across + 6",
    "x_logit": "left + 8 + (wide ? 84 * (datum.logit - lowest) / max(highest - lowest, 1e-9) : 0)",
}
_OF_LINE = {
    "x_from": "datum.from * width",
    "x_to": "datum.to * width",
    "x_mid": "(datum.from + datum.to) / 2 * width",
}
_SOURCE = "data('source')"
_PARAMS = {
    "T": f"{list(TEMPERATURES)}[at_temperature]",
    "K": f"{list(TOP_KS)}[at_k]",
    "P": f"{list(TOP_PS)}[at_p]",
    "M": f"{list(MIN_PS)}[at_m]",
    "wide": "width >= 600",
    "left": "wide ? 150 : 92",
    "begins": "left + (wide ? 150 : 54)",
    "across": "max(1, width - begins - 70)",
    "n_bars": f"min({BARS}, length({_SOURCE}) - 2)",
    "highest": f"length({_SOURCE}) ? {_SOURCE}[0].logit : 1",
    "lowest": f"length({_SOURCE}) ? {_SOURCE}[n_bars - 1].logit : 0",
}
_NAMED = dict(zip(STOPS, ("temperature", "k", "p", "m"), strict=True))


@lru_cache(maxsize=32)
def spec(starts: tuple[float, ...], labels: tuple[str, ...], fixed: frozenset[str]) -> dict:
    """What draws a table of `rows`, with its controls at their starts; some nobody can move."""
    params: list[dict[str, Any]] = []
    for (name, short), label, start in zip(_NAMED.items(), labels, starts, strict=True):
        at = STOPS[name].index(start)
        if name in fixed:
            params.append({"name": f"at_{short}", "value": at})
            continue
        bound = {"input": "range", "name": label, "min": 0, "max": len(STOPS[name]) - 1, "step": 1}
        bound["element"] = in_room(f"moves_{name}")
        params += [
            {
                **{"name": name, "select": {"type": "point", "fields": ["value"]}},
                **{"bind": {"value": bound}, "value": [{"value": at}], "views": ["bars"]},
            },
            {"name": f"at_{short}", "expr": f"isValid({name}.value) ? {name}.value[0] : {at}"},
        ]
    params += [{"name": name, "expr": expr} for name, expr in _PARAMS.items()]
    calculated = [
        each if isinstance(each, dict) else {"calculate": each[1], "as": each[0]}
        for each in ARITHMETIC
    ]
    bars = f"({_IS_TOKEN} && datum.rank < {BARS} || {_IS_REST} && datum.all_n_beyond > 0)"
    drawn_bar = f"{_IS_REST} ? datum.drawn >= {BARS} : datum.is_drawn"
    segments = "datum.kind !== 'number' && datum.s_m > 0"
    is_number = "datum.kind === 'number'"
    pale = {"expr": "datum.is_kept ? 1 : 0.45"}
    keeps = [
        f"'{label} ' + {value} + ' keeps ' + format(datum.all_n_{short}, ',')"
        for label, value, short in (
            ("top-k", "(K ? format(K, 'd') : 'all')", "k"),
            ("top-p", "format(P, '.2f')", "p"),
            ("min-p", "format(M, '.2f')", "m"),
        )
    ]
    order = " + '  →  ' + ".join(keeps)
    said = f"'logits ÷ ' + format(T, '.1f') + (wide ? '  →  ' : '\\n') + {order}"
    name_drawn = f"{_SOURCE}[datum.drawn] ? {_SOURCE}[datum.drawn].name : ''"
    number_said = (
        "'number drawn: ' + format(datum.u, '.4f') + ', on ' + (datum.drawn >= "
        f"{CARRIED} ? 'one of the ' + {_SOURCE}[{CARRIED}].name : '“' + ({name_drawn}) + '”')"
    )
    tips = [
        {"field": "called", "type": "nominal", "title": "token"},
        {"field": "logit", "type": "quantitative", "title": "logit", "format": ".3f"},
        {"field": "was", "type": "quantitative", "title": "before the cuts", "format": ".2%"},
        {"field": "chance", "type": "quantitative", "title": "after them", "format": ".2%"},
        {"field": "told", "type": "nominal", "title": " "},
    ]
    bar = [
        mark("", "rect", {"fill": palette.BAR, "fillOpacity": 0.22, "cornerRadius": 2},
              x="(begins)", x2="x_was", y="y", y2="y2", tooltip=tips) | {"name": "bars"},
        mark("", "rect", {"fill": palette.BAR, "cornerRadius": 2},
              x="(begins)", x2="x_chance", y="y", y2="y2", tooltip=tips),
        mark(f"wide && {_IS_TOKEN}", "rect",
              {"fill": palette.GREY, "fillOpacity": 0.55, "cornerRadius": 2},
              x="left + 8", x2="x_logit", y="y", y2="y2", tooltip=tips),
        mark(drawn_bar, "rect", {"fill": "transparent", "stroke": palette.CHOSEN,
              "strokeWidth": 2, "cornerRadius": 3}, x="begins - 2", x2="datum.x_text - 4",
              y="y", y2="y2"),
        words("", "called", 12, "(left)", "ym", align="right",
               limit={"expr": "left - 4"}, opacity=pale),
        words(_IS_TOKEN, "format(datum.logit, '.2f')", 11, "datum.x_logit + 4", "ym",
               opacity=pale),
        words("", SHARE, 12, "datum.x_text + 2", "ym", opacity=pale),
    ]  # fmt: skip
    segment = [
        mark("", "rect", {
                "fill": {"expr": f"{_IS_REST} ? '{palette.GREY}' : '{palette.BAR}'"},
                "fillOpacity": {"expr": "datum.is_drawn ? 1 : datum.rank % 2 ? 0.4 : 0.62"}},
              x="x_from", x2="x_to", y=f"{LINE}", y2=f"{LINE + 20}",
              tooltip=tips),
        words("datum.x_to - datum.x_from > 7.5 * length(datum.name) + 6", "name",
               11, "datum.x_mid", f"{LINE + 10}", align="center",
               color={"expr": f"datum.is_drawn ? 'white' : '{palette.INK}'"}),
    ]  # fmt: skip
    number = [
        mark("", "rect", {"fill": palette.CHOSEN}, x="datum.x_u - 1.25",
              x2="datum.x_u + 1.25", y=f"{LINE - 6}",
              y2=f"{LINE + 24}"),
        words("", number_said, 12, "datum.x_u", f"{LINE - 14}",
               align={"expr": "datum.u < 0.3 ? 'left' : datum.u > 0.7 ? 'right' : 'center'"},
               fontWeight="bold"),
        words("", said, 12, "0", "wide ? 12 : 6", lineBreak="\n"),
        *(
            words("", f"'{what}'", 11, at, f"{LINE + 38}", align=align,
                   color=palette.MUTED)
            for what, at, align in (("token", "(left)", "right"), ("logit", "left + 8", "left"),
                                    ("chance", "(begins)", "left"))
        ),
    ]  # fmt: skip
    ground = mark(is_number, "rect", {"fill": palette.MUTED, "fillOpacity": 0.15},
                   x="0", x2="width + 0", y=f"{LINE}", y2=f"{LINE + 20}")  # fmt: skip
    layers = [
        ground,
        _group(bars, (*OF_ANY, *_OF_BARS.items()), bar),
        _group(segments, (*OF_ANY, *_OF_LINE.items()), segment),
        _group(is_number, [("x_u", "datum.u * width")], number),
    ]
    look = {"width": "container", "height": HEIGHT, "params": params, "transform": calculated}
    return AS_WIDE | look | {"layer": layers}


def _group(where: str, calculated: Sequence[tuple[str, str]], layers: list[dict]) -> dict:
    """Layers of the rows where that is so, of which more is worked out: once, for these alone."""
    steps = [{"filter": where}, *({"calculate": made, "as": name} for name, made in calculated)]
    return {"transform": steps, "layer": layers}


# --- a text that was written ---------------------------------------------------------------------

WIDE, NARROW, BETWEEN = 540, 290, 28
"""Pixels of a line in a window and on a phone, and from line to line."""


def written_text(
    pieces: Sequence[str], chances: Sequence[float | None], told: Sequence[str]
) -> Chart:
    """A text's tokens in lines, shaded by their chances; `told` is what else was likely there."""
    made: list[dict[str, Any]] = []
    at = {WIDE: (0.0, 0), NARROW: (0.0, 0)}
    for piece, chance, others in zip(pieces, chances, told, strict=True):
        name, shade = visible(piece), 0.0
        if chance is not None:
            shade = palette.FAINT + (palette.FULL - palette.FAINT) * chance**0.5
        row = {"name": name, "shade": shade, "chance": chance, "others": others}
        long = 1.1 * text_width(name) + 8
        for room, short in ((WIDE, "w"), (NARROW, "n")):
            x, line = at[room]
            x, line = (0.0, line + 1) if x and x + long > room else (x, line)
            row |= {f"x_{short}": x, f"to_{short}": x + long, f"line_{short}": line}
            at[room] = x + long + 2, line
        made.append(row)
    alt = "The text, each token that was written shaded by how likely it was."
    return Chart(pd.DataFrame(made), _text_spec(), alt)


@lru_cache(maxsize=1)
def _text_spec() -> dict:
    narrow = {"name": "narrow", "expr": f"width <= {TURN}"}
    chosen = [
        {"calculate": f"narrow ? datum.{name}_n : datum.{name}_w", "as": name}
        for name in ("x", "to", "line")
    ]
    tips = [
        {"field": "name", "type": "nominal", "title": "written"},
        {"field": "chance", "type": "quantitative", "title": "chance", "format": ".1%"},
        {"field": "others", "type": "nominal", "title": "likely here"},
    ]
    top, middle, end = (f"datum.line * {BETWEEN} + {each}" for each in (2, 14, 26))
    look = {"fill": palette.POSITIVE, "cornerRadius": 3}
    box = mark("isValid(datum.chance)", "rect", look, tips, x="x", x2="to", y=top, y2=end)
    box["encoding"]["fillOpacity"] = {"field": "shade", "type": "quantitative", "scale": None}
    names = words("true", "name", 13, "x", middle, dx=4)
    size = {"width": "container", "height": "container", "background": "transparent"}
    return size | {
        **{"autosize": {"type": "fit", "contains": "padding"}, "padding": 0},
        **{"params": [narrow], "transform": chosen, "layer": [box, names]},
    }
