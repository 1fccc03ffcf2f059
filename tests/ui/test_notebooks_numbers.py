"""The page of the notebooks' numbers: every result, its totals, its filter and its links."""

import json
import random
from dataclasses import replace
from urllib.parse import parse_qsl

import pandas as pd
import pytest

from attention_core.published import NOTEBOOKS
from attention_core.published.report import each_outcome, main
from attention_ui.lessons.notebooks_numbers import check as checks
from attention_ui.lessons.notebooks_numbers.results import says, side_by_side
from conftest import ROOT
from hostile import MARK, TEXTS
from visiting import rendered, stands, texts, visit, words

PAGE = "notebooks_numbers"
DATA = {
    name: json.loads((ROOT / "attention_core" / "published" / f"{name}.json").read_text())
    for name in NOTEBOOKS
}


def table(at):
    return at.main.dataframe[0].value if at.main.dataframe else pd.DataFrame({"name": []})


def choose(at, row):
    key = "results_" + at.main.dataframe[0].proto.id.rpartition("-results_")[2]
    at.session_state[key] = {"selection": {"rows": [row], "columns": [], "cells": []}}
    return stands(at.run())


def way(at):
    links = [each.proto for each in at.main.get("page_link")]
    return next((each for each in links if each.label.startswith("See it in")), None)


def flat(values):
    return [each for p in values for each in flat(p)] if isinstance(values, list) else [values]


def digits(result):
    """The printed entries of a result, read from the data without the core."""
    if result["kind"] not in ("tensor", "scalar"):
        return [str(each) for each in flat(result["values"])]
    if result.get("decimals") is None:
        return [f"{each:.{result['significant'] - 1}e}" for each in flat(result["values"])]
    return [f"{each:.{result['decimals']}f}" for each in flat(result["values"])]


@pytest.mark.slow("3 s: whole pages")
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_shows_all_its_results_in_a_table(name):
    shown = table(stands(visit(PAGE, notebook=name)))
    results = DATA[name]["results"]
    assert shown["name"].tolist() == [each["id"] for each in results]
    for result, printed, came in zip(results, shown["printed"], shown["what came of it"]):  # noqa: B905
        first = digits(result)[: 4 if result["kind"] not in ("text", "derived") else 0]
        assert printed.replace("…", "").split()[: len(first)] == first
        assert ("cannot" in came) == (not result["reproduces"])
        older = result["reproduces"] and not result["reproduces_as_shown"]
        assert ("older" in came) == older


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_of_every_result_both_values_can_be_read(name):
    for outcome in each_outcome(name):
        result = next(each for each in DATA[name]["results"] if each["id"] == outcome.result.id)
        told = side_by_side(outcome)
        assert "≠" not in told
        told = told.replace("≈", "").split()
        if result["kind"] not in ("text", "derived"):
            wanted = digits(result)
            for entry in wanted:
                assert told.count(entry) >= wanted.count(entry), (result["id"], entry)
        assert ("computed" in told) == result["reproduces"]
        if not result["reproduces"]:
            assert result["reason"] in says(outcome)
        if result["reproduces"] and not result["reproduces_as_shown"]:
            assert "by an older version of the code" in says(outcome)


def test_the_row_that_is_chosen_is_told_below_with_the_way_to_its_lesson():
    at = visit(PAGE, notebook="wild_cat")
    shown = table(at)
    assert way(at).page == "tokenize_and_embed", "the first, before any is chosen"
    at = choose(at, shown["name"].tolist().index("context_0"))
    assert "printed   1.1176  0.9091  0.6043" in at.main.code[0].value
    assert way(at).page == "simplified_attention"
    assert way(at).label == "See it in *Simplified attention*"
    at.text_input(key="control_search").set_value("shape").run()
    at = stands(at)
    assert len(at.main.code) == 1
    assert 0 < len(table(at)) < len(shown), "another table, another row"


def test_the_totals_are_those_of_the_report(capsys):
    assert main() == 0
    total = capsys.readouterr().out.splitlines()[-1].split()
    at = visit(PAGE)
    said = words(at)
    assert f"**{total[1]} of the {total[3]} numbers** come out again" in said
    for good, count, what in (
        (total[7], total[9], "sizes of shapes"),
        (total[10], total[12], "answers of True or False"),
        (total[13], total[15], "texts"),
    ):
        assert f"{good} of {count} {what}" in said
    assert "other 40 cannot be computed by anybody: 36 were invented for a diagram and 4" in said
    assert "3 results come only out of an older version" in said
    assert "1,470 of 1,470 numbers come out again" in said
    assert "893 of 929 numbers come out again" in said


SEARCHES = {
    "digits": {"search": "0.7682"},
    "a minus of ours": {"search": "−0.5300 embedding"},
    "words": {"search": "SOFTMAX row"},
    "an exponent": {"search": "5.5834e-09", "notebook": "life_is_short"},
    "a kind": {"search": "true or", "notebook": "sorry_dave"},
    "never": {"search": "cannot be", "notebook": "journey_123"},
    "older": {"search": "older", "notebook": "sorry_dave"},
    "both": {"search": "tensor linear"},
    "nothing": {"search": "no such words"},
}


def independently(result, link):
    """Whether a result is asked for, by another reading of the data."""
    said = [result[each] for each in ("id", "description", "how", "note", "kind")]
    is_older = result["reproduces"] and not result["reproduces_as_shown"]
    never, older = "cannot be computed", "by an older version" if is_older else ""
    said += ["" if result["reproduces"] else never, older, result.get("reason", "")]
    said = " ".join([*said, *digits(result)]).lower().replace("bool", "true or false")
    return all(w.lower().replace("−", "-") in said for w in link["search"].split())


@pytest.mark.slow("3 s: whole pages")
@pytest.mark.parametrize("link", SEARCHES.values(), ids=SEARCHES)
def test_filter_and_search_find_what_the_data_holds(link):
    at = stands(visit(PAGE, **{"notebook": "wild_cat", **link}))
    name = at.session_state["visit"].values.notebook
    wanted = [each["id"] for each in DATA[name]["results"] if independently(each, link)]
    assert table(at)["name"].tolist() == wanted
    assert bool(wanted) == (link.get("search") != "no such words")
    assert f"**{len(wanted)} of {len(DATA[name]['results'])} results**" in words(at)
    assert {*link} <= {*at.query_params}, "the address keeps it"


@pytest.mark.slow("3 s: whole pages")
def test_what_is_typed_into_the_search_is_shown_as_text():
    at = visit(PAGE)
    for text in TEXTS.values():
        at.text_input(key="control_search").set_value(text[:60]).run()
        stands(at)
        assert at.session_state["visit"].drafts == {}
        assert MARK not in rendered(at)
        assert f"Searched for: {at.session_state['visit'].values.search}" in texts(at)
    at.text_input(key="control_search").set_value(MARK * 20).run()
    assert "and 60 fit" in texts(at)
    assert MARK not in rendered(at)


def test_what_does_not_print_alike_has_a_sign():
    outcome = next(each for each in each_outcome("wild_cat") if each.result.id == "context_0")
    assert side_by_side(outcome).splitlines() == [
        "printed   1.1176  0.9091  0.6043",
        "computed  1.1176  0.9091  0.6043",
    ]
    off = type(outcome)(outcome.result, outcome.check, [1.1176, 0.9094, 0.6043])
    assert side_by_side(off).splitlines()[1] == "computed  1.1176  ≠0.9094  0.6043"


def test_a_result_that_does_not_come_out_again_is_named():
    found = [outcome for some in checks.outcomes().values() for outcome in some]
    assert checks.says_total(found)[0]
    found[0] = replace(found[0], check=None)
    good, said = checks.says_total(found)
    assert not good
    assert f"1 results should, and do not: `{found[0].result.id}`" in said


@pytest.mark.parametrize("link", [{"verdict": "never", "kind": "bool"}, {"section": "results"}])
def test_a_link_of_before_opens_still(link):
    at = stands(visit(PAGE, notebook="sorry_dave", **link))
    assert len(table(at)) == len(DATA["sorry_dave"]["results"])


@pytest.mark.slow("10 s: links into steps that a lesson draws")
def test_every_link_opens_its_lesson_with_a_cell_of_the_result():
    links = {}
    for name in NOTEBOOKS:
        at = visit(PAGE, notebook=name)
        rows = range(len(table(at)))
        for row in random.Random(name).sample(rows, min(6, len(rows))):
            at = choose(at, row)
            if way(at):
                query = dict(parse_qsl(way(at).query_string))
                step = query.get("cell", "").partition(".")[0]
                links[way(at).page, step, query.get("section"), query.get("start")] = query
    assert len({page for page, *_ in links}) > 3
    for (page, step, _, _), query in links.items():
        at = stands(visit(page, **query))
        assert at.session_state["visit"].notices == []
        assert at.query_params["example"] == query["example"]
        assert "link's cell" not in texts(at), (page, step)
        assert step or page == "divide_by_sqrt_d"


@pytest.mark.parametrize("lock", ["example", "token,query"])
def test_a_link_that_a_teacher_s_link_forbids_says_why(lock):
    at = stands(visit(PAGE, notebook="wild_cat", example="journey_123", lock=lock))
    names = table(at)["name"].tolist()
    at = choose(at, names.index("context_0"))
    assert way(at).disabled
    assert "The link that you opened" in way(at).help
