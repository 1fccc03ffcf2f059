"""Downloads in a real browser: each is made when it is asked for, from what is on the screen."""

import io
import json

import pytest
import torch

from attention_core import check_file
from browser_tools import choose, open_page, open_row


def downloaded(page, label):
    """The name and the bytes of what a button gives."""
    with page.expect_download() as download:
        page.get_by_role("button", name=label, exact=True).click()
    with open(download.value.path(), "rb") as file:
        return download.value.suggested_filename, file.read()


@pytest.mark.long
def test_each_button_gives_its_file(page, app_url):
    open_page(page, app_url, "causal_mask?example=journey_123&predict=off")
    open_row(page, "take_away")
    stem = "your_journey_starts_with_one_step"
    name, program = downloaded(page, "Program")
    assert name == f"causal_mask-{stem}.py"
    assert b"\nmask = torch.ones(6, 6, dtype=torch.bool).tril()" in program
    name, notebook = downloaded(page, "Notebook")
    assert name == f"causal_mask-{stem}.ipynb"
    assert json.loads(notebook)["nbformat"] == 4
    name, exercise = downloaded(page, "Exercise")
    assert name == f"causal_mask_exercise-{stem}.ipynb"
    assert "masked_scores = ...  # your line: query 6 × key 6" in json.dumps(
        json.loads(exercise), ensure_ascii=False
    )
    name, tensors = downloaded(page, "All tensors")
    assert name == f"causal_mask-{stem}.pt"
    held = torch.load(io.BytesIO(tensors), weights_only=True)
    assert held["mask"].tolist() == torch.ones(6, 6).tril().bool().tolist()
    name, checks = downloaded(page, "Check your code")
    assert (name, checks.decode()) == ("check_my_attention.py", check_file())


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
