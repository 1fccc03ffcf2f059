"""What the `config.json` of a model says of its attention, checked in one place."""

import json
from dataclasses import dataclass
from pathlib import Path

from ..files.tensor_file import first_bytes, quoted
from .builder import Slowed
from .options import is_number
from .said import Said, written

LARGEST = 2**20
"""Bytes: a `config.json` has a few thousand."""
ROTARY = ("llama", "mistral", "qwen2")
"""The kinds of models with rotary positions, as their `config.json` calls them."""
KNOWN = ("gpt2", *ROTARY)
"""The kinds of models whose attention is computed here."""
WINDOWED = {"mistral": (True, 0), "qwen2": (False, 28)}
"""Those that may have a window: whether it is used where nothing is said, and from which layer."""
ONLY = dict.fromkeys(
    ("num_key_value_heads", "head_dim", "rope_theta", "rope_scaling", "rope_parameters"), ROTARY
) | {"n_head": ("gpt2",), "sliding_window": tuple(WINDOWED)}
"""The settings that only some kinds of models have."""
MOST = 10**6
FULL, SLIDING = "full_attention", "sliding_attention"
SLOWING = ("factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings")


@dataclass(frozen=True)
class ModelConfig:
    """What a layer's attention is computed by, where a model says it."""

    kind: str
    n_heads: int | None = None
    n_kv_heads: int | None = None
    d_head: int | None = None
    base: float = 10000.0
    """The base of rotary positions."""
    slowed: Slowed | None = None
    """How rotary positions are slowed down, where they are."""
    window: int | None = None
    """How many keys a query sees, itself among them; None for all before it."""

    @staticmethod
    def beside(path: Path, place: str, layer: int) -> "ModelConfig":
        """What a file says of a layer that stands beside the one of the weights, whose name is
        `place`. Raises ValueError, in words, for a setting that cannot be, or that the model's kind
        does not have.
        """
        said = Said(_settings(path, f"{path.name} beside {place}"), path.name)
        if "model_type" not in said:
            raise ValueError(
                f"{path.name} beside {place} does not say what model it is of: it has no model_type"
            )
        words = f"one of {', '.join(KNOWN)}: others are computed in another way"
        kind = said.take("model_type", words, lambda value: value in KNOWN)
        for name, kinds in ONLY.items():
            if name in said and kind not in kinds:
                raise ValueError(
                    f"{name} in {path.name} is {written(said.take(name, '', lambda _: True))}, but "
                    f"models of the kind {kind} have none: one of the two cannot be right"
                )
        said.must("scale_attn_weights", True, "scores are divided by √d here")
        inverse = "scores are divided by √d here, in every layer"
        said.must("scale_attn_by_inverse_layer_idx", False, inverse)
        base, slowed = _turning(said)
        return ModelConfig(
            kind,
            said.count("n_head", said.count("num_attention_heads", None, MOST), MOST),
            said.count("num_key_value_heads", None, MOST),
            said.count("head_dim", None, MOST),
            base,
            slowed,
            _window(said, kind, layer),
        )


def _settings(path: Path, name: str) -> dict[str, object]:
    content = first_bytes(path, LARGEST + 1)
    if len(content) > LARGEST:
        raise ValueError(f"{name} has more than {LARGEST:,} bytes, which no config.json needs")
    try:
        found = json.loads(content)
    except RecursionError as error:
        raise ValueError(f"{name} cannot be read: it is nested too deeply") from error
    except ValueError as error:
        raise ValueError(f"{name} cannot be read: {quoted(str(error))}") from error
    if not isinstance(found, dict):
        raise ValueError(f"{name} holds no settings by name")
    return found


def _turning(said: Said) -> tuple[float, Slowed | None]:
    """The base of rotary positions, and how they are slowed down. All that stands in
    `rope_parameters` or `rope_scaling` changes the angles, so nothing else may.
    """
    groups = [said, *(said.group(name) for name in ("rope_parameters", "rope_scaling"))]
    for each in groups:
        whole = "1: all columns of a head are turned here"
        each.take("partial_rotary_factor", whole, lambda n: is_number(n, float) and n == 1, None)
    turned = groups[1] or groups[2]
    words = "default or llama3: no others are computed here"
    hows = [turned.take(name, words, ("default", "llama3").__contains__, None)
            for name in ("rope_type", "type")]  # fmt: skip
    how = hows[0] or hows[1]
    if turned and how is None:
        raise ValueError("rotary positions in config.json have no rope_type: it must be given")
    base = turned.base("rope_theta", said.base("rope_theta", 10000.0))
    numbers = [turned.base(name, 1.0) for name in SLOWING[:3]]
    numbers.append(turned.count(SLOWING[3], 1, MOST))
    turned.rest()
    if how != "llama3":
        return base, None
    for name in SLOWING:
        if name not in turned:
            raise ValueError(f"config.json has no {name} for its rotary positions")
    return base, Slowed(*numbers)


def _window(said: Said, kind: str, layer: int) -> int | None:
    """How many keys a query of this layer sees. What is not said is as in transformers: a window of
    4,096, from the first layer on in Mistral, and none in Qwen2, or from layer 28 on.
    """
    used, first = WINDOWED.get(kind, (False, 0))
    used = said.flag("use_sliding_window", used) and not said.is_null("sliding_window")
    fits = lambda value: is_number(value, int) and value >= 0  # noqa: E731
    first = said.take("max_window_layers", "a whole number of 0 or more", fits, first)
    size = said.count("sliding_window", 4096 if kind in WINDOWED else None, MOST)
    fits = lambda value: isinstance(value, list) and all(each in (FULL, SLIDING) for each in value)  # noqa: E731
    kinds = said.take("layer_types", f"a list of {FULL} and {SLIDING}", fits, None)
    if kinds is None:
        return size if used and layer >= first else None
    if layer >= len(kinds):
        raise ValueError(
            f"layer_types in config.json has {len(kinds)} entries, but none for layer {layer}"
        )
    if kinds[layer] == SLIDING and not (used and size):
        raise ValueError(
            f"layer_types in config.json says {SLIDING} for layer {layer}, but no window is set"
        )
    return size if kinds[layer] == SLIDING else None
