"""What a card yields, as HTML: the second writer beside Streamlit's own, of the same elements.

What is alive in it (pictures, controls, questions) is a place that the page's script fills: it has
an attribute that says what with.
"""

import html
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from ..cards.elements import Alive, InPicture, Picture, Row, Shown
from ..cards.page import Ask, Card, called_as_folded, place_of
from ..cards.show import first_cell, fitted, stops_of
from ..charts.chart import Chart
from ..controls import session
from ..controls.covered import covered_how
from ..controls.shared import has_random_numbers
from ..frame.contents import lesson
from ..frame.ends import RANDOM
from ..frame.lights import SIGNS, as_taught, lights_of
from ..picture.layout import Layout, brief
from ..reactive import settings
from ..reactive.control import TYPED, Control, Placed
from ..reactive.fields import Flag
from ..reactive.long_run import run_so_far
from ..reactive.page import Made
from . import pictures
from .markdown import formula, inline, markdown, plain
from .reader import Reader
from .told import Told

MOST_CHOICES = 64
"""Of a control with more values, such as a seed, the file has the one that it opens with."""
KINDS = {
    "segmented_control": "buttons",
    "toggle": "switch",
    "selectbox": "list",
    "select_slider": "slider",
    "slider": "slider",
}
APP = "app"
"""The class of a sentence on what the app has beside what stands here."""
Link = Callable[[str, Mapping[str, str]], str]
"""The address of a lesson at some values; "" where there is no such page."""


def no_page(_: str, __: Mapping[str, str]) -> str:
    """A file by itself knows no other lesson."""
    return ""


def attributes(**named: Any) -> str:
    """HTML attributes, escaped; what is None is left out."""
    each = ((name.rstrip("_").replace("_", "-"), value) for name, value in named.items())
    return "".join(
        f' {name}="{html.escape(str(value))}"' for name, value in each if value is not None
    )


@dataclass
class Writer:
    """Writes cards at whatever values its reader is."""

    reader: Reader
    told: Told
    link: Link = no_page
    app: Link = no_page
    is_base: bool = True
    """Whether the reader is at the values that the page opens with: only there is it told how each
    cell comes about.
    """
    needs_app: dict[str, list[str]] = field(default_factory=dict)
    """By the names of cards, what of them only the app has, in words."""
    placed: dict[str, dict[str, bool]] = field(default_factory=dict)
    """The controls that stand in each card, by their names, and whether a picture carries them."""
    carried: dict[str, set[str]] = field(default_factory=dict)
    """By the names of controls, the pictures that carry them in this file."""
    _pictures: dict[tuple, str] = field(default_factory=dict)
    """Pictures as they were written, by their cards and by all else that they depend on."""
    _there: dict[tuple, list] = field(default_factory=dict)
    """These pictures at all positions of their controls, made while no question was open."""
    _first: dict[tuple[str, str], int] = field(default_factory=dict)
    """The places of pictures as they were written first: of others, what differs is told."""
    _at: tuple = ()
    _card: Card | None = None
    _written: dict[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.arithmetic = pictures.Arithmetic(self.told)

    # --- cards ------------------------------------------------------------------------------------
    def card(self, card: Card, made: Made, at: tuple) -> str:
        """A card without its heading. `at` says of which values and open questions it is, without
        those of the controls that its pictures carry.
        """
        self._card, self._at = card, at
        self.placed.setdefault(card.name, {})
        every = [*made.controls, *made.elements]
        # The place of a control is above its picture, which says whether it carries it.
        written = {id(each): self.put(each) for each in _flat(every) if isinstance(each, Picture)}
        self._written = written
        folded = card.folded_on_phone(made)

        def put(each: Any) -> str:
            made_so = self.put(each)
            is_folded = bool(made_so) and any(each is one for one in folded or ())
            return f'<div class="folded">{made_so}</div>' if is_folded else made_so

        beside = "".join(map(put, made.controls))
        band = f'<div class="words">{markdown(made.words) if made.words else ""}</div>'
        band += f'<div class="beside">{beside}</div>' if beside else ""
        asked = self._ask(card.ask) if card.ask else ""
        body = "".join(map(put, made.elements))
        left = self._unfinished(card)
        self._written = {}
        if folded is None:
            return f'<div class="band">{band}</div>{asked}{body}{left}'
        asked = asked and f'<div class="folded">{asked}</div>'
        words, asking = (inline(called_as_folded(folded, asks)) for asks in (False, True))
        of_ask = card.ask and {"data_asks": card.ask.name, "data_asking": asking}
        told = attributes(**of_ask, data_told=words) if of_ask else ""
        way = f'<button type="button" class="unfold" aria-expanded="false"{told}>{words}</button>'
        return f'<div class="band">{band}</div>{asked}{body}{left}{way}'

    def _unfinished(self, card: Card) -> str:
        if card.name not in self.reader.unfinished:
            return ""
        return self._app(
            f"does the work of this card, which takes {self.reader.unfinished[card.name]}"
        )

    def put(self, each: Any) -> str:
        """An element."""
        match each:
            case Picture():
                return self._written.get(id(each)) or self._picture(each)
            case Row():
                return self._row(each)
            case Control():
                return self._control(each.at())
            case Placed():
                return self._control(each)
            case Ask():
                return self._ask(each)
            case Alive():
                return self._app(each.adds) if each.adds else ""
            case Shown():
                return self._shown(each)
        return self._app("shows more here")

    def _row(self, row: Row) -> str:
        look = row.look
        kind = "chips" if str(look.get("key", "")).startswith("chips_") else "row"
        middle = look.get("vertical_alignment") == "center"
        inner = "".join(map(self.put, row.elements))
        return f'<div class="{kind}{" middle" if middle else ""}">{inner}</div>' if inner else ""

    def _ask(self, ask: Ask) -> str:
        return f'<div class="ask" data-ask="{ask.name}"></div>'

    def _app(self, what: str) -> str:
        """What only the app has, and the way there where there is one."""
        self.needs_app.setdefault(self._card.name if self._card else "", []).append(what)
        address = self.app(self.reader.page.name, self.reader.texts)
        way = f' <a href="{html.escape(address)}">Open it there</a>' if address else ""
        return f'<p class="{APP}">The app {plain(what)}.{way}</p>'

    # --- words ------------------------------------------------------------------------------------
    def _shown(self, one: Shown) -> str:
        name, given = one.call.__name__, one.given
        writes = getattr(self, f"_of_{name.lstrip('_')}", None)
        if adds := getattr(one.call, "adds", ""):
            return self._app(adds)
        if writes is None:
            return self._app(f"shows more here ({name})")
        return writes(*given, **({"look": one.look, "sets": one.sets} if name == "button" else {}))

    def _of_markdown(self, words: str) -> str:
        return markdown(words)

    def _of_note(self, words: str) -> str:
        return markdown(f":gray[:material/info:] {words}") if words else ""

    def _of_light(self, good: bool, words: str) -> str:
        colour, icon = ("green", "check_circle") if good else ("orange", "error")
        return markdown(f":{colour}[:material/{icon}:] {words}")

    def _of_draw_lights(self, found: Sequence[Any]) -> str:
        first = sorted(found, key=lambda each: each.holds is not False)
        lines = [f"{SIGNS[each.holds]} **{each.title}.** {each.evidence}" for each in first]
        return markdown("  \n".join(lines))

    def _of_caption(self, words: str) -> str:
        return f'<div class="caption">{markdown(words)}</div>'

    def _of_text(self, words: str) -> str:
        return f'<p class="text">{plain(words)}</p>' if words else ""

    def _of_code(self, lines: str) -> str:
        return f'<pre tabindex="0">{plain(lines)}</pre>'

    def _of_put_formula(self, latex: str, names: str) -> str:
        below = f'<div class="caption mid">{markdown(names)}</div>' if names else ""
        return f'<div class="formula" tabindex="0">{formula(latex, True)}</div>{below}'

    def _of_put_frame(self, rows: pd.DataFrame) -> str:
        return f'<div class="frame" tabindex="0">{table(rows)}</div>'

    # --- buttons and ways -------------------------------------------------------------------------
    def _of_button(self, label: str, *, look: Mapping[str, Any], sets: Any) -> str:
        if sets is None:
            return self._app(f"has the button “{label}” here")
        fields = {each.name: each.field for each in self.reader.controls}
        texts = {name: fields[name].write(value) for name, value in sets.items()}
        if look.get("disabled"):
            return ""
        kind = "plain" if look.get("type") == "tertiary" else "boxed"
        given = attributes(type="button", class_=f"sets {kind}", data_sets=json.dumps(texts))
        return f"<button{given}>{inline(label)}</button>"

    def _of_way_to(self, name: str, label: str, **at: str) -> str:
        address = self.link(name, at) or self.app(name, {**self.reader.texts, **at})
        if not address:
            return ""
        return f'<p class="way"><a href="{html.escape(address)}">{inline(label)}</a></p>'

    def _of_way_to_a_real_model(self, label: str, measure: str, _: str = "") -> str:
        return self._of_way_to("real_model", label, measure=measure)

    def _of_way_to_the_lessons(self, _: str) -> str:
        return ""

    def _of_put_run_of(self, name: str) -> str:
        run = run_so_far(name)
        if run is None or run.share >= 1:
            return ""
        return self._app(f"does this for any settings, in {run.cost}" if run.cost else "does this")

    def _of_take_along(self, *_: Any) -> str:
        return self._app("gives you these steps as a program, a notebook or a spreadsheet")

    # --- controls ---------------------------------------------------------------------------------
    def _control(self, placed: Placed) -> str:
        one, look = placed.control, placed.look
        if one.name in session.names_in("hide"):
            return ""
        name = (
            placed.in_picture.replace("*", self._card.name) if isinstance(placed, InPicture) else ""
        )
        here = self.placed.setdefault(self._card.name, {})
        is_carried = bool(name) and name in self.carried.get(one.name, ())
        here[one.name] = here.get(one.name, False) or is_carried
        if is_carried:
            untold = "" if look.get("told", True) else " untold"
            width = f"--width:{look.get('width', 170)}px"
            return f'<div class="moves{untold}" data-moves="{name}" style="{width}"></div>'
        return self.control(one, **look)

    def control(self, one: Control, **look: Any) -> str:
        """A control as a place: whether it moves follows from what is told of it."""
        values = self.reader.session.values
        value = settings.in_widget(one.name)
        widget = look.get("widget", one.drawn_as)
        label = look.get("label", f"{one.label} ({one.hint})" if one.hint else one.label)
        choices = choices_of(one, values)
        fixed = one.name in settings.fixed() or widget in TYPED or not choices
        named = dict(choices)
        text = one.field.write(value)
        given = attributes(
            class_="control",
            data_control=None if fixed else one.name,
            data_kind=None if fixed else KINDS.get(widget, "list"),
            data_label=label,
            data_value=text,
            data_words=named.get(text, text) or "–",
            data_choices=None if fixed else json.dumps([[a, b] for a, b in choices]),
            style=f"--width:{look['width']}px" if isinstance(look.get("width"), int) else None,
        )
        return f"<div{given}></div>"

    # --- pictures ---------------------------------------------------------------------------------
    def _picture(self, one: Picture) -> str:
        values, key = self.reader.session.values, (*self._at, one.name)
        if key in self._pictures:
            return self._pictures[key]
        stops, lists = None, None
        if one.carries is None:
            layout = one.now()
        else:
            name, chosen = one.carries.name, self.reader.session.chosen
            is_moved = chosen.get(name) != self.reader.texts.get(name)
            # Another control may take it along: then it begins there.
            start = (self.reader.base if is_moved else values)[name]
            if (choices := one.carries.choices(values)) and start not in choices:
                start = values[one.carries.name]  # others leave no room for it
            layout = one.layout_at(start)
            stops = stops_of(one.carries, values, start, "")
            if one.carries.name in settings.fixed() or not pictures.can_carry(layout, stops):
                layout, stops = one.now(), None
        if stops is not None:
            # What is covered follows from the layout; to find it at each position takes long.
            lists_of = (self._at[:-1], one.name)
            if lists_of not in self._there:
                self._there[lists_of] = pictures.each_there(one, stops)
            lists = pictures.carried(layout, self._there[lists_of])
            self.carried.setdefault(one.carries.name, set()).add(one.name)
        cells = self.arithmetic.of(layout) if self.is_base else {}
        like = self._first.get((self._card.name, one.name))
        place = pictures.picture(self.told, layout, stops, lists, cells, like)
        self._first.setdefault((self._card.name, one.name), place)
        fields = {each.name: each.field for each in self.reader.controls}
        texts = stops and [fields[one.carries.name].write(each) for each in stops.values]
        arranged = layout.wide, layout.narrow, brief(layout).narrow
        wide, narrow, less = (round(each.height) + 8 for each in arranged)
        given = attributes(
            class_="picture",
            data_name=one.name,
            data_picture=place,
            data_carries=one.carries.name if stops else None,
            data_texts=json.dumps(texts) if stops else None,
            data_control_label=one.carries.label if stops else None,
            data_first=_first_of(layout, cells),
            style=f"--wide:{wide}px;--narrow:{narrow}px;--brief:{less}px",
        )
        alt = attributes(class_="drawn", role="img", aria_label=layout.alt)
        made = f'<div{given}><div{alt}></div></div><div class="cell" data-of="{one.name}"></div>'
        made += self._waiting(layout)
        if stops is not None:  # else it is another at each value of what it would carry
            self._pictures[key] = made
        return made

    def _waiting(self, layout: Any) -> str:
        """Below a picture with something covered: what for."""
        covered = [each.step.name for each in layout.matrices if each.asks]
        cards = self.reader.session.waited_for(covered) if covered else []
        if not cards:
            return ""
        told = " and ".join(f"*{each}*" for each in cards)
        return self._of_caption(f"Each **?** waits for your guess at {told}, above.")

    def _of_chart(self, name: str, made: Chart, width: int | None, height: int) -> str:
        spec = made.spec if width is None else fitted(made, height)
        return self._chart(name, made, spec, width)

    def _chart(
        self, name: str, made: Chart, spec: dict, width: int | None, chooses: str | None = None
    ) -> str:
        place = pictures.chart(self.told, made, spec)
        tall = spec.get("height")
        given = attributes(
            class_="chart" if width else "chart wide",
            data_name=name,
            data_picture=place,
            data_chooses=chooses,
            role="img",
            aria_label=made.alt,
            style=f"--width:{width or 940}px"
            + (f";min-height:{tall}px" if isinstance(tall, int) else ""),
        )
        return f"<div{given}></div>"

    def _of_put(self, name: str, made: Chart, names: tuple[str, str], width: Any) -> str:
        """A chart in which a click chooses a head, by controls of these names if they move."""
        wide = width if isinstance(width, int) else None
        return self._chart(name, made, made.spec, wide, json.dumps(names))

    def _of_put_text(self, name: str, made: Chart) -> str:
        lines = 1 + max(made.frame["line_w"].to_list())
        spec = {**made.spec, "height": 26 * lines}
        return self._chart(name, made, spec, None)

    # --- ends -------------------------------------------------------------------------------------
    def closing(self) -> str:
        """The questions that a reader can now answer, each folded over its answer."""
        page = self.reader.page
        each = [*filter(None, map(page.given, page.closing))]
        if not each or "answers" in session.names_in("hide"):
            return ""
        told = ""
        if page.about_weights and has_random_numbers(self.reader.session.values):
            told = f'<p class="caption across">{plain(RANDOM)}</p>'
        for one in each:
            asked = [place_of(step) for step in one.shows if covered_how(step)]
            if asked:
                where = f"The card {asked[0]}" if asked[0] else "A card above"
                answer = markdown(
                    f"{where} asks for the same numbers. Look at it once more and guess there: "
                    "then the answer stands here."
                )
            else:
                card = next(card for card in page.every_card() if card.name == one.card)
                answer = f'<p class="text">{plain(one.answer)}</p>'
                answer += markdown(f"The card {page.place(card)} shows it.")
            told += f"<details><summary>{plain(one.question)}</summary>{answer}</details>"
        return f'<h2 id="answers">What you can now answer</h2>{told}'

    def checks(self) -> str:
        """What holds of the page's attention."""
        page = self.reader.page
        if not page.output:
            return ""
        found = lights_of(page.trace().whole(), page.output)
        return self._of_draw_lights([as_taught(each, page.name) for each in found])


def choices_of(one: Control, values: Any) -> list[tuple[str, str]]:
    """The texts of what a control can be, each with its words; nothing where that is too much."""
    if isinstance(one.field, Flag):
        return [(one.field.write(value), "on" if value else "off") for value in (True, False)]
    choices = one.choices(values)
    if not choices and hasattr(one.field, "least") and one.drawn_as == "slider":
        stops = stops_of(one, values, values[one.name], "").values
        whole = all(float(each).is_integer() for each in stops)
        choices = {(int(each) if whole else each): f"{each:,g}" for each in stops}
    if not 1 < len(choices) <= MOST_CHOICES:
        return []
    return [(one.field.write(value), str(words)) for value, words in choices.items()]


def _first_of(layout: Layout, cells: Mapping[str, int]) -> str | None:
    """The cell that the keyboard opens first, as `weights|3,1`; None where none may be told."""
    for matrix in reversed([each for each in layout.matrices if each.step.inputs]):
        if not matrix.covered and matrix.step.name in cells:
            first = first_cell(layout, matrix)
            if first is not None:
                return f"{matrix.step.name}|{','.join(map(str, first))}"
    return None


def _flat(elements: Iterable[Any]) -> Iterable[Any]:
    for each in elements:
        yield from _flat(each.elements) if isinstance(each, Row) else (each,)


def table(rows: pd.DataFrame) -> str:
    """A data frame as a table: text, and numbers to four decimals."""
    head = "".join(f"<th scope='col'>{plain(str(name))}</th>" for name in rows.columns)
    lines = (
        "".join(f"<td>{plain(_shown(value))}</td>" for value in row)
        for row in rows.itertuples(index=False)
    )
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4f}".rstrip("0").rstrip(".") if value == value else "nan"
    return "" if value is None else str(value)


def idea_of(name: str) -> str:
    """The question that a lesson answers, as its page says it."""
    return inline(lesson(name).idea)
