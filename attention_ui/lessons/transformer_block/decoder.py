"""What a decoder's block has beside an encoder's: a causal mask, and cross-attention."""

from attention_core.trace import Trace

from ...charts.equation_parts import Parts
from ...charts.matrix import Matrix
from ...page.equation import equation
from ...page.view import View
from ...words import number


def show_decoder(view: View) -> None:
    """The weights of the first head, on the sentence itself and on the source."""
    equation(view, "cross", *weights_of(view.trace))


def weights_of(trace: Trace) -> Parts:
    """The first head's weights of the self-attention, and of the cross-attention."""
    weights, across = trace["head_weights"], trace["cross_head_weights"]
    return (Matrix(weights, lead=(0,)), Matrix(across, lead=(0,), row_labels=True))


def nothing_looks_ahead(trace: Trace) -> tuple[bool, str]:
    """Whether later keys have exactly no weight in any head of the self-attention."""
    weights = trace["head_weights"].value
    most = weights.triu(1).abs().max().item()
    return most == 0, (
        f"Weight on later tokens, in all heads: {number(most) if most else 'exactly 0'}."
    )
