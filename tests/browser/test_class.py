"""For a class, in a real browser: tasks with answers to hand in, the projector, what is done."""

from pathlib import Path

from browser_tools import open_page, settled, soon

TASKS = "The+causal+mask%3A+why+1%3F%0AWhat+does+it+take+in%3F"


def handed_in(card):
    saved = []
    card.page.on("download", lambda one: saved.append(one))
    card.get_by_role("button", name="Hand in").click()
    soon(card.page, lambda: len(saved), 1)
    settled(card.page)
    assert len(saved) == 1
    return Path(saved[0].path()).read_text(encoding="utf-8")


def test_what_is_typed_last_is_handed_in_while_the_page_runs(page, app_url):
    """Pressed within one frame of two changes that make the page and the tasks run."""
    open_page(page, app_url, f"simplified_attention?tasks={TASKS}&predict=off")
    card = page.locator(".st-key-tasks")
    card.get_by_role("textbox", name="Your answer").fill("Typed last.")
    seed = page.get_by_role("textbox", name="Seed", exact=True)
    seed.fill("7")
    seed.press("Enter")  # the page runs
    assert "Typed last." in handed_in(card)
    assert "seed=7" in page.url
    card.get_by_role("textbox", name="Your answer").fill("Another.")
    assert "Another." in handed_in(card)


def test_the_arrow_keys_go_from_card_to_card_in_the_projector_view_alone(page, app_url):
    tops = """() => [...document.querySelectorAll('[data-testid=stMain] h2')]
        .filter((one) => one.checkVisibility()).map((one) => one.getBoundingClientRect().top)"""

    def nearest():
        return min(range(3), key=lambda at: abs(page.evaluate(tops)[at]))

    open_page(page, app_url, "simplified_attention?predict=off")
    before = page.evaluate(tops)
    page.keyboard.press("ArrowRight")
    page.wait_for_timeout(500)
    assert page.evaluate(tops)[:3] == before[:3]
    open_page(page, app_url, "simplified_attention?predict=off&large=on")
    assert page.locator("[data-testid=stSidebar]").bounding_box()["width"] < 5
    for step, at in (("Right", 0), ("Right", 1), ("Right", 2), ("Left", 1)):
        page.keyboard.press(f"Arrow{step}")
        settled(page)
        assert abs(page.evaluate(tops)[at]) < 60
        assert nearest() == at


def test_letters_of_a_table_grow_and_shrink_however_the_view_is_reached(page, app_url):
    """Their size is read once, where the table is built."""
    heads = page.locator("[data-testid=stDataFrame] canvas").last
    large = page.locator(".st-key-control_large")
    open_page(page, app_url, "notebooks_numbers?predict=off&large=on")
    for height in (45, 36, 45):
        soon(page, lambda: (heads.bounding_box() or {}).get("height"), height)
        large.click()


def test_letters_of_a_table_are_the_page_s_however_late_their_size_comes(page, app_url):
    """As where the projector view is left: the first two tables read the size of a moment ago."""
    page.add_init_script("""
      const read = getComputedStyle, built = new Set();
      getComputedStyle = (...given) => {
        for (const one of document.querySelectorAll('.stDataFrame')) built.add(one);
        const isTable = given[0] === document.documentElement && /DataFrame/.test(Error().stack);
        return isTable && built.size < 2 ? { fontSize: '16px' } : read(...given);
      };""")
    open_page(page, app_url, "notebooks_numbers?predict=off&large=on")
    heads = page.locator("[data-testid=stDataFrame] canvas").last
    soon(page, lambda: heads.bounding_box()["height"], 45)
