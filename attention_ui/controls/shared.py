"""Controls that lessons share: the sentence, what makes vectors, what stands around pages."""

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from operator import attrgetter
from typing import Any

from attention_core.examples import EXAMPLES, Example
from attention_core.recipes import (
    MAX_HEADS,
    NORMALISERS,
    ROLES,
    SCALES,
    STARTS,
    HeadsRecipe,
    Projections,
    even_width,
)
from attention_core.small_models.grammar import LONGEST, WORDS
from attention_core.text.inputs import (
    DRAWN,
    RANDOM_ID_ROWS,
    TRAINED,
    VOCABULARIES,
    Inputs,
    everyday_words,
)
from attention_core.text.tokenizers import TINY_LANGUAGE, TOKENIZERS, visible

from ..reactive.control import Control, Start, Values
from ..reactive.fields import Choice, Decimal, Flag, Names, OptionalWhole, Whole, Word
from ..words import listed
from .fields import MAX_TOKENS, Edits, Lines, Query, Sentence, Trail, unknown_word

FIRST = next(iter(EXAMPLES))
"""The example of a first visit, and of a link that names none."""
MAX_WIDTH, MAX_SEED, MAX_TASKS = 64, 2**32 - 1, 12
MAX_HEAD_WIDTH, MAX_JOINED = 32, 96
"""Of one head, and the columns of all heads together: wider matrices are slow to draw."""


def example_of(values: Values) -> Example:
    """The example that is chosen."""
    return EXAMPLES[values.example]


def _own(path: str):
    """A start that is the example's own, by where it stands in it."""
    return lambda values: attrgetter(path)(example_of(values))


def inputs_of(values: Values) -> Inputs:
    """The sentence on its way to vectors: what `attention_core.embed` needs to know."""
    return _inputs(
        values.example, values.learned == "example", values.get("edits", ()),
        *(values[name] for name in OF_INPUTS),
    )  # fmt: skip


OF_INPUTS = (
    "seed", "sentence", "tokenizer", "vocabulary", "reserved", "d_in", "drop_blanks", "positions",
)  # fmt: skip


@lru_cache(maxsize=1_000)
def _inputs(example: str, is_learned: bool, edits: tuple, seed: int, *others: object) -> Inputs:
    """The same for all who ask for it, as each card of a page does, more than once."""
    inputs = EXAMPLES[example].inputs
    return replace(
        inputs,
        learned_from=inputs.sentence if is_learned else None,
        skipped_draws=inputs.skipped_draws if seed == inputs.seed else 0,
        edits=edits,
        **dict(zip(OF_INPUTS, (seed, *others), strict=True)),
    )


def numbered_tokens(values: Values) -> dict[int, str]:
    """The tokens as choices, each with its place: repeated ones can be told apart."""
    tokens = inputs_of(values).labels
    return {place: f"{place}: {visible(token)}" for place, token in enumerate(tokens)}


def last_or(start: int, values: Values) -> int:
    """A place in the sentence, or its last where it is shorter."""
    return min(start, max(len(inputs_of(values).tokens) - 1, 0))


def as_drawn(values: Values) -> Values:
    """The same before typing and dividing: what is watched must not give way meanwhile."""
    scale = example_of(values).projections.scale
    return values.but(scale=scale, **dict.fromkeys((*TABLE, *OF_MATRICES), ()))


def telling_query(values: Values) -> int:
    """The query with the largest effect among a page's weights; or its notebook's, or story's."""
    example = example_of(values)
    is_made_to_be_read = not (example.notebook or example.is_trained)
    if values.sentence == example.inputs.sentence and not is_made_to_be_read:
        return last_or(example.query, values)
    drawn = as_drawn(values)
    return last_or(_telling(inputs_of(drawn), _recipe_of_page(drawn))[1], values)


def telling_head(values: Values) -> int:
    """The head with the largest effect; of a notebook the first."""
    if example_of(values).notebook:
        return 0
    inputs = inputs_of(as_drawn(values))
    return min(_telling(inputs, heads_recipe_of(values))[0], values.n_heads - 1)


def _recipe_of_page(values: Values) -> HeadsRecipe | Projections | None:
    if values.keys() >= {each.name for each in HEADS}:
        return heads_recipe_of(values)
    if values.keys() >= {each.name for each in PROJECTED}:
        return projections_of(values)
    return None


@lru_cache(maxsize=128)
def _telling(inputs: Inputs, recipe: HeadsRecipe | Projections | None) -> tuple[int, int]:
    """The head, if there are several, and the query with the largest effect."""
    # Here, since a page that asks for neither, such as the home page, is there before torch.
    from attention_core import largest_effect
    from attention_core.mechanism.multi_head import attend_heads
    from attention_core.mechanism.simplified import attend
    from attention_core.mechanism.trainable import attend_trainable
    from attention_core.text.embedding import embed

    if not inputs.tokens:
        return 0, 0
    trace = embed(inputs)
    if isinstance(recipe, HeadsRecipe):
        weights = attend_heads(trace, recipe)["head_weights"].value
        return largest_effect.telling_head(weights), largest_effect.telling_query(weights)
    made = attend(trace) if recipe is None else attend_trainable(trace, recipe)
    return 0, largest_effect.telling_query(made["weights"].value)


def place_of_token(name: str, label: str, start: Start) -> Control:
    """A control that chooses one of the tokens, by its place."""
    return Control(name, Whole(0, MAX_TOKENS - 1), label, start, options=numbered_tokens)


def seed_of(name: str, label: str, start: Start, **more: Any) -> Control:
    """A control for a seed, which is typed."""
    return Control(name, Whole(0, MAX_SEED), label, start, "text_input", **more)


def entries(values: Values) -> dict[int, str]:
    """The entries of a vector as choices, by their names where they have some."""
    inputs = inputs_of(values)
    names = inputs.components if inputs.has_given_vectors() else ()
    return dict(enumerate(names or (f"d{column}" for column in range(max(2, values.d_in)))))


def _no_text(text: str, n_tokens: int, most: int) -> str | None:
    """What keeps a text of so many tokens from being one of at least one and at `most` so many."""
    if text.isspace():
        return "this text holds blanks only. Type at least one word"
    if not n_tokens:
        return "there is no token in this text. Type at least one word"
    if n_tokens > most:
        return f"this text has {n_tokens:,} tokens; at most {most} fit. Shorten it"
    return None


def _fits(sentence: str, values: Values) -> str | None:
    example = example_of(values)
    inputs = inputs_of(values.but(sentence=sentence, d_in=1, seed=0, positions=False))
    tokens = inputs.tokens
    if problem := _no_text(sentence, len(tokens), LONGEST if example.is_trained else MAX_TOKENS):
        return problem
    if example.is_trained and (problem := unknown_word(tokens[1:])):
        return f"{problem} (all of them: Go deeper, in A tiny language)"
    if values.vocabulary != "random":
        try:
            inputs.build_vocabulary().ids(tokens)
        except ValueError as error:
            return str(error)
    return None


def _edits_fit(edits: tuple, values: Values) -> str | None:
    inputs = inputs_of(values.but(edits=()))
    n_rows = RANDOM_ID_ROWS if values.vocabulary == "random" else inputs.build_vocabulary().n_rows
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


TABLE, SHAPES = ("edits",), ("cell", "shown_terms")
"""What belongs to one table of embeddings alone, and to tensors of one shape alone."""
OF_MATRICES = ("q_edits", "k_edits", "v_edits")
EXAMPLE = Control(
    "example",
    Choice({name: example.title for name, example in EXAMPLES.items()}),
    "Example",
    FIRST,
    is_preset=True,
    look={
        "help": "Choosing one sets everything on the page to its numbers. The first has entries "
        "with names, the second was trained, and the others are published notebooks."
    },
)
TOKENIZER = Control(
    "tokenizer",
    Choice({name: each.title for name, each in TOKENIZERS.items()}),
    "Tokenizer",
    _own("inputs.tokenizer"),
    options=_trained({name: each.title for name, each in TOKENIZERS.items()}, TINY_LANGUAGE),
    undoes=TABLE + SHAPES,
)
VOCABULARY = Control(
    "vocabulary",
    Choice(VOCABULARIES),
    "Ids",
    _own("inputs.vocabulary"),
    options=_trained(VOCABULARIES, TRAINED),
    undoes=TABLE,
)
LEARNED = Control(
    "learned",
    Choice({"sentence": "This sentence", "example": "The example's sentence"}),
    "Vocabulary built from",
    "sentence",
    widget="selectbox",
    undoes=TABLE,
)
RESERVED = Control("reserved", Whole(0, 8), "Reserved rows", _own("inputs.reserved"), undoes=TABLE)
DROP_BLANKS = Control("drop_blanks", Flag(), "Drop blank tokens", False, undoes=SHAPES)
SENTENCE = Control(
    "sentence",
    Sentence(),
    "Your sentence",
    _own("inputs.sentence"),
    check=_fits,
    undoes=TABLE + SHAPES,
    look={"height": 96},
)
SEED = seed_of(
    "seed",
    "Seed",
    _own("inputs.seed"),
    undoes=TABLE,
    look={"help": f"Other random numbers: a whole number from 0 to {MAX_SEED:,}."},
)
D_IN = Control(
    "d_in",
    Whole(1, MAX_WIDTH),
    "Width of the vectors, d_in",
    _own("inputs.d_in"),
    undoes=TABLE + SHAPES + OF_MATRICES,
)
POSITIONS = Control("positions", Flag(), "Positions", _own("inputs.positions"))
EDITS = Control(
    "edits",
    Edits(),
    "Numbers typed into the embeddings",
    (),
    check=_edits_fit,
    changes="embedding_table",
)
MAKES_VECTORS = (
    *(EXAMPLE, TOKENIZER, VOCABULARY, LEARNED, RESERVED, DROP_BLANKS, SENTENCE),
    *(SEED, D_IN, POSITIONS, EDITS),
)
"""The sentence and what makes its vectors, in order; a lesson's own controls come after."""
QUERY = place_of_token("query", "Query", telling_query)


def _starts(values: Values) -> dict[str, str]:
    """How matrices can begin: by hand or trained only where the example has such, and vectors."""
    example = example_of(values)
    drawn = {name: title for name, title in STARTS.items() if name != "given"}
    if not (example.projections.given and inputs_of(values).has_given_vectors()):
        return drawn
    return drawn | {"given": "Trained" if example.is_trained else STARTS["given"]}


def _start(values: Values) -> str:
    """The example's own start, or what its matrices are where its vectors are drawn."""
    own = example_of(values).projections.start
    return "rand" if own == "given" and own not in _starts(values) else own


def _matrix_edits(role: str) -> Control:
    def fit(edits: tuple, values: Values) -> str | None:
        width = values.d_value if role == "value" else values.d_query
        if any(row >= values.d_in or column >= width for row, column, _ in edits):
            return f"an edited number lies outside W_{role}"
        return None

    label = f"Numbers typed into W_{role}"
    return Control(f"{role[0]}_edits", Edits(), label, (), check=fit, changes=f"W_{role}")


def _matrix_seed(name: str, of: str, *undoes: str) -> Control:
    look = {"placeholder": "as the example"}
    kind = OptionalWhole(0, MAX_SEED)
    return Control(name, kind, f"Seed of {of}", None, look=look, undoes=undoes)


START = Control(
    "start",
    Choice(STARTS),
    "Start as",
    _start,
    options=_starts,
    widget="segmented_control",
    undoes=OF_MATRICES,
)
D_QUERY = Control(
    "d_query",
    Whole(1, MAX_WIDTH),
    "Width of queries and keys, d_query",
    _own("projections.d_query"),
    undoes=("q_edits", "k_edits", *SHAPES),
)
D_VALUE = Control(
    "d_value",
    Whole(1, MAX_WIDTH),
    "Width of values, d_value",
    _own("projections.d_value"),
    undoes=("v_edits", *SHAPES),
)
SCALE = Control("scale", Choice(SCALES), "Divide scores of queries and keys by", "sqrt_d")
BIAS = Control("bias", Flag(), "Bias", False)
W_SEED = _matrix_seed("w_seed", "all three matrices", *OF_MATRICES)
SEEDS = tuple(
    _matrix_seed(f"{role[0]}_seed", f"W_{role}", edits)
    for role, edits in zip(ROLES, OF_MATRICES, strict=True)
)
MATRIX_EDITS = tuple(_matrix_edits(role) for role in ROLES)
PROJECTED = (START, D_QUERY, D_VALUE, SCALE, BIAS, W_SEED, *SEEDS, *MATRIX_EDITS)
"""What makes queries, keys and values of the vectors: after `MAKES_VECTORS`."""


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
    return 0 in (values.d_head, values.d_head_value)


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
    _own("heads.n_heads"),
    widget="select_slider",
    options=lambda _: {count: str(count) for count in range(1, MAX_HEADS + 1)},
    undoes=("cell",),
)
D_HEAD, D_HEAD_VALUE = (
    Control(
        name,
        Whole(0, MAX_HEAD_WIDTH),
        label,
        _of_heads(width),
        widget="select_slider",
        options=_widths,
        fits=_width_fits(name),
        undoes=("cell",),
        look={"help": "*auto* shares d_model evenly among the heads."},
    )
    for name, label, width in (
        ("d_head", "Width of a head, d_head", "d_head"),
        ("d_head_value", "Width of a value, d_value", "d_value"),
    )
)
D_MODEL = Control(
    "d_model",
    Whole(1, MAX_WIDTH),
    "Width of the output, d_model",
    _own("heads.d_model"),
    widget="select_slider",
    options=_d_models,
    fits=_d_model_fits,
    undoes=("cell",),
    look={"help": "How many numbers the layer gives for each token. The heads split it evenly."},
)
CAUSAL_HEADS = Control(
    "causal_heads", Flag(), "Causal: hide what comes later", _own("heads.causal")
)


def projections_of(values: Values, start: str = "") -> Projections:
    """What makes queries, keys and values, or would with another `start`, for `project`."""
    example, start = example_of(values), start or values.start
    recipe = example.projections
    if start != recipe.start:
        recipe = example.linear if start == "linear" else replace(recipe, start="rand")
    if values.w_seed is not None:
        recipe = replace(recipe, seed=values.w_seed, skipped_draws=0)
    return replace(
        recipe,
        d_query=values.d_query,
        d_value=values.d_value,
        scale=values.scale,
        bias=values.bias,
        seeds=values.of(*SEEDS),
        edits=values.of(*MATRIX_EDITS),
    )


H_SEED = _matrix_seed("h_seed", "the heads' matrices")
NORMALISE = Control("normalise", Choice(NORMALISERS), "Shares by", "softmax")
TEMPERATURE = Control("temperature", Decimal(0.1, 4), "Temperature", 1.0, look={"step": 0.1})
LAYER_DROPOUT = Control("layer_dropout", Decimal(0, 0.9), "Dropout", 0.0, look={"step": 0.1})
DROPOUT = Control("dropout", Decimal(0, 0.9), "Chance of being dropped", 0.2, look={"step": 0.05})
DROP_SEED = Control("drop_seed", Whole(0, 20), "Seed of the draw", 0)
SIZES = (N_HEADS, D_HEAD, D_HEAD_VALUE, D_MODEL)
"""Widths that must fit each other, in the order in which they depend on each other."""
HEADS = (*SIZES, CAUSAL_HEADS, H_SEED)
"""How many heads, how wide, and how their matrices are drawn."""


TOKEN = place_of_token(
    "token",
    "Token",
    lambda values: (
        telling_query(values)
        if values.sentence != example_of(values).inputs.sentence
        else last_or(example_of(values).token, values)
    ),
)


def _source_fits(source: str, values: Values) -> str | None:
    return _no_text(source, len(replace(inputs_of(values), sentence=source).tokens), MAX_TOKENS)


SOURCE = Control(
    "source",
    Sentence(),
    "Source: the sentence that is looked at",
    _own("source"),
    widget="text_input",
    hint=f"at most {MAX_TOKENS} tokens",
    check=_source_fits,
    undoes=SHAPES,
)
FACTOR = Control("factor", Decimal(-4, 4), "Stretch factor", 1.0, look={"step": 0.25})
OWN_TABLE = 1
"""How far the seed of the source's table is from that of the first sentence's: other numbers."""


def source_inputs_of(values: Values) -> Inputs:
    """The source on its way to vectors, with its vocabulary, and the first's vectors if it can."""
    own = {"sentence": values.source, "learned_from": None, "edits": (), "skipped_draws": 0}
    first = inputs_of(values)
    inputs = replace(first, **own)
    if inputs.vocabulary == TRAINED:
        known = {*inputs.tokens} <= {*WORDS} and len(inputs.tokens) <= LONGEST
        if known and first.has_given_vectors():
            return inputs
    inputs = replace(inputs, vocabulary="distinct", reserved=0)
    if first.has_given_vectors() and inputs.has_given_vectors():
        return inputs
    return replace(inputs, vectors=(), components=(), seed=(values.seed + OWN_TABLE) % 2**32)


def is_source_alone_random(values: Values) -> bool:
    """Whether the source has a word without a vector though the sentence's are given or trained."""
    own, source = inputs_of(values), source_inputs_of(values)
    return own.has_given_vectors() and not source.has_given_vectors()


def source_words(values: Values) -> str:
    """Where the source's vectors come from."""
    if source_inputs_of(values).has_given_vectors():
        made = "trained" if example_of(values).is_trained else "ready-made"
        but = f", but for those with {DRAWN}" if drawn_words(values) else ""
        return f"This example has {made} vectors for the words of both sentences{but}."
    if is_source_alone_random(values):
        return (
            "Some words of the source have no vector in this example, so the source gets random "
            "ones: look at how the weights are made, not for meaning in them."
        )
    return (
        "The source has a table of its own, as another language would: a word that stands in both "
        "sentences has two vectors."
    )


def heads_recipe_of(values: Values) -> HeadsRecipe:
    """What `attention_core.attend_heads` needs to know of the heads that are chosen."""
    recipe = example_of(values).heads
    if recipe.start == "given" and not inputs_of(values).has_given_vectors():
        recipe = replace(recipe, start="linear")
    shared = even_width(values.d_model, values.n_heads) if _is_shared(values) else 0
    recipe = replace(
        recipe,
        n_heads=values.n_heads,
        d_head=values.d_head or shared,
        d_value=values.d_head_value or shared,
        d_model=values.d_model,
        causal=values.causal_heads,
    )
    return recipe if values.h_seed is None else replace(recipe, seed=values.h_seed, skipped=())


def layer_recipe_of(values: Values) -> HeadsRecipe:
    """The same, with all that can be done to scores, and softmax or the sum."""
    return replace(
        heads_recipe_of(values),
        scale=values.scale,
        temperature=values.temperature,
        normalise=values.normalise,
    )


def heads_called(values: Values) -> dict[int, str]:
    """The heads as choices, with their names where they have some."""
    given = heads_recipe_of(values).given_for(values.d_in)
    names = given.names if given else ()
    return {
        head: f"{head}: {names[head]}" if names else str(head) for head in range(values.n_heads)
    }


HEAD = Control("head", Whole(0, MAX_HEADS - 1), "Head", telling_head, options=heads_called)


def known_words(example: Example) -> str:
    """Which words have vectors that were made to be read; "" where none have."""
    own = [token for token, _ in example.inputs.vectors]
    if example.inputs.everyday:
        return f"{len(own) + len(everyday_words()):,} everyday English words"
    return ", ".join(own)


def drawn_words(values: Values) -> list[str]:
    """The words of the visitor's sentences whose vectors are drawn beside given ones."""
    found: dict[str, None] = {}
    if (inputs := inputs_of(values)).has_given_vectors() and inputs.vocabulary != TRAINED:
        rows = dict.fromkeys(inputs.build_vocabulary().rows())
        texts = [*(each for each in inputs.tokens if each in rows), *rows]
        if SOURCE.name in values:
            texts += source_inputs_of(values).tokens
        found = dict.fromkeys(each for each in texts if inputs.is_drawn(each))
    return [*found]


def random_fallback_notice(values: Values) -> str | None:
    """What is drawn in place of what the example has set, and why; None. It quotes the person."""
    return " ".join(filter(None, (_of_words(values), _of_sizes(values)))) or None


def _of_words(values: Values) -> str:
    """Which words have no vector of their own, and what follows."""
    if not (drawn := drawn_words(values)):
        return ""
    them, they, ask, get = (
        ("them", "they", "ask", "get") if drawn[1:] else ("it", "it", "asks", "gets")
    )
    said = (
        f"{DRAWN} Drawn at random now, since no vector was made for {them}: "
        f"{listed([f'“{visible(each)}”' for each in drawn])}. "
    )
    if {*inputs_of(values).tokens} <= {*drawn}:
        return f"{said}Your sentence has no other words, so nothing computed from it has a meaning."
    return (
        f"{said}What {they} {ask} for, and how much {they} {get}, means nothing. All other words "
        "keep theirs."
    )


def _of_sizes(values: Values) -> str | None:
    """Which matrices do not fit, or all vectors."""
    example, inputs = example_of(values), inputs_of(values)
    if not example.inputs.vectors and not example.is_trained:
        return None
    if not inputs.has_given_vectors():
        drawn = "Vectors and matrices are" if example.projections.given else "The vectors are"
        why = "the given vectors belong to distinct tokens"
        if inputs.d_in != example.inputs.d_in:
            given = "trained" if example.is_trained else "given"
            why = f"the {given} vectors are {example.inputs.d_in} wide"
        return f"{drawn} drawn at random now, so nothing computed from them has a meaning: {why}."
    names = []
    if values.keys() >= {each.name for each in PROJECTED}:
        recipe = replace(projections_of(values), seed=None, seeds=(None,) * 3)
        if recipe.start == "given":
            names = [f"W_{role}" for role in ROLES if recipe.given_for(role, inputs.d_in) is None]
    if values.keys() >= {each.name for each in HEADS}:
        heads = replace(heads_recipe_of(values), seed=None)
        if heads.start == "given" and heads.given_for(inputs.d_in) is None:
            names.append("all matrices of the heads")
    if not names:
        return None
    made = "trained" if example.is_trained else "set by hand"
    return (
        f"Drawn at random now: {', '.join(names)}. What was {made} does not fit these sizes. "
        "“Back to the example” brings it back."
    )


def has_random_numbers(values: Values) -> bool:
    """Whether vectors or matrices were drawn, so that weights mean nothing for the words."""
    if SENTENCE.name not in values:
        return False
    inputs = inputs_of(values)
    if not inputs.has_given_vectors() or all(map(inputs.is_drawn, inputs.tokens)):
        return True
    made = _recipe_of_page(values)
    if isinstance(made, HeadsRecipe):
        return made.given_for(inputs.d_in) is None
    roles = ("query", "key") if made else ()
    return any(made.given_for(role, inputs.d_in) is None for role in roles)


def is_set_by_hand(values: Values) -> bool:
    """Whether an example that was made to be read stands there as it was made, every number."""
    example = example_of(values)
    asked = inputs_of(values), projections_of(values)
    made_to_be_read = bool(example.projections.given) and not example.is_trained
    return made_to_be_read and asked == (example.inputs, example.projections)


SIMILARITY = Control(
    "similarity", Choice({"dot": "Dot product", "cosine": "Cosine"}), "Compare by", "dot"
)
DIVIDE = Control(
    "divide", Choice({"none": "Nothing", "sqrt_d": "√d"}), "Divide scores by", _own("divide")
)
SHOWN_TERMS = Control(
    "shown_terms",
    Whole(1, MAX_TOKENS),
    "Tokens so far",
    lambda values: len(inputs_of(values).tokens),
    options=lambda values: {n: f"{n}" for n in range(1, len(inputs_of(values).tokens) + 1)},
    of_page=True,
)


@lru_cache(maxsize=64)
def _spread(inputs: Inputs) -> tuple[int, int]:
    from attention_core import largest_effect
    from attention_core.mechanism.simplified import attend
    from attention_core.text.embedding import embed

    if not inputs.tokens:
        return 0, 0
    trace = attend(embed(inputs))
    weights = trace["weights"].value
    row = weights[largest_effect.telling_query(weights)]
    return largest_effect.spread_entries(trace["embeddings"].value, row)


def _drawn_entry(place: int) -> Callable[[Values], int]:
    """The entries in which the vectors differ most that the query with the largest effect mixes."""
    return lambda values: _spread(inputs_of(as_drawn(values)))[place]


ACROSS, UP = (
    Control(name, Whole(0, MAX_WIDTH - 1), f"Entry drawn {name}", _drawn_entry(at), options=entries)
    for at, name in enumerate(("across", "up"))
)
PREDICT = Control("predict", Flag(), "Ask me first", True, stays=True)
LARGE = Control("large", Flag(), "Projector", False, stays=True)
PIN = Control("pin", Query(4_050), "Pin", "", stays=True)
HIDE = Control("hide", Names(), "", (), stays=True)
LOCK = Control("lock", Names(), "", (), stays=True)
DONE = Control("done", Names(), "", (), stays=True)
TASKS = Control("tasks", Lines(MAX_TASKS, 400), "", (), stays=True)
SECTION = Control("section", Word(), "", "", of_page=True)
"""The card in which a cell is open."""
CELL = Control("cell", Trail(), "", None, of_page=True)
"""The way to the cell that is open, its start first; () for none."""
CARD = Control("card", Word(), "", "", of_page=True)
"""The one card that is shown, without anything around it; "" for the whole page."""
PAPER = Control("paper", Flag(), "", False, of_page=True)
"""Whether the page is a hand-out."""
AROUND = (PREDICT, LARGE, PIN, HIDE, LOCK, DONE, TASKS, SECTION, CELL, CARD, PAPER)
"""What stands around every page."""
M_BYTES = Control(
    "m_bytes",
    Choice({"4": "4 (float32)", "2": "2 (bfloat16)", "1": "1 (8 bits)"}),
    "Bytes per number",
    "2",
)
