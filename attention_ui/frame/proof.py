"""What this page and the published notebook agree on, checked on the tensors of the page."""

from collections.abc import Sequence
from functools import cache

import pandas as pd
import streamlit as st

from attention_core.changes import changes
from attention_core.published.marking import Mark, marks
from attention_core.published.printed import notebook
from attention_core.published.recipe import RECIPES
from attention_core.trace import Trace

from ..controls.shared import example_of
from ..reactive import settings
from ..reactive.control import Control, understood
from .data_frame import put_frame
from .lesson_modules import controls_of, module_of
from .lights import light, note

ROW = {"qkv": "token", "softmax_or_sum": "row_query"}
"""By the lesson, the control that chooses the row which is expanded into steps of its own."""


@cache
def published_lessons() -> set[str]:
    """The names of lessons that a published number stands in."""
    every = (each for recipes in RECIPES.values() for each in recipes.values())
    return {place.lesson for each in every for place in each.places}


def marks_of(lesson: str, trace: Trace) -> list[Mark]:
    """The numbers that the notebook prints of a published lesson, checked on a trace."""
    values = settings.values()
    example, query = example_of(values), values.get(ROW.get(lesson, "query"))
    return marks(example.notebook, example.name, lesson, trace, query)


def proof(page: str, marks: Sequence[Mark]) -> None:
    """The published numbers that this page reproduces, each with what the screen has."""
    st.header("Checked against the notebook", anchor="notebook")
    good = sum(mark.check.matching for mark in marks)
    count = sum(mark.check.published for mark in marks)
    st.caption(notebook(example_of(settings.values()).notebook).source)
    if good == count:
        all_of_them = "The one value" if count == 1 else f"All {count:,} values"
        verb = "matches" if count == 1 else "match"
        light(True, f"{all_of_them} that the notebook prints of these steps {verb}.")
    else:
        named = [each.label or each.name for each in culprits_of(page)]
        culprits = "; ".join(named) or "something"
        note(
            f"{good:,} of the {count:,} values that the notebook prints of these steps match: "
            f"you changed *{culprits}*."
        )
    if by_slack := sum(mark.check.by_slack for mark in marks):
        st.caption(_slack_words(by_slack))
    look = {"icon": ":material/fact_check:", "on_change": "rerun"}
    fold = st.expander("The printed values, one by one", key="fold_proof", **look)
    if not fold.open:
        return
    with fold:
        put_frame(_table(marks), width="stretch")
        for mark in marks:
            if not mark.result.reproduces_as_shown:
                st.caption(f"`{mark.result.id}`: {mark.result.note}.")


def _slack_words(by_slack: int) -> str:
    matches, their = ("match", "their") if by_slack > 1 else ("matches", "its")
    return (
        f"{by_slack:,} of these {matches} only within the differences measured between processors. "
        f"Each processor adds in its own order, so {their} last printed digit may differ."
    )


def _table(marks: Sequence[Mark]) -> pd.DataFrame:
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
    text = str(values).replace("'", "")
    return text if len(text) <= 60 else text[:57] + "…"


def culprits_of(page: str) -> list[Control]:
    """Changed controls of a lesson that change its numbers; of several, those that alone do."""
    controls, texts, trace_of = controls_of(page), settings.chosen(), module_of(page).trace_of
    plain, _ = understood({"example": texts["example"]}, controls)
    values, _ = understood(texts, controls)

    def matters(one: Control) -> bool:
        others = {name: text for name, text in texts.items() if name != one.name}
        back, wrong = understood(others, controls)
        if wrong:
            return True
        before = trace_of(back)
        return before.keys() != trace.keys() or any(each.changed for each in changes(before, trace))

    other = [
        each
        for each in controls
        if each.name in texts and not (each.stays or each.of_page)
        if values[each.name] != plain[each.name]
    ]
    if len(other) < 2:
        return other
    trace = trace_of(values)
    return [each for each in other if matters(each)] or other
