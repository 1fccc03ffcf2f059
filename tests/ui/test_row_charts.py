"""Charts of one row: bars beyond 0 and 1, curves over a slider's stops, tables of written steps."""

import json
import math

import altair as alt
import pytest
import torch

from attention_core.mechanism.softmax import given_row, normalise_row
from attention_ui.charts.bars import bars
from attention_ui.charts.heatmap import heatmap
from attention_ui.charts.sizes import WITH_NUMBERS
from attention_ui.lessons.softmax_or_sum.curves import curves
from attention_ui.lessons.softmax_or_sum.ledger import GONE, LOST, ledger, written
from attention_ui.picture.matrix import Matrix

HOSTILE = ('</script><script>alarm("x")</script>', "'+alarm()+'", "datum.value")


def check(chart, rows):
    """It is valid Vega-Lite with its data, and holds no text of a person but as a parameter."""
    spec = chart.spec
    assert json.loads(json.dumps(spec, allow_nan=False)) == spec
    assert "data" not in spec
    assert "datasets" not in spec
    alt.Chart.from_dict({**spec, "data": {"values": rows}}, validate=True)
    drawn = json.dumps({name: part for name, part in spec.items() if name != "params"})
    assert "alarm" not in drawn
    assert "alarm" not in chart.alt


@pytest.mark.parametrize(
    ("values", "domain"),
    [
        ([0.25, 0.75], [0, 1]),
        ([-0.6064, 0.485], [-0.6064, 1]),
        ([557.0, -314.0], [-2, 2]),
        ([1.9, -3.5], [-2, 1.9]),
        ([math.nan, 0.5], [0, 1]),
        ([math.inf, -math.inf], [0, 1]),
    ],
    ids=str,
)
def test_bars_are_read_from_0_to_1_or_as_far_as_a_number_goes(values, domain):
    chart = bars(HOSTILE[:2], {"by sum": values, "softmax": [0.5, 0.5]}, "Weights")
    assert chart.spec["encoding"]["y"]["scale"]["domain"] == domain
    drawn = chart.frame["value"].tolist()[:2]
    for value, bar in zip(values, drawn, strict=True):
        assert bar == value if math.isfinite(value) else math.isnan(bar)
    check(chart, chart.frame.dropna(subset="value").to_dict("records"))


def test_a_bar_that_goes_too_far_is_cut_and_says_its_number():
    values = [557.25, -1314.0, -2.5, 2.0, 0.25]
    chart = bars(tuple("abcde"), {"by sum": values, "softmax": [0.2] * 5}, "Weights")
    cut = chart.frame[chart.frame["row"] == "by sum"]
    assert cut["value"].tolist() == values, "the tooltip tells the number itself"
    assert cut["shown"].tolist() == [2, -2, -2, 2, 0.25]
    assert cut["cut"].fillna("").tolist() == ["557", "−1,314", "−2.50", "", ""]
    low, high = chart.spec["encoding"]["y"]["scale"]["domain"]
    assert 0.2 / (high - low) >= 0.05, "softmax's bars are seen beside them"
    arrows = [
        (layer["mark"]["shape"], layer["transform"][-1]["filter"])
        for layer in chart.spec["layer"]
        if layer["mark"]["type"] == "point"
    ]
    assert arrows == [("triangle-up", "datum.shown > 0"), ("triangle-down", "datum.shown < 0")]
    written = [layer for layer in chart.spec["layer"] if layer["mark"]["type"] == "text"]
    assert {layer["encoding"]["text"]["field"] for layer in written} == {"cut"}


def test_curves_have_a_point_at_each_stop_and_mark_the_chosen_one():
    lines = {"largest weight": [0.2, 0.5, 1.0], "entropy": [1.0, None, 0.0]}
    chart = curves(["0", "1", "8"], lines, 2, "factor", "Curves over the factor.")
    points = {(row["line"], row["stop"]): row["value"] for row in chart.frame.to_pylist()}
    assert points == {
        ("largest weight", "0"): pytest.approx(0.2),
        ("largest weight", "1"): 0.5,
        ("largest weight", "8"): 1.0,
        ("entropy", "0"): 1.0,
        ("entropy", "8"): 0.0,
    }
    parameters = {each["name"]: each["value"] for each in chart.spec["params"]}
    assert parameters == {"stops": ["0", "1", "8"]}
    assert {row["stop"] for row in chart.frame.to_pylist() if row["here"]} == {"8"}
    other = curves(["0", "1", "8"], lines, 1, "factor", "Curves over the factor.")
    assert other.spec == chart.spec, "moving along the curves draws only the mark anew"
    check(chart, chart.frame.to_pylist())


def test_a_ledger_writes_every_number_and_marks_what_is_none():
    columns = {
        "score": torch.tensor([93.5, -math.inf, -150.0]),
        "e^score": torch.tensor([math.inf, 0.0, 0.0]),
        "weight": torch.tensor([math.nan, 0.0, 0.5]),
    }
    chart = ledger(HOSTILE, columns, ("e^score", "weight"), "As written")
    cells = {(row["place"], row["column"]): row for row in chart.frame.to_pylist()}
    texts = [[cells[place, column]["text"] for column in range(3)] for place in range(3)]
    assert texts == [["93.5000", "inf", "nan"], ["−inf", "0", "0"], ["−150.0000", "0", "0.5000"]]
    states = [[cells[place, column]["state"] for column in range(3)] for place in range(3)]
    assert states == [["", LOST, LOST], ["", "", ""], ["", GONE, ""]]
    assert "2 of 9 cells are inf or nan" in chart.alt
    check(chart, chart.frame.to_pylist())


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (2.52e38, "2.52e+38"), (-1e-7, "−1.00e−07"), (0.12345, "0.1235"), (-3, "−3.0000")],
)
def test_a_number_of_a_ledger_is_short(value, text):
    assert written(value) == text


def test_derivatives_keep_their_colours_when_they_die():
    for factor in (1.0, 8.0):
        trace = normalise_row(given_row([2.0, 1.0, 0.5]), magnify=factor)
        drawn = heatmap(trace, Matrix(trace["jacobian"]), WITH_NUMBERS[0]).frame.to_pylist()
        assert [cell["shade"] for cell in drawn] == pytest.approx(
            [4 * entry for entry in trace["jacobian"].value.flatten().tolist()]
        )
