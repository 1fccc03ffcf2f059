"""What every lesson begins and ends with, so that a learner knows where things are."""

from .frame import close_lesson
from .pinning import compare
from .proof import proof
from .show import cell_notice
from .takeaway import take_away
from .view import View


def begin(view: View, *others: View) -> None:
    """Below the title: what the link could not open, and what changed since a pin.

    `others` are further traces that the page shows, such as an experiment's.
    """
    cell_notice(view, *others)
    compare(view)


def finish(view: View, *others: View) -> None:
    """The published numbers, what to take along, and the way to the next lesson."""
    proof(view, *others)
    take_away(view)
    close_lesson(view.page)
