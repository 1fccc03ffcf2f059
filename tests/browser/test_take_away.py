"""Downloads in a real browser: each is made when it is asked for, from what is on the screen."""

import io

import pytest
import torch

from attention_core import check_file
from browser_tools import choose, open_page, open_row
from serving import HANG


def downloaded(page, label):
    with page.expect_download() as download:
        page.get_by_role("button", name=label, exact=True).click()
    with open(download.value.path(), "rb") as file:
        return download.value.suggested_filename, file.read()


def test_a_download_has_the_numbers_of_a_changed_page(page, app_url):
    """The buttons stay, and their files follow what is on the screen."""
    open_page(page, app_url, "simplified_attention?example=journey_123&predict=off")
    open_row(page, "take_away")
    _, before = downloaded(page, "All tensors")
    choose(page, "Example", "The dog attacks")
    name, after = downloaded(page, "All tensors")
    assert name == "simplified_attention-the_dog_attacks_the_wild_cat.pt"
    shapes = [
        tuple(torch.load(io.BytesIO(file), weights_only=True)["scores"].shape)
        for file in (before, after)
    ]
    assert shapes == [(6, 6), (11, 11)]
    name, checks = downloaded(page, "Check your code")
    assert (name, checks.decode()) == ("check_my_attention.py", check_file())


@pytest.mark.slow("30 s: a lesson is written as a file")
def test_the_lesson_itself_is_written_as_it_stands(page, new_page, app_url, tmp_path):
    """Beside the server, and once for all who ask for the same."""
    at = "build_a_head?puzzle=previous"
    open_page(page, app_url, at)
    open_row(page, "take_away")
    page.get_by_role("button", name="Lesson", exact=True).click()
    page.get_by_text("Your file is being written").wait_for()
    save = page.get_by_role("button", name="Save lesson", exact=True)
    save.wait_for(timeout=1000 * HANG)
    with page.expect_download() as download:
        save.click()
    assert download.value.suggested_filename.startswith("build_a_head")
    file = tmp_path / "lesson.html"
    download.value.save_as(file)
    alone = new_page(offline=True)
    alone.goto(file.as_uri())
    alone.locator("#head .picture svg text").first.wait_for()
    assert alone.get_by_role("heading", name="Build a head").count() == 1
    other = new_page()
    open_page(other, app_url, at)
    open_row(other, "take_away")
    other.get_by_role("button", name="Save lesson", exact=True).wait_for()
