"""The page of a real model with files people have: each ends in words, never the page."""

import json
import shutil
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from safetensors.torch import save_file

from alone import Visitor
from attention_core.files.refused import ModelRefused
from attention_core.real_model import by_config
from attention_core.real_model.model import open_model
from attention_core.real_model.run import run
from attention_core.real_model.tiny import TINY as FOLDER
from attention_core.real_model.tokenizer import Encoded
from attention_ui.frame import models
from attention_ui.lessons.real_model.charts import MOST
from attention_ui.lessons.real_model.seen import Seen
from attention_ui.reactive import long_run
from attention_ui.reactive import page as engine
from attention_ui.reactive.isolation import made_for_everybody
from model_folders import config, cut, put, tokenizer
from sampling import marked
from visiting import _opened, rendered, small_charts, stands, texts, visit

PAGE = "real_model"
CONFIG, TOKENIZER, WEIGHTS = "config.json", "tokenizer.json", "model.safetensors"
LLAMA = {"model_type": "llama", "hidden_size": 2, "intermediate_size": 1, "num_hidden_layers": 1}
LLAMA |= {"num_attention_heads": 1, "max_position_embeddings": 9}
MANY_HEADS = LLAMA | {"num_attention_heads": 10_000, "head_dim": 2}
SHARED = LLAMA | {"num_attention_heads": 7, "head_dim": 2, "num_key_value_heads": 1}


# --- files ---------------------------------------------------------------------------------------
def with_bytes(name, before, after):
    def spoil(folder):
        content = (folder / name).read_bytes()
        assert before in content
        (folder / name).write_bytes(content.replace(before, after))

    return spoil


def random(n_words=61, spread=0.3, seed=1, **settings):
    """Makes a folder a GPT-2, or what its settings say, of random numbers and of words t0, t1, …"""

    def make(folder):
        values = {"model_type": "gpt2", "n_embd": 6, "n_layer": 1, "n_head": 1, "n_positions": 32}
        values |= {"vocab_size": n_words, **settings}
        if values["model_type"] != "gpt2":
            values = {name: each for name, each in values.items() if not name.startswith("n_")}
        described = by_config.described(dict(values))
        shapes, names = described.settings, described.names
        of_layers = {
            names.of_layer[ours].name.format(layer): (names.of_layer[ours], shape)
            for layer in range(shapes.n_layers)
            for ours, shape in shapes.shapes_of_layer().items()
        }
        once = {names.once[o].name: (names.once[o], each) for o, each in shapes.shapes().items()}
        generator, tensors = torch.Generator().manual_seed(seed), {}
        for name, (where, shape) in (once | of_layers).items():
            shape = (3 * shape[0], *shape[1:]) if where.beside else shape
            numbers = torch.randn(shape, generator=generator) * spread
            tensors[name] = numbers.T.contiguous() if where.transposed else numbers
        for each in folder.iterdir():
            each.unlink()
        save_file(tensors, folder / WEIGHTS)
        (folder / CONFIG).write_text(json.dumps(values))
        (folder / TOKENIZER).write_text(json.dumps(tokenizer(n_words)))

    return make


def then(*all_of_them):
    def spoil(folder):
        for each in all_of_them:
            each(folder)

    return spoil


def file_of(content):
    def spoil(folder):
        shutil.rmtree(folder)
        folder.write_bytes(content)

    return spoil


ENDS = {
    "type": "TemplateProcessing",
    "single": [
        {"Sequence": {"id": "A", "type_id": 0}},
        {"SpecialToken": {"id": "e", "type_id": 0}},
    ],
    "pair": [],
}
NOTHING = {"type": "Replace", "pattern": {"Regex": "."}, "content": ""}
NO_TEXT = "no text was found that it can read"


def words(**changes):
    return config(TOKENIZER, **changes)


def ends_with(token):
    special = {"e": {"id": "e", "ids": [token], "tokens": ["e"]}}
    return words(post_processor=ENDS | {"special_tokens": special})


BROKEN = {
    "an empty folder": (then(shutil.rmtree, Path.mkdir), "there are no weights"),
    "10,000 heads": (random(**MANY_HEADS), "1 layers of 10,000 heads"),
    "another family": (config(model_type="falcon"), "falcon"),
    "a tensor cut off": (cut(WEIGHTS, 0.9), "is cut off"),
    "weights that are a pipe": (then(put(WEIGHTS, None), put(WEIGHTS, "pipe")), "is no file"),
    "weights that are a link": (then(put(WEIGHTS, None), put(WEIGHTS, "link")), "cannot be read"),
    "a tokenizer of nothing": (put(TOKENIZER, b"{}"), "tokenizer.json in a model cannot be read"),
    "words of another model": (put(TOKENIZER, tokenizer(99)), "does not belong to these weights"),
    "a tokenizer without words": (put(TOKENIZER, tokenizer(0)), NO_TEXT),
    "words that leave nothing": (words(normalizer=NOTHING, post_processor=None), NO_TEXT),
    "words of blanks": (then(random(2), words(model__vocab={"a b": 0, "c d": 1})), NO_TEXT),
    "an end that there is not": (ends_with(99), NO_TEXT),
    "no room beside the end": (then(random(n_positions=1), ends_with(3)), NO_TEXT),
    "no path": (shutil.rmtree, "there is no file and no folder"),
    "a file of another kind": (file_of(b"GGUF"), "is no model that can be read"),
}
"""What spoils the folder, and what is said: each way that an error goes to the page."""
ODD = {
    "one token to choose from": random(n_words=1),
    "a context of one": random(n_positions=1),
    "all of them one": random(n_words=1, n_positions=1, n_embd=1, n_inner=1),
    "odd widths": random(n_embd=35, n_head=5, n_inner=13, n_layer=3),
    "heads one wide": random(n_embd=12, n_head=12),
    "300 heads": random(n_embd=300, n_head=300, n_words=5, n_inner=1),
    "30 layers": random(n_embd=2, n_layer=30, n_words=5, n_inner=1),
    "only zeros": random(spread=0.0),
    "not a number": random(spread=float("nan")),
    "only token 0 can be read": then(random(2), words(model__vocab={"a": 0, "b c": 1})),
    "one key head for seven": random(**SHARED),
    "reads both ways": random(**LLAMA | {"model_type": "bert", "type_vocab_size": 1}),
}
CHANGED = {
    "deleted": put(WEIGHTS, None),
    "cut": cut(WEIGHTS, 0.6),
    "another width": random(n_embd=8, n_head=2),
    "other numbers": random(seed=2, n_embd=35, n_head=5, n_layer=3),
    "another kind of number": with_bytes(WEIGHTS, b'"F32"', b'"I32"'),
    "permissions": lambda folder: (folder / WEIGHTS).chmod(0),
    "the folder is gone": shutil.rmtree,
    "a file in its place": file_of(b"hello"),
    "another configuration": config(n_layer=9),
    "no tokenizer": put(TOKENIZER, None),
}


# --- the page ------------------------------------------------------------------------------------
def of_these(kinds, *plain):
    """Those that take another way through the page; `make test` has them all."""
    return marked(kinds, plain, pytest.mark.slow("1 to 8 s a model: a page of its own"))


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A folder of a model, a copy of the tiny language's, which the page is started with."""
    monkeypatch.setattr(models, "_installed", lambda: None)
    monkeypatch.setenv(models.MODEL, str(tmp_path / "a model"))
    return shutil.copytree(FOLDER, tmp_path / "a model")


def chosen(at, name):
    (box,) = (each for each in at.selectbox if each.label == "Model")
    assert "our tiny language" in box.options
    return stands(box.set_value(name).run())


def typed(at, text):
    return stands(at.text_area(key="control_prompt").set_value(text).run())


def draws(at):
    return any(each.value == "One head" for each in at.header)


def again(at):
    (button,) = (each for each in at.button if each.label == "Open it again")
    return stands(button.click().run())


@pytest.mark.parametrize("name", of_these(BROKEN, "an empty folder", "a tensor cut off", "no path",
    "words of another model", "an end that there is not"))  # fmt: skip
def test_a_model_that_is_broken_is_said_and_the_others_are_there(name, own):
    spoil, why = BROKEN[name]
    spoil(own)
    at = stands(visit(PAGE))
    told = texts(at)
    assert why in told
    assert "mistake of ours" not in told
    if not draws(at):  # it was opened, and cannot be read
        at = chosen(at, "tiny")
    assert draws(typed(at, "the cat sees"))


@pytest.mark.parametrize(
    "name", of_these(ODD, "all of them one", "not a number", "reads both ways")
)
def test_an_odd_model_has_a_page_too(name, own):
    ODD[name](own)
    rows = {"row_deeper": True}
    link = {"predict": "off", "measure": "spread", "heads_order": "strongest", "model_off": "0.0"}
    at = stands(_opened(PAGE, link | {"section": "numbers", "cell": "W_query.0.0"}, **rows))
    waiting = [each.key for each in at.button if each.key.startswith("start_or_stop")]
    for key in waiting:
        if any(each.key == key for each in at.button):  # the story's runs are those of each head
            at = stands(at.button(key=key).click().run())
    at = typed(at, at.text_area(key="control_prompt").value + " t0")
    assert draws(at) or "Every sum that one of them enters is spoiled too" in texts(at)
    assert "cannot be read" not in texts(at)
    assert "mistake of ours" not in texts(at)
    assert ("says no next token" in rendered(at)) == (name == "reads both ways")


@pytest.mark.parametrize("name", of_these(CHANGED, "deleted", "other numbers", "no tokenizer"))
def test_a_model_that_changes_while_it_is_open_is_said_and_can_be_opened_again(name, own):
    random(n_embd=35, n_head=5, n_layer=3)(own)
    kept = shutil.copytree(own, own.with_name("kept"))
    at = stands(visit(PAGE))
    assert draws(at)
    CHANGED[name](own)
    at = typed(at, "t5 t6")
    assert "a model cannot be read: " in texts(at)
    assert "mistake of ours" not in texts(at)
    assert not draws(at)
    assert draws(chosen(at, "tiny"))
    at = again(chosen(at, "own"))
    assert draws(at) or "numbers of kind I32" in texts(at)
    shutil.rmtree(own) if own.is_dir() else own.unlink(missing_ok=True)
    shutil.copytree(kept, own)
    at = again(stands(at.run()))
    assert draws(at)
    assert "cannot be" not in texts(at)


def test_a_name_that_is_no_text_stands_there_by_its_codes(own, monkeypatch):
    odd = own.rename(own.with_name("\udcff\n"))  # as Python has a byte that is no UTF-8
    monkeypatch.setenv(models.MODEL, str(odd))
    at = stands(visit(PAGE))
    assert draws(chosen(at, "own"))
    random(spread=float("nan"))(odd)
    assert "“\\udcff\\n” holds" in texts(again(stands(at.run())))


@pytest.mark.usefixtures("own")
def test_a_mistake_of_ours_is_told_from_what_is_wrong_with_a_file(monkeypatch):
    def stumbles(*_):
        raise KeyError("gelu_tanh")

    monkeypatch.setattr(by_config, "described", stumbles)
    at = stands(visit(PAGE))
    said = (
        "which is a mistake of ours and not of your file. Please report it: KeyError: 'gelu_tanh'"
    )
    assert f"a model cannot be opened: Attention Explorer stumbled over it, {said}" in texts(at)
    assert draws(at)
    monkeypatch.undo()


def test_a_text_that_leaves_no_tokens_is_said(own):
    nothing = NOTHING | {"pattern": {"String": "x"}}
    words(normalizer=nothing, post_processor=None)(own)
    at = typed(stands(visit(PAGE, model="own")), "xx")
    no_tokens = "there are no tokens: type at least one word that the model knows."
    assert f"{no_tokens} The earlier one is still shown." in texts(at)
    assert draws(at)


def test_what_is_drawn_of_a_model_is_of_its_files_as_they_are_now(own):
    """Cards are kept for everybody: by the files, not by the model's name."""
    random()(own)
    first = stands(visit(PAGE, prompt="t1 t2"))
    random(seed=2)(own)
    second = again(stands(first.run()))
    assert draws(second)
    best = Seen(run(open_model(own), (1, 2))).chances.topk(MOST).values
    sent = next(each for each in small_charts(second) if "likeliest next tokens" in each.alt)
    assert sent.table["chance"].to_numpy() == pytest.approx(best.numpy(), abs=1e-5)


def test_nothing_of_the_text_before_is_there_while_another_is_read(own, monkeypatch):
    random(n_layer=3)(own)
    monkeypatch.setattr(long_run, "MOMENT", 0)
    monkeypatch.setattr(engine, "go_on_with_page", lambda _: None)
    rows = {"row_deeper": True}
    at = stands(_opened(PAGE, {"predict": "on", "prompt": "t7 t8"}, **rows))
    assert [each.value for each in at.header] == ["What it says next"]
    assert not [each for each in at.expander if each.label.startswith("**")]
    assert not small_charts(at)
    monkeypatch.undo()
    monkeypatch.setenv(models.MODEL, str(own))
    assert draws(stands(at.run()))


class Around:
    """A tokenizer of which every token is a text, and puts so many around it."""

    highest_id = 9_999

    def __init__(self, n_around):
        self.n_around, self.asked = n_around, []

    def __contains__(self, token):
        return True

    def piece(self, token):
        return str(token)

    def encode(self, text):
        self.asked.append(text)
        n = self.n_around + 1
        return Encoded((1,) * n, (text,) * n)


@pytest.mark.parametrize(("n_around", "n_tried"), [(0, 1), (63, 64), (2_047, 2)])
def test_few_tokens_are_tried_as_a_text_where_each_is_cut_into_many(n_around, n_tried):
    made = Around(n_around)
    settings = SimpleNamespace(longest=60, n_vocabulary=9)
    model = SimpleNamespace(tokenizer=made, settings=settings)
    with nullcontext() if n_around < 60 else pytest.raises(ModelRefused, match="at most 60 fit"):
        models.a_text.__wrapped__(model)
    assert len(made.asked) == n_tried


@pytest.mark.parametrize("name", ["own", "tiny"])
def test_a_model_may_be_opened_first_where_a_card_asks_for_it(name, own, monkeypatch):
    """Its files are tracked; and what cuts its texts is a program that has to be started."""
    random()(own)
    monkeypatch.setattr(models, "_MODELS", {})
    visitor = Visitor("real_model")
    with visitor.here(), made_for_everybody("The card 'one'"):
        words = {"own": "t1 t2", "tiny": "the cat"}
        assert models.opened(name).tokenizer.encode(words[name]).ids
