"""The words of the most loaded text models: which are read; such files open, or it is said why not.

`published_configs.json` has what these models' config.json say, of long lists the beginning; "bare"
alone is ours, of files without a table for the next token.
"""

import json
from pathlib import Path

import pytest
import torch

import words_read
from attention_core.files.refused import ModelRefused
from attention_core.real_model.model import open_model
from attention_core.real_model.run import logits, run
from model_folders import tokenizer
from sampling import each_once

HELD = json.loads(Path(__file__).parent.with_name("published_configs.json").read_text("utf-8"))
IDS = (3, 17, 5, 5, 41, 29, 52, 0, 8, 11, 5)
SMALL = {
    "hidden_size": 48, "intermediate_size": 29, "num_hidden_layers": 4, "vocab_size": 53,
    "head_dim": 8, "n_embd": 30, "n_layer": 4, "n_head": 6, "n_positions": 64,
}  # fmt: skip


def test_the_table_of_words_is_what_transformers_reads():
    assert words_read.TABLE.read_text("utf-8") == words_read.written(words_read.whole()), (
        "python tests/words_read.py writes it anew"
    )


def small(config):
    """The same words and switches for a model of few numbers."""
    made = config | {name: size for name, size in SMALL.items() if name in config}
    if "num_attention_heads" in config:
        heads, keys = config["num_attention_heads"], config.get("num_key_value_heads")
        made["num_attention_heads"] = 6
        if keys is not None:
            made["num_key_value_heads"] = 6 if keys == heads else 1 if keys == 1 else 2
    made |= {name: made[name][:4] for name in ("layer_types", "no_rope_layers") if name in made}
    made |= {name: 0 for name in made if name.endswith("_token_id")}
    if made.get("sliding_window"):
        made["sliding_window"] = 3
    return made


@pytest.mark.parametrize(
    "name",
    each_once(
        HELD["opens"], "half a second", parts=lambda name: (HELD["opens"][name]["model_type"],)
    ),
)
def test_a_published_config_opens_as_transformers_computes_it(tmp_path, name):
    transformers = pytest.importorskip("transformers")
    config = small(HELD["opens"][name])
    is_bare = config.pop("bare", False)
    cls = getattr(transformers, config["architectures"][0])
    torch.manual_seed(1)
    own = json.loads(json.dumps(config))
    reference = cls(cls.config_class.from_dict(own, attn_implementation="eager")).eval()
    for parameter in reference.parameters():
        parameter.requires_grad_(False).normal_(1.0 if parameter.ndim == 1 else 0.0, 0.3)
    (reference.base_model if is_bare else reference).save_pretrained(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps(config))
    (tmp_path / "tokenizer.json").write_text(json.dumps(tokenizer()))
    model = open_model(tmp_path)
    found = run(model, IDS)
    wanted = reference(torch.tensor([IDS]), output_attentions=True, output_hidden_states=True)
    torch.testing.assert_close(found.weights, torch.cat(wanted.attentions), atol=1e-4, rtol=0)
    streams = torch.cat(wanted.hidden_states[: len(found.before)])
    torch.testing.assert_close(found.before, streams, atol=1e-4, rtol=1e-4)
    is_silent = config["model_type"] == "bert" or (is_bare and not config["tie_word_embeddings"])
    assert model.settings.predicts != is_silent
    if not is_silent:
        torch.testing.assert_close(logits(found), wanted.logits[0], atol=1e-3, rtol=1e-4)


@pytest.mark.parametrize("name", HELD["refused"])
def test_a_published_config_that_is_not_computed_says_what_it_needs(tmp_path, name):
    words, config = HELD["refused"][name]
    (tmp_path / "config.json").write_text(json.dumps(config))
    (tmp_path / "tokenizer.json").write_text(json.dumps(tokenizer()))
    (tmp_path / "model.safetensors").write_bytes(b"\2\0\0\0\0\0\0\0{}")
    with pytest.raises(ModelRefused) as refused:
        open_model(tmp_path)
    assert words in str(refused.value)


def test_a_head_that_a_file_lacks_is_not_asked_for(tmp_path):
    """Of an embedding model whose table is not shared; one that is shared says what it is."""
    from attention_ui.lessons.real_model import words

    transformers = pytest.importorskip("transformers")
    for tied in (False, True):
        config = small(HELD["opens"]["Qwen/Qwen3-Embedding-8B"]) | {"tie_word_embeddings": tied}
        own = {each: value for each, value in config.items() if each != "bare"}
        transformers.Qwen3Model(transformers.Qwen3Config(**own)).save_pretrained(tmp_path)
        (tmp_path / "config.json").write_text(json.dumps(own))
        (tmp_path / "tokenizer.json").write_text(json.dumps(tokenizer()))
        (tmp_path / "modules.json").write_text("[]")
        model = open_model(tmp_path)
        assert model.settings.predicts == tied
        assert (words.NOT_TRAINED_TO_SAY in words.of_its_sizes(model)) == tied
        if not tied:
            with pytest.raises(ValueError, match="no next token: its file has no table for it"):
                logits(run(model, IDS))
