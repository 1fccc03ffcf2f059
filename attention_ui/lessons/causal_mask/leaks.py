"""What leaks through the ways to hide, measured on the traces of the lesson."""

import torch

from attention_core.operations import Renormalise
from attention_core.rounding import SHARE, to_within
from attention_core.trace import Trace

from ...cards.questions import Pick, Verdict
from ...controls.shared import inputs_of
from ...picture.equation_parts import Parts, equation_of
from ...picture.matrix import Matrix
from ...reactive.control import Values
from ...words import listed, number
from .lesson import WAYS, changed, prefix_of

UNSEEN = 1e-6
"""A weight below this is too little to be seen."""
TINY = torch.finfo(torch.float32).tiny
"""Numbers below this lose digits, and soon become 0."""
LEAKY = ("zero_filled", "zeroed")
"""Ways that leak whatever the scores are, though it may be too little to be seen."""
SHOWN = "zero_filled"
"""The way that the page opens with: it leaks most."""
GIVEN = ("weights", "unmasked_weights", f"{SHOWN}_weights")
"""What is there to reason from: the right way, the one that is shown, and what others begin with.
"""
ASKED = tuple(way for way in WAYS if way != SHOWN)
ASKED_WEIGHTS = ("zeroed_weights", "renormalised_weights")


def blind_rows(mask: torch.Tensor) -> list[int]:
    """The queries of a mask (query, key) that may look at nothing."""
    return (~mask).all(dim=-1).nonzero().flatten().tolist()


def unseeing(mask: torch.Tensor, token: int) -> torch.Tensor:
    """The queries (query,) that may not look at a token, but for its own: that one moves anyway."""
    unseen = ~mask[:, token]
    unseen[token] = False
    return unseen


def leaks(trace: Trace, token: int) -> tuple[torch.Tensor, torch.Tensor]:
    """How far vectors of queries (query,) that may not see a change move; which beyond rounding."""
    unseen = unseeing(trace["mask"].value, token)
    far = trace["moved"].value.abs()[unseen]
    return far.max(dim=-1).values, (far > _rounded(trace)[unseen]).any(dim=-1)


def _rounded(trace: Trace) -> torch.Tensor:
    """How far another rounding would move the context vectors (query, d_in)."""
    moved = trace["moved"]
    added = torch.zeros_like(moved.value)
    for context in moved.inputs:
        weights, vectors = (given.value.abs() for given in context.inputs)
        added = added.maximum(weights @ vectors)
    return SHARE * added + TINY


def may_move(trace: Trace, token: int) -> torch.Tensor:
    """How far vectors may move when a token changes (query, d_in); `nan` where as they like."""
    unseen = unseeing(trace["mask"].value, token)
    return torch.where(unseen[:, None], _rounded(trace), torch.nan)


def underflowed(trace: Trace, token: int) -> torch.Tensor:
    """Queries (query,) left no weight to renormalise: a hidden key's score makes them underflow."""
    lost = torch.zeros(len(trace["mask"].value), dtype=torch.bool)
    for context in trace["moved"].inputs:
        weights = context.inputs[0]
        if isinstance(weights.operation, Renormalise):
            lost |= weights.inputs[0].value.sum(dim=-1) < TINY
    return lost[unseeing(trace["mask"].value, token)]


def which_leak(values: Values) -> Pick:
    """Which ways leak, beside the one that is shown."""

    def judge(guess: list[int]) -> Verdict:
        leaky, found = leaky_ways(values)
        right = guess == [place for place, way in enumerate(ASKED) if way in leaky]
        return Verdict(right, f"{'Right: ' if right else 'It is '}{found}.")

    return Pick(
        words=f"Beside “{WAYS[SHOWN]}”: through which of the other ways does a hidden token still "
        "change the context vectors of earlier queries?",
        choices=[WAYS[way] for way in ASKED],
        judge=judge,
        truth=lambda: f"It is {leaky_ways(values)[1]}.",
        many=True,
        teaches="A 0 before softmax is a score like any other, since e⁰ = 1. A 0 after softmax "
        "comes too late: the sum that the others were divided by holds the hidden score. Divided "
        "once more, by the sum of what is left, the weights are those of −∞.",
    )


def leaky_ways(values: Values) -> tuple[list[str], str]:
    """Which of the ways that are asked about let the last token reach earlier vectors, measured,
    and that in words.
    """
    last = len(inputs_of(values).tokens) - 1
    ways = list(ASKED)
    traces = {way: changed(values.but(changed_token=last, change_by=1.0), way) for way in ways}
    unseen = unseeing(traces[ways[0]]["mask"].value, last)
    measured = {way: leaks(trace, last) for way, trace in traces.items()}
    moved = {way: far for way, (far, _) in measured.items()}
    seen = [
        way
        for way, (_, has_moved) in measured.items()
        if (has_moved & ~underflowed(traces[way], last)).any()
    ]
    faint = [way for way in ways if way in LEAKY and way not in seen and (moved[way] > 0).any()]
    found = listed([WAYS[way] for way in ways if way in seen + faint]) or "none of them"
    if not unseen.any():
        found += ", since this mask lets every query look at the last token"
    elif faint:
        most = max(moved[way].max().item() for way in faint)
        names = listed([WAYS[way] for way in faint])
        found += f" (with these scores {names} by {number(most)} at most, too little to be seen)"
    return seen + faint, found


def share_verdict(trace: Trace, way: str) -> tuple[bool, str]:
    """How much weight a way leaves on keys that the mask hides, in words."""
    weights, mask = trace[f"{prefix_of(way)}weights"].value, trace["mask"].value
    most = weights.masked_fill(mask, 0.0).sum(dim=-1).max().item()
    if mask.all():
        return True, "The mask hides no key."
    if most == 0:
        return True, "No weight on hidden keys: exactly 0."
    words = f"Up to {number(most, 2)} of a row's weight is on keys that the mask hides"
    if most < UNSEEN:
        words += ": too little to be seen here, where other scores are far larger, but not 0"
    return False, f"{words}."


def parts_of(trace: Trace, way: str) -> Parts:
    """Scores with the mask, as a way has them, and the weights; `way` is its prefix."""
    weights = Matrix(trace[f"{way}weights"])
    if way != "zero_filled_":
        return equation_of(weights.step)
    filled, before = trace["zero_filled_scores"], weights.step.inputs[0]
    divided = () if before is filled else ("→", Matrix(before))
    return (Matrix(filled), *divided, "→", weights)


def leak_verdict(way: str, trace: Trace, token: int) -> tuple[bool, str]:
    """What it says of a way how far context vectors move that may not look at the change."""
    moved, has_moved = leaks(trace, token)
    lost = has_moved & underflowed(trace, token)
    n_hidden, n_moved = len(moved), int((has_moved & ~lost).sum())
    queries = "query" if n_hidden == 1 else f"{n_hidden} queries"
    most = number(moved.max().item(), 2)
    if n_moved:
        most = number(moved[has_moved & ~lost].max().item(), 2)
        some = "" if n_hidden == 1 else f"{n_moved} of "
        has = "has" if n_moved == 1 else "have"
        return False, (
            f"It leaks: {some}the {queries} that may not look at this token {has} another context "
            f"vector now, changed by up to {most}."
        )
    if lost.any():
        return False, (
            f"It moves by up to {most} without a leak: a hidden key has so large a score here that "
            "softmax leaves the visible keys a weight of 0, and zeros cannot be scaled up to sum "
            "to 1. Hide before softmax, with −∞."
        )
    if way in LEAKY:
        return False, (
            f"Too little to be seen here: the largest change is {most}. But this way does leak. "
            "These scores are so far apart that a hidden key has hardly any part in the softmax; "
            "smaller scores would show the leak."
        )
    keep = "keeps its context vector" if n_hidden == 1 else "keep their context vectors"
    return True, (
        f"No leak: the {queries} that may not look at this token {keep}, "
        f"{to_within(moved.max().item())}."
    )


def said_of_leak(values: Values, trace: Trace) -> tuple[bool | None, str]:
    """What came of the change, as a light; None where there is nothing to see."""
    if not unseeing(trace["mask"].value, values.changed_token).any():
        return None, "The mask lets every other query look at this token, so nothing can leak."
    if not values.change_by:
        return None, "Nothing was added, so nothing can move."
    return leak_verdict(values.masking, trace, values.changed_token)
