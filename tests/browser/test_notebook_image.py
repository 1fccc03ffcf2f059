"""A picture of an image in a file, without a network: what is pointed at asks."""

import numpy as np
import pytest
import torch

from attention_core import recorded
from attention_explorer import show
from tiny_models import tiny


@pytest.fixture(scope="module")
def seen():
    model = tiny("deit")
    torch.manual_seed(3)
    with torch.no_grad(), recorded(model) as made:
        for each in model.parameters():
            each.mul_(4)
        model(pixel_values=torch.randn(1, 3, 32, 32))
    return made


def opened(new_page, tmp_path, seen, **options):
    image = np.full((32, 32, 3), 120, np.uint8)
    picture = show(seen, image=image)
    file = tmp_path / "image.html"
    file.write_text(picture.page(), encoding="utf-8")
    page = new_page(offline=True, **options)
    page.goto(file.as_uri())
    page.wait_for_selector(".attention-canvas canvas")
    return page, picture


def percent(weight):
    return "< 0.1%" if 0 < weight < 0.001 else f"{100 * weight:.1f}%"


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_a_patch_that_is_pointed_at_shades_the_image_and_says_the_weights(
    new_page, tmp_path, seen, scheme, width
):
    look = {"color_scheme": scheme, "viewport": {"width": width, "height": 900}}
    page, picture = opened(new_page, tmp_path, seen, **look)
    box = page.locator(".sheet").bounding_box()
    page.mouse.move(box["x"] + box["width"] * 2.5 / 4, box["y"] + box["height"] * 1.5 / 4)
    query = picture.cut.asking[1 * 4 + 2]
    page.wait_for_function(
        "(query) => document.querySelector('.attention-canvas').dataset.query == query", arg=query
    )
    weights = picture.weights[0, 0, query]
    told = page.locator(".beside button").all_inner_texts()
    for (key, name), words in zip(picture.cut.beside, told, strict=True):
        assert words.startswith(name)
        assert percent(float(weights[key])) in words
    on_image = float(weights[list(picture.cut.patches)].sum())
    assert f"{100 * on_image:.1f}% to all patches" in page.locator(".told").inner_text()
    shades = page.evaluate(
        """() => { const c = document.querySelector("canvas");
        const { data } = c.getContext("2d").getImageData(0, 0, c.width, c.height);
        return [...Array(16).keys()].map((at) => data[3 + 4 * (c.width
          * Math.round((Math.floor(at / 4) + 0.3) * c.height / 4)
          + Math.round((at % 4 + 0.3) * c.width / 4))]); }"""
    )
    strongest = int(weights[list(picture.cut.patches)].argmax())
    assert shades[strongest] == min(shades) < 3, "it is clear, and the others are veiled"
    assert page.evaluate("document.body.scrollWidth") <= width


def test_the_keyboard_goes_from_patch_to_patch_and_to_the_special_tokens(new_page, tmp_path, seen):
    page, picture = opened(new_page, tmp_path, seen)
    page.locator(".sheet").focus()
    for key in ("ArrowLeft", "ArrowUp"):
        page.keyboard.press(key)
    query = page.evaluate("Number(document.querySelector('.attention-canvas').dataset.query)")
    assert query == picture.cut.asking[1 * 4 + 1], "from the middle, which is row 2 and column 2"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent").startswith("CLS")
    query = page.evaluate("Number(document.querySelector('.attention-canvas').dataset.query)")
    assert query == 0
    page.locator(".choose input").nth(1).fill("2")
    assert page.locator(".choose output").nth(1).inner_text() == "2"
    weights = picture.weights[0, 2, 0]
    told = page.locator(".told").inner_text()
    assert f"{percent(float(weights.max()))} goes to" in told
    assert f"{percent(float(weights[2:].sum()))} to all patches" in told
