"""What some notebooks do otherwise with queries, keys and values, and what comes of it."""

import streamlit as st

from attention_core.examples import EXAMPLES
from attention_core.mechanism.token_axis import attend_on_tokens, attend_on_tokens_by_heads
from attention_core.mechanism.trainable import attend_trainable
from attention_core.text.embedding import embed

from ...page.equation import equation
from ...page.show import folded, light, note
from ...page.view import View
from ...picture.matrix import Matrix


def other_views(view: View) -> dict[str, View]:
    """Further traces of the lesson, by the name of what they show."""
    settings = view.settings
    recipe = settings.projections
    views = {
        "wrong_axis": view.beside(
            attend_trainable(embed(settings.inputs), recipe, softmax_dim=-2), "qkv_wrong_axis"
        )
    }
    again = EXAMPLES[settings.example].drawn_again
    if again:
        trace = attend_trainable(embed(settings.inputs), again)
        views["again"] = view.beside(trace, "qkv_again")
    vectors = attend_on_tokens(embed(settings.inputs))
    attend_on_tokens_by_heads(vectors, n_heads=3)
    return views | {"token_axis": view.beside(vectors, "token_axis")}


def show_mistakes(view: View, views: dict[str, View]) -> None:
    """Each of them folded away until it is opened, beside the view of the page."""
    _wrong_axis(views["wrong_axis"])
    _token_axis(views["token_axis"])
    if "again" in views:
        again = views["again"]
        _again(view.beside(again.trace, again.lesson, same=["context_vectors"]))


def _wrong_axis(view: View) -> None:
    with folded("Softmax down the columns", "wrong_axis", ":material/swap_vert:") as is_open:
        if not is_open:
            return
        st.markdown(
            "`softmax(dim=0)` makes the queries of a column share 1, instead of the keys of a row. "
            "The total is the same, so checking the total does not find it. Look at the rows."
        )
        trace = view.trace
        equation(view, "wrong_axis", trace["weights"])
        sums = trace["weights"].value.sum(dim=-1)
        light(
            False,
            f"Rows sum to {sums.min():.4f} up to {sums.max():.4f}; the whole matrix sums to "
            f"{sums.sum():.4f}, 1 per column.",
        )


def _token_axis(view: View) -> None:
    with folded("A matrix on the token axis", "token_axis", ":material/rotate_left:") as is_open:
        if not is_open:
            return
        n_tokens, d_in = view.trace["embeddings"].value.shape
        st.markdown(
            f"Multiply from the left, `U_query @ embeddings` with a matrix of {n_tokens} × "
            f"{n_tokens}: the shape is right, and each query is a mixture of all tokens, before "
            "any attention. A causal mask then hides nothing, and a sentence of another length "
            "does not fit."
        )
        trace = view.trace
        equation(view, "token_axis", trace["queries"])
        parameters = 3 * n_tokens**2
        note(
            f"It has {parameters:,} parameters for {n_tokens} tokens; matrices on the feature "
            f"axis have {3 * d_in**2:,} at the same width, for any length.",
        )


def _again(view: View) -> None:
    with folded("Drawn again without a new seed", "again", ":material/casino:") as is_open:
        if not is_open:
            return
        st.markdown(
            "The notebook draws its three matrices a second time without setting the seed again. "
            "The generator has moved on, so these are other matrices, with other context vectors."
        )
        trace = view.trace
        equation(
            view,
            "again",
            *(Matrix(trace[name]) for name in ("W_query", "W_key", "W_value")),
            "→",
            Matrix(trace["context_vectors"]),
        )
