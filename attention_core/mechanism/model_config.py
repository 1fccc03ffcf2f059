"""What the `config.json` of a model says of its attention: one schema, checked in one place."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..files.tensor_file import first_bytes, quoted
from .builder import BASES, Slowed, is_base
from .options import is_number

LARGEST = 2**20
"""Bytes: a `config.json` has a few thousand."""
ROTARY = ("llama", "mistral", "qwen2")
"""The kinds of models with rotary positions, as their `config.json` calls them."""
KNOWN = ("gpt2", *ROTARY)
"""The kinds of models whose attention is computed here."""
FULL, SLIDING = "full_attention", "sliding_attention"


@dataclass(frozen=True)
class Setting:
    """What a value must be, in words, whether one is, and the kinds of models that have it."""

    words: str
    fits: Callable[[object], bool]
    kinds: tuple[str, ...] = KNOWN


def _one_of(*values: object) -> Callable[[object], bool]:
    return lambda value: any(value is each or value == each for each in values)


def _is_count(value: object) -> bool:
    return is_number(value, int) and 1 <= value <= 10**6


def _is_flag(value: object) -> bool:
    return isinstance(value, bool)


def _are_layers(value: object) -> bool:
    return isinstance(value, list) and all(each in (FULL, SLIDING) for each in value)


COUNT = "a whole number from 1 to 1,000,000"
FLAG = "true or false"
WHOLE = Setting(
    "1: all columns of a head are turned here", lambda n: is_number(n, float) and n == 1
)
SETTINGS = {
    "model_type": Setting(
        f"one of {', '.join(KNOWN)}: others are computed in another way", _one_of(*KNOWN)
    ),
    "n_head": Setting(COUNT, _is_count, ("gpt2",)),
    "num_attention_heads": Setting(COUNT, _is_count),
    "num_key_value_heads": Setting(COUNT, _is_count, ROTARY),
    "head_dim": Setting(COUNT, _is_count, ROTARY),
    "scale_attn_weights": Setting(
        "true: scores are divided by √d here", lambda value: value is True
    ),
    "scale_attn_by_inverse_layer_idx": Setting(
        "false: scores are divided by √d here, in every layer", lambda value: value is False
    ),
    "rope_theta": Setting(BASES, is_base, ROTARY),
    "rope_scaling": Setting("settings by name", lambda value: isinstance(value, dict), ROTARY),
    "rope_parameters": Setting("settings by name", lambda value: isinstance(value, dict), ROTARY),
    "partial_rotary_factor": WHOLE,
    "sliding_window": Setting(COUNT, _is_count, ("mistral", "qwen2")),
    "use_sliding_window": Setting(FLAG, _is_flag),
    "max_window_layers": Setting(
        "a whole number of 0 or more", lambda value: is_number(value, int) and value >= 0
    ),
    "layer_types": Setting(f"a list of {FULL} and {SLIDING}", _are_layers),
}
"""What is read of a `config.json`. `null` is as good as nothing, but a window of `null` is none."""
HOW = Setting("default or llama3: no others are computed here", _one_of("default", "llama3"))
TURNING = {
    "rope_type": HOW,
    "type": HOW,
    "rope_theta": Setting(BASES, is_base),
    "factor": Setting(BASES, is_base),
    "low_freq_factor": Setting(BASES, is_base),
    "high_freq_factor": Setting(BASES, is_base),
    "original_max_position_embeddings": Setting(COUNT, _is_count),
    "partial_rotary_factor": WHOLE,
}
"""What there may be in `rope_scaling` or `rope_parameters`, and nothing else: all of it changes the
angles."""
SLOWING = ("factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings")


@dataclass(frozen=True)
class ModelConfig:
    """The settings of a model that its attention is computed by, each of them checked. Raises
    ValueError, in words, for one that cannot be, or that its kind of model does not have.
    """

    kind: str
    settings: Mapping[str, object] = field(default_factory=dict)

    @staticmethod
    def beside(path: Path, place: str) -> "ModelConfig":
        """What a file says that stands beside the one of the weights, whose name is `place`."""
        content = first_bytes(path, LARGEST + 1)
        name = f"{path.name} beside {place}"
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
        settings = _checked(found, SETTINGS, path.name)
        if found.get("sliding_window", 0) is None:
            settings["use_sliding_window"] = False
        if "model_type" not in settings:
            raise ValueError(f"{name} does not say what model it is of: it has no model_type")
        kind = settings["model_type"]
        for setting, value in settings.items():
            if kind not in SETTINGS[setting].kinds:
                raise ValueError(
                    f"{setting} in {path.name} is {_said(value)}, but models of the kind {kind} "
                    "have none: one of the two cannot be right"
                )
        return ModelConfig(kind, settings)

    @property
    def n_heads(self) -> int | None:
        """How many query heads there are, where it says so."""
        return self.settings.get("n_head", self.settings.get("num_attention_heads"))

    @property
    def base(self) -> float:
        """The base of rotary positions."""
        return float(self._turning.get("rope_theta", self.settings.get("rope_theta", 10000.0)))

    @property
    def slowed(self) -> Slowed | None:
        """How rotary positions are slowed down, where they are."""
        turning = self._turning
        how = turning.get("rope_type", turning.get("type"))
        if turning and how is None:
            raise ValueError("rotary positions in config.json have no rope_type: it must be given")
        if how != "llama3":
            return None
        for name in SLOWING:
            if name not in turning:
                raise ValueError(f"config.json has no {name} for its rotary positions")
        return Slowed(*(turning[name] for name in SLOWING))

    @property
    def _turning(self) -> dict[str, object]:
        for name in ("rope_parameters", "rope_scaling"):
            if self.settings.get(name):
                return _checked(self.settings[name], TURNING, f"{name} of config.json", only=True)
        return {}

    def window(self, layer: int) -> int | None:
        """How many keys a query of this layer sees, itself among them; None for all before it.

        What is not said is as in transformers: a window of 4,096, from the first layer on in
        Mistral, and none in Qwen2, or from layer 28 on.
        """
        of_kind = {"mistral": (True, 0), "qwen2": (False, 28)}
        used, first = of_kind.get(self.kind, (False, 0))
        kinds = self.settings.get("layer_types")
        if kinds is not None and layer >= len(kinds):
            raise ValueError(
                f"layer_types in config.json has {len(kinds)} entries, but none for layer {layer}"
            )
        used = self.settings.get("use_sliding_window", used)
        first = self.settings.get("max_window_layers", first)
        slides = kinds[layer] == SLIDING if kinds is not None else used and layer >= first
        size = self.settings.get("sliding_window", self._default_window)
        if kinds is not None and slides and not (used and size):
            raise ValueError(
                f"layer_types in config.json says {SLIDING} for layer {layer}, but no window is set"
            )
        return size if slides else None

    @property
    def _default_window(self) -> int | None:
        return 4096 if self.kind in ("mistral", "qwen2") else None


def _checked(
    found: Mapping, settings: Mapping[str, Setting], place: str, only: bool = False
) -> dict[str, object]:
    """Those of the settings that are given. Raises ValueError for one that cannot be, and, where
    there are to be these `only`, for any other."""
    given = {name: value for name, value in found.items() if value is not None}
    for name, value in given.items():
        if name not in settings and only:
            raise ValueError(f"{quoted(name)} in {place} is nothing that is computed here")
        if name in settings and not settings[name].fits(value):
            raise ValueError(
                f"{name} in {place} is {_said(value)}, but must be {settings[name].words}"
            )
    return {name: value for name, value in given.items() if name in settings}


def _said(value: object) -> str:
    """A value as the file has it, in short."""
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{quoted(value)}"' if isinstance(value, str) else quoted(value)
