"""Each row of the models of today against its config, and against the tensors of that model, made
without weights: heads, widths, layers of each kind, parameters, what a cache keeps.
"""

import json
import re
from collections import Counter
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest
import torch

from attention_core.costs import KNOWN, AttentionSize
from attention_core.models_of_today import MODELS_OF_TODAY
from attention_core.real_model import by_config

transformers = pytest.importorskip("transformers")

HELD = json.loads(Path(__file__).parent.with_name("published_configs.json").read_text("utf-8"))
PUBLISHED = {
    "gemma3": {"num_hidden_layers": 34, "hidden_size": 2560, "sliding_window": 1024},
    "qwen3_5": {"max_position_embeddings": 262_144},
}
"""What config.json says of models that are not among those held, where the class says else."""
IN_THE_PAPER = {"mistral": {"max_position_embeddings": 8192}}
"""What a source says that is not what config.json has room for."""
LISTS = ("layer_types", "no_rope_layers")
ATTENTION = re.compile(r"(\w+\.)*(attn|self_attn)\.(c_attn|[qkvo]_proj|c_proj)\.(weight|bias)")


def published(name):
    """What the model's own config.json says, and else what its class takes."""
    row = MODELS_OF_TODAY[name]
    said = HELD["opens"].get(row.source.split(" config.json")[0], PUBLISHED.get(name, {}))
    module, kind = row.config.split(".")
    found = getattr(import_module(f"transformers.models.{module}.configuration_{module}"), kind)
    return found.from_dict(said | IN_THE_PAPER.get(name, {}))


@cache
def without_weights(name):
    with torch.device("meta"):
        return transformers.AutoModel.from_config(published(name))


def layers_of(model):
    """The parts of each layer that attend, or have a memory in place of it."""
    layers = model.h if hasattr(model, "h") else model.layers
    names = ("attn", "self_attn", "linear_attn")
    return [next(getattr(each, name) for name in names if hasattr(each, name)) for each in layers]


def found_in(name):
    """What each layer is by its tensors, and its place: as the table has it of each kind."""
    model, row = without_weights(name), MODELS_OF_TODAY[name]
    config, found = model.config, []
    kinds = getattr(config, "layer_types", None) or ["full_attention"] * config.num_hidden_layers
    for part, kind in zip(layers_of(model), kinds, strict=True):
        attends = hasattr(part, "scaling")
        is_local = kind == "sliding_attention" or config.model_type == "mistral"
        window = config.sliding_window if is_local else None
        assert getattr(part, "sliding_window", window) == window
        share = 0.0
        if attends and hasattr(model, "rotary_emb") and getattr(part, "use_rope", True):
            rates = [each for at, each in model.rotary_emb.named_buffers() if at[-8:] == "inv_freq"]
            share = 2 * rates[0].numel() / row.d_head
        has_gate = attends and hasattr(part, "q_proj")
        has_gate = has_gate and part.q_proj.out_features == 2 * part.o_proj.in_features
        has_norms = attends and hasattr(part, "q_norm")
        cap = getattr(config, "attn_logit_softcapping", None)
        found.append((attends, share, window, has_norms, hasattr(part, "sinks"), has_gate, cap))
    return found


def of_kind(kind):
    """The same as the table says it."""
    share = kind.rotary_share if kind.positions == "rotary" else 0.0
    seen = kind.attends, share, kind.window, kind.qk_norm, kind.sink, kind.gated
    return *seen, kind.soft_cap


@pytest.mark.parametrize("name", MODELS_OF_TODAY)
def test_a_row_has_the_layers_of_its_model(name):
    row, found = MODELS_OF_TODAY[name], found_in(name)
    assert Counter(found) == {of_kind(kind): kind.n_layers for kind in row.kinds}
    for kind in row.kinds:
        if every := re.fullmatch(r"every (\d+)th layer", kind.name):
            places = [at + 1 for at, each in enumerate(found) if each == of_kind(kind)]
            assert places == [*range(int(every[1]), row.n_layers + 1, int(every[1]))]
        if most := re.fullmatch(r"(\d+) of (\d+) layers", kind.name):
            assert kind.n_layers * int(most[2]) == row.n_layers * int(most[1])


@pytest.mark.parametrize("name", MODELS_OF_TODAY)
def test_a_row_has_the_heads_and_the_length_of_its_model(name):
    row, model = MODELS_OF_TODAY[name], without_weights(name)
    learned = getattr(model, "wpe", None)
    length = learned.num_embeddings if learned else model.config.max_position_embeddings
    assert row.context == length
    for part in layers_of(model):
        if hasattr(part, "c_attn"):
            sizes = [part.split_size] * 3 + [part.c_proj.weight.shape[0]]
        elif hasattr(part, "kv_b_proj"):  # keys and values of a latent
            sizes = [part.q_b_proj.out_features] * 4
            values = part.num_heads * part.v_head_dim
            unturned = part.num_heads * part.qk_nope_head_dim
            assert part.kv_b_proj.out_features == unturned + values
            assert part.o_proj.in_features == values
            assert f"values {part.v_head_dim} wide" in row.kinds[0].more
            assert f"chooses {part.indexer.index_topk:,} keys" in row.kinds[0].more
        elif hasattr(part, "q_proj"):
            joined = part.o_proj.in_features
            sizes = [joined, part.k_proj.out_features, part.v_proj.out_features, joined]
            assert part.q_proj.out_features in (joined, 2 * joined)  # twice with gates
        else:
            continue
        heads = row.n_heads, row.n_kv_heads, row.n_kv_heads, row.n_heads
        assert sizes == [n * row.d_head for n in heads]
        assert getattr(part, "head_dim", part.__dict__.get("qk_head_dim")) == row.d_head
        groups = getattr(part, "num_key_value_groups", 1)
        assert row.n_heads == groups * row.n_kv_heads


@pytest.mark.parametrize("name", [each for each in MODELS_OF_TODAY if each != "deepseek_v32"])
def test_the_parameters_of_attention_are_those_of_its_tensors(name):
    """But for those of a latent, which has other matrices."""
    row, model = MODELS_OF_TODAY[name], without_weights(name)
    tensors = {at: each for at, each in model.named_parameters() if ATTENTION.fullmatch(at)}
    (gated,) = {kind.gated for kind in row.kinds if kind.attends}
    n_layers = sum(kind.n_layers for kind in row.kinds if kind.attends)
    sizes = (n_layers, model.config.hidden_size, row.n_heads, row.n_kv_heads, row.d_head)
    size = AttentionSize(*sizes, bias=any(at.endswith("bias") for at in tensors), gated=gated)
    assert size.parameters == sum(each.numel() for each in tensors.values())
    assert KNOWN[name].size == size if name in KNOWN else True


@pytest.mark.parametrize("name", MODELS_OF_TODAY)
def test_what_a_layer_keeps_of_each_token_is_as_wide_as_the_tensors_that_make_it(name):
    row, model = MODELS_OF_TODAY[name], without_weights(name)
    (whole,) = {row.cached(n + 1) - row.cached(n) for n in (row.context - 2, row.context - 1)}
    first, total, fixed = row.cached(1), 0, 0
    for part in layers_of(model):
        if hasattr(part, "c_attn"):
            total += part.c_attn.weight.shape[1] - part.split_size
        elif hasattr(part, "kv_b_proj"):
            total += part.kv_a_proj_with_mqa.out_features + part.indexer.wk.out_features
        elif hasattr(part, "k_proj"):
            total += part.k_proj.out_features + part.v_proj.out_features
        else:
            columns, _, places = part.conv1d.weight.shape
            memory = part.num_v_heads * part.head_k_dim * part.head_v_dim
            fixed += memory + columns * (places - 1)
    assert first == total + fixed
    n_local = sum(kind.n_layers for kind in row.kinds if kind.window)
    assert whole == total - n_local * 2 * row.n_kv_heads * row.d_head


READ_HERE = [
    name
    for name, row in MODELS_OF_TODAY.items()
    if {row.config.split(".")[0], row.config.split(".")[0] + "_text"} & {*by_config.FAMILIES}
]


@pytest.mark.parametrize("name", READ_HERE)
@pytest.mark.parametrize("lists", [True, False])
def test_a_config_is_read_as_the_layers_of_its_model_are(name, lists):
    """With what it says of each layer, and where that follows from other settings alone."""
    config = json.loads(without_weights(name).config.to_json_string(use_diff=False))
    said = {at: each for at, each in config.items() if lists or at not in LISTS}
    settings = by_config.described(said).settings
    row = MODELS_OF_TODAY[name]
    assert row.n_layers == settings.n_layers
    for layer, (_, share, window, has_norms, *_, cap) in enumerate(found_in(name)):
        turn = settings.turn(layer)
        assert 2 * len(turn.rates if turn else ()) == share * row.d_head
        assert settings.window(layer) == window
        assert settings.score_cap == cap
        assert settings.query_key_norms == "head" * has_norms
    heads = settings.n_heads, settings.n_key_heads, settings.d_head
    assert heads == (row.n_heads, row.n_kv_heads, row.d_head)


def test_most_rows_are_of_models_that_are_read_here():
    assert {"gpt2", "llama3", "mistral", "qwen3", "gemma3", "smollm3"} == {*READ_HERE}
