"""The five published notebooks as data: what they read, in which order they draw.

Choosing an example sets all of this, so that the numbers on screen are the notebook's own.
`sorry_dave` was run twice before it was saved, and its printed numbers come from both runs: the
second run continues the generator 652,920 numbers further on. Each run is an example here.
"""

from dataclasses import dataclass, replace

from .recipes import HEADS, PROJECTIONS, HeadsRecipe, Projections
from .text.inputs import Inputs

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
    token: int = 0
    """The row whose query, key and value it looks at first."""
    projections: Projections = PROJECTIONS
    """Its W_query, W_key and W_value."""
    linear_seed: int | None = None
    """The seed of the same three as `torch.nn.Linear` starts; None goes on after the embeddings."""
    drawn_again: Projections | None = None
    """Where the notebook draws the three once more without a new seed: those."""
    heads: HeadsRecipe = HEADS

    @property
    def linear(self) -> Projections:
        """Its projections as `torch.nn.Linear` would start them."""
        return replace(
            self.projections, start="linear", seed=self.linear_seed, skipped_draws=0, upright=False
        )


_SORRY_DAVE = Inputs(
    "Sorry Dave, I'm afraid I can't do that.",
    tokenizer="blanks",
    vocabulary="random",
    seed=SORRY_DAVE_SEED,
    d_in=32,
)
# The notebook has no matrices on the feature axis, so these are ours.
_SORRY_DAVE_PROJECTIONS = Projections(d_out=8, d_v=8, start="linear")
_SORRY_DAVE_HEADS = HeadsRecipe(n_heads=4, d_head=8, d_value=8, d_model=32, seed=None)
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
            token=1,
            projections=Projections(seed=69),
            linear_seed=69,
            heads=HeadsRecipe(seed=69),
        ),
        Example(
            "journey_123",
            "Your journey starts with one step",
            "Six given vectors of 3 entries.",
            "journey_123",
            _JOURNEY,
            query=1,
            token=1,
            projections=Projections(seed=123),
            linear_seed=123,
            heads=HeadsRecipe(seed=123),
        ),
        Example(
            "sorry_dave",
            "Sorry Dave, I'm afraid I can't do that.",
            "Random ids into a table of 20,000 rows, vectors of 32, scores divided by √32.",
            "sorry_dave",
            replace(_SORRY_DAVE, skipped_draws=652_920),
            divide="sqrt_d",
            query=3,
            token=3,
            projections=_SORRY_DAVE_PROJECTIONS,
            heads=_SORRY_DAVE_HEADS,
        ),
        Example(
            "sorry_dave_first_run",
            "Sorry Dave, the notebook's first run",
            "The same cells run once before, without the division: the printed context vector.",
            "sorry_dave",
            _SORRY_DAVE,
            query=3,
            token=3,
            projections=_SORRY_DAVE_PROJECTIONS,
            heads=_SORRY_DAVE_HEADS,
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
            projections=Projections(d_out=24, d_v=28, upright=True),
            heads=HeadsRecipe(
                n_heads=3,
                d_head=24,
                d_value=28,
                d_model=16,
                start="rand",
                seed=None,
                skipped=((24, 16), (24, 16), (28, 16)),
                by_head=True,
            ),
        ),
        Example(
            "journey_789",
            "Your journey starts with one step, told again",
            "The same six vectors, as another notebook has them.",
            "journey_789",
            _JOURNEY,
            query=1,
            token=1,
            projections=Projections(seed=123),
            linear_seed=789,
            drawn_again=Projections(seed=123, skipped_draws=18),
            heads=HeadsRecipe(seed=789),
        ),
    )
}
