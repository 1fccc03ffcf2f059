"""A lesson's own questions, asked again away from its page, of another sentence's numbers."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from ..controls.shared import AROUND
from ..frame.ends import Answer
from ..picture.layout import Layout
from ..picture.matrix import Matrix
from ..reactive.control import understood
from ..reactive.page import given, only_declared
from .elements import equation
from .page import Page, offers
from .question import fingerprint_of
from .questions import Question

TALL = 180
"""Pixels: so that a question stands below its picture within a screen."""


@dataclass(frozen=True, eq=False)
class Again:
    """A question that comes back, with what has to be seen to answer it."""

    asked: Question | Answer
    seen: Layout | None = None
    fingerprint: int = 0


def declared(script: Path) -> Page:
    """The page of a lesson as its script declares it, and shows it to nobody."""
    return _declared(script, script.stat().st_mtime_ns)


@lru_cache(maxsize=64)
def _declared(script: Path, _: int) -> Page:
    spec = spec_from_file_location(f"declared_{script.stem}", script)
    module = module_from_spec(spec)
    with only_declared():
        spec.loader.exec_module(module)
    return module.page


def asked_again(page: Page, chosen: Mapping[str, str]) -> list[Again]:
    """A page's questions that can be asked anywhere, with `chosen` values of its controls."""
    if page.gate:
        return []
    controls = (*page.controls, *AROUND)
    ours = {each.name for each in controls}
    values, _ = understood({n: text for n, text in chosen.items() if n in ours}, controls)
    trace = page.trace_of(values)

    def made(of):
        return given(of, offers(lambda: trace, lambda: values))

    found = []
    for one in page.asks:
        if one.again is not None and (asked := made(one.make)):
            steps = [Matrix(trace[name]) for name in one.again]
            seen = equation(trace, *steps, tall=TALL) if steps else None
            about = [trace[name] for name in one.about if name in trace]
            found.append(Again(asked, seen, fingerprint_of(about, asked.only_shapes)))
    return found + [Again(one) for one in map(made, page.closing_again) if one]
