"""A light: one property of attention, and whether it holds. Needs the standard library alone."""

from typing import NamedTuple

TITLES = {
    "runs": "It runs, and its output has one vector for each token",
    "finite": "Large scores give finite weights",
    "rows_sum_to_1": "Every row of weights sums to 1",
    "not_negative": "No weight is below 0",
    "hidden_is_zero": "Hidden keys get no weight",
    "seen_has_weight": "Every key that may be seen gets some weight",
    "no_leak": "Later tokens change nothing before them",
    "own_row": "Changing one query changes only its own row of weights",
    "variance": "Scores spread equally far, however wide the vectors are",
    "tokens_apart": "Outside attention, each token is worked on by itself",
    "order_free": "Reordered tokens give the same vectors, reordered",
    "any_length": "It takes a sentence of any length",
    "repeatable": "The same input twice gives the same output",
    "both_signs": "The output goes below 0 as well as above",
    "formula": "With any numbers, it gives softmax(q·k/√d) times the values x·W_v",
    "second_text": "Queries come from the first text, keys and values from the second",
    "texts_apart": "Texts that are given together come out as each does alone",
    "padding": "Padded tokens get no weight",
    "cached": "Token by token, with its cache, gives what one pass gives",
    "learns": "Gradients reach every matrix that is used",
    "slopes": "Each gradient is how the loss moves when an entry moves",
    "gradient_rows": "The gradient of each row of scores sums to 0",
    "hidden_learn_nothing": "Nothing flows back to a hidden score",
    "ids": "Equal tokens have equal ids, and no id is skipped",
}
"""The lights in the order in which they are looked at, by name: what each says when it is green."""

OF_GRADIENTS = ("slopes", "gradient_rows", "hidden_learn_nothing")
"""Lights of a trace that has a backward pass."""
OF_WEIGHTS = ("rows_sum_to_1", "not_negative", "hidden_is_zero", "seen_has_weight")
"""Lights that look at the weights."""
OF_CODE = ("runs", "formula", "second_text", "texts_apart", "padding", "cached", "learns")
"""Lights of code that is called: a trace shows what it is made of, and is one text."""


class Light(NamedTuple):
    """One property of one computation."""

    name: str
    """A key of `TITLES`."""
    holds: bool | None
    """Whether it holds; None where nothing asks, or, with a `step`, where off as meant to be."""
    evidence: str
    """The number that was measured, in one sentence. Never holds a person's text."""
    step: str = ""
    """The step in which it shows first, where the computation is a trace."""

    @property
    def title(self) -> str:
        """What it says when it is green."""
        return TITLES[self.name]
