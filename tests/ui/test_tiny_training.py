"""The recorded training of the tiny language: every number is in its chart, and is said."""

import re

import pytest
import torch

from attention_core.small_models.figures import shipped_figures
from attention_core.small_models.recording import ASKED_FOR, SENTENCE, shipped_recording
from attention_ui.lessons.tiny_language.training import run_of
from attention_ui.picture import table as cells
from attention_ui.picture.layout import NARROW, WIDE, brief
from attention_ui.picture.learning import learning

MOMENTS = shipped_recording()
LAST = MOMENTS[-1]
HEADS = [(layer, head) for layer in range(2) for head in range(4)]


@pytest.fixture(scope="module")
def run():
    return run_of(MOMENTS)


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


@pytest.mark.parametrize("at", [0, 17, len(MOMENTS) - 1])
def test_the_picture_has_every_weight_of_every_head_at_a_recorded_step(run, at):
    layout = learning(run, at)
    drawn = torch.stack([matrix.values for matrix in layout.matrices])
    assert drawn.equal(MOMENTS[at].weights.flatten(0, 1))
    rows = cells.table(layout).to_pydict()
    n_cells = sum(kind == cells.CELL for kind in rows["kind"])
    assert n_cells == 8 * len(SENTENCE) * (len(SENTENCE) + 1) / 2, "none of what comes later"
    cut = brief(layout).narrow
    assert all(word.y < cut.cut[0] for word in cut.words if not cut.leaves_out(word.y))
    for arrangement, room in ((layout.wide, WIDE), (layout.narrow, NARROW)):
        for box in arrangement.boxes:
            assert box.x + len(SENTENCE) * box.width <= room
            assert box.y + len(SENTENCE) * box.height <= arrangement.height


def test_outlined_is_where_heads_with_a_name_should_look(run):
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
    assert {tuple(place) for place in run.targets.nonzero().tolist()} == {
        (*head, *cell) for head, kinds in ends.items() for kind in kinds for cell in where[kind]
    }


def test_curves_and_what_stands_above_are_the_records(run):
    loss, scores = run.panels
    assert [*run.steps] == [moment.step for moment in MOMENTS]
    assert [*loss.curves[0].values] == pytest.approx([moment.loss for moment in MOMENTS])
    assert loss.title == [f"step {m.step:,}: loss {m.loss:.3f}" for m in MOMENTS]
    ends = named(len(MOMENTS) - 1)
    assert {curve.label.split(" ", 1)[1] for curve in scores.curves} == set().union(*ends.values())
    for curve in scores.curves:
        written, kind = curve.label.split(" ", 1)
        layer, head = map(int, written.split("."))
        each = [moment.scores[ASKED_FOR.index(kind), layer, head].item() for moment in MOMENTS]
        assert [*curve.values] == pytest.approx(each)
        assert each[-1] == LAST.scores[ASKED_FOR.index(kind)].max()
    for at, moment in enumerate(MOMENTS):
        for head, kinds in named(at).items():
            layer = run.layers[head[0]]
            said, below = layer.heads[head[1]][at], layer.below[head[1]][at]
            names = [f"{len(kinds)} names"] if len(kinds) > 1 else kinds
            assert said == ": ".join([f"head {head[0]}.{head[1]}", *names])
            kind, score = re.fullmatch(r"(?:nearest: )?(.+) (\d\.\d\d)", below).groups()
            right = moment.scores[ASKED_FOR.index(kind), *head].item()
            assert float(score) == pytest.approx(right, abs=0.0051)
            assert below.startswith("nearest: ") == (not ends[head])
    assert {at for at, _ in loss.levels} == {shipped_figures().bigram, shipped_figures().entropy}
