"""What the lesson on several heads leaves its reader able to answer."""

from dataclasses import replace

import torch

from attention_core.recipes import HeadsRecipe
from attention_core.trace import Trace

from ...page.closing import Answer, named
from ...page.view import View
from ...words import number
from .checks import one_wide, widths
from .heads import how_many


def answers(view: View) -> list[Answer]:
    """On view against transpose, on what a head adds, and on what heads cost."""
    settings = view.settings
    recipe = settings.heads_recipe
    return [
        Answer(
            "Why does splitting into heads take a transpose, and not just a view?",
            why_transpose(view.trace),
            "split",
            ("split_queries", "mixed_queries"),
        ),
        Answer(
            "What would the output lose without one of its heads?",
            what_a_head_adds(view.trace, settings.query),
            "parts",
            ("head_outputs",),
        ),
        Answer(
            "Do more heads cost more parameters?",
            what_heads_cost(settings.d_in, recipe),
            "cost",
            ("parameters",),
        ),
    ]


def why_transpose(trace: Trace) -> str:
    """With how many rows a view alone gets right."""
    joined = trace["joined_queries"].value
    numbered = torch.arange(joined.numel()).reshape(joined.shape)
    ways = (trace[name].operation for name in ("split_queries", "mixed_queries"))
    split, mixed = (way.value(numbered) for way in ways)
    n_heads, n_tokens, d_head = split.shape
    words = (
        f"A view of {n_tokens} × {n_heads} × {d_head} cuts each token's row into its heads; the "
        f"transpose then puts heads first: {n_heads} × {n_tokens} × {d_head}."
    )
    if n_heads == 1 or n_tokens == 1:
        return f"{words} With one head, or one token, a view alone gives the same."
    right = int((split == mixed).all(dim=-1).sum())
    return (
        f"{words} A view straight to that shape cuts in memory order: head 0 would be filled from "
        f"the first tokens, and only {right} of {n_heads * n_tokens} rows would hold what they "
        "should."
    )


def what_a_head_adds(trace: Trace, query: int) -> str:
    """With the head that adds most to the page's query."""
    lengths = trace["head_outputs"].value[:, query].norm(dim=-1)
    head = int(lengths.argmax())
    length = number(lengths[head].item(), 2)
    if len(lengths) == 1:
        return (
            "Everything, here: there is one head, and what it adds is the whole output. For "
            f"{named(trace, 'query', query)} that is a vector of length {length}."
        )
    return (
        "Just what that head adds: the output is a sum over heads, each computed by itself, so the "
        f"others stay as they are. For {named(trace, 'query', query)}, "
        f"{named(trace, 'head', head)} adds most: a vector of length {length}."
    )


def what_heads_cost(d_in: int, recipe: HeadsRecipe) -> str:
    """With the parameters of these heads, of one wide head, and of one head more."""
    wide = one_wide(recipe)
    own, one = recipe.n_parameters(d_in), wide.n_parameters(d_in)
    more = replace(recipe, n_heads=recipe.n_heads + 1, given=None, start="linear")
    extra = f"{more.n_parameters(d_in) - own:,}"
    if recipe.n_heads == 1:
        return (
            f"Not if they share the width: your one head has {own:,} parameters, and dealing its "
            "columns out to several would not change that. Another head as wide would cost "
            f"{extra} more."
        )
    return (
        f"Not if they share the width: your {how_many(recipe.n_heads)} {widths(recipe)} have "
        f"{own:,} parameters, and one head {widths(wide)} has {one:,}, for the same columns. "
        f"Another head as wide as yours would cost {extra} more."
    )
