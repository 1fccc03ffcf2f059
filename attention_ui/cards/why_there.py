"""Why a head looks there, in words and in numbers, whoever's network it is: what wrote what makes a
query and a key fit, and whether taking it away confirms it. Source: Elhage et al. 2021, A
Mathematical Framework for Transformer Circuits: heads made by others (key-, query- and
value-composition).
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import streamlit as st
import torch
from torch import Tensor

from attention_core.real_model.score_in_small import carried, small_score_parts
from attention_core.real_model.score_parts import ScoreParts
from attention_core.real_model.written import Writer
from attention_core.rounding import to_within
from attention_core.text.tokenizers import visible
from attention_core.trace import Trace
from attention_core.utils.head_name import head_name

from ..charts.chart import Chart
from ..charts.score_parts import chart as who_wrote
from ..frame.take_away import take_along
from ..picture.matrix import Matrix
from ..reactive import settings
from ..reactive.fragments import event
from ..reactive.widget import sent
from ..words import capital, escaped, listed, number, percent, signed, true_minus
from .elements import Element, Shown, caption, equation, light, note, picture, say, text

CLEAR = 0.5
"""A part that brings this share of a score's lead or more is said to be why."""
LITTLE, OTHERS = 0.1, 3
"""A weight that falls by less than this share of it hardly falls; so many others are taken away."""
DRAWN_PARTS, DRAWN_COLUMNS = 6, 8
"""So many parts of each side and so many of their components are drawn as numbers."""
WEIGHTS = re.compile(r"layer_\d+_weights")
"""Of a trace of `pass_through`, a layer after the other."""
NUMBERS_WORDS = (
    "What each part wrote, as this head’s query and as its key: a product of two such rows is what "
    "the pair adds to the score."
)
SPOKEN = {
    "token": "the token itself",
    "position": "its position",
    "type": "the kind of sentence",
    "bias": "the bias of queries and keys",
    "put in its place": "what was put in its place",
}


def said_piece(piece: str) -> str:
    """A token in a sentence: without the blank before it."""
    return visible(piece.strip() or piece)


@dataclass(frozen=True)
class Why:
    """A head, the token that looks, the one that it looks at, and their score taken apart."""

    parts: ScoreParts
    weights: Tensor
    """Those of all heads (layer, head, query, key)."""
    pieces: tuple[str, ...]

    @property
    def name(self) -> str:
        """Such as `head 17.4`."""
        return head_name(self.parts.head, self.parts.layer)

    @property
    def words(self) -> tuple[str, str]:
        """The token that looks, and the one that it looks at, as a sentence has them."""
        query, key = (f"“{said_piece(self.pieces[at])}”" for at in self.at)
        return query, key

    @property
    def at(self) -> tuple[int, int]:
        """Their places."""
        return self.parts.query, self.parts.key

    @property
    def weight(self) -> float:
        """How much of its weight the one gives the other."""
        return self.weight_in(self.weights)

    def weight_in(self, weights: Tensor) -> float:
        """The same of the weights of another run of the text."""
        return float(weights[(self.parts.layer, self.parts.head, *self.at)])

    @property
    def lead(self) -> float:
        """By how much the score is above the mean of the other keys'."""
        return float(self.parts.above.sum())

    @property
    def best(self) -> tuple[Writer, float]:
        """The part that does most for it, or against it where it is below, and how much."""
        amounts = self.parts.by_key()
        at = int(amounts.argmax() if self.lead > 0 else amounts.argmin())
        return self.parts.parts[at], float(amounts[at])


def said_of(part: Writer) -> str:
    """A part in a sentence."""
    return SPOKEN.get(part.kind, part.name)


def told(why: Why) -> str:
    """What is seen: who wrote what makes the two fit, and where that part itself looks."""
    query, key = why.words
    if why.lead <= 0:
        part, amount = why.best
        return (
            f"{capital(why.name)} has no reason to look at {key} from {query}: this score is "
            f"{number(-why.lead, 2)} below the mean of the other keys’ scores. What speaks against "
            f"it most was written there by {said_of(part)}, {signed(amount)}."
        )
    part, _ = why.best
    looks = f" There, {_where_it_looks(why, part, why.parts.key)}." if part.kind == "head" else ""
    return f"{capital(why.name)} finds {key} {_reason(why)}.{looks}"


def _reason(why: Why) -> str:
    """Which part is why, by what it wrote at the key, or which few together are."""
    (part, amount), lead = why.best, number(why.lead, 2)
    if amount >= CLEAR * why.lead:
        more = f", more than the whole {lead}" if amount > why.lead else f" of the {lead}"
        return f"because of what {said_of(part)} wrote there: {number(amount, 2)}{more}"
    amounts = why.parts.by_key()
    total = number(float(amounts.topk(min(3, len(amounts))).values.sum()), 2)
    together = f"{spoken(why, amounts)}, together {total} of the {lead}"
    return f"by what several parts wrote there: {together}"


def spoken(why: Why, amounts: Tensor) -> str:
    """The parts that bring most, each with its amount."""
    best = amounts.topk(min(3, len(amounts)))
    each = zip(best.indices.tolist(), best.values.tolist(), strict=True)
    return listed([f"{said_of(why.parts.parts[at])} ({signed(amount)})" for at, amount in each])


def _where_it_looks(why: Why, part: Writer, token: int) -> str:
    """Where a head that is why looks, from the token at which it wrote that."""
    row = why.weights[part.layer, part.head, token]
    at = int(row.argmax())
    before = "the one before, " if at == token - 1 else ""
    looked = f"“{said_piece(why.pieces[at])}” (token {at}, {before}{percent(float(row[at]))})"
    return f"{part.name} looks at {looked}"


def adds_up(why: Why, own: float, few: int | None = None) -> tuple[bool, str]:
    """Whether all pairs together are the model's own score, where so `few` are drawn alone."""
    off, n = abs(why.parts.score - own), len(why.parts.parts)
    before = "" if why.parts.cap is None else ", as it is before the model’s soft cap"
    lead = f"{number(abs(why.lead), 2)} {'above' if why.lead > 0 else 'below'}"
    rest = " (small parts as one)" if few and few < n else ""
    right = off <= 1e-4 * max(1.0, abs(own))
    how = "" if right else f", {to_within(off)}"
    return right, (
        f"All {n} × {n} pairs{rest} add up to the model’s own score, {number(own, 3)}{before}{how}"
        f": {lead} the mean of the other keys’ scores."
    )


def beside(why: Why, part: Writer, amounts: Tensor) -> list[str]:
    """What is taken away to compare: the heads of its layer that wrote least, or feed-forwards."""
    little = sorted(
        (by, off_name(each))
        for each, by in zip(why.parts.parts, amounts.abs().tolist(), strict=True)
        if each.kind == part.kind and each != part
        if each.layer == part.layer or part.kind == "feed-forward"
    )
    return [name for _, name in little[:OTHERS]]


def off_name(part: Writer) -> str:
    """A part as a link has it where it is off: `16.0`, or `feed-forward 3`."""
    return part.name.removeprefix("head ")


def called(off: str) -> str:
    """What is off, in words."""
    return f"head {off}" if off[0].isdigit() else off


def left_without(why: Why, names: Sequence[str], weights: Sequence[Tensor]) -> str:
    """What is left of the weight in runs without a part, and without each of the others."""
    left, *rest = map(why.weight_in, weights)
    more = ""
    if rest:
        others = listed([*map(called, names[1:])])
        more = f"; without {others}, which wrote less there, {span(rest)}"
    return (
        f"Without {called(names[0])}, {why.name} gives {why.words[1]} {percent(left)} of its "
        f"weight, in place of {percent(why.weight)}{more}."
    )


def verdict(was: float, left: float, rest: Sequence[float], share: float) -> str:
    """Whether taking a part away confirms its sum: what is left without it, and without others."""
    fell, by_others = was - left, was - min(rest, default=was)
    if fell < LITTLE * was:
        return (
            "The two disagree: the head looks there without it too. A sum is not a cause: later "
            "parts made up for what was taken away."
        )
    if by_others > fell / 2:
        return "But without the others it falls too, so this part is not the only one it hangs on."
    if fell < CLEAR * was:
        return (
            "It falls, but most is left: other parts lead there as well, or later ones made up for "
            "what was taken away."
        )
    if share < CLEAR:
        return (
            f"It falls by more than the sum says, which gives this part {percent(share)} of the "
            "lead. Later parts read what it wrote and go wrong without it, so this run does not "
            "show that the head looks there because of it."
        )
    return "So it hangs on this part: the sum and taking it away agree."


def span(shares: Sequence[float]) -> str:
    """Such as 95% to 97%."""
    ends = [percent(end) for end in (min(shares, default=0.0), max(shares, default=0.0))]
    return ends[0] if ends[0] == ends[1] else " to ".join(ends)


def in_numbers(why: Why, of: Callable[[int, int, int, int], Trace]) -> Iterator[Element]:
    """The pairs of the largest parts as products to take apart, `of` (layer, head, query, key)."""
    trace = of(why.parts.layer, why.parts.head, *why.at)
    queries, keys = (
        tuple(amounts.abs().topk(min(DRAWN_PARTS, len(amounts))).indices.tolist())
        for amounts in (why.parts.by_query(), why.parts.by_key())
    )
    pairs = trace["pair_scores"]
    left, right = trace["pair_products"].inputs
    wide = left.value[list(queries)].abs().sum(0) * right.value[list(keys)].abs().sum(0)
    columns = tuple(wide.topk(min(DRAWN_COLUMNS, len(wide))).indices.tolist())
    drawn = (
        Matrix(left, rows=queries, columns=columns, title="queries, part by part"),
        "· each",
        Matrix(right, rows=keys, columns=columns, title="keys, part by part"),
        "→",
        Matrix(pairs, rows=queries, columns=keys, title="scores of pairs"),
    )
    yield picture(equation(trace, *drawn), "why_numbers", is_aside=True)
    yield caption(
        f"Rows are parts, {len(queries)} of {len(why.parts.parts)} on each side; of "
        f"{len(wide)} components {len(columns)} are drawn. These are whole scores, before the mean "
        "of the other keys’ is taken away. Click on a cell, and go on down to what was learned."
    )
    yield Shown(take_along, ("score", trace))


# --- a click on a head ----------------------------------------------------------------------------


def choosing_head(
    name: str, made: Chart, names: tuple[str, str], width: int | Literal["stretch"] = "stretch"
) -> Shown:
    """A picture in which a click chooses a head, and its token if any, by controls of `names`."""
    return Shown(_put, (name, made, names, width))


def _put(name: str, made: Chart, names: tuple[str, str], width: int | Literal["stretch"]) -> None:
    key = f"fills_{name}"
    look: dict[str, Any] = {"width": "stretch", "height": "content", "alt": made.alt, "key": key}
    chosen: dict[str, Any] = {"on_select": partial(_choose_head, key, *names)}
    chosen["selection_mode"] = ["head"]
    with st.container(width=width, key=f"chart_of_{name}"):
        st.vega_lite_chart(made.frame, made.spec, **look, **chosen)


@event()
def _choose_head(key: str, of_head: str, of_token: str) -> None:
    match sent(key, {}).get("selection", {}).get("head"):
        case [{"id": str() as name, **more}, *_] if re.compile(r"\d+\.\d+").fullmatch(name):
            token = more.get("token")
            chosen = {of_head: name}
            chosen |= {of_token: f"{token}"} if isinstance(token, int) else {}
            if not chosen.keys() & settings.fixed():
                settings.change(**chosen)


# --- in small -------------------------------------------------------------------------------------


def why_in_small(trace: Trace, layer: int, head: int, query: int) -> Why:
    """The key that a head of one of our small networks looks at most, of a trace of it."""
    weights = torch.stack([trace[name].value for name in trace if WEIGHTS.fullmatch(name)])
    key = int(weights[layer, head, query].argmax())
    return Why(small_score_parts(trace, layer, head, query, key), weights, trace.labels("key"))


def in_small(
    trace: Trace,
    why: Why,
    without: Callable[[str], Trace],
    names: tuple[str, str],
    is_brief: bool = False,
) -> Iterator[Element]:
    """The table, what is seen in it, and a run `without` a head; a click goes by `names`. A brief
    one leaves to another place what earlier heads make (`shaped`).
    """
    parts = why.parts
    if parts.is_alone:
        yield note("The first word sees no word but itself, so there is nothing to choose between.")
        return
    yield choosing_head("why", who_wrote(parts, why.words, len(parts.parts)), names, 820)
    own = trace[f"layer_{parts.layer}_scaled_scores"].value[(parts.head, *why.at)]
    yield light(*adds_up(why, float(own)))
    yield text(told(why))
    if not parts.layer:
        yield note("No head comes before this layer: words and their places alone make this score.")
        return
    if not is_brief:
        yield from shaped(trace, why)
    part, token, amounts = _best_earlier_head(why)
    names = [off_name(part), *beside(why, part, amounts)]
    runs = [why_in_small(without(name), parts.layer, parts.head, parts.query) for name in names]
    weights = [each.weights for each in runs]
    left, *rest = map(why.weight_in, weights)
    share = float(amounts[parts.parts.index(part)]) / why.lead
    is_told = part == why.best[0] and token == parts.key
    looks = "" if is_told else f"At {why.words[0]}, {_where_it_looks(why, part, token)}. "
    yield text(
        f"{looks}{left_without(why, names, weights)} {verdict(why.weight, left, rest, share)}"
    )


def shaped(trace: Trace, why: Why) -> Iterator[Element]:
    """In three ways, how much of a head earlier ones make; nothing in the first layer."""
    parts = why.parts
    if parts.layer and not parts.is_alone:
        yield say(compositions(why, carried(trace, parts.layer, parts.head, parts.key)))


def _best_earlier_head(why: Why) -> tuple[Writer, int, Tensor]:
    """The earlier head that does most for a score, where, and what all parts do there."""
    heads = torch.tensor([each.kind == "head" for each in why.parts.parts])
    sides = (why.parts.key, why.parts.by_key()), (why.parts.query, why.parts.by_query())
    token, amounts = max(sides, key=lambda side: float(side[1][heads].max()))
    return why.parts.parts[int(amounts.where(heads, -torch.inf).argmax())], token, amounts


def compositions(why: Why, handed_on: Tensor) -> str:
    """How much of a head earlier ones make: of its key, its query, and what it hands on."""
    heads = torch.tensor([each.kind == "head" for each in why.parts.parts])
    by_key, by_query, share = (
        float(each[heads].sum()) for each in (why.parts.by_key(), why.parts.by_query(), handed_on)
    )
    query, key = map(escaped, why.words)
    return (
        f"Earlier heads can shape this one in three ways. What they wrote at {key} makes its "
        f"key: {number(by_key, 2)} of the {number(why.lead, 2)} (**key-composition**). What they "
        f"wrote at {query} makes its query: {number(by_query, 2)} (**query-composition**); a pair "
        f"of theirs counts in both. And of what this head hands on from {key}, its value, "
        f"{true_minus(f'{share:.0%}')} is theirs (**value-composition**)."
    )
