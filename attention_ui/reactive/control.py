"""A control is declared once: its name, how it is read and written, its label, its start. From that
it is drawn as a plain Streamlit widget and read from a link. Knows no session and no widget.

Its name is the parameter in the address, the key of what was chosen, and the name of the argument.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .fields import Choice, Decimal
from .isolation import check_open
from .near_names import among

TYPED = ("text_input", "text_area")
"""Widgets that hold a text, whatever is made of it."""
MAX_LINK = 7_620
"""Characters of a link after its question mark; browsers and servers take 8,000 in all."""


class NoRoom(ValueError):
    """A value that others leave no room for now: it is kept, and counts when it fits again."""


Reader = Callable[[str], None]
"""Is told the name of each value that is read."""


class Values(Mapping[str, Any]):
    """Values of controls by name, or as attributes; each that is read is told to `reader`."""

    def __init__(self, values: Mapping[str, Any] = {}, reader: Reader | None = None) -> None:
        self._values, self._reader = dict(values), reader

    def __getitem__(self, name: str) -> Any:
        if self._reader is not None:
            self._reader(name)
        return self._values[name]

    def __getattr__(self, name: str) -> Any:
        if name not in self.__dict__.get("_values", ()):
            raise AttributeError(
                f"this page has no control {name!r}{among(name, self.__dict__.get('_values', ()))}"
            )
        return self[name]

    def __contains__(self, name: object) -> bool:
        return name in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def of(self, *controls: "Control") -> tuple[Any, ...]:
        """The values of some controls: what a part of a page depends on."""
        return tuple(self[each.name] for each in controls)

    def but(self, **others: Any) -> "Values":
        """The same with some other values; of those that stay, the reader is told."""
        reader = self._reader
        tell = reader and (lambda name: None if name in others else reader(name))
        return Values(self._values | others, tell)

    def read_by(self, reader: Reader) -> "Values":
        """The same, of which a reader is told what is read."""
        return Values(self._values, reader)

    def until(self, is_made: Callable[[], bool]) -> "Values":
        """The same, whose reader is told only until something is made of them. What was made may
        look at them later, when its visitor has gone to another page: that counts for nothing.
        """
        reader = self._reader
        return Values(self._values, reader and (lambda name: None if is_made() else reader(name)))

    def unread(self, name: str) -> Any:
        """A value for one who shows it to nobody; no reader is told. Raises Misdeclared while
        something is made for everybody.
        """
        if self._reader is not None:
            check_open()
        return self._values[name]

    def now(self, name: str) -> Any:
        """A value for the source of it, which tracks it; no reader is told."""
        return self._values[name]

    def changed(self, before: "Values") -> set[str]:
        """The names of what is another value than before; no reader is told. Raises
        Misdeclared while something is made for everybody.
        """
        if self._reader is not None:
            check_open()
        had = before._values
        return {name for name, value in self._values.items() if had.get(name) != value}


Texts = dict[str, str]
"""Values of controls by their names, as a link says them."""
Start = Any | Callable[[Values], Any]


@dataclass(frozen=True)
class Control:
    """All that is known of a control, whatever its value is.

    `start`, `options` and `check` may look at the values of the controls declared before it, such
    as a preset's own numbers.
    """

    name: str
    field: Any
    """How its value is read from a link's text, or refused by a ValueError, and written as one."""
    label: str = ""
    """What a person calls it, also away from its card; "" where nothing draws it."""
    start: Start = None
    """Its value until another is chosen."""
    widget: str = ""
    """Streamlit's name for it; "" for the one that its field is set by."""
    hint: str = ""
    """What stands after the label, in parentheses, where it is typed."""
    options: Callable[[Values], Mapping[Any, str]] | None = None
    """What can be chosen beside the other values, and how it is written."""
    check: Callable[[Any, Values], str | None] | None = None
    """What stops a value from being used beside the others, in words; None for nothing."""
    fits: Callable[[Any, Values], tuple[Any, str]] | None = None
    """What is used where a value does not fit the others, and why; what was asked for is kept."""
    undoes: tuple[str, ...] = ()
    """What belongs to the old value alone: numbers typed into a table that another one makes."""
    is_preset: bool = False
    """Whether the others start by it: another value takes back what was chosen, but what stays."""
    stays: bool = False
    """Whether another preset leaves it as it is."""
    of_page: bool = False
    """Whether it is left behind when another page is opened."""
    changes: str = ""
    """What its value only edits, piece by piece, such as a step's cells: for the app to read."""
    shown: str = "{:,g}"
    """How a stop of its slider is written."""
    look: Mapping[str, Any] = field(default_factory=dict)
    """What else its widget is given, such as its `step`."""

    @property
    def made_by(self) -> tuple:
        """The functions by which it depends on others."""
        return self.start, self.options, self.check, self.fits

    def setting(self, value: Any) -> dict[str, Any]:
        """The values to choose, by the names of controls, so that it stands at this value."""
        return {self.name: value}

    def at(self, **look: Any) -> "Placed":
        """The control where it stands among others, with how it looks there."""
        return Placed(self, look)

    def starts(self, values: Values) -> Any:
        return self.start(values) if callable(self.start) else self.start

    def choices(self, values: Values) -> Mapping[Any, str]:
        """What can be chosen; nothing where any number in bounds can be."""
        if self.options:
            return self.options(values)
        options = getattr(self.field, "options", {})
        if isinstance(self.field, Choice):
            return options
        return {value: self.shown.format(value) for value in options}

    @property
    def drawn_as(self) -> str:
        """The widget."""
        if self.widget or not self.options:
            return self.widget or getattr(self.field, "widget", "text_input")
        return "selectbox"

    @property
    def bounds(self) -> dict[str, Any]:
        """What a slider is given."""
        number = float if isinstance(self.field, Decimal) else int
        return {"min_value": number(self.field.least), "max_value": number(self.field.most)}

    def read(self, text: str, values: Values) -> Any:
        """The value that a text stands for. Raises ValueError with the reason."""
        value = self.field.read(text)
        if self.options and not self.fits and value not in (choices := self.options(values)):
            words = [*choices.values()]
            some = ", ".join(words) if len(words) < 6 else f"{words[0]} to {words[-1]}"
            raise NoRoom(f"here it can be {some}")
        if self.check and (problem := self.check(value, values)):
            raise ValueError(problem)
        return value


@dataclass(frozen=True)
class Placed:
    """A control where it stands, with how it looks there."""

    control: Control
    look: Mapping[str, Any] = field(default_factory=dict)


Understood = tuple[Values, dict[str, ValueError]]
"""What texts stand for, and for each that is not used why."""


def understood(texts: Mapping[str, str], controls: Sequence[Control]) -> Understood:
    """The values that texts stand for, and for each that is not used why: its start counts."""
    values: dict[str, Any] = {}
    wrong = {}
    for each in controls:
        so_far = Values(values)
        try:
            is_asked = each.name in texts
            value = each.read(texts[each.name], so_far) if is_asked else each.starts(so_far)
        except ValueError as error:
            wrong[each.name], value = error, each.starts(so_far)
        values[each.name] = value
        if each.fits:
            values[each.name], _ = each.fits(values[each.name], so_far)
    return Values(values), wrong


def fitted(
    texts: Mapping[str, str], controls: Sequence[Control], known: Understood | None = None
) -> dict[str, tuple[str, str]]:
    """Controls whose values others took along, by name: the text asked for, and why not it. What
    the texts stand for may be `known`.
    """
    values, wrong = known or understood(texts, controls)
    found = {}
    for each in controls:
        if each.fits:
            is_asked = each.name in texts and each.name not in wrong
            asked = each.field.read(texts[each.name]) if is_asked else each.starts(values)
            if why := each.fits(asked, values)[1]:
                found[each.name] = (each.field.write(asked), why)
    return found


def written(
    texts: Mapping[str, str], controls: Sequence[Control], known: Understood | None = None
) -> dict[str, str]:
    """The same texts as short as they can be: without what starts so anyway."""
    values, wrong = known or understood(texts, controls)
    kept = dict(texts)
    for each in controls:
        if each.name in wrong or each.is_preset:
            continue
        if each.name in texts or each.fits:
            if values[each.name] == each.starts(values):
                kept.pop(each.name, None)
            else:
                kept[each.name] = each.field.write(values[each.name])
    return kept


def after_preset(
    texts: Mapping[str, str],
    preset: Mapping[str, str],
    controls: Sequence[Control],
    fixed: Collection[str],
) -> dict[str, str]:
    """What is chosen with another preset: its own, what stays in any case, and what is fixed."""
    stays = {each.name for each in controls if each.stays} | {*fixed}
    return {**preset, **{n: text for n, text in texts.items() if n in stays and n not in preset}}
