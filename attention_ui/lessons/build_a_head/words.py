"""What the lesson says of the head that is being built."""

from attention_core.trace import Trace

from ...frame.ends import closes
from ...reactive.control import Values
from ...words import percent, word_at
from .lesson import found


def hidden_words(values: Values) -> str:
    """On how many of the sentences that are not shown it holds, and what is wrong with one."""
    _, hidden = found(values)
    good = sum(bool(each) for each, _ in hidden)
    wrong = next((told for each, told in hidden if not each), "")
    words = f"**On five sentences that you do not see**: it holds on {good} of {len(hidden)}."
    return f"{words} On one of them {wrong}." if wrong else words


@closes("What makes a head look where it looks?", "head", "weights")
def what_makes_it_look(trace: Trace) -> str:
    """With the largest weight that any token but the first gives."""
    weights = trace["weights"].value
    query = int(weights.max(dim=-1).values[1:].argmax()) + 1 if len(weights) > 1 else 0
    key = int(weights[query].argmax())
    tokens = trace.labels("token")
    return (
        "W_query says what each word asks for, W_key what it is found by. A score is large "
        "where the two agree, and softmax turns a lead into nearly all of the weight. Now "
        f"{word_at(tokens, query)} gives {percent(weights[query, key].item())} to "
        f"{word_at(tokens, key)}."
    )


@closes("Does a head that works on one sentence work on all?", "head", "weights")
def does_it_hold(values: Values) -> str:
    """With the count of the sentences that are not shown."""
    _, hidden = found(values)
    good = sum(bool(each) for each, _ in hidden)
    return (
        "Only if its numbers say why it looks there. A number that happens to fit one sentence "
        f"fails on another: what you have built now holds on {good} of the {len(hidden)} sentences "
        "that you do not see."
    )


@closes("Who sets these numbers in a real model?", "head")
def who_sets_them() -> str:
    """Without a number: training does."""
    return (
        "Nobody: training finds them, because they make the next word easier to guess. Heads that "
        "look at the token before, at the first token, or at what followed the last time are found "
        "in nearly every language model. The lesson “Watch heads learn” shows how one comes about."
    )
