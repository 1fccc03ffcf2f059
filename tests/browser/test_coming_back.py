"""What comes back after days, in a real browser whose calendar is moved on."""

import json

from browser_tools import click, numbers, open_page, script

PLACE = "attention-explorer: coming back"


def kept(page):
    return json.loads(page.evaluate(f"localStorage.getItem('{PLACE}')"))


def home_after(page, url, days):
    """The home page in a new session, so many days later. Its row of questions."""
    page.add_init_script(script("later", DAYS=days))
    open_page(page, url, first_visit=True)
    return page.locator(".st-key-row_again")


def test_a_lesson_comes_back_at_growing_distances_and_no_link_says_so(new_page, app_url):
    page = new_page()
    open_page(page, app_url, "simplified_attention?predict=off")
    click(page.get_by_role("button", name="Mark as done"))
    ((_, (box, day)),) = kept(page).items()
    assert box == 0
    assert home_after(page, app_url, 0).count() == 0
    row = home_after(page, app_url, 1)
    assert page.url.endswith("/")
    click(row.locator("summary"))
    asked = row.locator(".st-key-question_alone")
    query = int(asked.get_by_text("Query ", exact=False).last.inner_text().split()[1].rstrip(":"))
    scores = [float(each.replace("−", "-")) for each in numbers(page, "again")]
    n = int(len(scores) ** 0.5)
    of_query = scores[query * n : query * n + n]
    best = str(of_query.index(max(of_query)))
    choices = asked.locator("[data-testid=stButtonGroup] p")
    told = [each.partition(":")[0].split(", ") for each in choices.all_inner_texts()]
    click(choices.nth(next(at for at, places in enumerate(told) if best in places)))
    assert "Right" in asked.inner_text()
    assert kept(page) == {"simplified_attention": [1, day + 3]}
    assert page.url.endswith("/")
    assert home_after(page, app_url, 2).count() == 0
    assert home_after(page, app_url, 1).count() == 1
    open_page(page, app_url, "simplified_attention?predict=off&done=simplified_attention")
    click(page.get_by_role("button", name="Done (undo)"))
    assert kept(page) == {}


def test_where_nothing_may_be_stored_nothing_is_said(new_page, app_url):
    page = new_page()
    page.add_init_script(script("refused"))
    open_page(page, app_url, "simplified_attention?predict=off")
    click(page.get_by_role("button", name="Mark as done"))
    assert page.get_by_role("button", name="Done (undo)").is_visible()
    assert home_after(page, app_url, 1).count() == 0
