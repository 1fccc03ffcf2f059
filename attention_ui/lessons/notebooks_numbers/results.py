"""The results of a notebook: one table, and below it the row that is chosen, with both values."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest

import pandas as pd
import streamlit as st

from attention_core.published import Result, notebook, report
from attention_core.published.writing import rows

from ...controls.control import Values
from ...words import escaped
from .check import outcomes
from .lesson_links import Link, links_to

HEIGHT, CODE, FEW = 177, 88, 2
"""Pixels of the table, and of what is printed and computed below; few lines take less."""
FULL, LEAST = 84, 8
"""Characters of a line of entries; and how many entries are never broken."""
GAP = "  "
LEGEND = {
    report.PRINT: (":green[:material/check:]", "matches as printed"),
    report.SLACK: (":green[:material/check:]", "within the slack"),
    report.OLDER: (":blue[:material/history:]", "by an older version"),
    report.NEVER: (":gray[:material/remove:]", "cannot be computed"),
    report.DIFFERS: (":orange[:material/close:]", "differs"),
    report.PENDING: (":gray[:material/hourglass_empty:]", "not yet computed"),
}
"""What came of a result: its sign, and in words."""
KINDS = {
    "tensor": "tensor",
    "scalar": "number",
    "ints": "whole numbers",
    "shape": "shape",
    "bool": "True or False",
    "text": "text",
    "derived": "relation",
}


def how_many(values: Values) -> str:
    """How many results are shown, and of what notebook."""
    n_shown, n_all = len(asked_for(values)), len(outcomes()[values.notebook])
    told = f"All {n_all} results" if n_shown == n_all else f"{n_shown} of {n_all} results"
    return f"**{told}** :gray[:small[{notebook(values.notebook).source}]]"


def asked_for(values: Values) -> list[report.Outcome]:
    """Results in which each word of the search stands, in words or digits."""
    wanted = values.search.replace("−", "-").casefold().split()
    return [
        each
        for each in outcomes()[values.notebook]
        if all(word in _said(each).casefold() for word in wanted)
    ]


def _said(outcome: report.Outcome) -> str:
    result = outcome.result
    said = [result.id, result.description, result.how, result.note, result.reason]
    printed = [entry for _, row, _ in rows(result, None) for entry in row]
    return "\n".join([*said, _sized(result), LEGEND[outcome.verdict][1], *printed])


def show_table(values: Values) -> None:
    """The results asked for, a row each, and below them the chosen one."""
    shown = asked_for(values)
    if not shown:
        return
    ways = links_to(values.notebook, shown)
    # Another search, another table: a row that was chosen is none of its rows.
    key = f"{values.notebook}_{abs(hash(tuple(each.result.id for each in shown))) % 10**6}"
    event = st.dataframe(
        _table(shown, ways),
        hide_index=True,
        height=HEIGHT,
        width="stretch",
        key=f"results_{key}",
        on_select="rerun",
        selection_mode="single-row",
    )
    at = next((at for at in event["selection"]["rows"] if at < len(shown)), 0)
    _one(shown[at], ways[at])


def _table(shown: Sequence[report.Outcome], ways: Sequence[Link | None]) -> pd.DataFrame:
    """A row for each result: what it is, what came of it, what is printed, where it is shown."""
    return pd.DataFrame(
        {
            "name": [each.result.id for each in shown],
            "result": [_begun(each.result.description) for each in shown],
            "kind": [_sized(each.result) for each in shown],
            "what came of it": [LEGEND[each.verdict][1] for each in shown],
            "shown in": [way.lesson.title if way else "" for way in ways],
            "printed": [_first(each.result) for each in shown],
        }
    )


def _first(result: Result) -> str:
    entries = [entry for _, printed, _ in rows(result, None) for entry in printed]
    text = " ".join(entries[:4])
    return text if len(entries) <= 4 else f"{text} …"


def _one(outcome: report.Outcome, way: Link | None) -> None:
    """One result: what it is, what came of it, its recipe, where it is shown, and both values."""
    with st.container(key=f"result_{outcome.result.id}", gap="xsmall"):
        _beside_its_lesson(outcome, way)
        code = side_by_side(outcome)
        st.code(code, language=None, height=CODE if code.count("\n") > FEW else "content")


def _beside_its_lesson(outcome: report.Outcome, way: Link | None) -> None:
    with st.container(horizontal=True, horizontal_alignment="distribute", gap="small"):
        st.markdown(_told(outcome, has_lesson=way is not None), width=620)
        if way is not None:
            st.page_link(
                way.lesson.page,
                label=f"See it in *{way.lesson.title}*",
                icon=way.lesson.icon,
                query_params=way.query,
                disabled=bool(way.why_not),
                help=way.why_not or "Open it there, with these numbers.",
            )


def _sized(result: Result) -> str:
    """Its kind, and how large it is: `tensor 11 × 3`."""
    is_sized = result.shape and result.kind != "shape"
    return f"{KINDS[result.kind]} {' × '.join(map(str, result.shape)) if is_sized else ''}".strip()


def _told(outcome: report.Outcome, has_lesson: bool) -> str:
    """What a result is, what came of it, and its recipe: a line each."""
    result = outcome.result
    about = f"{_sized(result)}, line {result.source_line}"
    lines = [
        f"**{escaped(_begun(result.description))}** :gray[:small[{about}]]",
        f"{LEGEND[outcome.verdict][0]} {says(outcome)}",
        f":gray[:small[Recipe: {escaped(result.how)}.]]",
    ]
    if not has_lesson and outcome.verdict not in (report.NEVER, report.PENDING):
        lines.append(":gray[:small[No lesson draws it: it is computed for this page alone.]]")
    return "  \n".join(lines)


def says(outcome: report.Outcome) -> str:
    """What came of a result, and why, in a sentence or two."""
    result = outcome.result
    told = {
        report.PRINT: "Matches as printed.",
        report.OLDER: "Matches, by an older version of the code.",
        report.NEVER: f"Cannot be computed: {result.reason}.",
        report.PENDING: "Not computed yet.",
        report.DIFFERS: f"Differs: {outcome.matching:,} of {result.count:,} entries match.",
    }.get(outcome.verdict)
    if told is None:
        some = f", {outcome.check.by_slack:,} of {result.count:,} entries" * (result.count > 1)
        needed = sorted(result.differing_by_environment.values())
        measured = f" ({needed[0]} to {needed[-1]} on those that were measured)" if needed else ""
        told = f"Matches{some} by the slack between processors{measured}."
    return f"{told} {escaped(_begun(result.note))}." if result.note else told


def _begun(words: str) -> str:
    return words[:1].upper() + words[1:]


def side_by_side(outcome: report.Outcome) -> str:
    """Each printed row above the computed one, a sign before an entry that differs."""
    return "\n".join(_lines(outcome))


def _lines(outcome: report.Outcome) -> Iterator[str]:
    for number, (place, printed, computed) in enumerate(rows(outcome.result, outcome.computed)):
        cell = max(map(len, [*printed, *computed]), default=0) + len(GAP)
        fits = max(LEAST, FULL // cell)
        for at in range(0, len(printed), fits):
            if number or at:
                yield ""
            if place and not at:
                yield "".join(f"[{index}]" for index in place)
            above, below = _in_columns([each[at : at + fits] for each in (printed, computed)])
            yield f"printed   {above}"
            if computed:
                yield f"computed  {below}"


def _in_columns(lines: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip_longest(*lines, fillvalue="")]
    return [
        GAP.join(entry.rjust(width) for entry, width in zip(line, widths, strict=False))
        for line in lines
    ]
