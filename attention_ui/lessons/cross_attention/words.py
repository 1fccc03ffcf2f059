"""What the lesson on cross-attention says of its numbers, and what its question asks."""

from attention_core.rounding import to_within
from attention_core.trace import Trace

from ...frame.ends import closes, named
from ...reactive.control import Values
from ...words import number, percent
from .lesson import first_query

ALIKE = SAME = 1e-6
OF_ANY_SOURCE = (
    "however long the source is. The keys have decided the weights, and play no part any more."
)


def verdicts(trace: Trace, plain: Trace) -> list[tuple[bool, str]]:
    """Whether padding gets exactly nothing, and whether it leaves the context vectors alone."""
    if "mask" not in trace:
        return []
    most = trace["weights"].value.masked_fill(trace["mask"].value, 0).abs().max().item()
    context, before = trace["context_vectors"].value, plain["context_vectors"].value
    far = (context - before).abs().max().item()
    near = SAME * max(1.0, before.abs().max().item())
    return [
        (most == 0, f"Weight on padding: {number(most) if most else 'exactly 0'}."),
        (
            far <= near,
            f"The context vectors are those of the source without padding, {to_within(far)}.",
        ),
    ]


def padding_words(trace: Trace) -> str:
    """How much of a row would be on padding without the mask."""
    if "mask" not in trace:
        return "There is no padding now, and nothing to hide. Choose 1 place or more."
    share = unmasked_share(trace)
    return (
        f"Without the mask, padding would get up to {percent(share)} of a row. It has a vector "
        "like any token, so it has a score, and a score of 0 does not give a weight of 0: "
        "e to the power of 0 is 1."
    )


def unmasked_share(trace: Trace) -> float:
    """The most of a row that padding would get, were it not hidden."""
    hidden = ~trace["mask"].value[0]
    scores = trace["masked_scores"].inputs[0].value
    return scores.softmax(dim=-1)[:, hidden].sum(dim=-1).max().item()


@closes("Which sentence asks, and which one answers?", "looking")
def who_asks(trace: Trace, values: Values) -> str:
    """With the key that gets most from one query."""
    query = first_query(values)
    weights = trace["weights"].value[query]
    words = (
        "Queries are made of the sentence that is being written, keys and values of the source, "
        f"which is looked at. {named(trace, 'query', query)}"
    )
    share = percent(weights.max().item())
    if len(weights) > 1 and weights.max() - weights.min() < ALIKE:
        return f"{words} looks at all {len(weights)} tokens of the source alike, {share} each."
    return f"{words} looks most at {named(trace, 'key', int(weights.argmax()))}: {share}."


@closes("Why may the two sentences differ in length?", "context", "context_vectors")
def why_any_length(trace: Trace) -> str:
    """With the shapes of the weights and of what comes out."""
    n_queries, n_keys = trace["weights"].value.shape
    width = trace["context_vectors"].value.shape[-1]
    return (
        "There is a score for each pair of a token here and one there, however many there are. "
        f"{n_queries} queries and {n_keys} keys make weights of {n_queries} × {n_keys}; each row "
        f"mixes the {n_keys} values into one vector, so {n_queries} context vectors come out, "
        f"each {width} wide. Only a query and a key must be equally wide."
    )


@closes("What is in a context vector now?", "context")
def what_is_mixed(trace: Trace, values: Values) -> str:
    """With the sum of one query's weights."""
    query = first_query(values)
    row = number(trace["weights"].value[query].sum().item(), 2)
    return (
        f"Values of the source alone. The weights of {named(trace, 'query', query)} sum to {row}, "
        "all of it on the source; its own vector decides only where it looks. A layer that should "
        "keep what the word was adds that to the result (the residual connection)."
    )
