"""Controls, questions, links and refusals in a real browser."""

import pytest

from attention_core.examples import EXAMPLES
from browser_tools import no_exception, numbers, open_page, settled, soon
from sampling import few

LESSON = "simplified_attention?predict=off"


def test_weights_are_covered_until_one_has_guessed(page, app_url):
    def covered():
        shown = numbers(page, "weights", 1)
        assert len(shown) == 121
        assert "?" not in numbers(page, "weights", 0), "what would not answer it"
        return set(shown) == {"?"}

    open_page(page, app_url, "simplified_attention")
    assert covered()
    question = page.locator(".st-key-question_looks_at")
    assert "Query 8: wild" in question.inner_text()
    question.get_by_text("8: wild", exact=True).last.click()
    settled(page)
    assert not covered()
    words = question.inner_text()
    assert "It is key 6 (0.3910)" in words
    assert "0.2835" in words
    question.get_by_role("button", name="Guess again").click()
    settled(page)
    assert covered()
    question.get_by_role("button", name="Show me").click()
    settled(page)
    assert not covered()


def test_the_switch_at_the_head_stops_the_questions(page, app_url):
    open_page(page, app_url, "tokenize_and_embed")
    assert page.locator("[class*=st-key-question_]").count() > 0
    assert "?" in numbers(page, "lookup")
    page.locator(".st-key-control_predict label").first.click()
    settled(page)
    assert page.locator("[class*=st-key-question_]").count() == 0
    assert "?" not in numbers(page, "lookup")
    assert "predict=off" in page.url


def test_a_walk_along_the_keys_is_drawn_at_once_and_stands_in_the_link(page, app_url):
    """Of each row of the running context, how many of its three numbers are faint."""
    faint = """() => {
      const last = Math.max(...[...document.querySelectorAll(
        '.st-key-drawn_one_query svg g.cells_marks path')].map((one) => one.__data__.datum.m));
      const rows = Array(11).fill(0);
      for (const one of document.querySelectorAll('.st-key-drawn_one_query svg g.cells_marks path'))
        if (one.__data__.datum.m === last
            && Number(one.getAttribute('opacity') ?? 1) < 0.5) rows[one.__data__.datum.i] += 1;
      return rows;
    }"""
    open_page(page, app_url, LESSON)
    assert page.evaluate(faint) == [0] * 11
    slider = page.locator(".st-key-moves_one_query input")
    for key, reached in (("Home", 1), ("ArrowRight", 2), ("ArrowRight", 3), ("ArrowLeft", 2)):
        slider.press(key)
        soon(page, lambda: page.evaluate(faint), [0] * reached + [3] * (11 - reached))
    settled(page)
    assert "shown_terms=2" in page.url
    assert page.evaluate(faint) == [0] * 2 + [3] * 9


def test_a_link_gives_the_same_numbers_on_a_server_just_started(
    page, new_page, app_url, fresh_server
):
    changed = "sentence=A+cat+sat+on+a+mat&tokenizer=text&seed=5&d_in=4&cell=scores.1.3&predict=off"
    open_page(page, app_url, f"simplified_attention?{changed}")
    link = page.url
    other = new_page()
    cold = fresh_server()
    open_page(other, cold, link.removeprefix(app_url))
    for card in ("scores", "weights", "context"):
        assert numbers(other, card) == numbers(page, card) != []
    assert "scores[1, 3]" in other.locator(".st-key-cell_scores").inner_text()
    contents = other.inner_text("[data-testid=stSidebar]")
    assert "Simplified attention" in contents
    assert "simplified_attention" not in contents


def test_what_was_set_goes_along_from_page_to_page(page, app_url):
    open_page(page, app_url, "tokenize_and_embed?predict=off&seed=7")
    page.locator(".st-key-control_sentence textarea").fill("One fish two fish")
    page.keyboard.press("Control+Enter")
    settled(page)
    following = page.get_by_role("link", name="Next: Simplified attention")
    following.scroll_into_view_if_needed()
    following.click()
    settled(page, quiet=1)
    assert page.locator(".st-key-control_sentence textarea").input_value() == "One fish two fish"
    assert page.locator(".st-key-control_seed input").input_value() == "7"
    assert page.locator(".st-key-drawn_scores svg.marks").text_content().count("fish") >= 2
    assert "seed=7" in page.url


@pytest.mark.parametrize("lesson", few(["tokenize_and_embed", "", "simplified_attention"], 1))
def test_a_bad_link_is_explained(page, app_url, lesson):
    open_page(page, app_url, f"{lesson}?seed=inf&example=nope&cell=scores.99.0&d_in=x")
    no_exception(page)
    notices = page.locator(".st-key-notices").inner_text()
    for name in ("seed", "example", "d_in"):
        assert f"The link’s {name}" in notices
    if lesson:
        assert "scores[99, 0] is not in this lesson" in page.inner_text("[data-testid=stMain]")


@pytest.mark.long
def test_what_cannot_be_used_stays_typed_and_is_explained(page, app_url):
    open_page(page, app_url, LESSON)
    seed = page.locator(".st-key-control_seed input")
    seed.fill("abc")
    page.keyboard.press("Enter")
    settled(page)
    assert "whole number from 0" in page.locator(".st-key-problem_of_seed").inner_text()
    assert seed.input_value() == "abc"
    text = page.locator(".st-key-control_sentence textarea")
    text.fill("word " * 70)
    page.keyboard.press("Control+Enter")
    settled(page)
    assert "at most 64 fit" in page.locator(".st-key-problem_of_sentence").inner_text()
    assert text.input_value() == "word " * 70
    assert seed.input_value() == "abc"


def test_home_starts_with_ones_own_sentence_or_an_example(page, app_url):
    open_page(page, app_url)
    page.get_by_placeholder("The small dog sees the cat").fill("Ça va? 你好 🙂")
    page.get_by_test_id("stBaseButton-primaryFormSubmit").click()
    page.wait_for_url("**/whole_layer**")
    settled(page)
    written = page.locator(".st-key-drawn_layer svg text").all_text_contents()
    assert {"Ça", "va", "?", "你", "好", "🙂"} <= {*written}
    open_page(page, app_url)
    page.locator(".st-key-row_examples summary").click()
    page.get_by_role("link", name=EXAMPLES["life_is_short"].title).click()
    page.wait_for_url("**/tokenize_and_embed**")
    settled(page)
    assert page.locator(".st-key-chips_tokens").inner_text().split()[0] == "life"
