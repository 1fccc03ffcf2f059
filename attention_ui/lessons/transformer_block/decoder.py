"""What a decoder's block has beside an encoder's: a causal mask, and cross-attention."""

from attention_core.trace import Trace

from ...picture.equation_parts import Parts
from ...picture.matrix import Matrix
from ...words import number
from .parts import added_by


def across(trace: Trace) -> Parts:
    """The first head's weights on the source, and what all heads add to the stream from there."""
    return (Matrix(trace["cross_head_weights"], lead=(0,)), Matrix(added_by(trace, "cross")))


def nothing_looks_ahead(trace: Trace) -> tuple[bool, str]:
    """Whether later keys have exactly no weight in any head of the self-attention."""
    weights = trace["head_weights"].value
    most = weights.triu(1).abs().max().item()
    return most == 0, (
        "In the attention above (“What attention adds”), weight on later tokens, in all heads: "
        f"{number(most) if most else 'exactly 0'}."
    )
