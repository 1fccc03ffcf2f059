"""Downloads in a real browser: each is made when it is asked for, from what is on the screen."""

import io

import torch

from attention_core import check_file
from browser_tools import choose, open_page, open_row


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
