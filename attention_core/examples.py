"""The worked examples as data. The first has vectors and matrices set by hand, whose entries have
names; the others are five published notebooks: what they read, in which order they draw.

Choosing an example sets all of this, so that the numbers on screen are the notebook's own.
`sorry_dave` was run twice before it was saved, and its printed numbers come from both runs: the
second run continues the generator 652,920 numbers further on. Each run is an example here.
"""

from dataclasses import dataclass, replace

from .recipes import HEADS, PROJECTIONS, GivenHeads, HeadsRecipe, Projections
from .small_models.given import heads, projections, width
from .text.inputs import TRAINED, Inputs
from .text.tokenizers import TINY_LANGUAGE
from .utils.validation import known

JOURNEY_VECTORS = (
    ("Your", (0.43, 0.15, 0.89)),
    ("journey", (0.55, 0.87, 0.66)),
    ("starts", (0.57, 0.85, 0.64)),
    ("with", (0.22, 0.58, 0.33)),
    ("one", (0.77, 0.25, 0.10)),
    ("step", (0.05, 0.80, 0.55)),
)
FEATURES = ("animal", "hunter", "small", "mood", "action", "refers")
"""What each entry of a hand-set vector says of its word; `refers` is high for pronouns."""
FEATURE_VECTORS = (
    ("the", (0.0, 0.0, 0.0, 0.0, 0.0, 0.4)),
    ("a", (0.0, 0.0, 0.0, 0.0, 0.0, 0.3)),
    ("because", (0.0, 0.0, 0.0, 0.0, 0.3, 0.0)),
    ("it", (1.2, 0.0, 0.0, 0.0, 0.0, 0.8)),
    ("cat", (2.4, 1.5, 0.3, 0.0, 0.0, 0.0)),
    ("dog", (2.4, 1.9, -0.5, 0.0, 0.0, 0.0)),
    ("mouse", (2.4, 0.0, 1.4, 0.0, 0.0, 0.0)),
    ("hungry", (0.0, 0.0, 0.0, 2.0, 0.0, 0.0)),
    ("sleepy", (0.0, 0.0, 0.2, 1.8, -0.4, 0.0)),
    ("small", (0.0, 0.0, 1.6, 0.2, 0.0, 0.0)),
    ("chases", (0.0, 0.0, 0.0, 0.0, 2.0, 0.0)),
    ("sees", (0.0, 0.0, 0.0, 0.0, 1.6, 0.0)),
    ("purrs", (0.4, 0.0, 0.0, 0.4, 1.5, 0.0)),
    ("barks", (0.4, 0.0, 0.0, 0.0, 1.6, 0.0)),
)
SORRY_DAVE_SEED = 2986341418
"""Recovered from the printed numbers; the notebook sets none."""


@dataclass(frozen=True)
class Example:
    """A worked example: the inputs that make its numbers, and what it is about."""

    name: str
    title: str
    about: str
    notebook: str
    """The name of its data in `attention_core.published`; "" where no notebook prints it."""
    inputs: Inputs
    divide: str = "none"
    """What its simplified attention divides the scores by: `none` or `sqrt_d`."""
    query: int = 0
    """The row that is looked at first: its notebook's, or the one with the largest effect."""
    token: int = 0
    """The row whose query, key and value it looks at first."""
    source: str = "Le chien attaque le chat sauvage"
    """The other sentence of its cross-attention. Where vectors are given, its words have some."""
    projections: Projections = PROJECTIONS
    """Its W_query, W_key and W_value."""
    linear_seed: int | None = None
    """The seed of the same three as `torch.nn.Linear` starts; None goes on after the embeddings."""
    drawn_again: Projections | None = None
    """Where the notebook draws the three once more without a new seed: those."""
    heads: HeadsRecipe = HEADS
    learning_rate: float = 0.2
    """A rate with which training on its tokens goes down at every step."""

    @property
    def is_trained(self) -> bool:
        """Whether its vectors and matrices are those of a trained network."""
        return self.inputs.vocabulary == TRAINED

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
_JOURNEY = Inputs(
    "Your journey starts with one step",
    tokenizer="blanks",
    reserved=0,
    seed=123,
    vectors=JOURNEY_VECTORS,
)
_ASKS = Projections(
    d_query=3,
    d_value=4,
    start="given",
    given=(
        # W_query: each column is something that can be looked for.
        (
            (0.0, 0.0, 1.2),  # an animal looks for an action: what does it do?
            (0.0, 0.0, 0.0),
            (0.0, 0.0, 0.0),
            (1.2, 0.0, 0.0),  # a mood looks for an animal: who is hungry?
            (0.6, 0.8, 0.0),  # an action looks for an animal that hunts: who does it?
            (2.0, 2.0, -1.8),  # what refers looks for the same, and for no action
        ),
        # W_key: a token is found by what it is, a pronoun less easily.
        (
            (1.0, 0.0, 0.0),
            (0.0, 1.0, 0.0),
            (0.0, 0.0, 0.0),
            (0.0, 0.0, 0.0),
            (0.0, 0.0, 1.0),
            (-1.0, 0.0, 0.0),
        ),
        # W_value: it hands on what it is, but for its size and whether it refers.
        (
            (1.0, 0.0, 0.0, 0.0),
            (0.0, 1.0, 0.0, 0.0),
            (0.0, 0.0, 0.0, 0.0),
            (0.0, 0.0, 1.0, 0.0),
            (0.0, 0.0, 0.0, 1.0),
            (0.0, 0.0, 0.0, 0.0),
        ),
    ),
    components=(("animal", "hunter", "action"), ("animal", "hunter", "mood", "action")),
)
_NOTHING = (0.0, 0.0)
_ANIMALS = ((1.0, 0.0), _NOTHING, _NOTHING, _NOTHING, _NOTHING, (-1.0, 0.0))
"""Keys of heads that look for animals: their first column, in which a pronoun counts less."""
_HEADS = GivenHeads(
    names=("who", "whom", "how"),
    by_head=(
        (  # Who does it? Actions, and what refers, look for an animal that hunts.
            (_NOTHING, _NOTHING, _NOTHING, _NOTHING, (0.5, 0.7), (1.6, 1.6)),
            (_ANIMALS[0], (0.0, 1.0), *_ANIMALS[2:]),
            ((1.0, 0.0), (0.0, 1.0), _NOTHING, _NOTHING, _NOTHING, _NOTHING),
        ),
        (  # To whom? Hunters and actions look for a small animal.
            (_NOTHING, (0.5, 1.0), _NOTHING, _NOTHING, (0.4, 0.9), _NOTHING),
            (*_ANIMALS[:2], (0.0, 1.0), *_ANIMALS[3:]),
            ((1.0, 0.0), _NOTHING, (0.0, 1.0), _NOTHING, _NOTHING, _NOTHING),
        ),
        (  # How is it? Animals, and what refers to one, look for a mood, and less for an action.
            ((0.8, 0.4), _NOTHING, _NOTHING, _NOTHING, _NOTHING, (0.8, 0.0)),
            (_NOTHING, _NOTHING, _NOTHING, (1.0, 0.0), (0.0, 1.0), _NOTHING),
            (_NOTHING, _NOTHING, _NOTHING, (1.0, 0.0), (0.0, 1.0), _NOTHING),
        ),
    ),
    # What a head found goes to where a vector says the same: `it` comes out as a hungry hunter.
    output=(
        (1.0, 0.0, 0.0, 0.0, 0.0, 0.0),
        (0.0, 1.0, 0.0, 0.0, 0.0, 0.0),
        (0.5, 0.0, 0.0, 0.0, 0.0, 0.0),
        (0.0, 0.0, 1.0, 0.0, 0.0, 0.0),
        (0.0, 0.0, 0.0, 1.0, 0.0, 0.0),
        (0.0, 0.0, 0.0, 0.0, 1.0, 0.0),
    ),
    components=(("animal", "hunter"), ("animal", "small"), ("mood", "action")),
    outputs=FEATURES,
)
_TRAINED = heads()

_SORRY_DAVE_EXAMPLE = Example(
    "sorry_dave",
    "Sorry Dave, I'm afraid I can't do that.",
    "32 numbers for each word: enough for you to see what dividing the scores by √32 changes.",
    "sorry_dave",
    replace(_SORRY_DAVE, skipped_draws=652_920),
    divide="sqrt_d",
    query=3,
    token=3,
    # The notebook has no matrices on the feature axis, so these are ours.
    projections=Projections(d_query=8, d_value=8, start="linear"),
    heads=HeadsRecipe(n_heads=4, d_head=8, d_value=8, d_model=32, seed=None),
    source="Entschuldige Dave, das kann ich leider nicht tun.",
)
_EXAMPLES = {
    example.name: example
    for example in (
        Example(
            "named_features",
            "The hungry cat chases the mouse because it purrs",
            "The best place to begin. Vectors and matrices are set by hand, and their entries have "
            "names, so you can read what each word asks for.",
            "",
            Inputs(
                "The hungry cat chases the mouse because it purrs",
                tokenizer="lower_words",
                reserved=0,
                d_in=len(FEATURES),
                vectors=FEATURE_VECTORS,
                everyday=True,
                components=FEATURES,
            ),
            query=7,
            token=7,
            projections=_ASKS,
            heads=HeadsRecipe(
                n_heads=3, d_model=len(FEATURES), start="given", seed=None, given=_HEADS
            ),
            source="A sleepy dog sees the small cat",
        ),
        Example(
            "tiny_language",
            "The tired cat sees the dog because it purrs",
            "Trained: the second layer of a small network that learned a language of 60 words. "
            "Nobody told its heads what to look for.",
            "",
            Inputs(
                "the tired cat sees the dog because it purrs",
                tokenizer=TINY_LANGUAGE,
                vocabulary=TRAINED,
                reserved=0,
                d_in=width(),
                positions=True,
            ),
            divide="sqrt_d",
            query=8,
            token=8,
            learning_rate=0.1,
            projections=projections(),
            heads=HeadsRecipe(
                n_heads=len(_TRAINED.names),
                d_head=_TRAINED.sizes[1],
                d_value=_TRAINED.sizes[2],
                d_model=_TRAINED.sizes[3],
                start="given",
                seed=None,
                causal=True,
                given=_TRAINED,
            ),
            source="the happy dog follows the bird",
        ),
        Example(
            "wild_cat",
            "The dog attacks the wild cat",
            "Small enough to check by hand: 3 numbers for each token. The blanks between the words "
            "count as tokens too.",
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
            "Six words of 3 numbers each, written down instead of drawn. Good for following "
            "queries, keys and values.",
            "journey_123",
            _JOURNEY,
            query=1,
            token=1,
            projections=Projections(seed=123),
            linear_seed=123,
            heads=HeadsRecipe(seed=123),
            source="Your step starts one journey",
        ),
        _SORRY_DAVE_EXAMPLE,
        replace(
            _SORRY_DAVE_EXAMPLE,
            name="sorry_dave_first_run",
            title="Sorry Dave, the notebook's first run",
            about="The same notebook, before it divided its scores. Of what it printed then, one "
            "context vector is left.",
            inputs=_SORRY_DAVE,
            divide="none",
        ),
        Example(
            "life_is_short",
            "Life is short, eat dessert first is life",
            "Two words come twice: what tells them apart? Three heads look at vectors of 16 "
            "numbers.",
            "life_is_short",
            Inputs(
                "Life is short, eat dessert first is life",
                tokenizer="lower_words",
                vocabulary="duplicates",
                seed=42,
                d_in=16,
            ),
            projections=Projections(d_query=24, d_value=28, upright=True),
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
            source="Das Leben ist kurz, iss den Nachtisch zuerst",
        ),
        Example(
            "journey_789",
            "Your journey starts with one step, told again",
            "The same six words in another notebook, which starts its matrices in two ways.",
            "journey_789",
            _JOURNEY,
            query=1,
            token=1,
            projections=Projections(seed=123),
            linear_seed=789,
            drawn_again=Projections(seed=123, skipped_draws=18),
            heads=HeadsRecipe(seed=789),
            source="Your step starts one journey",
        ),
    )
}
EXAMPLES = known("example", _EXAMPLES)
