"""All that lasts for a visit, in one object: the session of this app."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..reactive.session import Session, use_session
from ..reactive.session import this_session as _this_session
from ..reactive.source import source
from .control import Control, Values
from .in_class import is_near

Texts = dict[str, str]
"""Values of controls by their names, as a link says them."""


@dataclass
class LessonSession(Session):
    """What a visitor has chosen, was told, and has met; rooms above keep their `own` in it."""

    # The page that is open.
    controls: Sequence[Control] = ()
    values: Values = field(default_factory=Values)
    """Those of its controls, as they are now."""
    declared: Any = None
    """The page as its script declares it (`cards.page.Page`)."""

    # What was chosen.
    chosen: Texts = field(default_factory=dict)
    """All that differs from the example, also for other pages; empty before the first page."""
    unfit: set[str] = field(default_factory=set)
    """The names in it that do not fit on this page now: they stay, and no address says them."""
    asked: Texts = field(default_factory=dict)
    """What was asked for where other values left no room: it comes back when it fits."""
    fixed: Texts = field(default_factory=dict)
    """What a teacher's link hides or locks, with its value now, also for other pages."""
    unread: set[str] = field(default_factory=set)
    """The names in a link that no page has had a control for yet."""
    drafts: Texts = field(default_factory=dict)
    """What was typed and cannot be used."""
    problems: Texts = field(default_factory=dict)
    """Why, in words."""
    notices: list[str] = field(default_factory=list)
    """What was not applied, in words that may quote the person."""

    # The address.
    written: tuple[str, Texts] | None = None
    """The page and the parameters that the address was last given; None if a link was taken up."""
    linked: dict[str, Texts] = field(default_factory=dict)
    """The parameters of our own links, by where they stand."""
    script: str = ""
    """What Streamlit calls the page."""
    goes_back: bool = False
    """Whether the address is another step of the same page, which has not been taken up yet."""

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

    def hears(self, said: frozenset[str]) -> None:
        """Also how many of its tables are to be measured anew."""
        super().hears(said)
        is_near(said)
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


def this_session() -> LessonSession:
    """That of the visitor whose page this run draws. Raises Misdeclared while something is made for
    everybody: that reads sources.
    """
    return _this_session()


@source()
def misread(_: str) -> int:
    """How many tables the browser has drawn with letters of another size than the page's."""
    return this_session().misread
