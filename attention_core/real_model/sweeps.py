"""Many runs that differ in one thing each, side by side: which place of the stream, or which head,
does an answer depend on?

All variants go through a layer together, so each matrix is read once. A variant is the same as the
run it comes from up to the layer in which it differs, so it begins there.
"""

from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Tensor

from .changes import Changes
from .run import Run, hidden_keys, of_tokens, read_for_logits, through_layer, vocabulary_in_slices

AT_ONCE = 2**21
"""So many numbers may be inside of the feed-forward of all variants at once: 8 MiB."""


SweepSoFar = tuple[float, Tensor]
"""How much is done, from 0 to 1, and of each variant so far the stream at the end at one token
(layer, place or head, d_model); NaN where not done.
"""


@torch.no_grad()
def patch_each_place(run: Run, other: Run, position: int = -1) -> Iterator[SweepSoFar]:
    """What comes of a run when one vector of its stream, before one layer at one token, is the one
    of another run: for each layer and token. Yields what is done so far, with (layer, token).
    Raises ValueError where the two are not of one model, or not equally long. Source: Meng et al.
    2022, Locating and Editing Factual Associations in GPT, section 2.
    """
    if run.model is not other.model:
        raise ValueError("the two sentences must be read by one model")
    n_tokens = len(run.ids)
    if n_tokens != len(other.ids):
        raise ValueError(
            f"the sentences have {n_tokens} and {len(other.ids)} tokens: vectors can change places "
            "only between sentences of the same number of tokens"
        )

    def begun(layer: int, tokens: Sequence[int]) -> Tensor:
        streams = run.before[layer].repeat(len(tokens), 1, 1)
        for at, token in enumerate(tokens):
            streams[at, token] = other.before[layer, token]
        return streams

    yield from _swept(run, n_tokens, begun, position)


@torch.no_grad()
def without_each_head(run: Run, position: int = -1) -> Iterator[SweepSoFar]:
    """A run without each head in turn. Yields what is done so far, with (layer, head)."""
    yield from _swept(run, run.model.settings.n_heads, None, position)


_Begun = Callable[[int, Sequence[int]], Tensor] | None
"""The streams (variant, token, d_model) before the layer where variants begin to differ."""


def _swept(run: Run, n_places: int, begun: _Begun, position: int) -> Iterator[SweepSoFar]:
    """Variants for each layer and place, as many at a time as fit."""
    settings = run.model.settings
    n_layers, position = settings.n_layers, range(len(run.ids))[position]
    n_tokens = position + 1 if settings.causal else len(run.ids)
    made = torch.full((n_layers, n_places, settings.d_model), torch.nan)
    if begun is not None and settings.causal:  # what comes later changes nothing
        made[:, n_tokens:] = run.final[position]
        n_places = n_tokens
    one = n_layers * n_tokens * max(settings.d_ffn, settings.d_model, n_tokens * settings.n_heads)
    size = max(1, AT_ONCE // one)
    chunks = [range(at, min(at + size, n_places)) for at in range(0, n_places, size)]
    for done, places in enumerate(chunks):
        # Before the first token that is patched, all is as it was: keys and values, nothing else.
        first = places.start if begun is not None and settings.causal else 0
        streams = torch.empty(0, n_tokens - first, settings.d_model)
        for layer in range(n_layers):
            streams = _through(run, layer, streams, places, begun, range(first, n_tokens))
            share = (done + (layer + 1) / n_layers) / len(chunks)
            if layer + 1 < n_layers:
                yield share, made
        streams = run.changes.patched(n_layers, streams, first)
        ends = streams[:, position - first].view(n_layers, len(places), -1)
        made[:, places.start : places.stop] = ends
        yield share, made


def _through(
    run: Run, layer: int, streams: Tensor, places: range, begun: _Begun, tokens: range
) -> Tensor:
    """All variants behind a layer, at some tokens: begun before, or beginning here."""
    model, settings, changes = run.model, run.model.settings, run.changes
    matrices = model.layer(layer)
    streams = changes.patched(layer, streams, tokens.start)
    hidden = hidden_keys(settings, tokens.stop, settings.window(layer), changes)[tokens.start :]
    past = run.before[layer, : tokens.start] if tokens.start else None

    def behind(streams: Tensor, changes: Changes) -> Tensor:
        return through_layer(settings, layer, matrices, streams, hidden, changes, past)[5]

    if begun is not None:
        new = begun(layer, places)[:, tokens.start : tokens.stop]
        return behind(torch.cat((streams, new)), changes)
    own = run.before[layer, : tokens.stop]
    more = [behind(own, changes.and_head(layer, head)) for head in places]
    if len(streams):  # none has begun before the first layer
        streams = behind(streams, changes)
    return torch.cat((streams, torch.stack(more)))


@torch.no_grad()
def chance_of(run: Run, streams: Tensor, token: int) -> Tensor:
    """The probability of a token after stream vectors (…, d_model): (…), the table in slices."""
    read = read_for_logits(run.model, streams.flatten(0, -2))
    total = torch.full((len(read),), -torch.inf)
    for tokens in vocabulary_in_slices(run.model):
        total = torch.logaddexp(total, of_tokens(run.model, read, tokens).logsumexp(-1))
    return (of_tokens(run.model, read, [token])[:, 0] - total).exp().view(streams.shape[:-1])


@torch.no_grad()
def logit_of(run: Run, streams: Tensor, token: int) -> Tensor:
    """The logit of one token after each of these vectors of the stream (…, d_model): (…)."""
    return of_tokens(run.model, read_for_logits(run.model, streams), [token])[..., 0]
