"""Heads of a long text in a file, without a network: each answers the pointer in the next frame."""

import torch

from attention_explorer import show


def opened(new_page, tmp_path, given, tokens, **options):
    picture = show(given, tokens)
    file = tmp_path / "heads.html"
    file.write_text(picture.page(), encoding="utf-8")
    page = new_page(offline=True, **options)
    page.goto(file.as_uri())
    page.wait_for_selector(".sheet.of_weights canvas")
    return page


def test_twelve_layers_of_twelve_heads_answer_the_pointer_in_one_frame(new_page, tmp_path):
    n = 200
    chance = torch.Generator().manual_seed(2)
    given = torch.rand(12, 12, n, n, generator=chance).softmax(dim=-1)
    given[..., 120, 30] = 0.5
    page = opened(new_page, tmp_path, given, [f"<i>t{at}</i>" for at in range(n)])
    box = page.locator(".sheet").bounding_box()
    answered = page.evaluate(
        """([x, y]) => new Promise((done) => {
          const sheet = document.querySelector(".sheet");
          sheet.dispatchEvent(new PointerEvent("pointermove", { clientX: x, clientY: y }));
          requestAnimationFrame(() => done(document.querySelector(".told").textContent));
        })""",
        [box["x"] + box["width"] * 30.5 / n, box["y"] + box["height"] * 120.5 / n],
    )
    assert "From “<i>t120</i>”, token 120, to “<i>t30</i>”, token 30: 50.0%" in answered
    assert page.locator(".told i, .words i").count() == 0


def test_a_head_is_chosen_in_small_or_by_the_sliders_and_rows_by_keys(new_page, tmp_path):
    given = torch.zeros(2, 3, 150, 150)
    for layer in range(2):
        for head in range(3):
            given[layer, head, :, 10 * layer + head] = 1
    look = {"color_scheme": "dark", "viewport": {"width": 390, "height": 900}}
    page = opened(new_page, tmp_path, given, [f"t{at}" for at in range(150)], **look)
    assert "Most: “t0” 100.0%" in page.locator(".told").inner_text()
    page.locator(".choose input").nth(0).fill("1")
    assert "Most: “t10” 100.0%" in page.locator(".told").inner_text()
    small = page.locator(".all_heads")
    small.scroll_into_view_if_needed()
    box = small.bounding_box()
    page.mouse.click(box["x"] + box["width"] * 0.25, box["y"] + box["height"] * 5 / 6)
    assert "layer 0, head 2." in page.locator(".told").inner_text()
    assert page.locator(".choose output").all_inner_texts() == ["layer 0", "2"]
    page.locator(".sheet").focus()
    for key in ("ArrowUp", "ArrowUp", "ArrowRight"):
        page.keyboard.press(key)
    assert "From “t147”, token 147, to “t1”, token 1: 0.0%" in page.locator(".told").inner_text()
    assert page.evaluate("document.body.scrollWidth") <= 390
