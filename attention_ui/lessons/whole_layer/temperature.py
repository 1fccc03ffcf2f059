"""The question of the lesson: what a higher temperature does to weights."""

from attention_core.trace import Trace

from ...cards.questions import Sign
from ...charts.guess_bars import guess_bars


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
