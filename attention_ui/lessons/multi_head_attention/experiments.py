"""Experiments of the lesson on several heads: one switched off, and two common mistakes."""

from dataclasses import replace

import pandas as pd
import streamlit as st

from attention_core.mechanism.head_ways import Piece, pieces
from attention_core.mechanism.multi_head import attend_heads, switch_off
from attention_core.operations import Subtract
from attention_core.rounding import agree, difference
from attention_core.text.embedding import embed
from attention_core.text.tokenizers import visible
from attention_core.trace import Trace

from ...page.equation import equation
from ...page.show import light
from ...page.view import View
from ...picture.matrix import Matrix
from ...settings import session
from ...settings.control import control, control_row
from ...settings.settings import Settings
from .heads import left_out_words, side_by_side


def without_a_head(settings: Settings) -> Trace:
    """The lesson's trace with one head switched off, and what the output loses by it."""
    trace = switch_off(
        attend_heads(embed(settings.inputs), settings.heads_recipe), settings.head_off
    )
    given = (trace["output"], trace["output_left"])
    trace.step("output_lost", Subtract(), *given, axes=given[0].axes)
    return trace


def heads_compete(settings: Settings) -> Trace:
    """The lesson's trace with a softmax over the heads instead of the keys, and no mask."""
    recipe = replace(settings.heads_recipe, causal=False)
    return attend_heads(embed(settings.inputs), recipe, softmax_dim=-3)


def switch_a_head_off(view: View) -> None:
    """The output with all heads, without one, and the difference."""
    settings = session.current()
    control("head_off")
    settings = session.current()
    off = settings.head_off
    trace = without_a_head(settings)
    equation(view.beside(trace), "off", trace["output_lost"])
    lost = trace["output_lost"].value
    pairs = [(lost, view.trace["head_outputs"].value[off])]
    most = int(lost.norm(dim=-1).argmax())
    light(
        agree(pairs, (view.trace, "head_outputs"), (trace, "output_lost")),
        f"What is lost is `head_outputs[{off}]`, and nothing else: the largest difference is "
        f"{difference(pairs):.1g}. The output of token {most} changes most, by a vector of length "
        f"{lost[most].norm():.4f}.",
    )


def split_wrongly(view: View) -> None:
    """The right split, or a reshape without a transpose: where each number of a head came from, and
    how many rows are right.
    """
    with control_row():
        control("cut_by")
        control("head_cut")
    settings = session.current()
    head, is_wrong = settings.head_cut, settings.cut_by == "reshape"
    trace = view.trace
    made, good = trace["mixed_queries" if is_wrong else "split_queries"], trace["split_queries"]
    same = made.value[head].equal(good.value[head])
    equation(
        view,
        "mixed",
        Matrix(trace["joined_queries"]),
        "→",
        Matrix(made, lead=(head,), tells_origins=True),
        "=" if same else "≠",
        Matrix(good, lead=(head,), tells_origins=True),
    )
    n_heads = trace.size("head")
    shape = trace["joined_queries"].value.shape
    rows, meant = (pieces(step.operation, *shape) for step in (made, good))
    right = sum(rows[h][i] == meant[h][i] for h in range(n_heads) for i in range(shape[0]))
    columns, tokens = trace.labels("d_queries"), trace.labels("token")
    st.dataframe(
        pd.DataFrame(
            {
                "row of this head": [f"{i}: {visible(token)}" for i, token in enumerate(tokens)],
                "holds": [
                    "; ".join(_told(piece, tokens, columns) for piece in row) for row in rows[head]
                ],
                "right": [row == good for row, good in zip(rows[head], meant[head], strict=True)],
            }
        ),
        hide_index=True,
        width="content",
        height=min(35 * (len(tokens) + 1) + 3, 420),
    )
    total = n_heads * shape[0]
    light(
        right == total,
        f"{right} of {total} rows, in all heads, hold what they should."
        + (
            " With one head, or one token, there is nothing to mix up."
            if is_wrong and right == total
            else ""
        ),
    )


def _told(piece: Piece, tokens: tuple[str, ...], columns: tuple[str, ...]) -> str:
    """A piece in words, such as `query 0 (The), h0·d0 to h0·d1`."""
    ends = dict.fromkeys((columns[piece.first], columns[piece.last]))
    return f"query {piece.token} ({visible(tokens[piece.token])}), {' to '.join(ends)}"


def compete(wrong: View) -> None:
    """The weights where heads compete for each cell, and what they sum to."""
    weights = wrong.trace["head_weights"]
    equation(wrong, "compete", *side_by_side(wrong.trace, "head_weights"))
    if words := left_out_words(weights):
        st.caption(words)
    n_heads, n_queries, n_keys = weights.value.shape
    sums = weights.value.sum(dim=-1)
    light(
        bool(((sums - 1).abs() < 1e-5).all()),
        f"Rows sum to {sums.min():.4f} up to {sums.max():.4f} instead of 1. All weights together "
        f"sum to {weights.value.sum():.4g}, 1 for each of {n_queries} × {n_keys} pairs of query "
        f"and key; it should be {n_heads * n_queries}, 1 per row of each head.",
    )
