"""The page of a real model in a browser: a head that is clicked on, and another text."""

import re
from itertools import combinations

import pytest

from attention_core.real_model.model import open_model
from attention_core.real_model.run import run
from attention_core.real_model.tiny import TINY
from browser_tools import no_exception, open_page, open_row, script, settled, soon

PAGE = "real_model?predict=off"


def marks(page, card, kind="", drawn="rect path"):
    """What can be seen of a card's picture, of one kind."""
    found = page.evaluate(script("marks"), f".st-key-{card} svg g.mark-{drawn}")
    return [each for each in found if not kind or each.get("kind") == kind]


def middle(mark):
    return (mark["left"] + mark["right"]) / 2, (mark["top"] + mark["bottom"]) / 2


def middle_of(page, at):
    """Where a head of the tiny language stands in the picture of all heads, by its place there."""
    page.locator(".st-key-card_heads .vega-embed svg").scroll_into_view_if_needed()
    heads = [each for each in marks(page, "card_heads", "head")
             if min(each["right"] - each["left"], each["bottom"] - each["top"]) > 30]  # fmt: skip
    assert len(heads) == 8, "a box for each head"
    return middle(heads[at])


@pytest.mark.parametrize(
    ("link", "at", "head"), [("", 6, "1.2"), ("&heads_order=strongest&measure=first", 3, "")]
)
def test_a_click_on_a_head_opens_it_and_the_link_has_it(page, app_url, link, at, head):
    open_page(page, app_url, PAGE + link)
    told = page.locator(".st-key-card_heads").get_by_text("Most: ").inner_text()
    head = head or re.findall(r"(\d\.\d) \(", told)[at]
    page.mouse.click(*middle_of(page, at))  # before what is near has been told
    settled(page)
    assert f"model_head={head}" in page.url
    chosen = page.locator(".st-key-card_head").get_by_role("combobox").all_inner_texts()
    values = page.locator(".st-key-card_head input").evaluate_all("all => all.map((e) => e.value)")
    assert any(head in each for each in [*chosen, *values]), [chosen, values]
    no_exception(page)


@pytest.mark.parametrize("width", [390, 1280])
def test_pointing_at_a_head_draws_its_arcs_without_the_server(page, app_url, width):
    page.set_viewport_size({"width": width, "height": 900})
    open_page(page, app_url, f"{PAGE}&model_head=0.0")
    model = open_model(TINY)
    weights = run(
        model, model.tokenizer.encode("the tired cat sees the dog because it").ids
    ).weights
    drawn = []
    middle_of(page, 0)
    page.wait_for_timeout(500)  # what is near is told once scrolling rests
    settled(page)
    asked = page.evaluate("testRuns.byHand")
    for layer, head in ((1, 1), (0, 3)):
        page.mouse.move(*middle_of(page, 4 * layer + head))
        looks = {c: float(w) for c, w in enumerate(weights[layer, head, 8, :8]) if w > 0.0105}

        def arcs():
            return marks(page, "card_heads", drawn="symbol path")

        soon(page, lambda looks=looks: {*looks} == {int(each["c"]) for each in arcs()})
        boxes = {each["c"]: each for each in marks(page, "card_heads", "token")}
        n_lines = len({round(box["top"]) for box in boxes.values()})
        assert (n_lines > 1) == (width < 600)
        query = boxes[8]
        for arc in arcs():
            assert arc["line"] == pytest.approx(0.6 + 6 * looks[arc["c"]], abs=0.01)
            ends = sorted(middle(box)[0] for box in (query, boxes[arc["c"]]))
            assert [arc["left"], arc["right"]] == pytest.approx(ends, abs=2.5)
            assert arc["bottom"] <= query["top"] + 3
        drawn.append([arc["c"] for arc in arcs()])
    assert drawn[0] != drawn[1]
    assert page.evaluate("testRuns.byHand") == asked


def overlap(one, other):
    across = min(one["right"], other["right"]) - max(one["left"], other["left"])
    return across > 1 and min(one["bottom"], other["bottom"]) - max(one["top"], other["top"]) > 5


@pytest.mark.slow("12 s: two widths of a long text")
@pytest.mark.parametrize("width", [390, 1280])
def test_words_of_a_long_text_do_not_overlap_and_the_last_token_is_there(page, app_url, width):
    page.set_viewport_size({"width": width, "height": 900})
    sentence = "the tired cat sees the dog because it growls and"
    open_page(page, app_url, f"{PAGE}&prompt={'+'.join([*sentence.split()] * 3)}")
    open_row(page, "by_layer")
    for card in ("heads", "layers"):
        words = [each for each in marks(page, f"card_{card}", drawn="text text") if each["text"]]
        assert len(words) > 20, card
        assert not [pair for pair in combinations(words, 2) if overlap(*pair)], card
        assert "and" in {each["text"] for each in words}, card
    told = page.locator(".st-key-card_layers .vega-embed svg").inner_html()
    assert re.search(r"the last \d+ of \d+ tokens", told)
    no_exception(page)


@pytest.mark.parametrize(
    ("small", "names"),
    [("tiny_language", ("tiny_head", "tiny_from")), ("heads_learning", ("why_head", "why_from"))],
)
def test_in_small_a_click_on_a_head_goes_to_it_at_its_token(page, app_url, small, names):
    open_page(page, app_url, f"{small}?predict=off")
    card = page.locator(".st-key-card_why")
    card.scroll_into_view_if_needed()
    settled(page)
    before, bars = page.url, card.locator(".vega-embed svg g.mark-rect path")
    parts = bars.evaluate_all("all => all.map((one) => one.__data__.datum)")
    at = next(i for i, one in enumerate(parts) if one["kind"] == "k" and one["id"])
    named = card.locator(".vega-embed svg text", has_text=f"head {parts[at]['id']}")
    named.last.click(force=True)  # its name leads there as its bar does
    settled(page)
    for name, chosen in zip(names, (parts[at]["id"], parts[at]["token"]), strict=True):
        assert f"{name}={chosen}" in page.url
    soon(page, lambda: f"Head {parts[at]['id']} " in card.inner_text())
    page.go_back()
    settled(page)
    assert page.url == before
    no_exception(page)


def test_a_click_on_a_word_asks_why_there_and_one_on_a_head_goes_to_it(page, app_url):
    """And Back returns."""
    open_page(page, app_url, f"{PAGE}&model_head=1.2")
    card, head = page.locator(".st-key-card_why"), page.locator(".st-key-card_head")
    for each in (head, card):
        each.scroll_into_view_if_needed()
        page.wait_for_timeout(500)  # what is near is told once scrolling rests
        settled(page)
    head.locator(".vega-embed svg text", has_text="dog").click(force=True)
    settled(page)
    assert "looks_at=6" in page.url
    soon(page, lambda: "(key)" in card.inner_text() and "“dog”" in card.inner_text())
    before, bars = page.url, card.locator(".vega-embed svg g.mark-rect path")
    n_parts = bars.evaluate_all("all => all.map((one) => one.__data__.datum)")
    at = next(i for i, one in enumerate(n_parts) if one["kind"] == "k" and one["id"])
    bars.nth(at).click()
    settled(page)
    assert f"model_head={n_parts[at]['id']}" in page.url
    assert "looks_from=6" in page.url
    page.go_back()
    settled(page)
    assert page.url == before
    no_exception(page)


def test_on_the_way_back_a_click_on_a_head_goes_there(page, app_url):
    open_page(page, app_url, PAGE)
    open_row(page, "who")
    page.locator(".st-key-chart_of_way .vega-embed svg").scroll_into_view_if_needed()
    settled(page)
    nodes = marks(page, "chart_of_way", "head")
    assert len(nodes) > 3
    node = next(node for node in nodes if node["id"].startswith("0."))
    page.mouse.click(*middle(node))
    head = node["id"]
    soon(page, lambda: f"model_head={head}&" in page.url + "&")
    assert f"looks_from={node['token']}" in page.url
    one = page.locator(".st-key-card_head")
    one.scroll_into_view_if_needed()
    soon(page, lambda: f"Head {head} " in one.inner_text())
    no_exception(page)
    page.go_back()
    soon(page, lambda: "model_head" not in page.url)
