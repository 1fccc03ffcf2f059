"""Writing on, token by token, with a cache or without; and the text that a beam finds."""

import math
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter

import torch
from torch import Tensor

from .drawing import Cuts, check_finite, number_drawn, offered
from .model import Model
from .run import Cache, check_ids, embedded, hidden_keys, logits_of, through_layer
from .settings import Settings

MOST_OTHERS = 5
"""So many of the likeliest tokens are kept beside the one that was written."""


@torch.no_grad()
def read_on(
    model: Model, rows: Sequence[Sequence[int]], cache: Cache
) -> Generator[None, None, tuple[Tensor, float]]:
    """New tokens of each row behind the cache: stops after each layer, and gives at last the logits
    of the next token (row, vocabulary), and the seconds that it took without the stops.
    """
    first, seconds, start = len(cache), 0.0, perf_counter()
    model = model.reading(first + len(rows[0]))
    settings = model.settings
    stream = torch.stack([embedded(model, ids, first) for ids in rows])
    for layer in range(settings.n_layers):
        hidden = hidden_keys(settings, first + len(rows[0]), settings.window(layer))[first:]
        stream = through_layer(settings, layer, model.layer(layer), stream, hidden, cache=cache)[5]
        seconds += perf_counter() - start
        yield
        start = perf_counter()
    logits = logits_of(model, stream[:, -1])
    for each in logits:
        check_finite(each)
    return logits, seconds + perf_counter() - start


def products(settings: Settings, n_new: int, n_tokens: int) -> int:
    """How many pairs of numbers are multiplied for the logits of the last of `n_tokens`, of which
    `n_new` are not in the cache.
    """
    of_layer = sum(math.prod(each) for each in settings.shapes_of_layer().values() if len(each) > 1)
    pairs = 2 * settings.n_heads * settings.d_head * n_tokens
    return n_new * settings.n_layers * (of_layer + pairs) + settings.d_model * settings.n_vocabulary


@dataclass(frozen=True)
class Written:
    """A token that was written, and what it took."""

    token: int
    chance: float
    """How likely the model found it: at temperature 1, with nothing cut off."""
    others: tuple[tuple[int, float], ...]
    """The likeliest tokens there, each with its chance."""
    products: int
    seconds: float


Choose = Callable[[Tensor, int], int]
"""The next token, by the logits (vocabulary,) and how many were written before it."""


def greedy(logits: Tensor, _: int = 0) -> int:
    """The likeliest token; of equal ones that of the lowest id."""
    return int((logits == logits.max()).nonzero()[0])


def drawing(cuts: Cuts, seed: int, first: int = 0) -> Choose:
    """Draws, of which `first` were made before: a seed's text is the same in one go or in steps."""

    def choose(logits: Tensor, place: int) -> int:
        found = offered(logits, cuts)
        return int(found.ids[found.drawn(number_drawn(seed, first + place))])

    return choose


def write(
    model: Model, ids: Sequence[int], n: int, choose: Choose = greedy, *, has_cache: bool = True
) -> Iterator[Written | None]:
    """Writes `n` tokens behind a text, each as it comes, and None after each layer on the way
    there; fewer where one ends the text. Without a cache the whole text is read for each. Raises
    ValueError, in words, as `run` does, and where the model has no places for so many.
    """
    check_room(model, ids, n)
    text, cache = [*ids], Cache()
    for place in range(n):
        if not has_cache or not is_kept(model, text):
            cache = Cache()
        new = text[len(cache) :]
        (logits,), seconds = yield from read_on(model, [new], cache)
        token = choose(logits, place)
        chances = logits.double().softmax(-1)
        best, at = chances.topk(min(MOST_OTHERS, len(chances)))
        others = tuple(zip(at.tolist(), best.tolist(), strict=True))
        spent = products(model.settings, len(new), len(text))
        text.append(token)
        yield Written(token, float(chances[token]), others, spent, seconds)
        if token in model.ends:
            return


def is_kept(model: Model, text: Sequence[int]) -> bool:
    """Whether keys of all but the last token are those that this longer text has."""
    return model.reading(len(text)) is model.reading(len(text) - 1)


@dataclass(frozen=True)
class Beam:
    """A continuation, and the logarithm of its chance: the sum of those of its tokens."""

    ids: tuple[int, ...]
    log_chance: float


def beam(model: Model, ids: Sequence[int], n: int, width: int = 3) -> Iterator[list[Beam] | None]:
    """The most likely continuations by `n` tokens, or fewer with an end, that a beam finds, the
    likeliest first: after each token those `width` beginnings are kept that are likeliest as a
    whole; one of them that ends is set aside. Gives them then, and None after each layer on the
    way there. Raises ValueError as `write` does.

    Source: Sutskever et al. 2014, Sequence to Sequence Learning with Neural Networks, section 3.2.
    """
    check_room(model, ids, n)
    cache, beams, new, ended = Cache(), [Beam((), 0.0)], [[*ids]], list[Beam]()
    for _ in range(n):
        if not is_kept(model, (*ids, *beams[0].ids)):
            cache, new = Cache(), [[*ids, *each.ids] for each in beams]
        logits, _ = yield from read_on(model, new, cache)
        log_chances = logits.double().log_softmax(-1)
        so_far = log_chances.new_tensor([each.log_chance for each in beams])
        total = (so_far[:, None] + log_chances).flatten()
        # Each may end in as many ways, and so many have to go on.
        best, at = total.topk(min(width * (1 + len(model.ends)), len(total)))
        found = [
            (row, Beam((*beams[row].ids, token), chance))
            for row, token, chance in zip(
                (at // len(log_chances[0])).tolist(), (at % len(log_chances[0])).tolist(),
                best.tolist(), strict=True,
            )
        ]  # fmt: skip
        ended += [each for _, each in found[:width] if each.ids[-1] in model.ends]
        go_on = [each for each in found if each[1].ids[-1] not in model.ends][:width]
        beams = [each for _, each in go_on]
        yield sorted([*ended, *beams], key=lambda each: -each.log_chance)[:width]
        if not beams:
            return
        cache = cache.of_rows([row for row, _ in go_on])
        new = [[each.ids[-1]] for each in beams]


def check_room(model: Model, ids: Sequence[int], n: int = 1) -> None:
    """Raises ValueError, in words, where a model cannot write so many tokens behind a text."""
    settings = model.settings
    model.check_predicts()
    check_ids(settings, ids)
    if n < 1:
        raise ValueError(f"{n} tokens are to be written, but it must be 1 or more")
    if settings.longest is not None and len(ids) + n - 1 > settings.longest:
        raise ValueError(
            f"{n} more after {len(ids):,} tokens do not fit: this model reads at most "
            f"{settings.longest:,}"
        )
