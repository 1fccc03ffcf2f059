"""Opening a cell's arithmetic in a real browser, by mouse and by keyboard, and walking upstream."""

import pytest

from browser_tools import matrix, no_exception, open_page, settled

LESSON = "simplified_attention?predict=off&cell=none"


def cells(page, beat, chart):
    """The cells of one matrix of a beat, in the order of the step's values."""
    return matrix(page, beat, chart).locator(".mark-rect.role-mark").first.locator("path")


def panel(page, beat):
    return page.locator(f".st-key-cell_{beat}")


def operand(page, beat, places):
    """The pill of an operand, by the places of its cell: `[2, 1]`."""
    return panel(page, beat).locator("[data-testid=stButtonGroup] button", has_text=places).first


def opened(page, beat):
    """The name of the open cell: the last station of the trail."""
    return panel(page, beat).locator("strong code").inner_text()


def test_a_click_on_a_cell_opens_its_arithmetic_and_operands_lead_upstream(page, app_url):
    open_page(page, app_url, LESSON)
    assert panel(page, "scores").count() == 0
    cells(page, "scores", 2).nth(2 * 11 + 4).click()
    settled(page)
    assert opened(page, "scores") == "scores[2, 4]"
    assert "cell=scores.2.4" in page.url
    words = panel(page, "scores").inner_text()
    assert "query 2: dog" in words
    assert "key 4: attacks" in words
    assert "2.0373" in words

    operand(page, "scores", "[2, 1]").click()
    settled(page)
    assert opened(page, "scores") == "embeddings[2, 1]"
    operand(page, "scores", "[4, 1]").click()
    settled(page)
    assert opened(page, "scores") == "embedding_table[4, 1]"
    panel(page, "scores").get_by_role("button", name="scores[2, 4]").click()
    settled(page)
    assert opened(page, "scores") == "scores[2, 4]"
    no_exception(page)
    assert page.problems == []


@pytest.mark.long
def test_a_click_on_a_transposed_matrix_names_the_cell_of_the_step(page, app_url):
    open_page(page, app_url, LESSON)
    cells(page, "scores", 1).nth(6 * 3 + 1).click()  # drawn transposed, kept in the step's order
    settled(page)
    assert opened(page, "scores") == "embeddings[6, 1]"


@pytest.mark.long
def test_the_open_cell_and_what_it_is_made_of_are_outlined(page, app_url):
    open_page(page, app_url, LESSON.replace("none", "scores.3.2"))
    outlines = [
        matrix(page, "scores", chart).locator("path[stroke='#E08A00']").count()
        for chart in range(3)
    ]
    assert outlines == [3, 3, 1]


def test_the_keyboard_alone_opens_a_cell_moves_it_and_walks_upstream(page, app_url):
    open_page(page, app_url, LESSON)
    button = page.get_by_role("button", name="Take a cell of scores apart")
    for _ in range(80):
        page.keyboard.press("Tab")
        if button.evaluate("button => button === document.activeElement"):
            break
    page.keyboard.press("Enter")
    settled(page)
    assert opened(page, "scores") == "scores[0, 0]"
    panel(page, "scores").locator("[data-testid=stSlider] input").first.focus()
    page.keyboard.press("ArrowRight")
    settled(page)
    assert opened(page, "scores") == "scores[1, 0]"
    operand(page, "scores", "[1, 2]").focus()
    page.keyboard.press("Enter")
    settled(page)
    assert opened(page, "scores") == "embeddings[1, 2]"
    panel(page, "scores").get_by_role("button", name="scores[1, 0]").focus()
    page.keyboard.press("Enter")
    settled(page)
    assert opened(page, "scores") == "scores[1, 0]"


@pytest.mark.long
def test_one_cell_is_open_at_a_time_and_can_be_closed(page, app_url):
    open_page(page, app_url, LESSON)
    cells(page, "scores", 2).nth(5).click()
    settled(page)
    cells(page, "context", 2).nth(4).click()
    settled(page)
    assert panel(page, "scores").count() == 0
    assert opened(page, "context") == "context_vectors[1, 1]"
    panel(page, "context").get_by_role("button", name="Close").click()
    settled(page)
    assert panel(page, "context").count() == 0
    assert "cell=none" in page.url


@pytest.mark.long
def test_a_weight_leads_to_the_table_of_embeddings(page, app_url):
    """The question of the project: where does 0.3910 come from?"""
    open_page(page, app_url, LESSON.replace("none", "weights.8.6"))
    assert "0.3910" in panel(page, "weights").inner_text()
    for places, name in (
        ("[8, 6]", "scores[8, 6]"),
        ("[8, 0]", "embeddings[8, 0]"),
        ("[6, 0]", "embedding_table[6, 0]"),
    ):
        operand(page, "weights", places).click()
        settled(page)
        assert opened(page, "weights") == name
    assert "seed is 69" in panel(page, "weights").inner_text()


@pytest.mark.long
def test_back_restores_the_cell_before(page, app_url):
    open_page(page, app_url, LESSON)
    for place in (0, 1):
        cells(page, "scores", 2).nth(place).click()
        settled(page)
    assert opened(page, "scores") == "scores[0, 1]"
    page.go_back()
    settled(page)
    assert opened(page, "scores") == "scores[0, 0]"


WAY_UP = (
    ("weights[3, 2]", "[3, 2]"),
    ("scaled_scores[3, 2]", "[3, 2]"),
    ("scores[3, 2]", "[3, 2]"),
    ("queries[3, 1]", "[3, 1]"),
    ("embeddings[3, 0]", "[3, 0]"),
)


@pytest.mark.long
def test_from_a_context_vector_up_to_the_embedding_and_back_by_mouse(page, app_url):
    open_page(page, app_url, "queries_keys_values?example=journey_123&predict=off&cell=none")
    cells(page, "context", 2).nth(3 * 2).click()
    settled(page)
    assert opened(page, "context") == "context_vectors[3, 0]"
    for name, places in WAY_UP:
        operand(page, "context", places).click()
        settled(page)
        assert opened(page, "context") == name
    for name in ["context_vectors[3, 0]", *(name for name, _ in WAY_UP)][-2::-1]:
        panel(page, "context").get_by_role("button", name=name, exact=True).click()
        settled(page)
        assert opened(page, "context") == name
    no_exception(page)
    assert page.problems == []


@pytest.mark.long
def test_from_a_context_vector_up_to_the_embedding_and_back_by_keyboard_on_a_phone(
    new_page, app_url
):
    page = new_page(viewport={"width": 390, "height": 844})
    open_page(page, app_url, "queries_keys_values?example=journey_123&predict=off&cell=none")
    page.get_by_role("button", name="Take a cell of context_vectors apart").focus()
    page.keyboard.press("Enter")
    settled(page)
    panel(page, "context").locator("[data-testid=stSlider] input").first.focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    settled(page)
    assert opened(page, "context") == "context_vectors[3, 0]"
    for name, places in WAY_UP:
        operand(page, "context", places).focus()
        page.keyboard.press("Enter")
        settled(page)
        assert opened(page, "context") == name
        box = panel(page, "context").bounding_box()
        assert box["x"] + box["width"] <= 390
    panel(page, "context").get_by_role("button", name="context_vectors[3, 0]").focus()
    page.keyboard.press("Enter")
    settled(page)
    assert opened(page, "context") == "context_vectors[3, 0]"
    panel(page, "context").get_by_role("button", name="Close").focus()
    page.keyboard.press("Enter")
    settled(page)
    assert panel(page, "context").count() == 0


@pytest.mark.long
def test_zeros_are_said_in_words_beside_the_sum(page, app_url):
    link = "causal_mask?predict=off&beat=context&cell=context_vectors.4.1"
    open_page(page, app_url, link)
    assert "6 of the 11 products are times 0: the mask hides their keys." in (
        panel(page, "context").inner_text()
    )


@pytest.mark.long
def test_a_cell_that_is_not_there_is_missed_aloud_and_leaves_the_address(page, app_url):
    open_page(page, app_url, "simplified_attention?predict=off&cell=scores.99.0")
    said = page.locator(".st-key-lost_cell").inner_text()
    assert "scores[99, 0] is not in this lesson: scores has the shape query 11 × key 11" in said
    assert "cell" not in page.url
    assert opened(page, "scores") == "scores[8, 6]", "the lesson's own cell is open"
    page.reload()
    settled(page)
    assert page.locator(".st-key-lost_cell").count() == 0
