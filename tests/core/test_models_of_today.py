"""The facts about known models, against the defaults of their configs in `transformers`."""

from importlib import import_module

import pytest

from attention_core.costs import KNOWN
from attention_core.models_of_today import MODELS_OF_TODAY


def says(config):
    """What a config says, by our names."""
    layers = config.num_hidden_layers
    kinds = getattr(config, "layer_types", None) or ["full_attention"] * layers
    ropes = getattr(config, "rope_parameters", None) or {}
    near = [kind == "sliding_attention" for kind in kinds]
    window = getattr(config, "sliding_window", None)
    if config.model_type == "mistral":
        near = [True] * layers
    rotary = getattr(config, "no_rope_layers", None) or [config.model_type != "gpt2"] * layers
    share = ropes.get("partial_rotary_factor", 1.0)
    if config.model_type == "deepseek_v32":
        share = config.qk_rope_head_dim / config.qk_head_dim
    heads = config.num_attention_heads
    return {
        "n_layers": layers,
        "n_heads": heads,
        "n_kv_heads": getattr(config, "num_key_value_heads", heads),
        "d_head": getattr(config, "qk_head_dim", None) or getattr(config, "head_dim", None)
        or config.hidden_size // heads,
        "context": config.max_position_embeddings,
        "window": window if any(near) else None,
        "rotary_share": share,
        "attends": [kind != "linear_attention" for kind in kinds].count(True) / layers,
        "local": near.count(True) / layers,
        "rotary": [bool(each) and kind != "linear_attention"
                   for each, kind in zip(rotary, kinds, strict=True)].count(True) / layers,
    }  # fmt: skip


def table_says(model):
    """The same of our table; shares of layers, since sizes of a model may have other numbers."""

    def share(fits):
        return sum(kind.n_layers for kind in model.kinds if fits(kind)) / model.n_layers

    windows = {kind.window for kind in model.kinds if kind.window} or {None}
    (rotary,) = {kind.rotary_share for kind in model.kinds if kind.positions == "rotary"} or {1.0}
    sizes = {name: getattr(model, name) for name in ("n_layers", "n_heads", "n_kv_heads", "d_head")}
    return sizes | {
        "context": model.context, "window": windows.pop(), "rotary_share": rotary,
        "attends": share(lambda kind: kind.attends),
        "local": share(lambda kind: kind.window is not None),
        "rotary": share(lambda kind: kind.positions == "rotary"),
    }  # fmt: skip


@pytest.mark.parametrize("name", MODELS_OF_TODAY)
def test_a_model_is_as_the_defaults_of_its_config_say_but_for_what_is_said_to_differ(name):
    model = MODELS_OF_TODAY[name]
    module, kind = model.config.split(".")
    found = import_module(f"transformers.models.{module}.configuration_{module}")
    theirs, ours = says(getattr(found, kind)()), table_says(model)
    # 26 layers and 34 have not the very same share of local ones.
    wrong = {k for k in ours if k != "local" and ours[k] != theirs[k]}
    assert abs(ours["local"] - theirs["local"]) < 0.02
    assert wrong == model.differs, {k: (ours[k], theirs[k]) for k in wrong ^ model.differs}
    assert model.source
    assert model.checked.year == 2026


@pytest.mark.parametrize("name", MODELS_OF_TODAY)
def test_what_a_layer_adds_stands_in_the_code_of_its_model(name):
    model = MODELS_OF_TODAY[name]
    module, _ = model.config.split(".")
    code = import_module(f"transformers.models.{module}.modeling_{module}").__file__
    text = open(code, encoding="utf-8").read()  # noqa: SIM115
    has = {"qk_norm": "self.q_norm(", "sink": "self.sinks", "gated": "torch.sigmoid(gate)"}
    for fact, line in has.items():
        assert any(getattr(kind, fact) for kind in model.kinds) == (line in text), fact


def test_caches_are_those_counted_by_hand():
    kept = {name: model.cached(model.context) for name, model in MODELS_OF_TODAY.items()}
    for name in ("gpt2", "llama3", "mistral"):
        known = KNOWN[name]
        assert kept[name] == known.size.cached(min(known.context, known.window or known.context))
    assert kept["gemma3"] == 2 * 4 * 256 * (29 * 1_024 + 5 * 131_072)
    assert kept["gpt_oss"] == 2 * 8 * 64 * 18 * (128 + 131_072)
    assert kept["deepseek_v32"] == (512 + 64 + 128) * 61 * 163_840
    memory = 32 * 128 * 128 + 3 * (2 * 16 * 128 + 32 * 128)
    assert kept["qwen3_5"] == 2 * 4 * 256 * 8 * 262_144 + 24 * memory
