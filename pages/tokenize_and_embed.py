"""Lesson 1: from a sentence to embeddings."""

from attention_core.text.embedding import embed
from attention_core.text.inputs import TRAINED
from attention_core.trace import Step, Trace
from attention_ui.cards.questions import Pick
from attention_ui.charts.picture import picture
from attention_ui.lessons.tokenize_and_embed.answers import answers
from attention_ui.lessons.tokenize_and_embed.tokens import (
    identical_rows,
    identical_words,
    judge_identical,
    repeated_words,
    size_of_table,
    token_chips,
    type_vectors,
    vocabulary_chips,
)
from attention_ui.page.begin_and_finish import begin, finish
from attention_ui.page.closing import closing
from attention_ui.page.page import Page, open_on
from attention_ui.page.show import show
from attention_ui.page.view import View
from attention_ui.picture.equation_parts import equation_of
from attention_ui.picture.matrix import Matrix
from attention_ui.settings import session
from attention_ui.settings.control import control, control_row
from attention_ui.settings.settings import Settings

PAGE = "tokenize_and_embed"


def view_of(settings: Settings) -> View:
    return View.of(
        PAGE,
        settings,
        lambda settings: embed(settings.inputs, with_product=True),
        opens_with=("embeddings", (0, 0)),
        lesson="tokenize",
    )


def lesson(page: Page) -> None:
    """What stands on the page, from top to bottom."""
    begin(page)
    trace, settings = page.view.trace, page.view.settings
    page.header("Tokens", anchor="tokens")
    page.words(
        "The text is cut into tokens. "
        + (
            "A network has to be given the tokens that it was trained on, so there is one way to "
            "cut here."
            if settings.vocabulary == TRAINED
            else "Blanks are drawn as ␣ so that you can see them. Try another tokenizer in the "
            "sidebar and watch the cuts move."
        )
    )
    inputs = settings.inputs
    cut = (inputs.tokens, settings.tokenizer)
    page.part("tokens", lambda: token_chips(settings), about=cut)
    page.header("Vocabulary", anchor="vocabulary")
    rows = () if inputs.vocabulary == "random" else tuple(inputs.build_vocabulary().rows())
    about = (*cut, inputs.vocabulary, settings.reserved, rows)
    page.part("vocabulary", lambda: vocabulary_chips(settings), about=about)
    page.beat(
        "ids",
        "Ids",
        "Each token gets a whole number, its id: the row of the table that belongs to it. "
        "Ids are names, not amounts; 4 is not twice 2.",
        Matrix(trace["token_ids"], transposed=True),
    )
    look_up(page)
    draw_vectors(page)
    closing(page, answers(page.view))
    with page.deeper("the lookup as a product, the size of the table, other tables"):
        multiply(page)
        page.header("How large the table is", anchor="parameters")
        page.words(
            "Every entry of the table is a parameter: a number that training may change. "
            "Move the sliders to the size of a real model."
        )
        page.part("size", size_of_table, about="its own")
        change_it(page)
    finish(page)


def looked_up_in(trace: Trace) -> Step:
    """The rows of the table, as they were picked."""
    return trace["token_embeddings" if "token_embeddings" in trace else "embeddings"]


def look_up(page: Page) -> None:
    """The lookup, and positions."""
    trace, settings = page.view.trace, page.view.settings
    ids = trace["token_ids"].value.tolist()
    small_table = "one_hot" in trace
    unused = frozenset(range(trace.size("vocabulary"))) - {*ids} if small_table else frozenset()
    rows = None if small_table else tuple(dict.fromkeys(ids))
    looked_up = looked_up_in(trace)
    vectors = trace["embeddings"].value
    page.header("Embeddings", anchor="lookup")
    page.words(
        "The id picks a row of `embedding_table`, and that row is the token's vector. Rows that "
        "no token picks are faint. Choose a cell of `embeddings`: the id and the entry it points "
        "at are outlined."
    )
    page.ask(
        "identical",
        Pick(
            words="Which rows of `embeddings` will be identical to another row?",
            choices=settings.numbered_tokens,
            judge=lambda guess: judge_identical(guess, vectors),
            truth=lambda: repeated_words(vectors),
            many=True,
            teaches="The same id picks the same row, but each place adds a vector of its own."
            if settings.positions
            else "The same id always picks the same row: what a vector says is which token it is, "
            "not where it stands.",
        ),
        covers=("embeddings", "embeddings_by_product"),
    )
    page.equation(
        "lookup",
        *equation_of(looked_up, drawn=[Matrix(trace["embedding_table"], rows=rows, faint=unused)]),
    )
    if settings.positions:
        page.words(
            "A position vector is added to each token's vector, so that the same word gets a "
            "different vector at each place."
        )
        page.equation("positions", trace["stream" if "stream" in trace else "embeddings"])
    if "layer_0_stream" in trace:
        page.words(
            "This network has two layers. The heads of the first add what they found to each "
            "vector (`layer_0_output`). Each sum is then brought to mean 0 and variance 1 over its "
            "entries (layer norm): that is what the second layer reads. On every page, "
            "`embeddings` means these rows."
        )
        page.equation("first_layer", trace["layer_0_stream"])
        page.equation("normed", trace["embeddings"])
    groups = identical_rows(trace["embeddings"].value)
    if groups:
        page.note(identical_words(groups, settings), shows=("embeddings",))
    else:
        words = "Every row is different, so attention can tell all tokens apart."
        page.light(True, words)
    page.formulas(trace["embeddings"].formula)


def multiply(page: Page) -> None:
    """The lookup as a matrix product, where the table is small enough."""
    trace = page.view.trace
    if "one_hot" not in trace:
        return
    page.beat(
        "one_hot",
        "The lookup is a matrix product",
        "Write each id as a row with a single 1. Multiplied by the table, it copies one row "
        "and nothing else: every other term is 0 times something.",
        trace["embeddings_by_product"],
    )
    looked_up = looked_up_in(trace)
    gap = (trace["embeddings_by_product"].value - looked_up.value).abs().max().item()
    page.light(gap == 0, f"The product and the lookup agree: the largest difference is {gap:.1g}.")


def draw_vectors(page: Page) -> None:
    """Two entries of each vector as a point."""
    trace, settings = page.view.trace, page.view.settings
    page.header("A picture of the vectors", anchor="picture")
    made = (
        "These vectors are what a trained network's second layer reads: the first has already "
        "mixed them, so the same word differs from place to place."
        if settings.has_given_vectors and settings.vocabulary == TRAINED
        else "These vectors were set by hand, not trained."
        if settings.has_given_vectors
        else "They are random, not trained: tokens that lie close together need not be alike."
    )
    page.words(
        "Two entries of each vector, drawn as a point. Tokens at one point share both entries. "
        + made
    )
    if settings.d_in == 1:
        page.words("With a width of 1 there is only a line: raise `d_in` in the sidebar.")
        return

    def draw() -> None:
        with control_row():
            for name in ("across", "up"):
                control(name, width=160)
        now = session.current()
        show(picture(trace, trace["embeddings"], now.across, now.up))

    vectors = trace["embeddings"].value
    points = vectors[:, [settings.across, settings.up]]
    tells = identical_rows(points) == identical_rows(vectors)
    page.part("picture", draw, shows=("embeddings",) if tells else ())


def change_it(page: Page) -> None:
    """What else makes the table another one."""
    settings = page.view.settings
    page.header("Change it", anchor="change")
    page.words(
        "Random tables belong to their seed *and* their size: with one reserved row more, the same "
        "seed gives other vectors to many tokens. Positions make repeated words different. The "
        "seed and the width are in the sidebar."
    )
    page.controls(lambda: choose_table(settings), settings.vocabulary)
    if settings.vocabulary == "random":
        page.words(
            "Random ids mean nothing: the same word gets two ids, another run gives others, and "
            "two words may share one. That is what the notebook does, and what to avoid."
        )
    if "one_hot" in page.view.trace:
        view = page.view
        page.part("typed", lambda: type_vectors(view))


def choose_table(settings: Settings) -> None:
    """The controls that make the table."""
    with control_row():
        control("vocabulary", width=260)
        control("learned", width=240, disabled=settings.vocabulary == "random")
        control("reserved", width=200, disabled=settings.vocabulary != "distinct")
        control("positions")


open_on(PAGE, view_of, lesson)
