"""The transformer block: attention and feed-forward, each adding to one stream a token."""

from attention_ui.lessons.transformer_block import deeper, orders, published_layer
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
    dropout_words,
    equation_parts,
    norms_words,
    picture,
    token_of,
)
from attention_ui.lessons.transformer_block.norms import (
    every_row_is_standard,
    in_steps,
    show_longer,
    stretched,
    ten_times_question,
)
from attention_ui.lessons.transformer_block.parts import (
    arrows_words,
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
        deeper.repair(page, notebook)
        deeper.compare_with_torch(page)
        deeper.learn(page)
    finish(page, longer, notebook)


def look(page: Page) -> None:
    """At first sight: one token's vector on its way through the block."""
    view = page.view
    trace, settings = view.trace, view.settings
    token = token_of(trace, settings.token)
    page.header("The residual stream", anchor="stream")
    page.words(
        "One token's vector flows from left to right. The parts of the block, such as attention "
        "and feed-forward (a small network), read the stream and add to it. A ribbon is as thick "
        "as its number: point at one to see what it is made of. The block is untrained and its "
        "matrices are random: look at the sums, not for meaning. (Two digits are shown, so a sum "
        "may look off by 0.01.)"
    )
    page.controls(choose_stream, settings.numbered_tokens)
    page.part(
        "stream",
        lambda: show_within(picture(trace, token), WIDTH),
        about=(view.fingerprint(trace), token, trace.labels("d_in"), settings.numbered_tokens),
    )
    page.changing(dropout_words(trace, token, settings.layer_dropout))
    page.changing(norms_words(settings.norm))
    page.light(*adds_up(trace))


def choose_stream() -> None:
    """Which token, in which block."""
    with control_row(vertical_alignment="top"):
        control("token", width=200)
        control("norm", width="content")
        control("block", width="content")


def attend(page: Page) -> None:
    """Attention in brief, and its residual."""
    trace = page.view.trace
    page.header("What attention adds", anchor="attention")
    page.words(
        "Attention is the only part where your tokens exchange information. The heads' results are "
        "joined and multiplied by a matrix, `W_output`. On the right is what comes of it: one "
        "vector for each token, as wide as the stream."
    )
    page.changing(heads_words(page.view.settings))
    page.equation("weights", *heads_drawn(trace), sentence=True)
    name = page.view.page
    page.part("heads", lambda: way_to_heads(name))
    page.header("The residual: add, do not replace", anchor="residual")
    page.words(
        "The output of a part is added to the stream. If a part gives 0, the token passes through "
        "unchanged. This is called a residual connection. Here is your token's whole way, a line "
        "for each part."
    )
    norms_between = page.view.settings.norm == "after"
    page.changing("A double arrow ↠ stands for several steps, a layer norm." * norms_between)
    page.equation("residual", *equation_parts(trace, token_of(trace, page.view.settings.token)))


def normalise(page: Page, longer: View) -> None:
    """Layer norm as arithmetic, and what it does to a vector ten times as long."""
    view = page.view
    trace, settings = view.trace, view.settings
    page.header("Layer norm", anchor="norm")
    page.words(
        "Each row by itself: its mean is subtracted, and what is left is divided by the root of "
        "its variance. A tiny ε is added to the variance, so that a row of equal numbers is not "
        "divided by 0."
    )
    page.equation("norm", *in_steps(trace))
    page.light(*every_row_is_standard(trace))
    asked = ("stretched_standardised",)
    page.ask("longer", ten_times_question(longer.trace, settings.token), covers=asked)
    about = (*deeper.drawn_about(longer), settings.token)
    page.part("longer", lambda: show_longer(longer), about=about, shows=asked)


def feed_forward(page: Page) -> None:
    """Two linear layers, and what the activation silences."""
    trace, settings = page.view.trace, page.view.settings
    page.header("Feed-forward: each token by itself", anchor="feed_forward")
    page.words(
        "A first linear layer makes the vector wider, the activation changes each number by "
        "itself, and a second layer brings them back to the width of the stream. No token sees "
        "another here, so one row tells it all: that of your token."
    )
    page.controls(choose_feed_forward)
    arrows = arrows_words(trace, settings.activation)
    page.changing(f"{hidden_words(settings)} {arrows}")
    page.equation("feed_forward", *widened(trace, token_of(trace, settings.token)))
    page.note(silenced_words(trace, settings.activation))


def choose_feed_forward() -> None:
    """How wide it is inside, and how its numbers are bent."""
    with control_row(vertical_alignment="top"):
        control("activation", width="content")
        control("wider", width=240)


def order(page: Page) -> None:
    """Norms before each part, or after, by the numbers of the chosen token."""
    settings = page.view.settings
    before, after = orders.both_orders(settings)
    page.header("Norms before or after?", anchor="orders")
    page.words(
        "The first transformer normed the stream itself, after each addition. Most models since "
        "norm only what a part reads. Then the stream has a path through every block on which "
        "nothing is rescaled, and deep stacks are easier to train. Here are both orders, with the "
        "same matrices and the same token, always without dropout. Size is the root of the mean "
        "square of a vector's numbers. Sizes do not add up, since the vectors point in "
        "different directions."
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
        "A decoder produces text token by token. Its own attention hides what comes later, and "
        "between the two parts stands a third, cross-attention: your sentence asks, and another "
        "one, the source, answers."
        + ("" if is_decoder(settings) else " Choose *Decoder*, and the stream above gets it.")
    )
    if not is_decoder(settings):
        page.controls(lambda: control("block", version="_again", width="content"))
        return
    page.controls(choose_decoder)
    page.changing(table_words(settings))
    page.equation("cross", *across(trace))
    page.light(*nothing_looks_ahead(trace))


def choose_decoder() -> None:
    """Which kind of block, and the source."""
    control("block", version="_again", width="content")
    control("source")


open_on(PAGE, view_of, lesson)
