"""All that lasts for a visit, in one object: the session of this app."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from attention_core.text.tokenizers import clean

from ..reactive.control import Texts
from ..reactive.session import Session, use_session
from ..reactive.session import this_session as _this_session
from ..reactive.source import source
from .in_class import tell_near
from .shared import EXAMPLE, FIRST


@dataclass
class LessonSession(Session):
    """What a visitor has chosen, was told, and has met; rooms above keep their `own` in it."""

    first: ClassVar[Mapping[str, str]] = {EXAMPLE.name: FIRST}
    instead: ClassVar[str] = "The example’s own is used."
    shorten: ClassVar[str] = "Shorten the text, take typed numbers back, or unpin."

    # The page as it is drawn.
    misread: int = 0
    """How many tables had letters of another size than the page, by the time they were built."""
    in_card: str = ""
    """The title of the card that is being drawn."""
    cards: Texts = field(default_factory=dict)
    """The titles of the cards that were met, by their names."""
    cards_before: list[str] = field(default_factory=list)
    """The names of those that stood here when this page was drawn last."""
    covering: dict[str, tuple[str, frozenset[str]]] = field(default_factory=dict)
    """For each question that was met, the title of its card and the steps that it covers now."""
    cells: list[tuple[str, bool, bool]] = field(default_factory=list)
    """For each picture: whether its trace has the cell of the link, and whether it is open."""
    pictures: dict[str, Any] = field(default_factory=dict)
    """What each picture was drawn from, which a click or a move in it needs (`cards.show`)."""

    def names_in(self, name: str) -> list[str]:
        """The names in `hide` or `lock`: what a teacher's link hides, and what it locks."""
        return [each for each in self.chosen_here().get(name, "").split(",") if each]

    def fixes(self) -> frozenset[str]:
        """What a teacher's link hides or locks."""
        return frozenset((*self.hidden(), *self.locked()))

    def hidden(self) -> list[str]:
        """What a teacher's link hides."""
        return self.names_in("hide")

    def locked(self) -> list[str]:
        """What it locks."""
        return self.names_in("lock")

    def is_printed(self) -> bool:
        """A hand-out."""
        return self.values.paper

    def is_all_at_once(self) -> bool:
        """Also a card that stands alone."""
        return bool(self.values.card or self.values.paper)

    def says_undone(self, names: Iterable[str]) -> list[str]:
        """Only of typed numbers: that others go can be seen."""
        if any(name.endswith("edits") for name in names):
            return ["The table has changed, so the numbers you changed in it were removed."]
        return []

    def cleaned(self, text: str) -> str:
        """Also without signs that show nothing."""
        return clean(text)[0]

    def hears(self, said: frozenset[str]) -> None:
        """Also how many of its tables are to be measured anew."""
        super().hears(said)
        tell_near(said)
        tables = (each.removeprefix("tables_") for each in said if each.startswith("tables_"))
        self.misread = int(next(tables, "0"))

    def asking(self) -> list[str]:
        """The cards whose question need not be answered."""
        return [*self.declared.waits_for_guess()] if self.declared else []

    def stands_open(self) -> list[str]:
        """The cards whose question was answered, or gone on from."""
        return self.declared.stands_open() if self.declared else []

    def goes_past(self, fragments: list[str]) -> None:
        """What these ask for stands uncovered from now on."""
        if self.declared:
            self.declared.went_on(fragments)

    def opens_page(self, is_same: bool) -> None:
        """At the top of a page: nothing of it has been met yet."""
        self.cards_before = [*self.cards] if is_same else []
        self.cells, self.cards, self.covering = [], {}, {}
        self.in_card = ""
        if not is_same:  # else a callback may need them at any moment of this run
            self.pictures, self.declared = {}, None

    def waited_for(self, steps: Iterable[str]) -> list[str]:
        """The titles of cards whose question comes first, for a picture covering these steps."""
        covering = [(card, covers) for card, covers in self.covering.values() if covers]
        titles: list[str] = []
        for name in steps if covering else ():
            titles += [card for card, covers in covering if name in covers] or [covering[-1][0]]
        return [card for card in dict.fromkeys(titles) if card != self.in_card]

    def is_open_elsewhere(self, card: str) -> bool:
        """Whether the cell of the link is open in another picture that was met."""
        return any(opens and other != card for other, _, opens in self.cells)


use_session(LessonSession)


this_session: Callable[[], LessonSession] = _this_session
"""That of the visitor whose page this run draws. Raises Misdeclared while something is made for
everybody: that reads sources.
"""


@source()
def misread(_: str) -> int:
    """How many tables the browser has drawn with letters of another size than the page's."""
    return this_session().misread
