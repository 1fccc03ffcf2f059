"""Pictures of every page, light, dark and narrow: `make shots ARGS="causal_mask"` takes some."""

import sys
from pathlib import Path

from browser_tools import WATCH_RUNS, open_page, settled
from serving import ROOT, browsing

SHOTS = ROOT / "shots"
LOOKS = {
    "light": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "dark"},
    "narrow": {"viewport": {"width": 390, "height": 844}, "color_scheme": "light"},
}
HIGHEST = 16_000
"""Pixels: higher pictures than this a browser does not take."""


def pages() -> list[str]:
    return ["", *sorted(path.stem for path in (ROOT / "pages").glob("*.py"))]


def shoot(browser, url: str, path: str, look: str) -> Path:
    context = browser.new_context(**LOOKS[look], reduced_motion="reduce")
    page = context.new_page()
    page.add_init_script(WATCH_RUNS)
    open_page(page, url, f"{path}?predict=off")
    height = page.evaluate(
        "document.querySelector('[data-testid=stMainBlockContainer]').scrollHeight"
    )
    width = LOOKS[look]["viewport"]["width"]
    page.set_viewport_size({"width": width, "height": min(int(height) + 100, HIGHEST)})
    settled(page)
    target = SHOTS / f"{path or 'home'}-{look}.png"
    page.screenshot(path=target)
    context.close()
    return target


def main() -> None:
    wanted = sys.argv[1:] or pages()
    SHOTS.mkdir(exist_ok=True)
    with browsing() as (browser, url):
        for path in wanted:
            for look in LOOKS:
                place = shoot(browser, url, "" if path == "home" else path, look)
                print(place.relative_to(ROOT), flush=True)


if __name__ == "__main__":
    main()
