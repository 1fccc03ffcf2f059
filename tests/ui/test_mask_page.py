"""The lesson on the causal mask: what it says follows from the mask that is set."""

import pytest

from attention_ui.lessons.causal_mask import leaks
from visiting import rendered, values_of, visit

SLOW = pytest.mark.slow("5 s: whole pages")

PAGE = "pages/causal_mask.py"


@SLOW
@pytest.mark.parametrize(("link", "said", "unsaid"), [
    ({}, ["the lower triangle", "one key, itself", "no row has seen"], ["a later token"]),
    ({"causal": "off"},
     ["11 of the 11 keys", "10 of 11 rows see a later token", "no cell is hidden"],
     ["triangle", "itself, and gives", "no row has seen", "All hidden"]),
    ({"window": "3"}, ["the 2 tokens before it", "one key, itself"], ["triangle"]),
    ({"causal": "off", "window": "2"}, ["the token before it and the token after"], []),
    ({"hidden": "0", "masking": "renormalised"},
     ["sees no key", "Such a row of weights is set to 0"],
     ["triangle", "gives it everything"]),
    ({"turned": "0.0,0.4"}, ["one key, key 4", "2 cells are flipped", "1 of 11 rows sees"], []),
])  # fmt: skip
def test_the_text_follows_the_mask(link, said, unsaid):
    words = rendered(visit(PAGE, **link))
    assert all(each in words for each in said), words
    assert not any(each in words for each in unsaid)


def test_a_leak_too_small_to_be_seen_is_not_called_safe():
    words = rendered(visit(PAGE, example="sorry_dave_first_run", masking="zero_filled"))
    assert "Up to 1e-08 of a row's weight" in words
    assert "Too little to be seen here: the largest change is 4e-09." in words
    assert "No leak" not in words


@SLOW
def test_a_page_that_nobody_touches_shows_a_leak_and_asks_about_the_other_ways():
    shown = rendered(visit(PAGE, example="named_features", predict="on"))
    assert "It leaks: " in shown
    assert "waits for your guess at [“Four ways" not in shown
    way = leaks.WAYS[leaks.SHOWN]
    assert f"Beside “{way}”" in shown
    values = values_of(visit(PAGE, example="named_features"))
    asked = leaks.which_leak(values)
    assert way not in asked.choices
    right = [at for at, each in enumerate(leaks.ASKED) if each in leaks.leaky_ways(values)[0]]
    assert asked.judged(right).right
    assert not asked.judged([]).right


@SLOW
def test_the_cell_that_is_offered_to_flip_lets_a_query_see_its_answer_and_leaves_none_blind():
    at = visit(PAGE)
    at.button(key="change_mask").click().run()
    at.button(key="flip_mask").click().run()
    last = len(at.session_state["session"].values.sentence.split()) * 2 - 2  # blanks are tokens
    assert at.session_state["session"].chosen["turned"] == f"{last - 1}.{last}"
    assert "Nothing to look at" not in rendered(at)
    assert not visit(PAGE, tokenizer="blanks", sentence="alone").exception
