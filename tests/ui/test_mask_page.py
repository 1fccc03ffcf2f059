"""The lesson on the causal mask: what it says follows from the mask that is set."""

from functools import partial

import pytest

import chosen
from attention_core import embed
from attention_ui.controls.shared import inputs_of
from attention_ui.lessons.causal_mask.lesson import CONTROLS, with_window
from attention_ui.picture.layout import equation
from attention_ui.picture.matrix import Matrix
from attention_ui.picture.positions import positions
from visiting import rendered, visit

pytestmark = pytest.mark.slow("5 s: whole pages")

PAGE = "pages/causal_mask.py"


@pytest.mark.parametrize(("link", "said", "unsaid"), [
    ({}, ["the lower triangle", "one key, itself", "no row has seen"], ["a later token"]),
    ({"causal": "off"},
     ["11 of the 11 keys", "10 of 11 rows see a later token", "no cell is hidden"],
     ["triangle", "itself, and gives", "no row has seen", "All hidden"]),
    ({"window": "3"}, ["the 2 tokens before it", "one key, itself"], ["triangle"]),
    ({"causal": "off", "window": "2"}, ["the token before it and the token after"], []),
    ({"hidden": "0", "masking": "renormalised"},
     ["sees no key", "but row 0, with every key hidden, sums to 0."],
     ["triangle", "gives it everything"]),
    ({"turned": "0.0,0.4"}, ["one key, key 4", "2 cells are flipped", "1 of 11 rows sees"], []),
])  # fmt: skip
def test_the_text_follows_the_mask(link, said, unsaid):
    words = rendered(visit(PAGE, **link))
    assert all(each in words for each in said), words
    assert not any(each in words for each in unsaid)


def test_a_leak_too_small_to_be_seen_is_not_called_safe():
    at = visit(PAGE, example="sorry_dave_first_run", masking="zero_filled")
    words = rendered(at)
    assert "Up to 1e-08 of a row's weight" in words
    assert "Too little to be seen here: the largest change is 4e-09." in words
    assert "No leak" not in words


def test_a_window_beyond_the_text_is_all_of_it_and_counts_again():
    at = visit(PAGE, window="9", hidden="7", tokenizer="blanks", sentence="a " * 12)
    assert "the 8 tokens before it; but “a” (key 7) is hidden from every query" in rendered(at)
    at.text_area(key="control_sentence").set_value("a b c").run()
    assert at.session_state["visit"].values.window == 0
    assert at.session_state["visit"].values.hidden is None
    assert "the lower triangle" in rendered(at)
    at.text_area(key="control_sentence").set_value("a " * 12).run()
    assert "the 8 tokens before it; but “a” (key 7) is hidden from every query" in rendered(at)


def test_a_cell_of_the_mask_is_flipped_where_it_is_seen_and_flipped_back():
    at = visit(PAGE, section="mask", cell="mask.0.4")
    at.button(key="flip_mask").click().run()
    assert at.session_state["visit"].chosen["turned"] == "0.4"
    assert "1 cell is flipped by hand" in rendered(at)
    at.button(key="undo_mask").click().run()
    assert "turned" not in at.session_state["visit"].chosen
    assert "flipped by hand" not in rendered(at)


def test_the_cell_that_is_offered_to_flip_lets_a_query_see_its_answer_and_leaves_none_blind():
    at = visit(PAGE)
    at.button(key="change_mask").click().run()
    at.button(key="flip_mask").click().run()
    last = len(at.session_state["visit"].values.sentence.split()) * 2 - 2  # blanks are tokens
    assert at.session_state["visit"].chosen["turned"] == f"{last - 1}.{last}"
    assert "Nothing to look at" not in rendered(at)
    assert not visit(PAGE, tokenizer="blanks", sentence="alone").exception


values_of = partial(chosen.of, CONTROLS)


def test_no_number_of_a_window_touches_its_neighbour():
    """A window of one key has room for decimals that the scores of others have not."""
    values = values_of()
    embedded = embed(inputs_of(values))
    all_, own = (
        equation(found, *map(Matrix, found["masked_scores"].inputs), found["masked_scores"])
        for found in (with_window(embedded, values, window) for window in (0, 1))
    )
    boxes = [each.boxes[-1] for each in (all_.wide, all_.narrow)]
    lists, width = positions(all_, [all_, own]), min(b.width for b in boxes if b.decimals >= 0)
    last = f"{len(all_.matrices) - 1}."
    told = [each.get("texts", "") for name, each in lists.items() if name.startswith(last)]
    assert any("−1" in texts for texts in told), "numbers below 0 take most room"
    assert max(len(text) for texts in told for text in texts.split("|")) * 5.6 < width
