"""Looks on while a model runs: each attention layer hands over what it was given and what it gave.

A model of `transformers` asks `AttentionInterface.get_interface` for its function of attention. The
function it gets within `recorded` lets that very one answer, so the model's output is the same to
the last bit, and its masks are made as ever. Plain PyTorch is seen by a `TorchFunctionMode`:
`scaled_dot_product_attention`, and `nn.MultiheadAttention`.
"""

import inspect
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from threading import Lock
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

from ..utils.validation import validated
from .call import BIAS, SINKS, Call
from .recording import Patches, Recording

MOST_BYTES = 512 * 2**20
"""What a recording keeps, where nobody says otherwise."""
MOST_COLOURS = 4
"""So many colours a picture has at most; what has more channels is no picture any more."""
_LOOKING: list["Recorder"] = []
_LOCK = Lock()


@validated
def recorded(
    model: object,
    *,
    layers: Collection | None = None,
    queries: slice | None = None,
    tokens: Sequence[str] | None = None,
    most_bytes: int = MOST_BYTES,
) -> "Recorder":
    """Record the attention of a model as it is loaded, while it runs:

        with recorded(model) as seen:
            model(**inputs)  # or model.generate(…), or a training step
        seen[3].trace(head=2)  # the layer's attention, down to the products
        show(seen, tokens)  # all heads of all layers

    The model's output stays the same to the last bit. `layers` chooses layers, by their places or
    their names or how these begin; `queries` which rows of each pass, such as `slice(-1, None)`.
    At most `most_bytes` are kept, and what is left out is said. `tokens` name the places of the
    text, for words such as `trace(query="it")`.

    Raises ValueError, in words, for what cannot be recorded: no model of torch, one that is
    compiled, and, at the end, one whose layers compute attention in a way that nobody can look at.
    """
    return Recorder(model, layers, queries, tokens, most_bytes)


class Recorder:
    """A context: within it, calls of the model's attention are recorded."""

    def __init__(
        self,
        model: object,
        layers: Collection | None,
        queries: slice | None,
        tokens: Sequence[str] | None,
        most_bytes: int,
    ) -> None:
        if not isinstance(model, nn.Module):
            kind = f"{type(model).__module__}.{type(model).__qualname__}"
            raise ValueError(
                f"model is a {kind}, and what is recorded is a model of PyTorch (nn.Module): a "
                "server such as vLLM runs its attention in kernels of its own"
            )
        compiled = [
            name or "the model"
            for name, each in model.named_modules()
            if hasattr(each, "_orig_mod") or each._compiled_call_impl is not None
        ]
        if compiled:
            raise ValueError(
                f"{compiled[0]} is compiled (torch.compile), and a compiled graph cannot be looked "
                "at while it runs: record the model before it is compiled, or its _orig_mod"
            )
        if queries is not None and queries.step not in (None, 1):
            raise ValueError(f"queries is {queries}, but must be rows beside each other: no step")
        self._model, self._layers, self._queries = model, layers, queries
        self._names = {each: name for name, each in model.named_modules()}
        self._most, self.recording = most_bytes, Recording(tokens)
        self._places: dict[str, int] = {}
        self._open: list[tuple[nn.Module, int, int]] = []
        """The modules that run, the innermost last, with what had been seen, and not, before."""
        self._n_seen, self._bytes = 0, 0
        self._in_pass: Counter[str] = Counter()
        """How often each module was called in the pass that is on."""
        self._is_within = False
        self._unseen: list[str] = []
        self._left_out: set[str] = set()
        self._grid: tuple[int, int] | None = None
        self._of_image: tuple[tuple[int, ...], ...] = ()
        self._ran = False
        self._stack = ExitStack()

    def __enter__(self) -> Recording:
        for module in self._names:
            hooks = (
                module.register_forward_pre_hook(self._begins),
                module.register_forward_hook(self._ends, always_call=True),
            )
            for hook in hooks:
                self._stack.callback(hook.remove)
        looks = self._model.register_forward_pre_hook(self._looks_for_images, with_kwargs=True)
        self._stack.callback(looks.remove)
        self._stack.enter_context(_LooksOn(self))
        self._stack.enter_context(_asked_by_transformers(self))
        return self.recording

    def __exit__(self, kind: type | None, *_: object) -> None:
        self._stack.close()
        self._open.clear()
        if kind is not None:
            return
        self._tell()

    def _tell(self) -> None:
        """What was not recorded, in words. Raises ValueError where that is all."""
        seen = self.recording
        if not self._ran:
            raise ValueError("the model did not run within recorded(…): call it there")
        unseen = ", ".join(dict.fromkeys(self._unseen))
        if not self._n_seen:
            which = (
                f"{unseen} does not compute its attention"
                if unseen
                else (f"{type(self._model).__name__} has no layer that computes attention")
            )
            raise ValueError(
                f"nothing was recorded: {which} through the registry of transformers "
                "(AttentionInterface), scaled_dot_product_attention or nn.MultiheadAttention"
            )
        if not seen.layers and self._layers is not None and not self._left_out:
            there = ", ".join(f"{at}: {name}" for name, at in self._places.items())
            raise ValueError(f"none of the layers {[*self._layers]!r} ran. Those that did: {there}")
        if self._grid:
            is_distilled = any("Deit" in type(each).__name__.title() for each in self._names)
            seen.patches = Patches(self._grid, self._of_image, is_distilled)
        if unseen:
            seen.notices.append(f"Not recorded, since it computes attention otherwise: {unseen}.")
        if self._left_out:
            first = min(self._left_out, key=lambda name: self._places[name])
            most = (
                f"{self._most / 2**20:,.0f} MB" if self._most >= 2**20 else f"{self._most:,} bytes"
            )
            seen.notices.append(
                f"A recording keeps {most}, so calls of "
                f"{len(self._left_out)} layers are left out, the first {first}: "
                "choose layers=[…] or queries=slice(-1, None), or give more most_bytes"
            )
        for notice in seen.notices:
            warnings.warn(notice, stacklevel=3)

    # What runs.

    def _begins(self, module: nn.Module, _: object) -> None:
        if not self._open:
            self._in_pass.clear()
        self._ran = True
        self._open.append((module, self._n_seen, len(self._unseen)))

    def _ends(self, module: nn.Module, _: object, output: object) -> None:
        self._looks_for_patches(module, output)
        while self._open:
            ended, n_seen, n_unseen = self._open.pop()
            if ended is module:
                break
        else:
            return
        name = type(module).__name__
        is_attention = "attention" in name.lower() or name.lower().endswith("attn")
        nothing_seen = (self._n_seen, len(self._unseen)) == (n_seen, n_unseen)
        if is_attention and nothing_seen and next(module.children(), None) is not None:
            self._unseen.append(name)

    def _looks_for_images(self, model: Any, args: tuple, kwargs: dict) -> None:
        """Notes which of the tokens that a model is called with stand for an image, and how that
        was cut where the call says so.
        """
        config = getattr(model, "config", None)
        ids = kwargs.get("input_ids", args[0] if args else None)
        id_of_image = getattr(config, "image_token_id", getattr(config, "image_token_index", None))
        if isinstance(ids, Tensor) and ids.ndim == 2 and id_of_image is not None:
            is_image = ids == id_of_image
            if is_image.any():
                self._of_image = tuple(tuple(text.nonzero()[:, 0].tolist()) for text in is_image)
        grids = kwargs.get("image_grid_thw")
        if isinstance(grids, Tensor) and grids.shape == (1, 3):  # several patches become a token
            vision = getattr(config, "vision_config", config)
            merged = getattr(vision, "spatial_merge_size", 1)
            self._grid = (int(grids[0, 1]) // merged, int(grids[0, 2]) // merged)

    def _looks_for_patches(self, module: nn.Module, output: Any) -> None:
        """Notes the grid of a convolution that cuts an image into patches beside each other."""
        if self._grid or not isinstance(module, nn.Conv2d) or module.in_channels > MOST_COLOURS:
            return
        if module.kernel_size == module.stride and module.kernel_size > (1, 1):
            self._grid = (int(output.shape[-2]), int(output.shape[-1]))

    def knows(self, module: object) -> bool:
        """Whether a module belongs to the model that is recorded."""
        return isinstance(module, nn.Module) and module in self._names

    @contextmanager
    def within(self) -> Iterator[None]:
        """While a layer computes its attention, what it calls for that is no attention more."""
        before, self._is_within = self._is_within, True
        try:
            yield
        finally:
            self._is_within = before

    @property
    def looks(self) -> bool:
        """Whether a call that comes now is one to be recorded."""
        return bool(self._open) and not self._is_within

    def innermost(self) -> nn.Module:
        """The module that runs now."""
        return self._open[-1][0]

    def take(
        self,
        module: nn.Module,
        implementation: str,
        tensors: tuple[Tensor, Tensor, Tensor],
        mask: Any,
        scale: float | None,
        options: dict[str, Any],
        output: Tensor,
        to_context: Callable[[Tensor], Tensor],
        result: Tensor | None = None,
        to_gradient: Callable[[Tensor], Tensor] | None = None,
    ) -> None:
        """Keep a call: queries, keys and values (…, query or key, d), and an `output` that
        `to_context` makes context vectors (batch, head, query, d_value) of. Its gradient is that of
        the `result`, where the layer gives something else, by `to_gradient`.
        """
        self._n_seen += 1
        name = self._names[module] or type(module).__name__
        self._in_pass[name] += 1
        if (which := self._in_pass[name]) > 1:  # layers that share their matrices are one module
            name = f"{name} ({which})"
        place = self._places.setdefault(name, len(self._places))
        if not self._is_chosen(name, place) or name in self._left_out:
            return
        rows = slice(None) if self._queries is None else self._queries
        call = _made(implementation, tensors, mask, scale, options, to_context(output), rows)
        if again := self._again(name, call):
            call = again  # whichever of both the gradient comes back through
        elif self._bytes + call.n_bytes > self._most:
            self._left_out.add(name)
            return
        else:
            self._bytes += call.n_bytes
            self.recording.add(name, place, call)
        result = output if result is None else result
        if result.requires_grad:

            def keep_gradient(gradient: Tensor) -> None:
                of_context = (to_gradient or to_context)(gradient)
                call.output_gradient = _copied(of_context[..., call.rows, :])

            result.register_hook(keep_gradient)

    def _again(self, name: str, call: Call) -> Call | None:
        """The call of a layer that this one computes again, on the way back of a pass that kept
        nothing for it (gradient checkpointing); None for one that is new.
        """
        if torch._C._current_graph_task_id() < 0:
            return None  # no way back is on
        module = name.partition(" (")[0]
        same = [each for each in self.recording if each.name.partition(" (")[0] == module]
        before = [one for each in same for one in reversed(each.calls)]
        return next((one for one in before if torch.equal(one.queries, call.queries)), None)

    def _is_chosen(self, name: str, place: int) -> bool:
        if self._layers is None:
            return True
        return any(
            one == place if isinstance(one, int) else name == one or name.startswith(f"{one}.")
            for one in self._layers
        )


def _made(
    implementation: str,
    tensors: tuple[Tensor, Tensor, Tensor],
    mask: Any,
    scale: float | None,
    options: dict[str, Any],
    context: Tensor,
    chosen: slice,
) -> Call:
    """A call of copies: what a layer was given may be written over when it goes on, as in a static
    cache.
    """
    queries, keys, values = map(_with_batch, tensors)
    n_queries = queries.shape[-2]
    rows = torch.arange(n_queries)[chosen]

    def of_rows(tensor: Tensor) -> Tensor:
        return _copied(tensor if tensor.shape[-2] == 1 != n_queries else tensor[..., rows, :])

    kept = {name: value for name, value in options.items() if value is not None}
    if BIAS in kept:
        kept[BIAS] = of_rows(kept[BIAS])
    if SINKS in kept:
        kept[SINKS] = _copied(kept[SINKS])
    mask = None if mask is None else of_rows(_dense(mask, queries, keys))
    return Call(
        of_rows(queries), _copied(keys), _copied(values), mask, scale, of_rows(context),
        rows, n_queries, implementation, kept,
    )  # fmt: skip


def _copied(tensor: Tensor) -> Tensor:
    return tensor.detach().clone(memory_format=torch.contiguous_format)


def _with_batch(tensor: Tensor) -> Tensor:
    """With the axes (batch, head) in front. Raises ValueError for more axes."""
    if not 2 <= tensor.ndim <= 4:
        raise ValueError(f"attention on tensors of {tensor.ndim} axes cannot be recorded")
    return tensor[(None,) * (4 - tensor.ndim)]


def _dense(mask: Any, queries: Tensor, keys: Tensor) -> Tensor:
    """A mask as a tensor (batch or 1, head or 1, query or 1, key)."""
    if hasattr(mask, "mask_mod"):  # a BlockMask of flex attention
        from torch.nn.attention.flex_attention import create_mask

        n_queries, n_keys = queries.shape[-2], keys.shape[-2]
        return create_mask(mask.mask_mod, len(queries), 1, n_queries, n_keys, str(queries.device))
    if mask.dtype != torch.bool and not mask.is_floating_point():
        mask = mask.bool()
    return mask[(None,) * (4 - mask.ndim)]


class _LooksOn(TorchFunctionMode):
    """Sees PyTorch's own attention, as nanoGPT and `nn.TransformerEncoderLayer` call it."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__()
        self._recorder = recorder

    def __torch_function__(
        self, function: Callable, _: object, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        kwargs, recorder = kwargs or {}, self._recorder
        is_own = function in (F.scaled_dot_product_attention, F.multi_head_attention_forward)
        if not is_own or not recorder.looks:
            return function(*args, **kwargs)
        if function is F.multi_head_attention_forward:
            return _of_module(recorder, args, kwargs)
        with recorder.within():
            output = function(*args, **kwargs)
        bound = dict(zip(_SDPA, args, strict=False)) | kwargs
        tensors = tuple(bound[name] for name in ("query", "key", "value"))
        options = {"is_causal": bound.get("is_causal", False), "dropout": bound.get("dropout_p", 0)}
        recorder.take(
            recorder.innermost(), "torch", tensors, bound.get("attn_mask"), bound.get("scale"),
            options, output, _with_batch,
        )  # fmt: skip
        return output


_SDPA = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal", "scale", "enable_gqa")
_MODULE = inspect.signature(F.multi_head_attention_forward)


def _of_module(recorder: Recorder, args: tuple, kwargs: dict) -> Any:
    """What `nn.MultiheadAttention` gives, recorded; its tensors are (query, batch, d_model)."""
    bound = _MODULE.bind(*args, **kwargs)
    bound.apply_defaults()
    given = bound.arguments
    with recorder.within():
        result = F.multi_head_attention_forward(*args, **kwargs)
    names = ("bias_k", "bias_v", "static_k", "static_v")
    unknown = [name for name in names if given[name] is not None]
    if given["add_zero_attn"] or unknown:
        raise ValueError(
            f"nn.MultiheadAttention with {', '.join(unknown) or 'add_zero_attn'} has keys that no "
            "token stands for, which a recording does not know: leave it out with layers=[…]"
        )
    n_heads, sources = given["num_heads"], [given["query"], given["key"], given["value"]]
    if is_single := sources[0].ndim == 2:
        sources = [each[:, None] for each in sources]
    if given["use_separate_proj_weight"]:
        matrices = [given[f"{role}_proj_weight"] for role in "qkv"]
    else:
        matrices = [*given["in_proj_weight"].chunk(3)]
    biases = given["in_proj_bias"]
    biases = [None] * 3 if biases is None else [*biases.chunk(3)]
    # (query, batch, d_model) → (batch, head, query, d_head)
    tensors = tuple(
        F.linear(*each).unflatten(-1, (n_heads, -1)).permute(1, 2, 0, 3)
        for each in zip(sources, matrices, biases, strict=True)
    )
    n_texts, matrix = sources[0].shape[1], given["out_proj_weight"]
    # What goes into the output matrix is what comes out where that is the identity.
    through = {"out_proj_weight": torch.eye(len(matrix)).to(matrix), "out_proj_bias": None}
    with recorder.within(), torch.no_grad(), torch.random.fork_rng(devices=()):
        context = F.multi_head_attention_forward(**given | through)[0]

    def in_heads(flat: Tensor) -> Tensor:
        """(query, batch, d_model), or without a batch → (batch, head, query, d_head)"""
        flat = flat[:, None] if is_single else flat
        return flat.unflatten(-1, (n_heads, -1)).permute(1, 2, 0, 3)

    mask = _joined(given["attn_mask"], given["key_padding_mask"], n_texts, n_heads, is_single)
    dropout = given["dropout_p"] if given["training"] else 0
    recorder.take(
        recorder.innermost(), "torch", tensors, mask, None, {"dropout": dropout}, context, in_heads,
        result[0], lambda gradient: in_heads(gradient @ matrix),
    )  # fmt: skip
    return result


def _joined(
    mask: Tensor | None, padding: Tensor | None, n_texts: int, n_heads: int, is_single: bool
) -> Tensor | None:
    """The masks of `nn.MultiheadAttention` (True = hidden, or numbers that are added) as one of
    ours (True = may look).
    """
    found = []
    if mask is not None:
        mask = mask if mask.ndim == 2 else mask.view(n_texts, n_heads, *mask.shape[1:])
        found.append(mask[(None,) * (4 - mask.ndim)])
    if padding is not None:
        padding = padding[None] if is_single else padding
        found.append(padding[:, None, None])
    found = [~each if each.dtype == torch.bool else each for each in found]
    if len(found) < 2:
        return found[0] if found else None
    first, second = found
    if first.dtype == second.dtype == torch.bool:
        return first & second
    kind = next(each.dtype for each in found if each.is_floating_point())
    hides = torch.zeros((), dtype=kind)
    numbers = [
        each if each.is_floating_point() else hides.masked_fill(~each, -torch.inf) for each in found
    ]
    return numbers[0] + numbers[1]


@contextmanager
def _asked_by_transformers(recorder: Recorder) -> Iterator[None]:
    """While it lasts, models of `transformers` get functions that record. Where the library is not
    loaded, no model can be of it.
    """
    home = sys.modules.get("transformers.modeling_utils")
    interface = getattr(home, "AttentionInterface", None)
    if interface is None:
        yield
        return
    if not hasattr(interface, "get_interface"):
        version = sys.modules["transformers"].__version__
        raise ValueError(
            f"this is transformers {version}, and a recording needs 5 or newer, whose models ask "
            "one registry for their attention: pip install -U transformers"
        )
    with _LOCK:
        if not _LOOKING:
            _replace(interface)
        _LOOKING.append(recorder)
    try:
        yield
    finally:
        with _LOCK:
            _LOOKING.remove(recorder)
            if not _LOOKING:
                interface.get_interface = _OWN.pop("get_interface")
                del interface.__getitem__


_OWN: dict[str, Callable] = {}


def _replace(interface: Any) -> None:
    """Let `get_interface` give functions that record, and `[…]`, which few models use, as well."""
    own, item = interface.get_interface, interface.__getitem__
    _OWN["get_interface"] = own

    def get_interface(self: Any, name: str, default: Callable) -> Callable:
        return _recording(name, own(self, name, default))

    interface.get_interface = get_interface
    interface.__getitem__ = lambda self, name: _recording(name, item(self, name))


def _recording(name: str, function: Callable) -> Callable:
    """A function of attention that answers as it does, and is recorded where a recorder knows its
    module.
    """
    if getattr(function, "records", False):
        return function

    def attention(module: nn.Module, *args: Any, **kwargs: Any) -> Any:
        looking = [each for each in _LOOKING if each.knows(module) and each.looks]
        if not looking:
            return function(module, *args, **kwargs)
        named = dict(zip(("query", "key", "value", "attention_mask"), args, strict=False)) | kwargs
        with ExitStack() as stack:
            for each in looking:
                stack.enter_context(each.within())
            result = function(module, *args, **kwargs)
        tensors = tuple(named.pop(each) for each in ("query", "key", "value"))
        mask, scale = named.pop("attention_mask", None), named.pop("scaling", None)
        if SINKS not in named and "sinks" in named:  # the same by another name
            named[SINKS] = named.pop("sinks")
        if named.get("is_causal") is None:
            named["is_causal"] = getattr(module, "is_causal", True)
        n_texts, n_heads, n_queries = tensors[0].shape[:3]
        sizes = n_texts, n_queries, n_heads, tensors[2].shape[-1]

        def to_context(output: Tensor) -> Tensor:
            """(batch, query, head, d_value), also as one → (batch, head, query, d_value)"""
            # Not by its own shape: a function that forgets to transpose gives (batch, head, …).
            return output.reshape(*sizes).transpose(1, 2)

        for each in looking:
            each.take(module, name, tensors, mask, scale, named, result[0], to_context)
        return result

    attention.records = True  # type: ignore[attr-defined]
    return attention
