"""The decoder layer of one published notebook, and the same layer repaired, side by side."""

from attention_core.examples import EXAMPLES
from attention_core.lights.of_trace.again import computed_again, with_row
from attention_core.mechanism.repaired_decoder import decode_beside
from attention_core.text.embedding import embed
from attention_core.trace import Trace

from ...charts.equation_parts import NEW_LINE
from ...charts.matrix import Matrix
from ...page.equation import equation
from ...page.show import light, note
from ...page.view import View
from ...words import number

EXAMPLE = "sorry_dave_first_run"
"""Whatever example is chosen: the notebook's matrices fit its own eight words alone."""
MOVED_BY = 1.0
AS_IT_WAS, REPAIRED = "self_normed", "repaired_attention_normed"
"""What leaves the self-attention, its residual and its norm, in both layers."""


def beside() -> Trace:
    """Both layers on the notebook's own sentence."""
    return decode_beside(embed(EXAMPLES[EXAMPLE].inputs))


def show_mixing(view: View) -> None:
    """How the first token's query is made in both, in the first head: of all tokens, or of one."""
    trace, first = view.trace, {"rows": (0,)}
    equation(
        view,
        "mixing",
        Matrix(trace["self_U_query"], lead=(0,), **first),
        "·",
        Matrix(trace["embeddings"]),
        NEW_LINE,
        "=",
        Matrix(trace["self_queries"], lead=(0,), **first),
    )
    vectors, queries = trace["embeddings"], trace["repaired_queries"]
    equation(view, "unmixed", Matrix(vectors, **first), "→", Matrix(queries, **first))


def show_weights(view: View) -> None:
    """The weights of both, and what comes of moving the last token."""
    both = ("self_weights", "repaired_head_weights")
    equation(view, "both_weights", *(Matrix(view.trace[name], lead=(0,)) for name in both))
    note(leak_words(view.trace))
    light(*nothing_leaks(view.trace))


def show_norms(view: View) -> None:
    """A norm of the whole matrix, one of each row by itself, and what they leave in the rows."""
    summed, was = view.trace[AS_IT_WAS].inputs[0], view.trace[AS_IT_WAS]
    equation(view, "norm_of_all", Matrix(summed), "→", Matrix(was))
    now = view.trace[REPAIRED]
    equation(view, "norm_of_rows", Matrix(now.inputs[0]), "→", Matrix(now))
    note(norm_words(view.trace))


def leaks(trace: Trace) -> dict[str, float]:
    """How far the rows of all earlier tokens move, by step, when 1 is added to each entry of the
    last token's embedding.
    """
    vectors = trace["embeddings"].value
    last = len(vectors) - 1
    moved = with_row(vectors, 0, last, vectors[last] + MOVED_BY)
    made = computed_again(trace, {"embeddings": moved})
    return {
        name: (made[name] - trace[name].value)[:last].abs().max().item()
        for name in (AS_IT_WAS, REPAIRED)
    }


def leak_words(trace: Trace) -> str:
    """What the notebook's layer lets through."""
    was = number(leaks(trace)[AS_IT_WAS], 2)
    return (
        f"A test that you can see: add {MOVED_BY:g} to each entry of the last token. In the "
        f"notebook's layer, rows of earlier tokens move by up to {was}. They look ahead."
    )


def nothing_leaks(trace: Trace) -> tuple[bool, str]:
    """Whether earlier rows of the repaired layer stay exactly where they are."""
    gap = leaks(trace)[REPAIRED]
    return gap == 0, (
        "In the repaired layer, rows of earlier tokens move by "
        f"{number(gap) if gap else 'exactly 0'}."
    )


def row_means(trace: Trace) -> tuple[float, float]:
    """How far the mean of a row is from 0 at most, in both."""
    was, now = (trace[name].value.mean(dim=-1).abs().max().item() for name in (AS_IT_WAS, REPAIRED))
    return was, now


def norm_words(trace: Trace) -> str:
    """What the norm of the whole matrix leaves in the rows."""
    was, now = row_means(trace)
    return (
        "The notebook's norm takes one mean and one variance of the whole matrix. The mean of a "
        f"single row is then off 0 by up to {number(was, 2)}, and each token's numbers depend on "
        f"all others. The repaired norm is of each row by itself: off by {now:.1g} at most."
    )
