"""The question of the lesson: what a higher temperature does to weights."""

import torch

from attention_core.trace import Trace

from ...cards.questions import Sign
from ...charts.guess_bars import guess_bars
from ...words import number

EQUAL = 1e-6
"""Scores that are no farther apart count as equal."""


def rows_of_equal_scores(trace: Trace, temperature: float) -> str:
    """Says, at a low temperature, that rows whose visible scores are all equal stay as they are;
    "" where there are none, or where a temperature is not low.
    """
    weights = trace["head_weights"]
    scores = weights.inputs[0].value
    visible = scores.isfinite()
    highest = scores.masked_fill(~visible, -torch.inf).amax(-1)
    lowest = scores.masked_fill(~visible, torch.inf).amin(-1)
    equal = ((highest - lowest < EQUAL) & (visible.sum(-1) > 1)).nonzero().tolist()
    if temperature >= 1 or not equal:
        return ""
    head, query = equal[0]
    n_rows, n_keys = highest.numel(), int(visible[head, query].sum())
    share = weights.value[head, query][visible[head, query]].max().item()
    rows = "row has" if len(equal) == 1 else "rows have"
    return (
        f"At a low temperature the largest score takes nearly all, but {len(equal)} of {n_rows} "
        f"{rows} no largest: in head {head}, all scores of query "
        f"{query} are equal, so each of {n_keys} keys gets "
        f"{number(share, 2)} at any temperature."
    )


def when_hotter(trace: Trace) -> Sign | None:
    """What twice the temperature does to the largest weight of the last query in the first head;
    None where there are no two numbers to compare, as where a sum of scores is 0.
    """
    weights = trace["head_weights"]
    scores = weights.inputs[0].value[0, -1:]
    before, after = (weights.operation.value(each)[0] for each in (scores, scores / 2))
    if len(before) < 2 or not (before.isfinite().all() and after.isfinite().all()):
        return None
    rows = {"now": before.tolist(), "at twice the temperature": after.tolist()}
    return Sign(
        words="Look at the last token as a query, in head 0. If you doubled the temperature, what "
        "would happen to its largest weight?",
        what="the largest weight",
        before=before.max().item(),
        after=after.max().item(),
        teaches="A temperature divides the scores before they become shares. A softmax then shares "
        "more evenly. Shares by a sum stay as they are, since every part of the fraction is "
        "divided by the same number.",
        picture=lambda _: guess_bars([str(at) for at in range(len(before))], rows),
    )
