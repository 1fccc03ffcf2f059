"""Settings in the session and in the address bar: read once, changed by controls, written back."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from attention_core.examples import EXAMPLES

from ..controls.fields import CellPlace, Choice, ScoreRow, Sentence, Trail
from ..controls.held import FIXED, HELD
from .choices import MAX_SEED
from .fit import EDITS, changed, drawn_instead, heads_that_fit, misfit, problem_with_heads
from .link import FIRST_VISIT, from_query, problem_with, to_query, unknown_names
from .settings import FIELDS, HEADS, KEPT, VIEW_ONLY, Settings, label

# Names in st.session_state.
SETTINGS, DRAFTS, NOTICES, WRITTEN, TOUCHED = "settings", "drafts", "notices", "written", "touched"
OPEN_IN, WHOLE_PAGE, GIVEN, DRAWN = "open_in", "whole_page", "given", "drawn"
SHOWN, LINKED, ARRIVED = "shown", "linked", "arrived"
QUERY = "link_query"
WANTED = "wanted"
"""Sizes of heads as they were asked for, where others are in use: they come back when they fit."""
CONTENTS, BACK, CONTROLS = "frame_contents", "frame_back", "frame_controls"
"""Parts of the frame that show settings: keys of fragments."""
NOT_CARRIED = ("beat", "cell", "upto", "only")
"""Settings of one page: they stay behind when another is opened."""
OWN_TEXT = {"sentence": "", "tokenizer": "text", "vocabulary": "distinct"}
"""What a text of the person's own brings along."""


def load(page: str) -> Settings:
    """Take up the settings for this run: the session's, or the link's where it speaks.

    The link speaks for a new session, for a page that is opened with parameters, and when Back or
    Forward changed it. It does not after a click on one of our controls: the browser may still be
    showing the address of a moment ago.
    """
    state = st.session_state
    for name in (WHOLE_PAGE, OPEN_IN, SHOWN):
        state.pop(name, None)
    if HELD in state:  # the last page was of the newer kind: what it holds is a link's text
        state[SETTINGS], _ = from_query(state.pop(HELD))
        state[WANTED], state[DRAFTS] = {}, {}
    asked = st.query_params.to_dict()
    query = {name: value for name, value in asked.items() if name in FIELDS}
    last_page, last_query = state.get(WRITTEN, (None, None))
    state[DRAWN] = set()
    state[ARRIVED] = SETTINGS in state and page != last_page
    if page != last_page:
        state[GIVEN] = set()
    touched = state.pop(TOUCHED, False)
    if SETTINGS not in state:
        _take(query)
    elif page != last_page:
        # Our own links may be older than the last change; then the session's settings count.
        if query and query not in state.get(LINKED, {}).values():
            _take(query)
        else:
            plain = Settings.of(EXAMPLES[state[SETTINGS].example])
            state[SETTINGS] = changed(
                state[SETTINGS], **{name: getattr(plain, name) for name in NOT_CARRIED}
            )
    elif not touched and (query or FIRST_VISIT) != last_query:
        _take(query)
    unknown = [name for name in asked if name not in FIELDS]
    if unknown and not touched:
        state[NOTICES] = list(dict.fromkeys([*state[NOTICES], unknown_names(unknown)]))
    return state[SETTINGS]


def _take(query: dict[str, str]) -> None:
    settings, notices = from_query(query)
    st.session_state[SETTINGS] = settings
    st.session_state[WANTED] = {}
    st.session_state[DRAFTS] = {}
    st.session_state[NOTICES] = notices


def save(page: str) -> None:
    """Write the settings into the address bar, and remember what was written.

    What else stands there goes, but for Streamlit's own, which `st.query_params` does not show.
    A first visit's address stays empty: a new one would be a step of the browser's history, and
    its Back button would lead here for ever.
    """
    query = _query()
    if (st.query_params.to_dict() or FIRST_VISIT) != query:
        st.query_params.from_dict(query)
    st.session_state[WRITTEN] = (page, query)
    st.session_state.pop(TOUCHED, None)


def _query() -> dict[str, str]:
    """The parameters of the link to these settings. Every part of a page asks for them, so they
    are written once.
    """
    state = st.session_state
    settings, query = state.get(QUERY, (None, {}))
    if settings is not state[SETTINGS]:
        settings, query = state[QUERY] = state[SETTINGS], to_query(state[SETTINGS])
    return query


def hand_over(now: bool = False) -> None:
    """Before a page of the newer kind begins: let it hold what pages of this kind have; `now`
    where one of these functions has changed the settings on such a page.
    """
    state = st.session_state
    if SETTINGS in state and (now or HELD not in state):
        state[HELD] = dict(_query())


def follow_held() -> Settings:
    """On a page of the newer kind: the settings that what it holds stands for, for the parts of the
    frame that it shares with pages of this kind.
    """
    state = st.session_state
    state[SETTINGS], _ = from_query(state[HELD])
    state.setdefault(WANTED, {})
    settings = state[SETTINGS]
    fixed = [name for name in (*settings.hide, *settings.lock) if name in FIELDS]
    state[FIXED] = {name: FIELDS[name].write(getattr(settings, name)) for name in fixed}
    return settings


def current() -> Settings:
    """The settings as they are now, also within a part of the page that runs alone."""
    return st.session_state[SETTINGS]


def choose_cell(beat: str, trail: tuple[CellPlace, ...]) -> None:
    """Open a cell below a beat. If one is open below another beat, that one has to go, and the
    whole page is run; else only the beat.
    """
    state = st.session_state
    state[WHOLE_PAGE] = state.get(OPEN_IN) not in (None, beat) or bool(state[NOTICES])
    change(beat=beat, cell=trail)


def forget_cell(page: str) -> None:
    """Take a cell that this page does not have out of the settings and the address."""
    state = st.session_state
    state[SETTINGS] = changed(state[SETTINGS], cell=None, beat="")
    save(page)


def wants_whole_page() -> bool:
    """Whether a part of the page that runs alone changed something outside of it."""
    return st.session_state.pop(WHOLE_PAGE, False)


def parts_shown() -> Mapping[str, Any]:
    """The parts of the lesson that is on the screen, by name; empty where there is none."""
    shown = st.session_state.get(SHOWN)
    return shown.page.parts if shown else {}


def link_query(where: str) -> dict[str, str]:
    """Parameters for the links to other pages that stand somewhere: what they can use of the
    settings.
    """
    carried = _carried(_query())
    st.session_state.setdefault(LINKED, {})[where] = carried
    return carried


def _carried(query: dict[str, str]) -> dict[str, str]:
    return {name: text for name, text in query.items() if name not in NOT_CARRIED}


def example_query(name: str, **at: Any) -> tuple[dict[str, str], str]:
    """Parameters for a link to an example, `at` other settings than its own, such as a token; and
    in words why it cannot be opened, '' if it can.
    """
    settings = current()
    if name != settings.example and "example" in settings.fixed:
        return {}, "The link that you opened keeps to its own example."
    opened = changed(settings, example=name)
    for each in at.keys() & settings.fixed:
        if at[each] != getattr(opened, each):
            return {}, f"The link that you opened fixes “{label(each)}”."
    opened = changed(opened, **at) if at else opened
    if problem_with(opened):
        return {}, "This example does not fit what the link that you opened keeps."
    return _carried(to_query(opened)), ""


def takes_own_text() -> bool:
    """Whether a text may be typed that brings a tokenizer for it, or a teacher's link keeps one."""
    return not current().fixed & OWN_TEXT.keys()


def change(**updates: Any) -> None:
    """Change settings from a callback. Settings that do not fit together are refused, with a
    notice, and what was there stays.
    """
    state = st.session_state
    state[TOUCHED] = True
    state[NOTICES] = []
    before: Settings = state[SETTINGS]
    asked = {name: getattr(before, name) for name in HEADS} | state[WANTED] | updates
    updates, problem = understood(taking_along(updates))
    fixed = {*before.hide, *before.lock}
    for name, value in updates.items():
        if name in fixed and value != getattr(before, name):
            problem = f"the link that you opened fixes “{label(name)}”."
    if problem:
        state[NOTICES] = [f"Not applied: {problem}"]
        state[WHOLE_PAGE] = True
        return
    after = changed(before, **updates)
    gone = [each for each in EDITS if getattr(before, each) and not getattr(after, each)]
    if "example" not in updates and not updates.keys() >= set(gone):
        state[NOTICES] = ["The table has changed, so the numbers you typed into it were removed."]
    if "example" not in updates and (drawn := drawn_instead(after)) != drawn_instead(before):
        state[NOTICES] += [drawn] if drawn else []
    state[SETTINGS] = after
    state[WANTED] = {
        name: asked[name]
        for name in HEADS
        if "example" not in updates and asked[name] != getattr(after, name)
    }
    if state[NOTICES] or not updates.keys() <= VIEW_ONLY - {*KEPT}:
        state[WHOLE_PAGE] = True


def taking_along(updates: dict[str, Any]) -> dict[str, Any]:
    """Updates, and with a size of heads those that it takes along."""
    if "example" in updates or not updates.keys() & {*HEADS}:
        return updates
    asked = {**st.session_state[WANTED], **updates}
    return {**updates, **heads_that_fit(current(), asked, updates.keys())}


def sizes_that_fit(name: str) -> dict[int, str]:
    """What a control of one size of heads can offer: with its neighbours taken along, all fits."""
    every = range(FIELDS[name].least, FIELDS[name].most + 1)
    now = current()
    return {
        size: str(size) if size else "auto"
        for size in every
        if problem_with_heads(changed(now, **taking_along({name: size}))) is None
    }


def wanted(name: str) -> int | None:
    """The size of heads that was asked for, where another is in use; else None."""
    return st.session_state[WANTED].get(name)


def is_unsaved() -> bool:
    """Whether a control was used, and no part of the page has been run since to show and save what
    it changed: from a callback, that a part is about to run, and nothing else may be asked for in
    its place.
    """
    return TOUCHED in st.session_state


def redraw(controls: bool = False) -> None:
    """From a callback that changed settings: draw again what they change, and the controls where
    they stand for other values than the person gave them. That is the whole page where it would
    have other words, where there is something to say, and where the browser has not told what is
    in sight.
    """
    state = st.session_state
    state[WHOLE_PAGE] = False
    if SHOWN in state and not state[NOTICES] and not state[DRAFTS]:
        state[SHOWN].redraw(state[SETTINGS], controls)
    state[WHOLE_PAGE] = True


def has_come_from_another() -> bool:
    """Whether this run opens a page in a session that has been on another."""
    return st.session_state[ARRIVED]


def run_whole_page() -> None:
    """From a callback inside a part: run the whole page."""
    st.session_state[WHOLE_PAGE] = True


def overwrite(**updates: Any) -> None:
    """Change settings from a callback of another control than their own: drafts of them go."""
    state = st.session_state
    state[DRAFTS] = {name: text for name, text in state[DRAFTS].items() if name not in updates}
    change(**updates)


def next_seed(name: str) -> None:
    """From a button beside a seed: take the one after it."""
    overwrite(**{name: (getattr(current(), name) + 1) % (MAX_SEED + 1)})
    redraw(controls=True)


def reset() -> None:
    """Back to the example's own settings, but for what a teacher's link has fixed."""
    st.session_state[DRAFTS] = {}
    change(example=current().example)
    run_whole_page()


def is_changed() -> bool:
    """Whether going back to the example would change anything."""
    return changed(current(), example=current().example) != current()


def take_text(text: str) -> str | None:
    """Take up a text of the person's own, with the tokenizer for such, or that of the example
    where it has a vector for each of its words. Returns what is wrong.
    """
    state = st.session_state
    try:
        updates = {**OWN_TEXT, "sentence": FIELDS["sentence"].read(text)}
    except ValueError as error:
        return f"{label('sentence')}: {error}."
    example = EXAMPLES[current().example]
    same_words = changed(Settings.of(example), sentence=updates["sentence"])
    if example.is_trained or (misfit(same_words) is None and same_words.has_given_vectors):
        updates |= {name: getattr(same_words, name) for name in OWN_TEXT}
    wrong = problem_with(changed(state[SETTINGS], **updates))
    if wrong is None:
        change(**updates)
        state[DRAFTS] = {}
    return wrong


def controlled(name: str, key: str, elsewhere: bool = False) -> None:
    """A control was used: take its value, or keep it as a draft and say what is wrong. `elsewhere`
    says that other parts of the page show what it changes, though it is only looked at.

    What did not fit before is tried again along with it: four heads and a width of 8 may fit each
    other where neither fits what was there.
    """
    state = st.session_state
    if key not in state[DRAWN]:
        return  # it is gone: what the browser sent on its way still told of it
    state[TOUCHED] = True
    raw = state[key]
    if not _is_offered(name, raw):
        return  # no browser sends such; the widget is given its own value again
    said, had_drafts = state[NOTICES], state[DRAFTS]
    was_own = current().has_own_text
    drafts = {**({} if name == "example" else state[DRAFTS]), name: raw}
    for tried in (drafts, {name: raw}):
        values, problem = understood(tried)
        if problem is None:
            break
    else:
        state[DRAFTS] = drafts
        state[WHOLE_PAGE] = bool(state[NOTICES])
        state[NOTICES] = []
        state[f"problem_{name}"] = problem
        return
    change(**values)
    field = FIELDS[name]
    if isinstance(field, Sentence | ScoreRow) and (remark := field.remark(raw)):
        state[NOTICES] = [*state[NOTICES], remark]
    state[DRAFTS] = {other: draft for other, draft in drafts.items() if other not in values}
    for other, draft in state[DRAFTS].items():
        state[f"problem_{other}"] = understood({other: draft})[1]
    as_typed = raw == field.write(values[name]) if isinstance(raw, str) else True
    if said:
        state[WHOLE_PAGE] = True
    elif (elsewhere or name not in VIEW_ONLY) and name != "example":
        is_other = was_own != current().has_own_text
        redraw(controls=bool(had_drafts) or not as_typed or is_other)


def _is_offered(name: str, raw: object) -> bool:
    """Whether a control can hold this: any text where one is typed, else what its field takes."""
    field = FIELDS[name]
    if isinstance(raw, str) and not isinstance(field, Choice):
        return True
    try:
        field.read(field.write(raw))
    except (ValueError, TypeError):
        return False
    return True


def understood(drafts: dict[str, Any]) -> tuple[dict[str, Any], str | None]:
    """The values that drafts stand for, as a link would give them back, and what stops them from
    being used, in words.
    """
    values = {}
    for name, raw in drafts.items():
        field = FIELDS[name]
        if isinstance(field, Trail) and raw is None:
            values[name] = None
            continue
        try:
            values[name] = field.read(raw if isinstance(raw, str) else field.write(raw))
        except ValueError as error:
            return values, f"{label(name)}: {error}."
    return values, problem_with(changed(st.session_state[SETTINGS], **taking_along(values)))


def problem(name: str) -> str | None:
    """What is wrong with the draft of a setting, if there is one."""
    return st.session_state.get(f"problem_{name}") if name in st.session_state[DRAFTS] else None
