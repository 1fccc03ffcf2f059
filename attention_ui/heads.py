"""What the lesson on several heads shows beside its heatmaps: controls, ways, checks."""

import inspect
from collections.abc import Sequence

import streamlit as st
from torch import Tensor

from attention_core.head_ways import heads_one_by_one, stack_of_heads
from attention_core.multi_head import torch_output
from attention_core.recipes import PLURAL, HeadsRecipe
from attention_core.trace import Step, Trace

from . import session
from .beats import NEW_LINE
from .charts.heatmap import Matrix
from .charts.parts import parts
from .predict import Verdict, is_open
from .problems import say_problem
from .settings import MAX_HEAD_WIDTH, MAX_HEADS, MAX_WIDTH, Settings
from .show import folded, light, show
from .view import View

DRAWN_CELLS = 8_192
"""So many cells are drawn of the heads side by side; with more, the page would be slow."""


def choose_heads(settings: Settings) -> None:
    """The controls that make the heads, and how wide each of them is."""
    with st.container(horizontal=True, vertical_alignment="top", gap="medium"):
        for label, name, least, most, about in (
            ("Heads", "heads", 1, MAX_HEADS, None),
            ("Width of the output, d_model", "d_model", 1, MAX_WIDTH, None),
            ("Width of a head, d_head", "d_head", 0, MAX_HEAD_WIDTH, "0 shares d_model evenly."),
            ("of its values, d_value", "d_value", 0, MAX_HEAD_WIDTH, "0 shares d_model evenly."),
        ):
            with st.container(width=204):
                session.control(st.slider, label, name, min_value=least, max_value=most, help=about)
                say_problem(name)
        session.control(st.toggle, "Causal: hide what comes later", "causal_heads")
        with st.container(width=204):
            session.control(
                st.text_input, "Seed of the matrices", "h_seed", placeholder="as the example"
            )
            say_problem("h_seed")
    recipe = settings.heads_recipe
    shared = recipe.n_heads * recipe.d_head == recipe.d_model
    st.markdown(
        f"{_heads(recipe.n_heads)} with queries and keys of width {recipe.d_head} and values of "
        f"width {recipe.d_value}"
        + (
            f": {recipe.n_heads} × {recipe.d_head} = {recipe.d_model}, so the heads share d_model."
            if shared
            else f". Joined they are {recipe.n_heads * recipe.d_value} wide, and `W_output` makes "
            f"{recipe.d_model} of it."
        )
    )


def _heads(count: int) -> str:
    return "1 head" if count == 1 else f"{count} heads"


def side_by_side(trace: Trace, name: str) -> tuple[Matrix, ...]:
    """All heads of a step; of very large ones the first."""
    step = trace[name]
    return tuple(Matrix(step, lead=(head,)) for head in range(n_drawn(step)))


def added(matrices: Sequence[Matrix]) -> list[Matrix | str]:
    """Matrices with a plus between them."""
    return [part for matrix in matrices for part in ("+", matrix)][1:]


def n_drawn(step: Step) -> int:
    """How many heads of a step are drawn side by side."""
    return min(len(step.value), max(1, DRAWN_CELLS // step.value[0].numel()))


def say_left_out(step: Step) -> None:
    """Say so where not all heads are drawn."""
    shown, n_heads = n_drawn(step), len(step.value)
    if shown < n_heads:
        st.caption(
            f"Drawn here: {shown} of {n_heads} heads, to keep the page quick. Each can be chosen "
            "further down, and the tables have them all."
        )


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
        "| Way | Code | Shape |\n|---|---|---|\n"
        + "\n".join(f"| {way} | `{code}` | {' × '.join(shape)} |" for way, code, shape in rows)
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


def _agreement(words: str, pairs: list[tuple[Tensor, Tensor]], tolerance: float = 1e-5) -> None:
    far = max((one - other).abs().max().item() for one, other in pairs)
    largest = max(1.0, *(other.abs().max().item() for _, other in pairs))
    light(far <= tolerance * largest, f"{words}: the largest difference is {far:.1g}.")


def one_head(view: View, now: Settings) -> tuple[Matrix | str, ...]:
    """One head from its queries to its context vectors, below a choice of the head."""
    head = choose_head(now)
    trace = view.trace

    def part(name: str, row_labels: bool = True, transposed: bool = False) -> Matrix:
        step = trace[f"head_{name}"]
        return Matrix(step, lead=(head,), row_labels=row_labels, transposed=transposed)

    ready: list[Matrix | str] = []
    for name in ("scaled_scores", "masked_scores"):
        if f"head_{name}" in trace:
            ready += ["→", part(name, row_labels=not ready)]
    lines = (
        (part("queries"), "·", part("keys", transposed=True), "=", part("scores")),
        ready,
        ("→", part("weights"), "·", part("values"), "=", part("context_vectors")),
    )
    return tuple(part for line in lines if line for part in (*line, NEW_LINE))[:-1]


def choose_head(now: Settings) -> int:
    """A choice of the head that is looked at. An open cell goes along to the other head."""
    trail = now.cell if now.beat == "one_head" and now.cell else ()
    inside = [place for place in trail if place[0].startswith("head_")]
    head = inside[-1][1][0] if inside else now.head
    key = f"one_of_{now.heads}_heads"
    if st.session_state.get(key) != head:
        st.session_state[key] = head

    def choose() -> None:
        chosen = int(st.session_state[key])
        moved = {}
        if inside:
            step, (_, *rest) = inside[-1]
            moved = {"cell": ((step, (chosen, *rest)),)}
        session.change(head=chosen, **moved)

    return st.segmented_control("Head", range(now.heads), key=key, required=True, on_change=choose)


def show_parts(view: View) -> None:
    """What each head gives to the open cell of the output; without one, to the first cell."""
    row, column = view.chosen("output_from_heads") or (view.settings.query, 0)
    shares = view.trace["head_outputs"].value[:, row, column].tolist()
    st.caption(f"What each head gives to `output[{row}, {column}]`. Choose another cell above.")
    show(parts(shares, f"output[{row}, {column}]"))


def judge_largest(guess: int, weights: Tensor) -> Verdict:
    """How a guess of the head with the largest weight does; equal ones are all right."""
    largest = weights.flatten(1).max(dim=-1).values
    best = largest.max().item()
    winners = (largest >= best - 1e-6).nonzero().flatten().tolist()
    named = " and ".join(f"head {head}" for head in winners) + f" ({best:.4f})"
    if guess in winners:
        return Verdict(True, f"Right: {named}.")
    return Verdict(False, f"It is {named}; the largest weight of yours is {largest[guess]:.4f}.")


def show_parameters(view: View, recipe: HeadsRecipe) -> None:
    """How many numbers training may change, and that one wide head has as many."""
    d_in, n_heads = view.settings.width, recipe.n_heads
    wide = HeadsRecipe(1, n_heads * recipe.d_head, n_heads * recipe.d_value, recipe.d_model)
    many, one = recipe.n_parameters(d_in), wide.n_parameters(d_in)
    choices = (_heads(n_heads), "the one wide head", "neither: both have the same number")
    if n_heads > 1 and not is_open(
        view,
        "parameters",
        f"{_heads(n_heads)} of width {recipe.d_head}, or one head of width {wide.d_head}: which "
        "has more parameters?",
        choices,
        lambda guess: Verdict(
            guess[0] == 2, f"{_heads(n_heads)} have {many:,}, the one wide head {one:,}."
        ),
        covers=(),
    ):
        return
    st.markdown(
        f"`W_query`, `W_key` and `W_value` have {d_in} rows and {n_heads * recipe.d_head}, "
        f"{n_heads * recipe.d_head} and {n_heads * recipe.d_value} columns; `W_output` is "
        f"{n_heads * recipe.d_value} × {recipe.d_model}. Together: **{many:,} parameters**. One "
        f"head of width {wide.d_head} has {one:,}: the columns are the same, only dealt out to "
        "more heads. Heads cost no parameters, but each sees a narrower query."
    )
