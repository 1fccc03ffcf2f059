"""Heads that are watched while they learn: every recorded number is in the chart, and is said."""

from dataclasses import replace

import pytest

from attention_core.small_models import induction
from attention_core.small_models.repeated import next_of_earlier
from attention_ui.lessons.heads_learning import lesson, watching
from attention_ui.lessons.heads_learning.words import one_layer_question
from attention_ui.picture.learning import learning

RECORDS = induction.shipped_run().records


@pytest.fixture(scope="module")
def run():
    return watching.run_of(RECORDS)


def test_the_curves_are_the_losses_and_the_scores_of_all_heads(run):
    assert [*run.steps] == [record.step for record in RECORDS]
    assert run.appeared == RECORDS[induction.appearance(RECORDS)].step
    loss, *scores = run.panels
    for curve, name in zip(loss.curves, ("loss_repeated", "loss_first"), strict=True):
        assert [*curve.values] == pytest.approx([getattr(r, name) for r in RECORDS])
    for panel, name in zip(scores, ("previous_token", "prefix_matching"), strict=True):
        for head, curve in enumerate(panel.curves):
            wanted = [getattr(record, name).flatten()[head].item() for record in RECORDS]
            assert [*curve.values] == pytest.approx(wanted)


def test_what_stands_above_is_the_step_and_the_score_of_each_moment(run):
    for at, record in enumerate(RECORDS):
        assert run.panels[0].title[at] == f"step {record.step}: loss {record.loss_repeated:.3f}"
        for number in range(8):
            layer, head = divmod(number, 4)
            score = getattr(record, ("previous_token", "prefix_matching")[layer])[layer, head]
            assert run.layers[layer].below[head][at].endswith(f" {score.item():.2f}")
            least, name = ((0.25, "previous token"), (0.5, "induction head"))[layer]
            said = f": {name}" if score > least else ""
            assert run.layers[layer].heads[head][at] == f"head {layer}.{head}{said}"
    named = [each[-1] for layer in run.layers for each in layer.heads if ":" in each[-1]]
    assert named[0] == "head 0.1: previous token"


def test_outlined_is_where_each_layer_is_expected_to_look():
    for row in range(len(induction.EXAMPLE)):
        for column in range(row + 1):
            earlier = [at for at in range(row) if induction.EXAMPLE[at] == induction.EXAMPLE[row]]
            assert watching.TARGETS[0, row, column] == (column == row - 1)
            assert watching.TARGETS[1, row, column] == (column - 1 in earlier)
    assert watching.TARGETS[1].equal(next_of_earlier(induction.EXAMPLE_IDS))


def test_what_is_said_of_the_induction_head_is_a_mean_over_its_cells():
    trace = lesson.trace_of(None)
    weights = trace["weights"].value
    half = len(induction.EXAMPLE) // 2
    line = [weights[q, q - half + 1].item() for q in range(half, len(induction.EXAMPLE))]
    assert lesson.on_target(trace) == pytest.approx(sum(line) / half)
    rest = [weights[query, 0].item() for query in range(1, half)]
    assert lesson.on_first_key(trace) == pytest.approx(sum(rest) / (half - 1))
    assert lesson.recorded_gap(trace) < lesson.ROUNDED / 4


def test_the_question_on_one_layer_is_judged_by_its_loss():
    run = induction.shipped_run()
    losses = (run.records[-1].loss_repeated, run.one_layer_loss, run.records[-1].loss_first)
    for right, loss in ((0, losses[0]), (1, losses[1]), (2, losses[2])):
        question = one_layer_question(replace(run, one_layer_loss=loss))
        assert [question.judge([g]).right for g in range(3)] == [g == right for g in range(3)]
    told = one_layer_question(run).answer()
    assert f"ends at {losses[1]:.2f}, with two at {losses[0]:.3f}" in told


def test_a_run_without_an_induction_head_says_so():
    records = list(induction.learn(induction.LearningSettings(seed=1, steps=4)))
    assert "An induction head has not formed" in watching.moment_words(records)[0]
    assert watching.run_of(records).appeared is None
    only = records[:1]
    assert "has not formed" in watching.moment_words(only)[0]
    assert learning(watching.run_of(only), 0).wide.boxes
