"""The results of a notebook: which are shown, and each beside what is computed here."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest

import pandas as pd
import streamlit as st

from attention_core.examples import EXAMPLES
from attention_core.published import NOTEBOOKS, Result, notebook, report
from attention_core.published.writing import Row, rows

from ...controls.control import Values
from ...words import escaped, listed
from .check import Found
from .lesson import KINDS, LEGEND
from .lesson_links import Link, Links

HEIGHT, CODE, FEW = 177, 88, 2
"""Pixels of the table, and of what is printed and computed below it: both can be scrolled. Of few
lines it takes less.
"""
NARROW = 4
"""Rows of so many entries stand beside the computed ones, longer ones above them."""
FULL = 84
"""Characters of a line of entries."""
LEAST = 8
"""Entries of a line, however wide they are: rows of as many are not broken."""
GAP = "  "
NARROW_LINE = 620
SIGNS = {
    report.PRINT: ":green[:material/check:]",
    report.SLACK: ":green[:material/check:]",
    report.OLDER: ":blue[:material/history:]",
    report.NEVER: ":gray[:material/remove:]",
    report.DIFFERS: ":orange[:material/close:]",
    report.PENDING: ":gray[:material/hourglass_empty:]",
}


def show_results(values: Values, found: Found) -> None:
    """The results that are asked for, in the order of the notebook: a row each, and below them the
    one whose row is chosen, with the way to the lesson that shows it.
    """
    by_notebook = {name: list(_asked_for(name, values, found)) for name in NOTEBOOKS}
    shown = by_notebook[values.notebook]
    n_all = len(notebook(values.notebook).results)
    elsewhere = [
        f"*{EXAMPLES[name].title}* has {len(each)}"
        for name, each in by_notebook.items()
        if each and name != values.notebook
    ]
    is_all = len(shown) == n_all
    told = f"**All {n_all} results**" if is_all else f"**{len(shown)} of {n_all} results**"
    others = None if is_all or not elsewhere else f"Of the other notebooks, {listed(elsewhere)}."
    with st.container(horizontal=True, gap="medium"):
        told = f"{told} :gray[:small[{notebook(values.notebook).source}]]"
        st.markdown(told, width="content", help=others)
        if values.search:
            st.text(f"Searched for: {values.search}")  # plain: it is the person's
    if shown:
        _table(values.notebook, shown)


@st.fragment
def _table(name: str, shown: Sequence[report.Outcome]) -> None:
    links = Links(name)
    ways = [links.to(outcome) for outcome in shown]
    # Another filter, another table: a row that was chosen is none of its rows.
    key = f"results_{name}_{abs(hash(tuple(each.result.id for each in shown))) % 10**6}"
    event = st.dataframe(
        table_of(shown, ways),
        hide_index=True,
        height=HEIGHT,
        width="stretch",
        key=key,
        on_select="rerun",
        selection_mode="single-row",
    )
    rows_chosen = event["selection"]["rows"]
    at = rows_chosen[0] if rows_chosen and rows_chosen[0] < len(shown) else 0
    _one(name, shown[at], ways[at])


def table_of(shown: Sequence[report.Outcome], ways: Sequence[Link | None]) -> pd.DataFrame:
    """A row for each result: what it is, what came of it, what is printed, where it is shown."""
    return pd.DataFrame(
        {
            "name": [each.result.id for each in shown],
            "result": [_begun(each.result.description) for each in shown],
            "kind": [_sized(each.result) for each in shown],
            "what came of it": [LEGEND[each.verdict] for each in shown],
            "shown in": [way.lesson.title if way else "" for way in ways],
            "printed": [_first(each.result) for each in shown],
        }
    )


def _first(result: Result) -> str:
    """The beginning of what is printed."""
    entries = [entry for _, printed, _ in rows(result, None) for entry in printed]
    text = " ".join(entries[:4])
    return text if len(entries) <= 4 else f"{text} …"


def _one(name: str, outcome: report.Outcome, way: Link | None) -> None:
    """One result: what it is, what came of it, its recipe, where it is shown, and both values."""
    with st.container(key=f"result_{name}_{outcome.result.id}", gap="xsmall"):
        with st.container(horizontal=True, horizontal_alignment="distribute", gap="small"):
            st.markdown(_told(outcome, has_lesson=way is not None), width=NARROW_LINE)
            if way is not None:
                st.page_link(
                    way.lesson.page,
                    label=f"See it in *{way.lesson.title}*",
                    icon=way.lesson.icon,
                    query_params=way.query,
                    disabled=bool(way.why_not),
                    help=way.why_not or "Open it there, with these numbers.",
                )
        code = side_by_side(outcome)
        st.code(code, language=None, height=CODE if code.count("\n") > FEW else "content")


def _asked_for(name: str, values: Values, found: Found) -> Iterator[report.Outcome]:
    known = {outcome.result.id: outcome for outcome in found.outcomes[name]}
    for result in notebook(name).results.values():
        outcome = known.get(result.id, report.Outcome(result, None))
        is_kind = values.kind in ("all", result.kind)
        is_verdict = values.verdict in ("all", outcome.verdict)
        if is_kind and is_verdict and _holds(result, values.search):
            yield outcome


def _holds(result: Result, search: str) -> bool:
    """Whether each word of a search stands in what is said of a result or in its digits."""
    said = [result.id, result.description, result.how, result.note, result.reason]
    said += [KINDS[result.kind], _size(result)]
    said += [entry for _, printed, _ in rows(result, None) for entry in printed]
    text = "\n".join(said).casefold()
    return all(word in text for word in search.replace("−", "-").casefold().split())


def _sized(result: Result) -> str:
    """Its kind, and how large it is: `tensor 11 × 3`."""
    size = f" {_size(result)}" if result.shape and result.kind != "shape" else ""
    return f"{KINDS[result.kind]}{size}"


def _size(result: Result) -> str:
    return " × ".join(map(str, result.shape))


def _told(outcome: report.Outcome, has_lesson: bool) -> str:
    """What a result is, what came of it, and its recipe: a line each."""
    result = outcome.result
    about = f"{_sized(result)}, line {result.source_line}"
    lines = [
        f"**{escaped(_begun(result.description))}** :gray[:small[{about}]]",
        f"{SIGNS[outcome.verdict]} {says(outcome)}",
        f":gray[:small[Recipe: {escaped(result.how)}.]]",
    ]
    if not has_lesson and outcome.verdict not in (report.NEVER, report.PENDING):
        lines.append(":gray[:small[No lesson draws it: it is computed for this page alone.]]")
    return "  \n".join(lines)


def says(outcome: report.Outcome) -> str:
    """What came of a result, and why, in a sentence or two."""
    result = outcome.result
    note = f" {escaped(_begun(result.note))}." if result.note else ""
    match outcome.verdict:
        case "never":
            return f"Cannot be computed: {result.reason}.{note}"
        case "pending":
            return "Not computed yet."
        case "differs":
            return f"Differs: {outcome.matching:,} of {result.count:,} entries match.{note}"
        case "older":
            return f"Matches, by an older version of the code.{note}"
        case "slack":
            n_slack = outcome.check.by_slack
            some = f", {n_slack:,} of {result.count:,} entries" if result.count > 1 else ""
            return f"Matches{some} by the slack between processors{_measured(result)}.{note}"
    return f"Matches as printed.{note}"


def _measured(result: Result) -> str:
    """How many entries needed the slack on the processors that were measured."""
    needed = sorted(result.differing_by_environment.values())
    return f" ({needed[0]} to {needed[-1]} on those that were measured)" if needed else ""


def _begun(words: str) -> str:
    return words[:1].upper() + words[1:]


def side_by_side(outcome: report.Outcome) -> str:
    """The printed entries and the computed ones, in the printed digits and in columns; a sign
    stands before an entry that does not print alike.
    """
    lines = list(rows(outcome.result, outcome.computed))
    longest = max((len(printed) for _, printed, _ in lines), default=0)
    if len(lines) > 1 and longest <= NARROW:
        return "\n".join(_beside(lines))
    return "\n".join(_one_above_the_other(lines))


def _beside(lines: Sequence[Row]) -> Iterator[str]:
    """Each printed row to the left of the computed one."""
    left, right = (_in_columns([each[at] for each in lines]) for at in (1, 2))
    width = max(len("printed"), *map(len, left))
    yield f"{'printed':<{width}}    {'computed' if any(right) else ''}".rstrip()
    for printed, computed in zip(left, right, strict=True):
        yield f"{printed:<{width}}    {computed}".rstrip()


def _one_above_the_other(lines: Sequence[Row]) -> Iterator[str]:
    """Each printed row above the computed one, both broken where a line is full."""
    for number, (place, printed, computed) in enumerate(lines):
        cell = max(map(len, [*printed, *computed]), default=0) + len(GAP)
        fits = max(LEAST, FULL // cell)
        for at in range(0, len(printed), fits):
            if number or at:
                yield ""
            if place and not at:
                yield "".join(f"[{index}]" for index in place)
            parts = [each[at : at + fits] for each in (printed, computed)]
            above, below = _in_columns(parts)
            yield f"printed   {above}"
            if computed:
                yield f"computed  {below}"


def _in_columns(lines: Sequence[Sequence[str]]) -> list[str]:
    """Entries of several lines below each other."""
    widths = [max(map(len, column)) for column in zip_longest(*lines, fillvalue="")]
    return [
        GAP.join(entry.rjust(width) for entry, width in zip(line, widths, strict=False))
        for line in lines
    ]
