"""The transformer block: attention and feed-forward, each adding to one stream a token."""

import streamlit as st

from attention_core.text.embedding import embed
from attention_ui.cards.alone import Place, alone
from attention_ui.cards.begin import begin
from attention_ui.cards.card import card, light, note
from attention_ui.cards.question import question
from attention_ui.cards.show import Moving, chart, moves, picture
from attention_ui.controls import shared
from attention_ui.controls.control import Values
from attention_ui.controls.widget import control
from attention_ui.frame.ends import answers, deeper, ends
from attention_ui.frame.page import way_to
from attention_ui.lessons.transformer_block import (
    depth,
    lesson,
    norms,
    orders,
    published_layer,
    stream,
    words,
)
from attention_ui.lessons.transformer_block.agreement import torch_agrees
from attention_ui.lessons.transformer_block.bend import bend
from attention_ui.picture.layout import equation
from attention_ui.picture.matrix import Matrix
from attention_ui.picture.sentence import with_sentence
from attention_ui.picture.stacked import stacked

values, trace = begin(
    "transformer_block",
    sidebar=(shared.TOKEN, shared.N_HEADS, shared.LAYER_DROPOUT, lesson.BLOCK_SEED),
)
token = values.token

with card(
    "stream",
    "The residual stream",
    "Your token’s vector flows from left to right; each part reads it and **adds** to it. Ribbons "
    "are as thick as their numbers. The matrices are random: look at the sums, not for meaning.",
) as beside:
    with beside:
        control(lesson.NORM)
        control(lesson.BLOCK)
    chart("stream", stream.ribbons(trace, token), width=900)
    note(words.dropout_words(trace, token, values.layer_dropout))
    note(words.norms_words(values.norm))
    light(*stream.adds_up(trace))

with card(
    "attention",
    "What attention adds",
    "Attention is the only part where tokens exchange information. Here is the head in which your "
    "token looks most unevenly; what all heads find is joined and multiplied by `W_output`: one "
    "vector for each token, as wide as the stream.",
) as beside:
    with beside:
        way_to("multi_head_attention", "More about heads")
    head = lesson.most_uneven_head(trace["head_weights"], token)
    drawn = (
        Matrix(trace["head_weights"], lead=(head,)),
        "↠",
        Matrix(lesson.added_by(trace, "attention")),
    )
    picture("attention", with_sentence(equation(trace, *drawn, tall=216), token))
    note(f"{words.exchange_words(trace, head, token)} {words.heads_words(values)}")

with card(
    "residual",
    "Why add, and not replace?",
    "Attention hands your token a blend of *all* tokens, itself one of them. Put in its place, the "
    "token would forget what it was; **added**, both are there to be read. And a part that gives 0 "
    "changes nothing, so a deep stack begins harmless, and training reaches all (see *Go deeper*).",
) as beside:
    picture("residual", stacked(trace, *stream.written_out(trace, token)))
    if values.norm == "after":
        st.caption("A double arrow ↠ stands for several steps, a layer norm.")

with card(
    "norm",
    "Layer norm",
    "What is added piles up, and parts work best on numbers of one size. So from each vector its "
    "**mean** is subtracted, and what is left is divided by the root of its **variance** (plus a "
    "tiny ε). Llama’s **RMSNorm** subtracts no mean. Stretch your token’s vector, and see.",
) as beside:
    with beside:
        moves("norm", shared.FACTOR)
    embedded = embed(shared.inputs_of(values))
    longer = lesson.stretched(embedded, token, norms.LONGER)
    about = ("stretched_standardised",)
    covered = bool(question("longer", norms.longer_question(longer, token), longer, about))

    def of_factor(factor: float) -> list[Matrix | str]:
        """The token's vector stretched, and standardised."""
        return norms.of_factor(lesson.stretched(embedded, token, factor), token, covered)

    moving = Moving(shared.FACTOR, of_factor, (*values.of(*shared.SOURCE, shared.TOKEN), covered))
    shown = lesson.stretched(embedded, token, values.factor)
    picture("norm", stacked(shown, *of_factor(values.factor)), moving)
    if not covered:
        note(norms.stays_words(longer, token))
    light(*norms.every_row_is_standard(trace))

with card(
    "feed_forward",
    "Feed-forward: each token by itself",
    "Attention can only blend vectors that are there. This network makes something new of one: it "
    "widens it, an **activation** (nearly) silences what is below 0, the rest says what to add. "
    "Its matrices are random here, so watch *how many* numbers fall silent, not which.",
) as beside:
    with beside:
        control(lesson.ACTIVATION)
        control(lesson.WIDER, width=230)
    picture("feed_forward", stacked(trace, *stream.widened(trace, token)))
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        chart("bend", bend(trace, values.activation, token), width=400)
        with st.container(width="stretch"):
            note(words.silenced_words(trace, values.activation))
            st.caption(
                f"{words.hidden_words(values)} {words.arrows_words(trace, values.activation)}"
            )


@alone(
    "decoder",
    "In a decoder",
    "A decoder hides what comes later. In a translator a third part stands in between, "
    "**cross-attention**: your sentence asks, the source answers. GPT, Llama and Mistral are "
    "**decoder-only**, without it.",
)
def in_a_decoder(values: Values, beside: Place) -> None:
    with beside:
        control(shared.OTHER_SENTENCE, width=390)
    decoder = trace if values.block == "decoder" else lesson.trace_of(values.but(block="decoder"))
    crossed = decoder["cross_head_weights"]
    of_head = Matrix(crossed, lead=(lesson.most_uneven_head(crossed, token),))
    added = Matrix(lesson.added_by(decoder, "cross"))
    picture("cross", equation(decoder, of_head, "↠", added, tall=214))
    st.caption(shared.source_words(values))
    light(*words.nothing_looks_ahead(decoder))


NAMES = ("depth", "all_normed", "gain", "mixing", "unmixed", "both_weights", "both_norms")
with deeper(
    "many blocks in training, norms before or after, gain and bias, PyTorch’s own layer, a "
    "published layer repaired",
    *NAMES,
) as is_open:
    if is_open:
        with card(
            "depth",
            "Training reaches every block",
            "A **gradient** says how each number should change, and comes back from the last block "
            "to the first. An addition hands it on as it is; without that way it has to pass "
            "through every part. Both lines are real: encoder blocks set as above, no dropout.",
        ) as beside:
            with beside:
                control(lesson.N_BLOCKS, width=190)
            left = depth.shares(trace, values)
            chart("depth", depth.by_block(left), width=720)
            note(depth.left_words(left))
        before, after = orders.both_orders(values)
        st.subheader("Norms before or after?", anchor="orders")
        st.markdown(
            "The first transformer normed the stream itself, after each addition. Most models "
            "since norm only what a part reads: nothing on the stream’s path is rescaled, and deep "
            "stacks are easier to train. Here are both, with the same matrices and without "
            "dropout. A size is the root of the mean square of a vector’s numbers; sizes do not "
            "add up, since vectors point in different directions."
        )
        st.markdown(orders.sizes_table(before, after, token))
        st.markdown(orders.order_words(before, after, token))
        light(*orders.stream_is_untouched(before))
        st.subheader("The first norm, for every token", anchor="all_normed")
        picture("all_normed", equation(trace, *norms.in_steps(trace)))
        st.subheader("Gain and bias", anchor="gain")
        st.markdown(
            "What a layer norm learns: a gain for each column, and a bias. They begin as 1 and 0, "
            "so an untrained norm leaves the standardised numbers as they are. Llama and Mistral "
            "have **RMSNorm**: a vector is only divided by its root mean square, with no mean "
            "subtracted and no bias."
        )
        picture("gain", equation(trace, *norms.learned(trace, token)))
        st.subheader("PyTorch’s own layer", anchor="torch")
        st.markdown(
            "The matrices and biases of this page, loaded into PyTorch’s layer, on the same "
            "vectors. Without dropout, as after `eval()`."
        )
        for norm, each in zip(orders.ORDERS, (before, after), strict=True):
            light(*torch_agrees(each, norm, values.activation))
        st.subheader("A published decoder layer, repaired", anchor="repaired")
        st.markdown(
            "A published notebook builds a decoder layer that runs and has the right shapes, but "
            "not the right numbers. Here is the same layer repaired beside it, on the notebook’s "
            "own sentence, “Sorry Dave …”."
        )
        st.caption(published_layer.source())
        notebook = published_layer.beside()
        st.markdown(
            "**1. A query of one word.** The notebook multiplies the embeddings from the left by a "
            "token × token matrix, `self_U_query`: the first word’s query is a mixture of all "
            "words before any attention. Repaired, below, it is made of the first word’s vector "
            "alone, in several steps (↠)."
        )
        picture("mixing", published_layer.mixing(notebook))
        picture("unmixed", published_layer.unmixed(notebook))
        st.markdown(
            "**2. No look ahead.** The notebook’s weights have no mask and no √d, the repaired "
            "ones have both. The table is a test: add 1 to each entry of the last token’s vector, "
            "and no row of an earlier token may move."
        )
        picture("both_weights", published_layer.both_weights(notebook))
        st.markdown(published_layer.moves_table(notebook))
        light(*published_layer.nothing_leaks(notebook))
        st.markdown("**3. A norm of each row.** What leaves the first norm in both layers:")
        picture("both_norms", published_layer.both_norms(notebook))
        note(published_layer.norm_words(notebook))
        st.markdown(
            "Repaired as well: in the cross-attention the stream asks and the source answers; in "
            "the notebook the source asks too. ReLU stands between the two linear layers; the "
            "notebook has it last, so that nothing negative leaves the layer. And the feed-forward "
            "has a residual and a norm of its own."
        )

answers([words.what_it_adds(trace, token), words.why_norm(trace), words.why_before(values)])
ends(trace, "output")
