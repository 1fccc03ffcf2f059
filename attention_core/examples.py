"""The five published notebooks as data: what they read, in which order they draw.

Choosing an example sets all of this, so that the numbers on screen are the notebook's own.
`sorry_dave` was run twice before it was saved, and its printed numbers come from both runs: the
second run continues the generator 652,920 numbers further on. Each run is an example here.
"""

from dataclasses import dataclass, replace

from .inputs import Inputs

JOURNEY_VECTORS = (
    ("Your", (0.43, 0.15, 0.89)),
    ("journey", (0.55, 0.87, 0.66)),
    ("starts", (0.57, 0.85, 0.64)),
    ("with", (0.22, 0.58, 0.33)),
    ("one", (0.77, 0.25, 0.10)),
    ("step", (0.05, 0.80, 0.55)),
)
SORRY_DAVE_SEED = 2986341418
"""Recovered from the printed numbers; the notebook sets none."""


@dataclass(frozen=True)
class Example:
    """A worked example: its notebook, the inputs that reproduce it, and what it is about."""

    name: str
    title: str
    about: str
    notebook: str
    """The name of its data in `attention_core.published`."""
    inputs: Inputs
    divide: str = "none"
    """What its simplified attention divides the scores by: `none` or `sqrt_d`."""
    query: int = 0
    """The row that its notebook looks at first."""


_SORRY_DAVE = Inputs(
    "Sorry Dave, I'm afraid I can't do that.",
    tokenizer="blanks",
    vocabulary="random",
    seed=SORRY_DAVE_SEED,
    d_in=32,
)
_JOURNEY = Inputs(
    "Your journey starts with one step",
    tokenizer="blanks",
    reserved=0,
    seed=123,
    vectors=JOURNEY_VECTORS,
)

EXAMPLES = {
    example.name: example
    for example in (
        Example(
            "wild_cat",
            "The dog attacks the wild cat",
            "Blanks are tokens of their own, and vectors have 3 entries.",
            "wild_cat",
            Inputs("The dog attacks the wild cat", tokenizer="blanks_kept", seed=69),
        ),
        Example(
            "journey_123",
            "Your journey starts with one step",
            "Six given vectors of 3 entries.",
            "journey_123",
            _JOURNEY,
            query=1,
        ),
        Example(
            "sorry_dave",
            "Sorry Dave, I'm afraid I can't do that.",
            "Random ids into a table of 20,000 rows, vectors of 32, scores divided by √32.",
            "sorry_dave",
            replace(_SORRY_DAVE, skipped_draws=652_920),
            divide="sqrt_d",
            query=3,
        ),
        Example(
            "sorry_dave_first_run",
            "Sorry Dave, the notebook's first run",
            "The same cells run once before, without the division: the printed context vector.",
            "sorry_dave",
            _SORRY_DAVE,
            query=3,
        ),
        Example(
            "life_is_short",
            "Life is short, eat dessert first is life",
            "Repeated words, vectors of 16, and a vocabulary with holes.",
            "life_is_short",
            Inputs(
                "Life is short, eat dessert first is life",
                tokenizer="lower_words",
                vocabulary="duplicates",
                seed=42,
                d_in=16,
            ),
        ),
        Example(
            "journey_789",
            "Your journey starts with one step, told again",
            "The same six vectors, as another notebook has them.",
            "journey_789",
            _JOURNEY,
            query=1,
        ),
    )
}
