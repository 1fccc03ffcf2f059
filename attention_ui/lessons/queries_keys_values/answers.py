"""What the lesson on queries, keys and values leaves its reader able to answer."""

from attention_core.trace import Trace

from ...page.closing import Answer, named
from ...page.view import View
from ...words import listed, number, percent

ALIKE = 1e-6
DIVIDING = {"sqrt_d": " dividing by √d,", "d": " dividing by d,", "none": ""}


def answers(view: View) -> list[Answer]:
    """On who answers a query, on what training changes, and on values of 0."""
    trace, token = view.trace, view.settings.token
    return [
        Answer(
            "What does a word ask for, and who answers?",
            who_answers(trace, token),
            "one_token",
            ("query_scores", "query_weights"),
        ),
        Answer(
            "What does training change, and what does it leave alone?",
            what_training_changes(view),
            "train",
        ),
        Answer(
            "What if W_value were all 0?",
            without_values(trace, token),
            "context",
            ("query_weights",),
        ),
    ]


def who_answers(trace: Trace, token: int) -> str:
    """With the key that gets the most from the page's token."""
    words = (
        "Its vector times W_query is its query, what it asks for. Each word answers with its key, "
        f"and their dot product says how well the two fit. {_asks(trace, token)}"
    )
    scores, weights = trace["query_scores"].value, trace["query_weights"].value
    key, share = int(weights.argmax()), percent(weights.max().item())
    if len(weights) == 1:
        return f"{words} the only answer comes from itself, and gets {share} of its attention."
    if weights.max() - weights.min() < ALIKE:
        return f"{words} all keys fit equally well, and each gets {share} of its attention."
    found, score = _found(trace, token, key), number(scores[key].item(), 2)
    alike = int((weights > weights.max() - ALIKE).sum())
    if alike > 1:
        return (
            f"{words} {alike} keys answer best, and alike, {found} among them: each has a score of "
            f"{score}, and gets {share} of its attention."
        )
    return (
        f"{words} the best answer comes from {found}: a score of {score}, and {share} of its "
        "attention."
    )


def _asks(trace: Trace, token: int) -> str:
    """The beginning of a sentence on the page's token, with what it asks for where that has a
    name.
    """
    query, (axis,) = trace["one_query"].value, trace["one_query"].axes
    most = query.max().item()
    entries = [at for at, each in enumerate(query.tolist()) if most > 0 and most - each < ALIKE]
    names = [f"“{name}”" for at in entries if (name := trace.name_of(axis, at))]
    asks = f", which asks most for {listed(names)}," if names else ""
    return f"For {named(trace, 'query', token)}{asks or ','}"


def what_training_changes(view: View) -> str:
    """With the number of parameters."""
    settings = view.settings
    recipe = settings.projections
    biases = " and their biases" if recipe.bias else ""
    return (
        f"It changes the entries of W_query, W_key and W_value{biases}: the "
        f"{recipe.n_parameters(settings.d_in):,} numbers under “Three matrices”, which all tokens "
        f"share. What is done with them stays as it is: dot products,{DIVIDING[recipe.scale]} "
        "softmax, and a mask where there is one. “Train it” trains a layer of its own, of the "
        "width you choose, and leaves the embeddings as they are; a real model trains them as well."
    )


def without_values(trace: Trace, token: int) -> str:
    """With the largest weight of the page's token, which does not depend on values."""
    weights = trace["query_weights"].value
    key, share = int(weights.argmax()), percent(weights.max().item())
    left = "the bias alone" if "b_value" in trace else "0"
    given = f"{share} of its attention to {_found(trace, token, key)}"
    query = named(trace, "query", token)
    if not trace["W_value"].value.any():
        return (
            f"So it is here: every value is {left}, and so is every context vector. The weights do "
            f"not notice, since they come from queries and keys: {query} still gives {given}."
        )
    return (
        f"Every value would be {left}, and so would every context vector. The weights would not "
        f"notice, since they come from queries and keys: {query} would still give {given}."
    )


def _found(trace: Trace, token: int, key: int) -> str:
    return "itself" if key == token else named(trace, "key", key)
