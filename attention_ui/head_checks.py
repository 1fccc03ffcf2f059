"""What the lesson on several heads checks: three ways, a sum, PyTorch's own layer, the cost."""

import inspect

import streamlit as st
from torch import Tensor

from attention_core.attention import scale_of
from attention_core.head_ways import heads_one_by_one, stack_of_heads
from attention_core.multi_head import torch_output, torch_width
from attention_core.recipes import PLURAL, HeadsRecipe
from attention_core.trace import Trace

from .heads import how_many
from .predict import is_open
from .questions import Pick, Verdict
from .show import folded, light
from .view import View


def show_ways(trace: Trace) -> None:
    """The stages of three ways to the queries of all heads, each with its shape."""
    n_heads = trace.size("head")
    one = trace["head_queries"]
    alone = [f"{axis} {trace.size(axis)}" for axis in one.axes[1:]]
    rows = [
        ("Head by head", f"queries = embeddings @ head_W_query[h]  # h = 0 … {n_heads - 1}", alone),
        ("", "torch.stack([...])", [one.shape]),
    ]
    for way, names in (
        ("Batched product", ("repeated_embeddings", "batched_queries", "permuted_queries")),
        ("One big projection", ("joined_queries", "split_queries")),
    ):
        for place, name in enumerate(names):
            rows.append(("" if place else way, trace[name].code, [trace[name].shape]))
    st.markdown(
        "| Way | Shape | Code |\n|---|---|---|\n"
        + "\n".join(f"| {way} | {' × '.join(shape)} | `{code}` |" for way, code, shape in rows)
    )


def say_ways_agree(trace: Trace) -> None:
    """The lights for the ways, with the largest differences."""
    roles = PLURAL.values()
    for words, pairs in (
        (
            "The loop over single heads, below, gives the same context vectors",
            [(stack_of_heads(trace), trace["head_context_vectors"].value)],
        ),
        (
            "The batched product gives the same queries, keys and values",
            [(trace[f"permuted_{r}"].value, trace[f"head_{r}"].value) for r in roles],
        ),
        (
            "The big projection, split, gives the same queries",
            [(trace["split_queries"].value, trace["head_queries"].value)],
        ),
    ):
        _agreement(words, pairs)
    with folded("The loop", "head_loop", ":material/code:") as is_open:
        if is_open:
            st.code(inspect.getsource(heads_one_by_one), language="python")


def say_sum_agrees(trace: Trace) -> None:
    """The light for the output as a sum over heads."""
    _agreement(
        "The sum over heads is `concat @ W_output`",
        [(trace["output_from_heads"].value, trace["output"].value)],
    )


def say_torch_agrees(trace: Trace) -> None:
    """The light for PyTorch's own layer, loaded with the matrices above."""
    _agreement(
        "`torch.nn.MultiheadAttention`, loaded with these matrices, gives the same output",
        [(torch_output(trace), trace["output"].value)],
        tolerance=1e-4,
    )
    st.markdown(torch_words(trace))


def torch_words(trace: Trace) -> str:
    """What was done to load matrices of any widths into PyTorch's layer, which has one width for
    everything; '' where they fit as they are.
    """
    wide, n_heads = torch_width(trace), trace.size("head")
    d_head, d_value = (trace[f"head_W_{role}"].value.shape[-1] for role in ("query", "value"))
    sizes = {trace.size("d_in"), trace["W_output"].value.shape[-1]}
    if {d_head, d_value} == {wide} and sizes == {n_heads * wide}:
        return ""
    words = (
        f"That layer has one width for everything, here {n_heads} × {wide}. So the matrices were "
        "filled up with zeros, which changes no result"
    )
    if d_head != wide or scale_of(trace, "head_") != "sqrt_d":
        words += f", and `W_query` was stretched to make up for a division by √{wide}"
    return f"{words}."


def _agreement(words: str, pairs: list[tuple[Tensor, Tensor]], tolerance: float = 1e-5) -> None:
    far = max((one - other).abs().max().item() for one, other in pairs)
    largest = max(1.0, *(other.abs().max().item() for _, other in pairs))
    light(far <= tolerance * largest, f"{words}: the largest difference is {far:.1g}.")


def show_parameters(view: View, recipe: HeadsRecipe) -> None:
    """How many numbers training may change, and that one wide head has as many."""
    d_in, n_heads = view.settings.width, recipe.n_heads
    wide = HeadsRecipe(1, n_heads * recipe.d_head, n_heads * recipe.d_value, recipe.d_model)
    many, one = recipe.n_parameters(d_in), wide.n_parameters(d_in)
    choices = (how_many(n_heads), "the one wide head", "neither: both have the same number")
    one_wide = f"one head {_widths(wide)}"
    if n_heads > 1 and not is_open(
        view,
        "parameters",
        Pick(
            words=f"{how_many(n_heads)} {_widths(recipe)}, or {one_wide}: which has more "
            "parameters?",
            choices=choices,
            judge=lambda guess: Verdict(
                guess[0] == 2, f"{how_many(n_heads)} have {many:,}, the one wide head {one:,}."
            ),
        ),
        about=("W_query", "W_output"),
    ):
        return
    st.markdown(
        f"`W_query`, `W_key` and `W_value` have {d_in} rows and {n_heads * recipe.d_head}, "
        f"{n_heads * recipe.d_head} and {n_heads * recipe.d_value} columns; `W_output` is "
        f"{n_heads * recipe.d_value} × {recipe.d_model}. Together: **{many:,} parameters**. "
        + (
            f"{one_wide.capitalize()} has {one:,}: the columns are the same, only dealt out to "
            "more heads. Heads cost no parameters, but each sees a narrower query."
            if n_heads > 1
            else "There is only one head here. Choose more of them above, and narrower ones by as "
            "much: the same columns are dealt out, and the number stays."
        )
    )


def _widths(recipe: HeadsRecipe) -> str:
    """How wide a head is; its values have a width of their own where theirs differs."""
    values = f" and values of width {recipe.d_value}" if recipe.d_value != recipe.d_head else ""
    return f"of width {recipe.d_head}{values}"
