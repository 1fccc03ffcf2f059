"""What this page and the published notebook agree on, checked on the tensors of the page."""

from collections.abc import Iterable

import pandas as pd
import streamlit as st

from attention_core.compare import changes
from attention_core.examples import EXAMPLES
from attention_core.published import PLACES, Mark, notebook

from ..settings import session
from ..settings.fit import changed
from ..settings.link import problem_with
from ..settings.settings import VIEW_ONLY, Settings, label
from .show import folded, light, note
from .view import View


def matches(view: View, beat_name: str, steps: Iterable[str]) -> None:
    """One line below an equation: how many printed numbers its steps agree with.

    Says nothing of a changed example: a few values, such as sums of 1, match in any case.
    """
    if not view.all_match:
        return
    new = {step for step in steps if view.is_first(f"matches of {step}", beat_name)}
    agreeing = [mark for mark in view.marks if mark.place.step in new]
    if agreeing:
        count = sum(mark.check.published for mark in agreeing)
        names = ", ".join(f"`{name}`" for name in dict.fromkeys(m.place.step for m in agreeing))
        entries = "1 printed value" if count == 1 else f"{count:,} printed values"
        st.caption(f":green[:material/check:] {names}: {entries} of the notebook, all matching.")


def proof(view: View, *others: View) -> None:
    """The published numbers that this page reproduces, each with what the screen has; nothing where
    the notebook prints none of the lesson.

    `others` are further traces that the page shows, such as an experiment's.
    """
    example = EXAMPLES[view.settings.example]
    say_covered(view, *others)
    if not example.notebook:
        return
    marks = [mark for each in (view, *others) for mark in each.marks]
    queries = [] if marks else _printed_queries(view)
    if not (marks or queries):
        return
    st.header("Checked against the notebook", anchor="notebook")
    if not marks:
        which = " and ".join(map(str, queries))
        st.markdown(f"This notebook prints numbers of this lesson for query {which} only.")
        return
    good = sum(mark.check.matching for mark in marks)
    count = sum(mark.check.published for mark in marks)
    st.caption(notebook(example.notebook).source)
    if good == count:
        all_of_them = "The one value" if count == 1 else f"All {count:,} values"
        verb = "matches" if count == 1 else "match"
        light(True, f"{all_of_them} that the notebook prints of these steps {verb}.")
    else:
        culprits = _changes(view) or "something"
        note(
            f"{good:,} of the {count:,} values that the notebook prints of these steps match: "
            f"you changed *{culprits}*.",
        )
    if by_slack := sum(mark.check.by_slack for mark in marks):
        st.caption(_slack_words(by_slack))
    with folded("The printed values, one by one", "proof", ":material/fact_check:") as is_open:
        if not is_open:
            return
        st.dataframe(_table(marks), hide_index=True, width="stretch")
        for mark in marks:
            if not mark.result.reproduces_as_shown:
                st.caption(f"`{mark.result.id}`: {mark.result.note}.")


def say_covered(view: View, *others: View) -> None:
    """Say so where the link's cell is in a trace, but in no equation on the page."""
    is_there = any(each.trail for each in (view, *others))
    if view.settings.cell and is_there and session.OPEN_IN not in st.session_state:
        st.text("The link's cell is in a part of the lesson that is covered, or not on this page.")


def _printed_queries(view: View) -> list[int]:
    """The queries for which the notebook prints numbers of the lesson, if it prints those only."""
    name = EXAMPLES[view.settings.example].notebook
    places = [place for place in PLACES[name].values() if place.lesson == view.lesson]
    here = [place.query for place in places if place.is_for(name, view.settings.example)]
    return [] if None in here else sorted({*here})


def _slack_words(by_slack: int) -> str:
    matches, their = ("match", "their") if by_slack > 1 else ("matches", "its")
    return (
        f"{by_slack:,} of these {matches} only within the differences measured between processors. "
        f"Each processor adds in its own order, so {their} last printed digit may differ."
    )


def _table(marks: list[Mark]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "what": [mark.result.description for mark in marks],
            "here": [_where(mark) for mark in marks],
            "matching": [f"{mark.check.matching} of {mark.check.published}" for mark in marks],
            "printed": [_beginning(mark.result.values) for mark in marks],
            "only by slack": [mark.check.by_slack for mark in marks],
            "largest difference": [mark.check.largest_difference for mark in marks],
            "notebook line": [mark.result.source_line for mark in marks],
        }
    )


def _where(mark: Mark) -> str:
    index = ", ".join(map(str, mark.place.index))
    return mark.place.step + (f"[{index}]" if index else "")


def _beginning(values: object) -> str:
    """The first few printed values."""
    text = str(values).replace("'", "")
    return text if len(text) <= 60 else text[:57] + "…"


def _changes(view: View) -> str:
    """The labels of the settings that differ from the example's and change the numbers here. If
    there are several, only those count that change the trace when they alone are put back.
    """
    settings = view.settings
    plain = Settings.of(EXAMPLES[settings.example])
    other = [
        name
        for name, value in vars(settings).items()
        if name not in VIEW_ONLY and value != getattr(plain, name)
    ]
    if view.build is not None and len(other) > 1:
        other = [name for name in other if _matters(view, name, getattr(plain, name))] or other
    return "; ".join(map(label, other))


def _matters(view: View, name: str, before: object) -> bool:
    """Whether the numbers of the lesson change when this setting alone is put back."""
    back = changed(view.settings, **{name: before})
    if problem_with(back):
        return True
    trace = view.build(back)
    return any(each.changed for each in changes(trace, view.trace)) or trace.keys() != (
        view.trace.keys()
    )
