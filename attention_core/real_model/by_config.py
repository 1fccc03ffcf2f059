"""What a `config.json` means, as to its class in `transformers`; what is not known is refused."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import translate
from functools import partial
from pathlib import Path
from typing import Any

from ..files.refused import ModelRefused
from ..mechanism.options import is_number
from .config_reader import ConfigReader
from .missing import missing
from .names import BERT, GEMMA, GPT2, LLAMA, NEOX, OLMO, PHI3, Names
from .rotary import HOW, PLACES, SHARE, Turning, of_layers, rotary, turning, whole
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
ALSO_CALLED = {
    "gpt2": {
        "hidden_size": "n_embd",
        "max_position_embeddings": "n_positions",
        "num_attention_heads": "n_head",
        "num_hidden_layers": "n_layer",
    }
}
"""Second names of settings, which count where both stand in a file."""
OF_THE_FILE = ("quantization_config", "auto_map", "is_encoder_decoder", "pruned_heads")
"""What matters before a class is asked."""
HARMLESS = """
    architectures model_type name_or_path dtype torch_dtype return_dict output_attentions use_cache
    *bos_token_id pad_token_id sep_token_id num_labels id2label label2id problem_type
    *_dropout *_dropout_prob *_pdrop init_std initializer_* gradient_checkpointing
    chunk_size_feed_forward attn_implementation experts_implementation base_model_*_plan
    reorder_and_upcast_attn embedding_size embed_dim num_heads
"""
"""What a class of `transformers` looks up, but not for its arithmetic in 32 bits: what training, a
head for labels or control tokens need, and who wrote the file. `reorder_and_upcast_attn` is about
fewer bits, and of `embed_dim` and `num_heads` only whether they fit together.
"""
HARMLESS_FOR = {
    "gemma3_text": ["attn_logit_softcapping", PLACES],
    "olmo3": [PLACES],
    "gpt_neox": ["rope_theta", SHARE],
    "bert": ["is_causal", "tie_word_embeddings"],
}
"""What other classes need for it, and that of this family does not."""
_READ = json.loads(Path(__file__).with_name("words_read.json").read_text("utf-8"))
"""What each class looks up in a config, and what it takes where that is left out; written and held
by `tests/words_read.py`."""


def _harmless(kind: str) -> Callable[[str], Any]:
    words = [*HARMLESS.split(), *HARMLESS_FOR.get(kind, [])]
    return re.compile("|".join(map(translate, words))).match


DEFAULTS: dict[str, dict[str, Any]] = {
    kind: {
        name: default
        for name, default in read["fields"].items()
        if not _harmless(kind)(name.removesuffix("?"))
    }
    for kind, read in _READ["families"].items()
}
"""The settings that decide how a family computes, with their defaults; one that ends in ? may be
null too."""
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
    groups = [said, *(value for value in said.values() if isinstance(value, dict))]
    asked = [str(name) for group in groups for name, value in group.items() if value]
    asked.append(str(values.get("model_type")))
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
    harmless = _harmless(kind)
    if not harmless("is_causal"):
        config.must("is_causal", True, "a query sees no later key here")
    found = replace(FAMILIES[kind](config), ends=ends(config))
    config.rest(partial(_says_nothing, kind))
    check_shared(found.settings, "config.json")
    return found


def _read_by(kind: str) -> dict[str, Any]:
    """The words that a family's class looks up, with what it takes where one is left out."""
    read = _READ["families"][kind]
    fields = {name.removesuffix("?"): default for name, default in read["fields"].items()}
    return _READ["every"] | read["others"] | fields


def _says_nothing(kind: str, name: str, value: Any) -> bool:
    """Whether a word that the class looks up, but that is not known here, changes nothing: what it
    says is not for arithmetic, or what the class would take without it.
    """
    if name == "layer_types":  # where the class has no such field, only a cache looks them up
        return isinstance(value, list) and all(each == FULL for each in value)
    default = _read_by(kind)[name]
    is_off = value is False or value in ("", [], {})
    is_default = type(value) is type(default) and value == default
    return bool(_harmless(kind)(name)) or is_default or (is_off and not default)


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
    """A file's settings by their first names, and the defaults of what it leaves out. Words that
    the class does not look up are gone: they change nothing.
    """
    called, read = ALSO_CALLED.get(kind, {}), {*_read_by(kind), *OF_THE_FILE}
    values = {name: value for name, value in values.items() if name in read}
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


def _shared_sizes(config: ConfigReader) -> dict[str, Any]:
    """The same of a family whose heads share the width evenly."""
    sizes = _sizes(config)
    shared = width_of_a_head(sizes["d_model"], sizes["n_heads"])
    config.must("head_dim", shared, "heads share the width evenly in this family")
    return sizes


def _llama(config: ConfigReader) -> Described:
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
    sizes = _shared_sizes(config)
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
    d_head = width_of_a_head(d_model, n_heads)
    fits = lambda value: is_number(value, int) and 0 <= value <= 2**24  # noqa: E731
    sizes = {
        "n_layers": config.count("n_layer", most=MOST),
        "d_model": d_model,
        "n_heads": n_heads,
        "n_key_heads": n_heads,
        "d_head": d_head,
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
        score_scale=one_over_root(d_head) if config.flag("scale_attn_weights") else 1.0,
        deeper_smaller=config.flag("scale_attn_by_inverse_layer_idx"),
        biases=(*BIASES, "b_up", "b_down"),
    )


def _bert(config: ConfigReader) -> Described:
    sizes = _shared_sizes(config)
    config.must("is_decoder", False, "models of this kind are read the other way")
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
