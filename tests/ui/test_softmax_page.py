"""The lesson on softmax at the ends of everything that can be set, in its link and by hand."""

import math

import pytest
import torch

from attention_core.mechanism.softmax import normalise_row
from attention_ui.lessons.softmax_or_sum.lesson import matches_of, row_of, trace_of
from attention_ui.lessons.softmax_or_sum.words import matches_words
from attention_ui.picture.layout import brief
from attention_ui.words import percent
from visiting import noted_layouts, stands, values_of, visit, visit_deeper, words

SLOW = pytest.mark.slow("20 s: whole pages")


def opened(**link):
    return visit("softmax_or_sum", **link)


def by_hand(scores, **more):
    return {"row_from": "hand", "typed": scores, **more}


@SLOW
@pytest.mark.parametrize(("link", "said"), [
    (by_hand("-inf,-inf"), "there is nothing to share"),
    (by_hand("-inf,3,1"), "Dividing by the sum cannot hide a key"),
    (by_hand("-inf,3,1", magnify="0"), "choose a factor above 0"),
    (by_hand("1,-1"), "sum to exactly 0"),
    ({"d_in": "1", "edits": ",".join(f"{row}.0:0" for row in range(9)), "magnify": "16"},
     "sum to exactly 0"),
    ({"shift": "-10", "magnify": "0", "push": "-150", "precision": "float16"},
     "each weight is 0 / 0"),
    ({"shift": "10", "magnify": "16", "push": "150", "precision": "bfloat16"},
     "11 of 11 exponentials are `inf`, 11 of 11 weights `nan`"),
])  # fmt: skip
def test_what_gives_no_number_is_explained(link, said):
    assert said in words(visit_deeper("softmax_or_sum", **link))


@SLOW
@pytest.mark.parametrize(("precision", "n_infinite"), [("float32", 0), ("float16", 1)])
def test_scores_overflow_where_the_precision_ends(precision, n_infinite):
    at = visit_deeper("softmax_or_sum", push="8", precision=precision)
    assert f"{n_infinite} of 11 exponentials {'is' if n_infinite else 'are'} `inf`" in words(at)


@SLOW
def test_scores_that_cannot_be_used_stay_typed_and_are_explained():
    at = opened(row_from="hand", typed="2,1")
    at.text_input(key="control_typed").set_value("2, one").run()
    stands(at)
    assert at.text_input(key="control_typed").value == "2, one"
    assert values_of(at).typed == (2, 1)
    assert "each score must be a number" in words(at)
    at.text_input(key="control_typed").set_value("2; 1").run()
    assert "each score must be a number" in words(at)
    at.text_input(key="control_typed").set_value(" 2 1 −∞ ").run()
    stands(at)
    assert values_of(at).typed == (2, 1, -math.inf)
    assert at.session_state["session"].drafts == {}


def test_the_example_s_scores_can_be_taken_over():
    at = opened(row_query="2")
    at.button(key="take_over").click().run()
    stands(at)
    taken = values_of(at)
    assert taken.row_from == "hand"
    assert taken.typed[:3] == (1.7344, -2.243, 2.3208)  # as the lesson before shows them


@pytest.mark.parametrize("poor", [-6.0, -4.0, -3.0, -1.5, 0.0, 2.0])
def test_the_first_picture_says_what_each_way_gives_the_good_match_and_the_poor_one(poor):
    said = matches_words(matches_of(poor), poor)
    scores = (2.0, 1.0, poor)
    total = sum(scores)
    exponentials = [math.exp(score) for score in scores]
    good = exponentials[0] / sum(exponentials)
    assert f"Softmax gives {percent(good)}" in said
    if total == 0:
        assert "The sum is 0, and nothing can be divided by 0." in said
    elif poor >= 0:
        assert "both ways give proper shares" in said
    else:
        for share in (2 / total, poor / total):
            assert f"{share:.2f}".replace("-", "−") in said
        assert ("reverses the order" in said) == (total < 0)
        assert ("more than there is to share" in said) == (total > 0)


def test_a_card_that_nobody_touches_shows_what_it_tells_of():
    """A constant turns the shares by the sum over, a factor moves softmax."""
    at = stands(opened(predict="off", example="named_features"))
    values = values_of(at)
    trace = trace_of(values)
    moved = normalise_row(row_of(values), shift=values.shift)
    larger = normalise_row(row_of(values), magnify=values.magnify)
    assert not torch.allclose(moved["sum_weights"].value, trace["sum_weights"].value, atol=0.1)
    gap = (larger["softmax_weights"].value - trace["softmax_weights"].value).abs().sum()
    assert gap > 0.2
    assert "Softmax has not moved" in words(at)


def test_what_stands_above_a_question_does_not_answer_it():
    asked = words(stands(opened(predict="on", example="named_features")))
    assert "Which gets the larger weight" in asked
    assert not any(told in asked for told in ("goes well", "proper shares", "reversed"))


def test_on_a_phone_both_ways_stay_in_sight():
    with noted_layouts() as found:
        stands(opened(predict="off"))
    both = [layout for layout in found if sum(one.as_bars for one in layout.matrices) > 1]
    assert len(both) >= 3
    for layout in map(brief, both[:2]):  # of the third, softmax alone
        drawn = zip(layout.matrices, layout.narrow.boxes, strict=True)
        assert not any(layout.narrow.leaves_out(box.y) for one, box in drawn if one.as_bars)
