"""Build a head: the puzzle, the numbers typed into its matrices, and what holds."""

from torch import Tensor

from attention_core.experiments.build_a_head import (
    LONGEST,
    MATRICES,
    PUZZLES,
    WORDS,
    Edits,
    Found,
    Puzzle,
    build,
    holds,
    start_of,
)
from attention_core.trace import Trace

from ...controls import fields
from ...controls.shared import EXAMPLE
from ...reactive.control import Control, Values
from ...reactive.fields import Choice, Whole

BY_NAME = {each.name: each for each in PUZZLES}
N_HINTS = max(len(each.hints) for each in PUZZLES)
REACH = 20.0
"""How far the slider of a number goes at least."""
TYPED = tuple(name.replace("W_", "head_") for name in MATRICES)
"""The names of what is typed into each matrix."""


def puzzle_of(values: Values) -> Puzzle:
    """The puzzle that is chosen."""
    return BY_NAME[values.puzzle]


def _fits(sentence: str, values: Values) -> str | None:
    try:
        build(puzzle_of(values), sentence, {})
    except ValueError as error:
        return str(error)
    return None


def _typed_fit(matrix: str):
    def fits(edits: Edits, values: Values) -> str | None:
        table = start_of(puzzle_of(values), matrix)
        if any(row >= len(table) or column >= len(table[0]) for row, column, _ in edits):
            return f"an edited number lies outside {matrix}"
        return None

    return fits


PUZZLE = Control(
    "puzzle",
    Choice({name: f"… {each.does}" for name, each in BY_NAME.items()}),
    "Make a head that",
    PUZZLES[0].name,
    undoes=("head_sentence", "hints", "cell", *TYPED),
)
HEAD_SENTENCE = Control(
    "head_sentence",
    fields.Sentence(),
    "Your sentence",
    lambda values: puzzle_of(values).sentence,
    widget="text_input",
    check=_fits,
    undoes=("cell",),
    look={"help": f"Up to {LONGEST} of these words: {', '.join(WORDS)}."},
)
HINTS = Control("hints", Whole(0, N_HINTS + 1), "Hints", 0)
"""How many have been asked for; one more than there are is the answer."""
EDITS = tuple(
    Control(
        name,
        fields.Edits(),
        f"Numbers typed into {matrix} of the head",
        (),
        check=_typed_fit(matrix),
        changes=matrix,
        look={"reach": REACH},
    )
    for name, matrix in zip(TYPED, MATRICES, strict=True)
)
CONTROLS = (EXAMPLE, PUZZLE, HEAD_SENTENCE, HINTS, *EDITS)


def edits_of(values: Values) -> dict[str, Edits]:
    """What is typed into each matrix, by its name."""
    return {each.changes: values[each.name] for each in EDITS if values[each.name]}


def settings_of(edits: dict[str, Edits]) -> dict[str, Edits]:
    """The values of the controls with which just this is typed."""
    return {each.name: edits.get(each.changes, ()) for each in EDITS}


def trace_of(values: Values) -> Trace:
    """The lesson's trace."""
    return build(puzzle_of(values), values.head_sentence, edits_of(values))


def asks_first(values: Values) -> int:
    """The query that is shown first: the one for which the puzzle's answer changes most."""
    puzzle = puzzle_of(values)
    prefix = "second_" if puzzle.has_two_heads else ""
    before, after = (build(puzzle, values.head_sentence, edits) for edits in ({}, puzzle.answer))

    def moved(name: str) -> Tensor:
        return (after[name].value - before[name].value).abs().sum(dim=-1)

    by_query = moved(f"{prefix}weights") + moved(f"{prefix}context_vectors")
    return len(by_query) - 1 - int(by_query.flip(0).argmax())


def found(values: Values) -> tuple[Found, list[Found]]:
    """What holds on the visitor's sentence, and on each that is not shown."""
    puzzle, edits = puzzle_of(values), edits_of(values)
    own, *hidden = (holds(puzzle, each, edits) for each in (values.head_sentence, *puzzle.hidden))
    return own, hidden


def is_solved(values: Values) -> bool:
    """Whether it holds wherever the question arises."""
    own, hidden = found(values)
    return own[0] is not False and all(good for good, _ in hidden)
