"""The run of the whole model on the text, which all of the page waits for."""

from collections.abc import Iterator

from ...frame.models import has_changed
from ...reactive.control import Values
from ...reactive.long_run import Work, run_so_far
from .lesson import PASS, model_of, whole
from .running import passes
from .seen import Seen
from .words import of_what_is_no_number


def first_run(values: Values) -> Work:
    """The run, as far as whether all its numbers are finite."""

    def pieces() -> Iterator[tuple[float, Seen | None]]:
        for share, result in passes(whole(values)):
            if result is not None:
                of_what_is_no_number(result)  # it reads the model once more: not while it is drawn
            yield share, result

    cost = f"Your text goes through {model_of(values).settings.n_layers} layers …"
    return Work(PASS, whole(values), pieces, cost, begins=True)


def is_there(v: Values) -> bool:
    """Whether it is done, of the model as it was opened, and can be shown."""
    run = run_so_far(PASS)
    if has_changed(v.model) or run is None or run.about != whole(v) or run.result is None:
        return False
    return not of_what_is_no_number(run.result)
