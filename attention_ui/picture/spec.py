"""The one specification that draws every table of cells, written in Altair and compiled once for
each of a handful of variants. It never changes when numbers or shapes do, so a view that stands is
given other rows.

Pointing is one selection. What is pointed at is worked out once a move, as parameters of the view;
each mark only compares.
"""

import json
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import altair as alt

from .layout import NARROW, WIDE
from .palette import BAR, CHOSEN, FAINT, FED, FULL, INK, MUTED, NEGATIVE, POSITIVE
from .sentence import BETWEEN, BOX, LOOP, PADDING
from .table import (
    BY_QUERY,
    BY_STEP,
    CELL,
    ENDS,
    LEVELS,
    MANY,
    MARK,
    NAMES,
    ON_NARROW,
    ON_WIDE,
    OWN,
    PATH,
    SEPARATOR,
    SLOTS,
    UNDER,
    WORD,
)
from .table import SIZE as SIZE_ROW

INKS = {"light": "#2B2B2B", "dark": "#ECEBE8"}
"""What replaces the page's own ink on a canvas; grey where the theme is not known."""
GROUNDS = {"light": "#FCFBF8", "dark": "#16191D"}
"""The page's own ground: what is not lit lies behind a veil of it."""
GROUND = f"light-dark({GROUNDS['light']}, {GROUNDS['dark']})"
VEIL = 0.75
FONT = '"Source Sans", "Source Sans Pro", sans-serif'
"""The page's own."""
TURN, PHONE, WIDE_WINDOW = 565, 450, 1150
"""Pixels: up to this width the picture is arranged for a phone, up to the next it does not grow;
from the last on it does. `cards.css` and `picture.css` have them too.
"""
GROWS = 1.5
"""How far a picture grows where there is room: to a calm limit."""
USUAL_SLOTS = 2
"""Rectangles that the cells of nearly every picture are made of, at most: fewer are compared."""
LETTERS = "letters * min(1.25, max(0.9, grown / letters))"
"""How far letters grow with their picture, and with the letters that the browser is set to."""
LETTERS_ON_PAPER = 14.4
"""Pixels of the smallest words on a hand-out: 8 points on its sheet."""
NOTHING = -9
MUCH = 0.2
"""Among several lines a curve goes only to a key that gets so much."""


@dataclass(frozen=True)
class Stops:
    """A control in the picture: a range input, and the value at which it starts."""

    label: str
    least: float
    most: float
    step: float
    start: float
    place: str
    """The CSS selector of the element that the input is put into."""
    uneven: tuple[float, ...] = ()
    """Values that are not as far from each other: then the input holds their places."""

    @property
    def values(self) -> tuple[float, ...]:
        """All positions."""
        n = round((self.most - self.least) / self.step)
        even = tuple(round(self.least + at * self.step, 6) for at in range(n + 1))
        return self.uneven or even

    def value(self, told: float) -> float:
        """The value that the input stands for."""
        within = self.uneven and 0 <= told < len(self.uneven)
        return self.uneven[int(told)] if within else told

    def position(self, value: float) -> int:
        """Which of the positions a value is; −1 for one between two."""
        if self.uneven:
            return self.uneven.index(value) if value in self.uneven else -1
        at = (value - self.least) / self.step
        return round(at) if abs(at - round(at)) < 1e-3 else -1


def _end(made: str, end: int, of: str) -> str:
    """An end of the block that begins at `made`, for the cell of a prefix of columns."""
    base, by_i, by_j = (f"blocks[{made} + {1 + 3 * end + each}]" for each in range(3))
    return f"(1 * {base} + {by_i} * {of}i + {by_j} * {of}j)"


def _reads(slot: int) -> str:
    """Whether what is pointed at is made of the cell of a row."""
    ends = zip(ENDS, (">=", "<=") * 3, strict=True)
    tests = [f"datum.{end[0]} {sign} p_{end}{slot}" for end, sign in ends]
    return f"(datum.m == p_m{slot} && {' && '.join(tests)})"


def _follows(slot: int) -> str:
    """Whether the cell of a row is made of what is pointed at."""
    made = f"datum.made{slot}"
    tests = [
        f"p_{end[0]} {'<=' if at % 2 else '>='} {_end(made, at, 'datum.')}"
        for at, end in enumerate(ENDS)
    ]
    return f"({made} >= 0 && blocks[{made}] == p_m && {' && '.join(tests)})"


IS_POINTED = f"p_m != {NOTHING}"
ITSELF = "(datum.m == p_m && datum.l == p_l && datum.i == p_i && datum.j == p_j)"
_EQUAL = [f"(datum.{n} < 0 || p_{n} < 0 || datum.{n} == p_{n})" for n in NAMES]
# Query 3 and key 3 are both token 3, though a query is not a key.
_TOKEN = "(datum.t < 0 || p_t >= 0 || (p_q < 0 && p_k < 0) || datum.t == p_q || datum.t == p_k)"
_OF_TOKEN = "(p_t < 0 || datum.t >= 0 || (datum.q < 0 && datum.k < 0)"
_OF_TOKEN += " || datum.q == p_t || datum.k == p_t)"
_OTHERS = [
    f"(datum.{a} < 0 || (datum.{a} == p_ai ? datum.{i} == p_i : datum.{a} != p_aj"
    f" || datum.{i} == p_j))"
    for a, i in (("ai", "i"), ("aj", "j"))
]
SAME_NAMES = " && ".join([*_EQUAL, _TOKEN, _OF_TOKEN, *_OTHERS])
RELATED = "(floor(datum.rel / pow(2, p_m)) % 2 == 1)"
# Which of a row's lists is shown: by a control in the picture, by the query that is pointed at.
# Weights of several heads stand below each other in the lists, `per` rows a head.
FOCUS = "(focus < 0 ? datum.first : focus + (datum.per > 0 ? datum.per * max(0, p_of_head) : 0))"
ASKED = (
    f"(datum.by == {BY_STEP} ? step_at : datum.by == {BY_QUERY} ? {FOCUS} :"
    f" step_at * datum.n + {FOCUS})"
)
IS_ASKED = f"(datum.by >= {BY_QUERY} || datum.look == 'token box')"


def _chosen(name: str, asked: bool = False) -> str:
    """A column, or what is chosen of its list: of what the pointer chooses, where it is `asked`."""
    at = ASKED if asked else "step_at"
    picked = f"split(datum.{name}s, '{SEPARATOR}')[{at}]"
    if name in ("shade", "strength"):
        picked = f"(indexof(levels, datum.{name}s[{at}]) - 100) / 100"
    # A value between two positions, which only a link can have, is the row's own.
    by_query = f"datum.by == {BY_QUERY} || " if asked else ""
    has_choice = f"datum.by && isValid(datum.{name}s) && ({by_query}step_at >= 0)"
    return f"({has_choice} ? {picked} : datum.{name})"


SHADE, TEXT, STRENGTH, LOOK = map(_chosen, ("shade", "text", "strength", "look"))
WHERE, TOLD = map(_chosen, ("where", "tip"))
# Streamlit's browser calls the data so; the last row has the size of the picture.
SIZE = "data('source')[length(data('source')) - 1]"
BLOCKS = "size && isValid(size.blocks) ? split(size.blocks, ',') : []"
EDGE = 3
"""Pixels around a picture. What stands out further makes Vega draw it a second time, narrower."""
WIDTH = f"(width - {2 * EDGE})"
SCREEN = "(screen() || {})"  # there is none where a still picture is made
REM = f"({SCREEN}.rem || 1)"
# Its room is as high (`streamlit_workarounds/cards.css`). Were it read off the room, which comes
# after the rows, each change of a picture's height would draw all of it twice.
MOST_GROWN = (
    f"(narrow && width <= {PHONE} ? 1 : ({SCREEN}.letters || 1)"
    f" * (narrow || width >= {WIDE_WINDOW} * {REM} ? {GROWS} : 1))"
)
SCALE = f"!size ? 1 : min({WIDTH} / (narrow ? size.xn : size.x), {MOST_GROWN})"
# A phone has not always room for larger ones.
ROOM_FOR = f"narrow && size ? 1.3 * min({WIDTH} / size.xn, {MOST_GROWN}) : 9"
ROOM_FOR = f"max(1, min({SCREEN}.letters || 1, {ROOM_FOR}))"
# There numbers stay in their rows as they are in usual letters, rather than go.
HIGH = "12 * (narrow && letters > 1 ? min(letters, grown) : letters)"
_LEAST = "(datum.look == 'bar' ? 0 : datum.text === '?' ? 9 : 19)"
CAN_BE_READ = f"datum.ph >= high && datum.pw >= {_LEAST} * letters"
# The arithmetic is that of the position where the hand rests; while it moves, the number alone.
MOVES = "size && size.strength >= 0 && size.strength != step_at"
SO = "'“' + datum.asks + '” takes in ' + datum.share + ' of “' + datum.gives + '”'"
_TITLE = "(isValid(datum.along) ? datum.where + ' · ' + datum.along : datum.where)"
_NUMBER = "(isValid(datum.exact) ? format(datum.exact, '.4f') : datum.tip)"
_WHY = f"(isValid(datum.gives) ? {SO} : datum.so)"
REST = (
    "!isValid(datum.where) ? {'title': datum.tip}"
    f" : !isValid(datum.exact) && !isValid(datum.tip) ? {{'title': {_TITLE}}}"
    f" : !isValid(datum.gives) && !isValid(datum.so) ? {{'title': {_TITLE}, '=': {_NUMBER}}}"
    f" : {{'title': {_TITLE}, '=': {_NUMBER}, 'so': {_WHY}}}"
)
"""What a cell tells: worked out when the rows come, not at each position of a control."""
TOOLTIP = (
    "moves && datum.rest['='] && (isValid(datum.texts) || isValid(datum.shades))"
    f" ? {{'title': datum.rest.title, '=': isValid(datum.texts) ? {TEXT} : datum.rest['=']}}"
    " : datum.rest"
)
SIZES = {
    "title": 13, "row": 12, "column": 12, "slanted": 12, "sign": 24, "token": 14,
    "small sum": 9, "small loud": 9, "small row": 10, "tiny": 9,
}  # fmt: skip
LOOKS = {
    "sizes": SIZES,
    "inks": {"title": INK, "token": INK, "loud": CHOSEN, "small loud": CHOSEN},
    "sides": dict.fromkeys(
        ("title", "shape", "slanted", "sum", "loud", "legend", "small sum", "small loud"), "left"
    )
    | dict.fromkeys(("row", "small row", "tiny"), "right"),
}
"""What each kind of words has of its own. A view looks it up: a comparison for each kind would be
most of what a move costs."""


def _by_look(name: str, otherwise: object) -> str:
    """An expression that gives each kind of words its own value."""
    return f"({name}[datum.look] || {otherwise!r})"


def drawn(
    marks: int,
    stops: Stops | None = None,
    theme: str | None = None,
    slots: int = SLOTS,
    asked: bool = True,
    on_paper: bool = False,
    tells: bool = False,
) -> dict:
    """The specification for a table of so many rows that are drawn at a time, with a control in it
    or without, whose cells are made of so many rectangles at most, with rows that the query which
    is pointed at chooses (`asked`) or without. Shared: it must not be changed. `theme` is the
    page's, where it is known; `on_paper` has larger letters. Marks say what they are where the
    layout `tells`: elsewhere the pointer goes through them to the cells.
    """
    canvas, theme, slots = variant(marks, theme, slots)
    return _compiled(canvas, stops, theme, slots, asked, on_paper, tells)


def variant(marks: int, theme: str | None, slots: int) -> tuple[bool, str | None, int]:
    """Which variant draws it: on a canvas or not, its theme, of how many rectangles a cell."""
    canvas = marks > MANY
    return canvas, theme if canvas else None, USUAL_SLOTS if slots <= USUAL_SLOTS else SLOTS


@lru_cache(maxsize=64)
def _compiled(
    canvas: bool,
    stops: Stops | None,
    theme: str | None,
    slots: int,
    asked: bool,
    on_paper: bool,
    tells: bool,
) -> dict:
    made = deepcopy(_authored(slots, asked, tells))
    if on_paper:
        for layer in _leaves(made):
            if letters := layer["mark"].get("fontSize"):
                letters["expr"] = _on_paper(letters["expr"], layer["name"])
    if canvas:
        # A canvas does not know the page's own ink and ground.
        text = json.dumps(made).replace(INK, INKS.get(theme, MUTED))
        made = json.loads(text.replace(GROUND, GROUNDS.get(theme, "transparent")))
        for layer in _leaves(made):
            layer.get("encoding", {}).pop("key", None)
        made["usermeta"] = {"embedOptions": {"renderer": "canvas"}}
    if stops is None:
        made["params"] += [{"name": "step_at", "value": 0}, {"name": "moves", "value": False}]
        return made
    at = f"((isValid(step.value) ? step.value[0] : {stops.start}) - {stops.least}) / {stops.step}"
    made["params"] += [
        {
            "name": "step",
            "select": {"type": "point", "fields": ["value"]},
            "bind": {
                "value": {
                    "input": "range",
                    "name": stops.label,
                    "min": stops.least,
                    "max": stops.most,
                    "step": stops.step,
                    "element": stops.place,
                }
            },
            "value": [{"value": stops.start}],
            "views": ["cells"],
        },
        {"name": "step_at", "expr": f"abs({at} - round({at})) > 0.001 ? -1 : round({at})"},
        {"name": "moves", "expr": MOVES},
    ]
    return made


def _leaves(made: dict) -> Iterator[dict]:
    for each in made["layer"]:
        yield from _leaves(each) if "layer" in each else [each]


def _on_paper(letters: str, layer: str) -> str:
    """The size of a layer's letters on a hand-out. A number is no wider than its cell."""
    if "numbers" in layer:
        fits = f"max({letters}, 1.7 * datum.pw / length({TEXT}))"
        return f"datum.look == 'bar' ? {LETTERS_ON_PAPER} : min({LETTERS_ON_PAPER}, {fits})"
    # A scale has no more room, and names of rows may stand as close as 12 pixels.
    close = "indexof(['legend', 'row', 'small row', 'sum', 'small sum'], datum.look) >= 0"
    least = f"({close} ? 12 : {LETTERS_ON_PAPER})"
    return f"max({least}, {letters})"


@lru_cache(maxsize=8)
def _authored(slots: int, asked: bool, tells: bool) -> dict:
    base = alt.Chart(alt.Data(name="cells"))
    # Of many cells, each is left out once, and not by every layer of what is around them.
    cells, around = (base.transform_filter(f"datum.kind {how} {CELL}") for how in ("==", "!="))
    layers = [
        _marks(around, UNDER),
        _cells(cells),
        _opened(cells),
        _numbers(cells, "numbers"),
        *_lit(base, around, slots),
    ]
    if asked:
        layers += [_asked_boxes(cells), _marks(around, MARK, True), _words(around, True)]
    layers += [_marks(around, MARK, tells=tells), _paths(around, asked), _words(around)]
    made = (
        base.mark_rect()
        .add_params(*_parameters(slots))
        .transform_filter(f"datum.when != (narrow ? {ON_WIDE} : {ON_NARROW})")
        .transform_calculate(
            px=f"{EDGE} + grown * (narrow ? datum.xn : datum.x)",
            py=f"{EDGE} + grown * (narrow ? datum.yn : datum.y)",
            pw="grown * (narrow ? datum.wn : datum.w)",
            ph="grown * (narrow ? datum.hn : datum.h)",
        )
        .transform_calculate(rest=REST)
        .properties(width="container", height="container")
        .to_dict(validate=False)
    )
    for each in made["params"]:
        if "select" in each:
            each["views"] = ["cells"]
    del made["mark"]
    # Put together here: `alt.layer` copies all of them at each call, for half a second.
    made["layer"] = [each.to_dict(validate=False) for each in layers]
    for each in (made, *made["layer"], *_leaves(made)):
        for of_a_chart in ("data", "datasets", "config"):
            each.pop(of_a_chart, None)
        if each is not made:
            each.pop("$schema", None)
    made["background"] = "transparent"
    made["config"] = {"view": {"stroke": None}, "font": FONT, "mark": {"tooltip": None}}
    # What is the same for all cells, said so, is not said of each again as a control moves.
    made["config"]["style"] = {"cell": {"cornerRadius": 2, "cursor": "pointer"}}
    made["autosize"] = {"type": "fit", "contains": "padding"}
    made["padding"] = dict.fromkeys(("left", "top", "right", "bottom"), 0)  # else Streamlit adds
    assert NARROW < TURN
    return made


def _pointed(slots: int) -> list[str]:
    return [*OWN, *NAMES, "ai", "aj", *(f"made{slot}" for slot in range(slots))]


def _parameters(slots: int) -> list[alt.Parameter]:
    """Worked out once: what is arranged how large, and what is known of what is pointed at."""
    # What the page's script says (`deep_pages`): the browser's own letters, and the page's now.
    once = {"narrow": f"width <= {TURN} * {REM}", "size": SIZE, "letters": ROOM_FOR}
    once |= {"grown": SCALE, "blocks": BLOCKS, "lettering": LETTERS, "high": HIGH}
    for name in _pointed(slots):
        once[f"p_{name}"] = f"isValid(p.m) && p.m.length ? p.{name}[0] : {NOTHING}"
    for slot in range(slots):
        made = f"p_made{slot}"
        there = {"m": f"1 * blocks[{made}]"}
        there |= {end: _end(made, at, "p_") for at, end in enumerate(ENDS)}
        once |= {f"p_{name}{slot}": f"{made} >= 0 ? {each} : {NOTHING}"
                 for name, each in there.items()}  # fmt: skip
    once["focus"] = "p_q >= 0 ? p_q : p_k < 0 && p_t >= 0 ? p_t : -1"
    chosen = {
        "p": {"on": "pointerover", "clear": "pointerout", "fields": _pointed(slots)},
        "cell": {"on": "click", "clear": False, "fields": [*OWN, "click"]},
    }
    return [
        *(alt.selection_point(name=name, toggle=False, **how) for name, how in chosen.items()),
        *(alt.param(name=name, value=it) for name, it in {"levels": LEVELS, **LOOKS}.items()),
        *(alt.param(name=name, expr=expr) for name, expr in once.items()),
    ]


X, Y = (alt.X("px:Q", scale=None, axis=None), alt.Y("py:Q", scale=None, axis=None))
KEY = alt.Key("id:N")


def _values(**each: str) -> dict[str, Any]:
    """Channels by their expressions, as Altair's own: to find the class of a dict takes it 5 ms."""
    kinds = {name: getattr(alt, f"{name[0].upper()}{name[1:]}Value") for name in each}
    return {name: kinds[name](alt.expr(expr)) for name, expr in each.items()}


CORNERS = {"x": X, "y": Y, **_values(x2="datum.px + datum.pw", y2="datum.py + datum.ph")}


def _of(kind: int, asked: bool) -> str:
    """Rows of a kind: those that the query which is pointed at chooses, or the others."""
    return f"datum.kind == {kind} && {'' if asked else '!'}{IS_ASKED}"


def _marks(base: alt.Chart, kind: int, asked: bool = False, tells: bool = False) -> alt.Chart:
    shade, strength = _chosen("shade", asked), _chosen("strength", asked)
    # What does not show has no width: it would keep the pointer from what it lies over.
    wide = f"({strength} > 0) * datum.pw" if tells else "datum.pw"
    told = f"{WHERE} ? {{'title': {WHERE}, '=': {TOLD}}} : null"
    bar = f"{shade} < 0 ? '{NEGATIVE}' : '{BAR}'"
    return (
        base.transform_filter(_of(kind, asked))
        .mark_rect(aria=False, **({"tooltip": alt.expr(told)} if tells else {}))
        .encode(
            X, Y, KEY, y2=CORNERS["y2"],
            **_values(
                x2=f"datum.px + {wide} * {shade}",
                fill=f"datum.colour == 'bar' ? {bar} : datum.colour == 'ground' ? '{GROUND}' : "
                "datum.colour",
                fillOpacity=strength,
            ),
        )
        .properties(name="under" if kind == UNDER else "strips" if asked else "marks")
    )  # fmt: skip


def _fill(shade: str, strength: str = "1") -> dict[str, Any]:
    sign = f"{LOOK} == 'loud' ? '{CHOSEN}' : {shade} < 0 ? '{NEGATIVE}' : '{POSITIVE}'"
    depth = f"{FAINT} + {FULL - FAINT} * min(1, abs({shade}))"
    return _values(
        fill=f"isValid(datum.colour) ? datum.colour : {sign}",
        fillOpacity=f"datum.look == 'bar' ? 0 : {strength} * ({depth})",
    )


def _cells(cells: alt.Chart) -> alt.Chart:
    """All cells. Nothing here depends on the pointer: what a move costs would be their number.
    Little is said of each, since the browser takes as long for a number as for an expression.
    """
    return (
        cells.mark_rect(style="cell", aria=False, tooltip=alt.expr(TOOLTIP))
        .encode(KEY, **CORNERS, **_fill(SHADE, f"({IS_ASKED} ? 0 : {STRENGTH})"))
        .properties(name="cells")
    )


def _opened(cells: alt.Chart) -> alt.Chart:
    """An outline around the cell that is open, and what it is made of."""
    return (
        cells.transform_filter(f"datum.open > 0 && !{IS_ASKED}")
        .mark_rect(cornerRadius=2, aria=False, filled=False, stroke=CHOSEN)
        .encode(KEY, **CORNERS, **_values(strokeWidth="datum.open > 1 ? 3 : 2.2"))
        .properties(name="opened")
    )


def _lit(base: alt.Chart, around: alt.Chart, slots: int) -> list[alt.Chart]:
    """What stays bright under the pointer, drawn once more above a veil over all cells."""
    # What is pointed at is made of `reads`, and `follows` are made of it. Both are among what comes
    # before or after it, which takes one comparison.
    reads, follows = (" || ".join(map(each, range(slots))) for each in (_reads, _follows))
    near = f"datum.kind == {CELL} && {IS_POINTED} && ({ITSELF} || {RELATED})"
    is_read = f"({ITSELF} || {reads})"
    seen = base.transform_filter(f"!{IS_ASKED}")
    outlined = (
        alt.when(is_read).then(alt.value(CHOSEN))
        .when(follows).then(alt.value(FED))
        .when("datum.open > 0").then(alt.value(CHOSEN))
    )  # fmt: skip
    box = {"cornerRadius": 2, "aria": False}
    veil = (
        around.transform_filter(f"datum.kind == {SIZE_ROW}")
        .mark_rect(aria=False, fill=GROUND)
        .encode(
            alt.XValue(0), alt.YValue(0),
            **_values(x2="width", y2="height", fillOpacity=f"{IS_POINTED} ? {VEIL} : 0"),
        )
    )  # fmt: skip
    ground = seen.mark_rect(fill=GROUND, fillOpacity=1, **box).encode(**CORNERS)
    cells = (
        base.mark_rect(strokeWidth=alt.expr("datum.open > 1 ? 3 : 2.2"), **box)
        .encode(
            **CORNERS,
            **_fill(SHADE),
            **_values(opacity=f"{IS_ASKED} ? 1 : {STRENGTH}"),
            stroke=outlined.otherwise(alt.value("transparent")),
        )
        .properties(name="lit")
    )  # fmt: skip
    lit = alt.layer(ground, cells, _numbers(base, "lit_numbers")).transform_filter(near)
    return [veil, lit.transform_filter(f"{is_read} || {follows} || {SAME_NAMES}")]


def _asked_boxes(cells: alt.Chart) -> alt.Chart:
    """Tokens of a sentence, shaded by what the query that is pointed at gives them."""
    shade = _chosen("shade", asked=True)
    return (
        cells.transform_filter(IS_ASKED)
        .mark_rect(cornerRadius=2, aria=False)
        .encode(KEY, **CORNERS, **_fill(shade, _chosen("strength", asked=True)))
        .properties(name="asked")
    )


def _numbers(cells: alt.Chart, name: str) -> alt.Chart:
    along = f"4 + datum.pw * (datum.zero + datum.one * max(0, {SHADE}))"
    return (
        cells.transform_filter(f"{CAN_BE_READ} && (isValid(datum.text) || isValid(datum.texts))")
        .mark_text(
            aria=False, align=alt.expr("datum.look == 'bar' ? 'left' : 'center'"),
            fontSize=alt.expr("11 * lettering"),
        )
        .encode(
            KEY, alt.FillValue(INK),
            **_values(
                x=f"datum.px + (datum.look == 'bar' ? {along} : datum.pw / 2)",
                y="datum.py + datum.ph / 2", text=TEXT, opacity=STRENGTH,
            ),
        )
        .properties(name=name)
    )  # fmt: skip


def _words(base: alt.Chart, asked: bool = False) -> alt.Chart:
    return (
        base.transform_filter(_of(WORD, asked))
        .mark_text(
            aria=False, baseline="middle",
            align=alt.expr(_by_look("sides", "center")),
            angle=alt.expr("datum.look == 'slanted' ? 315 : 0"),
            fontSize=alt.expr(f"{_by_look('sizes', 11)} * lettering"),
            fontWeight=alt.expr("datum.look == 'title' || datum.look == 'loud' ? 600 : 400"),
            # A word that is longer than a line would make the picture as wide as itself.
            limit=alt.expr(
                "grown * (indexof(['row', 'small row', 'slanted'], datum.look) >= 0 ? 92 : "
                f"datum.look == 'token' ? (narrow ? {NARROW} : {WIDE}) - {PADDING} : 0)"
            ),
        )
        .encode(X, Y, KEY, **_values(text=_chosen("text", asked), fill=_by_look("inks", MUTED)))
        .properties(name="shares" if asked else "words")
    )  # fmt: skip


def _paths(base: alt.Chart, asked: bool) -> alt.Chart:
    """Lines, and the arcs of a sentence, where there is one. They are few: one layer draws both."""
    how = _arcs() if asked else {
        "size": "4 * grown * grown", "shape": TEXT, "strokeWidth": "1.6", "opacity": STRENGTH,
    }  # fmt: skip
    paths = base.transform_filter(f"datum.kind == {PATH}")
    if asked:
        paths = paths.transform_calculate(**WAYS)
    return (
        paths
        .mark_point(
            # Round: a mitred line counts as twice as wide, and the view shrinks to hold it.
            filled=False, aria=False, strokeCap="round", strokeJoin="round",
            stroke=alt.expr("datum.colour"),
            **{name: alt.expr(each) for name, each in how.items()},
        )
        .encode(X, Y, KEY)
        .properties(name="paths")
    )  # fmt: skip


_ASKS = "datum.by && focus >= 0 ? focus : datum.j"
_PLACE = f"split(split(datum.text, '{SEPARATOR}')[{_ASKS}], ';')"
WAYS = {
    "way": f"{EDGE} + toNumber({_PLACE}[0]) * grown - datum.px",
    "down": f"{EDGE} + toNumber({_PLACE}[1]) * grown - datum.py",
}
"""How far from a key it is to the query that asks."""


def _arcs() -> dict[str, str]:
    shade, strength, text = (
        f"({IS_ASKED} ? {_chosen(name, True)} : {_chosen(name)})"
        for name in ("shade", "strength", "text")
    )
    way, down = "datum.way", "datum.down"
    up = f"min(108 * grown, 22 + abs({way}) / 2.4) * datum.strength"
    is_way = "(datum.look == 'arc' || datum.look == 'line' || datum.look == 'curve')"
    loop = f"{2 * LOOP - 4} * grown * datum.strength"
    is_itself = f"(datum.look == 'curve' && abs({way}) < 1 && abs({down}) < 1)"
    faint = f"{shade} < 0.01 || (datum.look == 'arc' && abs({way}) < 1)"
    # From line to line, past other tokens, all curves would be a tangle.
    faint += f" || (datum.look == 'curve' && {shade} < {MUCH})"
    arc = f"'M0,0Q' + {way} / 2 + ',' + (-{up}) + ' ' + {way} + ',0'"
    # From a key up to the query that asks, in the line above.
    line = f"'M0,0L' + {way} + ',' + ({1 - BETWEEN} * grown)"
    curve = (
        f"{is_itself} ? 'M' + (-datum.pw / 2) + ',0h' + datum.pw + 'v' + ({BOX} * grown)"
        f" + 'h' + (-datum.pw) + 'z'"
        f" : abs({down}) < 1 ? 'M0,0Q' + {way} / 2 + ',' + (-{loop}) + ' ' + {way}"
        f" + ',0' : {_from_line_to_line(way, down)}"
    )
    return {
        # A path in pixels is drawn as it is written at size 4.
        "size": f"{is_way} ? 4 : 4 * grown * grown",
        "shape": f"datum.look == 'arc' ? {arc} : datum.look == 'line' ? {line}"
        f" : datum.look == 'curve' ? ({curve}) : {text}",
        "strokeWidth": f"{is_way} && !{is_itself} ? 0.6 + 8 * {shade} : 1.6",
        "opacity": f"{is_itself} ? 1 : {is_way} ? ({faint} ? 0 : datum.look == 'curve' ? 0.5 : 0.7)"
        f" : {strength}",
    }


def _from_line_to_line(way: str, down: str) -> str:
    """A curve between a key and a query in other lines, from below a share to an edge."""
    below, bend = "(datum.ph + 4 * grown)", "(18 * grown * datum.strength)"
    to_query = (
        f"'M0,' + {below} + 'C0,' + ({below} + {bend}) + ' ' + {way} + ',' + ({down} - {bend})"
        f" + ' ' + {way} + ',' + {down}"
    )
    up_to_query = (
        f"'M0,0C0,' + (-{bend}) + ' ' + {way} + ',' + ({down} + {below} + {bend})"
        f" + ' ' + {way} + ',' + ({down} + {below})"
    )
    return f"{down} > 0 ? {to_query} : {up_to_query}"
