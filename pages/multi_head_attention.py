"""Lesson: several attentions side by side, joined, and mixed by one more matrix."""

import streamlit as st

from attention_core.embedding import embed
from attention_core.multi_head import (
    add_batched,
    add_big_projection,
    add_head_parts,
    attend_heads,
    expand_word,
)
from attention_core.trace import Trace
from attention_ui.anatomy import begin, finish
from attention_ui.beats import beat, equation
from attention_ui.charts.matrix import Matrix
from attention_ui.frame import open_lesson
from attention_ui.head_checks import (
    say_sum_agrees,
    say_torch_agrees,
    say_ways_agree,
    show_parameters,
    show_ways,
)
from attention_ui.head_experiments import (
    compete,
    heads_compete,
    split_wrongly,
    switch_a_head_off,
    without_a_head,
)
from attention_ui.heads import (
    added,
    choose_heads,
    how_many,
    judge_largest,
    one_head,
    say_left_out,
    show_parts,
    side_by_side,
)
from attention_ui.predict import is_open
from attention_ui.questions import Pick, Shape
from attention_ui.settings import Settings
from attention_ui.show import formulas, light
from attention_ui.view import View

PAGE = "multi_head_attention"

settings = open_lesson(PAGE)
recipe = settings.heads_recipe


def build(settings: Settings) -> Trace:
    """The lesson's trace."""
    trace = attend_heads(embed(settings.inputs), settings.heads_recipe)
    for add in (add_batched, add_big_projection, add_head_parts):
        add(trace)
    return expand_word(trace, settings.query)


view = View.of(
    PAGE,
    settings,
    build,
    opens_with=("joined_queries", (settings.query, 0)),
    lesson="multi_head",
)
trace = view.trace
wrong = view.beside(heads_compete(settings), "multi_head_wrong_axis")
begin(view, wrong, view.beside(without_a_head(settings)))
weights = trace["head_weights"]
last = recipe.n_heads - 1

formulas(
    trace.formula("head_context_vectors", known=("head_queries", "head_keys", "head_values")),
    trace.formula("output", known=("head_context_vectors", "W_output")),
)

st.header("How many heads, how wide", anchor="sizes")
choose_heads(settings)

beat(
    view,
    "queries",
    "The queries of all heads",
    "One product makes them all: each head owns some columns of `W_query`, marked by its colour. "
    "Keys and values are made the same way.",
    Matrix(trace["embeddings"]),
    "·",
    Matrix(trace["W_query"]),
    "=",
    Matrix(trace["joined_queries"]),
)
n_tokens = len(settings.inputs.tokens)
names = list(trace)
all_heads = ("head_weights", "head_context_vectors", "concat", "output")
shape_known = is_open(
    view,
    "shape",
    Shape(
        words=f"`joined_queries` is {trace['joined_queries'].shape}: all heads side by side. Split "
        f"it into its {how_many(recipe.n_heads)}. Which shape does it have then?",
        truth=(("head", recipe.n_heads), ("query", n_tokens), ("d_head", recipe.d_head)),
        sides=("Heads", "Rows of a head", "Columns of a head"),
        teaches="Every head sees all tokens, through columns of its own. The tokens are not dealt "
        "out, the width is.",
    ),
    covers=names[names.index("joined_queries") + 1 :],
)
if shape_known:
    beat(
        view,
        "split",
        "Split into heads",
        "The columns are dealt out. Every head now has a query for every token, only narrower.",
        Matrix(trace["joined_queries"]),
        "→",
        *side_by_side(trace, "split_queries"),
    )

    st.header("Three ways to the same heads", anchor="ways")
    st.markdown(
        "A loop over heads; a batched product, for which the vectors are repeated, multiplied by "
        "`bmm` and permuted back; and the one big projection that is split. Compare the shapes, "
        f"then the numbers of head {last}."
    )
    show_ways(trace)
    equation(
        view,
        "ways",
        Matrix(trace["head_queries"], lead=(last,)),
        "=",
        Matrix(trace["permuted_queries"], lead=(last,)),
        "=",
        Matrix(trace["split_queries"], lead=(last,)),
    )
    say_ways_agree(trace)

    beat(
        view,
        "scores",
        "Scores of every head",
        "Each head compares its own queries with its own keys, so it finds other pairs alike. All "
        "heads share one scale of colours.",
        *side_by_side(trace, weights.inputs[0].name),
    )
    say_left_out(weights)
revealed = shape_known and (
    recipe.n_heads == 1
    or is_open(
        view,
        "largest",
        Pick(
            words="Which head will hold the largest single weight? Look for a score that stands "
            "far above the others of its row.",
            choices=[f"Head {head}" for head in range(recipe.n_heads)],
            judge=lambda guess: judge_largest(guess[0], weights.value),
            teaches="Softmax looks at one row of one head at a time: how far a score stands above "
            "its own row counts, not how large it is.",
        ),
        covers=all_heads,
    )
)
if revealed:
    beat(
        view,
        "weights",
        "Weights of every head",
        "The same sentence, seen in several ways. Follow one row through all heads: where do they "
        "agree, and where does one see what another overlooks?",
        *side_by_side(trace, "head_weights"),
    )
    say_left_out(weights)
    off = (weights.value.sum(dim=-1) - 1).abs().max().item()
    light(off < 1e-5, f"Every row of every head sums to 1: the farthest is off by {off:.1g}.")

    st.header("One head at a time", anchor="one_head")
    st.markdown("A head is an attention like any other, on narrower queries, keys and values.")
    equation(view, "one_head", build=lambda now: one_head(view, now))

    beat(
        view,
        "concat",
        "Join the heads",
        "Each token's context vectors are written side by side in one row. Nothing is computed.",
        *side_by_side(trace, "head_context_vectors"),
        "→",
        Matrix(trace["concat"]),
    )
    beat(
        view,
        "output",
        "Mix them",
        "`W_output` has a row for each column of the joined heads. Only here do the heads meet.",
        Matrix(trace["concat"]),
        "·",
        Matrix(trace["W_output"]),
        "=",
        Matrix(trace["output"]),
    )
    say_torch_agrees(trace)

    st.header("The output is a sum over heads", anchor="parts")
    st.markdown(
        "Joining and multiplying is the same as this: each head times its own rows of `W_output`, "
        "all added. So each number of the output can be shared out to the heads."
    )
    equation(
        view,
        "parts",
        *added(side_by_side(trace, "head_outputs")),
        "=",
        Matrix(trace["output_from_heads"]),
        below=show_parts,
    )
    say_left_out(trace["head_outputs"])
    say_sum_agrees(trace)

    st.header("Switch a head off", anchor="off")
    st.markdown("Its context vectors become 0. What does the output lose?")
    switch_a_head_off(view)

    st.header("What heads cost", anchor="cost")
    show_parameters(view, recipe)

if shape_known:
    st.header("Split the wrong way", anchor="mixed")
    st.markdown(
        "`reshape` to (head, query, d_head) has the right shape, and runs. But it cuts the numbers "
        "in the order of memory, row after row: head 0 gets all that belongs to the first tokens, "
        "the next head what belongs to the following ones. No error, only worse results."
    )
    split_wrongly(view)
    st.header("Heads compete instead of keys", anchor="compete")
    st.markdown(
        "Softmax over the wrong axis: for each query and key the heads share a weight of 1, and "
        "the rows no longer sum to 1. No mask is used here."
    )
    compete(wrong)

finish(view, wrong)
