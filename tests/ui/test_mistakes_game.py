"""*Find the mistake*: the evidence, the reason, and what was missed comes again."""

from collections import Counter
from functools import partial

import pytest

import chosen
from attention_core.examples import EXAMPLES
from attention_core.mistakes.named import NAMED
from attention_core.mistakes.rounds import LEVELS, lights_with, red, suspects
from attention_core.published.stories import STORIES, stories_of
from attention_ui.controls.shared import AROUND
from attention_ui.lessons.mistakes_lab import game, words
from attention_ui.lessons.mistakes_lab.lesson import layer_of
from visiting import rendered, stands, values_of, visit

of_link = partial(chosen.of, (*game.CONTROLS, *AROUND))


def guess(at, name):
    values = values_of(at)
    places = suspects(*layer_of(values))
    key = f"diagnosis.mistake_{game.name_of_round(values)}"
    at.selectbox(key=f"guess_{key}").set_value(places.index(name)).run()
    return stands(at.button(key=f"reveal_{key}").click().run())


def another(values):
    return next(name for name in suspects(*layer_of(values)) if name != game.hidden(values))


def reason(at, is_right):
    values = values_of(at)
    asked = words.why(game.trace_of(values), values)
    place = next(n for n in range(len(asked.choices)) if asked.judge([n]).right == is_right)
    key = f"diagnosis.why_mistake_{game.name_of_round(values)}"
    return stands(at.radio(key=f"guess_{key}").set_value(place).run())


def pictures(at):
    return [each.proto.alt for each in at.get("vega_lite_chart")]


def test_the_evidence_comes_first_then_the_reason_then_the_lab():
    at = stands(visit("diagnosis", predict="on"))
    truth = game.hidden(values_of(at))
    assert not at.radio
    assert NAMED[truth].words not in rendered(at)
    at = guess(at, truth)
    assert "And why?" in rendered(at)
    assert NAMED[truth].words not in rendered(at), "the explanation would tell the reason"
    before = len(pictures(at))
    at = reason(at, is_right=True)
    assert NAMED[truth].words in rendered(at)
    assert len(pictures(at)) == before + 1
    assert "wrong_" in pictures(at)[-1]
    assert "You will meet this one again" not in rendered(at)


def test_a_wrong_name_keeps_the_mistake_covered():
    at = visit("diagnosis", predict="on")
    truth = game.hidden(values_of(at))
    at = guess(at, another(values_of(at)))
    assert "Not quite" in rendered(at)
    assert "You will meet this one again" in rendered(at)
    assert NAMED[truth].words not in rendered(at)
    assert not at.radio
    assert not any("wrong_" in alt for alt in pictures(at))


@pytest.mark.slow("4 s: seven rounds of pages")
def test_a_missed_mistake_comes_again_two_and_five_rounds_later():
    at = visit("diagnosis", predict="on")
    missed = game.hidden(values_of(at))
    at = guess(at, another(values_of(at)))
    came = [missed]
    for _ in range(5):
        at = stands(at.button(key="next_round").click().run())
        came.append(game.hidden(values_of(at)))
        at = guess(at, came[-1])
        assert at.query_params["round_seed"], "the address has the round, also one that comes again"
    assert came[2] == came[5] == missed


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("example", ["named_features", "journey_123"])
def test_one_of_the_reasons_proves_it_and_two_do_not(example, level):
    for seed in range(12):
        values = of_link(example=example, level=level, round_seed=str(seed))
        asked = words.why(game.trace_of(values), values)
        assert len({*asked.choices}) == 3, asked.choices
        assert sum(asked.judge([n]).right for n in range(3)) == 1
        mine = lights_with(*layer_of(values), game.hidden(values))
        if red(mine):
            (right,) = [c for n, c in enumerate(asked.choices) if asked.judge([n]).right]
            assert right in [each.evidence for each in red(mine)]
        for n in range(3):
            assert asked.judge([n]).words


def test_the_check_that_finds_most_is_the_one_that_is_red_most_often():
    layer = EXAMPLES["wild_cat"].inputs, EXAMPLES["wild_cat"].heads
    known = suspects(*layer)
    count = Counter(light.title for name in known for light in red(lights_with(*layer, name)))
    (best, often), *_ = count.most_common()
    said = words.finds_most.__wrapped__(of_link(example="wild_cat"))
    assert f"“{best}” turns red for {often} of {len(known)} mistakes" in said


def test_a_text_that_can_show_none_says_so():
    at = stands(visit("diagnosis", sentence="cat", tokenizer="blanks"))
    assert "Nothing is wrong here" in rendered(at)


# --- seen in notebooks ----------------------------------------------------------------------------
def test_a_mistake_has_its_stories_and_a_way_to_the_notebook_s_sentence():
    at = stands(visit("mistakes_lab", example="sorry_dave", mistake="no_scaling"))
    at.session_state["row_deeper"] = True
    shown = rendered(stands(at.run()))
    for story in (*stories_of("no_scaling"), *stories_of("")):
        assert story.told().wrong in shown
        assert story.told().right in shown
    assert STORIES["mask_after_softmax"].title not in shown
    at = stands(at.button(key="seen_missing_scale").click().run())
    values = at.session_state["session"].values
    assert (values.example, values.mistake) == ("sorry_dave_first_run", "no_scaling")
    assert at.query_params["example"] == "sorry_dave_first_run"
    assert not [each for each in at.button if each.key == "seen_missing_scale"]
