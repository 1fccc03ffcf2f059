"""Why a head looks there: who wrote what makes this query and this key fit, as a picture and in
words, with numbers from the run.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from torch import Tensor

from attention_core.head_name import head_id, head_name
from attention_core.real_model.score_parts import ScoreParts, score_parts
from attention_core.real_model.score_trace import score_trace
from attention_core.real_model.written import Writer
from attention_core.rounding import to_within
from attention_core.trace import Trace

from ...cards.elements import Element, caption, equation, picture, text
from ...controls.control import Values
from ...frame.ends import Answer
from ...frame.long_run import Steps, Work
from ...frame.models import TINY, said
from ...picture.matrix import Matrix
from ...words import capital, listed, number, percent
from .lesson import asked_of, encoded_of, head_of, key_of, looks_of, predicts, seen, whole
from .running import kept, passes
from .seen import Seen
from .words import said_piece, signed

CLEAR = 0.5
"""A part that brings this share of a score's lead or more is said to be why."""
LITTLE, OTHERS = 0.1, 3
"""A weight that falls by less than this share of it hardly falls; so many others are taken away."""
DRAWN_PARTS, DRAWN_COLUMNS = 6, 8
"""So many parts of each side and so many of their components are drawn as numbers."""
AWAY = "part_of_score_away"
SPOKEN = {
    "token": "the token itself",
    "position": "its position",
    "type": "the kind of sentence",
    "bias": "the bias of queries and keys",
    "put in its place": "what was put in its place",
}


@dataclass(frozen=True)
class Why:
    """A head, the token that looks, the one that it looks at, and their score taken apart."""

    found: Seen
    parts: ScoreParts
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
        return self.weight_in(self.found)

    def weight_in(self, other: Seen) -> float:
        """The same in another run of the text."""
        return float(other.run.weights[(self.parts.layer, self.parts.head, *self.at)])

    @property
    def lead(self) -> float:
        """By how much the score is above the mean of the other keys'."""
        return float(self.parts.above.sum())

    @property
    def best(self) -> tuple[Writer, float]:
        """The part that does most for it, or against it where it is below, by what it wrote at the
        key, and how much that is.
        """
        amounts = self.parts.by_key()
        at = int(amounts.argmax() if self.lead > 0 else amounts.argmin())
        return self.parts.parts[at], float(amounts[at])


def why_of(v: Values) -> Why | str:
    """What the card is about; or in words why there is nothing to take apart."""
    reading = seen(v)
    asked = (*head_of(v, reading), looks_of(v), key_of(v, reading))
    try:
        parts = reading.once(("why", *asked), lambda: score_parts(reading.run, *asked))
    except ValueError as error:
        return f"There is nothing to take apart here: {error}."
    if parts.is_alone:
        return (
            f"There is nothing to explain here: token {asked[2]} sees no token but this one, and "
            "gives it all its weight whatever the score."
        )
    return Why(reading, parts, encoded_of(v).pieces)


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
            f"{number(-why.lead, 2)} below the mean of the other keys. Most of what speaks against "
            f"it was written there by {said_of(part)}, {signed(amount)}."
        )
    part, _ = why.best
    looks = f" {_where_it_looks(why)}" if part.kind == "head" else ""
    return (
        f"{capital(why.name)} finds {key} {_reason(why)} this score is above the mean of the other "
        f"keys.{looks} What asks for it at {query}: {spoken(why, why.parts.by_query())}."
    )


def _reason(why: Why) -> str:
    """Which part is why, by what it wrote at the key, or that none alone is."""
    (part, amount), lead = why.best, number(why.lead, 2)
    if amount >= CLEAR * why.lead:
        more = f", more than the whole {lead}" if amount > why.lead else f" of the {lead}"
        return f"because of what {said_of(part)} wrote there: {number(amount, 2)}{more} by which"
    amounts = why.parts.by_key()
    total = number(float(amounts.topk(min(3, len(amounts))).values.sum()), 2)
    return (
        f"for no single reason: most of it was written there by {spoken(why, amounts)}, together "
        f"{total} of the {lead} by which"
    )


def spoken(why: Why, amounts: Tensor) -> str:
    """The parts that bring most, each with its amount."""
    best = amounts.topk(min(3, len(amounts)))
    each = zip(best.indices.tolist(), best.values.tolist(), strict=True)
    return listed([f"{said_of(why.parts.parts[at])} ({signed(amount)})" for at, amount in each])


def _where_it_looks(why: Why) -> str:
    """Where the head that is why looks, from the token at which it wrote that."""
    part, _ = why.best
    row = why.found.run.weights[part.layer, part.head, why.parts.key]
    at = int(row.argmax())
    return (
        f"There, {part.name} itself looks at “{said_piece(why.pieces[at])}” (token {at}, "
        f"{percent(float(row[at]))})."
    )


def adds_up(why: Why, trace: Trace) -> tuple[bool, str]:
    """Whether all pairs together are the model's own score, which the page's trace has."""
    own = float(trace["head_scaled_scores"].value[(why.parts.head, *why.at)])
    off, n = abs(why.parts.score - own), len(why.parts.parts)
    before = "" if why.parts.cap is None else ", as it is before the model’s soft cap"
    return off <= 1e-4 * max(1.0, abs(own)), (
        f"All {n} × {n} pairs add up to the model’s own score{before}: {number(own, 3)}, "
        f"{to_within(off)}."
    )


def without(why: Why) -> tuple[str, ...]:
    """What is taken away to see whether the head looks there because of it, as `MODEL_OFF` has it:
    the part that is why, and three heads of its layer that wrote least there, for comparison;
    nothing where that part cannot be taken away.
    """
    part, _ = why.best
    if why.lead <= 0 or part.kind not in ("head", "feed-forward"):
        return ()
    amounts = zip(why.parts.parts, why.parts.by_key().abs().tolist(), strict=True)
    heads = [(each, by) for each, by in amounts if each.kind == "head" and each != part]
    little = sorted(
        (by, head_id(each.layer, each.head)) for each, by in heads if each.layer == part.layer
    )
    return part.name.removeprefix("head "), *(name for _, name in little[:OTHERS])


def called(off: str) -> str:
    """What is off, in words."""
    return f"head {off}" if off[0].isdigit() else off


def taking_away(v: Values) -> Work | None:
    """A run without the part that is why, and one without each of those for comparison."""
    why = why_of(v)
    if isinstance(why, str) or not (names := without(why)):
        return None
    each = [(*whole(v)[:2], name) for name in names]

    def pieces() -> Steps:
        runs: list[Seen] = []
        for about in each:
            for share, found in passes(about):
                runs += [found] if found else []
                yield (len(runs) + share * (found is None)) / len(each), tuple(runs)

    known = v.model == TINY or all(map(kept, each))
    away = called(names[0])
    cost = f"{len(each)} runs: one without {away}, and {len(each) - 1} for comparison"
    return Work(AWAY, tuple(each), pieces, cost, f"Take {away} away", quick=known)


def taken_away(v: Values, why: Why, runs: Sequence[Seen]) -> str:
    """What is left without the part that is why, and without others; and whether both ways of
    asking agree.
    """
    (name, *others), key = without(why), why.words[1]
    was, left, *rest = (why.weight_in(each) for each in (why.found, *runs))
    told = (
        f"Without {called(name)}, {why.name} gives {key} {percent(left)} of its weight, in place "
        f"of {percent(was)}; without {listed([*map(called, others)])}, which wrote little there, "
        f"{_range(rest)}."
    )
    if predicts(v):
        asked, _ = asked_of(v, why.found)
        now, then, *more = (float(each.chances[asked]) for each in (why.found, *runs))
        answer = said(why.found.run.model, asked)
        told += (
            f" The answer “{answer}” has {percent(then)} then, in place of {percent(now)}; without "
            f"the others {_range(more)}."
        )
    return f"{told} {verdict(was, left, rest)}"


def verdict(was: float, left: float, rest: Sequence[float]) -> str:
    """Whether taking the part away confirms what the sum says: by the weight that there was, what
    is left without it, and what is left without others.
    """
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
    return "So it hangs on this part: the sum and taking it away agree."


def _range(shares: Sequence[float]) -> str:
    """Such as 95% to 97%."""
    ends = [percent(end) for end in (min(shares, default=0.0), max(shares, default=0.0))]
    return ends[0] if ends[0] == ends[1] else " to ".join(ends)


def why_does_it_look_there(v: Values) -> Answer | None:
    """Can one know why a head looks at a token? With the numbers of the head that is chosen."""
    why = why_of(v)
    if isinstance(why, str):
        return None
    return Answer(
        "Can one know why a head looks at this token and not at another?",
        f"Who wrote what makes the two fit, yes: a score is a sum. {told(why)} But a sum is not a "
        "cause: later parts may make up for what is taken away, so believe it only once you have "
        "switched the part off.",
        "why",
    )


def in_numbers(v: Values) -> Iterator[Element]:
    """The pairs of the largest parts as products, each of which can be taken apart."""
    why = why_of(v)
    if isinstance(why, str):
        yield text(why)
        return
    trace = score_trace(why.found.run, why.parts.layer, why.parts.head, *why.at)
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
        "of the other keys is taken away. Click on a cell, and go on down to the model’s file."
    )
