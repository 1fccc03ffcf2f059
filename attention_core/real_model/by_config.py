"""What a `config.json` means, as to its class in `transformers`; what is not known is refused."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from ..files.refused import ModelRefused
from ..mechanism.options import is_number
from .config_reader import ConfigReader
from .missing import missing
from .names import BERT, GEMMA, GPT2, LLAMA, NEOX, OLMO, PHI3, Names
from .rotary import HOW, PLACES, Turning, of_layers, rotary, turning, whole
from .settings import Settings, one_over_root

ACTIVATIONS = {
    "silu": "silu",
    "swish": "silu",
    "gelu": "gelu",
    "gelu_python": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "gelu_python_tanh": "gelu_tanh",
    "gelu_accurate": "gelu_tanh",
    "gelu_fast": "gelu_tanh",
    "relu": "relu",
}
"""What files call a bend, and what it is here. All those with tanh are one formula."""
_KIN = {
    "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "hidden_act": "silu",
    "rms_norm_eps": 1e-6, "tie_word_embeddings": False, "rope_parameters?": None,
    "eos_token_id?": 2,
}  # fmt: skip
_QWEN = _KIN | {
    "eos_token_id?": None,
    "vocab_size": 151936, "intermediate_size": 22016, "num_key_value_heads?": 32,
    "max_position_embeddings": 32768, "use_sliding_window": False, "sliding_window?": 4096,
    "max_window_layers": 28, "layer_types?": None,
}  # fmt: skip
_GEMMA = _KIN | {
    "hidden_size": 2304, "intermediate_size": 9216, "num_hidden_layers": 26,
    "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256,
    "hidden_activation": "gelu_pytorch_tanh", "tie_word_embeddings": True, "attention_bias": False,
    "query_pre_attn_scalar": 256, "sliding_window?": 4096, "layer_types?": None, "eos_token_id?": 1,
}  # fmt: skip
del _GEMMA["hidden_act"]
_OLMO = _KIN | {
    "vocab_size": 50304, "intermediate_size": 11008, "num_key_value_heads?": None,
    "max_position_embeddings": 2048, "rms_norm_eps": 1e-5, "attention_bias": False,
    "eos_token_id?": 50279,
}  # fmt: skip
DEFAULTS: dict[str, dict[str, Any]] = {
    "llama": _KIN | {
        "vocab_size": 32000, "intermediate_size": 11008, "num_key_value_heads?": None,
        "head_dim?": None, "max_position_embeddings": 2048, "attention_bias": False,
        "mlp_bias": False,
    },
    "mistral": _KIN | {
        "vocab_size": 32000, "intermediate_size": 14336, "num_key_value_heads": 8,
        "head_dim?": None, "max_position_embeddings": 131072, "sliding_window?": 4096,
    },
    "qwen2": _QWEN,
    "qwen3": _QWEN | {"head_dim": 128, "attention_bias": False},
    "gemma2": _GEMMA | {
        "vocab_size": 256000, "max_position_embeddings": 8192, "attn_logit_softcapping?": 50.0,
        "final_logit_softcapping?": 30.0, "use_bidirectional_attention?": None,
    },
    "gemma3_text": _GEMMA | {
        "vocab_size": 262208, "max_position_embeddings": 131072,
        "final_logit_softcapping?": None, "use_bidirectional_attention?": False,
    },
    "granite": _KIN | {
        "vocab_size": 32000, "intermediate_size": 11008, "num_key_value_heads?": None,
        "max_position_embeddings": 2048, "attention_bias": False, "mlp_bias": False,
        "embedding_multiplier": 1.0, "logits_scaling": 1.0, "residual_multiplier": 1.0,
        "attention_multiplier": 1.0,
    },
    "olmo2": _OLMO,
    "olmo3": _OLMO | {"sliding_window?": 4096, "layer_types?": None},
    "phi3": _KIN | {
        "vocab_size": 32064, "hidden_size": 3072, "intermediate_size": 8192,
        "num_key_value_heads?": None, "max_position_embeddings": 4096, PLACES: 4096,
        "rms_norm_eps": 1e-5, "sliding_window?": None, "eos_token_id?": 32000,
    },
    "smollm3": _KIN | {
        "vocab_size": 128256, "hidden_size": 2048, "intermediate_size": 11008,
        "num_hidden_layers": 36, "num_attention_heads": 16, "num_key_value_heads?": 4,
        "max_position_embeddings": 32768, "use_sliding_window": False, "sliding_window?": None,
        "no_rope_layers?": None, "no_rope_layer_interval": 4, "layer_types?": None,
        "attention_bias": False, "mlp_bias": False, "tie_word_embeddings": True,
        "eos_token_id?": 128001,
    },
    "gpt_neox": {
        "vocab_size": 50432, "hidden_size": 6144, "num_hidden_layers": 44,
        "num_attention_heads": 64, "intermediate_size": 24576, "hidden_act": "gelu",
        "max_position_embeddings": 2048, "layer_norm_eps": 1e-5, "tie_word_embeddings": False,
        "use_parallel_residual": True, "rope_parameters?": None, "attention_bias": True,
        "eos_token_id?": 2,
    },
    "gpt2": {
        "vocab_size": 50257, "n_positions": 1024, "n_embd": 768, "n_layer": 12, "n_head": 12,
        "n_inner?": None, "activation_function": "gelu_new", "layer_norm_epsilon": 1e-5,
        "scale_attn_weights": True, "scale_attn_by_inverse_layer_idx": False,
        "add_cross_attention": False, "tie_word_embeddings": True, "eos_token_id?": 50256,
    },
    "bert": {
        "vocab_size": 30522, "hidden_size": 768, "num_hidden_layers": 12,
        "num_attention_heads": 12, "intermediate_size": 3072, "hidden_act": "gelu",
        "max_position_embeddings": 512, "type_vocab_size": 2, "layer_norm_eps": 1e-12,
        "is_decoder": False, "add_cross_attention": False, "eos_token_id?": None,
    },
}  # fmt: skip
"""The settings each family reads, with their defaults; one that ends in ? may be null too."""
ALSO_CALLED = {
    "gpt2": {
        "hidden_size": "n_embd",
        "max_position_embeddings": "n_positions",
        "num_attention_heads": "n_head",
        "num_hidden_layers": "n_layer",
    }
}
"""Second names of settings, which count where both stand in a file."""
HARMLESS = """
    _* pooler_* summary_* initializer_* tokenizer_* unsloth_* *_implementation
    *bos_token_id pad_token_id sep_token_id cls_token_id *_start_token_id *_eos_token_id
    dropout *_dropout *_dropout_prob *_pdrop *_token use_flash_* gradient_checkpointing*
    model_type architectures name_or_path transformers_version torch_dtype dtype prefix
    use_cache use_return_dict task_specific_params finetuning_task problem_type id2label
    label2id num_labels output_attentions output_hidden_states output_past return_dict
    torchscript tie_last_hidden_states chunk_size_feed_forward tie_encoder_decoder use_bfloat16
    cross_attention_hidden_size tf_legacy_loss xla_device model_max_length max_sequence_length
    max_seq_length max_seq_len seq_length n_ctx n_special predict_special_tokens
    vocab_size_or_config_json_file pretraining_tp is_llama_config reorder_and_upcast_attn
    transformers.js_config sliding_window_size use_mrope head_type_names directionality
    embedding_size loss_type sentence_transformers

    assistant_confidence_threshold assistant_lookbehind bad_words_ids begin_suppress_tokens
    diversity_penalty do_sample early_stopping encoder_no_repeat_ngram_size
    encoder_repetition_penalty epsilon_cutoff eta_cutoff exponential_decay_length_penalty
    length_penalty max_length max_new_tokens min_length no_repeat_ngram_size
    num_assistant_tokens num_assistant_tokens_schedule num_beam_groups num_beams
    num_return_sequences output_scores remove_invalid_values repetition_penalty
    return_dict_in_generate suppress_tokens target_lookbehind temperature top_k top_p typical_p
"""
"""What no family's class reads for its arithmetic: what training, a head for labels, or a loop that
says word after word needs, ids of control tokens, and who wrote the file. Its second half is what
`transformers` takes out of a config for such a loop.
"""
HARMLESS_FOR = {
    "gemma2": ["is_decoder", "hidden_act"],
    "gemma3_text": ["is_decoder", "hidden_act", "attn_logit_softcapping", PLACES],
    "olmo3": ["is_decoder", PLACES],
    "gpt_neox": ["is_decoder", "rope_theta", "partial_rotary_factor"],
    "bert": ["is_causal", "tie_word_embeddings"],
}
"""Words that other classes read, and that of this family does not."""
MOST = 10_000
"""Layers, heads or columns: more would fill the memory before its tensors are looked at."""
FULL, SLIDING = "full_attention", "sliding_attention"
BIASES = ("b_query", "b_key", "b_value", "b_output")
LAYER_NORMED = {"norm": "layer", "gated": False}


@dataclass(frozen=True)
class Described:
    """What a file says of a model."""

    family: str
    settings: Settings
    names: Names
    ends: frozenset[int] = frozenset()
    """The tokens with which the model ends what it writes."""


def ends(config: ConfigReader) -> frozenset[int]:
    """Those that a file names."""

    def fits(said: Any) -> bool:
        return all(type(each) is int for each in (said if isinstance(said, list) else [said]))

    found = config.take("eos_token_id", "the number of a token, or a list of such", fits, [])
    return frozenset(found if isinstance(found, list) else [found])


def described(values: Mapping[str, Any]) -> Described:
    """What a `config.json` says. Raises ModelRefused, in words, for what is not computed here."""
    inside = values.get("text_config")
    said = {**values, **(inside if isinstance(inside, dict) else {})}
    asked = [str(values.get("model_type")), *(name for name, value in said.items() if value)]
    words = f"one of {', '.join(FAMILIES)}: models of other kinds are not computed here"
    words += missing(asked)
    kind = ConfigReader(values, "config.json").take(
        "model_type", words, lambda value: value in [*FAMILIES]
    )
    config = ConfigReader(_filled(kind, values), "config.json")
    config.must("quantization_config", None, "weights that are packed in this way are not read")
    words = "null: a model with code of its own computes whatever that code says"
    config.take("auto_map", words, lambda code: kind == "phi3" and _of_phi3(code), None)
    config.must("is_encoder_decoder", False, "there is one sentence, which looks at itself")
    config.must("pruned_heads", {}, "all heads are there")
    config.must("add_cross_attention", False, "there is one sentence, which looks at itself")
    harmless = HARMLESS_FOR.get(kind, ["is_decoder"])
    if "is_causal" not in harmless:
        config.must("is_causal", True, "a query sees no later key here")
    found = replace(FAMILIES[kind](config), ends=ends(config))
    config.rest([*HARMLESS.split(), *harmless], off=True)
    check_shared(found.settings, "config.json")
    return found


def check_shared(settings: Settings, place: str) -> None:
    """Raises ModelRefused where query heads cannot share key heads evenly."""
    if settings.n_heads % settings.n_key_heads:
        raise ModelRefused(
            f"{place} has {settings.n_heads} query heads, which cannot be shared evenly among "
            f"{settings.n_key_heads} key heads"
        )


def width_of_a_head(d_model: int, n_heads: int, place: str = "config.json") -> int:
    """The width of each head. Raises ModelRefused where they cannot share the model's evenly."""
    if d_model % n_heads:
        raise ModelRefused(
            f"{place} has {n_heads} heads, which cannot share a width of {d_model} evenly"
        )
    return d_model // n_heads


def _filled(kind: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """A file's settings by their first names, and the defaults of what it leaves out."""
    called = ALSO_CALLED.get(kind, {})
    values = {name: value for name, value in values.items() if name not in called} | {
        called[name]: value for name, value in values.items() if name in called
    }
    for name in DEFAULTS[kind]:
        if name in values and values[name] is None:
            raise ModelRefused(f"{name} in config.json is null, but must be something, or left out")
    return {name.removesuffix("?"): value for name, value in DEFAULTS[kind].items()} | values


def _of_phi3(code: Any) -> bool:
    """Whether code is named that Phi-3 was first published with: `transformers` has it by now."""
    modules = ("configuration_phi3.", "modeling_phi3.")
    return isinstance(code, dict) and all(
        str(each).startswith(modules) for name, each in code.items() if name != "AutoTokenizer"
    )


def _sizes(config: ConfigReader) -> dict[str, Any]:
    """The sizes of a model by the names that all but GPT-2 have for them."""
    n_heads, d_model = config.count("num_attention_heads", most=MOST), config.count("hidden_size")
    return {
        "n_layers": config.count("num_hidden_layers", most=MOST),
        "d_model": d_model,
        "n_heads": n_heads,
        "n_key_heads": config.count("num_key_value_heads", n_heads),
        "d_head": config.count("head_dim", 0, MOST) or width_of_a_head(d_model, n_heads),
        "d_ffn": config.count("intermediate_size"),
        "n_vocabulary": config.count("vocab_size"),
        "longest": config.count("max_position_embeddings"),
    }


def _llama(config: ConfigReader) -> Described:
    config.must("rope_interleaved", False, "pairs of columns are k and k + d/2 in such a file")
    return _rotated(config, "Llama", biases=_llama_biases(config))


def _llama_biases(config: ConfigReader) -> tuple[str, ...]:
    biases = config.flag("attention_bias") * BIASES
    return biases + config.flag("mlp_bias") * ("b_gate", "b_up", "b_down")


def _granite(config: ConfigReader) -> Described:
    return _rotated(
        config,
        "Granite",
        biases=_llama_biases(config),
        embedding_scale=config.number("embedding_multiplier"),
        added_scale=config.number("residual_multiplier"),
        logit_scale=1 / config.number("logits_scaling"),
        score_scale=float(config.number("attention_multiplier")),
    )


def _smollm3(config: ConfigReader) -> Described:
    n_layers = config.count("num_hidden_layers", most=MOST)
    every = config.count("no_rope_layer_interval")
    words = f"a list of 0 and 1, one for each of {n_layers} layers"
    fits = lambda found: isinstance(found, list) and len(found) >= n_layers and all(  # noqa: E731
        is_number(each, int) and each in (0, 1) for each in found
    )  # fmt: skip
    turns = [int((layer + 1) % every != 0) for layer in range(n_layers)]
    turns = config.take("no_rope_layers", words, fits, turns)[:n_layers]
    window = config.count("sliding_window", None)
    slides = config.flag("use_sliding_window") and window is not None
    default = [SLIDING if slides and not each else FULL for each in turns]
    sizes = _sizes(config)
    turn = rotary(config, sizes["d_head"], sizes["longest"], 2_000_000.0)
    return _rotated(
        config,
        "SmolLM3",
        turned=[turn if each else None for each in turns],
        windows=_windows(config, default, window),
        biases=_llama_biases(config),
    )


def _phi3(config: ConfigReader) -> Described:
    window = config.count("sliding_window", None)
    windows = (window,) * config.count("num_hidden_layers", most=MOST)
    kinds = {"default": "default"} | dict.fromkeys(("longrope", "su", "yarn"), "longrope")
    return _rotated(config, "Phi-3", share=1.0, kinds=kinds, names=PHI3, windows=windows)


def _olmo3(config: ConfigReader) -> Described:
    layers = range(config.count("num_hidden_layers", most=MOST))
    default = [SLIDING if (layer + 1) % 4 else FULL for layer in layers]
    windows = _windows(config, default, config.count("sliding_window", None))
    base = config.base("rope_theta", 500_000.0)
    own = config.group("rope_parameters").group(FULL)
    bases = {FULL: base, SLIDING: base if "rope_theta" in own else 500_000.0}
    return _olmo(config, "OLMo 3", windows=windows, turned=_by_kind(config, windows, bases))


def _olmo(config: ConfigReader, family: str, **others: Any) -> Described:
    biases = config.flag("attention_bias") * BIASES
    return _rotated(
        config, family, names=OLMO, biases=biases, norms="added", query_key_norms="all", **others
    )


def _gpt_neox(config: ConfigReader) -> Described:
    config.take("num_key_value_heads", "left out", lambda _: False, None)
    sizes = _sizes(config)
    shared = width_of_a_head(sizes["d_model"], sizes["n_heads"])
    config.must("head_dim", shared, "heads share the width evenly in this family")
    named = ("rotary_emb_base", "rotary_pct")
    turn = rotary(config, sizes["d_head"], sizes["longest"], share=0.25, named=named)
    return _settled(
        config,
        "GPT-NeoX",
        NEOX,
        sizes | LAYER_NORMED | of_layers((turn,) * sizes["n_layers"]),
        epsilon="layer_norm_eps",
        side_by_side=config.flag("use_parallel_residual"),
        biases=config.flag("attention_bias") * BIASES + ("b_up", "b_down"),
    )


def _mistral(config: ConfigReader) -> Described:
    window = config.count("sliding_window", None)
    config.take("layer_types", "left out", lambda _: False, None)
    windows = (window,) * config.count("num_hidden_layers", most=MOST)
    return _rotated(config, "Mistral", windows=windows)


def _qwen3(config: ConfigReader) -> Described:
    biases = config.flag("attention_bias") * BIASES
    windows = _qwen_windows(config)
    return _rotated(config, "Qwen3", windows=windows, biases=biases, query_key_norms="head")


def _rotated(
    config: ConfigReader,
    family: str,
    base: float = 10_000.0,
    *,
    share: float | None = None,
    kinds: Mapping[str, str] = HOW,
    turned: Sequence[Turning | None] = (),
    names: Names = LLAMA,
    **others: Any,
) -> Described:
    """What Llama's kin have in common."""
    sizes = _sizes(config)
    if not turned:
        turn = rotary(config, sizes["d_head"], sizes["longest"], base, share, kinds)
        turned = (turn,) * sizes["n_layers"]
    return _settled(config, family, names, sizes | of_layers(turned), **others)


def _settled(
    config: ConfigReader,
    family: str,
    names: Names,
    sizes: dict[str, Any],
    epsilon: str = "rms_norm_eps",
    activation: str = "hidden_act",
    **others: Any,
) -> Described:
    """A model of these sizes, by what nearly all files say; `others` count more."""
    words = f"one of {', '.join(ACTIVATIONS)}: nothing else is computed here"
    usual = {
        "epsilon": config.number(epsilon),
        "score_scale": one_over_root(sizes["d_head"]),
        "activation": ACTIVATIONS[config.take(activation, words, lambda it: it in [*ACTIVATIONS])],
        "tied": config.flag("tie_word_embeddings", True),
    }
    return Described(family, Settings(**sizes | usual | others), names)


def _qwen_windows(config: ConfigReader) -> tuple[int | None, ...]:
    """The window of each layer of Qwen: from layer `max_window_layers` on, where it is used."""
    used, size = config.flag("use_sliding_window"), config.count("sliding_window", None)
    fits = lambda value: is_number(value, int) and value >= 0  # noqa: E731
    first = config.take("max_window_layers", "a whole number of 0 or more", fits)
    window = size if used else None
    layers = range(config.count("num_hidden_layers", most=MOST))
    default = [SLIDING if window and layer >= first else FULL for layer in layers]
    return _windows(config, default, window)


def _windows(
    config: ConfigReader, default: Sequence[str], window: int | None
) -> tuple[int | None, ...]:
    """The window of each layer by `layer_types`."""
    words = f"a list of {FULL} and {SLIDING}, one for each of {len(default)} layers"

    def fits(value: Any) -> bool:
        known = isinstance(value, list) and all(each in (FULL, SLIDING) for each in value)
        return known and len(value) == len(default)

    kinds = config.take("layer_types", words, fits, default)
    if SLIDING in kinds and window is None:
        raise ModelRefused(f"layer_types in {config.place} says {SLIDING}, but no window is set")
    return tuple(window if kind == SLIDING else None for kind in kinds)


def _gpt2(config: ConfigReader) -> Described:
    d_model, n_heads = config.count("n_embd"), config.count("n_head", most=MOST)
    config.must("scale_attn_weights", True, "scores are divided by √d here")
    config.must("scale_attn_by_inverse_layer_idx", False, "all layers divide scores by √d here")
    fits = lambda value: is_number(value, int) and 0 <= value <= 2**24  # noqa: E731
    sizes = {
        "n_layers": config.count("n_layer", most=MOST),
        "d_model": d_model,
        "n_heads": n_heads,
        "n_key_heads": n_heads,
        "d_head": width_of_a_head(d_model, n_heads),
        "d_ffn": config.take("n_inner", "a whole number", fits, 4 * d_model),
        "n_vocabulary": config.count("vocab_size"),
        "longest": config.count("n_positions"),
    }
    return _settled(
        config,
        "GPT-2",
        GPT2,
        sizes | LAYER_NORMED,
        epsilon="layer_norm_epsilon",
        activation="activation_function",
        positions="learned",
        biases=(*BIASES, "b_up", "b_down"),
    )


def _bert(config: ConfigReader) -> Described:
    for name in ("num_key_value_heads", "head_dim"):
        config.take(name, "left out", lambda _: False, None)
    sizes = _sizes(config)
    config.must("is_decoder", False, "models of this kind are read the other way")
    config.must("position_embedding_type", "absolute", "each place has a vector of its own here")
    return _settled(
        config,
        "BERT",
        BERT,
        sizes | LAYER_NORMED,
        epsilon="layer_norm_eps",
        norms="after",
        embedding_norm=True,
        positions="learned",
        causal=False,
        token_types=config.count("type_vocab_size"),
        biases=(*BIASES, "b_up", "b_down"),
        predicts=False,
    )


def _gemma(config: ConfigReader, family: str, **others: Any) -> Described:
    """What Gemma 2 and 3 have in common."""
    sizes = _sizes(config)
    config.must("use_bidirectional_attention", False, "a query sees no later key here")
    return _settled(
        config,
        family,
        GEMMA,
        sizes,
        activation="hidden_activation",
        norm_adds_one=True,
        norms="around",
        embedding_scale=float(sizes["d_model"]) ** 0.5,
        score_scale=one_over_root(config.number("query_pre_attn_scalar")),
        logit_cap=config.number("final_logit_softcapping", None),
        biases=config.flag("attention_bias") * BIASES,
        **others,
    )


def _gemma2(config: ConfigReader) -> Described:
    sizes = _sizes(config)
    turn = rotary(config, sizes["d_head"], sizes["longest"])
    default = [FULL if layer % 2 else SLIDING for layer in range(sizes["n_layers"])]
    return _gemma(
        config,
        "Gemma 2",
        score_cap=config.number("attn_logit_softcapping", None),
        windows=_windows(config, default, config.count("sliding_window", None)),
        **of_layers((turn,) * sizes["n_layers"]),
    )


def _gemma3(config: ConfigReader) -> Described:
    sizes = _sizes(config)
    every = config.count("sliding_window_pattern", 6)
    default = [SLIDING if (layer + 1) % every else FULL for layer in range(sizes["n_layers"])]
    windows = _windows(config, default, config.count("sliding_window", None))
    bases = {
        FULL: config.base("rope_theta", 1_000_000.0),
        SLIDING: config.base("rope_local_base_freq", 10_000.0),
    }
    turned = of_layers(_by_kind(config, windows, bases))
    return _gemma(config, "Gemma 3", windows=windows, query_key_norms="head", **turned)


def _by_kind(
    config: ConfigReader, windows: Sequence[int | None], bases: Mapping[str, float | None]
) -> list[Turning | None]:
    """How each layer turns where those with a window turn otherwise."""
    both, older = config.group("rope_parameters"), config.group("rope_scaling").values
    if not len(both):  # its class changes a default of its own, so that `type` says nothing
        older = {"rope_type": "default"} | older
    whole(config)
    sizes = _sizes(config)
    groups = {FULL: both.group(FULL, older), SLIDING: both.group(SLIDING)}
    by_kind = {
        kind: turning(groups[kind], sizes["d_head"], base, sizes["longest"], outside=both)
        for kind, base in bases.items()
    }
    both.rest()
    return [by_kind[SLIDING if window else FULL] for window in windows]


FAMILIES: dict[str, Callable[[ConfigReader], Described]] = {
    "llama": _llama,
    "mistral": _mistral,
    "qwen2": lambda c: _rotated(c, "Qwen2", windows=_qwen_windows(c), biases=BIASES[:3]),
    "qwen3": _qwen3,
    "gemma2": _gemma2,
    "gemma3_text": _gemma3,
    "granite": _granite,
    "olmo2": partial(_olmo, family="OLMo 2"),
    "olmo3": _olmo3,
    "phi3": _phi3,
    "smollm3": _smollm3,
    "gpt_neox": _gpt_neox,
    "gpt2": _gpt2,
    "bert": _bert,
}
