"""Controls that several lessons share: the sentence and what makes vectors of it, and what stands
around every page.
"""

from dataclasses import replace

from attention_core.examples import EXAMPLES, Example
from attention_core.recipes import MAX_HEADS, HeadsRecipe, even_width
from attention_core.small_models.grammar import LONGEST
from attention_core.text.inputs import TRAINED, VOCABULARIES, Inputs
from attention_core.text.tokenizers import TINY_LANGUAGE, TOKENIZERS, visible

from .control import Control, Values
from .fields import (
    MAX_TOKENS,
    Choice,
    Edits,
    Flag,
    Lines,
    Names,
    OptionalWhole,
    Pages,
    Query,
    Sentence,
    Trail,
    Whole,
    Word,
    unknown_word,
)

FIRST = next(iter(EXAMPLES))
"""The example of a first visit."""
UNNAMED = "wild_cat"
"""The example of a link that names none, as long as pages of the older kind read it so."""
MAX_WIDTH, MAX_SEED, MAX_TASKS = 64, 2**32 - 1, 12
MAX_HEAD_WIDTH, MAX_JOINED = 32, 96
"""Of one head, and of all heads together: wider matrices are slow to draw."""
AUTO = "*auto* shares d_model evenly among the heads."
LEARNED = {"sentence": "This sentence", "example": "The example's sentence"}


def example_of(values: Values) -> Example:
    """The example that is chosen."""
    return EXAMPLES[values.example]


def own(name: str):
    """A start that is the example's own, by the name of the input."""
    return lambda values: getattr(example_of(values).inputs, name)


def inputs_of(values: Values) -> Inputs:
    """The sentence on its way to vectors: what `attention_core.embed` needs to know."""
    example = example_of(values)
    is_own = values.seed == example.inputs.seed
    return replace(
        example.inputs,
        sentence=values.sentence,
        tokenizer=values.tokenizer,
        vocabulary=values.vocabulary,
        learned_from=example.inputs.sentence if values.learned == "example" else None,
        reserved=values.reserved,
        seed=values.seed,
        skipped_draws=example.inputs.skipped_draws if is_own else 0,
        d_in=values.d_in,
        drop_blanks=values.drop_blanks,
        positions=values.positions,
        edits=values.get("edits", ()),
    )


def numbered_tokens(values: Values) -> dict[int, str]:
    """The tokens as choices, each with its place: repeated ones can be told apart."""
    tokens = inputs_of(values).tokens
    return {place: f"{place}: {visible(token)}" for place, token in enumerate(tokens)}


def last_or(start: int, values: Values) -> int:
    """A place in the sentence, or its last where it is shorter."""
    return min(start, max(len(inputs_of(values).tokens) - 1, 0))


def entries(values: Values) -> dict[int, str]:
    """The entries of a vector as choices, by their names where they have some."""
    inputs = inputs_of(values)
    names = inputs.components if inputs.has_given_vectors() else ()
    return dict(enumerate(names or (f"d{column}" for column in range(max(2, values.d_in)))))


def _fits(sentence: str, values: Values) -> str | None:
    """What stops a sentence from being tokens with vectors, in words."""
    example = example_of(values)
    inputs = inputs_of(values.but(sentence=sentence, d_in=1, seed=0, positions=False))
    tokens = inputs.tokens
    if sentence.isspace():
        return "this text holds blanks only. Type at least one word"
    if not tokens:
        return "there is no token in this text. Type at least one word"
    most = LONGEST if example.is_trained else MAX_TOKENS
    if len(tokens) > most:
        return f"this text has {len(tokens):,} tokens; at most {most} fit. Shorten it"
    if example.is_trained and (problem := unknown_word(tokens[1:])):
        return problem
    if values.vocabulary != "random":
        try:
            inputs.build_vocabulary().ids(tokens)
        except ValueError as error:
            return str(error)
    return None


def _edits_fit(edits: tuple, values: Values) -> str | None:
    inputs = inputs_of(values.but(edits=()))
    n_rows = 10_000 if values.vocabulary == "random" else inputs.build_vocabulary().n_rows
    if any(row >= n_rows or column >= values.d_in for row, column, _ in edits):
        return "an edited number lies outside the table of embeddings"
    return None


def _trained(options: dict[str, str], one: str):
    """A trained network reads its own tokens and has vectors for them, and nobody else has."""
    return lambda values: {
        name: title
        for name, title in options.items()
        if (name == one) == example_of(values).is_trained
    }


TABLE = ("edits", "cell", "upto")
EXAMPLE = Control(
    "example",
    Choice({name: example.title for name, example in EXAMPLES.items()}),
    "Example",
    FIRST,
    widget="selectbox",
    look={
        "help": "Choosing one sets everything on the page to its numbers. The first has entries "
        "with names, the second was trained, and the others are published notebooks."
    },
)
TOKENIZER = Control(
    "tokenizer",
    Choice({name: each.title for name, each in TOKENIZERS.items()}),
    "Tokenizer",
    own("tokenizer"),
    options=_trained({name: each.title for name, each in TOKENIZERS.items()}, TINY_LANGUAGE),
    undoes=TABLE,
)
VOCABULARY = Control(
    "vocabulary",
    Choice(VOCABULARIES),
    "Ids",
    own("vocabulary"),
    options=_trained(VOCABULARIES, TRAINED),
    undoes=TABLE,
)
LEARNED_FROM = Control(
    "learned", Choice(LEARNED), "Vocabulary built from", "sentence", widget="selectbox"
)
RESERVED = Control("reserved", Whole(0, 8), "Reserved rows", own("reserved"), undoes=TABLE)
DROP_BLANKS = Control("drop_blanks", Flag(), "Drop blank tokens", False, undoes=TABLE)
SENTENCE = Control(
    "sentence",
    Sentence(),
    "Your sentence",
    own("sentence"),
    check=_fits,
    undoes=TABLE,
    look={"height": 96},
)
SEED = Control(
    "seed",
    Whole(0, MAX_SEED),
    "Seed",
    own("seed"),
    widget="text_input",
    undoes=TABLE,
    look={"help": f"Other random numbers: a whole number from 0 to {MAX_SEED:,}."},
)
D_IN = Control("d_in", Whole(1, MAX_WIDTH), "Width of the vectors, d_in", own("d_in"), undoes=TABLE)
POSITIONS = Control("positions", Flag(), "Positions", own("positions"))
EDITS = Control("edits", Edits(), "Numbers typed into the embeddings", (), check=_edits_fit)
SOURCE = (
    *(EXAMPLE, TOKENIZER, VOCABULARY, LEARNED_FROM, RESERVED, DROP_BLANKS, SENTENCE),
    *(SEED, D_IN, POSITIONS, EDITS),
)
"""The sentence and all that makes vectors of it, in the order in which they depend on each other:
what a lesson's own controls come after.
"""
QUERY = Control(
    "query",
    Whole(0, MAX_TOKENS - 1),
    "Query",
    lambda values: last_or(example_of(values).query, values),
    options=numbered_tokens,
)


def heads_recipe_of(values: Values) -> HeadsRecipe:
    """The heads: what `attention_core.attend_heads` needs to know."""
    recipe = example_of(values).heads
    if recipe.start == "given" and not inputs_of(values).has_given_vectors():
        recipe = replace(recipe, start="linear")
    even = values.d_model // values.n_heads
    recipe = replace(
        recipe,
        n_heads=values.n_heads,
        d_head=values.d_head or even,
        d_value=values.d_value or even,
        d_model=values.d_model,
        causal=values.causal_heads,
    )
    return recipe if values.h_seed is None else replace(recipe, seed=values.h_seed, skipped=())


def heads_called(values: Values) -> dict[int, str]:
    """The heads as choices, by their names where they have some."""
    given = heads_recipe_of(values).given_for(values.d_in)
    if given:
        return {head: f"{head}: {name}" for head, name in enumerate(given.names)}
    return {head: str(head) for head in range(values.n_heads)}


def _own_width(name: str):
    """The width that an example's heads have, where so many fit; 0 where d_model is shared."""

    def start(values: Values) -> int:
        recipe = example_of(values).heads
        own = getattr(recipe, name)
        shared = own * recipe.n_heads == recipe.d_model
        return 0 if shared else min(own, MAX_JOINED // values.n_heads)

    return start


def _own_d_model(values: Values) -> int:
    """The example's, or the next that so many heads can share."""
    own, n_heads = example_of(values).heads.d_model, values.n_heads
    if values.d_head and values.d_value:
        return own
    above = -(-own // n_heads) * n_heads
    return above if above <= MAX_WIDTH else above - n_heads


def _fits_all_heads(width: int, values: Values) -> str | None:
    if width * values.n_heads <= MAX_JOINED:
        return None
    return (
        f"{values.n_heads} heads of width {width} are {values.n_heads * width} columns, and at "
        f"most {MAX_JOINED} fit"
    )


def _is_shared(d_model: int, values: Values) -> str | None:
    if values.d_head and values.d_value:
        return None
    try:
        even_width(d_model, values.n_heads)
    except ValueError as error:
        return f"{error}"
    return None


N_HEADS = Control(
    "n_heads",
    Whole(1, MAX_HEADS),
    "Heads",
    lambda values: example_of(values).heads.n_heads,
    undoes=("cell", "upto"),
)
D_HEAD = Control(
    "d_head",
    Whole(0, MAX_HEAD_WIDTH),
    "Width of a head, d_head",
    _own_width("d_head"),
    check=_fits_all_heads,
    undoes=("cell", "upto"),
    look={"help": AUTO},
)
D_VALUE = Control(
    "d_value",
    Whole(0, MAX_HEAD_WIDTH),
    "Width of a value, d_value",
    _own_width("d_value"),
    check=_fits_all_heads,
    undoes=("cell", "upto"),
    look={"help": AUTO},
)
D_MODEL = Control(
    "d_model",
    Whole(1, MAX_WIDTH),
    "Width of the output, d_model",
    _own_d_model,
    check=_is_shared,
    undoes=("cell", "upto"),
    look={"help": "How many numbers the layer gives for each token. The heads split it evenly."},
)
CAUSAL_HEADS = Control(
    "causal_heads",
    Flag(),
    "Causal: hide what comes later",
    lambda values: example_of(values).heads.causal,
)
H_SEED = Control(
    "h_seed",
    OptionalWhole(0, MAX_SEED),
    "Seed of the heads' matrices",
    None,
    look={"placeholder": "as the example"},
)
HEADS = (N_HEADS, D_HEAD, D_VALUE, D_MODEL, CAUSAL_HEADS, H_SEED)
"""All that makes several heads of the sentence's vectors."""
HEAD = Control("head", Whole(0, MAX_HEADS - 1), "Head", 0, options=heads_called)
PREDICT = Control(
    "predict",
    Flag(),
    "Ask me first",
    True,
    stays=True,
)
LARGE = Control(
    "large",
    Flag(),
    "Projector",
    False,
    stays=True,
)
PIN = Control("pin", Query(4_050), "Pin", "", stays=True)
HIDE = Control("hide", Names(), "", (), stays=True)
LOCK = Control("lock", Names(), "", (), stays=True)
DONE = Control("done", Pages(), "", (), stays=True)
TASKS = Control("tasks", Lines(MAX_TASKS, 400), "", (), stays=True)
CARD = Control("beat", Word(), "", "", of_page=True)
"""The card in which a cell is open."""
CELL = Control("cell", Trail(), "", None, of_page=True)
"""The way to the cell that is open, its start first; () for none."""
ONLY = Control("only", Word(), "", "", of_page=True)
"""The one card that is shown, without anything around it; "" for the whole page."""
AROUND = (PREDICT, LARGE, PIN, HIDE, LOCK, DONE, TASKS, CARD, CELL, ONLY)
"""What stands around every page."""
