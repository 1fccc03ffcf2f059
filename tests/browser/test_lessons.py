"""What a lesson draws when it is used: faint rows, bars, tooltips, a link made of controls."""

import re

import pytest

from browser_tools import choose, matrix, no_exception, open_page, settled

LESSON = "simplified_attention?predict=off&cell=none"
HOSTILE = (
    '<img/src="x"onerror="window.hacked=1"> <script>window.hacked=1</script> '
    "![x](http://127.0.0.1:9/x.png) [a](javascript:alert(1)) $x$ :red[x]"
)


def cells(page, beat, chart):
    return matrix(page, beat, chart).locator(".mark-rect.role-mark").first.locator("path")


def numbers(page, beat, chart):
    texts = matrix(page, beat, chart).locator(".mark-text.role-mark").first.locator("text")
    return texts.all_text_contents()


def control(page, name, kind="input"):
    return page.locator(f"[class*='st-key-control_{name}'] {kind}").first


@pytest.mark.long
def test_a_link_made_with_the_controls_shows_the_same_to_another_person(
    page, new_page, app_url, fresh_server
):
    open_page(page, app_url, "simplified_attention")
    control(page, "predict", "label").click()
    settled(page)
    control(page, "sentence", "textarea").fill("Émile said: 5 & 5 = 10% + 猫?")
    page.keyboard.press("Control+Enter")
    settled(page)
    control(page, "seed").fill("7")
    page.keyboard.press("Enter")
    settled(page)
    control(page, "d_in").focus()
    page.keyboard.press("ArrowRight")
    settled(page)
    cells(page, "scores", 2).nth(3).click()
    settled(page)
    link = page.url.removeprefix(app_url)

    other = new_page()
    open_page(other, fresh_server(), link)
    assert control(other, "sentence", "textarea").input_value() == "Émile said: 5 & 5 = 10% + 猫?"
    assert control(other, "seed").input_value() == "7"
    for beat, chart in (("scores", 0), ("scores", 2), ("weights", 1), ("context", 2)):
        assert numbers(other, beat, chart) == numbers(page, beat, chart) != []
    assert len(numbers(other, "scores", 0)) % 4 == 0, "four numbers a token"
    mine, theirs = (each.locator(".st-key-cell_scores").inner_text() for each in (page, other))
    assert mine == theirs
    assert "scores[0, 3]" in theirs
    assert other.locator(".st-key-notices").count() == 0
    assert other.problems == []


@pytest.mark.long
def test_the_stepper_draws_the_keys_to_come_faintly(page, app_url):
    open_page(page, app_url, LESSON)

    def faint():
        """Of each row of the running context, how many of its three cells are faint."""
        drawn = cells(page, "one_query", 6)
        opacity = [float(path.get_attribute("opacity") or 1) for path in drawn.all()]
        return [sum(cell < 0.5 for cell in opacity[at : at + 3]) for at in range(0, 33, 3)]

    assert faint() == [0] * 11
    for button, reached in (("First", 1), ("Next key", 2)):
        page.get_by_role("button", name=button, exact=True).last.click()
        settled(page)
        assert faint() == [0] * reached + [3] * (11 - reached)
        assert f"upto={reached}" in page.url


@pytest.mark.long
def test_stretching_a_vector_moves_the_bars(page, app_url):
    open_page(page, app_url, f"{LESSON}&query=8&stretch=6")
    bars = page.locator("[data-testid=stVegaLiteChart] svg").filter(has_text="before")

    def heights():
        return [round(bar["height"]) for bar in boxes(bars.locator(".mark-rect path"))]

    before = heights()
    assert len(before) == 22, "two bars a token"
    assert before[:11] == before[11:], "nothing is stretched yet"
    control(page, "factor").focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    settled(page)
    assert heights()[:11] == before[:11], "the grey ones stay"
    assert heights()[11 + 6] > before[6] + 3, "a longer vector draws weight"


def boxes(locator):
    return locator.evaluate_all("all => all.map(one => one.getBoundingClientRect().toJSON())")


@pytest.mark.parametrize("labelled", [True, False])
def test_a_tooltip_names_both_tokens_and_the_value(page, app_url, labelled):
    """The weights stand to the right of the scores and share their labels; not their tooltips."""
    open_page(page, app_url, LESSON)
    beat, chart = ("scores", 2) if labelled else ("weights", 1)
    cells(page, beat, chart).nth(8 * 11 + 6).hover()
    tip = page.locator("#vg-tooltip-element.visible")
    tip.wait_for()
    words = tip.inner_text().split()
    assert words[:4] == ["query", "wild", "key", "the"]
    assert words[4] == "number"
    assert float(words[5]) == pytest.approx(3.3092 if labelled else 0.3910, abs=1e-4)
    said = "“wild” takes in 39% of “the”"
    assert (said in tip.inner_text()) != labelled, "of weights alone"


def test_a_cell_below_the_tooltip_of_another_can_be_pointed_at(page, app_url):
    open_page(page, app_url, LESSON)
    drawn = cells(page, "scores", 2)
    drawn.nth(2 * 11 + 2).hover()
    tip = page.locator("#vg-tooltip-element.visible")
    tip.wait_for()
    before, (over,) = tip.inner_text(), boxes(tip)
    middles = [(one["x"] + 9, one["y"] + 9) for one in boxes(drawn)]
    below = [
        (x, y)
        for x, y in middles
        if over["left"] < x < over["right"] and over["top"] < y < over["bottom"]
    ]
    page.mouse.move(*below[0])
    page.wait_for_function(
        """before => {
          const tip = document.querySelector('#vg-tooltip-element.visible');
          return tip && tip.innerText !== before;
        }""",
        arg=before,
    )


@pytest.mark.long
def test_hostile_text_that_is_typed_is_text_on_every_page(page, app_url):
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    open_page(page, app_url, LESSON)
    choose(page, "Tokenizer", re.compile("^Split at blanks$"))
    control(page, "sentence", "textarea").fill(HOSTILE)
    page.keyboard.press("Control+Enter")
    settled(page)
    assert "<img/src" in matrix(page, "scores", 2).text_content()
    cells(page, "scores", 2).nth(0).hover()
    tip = page.locator("#vg-tooltip-element.visible")
    tip.wait_for()
    assert '<img/src="x"onerror="window.hacked=1">' in tip.inner_text()
    sidebar = page.locator("[data-testid=stSidebar]")
    for title in ("Simplified attention", "Tokenize and embed", "Home"):
        sidebar.get_by_role("link", name=title).click()
        settled(page, quiet=1)
        assert control(page, "sentence", "textarea").input_value() == HOSTILE
        assert page.locator("img[src='x'], a[href^='javascript']").count() == 0
        assert page.evaluate("window.hacked") is None
        no_exception(page)
    assert not [url for url in asked if "127.0.0.1:9/" in url]


@pytest.mark.long
def test_an_embedding_leads_to_the_row_of_the_table_that_its_id_names(page, app_url):
    open_page(page, app_url, "tokenize_and_embed?predict=off&cell=embeddings.7.0")
    panel = page.locator(".st-key-cell_lookup")
    panel.locator("[data-testid=stSlider] input").first.focus()
    page.keyboard.press("ArrowRight")
    settled(page)
    assert "token 8: wild" in panel.inner_text()
    panel.locator("[data-testid=stButtonGroup] button", has_text="[6, 0]").click()
    settled(page)
    words = panel.inner_text()
    assert "embedding_table[6, 0]" in words
    assert "seed is 69" in words
    panel.get_by_role("button", name="embeddings[8, 0]").click()
    settled(page)
    assert panel.locator("strong code").inner_text() == "embeddings[8, 0]"


@pytest.mark.long
def test_edits_in_a_link_are_in_the_table_and_in_every_row_that_picks_it(page, app_url):
    """Row 0 of the table is the blank's; rows 1, 3, 5, 7 and 9 of the embeddings pick it."""
    open_page(page, app_url, "tokenize_and_embed?predict=off&cell=none")
    plain = numbers(page, "lookup", 2)
    assert "0.50" not in plain[3:33:6]
    open_page(page, app_url, "tokenize_and_embed?predict=off&cell=none&edits=0.0:0.5")
    assert numbers(page, "lookup", 1)[0] == "0.50"
    expected = list(plain)
    expected[3:33:6] = ["0.50"] * 5
    assert numbers(page, "lookup", 2) == expected
    assert page.get_by_role("button", name="Undo all typed numbers").count() == 1
    no_exception(page)
