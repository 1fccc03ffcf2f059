"""Cross-attention: the queries of one sentence look at the keys and values of another."""

from attention_ui.cards.questions import Shape
from attention_ui.lessons.cross_attention.agreement import torch_agrees
from attention_ui.lessons.cross_attention.answers import answers
from attention_ui.lessons.cross_attention.changes import show_changes, show_swapped
from attention_ui.lessons.cross_attention.looking import build, padded
from attention_ui.lessons.cross_attention.mixing import made_words, shares_of
from attention_ui.lessons.cross_attention.padding import show_padding
from attention_ui.page.begin_and_finish import begin, finish
from attention_ui.page.closing import closing
from attention_ui.page.lights import sums_verdict
from attention_ui.page.page import Page, open_on
from attention_ui.page.view import View
from attention_ui.picture.matrix import Matrix
from attention_ui.settings.control import control
from attention_ui.settings.settings import Settings
from attention_ui.settings.source import table_words

PAGE = "cross_attention"


def view_of(settings: Settings) -> View:
    view = View.of(PAGE, settings, build)
    query = min(settings.first_query, view.trace.size("query") - 1)
    key = int(view.trace["weights"].value[query].argmax())
    view.opens_with = ("scores", (query, key))
    return view


def lesson(page: Page) -> None:
    """What stands on the page, from top to bottom."""
    view = page.view
    filled = view.beside(padded(view.settings))
    begin(page, filled)
    look(page)
    make_roles(page)
    compare(page)
    mix(page)
    page.header("Padding in the source", anchor="padding")
    page.words(
        "A model reads many sources at once, in one batch, and all must be equally long: shorter "
        "ones are filled up with padding. Nobody may look there, so a mask sets the scores of "
        "padding to −∞ for every query, and softmax makes exactly 0 of them."
    )
    page.part("padding", lambda: show_padding(view))
    page.header("What stays, what changes", anchor="changes")
    page.words(
        "The steps are those of self-attention, and so are the matrices. Only keys and values are "
        "made from different vectors."
    )
    page.part("changes", lambda: show_changes(view), shows=("context_vectors",))
    closing(page, answers(view))
    deeper(page, filled)
    finish(page, filled)


def look(page: Page) -> None:
    """At first sight: who looks at whom, and the other sentence to be changed."""
    trace = page.view.trace
    page.header("Which word does each word look at?", anchor="looking")
    page.words(
        "In the picture, your sentence (the text of the sidebar) asks above, and the source "
        "answers below. Point at a word to see where it looks."
    )
    page.controls(lambda: control("source"))
    page.equation("looking", Matrix(trace["weights"]), sentence=True)
    page.light(*sums_verdict(trace, "context_vectors"))


def make_roles(page: Page) -> None:
    """Whose vectors become queries, keys and values."""
    trace = page.view.trace
    page.header("Who asks, who answers", anchor="roles")
    page.words(
        "The sentence that is being written asks, so its vectors become the queries. The source "
        "is asked: its vectors become keys, by which they are found, and values, which they hand "
        "on."
    )
    page.changing(table_words(page.view.settings))
    page.equation("queries", trace["queries"])
    page.equation("keys", trace["keys"])


def compare(page: Page) -> None:
    """Scores, which are no square any more, and the shares of each row."""
    trace = page.view.trace
    n_queries, n_keys = trace["scores"].value.shape
    page.header("Scores", anchor="scores")
    page.words(
        "Rows are the tokens of your sentence, columns those of the source. The diagonal means "
        "nothing here: its tokens only happen to stand at the same place. And the source is "
        "complete, nothing of it lies in the future, so no causal mask is needed."
    )
    page.changing(f"A score for each pair: {n_queries} × {n_keys} = {n_queries * n_keys}.")
    page.equation("scores", trace["scores"])


def deeper(page: Page, filled: View) -> None:
    """What is made as ever; the roles swapped, as one notebook has them; and torch's own layer."""
    trace = page.view.trace
    with page.deeper("values and weights, as ever; the roles swapped; PyTorch's own layer"):
        page.header("Values", anchor="values")
        page.words("Values are made of the source as its keys are, with a matrix of their own.")
        page.equation("values", trace["values"])
        page.header("Weights", anchor="weights")
        page.words("Softmax turns each row into shares of 1, as ever. Columns may sum to anything.")
        page.equation("weights", *shares_of(trace))
        page.header("The roles swapped", anchor="swapped")
        page.words(
            "One published notebook makes queries and keys of the source, and values of the "
            "sentence that is being written. Count rows and columns before you read on: does it "
            "run?"
        )
        page.part("swapped", lambda: show_swapped(trace))
        page.header("PyTorch's own layer", anchor="torch")
        page.words(
            "`nn.MultiheadAttention` takes three inputs. With the same one three times it is "
            "self-attention; here `query` is your sentence, `key` and `value` are the source. Its "
            "`key_padding_mask` hides padding, and is True where it is *hidden*: a mask here is "
            "True where a key may be seen."
        )
        page.light(*torch_agrees(trace))
        page.light(*torch_agrees(filled.trace))


def mix(page: Page) -> None:
    """Context vectors, and what shape they have."""
    trace = page.view.trace
    weights, values, context = (trace[name] for name in ("weights", "values", "context_vectors"))
    page.header("Context vectors", anchor="context")
    page.words(
        "Each row of weights mixes the values of the source into one vector. Your sentence only "
        "decides the mix; none of its values is in it."
    )
    page.changing(made_words(trace))
    page.ask(
        "shape",
        Shape(
            words=f"`weights` are {weights.shape}, and `values` {values.shape}. Which shape will "
            "`context_vectors` have?",
            truth=tuple(zip(context.axes, context.value.shape, strict=True)),
            teaches="There is one for each query, however long the source is. The keys are summed "
            "over, so they are gone.",
        ),
        covers=("context_vectors",),
    )
    page.equation("context", context)
    page.formulas(
        r"Q = X W_Q",
        r"K = Y W_K",
        r"V = Y W_V",
        trace.formula("context_vectors", known=("queries", "keys", "values")),
    )
    page.words(
        "X are the vectors of your sentence, Y those of the source. With Y = X this is "
        "self-attention.",
        caption=True,
    )


open_on(PAGE, view_of, lesson)
