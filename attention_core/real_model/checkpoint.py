"""The attention of one layer of a model's file, on vectors of one's own."""

import operator
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from torch import Tensor

from .. import operations as ops
from ..asked import answers
from ..files.refused import ModelRefused
from ..files.tensor_file import quoted
from ..mechanism.options import Options
from ..mechanism.own_tensors import give, given_labels, own
from ..trace import Trace
from .by_config import MOST, described
from .config_reader import ConfigReader
from .folder import Folder
from .layer_trace import PartsOfLayer
from .model import Model, as_written, check_attention

GPT2_NAMES = re.compile(r"(transformer\.)?h\.\d+\.attn\.c_attn\.weight")


@answers
def from_checkpoint(
    path: str | Path,
    layer: int | Any,
    hidden_states: Tensor | Sequence,
    *,
    n_heads: int | Any = None,
    n_kv_heads: int | Any = None,
    rotary_base: float | Any = None,
    tokens: Sequence[str] = (),
    **options: Any,
) -> Trace:
    """The attention of one layer of a model, from a file of its weights on this machine.

    `path` is a safetensors file, or the folder that it is in, also in several parts; nothing but
    the layer's attention must be there. `hidden_states` (token, d_model) or (batch, token, d_model)
    are what the layer's attention is given: in most models, vectors after the layer norm before it.
    Families and settings are those of `open_model`, by the `config.json` beside the file;
    `n_heads`, `n_kv_heads` and `rotary_base` are taken in place of what it says. By the names of
    GPT-2 it may be missing, and `n_heads` must be given then. The mask and the scale are the
    model's where none are given; all options of `attend_tensors` are taken. Everything is computed
    in float32, whatever the file holds.

    Steps: `hidden_states`; then those of `layer_trace`, from `W_query` and `queries` to `concat`
    and `output` (query, d_model). Raises ValueError, in words, for anything that is wrong with a
    file or an argument.
    """
    try:
        at = operator.index(layer)
    except TypeError:
        raise ValueError(f"layer is {quoted(layer)}, but must be a whole number") from None
    given = {"n_heads": n_heads, "n_kv_heads": n_kv_heads, "rotary_base": rotary_base}
    folder = Folder(Path(path))
    found = as_written(
        described(_settings(folder, at, ConfigReader(given, "the call"))), folder, at
    )
    settings = found.settings
    if not 0 <= at < settings.n_layers:
        raise ValueError(f"there is no layer {quoted(at)}: the model has {settings.n_layers}")
    check_attention(folder, settings, found.names, at)
    numbers = own("hidden_states", hidden_states, (2, 3)).float()
    if numbers.shape[-1] != settings.d_model:
        raise ValueError(
            f"hidden_states are {numbers.shape[-1]} wide, but the layer reads vectors of "
            f"{settings.d_model} numbers"
        )
    trace = Trace(**given_labels(token=tokens, query=tokens, key=tokens))
    model = Model(folder.path.name, folder, found, None, None).reading(numbers.shape[-2])
    making = PartsOfLayer(trace, model, at)
    chosen = Options.of(making.options | options)
    axes = (*(("batch",) if numbers.ndim == 3 else ()), "token", "d_model")
    making.attend("output", give(trace, "hidden_states", numbers, axes), chosen)
    for step in trace.values():
        if isinstance(step.operation, ops.Stored) and not step.value.isfinite().all():
            index = (~step.value.isfinite()).nonzero()[0].tolist()
            wrong = step.value[tuple(index)].item()
            raise ValueError(
                f"{step.operation.name} has {wrong} at {index}: all of its numbers must be finite"
            )
    return trace


def _settings(folder: Folder, layer: int, given: ConfigReader) -> dict[str, Any]:
    """What is said of a model beside its file, and in its place in the call."""
    heads, key_heads = (given.count(name, None, MOST) for name in ("n_heads", "n_kv_heads"))
    base = given.base("rotary_base", None)
    if folder.config_file.exists():
        values = dict(folder.config)
    else:
        joined = [each for each in folder.places if GPT2_NAMES.fullmatch(each)]
        if not joined:
            raise ModelRefused(
                f"there is no config.json beside {folder.path.name}: only that of GPT-2 may be "
                "missing, since the tensors of others do not say how they are computed"
            )
        if heads is None:
            raise ModelRefused("how many heads there are stands in no tensor: give `n_heads`")
        width = folder.places[joined[0]].shape[0]
        values = {"model_type": "gpt2", "n_embd": width, "n_layer": layer + 1}
    kind = values.get("model_type")
    for name, value, without in (
        ("n_kv_heads", key_heads, ("gpt2", "bert")),
        ("rotary_base", base, ("gpt2", "bert", "gemma3_text", "olmo3")),
    ):
        if value is not None and kind in without:
            raise ValueError(f"a model of the kind {kind} has no {name} to choose: leave it out")
    if heads is not None:
        values["n_head" if kind == "gpt2" else "num_attention_heads"] = heads
    if key_heads is not None:
        values["num_key_value_heads"] = key_heads
    for name in ("rope_parameters", "rope_scaling") if base is not None else ():
        if isinstance(values.get(name), dict):
            values[name] = values[name] | {"rope_theta": base}
    named = "rotary_emb_base" if kind == "gpt_neox" else "rope_theta"
    return values if base is None else values | {named: base}
