"""`show`: a trace, a step of it, or anyone's weights as a picture."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from operator import index
from typing import Any, TypeVar

import torch
from torch import Tensor

from attention_core.comparing.comparison import Comparison
from attention_core.mechanism.own_tensors import PRECISIONS, sizes
from attention_core.operations import Given
from attention_core.operations.base import Meaning
from attention_core.recording.call import SINKS
from attention_core.recording.recording import Layer, Recording
from attention_core.trace import Step, Trace, is_shares
from attention_core.utils.head_name import head_name

from ..picture.equation_parts import NEW_LINE, equation_of
from ..picture.layer import BEFORE_SHARES, GIVEN, MATRICES, OUTPUTS, whole_layer
from ..picture.layout import Layout, equation
from ..picture.margin import is_grid, is_one
from ..picture.matrix import Matrix
from ..picture.positions import positions
from ..picture.sentence import weighted, with_sentence
from ..picture.spec import Stops
from ..picture.table import MOST_POINTED
from .heads import HeadsPicture
from .image import ImagePicture, as_image
from .patches import cut, fitting_kind
from .picture import Picture, new_place
from .returned import layers_of

T = TypeVar("T")
MOST_TOKENS, MOST_CELLS, MOST_NUMBERS = 256, 20_000, 800_000
"""Along one axis, and numbers that each are a mark, at a time and of all positions: of more marks
an answer to the pointer took up to a second, so heads are images then.
"""
MOST_READ = 64
"""A longer text fills the screen by itself: it is not written above its weights."""
MOST_HEADS, MOST_SHOWN, A_LINE = 32, 4, 4
"""Heads of weights, heads of a trace, and heads in a line."""
MOST_IN_FILE = 6_000_000
"""Weights in a picture of images: two bytes each, packed, of a notebook's file."""
ALIKE = 0.03
"""How far an image's shape may be from its patches' before that is said."""
ROWS_OF_HEADS = 215
"""Pixels for each line of heads."""
LAYER = (GIVEN, *MATRICES, "head_queries", "head_keys", "head_values", BEFORE_SHARES[-1],
         "head_weights", "head_context_vectors", *OUTPUTS)  # fmt: skip
"""What a trace has that is drawn as a whole layer."""


def show(
    what: Trace | Step | Tensor | Recording | Comparison | Sequence | Mapping,
    of: str | Sequence[str] | None = None,
    *,
    query_tokens: Sequence[str] | None = None,
    layer: int | None = None,
    head: int | None = None,
    kind: str | None = None,
    text: int | None = None,
    step: int | None = None,
    image: Any = None,
    grid: tuple[int, int] | None = None,
) -> Picture | HeadsPicture | ImagePicture:
    """A picture for a notebook: point at a number to see what it is made of.

    `show(trace)` draws what a trace is about, `show(trace, "weights")` the equation of one step,
    and `show(weights, tokens)` the weights of any model: (query, key), (head, query, key), (layer,
    head, query, key), or with a batch of 1 in front; a tensor for each layer, as a model's
    `attentions`; a dict of weights by name; the whole output of a model or of its `generate`, also
    with beams. `show(seen, tokens)` draws what `recorded` has seen of a model as it is loaded: its
    `kind` is a part of its layers' names, such as `"decoder"`, `text` one of a batch, and `step`
    one of writing. `show(compare(mine, theirs))` draws the first step that differs: ours, theirs,
    the difference.

    `tokens` name the keys, and the queries too where there are as many; `query_tokens` name those
    of another sentence. `layer` and `head` choose one, from the end where below 0.

    `show(seen, image=photo)` draws an image that a model has seen (a PIL image, a path, an array or
    a tensor) under its patches, each as clear as the weight that it gets from the patch, special
    token or word that is pointed at. Into how many patches it was cut the recording knows, or
    `grid` says: rows and columns.

    Raises ValueError, in words, for what cannot be drawn.
    """
    if isinstance(what, Comparison):
        others = {"of": of, "query_tokens": query_tokens, "layer": layer, "kind": kind}
        for name, value in (others | {"step": step, "image": image, "grid": grid}).items():
            if value is not None:
                raise ValueError(f"{name} is not for a comparison: it draws what differs first")
        trace = what.trace(text, head)
        drawn = _of_step(trace, "difference", None)
        places = [*zip(what.axes[:-2], what.worst(), strict=False)]
        place = ", ".join(f"{axis} {at}" for axis, at in places if head is None and text is None)
        which = [f"Drawn is where they differ most: {place}."] if place else []
        return Picture(drawn, notices=[*str(what).splitlines(), *which])
    if isinstance(what, Recording) and image is not None:
        return _of_image(what, image, grid, of, layer, head, kind, text, step)
    if isinstance(what, Recording):
        return _of_recording(what, of, query_tokens, layer, head, kind, text, step)
    for name, value in (
        ("kind", kind),
        ("text", text),
        ("step", step),
        ("image", image),
        ("grid", grid),
    ):
        if value is not None:
            raise ValueError(f"{name} is for what was recorded, and this is something else")
    if not isinstance(what, Step | Trace):
        return _of_weights(what, of, query_tokens, layer, head)
    for name, value in (("query_tokens", query_tokens), ("layer", layer)):
        if value is not None:
            raise ValueError(f"{name} is for a model's weights, but this is a trace: leave it out")
    if isinstance(what, Step):
        if of is not None:
            raise ValueError(f"a step has its own names: leave {of!r} out, or show its trace")
        return show(Trace.of(what), what.name, head=head)
    layout = _of_step(what, of, head) if of is not None else _of_trace(what, head)
    drawn = [(each.name, each.drawn) for each in layout.matrices if is_grid(each)]
    n_cells = sum(each.drawn.numel() for each in layout.matrices)
    return Picture(layout, notices=_notices(drawn, n_cells))


def _of_trace(trace: Trace, head: int | None) -> Layout:
    if not trace:
        raise ValueError("this trace has no steps yet: add one with trace.step(…)")
    is_layer = all(name in trace for name in LAYER) and trace["head_weights"].value.ndim == 3
    if head is None and is_layer and trace[GIVEN].value.ndim == 2:
        _refuse_large(trace[name] for name in LAYER)
        return whole_layer(trace, 0)
    axes = ("query", "key")
    weights = [step for step in trace.values() if is_shares(step) and step.axes[-2:] == axes]
    if not weights:
        return _of_step(trace, [*trace][-1], head)
    of = weights[-1]
    after = [step for step in trace.values() if of in step.inputs and step.axes[-1] != "key"]
    return _drawn(trace, [of, *after[:1]], head)


def _of_step(trace: Trace, name: object, head: int | None) -> Layout:
    if not isinstance(name, str) or name not in trace:
        raise ValueError(f"this trace has no step {name!r}. Its steps are: {', '.join(trace)}")
    return _drawn(trace, [trace[name]], head)


def _drawn(trace: Trace, chain: Sequence[Step], head: int | None) -> Layout:
    """Steps as one equation; of those with heads, the first few below each other."""
    seen = {*chain, *(given for step in chain for given in step.inputs)}
    _refuse_large(seen)
    n_heads = max({size for step in seen for size in step.value.shape[:-2][-1:]}, default=1)
    heads = range(min(n_heads, MOST_SHOWN)) if head is None else (_checked("head", head, n_heads),)
    parts: list[Matrix | str] = []
    for each in heads:
        own = []
        for step in chain:
            for at, given in enumerate((*step.inputs, step)):
                if lead := _lead(given, each):
                    turned = at == 1 and getattr(step.operation, "transpose", False)
                    own.append(Matrix(given, lead=lead, transposed=turned))
        parts += [*([NEW_LINE] if parts else []), *equation_of(*chain, drawn=own)]
    layout = equation(trace, *parts)
    found = weighted(layout.matrices)
    places = [at for at, one in enumerate(layout.matrices) if one in found and is_grid(one)]
    return with_sentence(layout, 0, places) if places else layout


def _lead(step: Step, head: int) -> tuple[int, ...]:
    """The place of a head among the axes before the last two; of a batch, the first text."""
    front = step.value.shape[:-2]
    # Fewer key heads than query heads: their own number may be smaller.
    return (*(0 for _ in front[:-1]), min(head, front[-1] - 1)) if front else ()


def _refuse_large(steps: Sequence[Step]) -> None:
    for step in steps:
        if max(step.value.shape[-2:], default=0) > MOST_TOKENS:
            raise ValueError(
                f"{step.name} is {step.shape}: a picture has room for {MOST_TOKENS} rows and "
                "columns. Choose a smaller step by its name, or a part of the tensor"
            )


def _checked(name: str, value: object, length: int) -> int:
    try:
        at = index(value)
    except TypeError:
        at = length
    if isinstance(value, bool) or not -length <= at < length:
        raise ValueError(f"there is no {name} {value!r}: choose one from 0 to {length - 1}")
    return at % length


def _of_weights(
    given: Any,
    tokens: Iterable[str] | None,
    query_tokens: Iterable[str] | None,
    layer: int | None,
    head: int | None,
    *,
    sums: bool = True,
) -> Picture | HeadsPicture:
    """Weights by anyone; whether each row `sums` to 1 is looked at, unless what made them is known.
    Raises ValueError, in words, for what cannot be drawn.
    """
    weights, kind, is_written, notices = layers_of(given)
    n_layers, n_heads, n_queries, n_keys = weights.shape
    if max(n_queries, n_keys) > MOST_TOKENS:
        raise ValueError(
            f"these weights have {n_queries} queries and {n_keys} keys: a picture has room for "
            f"{MOST_TOKENS}. Choose a part, such as weights[..., :{MOST_TOKENS}, :{MOST_TOKENS}]"
        )
    keys = _named("tokens", tokens, n_keys, "keys", is_written)
    queries = _named("query_tokens", query_tokens, n_queries, "queries", is_written)
    two = kind.endswith("cross_attentions") or n_queries != n_keys or bool(queries)
    labels = {"query": queries if two else keys, "key": keys}
    layers = range(n_layers) if layer is None else (_checked("layer", layer, n_layers),)
    heads = range(n_heads) if head is None else (_checked("head", head, n_heads),)
    heads = _first(heads, MOST_HEADS, "head", notices)
    n_cells = n_queries * n_keys
    # Where not all heads of a layer can be drawn number by number, all are drawn as images.
    if len(heads) * n_cells > MOST_CELLS:
        return _as_images(weights, layers, heads, keys, queries, two, notices, sums)
    n_cells *= len(heads)
    layers = _first(layers, MOST_NUMBERS // n_cells, "layer", notices)
    layouts = [_grid(weights[at, list(heads)], labels, heads, n_heads, two) for at in layers]
    first, stops, lists = layouts[0], None, None
    if len(layouts) > 1:
        stops = Stops("Layer", 0, len(layouts) - 1, 1, 0, f".{new_place()}")
        lists = positions(first, [each.matrices for each in layouts])
    drawn = [
        (
            head_name(head, at if n_layers > 1 else None)
            if n_heads > 1
            else "weights" + f" in layer {at}" * (n_layers > 1),
            weights[at, head],
        )
        for at in layers
        for head in heads
    ]
    return Picture(first, stops, lists, [*notices, *_notices(drawn, n_cells, sums)])


def _as_images(
    weights: Tensor,
    layers: Sequence[int],
    heads: Sequence[int],
    keys: Sequence[str],
    queries: Sequence[str],
    two: bool,
    notices: list[str],
    sums: bool,
) -> HeadsPicture:
    """All heads of all layers, as many as a notebook's file has room for."""
    n_cells = weights.shape[-2] * weights.shape[-1]
    heads = _first(heads, MOST_IN_FILE // n_cells, "head", notices)
    layers = _first(layers, MOST_IN_FILE // (n_cells * len(heads)), "layer", notices)
    chosen = weights[list(layers)][:, list(heads)]
    drawn = [
        (head_name(head, at), chosen[place, where])
        for place, at in enumerate(layers)
        for where, head in enumerate(heads)
    ]
    return HeadsPicture(
        chosen,
        [f"layer {at}" for at in layers],
        heads,
        keys,
        queries if two else keys,
        [*notices, *_notices(drawn, 0, sums)],
    )


def _of_recording(
    seen: Recording,
    tokens: Iterable[str] | None,
    query_tokens: Iterable[str] | None,
    layer: int | None,
    head: int | None,
    kind: str | None,
    text: int | None,
    step: int | None,
) -> Picture | HeadsPicture:
    """The weights of all heads of all layers of a kind, or of one layer."""
    layers, at = chosen_layers(seen, kind, layer), chosen_text(seen, text)
    weights = [each.weights(step)[at : at + 1] for each in layers]
    shapes = {each.shape[1:] for each in weights}
    if len(shapes) > 1:
        raise ValueError(
            "these layers have weights of several shapes, "
            f"{' and '.join(sizes(each[0]) for each in weights[:2])}: choose one, such as "
            f"layer={layers[0].place}"
        )
    queries: Iterable[str] | None = query_tokens
    keys = tokens if tokens is not None else layers[0].key_names(step, at) or None
    n_queries, n_keys = weights[0].shape[-2:]
    if queries is None and n_queries != n_keys and tokens is None:
        queries = layers[0].query_names(step, at) or None
    drawn = _of_weights(weights, keys, queries, None, head, sums=False)
    if isinstance(drawn, HeadsPicture):
        drawn.layers = [each.name for each in layers[: len(drawn.layers)]]
    notices = [*drawn.notices]
    places = [each.place for each in layers]
    if places != [*range(len(places))]:
        names = ", ".join(each.name for each in layers[:A_LINE])
        more = f" and {len(layers) - A_LINE} more" if len(layers) > A_LINE else ""
        notices.append(f"Layers, from 0: {names}{more}.")
    others = [name for name in seen.kinds if name != layers[0].kind] if layer is None else ()
    if others:
        notices.append(f"There are other layers: {', '.join(f'kind={x!r}' for x in others)}.")
    drawn.notices = [*notices, *what_rows_lack(weights, layers, step), *seen.notices]
    return drawn


def _of_image(
    seen: Recording,
    image: Any,
    grid: tuple[int, int] | None,
    tokens: Iterable[str] | None,
    layer: int | None,
    head: int | None,
    kind: str | None,
    text: int | None,
    step: int | None,
) -> ImagePicture:
    """An image under its patches, with the weights of all heads of all layers of a kind."""
    drawn = as_image(image)
    if kind is None and layer is None:
        kind = fitting_kind(seen)
    layers, at = chosen_layers(seen, kind, layer), chosen_text(seen, text)
    names = None if tokens is None else [str(each) for each in tokens]
    made = cut(seen, layers[0], at, step, grid, names)
    n_heads = layers[0].calls[-1].n_heads
    heads: Sequence[int] = range(n_heads) if head is None else [_checked("head", head, n_heads)]
    call, notices = layers[0].call(step), list[str]()
    n_cells = len(call.rows) * call.keys.shape[-2]
    heads = _first(heads, max(1, MOST_IN_FILE // n_cells), "head", notices)
    n_layers = max(1, MOST_IN_FILE // (n_cells * len(heads)))
    layers = [*_first(layers, n_layers, "layer", notices)]
    weights = [each.weights(step)[at][list(heads)].cpu() for each in layers]
    if len({each.shape for each in weights}) > 1:
        raise ValueError(
            "these layers have weights of several shapes: choose one, such as "
            f"layer={layers[0].place}"
        )
    rows, columns = made.grid
    if abs(drawn.width * rows / (drawn.height * columns) - 1) > ALIKE:
        notices.append(
            f"The image has {drawn.width} × {drawn.height} pixels, and its {columns} × {rows} "
            "patches another shape: it is stretched to them. Where your processor cuts edges off, "
            "give what the model saw, such as pixel_values[0]."
        )
    notices += what_rows_lack(weights, layers, step) + seen.notices
    called = [each.name for each in layers]
    return ImagePicture(drawn, made, torch.stack(weights), called, heads, notices)


def chosen_layers(seen: Recording, kind: str | None, layer: int | None) -> list[Layer]:
    """The layers of a kind, or one. Raises ValueError, in words, where there is none."""
    layers = seen.of_kind(kind) if layer is None else [seen[layer]]
    if not layers:
        why = " ".join(seen.notices) or "run the model within recorded(…)"
        raise ValueError(f"nothing was recorded: {why}")
    return layers


def chosen_text(seen: Recording, text: int | None) -> int:
    """Which text of a batch. Raises ValueError where there are several and none is chosen."""
    n_texts = len(next(iter(seen)).calls[-1].queries)
    if text is None and n_texts > 1:
        raise ValueError(f"{n_texts} texts were recorded: choose one, such as text=0")
    return _checked("text", text or 0, n_texts)


def what_rows_lack(
    weights: Sequence[Tensor], layers: Sequence[Layer], step: int | None
) -> list[str]:
    """What a recording says of rows that are no 1, and of what its precision rounds."""
    told = []
    sinks = [each for each in layers if each.calls[-1].options.get(SINKS) is not None]
    if sinks:
        left = [1 - w.sum(dim=-1) for w, each in zip(weights, layers, strict=True) if each in sinks]
        most = max(each.max().item() for each in left)
        told.append(
            f"Each head has an attention sink, a learned number beside the scores: it takes up to "
            f"{most:.0%} of a row, and the rest is what the keys get."
        )
    empty = int((weights[0].sum(dim=-1) == 0).all(dim=1).sum())
    if empty:
        told.append(f"{empty} rows see nothing, as those of padding do: they are 0.")
    worst = max((each.call(step) for each in layers), key=lambda each: each.rounded_by())
    return [*told, *filter(None, [worst.rounding()])]


def _first(of: Sequence[T], most: int, name: str, notices: list[str]) -> Sequence[T]:
    """As many as there is room for, with a notice of those that are left out."""
    if len(of) > most:
        told = f"The first {most} of {len(of)} {name}s are" if most > 1 else f"Only {name} 0 is"
        notices.append(f"{told} drawn: {name}= chooses one.")
    return of[:most]


def _named(
    name: str, tokens: Iterable[str] | None, count: int, of: str, is_written: bool
) -> tuple[str, ...]:
    if tokens is None:
        return ()
    found = tuple(tokens) if isinstance(tokens, Iterable) else (tokens,)
    if isinstance(tokens, str) or not all(isinstance(each, str) for each in found):
        raise ValueError(f"{name} should be a list of strings, one for each of the {count} {of}")
    if is_written and len(found) == count + 1:
        return found[:-1]  # the token that was written last was not read
    if len(found) != count:
        raise ValueError(f"there are {len(found)} {name} but {count} {of} in these weights")
    return found


def _grid(weights: Tensor, labels: dict, heads: Sequence[int], n_heads: int, two: bool) -> Layout:
    """The weights (head, query, key) of one layer, below the sentence, or below two."""
    trace = Trace(**{axis: names for axis, names in labels.items() if names})
    is_one_of_many = n_heads > 1
    axes = ("head", "query", "key") if is_one_of_many else ("query", "key")
    given = weights if is_one_of_many else weights[0]
    numbers = Given.of(given, PRECISIONS[given.dtype])
    whole = Matrix(trace.step("weights", numbers, axes=axes, meaning=Meaning.SHARES))
    each = [
        replace(whole, lead=(at,), title=f"head {head}") for at, head in enumerate(heads)
    ] if is_one_of_many else [whole]  # fmt: skip
    parts: list[Matrix | str] = []
    for at, one in enumerate(each):
        parts += [NEW_LINE, one] if at and at % A_LINE == 0 else [one]
    n_lines = -(-len(each) // A_LINE)
    layout = equation(trace, *parts, tall=max(300, n_lines * ROWS_OF_HEADS))
    if max(weights.shape[-2:]) > MOST_READ:
        return layout
    return with_sentence(layout, 0, range(len(each)), two)


def _notices(drawn: Sequence[tuple[str, Tensor]], n_cells: int, sums: bool = True) -> list[str]:
    """What to know of weights, each with its name, before they are believed."""
    found = []
    off = [
        (abs(total - 1), query, total, name)
        for name, weights in drawn
        for query, total in enumerate(weights.float().sum(dim=-1).tolist())
        if abs(total - 1) > 1e-3 and not is_one(total, weights.dtype)
    ]
    if off and sums:
        _, query, total, name = max(off)
        more = f", and {len(off) - 1} more rows are not 1" if len(off) > 1 else ""
        found.append(f"Row {query} of {name} sums to {total:.4g}, not 1{more}.")
    if any(bool((weights < 0).any()) for _, weights in drawn):
        found.append("Some weights are below 0, which no share is.")
    if n_cells > MOST_POINTED:
        found.append(f"Of more than {MOST_POINTED:,} numbers only each number itself is told.")
    return found
