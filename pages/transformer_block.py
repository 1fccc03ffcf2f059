"""The transformer block: attention and feed-forward, each adding to one stream a token."""

from attention_core.text.embedding import embed
from attention_ui.cards import elements as ui
from attention_ui.cards.page import Page, is_covered
from attention_ui.controls import shared
from attention_ui.lessons.transformer_block import depth, lesson, norms, stream, words
from attention_ui.lessons.transformer_block.activation_curve import activation_curve
from attention_ui.lessons.transformer_block.agreement import torch_agrees
from attention_ui.picture.matrix import Matrix


def longer(v):
    """The vector of the token four times as long, standardised."""
    return lesson.stretched(embed(shared.inputs_of(v)), v.token, norms.LONGER)


page = Page(
    "transformer_block",
    "output",
    sidebar=(shared.TOKEN, shared.N_HEADS, shared.LAYER_DROPOUT, lesson.BLOCK_SEED),
)
LONGER = page.ask(
    "longer",
    lambda v: norms.longer_question(longer(v), v.token),
    ["stretched_standardised"],
    of=longer,
)


@page.card(
    "stream",
    "The residual stream",
    "Your token’s vector flows from left to right; each part reads it and **adds** to it. Ribbons "
    "are as thick as their numbers. The matrices are random: look at the sums, not for meaning.",
    controls=[lesson.NORM, lesson.BLOCK],
)
def residual_stream(v, trace):
    yield ui.chart("stream", stream.ribbons(trace, v.token), width=900)
    if v.layer_dropout:
        yield ui.note(
            f"Dropout is on, {v.layer_dropout:g} (its slider stands in the sidebar): what it hits "
            "of the numbers that are added is 0."
        )
    yield ui.note(words.norms_words(v.norm))
    yield ui.light(*stream.adds_up(trace))


@page.card(
    "attention",
    "What attention adds",
    "Attention is the only part where tokens exchange information. Here is the head in which your "
    "token looks most unevenly; what all heads find is joined and multiplied by `W_output`: one "
    "vector for each token, as wide as the stream.",
    controls=[ui.link_to("multi_head_attention", "More about heads")],
)
def attention(v, trace):
    head = lesson.most_uneven_head(trace["head_weights"], v.token)
    weights = Matrix(trace["head_weights"], lead=(head,))
    added = Matrix(lesson.added_by(trace, "attention"))
    yield ui.matrices(trace, weights, "↠", added, tall=216, asks=v.token)
    yield ui.note(words.heads_words(v))


@page.card(
    "residual",
    "Why add, and not replace?",
    "Attention hands your token a blend of *all* tokens, itself one of them. Put in its place, the "
    "token would forget what it was; **added**, both are there to be read. And a part that gives 0 "
    "changes nothing, so a deep stack begins harmless, and training reaches all (see *Go deeper*).",
)
def residual(v, trace):
    yield ui.picture(ui.stacked(trace, *stream.written_out(trace, v.token)))
    if v.norm == "after":
        yield ui.caption("A double arrow ↠ stands for several steps, a layer norm.")


@page.card(
    "norm",
    "Layer norm",
    "What is added piles up, and parts work best on numbers of one size. So from each vector its "
    "**mean** is subtracted, and what is left is divided by the root of its **variance** (plus a "
    "tiny ε). Llama’s **RMSNorm** subtracts no mean. Stretch your token’s vector, and see.",
    controls=[ui.in_picture(shared.FACTOR)],
    ask=LONGER,
)
def norm(v, trace):
    embedded = embed(shared.inputs_of(v))

    def of_factor(factor):
        made = lesson.stretched(embedded, v.token, factor)
        return made, norms.of_factor(made, v.token)

    yield ui.moving(shared.FACTOR, of_factor, lambda made, parts: ui.stacked(made, *parts))
    if not is_covered("stretched_standardised"):
        yield ui.note(norms.stays_words(longer(v), v.token))
    yield ui.light(*norms.every_row_is_standard(trace))


@page.card(
    "feed_forward",
    "Feed-forward: each token by itself",
    "Attention can only blend vectors that are there. This network makes something new of one: it "
    "widens it, an **activation** (nearly) silences what is below 0, the rest says what to add. "
    "Its matrices are random: watch *how many* numbers fall silent.",
    controls=[lesson.ACTIVATION, lesson.FFN_MULTIPLIER.at(width=230)],
)
def feed_forward(v, trace):
    yield ui.picture(ui.stacked(trace, *stream.widened(trace, v.token)))
    told = (
        ui.note(words.silenced_words(trace, v.activation)),
        ui.caption(words.arrows_words(trace, v.activation)),
    )
    yield ui.row(
        ui.chart("bend", activation_curve(trace, v.activation, v.token), width=400),
        ui.row(*told, horizontal=False, vertical_alignment="top", gap="small", width="stretch"),
        vertical_alignment="center",
    )


@page.card(
    "decoder",
    "In a decoder",
    "A decoder hides what comes later. In a translator a third part stands in between, "
    "**cross-attention**: your sentence asks, the source answers. GPT, Llama and Mistral are "
    "**decoder-only**, without it.",
    controls=[shared.SOURCE.at(width=390)],
)
def decoder(v, trace):
    made = trace if v.block == "decoder" else lesson.trace_of(v.but(block="decoder"))
    crossed = made["cross_head_weights"]
    of_head = Matrix(crossed, lead=(lesson.most_uneven_head(crossed, v.token),))
    added = Matrix(lesson.added_by(made, "cross"))
    yield ui.matrices(made, of_head, "↠", added, tall=214, name="cross")
    yield ui.caption(shared.source_words(v))
    yield ui.light(*words.nothing_looks_ahead(made))


deeper = page.deeper(
    "many blocks in training, norms before or after, gain and bias, PyTorch’s own layer"
)


@deeper.card(
    "depth",
    "Training reaches every block",
    "A **gradient** says how each number should change, and comes back from the last block "
    "to the first. An addition hands it on as it is; without that way it has to pass "
    "through every part. Both lines are real: encoder blocks set as above, no dropout.",
    controls=[lesson.N_BLOCKS.at(width=190)],
)
def in_depth(v, trace):
    left = depth.shares(trace, v)
    yield ui.chart("depth", depth.by_block(left), width=720)
    yield ui.note(depth.left_words(left))


@deeper.section(
    "orders",
    "Norms before or after?",
    "The first transformer normed the stream itself, after each addition. Most models "
    "since norm only what a part reads: nothing on the stream’s path is rescaled, and deep "
    "stacks are easier to train. Here are both, with the same matrices and without "
    "dropout. A size is the root of the mean square of a vector’s numbers; sizes do not "
    "add up, since vectors point in different directions.",
)
def in_both_orders(v):
    before, after = words.both_orders(v)
    yield ui.say(words.sizes_table(before, after, v.token))
    yield ui.light(*words.stream_is_untouched(before))


@deeper.section(
    "gain",
    "Gain and bias",
    "What a layer norm learns: a gain for each column, and a bias. They begin as 1 and 0, "
    "so an untrained norm leaves the standardised numbers as they are. Llama and Mistral "
    "have **RMSNorm**: a vector is only divided by its root mean square, with no mean "
    "subtracted and no bias.",
)
def gain(v, trace):
    yield ui.matrices(trace, *norms.learned(trace, v.token))


@deeper.section(
    "torch",
    "PyTorch’s own layer",
    "The matrices and biases of this page, loaded into PyTorch’s layer, on the same "
    "vectors. Without dropout, as after `eval()`.",
)
def own_layer(v):
    for order, each in zip(words.ORDERS, words.both_orders(v), strict=True):
        yield ui.light(*torch_agrees(each, order, v.activation))


page.answers(words.what_it_adds, words.why_norm, words.why_before)
page.show()
