"""Whatever a model's file has for any of its words, in any family: every number of the settings is
what it should be, or the file is refused in words.
"""

import dataclasses
import json
import math
import typing
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from attention_core.files.refused import ModelRefused
from attention_core.real_model import by_config, by_fields, rotary
from attention_core.real_model.config_reader import ConfigReader
from attention_core.real_model.model import open_model
from attention_core.real_model.run import logits, run
from attention_core.real_model.settings import Settings
from model_folders import make
from sampling import marked

HOSTILE = [
    *(True, None, 0, 3, -1, 10**11, 10**25, -(10**400), 10**400),
    *(0.5, -0.5, 1e-320, 1e308, math.nan, math.inf, 0.0),
    *("1", "x" * 5_000, "yarn", "\x1b[31m"),
    *([], [1], [math.nan], ["full_attention"], [10**400] * 3, {}, {"factor": 10**25}),
]
LARGEST_LAYERS = 3


def small(kind):
    """What each family needs for a tiny model, by its own defaults."""
    said = {"model_type": kind}
    for name in by_config.DEFAULTS[kind]:
        plain = name.removesuffix("?")
        sizes = {
            "hidden_size": 24, "n_embd": 24, "num_hidden_layers": LARGEST_LAYERS,
            "n_layer": LARGEST_LAYERS, "num_attention_heads": 4, "n_head": 4,
            "num_key_value_heads": 2, "head_dim": 6, "intermediate_size": 12, "vocab_size": 50,
            "max_position_embeddings": 32, "n_positions": 32,
        }  # fmt: skip
        if plain in sizes and not (kind == "bert" and plain in ("num_key_value_heads", "head_dim")):
            said[plain] = sizes[plain]
    return said


TURNINGS = [
    {"rope_type": "linear", "factor": 4.0},
    {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0},
    {"rope_type": "yarn", "factor": 4.0, rotary.PLACES: 16},
    {"rope_type": "longrope", "short_factor": [1.0] * 3, "long_factor": [2.0] * 3},
    {"rope_type": "default", "rope_theta": 500.0},
]
IN_TURNING = [
    *("rope_type", "type", "factor", "low_freq_factor", "high_freq_factor", "rope_theta"),
    *("attention_factor", "beta_fast", "beta_slow", "short_factor", "long_factor", "mscale"),
    *("mscale_all_dim", "truncate", "partial_rotary_factor", rotary.PLACES),
]
BESIDE = ("rope_theta", "rope_scaling", "rotary_emb_base", "rotary_pct", "model_type", "auto_map",
          "partial_rotary_factor", "text_config", rotary.PLACES, "is_causal")  # fmt: skip
FAMILIES = [kind for kind in by_config.FAMILIES if kind in by_config.DEFAULTS]


def is_as_said(value, kind):
    """Whether a value is of an annotation's type, its numbers finite, and no int for a float."""
    origin, inside = typing.get_origin(kind), typing.get_args(kind)
    if kind is float:
        return type(value) is float and math.isfinite(value)
    if kind in (int, bool, str):
        return type(value) is kind
    if kind is type(None):
        return value is None
    if origin is tuple:
        if not isinstance(value, tuple):
            return False
        if inside[-1] is Ellipsis:
            return all(is_as_said(each, inside[0]) for each in value)
        return len(value) == len(inside) and all(map(is_as_said, value, inside))
    return any(is_as_said(value, each) for each in inside)


def taken(described, given):
    """Whether a file is taken; what is said of it holds, or it is refused in a few words."""
    try:
        found = described(given)
    except ModelRefused as error:
        words = str(error)
    else:
        words = ""
    if words:
        assert 10 < len(words) < 400
        assert words.isprintable()
        return False
    kinds = typing.get_type_hints(Settings)
    for field in dataclasses.fields(Settings):
        said = getattr(found.settings, field.name)
        assert is_as_said(said, kinds[field.name]), (field.name, said)
    assert all(type(each) is int for each in found.ends)
    found.settings.shapes(), found.settings.shapes_of_layer()
    return True


MOST = pytest.mark.slow("3 s each: some 700 files")


@pytest.mark.parametrize("kind", marked(FAMILIES, {"llama", "gpt2", "gemma3_text"}, MOST))
def test_whatever_a_config_says_for_any_word_is_what_it_should_be_or_refused(kind):
    base = small(kind)
    assert taken(by_config.described, base)
    words = {name.removesuffix("?") for name in by_config.DEFAULTS[kind]}
    words |= {*by_config.ALSO_CALLED.get(kind, {}), *BESIDE, "never_heard_of"}
    n_taken = sum(
        taken(by_config.described, base | {word: value}) for word in words for value in HOSTILE
    )
    assert 0 < n_taken < len(words) * len(HOSTILE) / 2


TURNED = ["llama", "phi3", "gemma3_text", "gpt_neox"]


@pytest.mark.slow("10 s each: some 4,000 files")
@pytest.mark.parametrize("kind", TURNED)
def test_whatever_is_said_of_how_columns_turn_is_what_it_should_be_or_refused(kind):
    n_taken = 0
    for place in ("rope_scaling", "rope_parameters"):
        for turning in TURNINGS:
            for word in IN_TURNING:
                for value in HOSTILE:
                    said = small(kind) | {place: turning | {word: value}}
                    n_taken += taken(by_config.described, said)
    assert n_taken


def file_of(fields):
    """A GGUF file that has only a table of tokens, and what its fields say."""
    places = {"token_embd.weight": SimpleNamespace(shape=(50, 24)),
              "position_embd.weight": SimpleNamespace(shape=(32, 24))}  # fmt: skip
    return SimpleNamespace(fields=fields, places=places, path=Path("a.gguf"))


SIZES = {
    "attention.head_count": 4, "embedding_length": 24, "block_count": 3, "context_length": 32,
    "feed_forward_length": 12, "attention.layer_norm_rms_epsilon": 1e-5,
    "attention.layer_norm_epsilon": 1e-5,
}  # fmt: skip
IN_FIELDS = [
    *SIZES, "attention.head_count_kv", "attention.key_length", "attention.value_length",
    "rope.freq_base", "rope.dimension_count", "rope.scaling.type", "rope.scaling.factor",
    "rope.scale_linear", "rope.scaling.finetuned", "rope.scaling.original_context_length",
    "expert_count", "attention.sliding_window", "attention.sliding_window_pattern",
    "attention.scale", "embedding_scale", "residual_scale", "logit_scale", "vocab_size",
    "attn_logit_softcapping", "final_logit_softcapping", "rope.freq_base_swa", "of_tomorrow",
]  # fmt: skip
BOTH_NORMS = ("attention.layer_norm_rms_epsilon", "attention.layer_norm_epsilon")


def fields_of(kind, **changed):
    norm = BOTH_NORMS[kind == "gpt2"]
    said = {name: each for name, each in SIZES.items() if name not in BOTH_NORMS or name == norm}
    if kind == "gpt2":
        said.pop("rope.freq_base", None)
    own = {f"{kind}.{name}": each for name, each in (said | changed).items()}
    return {"general.architecture": kind, **own}


@pytest.mark.parametrize("kind", by_fields.FAMILIES)
def test_whatever_the_fields_of_a_file_say_is_what_it_should_be_or_refused(kind):
    def described(fields):
        return by_fields.described(file_of(fields))

    assert taken(described, fields_of(kind))
    n_taken = sum(
        taken(described, fields_of(kind, **{word: value}))
        for word in IN_FIELDS
        for value in HOSTILE
        if not isinstance(value, dict)
    )
    assert n_taken
    for name in ("general.architecture", "general.type", "split.count"):
        for value in HOSTILE:
            taken(described, fields_of(kind) | {name: value})


@pytest.mark.parametrize("value", [1, 10**11, 10**25, 0.5])
def test_a_number_is_one_with_a_point_however_it_is_written(value):
    found = ConfigReader({"eps": value}, "config.json").number("eps")
    assert type(found) is float
    assert found == pytest.approx(value)


@pytest.mark.parametrize("value", [10**11, 10**20])
def test_a_norm_with_an_epsilon_without_a_point_is_worked_out(tmp_path, value):
    model = make(tmp_path, "llama")
    said = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(said | {"rms_norm_eps": value}))
    model.config.rms_norm_eps = float(value)
    for each in model.modules():
        if hasattr(each, "variance_epsilon"):
            each.variance_epsilon = float(value)
    ids = torch.arange(2, 9)
    found = logits(run(open_model(tmp_path), ids.tolist()))
    theirs = model(ids[None]).logits[0]
    assert theirs.abs().max() > 0
    assert torch.allclose(found, theirs, atol=1e-4 * theirs.abs().max().item(), rtol=0)
