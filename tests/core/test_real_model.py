"""A real model, opened and run: the tiny language's, and SmolLM2 where it is installed."""

import json
import os
import shutil

import pytest
import torch

import model_folders
from attention_core import program
from attention_core.files.refused import ModelRefused
from attention_core.real_model import tiny
from attention_core.real_model.layer_trace import layer_trace
from attention_core.real_model.model import open_model
from attention_core.real_model.run import logits, run
from attention_core.small_models.grammar import WORDS
from checks import run_anew


@pytest.fixture(scope="module")
def tiny_model():
    return open_model(tiny.TINY)


@pytest.fixture(scope="module")
def smollm2():
    return model_folders.smollm2()


def test_the_tiny_language_s_folder_has_the_network_s_weights_and_all_words(tmp_path):
    said = json.loads((tiny.TINY / "tokenizer.json").read_text(encoding="utf-8"))
    assert said["model"]["vocab"] == {word: place for place, word in enumerate(WORDS)}
    tiny.write(tmp_path)
    for file in tmp_path.iterdir():
        assert file.read_bytes() == (tiny.TINY / file.name).read_bytes(), file.name


def test_words_of_the_tiny_language_become_its_ids(tiny_model):
    found = tiny_model.tokenizer.encode('Anna says "the cat purrs".')
    assert found.pieces == ("<start>", *["anna", "says", "“", "the", "cat", "purrs", "”", "."])
    assert found.unknown == ()


@pytest.mark.parametrize(("read", "words"), [
    (lambda model: model.tokenizer.encode(""), "no text"),
    (lambda model: model.tokenizer.encode("the zebra"), "“zebra” is none of the 61 words"),
    # a control token that is typed is text
    (lambda model: model.tokenizer.encode("<start> the"), "“<” is none of"),
    (lambda model: run(model, ()), "no tokens"),
    (lambda model: run(model, (0,) * 33), "33 tokens, but .* at most 32"),
    (lambda model: run(model, (61,)), "no token 61"),
])  # fmt: skip
def test_what_a_model_cannot_read_is_refused(tiny_model, read, words):
    with pytest.raises(ValueError, match=words):
        read(tiny_model)


def test_a_run_can_be_stopped_after_each_layer(tiny_model):
    seen = []

    def stop(layer):
        seen.append(layer)
        raise InterruptedError

    with pytest.raises(InterruptedError):
        run(tiny_model, (0, 1), each_layer=stop)
    assert seen == [0]


def test_what_is_kept_is_read_once(tiny_model, monkeypatch):
    size = sum(each.numel() * 4 for at in (0, 1) for each in tiny_model.layer(at).values())
    once = sum(tiny_model.matrix(name).numel() * 4 for name in tiny_model.settings.shapes())
    assert tiny_model.bytes_in_full == size + once
    model, read = open_model(tiny.TINY, kept_bytes=size // 2), []
    matrix = model.source.matrix
    monkeypatch.setattr(
        model.source, "matrix", lambda name, *more: read.append(name) or matrix(name, *more)
    )

    def is_read():
        read.clear()
        logits(run(model, (0, 1)))
        layers = {at for name in read for at in ("h.0.", "h.1.") if at in name}
        return layers, any(each in name for name in read for each in ("wte", "wpe", "lm_head"))

    assert is_read() == is_read() == ({"h.0.", "h.1."}, True), "each pushes out the other"
    model.kept_bytes = size
    is_read()
    assert is_read() == (set(), True)
    model.kept_bytes = model.bytes_in_full
    wanted = logits(run(tiny_model, (0, 1)))
    is_read()
    assert is_read() == (set(), False)
    assert torch.equal(logits(run(model, (0, 1))), wanted)


def test_smollm2_knows_who_was_given_the_drink(smollm2):
    found = smollm2.tokenizer.encode("When Mary and John went to the store, John gave a drink to")
    probabilities = logits(run(smollm2, found.ids), [-1])[0].softmax(-1)
    (mary,) = smollm2.tokenizer.encode(" Mary").ids
    assert probabilities.argmax() == mary
    assert 0.9 < probabilities[mary] < 0.95


def test_no_model_where_there_is_none(tmp_path):
    with pytest.raises(ModelRefused, match="no file and no folder nowhere"):
        open_model(tmp_path / "nowhere")
    other = tmp_path / "weights.bin"
    other.write_bytes(b"x")
    with pytest.raises(ModelRefused, match=r"weights\.bin is no model"):
        open_model(other)


@pytest.mark.slow("10 s: gguf's own reader takes most of it")
def test_the_program_of_a_layer_of_smollm2_reads_its_file(smollm2, tmp_path, monkeypatch):
    made = run(smollm2, smollm2.tokenizer.encode("The capital").ids)
    trace = layer_trace(smollm2, made.before[3], 3)
    assert str(smollm2.source.path.parent) not in program(trace)
    monkeypatch.chdir(tmp_path)  # it is found wherever the program runs
    run_anew(trace, rounding=1e-6)


def test_a_model_whose_file_has_changed_is_read_no_more(tmp_path):
    """Also where the numbers have the same shapes: they would pass for those of the model."""
    folder = shutil.copytree(tiny.TINY, tmp_path / "a model")
    model = open_model(folder)
    stream = run(model, [0, 1]).before[0]
    trace = layer_trace(model, stream, 0)
    os.utime(folder / "model.safetensors", ns=(1, 1))
    for read in (
        lambda: model.matrix("token_table", [0]),
        lambda: trace["qkv_matrix"].arithmetic((0, 0)),
        lambda: layer_trace(model, stream, 0),
    ):
        with pytest.raises(ModelRefused, match=r"^model\.safetensors has changed since it was"):
            read()
