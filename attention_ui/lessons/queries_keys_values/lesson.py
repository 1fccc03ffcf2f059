"""Queries, keys and values: the controls, and traces as functions of their values."""

from attention_core.experiments import training
from attention_core.experiments.trained import attend_trained
from attention_core.mechanism.simplified import SimplifiedOptions, attend
from attention_core.mechanism.trainable import add_other_ways, attend_trainable, expand_token
from attention_core.text.embedding import embed
from attention_core.trace import Trace

from ...controls import shared
from ...controls.shared import SEEDS as OF_EACH
from ...reactive.control import Control, Values
from ...reactive.fields import Decimal, Flag, Whole

STEPS_OFFERED = (10, 100, 200, 500, 1_000, 2_000, 5_000)
RATES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 100.0, 1_000.0)
WIDTHS = (1, 2, 4, 8, 16, 32, 64)
MOST_SHOWN = 40
"""Recorded steps that a training can be moved through."""


SEEDS = (shared.W_SEED, *OF_EACH)
"""Of all three matrices, and of each."""
OWN_KEYS = Control(
    "own_keys",
    Decimal(0, 1),
    "Keys: W_query (0) to W_key (1)",
    1.0,
    of_page=True,
    look={"step": 0.05},
)
STEPS = Control("steps", Whole.among(*STEPS_OFFERED), "Training steps", 2_000)
RATE = Control(
    "rate",
    Decimal(0.01, 1_000, RATES),
    "Learning rate",
    lambda values: shared.example_of(values).learning_rate,
)
T_WIDTH = Control("t_width", Whole.among(*WIDTHS), "Width of the trained layer", 32)
T_SCALED = Control("t_scaled", Flag(), "Divide by √d in training", True)


def steps_shown(values: Values) -> tuple[int, ...]:
    """The recorded steps that a training can be moved through, the last among them."""
    tokens = shared.inputs_of(values).tokens
    steps = training.recorded_steps(recipe_of(values), len(tokens), values.d_in, len({*tokens}))
    last = len(steps) - 1
    n = min(MOST_SHOWN, len(steps))
    return tuple(dict.fromkeys(steps[round(at * last / max(n - 1, 1))] for at in range(n)))


TRAINED = Control(
    "trained",
    Whole(0, 5_000),
    "Move through the training",
    lambda values: values.steps,
    options=lambda values: {step: f"{step:,}" for step in steps_shown(values)},
    of_page=True,
)
OF_TRAINING = (STEPS, RATE, T_WIDTH, shared.seed_of("t_seed", "Seed of the training", 28), T_SCALED)
MAKES_WEIGHTS = (*shared.MAKES_VECTORS, *shared.PROJECTED)
CONTROLS = (*(*MAKES_WEIGHTS, shared.TOKEN, OWN_KEYS), *(*OF_TRAINING, TRAINED))


def trace_of(values: Values) -> Trace:
    """The lesson's trace."""
    trace = attend_trainable(embed(shared.inputs_of(values)), shared.projections_of(values))
    return add_other_ways(expand_token(trace, values.token))


def of_embeddings(values: Values) -> Trace:
    """Simplified attention on the same sentence: each embedding compared with each."""
    return attend(
        embed(shared.inputs_of(values)), SimplifiedOptions(divide=shared.example_of(values).divide)
    )


def with_own_keys(embedded: Trace, values: Values, own: float) -> Trace:
    """The same attention with keys that are made by so much of W_key, and the rest of W_query."""
    return attend_trainable(embedded.branch(), shared.projections_of(values), own_keys=own)


def wrong_axis(values: Values) -> Trace:
    """The mistake of a softmax down the columns."""
    return attend_trainable(
        embed(shared.inputs_of(values)), shared.projections_of(values), softmax_dim=-2
    )


def drawn_again(values: Values) -> Trace | None:
    """What a notebook gets that draws its matrices again without a new seed; None for others."""
    again = shared.example_of(values).drawn_again
    return attend_trainable(embed(shared.inputs_of(values)), again) if again else None


def recipe_of(values: Values) -> training.TrainingSettings:
    """How to train."""
    return training.TrainingSettings(
        steps=values.steps,
        learning_rate=values.rate,
        seed=values.t_seed,
        width=values.t_width,
        scaled=values.t_scaled,
    )


def untrained(values: Values) -> training.TrainingRecord:
    """The layer before its first step."""
    inputs = shared.inputs_of(values)
    vectors = embed(inputs)["embeddings"].value
    return next(training.train(vectors, training.next_tokens(inputs.tokens), recipe_of(values)))


def trained(embedded: Trace, record: training.TrainingRecord, values: Values) -> Trace:
    """The layer as it was at a recorded step, number by number."""
    return attend_trained(embedded.branch(), record.matrices, values.t_scaled)
