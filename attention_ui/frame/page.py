"""What stands around a page: head, sidebar, notices, and the way to the next lesson."""

from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import groupby
from typing import Any

import streamlit as st

from attention_core.small_models.grammar import LONGEST, WORDS
from attention_core.text.tokenizers import TOKENIZERS

from ..controls import in_class, session
from ..controls.fields import MAX_TOKENS
from ..controls.lesson_session import this_session
from ..controls.shared import (
    AROUND,
    D_IN,
    DROP_BLANKS,
    EXAMPLE,
    FIRST,
    LARGE,
    MAX_SEED,
    PREDICT,
    SEED,
    SENTENCE,
    example_of,
    inputs_of,
    random_fallback_notice,
)
from ..reactive import settings
from ..reactive.control import Control, Values
from ..reactive.fragments import event, fragment
from ..reactive.isolation import Misdeclared
from ..reactive.long_run import stop_all
from ..reactive.source import source, untracked
from ..reactive.widget import control
from ..streamlit_workarounds import style
from ..streamlit_workarounds.reconnect import run_again_when_back
from ..streamlit_workarounds.sideways import listen_for_arrow_keys, reach_by_keyboard
from . import hand_out
from .basics import ICON, SPREAD, show_notices, takes, warm_up
from .contents import AT_A_GLANCE, FIRST_CHECKED, HOME, LESSONS, SECTIONS, WAY, Lesson, lesson
from .glossary import Term, meanings, terms_in, title_and_glossary
from .lesson_modules import controls_of, fixed_now, known_among
from .share import share
from .spaced_repetition import ComingBack, put_browser
from .started import SMOL, real_model
from .tasks import show_tasks

WIDE_LINE = 880
"""Pixels: of the question that a lesson answers, which is one sentence or two."""


def open_page(name: str, controls: Sequence[Control], sidebar: Sequence[Control] = ()) -> Values:
    """The first call of every page. Returns the values of its controls; `sidebar` are those that
    stand beside the sentence. A page without a sentence has none of them there.
    """
    warm_up()
    here = lesson(name)
    if settings.is_left(name):
        stop_all()
    around = (*controls, *AROUND)
    ours = {each.name for each in around}
    settings.arrive(name, around, known_among({*st.query_params} - ours))
    _check_fixed_names()
    in_class.arrive()
    values = settings.values()
    this_session().fixed = fixed_now(around)
    is_calm = values.large or st.context.is_embedded
    st.set_page_config(
        page_title=here.title if here is HOME else f"{here.title} · {HOME.title}",
        page_icon=ICON,
        layout="wide",
        initial_sidebar_state="collapsed" if is_calm else style.SIDEBAR_WIDTH,
    )
    st.html(style.STYLE)
    st.html(style.CARDS)
    st.html(style.ON_PAPER)
    if st.context.theme.type == "dark":
        st.html(style.DARK_ON_PAPER)
    if values.card:
        st.html(style.ALONE)
    if values.paper:
        st.html(style.HAND_OUT)
        hand_out.begin()
    if values.large:
        st.html(style.LARGE)
    with st.sidebar, st.container(gap="xsmall"):
        title_and_glossary()
        # Its links carry what was chosen: for another tab, they follow when nothing else runs.
        fragment("contents", lambda: _contents(name, settings.values()), waits=True)
        if SENTENCE.name in values:
            fragment("sentence", lambda: _beside_the_sentence(settings.values(), sidebar))
        with st.container(key="way_back"):
            fragment("way_back", _way_back)
        run_again_when_back()
        reach_by_keyboard()
        if values.large:  # last: nothing on the page may stand in another place for it
            listen_for_arrow_keys()
    return values


def _way_back() -> None:
    """A part of its own: the first change brings it, and no more."""
    if settings.differs():
        back = "Back to the example" if SENTENCE.name in settings.values() else "Back to the start"
        st.button(back, on_click=_go_back, icon=":material/undo:", key="back_to_start")


@event()
def _go_back() -> None:
    settings.reset()


def _check_fixed_names() -> None:
    """A teacher's slip in what a link hides or locks would fix nothing, without a word."""
    for name in ("hide", "lock"):
        given = {*session.names_in(name)} - SECTIONS.keys()
        if unknown := given - known_among(given):
            settings.leave_out(name, unknown)


def open_lesson(name: str, controls: Sequence[Control], sidebar: Sequence[Control] = ()) -> Values:
    """Open a page that is a lesson: its title, the question it answers, and one quiet line."""
    values = open_page(name, controls, sidebar)
    if values.card:
        show_what_differs()
        return values
    here = lesson(name)
    fragment("head", lambda: _head(here))
    show_what_differs()
    if values.paper:
        hand_out.tasks()
    else:
        show_tasks()
    return values


def _head(here: Lesson) -> None:
    values = settings.values()
    with st.container(key="head", gap="xsmall"):
        with st.container(**SPREAD):
            st.title(here.title, anchor=False, width="content")
            _quiet_line(values)
        st.markdown(
            f"{hand_out.printed(here.idea)} {takes(here)}".strip(),
            width=WIDE_LINE,
            help=explained(here.idea),
        )
    if values.paper and SENTENCE.name in values:
        st.text(f"Sentence: {values.sentence}")


def show_what_differs() -> None:
    """Above a page's first picture: what could not be used, and what is drawn instead."""
    fragment("notices", lambda: show_notices(_drawn_instead()))


@source()
def _drawn_instead(_: str) -> str | None:
    """What is said of random numbers in place of what the example has."""
    with untracked():
        values = settings.values()
        return random_fallback_notice(values) if SENTENCE.name in values else None


def explained(words: str, above: Collection[Term] = ()) -> str | None:
    """What the terms mean that stand here, but for those explained `above`; None for none."""
    if "glossary" in session.names_in("hide"):
        return None
    return meanings([term for term in terms_in(words) if term not in above]) or None


def _quiet_line(values: Values) -> None:
    """What concerns the whole page and no card of it."""
    with st.container(
        horizontal=True, vertical_alignment="center", width="content", gap="small", key="quiet"
    ):
        control(PREDICT)
        if "pin" not in values.hide and SENTENCE.name in values:
            st.button(
                "Unpin" if values.pin else "Pin and compare",
                key="pin",
                type="tertiary",
                icon=":material/keep:",
                on_click=_pin,
                help="Keep these numbers, then change something: the page shows what it changes.",
            )
        if "share" not in values.hide:
            share()
        control(LARGE)


@event()
def _pin() -> None:
    settings.change(pin="" if settings.values().pin else session.pin_text())


def _contents(name: str, values: Values) -> None:
    """Our own contents; Streamlit's would show file names on a cold deep link."""
    settings.all_chosen()
    query = settings.link_query("contents")
    if "contents" in values.hide:
        return
    here = lesson(name)
    opened = FIRST_CHECKED.group if here in (HOME, AT_A_GLANCE) else here.group
    with st.container(gap="xxsmall", key="contents"):
        link(HOME, query, "Home")
        st.caption(" → ".join(["a text", *(becomes for becomes, _ in WAY)]))
        for group, pages in groupby(LESSONS, lambda page: page.group):
            is_first = group == AT_A_GLANCE.group
            fold = nullcontext() if is_first else _group(group, group == opened)
            with fold, st.container(gap="xxsmall"):
                for page in pages:
                    called = page.title
                    link(page, query, f"{called} ✓" if page.name in values.done else called)


class OpenedGroups(set[str]):
    """The groups of the contents that the visitor has opened: they stay open on other pages."""


def _group(group: str, is_here: bool) -> AbstractContextManager[Any]:
    """A group of the contents, open where the page `is_here` or the visitor has opened it."""
    kept = this_session().own(OpenedGroups)
    is_open = is_here or group in kept
    fold = st.expander(group, expanded=is_open, key=f"group_{group}", on_change="rerun")
    if fold.open != is_open:
        (kept.add if fold.open else kept.discard)(group)
    return fold


def link(page: Lesson, query: dict[str, str], label: str | None = None, **look: Any) -> None:
    """A link to a lesson, with all that it can use of what was chosen."""
    look = {"icon": page.icon, **look}
    st.page_link(page.page, label=label or page.title, query_params=query, **look)


def way_to(name: str, label: str, **at: str) -> None:
    """A link from a card to another lesson, with what was chosen, and `at` other values. Raises
    Misdeclared for one that the lesson has no control for.
    """
    if at and (unknown := at.keys() - {each.name for each in controls_of(name)}):
        raise Misdeclared(
            f"the link {label!r} to {name} sets {', '.join(sorted(unknown))}, for which that "
            "lesson has no control"
        )
    link(lesson(name), {**settings.link_query(f"way_to_{name}"), **at}, label)


def way_to_a_real_model(label: str, measure: str, text: str = "") -> None:
    """A link to the heads of a real model that score high by `measure`, on a `text` that shows it;
    nothing where no model is there that reads any text.
    """
    at = {"measure": measure}
    if text and real_model() == SMOL:
        at |= {"model": SMOL, "prompt": text}
    way_to("real_model", label, **at)


def way_to_the_lessons(text: str) -> None:
    """A link from a text to the lessons, with vectors made to be read; none if it is too long."""
    if (
        "contents" in session.names_in("hide")
        or not 0 < len(TOKENIZERS["text"].split(text)) <= MAX_TOKENS
    ):
        return
    kept = {name: each for name, each in settings.link_query("text").items()
            if name not in SENTENCE.undoes}  # fmt: skip
    example = {} if EXAMPLE.name in settings.fixed() else {EXAMPLE.name: FIRST}
    label = f"See it, number by number, in *{AT_A_GLANCE.title}*"
    link(AT_A_GLANCE, {**kept, **example, SENTENCE.name: text}, label)


@source()
def _of_inputs(what: str) -> bool:
    """What decides which controls stand beside the sentence: most moves leave it as it is."""
    with untracked():
        inputs = inputs_of(settings.values())
        if what == "are given":
            return inputs.has_given_vectors()
        return any(map(str.isspace, inputs.tokens))


def _beside_the_sentence(values: Values, more: Sequence[Control]) -> None:
    """What counts on this page; nothing of a sentence where the visitor has none here."""
    example = example_of(values)
    with st.container(gap="xxsmall"):
        control(EXAMPLE)
        if values.sentence != example.inputs.sentence and "example" not in values.hide:
            st.caption("The text is your own. What you have not changed is this example's.")
        control(SENTENCE)
        is_own = values.sentence != example.inputs.sentence
        if is_own and "contents" not in values.hide and (model := real_model()):
            way_to("real_model", "Read it with a real model", model=model, prompt=values.sentence)
        if example.is_trained:
            st.caption(f"This network knows {len(WORDS) - 1} words, and reads up to {LONGEST - 1}.")
        for each in more:
            control(each)
        if not _of_inputs("are given"):
            _seed(values)
        control(D_IN)
        if values.drop_blanks or _of_inputs("have blanks"):
            control(DROP_BLANKS)


def _seed(values: Values) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="xsmall", key="seed"):
        control(SEED)
        if SEED.name not in (*values.hide, *values.lock):
            again = "The seed after this one: other random numbers."
            st.button("Next", key="next_seed", on_click=_next_seed, help=again)


@event()
def _next_seed() -> None:
    settings.change(seed=(settings.values().seed + 1) % (MAX_SEED + 1))


def close_lesson(name: str) -> None:
    """The links to the lessons before and after this one."""
    values = settings.values()
    if values.card or "contents" in values.hide:
        return
    pages = (HOME, *LESSONS)
    at = pages.index(lesson(name))
    query = settings.link_query("way")
    with st.container(**SPREAD, key="way"):
        before = pages[at - 1]
        link(before, query, f"Previous: {before.title}", icon=":material/arrow_back:")
        is_done = name in values.done
        st.button(
            "Done (undo)" if is_done else "Mark as done",
            key="mark_done",
            type="tertiary",
            icon=":material/check_circle:" if is_done else ":material/radio_button_unchecked:",
            on_click=_mark,
            args=(name,),
        )
        if at + 1 < len(pages):
            after = pages[at + 1]
            way = {"icon": ":material/arrow_forward:", "icon_position": "right"}
            link(after, query, f"Next: {after.title}", **way)
    put_browser()


@event()
def _mark(name: str) -> None:
    """Mark a lesson as done, or take that back. Its questions come back where it is done."""
    is_done = name in settings.values().done
    this_session().own(ComingBack).keep({name: None if is_done else 0})
    settings.change(done=tuple(sorted({*settings.values().done} ^ {name})))
