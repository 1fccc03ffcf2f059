"""The notebooks' numbers: what is chosen, and a match in units of the last printed digit."""

import torch

from attention_core.examples import EXAMPLES
from attention_core.largest_effect import largest_cell
from attention_core.operations import Given, ScaleBy, Subtract
from attention_core.published.building import traces
from attention_core.published.checking import check, written
from attention_core.published.printed import NOTEBOOKS, Result, entries, notebook
from attention_core.published.recipe import RECIPES
from attention_core.trace import Trace

from ...cards.common_questions import one_of
from ...cards.elements import equation
from ...cards.questions import Pick
from ...controls.shared import EXAMPLE, example_of
from ...picture.layout import Layout
from ...picture.matrix import Matrix
from ...reactive.control import Control, Values
from ...reactive.fields import Choice
from ...words import true_minus

NOTEBOOK = Control(
    "notebook",
    Choice({name: EXAMPLES[name].title for name in NOTEBOOKS}),
    "Notebook",
    lambda values: example_of(values).notebook or NOTEBOOKS[0],
)
CONTROLS = (EXAMPLE, NOTEBOOK)
"""No sentence among them: each result has its notebook's own settings."""

JUDGED = {
    "wild_cat": "context_all_matmul",
    "journey_123": "context_rand",
    "sorry_dave": "causal_scores_0",
    "life_is_short": "omega_1_all",
    "journey_789": "context_rand_unreseeded",
}
"""By notebook, the result that is taken apart: a whole print with a fixed number of decimals."""
CHOICES = ("Nothing", "At most half a unit", "At most one unit", "At most ten units")
RIGHT = 1


def judged(values: Values) -> Result:
    """The result of the chosen notebook that is taken apart."""
    return notebook(values.notebook).results[JUDGED[values.notebook]]


def trace_of(values: Values) -> Trace:
    """What is computed and printed, in units of the last digit, and what is left over."""
    result, trace_of_place = judged(values), traces()
    recipe = RECIPES[values.notebook][result.id]
    place = recipe.place
    whole = trace_of_place(place)
    axes = whole[place.step].axes[len(place.index) :]
    trace = Trace(**{axis: whole.labels(axis) for axis in axes})
    unit = 10**result.decimals
    computed = trace.step("computed", Given.of(recipe.value(trace_of_place)), axes=axes)
    in_units = trace.step("in_units", ScaleBy(unit), computed, axes=axes)
    whole_units = (torch.tensor(result.values, dtype=torch.float64) * unit).round()
    printed = trace.step("printed_units", Given.of(whole_units), axes=axes)
    trace.step("left_over", Subtract(), in_units, printed, axes=axes)
    return trace


def in_units_words(result: Result) -> str:
    """How its numbers are counted, with the first of them."""
    first = next(entries(result.values, len(result.shape)))
    unit = 10**result.decimals
    return (
        f"Count in units of the last printed digit: {1 / unit:g} is 1, so the first number, "
        f"printed as {true_minus(written(result, first))}, is "
        f"{true_minus(f'{round(first * unit):,}')}."
    )


def verdict(values: Values, trace: Trace) -> tuple[bool, str]:
    """Whether every entry matches, and how much is left over at most."""
    found = check(judged(values), trace["computed"].value)
    most = trace["left_over"].value.abs().max().item()
    words = f"{found.matching} of {found.published} entries match: at most {most:.2f} is left over"
    if found.by_slack:
        words += f", and {found.by_slack} of them need the slack between processors"
    return found.ok, f"{words}."


def units(trace: Trace) -> Layout:
    """Computed less printed, in units of the last printed digit."""
    lies = len(trace["left_over"].axes) == 1
    computed, printed, left = (
        Matrix(trace[name], transposed=lies) for name in ("in_units", "printed_units", "left_over")
    )
    return equation(trace, computed, "−", printed, "=", left, tall=240)


def question(values: Values, trace: Trace) -> Pick:
    """How much may be left over of two numbers that are the same but for the print; asked of the
    line with the entry of which most is left.
    """
    left = trace["left_over"]
    most = largest_cell(left.value)[0]
    decimals = judged(values).decimals
    truth = f"It is {CHOICES[RIGHT].lower()}, {0.5 / 10**decimals:.{decimals + 1}f} here."
    return one_of(
        f"The print has {decimals} decimals, rounded to the nearest. When a computed number is the "
        "printed one, how many units of its last digit can be left over?",
        CHOICES,
        RIGHT,
        truth,
        teaches="Whatever is farther away would have been rounded to another digit.",
        at={left.axes[0]: (most,)},
    )
