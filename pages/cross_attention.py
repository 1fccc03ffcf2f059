"""Cross-attention: the queries of one sentence look at the keys and values of another."""

from attention_core.mistakes.rewriting import at_temperatures
from attention_ui.cards import elements as ui
from attention_ui.cards.common_questions import shape_of_context
from attention_ui.cards.page import Page
from attention_ui.controls import shared
from attention_ui.frame.lights import sums_verdict
from attention_ui.lessons.cross_attention import lesson, words
from attention_ui.lessons.cross_attention.agreement import torch_agrees
from attention_ui.picture.equation_parts import NEW_LINE, equation_of
from attention_ui.picture.matrix import Matrix

page = Page("cross_attention", output="context_vectors")
SHAPE = page.ask(
    "shape", lambda trace: shape_of_context(trace, words.OF_ANY_SOURCE), ["context_vectors"]
)


@page.card(
    "looking",
    "Which word does each word look at?",
    "Your sentence asks; another one below it, the **source**, answers. Point at a word to see "
    "where it looks. Lower the **temperature**: its best match takes more. Raise it: the "
    "weights become more even.",
    controls=[shared.SOURCE.at(width=280), ui.in_picture(shared.TEMPERATURE, width=150)],
)
def looking(v):
    if shared.is_source_alone_random(v):
        yield ui.note(shared.source_words(v))
    roles, asks = lesson.roles(v), lesson.first_query(v)
    traces = at_temperatures(lambda t: lesson.weigh(roles, v, t))
    at = ui.Along(traces, lambda made: [Matrix(made["weights"])])
    yield ui.moving(shared.TEMPERATURE, at, tall=290, asks=asks)


@page.card(
    "roles",
    "Who asks, who answers",
    "The sentence that is being written asks, so its vectors become the queries. The source is "
    "asked: its vectors become keys, by which they are found. What it hands on, its values, is "
    "made the same way; *Go deeper* draws it.",
)
def roles(v, trace):
    made = (*equation_of(trace["queries"]), NEW_LINE, *equation_of(trace["keys"]))
    yield ui.matrices(trace, *made, tall=400)
    if not shared.is_source_alone_random(v):
        yield ui.note(shared.source_words(v))


@page.card(
    "scores",
    "Scores, and weights",
    "Rows are the tokens of your sentence, columns those of the source. The diagonal means nothing "
    "here: its tokens only happen to stand at the same place. The source is complete, nothing of "
    "it lies in the future, so no causal mask is needed.",
)
def scores(trace):
    turned = Matrix(trace["keys"], transposed=True, title="keysᵀ")
    made = (Matrix(trace["queries"]), "·", turned, "=", Matrix(trace["scores"]))
    yield ui.matrices(trace, *made, "→", Matrix(trace["weights"]))
    n_queries, n_keys = trace["scores"].value.shape
    yield ui.note(
        f"A score for each pair: {n_queries} × {n_keys} = {n_queries * n_keys}. Dividing and "
        "softmax are as before."
    )


@page.card(
    "context",
    "Context vectors",
    "Each row of weights mixes the values of the source into one vector. Your sentence only "
    "decides the mix; none of its values is in it.",
    ask=SHAPE,
)
def context(trace):
    yield ui.matrices(trace, trace["context_vectors"], tall=330)


@page.card(
    "padding",
    "Padding in the source",
    "A model reads many sources in one batch, all equally long: shorter ones are filled up with "
    "**padding**. No query may look there, so a mask sets its scores to −∞, and softmax gives it "
    "exactly 0.",
    controls=[lesson.PADDING.at(width=150)],
)
def padding(v, trace):
    filled = lesson.look_across(v, v.padding)
    shares = filled["weights"]
    yield ui.matrices(filled, Matrix(shares.inputs[0]), "→", Matrix(shares), tall=300)
    for good, told in words.verdicts(filled, trace):
        yield ui.light(good, told)
    yield ui.note(words.padding_words(filled))


deeper = page.deeper("values, PyTorch’s own layer")


@deeper.card(
    "values",
    "Values",
    "Values are made from the source, as its keys are, with a matrix of their own.",
)
def values(trace):
    yield ui.matrices(trace, trace["values"], tall=300)


@deeper.section(
    "own_layer",
    "PyTorch’s own layer",
    "`nn.MultiheadAttention` takes three inputs. With the same one three times it is "
    "self-attention; here `query` is your sentence, `key` and `value` are the source. Its "
    "`key_padding_mask` hides padding, and is True where it is *hidden*: a mask here is True where "
    "a key may be seen.",
)
def own_layer(v, trace):
    yield ui.light(*torch_agrees(trace))
    yield ui.light(*torch_agrees(lesson.look_across(v, v.padding)))
    yield ui.light(*sums_verdict(trace, "context_vectors"))
    for each in ("queries", "keys", "values"):
        yield ui.formula_of(trace, each)
    yield ui.formula_of(trace, "context_vectors", "queries", "keys", "values")
    yield ui.say(
        "X holds the vectors of your sentence, Y those of the source. With Y = X this is "
        "self-attention."
    )


page.answers(words.who_asks, words.why_any_length, words.what_is_mixed)
page.show()
