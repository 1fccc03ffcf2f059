"""What the lesson on the transformer block leaves its reader able to answer."""

from attention_core.trace import Trace

from ...page.closing import Answer, named
from ...page.view import View
from ...words import listed, number
from .flow import CALLED, parts_of, token_of
from .orders import both_orders, size


def answers(view: View) -> list[Answer]:
    """On what attention adds, on layer norm, and on where the norms stand."""
    trace = view.trace
    token = token_of(trace, view.settings.token)
    return [
        Answer(
            "What does attention add, and what does it leave?", what_it_adds(trace, token), "stream"
        ),
        Answer("Why is there a layer norm?", why_norm(trace), "norm"),
        Answer(
            "Before each part, or after it: what is different?", why_before(view, token), "orders"
        ),
    ]


def what_it_adds(trace: Trace, token: int) -> str:
    """With the sizes of the parts of one token's output."""
    parts = parts_of(trace, token)
    told = [f"{CALLED[name][0]} {number(size(part), 2)}" for name, part in parts.items()]
    return (
        "It adds one vector to each token's stream, mixed from what other tokens offer. It takes "
        "nothing away: what came in is added to, not replaced. In the output of "
        f"{named(trace, 'token', token)}, the parts have these sizes: {listed(told)}."
    )


def why_norm(trace: Trace) -> str:
    """With the variances that the first norm found."""
    variances = trace["attention_norm_variance"].value
    least, most = (number(each.item(), 2) for each in variances.aminmax())
    return (
        "Every part adds, so the numbers of the stream may grow or differ in size from token to "
        f"token: here the variances of the rows go from {least} to {most}. Layer norm gives each "
        "part rows of mean 0 and variance 1, whatever came before it."
    )


def why_before(view: View, token: int) -> str:
    """With what is left of the embeddings in both orders."""
    before, after = both_orders(view.settings)
    kept, scaled = (
        number(size(parts_of(each, token)["embeddings"]), 2) for each in (before, after)
    )
    return (
        "Before: a norm stands beside the stream, only its part reads normed numbers, and what "
        f"came in goes on as it was ({kept} in size). After: the norm stands in the stream's way "
        f"and rescales all of it, what came in too ({scaled}). Deep stacks are easier to train "
        "with norms before; the first transformer had them after."
    )
