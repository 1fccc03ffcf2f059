"""Lesson 6: hiding the future, and what leaks when it is done otherwise."""

import streamlit as st

from attention_core.embedding import embed
from attention_core.masking import attend_masked
from attention_ui.anatomy import begin, finish
from attention_ui.asked import row_to_share, whole_row
from attention_ui.beats import beat
from attention_ui.charts.matrix import Matrix
from attention_ui.dropout import dropout, dropped
from attention_ui.frame import open_lesson
from attention_ui.leaks import changed, judge_leaks, share_verdict, ways_to_hide
from attention_ui.masks import choose_mask, context_words, mask_words, say_blind, weights_words
from attention_ui.predict import is_open
from attention_ui.questions import Pick
from attention_ui.settings import WAYS_TO_HIDE
from attention_ui.show import formulas, light
from attention_ui.view import View

PAGE = "causal_mask"

settings = open_lesson(PAGE)
view = View.of(
    PAGE,
    settings,
    lambda settings: attend_masked(embed(settings.inputs), settings.mask, settings.divide),
    opens_with=("masked_scores", (0, 0)),
    lesson="causal",
)
trace = view.trace
experiments = view.beside(changed(settings)), view.beside(dropped(settings))
begin(view, *experiments)
mask, weights = trace["mask"], trace["weights"]
before_mask = trace["masked_scores"].inputs[0]

formulas(
    r"A = \operatorname{softmax}(S_M)",
    r"(S_M)_{ij} = \begin{cases} S_{ij} & \text{if } M_{ij} \\ -\infty & \text{else} \end{cases}",
    r"M_{ij}\text{: query } i \text{ may look at key } j",
)

beat(
    view,
    "mask",
    "The mask",
    mask_words(settings, mask.value),
    Matrix(mask),
)
with st.container(width=760):
    st.caption(
        "True = may look is the convention of torch's `scaled_dot_product_attention`. "
        "`nn.MultiheadAttention` and the notebooks use the opposite, True = hidden; the program "
        "below therefore writes `~mask` where it fills."
    )
choose_mask(settings)
say_blind(trace)

beat(
    view,
    "masked_scores",
    "Masked scores",
    "What is hidden becomes minus infinity before the softmax, since e to the minus infinity is "
    "exactly 0. Everything else is copied. Here the embeddings are queries, keys and values.",
    Matrix(before_mask),
    "→",
    Matrix(trace["masked_scores"], row_labels=False, mask=mask),
)
other_weights = ("zero_filled_weights", "zeroed_weights", "renormalised_weights")
shared = row_to_share(mask.value, trace.labels("query"))
revealed = is_open(
    view,
    "row",
    whole_row(
        "Share out the weights of this query among the keys that it may look at. Their masked "
        "scores are in the row of the matrix above.",
        trace.labels("key"),
        weights.value[shared],
        mask.value[shared],
        asked=f"Query {settings.numbered_tokens[shared]}",
        teaches="What is hidden takes no share, so the keys that are seen share the whole 1.",
    ),
    covers=("weights", "context_vectors", *other_weights),
    about=("mask",),
)
if revealed:
    beat(
        view,
        "weights",
        "Weights",
        weights_words(mask.value),
        Matrix(trace["masked_scores"], mask=mask),
        "→",
        Matrix(weights, row_labels=False, mask=mask),
    )
    light(*share_verdict(trace, "minus_infinity"))
    beat(
        view,
        "context",
        "Context vectors",
        context_words(mask.value),
        Matrix(weights, mask=mask),
        "·",
        Matrix(trace["embeddings"]),
        "=",
        Matrix(trace["context_vectors"]),
    )

    st.header("Four ways to hide", anchor="ways")
    with st.container(width=760):
        st.markdown(
            "Some notebooks fill with 0, before the softmax or after it. Rows may still sum to 1 "
            "then, so that check alone sees nothing."
        )
if revealed and is_open(
    view,
    "leaks",
    Pick(
        words="Through which of these ways does a hidden token still change the context vectors "
        "of earlier queries?",
        choices=list(WAYS_TO_HIDE.values()),
        judge=lambda guess: judge_leaks(guess, settings),
        many=True,
        teaches="A 0 before softmax is a score like others, since e⁰ = 1. A 0 after softmax comes "
        "too late: the hidden score is in the sum that the others were divided by.",
    ),
    covers=other_weights,
):
    ways_to_hide(view)

if revealed:
    st.header("Dropout on the weights", anchor="dropout")
    with st.container(width=760):
        st.markdown(
            "In training, some weights are dropped by chance, so that no query relies on one key. "
            "The rest grows to make up for it."
        )
    dropout(view)

finish(view, *experiments)
