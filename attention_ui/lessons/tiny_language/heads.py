"""The heads of the tiny language's network by their names, and what can be chosen of them."""

from attention_core.head_name import head_id, head_name
from attention_core.small_models.figures import Head, shipped_figures
from attention_core.small_models.grammar import WORDS

NEXT_WORDS = {"likeliest": "The likeliest one", **dict(zip(WORDS[1:], WORDS[1:], strict=True))}


def head_called(head: Head) -> str:
    """A head of the tiny language's network, by the name that was measured for it."""
    names = shipped_figures().names(head)
    layer, place = head
    return f"{head_name(place, layer)} ({', '.join(names) if names else 'no name fits'})"


def head_briefly(head: Head) -> str:
    """The same, short enough for a chart: `head 1.2 opening mark and 2 more`."""
    first, *more = shipped_figures().names(head) or ("no name",)
    return f"{head_name(head[1], head[0])} {first}" + (f" and {len(more)} more" if more else "")


TINY_HEADS = {head_id(*head): head_called(head) for head in shipped_figures().heads}
"""The heads of the tiny language's network."""
FIRST_WATCHED = "1.1"
"""The pronoun-to-noun head that brings most to the first beginning: a test works it out."""
