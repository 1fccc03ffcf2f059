"""Sums of words, as a visitor types them, and the row of a real model on *Tokenize and embed*."""

import os
import shutil

import pytest

from attention_core.real_model.tiny import TINY as FOLDER
from attention_ui.frame import models
from attention_ui.lessons.tokenize_and_embed.real_tokens import Sum, terms_of
from visiting import _opened, stands, texts, visit


def test_a_sum_of_words_is_read_as_it_is_typed():
    wanted = [("+", "king"), ("-", "man"), ("+", "woman")]
    for typed in ("king - man + woman", "king−man+woman", " king  – man +woman "):
        assert terms_of(typed) == wanted
        assert Sum().read(typed) == "king - man + woman"
    assert terms_of("-cat") == [("-", "cat")]
    assert Sum().read(Sum().read("-cat dog")) == "- cat + dog"
    for refused, why in (("+ -", "at least one word"), ("a " * 7, "6 fit"), ("x" * 121, "shorten")):
        with pytest.raises(ValueError, match=why):
            Sum().read(refused)


def test_the_row_is_there_where_a_real_model_is(monkeypatch, tmp_path):
    assert not any("In a real model" in each.label for each in visit("tokenize_and_embed").expander)
    mine = shutil.copytree(FOLDER, tmp_path / "mine")  # one that knows few words
    monkeypatch.setattr(models, "_installed", lambda: None)
    monkeypatch.setenv(models.MODEL, str(mine))
    link = {"predict": "off", "example": "wild_cat", "sentence": "the cat sees the dog"}
    at = stands(_opened("tokenize_and_embed", link, row_real=True))
    assert "“king”, “man” and “woman”: not one token" in texts(at)
    at = stands(_opened("tokenize_and_embed", {**link, "nearest_to": "cat - dog"}, row_real=True))
    assert "cuts your text into 6 of its 61 tokens" in texts(at)
    assert "Nearest by cosine" in texts(at)
    os.utime(mine / "model.safetensors", ns=(1, 1))
    at = stands(_opened("tokenize_and_embed", {**link, "nearest_to": "cat - dog"}, row_real=True))
    assert "mine cannot be read: model.safetensors has changed since it was opened." in texts(at)
    link["sentence"] = "zebra"
    assert "This text cannot be cut: “zebra”" in texts(
        stands(_opened("tokenize_and_embed", link, row_real=True))
    )
