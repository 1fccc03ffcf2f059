"""The decoder layer of one published notebook, and the same layer repaired, side by side."""

from attention_core.examples import EXAMPLES
from attention_core.lights.of_trace.again import computed_again, with_row
from attention_core.mechanism.repaired_decoder import decode_beside
from attention_core.published import notebook
from attention_core.rounding import to_within
from attention_core.text.embedding import embed
from attention_core.trace import Trace

from ...picture.layout import Layout, equation
from ...picture.matrix import Matrix
from ...words import number

EXAMPLE = "sorry_dave_first_run"
"""Whatever example is chosen: the notebook's matrices fit its own eight words alone."""
MOVED_BY = 1.0
AS_IT_WAS, REPAIRED = "self_normed", "repaired_attention_normed"
"""What leaves the self-attention, its residual and its norm, in both layers."""


def source() -> str:
    """Which notebook it is."""
    return notebook(EXAMPLES[EXAMPLE].notebook).source


def beside() -> Trace:
    """Both layers on the notebook's own sentence."""
    return decode_beside(embed(EXAMPLES[EXAMPLE].inputs))


def mixing(trace: Trace) -> Layout:
    """How the notebook makes the first token's query, in the first head: of all tokens."""
    first = {"rows": (0,), "lead": (0,)}
    mixed = Matrix(trace["self_U_query"], **first)
    made = Matrix(trace["self_queries"], **first)
    return equation(trace, mixed, "·", Matrix(trace["embeddings"]), "=", made, tall=190)


def unmixed(trace: Trace) -> Layout:
    """How the repaired layer makes it: of the first token's vector alone."""
    queries = Matrix(trace["repaired_head_queries"], lead=(0,), rows=(0,))
    return equation(trace, Matrix(trace["embeddings"], rows=(0,)), "↠", queries)


def both_weights(trace: Trace) -> Layout:
    """The weights of the first head in both."""
    was, now = (trace[name] for name in ("self_weights", "repaired_head_weights"))
    return equation(
        trace,
        Matrix(was, lead=(0,), title="the notebook’s weights"),
        "≠",
        Matrix(now, lead=(0,), title="repaired"),
        tall=250,
    )


def both_norms(trace: Trace) -> Layout:
    """What leaves the first norm in both."""
    was, now = (Matrix(trace[name]) for name in (AS_IT_WAS, REPAIRED))
    return equation(trace, was, "≠", now, tall=230)


def moves(trace: Trace) -> dict[str, list[float]]:
    """How far each earlier token's row moves at most, by step, with 1 added to the last token."""
    vectors = trace["embeddings"].value
    last = len(vectors) - 1
    moved = with_row(vectors, 0, last, vectors[last] + MOVED_BY)
    made = {
        name: computed_again(trace, {"embeddings": moved}, name) for name in (AS_IT_WAS, REPAIRED)
    }
    return {
        name: (numbers - trace[name].value)[:last].abs().amax(dim=-1).tolist()
        for name, numbers in made.items()
    }


def leaks(trace: Trace) -> dict[str, float]:
    """The most that any earlier row moves, by step."""
    return {name: max(each) for name, each in moves(trace).items()}


def moves_table(trace: Trace) -> str:
    """How far each earlier row moves in both layers, as a table; the words are the notebook's."""
    called = {AS_IT_WAS: "The notebook's", REPAIRED: "Repaired"}
    found = moves(trace)
    head = ["Row moves by", *trace.labels("token")[:-1]]
    rows = [
        [called[name], *(number(each, 2) if each else "0" for each in found[name])]
        for name in called
    ]
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


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
        f"all others. The repaired norm treats each row by itself: every "
        f"mean is 0, {to_within(now)}."
    )
