"""What the lesson on trainable queries, keys and values shows beside heatmaps."""

import pandas as pd
import streamlit as st
from torch import Tensor

from attention_core.examples import EXAMPLES
from attention_core.mechanism.trainable import attend_trainable
from attention_core.recipes import PLURAL, ROLES
from attention_core.rounding import agree, difference
from attention_core.text.embedding import embed
from attention_core.trace import Trace

from ...cards.questions import Verdict
from ...charts.bars import bars
from ...page.show import folded, one_of, show
from ...page.view import View
from ...picture.equation_parts import Parts, equation_of
from ...settings import session
from ...settings.control import control, control_row, offered
from ...settings.fit import changed
from ...settings.settings import Settings
from ...widgets.grid import grid

SURE = 0.99
"""A row that gives one key more than this looks at nothing else."""
SATURATED = "life_is_short"
"""An example of which one start gives nearly every row such a weight."""


def choose_matrices() -> None:
    """The controls that make the three matrices."""
    with control_row():
        control("start")
        for name in ("d_out", "d_v"):
            control(name, width=220)
        control("scale")
        control("bias")


def origin_words(settings: Settings, trace: Trace) -> str:
    """Where the numbers in the matrices come from; an example of how to read those set by hand."""
    if settings.projections.given_for("query", settings.d_in) is None:
        return (
            "`torch.rand` draws from 0 to 1, so all entries are positive; `nn.Linear` draws around "
            "0."
        )
    if EXAMPLES[settings.example].is_trained:
        return (
            "These matrices were trained: nobody chose a number in them. Together they are the "
            "head that finds the noun of a pronoun, so look at what *it* asks for."
        )
    words = "These matrices were set by hand, so you can read them."
    matrix = trace["W_query"].value
    row, column = divmod(int(matrix.argmax()), matrix.shape[1])
    if matrix[row, column] <= 0:  # numbers typed by hand may leave none to ask for anything
        return words
    has, asked = trace.labels("d_in")[row], trace.labels("d_out")[column]
    return (
        f"{words} In `W_query`, row *{has}* and column *{asked}* hold "
        f"{matrix[row, column].item():g}: the larger a word's *{has}*, the more it asks for "
        f"*{asked}*."
    )


def matrix_words(settings: Settings) -> str:
    """How many entries the matrices have."""
    recipe = settings.projections
    counts = [f"{settings.d_in} × {recipe.width(role)}" for role in ROLES]
    biases = f", and {2 * recipe.d_out + recipe.d_v} of the biases" if recipe.bias else ""
    return (
        f"`W_query` has {counts[0]} entries, `W_key` {counts[1]}, `W_value` {counts[2]}"
        f"{biases}: **{recipe.n_parameters(settings.d_in):,} parameters** that training may "
        "change."
    )


def own_matrices(view: View) -> None:
    """Seeds of their own, and numbers typed by hand, for each matrix."""
    with folded("Other seeds, or numbers of your own", "own_matrices", ":material/tune:") as opened:
        if not opened:
            return
        st.markdown(
            "Without a seed the matrices are the example's own. A seed for one matrix leaves the "
            "other two as they are."
        )
        with control_row(vertical_alignment="top"):
            for name in ("w_seed", "q_seed", "k_seed", "v_seed"):
                control(name, width=200)
        name = one_of("Type into", [f"W_{role}" for role in ROLES], "W_query")
        matrix = view.trace[name]
        drawn = view.trace.get(f"drawn_{name}", matrix)
        about = (view.settings.start, matrix.value.shape, view.settings.bias)
        seeds = (view.settings.w_seed, getattr(view.settings, f"{name[2]}_seed"))
        grid(view.trace, f"{name[2]}_edits", matrix, drawn, (*about, *seeds))


def one_role(view: View, names: tuple[str, str, str], key: str) -> Parts:
    """A projection as a product, for the role that is chosen above it."""
    role = one_of(
        "Matrix",
        ROLES,
        "query",
        format_func=lambda role: f"W_{role}",
        key=f"role_{key}",
        label_visibility="collapsed",
    )
    return equation_of(view.trace[names[ROLES.index(role)]])


def all_names() -> tuple[str, str, str]:
    """The projections of all tokens, in the order of the roles."""
    return tuple(PLURAL[role] for role in ROLES)


def sure_rows(weights: Tensor) -> int:
    """How many rows give nearly all to one key."""
    return int((weights.max(dim=-1).values > SURE).sum())


def judge_sure(guess: int, weights: Tensor) -> Verdict:
    """How far a guess of the sure rows is off."""
    truth, found = sure_rows(weights), sure_words(weights)
    if guess == truth:
        return Verdict(True, f"Right: {found}.")
    return Verdict(False, f"{found}; you are {abs(guess - truth)} off.")


def sure_words(weights: Tensor) -> str:
    """How many rows those are, of how many."""
    return f"{sure_rows(weights)} of {len(weights)} rows give one key more than {SURE}"


def compare_starts(view: View) -> None:
    """The same layer begun in each way: the scores, and the largest weight of each row."""
    settings = session.current()
    traces = {
        title: attend_trainable(embed(settings.inputs), changed(settings, start=start).projections)
        for start, title in offered("start", settings).items()
    }
    largest = {
        start: trace["weights"].value.max(dim=-1).values.tolist() for start, trace in traces.items()
    }
    show(bars(view.trace.labels("query"), largest, "The largest weight of each query, by start."))
    st.dataframe(
        pd.DataFrame(
            [_spread(trace) for trace in traces.values()], index=pd.Index(traces, name="start")
        ),
        width="content",
    )
    st.markdown(starts_verdict({start: trace["weights"].value for start, trace in traces.items()}))


def starts_verdict(weights: dict[str, Tensor]) -> str:
    """What the weights (query, key) of each start say about how it can learn."""
    sure = {start: sure_rows(each) for start, each in weights.items()}
    if not any(sure.values()):
        return (
            f"Here no row of any start gives one key more than {SURE}, so all can still learn. "
            f"In the example “{EXAMPLES[SATURATED].title}” one of them hardly can."
        )
    told = " and ".join(
        f"{count} of {len(weights[start])} with `{start}`" for start, count in sure.items()
    )
    return f"Rows that give one key more than {SURE}: {told}. Such rows learn hardly anything."


def _spread(trace: Trace) -> dict[str, object]:
    """How far the scores of a trace spread, and what is left of the softmax's slope."""
    scores, weights = trace["scores"].value, trace["weights"].value
    top = weights.max(dim=-1).values
    return {
        "smallest score": round(scores.min().item(), 2),
        "largest score": round(scores.max().item(), 2),
        "rows above 0.99": sure_rows(weights),
        "mean slope w(1 − w) of the top weight": round((top * (1 - top)).mean().item(), 6),
    }


def ways_agree(trace: Trace) -> list[tuple[bool, str]]:
    """The lights for the other ways of writing a projection, with the largest differences."""

    def compared(*names: str) -> tuple[bool, float]:
        pairs = [tuple(trace[name].value for name in names)]
        return agree(pairs, *((trace, name) for name in names)), difference(pairs)

    is_same, upright = compared("queries_upright", "queries")
    is_same_linear, linear = compared("linear_context_vectors", "context_vectors")
    code = trace["queries_upright"].operation.code("embeddings", "W_query")
    return [
        (
            is_same,
            f"Tokens as columns, `{code}`: the largest difference is {upright:.1g}.",
        ),
        (
            is_same_linear,
            "`nn.Linear` with the transposed matrices: its context vectors differ by at most "
            f"{linear:.1g}.",
        ),
    ]
