"""Write on: the next token is drawn, put behind the text, or ten of them are, a token at a time."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from time import time_ns
from typing import Any

import streamlit as st
import torch

from attention_core.real_model.drawing import Cuts, Ranked, number_drawn, offered, ranked
from attention_core.real_model.generation import MOST_OTHERS, Written, drawing, write
from attention_core.real_model.lens import likeliest
from attention_core.real_model.model import Model
from attention_core.real_model.run import logits

from ...cards import elements as ui
from ...cards.elements import Element
from ...charts.chart import Chart
from ...controls.lesson_session import this_session
from ...frame.ends import closes
from ...frame.models import most_read
from ...reactive import settings
from ...reactive.code_check import for_one_visitor
from ...reactive.control import Values
from ...reactive.fragments import commit, current_fragment, event, event_of_run, is_mounted
from ...reactive.long_run import Steps, Work, run_so_far, within_callback
from ...reactive.settings import in_picture
from ...reactive.widget import control, is_there, sent
from ...streamlit_workarounds.room_of_control import put_empty_room
from ...words import number, percent
from . import lesson
from .charts import label
from .lesson import encoded_of, model_of, seen, whole
from .running import in_turns, passes
from .seen import Seen
from .write_chart import ALT, BETWEEN, CARRIED, STOPS, rows, spec, told_by, written_text

WRITE, TEN = "write_on", 10
AT_ONCE = 60.0
"""Seconds for which a text with another token is read, at most, before the page is drawn."""
BY_NAME = {each.name: each for each in lesson.DRAWS}
MOST_PLACES = 64
"""Of a longer text, what top-p keeps is counted behind so many tokens, the last."""


def cuts_of(v: Values) -> Cuts:
    """What the controls in the picture say, also where the browser alone has moved them."""
    temperature, *others = (v.unread(name) for name in STOPS)
    return Cuts(temperature, *others)


def order_of(reading: Seen) -> Ranked:
    """The vocabulary in the order of the last token's logits."""
    return reading.once("ranked", lambda: ranked(reading.next_logits))


def number_of(v: Values) -> float:
    """The number that is drawn for the next token."""
    return number_drawn(v.next_seed, len(v.written_ids))


def room_of(v: Values) -> int:
    """How many tokens more the text can have: none behind one that ends it."""
    return 0 if has_ended(v) else max(0, most_read(model_of(v)) - len(encoded_of(v).ids))


def has_ended(v: Values) -> bool:
    """Whether what was written ends the text."""
    return not model_of(v).ends.isdisjoint(v.written_ids[-1:])


def why_no_more(v: Values) -> str:
    """Why nothing can be written behind the text."""
    if has_ended(v):
        end = label(model_of(v), v.written_ids[-1])
        return f"“{end}” is how this model ends a text, so it stops. Take it out to go on."
    n = len(encoded_of(v).ids)
    less = "take some out" if v.written_ids else "shorten it"
    return f"The text has {n} tokens, and no more fit here: {less} to go on."


def write_on(v: Values) -> Iterator[Element]:
    """The card: what was written, the bars with their controls, and what goes on from there."""
    reading, model = seen(v), model_of(v)
    written = so_far(v, reading) if v.written_ids else None
    u = number_of(v)

    def bars() -> Any:  # while ten are written, they are drawn again and again
        order = order_of(reading)
        return rows(order, [label(model, one) for one in order.ids[:CARRIED].tolist()], u)

    made = Chart(reading.once(("bars", u), bars), {}, ALT)
    # One element: a phone folds what is around a picture, and the bars need their sliders’ room.
    yield ui.Shown(_picture, (made, written))
    if not room_of(v):
        yield ui.text(why_no_more(v))
    yield ui.row(
        ui.button("Add it", "add_token", _add, icon=":material/add:", disabled=not room_of(v)),
        *(
            [ui.button("Take the last one out", "take_token_out", _take_out, type="tertiary"),
             ui.button("Back to your own text", "unwritten", partial(_change_to, ()),
                       type="tertiary")]
            if v.written_ids
            else []
        ),
        ui.progress(WRITE),
        gap="small",
    )  # fmt: skip
    run = run_so_far(WRITE)
    if run is not None and isinstance(run.result, tuple):
        yield ui.Shown(put_text, ("writing", as_text(model, run.result)))
        if run.steps is None:
            yield ui.button("Add these to your text", "keep_written", _keep)


def writing(v: Values) -> Work | None:
    """Ten tokens more, or as many as there is room for."""
    n = min(TEN, room_of(v))
    cost = f"{n} tokens, one after the other" if n > 1 else "1 token"
    verb = "Write ten more" if n == TEN else f"Write {n} more"
    return Work(WRITE, whole(v), _written_on, cost, verb) if n else None


def _written_on() -> Steps:
    """Writes with what the controls say when it begins; at its end the page follows."""
    v = settings.values()
    (model, ids, _), made = whole(v), list[Written]()
    n = min(TEN, room_of(v))
    choose = drawing(cuts_of(v), v.next_seed, len(v.written_ids))
    for at, each in in_turns(enumerate(write(model, ids, n, choose), 1)):
        if each is not None:
            made.append(each)
        is_last = each is not None and (len(made) == n or each.token in model.ends)
        if is_last:
            with event_of_run():
                _put_behind(made)
        share = at / (n * (model.settings.n_layers + 1))
        yield 1.0 if is_last else share, tuple(made) or None


def _put_behind(made: list[Written] | tuple[Written, ...]) -> None:
    _change_to((*settings.values().written_ids, *(each.token for each in made)))


def _is_here() -> bool:
    """In a callback: whether this page is open, and not one that it was left for."""
    return "written_ids" in settings.values()


def _change_to(written: tuple[int, ...]) -> None:
    """Other tokens behind the text, read at once: else the page would be empty until they are."""
    if settings.change(written_ids=written):
        within_callback(passes(whole(settings.values())), AT_ONCE)


def _keep() -> None:
    run = run_so_far(WRITE)
    if _is_here() and run is not None and isinstance(run.result, tuple):
        _put_behind(run.result)


def _add() -> None:
    v = settings.values()
    if not _is_here() or (reading := seen(v)) is None or not room_of(v):
        return
    found = offered(order_of(reading), cuts_of(v))
    _change_to((*v.written_ids, int(found.ids[found.drawn(number_of(v))])))


def _take_out() -> None:
    if _is_here():
        _change_to(settings.values().written_ids[:-1])


# --- the picture ---------------------------------------------------------------------------------


@dataclass
class Hand:
    """Where the controls in the picture stand: see `cards.show._stops`."""

    start: tuple = ()
    count: int = field(default_factory=time_ns)
    stood: dict[str, dict[str, float]] = field(default_factory=dict)
    """By the keys of views, also of older ones: where each control stands, as is known here."""


def _fixed() -> frozenset[str]:
    return frozenset(STOPS if settings.values().paper else settings.fixed() & {*STOPS})


@for_one_visitor
def _picture(made: Chart, written: Chart | None) -> None:
    """The bars below their controls, and above these the text, once something is written."""
    # Also an empty one: what comes in before them would build the rooms of the sliders anew.
    above = st.container(key="above_the_bars", gap=None)
    if written is not None:
        with above:
            put_text("written", written)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        for each in lesson.SLIDERS:
            if each.name in _fixed():
                control(each, width=145)  # a plain one, which nobody can move
            else:
                around = st.container(key=f"untold_{each.name}", width=145)
                put_empty_room(around.container(key=f"moves_{each.name}"))
        control(lesson.NEXT_SEED, width=130)
    now = {name: in_picture(name) for name in STOPS}
    hand = this_session().own(Hand)
    if not is_mounted("sliders_of_write") or hand.stood.get(f"chart_write_{hand.count}") != now:
        hand.start, hand.count = tuple(now.values()), hand.count + 1
    hand.stood[f"chart_write_{hand.count}"] = now
    made_of = spec(hand.start, tuple(BY_NAME[name].label for name in STOPS), _fixed())
    key, moving = f"chart_write_{hand.count}", [name for name in STOPS if name not in _fixed()]
    selects = {"on_select": partial(_moved, key, current_fragment())}
    look: dict[str, Any] = {"width": "stretch", "height": "content", "alt": made.alt, "key": key}
    look |= selects | {"selection_mode": moving} if moving else {}
    with st.container(key="fills_chart_of_write"):
        st.vega_lite_chart(made.frame, made_of, **look)


_picture.adds = "draws the next token here, and writes on"  # type: ignore[attr-defined]


def _moved(key: str, part: str) -> None:
    """A control in the picture rests: the browser shows it already. All are told, also of an older
    view; the others stand as they stood in it.
    """
    told = told_by(sent(key, {}).get("selection", {})) if is_there(key) and _is_here() else {}
    hand = this_session().own(Hand)
    before = hand.stood.get(key, {})
    moved = {name: value for name, value in told.items() if value != before.get(name)}
    hand.stood[key] = before | moved
    with event(hovered="write"):
        is_done = bool(moved) and settings.change(**moved)
        if key == f"chart_write_{hand.count}":
            for name in moved:
                commit(part, (in_picture, name), is_done)


def put_text(name: str, made: Chart) -> None:
    """A text, as high as its lines are in a window and on a phone (`cards.css`)."""
    with st.container(key=f"picture_text_{name}", gap=None):
        for when in ("w", "n"):
            st.space(BETWEEN * (1 + max(made.frame[f"line_{when}"].to_list())))
        with st.container(key=f"drawn_{name}", height="stretch"):
            st.vega_lite_chart(
                made.frame, made.spec, width="stretch", height="stretch", alt=made.alt,
                key=f"chart_{name}",
            )  # fmt: skip


# --- what was written ----------------------------------------------------------------------------


def so_far(v: Values, reading: Seen) -> Chart:
    """The text with what was written behind it: how likely each token was, and what else was."""
    pieces, n_own = encoded_of(v).pieces, len(encoded_of(v).ids) - len(v.written_ids)
    run = reading.run

    def found() -> tuple[list, list]:
        before = range(n_own - 1, len(pieces) - 1)
        streams = run.final[list(before)]
        best = likeliest(run.model, streams, MOST_OTHERS)
        own = [float(row[token]) for row, token in
               zip(logits(run, before).softmax(-1), run.ids[n_own:], strict=True)]  # fmt: skip
        each = zip(best.ids.tolist(), best.chances.tolist(), strict=True)
        return own, [list(zip(*one, strict=True)) for one in each]

    own, others = reading.once(("written", n_own), found)
    told = ["" for _ in range(n_own)] + [_others(run.model, each) for each in others]
    return written_text(pieces, [*[None] * n_own, *own], told)


def as_text(model: Model, made: tuple[Written, ...]) -> Chart:
    """The same of tokens that are being written."""
    pieces = [model.tokenizer.piece(each.token) for each in made]
    told = [_others(model, each.others) for each in made]
    return written_text(pieces, [each.chance for each in made], told)


def _others(model: Model, each: Any) -> str:
    return ", ".join(f"{label(model, token)} {percent(chance)}" for token, chance in each)


# --- what it teaches -----------------------------------------------------------------------------


WORDS = (
    "Every token has a chance, and somebody has to pick one. Divide the logits by a "
    "**temperature**; then **top-k** keeps the k likeliest, **top-p** the fewest that reach this "
    "share together, **min-p** those with at least this share of the likeliest one’s chance. What "
    "is kept fills a line, and a random number falls on it."
)
"""The card's."""


@closes("What does a temperature do to chances of 0.6, 0.3 and 0.1?", "write")
def what_temperature_does(v: Values) -> str | None:
    """Beside the likeliest token here."""
    if not lesson.predicts(v):
        return None
    given = torch.tensor([0.6, 0.3, 0.1], dtype=torch.float64).log()
    half, two = (
        " / ".join(number(each, 2) for each in offered(given, Cuts(temperature)).chances.tolist())
        for temperature in (0.5, 2.0)
    )
    order = order_of(seen(v))
    here = [percent(float(offered(order, Cuts(each)).chances[0])) for each in (0.5, 1.0, 2.0)]
    return (
        f"At 0.5 they become {half}: each is squared, then all are divided by their sum, so the "
        f"likeliest gains. At 2 they become {two}: the square root is taken of each, so they move "
        f"closer together. Their order never changes. Here the likeliest token has {here[0]} at "
        f"0.5, {here[1]} at 1 and {here[2]} at 2."
    )


@closes("Why can top-p 0.9 leave one token here and forty there?", "write")
def how_many_top_p_keeps(v: Values) -> str | None:
    """With where it keeps fewest in the text, and where most."""
    if not lesson.predicts(v):
        return None
    reading, pieces = seen(v), encoded_of(v).pieces
    n = len(pieces)

    def counted() -> list[tuple[int, float, int]]:
        places = range(max(0, n - MOST_PLACES), n)
        found = []
        for place, row in zip(places, logits(reading.run, places), strict=True):
            kept = offered(row, Cuts(top_p=0.9))
            found.append((len(kept.ids), float(row.softmax(-1).max()), place))
        return found

    found = reading.once("kept by top-p", counted)
    few, many = min(found), max(found)

    def said(one: tuple[int, float, int]) -> str:
        tokens = "1 token" if one[0] == 1 else f"{one[0]:,} tokens"
        return f"after “{pieces[one[2]].strip()}” (token {one[2]}) it keeps {tokens}"

    return (
        f"It counts chance, not tokens. In your text {said(few)}, since the likeliest has "
        f"{percent(few[1])} there; {said(many)}: there the likeliest has {percent(many[1])}, and "
        "it takes that many to reach 90%. Top-k would keep the same number in both places."
    )
