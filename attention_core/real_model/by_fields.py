"""What the fields of a GGUF file mean: the family, and every setting of its arithmetic. Source:
https://github.com/ggml-org/llama.cpp, gguf-py/gguf/constants.py (names of fields and tensors) and
src/models (what is computed for each architecture).
"""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from ..files.gguf_file import GgufFile
from ..files.refused import ModelRefused
from ..mechanism.options import is_number
from .by_config import MOST, Described, check_shared, width_of_a_head
from .config_reader import ConfigReader
from .missing import missing
from .names import GGUF, GGUF_JOINED
from .settings import Settings, one_over_root, rates
from .tokenizer_fields import ends_in

HARMLESS = ("context_length", "vocab_size", "rope.scaling.original_context_length")
"""What changes nothing. The vocabulary is as large as its table."""
BIASES = ("query", "key", "value", "output", "gate", "up", "down")


def described(file: GgufFile) -> Described:
    """What a GGUF file says. Raises ModelRefused, in words, for one that is not computed here."""
    about = ConfigReader(file.fields, file.path.name)
    named = str(file.fields.get("general.architecture"))
    words = f"one of {', '.join(FAMILIES)}: models of other kinds are not computed here"
    words += missing(e.removeprefix(f"{named}.") for e in (named, *file.fields) if named in e)
    kind = about.take("general.architecture", words, lambda value: value in [*FAMILIES])
    about.must("general.type", "model", "this file holds something else")
    if about.take("split.count", "a number", lambda n: isinstance(n, int), 1) > 1:
        raise ModelRefused(
            f"{file.path.name} is one part of a model in several files, which are not read: "
            "llama.cpp's gguf-split puts them together"
        )
    own = {
        name.removeprefix(f"{kind}."): value
        for name, value in file.fields.items()
        if name.startswith(f"{kind}.")
    }
    config = ConfigReader(own, file.path.name)
    found = FAMILIES[kind](config, file)
    config.rest(lambda name, _: name in HARMLESS)
    check_shared(found.settings, file.path.name)
    return replace(found, ends=ends_in(file.fields))


def _sizes(config: ConfigReader, file: GgufFile) -> dict[str, Any]:
    n_heads = config.count("attention.head_count", most=MOST)
    d_model = config.count("embedding_length")
    table = file.places.get("token_embd.weight")
    if table is None or len(table.shape) != 2:
        raise ModelRefused(f"{file.path.name} has no table of tokens, token_embd.weight")
    d_head = config.count("attention.key_length", 0, MOST)
    d_head = d_head or width_of_a_head(d_model, n_heads, file.path.name)
    config.must("attention.value_length", d_head, "keys and values are equally wide here")
    return {
        "n_layers": config.count("block_count", most=MOST),
        "d_model": d_model,
        "n_heads": n_heads,
        "n_key_heads": config.count("attention.head_count_kv", n_heads),
        "d_head": d_head,
        "d_ffn": config.count("feed_forward_length"),
        "n_vocabulary": table.shape[0],
        "longest": config.count("context_length", None),
    }


def _rates(config: ConfigReader, file: GgufFile, d_head: int) -> tuple[float, tuple[float, ...]]:
    """The base of rotary positions, and by how much each pair turns."""
    base = config.base("rope.freq_base", 10_000.0)
    config.must("rope.dimension_count", d_head, "all columns of a head are turned here")
    if d_head % 2:
        raise ModelRefused(f"rotary positions turn pairs of columns, but a head is {d_head} wide")
    how = config.take(
        "rope.scaling.type", "none or linear", lambda each: each in ("none", "linear"), "linear"
    )
    config.take("rope.scaling.finetuned", "", lambda _: True, None)
    factor = config.number("rope.scaling.factor", config.number("rope.scale_linear", 1.0))
    factor = factor if how == "linear" else 1.0
    found = tuple(rate / factor for rate in rates(base, d_head // 2))
    slowing = file.places.get("rope_freqs.weight")
    if slowing is not None:
        if slowing.shape != (d_head // 2,):
            raise ModelRefused(
                f"rope_freqs.weight in {file.path.name} has {math.prod(slowing.shape)} numbers for "
                f"{d_head // 2} pairs of columns"
            )
        by_pair = file.matrix("rope_freqs.weight").tolist()
        if not all(0 < slower < math.inf for slower in by_pair):
            raise ModelRefused(f"rope_freqs.weight in {file.path.name} must be above 0 throughout")
        found = tuple(rate / slower for rate, slower in zip(found, by_pair, strict=True))
    return base, found


def _rotated(
    config: ConfigReader, file: GgufFile, family: str, pairs: str, **others: Any
) -> Described:
    """What Llama's kin have in common."""
    sizes = _sizes(config, file)
    base, by_pair = _rates(config, file, sizes["d_head"])
    biases = [f"b_{name}" for name in BIASES]  # fields do not say which there are, tensors do
    found = {
        "epsilon": config.number("attention.layer_norm_rms_epsilon"),
        "rates": (by_pair,) * sizes["n_layers"],
        "rotary_base": base,
        "rotary_pairs": pairs,
        "score_scale": one_over_root(sizes["d_head"]),
        "activation": "silu",
        "biases": tuple(b for b in biases if GGUF.of_layer[b].name.format(0) in file.places),
        "tied": "output.weight" not in file.places,
    }
    return Described(family, Settings(**sizes | found | others), GGUF)


def _llama(config: ConfigReader, file: GgufFile) -> Described:
    for name in ("expert_count", "expert_used_count"):
        config.must(name, 0, "mixtures of experts are not computed here")
    config.take("attention.sliding_window", "left out in a Llama", lambda _: False, None)
    return _rotated(config, file, "Llama", "neighbours")


def _granite(config: ConfigReader, file: GgufFile) -> Described:
    """Its four numbers; for a score, one of 0 or none says that it is 1 / √d. Where it says that
    nothing is `finetuned`, nothing is turned.
    """
    is_scale = lambda n: is_number(n, float) and 0 <= n < 1e30  # noqa: E731
    scale = config.take("attention.scale", "a number of 0 or more", is_scale, 0)
    named = {"embedding_scale": "embedding_scale", "added_scale": "residual_scale"}
    others: dict[str, Any] = {ours: config.number(theirs, 1.0) for ours, theirs in named.items()}
    others |= {"score_scale": float(scale)} if scale else {}
    logits = 1 / config.number("logit_scale", 1.0)
    if not config.flag("rope.scaling.finetuned", True):
        others |= {"rates": (), "rotary_base": None}
    return _rotated(config, file, "Granite", "neighbours", logit_scale=logits, **others)


def _smollm3(config: ConfigReader, file: GgufFile) -> Described:
    """Every fourth layer turns nothing: no field says it."""
    made = _rotated(config, file, "SmolLM3", "neighbours")
    rates = tuple(each if (layer + 1) % 4 else () for layer, each in enumerate(made.settings.rates))
    return replace(made, settings=replace(made.settings, rates=rates))


def _olmo2(config: ConfigReader, file: GgufFile) -> Described:
    config.take("attention.sliding_window", "left out: OLMo 3 is not read", lambda _: False, None)
    return _rotated(config, file, "OLMo 2", "halves", norms="added", query_key_norms="all")


def _gemma2(config: ConfigReader, file: GgufFile) -> Described:
    """The oldest files say neither caps nor window: those of Gemma 2 stand for them."""
    caps = {
        "score_cap": config.number("attn_logit_softcapping", 50.0),
        "logit_cap": config.number("final_logit_softcapping", 30.0),
    }
    return _gemma(config, file, "Gemma 2", every=2, largest=46, window=4096, **caps)


def _gemma3(config: ConfigReader, file: GgufFile) -> Described:
    near = config.base("rope.freq_base_swa", 10_000.0)
    cap = config.number("final_logit_softcapping", None)
    made = _gemma(config, file, "Gemma 3", every=6, largest=62, logit_cap=cap)
    found = made.settings
    by_pair = rates(near, found.d_head // 2)
    turned = zip(found.rates, found.windows, strict=True)
    of_layer = tuple(by_pair if window else each for each, window in turned)
    return replace(made, settings=replace(found, rates=of_layer, query_key_norms="head"))


def _gemma(
    config: ConfigReader,
    file: GgufFile,
    family: str,
    every: int,
    largest: int,
    window: int | None = None,
    **others: Any,
) -> Described:
    """What Gemma 2 and 3 share: gains have the 1, and no field says windows and divisors."""
    sizes = _sizes(config, file)
    window = config.count("attention.sliding_window", window)
    every = config.count("attention.sliding_window_pattern", every)
    layers = range(sizes["n_layers"])
    is_largest = sizes["n_layers"] == largest
    width = sizes["d_model"] / sizes["n_heads"] if is_largest else sizes["d_head"]
    return _rotated(
        config,
        file,
        family,
        "halves",
        norms="around",
        activation="gelu_tanh",
        embedding_scale=float(sizes["d_model"]) ** 0.5,
        score_scale=one_over_root(width),
        windows=tuple(window if (layer + 1) % every else None for layer in layers),
        **others,
    )


def _gpt2(config: ConfigReader, file: GgufFile) -> Described:
    sizes = _sizes(config, file)
    table = file.places.get("position_embd.weight")
    settings = Settings(
        **sizes | {"longest": table.shape[0] if table else None},
        norm="layer",
        epsilon=config.number("attention.layer_norm_epsilon"),
        positions="learned",
        score_scale=one_over_root(sizes["d_head"]),
        activation="gelu_tanh",
        gated=False,
        biases=("b_query", "b_key", "b_value", "b_output", "b_up", "b_down"),
        tied="output.weight" not in file.places,
    )
    return Described("GPT-2", settings, GGUF_JOINED)


FAMILIES: dict[str, Callable[[ConfigReader, GgufFile], Described]] = {
    "llama": _llama,
    "qwen2": partial(_rotated, family="Qwen2", pairs="halves"),
    "qwen3": partial(_rotated, family="Qwen3", pairs="halves", query_key_norms="head"),
    "gemma2": _gemma2,
    "gemma3": _gemma3,
    "granite": _granite,
    "olmo2": _olmo2,
    "smollm3": _smollm3,
    "gpt2": _gpt2,
}
