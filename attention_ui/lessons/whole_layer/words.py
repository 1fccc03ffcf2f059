"""What the lesson says of its numbers, and what its question asks."""

from attention_core.trace import Trace

from ...cards.common_questions import which_way
from ...cards.questions import Pick
from ...frame.ends import closes, named
from ...words import number


def when_hotter(trace: Trace) -> Pick | None:
    """What twice the temperature does to the last query's largest weight; None for no numbers."""
    weights = trace["head_weights"]
    scores = weights.inputs[0].value[0, -1:]
    before, after = (weights.operation.value(each)[0] for each in (scores, scores / 2))
    if len(before) < 2 or not (before.isfinite().all() and after.isfinite().all()):
        return None
    return which_way(
        "Look at the last token as a query, in head 0. If you doubled the temperature, what would "
        "happen to its largest weight?",
        "the largest weight",
        before.max().item(),
        after.max().item(),
        "The scores are divided by the temperature before they become shares. A higher one brings "
        "them closer together, so softmax shares more evenly. Shares by the sum stay as they are, "
        "since the score and the sum are divided by the same number.",
    )


def left_by_dropout(trace: Trace) -> str:
    """What the rows of the dropped weights, which would mix the values, sum to."""
    sums = trace["head_dropped_weights"].value.sum(dim=-1)
    return (
        "In training, the rows of `dropped` would mix the values. Those of all heads sum to "
        f"anything from {number(sums.min().item(), 2)} to {number(sums.max().item(), 2)}, and to "
        f"{number(sums.mean().item(), 2)} on average."
    )


@closes("Which axis is the query, and which the key?", "opened")
def which_axis(trace: Trace, query: int) -> str:
    """With the largest weight of one query in the first head."""
    weights = trace["head_weights"].value[0, query]
    words = (
        "In scores and weights, each row is a query that asks, each column a key that can be found."
    )
    if not weights.isfinite().all():
        return words
    key = int(weights.argmax())
    return (
        f"{words} In {named(trace, 'head', 0)}, the row of {named(trace, 'query', query)} meets "
        f"the column of {named(trace, 'key', key)} in a weight of {number(weights[key].item(), 2)}."
    )


@closes("What sums to 1, and what need not?", "opened")
def what_sums_to_1(trace: Trace, query: int) -> str:
    """With the sum of a row of weights, and of the column that has most."""
    weights = trace["head_weights"].value[0]
    row, columns = weights[query].sum().item(), weights.sum(dim=0)
    words = "Each row of weights: a query shares out a total of 1 among the keys."
    if not weights.isfinite().all():
        return f"{words} Here the scores of a row sum to 0, and nothing can be divided by 0."
    key = int((columns - 1).abs().argmax())
    return (
        f"{words} In {named(trace, 'head', 0)}, the row of {named(trace, 'query', query)} sums to "
        f"{number(row, 2)}; a column need not, and that of {named(trace, 'key', key)} sums to "
        f"{number(columns[key].item(), 2)}. What dropout leaves of a row need not sum to 1 either."
    )


@closes("What does one weight do?", "opened")
def what_a_weight_does(trace: Trace, query: int) -> str:
    """With the largest weight of one query in the first head, and one entry that it goes into."""
    context = trace["head_context_vectors"]
    weights, values = (given.value[0] for given in context.inputs)
    words = "It says how much of a key's value goes into the query's context vector."
    mixed = context.value[0, query]
    if not mixed.isfinite().all():
        return f"{words} Here a weight is not a number, and neither is the context vector."
    key = int(weights[query].argmax())
    weight, value = weights[query, key].item(), values[key]
    entry = int(value.abs().argmax())
    part, whole = weight * value[entry].item(), mixed[entry].item()
    component = trace.labels(context.axes[-1], 0)[entry]
    words += (
        f" In {named(trace, 'head', 0)}, {named(trace, 'query', query)} gives "
        f"{named(trace, 'key', key)} a weight of {number(weight, 2)}: the value of that key has "
        f"{number(value[entry].item(), 2)} in “{component}”, and {number(part, 2)} of it goes into "
        "the context vector."
    )
    return f"{words} Added up over all keys, this entry comes to {number(whole, 2)}."
