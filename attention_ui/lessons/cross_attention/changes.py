"""What changes beside self-attention: the shapes, and the roles when they are swapped."""

import streamlit as st
from torch import Tensor

from attention_core.mechanism.trainable import attend_trainable
from attention_core.text.embedding import embed
from attention_core.trace import Trace

from ...page.view import View
from ...settings.settings import Settings

COMPARED = ("queries", "keys", "values", "scores", "weights", "context_vectors")


def itself(settings: Settings) -> Trace:
    """Self-attention of the sentence that asks, with the same matrices."""
    return attend_trainable(embed(settings.inputs), settings.projections)


def show_changes(view: View) -> None:
    """A table of the steps of both."""
    st.markdown(shapes_table(view.trace, itself(view.settings)))


def shapes_table(across: Trace, alone: Trace) -> str:
    """Each step with its shape in both, and whether it has changed."""
    rows = []
    for name in (*(f"W_{role}" for role in ("query", "key", "value")), *COMPARED):
        before, now = alone[name].shape, across[name].shape
        same = alone[name].value.equal(across[name].value)
        kept = "the same numbers" if same else "other numbers"
        rows.append(f"| `{name}` | {before} | {now} | {kept} |")
    return (
        "| Step | Your sentence looks at itself | It looks at the source | What it holds |\n"
        "|---|---|---|---|\n" + "\n".join(rows)
    )


def swapped(trace: Trace) -> tuple[Tensor, Tensor]:
    """Weights with queries and keys both of the source, (key, key), and the values of the sentence
    that asks, (token, d_v): the roles as one published notebook has them.
    """
    source, own = trace["other_embeddings"].value, trace["embeddings"].value
    queries, keys = source @ trace["W_query"].value, source @ trace["W_key"].value
    return (queries @ keys.mT).softmax(dim=-1), own @ trace["W_value"].value


def swapped_words(trace: Trace) -> str:
    """What comes of the roles swapped, as torch says it: an error, or vectors of nobody's."""
    weights, values = swapped(trace)
    n_own, n_source = len(values), len(weights)
    shapes = (
        f"Then the weights are {n_source} × {n_source}: the source looks at itself. The values are "
        f"{n_own} × {values.shape[-1]}, a row for each token of your sentence. "
    )
    try:
        made = weights @ values
    except RuntimeError:
        return (
            f"{shapes}Weights and values do not fit: each row of weights shares itself out among "
            f"{n_source} tokens, but there are {n_own} values. torch stops with an error, which "
            "is lucky: with two sentences of the same length it would run, and be wrong."
        )
    return (
        f"{shapes}Both sentences have {n_own} tokens, so nothing stops: {len(made)} context "
        "vectors come out. But a weight for one word of the source is put on the word of your "
        "sentence that happens to stand at the same place."
    )


def show_swapped(trace: Trace) -> None:
    """That in words, and torch's own message where it stops."""
    st.code(
        "queries = other_embeddings @ W_query  # should be embeddings\n"
        "keys = other_embeddings @ W_key\n"
        "values = embeddings @ W_value  # should be other_embeddings",
        language="python",
        wrap_lines=True,
    )
    st.markdown(swapped_words(trace))
    weights, values = swapped(trace)
    try:
        weights @ values
    except RuntimeError as error:
        st.code(str(error), language=None, wrap_lines=True)
