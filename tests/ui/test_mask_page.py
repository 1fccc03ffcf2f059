"""The lesson on the causal mask: what it says follows from the mask that is set."""

import pytest

from visiting import rendered, visit

pytestmark = pytest.mark.slow("5 s: whole pages")

PAGE = "pages/causal_mask.py"


@pytest.mark.parametrize(
    ("link", "said", "unsaid"),
    [
        ({}, ["the lower triangle", "one key, itself", "no row has seen"], ["a later token"]),
        (
            {"causal": "off"},
            ["11 of the 11 keys", "10 of 11 rows see a later token", "no cell is hidden"],
            ["triangle", "itself, and gives", "no row has seen", "All hidden"],
        ),
        ({"window": "3"}, ["the 2 tokens before it", "one key, itself"], ["triangle"]),
        ({"causal": "off", "window": "2"}, ["the token before it and the token after"], []),
        (
            {"hidden": "0", "way": "renormalised"},
            ["sees no key", "but row 0, with every key hidden, sums to 0."],
            ["triangle", "gives it everything"],
        ),
        ({"turned": "0.0,0.4"}, ["one key, key 4", "2 cells are flipped", "1 of 11 rows sees"], []),
    ],
)
def test_the_text_follows_the_mask(link, said, unsaid):
    words = rendered(visit(PAGE, **link))
    assert all(each in words for each in said), words
    assert not any(each in words for each in unsaid)


def test_a_leak_too_small_to_be_seen_is_not_called_safe():
    at = visit(PAGE, example="sorry_dave_first_run", way="zero_filled")
    words = rendered(at)
    assert "Up to 1e-08 of a row's weight" in words
    assert "Too little to be seen here: the largest change is 4e-09." in words
    assert "No leak" not in words
    (table,) = [frame.value for frame in at.dataframe]
    assert table.loc["0 before softmax"].str.contains("e-").any()
    assert set(table.loc["−∞ before softmax"]) == {"0"}


def test_one_choice_of_the_way_is_for_its_weights_and_its_leak():
    at = visit(PAGE, way="zero_filled")
    assert "It leaks" in rendered(at)
    at.button_group(key="control_way").set_value("minus_infinity").run()
    assert "No leak" in rendered(at)


def of_window(at):
    (slider,) = (each for each in at.select_slider if each.key.startswith("control_window"))
    return slider


def test_the_window_offers_what_the_text_has_and_a_link_may_name_more():
    at = visit(PAGE, cell="none")
    assert of_window(at).options == ["all", *map(str, range(1, 12))]
    at = visit(PAGE, cell="none", sentence="a b c", tokenizer="blanks", window="40", hidden="7")
    assert of_window(at).options == ["all", "1", "2", "3", "40"]
    assert of_window(at).value == at.session_state["settings"].window == 40
    assert [box.value for box in at.selectbox if box.key.startswith("control_hidden")] == [7]
    assert "the lower triangle" in rendered(at)
    at.text_area(key="control_sentence").set_value("a " * 45).run()
    assert of_window(at).value == at.session_state["settings"].window == 40
    assert "the 39 tokens before it; but key 7 is hidden from every query" in rendered(at)
    at.text_area(key="control_sentence").set_value("a b c").run()
    of_window(at).set_value(2).run()
    assert of_window(at).options == ["all", "1", "2", "3"]
    assert of_window(at).value == at.session_state["settings"].window == 2


@pytest.mark.parametrize("position", [0, 1, 2])
def test_every_window_of_a_text_of_two_tokens_is_in_use(position):
    at = visit(PAGE, cell="none", sentence="a b", tokenizer="blanks")
    of_window(at).set_value(position).run()
    assert of_window(at).value == at.session_state["settings"].window == position
    assert at.session_state["drafts"] == {}
