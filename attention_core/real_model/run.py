"""A sentence through a whole model in plain torch; a test holds it against the trace."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import gelu, layer_norm, relu, silu

from ..operations import Rotate
from .changes import NONE, Changes
from .model import Model
from .settings import Settings, Turn

BENDS: dict[str, Callable[[Tensor], Tensor]] = {
    "silu": silu,
    "gelu": gelu,
    "gelu_tanh": lambda numbers: gelu(numbers, approximate="tanh"),
    "relu": relu,
}
ROWS_AT_ONCE = 8192
"""So many rows of the vocabulary's table are in memory at a time."""


class Cache:
    """Keys and values of all tokens so far, of each layer: (row, key head, token, d_head)."""

    def __init__(self) -> None:
        self._of_layer: dict[int, tuple[Tensor, Tensor]] = {}

    def __len__(self) -> int:
        return self.n_before(0)

    def n_before(self, layer: int) -> int:
        """How many tokens' keys a layer has."""
        return self._of_layer[layer][0].shape[-2] if layer in self._of_layer else 0

    def joined(self, layer: int, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Those of a layer with those of new tokens behind them, which are kept too."""
        if before := self._of_layer.get(layer):
            keys, values = (
                torch.cat((was, new), dim=-2)
                for was, new in zip(before, (keys, values), strict=True)
            )
        self._of_layer[layer] = keys, values
        return keys, values

    def of_rows(self, rows: Sequence[int]) -> "Cache":
        """That of some rows, in this order: of the beams that go on."""
        made = Cache()
        made._of_layer = {
            layer: (keys[rows], values[rows]) for layer, (keys, values) in self._of_layer.items()
        }
        return made


@dataclass(frozen=True)
class Run:
    """All that is kept of one sentence's way through a model."""

    model: Model
    ids: tuple[int, ...]
    changes: Changes
    weights: Tensor
    """(layer, head, query, key)"""
    context_vectors: Tensor
    """(layer, head, query, d_head): what each head has gathered."""
    before: Tensor
    """The stream before each layer (layer, query, d_model)."""
    attention_added: Tensor
    """What attention added to the stream (layer, query, d_model)."""
    between: Tensor
    """The stream between attention and feed-forward (layer, query, d_model)."""
    ffn_added: Tensor
    """What the feed-forward added to the stream (layer, query, d_model); 0 where there is none."""
    final: Tensor
    """The stream behind the last layer (query, d_model), before the last norm."""

    @property
    def n_bytes(self) -> int:
        """How much memory it takes."""
        return sum(getattr(self, name).nbytes for name in (*_KEPT, "final"))


def run(
    model: Model,
    ids: Sequence[int],
    *,
    changed: Changes | None = None,
    each_layer: Callable[[int], object] | None = None,
) -> Run:
    """A sentence's way through a model: `ids` are those of its tokens.

    `changed` says what is switched off or put in another's place. `each_layer` is called with the
    number of each layer when it is done, and may raise to stop. Raises ValueError, in words, for
    no tokens, too many, or one that the model does not have.
    """
    for layer, (_, found) in enumerate(layer_by_layer(model, ids, changed or NONE)):
        if found is not None:
            return found
        if each_layer is not None:
            each_layer(layer)
    raise AssertionError("the last that comes is the run")


@torch.no_grad()
def layer_by_layer(
    model: Model, ids: Sequence[int], changes: Changes = NONE
) -> Iterator[tuple[float, Run | None]]:
    """In steps: the share done after each layer, at last the run. Raises ValueError as `run`."""
    model = model.reading(len(ids))
    settings = model.settings
    check_ids(settings, ids)
    changes.check(settings, len(ids))
    stream = embedded(model, ids)
    windows = set(settings.windows) or {None}
    hidden = {window: hidden_keys(settings, len(ids), window, changes) for window in windows}
    kept: dict[str, Tensor] = {}
    for layer in range(settings.n_layers):
        stream = changes.patched(layer, stream)
        found = through_layer(
            settings, layer, model.layer(layer), stream, hidden[settings.window(layer)], changes
        )
        for name, value in zip(_KEPT, (*found[:2], stream, *found[2:5]), strict=True):
            if not layer:  # all at once: stacked at the end, there would be two of everything
                kept[name] = value.new_empty(settings.n_layers, *value.shape)
            kept[name][layer] = value
        stream = found[5]
        yield (layer + 1) / (settings.n_layers + 1), None
    stream = changes.patched(settings.n_layers, stream)
    yield 1.0, Run(model, tuple(ids), changes, **kept, final=stream)


_KEPT = ("weights", "context_vectors", "before", "attention_added", "between", "ffn_added")


def check_ids(settings: Settings, ids: Sequence[int]) -> None:
    """Raises ValueError, in words, where these cannot be the tokens of a sentence."""
    if not ids:
        raise ValueError("there are no tokens: type at least one word that the model knows")
    if settings.longest is not None and len(ids) > settings.longest:
        raise ValueError(
            f"the sentence has {len(ids):,} tokens, but this model reads at most "
            f"{settings.longest:,}"
        )
    for token in ids:
        if not 0 <= token < settings.n_vocabulary:
            raise ValueError(
                f"there is no token {token}: the model's vocabulary has "
                f"{settings.n_vocabulary:,}, counted from 0"
            )


def embedded(model: Model, ids: Sequence[int], first: int = 0) -> Tensor:
    """The stream before the first layer (token, d_model); the first token has place `first`."""
    stream = added_up(model, ids, first)
    if model.settings.embedding_norm:
        gain, bias = model.norm("embedding_norm")
        stream = normed(model.settings, stream, gain, bias)
    return stream


def added_up(model: Model, ids: Sequence[int], first: int = 0) -> Tensor:
    """The same before a norm on it: the vector of each token, of its place and of its kind."""
    settings = model.settings
    stream = model.matrix("token_table", list(ids)) * settings.embedding_scale
    if settings.positions == "learned":
        stream = stream + model.matrix("position_table", list(range(first, first + len(ids))))
    return stream + model.matrix("type_table", [0]) if settings.token_types else stream


def normed(settings: Settings, vectors: Tensor, gain: Tensor, bias: Tensor | None) -> Tensor:
    """Vectors (…, d) after the norm of this family."""
    if settings.norm == "layer":
        return layer_norm(vectors, vectors.shape[-1:], gain, bias, settings.epsilon)
    size = torch.rsqrt(vectors.square().mean(-1, keepdim=True) + settings.epsilon)
    return vectors * size * (gain + 1 if settings.norm_adds_one else gain)


def rotated(vectors: Tensor, turn: Turn, first: int = 0) -> Tensor:
    """Vectors (…, token, d_head) turned by their places, the first of which is given."""
    places = torch.arange(first, first + vectors.shape[-2]).double()[:, None]
    angles = (places * torch.tensor(turn.rates, dtype=torch.float64)).float()
    return Rotate(turn.neighbours, turn.rest, turn.stretch).value(vectors, angles)


def hidden_keys(settings: Settings, n: int, window: int | None, changes: Changes = NONE) -> Tensor:
    """Which keys a query does not see (query, key)."""
    hidden = torch.zeros(n, n, dtype=torch.bool)
    if settings.causal:
        hidden = torch.ones(n, n, dtype=torch.bool).triu(1)
    if window is not None:
        hidden |= torch.ones(n, n, dtype=torch.bool).tril(-window)
    for token in changes.hidden_tokens & {*range(n)}:
        hidden[:, token] = True
        hidden[token, token] = False  # a token sees itself, or its first query would see nothing
    return hidden


def through_layer(
    settings: Settings,
    layer: int,
    matrices: Mapping[str, Tensor],
    stream: Tensor,
    hidden: Tensor,
    changes: Changes = NONE,
    past: Tensor | None = None,
    cache: Cache | None = None,
) -> tuple[Tensor, ...]:
    """One layer on a stream (…, token, d_model): weights, context vectors, what attention added,
    the stream then, what the feed-forward added, and the stream behind the layer. `past` is the
    stream of tokens before these (past, d_model), which are keys and values only; a `cache` has
    keys and values of those before, and takes up these.
    """

    def norm(name: str, vectors: Tensor) -> Tensor:
        return normed(settings, vectors, matrices[f"{name}_gain"], matrices.get(f"{name}_bias"))

    def times(name: str, vectors: Tensor) -> Tensor:
        product = vectors @ matrices[f"W_{name}"].T
        bias = matrices.get(f"b_{name}")
        return product if bias is None else product + bias

    def onto(before: Tensor, made: Tensor, part: str, left_out: Collection[int]) -> list[Tensor]:
        """What is added to a stream, and the stream then."""
        added = norm(f"{part}_after_norm", made) if settings.norms_added else made
        added = added * settings.added_scale
        added = torch.zeros_like(added) if layer in left_out else added
        after = before + added
        return [added, norm(f"{part}_norm", after) if settings.norms == "after" else after]

    is_read = settings.norms_read
    read = norm("attention_norm", stream) if is_read else stream
    if past is not None and is_read:
        past = norm("attention_norm", past)
    weights, contexts = _attention(settings, layer, matrices, times, read, hidden, past, cache)
    contexts = changes.without_heads(layer, contexts)
    mixed = times("output", contexts.transpose(-3, -2).flatten(-2))
    added, between = onto(stream, mixed, "attention", changes.attention)
    if not settings.d_ffn:
        return weights, contexts, added, between, torch.zeros_like(between), between
    read = stream if settings.side_by_side else between
    if is_read:
        read = norm("ffn_norm", read)
    bend = BENDS[settings.activation]
    up = times("up", read)
    made = times("down", bend(times("gate", read)) * up if settings.gated else bend(up))
    more, after = onto(between, made, "ffn", changes.ffn)
    return weights, contexts, added, between, more, after


def _attention(
    settings: Settings,
    layer: int,
    matrices: Mapping[str, Tensor],
    times: Callable[[str, Tensor], Tensor],
    read: Tensor,
    hidden: Tensor,
    past: Tensor | None,
    cache: Cache | None,
) -> tuple[Tensor, Tensor]:
    """Weights (…, head, query, key) and context vectors (…, head, query, d_head)."""

    def heads(role: str, vectors: Tensor, first: int) -> Tensor:
        n_heads = settings.n_heads if role == "query" else settings.n_key_heads
        made, of = times(role, vectors), settings.query_key_norms if role != "value" else ""
        if of == "all":
            made = normed(settings, made, matrices[f"{role}_norm_gain"], None)
        made = made.unflatten(-1, (n_heads, settings.d_head)).transpose(-3, -2)
        if of == "head":
            made = normed(settings, made, matrices[f"{role}_norm_gain"], None)
        turn = None if role == "value" else settings.turn(layer)
        return made if turn is None else rotated(made, turn, first)

    first = 0 if past is None else len(past)
    if cache is not None:
        first = cache.n_before(layer)
    queries, keys, values = (heads(role, read, first) for role in ("query", "key", "value"))
    if past is not None:
        front = keys.shape[:-3]
        keys, values = (
            torch.cat((heads(role, past, 0).expand(*front, -1, -1, -1), own), dim=-2)
            for role, own in (("key", keys), ("value", values))
        )
    if cache is not None:
        keys, values = cache.joined(layer, keys, values)
    times_shared = settings.n_heads // settings.n_key_heads
    if times_shared > 1:
        keys = keys.repeat_interleave(times_shared, dim=-3)
        values = values.repeat_interleave(times_shared, dim=-3)
    scores = queries @ keys.mT * settings.scale(layer)
    if settings.score_cap is not None:
        scores = settings.score_cap * (scores / settings.score_cap).tanh()
    weights = scores.masked_fill(hidden, -torch.inf).softmax(-1)
    return weights, weights @ values


def read_for_logits(model: Model, stream: Tensor) -> Tensor:
    """Streams (…, d_model) as the table reads them: normed, scaled. ValueError as in `logits`."""
    model.check_predicts()
    if model.settings.norms == "after":
        return stream
    gain, bias = model.norm("final_norm")
    return normed(model.settings, stream, gain, bias) * model.settings.logit_scale


@torch.no_grad()
def logits(run: Run, positions: Sequence[int] | None = None) -> Tensor:
    """What a model would say next after each of some tokens (position, vocabulary), or after all.
    Raises ValueError where the model says no next token.
    """
    stream = run.final if positions is None else run.final[list(positions)]
    return logits_of(run.model, stream)


@torch.no_grad()
def logits_of(model: Model, stream: Tensor) -> Tensor:
    """The logits (row, vocabulary) of stream vectors (row, d_model). ValueError as in `logits`."""
    read = read_for_logits(model, stream)
    made = torch.empty(len(read), model.settings.n_vocabulary)
    for rows in vocabulary_in_slices(model):
        made[:, rows.start : rows.stop] = of_tokens(model, read, rows)
    return made


def vocabulary_in_slices(model: Model) -> Iterator[range]:
    """The rows of the vocabulary's table, so many as are in memory at a time."""
    n_rows = model.settings.n_vocabulary
    for first in range(0, n_rows, ROWS_AT_ONCE):
        yield range(first, min(first + ROWS_AT_ONCE, n_rows))


def of_tokens(model: Model, read: Tensor, tokens: Sequence[int]) -> Tensor:
    """The logits (…, token) of some tokens, of vectors that `read_for_logits` has made ready."""
    settings = model.settings
    made = read @ model.matrix("token_table" if settings.tied else "W_unembed", tokens).T
    cap = settings.logit_cap
    return made if cap is None else cap * (made / cap).tanh()
