"""The states of a lesson that its file holds: all that its cards come to as a hand moves.

For each piece of a page (a card, the closing answers) this finds which controls and which open
questions change it, by making it with each; and writes it for each value of each of these controls
alone, and together where those are few. What takes little room comes first, so that as many
controls as possible reach as many cards. Where the file would grow too large, a card stays as it
is, and the script says which value it still shows.
"""

import itertools
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..cards.elements import Picture, Row
from ..cards.page import Ask, Card
from ..controls.covered import EVERY, covered_how
from ..controls.shared import PREDICT
from ..picture.spec import GROUNDS
from ..reactive import settings
from ..reactive.control import Control
from ..reactive.page import Made
from ..reactive.source import Dependencies, tracking
from .questions import question
from .reader import Reader
from .told import COLUMN, TABLES, Told, Weight, as_json
from .writer import Writer, choices_of

MOST_TOGETHER = 48
"""States of a card whose controls are told together."""
MOST_WRITTEN = 900
"""How often cards are made for one lesson: what would take longer stays as it is."""
MOST_STATES = 400
"""Of a piece: one with more stays as it is."""
FEW_VALUES = 16
"""A control with more values is tried at its ends and in the middle, for what it reaches."""
_PICTURE = re.compile(r'(data-picture=")(\d+)"')
ROW = 20
"""A row of a picture takes as much as so many letters."""
LATER = 0.6
"""A later state of a card takes about this share of what an earlier one took."""
PACKED = 4 / 3
"""A file holds packed bytes as letters."""

Move = tuple[tuple[str, str], ...]
"""Controls that are moved away from what the page opens with, and their texts."""


@dataclass
class Piece:
    """A piece of a page, and what it comes to in each state that is told."""

    name: str
    title: str
    write: Callable[[Move, frozenset[str]], str]
    card: Card | None = None
    asks: list[str] = field(default_factory=list)
    """The questions that change it while they are open."""
    axes: list[str] = field(default_factory=list)
    """The controls that it follows."""
    reached: set[str] = field(default_factory=set)
    """The controls that change it."""
    states: dict[str, int] = field(default_factory=dict)


def key_of(move: Move, asked: Sequence[str]) -> str:
    """The name of a state, as the script makes it too."""
    return "&".join(f"{name}={text}" for name, text in sorted(move)) + "?" + ",".join(sorted(asked))


class Baked:
    """A lesson with all that its file tells: `pieces` in the order of the page, `controls` that
    move. `most_bytes` is how much of it there may be, packed.
    """

    def __init__(self, reader: Reader, writer: Writer, most_bytes: int, moves: bool = True) -> None:
        self.moves = moves
        self.reader, self.writer, self.most_bytes = reader, writer, most_bytes
        self.told: Told = writer.told
        self.controls: dict[str, dict[str, Any]] = {}
        self.asks: dict[str, dict[str, Any]] = {}
        self.fixed: dict[str, str] = {}
        """The controls of cards that do not move, and why."""
        self._weight = Weight(self.told)
        self._followed: list[tuple[Piece, str, list[str]]] = []
        """Pieces, the controls that they follow, and their states then, in this order."""
        self.failed: dict[tuple[str, str], str] = {}
        """Pieces that failed at a value of a control, and how."""
        self.n_written = 0
        """How often a card was made."""
        self._asks_about: dict[tuple[str, Move], set[str]] = {}
        """The steps of which a card asks whether they are covered."""
        self._reads: dict[str, set[str]] = {}
        """By piece and question, the controls that each has read at the settings of the page."""
        self._made: dict[tuple, tuple[Any, str]] = {}
        self._moved: dict[Move, Any] = {(): reader.base}
        page = reader.page
        self.pieces = [
            Piece(one.name, one.title, self._card(one), one) for one in page.every_card()
        ]
        self.pieces += [
            Piece(name, title, self._whole(name, write))
            for name, title, write in (
                ("closing_answers", "", writer.closing),
                ("what_holds", "What holds of this attention", writer.checks),
            )
        ]

    # --- one state --------------------------------------------------------------------------------
    def _values(self, move: Move) -> Any:
        if move not in self._moved:
            self._moved[move] = self.reader.values_with(dict(move))
        return self._moved[move]

    def _goes_to(self, move: Move, asked: frozenset[str], last: Card | None = None) -> None:
        """These values and questions, met down to the `last` card, as by somebody who reads on."""
        self.reader.goes_to(self._values(move), asked, dict(move))
        self.writer.is_base = not move
        every = self.reader.page.every_card()
        met = every[: every.index(last) + 1] if last else every
        titles = {card.ask.name: card.title for card in met if card.ask}
        if asked:
            for one in (each for each in self.reader.page.asks if each.name in titles):
                covered = frozenset(one.covered())
                self.reader.session.covering[one.name] = (titles[one.name], covered)

    def _card(self, card: Card) -> Callable[[Move, frozenset[str]], str]:
        def write(move: Move, asked: frozenset[str]) -> str:
            self._goes_to(move, asked, card)
            with self.reader.within(card):
                with tracking() as reads:
                    made = self.reader.made(card)
                    self.n_written += 1
                if not asked:
                    steps = {name for source, name in reads if source is covered_how}
                    self._asks_about[card.name, move] = steps
                self._has_read(card.name, move, reads)
                if made is None:
                    return ""
                covers = tuple(sorted(self.reader.session.covering.items())) if asked else ()
                known = self._made.get((id(made), covers))
                if known is None:
                    rest = tuple(one for one in move if one[0] not in _carried_by(made))
                    with tracking() as reads:
                        known = made, self.writer.card(card, made, (card.name, rest, asked))
                    self._has_read(card.name, move, reads)
                    self._made[id(made), covers] = known
                return known[1]

        return write

    def _has_read(self, name: str, move: Move, reads: Dependencies) -> None:
        if not move:
            known = self._reads.setdefault(name, set())
            known |= {of for source, of in reads if source.called.startswith(settings.value.called)}

    def _may_reach(self, name: str, move: Move) -> bool:
        """Whether a piece or a question has read anything that a move changes: else the app would
        not draw it anew.
        """
        changed = {each for each, _ in move}
        values = self._values(move)
        if values is not None:
            changed |= values.changed(self.reader.base)
        return not changed.isdisjoint(self._reads.get(name, changed))

    def _whole(self, name: str, write: Callable[[], str]) -> Callable[[Move, frozenset[str]], str]:
        def written(move: Move, asked: frozenset[str]) -> str:
            self._goes_to(move, asked)
            with tracking() as reads:
                made = write()
            self._has_read(name, move, reads)
            return made

        return written

    def _tell(self, piece: Piece, move: Move, asked: Sequence[str]) -> str:
        """Writes a piece in a state. Returns its key."""
        key = key_of(move, asked)
        if key not in piece.states:
            piece.states[key] = self.told.once("html", piece.write(move, frozenset(asked)))
        return key

    # --- all of them ------------------------------------------------------------------------------
    def bake(self) -> "Baked":
        """Find and write all states that there is room for."""
        asks = self._first_asked = [each.name for each in self.reader.asks_at(self.reader.base)]
        for piece in self.pieces:
            self._with_questions(piece, asks)
        placed = self._placed()
        # What a teacher's link hides or locks stays as it is.
        fixed = self.reader.session.fixes()
        candidates = {
            one.name: one
            for one in (PREDICT, *placed, *self.reader.page.sidebar)
            if one.name not in fixed
        }
        quiet = candidates.pop(PREDICT.name, None)
        if quiet and self.moves and self.reader.base[quiet.name]:  # else it asks nothing
            self._move(quiet)
        for one in sorted(candidates.values(), key=self._costs) if self.moves else ():
            self._move(one)
        pairs = ((name, piece) for name in self.controls for piece in self.pieces)
        for name, piece in sorted(pairs, key=lambda pair: self._cost(*pair)):
            self._reach(name, piece)
        for piece in self.pieces:
            self._together(piece)
        self._tell_questions()
        self._drop_what_is_too_much()
        return self

    def _with_questions(self, piece: Piece, asks: Sequence[str]) -> None:
        first = piece.states[self._tell(piece, (), ())]
        for name in asks:
            if not self._may_cover(name, piece, ()):
                continue
            if self.told.once("html", piece.write((), frozenset([name]))) != first:
                piece.asks.append(name)
        for asked in _subsets(piece.asks):
            self._tell(piece, (), asked)

    def _placed(self) -> list[Control]:
        """The controls that stand in cards, those that pictures carry first."""
        known = {each.name: each for each in self.reader.controls}
        names = [*self.writer.carried]
        names += [name for each in self.writer.placed.values() for name in each]
        return [known[name] for name in dict.fromkeys(names)]

    def _texts(self, one: Control) -> list[str]:
        """The texts that a control may have here, those that cannot be used left out."""
        pairs = choices_of(one, self.reader.base.read_by(lambda _: None))
        texts = [text for text, _ in pairs]
        return [each for each in texts if self._values(((one.name, each),)) is not None]

    def _homes(self, one: Control) -> list[Piece]:
        """The pieces that a control stands in; of one that stands in none, all."""
        cards = {name for name, each in self.writer.placed.items() if one.name in each}
        return [piece for piece in self.pieces if piece.name in cards] or self.pieces

    def _move(self, one: Control) -> None:
        """Write the card that a control stands in at each of its values, if there is room."""
        base = one.field.write(self.reader.base[one.name])
        texts = self._texts(one)
        others = [each for each in texts if each != base]
        if not others:
            self.fixed[one.name] = "more values than a file can hold"
            return
        told = {"base": base, "texts": texts, "label": one.label, "words": dict(
            choices_of(one, self.reader.base)), "along": self._along(one, others)}  # fmt: skip
        homes = self._homes(one)
        is_told = False
        for piece in homes:
            is_told = self._follow(piece, one.name, others) or is_told
        if is_told or one is PREDICT or one.name in self.writer.carried:
            self.controls[one.name] = told
        else:
            self.fixed[one.name] = "more numbers than a file can hold"

    def _along(self, one: Control, texts: Sequence[str]) -> dict[str, dict[str, str]]:
        """The other controls that each of its values takes along, such as a width that fits it."""
        found = {}
        for text in texts:
            values = self._values(((one.name, text),))
            changed = values.changed(self.reader.base) - {one.name}
            fields = {each.name: each.field for each in self.reader.controls}
            if changed:
                found[text] = {name: fields[name].write(values[name]) for name in changed}
        return found

    def _follow(self, piece: Piece, name: str, texts: Sequence[str]) -> bool:
        """Write a piece at each of these values of a control. Returns whether they change it and
        there is room. A piece that fails at a value, as it would in the app, stays as it is.
        """
        before = dict(piece.states)
        try:
            return self._follows(piece, name, texts, before)
        except Exception as error:
            self.failed[piece.name, name] = f"{type(error).__name__}: {error}"
            piece.states = before
            piece.reached.add(name)
            self._weight.forget()
            return False

    def _follows(
        self, piece: Piece, name: str, texts: Sequence[str], before: dict[str, int]
    ) -> bool:
        # While a question is open, words stand for where a control of many positions began.
        is_brief = name == PREDICT.name or len(texts) > FEW_VALUES
        n_asked = 1 if is_brief else 2 ** len(piece.asks)
        if len(before) + len(texts) * n_asked > MOST_STATES:
            piece.reached |= {name} if self._is_reached(piece, name, texts) else set()
            return False
        first = piece.states[key_of((), ())]
        self._find_questions(piece, name, texts)
        for n_told, text in enumerate(texts, 1):
            for asked in [()] if is_brief else _subsets(piece.asks):
                self._tell(piece, ((name, text),), asked)
            if self.n_written > MOST_WRITTEN or not self._will_fit(n_told / len(texts)):
                piece.states = before
                self._weight.forget()
                piece.reached |= {name} if self._is_reached(piece, name, texts) else set()
                return False
        new = {key: at for key, at in piece.states.items() if key not in before}
        plain = {key: at for key, at in new.items() if key.endswith("?")}
        if {*plain.values()} <= {first}:
            piece.states = before
            return False
        piece.reached.add(name)
        if not self._has_room():
            piece.states = before
            return False
        piece.axes.append(name)
        self._followed.append((piece, name, [*new]))
        return True

    def _find_questions(self, piece: Piece, name: str, texts: Sequence[str]) -> None:
        """Questions that cover something of a piece only where a control stands otherwise."""
        if name == PREDICT.name:
            return
        some = texts if len(texts) <= FEW_VALUES else [texts[0], texts[len(texts) // 2], texts[-1]]
        for ask in [each for each in self._first_asked if each not in piece.asks]:
            for text in some:
                move = ((name, text),)
                if not self._may_cover(ask, piece, move):
                    continue
                if piece.write(move, frozenset([ask])) != piece.write(move, frozenset()):
                    piece.asks.append(ask)
                    for asked in _subsets(piece.asks):
                        self._tell(piece, (), asked)
                    self._tell_followed(piece)
                    break

    def _tell_followed(self, piece: Piece) -> None:
        """What a piece has followed already, with a question open that was found only now."""
        for one, name, keys in self._followed:
            if one is not piece or len(self._texts_of(name)) > FEW_VALUES:
                continue
            for text in self._texts_of(name):
                for asked in _subsets(piece.asks):
                    key = key_of(((name, text),), asked)
                    if key not in piece.states:
                        keys.append(self._tell(piece, ((name, text),), asked))

    def _texts_of(self, name: str) -> list[str]:
        """What a control that moves can be, beside what the page opens with."""
        told = self.controls.get(name)
        return [each for each in told["texts"] if each != told["base"]] if told else []

    def _may_cover(self, ask: str, piece: Piece, move: Move) -> bool:
        """Whether a question covers a step that a card asks about, or may cover a copy of one."""
        if piece.card is None:
            return True
        if (piece.name, move) not in self._asks_about:
            piece.write(move, frozenset())
        about = self._asks_about.get((piece.name, move), set())
        self._goes_to(move, frozenset([ask]))
        (one,) = (each for each in self.reader.page.asks if each.name == ask)
        return EVERY in about or not about.isdisjoint(one.covered())

    def _is_reached(self, piece: Piece, name: str, texts: Sequence[str]) -> bool:
        first = self.told.tables["html"][piece.states[key_of((), ())]]
        some = dict.fromkeys([texts[0], texts[len(texts) // 2], texts[-1]])
        try:
            return any(piece.write(((name, text),), frozenset()) != first for text in some)
        except Exception as error:  # as the card would fail in the app there
            self.failed[piece.name, name] = f"{type(error).__name__}: {error}"
            return True

    def _cost(self, name: str, piece: Piece) -> int:
        """About what a piece takes at all values of a control."""
        html = self.told.tables["html"][piece.states[key_of((), ())]]
        places = {int(at) for _, at in _PICTURE.findall(html)}
        n_rows = sum(self.told.tables["pictures"][at]["n"] for at in places)
        known = self.controls.get(name)
        return (len(html) + ROW * n_rows) * (len(known["texts"]) if known else 1)

    def _costs(self, one: Control) -> int:
        """The same of all pieces that a control stands in."""
        if one.name in self.writer.carried:
            return 0  # it moves in any case
        each = sum(self._cost(one.name, piece) for piece in self._homes(one))
        return each * len(self._texts(one))

    def _reach(self, name: str, piece: Piece) -> None:
        """Write another card that a control reaches, if there is room."""
        told = self.controls[name]
        others = [each for each in told["texts"] if each != told["base"]]
        if name in piece.reached or not any(
            self._may_reach(piece.name, ((name, text),)) for text in others
        ):
            return
        if len(others) > FEW_VALUES and not self._is_reached(piece, name, others):
            return
        self._follow(piece, name, others)

    def _together(self, piece: Piece) -> None:
        """Write all that its controls come to together, where that is little."""
        axes = [name for name in piece.axes if name != PREDICT.name]
        if len(axes) < 2:
            return
        each = [self.controls[name]["texts"] for name in axes]
        n = 2 ** len(piece.asks)
        for texts in each:
            n *= len(texts)
        if n > MOST_TOGETHER:
            return
        before = dict(piece.states)
        for texts in itertools.product(*each):
            pairs = zip(axes, texts, strict=True)
            move = tuple((a, text) for a, text in pairs if text != self.controls[a]["base"])
            if len(move) > 1 and self._values(move) is not None:
                for asked in _subsets(piece.asks):
                    self._tell(piece, move, asked)
        if not self._has_room():
            piece.states = before

    def _has_room(self) -> bool:
        """Whether all that was told since the last call has room; if so, it counts."""
        if not self._fits():
            self._weight.forget()
            return False
        self._weight.count()
        return True

    def _fits(self) -> bool:
        """Whether what was told so far since then has room."""
        return PACKED * self._weight.with_what_is_new() <= self.most_bytes

    def _will_fit(self, share: float) -> bool:
        """Whether all of it will probably have room, of which this share was told since then: what
        comes later mostly repeats what came before.
        """
        counted, now = self._weight.counted, self._weight.with_what_is_new()
        likely = counted + max(1.0, LATER / share) * (now - counted)
        return PACKED * likely <= self.most_bytes

    def _drop_what_is_too_much(self) -> None:
        """Drop the last cards while the file is too large: something may have come in uncounted."""
        while self._followed and self.size() > self.most_bytes:
            piece, name, keys = self._followed.pop()
            piece.axes.remove(name)
            piece.states = {key: at for key, at in piece.states.items() if key not in keys}

    # --- questions --------------------------------------------------------------------------------
    def _question(self, ask: Ask, move: Move) -> dict[str, Any] | None:
        self._goes_to(move, frozenset([ask.name]))
        with tracking() as reads:
            asked, fingerprint = ask.made()
        self._has_read(f"?{ask.name}", move, reads)
        return None if asked is None else question(self.told, asked, fingerprint)

    def _tell_questions(self) -> None:
        """Each question, and what becomes of it at other values of the controls."""
        if not self.reader.base["predict"]:
            return
        for ask in self.reader.page.asks:
            first = self._question(ask, ())
            states, axes = {key_of((), ()): first}, []
            for name, told in self.controls.items():
                if name == PREDICT.name:
                    continue
                for text in told["texts"]:
                    if text == told["base"]:
                        continue
                    move = ((name, text),)
                    if not self._may_reach(f"?{ask.name}", move):
                        continue
                    made = self._question(ask, move)
                    if made != first:
                        states[key_of(move, ())] = made
                        axes += [] if name in axes else [name]
            cards = [each.name for each in self.reader.page.every_card() if each.ask is ask]
            card = cards[0] if cards else ""
            self.asks[ask.name] = {"axes": axes, "states": states, "key": ask.name, "card": card}

    # --- what is told -----------------------------------------------------------------------------
    def told_now(self) -> dict[str, Any]:
        """What the script is told: tables with no entry that nothing leads to. Those that only a
        move leads to come in `more`, behind the others: a page opens without them.
        """
        places: dict[str, dict[int, int]] = {}
        made: dict[str, list[Any]] = {each: [] for each in TABLES}

        def put(table: str, at: int) -> int:
            known, entries = places.setdefault(table, {}), made.setdefault(table, [])
            if at not in known:
                known[at] = len(entries)
                entries.append(None)
                entries[known[at]] = other(table, self.told.tables[table][at])
            return known[at]

        def other(table: str, one: Any) -> Any:
            if table == "html":
                return _PICTURE.sub(lambda at: f'{at[1]}{put("pictures", int(at[2]))}"', one)
            if table != "pictures":
                return one
            columns = {
                name: parts and [put(COLUMN + name, at) for at in parts]
                for name, parts in one["columns"].items()
            }
            there = {name: put("specs", one[name]) for name in GROUNDS}
            there |= {"like": put("pictures", one["like"])} if "like" in one else {}
            if "cells" in one:
                there["cells"] = {name: put("cells", at) for name, at in one["cells"].items()}
            return {**one, **there, "columns": columns}

        def of_question(one: dict[str, Any] | None) -> dict[str, Any] | None:
            if one is None:
                return None
            charts = [each for each in ("both", "alone") if each in one]
            return {**one, **{each: put("pictures", one[each]) for each in charts}}

        states: dict[str, dict[str, int]] = {each.name: {} for each in self.pieces}
        asked: dict[str, dict[str, Any]] = {each: {} for each in self.asks}
        first: dict[str, int] = {}
        for is_first in (True, False):
            for each in self.pieces:
                for key, at in each.states.items():
                    if key.startswith("?") == is_first:
                        states[each.name][key] = put("html", at)
            for name, ask in self.asks.items():
                for key, one in ask["states"].items():
                    if key.startswith("?") == is_first:
                        asked[name][key] = of_question(one)
            first = first or {table: len(entries) for table, entries in made.items()}
        pieces = {
            each.name: {
                "title": each.title,
                "axes": each.axes,
                "asks": each.asks,
                "reached": sorted(each.reached - {*each.axes}),
                "states": states[each.name],
            }
            for each in self.pieces
        }
        asks = {name: {**each, "states": asked[name]} for name, each in self.asks.items()}
        more = {table: entries[first.get(table, 0) :] for table, entries in made.items()}
        return {
            **_tables({table: entries[: first.get(table, 0)] for table, entries in made.items()}),
            "pieces": pieces,
            "controls": self.controls,
            "asks": asks,
            "passes": PREDICT.name not in self.reader.session.locked(),
            "more": _tables(more),
        }

    def size(self) -> int:
        """About how many letters of the file it takes."""
        told = self.told_now()
        more = told.pop("more")
        return round(
            PACKED * sum(len(zlib.compress(as_json(one).encode(), 6)) for one in (told, more))
        )


def _tables(made: dict[str, list[Any]]) -> dict[str, Any]:
    """Tables as the script has them: those of columns together, and none that has no entry."""
    columns = {name.removeprefix(COLUMN): each for name, each in made.items()
               if name.startswith(COLUMN) and each}  # fmt: skip
    return {**{name: made[name] for name in TABLES}, "columns": columns}


def _subsets(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    for n in range(len(names) + 1):
        yield from itertools.combinations(names, n)


def _carried_by(made: Made) -> set[str]:
    """The controls that pictures of a card carry."""
    found = set()
    for each in _flat([*made.controls, *made.elements]):
        if isinstance(each, Picture) and each.carries is not None:
            found.add(each.carries.name)
    return found


def _flat(elements: Sequence[Any]) -> Iterator[Any]:
    for each in elements:
        yield from _flat(each.elements) if isinstance(each, Row) else (each,)
