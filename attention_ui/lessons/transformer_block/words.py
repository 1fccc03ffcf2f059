"""What the lesson says of its numbers."""

from torch import Tensor

from attention_core.rounding import SHARE, largest, to_within
from attention_core.trace import Trace

from ...frame.ends import closes, named
from ...reactive.control import Values
from ...words import listed, number, percent
from .lesson import heads_that_share, without_dropout
from .stream import CALLED, parts_of

ORDERS = ("before", "after")
PARTS = ("attention", "cross", "feed_forward")


def norms_words(norm: str) -> str:
    """Where the norms stand in the picture."""
    if norm == "before":
        return (
            "The layer norms stand beside the stream: each part reads a normed copy. Behind the "
            "last block, one **final norm** follows."
        )
    return (
        "The layer norms stand in the way of the stream: after each addition its mean is "
        "subtracted, and all of it is divided by its standard deviation. So what is left of a part "
        "in the end is not what it added: point at a ribbon."
    )


def heads_words(values: Values) -> str:
    """How many heads there are, how wide, and why they are fewer than chosen, where they are."""
    n_heads = heads_that_share(values)
    words = f"This block has {n_heads} heads, each {values.d_in // n_heads} wide."
    if n_heads == 1:
        words = f"This block has 1 head, as wide as the stream: {values.d_in}."
    if n_heads == values.n_heads:
        return words
    return (
        f"Heads share the width of the stream evenly. {values.n_heads} heads cannot share "
        f"{values.d_in}, so the block has {n_heads}."
    )


def arrows_words(trace: Trace, activation: str) -> str:
    """What each arrow of the feed-forward stands for, in the order of the rows."""
    read, bend = trace["hidden"].inputs[0].name, {"relu": "ReLU", "gelu": "GELU"}[activation]
    kept = "dropped_activated" if "dropped_activated" in trace else "activated"
    end = " Dropout sets some numbers to 0." if kept != "activated" else ""
    end += " Llama’s **SwiGLU** multiplies two such `hidden` vectors, one of them activated."
    return (
        f"The arrows: `hidden` = `{read}` · `W_1` + `b_1`, `activated` = {bend} of `hidden`, "
        f"`feed_forward_output` = `{kept}` · `W_2` + `b_2`.{end}"
    )


def silenced_words(trace: Trace, activation: str) -> str:
    """How many of the hidden numbers the activation silences, measured."""
    hidden = trace["hidden"].value
    below = percent((hidden < 0).double().mean().item())
    does = {
        "relu": "ReLU turns what is negative into 0",
        "gelu": "GELU is ReLU with its corner rounded: a little of what is negative comes through",
    }
    return (
        f"{does[activation]}. Here {below} of the {hidden.numel()} hidden numbers are negative, "
        "and which ones differs from token to token."
    )


def nothing_looks_ahead(trace: Trace) -> tuple[bool, str]:
    """Whether later keys have exactly no weight in any head of a decoder's self-attention."""
    most = trace["head_weights"].value.triu(1).abs().max().item()
    return most == 0, (
        "In the decoder’s own attention, weight on later tokens, in all heads: "
        f"{number(most) if most else 'exactly 0'}."
    )


# --- norms before each part, or after -------------------------------------------------------------


def both_orders(values: Values) -> tuple[Trace, Trace]:
    """The same matrices with the norms before each part, and after it."""
    before, after = (without_dropout(values, norm=norm) for norm in ORDERS)
    return before, after


def size(vector: Tensor) -> float:
    """The root mean square of the entries."""
    return vector.double().square().mean().sqrt().item()


def sizes_table(before: Trace, after: Trace, place: int) -> str:
    """How large each part is in the output of a token, in both orders, as a table."""
    found = [parts_of(trace, place) for trace in (before, after)]
    rows = [
        [CALLED[part][0], *(number(size(each[part]), 2) for each in found)] for part in found[0]
    ]
    outputs = [number(size(trace["output"].value[place]), 2) for trace in (before, after)]
    rows.append(["**what goes out**", *(f"**{each}**" for each in outputs)])
    lines = [f"| {' | '.join(row)} |" for row in rows]
    head = "| Size of what is in the output | Norms before | Norms after |\n|---|---|---|\n"
    return head + "\n".join(lines)


def stream_is_untouched(before: Trace) -> tuple[bool, str]:
    """Whether the embeddings of every token are left where what the parts added is taken away."""
    came, output = (before[name].value.double() for name in ("embeddings", "output"))
    added = [
        before[f"{part}_output"].value.double() for part in PARTS if f"{part}_output" in before
    ]
    off = (output - sum(added) - came).abs().max().item()
    return off <= SHARE * max(1.0, largest(output), largest(came)), (
        "With norms before, subtract what the parts added from the output, and the embeddings "
        f"remain, for every token, {to_within(off)}."
    )


# --- what can now be answered ---------------------------------------------------------------------


@closes("What does attention add, and what does it leave?", "stream")
def what_it_adds(trace: Trace, values: Values) -> str:
    """With the sizes of the parts of one token's output."""
    parts = parts_of(trace, values.token)
    told = [f"{CALLED[name][0]} {number(size(part), 2)}" for name, part in parts.items()]
    return (
        "It adds one vector to each token's stream, mixed from what other tokens offer. It takes "
        "nothing away: what came in is added to, not replaced. In the output of "
        f"{named(trace, 'token', values.token)}, the parts have these sizes: {listed(told)}."
    )


@closes("Why is there a layer norm?", "norm")
def why_norm(trace: Trace) -> str:
    """With the variances that the first norm found."""
    variances = trace["attention_norm_variance"].value
    least, most = (number(each.item(), 2) for each in variances.aminmax())
    return (
        "Every part adds, so the numbers of the stream may grow or differ in size from token to "
        f"token: here the variances of the rows go from {least} to {most}. Layer norm gives each "
        "part rows of mean 0 and variance 1, whatever came before it."
    )


@closes("Before each part, or after it: what is different?", "stream")
def why_before(values: Values) -> str:
    """With what is left of the embeddings in both orders."""
    before, after = both_orders(values)
    kept, scaled = (
        number(size(parts_of(each, values.token)["embeddings"]), 2) for each in (before, after)
    )
    return (
        "Before: a norm stands beside the stream, only its part reads normed numbers, and what "
        f"came in goes on as it was ({kept} in size). After: the norm stands in the stream's way "
        f"and rescales all of it, what came in too ({scaled}). Deep stacks are easier to train "
        "with norms before; the first transformer had them after."
    )
