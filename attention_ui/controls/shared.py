"""Controls that several lessons share: the sentence and what makes vectors of it, and what stands
around every page.
"""

from dataclasses import replace

from attention_core.examples import EXAMPLES, Example
from attention_core.recipes import MAX_HEADS, SCALES, STARTS, HeadsRecipe, Projections, even_width
from attention_core.small_models.grammar import LONGEST, WORDS
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
# --- heads ----------------------------------------------------------------------------------------
MAX_HEAD_WIDTH, MAX_JOINED = 32, 96
"""A head is no wider, and all heads together have no more columns: wider matrices are slow to draw.
"""
AUTO = "*auto* shares d_model evenly among the heads."


def how_many(count: int) -> str:
    """A number of heads in words."""
    return "1 head" if count == 1 else f"{count} heads"


def _of_heads(name: str):
    """A start that is the example's own; a width that its heads share evenly is 0."""

    def start(values: Values) -> int:
        recipe = example_of(values).heads
        width = getattr(recipe, name)
        return 0 if width == recipe.d_model / recipe.n_heads else width

    return start


def _width_fits(name: str):
    def fits(width: int, values: Values) -> tuple[int, str]:
        n_heads = values.n_heads
        most = MAX_JOINED // n_heads
        if width <= most:
            return width, ""
        return most, (
            f"{name} went from {width} to {most}: {n_heads} heads of width {width} would be "
            f"{n_heads * width} columns, and at most {MAX_JOINED} fit."
        )

    return fits


def _widths(values: Values) -> dict[int, str]:
    most = min(MAX_HEAD_WIDTH, MAX_JOINED // values.n_heads)
    return {width: str(width) if width else "auto" for width in range(most + 1)}


def _is_shared(values: Values) -> bool:
    """Whether heads have widths that share d_model."""
    return 0 in (values.d_head, values.d_value)


def _d_model_fits(d_model: int, values: Values) -> tuple[int, str]:
    n_heads = values.n_heads
    if d_model % n_heads == 0 or not _is_shared(values):
        return d_model, ""
    above = -(-d_model // n_heads) * n_heads
    used = above if above <= MAX_WIDTH else above - n_heads
    return used, f"d_model went from {d_model} to {used}, so that {how_many(n_heads)} can share it."


def _d_models(values: Values) -> dict[int, str]:
    step = values.n_heads if _is_shared(values) else 1
    return {width: str(width) for width in range(step, MAX_WIDTH + 1, step)}


N_HEADS = Control(
    "n_heads",
    Whole(1, MAX_HEADS),
    "Heads",
    lambda values: example_of(values).heads.n_heads,
    widget="select_slider",
    options=lambda _: {count: str(count) for count in range(1, MAX_HEADS + 1)},
    undoes=("cell",),
)
D_HEAD = Control(
    "d_head",
    Whole(0, MAX_HEAD_WIDTH),
    "Width of a head, d_head",
    _of_heads("d_head"),
    widget="select_slider",
    options=_widths,
    fits=_width_fits("d_head"),
    undoes=("cell",),
    look={"help": AUTO},
)
D_VALUE = Control(
    "d_value",
    Whole(0, MAX_HEAD_WIDTH),
    "Width of a value, d_value",
    _of_heads("d_value"),
    widget="select_slider",
    options=_widths,
    fits=_width_fits("d_value"),
    undoes=("cell",),
    look={"help": AUTO},
)
D_MODEL = Control(
    "d_model",
    Whole(1, MAX_WIDTH),
    "Width of the output, d_model",
    lambda values: example_of(values).heads.d_model,
    widget="select_slider",
    options=_d_models,
    fits=_d_model_fits,
    undoes=("cell",),
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
SIZES = (N_HEADS, D_HEAD, D_VALUE, D_MODEL)
"""Widths that must fit each other, in the order in which they depend on each other."""
HEADS = (*SIZES, CAUSAL_HEADS, H_SEED)


def heads_of(values: Values) -> HeadsRecipe:
    """What `attention_core.attend_heads` needs to know."""
    recipe = example_of(values).heads
    if recipe.start == "given" and not inputs_of(values).has_given_vectors():
        recipe = replace(recipe, start="linear")
    shared = even_width(values.d_model, values.n_heads) if _is_shared(values) else 0
    recipe = replace(
        recipe,
        n_heads=values.n_heads,
        d_head=values.d_head or shared,
        d_value=values.d_value or shared,
        d_model=values.d_model,
        causal=values.causal_heads,
    )
    return recipe if values.h_seed is None else replace(recipe, seed=values.h_seed, skipped=())


def numbered_heads(values: Values) -> dict[int, str]:
    """The heads as choices, by their names where they have some."""
    given = heads_of(values).given_for(values.d_in)
    if given:
        return {head: f"{head}: {name}" for head, name in enumerate(given.names)}
    return {head: str(head) for head in range(values.n_heads)}


HEAD = Control(
    "head",
    Whole(0, MAX_HEADS - 1),
    "Head",
    0,
    widget="segmented_control",
    options=numbered_heads,
)


# --- trainable matrices ---------------------------------------------------------------------------


def _starts(values: Values) -> dict[str, str]:
    """How matrices can begin: set by hand, or trained, only where the example has such."""
    example = example_of(values)
    given = {"given": "Trained"} if example.is_trained else {"given": STARTS["given"]}
    drawn = {name: title for name, title in STARTS.items() if name != "given"}
    return drawn | (given if example.projections.given else {})


def _of_matrices(name: str):
    return lambda values: getattr(example_of(values).projections, name)


def _cells_fit(name: str, rows: str, columns: str):
    def check(edits: tuple, values: Values) -> str | None:
        if any(row >= values[rows] or column >= values[columns] for row, column, _ in edits):
            return f"an edited number lies outside {name}"
        return None

    return check


def _seed_of(name: str, label: str, *undoes: str) -> Control:
    field, look = OptionalWhole(0, MAX_SEED), {"placeholder": "as the example"}
    return Control(name, field, label, None, undoes=(*undoes, "cell"), look=look)


def _edits_of(letter: str, role: str, columns: str) -> Control:
    label = f"Numbers typed into W_{role}"
    check = _cells_fit(f"W_{role}", "d_in", columns)
    return Control(f"{letter}_edits", Edits(), label, (), check=check)


_TYPED = ("q_edits", "k_edits", "v_edits")
START = Control(
    "start",
    Choice(STARTS),
    "Start as",
    _of_matrices("start"),
    widget="segmented_control",
    options=_starts,
    undoes=(*_TYPED, "cell"),
)
D_OUT = Control(
    "d_out",
    Whole(1, MAX_WIDTH),
    "Width of queries and keys, d_out",
    _of_matrices("d_out"),
    undoes=("q_edits", "k_edits", "cell"),
)
D_V = Control(
    "d_v",
    Whole(1, MAX_WIDTH),
    "Width of values, d_v",
    _of_matrices("d_v"),
    undoes=("v_edits", "cell"),
)
SCALE = Control("scale", Choice(SCALES), "Divide scores of queries and keys by", "sqrt_d")
BIAS = Control("bias", Flag(), "Bias", False)
W_SEED = _seed_of("w_seed", "Seed of all three matrices", *_TYPED)
Q_SEED = _seed_of("q_seed", "Seed of W_query", "q_edits")
K_SEED = _seed_of("k_seed", "Seed of W_key", "k_edits")
V_SEED = _seed_of("v_seed", "Seed of W_value", "v_edits")
Q_EDITS = _edits_of("q", "query", "d_out")
K_EDITS = _edits_of("k", "key", "d_out")
V_EDITS = _edits_of("v", "value", "d_v")
MATRICES = (
    *(START, D_OUT, D_V, SCALE, BIAS, W_SEED, Q_SEED, K_SEED, V_SEED),
    *(Q_EDITS, K_EDITS, V_EDITS),
)


def projections_of(values: Values) -> Projections:
    """What `attention_core.attend_trainable` needs to know."""
    example = example_of(values)
    recipe, start = example.projections, values.start
    if start == "given" and not inputs_of(values).has_given_vectors():
        start = "rand"
    if start != recipe.start:
        recipe = example.linear if start == "linear" else replace(recipe, start="rand")
    if values.w_seed is not None:
        recipe = replace(recipe, seed=values.w_seed, skipped_draws=0)
    return replace(
        recipe,
        d_out=values.d_out,
        d_v=values.d_v,
        scale=values.scale,
        bias=values.bias,
        seeds=(values.q_seed, values.k_seed, values.v_seed),
        edits=(values.q_edits, values.k_edits, values.v_edits),
    )


# --- the other sentence ---------------------------------------------------------------------------
OWN_TABLE = 1
"""How far the seed of the source's table is from that of the first sentence's: other numbers."""


def _source_fits(sentence: str, values: Values) -> str | None:
    tokens = replace(inputs_of(values), sentence=sentence).tokens
    if sentence.isspace():
        return "this text holds blanks only. Type at least one word"
    if not tokens:
        return "there is no token in this text. Type at least one word"
    if len(tokens) > MAX_TOKENS:
        return f"this text has {len(tokens):,} tokens; at most {MAX_TOKENS} fit. Shorten it"
    return None


OTHER_SENTENCE = Control(
    "source",
    Sentence(),
    "Source: the sentence that is looked at",
    lambda values: example_of(values).source,
    widget="text_input",
    check=_source_fits,
    undoes=("cell",),
)


def other_inputs(values: Values) -> Inputs:
    """The other sentence on its way to vectors: cut by the same tokenizer, with a vocabulary of its
    own. It shares the first one's given or trained vectors where they cover all of its words.
    """
    first = inputs_of(values)
    own = {"sentence": values.source, "learned_from": None, "edits": (), "skipped_draws": 0}
    inputs = replace(first, **own)
    if inputs.vocabulary == TRAINED:
        known = set(inputs.tokens) <= {*WORDS} and len(inputs.tokens) <= LONGEST
        if known and first.has_given_vectors():
            return inputs
    inputs = replace(inputs, vocabulary="distinct", reserved=0)
    if first.has_given_vectors() and inputs.has_given_vectors():
        return inputs
    return replace(inputs, vectors=(), components=(), seed=(values.seed + OWN_TABLE) % 2**32)


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
