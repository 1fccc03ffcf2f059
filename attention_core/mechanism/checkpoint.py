"""A real model's attention layer: its matrices in a file on this machine, as steps of a trace."""

import math
import operator
import os.path
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from torch import Tensor

from ..files.tensor_file import quoted, shapes
from ..operations import Columns, Linear, Stored
from ..recipes import PLURAL, ROLES
from ..trace import Step, Trace
from .builder import Heads, attend_projected, check_rows, project, times
from .model_config import ModelConfig
from .options import Options
from .own_tensors import give, given_labels, own

LARGEST = 2**28
"""The most numbers of a matrix that is read: 1 GiB as float32, as in a model of 405 billion."""
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
    layer norm before it. Numbers of heads, rotary positions and windows are read from the
    `config.json` beside the file; `n_heads`, `n_kv_heads` and `rotary_base` are taken in place of
    what it says. By the names of GPT-2 it may be missing, and `n_heads` must be given then. By the
    names of Llama it must be there: Gemma 2 and Mixtral use them too, and from the matrices alone
    nobody can tell. A causal mask is the default; all options of `attend_tensors` are taken.
    Everything is computed in float32, whatever the file holds.

    Steps: `hidden_states`; for GPT-2 `qkv_matrix` (d_in, d_qkv), `qkv_bias`, and `W_query`, … as
    their columns; for Llama `query_layer` (d_queries, d_in) and so on, upright as stored;
    `queries`, `keys`, `values` and what follows as in `attend_vectors`, to `concat` and `output`
    (query, d_model). Raises ValueError, in words, for anything that is wrong with a file: it is
    broken, a layer or a name is missing, widths do not fit, a setting cannot be, or the model is of
    a kind that is computed in another way. Raises FileNotFoundError where there is no file.
    """
    found = _Found.at(Path(path))
    try:
        at = operator.index(layer)
    except TypeError:
        raise ValueError(f"layer is {quoted(layer)}, but must be a whole number") from None
    layout, beginning = found.layout(at)
    config = found.config(layout, at)
    heads = _heads(config, layout, n_heads, n_kv_heads, rotary_base)
    of_model = {"causal": True}
    if config.window:
        of_model["window"] = config.window - 1, None
    chosen = Options.of(of_model | options)
    numbers = own("hidden_states", hidden_states, (2, 3)).float()
    trace = Trace(**given_labels(token=tokens, query=tokens, key=tokens))
    axes = (*(("batch",) if numbers.ndim == 3 else ()), "token", "d_in")
    vectors = give(trace, "hidden_states", numbers, axes)
    read = _Reader(trace, found, beginning)
    if layout is GPT2:
        made = _project_joined(read, vectors, heads)
        concat = attend_projected(trace, made, heads, chosen)
        check_rows(f"{beginning}c_proj.weight", read.shape("c_proj.weight"), _width(concat))
        matrix = read("W_output", "c_proj.weight", (concat.axes[-1], "d_model"))
        bias = read("b_output", "c_proj.bias", ("d_model",))
        times(trace, "output", concat, matrix, bias)
        return trace
    made = _project_upright(read, vectors, heads, config.d_head)
    concat = attend_projected(trace, made, heads, chosen)
    _upright(read, "output", "o_proj", concat, ("d_model", concat.axes[-1]))
    return trace


@dataclass(frozen=True)
class _Found:
    """The tensors of a model's files by name: the file, and the shape of each."""

    path: Path
    tensors: Mapping[str, tuple[Path, tuple[int, ...]]]

    @staticmethod
    def at(path: Path) -> "_Found":
        """What is in a file, or in the files of a folder."""
        files = [path]
        if os.path.isdir(path):
            files = sorted(path.glob("*.safetensors"))
            if not files:
                raise FileNotFoundError(f"there is no safetensors file in {path}")
        elif not os.path.lexists(path):
            raise FileNotFoundError(f"there is no file {path}")
        tensors: dict[str, tuple[Path, tuple[int, ...]]] = {}
        for file in files:
            for name, shape in shapes(file).items():
                if name in tensors:
                    raise ValueError(
                        f"{quoted(name)} stands in two files, {tensors[name][0].name} and "
                        f"{file.name}: give the path of the one that is meant"
                    )
                tensors[name] = file, shape
        return _Found(path, tensors)

    def config(self, layout: Layout, layer: int) -> ModelConfig:
        """What `config.json` says of a layer, where there is one."""
        folder = self.path if os.path.isdir(self.path) else self.path.parent
        beside = folder / "config.json"
        if os.path.lexists(beside):
            config = ModelConfig.beside(beside, self.path.name, layer)
            if (config.kind == "gpt2") != (layout is GPT2):
                raise ValueError(
                    f"config.json says that the model is of the kind {config.kind}, but the "
                    f"tensors in {self.path.name} have the names of another"
                )
            return config
        if layout is GPT2:
            return ModelConfig("gpt2")
        raise ValueError(
            f"there is no config.json beside {self.path.name}: Llama's names are those of many "
            "kinds of models, and only that file says which it is. Put it there, with model_type, "
            "num_attention_heads, num_key_value_heads and rope_theta at least"
        )

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
        front, back = re.escape(prefix + before), re.escape(after)
        pattern = re.compile(f"{front}(0|[1-9][0-9]{{0,5}}){back}")
        layers = {int(at[1]) for at in map(pattern.match, self.tensors) if at}
        if layer not in layers:
            known = quoted(", ".join(map(str, sorted(layers)))) or "none"
            raise ValueError(
                f"there is no layer {quoted(layer)} in {self.path.name}: it has {known}"
            )
        beginning = prefix + layout.layer.format(layer)
        known = {f"{matrix}.{kind}" for matrix in layout.matrices for kind in ("weight", "bias")}
        for name in self.tensors:
            part = name.removeprefix(beginning)
            if name.startswith(beginning) and part not in known | {*IGNORED}:
                raise ValueError(
                    f"{quoted(name)} in {self.path.name} is nothing that attention has here: this "
                    "kind of model is computed in another way"
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
        file, shape = self._place(full)
        if len(shape) != len(axes):
            raise ValueError(
                f"{full} is {_sizes(shape)}: it needs {len(axes)} axes, not {len(shape)}"
            )
        if not 0 < math.prod(shape) <= LARGEST:
            raise ValueError(
                f"{full} is {_sizes(shape)}: from one number to {LARGEST:,} can be read"
            )
        step = self.trace.step(name, Stored(str(file), full), axes=axes)
        if not step.value.isfinite().all():
            at = (~step.value.isfinite()).nonzero()[0].tolist()
            found = step.value[tuple(at)].item()
            raise ValueError(f"{full} has {found} at {at}: all must be finite")
        return step

    def has(self, stored: str) -> bool:
        """Whether there is such a tensor in the layer."""
        return self.beginning + stored in self.found.tensors

    def shape(self, stored: str) -> tuple[int, ...]:
        """The shape of a matrix of the layer, which is not read for it."""
        full = self.beginning + stored
        _, shape = self._place(full)
        if len(shape) != 2:
            raise ValueError(f"{full} is {_sizes(shape)}: it needs 2 axes, not {len(shape)}")
        return shape

    def _place(self, full: str) -> tuple[Path, tuple[int, ...]]:
        if full not in self.found.tensors:
            raise ValueError(f"{full} is missing in {self.found.path.name}")
        return self.found.tensors[full]


def _heads(
    config: ModelConfig,
    layout: Layout,
    n_heads: int | None,
    n_kv_heads: int | None,
    rotary_base: float | None,
) -> Heads:
    """How many heads, and which rotary positions, by what is given and by `config.json`."""
    n_heads = config.n_heads if n_heads is None else n_heads
    if n_heads is None:
        raise ValueError("how many heads there are stands in no tensor: give `n_heads`")
    if layout is GPT2:
        if n_kv_heads not in (None, n_heads):
            raise ValueError("GPT-2 has as many key heads as query heads: leave `n_kv_heads` out")
        if rotary_base is not None:
            raise ValueError("GPT-2 has no rotary positions: leave `rotary_base` out")
        return Heads(n_heads)
    n_kv_heads = config.n_kv_heads if n_kv_heads is None else n_kv_heads
    base = config.base if rotary_base is None else rotary_base
    return Heads(n_heads, n_kv_heads, base, config.slowed)


def _project_joined(read: _Reader, vectors: Step, heads: Heads) -> list[Step]:
    """Queries, keys and values of GPT-2, whose three matrices stand side by side in one."""
    trace, name = read.trace, f"{read.beginning}c_attn.weight"
    shape = read.shape("c_attn.weight")
    check_rows(name, shape, _width(vectors))
    if shape[1] % 3:
        raise ValueError(f"{name} has {shape[1]} columns, which are no three matrices")
    width = shape[1] // 3
    heads.check(dict.fromkeys(ROLES, width))
    matrix = read("qkv_matrix", "c_attn.weight", ("d_in", "d_qkv"))
    bias = read("qkv_bias", "c_attn.bias", ("d_qkv",))

    def weight(role: str) -> tuple[Step, Step]:
        first, axis = ROLES.index(role) * width, heads.joined(role)
        columns = Columns(first, first + width)
        own_matrix = trace.step(f"W_{role}", columns, matrix, axes=("d_in", axis))
        return own_matrix, trace.step(f"b_{role}", columns, bias, axes=(axis,))

    return project(trace, vectors, weight)


def _project_upright(read: _Reader, vectors: Step, heads: Heads, d_head: int | None) -> list[Step]:
    """Queries, keys and values of Llama, whose matrices are stored as torch's layers keep them."""
    stored = dict(zip(ROLES, ("q_proj", "k_proj", "v_proj"), strict=True))
    widths = {role: read.shape(f"{name}.weight")[0] for role, name in stored.items()}
    heads.check(widths)
    if d_head not in (None, widths["query"] // heads.n_heads):
        raise ValueError(
            f"head_dim in config.json is {d_head}, but {heads.n_heads} heads share "
            f"{widths['query']} columns of queries"
        )
    made = []
    for role, name in stored.items():
        axes, row = (heads.joined(role), "d_in"), "query" if role == "query" else "key"
        made.append(_upright(read, PLURAL[role], name, vectors, axes, row))
    return made


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
    if shape[1] != _width(vectors):
        raise ValueError(
            f"{read.beginning}{name} is {_sizes(shape)}, but the vectors before it "
            f"are {_width(vectors)} wide: it needs {_width(vectors)} columns"
        )
    role = {plural: role for role, plural in PLURAL.items()}.get(made, made)
    operands = [vectors, read(f"{role}_layer", name, axes)]
    if read.has(f"{stored}.bias"):
        operands.append(read(f"b_{role}", f"{stored}.bias", axes[:1]))
    return read.trace.step(made, Linear(), *operands, axes=(*vectors.axes[:-2], row, axes[0]))


def _width(vectors: Step) -> int:
    return vectors.value.shape[-1]


def _sizes(shape: Sequence[int]) -> str:
    return quoted(" × ".join(map(str, shape)) or "a single number")
