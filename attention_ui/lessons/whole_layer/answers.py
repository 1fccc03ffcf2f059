"""What the lesson on the whole layer leaves its reader able to answer."""

from attention_core.trace import Trace

from ...page.closing import Answer, named
from ...page.view import View
from ...words import number


def answers(view: View) -> list[Answer]:
    """On the axes, on what sums to 1, and on what a weight does."""
    trace, query = view.trace, view.settings.first_query
    return [
        Answer("Which axis is the query, and which the key?", which_axis(trace, query), "opened"),
        Answer("What sums to 1, and what need not?", what_sums_to_1(trace, query), "opened"),
        Answer("What does one weight do?", what_a_weight_does(trace, query), "opened"),
    ]


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
        f"the column of {named(trace, 'key', key)} in a weight of "
        f"{number(weights[key].item(), 2)}."
    )


def what_sums_to_1(trace: Trace, query: int) -> str:
    """With the sum of a row of weights, and of the column that has most."""
    weights = trace["head_weights"].value[0]
    row, columns = weights[query].sum().item(), weights.sum(dim=0)
    words = "Each row of weights: a query shares out one whole among the keys."
    if not weights.isfinite().all():
        return (
            f"{words} Here the scores of a row sum to 0, and nothing can be divided by that. With "
            "softmax, the rows sum to 1."
        )
    key = int((columns - 1).abs().argmax())
    words += (
        f" In {named(trace, 'head', 0)}, the row of {named(trace, 'query', query)} sums to "
        f"{number(row, 2)}"
    )
    if number(columns[key].item(), 2) != number(row, 2):
        words += (
            f"; columns need not, and that of {named(trace, 'key', key)} sums to "
            f"{number(columns[key].item(), 2)}"
        )
    dropped = " What dropout leaves of a row need not sum to 1 either."
    return f"{words}." + (dropped if "head_dropped_weights" in trace else "")


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
        f"{named(trace, 'key', key)} a weight of {number(weight, 2)}: of the "
        f"{number(value[entry].item(), 2)} that its value has in “{component}”, "
        f"{number(part, 2)} goes into the context vector."
    )
    if len(weights) == 1:
        return words
    return f"{words} All keys together bring {number(whole, 2)} there."
