"""A lesson as a list of what is on its page, so that only what has changed is drawn again.

A lesson is a function that puts headings, words, controls and parts on a `Page`. It runs to draw
the page, and again, without drawing, when a setting has changed, to find out what the page would
be now. Where the layout is the same, only the parts that changed are drawn again, those in sight
first; otherwise the whole page is.
"""

import threading
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from attention_core.trace import Step

from ..cards.questions import Question
from ..picture.equation_parts import laid_out
from ..picture.matrix import Matrix
from ..predict.panel import cover_by, covered, is_answered, panel
from ..settings import session
from ..settings.settings import Settings
from ..shell.frame import LINE, open_lesson, show_outline
from ..shell.glossary import meanings, terms_in
from ..streamlit_workarounds import visible_parts
from ..streamlit_workarounds.finished_parts import keep_what_has_finished
from ..streamlit_workarounds.parts_alone import named_part, requested_page, run_alone
from ..widgets.long_run import stop_all
from .equation import draw_equation
from .show import formulas, light, note
from .view import View

Lesson = Callable[["Page"], None]
keep_what_has_finished()
_CONTROLS = "controls_"
_ONE_AT_A_TIME = threading.Lock()
"""Held while a whole page is drawn. Several drawn at the same time would all be late, and would
slow down every slider meanwhile."""
PATIENCE = 20.0
"""The longest that a page waits for its turn, in seconds."""
FIRST_EQUATIONS = 2
"""How many equations are drawn first, on a page that was opened from another lesson."""


@dataclass(frozen=True)
class Part:
    """What can be drawn again by itself. `about` is all that its picture depends on; None if that
    is not known, and then it is drawn again at every change.
    """

    draw: Callable[[], None]
    about: Hashable = None
    is_equation: bool = False


class Page:
    """Everything that a lesson has put on its page, in order."""

    def __init__(self, view: View, draws: bool) -> None:
        self.view = view
        self._draws = draws
        self._standing: list[tuple[Hashable, ...]] = []
        self.parts: dict[str, Part] = {}
        self.stale: dict[str, None] = {}
        """Parts whose picture is out of date, in page order."""
        self._drawn: set[str] = set()
        """The steps that equations so far are known to draw."""
        self.outline: list[tuple[str, str]] = []
        """Words and anchor of each heading that is not folded away."""
        self._where = "the question above"
        """Where on the page a question is that is asked now."""
        self._above: tuple[str, ...] = ()
        """The steps of the last equation of this section."""
        self._n_folds = 0
        self._terms: set[str] = set()
        """The words of the glossary that stand above."""

    @contextmanager
    def deeper(self, words: str) -> Iterator[None]:
        """What goes beyond the point of the lesson, folded away, after `words` on what is in it.
        It is open where the link's cell belongs to none of the equations above.
        """
        settings = self.view.settings
        chosen = {step for step, _ in (settings.cell or ())[:1]}
        is_named = settings.beat if settings.cell else ""
        cell_is_above = settings.beat in self.parts if is_named else chosen <= self._drawn
        label, look = f"**Go deeper**: {words}", {"icon": ":material/stairs:"}
        with self.folded(label, "deeper", expanded=not cell_is_above, **look):
            yield

    @contextmanager
    def folded(self, label: str, key: str, **look: Any) -> Iterator[None]:
        """What is folded away below a label of ours."""
        self._standing.append(("folded", label))
        self._n_folds += 1
        is_drawn = self._draws and not self.view.settings.only
        with st.expander(label, key=key, **look) if is_drawn else nullcontext():
            yield
        self._n_folds -= 1

    def heading(self, anchor: str) -> str:
        """The words of the heading so far that has this anchor; raises KeyError for none."""
        return {each[2]: each[1] for each in self._standing if each[0] == "header"}[anchor]

    def header(self, words: str, anchor: str) -> None:
        """A heading with an anchor for links."""
        self._where = f"the question under [{words}](#{anchor})"
        self._above = ()
        if not self._n_folds:
            self.outline.append((words, anchor))
        self._stand(("header", words, anchor), lambda: st.header(words, anchor=anchor))

    def words(self, words: str, caption: bool = False) -> None:
        """A paragraph of ours; never a visitor's text, which could hold Markdown."""
        told = self._told(words)
        self._stand(("words", words), lambda: narrow(words, caption, told))

    def changing(self, words: str, shows: Sequence[str] = ()) -> None:
        """A paragraph of ours with numbers that change; nothing for ''."""
        told = self._told(words)
        self._saying(partial(narrow, told=told), words, shows, told)

    def _told(self, words: str) -> str | None:
        """What the terms mean that stand here for the first time on the page; None for none."""
        if "glossary" in self.view.settings.hide:
            return None
        new = [term for term in terms_in(words) if term.word not in self._terms]
        self._terms.update(term.word for term in new)
        return meanings(new) or None

    def formulas(self, *each: str, shows: Sequence[str] = ()) -> None:
        """Formulas beside each other."""
        self.part(f"formulas_{len(self.parts)}", lambda: formulas(*each), about=each, shows=shows)

    def controls(self, draw: Callable[[], Any], *about: Hashable) -> None:
        """Controls of settings. `about` is all that decides which there are and what they offer."""
        self._place(f"{_CONTROLS}{len(self.parts)}", Part(draw, about))

    def light(self, good: bool, words: str, shows: Sequence[str] = ()) -> None:
        """A check with its result as a coloured sign and in words, on what it `shows` and on the
        equation above it: it proves nothing of numbers that are covered, and waits for them.
        """
        self._saying(partial(light, good), words, (*self._above, *shows))

    def note(self, words: str, shows: Sequence[str] = ()) -> None:
        """Something to notice; nothing for ''."""
        self._saying(note, words, shows)

    def _saying(
        self,
        draw: Callable[[str], None],
        words: str,
        shows: Sequence[str] = (),
        told: str | None = None,
    ) -> None:
        # The part is placed even without words: when they appear or vanish, the page keeps its
        # layout. Words that would answer an open question are left out.
        if self.view.covers_of(shows):
            words = ""
        about = words, told
        self.part(f"words_{len(self.parts)}", lambda: draw(words) if words else None, about)

    def beat(self, name: str, heading: str, words: str, *parts: Step | Matrix | str) -> None:
        """A heading, what to look for, and the equation. `name` is the anchor of both."""
        self.header(heading, name)
        self.words(words)
        self.equation(name, *parts)

    def equation(self, name: str, *parts: Step | Matrix | str, **options: Any) -> None:
        """An equation, and the arithmetic of a cell below it: see `draw_equation`."""
        view, parts = self.view, laid_out(parts)
        self._above = tuple(each.step.name for each in parts if isinstance(each, Matrix))
        self._drawn.update(self._above)
        about = None if options.keys() & {"build", "below"} else depends_on(view, parts)
        draw = partial(draw_equation, view, name, *parts, **options)
        self._place(name, Part(draw, about, is_equation=True))

    def ask(
        self,
        name: str,
        question: Question | None,
        covers: Sequence[str] = (),
        about: Sequence[str] = (),
    ) -> None:
        """Ask, unless there is nothing to ask. Until it is answered, pictures further down that
        show what the question `covers` are drawn without their numbers. `covers` names steps, or
        whatever else parts name in `shows`.

        A guess counts only for the numbers that these steps, and those of `about`, have now.
        """
        view = self.view
        if question is None or not view.settings.predict or view.settings.only:
            return
        chosen = view.settings.cell[-1][0] if view.settings.cell else ""
        told = view.revealed_by(chosen) if chosen in view.trace else ()
        cover = cover_by(view, name, question, (*covers, *about), self._where)
        if not is_answered(cover, question) and not {*told} & {*covers}:
            for each in covers:
                view.covered[each] = (*view.covered.get(each, ()), cover)
        self.part(f"predict_{name}", lambda: panel(question, cover))

    def part(
        self,
        name: str,
        draw: Callable[[], None],
        about: Hashable = None,
        shows: Sequence[str] = (),
    ) -> None:
        """A part with numbers in it, which can be drawn again by itself: when one of its own
        controls moves, or one of the page that changes no words of the page. While a question
        covers what it `shows`, a button to uncover it is drawn instead.
        """
        covers = self.view.covers_of(shows)
        if covers:
            draw, about = partial(covered, name, covers, self._where), covers
        self._place(name, Part(draw, about))

    def _place(self, name: str, part: Part) -> None:
        if self.view.settings.only not in ("", name):
            return
        self.parts[name] = part

        def place() -> None:
            self.stale[name] = None  # until it is drawn: the run may be interrupted before that
            with st.container(key=f"part_{name}"):
                named_part(_key(name))(_draw)(self.view.page, name)

        self._stand(("part", name), place)

    def _stand(self, what: tuple[Hashable, ...], draw: Callable[[], Any]) -> None:
        self._standing.append(what)
        if self._draws and (what[0] == "part" or not self.view.settings.only):
            draw()

    def has_layout_of(self, other: "Page") -> bool:
        """Whether both pages have the same headings, words and parts in the same order, so that
        they can differ only in what the parts show.
        """
        return self._standing == other._standing

    def changed_parts(self, before: "Page") -> Iterable[str]:
        """The parts whose picture has changed, or was out of date already."""
        for name, part in self.parts.items():
            same = part.about is not None and part.about == before.parts[name].about
            if not same or name in before.stale:
                yield name


def depends_on(view: View, parts: Sequence[Matrix | str]) -> Hashable:
    """All that an equation's picture, and the arithmetic below it, depend on."""
    names = [each.step.name for each in parts if isinstance(each, Matrix)]
    names += [step for step, _ in view.trail]
    axes = {axis for name in names for axis in view.trace[name].axes}
    labels = {axis: tuple(view.trace.labels(axis)) for axis in sorted(axes)}
    drawn = [each.look if isinstance(each, Matrix) else each for each in parts]
    drawn += [view.covered.get(name) for name in names]
    shown = (*drawn, *labels.items(), view.trail, view.all_match, view.settings.example)
    return shown, view.fingerprint(dict.fromkeys(names))


class LessonOnScreen:
    """The lesson that a session has on its screen, and how to draw it again in part."""

    def __init__(self, view_of: Callable[[Settings], View], lesson: Lesson) -> None:
        self._view_of = view_of
        self._lesson = lesson
        self.page: Page
        self._where = requested_page()
        self._first_screen = False
        self.wait = visible_parts.REST

    def draw(self, settings: Settings) -> None:
        """Draw the whole page. Where the visitor came from another page, draw only the first screen
        and empty places for the rest, which follows when the browser reports what is in sight.
        """
        self.page = Page(self._view_of(settings), draws=True)
        has_watcher = session.has_come_from_another() and visible_parts.browser_reports()
        self._first_screen = has_watcher and settings.cell is None
        self.wait = visible_parts.SOON if self._first_screen else visible_parts.REST
        try:
            self._lesson(self.page)
        finally:  # also where the run is interrupted
            self._first_screen = False
        if settings.only and not self.page.parts:
            st.text(f"This page has no picture called “{settings.only}”.")

    def redraw(self, settings: Settings, controls: bool = False) -> None:
        """From a callback: run only the parts that these settings change, those in sight first.
        `controls` draws all controls again too. Does nothing where the whole page has to run.
        """
        in_sight = visible_parts.parts_in_sight()
        if not in_sight or requested_page() != self._where:
            return
        fresh = Page(self._view_of(settings), draws=False)
        fresh.view.said = self.page.view.said
        self._lesson(fresh)
        if not fresh.has_layout_of(self.page):
            return
        fresh.stale = dict.fromkeys(fresh.changed_parts(self.page))
        self.page = fresh
        self.wait = visible_parts.REST
        first = [name for name in fresh.stale if name in in_sight]
        frame = [session.BACK]
        if controls:
            first += [name for name in fresh.parts if name.startswith(_CONTROLS)]
            frame = [session.CONTROLS]
        run_alone([*map(_key, dict.fromkeys(first)), *frame, visible_parts.KEY])

    def rest(self) -> Iterable[str]:
        """The parts that are still to be drawn."""
        return self.page.stale

    def draw_rest(self, in_sight: set[str] | None = None) -> None:
        """From a callback: run the parts that are out of date; if given, only those `in_sight`."""
        late = [name for name in self.page.stale if in_sight is None or name in in_sight]
        if late and requested_page() == self._where:
            run_alone([*map(_key, late), session.CONTENTS, visible_parts.KEY])
            session.run_whole_page()

    def draw_part(self, name: str) -> None:
        """Draw one part, unless it lies below the first screen and is left for later."""
        if self._first_screen and self._is_below(name):
            return
        try:
            self.page.parts[name].draw()
        except Exception:  # the page shows it now; drawn again, it would only be raised again
            self.page.stale.pop(name, None)
            raise
        self.page.stale.pop(name, None)

    def _is_below(self, name: str) -> bool:
        equations = [each for each, part in self.page.parts.items() if part.is_equation]
        return len(equations) >= FIRST_EQUATIONS and name not in equations[:FIRST_EQUATIONS]


def open_on(name: str, view_of: Callable[[Settings], View], lesson: Lesson) -> None:
    """Draw a lesson, and keep it so that a changed setting redraws only what it changes."""
    place = visible_parts.place()
    settings, beside_title = open_lesson(name)
    if session.has_come_from_another():
        stop_all()
    shown = st.session_state[session.SHOWN] = LessonOnScreen(view_of, lesson)
    with _turn():
        shown.draw(settings)
    if not settings.only:
        with beside_title:
            show_outline(shown.page.outline)
    with place:
        visible_parts.watch(shown)


@contextmanager
def _turn() -> Iterator[None]:
    """Wait until no other whole page is being drawn, but not for ever: one may hang."""
    is_mine = _ONE_AT_A_TIME.acquire(timeout=PATIENCE)
    try:
        yield
    finally:
        if is_mine:
            _ONE_AT_A_TIME.release()


def _key(name: str) -> str:
    return f"part_{name}"


def _draw(page_name: str, name: str) -> None:
    if session.wants_whole_page():
        st.rerun()
    session.save(page_name)
    st.session_state[session.SHOWN].draw_part(name)


def narrow(words: str, caption: bool = False, told: str | None = None) -> None:
    """Words in lines that are not too long to be read; `told` opens from a sign beside them."""
    (st.caption if caption else st.markdown)(words, width=LINE, help=told)
