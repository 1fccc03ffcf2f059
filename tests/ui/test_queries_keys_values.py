"""What is drawn and said follows from the matrices, and the recorded training can be moved."""

import re
from functools import partial
from types import SimpleNamespace

import pytest
import torch

import chosen
from attention_core import EXAMPLES, embed
from attention_core.experiments.training import TrainingSettings, recorded_steps, train
from attention_core.trace import Trace
from attention_ui.cards.elements import alive
from attention_ui.cards.show import MOST_BYTES
from attention_ui.controls.shared import (
    BIAS,
    D_QUERY,
    D_VALUE,
    OF_MATRICES,
    SCALE,
    inputs_of,
    projections_of,
)
from attention_ui.lessons.queries_keys_values import lesson, words
from attention_ui.lessons.queries_keys_values.training import Watched
from attention_ui.picture.positions import positions
from attention_ui.picture.table import table
from attention_ui.reactive.long_run import Run
from visiting import rendered, stands, visit

PAGE = "queries_keys_values"
LINKS = [
    *({"example": example} for example in EXAMPLES),
    {"bias": "on"},
    {"bias": "on", "scale": "none", "d_value": "5"},
    {"q_edits": "0.0:9", "k_edits": "0.0:9", "v_edits": "0.0:9"},
    {"sentence": "a", "tokenizer": "blanks"},
]

values_of = partial(chosen.of, lesson.CONTROLS)


@pytest.mark.parametrize("link", [*LINKS, {"start": "linear", "w_seed": "4", "k_seed": "9"}])
def test_the_matrices_are_those_that_are_chosen(link):
    values = values_of(**link)
    made = projections_of(values)
    asked = values.of(D_QUERY, D_VALUE, SCALE, BIAS)
    assert (made.d_query, made.d_value, made.scale, made.bias) == asked
    assert made.seeds == (values.q_seed, values.k_seed, values.v_seed)
    assert made.edits == (values.q_edits, values.k_edits, values.v_edits)
    assert (made.seed == 4) == ("w_seed" in link)
    assert projections_of(values, "linear") == projections_of(values.but(start="linear"))


# --- why keys have a matrix of their own ----------------------------------------------------------
@pytest.mark.parametrize("link", [{"example": "named_features"}, {"bias": "on"}, {"d_value": "5"}])
def test_keys_go_from_the_queries_to_their_own(link):
    values = values_of(**link)
    embedded = embed(inputs_of(values))
    none, half, all_own = (lesson.with_own_keys(embedded, values, own) for own in (0.0, 0.5, 1.0))
    queries, own = all_own["queries"].value, all_own["keys"].value
    assert torch.allclose(none["keys"].value, queries, atol=1e-5)
    assert torch.allclose(half["keys"].value, (queries + own) / 2, atol=1e-5)
    assert all_own["weights"].value.equal(lesson.trace_of(values)["weights"].value)
    assert "mixed_W_key" not in all_own
    assert words.mirrored(none["scores"].value)


def test_what_is_said_of_a_matrix_for_keys_has_the_numbers_of_the_traces():
    values = values_of(example="named_features")
    embedded = embed(inputs_of(values))
    own, shared = lesson.trace_of(values), lesson.with_own_keys(embedded, values, 0.0)
    plain = lesson.of_embeddings(values)
    said = words.own_keys_words(own, shared, plain, own)
    pattern = r"“(\w+)” gives itself (\S+) of .* they are, (\S+) where .* and (\S+) wi"
    found = re.search(pattern, said)
    place = own.labels("token").index(found[1])
    for trace, told in zip((plain, shared, own), found.groups()[1:], strict=True):
        assert float(told) == pytest.approx(trace["weights"].value[place, place].item(), abs=0.006)
    assert (found[2], found[4]) == ("0.87", "0.02")
    half = lesson.with_own_keys(embedded, values, 0.5)
    assert "has a direction" in words.own_keys_words(own, shared, plain, half)
    assert "has a direction" not in words.own_keys_words(own, shared, plain, shared), "slider at 0"


# --- the training ---------------------------------------------------------------------------------
def watched(finished=True, **link):
    values = values_of(**{"steps": "100", "t_width": "4", **link})
    inputs = inputs_of(values)
    vectors = embed(inputs)["embeddings"].value
    numbers = {token: at for at, token in enumerate(dict.fromkeys(inputs.tokens))}
    targets = torch.tensor([numbers[token] for token in inputs.tokens[1:]])
    records = list(train(vectors, targets, lesson.recipe_of(values)))
    run = Run("", 1.0 if finished else 0.5, records, None if finished else iter(()))
    return values, Watched(values, run)


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_page_trains_by_the_defaults_of_the_core(example):
    expected = TrainingSettings(learning_rate=EXAMPLES[example].learning_rate)
    assert lesson.recipe_of(values_of(example=example)) == expected


@pytest.mark.parametrize("steps", ["10", "100", "5000"])
@pytest.mark.parametrize(
    "link", [{}, {"sentence": " ".join(f"w{n}" for n in range(64)), "tokenizer": "blanks"}]
)
def test_the_steps_that_can_be_moved_to_are_recorded_the_first_and_the_last(steps, link):
    values = values_of(**link, steps=steps, t_width="64", d_in="64")
    tokens = inputs_of(values).tokens
    shown = lesson.steps_shown(values)
    recorded = recorded_steps(lesson.recipe_of(values), len(tokens), 64, len({*tokens}))
    assert list(shown) == sorted({*shown})
    assert {*shown} <= {*recorded}
    assert (shown[0], shown[-1]) == (0, int(steps))
    assert len(shown) <= lesson.MOST_SHOWN


def test_each_position_of_the_training_shows_what_was_recorded():
    values, seen = watched()
    at_rest = seen.picture(values.trained)
    steps = lesson.steps_shown(values)
    lists = positions(at_rest, [seen.picture(step) for step in steps])
    by_step = {record.step: record for record in seen.records}
    rows = table(at_rest, None, lists, len(steps) - 1).to_pydict()
    told = dict(zip(rows["id"], rows["texts"], strict=True))
    for place, step in enumerate(steps):
        record = by_step[step]
        for query, key in ((3, 1), (4, 4)):
            shown = told[f"0.{query}.{key}"].split("|")[place]
            assert shown == f"{record.weights[query, key].item():.2f}"
        assert told["0.2.5"] is None, "what the mask hides stays hidden"
        words_now = [text.split("|")[place] for text in rows["texts"] if text and "loss" in text]
        assert len(words_now) == 2
        assert all(f"loss {record.loss:.4f}" in each for each in words_now)
    assert sum(len(text) for each in lists.values() for text in each.values()) < MOST_BYTES


def test_a_run_that_is_not_finished_shows_its_last_step_and_cannot_be_moved():
    _, seen = watched(finished=False)
    assert not seen.can_be_moved
    assert seen.record().step == seen.records[-1].step
    assert f"loss {seen.records[-1].loss:.4f}" in [
        word.text.rpartition(": ")[2] for word in seen.picture().wide.words
    ]


def test_a_run_that_diverges_stays_at_its_last_finite_step():
    values, seen = watched(rate="1000")
    assert seen.records[-1].diverged
    assert seen.record(values.trained) is seen.finite[-1]
    assert words.outcome(seen.records, values.rate)[0] is False
    assert seen.picture(values.trained).wide.words


def test_the_target_of_each_position_is_framed():
    values, seen = watched()
    tokens = inputs_of(values).tokens
    layout = seen.picture(values.trained)
    *frames, _ = (path for path in layout.wide.paths if path.colour == "loud")
    box = layout.wide.boxes[1]
    places = [(round((e.y - box.y) / box.height), round((e.x - box.x) / box.width)) for e in frames]
    names = list(dict.fromkeys(tokens))
    assert places == [(row, names.index(token)) for row, token in enumerate(tokens[1:])]


@pytest.mark.parametrize(("first", "last", "good"), [(2, 1, True), (1, 1, False), (1, 2, False)])
def test_the_light_of_a_training_goes_out(first, last, good):
    records = [
        SimpleNamespace(loss=float(loss), diverged=False, step=step)
        for step, loss in enumerate((first, last))
    ]
    assert words.outcome(records, 0.2)[0] == good
    records[-1].diverged = True
    assert words.outcome(records, 0.2)[0] is False


# --- on the page ----------------------------------------------------------------------------------
@pytest.mark.slow("6 s: a training, and another page")
def test_a_training_says_how_it_ended_and_is_kept():
    at = visit(PAGE, rate=0.05, steps=200)
    assert "loss 2.0" in at.get("vega_lite_chart")[-1].proto.alt or at.button
    at.button(key="start_or_stop_training").click().run()
    assert "The loss fell from" in rendered(stands(at))
    at.switch_page("pages/softmax_or_sum.py").run()
    at.switch_page(f"pages/{PAGE}.py").run()
    assert "The loss fell from" in rendered(stands(at)), "a training is kept"


@pytest.mark.slow("2 s: a page")
def test_numbers_typed_into_a_matrix_go_with_it_and_with_nothing_else():
    at = visit(PAGE, q_edits="0.0:9", k_edits="1.1:8", v_edits="0.1:7")
    next(each for each in at.slider if each.key.startswith("control_d_v")).set_value(5).run()
    held = stands(at).session_state["session"].chosen
    assert [name for name in OF_MATRICES if name in held] == ["q_edits", "k_edits"]
    at.button_group(key=next(k.key for k in at.button_group if "start" in k.key)).set_value(
        "linear"
    ).run()
    assert not [name for name in OF_MATRICES if name in stands(at).session_state["session"].chosen]


def test_what_runs_anew_takes_nothing_of_a_card_that_is_kept():
    with pytest.raises(TypeError, match="takes trace of its card"):
        (lambda trace: alive(lambda: trace))(Trace())
