"""Controls that several lessons share: the sentence and what makes vectors of it, and what stands
around every page.
"""

from dataclasses import replace

from attention_core.examples import EXAMPLES, Example
from attention_core.recipes import SCALES
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
D_IN = Control(
    "d_in",
    Whole(1, MAX_WIDTH),
    "Width of the vectors, d_in",
    own("d_in"),
    undoes=(*TABLE, "q_edits", "k_edits", "v_edits"),
)
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
TOKEN = Control(
    "token",
    Whole(0, MAX_TOKENS - 1),
    "Token",
    lambda values: last_or(example_of(values).token, values),
    options=numbered_tokens,
)
DIVIDE = Control(
    "divide",
    Choice({"none": "Nothing", "sqrt_d": "√d"}),
    "Divide scores by",
    lambda values: example_of(values).divide,
)
SCALE = Control("scale", Choice(SCALES), "Divide scores of queries and keys by", "sqrt_d")
DROP_SEED = Control("drop_seed", Whole(0, 20), "Seed of the draw", 0)


def first_query(values: Values) -> int:
    """The query whose weights a picture of all shows first: the example's, else the last."""
    last, told = len(inputs_of(values).tokens) - 1, example_of(values).shown_first
    is_own = values.sentence != example_of(values).inputs.sentence
    return last if told is None or is_own else min(told, last)


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
