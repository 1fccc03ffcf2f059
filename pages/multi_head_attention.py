"""Lesson 7: several attentions side by side, joined, and mixed by one more matrix."""

import streamlit as st

from attention_core.mechanism.multi_head import (
    add_batched,
    add_big_projection,
    add_head_parts,
    attend_heads,
    expand_word,
)
from attention_core.text.embedding import embed
from attention_core.trace import Trace
from attention_ui.cards.questions import Pick, Shape
from attention_ui.lessons.multi_head_attention.answers import answers
from attention_ui.lessons.multi_head_attention.checks import (
    cost_question,
    parameter_words,
    show_loop,
    sum_agrees,
    torch_agrees,
    torch_words,
    ways_agree,
    ways_table,
)
from attention_ui.lessons.multi_head_attention.experiments import (
    compete,
    heads_compete,
    split_wrongly,
    switch_a_head_off,
    without_a_head,
)
from attention_ui.lessons.multi_head_attention.heads import (
    added,
    adds_most,
    choose_heads,
    choose_widths,
    how_many,
    judge_most,
    left_out_words,
    names_words,
    one_head,
    show_parts,
    side_by_side,
    widths_words,
)
from attention_ui.page.begin_and_finish import begin, finish
from attention_ui.page.closing import closing, named
from attention_ui.page.lights import show_checks, sums_verdict
from attention_ui.page.page import Page, open_on
from attention_ui.page.view import View
from attention_ui.picture.equation_parts import NEW_LINE, equation_of
from attention_ui.picture.matrix import Matrix
from attention_ui.settings.settings import HEADS, Settings

PAGE = "multi_head_attention"
# The queries of single heads, whose shape a question asks for.
SPLIT = ("split_queries", "head_queries", "permuted_queries", "mixed_queries")


def build(settings: Settings) -> Trace:
    """The lesson's trace."""
    trace = attend_heads(embed(settings.inputs), settings.heads_recipe)
    for add in (add_batched, add_big_projection, add_head_parts):
        add(trace)
    return expand_word(trace, settings.query)


def view_of(settings: Settings) -> View:
    return View.of(PAGE, settings, build, lesson="multi_head")


def lesson(page: Page) -> None:
    """What stands on the page, from top to bottom."""
    view = page.view
    settings = view.settings
    wrong = view.beside(heads_compete(settings), "multi_head_wrong_axis")
    begin(page, wrong, view.beside(without_a_head(settings)))
    look(page)
    make_heads(page)
    join(page)
    add_up(page)
    say_cost(page)
    page.part("checks", lambda: show_checks(view, "output"))
    closing(page, answers(view))
    with page.deeper("scores, one head at a time, three ways to make heads, ways to go wrong"):
        make_otherwise(page)
        go_wrong(page, wrong)
    finish(page, wrong)


def look(page: Page) -> None:
    """The weights of all heads, beside the sentence."""
    settings, trace = page.view.settings, page.view.trace
    weights = trace["head_weights"]
    page.header("One sentence, seen several ways", anchor="weights")
    page.words(
        "Each head has a colour. Point at a word: its arcs show where each head looks. Where do "
        "they agree, and where does one see what another overlooks? A colour is as strong as the "
        "square root of its weight, so that small differences show."
    )
    page.controls(choose_heads, *(getattr(settings, name) for name in HEADS))
    page.equation("weights", *side_by_side(trace, "head_weights"), sentence=True)
    page.changing(left_out_words(weights))
    page.changing(names_words(settings))
    page.light(*sums_verdict(trace, "output"))


def make_heads(page: Page) -> None:
    """The queries of all heads from one product, and dealt out."""
    view = page.view
    trace, settings = view.trace, view.settings
    recipe = settings.heads_recipe
    page.header("One product, split into heads", anchor="split")
    page.changing(
        "One product makes the queries of all heads: each head owns some columns of `W_query`, "
        "marked by its colour. Then the columns are dealt out, so every head has a query for every "
        "token, only narrower. Keys and values are made the same way."
        if recipe.n_heads > 1
        else "One product makes the queries. With one head there is nothing to deal out: it gets "
        "all columns. Keys and values are made the same way."
    )
    page.controls(choose_widths, *(getattr(settings, name) for name in HEADS))
    page.ask(
        "shape",
        Shape(
            words=f"`joined_queries` is {trace['joined_queries'].shape}: all heads side by side. "
            f"Split it into its {how_many(recipe.n_heads)}. Which shape does it have then?",
            truth=(
                ("head", recipe.n_heads),
                ("query", trace.size("query")),
                ("d_head", recipe.d_head),
            ),
            sides=("Heads", "Rows of a head", "Columns of a head"),
            teaches="Every head sees all tokens, through columns of its own. The heads divide up "
            "the width, not the tokens.",
        ),
        covers=SPLIT,
    )
    page.equation(
        "queries",
        *equation_of(trace["joined_queries"]),
        NEW_LINE,
        "→",
        *side_by_side(trace, "split_queries"),
    )
    page.changing(widths_words(recipe))
    with page.folded(
        "What if you leave out the transpose?", "no_transpose", icon=":material/shuffle:"
    ):
        page.words(
            "`view` or `reshape` straight to (head, query, d_head) runs, and its shape is right. "
            "But it cuts the numbers in memory order, row after row: head 0 gets everything of the "
            "first tokens, the next head everything of the following ones. No error, only worse "
            "results. Each cell says which token its number came from, in the colour of its head; "
            "what belongs elsewhere is framed."
        )
        page.part("mixed", lambda: split_wrongly(view), shows=SPLIT)


def join(page: Page) -> None:
    """The heads joined and mixed."""
    view = page.view
    trace = view.trace
    page.beat(
        "concat",
        "Join the heads",
        "Each token's context vectors are written side by side in one row. Nothing is computed.",
        *(*side_by_side(trace, "head_context_vectors"), "→", Matrix(trace["concat"])),
    )
    page.beat(
        "output",
        "Mix them",
        "`W_output` has a row for each column of the joined heads."
        + (" Only here do the heads meet." if trace.size("head") > 1 else ""),
        trace["output"],
    )
    page.formulas(
        trace.formula("head_context_vectors", known=("head_queries", "head_keys", "head_values")),
        trace.formula("output", known=("head_context_vectors", "W_output")),
    )
    page.words(
        "All of it in two steps: each head does what attention does, with queries, keys and values "
        "of its own. What they find is put side by side, and one more matrix mixes it.",
        caption=True,
    )
    page.light(*torch_agrees(trace))
    page.changing(torch_words(trace))


def add_up(page: Page) -> None:
    """The output as a sum over heads, and one head switched off."""
    view = page.view
    trace, query = view.trace, view.settings.query
    outputs, n_heads = trace["head_outputs"], trace.size("head")
    page.header("The output is a sum over heads", anchor="parts")
    page.words(
        "Joining and multiplying gives the same as this: multiply each head by its own rows of "
        "`W_output`, and add them all. So you can see how much of each number in the output "
        "comes from which head."
    )
    question = Pick(
        words="Which head will add most to the output of this query: the longest vector?",
        asked=named(trace, "query", query),
        choices=[f"Head {head}" for head in range(n_heads)],
        judge=lambda guess: judge_most(guess[0], outputs.value[:, query]),
        truth=lambda: f"It is {adds_most(outputs.value[:, query])[1]}.",
        teaches="How sharply a head looks says little about how much it adds: that depends on the "
        "values it mixes, and on its own rows of `W_output`.",
    )
    page.ask("adds_most", question if n_heads > 1 else None, covers=("head_outputs",))
    page.equation(
        "parts",
        *added(side_by_side(trace, "head_outputs")),
        *("=", Matrix(trace["output_from_heads"])),
        below=show_parts,
    )
    page.changing(left_out_words(trace["head_outputs"]))
    page.light(*sum_agrees(trace))
    page.header("Switch a head off", anchor="off")
    page.words(
        "Its context vectors become 0. The output loses exactly what this head added; what the "
        "other heads add stays as it is."
    )
    page.part("off", lambda: switch_a_head_off(view), shows=("head_outputs",))


def say_cost(page: Page) -> None:
    """What heads cost: asked here, since a closing question answers it."""
    d_in, recipe = page.view.settings.d_in, page.view.settings.heads_recipe
    page.header("What heads cost", anchor="cost")
    cost = cost_question(d_in, recipe)
    page.ask("parameters", cost, covers=("parameters",), about=("W_query", "W_output"))
    page.changing(parameter_words(d_in, recipe), shows=("parameters",))


def make_otherwise(page: Page) -> None:
    """The scores of all heads, one head by itself, and the same heads made in three ways."""
    view = page.view
    trace = view.trace
    last = trace.size("head") - 1
    before_softmax = trace["head_weights"].inputs[0]
    page.beat(
        "scores",
        "Scores of every head",
        "Each head compares its own queries with its own keys, so each finds different pairs "
        "alike, and softmax turns each row into the weights at the top. A colour means the same "
        "number in every head.",
        *side_by_side(trace, before_softmax.name),
    )
    page.changing(left_out_words(trace["head_weights"]))
    page.header("One head at a time", anchor="one_head")
    page.words("A head is an attention like any other, on narrower queries, keys and values.")
    page.equation("one_head", build=lambda now: one_head(view, now))
    page.header("Three ways to the same heads", anchor="ways")
    page.words(
        "A loop over heads; a batched product, for which the vectors are repeated, multiplied by "
        "`bmm` and permuted back; and the one big projection that is split. Compare the shapes, "
        "then the numbers of the last head."
    )
    table = ways_table(trace)
    page.part("ways_table", lambda: st.markdown(table), about=table, shows=SPLIT)
    page.equation(
        "ways",
        Matrix(trace["head_queries"], lead=(last,)),
        "=",
        Matrix(trace["permuted_queries"], lead=(last,)),
        "=",
        Matrix(trace["split_queries"], lead=(last,)),
    )
    for good, words in ways_agree(trace):
        page.light(good, words)
    page.part("loop", show_loop, about="code")


def go_wrong(page: Page, wrong: View) -> None:
    """A softmax over the heads."""
    page.header("Heads compete instead of keys", anchor="compete")
    page.words(
        "Softmax over the wrong axis: for each query and key the heads share a weight of 1, and "
        "the rows no longer sum to 1. No mask is used here."
    )
    page.part("compete", lambda: compete(wrong))


open_on(PAGE, view_of, lesson)
