"""Lesson 1: from a sentence to embeddings."""

from attention_core.rounding import to_within
from attention_core.text.embedding import embed
from attention_core.text.inputs import TRAINED
from attention_core.text.tokenizers import visible
from attention_ui.cards import elements as ui
from attention_ui.cards.page import Page, is_covered, waits_for
from attention_ui.charts.picture import picture as as_points
from attention_ui.controls import shared
from attention_ui.lessons.tokenize_and_embed import lesson, merges, words
from attention_ui.lessons.tokenize_and_embed.real_tokens import (
    has_a_real_model,
    in_a_real_model,
    word_of_a_real_model,
)
from attention_ui.picture.equation_parts import NEW_LINE, equation_of
from attention_ui.picture.matrix import Matrix

TALL = 260


def has_choices(control, v):
    return len(control.choices(v)) > 1


def chips(each, name):
    """Pieces of a person's text beside each other."""
    look = {"gap": "xsmall", "vertical_alignment": "top", "key": f"chips_{name}"}
    return ui.row(*map(ui.text, each), **look)


page = Page("tokenize_and_embed", published="tokenize")


@page.card(
    "tokens",
    "Tokens",
    lambda v: (
        "A trained network knows only the tokens it was trained on, so there is one way to cut "
        "here."
        if v.vocabulary == TRAINED
        else "A network computes with numbers, so a text is first cut into pieces: its **tokens**. "
        "Try another tokenizer and watch the cuts move. Some keep blanks as tokens, drawn as ␣ so "
        "that you can see them."
    ),
    controls=lambda v: [shared.TOKENIZER.at(width=240)] * has_choices(shared.TOKENIZER, v),
)
def tokens(v):
    yield chips(map(visible, shared.inputs_of(v).labels), "tokens")
    yield ui.caption(words.tokens_words(v))


@page.card(
    "learned",
    "Where tokens come from",
    "Nobody writes a model’s list of tokens by hand: it is learned from a text. In the beginning, "
    "each letter is a token. Then the most frequent **pair** of neighbours becomes one token, "
    "again and again: **byte-pair encoding**. Move the slider, one **merge** at a time.",
    controls=[
        ui.in_picture(merges.MERGES, width=200),
        merges.MERGE_TEXT.at(width=400),
        merges.NEW_WORD.at(width=150),
    ],
)
def learned(v):
    text, word = v.merge_text, v.new_word
    yield ui.moving(merges.MERGES, lambda n: merges.cut_at(text, word, int(n)))
    if not (text + word).isascii():
        yield ui.caption(merges.BYTES)


def makes_ids(v):
    """The controls that the vocabulary has now."""
    if has_choices(shared.VOCABULARY, v):
        yield shared.VOCABULARY.at(width=190)
    if v.vocabulary == "distinct":
        yield shared.RESERVED.at(width=110)
    if v.vocabulary != "random":
        yield shared.LEARNED.at(width=190)


@page.card(
    "ids",
    "Ids",
    "Each token gets a whole number, its **id**: the row of the table that belongs to it. Ids are "
    "names, not amounts; 4 is not twice 2.",
    controls=makes_ids,
)
def ids(v, trace):
    inputs = shared.inputs_of(v)
    yield ui.matrices(trace, Matrix(trace["token_ids"], transposed=True))
    yield ui.caption(words.vocabulary_words(v))
    if inputs.vocabulary != "random":
        rows = enumerate(trace.labels("vocabulary"))
        yield chips((f"{at}\u2002{visible(token)}" for at, token in rows), "vocabulary")
    if told := words.unknown_words(v):
        yield ui.text(told)
    yield ui.note(words.unused_words(v))


@page.card(
    "lookup",
    "Embeddings",
    "The id picks a row of `embedding_table`, and that row is the token’s vector: its "
    "**embedding**, `d_in` numbers wide. A word that comes again picks the same row. Every entry "
    "is a **parameter**, which training may change. So can you: click a number.",
    controls=[ui.in_picture(shared.SHOWN_TERMS)],
    ask=page.ask("identical", words.identical, ["embeddings"]),
)
def lookup(v, trace):
    looked_up = lesson.looked_up_in(trace)

    def picked(count):
        return trace, equation_of(looked_up, drawn=lesson.picked(trace, int(count)))

    yield ui.moving(shared.SHOWN_TERMS, picked, tall=TALL)
    if not is_covered("embeddings"):
        yield ui.note(words.identical_words(trace["embeddings"].value, looked_up.value, v))


@page.card(
    "one_hot",
    "The lookup is a matrix product",
    "Write each id as a row of zeros with a single 1 at its place (**one-hot**). Times the "
    "table, that copies one row and nothing else: every other term is 0 times something.",
    when=lesson.is_small,
)
def one_hot(trace):
    by_product, looked_up = trace["embeddings_by_product"], lesson.looked_up_in(trace)
    _, table, _ = lesson.picked(trace)
    yield ui.matrices(trace, *equation_of(by_product, drawn=[table]), tall=TALL)
    gap = (by_product.value - looked_up.value).abs().max().item()
    yield ui.light(gap == 0, f"The product and the lookup agree, {to_within(gap)}.")


@page.card(
    "positions",
    "Positions",
    lambda v: (
        "A lookup does not know where a word stands. So each place has a vector of its own, and it "
        "is added to the token’s: the same word gets a different vector at each place."
        if v.positions
        else "A lookup does not know where a word stands. Turn **positions** on, and each place "
        "adds a vector of its own. The picture shows what they would add; for now they are left "
        "out."
    ),
    controls=[shared.POSITIONS],
)
def positions(v, trace):
    placed = trace if v.positions else embed(shared.inputs_of(v.but(positions=True)))
    summed = placed["stream" if "stream" in placed else "embeddings"]
    # Where the page's own `embeddings` have no positions in them, nor has what is called so here.
    titles = (None, None) if "token_embeddings" in trace else ("embeddings", "with positions")
    before, added = summed.inputs
    start, end = Matrix(before, title=titles[0]), Matrix(summed, title=titles[1])
    yield ui.matrices(placed, start, "+", Matrix(added), "=", end, tall=TALL)


@page.card(
    "first_layer",
    "What the first layer adds",
    "This network has two layers. The heads of the first add what they found to each vector. "
    "The entries of each sum are then brought to mean 0 and variance 1 (**layer norm**). In "
    "this example, `embeddings` always means these rows: what the second layer reads.",
    when=lambda trace: "layer_0_stream" in trace,
)
def first_layer(trace):
    yield ui.matrices(trace, trace["layer_0_stream"], trace["embeddings"], tall=TALL)


@page.card(
    "picture",
    "A picture of the vectors",
    lambda v: (
        "Two entries of each vector, drawn as a point. Tokens at one point share both entries. "
        + lesson.origin_words(v)
        if v.d_in > 1
        else "With a width of 1 there is only a line: raise `d_in` in the sidebar."
    ),
    controls=lambda v: [each.at(width=130) for each in (shared.ACROSS, shared.UP) if v.d_in > 1],
)
def points(v, trace):
    if v.d_in < 2:
        return
    vectors = trace["embeddings"]
    without = (words.asked_token(trace),) if is_covered("embeddings") else ()
    yield ui.chart("picture", as_points(trace, vectors, v.across, v.up, without=without), 880)
    if without:
        yield waits_for("embeddings", f"The point of token {without[0]}")


deeper = page.deeper("merges in numbers, how large a table is, other tables, the formula")


@deeper.section(
    "merge",
    "One merge, number by number",
    "Each count is a sum over words: how often a word came, once for each place in it where the "
    "two stand side by side. A word is a row of ids, with −1 where it has ended. Click a number to "
    "see what it is made of. The trace of all merges is yours, as a program and as a notebook.",
)
def merge(v):
    learned = merges.learned_from(v.merge_text)
    if at := min(v.merges + 1, len(learned.merges)):  # the next merge; at the end the last
        made = learned.trace
        counted = made[f"pair_counts_{at}"]
        some = tuple(counted.value.any(-1).nonzero().flatten().tolist())
        before, after = (Matrix(made[f"pieces_{each}"]) for each in (at - 1, at))
        counting = Matrix(made["word_counts"]), "in", before, NEW_LINE
        each = (*counting, "=", Matrix(counted, rows=some), NEW_LINE, "→", after)
        yield ui.matrices(made, *each, is_aside=True)
    yield ui.alive(merges.take_along, "gives you all merges as a program or a notebook")


@deeper.section("merge_costs", "Ties, bytes, and what a vocabulary costs")
def merge_costs(v):
    yield ui.say(merges.tie_words(v.merge_text, v.merges))
    if (v.merge_text + v.new_word).isascii():  # else it stands below the merges
        yield ui.say(merges.BYTES)
    yield ui.say(merges.cost_words(v.merge_text, v.merges))


@deeper.section(
    "model_word",
    "Which merges made a word of a real model",
    "The same, learned from a large text. Each merge has a number: the first one joined the most "
    "frequent pair of all. A blank belongs to the word after it, so a word is learned twice, with "
    "it and without.",
    when=has_a_real_model,
)
def model_word():
    yield ui.alive(word_of_a_real_model, "shows this of any word of yours")


@deeper.section(
    "change",
    "Other tables",
    "A random table depends on its seed *and* on its size: with one reserved row more, the same "
    "seed gives many tokens other vectors. The width is in the sidebar, as is a seed that counts; "
    "the reserved rows are at *Ids*.",
)
def change(trace):
    yield ui.formula_of(trace, "embeddings")


real = page.fold(
    "real",
    "**In a real model**: its tokens of your text, and words that lie near each other",
    ":material/neurology:",
    when=has_a_real_model,
)


@real.section("real_tokens", "")
def real_tokens():
    yield ui.alive(in_a_real_model, "shows what a real model makes of your text")


page.answers(
    words.why_tokens,
    words.why_blanks_count,
    words.what_an_id_is,
    words.why_equal,
    about_weights=False,
)
page.show()
