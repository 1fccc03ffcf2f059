"""Lesson 5: attention with trainable matrices, and training them."""

from attention_core.mechanism.trainable import add_other_ways, attend_trainable, expand_token
from attention_core.text.embedding import embed
from attention_core.trace import Trace
from attention_ui.cards.questions import Pick, Shape
from attention_ui.lessons.queries_keys_values.answers import answers
from attention_ui.lessons.queries_keys_values.mistakes import other_views, show_mistakes
from attention_ui.lessons.queries_keys_values.projections import (
    all_names,
    choose_matrices,
    compare_starts,
    judge_sure,
    matrix_words,
    one_role,
    origin_words,
    own_matrices,
    sure_words,
    ways_agree,
)
from attention_ui.lessons.queries_keys_values.training import train_it
from attention_ui.lessons.queries_keys_values.zeroed import set_to_zero
from attention_ui.page.begin_and_finish import begin, finish
from attention_ui.page.closing import closing
from attention_ui.page.lights import show_checks, sums_verdict
from attention_ui.page.page import Page, open_on
from attention_ui.page.view import View
from attention_ui.picture.matrix import Matrix
from attention_ui.settings.control import control, offered
from attention_ui.settings.settings import Settings

PAGE = "queries_keys_values"


def build(settings: Settings) -> Trace:
    """The lesson's trace."""
    trace = attend_trainable(embed(settings.inputs), settings.projections)
    return add_other_ways(expand_token(trace, settings.token))


def view_of(settings: Settings) -> View:
    return View.of(PAGE, settings, build, lesson="qkv")


def lesson(page: Page) -> None:
    """What stands on the page, from top to bottom."""
    view = page.view
    linear = view.beside(
        add_other_ways(
            attend_trainable(embed(view.settings.inputs), view.settings.linear_projections)
        ),
        "qkv_linear",
    )
    others = other_views(view)
    begin(page, linear, *others.values())
    one_token(page)
    make_matrices(page)
    page.header("All tokens at once", anchor="all_tokens")
    page.words("Now the same for every token at once: one product per matrix.")
    page.equation("projections", build=lambda _: one_role(view, all_names(), "all"))
    score(page)
    attend(page)
    page.header("Train it", anchor="train")
    page.words(
        "Gradient descent on this sentence. Each context vector, through a small output matrix, "
        "learns to predict the next token, and may look only backwards. Every matrix starts as "
        "`nn.Linear` does. Then try it without √d, and with too large a learning rate."
    )
    page.part("train", lambda: train_it(view))
    page.part("checks", lambda: show_checks(view, "context_vectors"))
    closing(page, answers(view))
    with page.deeper(
        "one context vector; the same, written differently; what the start does; ways to go wrong"
    ):
        say_more(page, others)
    finish(page, linear, *others.values())


def make_matrices(page: Page) -> None:
    """The three matrices, and what makes them."""
    view = page.view
    trace = view.trace
    page.header("Three matrices", "matrices")
    page.words(
        "Each row belongs to one entry of an embedding, each column to one entry of a query, key "
        "or value. All tokens share these three: one number changed in `W_query` can move every "
        "row of scores further down."
    )
    page.changing(origin_words(view.settings, trace))
    page.equation("matrices", *(Matrix(trace[name]) for name in ("W_query", "W_key", "W_value")))
    page.controls(choose_matrices, *offered("start", view.settings))
    page.changing(matrix_words(view.settings))
    page.part("own_matrices", lambda: own_matrices(view))


def one_token(page: Page) -> None:
    """One token's query, its scores, and its context vector."""
    view = page.view
    trace = view.trace
    page.header("One token first", anchor="one_token")
    page.words(
        "Multiply its vector by each matrix: you get what it asks for, what it is found by, and "
        "what it hands on. Choose the token and the matrix."
    )
    settings = view.settings
    page.controls(lambda: control("token", width=240), settings.numbered_tokens)
    names = ("one_query", "one_key", "one_value")
    page.equation("one_token", build=lambda _: one_role(view, names, "one"))
    page.words(
        "Its query meets the key of every token: one score each. Softmax turns the scores into "
        "shares of its attention. That is who answers, and how much."
    )
    weights = trace["query_weights"]
    page.equation(
        "one_row",
        Matrix(trace["keys"]),
        "·",
        *(Matrix(trace["one_query"]), "=", Matrix(trace["query_scores"])),
        *(("→", Matrix(weights.inputs[0])) if weights.inputs[0].name != "query_scores" else ()),
        *("→", Matrix(weights)),
        sentence=True,
    )


def score(page: Page) -> None:
    """The scores of all tokens."""
    trace = page.view.trace
    page.header("Scores", anchor="scores")
    page.words(
        "A score is the dot product of one token's query with another's key. It is no longer the "
        "same in both directions: compare a cell with its mirror across the diagonal. There is a "
        "score for each pair of tokens, however wide queries and keys are, so twice as many tokens "
        "make four times as many scores."
    )
    page.equation("scores", trace["scores"])


def attend(page: Page) -> None:
    """Weights and context vectors."""
    view = page.view
    trace = view.trace
    weights = trace["weights"]
    n_rows = len(weights.value)
    page.header("Weights", anchor="weights")
    page.words(
        "Scores become shares of 1 along each row. Where one score stands far above the others, "
        "its share is nearly 1 and the other tokens hardly count."
    )
    page.ask(
        "sure_rows",
        Pick(
            words=f"How many of the {n_rows} rows will give more than 0.99 of their weight to a "
            "single key?",
            choices=[str(count) for count in range(n_rows + 1)],
            judge=lambda guess: judge_sure(guess[0], weights.value),
            truth=lambda: f"{sure_words(weights.value)}.",
            teaches="What counts is how far the largest score of a row stands above the next: a "
            "lead of 5 is enough for 0.99 against one other key.",
        ),
        covers=("weights", "largest_weights"),
    )
    page.equation("weights", weights, sentence=True)
    page.light(*sums_verdict(trace, "context_vectors"))
    page.header("Context vectors", anchor="context")
    page.words("The weights mix the values, not the embeddings.")
    context, values = trace["context_vectors"], trace["values"]
    page.ask(
        "shape",
        Shape(
            words=f"`weights` are {weights.shape}, and `values` {values.shape}. Which shape will "
            "`context_vectors` have, when each row of weights mixes the values?",
            truth=tuple(zip(context.axes, context.value.shape, strict=True)),
            teaches="There is a context vector for each query, as wide as a value. The keys are "
            "summed over, so they are gone.",
        ),
        covers=(context.name,),
    )
    page.equation("context", context)
    page.part("zeroed", lambda: set_to_zero(view))
    page.formulas(
        r"Q = X W_Q",
        r"K = X W_K",
        r"V = X W_V",
        trace.formula("context_vectors", known=("queries", "keys", "values")),
    )
    page.words(
        "All of it in four steps: make a query, a key and a value from every vector, compare each "
        "query with every key, turn each row of scores into shares (softmax), and blend the values "
        "by these shares.",
        caption=True,
    )


def say_more(page: Page, others: dict[str, View]) -> None:
    """Other ways of writing it, two starts compared, and ways to go wrong."""
    view = page.view
    page.beat(
        "one_context",
        "One token's context vector",
        "The weights of the token at the top mix the values of all tokens into one vector.",
        Matrix(view.trace["query_weights"], transposed=True),
        "·",
        Matrix(view.trace["values"]),
        "=",
        Matrix(view.trace["query_context"], transposed=True),
    )
    page.header("The same, written differently", anchor="otherwise")
    page.words(
        "With tokens as rows it is `x @ W`; with tokens as columns, `W @ x` with the matrix "
        "transposed. `nn.Linear` stores its matrix transposed; turn it back, and the layer gives "
        "what the parameter matrix gives. Here both are computed."
    )
    for good, words in ways_agree(view.trace):
        page.light(good, words)
    page.header("What the start does", anchor="starts")
    page.words(
        "The same sentence with each start. Bars show the largest weight w of each row. The slope "
        "of softmax there is w(1 − w), which is almost 0 for a weight near 1. Without a slope, "
        "nothing can be learned."
    )
    page.part("starts", lambda: compare_starts(view), shows=("largest_weights",))
    page.header("Ways to go wrong", anchor="mistakes")
    page.part("mistakes", lambda: show_mistakes(view, others))


open_on(PAGE, view_of, lesson)
