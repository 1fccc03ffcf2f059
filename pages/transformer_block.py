"""The transformer block: attention and feed-forward, each adding to one stream a token."""

from attention_ui.lessons.transformer_block import orders, published_layer
from attention_ui.lessons.transformer_block.agreement import torch_agrees
from attention_ui.lessons.transformer_block.answers import answers
from attention_ui.lessons.transformer_block.blocks import (
    build,
    heads_words,
    hidden_words,
    is_decoder,
)
from attention_ui.lessons.transformer_block.decoder import across, nothing_looks_ahead
from attention_ui.lessons.transformer_block.flow import (
    adds_up,
    equation_parts,
    norms_words,
    picture,
    token_of,
)
from attention_ui.lessons.transformer_block.norms import (
    every_row_is_standard,
    in_steps,
    learned,
    show_longer,
    stretched,
    ten_times_question,
)
from attention_ui.lessons.transformer_block.parts import (
    heads_drawn,
    silenced_words,
    way_to_heads,
    widened,
)
from attention_ui.page.begin_and_finish import begin, finish
from attention_ui.page.closing import closing
from attention_ui.page.page import Page, open_on
from attention_ui.page.show import show_within
from attention_ui.page.view import View
from attention_ui.settings.control import control, control_row
from attention_ui.settings.settings import Settings
from attention_ui.settings.source import table_words

PAGE = "transformer_block"
WIDTH = 900


def view_of(settings: Settings) -> View:
    return View.of(PAGE, settings, build)


def lesson(page: Page) -> None:
    """What stands on the page, from top to bottom."""
    view = page.view
    longer = view.beside(stretched(view.settings))
    notebook = view.beside(published_layer.beside())
    begin(page, longer, notebook)
    look(page)
    attend(page)
    normalise(page, longer)
    feed_forward(page)
    order(page)
    decode(page)
    closing(page, answers(view))
    with page.deeper(
        "a published decoder layer repaired, PyTorch's own layer, gain and bias, dropout"
    ):
        repair(page, notebook)
        compare_with_torch(page)
        learn(page)
    finish(page, longer, notebook)


def look(page: Page) -> None:
    """At first sight: one token's vector on its way through the block."""
    view = page.view
    trace, settings = view.trace, view.settings
    token = token_of(trace, settings.token)
    page.header("The residual stream", anchor="stream")
    page.words(
        "One token's vector flows from left to right. Each part reads the stream and adds to it. A "
        "ribbon is as thick as its number: point at one to see what it is made of."
    )
    page.controls(choose_stream, settings.numbered_tokens)
    page.part(
        "stream",
        lambda: show_within(picture(trace, token), WIDTH),
        about=(view.fingerprint(trace), token, trace.labels("d_in"), settings.numbered_tokens),
    )
    page.changing(norms_words(settings.norm))
    page.light(*adds_up(trace))


def choose_stream() -> None:
    """Which token, in which block."""
    with control_row():
        control("token", width=200)
        control("norm", width="content")
        control("block", width="content")


def attend(page: Page) -> None:
    """Attention in brief, and its residual."""
    trace = page.view.trace
    page.header("What attention adds", anchor="attention")
    page.words(
        "Attention is the only part in which your tokens hear of each other. What its heads find "
        "is joined, and becomes one vector for each token, as wide as the stream."
    )
    page.changing(heads_words(page.view.settings))
    page.equation("weights", *heads_drawn(trace), sentence=True)
    name = page.view.page
    page.part("heads", lambda: way_to_heads(name))
    page.header("The residual: add, do not replace", anchor="residual")
    page.words(
        "The output of a part is added to the stream. Were it 0, the token would go on as it "
        "came. This is called a residual connection. Here is your token's whole way as an equation."
    )
    page.equation("residual", *equation_parts(trace, token_of(trace, page.view.settings.token)))


def normalise(page: Page, longer: View) -> None:
    """Layer norm as arithmetic, and what it does to a vector ten times as long."""
    view = page.view
    trace, settings = view.trace, view.settings
    page.header("Layer norm", anchor="norm")
    page.words(
        "Each row by itself: its mean is taken off, and what is left is divided by the root of its "
        "variance. A tiny ε is added to the variance, so that equal numbers do not divide by 0."
    )
    page.equation("norm", *in_steps(trace))
    page.light(*every_row_is_standard(trace))
    asked = ("stretched_standardised",)
    page.ask("longer", ten_times_question(longer.trace, settings.token), covers=asked)
    about = (*drawn_about(longer), settings.token)
    page.part("longer", lambda: show_longer(longer), about=about, shows=asked)


def feed_forward(page: Page) -> None:
    """Two linear layers, and what the activation silences."""
    trace, settings = page.view.trace, page.view.settings
    page.header("Feed-forward: each token by itself", anchor="feed_forward")
    page.words(
        "A first linear layer makes the vector wider, the activation bends its numbers, and a "
        "second layer brings them back to the width of the stream. No token sees another here, so "
        "one row tells it all: that of your token."
    )
    page.controls(choose_feed_forward)
    page.changing(hidden_words(settings))
    page.equation("feed_forward", *widened(trace, token_of(trace, settings.token)))
    page.note(silenced_words(trace, settings.activation))


def choose_feed_forward() -> None:
    """How wide it is inside, and how its numbers are bent."""
    with control_row():
        control("activation", width="content")
        control("wider", width=240)


def order(page: Page) -> None:
    """Norms before each part, or after, by the numbers of the chosen token."""
    settings = page.view.settings
    before, after = orders.both_orders(settings)
    page.header("Norms before or after?", anchor="orders")
    page.words(
        "The first transformer normed the stream itself, after each addition. Most models since "
        "norm only what a part reads. Here are both, with the same weights and the same token; "
        "size is the root of the mean square of a vector's numbers."
    )
    page.changing(orders.sizes_table(before, after, settings.token))
    page.changing(orders.order_words(before, after, settings.token))
    page.light(*orders.stream_is_untouched(before))


def decode(page: Page) -> None:
    """What a decoder has besides: a mask, and attention to the source."""
    view = page.view
    trace, settings = view.trace, view.settings
    page.header("In a decoder", anchor="decoder")
    page.words(
        "A decoder writes. Its own attention hides what comes later, and between the two parts "
        "stands a third, cross-attention: your sentence asks, and another one, the source, answers."
    )
    if not is_decoder(settings):
        page.controls(lambda: control("block", version="_again", width="content"))
        page.words("Choose *Decoder*, and the stream above gets a third part.", caption=True)
        return
    page.controls(choose_decoder)
    page.changing(table_words(settings))
    page.equation("cross", *across(trace))
    page.light(*nothing_looks_ahead(trace))


def choose_decoder() -> None:
    """Which kind of block, and the source."""
    control("block", version="_again", width="content")
    control("source")


def drawn_about(view: View) -> tuple[object, ...]:
    """What a picture of another trace depends on, the cell that is open in it too."""
    settings, covered = view.settings, tuple(view.covered.items())
    cell = (settings.cell, settings.beat)
    return (view.fingerprint(view.trace), settings.numbered_tokens, cell, covered)


def repair(page: Page, notebook: View) -> None:
    """The notebook's decoder layer, and the same repaired."""
    page.header("A published decoder layer, repaired", anchor="repaired")
    page.words(
        "One published notebook builds a decoder layer that runs and has the right shapes. Here it "
        "stands beside the same layer repaired, always on the notebook's own sentence, “Sorry "
        "Dave …”, whatever you have chosen. First, its queries, in the first head: a matrix of "
        "token × token stands on the left, so the first word's query is mixed of all words before "
        "any attention. Repaired, it is made of the first word's vector alone."
    )
    about = drawn_about(notebook)[0], drawn_about(notebook)[2]
    page.part("mixing", lambda: published_layer.show_mixing(notebook), about=about)
    page.words(
        "The weights of both: the notebook's have no mask and no √d, the repaired ones have both."
    )
    page.part("both_weights", lambda: published_layer.show_weights(notebook), about=about)
    page.words("The norms of both, above the notebook's and below the repaired one.")
    page.part("both_norms", lambda: published_layer.show_norms(notebook), about=about)
    page.words(
        "Repaired as well: in the cross-attention the stream asks, and the source answers with "
        "keys and values; the notebook has both queries and keys from the source. ReLU stands "
        "between the two linear layers; the notebook has it last, so that nothing negative leaves "
        "the layer. And the feed-forward has a residual and a norm of its own.",
    )


def compare_with_torch(page: Page) -> None:
    """PyTorch's layers with these weights, in both orders."""
    settings = page.view.settings
    page.header("PyTorch's own layer", anchor="torch")
    page.words(
        "The weights of this page, loaded into PyTorch's layer, on the same vectors. Without "
        "dropout, as after `eval()`."
    )
    for norm, trace in zip(orders.ORDERS, orders.both_orders(settings), strict=True):
        page.light(*torch_agrees(trace, norm, settings.activation))


def learn(page: Page) -> None:
    """What a norm has learned, what dropout does, and other weights."""
    trace = page.view.trace
    page.beat(
        "gain",
        "Gain and bias",
        "What a layer norm learns: a gain for each column, and a bias. They begin as 1 and 0, so "
        "an untrained norm leaves the standardised numbers as they are.",
        *learned(trace, page.view.settings.token),
    )
    page.header("Dropout, and other weights", anchor="dropout")
    page.words(
        "In training, dropout sets some numbers to 0 by chance: of the weights, of what each part "
        "adds, and of the hidden numbers. What is left is scaled up."
    )
    page.controls(choose_weights)


def choose_weights() -> None:
    """How many heads, how much is dropped, and which weights are drawn."""
    with control_row():
        control("n_heads", width=180)
        control("layer_dropout", width=220)
        control("block_seed", width=220)


open_on(PAGE, view_of, lesson)
