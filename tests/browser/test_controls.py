"""Controls, questions, links and refusals in a real browser."""

import re

import pytest

from attention_core.examples import EXAMPLES
from browser_tools import COVERED, matrix, no_exception, open_page, settled
from sampling import few

LESSON = "simplified_attention?predict=off&cell=none"
TABLE = "tokenize_and_embed?predict=off&cell=none"


def numbers(page, beat, chart):
    """The numbers of one matrix of a beat, as they are written."""
    return (
        matrix(page, beat, chart)
        .locator(".mark-text.role-mark")
        .first.locator("text")
        .all_text_contents()
    )


def press(page, control, *keys):
    """Use a control of the page by keyboard."""
    page.locator(f"[class*='st-key-control_{control}'] input").first.focus()
    for key in keys:
        page.keyboard.press(key)
    settled(page)


def test_weights_are_covered_until_one_has_guessed(page, app_url):
    covered = page.locator(f".st-key-eq_weights {COVERED}")
    open_page(page, app_url, "simplified_attention")
    assert covered.count() == 1
    written = set(covered.locator(".mark-text.role-mark text").all_text_contents())
    assert written - {"", "→"} == {"?"}, "and the sign before it"
    question = page.locator(".st-key-predict_looks_at")
    assert "Query 8: wild" in question.inner_text()
    question.locator("input").click()
    page.keyboard.type("8: wild")
    page.keyboard.press("Enter")
    settled(page)
    question.get_by_role("button", name="Reveal").click()
    settled(page)
    assert covered.count() == 0
    words = question.inner_text()
    assert "It is key 6 (0.3910)" in words
    assert "0.2835" in words
    question.get_by_role("button", name="Guess again").click()
    settled(page)
    assert covered.count() == 1
    question.get_by_role("button", name="Skip, show me").click()
    settled(page)
    assert covered.count() == 0


def test_the_switch_in_the_sidebar_stops_the_questions(page, app_url):
    open_page(page, app_url, "tokenize_and_embed")
    covered = page.locator(f"{COVERED}, [class*='st-key-covered']")
    assert covered.count() == 2
    page.locator(".st-key-control_predict label").click()
    settled(page)
    assert covered.count() == 0
    assert "predict=off" in page.url


@pytest.mark.long
def test_stretching_a_vector_moves_weight(page, app_url):
    open_page(page, app_url, f"{LESSON}&query=8&stretch=6")
    assert "no weight has moved" in page.inner_text("[data-testid=stMain]")
    press(page, "factor", *["ArrowRight"] * 5)
    words = page.inner_text("[data-testid=stMain]")
    assert re.search(r"In all, 0\.\d+ of its weight has moved", words)
    assert "factor=1.5" in page.url


@pytest.mark.long
def test_one_more_reserved_row_changes_every_vector(page, app_url):
    open_page(page, app_url, TABLE)
    before = numbers(page, "lookup", 2)
    press(page, "reserved", "ArrowRight")
    after = numbers(page, "lookup", 2)
    assert len(after) == len(before) == 33
    assert after != before
    assert "reserved=3" in page.url


def test_the_stepper_walks_back_and_forth(page, app_url):
    open_page(page, app_url, LESSON)
    for button, said in (
        ("First", "1 of 11 keys so far"),
        ("Next key", "2 of 11 keys so far"),
        ("Next key", "3 of 11 keys so far"),
        ("Back", "2 of 11 keys so far"),
        ("All", "11 of 11 keys so far"),
    ):
        page.get_by_role("button", name=button, exact=True).last.click()
        settled(page)
        assert said in page.inner_text("[data-testid=stMain]")


@pytest.mark.long
def test_positions_part_repeated_words(page, app_url):
    open_page(page, app_url, TABLE)
    assert "Identical: rows 1, 3, 5, 7, 9" in page.inner_text("[data-testid=stMain]")
    page.locator(".st-key-control_positions label").click()
    settled(page)
    assert "Every row is different" in page.inner_text("[data-testid=stMain]")


def test_a_number_typed_into_the_table_is_used_everywhere(page, app_url):
    open_page(page, app_url, TABLE)
    grid = page.locator("[data-testid=stDataFrame]").first
    # The grid loads its editor at the first use, and what is typed before that is lost.
    for _ in range(5):
        grid.scroll_into_view_if_needed()
        page.wait_for_timeout(500)
        corner = grid.bounding_box()  # it moves while what is above it is drawn
        page.mouse.click(corner["x"] + 100, corner["y"] + 52)
        page.keyboard.press("Enter")
        page.wait_for_timeout(1_500)
        page.keyboard.press("Control+A")
        page.keyboard.type("0.25", delay=50)
        page.wait_for_timeout(500)  # an Enter within milliseconds takes the number before
        page.keyboard.press("Enter")
        settled(page, quiet=1)
        if "edits=0.0%3A0.25" in page.url:  # not some of it: the first keys may be lost
            break
    assert "edits=0.0%3A0.25" in page.url
    assert numbers(page, "lookup", 1)[0] == "0.25"
    assert numbers(page, "lookup", 2)[3] == "0.25"
    page.get_by_role("button", name="Undo all typed numbers").click()
    settled(page)
    assert numbers(page, "lookup", 1)[0] == "−0.53"


def test_a_link_gives_the_same_numbers_on_a_server_just_started(
    page, new_page, app_url, fresh_server
):
    changed = "sentence=A+cat+sat+on+a+mat&tokenizer=text&seed=5&d_in=4&cell=scores.1.3&predict=off"
    open_page(page, app_url, f"simplified_attention?{changed}")
    link = page.url
    other = new_page()
    cold = fresh_server()
    open_page(other, cold, link.removeprefix(app_url))
    for beat, chart in (("scores", 0), ("scores", 2), ("weights", 1), ("context", 2)):
        assert numbers(other, beat, chart) == numbers(page, beat, chart) != []
    assert "scores[1, 3]" in other.locator(".st-key-cell_scores").inner_text()
    contents = other.inner_text("[data-testid=stSidebar]")
    assert "Simplified attention" in contents
    assert "simplified_attention" not in contents
    no_exception(other)


def test_what_was_set_goes_along_from_page_to_page(page, app_url):
    open_page(page, app_url, "tokenize_and_embed?predict=off&seed=7")
    page.locator(".st-key-control_sentence textarea").fill("One fish two fish")
    page.keyboard.press("Control+Enter")
    settled(page)
    following = page.get_by_role("link", name="Next: Simplified attention")
    following.scroll_into_view_if_needed()
    settled(page)  # what comes into sight is drawn, and moves what is below it
    following.click()
    settled(page, quiet=1)
    assert page.locator(".st-key-control_sentence textarea").input_value() == "One fish two fish"
    assert page.locator(".st-key-control_seed input").input_value() == "7"
    assert page.locator(".st-key-eq_scores").inner_text().count("fish") >= 2
    assert "seed=7" in page.url


@pytest.mark.parametrize("lesson", few(["tokenize_and_embed", "", "simplified_attention"], 1))
def test_a_bad_link_is_explained(page, app_url, lesson):
    open_page(page, app_url, f"{lesson}?seed=inf&example=nope&cell=scores.99.0&d_in=x")
    no_exception(page)
    notices = page.locator(".st-key-notices").inner_text()
    for name in ("seed", "example", "d_in"):
        assert f"The link's {name}" in notices
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
    no_exception(page)


def test_home_starts_with_ones_own_sentence_or_an_example(page, app_url):
    open_page(page, app_url)
    page.get_by_placeholder("The cat sat on the mat").fill("Ça va? 你好 🙂")
    page.get_by_test_id("stBaseButton-primaryFormSubmit").click()
    page.wait_for_url("**/whole_layer**")
    settled(page)
    sentence = page.locator(".st-key-eq_layer svg g[class*='sentence_'][class$='_group'] text")
    written = sentence.all_text_contents()
    tokens = [each for each in written if each and "%" not in each]
    assert tokens == ["Ça", "va", "?", "你", "好", "🙂"]
    open_page(page, app_url)
    page.get_by_role("link", name="Open").nth([*EXAMPLES].index("life_is_short")).click()
    page.wait_for_url("**/tokenize_and_embed**")
    settled(page)
    assert page.locator(".st-key-chips_tokens").inner_text().split()[0] == "life"


def test_titles_stay_whole_when_a_matrix_grows(page, app_url):
    """Vega cuts a title to the width that the matrix had in its first picture."""
    open_page(page, app_url, "queries_keys_values?predict=off&cell=none&d_out=1&d_v=1")
    titles = page.locator("svg .role-title-text text")
    before = titles.all_text_contents()
    press(page, "d_v", *["ArrowRight"] * 3)
    assert "d_v=4" in page.url
    assert titles.all_text_contents() == before
    for part in (*before, *page.locator("svg .role-title-subtitle text").all_text_contents()):
        assert "…" not in part
