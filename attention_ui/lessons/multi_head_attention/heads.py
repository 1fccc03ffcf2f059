"""What the lesson on several heads shows beside its heatmaps: controls, ways, checks."""

from collections.abc import Sequence

import streamlit as st
from torch import Tensor

from attention_core.examples import EXAMPLES
from attention_core.recipes import HeadsRecipe
from attention_core.trace import Step, Trace

from ...cards.questions import Verdict
from ...charts.parts import parts
from ...page.show import show
from ...page.view import View
from ...picture.equation_parts import NEW_LINE, Parts
from ...picture.matrix import Matrix
from ...settings import session
from ...settings.choices import MAX_JOINED
from ...settings.control import control, control_row
from ...settings.settings import HEADS, Settings
from ...words import listed

DRAWN_CELLS = 8_192
"""So many cells are drawn of the heads side by side; with more, the page would be slow."""


def choose_heads() -> None:
    """How many heads there are, and whether they may look at what comes later."""
    with control_row(vertical_alignment="top"):
        _choose("n_heads")
        control("causal_heads")


def choose_widths() -> None:
    """How wide each head is, and the seed that its matrices are drawn from."""
    with control_row(vertical_alignment="top"):
        for name in HEADS:
            if name != "n_heads":
                _choose(name)
        control("h_seed", width=204)


def _choose(name: str) -> None:
    """A control that offers what can be used, and says where another took it along."""
    with st.container(width=204):
        control(name)
        if (wanted := session.wanted(name)) is not None:
            st.caption(along_words(name, wanted, session.current()))


def along_words(name: str, wanted: int, now: Settings) -> str:
    """Why a size of the heads is not the one that was chosen."""
    words = f"{name} went from {wanted} to {getattr(now, name)}"
    if name == "d_model":
        return f"{words}, so that {how_many(now.n_heads)} can share it."
    return (
        f"{words}: {now.n_heads} heads of width {wanted} would be {now.n_heads * wanted} columns, "
        f"and at most {MAX_JOINED} fit."
    )


def widths_words(recipe: HeadsRecipe) -> str:
    """How wide the heads are, alone and joined."""
    words = (
        f"{how_many(recipe.n_heads)} with queries and keys of width {recipe.d_head} and values of "
        f"width {recipe.d_value}"
    )
    if recipe.n_heads * recipe.d_head == recipe.n_heads * recipe.d_value == recipe.d_model:
        if recipe.n_heads == 1:
            return f"{words}: it has all of d_model."
        shared = f"{recipe.n_heads} × {recipe.d_head} = {recipe.d_model}"
        return f"{words}: {shared}, so the heads share d_model."
    return (
        f"{words}. Joined they are {recipe.n_heads * recipe.d_value} wide, and `W_output` turns "
        f"that into a width of {recipe.d_model}."
    )


def how_many(count: int) -> str:
    return "1 head" if count == 1 else f"{count} heads"


def side_by_side(trace: Trace, name: str) -> tuple[Matrix, ...]:
    """All heads of a step; of very large ones the first."""
    step = trace[name]
    return tuple(Matrix(step, lead=(head,)) for head in range(n_drawn(step)))


def names_words(settings: Settings) -> str:
    """What the heads are called, where they were set by hand or trained; else ''."""
    given = settings.heads_recipe.given_for(settings.d_in)
    if given is None:
        return ""
    names = listed([f"**{head}** {name}" for head, name in enumerate(given.names)])
    if EXAMPLES[settings.example].is_trained:
        return (
            f"Nobody named these heads by hand. Measured on many texts, they are {names}: *A tiny "
            "language* shows the measurements."
        )
    return f"Each head was given a question of its own: {names}."


def added(matrices: Sequence[Matrix]) -> list[Matrix | str]:
    """Matrices with a plus between them."""
    return [part for matrix in matrices for part in ("+", matrix)][1:]


def n_drawn(step: Step) -> int:
    """How many heads of a step are drawn side by side."""
    return min(len(step.value), max(1, DRAWN_CELLS // step.value[0].numel()))


def left_out_words(step: Step) -> str:
    """Says so where not all heads are drawn; else ''."""
    shown, n_heads = n_drawn(step), len(step.value)
    if shown == n_heads:
        return ""
    return (
        f"Drawn here: {shown} of {n_heads} heads, to keep the page quick. Each can be chosen "
        "further down, and the tables have them all."
    )


def one_head(view: View, now: Settings) -> Parts:
    """One head from its queries to its context vectors, below a choice of the head."""
    head = choose_head(now)
    trace = view.trace

    def part(name: str, transposed: bool = False) -> Matrix:
        return Matrix(trace[f"head_{name}"], lead=(head,), transposed=transposed)

    names = ("scaled_scores", "masked_scores")
    ready = [each for name in names if f"head_{name}" in trace for each in ("→", part(name))]
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
    key = f"one_of_{now.n_heads}_heads"
    if st.session_state.get(key) != head:
        st.session_state[key] = head

    def choose() -> None:
        chosen, moved = st.session_state[key], {}
        if chosen is None:
            return  # no browser sends such; the head is chosen again
        if inside:
            step, (_, *rest) = inside[-1]
            moved = {"cell": ((step, (chosen, *rest)),)}
        session.change(head=chosen, **moved)

    return st.segmented_control(
        "Head", range(now.n_heads), key=key, required=True, on_change=choose
    )


def show_parts(view: View) -> None:
    """What each head gives to the open cell of the output; without one, to the first cell."""
    row, column = view.chosen("output_from_heads") or (view.settings.query, 0)
    shares = view.trace["head_outputs"].value[:, row, column].tolist()
    st.caption(f"What each head gives to `output[{row}, {column}]`. Choose another cell above.")
    show(parts(shares, f"output[{row}, {column}]"))


def judge_most(guess: int, added: Tensor) -> Verdict:
    """How a guess of the head that adds the longest vector does; equal ones are all right."""
    winners, named = adds_most(added)
    if guess in winners:
        return Verdict(True, f"Right: {named}.")
    length = added[guess].norm()
    return Verdict(False, f"It is {named}; what yours adds has a length of {length:.4f}.")


def adds_most(added: Tensor) -> tuple[list[int], str]:
    """The heads whose vectors (head, d_model) are longest, and that in words."""
    lengths = added.norm(dim=-1)
    most = lengths.max().item()
    winners = (lengths >= most - 1e-6).nonzero().flatten().tolist()
    return winners, " and ".join(f"head {head}" for head in winners) + f" ({most:.4f})"
