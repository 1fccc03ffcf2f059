"""A picture of `show` in a file, without a network: it is drawn, and answers the pointer."""

import pytest
import torch

from attention_explorer import show
from attention_ui.picture.palette import CHOSEN, FED
from traces import lesson_trace


def opened(new_page, tmp_path, picture, **options):
    file = tmp_path / "picture.html"
    file.write_text(picture.page(), encoding="utf-8")
    page = new_page(offline=True, **options)
    page.goto(file.as_uri())
    page.wait_for_selector(".drawn svg, .drawn canvas")
    return page


def edged(page, colour):
    return page.locator(f'svg g.lit_marks path[stroke="{colour}"]').count()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_cell_that_is_pointed_at_says_what_it_is_made_of(new_page, tmp_path, scheme):
    trace = lesson_trace("simplified/wild_cat")
    page = opened(new_page, tmp_path, show(trace), color_scheme=scheme)
    n_tokens = trace.size("query")
    page.locator("svg g.cells_marks path").nth(n_tokens * n_tokens + 2).hover()
    page.wait_for_selector("#vg-tooltip-element.visible")
    told = page.locator("#vg-tooltip-element").inner_text()
    assert "e^(" in told
    assert "takes in" in told
    assert edged(page, CHOSEN) == 1 + n_tokens  # itself, and the scores of its row
    assert edged(page, FED) == trace.size("d_in")
    ground = page.evaluate("getComputedStyle(document.querySelector('.attention-picture')).color")
    assert (int(ground.removeprefix("rgb(").partition(",")[0]) > 128) == (scheme == "dark")


def test_a_picture_follows_its_viewer_s_theme(new_page, tmp_path):
    page = opened(new_page, tmp_path, show(lesson_trace("simplified/wild_cat")))
    cells = page.locator("svg g.cells_marks path")
    n_cells, look = cells.count(), page.locator(".attention-picture")
    for colours, theme in ((["white"], "dark"), (["black", "white", "black"], "light")):
        # As JupyterLab does: its style goes, and comes bit by bit.
        for colour in colours:
            page.evaluate(f"document.body.style.color = '{colour}'")
        page.wait_for_function(
            "(theme) => document.querySelector('.attention-picture').style.colorScheme === theme",
            arg=theme,
        )
        page.wait_for_timeout(1500)
        assert look.evaluate("(one) => one.style.colorScheme") == theme
        assert cells.count() == n_cells
        cells.last.hover()


def test_the_slider_of_layers_changes_the_numbers(new_page, tmp_path):
    layers = torch.stack([torch.eye(2), torch.eye(2).flip(0)])[:, None]
    page = opened(new_page, tmp_path, show(layers, ["<b>a</b>", "*b*"]))
    numbers = page.locator("svg g.numbers_marks text")
    before = numbers.all_text_contents()
    page.locator(".attention-picture input").fill("1")
    page.wait_for_function(
        f"document.querySelector('svg g.numbers_marks text').textContent !== '{before[0]}'"
    )
    assert numbers.all_text_contents() == before[2:] + before[:2]
    assert "<b>a</b>" in page.locator("svg text").all_text_contents()
    assert page.locator("b").count() == 0


@pytest.mark.parametrize("n_letters", [120, 300])
def test_a_long_word_leaves_the_other_cells_their_size(new_page, tmp_path, n_letters):
    weights = torch.full((3, 3), 1 / 3)
    page = opened(new_page, tmp_path, show(weights, ["a", "b" * n_letters, "c"]))
    assert page.locator("svg g.cells_marks path").last.bounding_box()["width"] > 30
    assert all(
        box["x"] >= 0 and box["x"] + box["width"] <= page.viewport_size["width"]
        for box in (each.bounding_box() for each in page.locator("svg text").all())
        if box
    )
