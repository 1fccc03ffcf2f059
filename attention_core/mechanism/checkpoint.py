"""A real model's attention layer: its matrices in a file on this machine, as steps of a trace."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from torch import Tensor

from ..operations import Columns, Linear, Stored
from ..recipes import PLURAL, ROLES
from ..stored import Place, places
from ..trace import Step, Trace
from .options import Options
from .own_matrices import Heads, Slowed, attend_projected, check_rows, row_of, times
from .own_tensors import give, own

KNOWN = ("gpt2", "llama", "mistral", "qwen2")
"""The kinds of models, as their `config.json` calls them, whose attention is computed here."""
PREFIXES = ("", "transformer.", "model.")
"""What the names of layers may begin with."""
IGNORED = ("bias", "masked_bias", "rotary_emb.inv_freq")
"""What some files hold beside the matrices: masks and angles, which are computed here."""


@dataclass(frozen=True)
class Layout:
    """How a kind of model names a layer, and the matrices of its attention."""

    layer: str
    matrices: tuple[str, ...]


GPT2 = Layout("h.{}.attn.", ("c_attn", "c_proj"))
LLAMA = Layout("layers.{}.self_attn.", ("q_proj", "k_proj", "v_proj", "o_proj"))


def from_checkpoint(
    path: str | Path,
    layer: int,
    hidden_states: Tensor | Sequence,
    *,
    n_heads: int | None = None,
    n_kv_heads: int | None = None,
    rotary_base: float | None = None,
    tokens: Sequence[str] = (),
    **options: object,
) -> Trace:
    """The attention of one layer of a model, from a file of its weights on this machine.

    `path` is a safetensors file, or the folder that it is in, also in several parts. Names are
    those of GPT-2 (`h.0.attn.c_attn.weight`) or of Llama and its kin
    (`model.layers.0.self_attn.q_proj.weight`). `hidden_states` (token, d_in) or
    (batch, token, d_in) are what the layer's attention is given: in these models, vectors after the
    layer norm before it. Numbers of heads, and the base of rotary positions, are read from the
    `config.json` beside the file where they are not given; without one, `n_heads` must be given,
    and Llama's base is 10,000. A causal mask is the default; all options of `attend_tensors` are
    taken. Everything is computed in float32, whatever the file holds.

    Steps: `hidden_states`; for GPT-2 `qkv_matrix` (d_in, d_qkv), `qkv_bias`, and `W_query`, … as
    their columns; for Llama `query_layer` (d_queries, d_in) and so on, upright as stored;
    `queries`, `keys`, `values` and what follows as in `attend_vectors`, to `concat` and `output`
    (query, d_model). Raises ValueError, in words, for a file that is broken, a layer or a name that
    is missing, widths that do not fit, and a kind of model that is computed in another way;
    FileNotFoundError where there is no file.
    """
    found = _Found.at(Path(path))
    config = found.config
    layout, beginning = found.layout(layer)
    given = _heads(config, layout, n_heads, n_kv_heads, rotary_base)
    window = _window(config, layer)
    of_model = {"causal": True} | ({"window": (window - 1, None)} if window else {})
    chosen = Options.of(of_model | options)
    numbers = own("hidden_states", hidden_states, (2, 3)).float()
    labels = {axis: tokens for axis in ("token", "query", "key") if tokens}
    trace = Trace(**labels)
    axes = (*(("batch",) if numbers.ndim == 3 else ()), "token", "d_in")
    vectors = give(trace, "hidden_states", numbers, axes)
    read = _Reader(trace, found, beginning)
    if layout is GPT2:
        made = _project_joined(read, vectors, given)
        concat = attend_projected(trace, made, given, chosen)
        check_rows(f"{beginning}c_proj.weight", read.shape("c_proj.weight"), _width(concat))
        matrix = read("W_output", "c_proj.weight", (concat.axes[-1], "d_model"))
        bias = read("b_output", "c_proj.bias", ("d_model",))
        times(trace, "output", concat, matrix, bias, (*concat.axes[:-1], "d_model"))
        return trace
    made = _project_upright(read, vectors, given)
    concat = attend_projected(trace, made, given, chosen)
    _upright(read, "output", "o_proj", concat, ("d_model", concat.axes[-1]))
    return trace


@dataclass(frozen=True)
class _Found:
    """The tensors of a model's files by name: the file, and where in it each stands."""

    path: Path
    tensors: Mapping[str, tuple[Path, Place]]
    config: Mapping

    @staticmethod
    def at(path: Path) -> "_Found":
        """What is in a file, or in the files of a folder."""
        files = [path]
        if path.is_dir():
            files = sorted(path.glob("*.safetensors"))
            if not files:
                raise FileNotFoundError(f"there is no safetensors file in {path}")
        elif not path.exists():
            raise FileNotFoundError(f"there is no file {path}")
        tensors = {}
        for file in files:
            tensors |= {name: (file, place) for name, place in places(file).items()}
        beside = (path if path.is_dir() else path.parent) / "config.json"
        if not beside.exists():
            return _Found(path, tensors, {})
        try:
            config = json.loads(beside.read_text(encoding="utf-8"))
        except ValueError as error:
            raise ValueError(f"{beside.name} beside {path.name} cannot be read: {error}") from error
        if not isinstance(config, dict):
            raise ValueError(f"{beside.name} beside {path.name} holds no settings by name")
        return _Found(path, tensors, config)

    def layout(self, layer: int) -> tuple[Layout, str]:
        """The kind of names, and what those of this layer begin with."""
        for layout, prefix in ((kind, each) for kind in (GPT2, LLAMA) for each in PREFIXES):
            if any(name.startswith(prefix + layout.layer.split("{")[0]) for name in self.tensors):
                return layout, self._beginning(layout, prefix, layer)
        raise ValueError(
            f"{self.path.name} has no attention layer by the names of GPT-2 "
            "(h.0.attn.c_attn.weight) or of Llama (model.layers.0.self_attn.q_proj.weight)"
        )

    def _beginning(self, layout: Layout, prefix: str, layer: int) -> str:
        before, after = layout.layer.split("{}")
        layers = {
            int(number)
            for name in self.tensors
            if name.startswith(prefix + before)
            for number, _, rest in [name.removeprefix(prefix + before).partition(".")]
            if number.isdigit() and f".{rest}".startswith(after)
        }
        if layer not in layers:
            known = ", ".join(map(str, sorted(layers))) or "none"
            raise ValueError(f"there is no layer {layer!r} in {self.path.name}: it has {known}")
        beginning = prefix + layout.layer.format(layer)
        known = {f"{matrix}.{kind}" for matrix in layout.matrices for kind in ("weight", "bias")}
        for name in self.tensors:
            part = name.removeprefix(beginning)
            if name.startswith(beginning) and part not in known | {*IGNORED}:
                raise ValueError(
                    f"{name} in {self.path.name} is nothing that attention has here: this kind of "
                    "model is computed in another way"
                )
        return beginning


@dataclass(frozen=True)
class _Reader:
    """Reads tensors of one layer into a trace."""

    trace: Trace
    found: _Found
    beginning: str

    def __call__(self, name: str, stored: str, axes: tuple[str, ...]) -> Step:
        """Add a stored tensor under a name."""
        full = self.beginning + stored
        file, place = self._place(full)
        if len(place.shape) != len(axes):
            sizes = " × ".join(map(str, place.shape))
            raise ValueError(
                f"{full} is {sizes}: it needs {len(axes)} axes, not {len(place.shape)}"
            )
        read = Stored(str(file), full, place.kind, place.shape, place.start)
        return self.trace.step(name, read, axes=axes)

    def has(self, stored: str) -> bool:
        """Whether there is such a tensor in the layer."""
        return self.beginning + stored in self.found.tensors

    def shape(self, stored: str) -> tuple[int, ...]:
        """The shape of a tensor of the layer, which is not read for it."""
        return self._place(self.beginning + stored)[1].shape

    def _place(self, full: str) -> tuple[Path, Place]:
        if full not in self.found.tensors:
            raise ValueError(f"{full} is missing in {self.found.path.name}")
        return self.found.tensors[full]


def _heads(
    config: Mapping,
    layout: Layout,
    n_heads: int | None,
    n_kv_heads: int | None,
    rotary_base: float | None,
) -> Heads:
    """How many heads, and which rotary positions, by what is given and by `config.json`."""
    kind = config.get("model_type", "gpt2" if layout is GPT2 else "llama")
    if kind not in KNOWN:
        raise ValueError(
            f"config.json says that the model is {kind!r}, but attention is computed here as "
            f"{', '.join(KNOWN)} have it"
        )
    if config.get("scale_attn_by_inverse_layer_idx") or not config.get("scale_attn_weights", True):
        raise ValueError("config.json asks for another scale of the scores than √d")
    n_heads = n_heads or config.get("n_head") or config.get("num_attention_heads")
    if n_heads is None:
        raise ValueError("how many heads there are stands in no tensor: give `n_heads`")
    if layout is GPT2:
        if n_kv_heads not in (None, n_heads):
            raise ValueError("GPT-2 has as many key heads as query heads: leave `n_kv_heads` out")
        if rotary_base is not None:
            raise ValueError("GPT-2 has no rotary positions: leave `rotary_base` out")
        return Heads(n_heads)
    turning = config.get("rope_parameters") or config.get("rope_scaling") or {}
    how = turning.get("rope_type", turning.get("type", "default"))
    slowed = None
    if how == "llama3":
        named = ("factor", "low_freq_factor", "high_freq_factor")
        named = (*named, "original_max_position_embeddings")
        missing = [name for name in named if name not in turning]
        if missing:
            raise ValueError(f"config.json has no {missing[0]} for its rotary positions")
        slowed = Slowed(*(turning[name] for name in named))
    elif how != "default":
        raise ValueError(
            f"config.json asks for rotary positions of the kind {how!r}, but only the plain kind "
            "and llama3 are computed here"
        )
    base = rotary_base or config.get("rope_theta") or turning.get("rope_theta") or 10000.0
    return Heads(n_heads, n_kv_heads or config.get("num_key_value_heads"), float(base), slowed)


def _window(config: Mapping, layer: int) -> int | None:
    """How many keys a query of this layer sees, itself among them; None for all before it."""
    kinds = config.get("layer_types")
    everywhere = kinds[layer] != "full_attention" if kinds else True
    first = config.get("max_window_layers", 0) if kinds is None else 0
    used = config.get("use_sliding_window", True) and everywhere and layer >= first
    return config.get("sliding_window") if used else None


def _project_joined(read: _Reader, vectors: Step, heads: Heads) -> list[Step]:
    """Queries, keys and values of GPT-2, whose three matrices stand side by side in one."""
    trace, name = read.trace, f"{read.beginning}c_attn.weight"
    shape = read.shape("c_attn.weight")
    check_rows(name, shape, _width(vectors))
    if len(shape) != 2 or shape[1] % 3:
        raise ValueError(f"{name} has {shape[-1]} columns, which are no three matrices")
    width = shape[1] // 3
    heads.check(dict.fromkeys(ROLES, width))
    matrix = read("qkv_matrix", "c_attn.weight", ("d_in", "d_qkv"))
    bias = read("qkv_bias", "c_attn.bias", ("d_qkv",))
    made = []
    for at, role in enumerate(ROLES):
        columns = Columns(at * width, (at + 1) * width)
        axis = "d_queries" if heads.n_heads > 1 else "d_out"
        own_matrix = trace.step(f"W_{role}", columns, matrix, axes=("d_in", axis))
        own_bias = trace.step(f"b_{role}", columns, bias, axes=(axis,))
        axes = (*vectors.axes[:-2], row_of(role), axis)
        made.append(times(trace, PLURAL[role], vectors, own_matrix, own_bias, axes))
    return made


def _project_upright(read: _Reader, vectors: Step, heads: Heads) -> list[Step]:
    """Queries, keys and values of Llama, whose matrices are stored as torch's layers keep them."""
    stored = dict(zip(ROLES, ("q_proj", "k_proj", "v_proj"), strict=True))
    heads.check({role: read.shape(f"{name}.weight")[0] for role, name in stored.items()})
    return [
        _upright(read, PLURAL[role], name, vectors, (heads.joined(role), "d_in"), row_of(role))
        for role, name in stored.items()
    ]


def _upright(
    read: _Reader,
    made: str,
    stored: str,
    vectors: Step,
    axes: tuple[str, str],
    row: str = "query",
) -> Step:
    """Vectors times a layer's matrix (d_out, d_in), and its bias where it has one."""
    name, shape = f"{stored}.weight", read.shape(f"{stored}.weight")
    if len(shape) != 2 or shape[1] != _width(vectors):
        raise ValueError(
            f"{read.beginning}{name} is {' × '.join(map(str, shape))}, but the vectors before it "
            f"are {_width(vectors)} wide: it needs {_width(vectors)} columns"
        )
    role = {plural: role for role, plural in PLURAL.items()}.get(made, made)
    given = [vectors, read(f"{role}_layer", name, axes)]
    if read.has(f"{stored}.bias"):
        given.append(read(f"b_{role}", f"{stored}.bias", axes[:1]))
    return read.trace.step(made, Linear(), *given, axes=(*vectors.axes[:-2], row, axes[0]))


def _width(vectors: Step) -> int:
    return vectors.value.shape[-1]
