"""What every lesson begins and ends with, so that a learner knows where things are."""

from ..shell.frame import close_lesson
from .notebook_checks import proof
from .page import Page
from .show import cell_notice
from .since_the_pin import compare
from .take_away import take_away
from .view import View


def begin(page: Page, *others: View) -> None:
    """Below the title: what the link could not open, and what changed since a pin.

    `others` are further traces that the page shows, such as an experiment's.
    """

    view = page.view

    def draw() -> None:
        cell_notice(view, *others)
        compare(view)

    if view.settings.pin or any(each.lost_cell for each in (view, *others)):
        page.part("begin", draw)


def finish(page: Page, *others: View) -> None:
    """The published numbers, what to take along, and the way to the next lesson."""
    view = page.view
    page.part("proof", lambda: proof(view, *others))
    if "take_away" not in view.settings.hide:
        page.part("take_away", lambda: take_away(view), about=view.fingerprint(view.trace))
    page.part("way", lambda: close_lesson(view.page))
