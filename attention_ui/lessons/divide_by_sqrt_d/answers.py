"""What the lesson on √d leaves its reader able to answer."""

import math

import torch

from attention_core.trace import Trace

from ...page.closing import Answer
from ...page.view import View
from ...words import number, percent
from .by_width import said
from .three_divisors import effects_at, times


def answers(view: View) -> list[Answer]:
    """On √d against d, on what it assumes, and on what happens without it."""
    d, seed = view.settings.vd, view.settings.draw_seed
    return [
        Answer("Why √d, and not d?", why_the_root(d), "many_trials", ("variances",)),
        Answer("What does dividing by √d assume?", assumes(view.trace), "many_trials"),
        Answer("What happens without dividing?", without(d, seed), "three_divisors"),
    ]


def why_the_root(d: int) -> str:
    """By how far a sum of d products spreads, at the width that is chosen."""
    words = (
        "A dot product adds d products, some above 0 and some below, which partly cancel: its "
        "standard deviation grows like √d, not like d."
    )
    root = math.sqrt(d)
    if d == 1:
        return f"{words} At d = 1 there is nothing to undo: √1 is 1, and so is d."
    return (
        f"{words} At d = {d:,} it is √{d:,} = {said(root)}, and dividing by that makes it 1 again. "
        f"Dividing by {d:,} would leave {said(1 / root, 2)}, and the wider the vectors, the more "
        "alike all keys would look."
    )


def assumes(trace: Trace) -> str:
    """With what the entries drawn on this page come to."""
    drawn = torch.cat([trace[name].value.flatten() for name in ("queries", "keys")]).double()
    return (
        "That the entries of queries and keys are independent, with mean 0 and standard deviation "
        f"1. The {len(drawn)} under “Products” have a mean of "
        f"{number(drawn.mean().item(), 2)} and a standard deviation of "
        f"{number(drawn.std().item(), 2)}. Entries twice as large would make every score 4 times "
        "as large, at any width, and √d would not undo that."
    )


def without(d: int, seed: int) -> str:
    """By what softmax makes of scores that are divided by nothing, and by √d."""
    if d == 1:
        return (
            "At d = 1 nothing, since √1 is 1. Make the vectors wider: scores spread farther, and "
            "softmax gives more and more of the weight to one key."
        )
    measured = effects_at(d, seed)
    plain, by_root = measured["nothing"], measured["sqrt_d"]
    words = (
        f"At d = {d:,}, the best of {len(plain.sorted_weights)} keys takes "
        f"{percent(plain.largest_weight)} of the weight on average; divided by √d, "
        f"{percent(by_root.largest_weight)}."
    )
    if plain.gradient_norm > by_root.gradient_norm:
        return f"{words} Vectors this narrow can do without; wider ones cannot."
    if 2 * plain.gradient_norm > by_root.gradient_norm:
        return f"{words} The gradient is still about as large as with √d, but not for much wider d."
    gap = times(by_root.gradient_norm, plain.gradient_norm)
    return (
        f"{words} And the gradient is {gap} than with √d: training has little to go by where "
        "softmax is all or nothing."
    )
