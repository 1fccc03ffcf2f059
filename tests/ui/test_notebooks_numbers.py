"""The page of the notebooks' numbers: every result in its table, and the totals above it."""

import json

import pytest

from attention_core.published.printed import NOTEBOOKS
from conftest import ROOT
from visiting import stands, visit

PAGE = "notebooks_numbers"
DATA = {
    name: json.loads((ROOT / "attention_core" / "published" / f"{name}.json").read_text())
    for name in NOTEBOOKS
}

WHERE = {
    "context_0": "Simplified attention",
    "var_before_5": "Why divide by √d",
    "decoder_shape": "",
}


def flat(values):
    return [each for p in values for each in flat(p)] if isinstance(values, list) else [values]


def digits(result):
    """The printed entries of a result, read from the data without the core."""
    if result["kind"] not in ("tensor", "scalar"):
        return [str(each) for each in flat(result["values"])]
    if result.get("decimals") is None:
        return [f"{each:.{result['significant'] - 1}e}" for each in flat(result["values"])]
    return [f"{each:.{result['decimals']}f}" for each in flat(result["values"])]


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_shows_all_its_results_in_a_table(name):
    at = stands(visit(PAGE, notebook=name, section="results"))
    shown, results = at.main.dataframe[0].value, DATA[name]["results"]
    assert shown["name"].tolist() == [each["id"] for each in results]
    for result, (_, row) in zip(results, shown.iterrows(), strict=True):
        if result["kind"] not in ("text", "derived"):
            assert row["printed"].split() == digits(result)
        if row["what came of it"] == "matches as printed" and result["kind"] != "derived":
            assert row["computed"] == row["printed"]
        assert "≠" not in row["computed"]
        never, older = "cannot" in row["what came of it"], "older" in row["what came of it"]
        assert never == (not result["reproduces"]) == (not row["computed"])
        assert older == (result["reproduces"] and not result["reproduces_as_shown"])
        assert result.get("reason", "").casefold() in row["note"].casefold()
    for id, title in WHERE.items():
        assert shown["shown in"][shown["name"] == id].tolist() in ([], [title])


@pytest.mark.parametrize("link", [{"verdict": "never", "search": "q"}, {"section": "judged"}])
def test_a_link_of_before_opens_still(link):
    at = stands(visit(PAGE, notebook="sorry_dave", **link))
    assert len(at.main.dataframe[0].value) == len(DATA["sorry_dave"]["results"])
