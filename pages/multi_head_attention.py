"""Lesson 7: several attentions side by side, joined, and mixed by one more matrix."""

from attention_ui.cards import elements as ui
from attention_ui.cards.page import Page, is_covered
from attention_ui.controls import shared
from attention_ui.frame.lights import sums_verdict
from attention_ui.lessons.multi_head_attention import checks, lesson, words
from attention_ui.picture.matrix import Matrix
from attention_ui.words import heads_left_out

TALL = 255
page = Page(
    "multi_head_attention",
    "output",
    "multi_head",
    lambda v: {"multi_head_wrong_axis": lesson.heads_compete(v)},
    sidebar=(shared.H_SEED,),
)
SHAPE = page.ask(
    "shape", lambda v, trace: words.shape(trace, shared.heads_recipe_of(v)), ["split_queries"]
)
ADDS_MOST = page.ask(
    "adds_most", lambda v, trace: words.adds_most(trace, v.query), ["head_outputs"], again=None
)
COST = page.ask(
    "parameters",
    lambda v: words.cost_question(v.d_in, shared.heads_recipe_of(v)),
    ["W_query", "W_output"],
    ["parameters"],
)


@page.card(
    "weights",
    "One sentence, seen several ways",
    "Each **head** is attention with queries, keys and values of its own, and has a colour. Point "
    "at a word to see where each head looks. Where do they agree, and where does one see what "
    "another overlooks?",
    controls=[shared.N_HEADS.at(width=150), shared.CAUSAL_HEADS],
)
def weights(v, trace):
    heads = lesson.side_by_side(trace["head_weights"])
    yield ui.matrices(trace, *heads, tall=TALL, asks=shared.telling_query(v))
    yield ui.note(words.names_words(v))
    yield ui.note(words.asks_nothing(trace, shared.telling_query(v)))
    below = "*Tensors as tables* has them all."
    yield ui.note(heads_left_out(lesson.n_drawn(trace["head_weights"]), trace.size("head"), below))
    yield ui.link_to_a_real_model("All heads of a real model at once", "previous")


@page.card(
    "split",
    "One product, split into heads",
    lambda v: words.split_words(v.n_heads),
    controls=[
        each.at(width=100, label=each.label.rpartition(", ")[2])
        for each in (shared.D_MODEL, shared.D_HEAD, shared.D_HEAD_VALUE)
    ],
    ask=SHAPE,
)
def split(v, trace):
    heads = [Matrix(trace["split_queries"])]
    if not is_covered("split_queries"):
        heads = lesson.side_by_side(trace["split_queries"], briefly=True)
    yield ui.matrices(trace, trace["joined_queries"], "→", *heads, tall=TALL)
    if not is_covered("split_queries"):
        yield ui.note(words.widths_words(shared.heads_recipe_of(v)))


@page.card(
    "mixed",
    "What if you leave out the transpose?",
    "A `view` straight to (head, query, d_head) has the right shape, but cuts in memory order: "
    "head 0 gets the first tokens, whole. Each cell names the token that its number came from, in "
    "its head’s colour; what belongs elsewhere is framed.",
    controls=[lesson.CUT_BY, lesson.HEAD_CUT.at(widget="selectbox", width=120)],
)
def mixed(v, trace):
    names = ("mixed_queries" if v.cut_by == "reshape" else "split_queries", "split_queries")
    now, good = (trace[name].value[v.head_cut] for name in names)
    look = {"lead": (v.head_cut,), "tells_origins": True, "stays": True}
    one, other = (Matrix(trace[name], **look) for name in names)
    same = "=" if now.equal(good) else "≠"
    yield ui.matrices(trace, Matrix(trace["joined_queries"]), "→", one, same, other, tall=TALL)
    yield ui.light(*checks.rows_right(trace, names[0]))


@page.card(
    "output",
    "Join the heads, and mix them",
    lambda v: (
        "Each token’s context vectors are written side by side in one row: nothing is "
        "computed. Then `W_output` mixes them; it has a row for each column of the joined heads."
        + (" Only here do the heads meet." if v.n_heads > 1 else "")
    ),
    controls=[lesson.MIX],
)
def output(v, trace):
    contexts = lesson.side_by_side(trace["head_context_vectors"], briefly=True)
    joined, mixes, mixed = (Matrix(trace[each]) for each in ("concat", "W_output", "output"))
    yield ui.matrices(trace, *contexts, "→", joined, "·", mixes, "=", mixed, tall=TALL)
    if v.mix == "identity":
        yield ui.note("With the identity, each number comes from one head: the heads do not meet.")


@page.card(
    "parts",
    "The output is a sum over heads",
    "The same another way: multiply each head’s context vectors by its own rows of `W_output`, and "
    "add the results. So you can see how much of each number comes from which head.",
    controls=[shared.QUERY.at(width=150)],
    ask=ADDS_MOST,
)
def parts(trace):
    given = lesson.side_by_side(trace["head_outputs"])
    added = [part for each in given for part in ("+", each)][1:]
    yield ui.matrices(trace, *added, "=", Matrix(trace["output_from_heads"]), tall=TALL)


@page.card(
    "off",
    "Switch a head off",
    lambda v: (
        "The context vectors of the head you choose become 0. The output loses exactly what "
        "this head added; what the other heads add stays as it is."
        if v.n_heads > 1
        else "The context vectors of this one head become 0, and the output loses all that it was."
    ),
    controls=lambda v: [ui.in_picture(lesson.HEAD_OFF)] * (v.n_heads > 1),
)
def off(v, trace):
    def without(head):
        made = lesson.without_a_head(trace, int(head))
        lost = made["output_lost"]
        return made, (*(Matrix(lost.inputs[0]), "−", Matrix(lost.inputs[1])), "=", Matrix(lost))

    if v.n_heads > 1:
        yield ui.moving(lesson.HEAD_OFF, without, tall=TALL)
    else:
        made, parts = without(v.head_off)
        yield ui.matrices(made, *parts, tall=TALL)
    lost = lesson.without_a_head(trace, v.head_off)
    yield ui.light(*checks.lost_agrees(trace, lost, v.head_off))


deeper = page.deeper("what heads cost, the scores of each, PyTorch’s own layer, the formulas")


@deeper.card(
    "cost",
    "What heads cost",
    "A layer costs parameters: numbers that training must find and memory must hold.",
    ask=COST,
)
def cost(v):
    if not is_covered("parameters"):
        yield ui.say(words.parameter_words(v.d_in, shared.heads_recipe_of(v)))


@deeper.card(
    "scores",
    "Scores of every head",
    "Each head compares its own queries with its own keys, so other pairs match in each. Softmax "
    "turns each row into the weights at the top. A colour means the same number in every head.",
)
def scores(trace):
    yield ui.matrices(trace, *lesson.side_by_side(trace["head_weights"].inputs[0]))
    yield ui.row(
        ui.link_to("whole_layer", "One head from its queries to its context vectors"),
        ui.link_to("mistakes_lab", "Heads that compete", mistake="heads_normalised"),
    )


@deeper.section("checks", "In numbers, and as a formula")
def in_numbers(trace):
    yield ui.light(*checks.sum_agrees(trace))
    yield ui.light(*sums_verdict(trace, "output"))
    yield ui.light(*checks.torch_agrees(trace))
    yield ui.note(checks.torch_words(trace))
    yield ui.formula_of(trace, "head_context_vectors", "head_queries", "head_keys", "head_values")
    yield ui.formula_of(trace, "output", "head_context_vectors", "W_output")
    yield ui.say(
        "All of it in two steps: each head does what attention does, with queries, keys and values "
        "of its own. What the heads find is put side by side, and one more matrix mixes it."
    )


page.answers(words.why_several, words.why_transpose, words.what_a_head_adds)
page.show()
