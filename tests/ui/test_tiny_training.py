"""The recorded training of the tiny language: every number is in its chart, and is said."""

import json
import re
from dataclasses import replace

import pytest
import torch

from attention_core.small_models.figures import shipped_figures
from attention_core.small_models.recording import ASKED_FOR, SENTENCE, shipped_recording
from attention_ui.charts.learning import CURVES, FULL, watch_heads
from attention_ui.lessons.tiny_language.training import run_of, what_came_first, which_run

MOMENTS = shipped_recording()
LAST = MOMENTS[-1]
HEADS = [(layer, head) for layer in range(2) for head in range(4)]


@pytest.fixture(scope="module")
def chart():
    return watch_heads(run_of(MOMENTS))


def named(at):
    """By head, the kinds that it may be called by at a moment: 0.6, and 0.3 more than at first."""
    return {
        head: {
            kind
            for kind, now, then in zip(
                ASKED_FOR, MOMENTS[at].scores[:, *head], MOMENTS[0].scores[:, *head], strict=True
            )
            if now >= 0.6 and now - then >= 0.3
        }
        for head in HEADS
    }


def curves_of(chart):
    frame = chart.frame.to_pandas()
    return frame[frame["of_head"] == CURVES]


def parameters(chart):
    return {each["name"]: each["value"] for each in chart.spec["params"]}


def test_the_chart_holds_every_recorded_weight_and_outlines_what_names_say(chart):
    frame = chart.frame.to_pandas()
    cells = frame[frame["of_head"] != CURVES]
    drawn = torch.zeros(len(MOMENTS), 8, len(SENTENCE), len(SENTENCE))
    outlined = set()
    for cell in cells.itertuples():
        digits = [cell.each[at : at + 3] for at in range(0, len(cell.each), 3)]
        place = (cell.of_head, int(cell.row), int(cell.column))
        drawn[:, *place] = torch.tensor([int(each) / FULL for each in digits])
        outlined |= {place} if cell.outlined else set()
    recorded = torch.stack([moment.weights.flatten(0, 1) for moment in MOMENTS])
    assert (drawn - recorded).abs().max() < 0.6 / FULL
    assert len(cells) == 8 * len(SENTENCE) * (len(SENTENCE) + 1) / 2
    it, brook, moos = map(SENTENCE.index, ("it", "brook", "moos"))
    anna = len(SENTENCE) - 1
    where = {
        "because": {(it, it - 1)},
        "pronoun to noun": {(it, SENTENCE.index("cat"))},
        "whose name": {(brook, brook - 1)},
        "opening mark": {(moos, SENTENCE.index("“"))},
        "name again": {(anna, brook)},
        "but": set(),
    }
    ends = named(len(MOMENTS) - 1)
    assert outlined == {
        (4 * layer + head, *cell)
        for (layer, head), kinds in ends.items()
        for kind in kinds
        for cell in where[kind]
    }


def test_curves_and_what_stands_above_are_the_records(chart):
    curves, found = curves_of(chart), parameters(chart)
    assert curves["step"].tolist() == found["steps"] == [moment.step for moment in MOMENTS]
    assert curves["loss_0"].tolist() == pytest.approx([moment.loss for moment in MOMENTS])
    assert found["loss_title"] == [f"step {m.step:,}: loss {m.loss:.3f}" for m in MOMENTS]
    ends = named(len(MOMENTS) - 1)
    labels = {at: name for at, name in found["curve_labels"].items() if name}
    assert {name.split(" ", 1)[1] for name in labels.values()} == set().union(*ends.values())
    for curve, label in labels.items():
        written, kind = label.split(" ", 1)
        layer, head = map(int, written.split("."))
        scores = [moment.scores[ASKED_FOR.index(kind), layer, head].item() for moment in MOMENTS]
        assert curves[curve].tolist() == pytest.approx(scores)
        assert scores[-1] == LAST.scores[ASKED_FOR.index(kind)].max()
    for at, moment in enumerate(MOMENTS):
        for number, (head, kinds) in enumerate(named(at).items()):
            said = found["heads"][number][at]
            assert said.startswith(f"{head[0]}.{head[1]}")
            assert (" and " in said) == (len(kinds) > 1)
            assert any(kind in said for kind in kinds) == bool(kinds)
            kind, score = re.fullmatch(
                r"(?:nearest: )?(.+) (\d\.\d\d)", found["below"][number][at]
            ).groups()
            right = moment.scores[ASKED_FOR.index(kind), *head].item()
            assert float(score) == pytest.approx(right, abs=0.0051)
            assert found["below"][number][at].startswith("nearest: ") == (not ends[head])
    levels = re.findall(r'"datum": ([\d.]+)', json.dumps(chart.spec))
    assert {float(level) for level in levels} == {
        shipped_figures().bigram,
        shipped_figures().entropy,
    }


def test_one_slider_moves_all_of_it_and_the_pronoun_s_moment_is_marked(chart):
    assert json.loads(json.dumps(chart.spec, allow_nan=False)) == chart.spec
    (slider,) = [each for each in chart.spec["params"] if "bind" in each]
    assert (slider["name"], slider["value"]) == ("at", len(MOMENTS) - 1)
    first = next(
        moment.step
        for at, moment in enumerate(MOMENTS)
        if any("pronoun to noun" in kinds for kinds in named(at).values())
    )
    assert parameters(chart)["appeared"] == first
    assert parameters(watch_heads(run_of(MOMENTS[:3])))["appeared"] == -1


def test_what_came_first_is_said_with_the_numbers_of_its_records():
    said, bigram = what_came_first(MOMENTS), shipped_figures().bigram
    below = next(moment for moment in MOMENTS if moment.loss < bigram)
    assert f"**At step {below.step} the loss is {below.loss:.2f}**" in said
    assert f"below the {bigram:.2f} of" in said
    nobody = not any(named(MOMENTS.index(below)).values())
    assert ("no head has a name yet" in said) == nobody
    assert f"with {below.scores.max():.2f}. Heads earn" in said
    told = re.findall(r"\*([a-z ]+)\* at step (\d+) \(([\d.]+)\)", said)
    wanted = []
    for at, moment in enumerate(MOMENTS):
        came = set().union(*named(at).values()) - {kind for kind, *_ in wanted}
        wanted += [
            (kind, str(moment.step), f"{moment.loss:.2f}") for kind in ASKED_FOR if kind in came
        ]
    assert told == wanted
    assert len(told) > 3
    assert what_came_first(MOMENTS[:3]).endswith("no head gives 60% of its weight to anything.")
    slow = [replace(moment, loss=moment.loss + 1) for moment in MOMENTS]
    assert what_came_first(slow).startswith("Heads earn their names")
    late = [replace(moment, loss=moment.loss + 1 - 0.7 * (moment is LAST)) for moment in MOMENTS]
    assert "heads are there by then for *" in what_came_first(late)


def test_the_page_says_which_run_it_shows():
    figures = shipped_figures()
    itself = torch.tensor([figures.scores[kind] for kind in ASKED_FOR])

    def ends(**changes):
        return which_run([*MOMENTS[:-1], replace(LAST, **changes)])

    assert ends(loss=figures.loss, scores=itself) == "This is the training of the network above."
    near = ends(loss=figures.loss + 0.01, scores=itself)
    assert f"a loss of {figures.loss + 0.01:.4f} instead of {figures.loss:.4f}" in near
    assert near.endswith("Each head ends with the names that it has above.")
    assert "here they have those of this run" in ends(loss=figures.loss, scores=itself.flip(-1))
    same = [named(len(MOMENTS) - 1)[head] == {*figures.names(head)} for head in HEADS]
    assert ("other names than above" in which_run(MOMENTS)) == (not all(same))
