"""What the `config.json` of a model's folder means: the family, and all its settings.

What is not said is as in the class of `transformers` that reads the same file. A setting that is
not known here, or not computed, is refused.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..files.refused import ModelRefused
from ..mechanism.options import is_number
from ..mechanism.said import Said
from .names import BERT, GEMMA, GPT2, LLAMA, Names
from .rotary import rotary, turning
from .settings import Settings, one_over_root, rates

ACTIVATIONS = {
    "silu": "silu",
    "swish": "silu",
    "gelu": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "gelu_fast": "gelu_tanh",
    "relu": "relu",
}
"""What files call a bend, and what it is here. All three with tanh are one formula."""
HARMLESS = """
    architectures _name_or_path name_or_path transformers_version torch_dtype dtype
    bos_token_id eos_token_id pad_token_id sep_token_id cls_token_id decoder_start_token_id
    initializer_range initializer_factor use_cache attention_dropout hidden_dropout_prob
    attention_probs_dropout_prob embd_pdrop attn_pdrop resid_pdrop hidden_dropout dropout
    classifier_dropout summary_type summary_use_proj summary_activation summary_first_dropout
    summary_proj_to_labels task_specific_params id2label label2id problem_type num_labels
    output_attentions output_hidden_states return_dict gradient_checkpointing model_max_length
    pretraining_tp is_llama_config _attn_implementation _attn_implementation_autoset
    attn_implementation cache_implementation unsloth_version unsloth_fixed
    chunk_size_feed_forward finetuning_task transformers.js_config reorder_and_upcast_attn n_ctx
    _commit_hash head_type_names use_bfloat16 tokenizer_class
    prefix
"""
"""What changes nothing: what training needs, ids of control tokens, who wrote the file."""
MOST = 10_000
"""Layers, heads, or columns of a head: a file that says more would fill the memory before its
tensors are looked at.
"""
FULL, SLIDING = "full_attention", "sliding_attention"


@dataclass(frozen=True)
class Described:
    """What a file says of a model."""

    family: str
    settings: Settings
    names: Names


def described(values: dict[str, object]) -> Described:
    """What a `config.json` says. Raises ModelRefused, in words, for a model that is not computed
    here.
    """
    said = Said(values, "config.json")
    words = f"one of {', '.join(FAMILIES)}: models of other kinds are not computed here"
    kind = said.take("model_type", words, lambda value: value in list(FAMILIES))
    said.must("quantization_config", None, "weights that are packed in this way are not read")
    said.must("is_decoder", kind != "bert", "models of this kind are read the other way")
    said.must("auto_map", None, "a model with code of its own computes whatever that code says")
    said.must("is_encoder_decoder", False, "there is one sentence, which looks at itself")
    said.must("pruned_heads", {}, "all heads are there")
    said.must("add_cross_attention", False, "there is one sentence, which looks at itself")
    found = FAMILIES[kind](said)
    said.rest(HARMLESS.split())
    settings = found.settings
    if settings.n_heads % settings.n_key_heads:
        raise ModelRefused(
            f"config.json has {settings.n_heads} query heads, which cannot be shared evenly among "
            f"{settings.n_key_heads} key heads"
        )
    return found


def _sizes(said: Said) -> dict[str, int]:
    """The sizes of a model by the names that all but GPT-2 have for them."""
    n_heads, d_model = said.count("num_attention_heads", most=MOST), said.count("hidden_size")
    return {
        "n_layers": said.count("num_hidden_layers", most=MOST),
        "d_model": d_model,
        "n_heads": n_heads,
        "n_key_heads": said.count("num_key_value_heads", n_heads),
        "d_head": said.count("head_dim", 0, MOST) or _shared(d_model, n_heads),
        "d_ffn": said.count("intermediate_size"),
        "n_vocabulary": said.count("vocab_size"),
        "longest": said.count("max_position_embeddings", None),
    }


def _shared(d_model: int, n_heads: int) -> int:
    if d_model % n_heads:
        raise ModelRefused(
            f"config.json has {n_heads} heads, which cannot share a width of {d_model} evenly"
        )
    return d_model // n_heads


def _llama(said: Said) -> Described:
    sizes = _sizes(said)
    base, by_pair = rotary(said, sizes["d_head"])
    said.must("rope_interleaved", False, "pairs of columns are k and k + d/2 in such a file")
    biases = said.flag("attention_bias", False) * ("b_query", "b_key", "b_value", "b_output")
    biases += said.flag("mlp_bias", False) * ("b_gate", "b_up", "b_down")
    return _turned(said, "Llama", sizes, base, by_pair, biases=biases)


def _mistral(said: Said) -> Described:
    sizes = _sizes(said)
    base, by_pair = rotary(said, sizes["d_head"])
    window = None if said.is_null("sliding_window") else said.count("sliding_window", 4096)
    said.take("layer_types", "left out", lambda _: False, None)
    windows = (window,) * sizes["n_layers"]
    return _turned(said, "Mistral", sizes, base, by_pair, windows=windows)


def _qwen2(said: Said) -> Described:
    sizes = _sizes(said)
    base, by_pair = rotary(said, sizes["d_head"])
    windows = _qwen_windows(said, sizes["n_layers"])
    biases = ("b_query", "b_key", "b_value")
    return _turned(said, "Qwen2", sizes, base, by_pair, windows=windows, biases=biases)


def _qwen3(said: Said) -> Described:
    head_dim = said.count("head_dim", 128, MOST)
    sizes = _sizes(said) | {"d_head": head_dim}
    base, by_pair = rotary(said, sizes["d_head"])
    windows = _qwen_windows(said, sizes["n_layers"])
    biases = said.flag("attention_bias", False) * ("b_query", "b_key", "b_value", "b_output")
    return _turned(
        said, "Qwen3", sizes, base, by_pair, windows=windows, biases=biases, query_key_norms=True
    )


def _turned(
    said: Said,
    family: str,
    sizes: dict[str, int],
    base: float,
    by_pair: tuple[float, ...],
    **others: object,
) -> Described:
    """What Llama's kin have in common."""
    settings = Settings(
        **sizes,
        epsilon=said.number("rms_norm_eps", 1e-6),
        rates=(by_pair,) * sizes["n_layers"],
        rotary_base=base,
        score_scale=one_over_root(sizes["d_head"]),
        activation=said.choice("hidden_act", ACTIVATIONS, "silu"),
        tied=said.flag("tie_word_embeddings", False),
        **others,
    )
    return Described(family, settings, LLAMA)


def _qwen_windows(said: Said, n_layers: int) -> tuple[int | None, ...]:
    """The window of each layer of Qwen: from layer `max_window_layers` on, where it is used."""
    used = said.flag("use_sliding_window", False)
    size = said.count("sliding_window", None if said.is_null("sliding_window") else 4096)
    fits = lambda value: is_number(value, int) and value >= 0  # noqa: E731
    first = said.take("max_window_layers", "a whole number of 0 or more", fits, 28)
    window = size if used else None
    default = [SLIDING if window and layer >= first else FULL for layer in range(n_layers)]
    return _windows(said, default, window)


def _windows(said: Said, default: Sequence[str], window: int | None) -> tuple[int | None, ...]:
    """The window of each layer by `layer_types`."""
    words = f"a list of {FULL} and {SLIDING}, one for each of {len(default)} layers"

    def fits(value: object) -> bool:
        known = isinstance(value, list) and all(each in (FULL, SLIDING) for each in value)
        return known and len(value) == len(default)

    kinds = said.take("layer_types", words, fits, default)
    if SLIDING in kinds and window is None:
        raise ModelRefused(f"layer_types in {said.place} says {SLIDING}, but no window is set")
    return tuple(window if kind == SLIDING else None for kind in kinds)


def _gpt2(said: Said) -> Described:
    d_model, n_heads = said.count("n_embd"), said.count("n_head", most=MOST)
    longest = said.count("n_positions", said.count("n_ctx", 1024))
    said.must("scale_attn_weights", True, "scores are divided by √d here")
    said.must("scale_attn_by_inverse_layer_idx", False, "all layers divide scores by √d here")
    fits = lambda value: is_number(value, int) and 0 <= value <= 2**24  # noqa: E731
    d_ffn = said.take("n_inner", "a whole number", fits, 4 * d_model)
    settings = Settings(
        n_layers=said.count("n_layer", most=MOST),
        d_model=d_model,
        n_heads=n_heads,
        n_key_heads=n_heads,
        d_head=_shared(d_model, n_heads),
        d_ffn=d_ffn,
        n_vocabulary=said.count("vocab_size", 50257),
        longest=longest,
        norm="layer",
        epsilon=said.number("layer_norm_epsilon", 1e-5),
        positions="learned",
        score_scale=one_over_root(d_model // n_heads),
        activation=said.choice("activation_function", ACTIVATIONS, "gelu_new"),
        gated=False,
        biases=("b_query", "b_key", "b_value", "b_output", "b_up", "b_down"),
        tied=said.flag("tie_word_embeddings", True),
    )
    return Described("GPT-2", settings, GPT2)


def _bert(said: Said) -> Described:
    sizes = _sizes(said)
    said.must("position_embedding_type", "absolute", "each place has a vector of its own here")
    said.must("tie_word_embeddings", True, "such a model is read without what it says next")
    settings = Settings(
        **sizes,
        norm="layer",
        epsilon=said.number("layer_norm_eps", 1e-12),
        norms="after",
        embedding_norm=True,
        positions="learned",
        causal=False,
        score_scale=one_over_root(sizes["d_head"]),
        activation=said.choice("hidden_act", ACTIVATIONS, "gelu"),
        gated=False,
        token_types=said.count("type_vocab_size", 2),
        biases=("b_query", "b_key", "b_value", "b_output", "b_up", "b_down"),
        predicts=False,
    )
    return Described("BERT", settings, BERT)


def _gemma(
    said: Said, family: str, caps: tuple[float | None, float | None], **others: object
) -> Described:
    """What Gemma 2 and 3 have in common."""
    sizes = _sizes(said)
    sizes["d_head"] = said.count("head_dim", 256, MOST)
    said.must("use_bidirectional_attention", False, "a query sees no later key here")
    activation = said.choice("hidden_activation", ACTIVATIONS, "gelu_tanh")
    said.take("hidden_act", "", lambda _: True, None)  # an older name, which is not read any more
    biases = said.flag("attention_bias", False) * ("b_query", "b_key", "b_value", "b_output")
    settings = Settings(
        **sizes,
        epsilon=said.number("rms_norm_eps", 1e-6),
        norm_adds_one=True,
        norms="around",
        embedding_scale=float(sizes["d_model"]) ** 0.5,
        score_scale=one_over_root(said.number("query_pre_attn_scalar", 256)),
        score_cap=_cap(said, "attn_logit_softcapping", caps[0]),
        logit_cap=_cap(said, "final_logit_softcapping", caps[1]),
        activation=activation,
        tied=said.flag("tie_word_embeddings", True),
        biases=biases,
        **others,
    )
    return Described(family, settings, GEMMA)


def _cap(said: Said, name: str, default: float | None) -> float | None:
    """A soft cap; `null` is none, whatever is the default."""
    return said.number(name, None if said.is_null(name) else default)


def _gemma2(said: Said) -> Described:
    sizes = {
        "d_head": said.count("head_dim", 256, MOST),
        "n_layers": said.count("num_hidden_layers", most=MOST),
    }
    base, by_pair = rotary(said, sizes["d_head"])
    window = None if said.is_null("sliding_window") else said.count("sliding_window", 4096)
    layers = range(sizes["n_layers"])
    default = [FULL if layer % 2 else SLIDING for layer in layers]
    return _gemma(
        said,
        "Gemma 2",
        caps=(50.0, 30.0),
        windows=_windows(said, default, window),
        rates=(by_pair,) * sizes["n_layers"],
        rotary_base=base,
    )


def _gemma3(said: Said) -> Described:
    d_head, n_layers = said.count("head_dim", 256, MOST), said.count("num_hidden_layers", most=MOST)
    window = None if said.is_null("sliding_window") else said.count("sliding_window", 4096)
    every = said.count("sliding_window_pattern", said.count("_sliding_window_pattern", 6))
    default = [SLIDING if (layer + 1) % every else FULL for layer in range(n_layers)]
    windows = _windows(said, default, window)
    both = said.group("rope_parameters")
    if FULL in both or SLIDING in both:
        by_kind = {
            FULL: turning(both.group(FULL), d_head, 1_000_000.0),
            SLIDING: turning(both.group(SLIDING), d_head, 10_000.0),
        }
        both.rest()
    else:
        local = said.base("rope_local_base_freq", 10_000.0)
        by_kind = {
            FULL: rotary(said, d_head, 1_000_000.0),
            SLIDING: (local, rates(local, d_head // 2)),
        }
    for older in ("rope_theta", "rope_local_base_freq"):
        said.take(older, "", lambda _: True, None)
    return _gemma(
        said,
        "Gemma 3",
        caps=(None, None),
        windows=windows,
        rates=tuple(by_kind[SLIDING if window else FULL][1] for window in windows),
        rotary_base=by_kind[FULL][0],
        query_key_norms=True,
    )


FAMILIES: dict[str, Callable[[Said], Described]] = {
    "llama": _llama,
    "mistral": _mistral,
    "qwen2": _qwen2,
    "qwen3": _qwen3,
    "gemma2": _gemma2,
    "gemma3_text": _gemma3,
    "gpt2": _gpt2,
    "bert": _bert,
}
