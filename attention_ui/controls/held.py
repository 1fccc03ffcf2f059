"""What a visitor has chosen, by name and as a link says it: held in the session, written into the
address at once. All else is the example's own.

So a link holds only what differs, a page without the control keeps the value, every move is a step
of the browser's history, and what does not fit now counts again when it does.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from attention_core.text.tokenizers import clean

from . import parts
from .control import (
    MAX_LINK,
    Beyond,
    Control,
    Values,
    after_example,
    fitted,
    understood,
    written,
)
from .fields import Choice, ScoreRow, Sentence
from .shared import FIRST

HELD, DRAFTS, PROBLEMS, NOTICES = "held", "drafts", "problems", "notices"
WRITTEN, LINKED = "written", "linked"
TOUCHED = parts.TOUCHED
HERE, UNREAD, MET, CARDS = "here", "unread", "cell_met", "cards_met"
IN_CARD, COVERING = "in_card", "covering"
"""The title of the card that is being drawn, and of each question that covers something now: the
title of its card and the names of what it covers.
"""
SHOWN = "cards_shown"
"""The cards of this page, as far as it has been drawn before."""
LAYOUTS = "layouts"
"""What gives each picture of the page as it is drawn, and the control that it carries."""
FIXED = "fixed_by_link"
"""What a teacher's link hides or locks, as a link says its value now, also for other pages."""
ASKED = "asked"
"""What was asked for where others took it along, as a link says it: it comes back when it fits."""
FIRST_VISIT = {"example": FIRST}
"""What an address without anything stands for."""
MAX_UNKNOWN, MOST_QUOTED = 4, 40


def arrive(page: str, controls: Sequence[Control], known: Collection[str] = ()) -> Values:
    """At the top of a page: take up what is held, or what the link says where it speaks. It does
    for a new session, when a page is opened with one, and when Back or Forward changed it; not
    after a control was used, when the browser may still tell of a moment ago.

    `known` are names that other pages have controls for: they are kept. Returns the values.
    """
    state, link = st.session_state, st.query_params.to_dict()
    last_page, last_written = state.get(WRITTEN, (None, None))
    touched, same_page = state.pop(TOUCHED, False), page == last_page
    state.setdefault(NOTICES, [])
    state.setdefault(DRAFTS, {})
    state[SHOWN] = [*state.get(CARDS, ())] if same_page else []
    state[MET], state[CARDS], state[COVERING], state[IN_CARD] = [], {}, {}, ""
    # What a callback needs stays until it is drawn anew: one may come at any moment of this run.
    if not same_page:
        state.setdefault(LAYOUTS, {}).clear()
    if not same_page or ASKED not in state:
        state[ASKED] = {}
    ours = {*known, *(each.name for each in controls)}
    if HELD not in state:
        _take(link, ours)
    elif not same_page:
        # Our own links may be older than the last change; then what is held counts.
        if link and link not in state.get(LINKED, {}).values():
            _take(link, ours)
        else:
            of_page = {each.name for each in controls if each.of_page}
            state[HELD] = {n: text for n, text in state[HELD].items() if n not in of_page}
            state[DRAFTS], state[NOTICES] = {}, []
    elif not touched and (link or FIRST_VISIT) != last_written:
        _take(link, ours)
    values, wrong = understood(state[HELD], controls)
    for name in state.setdefault(UNREAD, set()) & wrong.keys():
        state[NOTICES].append(refused(name, state[HELD][name], wrong[name]))
        del state[HELD][name]
    if "example" in wrong:
        state[HELD]["example"] = FIRST
    along = fitted(state[HELD], controls)
    state[NOTICES] += [f"The link’s {along[each][1]}" for each in along.keys() & state[UNREAD]]
    state[ASKED] |= {name: text for name, (text, _) in along.items()}
    state[HELD] |= {n: _control_of(controls, n).field.write(values[n]) for n in along}
    state[UNREAD] -= values.keys()
    state[HERE] = (page, tuple(controls), values.read_by(_note))
    save()
    here = state[HERE][2]
    has_browser = "Mozilla" in st.context.headers.get("User-Agent", "")
    all_at_once = bool(here.unread("card") or here.unread("paper"))
    parts.begin_page(same_page, has_browser and not here.unread("paper"), all_at_once)
    parts.of_page().values = here
    return here


def page() -> str:
    """The name of the page that is open."""
    return st.session_state[HERE][0]


def is_left(page: str) -> bool:
    """At the top of a page: whether the visitor comes from another."""
    return st.session_state.get(WRITTEN, (page, None))[0] != page


def _take(link: dict[str, str], known: Collection[str]) -> None:
    """Hold what a link says, as far as any page has a control for it."""
    state = st.session_state
    unknown = [name for name in link if name not in known]
    held = {name: text for name, text in link.items() if name in known}
    state.pop(WRITTEN, None)  # the browser is there already
    state[HELD] = {"example": FIRST, **held} if held else dict(FIRST_VISIT)
    state[UNREAD], state[DRAFTS], state[ASKED] = set(held), {}, {}
    state[NOTICES] = [unknown_names(unknown)] if unknown else []


def refused(name: str, text: str, why: ValueError) -> str:
    """What is said of a value of a link that cannot be used. It quotes a little of it."""
    shown = repr(_quoted(text)) if text else "empty"
    return f"The link’s {name} is {shown}, but {why}. The example’s own is used."


def unknown_names(names: Sequence[str]) -> str:
    """What is said of a link's names that no page has a control for: a few of them, shortened."""
    told = ", ".join(f"“{_quoted(name, 20)}”" for name in names[:MAX_UNKNOWN])
    more = len(names) - MAX_UNKNOWN
    told += f" and {more:,} more" if more > 0 else ""
    return f"The link has names that this app does not know; they were left out: {told}."


def _quoted(text: str, most: int = MOST_QUOTED) -> str:
    """The beginning of a text of a link, fit to be shown."""
    return clean(text if len(text) <= most else text[:most] + "…")[0]


def save() -> None:
    """Write what is held into the address. A first visit's stays empty: a new one would be a step
    of the browser's history, and its Back button would lead here for ever.
    """
    state = st.session_state
    query, page = dict(state[HELD]), state[HERE][0]
    # What the browser says may be of a moment ago: what was written last is on its way there.
    on_page, on_its_way = state.get(WRITTEN, (page, query))
    is_late = on_page == page and on_its_way != query
    if is_late or (st.query_params.to_dict() or FIRST_VISIT) != query:
        st.query_params.from_dict(query)
    state[WRITTEN] = (page, query)


def _note(name: str) -> None:
    if parts.is_drawing():
        parts.read("value", name)


@parts.source("value")
def _value(name: str) -> Any:
    return parts.of_page().values.unread(name)


@parts.source("draft")
def _draft(name: str) -> tuple[str | None, str | None]:
    """What was typed and cannot be used, and why."""
    return drafts().get(name), st.session_state.get(PROBLEMS, {}).get(name)


@parts.source("session")
def _session(what: str) -> Any:
    """Of all of the visit: the notices, what is held, whether it differs from the example."""
    if what == "notices":
        return tuple(st.session_state[NOTICES])
    return tuple(held().items()) if what == "held" else is_changed()


def values() -> Values:
    """The values of this page's controls, also in a part of it that runs alone."""
    return parts.of_page().values or st.session_state[HERE][2]


def held() -> dict[str, str]:
    """What was chosen, as a link says it."""
    return st.session_state[HELD]


def shared() -> dict[str, str]:
    """What a link for another person says: all that was chosen, but for what is done."""
    return {name: text for name, text in held().items() if name != "done"}


def pin_text() -> str:
    """What is on the screen, as a pin keeps it: what makes numbers, and not what stands around."""
    _, controls, _ = st.session_state[HERE]
    around = {each.name for each in controls if each.stays or each.of_page}
    return urlencode({name: text for name, text in held().items() if name not in around})


def names_in(name: str) -> list[str]:
    """The names in `hide` or `lock`: what a teacher's link hides, and what it locks."""
    return [each for each in held().get(name, "").split(",") if each]


def leave_out(name: str, unknown: Collection[str]) -> None:
    """Take names out of `hide` or `lock` that no page has, and say so."""
    state = st.session_state
    state[HELD][name] = ",".join(each for each in names_in(name) if each not in unknown)
    told = ", ".join(f"“{_quoted(each, 20)}”" for each in sorted(unknown)[:MAX_UNKNOWN])
    what = f"The link’s {name} must have names of controls, and {told} is none. It was left out."
    state[NOTICES].append(what)
    if not state[HELD][name]:
        del state[HELD][name]
    _understand_anew()
    save()


def fixed() -> set[str]:
    """The names of what a teacher's link hides or locks."""
    return {*names_in("hide"), *names_in("lock")}


def with_example(name: str, controls: Sequence[Control]) -> dict[str, str]:
    """What is held when another example is chosen: its own, and what stays or is fixed."""
    now = {n: text for n, text in st.session_state.get(FIXED, {}).items() if n in fixed()}
    return after_example({**now, **held()}, name, controls, fixed())


def try_to_hold(texts: dict[str, str]) -> str | None:
    """From a callback of another control than theirs: hold texts as a link says them, if they can
    be used beside all else. Returns what stops them, in words.
    """
    drafts = st.session_state[DRAFTS]
    st.session_state[DRAFTS] = {n: text for n, text in drafts.items() if n not in texts}
    return _try(texts)


def change(**chosen: Any) -> bool:
    """From a callback of another control than their own: change values. What does not fit is
    refused, with a notice. Returns whether it was done.
    """
    _, controls, _ = st.session_state[HERE]
    fields = {each.name: each.field for each in controls}
    if not fields.keys() >= chosen.keys():
        return False  # what was pressed stood on a page that is left
    problem = try_to_hold({name: fields[name].write(value) for name, value in chosen.items()})
    if problem:
        st.session_state[NOTICES] = [f"Not applied: {problem}"]
    return problem is None


def say(notice: str) -> None:
    """From a callback: something that was not applied, in words. It may quote the person."""
    st.session_state[TOUCHED] = True
    st.session_state[NOTICES] = [*st.session_state[NOTICES], notice]


def forget(*names: str) -> None:
    """From a callback: back to their starts."""
    state = st.session_state
    state[TOUCHED] = True
    for name in names:
        state[HELD].pop(name, None)
        state[DRAFTS].pop(name, None)
    _understand_anew()
    save()


def used(name: str, key: str) -> bool:
    """From the callback of a control: take its value, or keep it as a draft and say what is wrong.
    Returns whether it was taken.

    What did not fit before is tried again along with it: four heads and a width of 8 may fit each
    other where neither fits what was there.
    """
    state = st.session_state
    control = _control(name)
    if control is None or key not in state or name in names_in("lock"):
        return False
    text = _as_text(control, state[key])
    if text is None:
        return False  # no browser sends such; the widget is given its own value again
    drafts = {**({} if name == "example" else state[DRAFTS]), name: text}
    for tried in (drafts, {name: text}):
        problem = _try(tried)
        if problem is None:
            break
    else:
        state[TOUCHED] = True
        state[DRAFTS] = drafts
        state.setdefault(PROBLEMS, {})[name] = problem
        return False
    state[DRAFTS] = {n: draft for n, draft in drafts.items() if n not in tried}
    if isinstance(control.field, Sentence | ScoreRow):
        remark = control.field.remark(text)
        state[NOTICES] += [remark] if remark else []
    return True


def _control(name: str) -> Control | None:
    return _control_of(st.session_state[HERE][1], name)


def _control_of(controls: Sequence[Control], name: str) -> Control | None:
    return next((each for each in controls if each.name == name), None)


def _as_text(control: Control, raw: object) -> str | None:
    """What a widget holds as a link says it; None where it holds what it cannot."""
    if isinstance(raw, str) and not isinstance(control.field, Choice):
        return raw  # typed, also where a slider stands elsewhere
    try:
        text = control.field.write(raw)
        control.field.read(text)
    except (ValueError, TypeError, AttributeError):
        return None
    return text


def _understand_anew() -> None:
    """After what is held has changed: the values that it stands for now."""
    state = st.session_state
    page, controls, _ = state[HERE]
    now = understood(state[HELD], controls)[0].read_by(_note)
    state[HERE], parts.of_page().values = (page, controls, now), now


def _try(texts: dict[str, str]) -> str | None:
    """Hold these texts, if they can be used beside all else; returns what stops them, in words."""
    state = st.session_state
    _, controls, before = state[HERE]
    if "example" in texts:
        held = with_example(texts["example"], controls)
    else:
        held = {**state[HELD], **state[ASKED], **texts}
    was_wrong = understood(state[HELD], controls)[1]
    now, wrong = understood(held, controls)
    moved = now.changed(before) if "example" not in texts else set()
    undone = {n for each in controls if each.name in moved for n in each.undoes} - texts.keys()
    for name, why in wrong.items():
        if name in texts or not (isinstance(why, Beyond) or name in {*was_wrong, *undone}):
            control = _control(name)
            return f"{control.label or name}: {why}."
    along = {each.name for each in controls if each.fits} if "example" not in texts else set()
    for name in fixed() & {*texts, *along}:
        if now[name] != before[name]:
            return f"the link that you opened fixes “{_control(name).label}”."
    notices = []
    if any(name.endswith("edits") for name in undone & held.keys()):
        notices = ["The table has changed, so the numbers you typed into it were removed."]
    held = {name: text for name, text in held.items() if name not in undone}
    asked = {name: text for name, (text, _) in fitted(held, controls).items()}
    held = written(held, controls)
    length = len(urlencode(held))
    if length > MAX_LINK:
        return (
            f"The link to this page would have {length:,} characters, and {MAX_LINK:,} fit. "
            "Shorten the text, take typed numbers back, or unpin."
        )
    state[TOUCHED], state[HELD], state[NOTICES], state[ASKED] = True, held, notices, asked
    _understand_anew()
    save()
    return None


def taken_along(name: str) -> str:
    """Why a value is not the one that was asked for, in a sentence; "" where it is."""
    return parts.read("along", name)


@parts.source("along")
def _along(name: str) -> str:
    state = st.session_state
    if name not in state[ASKED]:
        return ""
    texts = {**state[HELD], name: state[ASKED][name]}
    return fitted(texts, state[HERE][1]).get(name, ("", ""))[1]


def offered(control: Control, choices: Mapping[Any, str]) -> Mapping[Any, str]:
    """The choices that would take nothing along that a teacher's link fixes."""
    state = st.session_state
    _, controls, before = state[HERE]
    along = {each.name for each in controls if each.fits} & fixed() - {control.name}
    if not along:
        return choices
    held = {**state[HELD], **state[ASKED]}

    def leaves(value: Any) -> bool:
        now, _ = understood({**held, control.name: control.field.write(value)}, controls)
        return all(now[name] == before[name] for name in along)

    return {value: words for value, words in choices.items() if leaves(value)}


def problem(name: str) -> str | None:
    """What is wrong with what was typed into a control, if anything is."""
    draft, why = parts.read("draft", name)
    return None if draft is None else why


def met_card(name: str, title: str) -> None:
    """From a card: that it stands on this page."""
    st.session_state[CARDS][name] = title


def met_question(name: str, covered: frozenset[str]) -> None:
    """From a question: what it covers now, in the card that is being drawn."""
    st.session_state[COVERING][name] = (st.session_state[IN_CARD], covered)


def covers_anything() -> bool:
    """Whether a question that this page has met so far covers something."""
    return any(covered for _, covered in st.session_state[COVERING].values())


def waited_for(names: Iterable[str]) -> list[str]:
    """The titles of the other cards whose question has to be answered first, for a picture that
    covers steps of these names: the question that covers that step, else the latest.
    """
    covering = [each for each in st.session_state[COVERING].values() if each[1]]
    told: list[str] = []
    for name in names if covering else ():
        told += [card for card, covered in covering if name in covered] or [covering[-1][0]]
    return [card for card in dict.fromkeys(told) if card != st.session_state[IN_CARD]]


def is_lost() -> bool:
    """Whether the one card that a link asks for is none of this page; at its end."""
    return bool(values().card) and values().card not in st.session_state[CARDS]


def met_cell(card: str, has: bool, opens: bool) -> None:
    """From a picture: whether its trace has the cell of the link, and whether it is open there."""
    st.session_state[MET].append((card, has, opens))


def is_open_elsewhere(card: str) -> bool:
    """Whether a picture of another card has the open cell."""
    return any(opens and other != card for other, _, opens in st.session_state[MET])


def settle_cell() -> None:
    """At the end of a page: a cell that no picture has is said, and left out; one that is drawn
    nowhere, or whose card is not on this page, opens in the first card whose trace has it.
    """
    here, met = values(), st.session_state[MET]
    if not here.cell or any(opens for _, _, opens in met):
        return
    having = [card for card, has, _ in met if has]
    if not having:
        cell = ", ".join(_quoted(each) for each, _ in here.cell[-1:])
        where = ", ".join(map(str, here.cell[-1][1]))
        forget("cell", "section")
        notice = f"The link’s cell {cell}[{where}] is not in this lesson. It was left out."
        st.session_state[NOTICES] = [*st.session_state[NOTICES], notice]
        st.rerun()
    elif here.section not in [card for card, *_ in met]:
        change(section=having[0])
        st.rerun()


def drafts() -> dict[str, str]:
    """What was typed and cannot be used, by the names of the controls."""
    return st.session_state.get(DRAFTS, {})


def link_query(where: str) -> dict[str, str]:
    """Parameters for the links to other pages that stand somewhere: all that they can use."""
    _, controls, _ = st.session_state[HERE]
    of_page = {each.name for each in controls if each.of_page}
    carried = {name: text for name, text in held().items() if name not in of_page}
    st.session_state.setdefault(LINKED, {})[where] = carried
    return carried


def is_changed() -> bool:
    """Whether going back to the example would change anything that this page has a control for."""
    _, controls, _ = st.session_state[HERE]
    back = after_example(held(), held()["example"], controls, fixed())
    return any(back.get(each.name) != held().get(each.name) for each in controls)


def reset() -> None:
    """From a callback: back to the example's own values, but for what a teacher's link fixes."""
    st.session_state[DRAFTS] = {}
    _try({"example": held()["example"]})
