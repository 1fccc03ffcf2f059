"""A training that can be watched: every recorded number is in the chart, and not too many are."""

import json

import pytest
import torch

from attention_core import EXAMPLES, embed
from attention_core.experiments.training import (
    MostChanged,
    TrainingSettings,
    next_tokens,
    train,
)
from attention_ui.charts.training import MOST_FRAMES, MOST_NUMBERS, frames_of
from attention_ui.lessons.queries_keys_values.training import MATRICES, change_words, watched


def run(example="wild_cat", **settings):
    inputs = EXAMPLES[example].inputs
    vectors = embed(inputs)["embeddings"].value
    records = list(train(vectors, next_tokens(inputs.tokens), TrainingSettings(**settings)))
    return inputs.tokens, records


def of(chart, at):
    """The rows of one matrix in the table."""
    frame = chart.frame.to_pandas()
    return frame[frame["matrix"] == at]


@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("d_out", [2, 7])
def test_the_chart_holds_the_recorded_tensors_to_the_last_bit(name, d_out):
    tokens, records = run(steps=60, d_out=d_out)
    before = [record.weights.clone() for record in records]
    chart = watched(tokens, (), records, name)
    assert json.loads(json.dumps(chart.spec, allow_nan=False)) == chart.spec
    steps = next(each["value"] for each in chart.spec["params"] if each["name"] == "steps")
    assert (steps[0], steps[-1], len(steps)) == (0, 60, MOST_FRAMES)
    by_step = {record.step: record for record in records}
    weights, matrix = of(chart, 0), of(chart, 1)
    for at, step in enumerate(steps):
        for cells, tensor in (
            (weights, by_step[step].weights),
            (matrix, getattr(by_step[step].matrices, name)),
        ):
            is_turned = cells is matrix and tensor.shape[0] > tensor.shape[1]
            drawn = torch.tensor(cells[f"v{at}"].to_numpy().copy(), dtype=torch.float32)
            assert torch.equal(drawn, (tensor.mT if is_turned else tensor).flatten())
    curve = of(chart, -1)
    assert curve["loss"].tolist() == [by_step[step].loss for step in steps]
    assert all(map(torch.equal, before, (record.weights for record in records)))


def test_the_target_of_each_row_is_outlined_and_the_future_is_hidden():
    tokens, records = run(steps=10)
    cells = of(watched(tokens, (), records, "W_query"), 0)
    for _, cell in cells.iterrows():
        assert cell["outlined"] == (cell["column"] == cell["row"] + 1)
        assert cell["hidden"] == (cell["column"] > cell["row"])
    assert cells["outlined"].sum() == len(tokens) - 1


@pytest.mark.parametrize("n_records", [1, 2, 39, 40, 41, 100])
@pytest.mark.parametrize("n_cells", [1, 300, 8_192])
def test_few_steps_are_shown_the_first_and_the_last_among_them(n_records, n_cells):
    shown = frames_of(n_records, n_cells)
    assert shown == sorted(set(shown))
    assert (shown[0], shown[-1]) == (0, n_records - 1)
    assert len(shown) <= MOST_FRAMES
    assert len(shown) * n_cells <= MOST_NUMBERS
    if n_cells == 300:
        assert len(shown) == min(n_records, MOST_FRAMES)


def test_one_slider_of_the_chart_moves_all_of_it():
    tokens, records = run(steps=60)
    spec = watched(tokens, (), records, "W_value").spec
    bound = [each for each in spec["params"] if "bind" in each]
    assert [(each["name"], each["bind"]["max"]) for each in bound] == [("at", MOST_FRAMES - 1)]
    assert bound[0]["value"] == MOST_FRAMES - 1, "nothing moves before it is asked to"
    loss, *rows = spec["vconcat"]
    assert "at" in loss["layer"][1]["transform"][0]["filter"]
    for row in rows:
        before, now = (each["transform"][1]["calculate"] for each in row["hconcat"])
        assert (before, now) == ("datum['v' + 0]", "datum['v' + at]")


def test_what_changed_most_is_said_with_its_numbers_and_the_tokens_as_they_are():
    said = change_words(("*a*", "b"), MostChanged(1, 0, 0.25, 0.99, "W_key", 0.123))
    assert "“b” (row 1) gives to “*a*” (row 0) rose from 0.25 to 0.99" in said
    assert "W_key moved farthest, 0.12 an entry" in said
    assert "fell" in change_words(("a",), MostChanged(0, 0, 0.9, 0.1, "W_key", 0.1))
