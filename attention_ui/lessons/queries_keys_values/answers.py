"""What the lesson on queries, keys and values leaves its reader able to answer."""

from attention_core.recipes import ROLES
from attention_core.trace import Trace

from ...page.closing import Answer, named
from ...page.view import View
from ...words import number, percent

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
        Answer("What does training change, and what never?", what_training_changes(view), "train"),
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
        "Its vector times W_query is its query: what it asks for. Every word answers with its key, "
        f"and the dot product of the two says how well it fits. {_asks(trace, token)}"
    )
    scores, weights = trace["query_scores"].value, trace["query_weights"].value
    key, share = int(weights.argmax()), percent(weights.max().item())
    if len(weights) == 1:
        return f"{words} it finds itself alone, and gives itself {share}."
    if weights.max() - weights.min() < ALIKE:
        return f"{words} all keys fit equally well, and each gets {share} of its attention."
    found = "itself" if key == token else named(trace, "key", key)
    return (
        f"{words} the best answer comes from {found}: a score of {number(scores[key].item(), 2)}, "
        f"and {share} of its attention."
    )


def _asks(trace: Trace, token: int) -> str:
    """The beginning of a sentence on the page's token, with what it asks for where that has a
    name.
    """
    query = trace["one_query"].value
    entry = int(query.argmax())
    asked = trace.name_of(trace["one_query"].axes[0], entry)
    asks = f", which asks most for “{asked}”," if asked and query[entry] > 0 else ""
    return f"For {named(trace, 'query', token)}{asks or ','}"


def what_training_changes(view: View) -> str:
    """With the number of parameters."""
    settings = view.settings
    recipe = settings.projections
    biases = " and of the biases" if recipe.bias else ""
    count = f"{recipe.n_parameters(settings.d_in):,}"
    return (
        f"It changes the entries of {len(ROLES)} matrices, W_query, W_key and W_value{biases}: "
        f"{count} numbers here, which all tokens share. What is done with them never changes: dot "
        f"products,{DIVIDING[recipe.scale]} the mask, softmax. On this page the embeddings stay "
        "too; a real model trains them as well."
    )


def without_values(trace: Trace, token: int) -> str:
    """With the largest weight of the page's token, which does not depend on values."""
    weights = trace["query_weights"].value
    key, share = int(weights.argmax()), percent(weights.max().item())
    given = f"{named(trace, 'query', token)} gives {named(trace, 'key', key)} {share}"
    left = "the bias alone" if "b_value" in trace else "0"
    if not trace["W_value"].value.any():
        return (
            f"That is so here: every value is {left}, and so is every context vector. The weights "
            f"do not mind, since they come from queries and keys: {given}."
        )
    return (
        f"Every value would be {left}, and so would every context vector. The weights would stay "
        f"as they are, since they come from queries and keys: {given}, with all values 0 or not."
    )
