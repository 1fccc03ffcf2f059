"""Lesson 1: from a sentence to embeddings."""

import streamlit as st

from attention_core.rounding import to_within
from attention_core.text.embedding import embed
from attention_core.text.inputs import TRAINED
from attention_core.text.tokenizers import visible
from attention_ui.cards.alone import Place, alone
from attention_ui.cards.begin import begin
from attention_ui.cards.card import card, light, note, waits_for
from attention_ui.cards.question import question
from attention_ui.cards.show import Moving, chart, moves, picture
from attention_ui.charts.picture import picture as as_points
from attention_ui.controls import shared
from attention_ui.controls.control import Values
from attention_ui.controls.grid import grid
from attention_ui.controls.widget import control
from attention_ui.frame.ends import answers, deeper, ends
from attention_ui.lessons.tokenize_and_embed import lesson, words
from attention_ui.lessons.tokenize_and_embed.real_tokens import in_a_real_model
from attention_ui.picture.equation_parts import equation_of
from attention_ui.picture.layout import equation
from attention_ui.picture.matrix import Matrix

TALL = 280
values, trace = begin("tokenize_and_embed")
inputs = shared.inputs_of(values)
ids, table, vectors = (trace[name] for name in ("token_ids", "embedding_table", "embeddings"))
looked_up = lesson.looked_up_in(trace)
small = "one_hot" in trace
unused = frozenset(range(len(table.value))) - {*ids.value.tolist()} if small else frozenset()
rows = None if small else tuple(dict.fromkeys(ids.value.tolist()))


def drawn_table(**look) -> Matrix:
    """The table, with the rows that no token picks faint; of a large one, the rows picked."""
    return Matrix(table, rows=rows, faint=unused, **look)


with card(
    "tokens",
    "Tokens",
    "A trained network knows only the tokens it was trained on, so there is one way to cut here."
    if values.vocabulary == TRAINED
    else "A network computes with numbers, so a text is first cut into pieces: its **tokens**. Try "
    "another tokenizer and watch the cuts move. Some keep blanks as tokens, drawn as ␣ so that "
    "you can see them.",
) as beside:
    if len(shared.TOKENIZER.choices(values)) > 1:
        with beside:
            control(shared.TOKENIZER, width=240)
    with st.container(horizontal=True, gap="xsmall", key="chips_tokens"):
        for token in inputs.tokens:
            st.text(visible(token))
    st.caption(words.tokens_words(values))

with card(
    "ids",
    "Ids",
    "Each token gets a whole number, its **id**: the row of the table that belongs to it. Ids are "
    "names, not amounts; 4 is not twice 2.",
) as beside:
    with beside:
        if len(shared.VOCABULARY.choices(values)) > 1:
            control(shared.VOCABULARY, width=190)
        if values.vocabulary == "distinct":
            control(shared.RESERVED, width=110)
        if values.vocabulary != "random":
            control(shared.LEARNED_FROM, width=190)
    picture("ids", equation(trace, Matrix(ids, transposed=True)))
    st.caption(words.vocabulary_words(values))
    if inputs.vocabulary != "random":
        with st.container(horizontal=True, gap="xsmall", key="chips_vocabulary"):
            for row, token in enumerate(inputs.build_vocabulary().rows()):
                st.text(f"{row}\u2002{visible(token)}")
    if told := words.unknown_words(values):
        st.text(told)
    note(words.unused_words(values))

with card(
    "lookup",
    "Embeddings",
    "The id picks a row of `embedding_table`, and that row is the token’s vector: its "
    "**embedding**, `d_in` numbers wide. Move along the sentence and watch: a new word picks a new "
    "row, a word that comes again picks the same.",
) as beside:
    with beside:
        moves("lookup", shared.UP_TO)
    about = ("embeddings", "embeddings_by_product")
    covered = question("identical", words.identical(trace, values), trace, about)
    hidden = looked_up.name in covered

    def picked(count: float) -> tuple:
        """The lookup with its first tokens strong, and the rows of the table that they pick."""
        later = frozenset(range(int(count), len(ids.value)))
        used = {*ids.value[: int(count)].tolist()}
        others = frozenset(range(len(table.value)) if rows is None else rows) - used
        return equation_of(
            looked_up,
            drawn=[
                Matrix(ids, faint=later),
                Matrix(table, rows=rows, faint=others),
                Matrix(looked_up, faint=later, covered=hidden),
            ],
        )

    moving = Moving(shared.UP_TO, picked, values.of(*shared.SOURCE))
    picture("lookup", equation(trace, *picked(values.shown_terms), tall=TALL), moving)
    if "embeddings" not in covered:
        note(words.identical_words(vectors.value, looked_up.value, values))

if small:
    with card(
        "typed",
        "Your own numbers",
        "Every entry of the table is a **parameter**: a number that training may change. Here you "
        "can: type into the table, and everything that follows uses your numbers.",
    ):
        grid(trace, shared.EDITS, table, drawn=trace.get("drawn_table", table))

    with card(
        "one_hot",
        "The lookup is a matrix product",
        "Write each id as a row of zeros with a single 1 at its place (**one-hot**). Times the "
        "table, that copies one row and nothing else: every other term is 0 times something.",
    ):
        by_product = trace["embeddings_by_product"]
        drawn = [drawn_table(), Matrix(by_product, covered=by_product.name in covered)]
        picture("one_hot", equation(trace, *equation_of(by_product, drawn=drawn), tall=TALL))
        if not covered:
            gap = (by_product.value - looked_up.value).abs().max().item()
            light(
                gap == 0,
                f"The product and the lookup agree, {to_within(gap)}.",
            )

with card(
    "positions",
    "Positions",
    "A lookup does not know where a word stands. So each place has a vector of its own, and it is "
    "added to the token’s: the same word gets a different vector at each place."
    if values.positions
    else "A lookup does not know where a word stands. Turn **positions** on, and each place adds a "
    "vector of its own. The picture shows what they would add; for now they are left out.",
) as beside:
    with beside:
        control(shared.POSITIONS)
    placed = trace if values.positions else embed(shared.inputs_of(values.but(positions=True)))
    summed = placed["stream" if "stream" in placed else "embeddings"]
    hidden = values.positions and summed.name in covered
    drawn = [Matrix(summed, covered=hidden)]
    picture("positions", equation(placed, *equation_of(summed, drawn=drawn), tall=TALL))

if "layer_0_stream" in trace:
    with card(
        "first_layer",
        "What the first layer adds",
        "This network has two layers. The heads of the first add what they found to each vector. "
        "The entries of each sum are then brought to mean 0 and variance 1 (**layer norm**). In "
        "this example, `embeddings` always means these rows: what the second layer reads.",
    ):
        drawn = [Matrix(vectors, covered="embeddings" in covered)]
        steps = (trace["layer_0_stream"], vectors)
        picture("first_layer", equation(trace, *equation_of(*steps, drawn=drawn), tall=TALL))

made = (
    "These are what a trained network’s second layer reads: the first has already mixed them, so "
    "the same word differs from place to place."
    if lesson.is_trained(values)
    else "These vectors were set by hand, not trained."
    if inputs.has_given_vectors()
    else "They are random, not trained: tokens that lie close together need not be alike."
)


@alone(
    "picture",
    "A picture of the vectors",
    f"Two entries of each vector, drawn as a point. Tokens at one point share both entries. {made}"
    if values.d_in > 1
    else "With a width of 1 there is only a line: raise `d_in` in the sidebar.",
)
def as_a_picture(values: Values, beside: Place) -> None:
    if values.d_in > 1:
        with beside:
            control(shared.ACROSS, width=130)
            control(shared.UP, width=130)
        points = vectors.value[:, [values.across, values.up]]
        tells = words.identical_rows(points) == words.identical_rows(vectors.value)
        if tells and "embeddings" in covered:
            waits_for("Embeddings", "This picture")
        else:
            chart("picture", as_points(trace, vectors, values.across, values.up))


with deeper("how large a table is, other tables, the formula", "size") as is_open:
    if is_open:
        st.subheader("How large the table is", anchor="parameters")
        st.markdown(
            "Every entry of the table is a parameter. Move the sliders to the size of a real model."
        )
        with st.container(horizontal=True, gap="large"):
            control(lesson.TABLE_ROWS, width=300)
            control(lesson.TABLE_WIDTH, width=300)
        st.markdown(words.size_words(values.table_rows, values.table_width))
        st.subheader("Other tables", anchor="change")
        st.markdown(
            "A random table depends on its seed *and* on its size: with one reserved row more, the "
            "same seed gives many tokens other vectors. The seed and the width are in the sidebar, "
            "the reserved rows at *Ids*."
        )
        st.latex(vectors.formula)

in_a_real_model(values)

answers(
    [
        words.what_an_id_is(trace),
        words.why_equal(trace, values),
        words.what_training_changes(trace),
    ],
    covered,
    about_weights=False,
)
ends(trace, lesson="tokenize")
