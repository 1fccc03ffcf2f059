"""Heads that are watched while they learn: every recorded number is in the chart, and is said."""

import json
import re
from dataclasses import replace

import pytest
import torch

from attention_core.small_models.induction import (
    EXAMPLE,
    EXAMPLE_IDS,
    LearningSettings,
    appearance,
    learn,
    shipped_run,
)
from attention_core.small_models.repeated import next_of_earlier
from attention_ui.charts.learning import CURVES, FULL, watch_heads
from attention_ui.lessons.heads_learning.induction import (
    ROUNDED,
    build,
    on_first_key,
    on_target,
    one_layer_question,
    one_layer_words,
    recorded_gap,
)
from attention_ui.lessons.heads_learning.watching import (
    TARGETS,
    looks_back_words,
    moment_words,
    run_of,
)

RECORDS = shipped_run().records


@pytest.fixture(scope="module")
def chart():
    return watch_heads(run_of(RECORDS))


def parameters(chart):
    return {each["name"]: each["value"] for each in chart.spec["params"]}


def test_the_chart_holds_every_weight_of_every_head_at_every_recorded_step(chart):
    frame = chart.frame.to_pandas()
    cells = frame[frame["of_head"] != CURVES]
    drawn = torch.zeros(len(RECORDS), 8, len(EXAMPLE), len(EXAMPLE))
    for cell in cells.itertuples():
        digits = [cell.each[at : at + 3] for at in range(0, len(cell.each), 3)]
        shares = torch.tensor([int(each) / FULL for each in digits])
        drawn[:, cell.of_head, int(cell.row), int(cell.column)] = shares
    recorded = torch.stack([record.weights.flatten(0, 1) for record in RECORDS])
    assert (drawn - recorded).abs().max() < 0.6 / FULL
    assert len(cells) == 8 * len(EXAMPLE) * (len(EXAMPLE) + 1) / 2


def test_the_curves_are_the_losses_and_the_scores_of_all_heads(chart):
    frame = chart.frame.to_pandas()
    curves = frame[frame["of_head"] == CURVES]
    assert curves["step"].tolist() == [record.step for record in RECORDS]
    for name, at in (("loss_0", "loss_repeated"), ("loss_1", "loss_first")):
        assert curves[name].tolist() == pytest.approx([getattr(r, at) for r in RECORDS])
    for name in ("previous_token", "prefix_matching"):
        for head in range(8):
            wanted = [getattr(record, name).flatten()[head].item() for record in RECORDS]
            assert curves[f"{name}_{head}"].tolist() == pytest.approx(wanted)


def test_what_stands_above_is_the_step_and_the_score_of_each_moment(chart):
    found = parameters(chart)
    for at, record in enumerate(RECORDS):
        assert found["loss_title"][at] == f"step {record.step}: loss {record.loss_repeated:.3f}"
        for head in range(8):
            name = ("previous_token", "prefix_matching")[head // 4]
            score = getattr(record, name).flatten()[head].item()
            assert found["below"][head][at].endswith(f" {score:.2f}")
            is_one = record.prefix_matching.flatten()[head] > 0.5
            said = ": induction head" if is_one else ""
            assert found["heads"][head][at] == f"head {head % 4}{said}"


def test_outlined_is_where_each_layer_is_expected_to_look(chart):
    frame = chart.frame.to_pandas()
    for cell in frame[frame["of_head"] != CURVES].itertuples():
        row, column = int(cell.row), int(cell.column)
        if cell.of_head < 4:
            assert cell.outlined == (column == row - 1)
        else:
            earlier = [at for at in range(row) if EXAMPLE[at] == EXAMPLE[row]]
            assert cell.outlined == (column - 1 in earlier)
    assert TARGETS[1].equal(next_of_earlier(EXAMPLE_IDS))


def test_one_slider_moves_all_of_it_and_begins_at_the_end(chart):
    assert json.loads(json.dumps(chart.spec, allow_nan=False)) == chart.spec
    (slider,) = [each for each in chart.spec["params"] if "bind" in each]
    assert (slider["name"], slider["value"]) == ("at", len(RECORDS) - 1)
    assert slider["bind"]["max"] == len(RECORDS) - 1
    heads = [head for layer in chart.spec["hconcat"][1]["vconcat"] for head in layer["hconcat"]]
    assert len(heads) == 8
    for head in heads:
        assert "3 * at" in head["transform"][1]["calculate"]
    assert parameters(chart)["appeared"] == RECORDS[appearance(RECORDS)].step


def test_the_moment_is_said_with_the_numbers_of_its_records():
    said = moment_words(RECORDS)
    now, last = RECORDS[appearance(RECORDS)], RECORDS[-1]
    assert f"**The moment is step {now.step}**" in said
    before = RECORDS[appearance(RECORDS) - 1]
    assert before.prefix_matching[1].max() <= 0.5 < now.prefix_matching[1].max()
    score = now.prefix_matching[1].max().item()
    assert f"at step {now.step} it gives it {score:.2f}" in said
    early, there, end = map(
        float, re.search(r"fell from ([\d.]+) to ([\d.]+);.* is (0\.\d+)\. W", said).groups()
    )
    assert early > there > end
    assert there == pytest.approx(now.loss_repeated, abs=0.006)
    assert end == pytest.approx(last.loss_repeated, abs=0.0006)


def test_where_the_previous_token_head_looks_back_is_said_with_its_weights():
    last = RECORDS[-1]
    said = looks_back_words(last)
    head = int(last.previous_token[0].argmax())
    back = [last.weights[0, head, at, at - 1].item() for at in range(1, len(EXAMPLE))]
    assert (
        f"Head {head} of the first layer gives the token before {sum(back[:11]) / 11:.2f}" in said
    )
    assert f"and {sum(back[11:]) / 4:.2f} further on. In training" in said
    alike = torch.full_like(last.weights, 0.25)
    assert looks_back_words(replace(last, weights=alike)).endswith("and 0.25 further on.")


def test_what_is_said_of_the_induction_head_is_a_mean_over_its_cells():
    trace = build(None)
    weights = trace["weights"].value
    half = len(EXAMPLE) // 2
    line = [weights[query, query - half + 1].item() for query in range(half, len(EXAMPLE))]
    assert on_target(trace) == pytest.approx(sum(line) / half)
    rest = [weights[query, 0].item() for query in range(1, half)]
    assert on_first_key(trace) == pytest.approx(sum(rest) / (half - 1))
    assert recorded_gap(trace) < ROUNDED / 4


def test_the_question_on_one_layer_is_judged_by_its_loss():
    run = shipped_run()
    losses = (run.records[-1].loss_repeated, run.one_layer_loss, run.records[-1].loss_first)
    for right, loss in ((0, losses[0]), (1, losses[1]), (2, losses[2])):
        question = one_layer_question(replace(run, one_layer_loss=loss))
        assert [question.judge([guess]).right for guess in range(3)] == [
            guess == right for guess in range(3)
        ]
    assert f"ends at {losses[1]:.2f}, with two at {losses[0]:.3f}" in one_layer_words(run)


def test_a_run_without_an_induction_head_says_so():
    records = list(learn(LearningSettings(seed=1, steps=4)))
    assert "An induction head has not formed" in moment_words(records)
    assert parameters(watch_heads(run_of(records)))["appeared"] == -1
    only = records[:1]
    assert "has not formed" in moment_words(only)
    assert watch_heads(run_of(only)).spec["params"][0]["value"] == 0
