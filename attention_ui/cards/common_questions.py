"""Questions that several lessons ask: which key gets most, and a whole row of weights."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from torch import Tensor

from attention_core.text.tokenizers import visible
from attention_core.trace import Trace

from ..words import capital, listed, number, word_at
from .questions import Pick, Shape, Verdict
from .row_question import Row

FEW = 4
"""How many keys a row should have to be worth asking for: few sliders, yet a real choice."""
ALIKE = 0.005
"""Weights that differ by less look equal, as they are drawn: each of them is right."""


def one_of(
    words: str,
    choices: Sequence[str],
    right: int,
    truth: str,
    teaches: str = "",
    at: Mapping[str, Sequence[int]] = MappingProxyType({}),
) -> Pick:
    """Which of some choices is the `right` one; `truth` is said of every guess. The cells that are
    asked for are `at` these places of what the question is about.
    """

    def judge(guess: list[int]) -> Verdict:
        is_right = guess[0] == right
        return Verdict(is_right, f"Right. {truth}" if is_right else truth)

    return Pick(
        words=words, choices=choices, judge=judge, truth=lambda: truth, teaches=teaches, at=at
    )


def which_key(
    words: str,
    names: Sequence[str],
    row: Tensor,
    asked: str = "",
    teaches: str = "",
    choices: Sequence[str] = (),
    at: Mapping[str, Sequence[int]] = MappingProxyType({}),
) -> Pick:
    """Which key has the largest weight of a row (key,), by place and `names` (a person's). The row
    is `at` these places of what the question is about.
    """
    alike: dict[tuple[str, float], list[int]] = {}
    for place, (name, weight) in enumerate(zip(names, row.tolist(), strict=True)):
        alike.setdefault((name, place if choices else round(weight, 6)), []).append(place)
    each = [*alike.values()]
    told = [f"{', '.join(map(str, those))}: {visible(names[those[0]])}" for those in each]
    return Pick(
        words=words,
        choices=choices or told,
        judge=lambda guess: judge_key(each[guess[0]][0], row, names),
        truth=lambda: f"It is {largest_keys(row, names)}.",
        asked=asked,
        teaches=teaches,
        at=at,
    )


def rows_like(weights: Tensor, query: int) -> tuple[int, ...]:
    """The queries with the very row of weights (query, key) of this one, itself one of them."""
    off = (weights - weights[query]).abs().amax(dim=-1)
    return tuple((off <= 1e-6).nonzero().flatten().tolist()) or (query,)


def judge_key(guess: int, row: Tensor, names: Sequence[str]) -> Verdict:
    """How much less weight the guessed key has than the largest; what looks equal is right."""
    missed = row.max().item() - row[guess].item()
    if missed < ALIKE:
        return Verdict(True, f"Right: {largest_keys(row, names)}.")
    return Verdict(
        False,
        f"It is {largest_keys(row, names)}. {capital(word_at(names, guess, 'key'))} gets a weight "
        f"of {number(row[guess].item(), 2)}, which is {number(missed, 2)} less.",
    )


def largest_keys(row: Tensor, names: Sequence[str]) -> str:
    """The keys with the largest weight of a row (key,), all of them where they look equal."""
    best = row.max().item()
    places = (row > best - ALIKE).nonzero().flatten().tolist()
    return f"{listed([word_at(names, place, 'key') for place in places])} ({number(best, 2)})"


def shape_of_context(trace: Trace, teaches: str) -> Shape:
    """Which shape the context vectors have."""
    weights, values, context = (trace[name] for name in ("weights", "values", "context_vectors"))
    return Shape(
        words=f"`weights` are {weights.shape}, and `values` {values.shape}. Which shape will "
        "`context_vectors` have, when each row of weights mixes the values?",
        truth=tuple(zip(context.axes, context.value.shape, strict=True)),
        teaches=f"There is a context vector for each query, {teaches}",
    )


def row_to_share(mask: Tensor, tokens: Sequence[str]) -> int:
    """The query worth asking about: one with few visible keys, preferably a word, not a blank."""
    seen = mask.sum(dim=-1).tolist()

    def oddness(query: int) -> tuple[bool, bool, int, int]:
        return seen[query] < 2, tokens[query].isspace(), abs(seen[query] - FEW), -seen[query]

    return min(range(len(seen)), key=oddness)


def whole_row(
    words: str,
    names: Sequence[str],
    weights: Tensor,
    seen: Tensor,
    asked: str = "",
    teaches: str = "",
    at: Mapping[str, Sequence[int]] = MappingProxyType({}),
) -> Row | None:
    """A row of weights (key,) over `seen` keys, `at` its place of what the question is about; None
    for nothing. `names` are a person's.
    """
    keys = seen.nonzero().flatten().tolist()
    if len(keys) < 2 or not weights.isfinite().all():
        return None
    return Row(
        words=words,
        keys=keys,
        tokens=[names[key] for key in keys],
        weights=weights[keys].tolist(),
        asked=asked,
        teaches=teaches,
        at=at,
    )


def which_way(words: str, what: str, before: float, after: float, teaches: str) -> Pick:
    """Whether a number goes up, down, or stays: a change in the seventh digit counts as staying."""
    moved, ways = after - before, ("goes up", "goes down", "stays")
    at = 2 if abs(moved) <= 1e-6 * max(1.0, abs(before)) else int(moved < 0)
    digits = 2 if at == 2 or round(before, 2) != round(after, 2) else 4
    after_words = number(after, digits)
    end = f"at {after_words}" if at == 2 else f"from {number(before, digits)} to {after_words}"
    told = f"{capital(what)} {ways[at]}, {end}."
    return one_of(words, [f"It {way}" for way in ways], at, told, teaches)
