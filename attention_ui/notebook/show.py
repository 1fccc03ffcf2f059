"""`show`: a trace, a step of it, or anyone's weights as a picture."""

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from attention_core.operations import Given
from attention_core.trace import Step, Trace

from ..picture.equation_parts import NEW_LINE, equation_of
from ..picture.layer import BEFORE_SHARES, GIVEN, MATRICES, OUTPUTS, whole_layer
from ..picture.layout import Layout, equation
from ..picture.margin import is_grid
from ..picture.matrix import Matrix
from ..picture.positions import positions
from ..picture.scale import is_shares
from ..picture.sentence import weighted, with_sentence
from ..picture.spec import Stops
from ..picture.table import MOST_POINTED
from .picture import Picture, new_place

MOST_TOKENS, MOST_NUMBERS = 256, 250_000
"""Along one axis of a matrix, and of all layers together: more is no picture to be read."""
MOST_HEADS, MOST_SHOWN, A_LINE = 32, 4, 4
"""Heads of weights, heads of a trace, and heads in a line."""
ROWS_OF_HEADS = 215
"""Pixels for each line of heads."""
LAYER = (GIVEN, *MATRICES, "head_queries", "head_keys", "head_values", BEFORE_SHARES[-1],
         "head_weights", "head_context_vectors", *OUTPUTS)  # fmt: skip
"""What a trace has that is drawn as a whole layer."""


def show(
    what: Trace | Step | Tensor | Sequence,
    of: str | Sequence[str] | None = None,
    *,
    query_tokens: Sequence[str] | None = None,
    layer: int | None = None,
    head: int | None = None,
) -> Picture:
    """A picture for a notebook: point at a number to see what it is made of.

    `show(trace)` draws what a trace is about, `show(trace, "weights")` the equation of one step,
    and `show(weights, tokens)` the weights of any model: (query, key), (head, query, key), (layer,
    head, query, key), or with a batch of 1 in front. `tokens` name the keys, and the queries too
    where there are as many; `query_tokens` name other ones. `layer` and `head` choose one.

    Raises ValueError, in words, for what cannot be drawn.
    """
    if isinstance(what, Step):
        return show(Trace.of(what), what.name, head=head)
    if isinstance(what, Trace):
        layout = _of_step(what, of, head) if of is not None else _of_trace(what, head)
        return Picture(layout, notices=_notices(layout))
    return _of_weights(what, of, query_tokens, layer, head)


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
    sizes = {size for step in seen for size in step.value.shape[:-2][-1:]}
    n_heads = max(sizes, default=1)
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
    if not isinstance(value, int) or not 0 <= value < length:
        raise ValueError(f"there is no {name} {value!r}: choose one from 0 to {length - 1}")
    return value


def _of_weights(
    given: Tensor | Sequence,
    tokens: Sequence[str] | None,
    query_tokens: Sequence[str] | None,
    layer: int | None,
    head: int | None,
) -> Picture:
    weights = _layers(given)
    n_layers, n_heads, n_queries, n_keys = weights.shape
    if max(n_queries, n_keys) > MOST_TOKENS:
        raise ValueError(
            f"these weights have {n_queries} queries and {n_keys} keys: a picture has room for "
            f"{MOST_TOKENS}. Choose a part, such as weights[..., :{MOST_TOKENS}, :{MOST_TOKENS}]"
        )
    if query_tokens is None and n_queries == n_keys:
        query_tokens = tokens
    keys = _named("tokens", tokens, n_keys, "keys")
    queries = _named("query_tokens", query_tokens, n_queries, "queries")
    first_layer = 0
    if layer is not None:
        first_layer = _checked("layer", layer, n_layers)
        weights = weights[first_layer : first_layer + 1]
    heads = range(n_heads) if head is None else (_checked("head", head, n_heads),)
    notices = []
    if len(heads) > MOST_HEADS:
        notices.append(f"The first {MOST_HEADS} of {n_heads} heads are drawn: head= chooses one.")
        heads = heads[:MOST_HEADS]
    if n_heads > 1:
        weights = weights[:, list(heads)]
    if weights.numel() > MOST_NUMBERS:
        raise ValueError(
            f"{weights.numel():,} weights are more than a picture has room for, which is "
            f"{MOST_NUMBERS:,}: choose one with layer= or head="
        )
    labels = {"query": queries, "key": keys}
    layouts = [_grid(each, labels, heads, n_heads) for each in weights]
    first, stops, lists = layouts[0], None, None
    if len(layouts) > 1:
        stops = Stops("Layer", 0, len(layouts) - 1, 1, 0, new_place())
        lists = positions(first, [each.matrices for each in layouts])
    return Picture(first, stops, lists, [*notices, *_notices(*layouts)])


def _layers(given: Tensor | Sequence) -> Tensor:
    """Weights as (layer, head, query, key). Raises ValueError for what is none."""
    try:
        if isinstance(given, tuple | list) and given and isinstance(given[0], Tensor):
            given = torch.stack([*given])  # as a model's `attentions`, a tensor a layer
        tensor = torch.as_tensor(given).detach().cpu().float()
    except (RuntimeError, TypeError, ValueError) as error:
        raise ValueError("these are no weights: show takes a trace, a step or a tensor") from error
    axes = "(query, key), (head, query, key) or (layer, head, query, key)"
    sizes = " × ".join(map(str, tensor.shape)) or "a single number"
    if tensor.ndim == 5 and tensor.shape[1] == 1:
        tensor = tensor[:, 0]
    elif tensor.ndim == 5 and tensor.shape[0] == 1:
        tensor = tensor[0]
    if not 2 <= tensor.ndim <= 4 or not tensor.numel():
        raise ValueError(f"these weights are {sizes}, but should be {axes}, or with a batch of 1")
    if not tensor.isfinite().all():
        at = (~tensor.isfinite()).nonzero()[0].tolist()
        raise ValueError(f"these weights have {tensor[tuple(at)].item()} at {at}: no share of 1")
    return tensor.reshape((1,) * (4 - tensor.ndim) + tuple(tensor.shape))


def _named(name: str, tokens: Sequence[str] | None, count: int, of: str) -> tuple[str, ...]:
    if tokens is None:
        return ()
    if isinstance(tokens, str) or not all(isinstance(each, str) for each in tokens):
        raise ValueError(f"{name} should be a list of strings, one for each of the {count} {of}")
    if len(tokens) != count:
        raise ValueError(f"there are {len(tokens)} {name} but {count} {of} in these weights")
    return tuple(tokens)


def _grid(weights: Tensor, labels: dict, heads: Sequence[int], n_heads: int) -> Layout:
    """The weights (head, query, key) of one layer, below the sentence."""
    trace = Trace(**{axis: names for axis, names in labels.items() if names})
    if n_heads == 1:
        weights, axes = weights[0], ("query", "key")
    else:
        axes = ("head", "query", "key")
    step = trace.step("weights", Given.of(weights), axes=axes)
    whole = Matrix(step)
    each = [whole] if n_heads == 1 else [
        replace(whole, lead=(at,), title=f"head {head}") for at, head in enumerate(heads)
    ]  # fmt: skip
    parts: list[Matrix | str] = []
    for at, one in enumerate(each):
        parts += [NEW_LINE, one] if at and at % A_LINE == 0 else [one]
    n_lines = -(-len(each) // A_LINE)
    layout = equation(trace, *parts, tall=max(300, n_lines * ROWS_OF_HEADS))
    return with_sentence(layout, 0, range(len(each)))


def _notices(*layouts: Layout) -> list[str]:
    """What to know of weights before they are believed."""
    found = []
    drawn = [one for layout in layouts for one in layout.matrices if is_grid(one)]
    off = [
        (abs(total - 1), query, total, one.name)
        for one in drawn
        for query, total in enumerate(one.drawn.float().sum(dim=-1).tolist())
        if abs(total - 1) > 1e-3
    ]
    if off:
        _, query, total, name = max(off)
        more = f", and {len(off) - 1} more rows are not 1" if len(off) > 1 else ""
        found.append(f"Row {query} of {name} sums to {total:.4g}, not 1{more}.")
    if any(bool((one.drawn < 0).any()) for one in drawn):
        found.append("Some weights are below 0, which no share is.")
    if sum(one.drawn.numel() for one in layouts[0].matrices) > MOST_POINTED:
        found.append(f"Of more than {MOST_POINTED:,} numbers only each number itself is told.")
    return found
