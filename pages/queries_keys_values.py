"""Lesson 5: attention with trainable matrices, and training them."""

import streamlit as st

from attention_core.embedding import embed
from attention_core.trace import Trace
from attention_core.trainable import add_other_ways, attend_trainable, expand_token
from attention_ui.anatomy import begin, finish
from attention_ui.beats import beat, equation
from attention_ui.charts.matrix import Matrix
from attention_ui.descent import train_it
from attention_ui.frame import open_lesson
from attention_ui.look import choose_query
from attention_ui.mistakes import other_views, show_mistakes
from attention_ui.predict import is_open
from attention_ui.projections import (
    all_names,
    choose_matrices,
    compare_starts,
    judge_sure,
    one_role,
    own_matrices,
    say_ways_agree,
)
from attention_ui.questions import Pick, Shape
from attention_ui.settings import Settings
from attention_ui.show import formulas, light
from attention_ui.view import View

PAGE = "queries_keys_values"

settings = open_lesson(PAGE)


def build(settings: Settings) -> Trace:
    """The lesson's trace."""
    trace = attend_trainable(embed(settings.inputs), settings.projections)
    return add_other_ways(expand_token(trace, settings.token))


view = View.of(PAGE, settings, build, opens_with=("queries", (settings.token, 0)), lesson="qkv")
trace = view.trace
linear = view.beside(
    add_other_ways(attend_trainable(embed(settings.inputs), settings.linear_projections)),
    "qkv_linear",
)
others = other_views(view)
begin(view, linear, *others.values())
before_softmax = trace["weights"].inputs[0]

formulas(
    r"Q = X W_Q",
    r"K = X W_K",
    r"V = X W_V",
    trace.formula("context_vectors", known=("queries", "keys", "values")),
)

beat(
    view,
    "matrices",
    "Three matrices",
    "Each row belongs to one entry of an embedding, each column to one entry of a query, key or "
    "value. `torch.rand` draws from 0 to 1, so all entries are positive; `nn.Linear` draws around "
    "0. Change them and watch the scores further down.",
    Matrix(trace["W_query"]),
    "",
    Matrix(trace["W_key"], row_labels=False),
    "",
    Matrix(trace["W_value"], row_labels=False),
)
choose_matrices(settings)
own_matrices(view)

st.header("One token first", anchor="one_token")
st.markdown(
    "Its vector times each matrix: what it asks for, what it is found by, what it hands on. "
    "Choose the token and the matrix."
)
choose_query(settings, "token")
one_names = ("one_query", "one_key", "one_value")
equation(view, "one_token", build=lambda _: one_role(view, one_names, "one"))
st.markdown("Its query meets the key of every token: one score each.")


def lying(name: str, row_labels: bool = False) -> Matrix:
    """A vector as a row."""
    return Matrix(trace[name], transposed=True, row_labels=row_labels)


equation(
    view,
    "one_scores",
    lying("one_query"),
    "·",
    Matrix(trace["keys"], transposed=True),
    "=",
    lying("query_scores"),
)
st.markdown("Softmax turns its scores into weights, and the weights mix the values.")
equation(
    view,
    "one_context",
    lying(trace["query_weights"].inputs[0].name),
    "→",
    lying("query_weights"),
    "·",
    Matrix(trace["values"]),
    "=",
    lying("query_context"),
)

st.header("All tokens at once", anchor="all_tokens")
st.markdown("The same product for every row: one matrix product a matrix.")
equation(view, "projections", build=lambda _: one_role(view, all_names(), "all"))
n_rows = len(trace["weights"].value)
after_scores = (before_softmax.name, "weights", "context_vectors")
shape_known = is_open(
    view,
    "shape",
    Shape(
        words=f"Queries are {trace['queries'].shape}, keys {trace['keys'].shape}. Which shape will "
        "`scores` have, when each query meets each key?",
        truth=(("query", n_rows), ("key", n_rows)),
        teaches="A score for each pair of tokens, however wide queries and keys are: the width is "
        "summed over. Twice as many tokens make four times as many scores.",
    ),
    covers=("scores", *after_scores),
)
if shape_known:
    beat(
        view,
        "scores",
        "Scores",
        "A score is the dot product of one token's query with another's key. It is no longer the "
        "same in both directions: compare a cell with its mirror across the diagonal.",
        Matrix(trace["queries"]),
        "·",
        Matrix(trace["keys"], transposed=True),
        "=",
        Matrix(trace["scores"]),
    )
if shape_known and is_open(
    view,
    "sure_rows",
    Pick(
        words=f"How many of the {n_rows} rows will give more than 0.99 of their weight to a single "
        "key?",
        choices=[str(count) for count in range(n_rows + 1)],
        judge=lambda guess: judge_sure(guess[0], trace["weights"].value),
        teaches="What counts is by how much the largest score of a row stands above the next: by 5 "
        "is enough for 0.99 against one other key.",
    ),
    covers=("weights", "context_vectors"),
):
    beat(
        view,
        "weights",
        "Weights",
        "Scores become shares of 1 along each row. Where one score stands far above the others, "
        "its share is nearly 1 and nothing else is seen.",
        Matrix(before_softmax),
        "→",
        Matrix(trace["weights"], row_labels=False),
    )
    off = (trace["weights"].value.sum(dim=-1) - 1).abs().max().item()
    light(off < 1e-5, f"Every row sums to 1: the farthest is off by {off:.1g}.")
    beat(
        view,
        "context",
        "Context vectors",
        "The weights mix the values, not the embeddings: a context vector is as wide as a value.",
        Matrix(trace["weights"]),
        "·",
        Matrix(trace["values"]),
        "=",
        Matrix(trace["context_vectors"]),
    )

    st.header("The same, written otherwise", anchor="otherwise")
    st.markdown(
        "With tokens as rows it is `x @ W`; with tokens as columns, `W @ x` with the matrix "
        "transposed. `nn.Linear` keeps the transposed matrix, so a layer agrees with a parameter "
        "matrix once one is the other transposed. Here both are computed."
    )
    say_ways_agree(trace)

    st.header("What the start does", anchor="starts")
    st.markdown(
        "The same sentence with both starts. Bars show the largest weight w of each row. The slope "
        "of softmax there is w(1 − w): a weight of nearly 1 has hardly any, and what has no slope "
        "cannot learn."
    )
    compare_starts(view)
    show_mistakes(others)

st.header("Train it", anchor="train")
st.markdown(
    "Gradient descent on this sentence: each context vector, through a small output matrix, is to "
    "predict the next token, and may look only backwards. Every matrix starts as `nn.Linear` does. "
    "Then try it without √d, and with too large a learning rate."
)
train_it(view)

finish(view, linear, *others.values())
