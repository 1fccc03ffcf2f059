"""Models that are not opened, each by name and reason: broken, hostile, or computed otherwise."""

import json
import pickle
import shutil
import struct

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from attention_core.files import refused as readers
from attention_core.files.refused import ModelRefused
from attention_core.real_model import tiny
from attention_core.real_model.model import open_model
from gguf_files import written
from model_folders import config, cut, in_gguf, make, put, tokenizer


@pytest.fixture(scope="module")
def llama(tmp_path_factory):
    folder = tmp_path_factory.mktemp("llama")
    return folder, make(folder, "llama")


@pytest.fixture
def folder(llama, tmp_path):
    return shutil.copytree(llama[0], tmp_path / "some model")


def said(path):
    """Why a model is refused: one line in words, short, with nothing in it that moves a cursor."""
    with pytest.raises(ModelRefused) as refused:
        open_model(path)
    words = str(refused.value)
    assert words.isprintable()
    assert len(words) < 400
    return words


# --- settings ------------------------------------------------------------------------------------
ONE_PLACE = {"rope_type": "longrope"} | dict.fromkeys(("short_factor", "long_factor"), [1.0] * 7)
SETTINGS = [
    ({"model_type": "mixtral"}, 'model_type in config.json is "mixtral"'),
    ({"model_type": ...}, "does not say model_type"),
    ({"model_type": ["llama"]}, "model_type"),
    ({"model_type": "falcon"}, "models of other kinds are not computed here"),
    ({"num_attention_heads": 0}, "num_attention_heads in config.json is 0"),
    ({"num_attention_heads": True}, "num_attention_heads in config.json is true"),
    ({"num_attention_heads": 10**30}, "whole number from 1"),
    ({"num_attention_heads": ...}, "is 84 × 30, but by its settings it must be 448 × 30"),
    ({"num_hidden_layers": 2**24}, "must be a whole number from 1 to 10,000"),
    ({"head_dim": 2**24}, "must be a whole number from 1 to 10,000"),
    ({"num_key_value_heads": 4}, "6 query heads, which cannot be shared evenly among 4"),
    ({"head_dim": 13}, "a head is 13 wide"),
    ({"rms_norm_eps": None}, "rms_norm_eps in config.json is null, but must be something, or left"),
    ({"is_causal": False}, "is_causal in config.json is false, but must be true"),
    (
        {"head_dim": 16},
        "q_proj.weight in some model is 84 × 30, but by its settings it must be 96 × 30",
    ),
    ({"hidden_act": "quick_gelu"}, 'hidden_act in config.json is "quick_gelu"'),
    ({"rms_norm_eps": -1}, "rms_norm_eps in config.json is -1"),
    ({"rms_norm_eps": float("nan")}, "rms_norm_eps in config.json is nan"),
    (
        {"rope_parameters": {"rope_type": "axial", "rope_theta": 1e4}},
        "rope_type in rope_parameters",
    ),
    ({"rope_parameters": {"rope_type": ["yarn"], "factor": 2.0}}, "is ['yarn'], but must be one"),
    ({"rope_parameters": {"rope_type": "yarn", "rope_theta": 1e4}}, "does not say factor"),
    ({"rope_parameters": {"rope_type": "longrope", "short_factor": [1.0] * 6}}, "a list of 7 numb"),
    *(
        (
            {"rope_parameters": each},
            "rope_parameters of config.json gives angles that are not finite",
        )
        for each in (
            {"rope_type": "yarn", "factor": 2.0, "rope_theta": 1.0},
            {"rope_type": "yarn", "factor": np.e**10, "mscale": 1.0, "mscale_all_dim": -1.0},
            ONE_PLACE | {"original_max_position_embeddings": 1},
            ONE_PLACE | {"original_max_position_embeddings": 2, "short_factor": [1e-320] * 7},
        )
    ),
    ({"per_layer_config": {"0": {}}}, "computes"),
    ({"text_config": {"vocab_size": 5}}, "text_config"),
    ({"layer_types": ["full_attention", "linear_attention"]}, "layer_types"),
    ({"rope_parameters": {"rope_type": "linear"}}, "does not say factor"),
    ({"rope_parameters": {"rope_type": "linear", "factor": 0}}, "factor in rope_parameters"),
    ({"rope_parameters": {"rope_type": "llama3", "factor": 8.0}}, "does not say low_freq_factor"),
    ({"rope_parameters": 7}, "rope_parameters in config.json is 7"),
    ({"rope_theta": -1.0}, "rope_theta in config.json is -1.0"),
    ({"partial_rotary_factor": 0.5}, "partial_rotary_factor in config.json is 0.5"),
    ({"attention_bias": True}, "has no tensor model.layers.0.self_attn.q_proj.bias"),
    ({"attention_bias": "yes"}, 'attention_bias in config.json is "yes"'),
    ({"tie_word_embeddings": 1}, "tie_word_embeddings in config.json is 1"),
    ({"num_hidden_layers": 2}, "model.layers.2.input_layernorm.weight, which is not known here"),
    ({"num_hidden_layers": 4}, "has no tensor model.layers.3.input_layernorm.weight"),
    ({"vocab_size": 54}, "53 × 30, but by its settings it must be 54 × 30"),
    ({"quantization_config": {"bits": 4}}, "packed in this way"),
    ({"auto_map": {"AutoModel": "own.Model"}}, "a model with code of its own"),
    ({"is_encoder_decoder": True}, "is_encoder_decoder in config.json is true"),
    ({"pruned_heads": {"0": [1]}}, "pruned_heads"),
    ({"kv_sharing_modes": ["x" * 900]}, "which is not known here"),
    ({"kv_sharing_modes": "\x1b[2J"}, "which is not known here"),
]


@pytest.mark.parametrize(("changes", "words"), SETTINGS, ids=range(len(SETTINGS)))
def test_settings_that_are_not_computed_are_refused(folder, changes, words):
    config(**changes)(folder)
    assert words in said(folder)


@pytest.mark.parametrize(("name", "changes", "words"), [
    ("gpt2", {"add_cross_attention": True}, "there is one sentence"),
    ("gpt2", {"n_head": 4}, "4 heads, which cannot share a width of 35"),
    ("bert", {"is_decoder": True}, "read the other way"),
    ("qwen2 window", {"layer_types": ["full_attention"]}, "one for each of 3 layers"),
    ("qwen2 window", {"sliding_window": None}, "no window is set"),
    ("gemma2", {"use_bidirectional_attention": True}, "sees no later key"),
    ("gemma3", {"rope_parameters": {"rope_type": "yarn"}}, "yarn"),
    ("llama", {"auto_map": {"AutoModel": "modeling_phi3.Model"}}, "a model with code of its own"),
    ("phi3", {"auto_map": {"AutoModel": "own.Model"}}, "a model with code of its own"),
    ("smollm3", {"no_rope_layers": [1]}, "one for each of"),
    ("smollm3", {"no_rope_layers": [1, 0, 2, 1, 1, 1]}, "a list of 0 and 1"),
])  # fmt: skip
def test_settings_of_other_families_are_refused(tmp_path, name, changes, words):
    make(tmp_path, name)
    config(**changes)(tmp_path)
    assert words in said(tmp_path)


def test_of_a_list_for_more_layers_than_there_are_the_first_count(tmp_path):
    make(tmp_path, "smollm3")
    before = open_model(tmp_path).settings
    own = json.loads((tmp_path / "config.json").read_text(encoding="utf-8"))["no_rope_layers"]
    config(no_rope_layers=[*own, 0, 1, 0])(tmp_path)
    assert open_model(tmp_path).settings == before


NEEDS = {
    "mixtral": "a mixture of experts", "qwen3_moe": "experts", "gpt_oss": "experts",
    "deepseek_v3": "experts and latent keys and values", "qwen3_next": "experts and a recurrent",
    "mamba2": "a recurrent memory", "rwkv": "a recurrent memory", "jamba": "a recurrent memory",
    "lfm2": "a recurrent memory", "qwen3_5": "a recurrent memory", "minicpm3": "(MLA)",
    "t5": "a sentence that looks at another one", "gemma3n": "keys and values shared across layers",
    "bloom": "a bias for the distance of tokens (ALiBi", "mpt": "of tokens (ALiBi",
    "falcon": "", "qwen2_vl": "pictures or sound beside the text",
}  # fmt: skip
"""What models of `transformers` need that is not computed here."""


@pytest.mark.parametrize("kind", NEEDS)
def test_what_a_model_needs_is_named_by_the_settings_that_its_class_has(folder, kind):
    of_class = pytest.importorskip("transformers").AutoConfig.for_model(kind).to_dict()
    (folder / "config.json").write_text(json.dumps(of_class | {"model_type": kind}, default=str))
    found = said(folder)
    assert f'model_type in config.json is "{kind}"' in found
    assert NEEDS[kind] in found.partition("not computed here")[2]


# --- folders -------------------------------------------------------------------------------------
def twice(folder):
    (folder / "model.safetensors").rename(folder / "0.safetensors")
    shutil.copy(folder / "0.safetensors", folder / "1.safetensors")


INDEX, WEIGHTS = "model.safetensors.index.json", "model.safetensors"
NOT_HERE = ("../model.safetensors", "/etc/passwd", "a/model.safetensors", "..", "x.bin", "a\\b")
NO_CONFIG = ("", "[1]", "{", '{"a": NaN', "\xff", "null")
DEEP = ('{"a":' * 100_000).encode()
SPOILED = [
    (put("config.json", None), "there is no config.json"),
    (put("tokenizer.json", None), "there is no tokenizer.json"),
    (put(WEIGHTS, None), "no weights in some model"),
    *((put("config.json", each.encode("latin-1")), "config.json in some") for each in NO_CONFIG),
    (put("config.json", DEEP), "config.json in some model cannot be read: it is nested too"),
    (put("tokenizer.json", DEEP), "tokenizer.json in some model cannot be read: it is nested"),
    (put(INDEX, {"metadata": [[]] * 600_000}), "1,200,001 values"),
    (cut("config.json", 4 * 2**30), "bytes"),
    (cut("tokenizer.json", 4 * 2**30), "bytes"),
    *((put(INDEX, {"weight_map": {"w": name}}), "must be in safetensors files of this folder")
      for name in NOT_HERE),
    *((put(INDEX, each), "names no files") for each in ({}, {"weight_map": []})),
    (put(INDEX, {"weight_map": {}}), "names no files"),
    *((put(INDEX, {"weight_map": {"w": f"{name}.safetensors"}}), "is missing in some model")
      for name in ("x" * 5000, "a\0b", "\x1b[2J", "model-00001-of-00002")),
    (twice, "stands in 0.safetensors and in 1.safetensors"),
    *((cut(WEIGHTS, size), WEIGHTS) for size in (0, 4, 8, 100, 5000)),
    (put(WEIGHTS, struct.pack("<Q", 2**40) + b"{}"), f"{WEIGHTS} is cut off"),
    (put("tokenizer.json", tokenizer(54)), "has a token 53, but there are vectors of 53"),
]  # fmt: skip


@pytest.mark.parametrize(("spoil", "words"), SPOILED, ids=range(len(SPOILED)))
def test_a_folder_that_is_spoiled_is_refused(folder, spoil, words):
    spoil(folder)
    assert words in said(folder)


@pytest.mark.parametrize("name", ["x" * 5000, "a\0b", "\x1b[2J", "\x1b[2J.gguf", "x/" * 5000])
def test_a_path_that_cannot_be_is_said(tmp_path, name):
    assert any(each in said(tmp_path / name) for each in ("there is no file", "cannot be read"))


def test_the_name_of_a_folder_moves_no_cursor(folder):
    odd = folder.rename(folder.parent / "\x1b[2J\n")
    (odd / "config.json").write_text("{}")
    said(odd)
    put(WEIGHTS, None)(odd)
    assert "no weights in \\x1b[2J\\n" in said(odd)


def test_pickled_weights_are_left_alone(folder, tmp_path):
    class Harm:
        def __reduce__(self):
            return (open, (str(tmp_path / "harm"), "w"))

    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Harm()))
    assert "pytorch_model.bin, a kind of file that may run anything" in said(folder)
    assert not (tmp_path / "harm").exists()


@pytest.mark.parametrize(("changed", "words"), [
    ({"model.norm.weight": ...}, "has no tensor model.norm.weight"),
    ({"model.norm.weight": torch.ones(31)}, "is 31, but by its settings it must be 30"),
    ({"model.norm.bias": torch.ones(30)}, "has a tensor model.norm.bias, which is not known"),
    ({"model.layers.0.self_attn.q_norm.weight": torch.ones(14)},
     "q_norm.weight, which is not known here"),
    ({"model.layers.1.mlp.experts.0.weight": torch.ones(2)}, "way; it needs a mixture of experts"),
    ({"model.layers.0.self_attn.kv_a_proj_with_mqa.kv_lora_rank": torch.ones(2)}, "(MLA)"),
])  # fmt: skip
def test_tensors_that_do_not_fit(folder, changed, words):
    tensors = load_file(folder / "model.safetensors") | changed
    save_file({n: e for n, e in tensors.items() if e is not ...}, folder / "model.safetensors")
    assert words in said(folder)


def test_numbers_of_a_kind_that_is_not_read(folder):
    tensors = load_file(folder / "model.safetensors")
    tensors["model.norm.weight"] = torch.ones(30, dtype=torch.int8)
    save_file(tensors, folder / "model.safetensors")
    with pytest.raises(ModelRefused, match="numbers of kind I8"):
        open_model(folder).matrix("final_norm_gain")


# --- GGUF ----------------------------------------------------------------------------------------
IN_GGUF = [
    ({"general.architecture": "mamba"}, 'general.architecture in model.gguf is "mamba"'),
    ({"general.architecture": None}, "does not say general.architecture"),
    ({"general.type": "adapter"}, "this file holds something else"),
    ({"split.count": 2}, "one part of a model in several files"),
    ({"llama.expert_count": 8}, "mixtures of experts are not computed"),
    ({"llama.rope.scaling.type": "yarn"}, "none or linear"),
    ({"llama.rope.dimension_count": 7}, "all columns of a head are turned"),
    ({"llama.attention.value_length": 7}, "keys and values are equally wide"),
    ({"llama.attention.head_count": [6, 6, 6]}, "head_count in model.gguf is [6, 6, 6]"),
    ({"llama.attention.head_count_kv": 4}, "cannot be shared evenly among 4"),
    ({"llama.attention.sliding_window": 4}, "left out in a Llama"),
    ({"llama.logit_scale": 2.0}, "logit_scale = 2.0, which is not known here"),
    ({"llama.block_count": 4}, "has no tensor blk.3.attn_norm.weight"),
    ({"llama.embedding_length": 31}, "must be 53 × 31"),
]


@pytest.mark.parametrize(("changes", "words"), IN_GGUF, ids=range(len(IN_GGUF)))
def test_fields_that_are_not_computed_are_refused(llama, tmp_path, changes, words):
    fields, tensors = in_gguf("llama", llama[1])
    fields = {name: each for name, each in (fields | changes).items() if each is not None}
    path = tmp_path / "model.gguf"
    path.write_bytes(written(fields, tensors))
    assert words in said(path)


@pytest.mark.parametrize(("changed", "words"), [
    ({"blk.0.attn_q_norm.weight": np.ones(14)}, "attn_q_norm.weight, which is not known here"),
    ({"output_norm.weight": np.ones((3, 10))}, "is 3 × 10, but by its settings it must be 30"),
    ({"rope_freqs.weight": np.ones(8)}, "8 numbers for 7 pairs"),
    ({"rope_freqs.weight": np.zeros(7)}, "must be above 0"),
    ({"token_types.weight": np.zeros((2, 30))}, "token_types.weight, which is not known here"),
])  # fmt: skip
def test_tensors_of_a_gguf_file_that_do_not_fit(llama, tmp_path, changed, words):
    fields, tensors = in_gguf("llama", llama[1])
    path = tmp_path / "model.gguf"
    path.write_bytes(written(fields, tensors | changed))
    assert words in said(path)


# --- without the readers -------------------------------------------------------------------------
def test_a_reader_that_is_not_installed_is_said_with_how_to_get_it(monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(readers, "import_module", missing)
    words = said(tiny.TINY)
    assert "needs the Python package tokenizers, which is not installed" in words
    assert "`python -m pip install tokenizers` brings it" in words
