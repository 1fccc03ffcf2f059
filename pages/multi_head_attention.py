"""Lesson 7: several attentions side by side, joined, and mixed by one more matrix."""

import inspect

import streamlit as st

from attention_core.mechanism.head_ways import heads_one_by_one
from attention_ui.cards.alone import Place, alone
from attention_ui.cards.begin import begin
from attention_ui.cards.card import card, light, note, waits_for
from attention_ui.cards.question import question
from attention_ui.cards.show import Moving, chart, moves, picture
from attention_ui.controls import shared
from attention_ui.controls.control import Values
from attention_ui.controls.widget import control
from attention_ui.frame.ends import answers, deeper, ends
from attention_ui.frame.lights import sums_verdict
from attention_ui.frame.page import way_to_a_real_model
from attention_ui.lessons.multi_head_attention import checks, lesson, words
from attention_ui.lessons.multi_head_attention.parts import parts
from attention_ui.picture.layout import equation
from attention_ui.picture.matrix import Matrix, of_unknown_shape
from attention_ui.picture.sentence import with_sentence

SPLIT = ("split_queries", "head_queries", "permuted_queries", "mixed_queries")
"""The queries of single heads, whose shape a question asks for."""
values, trace = begin("multi_head_attention", sidebar=(shared.H_SEED,))
recipe = shared.heads_recipe_of(values)
n_heads, query = recipe.n_heads, values.query

with card(
    "weights",
    "One sentence, seen several ways",
    "Each **head** has a colour. Point at a word to see where each head looks. Where do they "
    "agree, and where does one see what another overlooks?",
) as beside:
    with beside:
        control(shared.N_HEADS, width=150)
        control(shared.CAUSAL_HEADS)
    heads = equation(trace, *lesson.side_by_side(trace["head_weights"]), tall=265)
    picture("weights", with_sentence(heads, shared.first_query(values)))
    note(words.names_words(values))
    note(words.asks_nothing(trace, shared.first_query(values)))
    note(words.left_out_words(trace["head_weights"]))
    way_to_a_real_model("All heads of a real model at once", "previous")

with card(
    "split",
    "One product, split into heads",
    "One product makes the queries of all heads: each head owns the columns of its colour. These "
    "are then dealt out, so every head has a query for every token, only narrower. Keys and values "
    "are made the same way."
    if n_heads > 1
    else "One product makes the queries. With one head there is nothing to deal out: it gets all "
    "columns. Keys and values are made the same way.",
) as beside:
    with beside:
        for each in (shared.D_MODEL, shared.D_HEAD, shared.D_VALUE):
            control(each, width=100, label=each.label.rpartition(", ")[2])
    covered = question("shape", words.shape(trace, recipe), trace, SPLIT)
    joined = trace["joined_queries"]
    split = lesson.side_by_side(trace["split_queries"], briefly=True)
    split = (of_unknown_shape(Matrix(trace["split_queries"])),) if covered else split
    picture("split", equation(trace, joined, "→", *split, tall=270))
    if not covered:
        note(words.widths_words(recipe))


def cut_from(values: Values) -> str:
    """The name of the queries that are cut as is chosen."""
    return "mixed_queries" if values.cut_by == "reshape" else "split_queries"


@alone(
    "mixed",
    "What if you leave out the transpose?",
    "A `view` straight to (head, query, d_head) has the right shape, but cuts in memory order: "
    "head 0 gets the first tokens, whole. Each cell names the token that its number came from, in "
    "its head’s colour; what belongs elsewhere is framed.",
)
def no_transpose(values: Values, beside: Place) -> None:
    with beside:
        control(lesson.CUT_BY)
        control(lesson.HEAD_CUT, widget="selectbox", width=120)
    made = cut_from(values)
    head = values.head_cut
    if covered:
        waits_for("One product, split into heads", "This picture")
    else:
        now, good = (trace[name].value[head] for name in (made, "split_queries"))
        one, other = (
            Matrix(trace[name], lead=(head,), tells_origins=True)
            for name in (made, "split_queries")
        )
        same = "=" if now.equal(good) else "≠"
        picture("mixed", equation(trace, Matrix(joined), "→", one, same, other, tall=270))
        light(*checks.rows_right(trace, made))


with card(
    "output",
    "Join the heads, and mix them",
    "Each token’s context vectors are written side by side in one row: nothing is computed. Then "
    "`W_output` mixes them; it has a row for each column of the joined heads."
    + (" Only here do the heads meet." if n_heads > 1 else ""),
) as beside:
    with beside:
        control(lesson.MIX)
    contexts = lesson.side_by_side(trace["head_context_vectors"], briefly=True)
    mixed = (Matrix(trace["concat"]), "·", Matrix(trace["W_output"]), "=", Matrix(trace["output"]))
    picture("output", equation(trace, *contexts, "→", *mixed, tall=275))
    note(words.one_sum(trace, query))

with card(
    "parts",
    "The output is a sum over heads",
    "The same another way: multiply each head’s context vectors by its own rows of `W_output`, and "
    "add the results. So you can see how much of each number comes from which head.",
) as beside:
    with beside:
        control(shared.QUERY, width=150)
    covered |= question("adds_most", words.adds_most(trace, query), trace, ("head_outputs",))
    hides = "head_outputs" in covered
    given = lesson.side_by_side(trace["head_outputs"], covered=hides)
    added = [part for each in given for part in ("+", each)][1:]
    whole = Matrix(trace["output_from_heads"])
    picture("parts", equation(trace, *added, "=", whole, tall=275))


@alone(
    "off",
    "Switch a head off",
    "The context vectors of the head you choose become 0. The output loses exactly what this head "
    "added; what the other heads add stays as it is."
    if n_heads > 1
    else "The context vectors of this one head become 0, and the output loses all that it was.",
)
def a_head_off(values: Values, beside: Place) -> None:
    with beside:
        if n_heads > 1:
            moves("off", lesson.HEAD_OFF)

    def without(head: int) -> tuple:
        """The output with all heads, without one, and the difference."""
        lost = lesson.without_a_head(trace, int(head))["output_lost"]
        left = (Matrix(lost.inputs[0]), "−", Matrix(lost.inputs[1], covered=hides))
        return *left, "=", Matrix(lost, covered=hides)

    about = (*values.of(*lesson.MAKES_HEADS), hides)
    moving = Moving(lesson.HEAD_OFF, without, about, elsewhere=True) if n_heads > 1 else None
    lost = lesson.without_a_head(trace, values.head_off)
    picture("off", equation(lost, *without(values.head_off), tall=265), moving)
    if not hides:
        light(*checks.lost_agrees(trace, lost, values.head_off))


wrong = lesson.heads_compete(values)
with deeper(
    "what heads cost, their scores, three ways to make them, heads that compete",
    *("cost", "scores", "one_head", "ways", "compete"),
) as is_open:
    if is_open:
        with card(
            "cost",
            "What heads cost",
            "A layer costs parameters: numbers that training must find and memory must hold.",
        ):
            asked = words.cost_question(values.d_in, recipe)
            if question("parameters", asked, trace, ("W_query", "W_output")):
                covered |= {"parameters"}
            else:
                st.markdown(words.parameter_words(values.d_in, recipe))
        before_softmax = trace["head_weights"].inputs[0]
        with card(
            "scores",
            "Scores of every head",
            "Each head compares its own queries with its own keys, so other pairs match in each. "
            "Softmax turns each row into the weights at the top. A colour means the same number in "
            "every head.",
        ):
            picture("scores", equation(trace, *lesson.side_by_side(before_softmax)))
        with card(
            "one_head",
            "One head at a time",
            "A head is an attention like any other, on narrower queries, keys and values.",
        ) as beside:
            with beside:
                control(shared.HEAD)
            if not covered & {*SPLIT}:
                picture("one_head", equation(trace, *lesson.one_head(trace, values.head), tall=460))
        with card(
            "ways",
            "Three ways to the same heads",
            "A loop over heads; a batched product, for which the vectors are repeated, multiplied "
            "by `bmm` and permuted back; and the one big projection that is split. Compare the "
            "shapes, then the numbers of the last head.",
        ):
            if not covered & {*SPLIT}:
                st.markdown(checks.ways_table(trace))
                names = ("head_queries", "permuted_queries", "split_queries")
                each = [Matrix(trace[name], lead=(n_heads - 1,)) for name in names]
                picture("ways", equation(trace, each[0], "=", each[1], "=", each[2], tall=300))
            for good, told in checks.ways_agree(trace):
                light(good, told)
            st.code(inspect.getsource(heads_one_by_one), language="python")
        with card(
            "compete",
            "Heads compete instead of keys",
            "Here softmax runs over the wrong axis: for each pair of query and key, the heads "
            "share a weight of 1, and the rows no longer sum to 1. No mask is used here.",
        ):
            picture("compete", equation(wrong, *lesson.side_by_side(wrong["head_weights"])))
            light(*checks.sums_over_heads(wrong))
        if not covered & {*SPLIT}:
            st.dataframe(
                words.held_by(trace, values.head_cut, cut_from(values)),
                hide_index=True,
                width="content",
            )
        if not hides:
            row, column = query, 0
            shares = trace["head_outputs"].value[:, row, column].tolist()
            chart("shares", parts(shares, f"output[{row}, {column}]"))
            light(*checks.sum_agrees(trace))
        light(*sums_verdict(trace, "output"))
        light(*checks.torch_agrees(trace))
        note(checks.torch_words(trace))
        known = ("head_queries", "head_keys", "head_values")
        st.latex(trace.formula("head_context_vectors", known=known))
        st.latex(trace.formula("output", known=("head_context_vectors", "W_output")))
        st.markdown(
            "All of it in two steps: each head does what attention does, with queries, keys and "
            "values of its own. What the heads find is put side by side, and one more matrix mixes "
            "it."
        )

answers(
    [
        words.why_several(trace, query),
        words.why_transpose(trace),
        words.what_a_head_adds(trace, query),
        words.what_heads_cost(values.d_in, recipe),
    ],
    covered,
)
ends(trace, "output", "multi_head", others={"multi_head_wrong_axis": wrong})
