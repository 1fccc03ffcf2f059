"""What a visitor chooses, by name and as a link says it: kept for the visit, written into the
address at once; all else is as it starts, or as a preset has it. So a page without the control
keeps the value, every move is a step of the browser's history, and what does not fit counts again
when it does.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from .control import (
    MAX_LINK,
    TYPED,
    Control,
    NoRoom,
    Texts,
    Understood,
    Values,
    after_preset,
    fitted,
    understood,
    written,
)
from .fields import Choice
from .fragments import begin_page, check_event
from .session import the_session, this_session
from .source import source

MAX_UNKNOWN, MOST_QUOTED = 4, 40


def arrive(page: str, controls: Sequence[Control], known: Collection[str] = ()) -> Values:
    """At the top of a page: take up what was chosen before, or what the link says. The link counts
    in a new session, when a page is opened with one, and when Back or Forward changed it; not after
    a control was used, when the browser may still tell the address of a moment ago.

    `known` are names that other pages have controls for: they are kept. Returns the values.
    """
    state, link = this_session(), st.query_params.to_dict()
    last_page, last_written = state.written or (None, None)
    was_touched, state.was_touched, state.by_address = state.was_touched, False, False
    is_same = page == last_page
    state.opens_page(is_same)
    if not is_same:
        state.asked = {}
    ours = {*known, *(each.name for each in controls)}
    if not state.chosen:
        _take(link, ours)
    elif not is_same:
        # Our own links may be older than the last change; then what was chosen since counts.
        if link and link not in state.linked.values():
            _take(link, ours)
        else:
            of_page = {each.name for each in controls if each.of_page}
            state.chosen = {n: text for n, text in state.chosen.items() if n not in of_page}
            state.drafts, state.notices = {}, []
    elif not was_touched and (link or state.first) != last_written:
        _take(link, ours)
    values, wrong = understood(state.chosen, controls)
    for name in state.unread & wrong.keys():
        state.notices.append(refused(name, state.chosen[name], wrong[name]))
        del state.chosen[name]
    state.chosen |= {name: text for name, text in state.first.items() if name in wrong}
    state.unfit = {*wrong} - state.first.keys()
    along = fitted(state.chosen, controls, (values, wrong))
    state.notices += [f"The link’s {along[each][1]}" for each in along.keys() & state.unread]
    state.asked |= {name: text for name, (text, _) in along.items()}
    state.chosen |= {
        each.name: each.field.write(values[each.name]) for each in controls if each.name in along
    }
    state.unread -= values.keys()
    state.page, state.controls, state.values = page, tuple(controls), values.read_by(value.touch)
    save()
    has_browser = "Mozilla" in st.context.headers.get("User-Agent", "")
    begin_page(is_same, has_browser and not state.is_printed(), state.is_all_at_once())
    return state.values


def begins(by_address: bool, script: str) -> None:
    """Before a run's callbacks: whether Back or Forward asked for it on this page (`script`)."""
    state = this_session()
    state.by_address, state.goes_back = by_address, by_address and script == state.script
    state.script = script


def _go_back_first() -> None:
    """In a callback: what was pressed after Back is added to what the address says now."""
    state = this_session()
    link = st.query_params.to_dict() or state.first
    if state.goes_back and state.written not in (None, (state.page, link)):
        _take(link, link)
        state.written = (state.page, link)
        _understand_anew()
    state.goes_back = False


def is_left(page: str) -> bool:
    """At the top of a page: whether the visitor comes from another."""
    return (this_session().written or (page,))[0] != page


def is_late() -> bool:
    """Whether what the browser says is older than what was written into the address last."""
    state = this_session()
    written = state.written
    return bool(written) and (st.query_params.to_dict() or state.first) != written[1]


def _take(link: Texts, known: Collection[str]) -> None:
    """Choose what a link says, as far as any page has a control for it."""
    state = this_session()
    unknown = [name for name in link if name not in known]
    texts = {name: text for name, text in link.items() if name in known}
    state.written = None  # the browser is there already
    state.chosen = {**state.first, **texts}
    state.unread, state.drafts, state.asked = set(texts), {}, {}
    state.notices = [unknown_names(unknown)] if unknown else []


def refused(name: str, text: str, why: ValueError) -> str:
    """What is said of a value of a link that cannot be used. It quotes a little of it."""
    shown = repr(quoted(text)) if text else "empty"
    return f"The link’s {name} is {shown}, but {why}. {this_session().instead}"


def unknown_names(names: Sequence[str]) -> str:
    """What is said of a link's names that no page has a control for: a few of them, shortened."""
    told = ", ".join(f"“{quoted(name, 20)}”" for name in names[:MAX_UNKNOWN])
    more = len(names) - MAX_UNKNOWN
    told += f" and {more:,} more" if more > 0 else ""
    return f"The link has names that this app does not know; they were left out: {told}."


def quoted(text: str, most: int = MOST_QUOTED) -> str:
    """A little of what somebody wrote, without what only does harm."""
    return this_session().cleaned(text if len(text) <= most else text[:most] + "…")


def save() -> None:
    """Write what was chosen into the address; not on a first visit, for the Back button."""
    state = this_session()
    link, page = chosen(), state.page
    # What the browser says may be of a moment ago: what was written last is on its way there.
    on_page, on_its_way = state.written or (page, link)
    is_late = on_page == page and on_its_way != link
    if is_late or (st.query_params.to_dict() or state.first) != link:
        st.query_params.from_dict(link)
    state.written = (page, link)


@source()
def value(name: str) -> Any:
    """That of a control."""
    return the_session().values.now(name)


in_widget = value.displayed("a widget")
in_picture = value.displayed("a picture")
"""The same where it stands in what the browser moves by itself."""


@source(own=True)
def draft(name: str) -> tuple[str | None, str | None]:
    """What was typed and cannot be used, and why."""
    return this_session().drafts.get(name), this_session().problems.get(name)


@source(own=True)
def notices(_: str) -> tuple[str, ...]:
    """What was not applied, in words."""
    return tuple(this_session().notices)


@source(own=True)
def all_chosen(_: str) -> tuple[tuple[str, str], ...]:
    """All that was chosen, as a link says it."""
    return tuple(chosen().items())


@source(own=True)
def differs(_: str) -> bool:
    """Whether anything is otherwise than it starts, or than the preset has it."""
    return is_changed()


def values() -> Values:
    """The values of this page's controls, also in a part of it that runs alone."""
    return the_session().values


def chosen() -> Texts:
    """What was chosen and fits here, as a link says it; what does not fit stays out of links."""
    return this_session().chosen_here()


@source()
def fixed(_: str) -> frozenset[str]:
    """The names of what the link fixes; a card may read it."""
    return this_session().fixes()


def with_preset(preset: Mapping[str, str], controls: Sequence[Control]) -> Texts:
    """All that is chosen with another preset: its own, and what stays or is fixed."""
    now = {n: text for n, text in this_session().fixed.items() if n in fixed()}
    return after_preset({**now, **chosen()}, preset, controls, fixed())


def try_to_choose(texts: Texts) -> str | None:
    """In an event: choose texts as a link does. Returns what stops them."""
    check_event("`try_to_choose`")
    state = this_session()
    state.drafts = {n: text for n, text in state.drafts.items() if n not in texts}
    return _try(texts)


def change(**chosen: Any) -> bool:
    """In an event: change values, or refuse with a notice. Whether done."""
    check_event("`change`")
    fields = {each.name: each.field for each in this_session().controls}
    if not fields.keys() >= chosen.keys():
        return False  # what was pressed stood on a page that is left
    problem = try_to_choose({name: fields[name].write(value) for name, value in chosen.items()})
    if problem:
        this_session().notices = [f"Not applied: {problem}"]
    return problem is None


def leave_out(name: str, unknown: Collection[str]) -> None:
    """Take names out of what a control lists, which no page has, and say so."""
    state = this_session()
    names = [each for each in chosen()[name].split(",") if each not in unknown]
    told = ", ".join(f"“{quoted(each, 20)}”" for each in sorted(unknown)[:MAX_UNKNOWN])
    is_none = "is none. It was left out" if len(unknown) == 1 else "are none. They were left out"
    what = f"The link’s {name} must have names of controls, and {told} {is_none}."
    state.notices.append(what)
    state.chosen[name] = ",".join(names)
    if not names:
        del state.chosen[name]
    _understand_anew()
    save()


def say(notice: str) -> None:
    """Something that was not applied, in words. It may quote the person."""
    this_session().was_touched = True
    this_session().notices += [notice]


def forget(*names: str) -> None:
    """From a callback: back to their starts."""
    _go_back_first()
    state = this_session()
    state.was_touched = True
    for name in names:
        state.chosen.pop(name, None)
        state.drafts.pop(name, None)
    _understand_anew()
    save()


def used(name: str, raw: object) -> bool:
    """In an event of a control: take what its widget has, or keep it as a draft and say
    what is wrong. Returns whether it was taken.

    What did not fit before is tried again along with it: four heads and a width of 8 may fit each
    other where neither fits what was there.
    """
    check_event("`used`")
    state = this_session()
    control = _control(name)
    if control is None or name in state.locked():
        return False
    text = _as_text(control, raw)
    if text is None:
        return False  # no browser sends such; the widget is given its own value again
    drafts = {**({} if name in state.first else state.drafts), name: text}
    for tried in (drafts, {name: text}):
        problem = _try(tried)
        if problem is None:
            break
    else:
        state.was_touched = True
        state.drafts = drafts
        state.problems[name] = problem
        return False
    state.drafts = {n: draft for n, draft in drafts.items() if n not in tried}
    if remark := getattr(control.field, "remark", lambda _: None)(text):
        state.notices.append(remark)
    return True


def _control(name: str) -> Control | None:
    return next((each for each in this_session().controls if each.name == name), None)


def _as_text(control: Control, raw: object) -> str | None:
    """What a widget has as a link says it; None where it has what it cannot."""
    if isinstance(raw, str) and not isinstance(control.field, Choice):
        return raw  # typed, also where a slider stands elsewhere
    try:
        text = control.field.write(raw)
        control.field.read(text)
    except (ValueError, TypeError, AttributeError):
        return None
    return text


def _understand_anew() -> None:
    """After what was chosen has changed: the values that it stands for now."""
    _understand_as(understood(this_session().chosen, this_session().controls))


def _understand_as(known: Understood) -> None:
    state, (values, wrong) = this_session(), known
    state.values, state.unfit = values.read_by(value.touch), {*wrong}


def _try(texts: Texts, is_preset: bool = False) -> str | None:
    """Choose these texts if they can be used beside all else; returns what stops them, in words.
    With a preset, nothing else stays of what was chosen.
    """
    _go_back_first()
    state = this_session()
    controls, before = state.controls, state.values
    is_preset = is_preset or bool(state.first.keys() & texts.keys())
    if is_preset:
        preset = {name: texts.get(name, text) for name, text in state.first.items()}
        texts_now = with_preset(preset, controls)
    else:
        texts_now = {**state.chosen, **state.asked, **texts}
    now, wrong = known = understood(texts_now, controls)
    moved = set() if is_preset else now.changed(before)
    undone = {n for each in controls if each.name in moved for n in each.undoes} - texts.keys()
    for name, why in wrong.items():
        control = _control(name)
        # What was moved while its choices changed is kept, as what has no room any more is.
        is_kept = isinstance(why, NoRoom) and not (name in texts and control.drawn_as in TYPED)
        if not is_kept and (name in texts or name not in {*state.unfit, *undone}):
            return f"{control.label or name}: {why}."
    along = set() if is_preset else {each.name for each in controls if each.fits}
    for name in fixed() & {*texts, *along}:
        if now[name] != before[name]:
            return f"the link that you opened fixes “{_control(name).label}”."
    undone &= texts_now.keys()
    notices = state.says_undone(undone) if undone else []
    if undone:
        texts_now = {name: text for name, text in texts_now.items() if name not in undone}
        known = understood(texts_now, controls)
    asked = {name: text for name, (text, _) in fitted(texts_now, controls, known).items()}
    texts_now = written(texts_now, controls, known)
    length = len(urlencode(texts_now))
    if length > MAX_LINK:
        return (
            f"The link to this page would have {length:,} characters, and {MAX_LINK:,} fit. "
            f"{state.shorten}"
        )
    state.was_touched, state.chosen, state.notices, state.asked = True, texts_now, notices, asked
    _understand_as(known)
    save()
    return None


@source()
def fitted_because(name: str) -> str:
    """Why a value is not the one that was asked for, in a sentence; "" where it is."""
    state = this_session()
    if name not in state.asked:
        return ""
    return fitted({**state.chosen, name: state.asked[name]}, state.controls).get(name, ("", ""))[1]


def offered(control: Control, choices: Mapping[Any, str]) -> Mapping[Any, str]:
    """The choices that would take nothing along that the link fixes."""
    state = this_session()
    controls, before = state.controls, state.values
    along = {each.name for each in controls if each.fits} & fixed() - {control.name}
    if not along:
        return choices
    texts_now = {**state.chosen, **state.asked}

    def leaves(value: Any) -> bool:
        now, _ = understood({**texts_now, control.name: control.field.write(value)}, controls)
        return all(now[name] == before[name] for name in along)

    return {value: words for value, words in choices.items() if leaves(value)}


def problem(name: str) -> str | None:
    """What is wrong with what was typed into a control, if anything is."""
    typed, why = draft(name)
    return None if typed is None else why


def link_query(where: str) -> Texts:
    """Parameters for the links to other pages that stand somewhere: all that they can use."""
    of_page = {each.name for each in this_session().controls if each.of_page}
    carried = {name: text for name, text in chosen().items() if name not in of_page}
    linked = this_session().linked
    if linked.get(where, carried) != carried:  # a click may be on its way to the one before
        linked[f"{where}, before"] = linked[where]
    linked[where] = carried
    return carried


def _preset() -> Texts:
    """The preset that is chosen; nothing where there is none."""
    now = chosen()
    return {name: now[name] for name in this_session().first}


def is_changed() -> bool:
    """Whether going back to the start would change anything that this page has a control for."""
    controls, now = this_session().controls, chosen()
    back = after_preset(now, _preset(), controls, fixed())
    return any(back.get(each.name) != now.get(each.name) for each in controls)


def reset() -> None:
    """In an event: back to the preset’s own values, or all starts, but for what the link fixes."""
    check_event("`reset`")
    state = this_session()
    state.drafts = {}
    _try(_preset(), is_preset=True)
