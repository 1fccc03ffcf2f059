"""The README's picture that moves, docs/whole_layer.webp: `make picture`."""

import io

from PIL import Image

from browser_tools import WATCH_RUNS, open_page, script, settled
from serving import ROOT, browsing

TARGET = ROOT / "docs" / "whole_layer.webp"
PAGE = "whole_layer?example=named_features&predict=off&card=layer"
WAY = [(0, 0, 7, 0), (4, 0, 7, 0), (6, 0, 7, 2), (8, 0, 7, 2), (10, 0, 7, 0), (13, 0, 7, 1)]
"""The cells that are pointed at: the place of a matrix in the picture, a head, a row, a column."""
LONG, SHORT, LAST = 1500, 150, 2500
"""Milliseconds that a frame stays: to look at, of a movement, before it begins again."""


def frames(page):
    def seen(milliseconds):
        return Image.open(io.BytesIO(page.screenshot())).convert("RGB"), milliseconds

    yield seen(LONG)
    cells = page.locator(".st-key-drawn_layer svg g.cells_marks path")
    place = script("place_of_cell")
    for cell in WAY:
        cells.nth(cells.evaluate_all(place, list(cell))).hover()
        settled(page)
        yield seen(LONG)
    temperature = page.locator(".st-key-moves_layer input")
    temperature.hover()
    temperature.focus()
    settled(page)
    for _ in range(6):
        page.keyboard.press("ArrowLeft")
        page.wait_for_timeout(50)
        yield seen(SHORT)
    settled(page)
    yield seen(LAST)


def main() -> None:
    with browsing() as (browser, url):
        size = {"width": 1100, "height": 720}
        page = browser.new_page(viewport=size, color_scheme="light", reduced_motion="reduce")
        page.add_init_script(WATCH_RUNS)
        open_page(page, url, PAGE)
        (first, *others), stay = zip(*frames(page), strict=True)
    how = {"save_all": True, "append_images": others, "duration": list(stay), "loop": 0}
    first.save(TARGET, quality=70, method=6, **how)
    print(f"{TARGET.relative_to(ROOT)}: {TARGET.stat().st_size / 1e6:.2f} MB, below 2 MB is right")


if __name__ == "__main__":
    main()
