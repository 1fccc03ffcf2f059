"""What the lesson on several heads checks: three ways, a sum, PyTorch's own layer, the cost."""

import inspect

import streamlit as st
from torch import Tensor

from attention_core.mechanism.attention import scale_of
from attention_core.mechanism.head_ways import heads_one_by_one, stack_of_heads
from attention_core.mechanism.multi_head import torch_output, torch_width
from attention_core.recipes import PLURAL, HeadsRecipe
from attention_core.rounding import agree, difference
from attention_core.trace import Trace

from ...cards.questions import Pick, Verdict
from ...page.show import folded
from .heads import how_many


def ways_table(trace: Trace) -> str:
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
    return "| Way | Shape | Code |\n|---|---|---|\n" + "\n".join(
        f"| {way} | {' × '.join(shape)} | `{code}` |" for way, code, shape in rows
    )


def ways_agree(trace: Trace) -> list[tuple[bool, str]]:
    """The lights for the ways, with the largest differences."""
    roles = PLURAL.values()
    ways = (
        (
            "The loop over single heads, below, gives the same context vectors",
            [(stack_of_heads(trace), trace["head_context_vectors"].value)],
            "head_context_vectors",
        ),
        (
            "The batched product gives the same queries, keys and values",
            [(trace[f"permuted_{r}"].value, trace[f"head_{r}"].value) for r in roles],
            *(f"head_{r}" for r in roles),
        ),
        (
            "The big projection, split, gives the same queries",
            [(trace["split_queries"].value, trace["head_queries"].value)],
            "head_queries",
        ),
    )
    return [_agreement(trace, *way) for way in ways]


def show_loop() -> None:
    """The loop over heads, as it is written in the core."""
    with folded("The loop", "head_loop", ":material/code:") as is_open:
        if is_open:
            st.code(inspect.getsource(heads_one_by_one), language="python", wrap_lines=True)


def sum_agrees(trace: Trace) -> tuple[bool, str]:
    """The light for the output as a sum over heads."""
    return _agreement(
        trace,
        "The sum over heads is `concat @ W_output`",
        [(trace["output_from_heads"].value, trace["output"].value)],
        "output",
    )


def torch_agrees(trace: Trace) -> tuple[bool, str]:
    """The light for PyTorch's own layer, loaded with the matrices above."""
    return _agreement(
        trace,
        "`torch.nn.MultiheadAttention`, loaded with these matrices, gives the same output",
        [(torch_output(trace), trace["output"].value)],
        "output",
    )


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
        "padded with zeros, which changes no result"
    )
    if d_head != wide or scale_of(trace, "head_") != "sqrt_d":
        words += f", and `W_query` was scaled, because that layer divides by √{wide}"
    return f"{words}."


def _agreement(
    trace: Trace, words: str, pairs: list[tuple[Tensor, Tensor]], *names: str
) -> tuple[bool, str]:
    """The light for two ways to the steps of these names."""
    good = agree(pairs, *((trace, name) for name in names))
    return good, f"{words}: the largest difference is {difference(pairs):.1g}."


def cost_question(d_in: int, recipe: HeadsRecipe) -> Pick | None:
    """Which has more parameters, the heads or one wide head; None where there is one only."""
    if recipe.n_heads == 1:
        return None
    heads, wide = how_many(recipe.n_heads), one_wide(recipe)
    many, one = recipe.n_parameters(d_in), wide.n_parameters(d_in)
    found = f"{heads} have {many:,}, the one wide head {one:,}."
    return Pick(
        words=f"{heads} {widths(recipe)}, or one head {widths(wide)}: which has more parameters?",
        choices=(heads, "the one wide head", "neither: both have the same number"),
        judge=lambda guess: Verdict(guess[0] == 2, found),
        truth=lambda: f"Neither: {found}",
    )


def parameter_words(d_in: int, recipe: HeadsRecipe) -> str:
    """How many numbers training may change, and that one wide head has as many."""
    wide = one_wide(recipe)
    queries, values = recipe.n_heads * recipe.d_head, recipe.n_heads * recipe.d_value
    words = (
        f"`W_query`, `W_key` and `W_value` have {d_in} rows and {queries}, {queries} and {values} "
        f"columns; `W_output` is {values} × {recipe.d_model}. Together: "
        f"**{recipe.n_parameters(d_in):,} parameters**. "
    )
    if recipe.n_heads == 1:
        return words + (
            "There is only one head here. Choose more heads above, each as much narrower: the same "
            "columns are dealt out, and the number of parameters stays."
        )
    return words + (
        f"One head {widths(wide)} has {wide.n_parameters(d_in):,}: the columns are the same, only "
        "dealt out to more heads. So more heads need no more parameters and no more "
        "multiplications; only softmax runs once for each. The price: each sees a narrower query."
    )


def one_wide(recipe: HeadsRecipe) -> HeadsRecipe:
    """One head with the columns of all."""
    n_heads = recipe.n_heads
    return HeadsRecipe(1, n_heads * recipe.d_head, n_heads * recipe.d_value, recipe.d_model)


def widths(recipe: HeadsRecipe) -> str:
    """How wide a head is; its values have a width of their own where theirs differs."""
    values = f" and values of width {recipe.d_value}" if recipe.d_value != recipe.d_head else ""
    return f"of width {recipe.d_head}{values}"
