"""Why divide by √d: its controls, and its trace as a function of their values."""

from collections.abc import Mapping

from attention_core.experiments.saturation import N_KEYS, Effect
from attention_core.experiments.variance import Trials, few_trials
from attention_core.operations import Given
from attention_core.operations.base import Meaning
from attention_core.trace import Trace

from ...controls.shared import EXAMPLE, seed_of
from ...picture.layout import Layout, equation
from ...picture.matrix import Matrix
from ...reactive.control import Control, Values
from ...reactive.fields import Choice, Decimal, Whole

WIDTHS = (*range(1, 9), 12, 16, 24, 32, 48, 64, 100, 128, 256, 512, 768, 1_024, 2_048, 4_096)
TRIAL_COUNTS = (10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000)
DRAW_SEED = seed_of("draw_seed", "Seed of this lesson", 0)
VECTOR_WIDTH = Control("vector_width", Whole.among(*WIDTHS), "Width d", 128)
TRIALS = Control("trials", Whole.among(*TRIAL_COUNTS), "Trials", 1_000, shown="{:,}")
ENTRIES = Control(
    "entries",
    Choice(
        {"normal": "Normal", "uniform": "Uniform around 0", "uniform_0_1": "Uniform from 0 to 1"}
    ),
    "Entries",
    "normal",
    widget="selectbox",
)
SPREAD = Control(
    "spread", Decimal(0.1, 5), "Standard deviation of the entries", 1.0, look={"step": 0.1}
)
VARIANCE_VIEW = Control(
    "variance_view",
    Choice({"histogram": "q·k, many times", "width": "Variance against d"}),
    "Look at",
    "histogram",
)
CONTROLS = (EXAMPLE, DRAW_SEED, VECTOR_WIDTH, TRIALS, ENTRIES, SPREAD, VARIANCE_VIEW)
"""The sentence plays no part: the example only says whose notebook is quoted."""


def trace_of(values: Values) -> Trace:
    """The lesson's trace: a few trials, each a dot product of random vectors."""
    return few_trials(values.draw_seed)


def trials_of(values: Values) -> Trials:
    """What is drawn many times."""
    return Trials(
        values.vector_width, values.trials, values.entries, values.spread, values.draw_seed
    )


def by_divisor(d: int, effects: Mapping[str, Effect]) -> Layout:
    """What softmax makes of scores of width `d`, a row a divisor: mean weights, and gradient."""
    most = max(each.gradient_norm for each in effects.values())
    trace = Trace(
        divisor=("nothing", f"√{d:,}", f"d={d:,}"), rank=[f"#{at + 1}" for at in range(N_KEYS)]
    )
    weights = Given(tuple(each.sorted_weights for each in effects.values()))
    sizes = Given(tuple(each.gradient_norm / most for each in effects.values()))
    shown = (
        Matrix(
            trace.step("weights", weights, axes=("divisor", "rank"), meaning=Meaning.SHARES),
            title="mean weights, largest first",
        ),
        Matrix(
            trace.step("gradient", sizes, axes=("divisor",)),
            title="gradient, the largest = 1",
            as_bars=True,
            row_labels=False,
        ),
    )
    return equation(trace, shown[0], "", shown[1])
