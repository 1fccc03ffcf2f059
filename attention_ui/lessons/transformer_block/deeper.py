"""What goes beyond the point of the lesson: a published layer repaired, PyTorch's own, dropout."""

from ...page.page import Page
from ...page.view import View
from ...settings.control import control, control_row
from . import orders, published_layer
from .agreement import torch_agrees
from .blocks import heads_set_words
from .norms import learned


def drawn_about(view: View) -> tuple[object, ...]:
    """What a picture of another trace depends on, the cell that is open in it too."""
    settings, covered = view.settings, tuple(view.covered.items())
    cell = (settings.cell, settings.beat)
    return (view.fingerprint(view.trace), settings.numbered_tokens, cell, covered)


def repair(page: Page, notebook: View) -> None:
    """The notebook's decoder layer, and the same repaired."""
    page.header("A published decoder layer, repaired", anchor="repaired")
    page.words(
        "A published notebook builds a decoder layer that runs and has the right shapes, but not "
        "the right numbers. Here it stands beside the same layer repaired, always on the "
        "notebook's own sentence, “Sorry Dave …”."
    )
    page.words(published_layer.source(), caption=True)
    page.words(
        "**1. A query of one word.** The notebook multiplies the embeddings from the left by a "
        "token × token matrix, `self_U_query` (the [0] is its first head). So the first word's "
        "query is a mixture of all words before any attention. Repaired, in the second picture, "
        "it is made of the first word's vector alone, in several steps (↠)."
    )
    about = drawn_about(notebook)[0], drawn_about(notebook)[2]
    page.part("mixing", lambda: published_layer.show_mixing(notebook), about=about)
    page.words(
        "**2. No look ahead.** The notebook's attention weights have no mask and no √d, the "
        "repaired ones have both. The table is a test: 1 is added to each entry of the last "
        "token's vector, and no row of an earlier token may move."
    )
    page.part("both_weights", lambda: published_layer.show_weights(notebook), about=about)
    page.words("**3. A norm of each row.** What leaves the first norm in both layers:")
    page.part("both_norms", lambda: published_layer.show_norms(notebook), about=about)
    page.words(
        "Repaired as well: in the cross-attention the stream asks, and the source answers with "
        "keys and values; the notebook has both queries and keys from the source. ReLU stands "
        "between the two linear layers; the notebook has it last, so that nothing negative leaves "
        "the layer. And the feed-forward has a residual and a norm of its own.",
    )


def compare_with_torch(page: Page) -> None:
    """PyTorch's layers with these matrices, in both orders."""
    settings = page.view.settings
    page.header("PyTorch's own layer", anchor="torch")
    page.words(
        "The matrices and biases of this page, loaded into PyTorch's layer, on the same vectors. "
        "Without dropout, as after `eval()`."
    )
    for norm, trace in zip(orders.ORDERS, orders.both_orders(settings), strict=True):
        page.light(*torch_agrees(trace, norm, settings.activation))


def learn(page: Page) -> None:
    """What a norm has learned, what dropout does, and other matrices."""
    trace = page.view.trace
    page.beat(
        "gain",
        "Gain and bias",
        "What a layer norm learns: a gain for each column, and a bias. They begin as 1 and 0, so "
        "an untrained norm leaves the standardised numbers as they are.",
        *learned(trace, page.view.settings.token),
    )
    page.header("Dropout, and other matrices", anchor="dropout")
    page.words(
        "In training, dropout sets some numbers to 0 by chance: of attention's weights, of what "
        "each part adds, and of the hidden numbers. What is left is scaled up."
    )
    page.controls(choose_matrices)
    page.changing(heads_set_words(page.view.settings))


def choose_matrices() -> None:
    """How many heads, how much is dropped, and which matrices are drawn."""
    with control_row():
        control("n_heads", width=180)
        control("layer_dropout", width=220)
        control("block_seed", width=220)
