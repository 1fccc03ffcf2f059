"""One set of settings for all pages. Knows no link and no session.

A setting is one line of `Settings`: its name, its field, its label and its start, and where they
apply its bounds beside other settings, its choices and the look of its widget.
"""

from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields, replace
from typing import Any

from attention_core.costs import KNOWN
from attention_core.examples import EXAMPLES, Example
from attention_core.mechanism.tiling import Tile, tiles_of
from attention_core.mistakes.named import NAMED, Named
from attention_core.published import NOTEBOOKS
from attention_core.recipes import (
    MAX_HEADS,
    NORMALISERS,
    ROLES,
    SCALES,
    STARTS,
    HeadsRecipe,
    MaskRecipe,
    Projections,
    even_width,
)
from attention_core.small_models.figures import Head, shipped_figures
from attention_core.small_models.grammar import WORDS
from attention_core.text.inputs import RANDOM_ID_ROWS, TRAINED, VOCABULARIES, Inputs
from attention_core.text.tokenizers import TINY_LANGUAGE, TOKENIZERS, visible

from .fields import (
    MAX_TOKENS,
    CellPlace,
    Choice,
    Decimal,
    Edits,
    Field,
    Flag,
    KnownWords,
    Lines,
    OptionalWhole,
    Pages,
    Places,
    ScoreRow,
    Search,
    Sentence,
    Trail,
    Whole,
    Word,
)
from .setting import Setting, setting

MAX_WIDTH = 64
MAX_SEED = 2**32 - 1
MAX_HEAD_WIDTH = 32
MAX_JOINED = 96
"""The columns of all heads together: wider matrices are slow to draw."""


WAYS_TO_HIDE = {
    "minus_infinity": "−∞ before softmax",
    "zero_filled": "0 before softmax",
    "zeroed": "0 after softmax",
    "renormalised": "0 after, then divided by the sum",
}
SIMILARITIES = {"dot": "Dot product", "cosine": "Cosine"}
DIVISORS = {"none": "Nothing", "sqrt_d": "√d"}
LEARNED = {"sentence": "This sentence", "example": "The example's sentence"}
ROW_FROM = {"example": "The example", "hand": "By hand"}
PRECISIONS = {"float32": "float32", "float16": "float16", "bfloat16": "bfloat16"}
MAX_SCORES = 16
MAX_SCORE = 1_000.0
FACTORS = (0, 1 / 16, 1 / 8, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128)
ENTRIES = {"normal": "Normal", "uniform": "Uniform around 0", "uniform_0_1": "Uniform from 0 to 1"}
LOOKS = {
    "histogram": "q·k, many times",
    "width": "Variance against d",
    "attention": "What softmax makes of it",
}
NORMS = {"before": "Before each part", "after": "After each part"}
BLOCKS = {"encoder": "Encoder", "decoder": "Decoder"}
ACTIVATIONS = {"relu": "ReLU", "gelu": "GELU"}
CUTS = {"split": "Split, then transpose", "reshape": "Reshape alone"}
ZEROED = {role: f"W_{role}" for role in ROLES}
AXES = {"log": "Logarithmic", "linear": "Linear"}
VECTOR_WIDTHS = (*range(1, 9), 12, 16, 24, 32, 48, 64, 100, 128, 256, 512, 768, 1_024, 2_048, 4_096)
TRIAL_COUNTS = (10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000)
AUTO = "*auto* shares d_model evenly among the heads."
TABLE_ROWS = (7, 9, 100, 1_000, 5_000, 10_000, 20_000, 50_257, 100_000, 200_000)
TABLE_WIDTHS = (2, 3, 16, 32, 64, 128, 256, 512, 768, 1_024, 2_048, 4_096)

STEPS = (10, 100, 200, 500, 1_000, 2_000, 5_000)
RATES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 100.0, 1_000.0)
TRAINED_WIDTHS = (1, 2, 4, 8, 16, 32, 64)


NEXT_WORDS = {"likeliest": "The likeliest one", **dict(zip(WORDS[1:], WORDS[1:], strict=True))}


def head_called(head: Head) -> str:
    """A head of the tiny language's network, by the name that was measured for it."""
    names = shipped_figures().names(head)
    return f"layer {head[0]} head {head[1]} ({', '.join(names) if names else 'no name fits'})"


def head_briefly(head: Head) -> str:
    """The same, short enough for a chart: `1.2 opening mark and 2 more`."""
    first, *more = shipped_figures().names(head) or ("no name",)
    return f"{_written(head)} {first}" + (f" and {len(more)} more" if more else "")


def _written(head: Head) -> str:
    return ".".join(map(str, head))


TINY_HEADS = {_written(head): head_called(head) for head in shipped_figures().heads}
"""The heads of the tiny language's network."""
FIRST_WATCHED = _written(shipped_figures().best("pronoun to noun"))
TEMPERATURES = (0.1, 0.2, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0)
OPENED = {
    "queries": "queries",
    "keys": "keys",
    "values": "values",
    "scores": "scores",
    "weights": "weights",
    "context_vectors": "context_vectors",
    "output": "output",
}


LEVELS = {"one": "One red light", "several": "Several", "none": "No red light"}
"""How many lights of an unseen mistake are red."""
TENSORS = {
    "token_ids": "Ids",
    "embeddings": "Embeddings",
    "head_queries": "Queries, keys and values",
    "mask": "Mask",
    "head_weights": "Weights",
    "head_context_vectors": "Context vectors",
    "output": "Output of the heads",
    "normed": "After layer norm",
    "layer_output": "Output of the layer",
}
VERDICTS = {
    "all": "Everything",
    "print": "As printed",
    "slack": "Within the slack",
    "older": "By an older version",
    "never": "Cannot be computed",
    "differs": "Differs",
}
"""What may have come of a published result, by its name in `attention_core.published.report`."""
RESULT_KINDS = {
    "all": "Everything",
    "tensor": "Tensors",
    "scalar": "Single numbers",
    "ints": "Whole numbers",
    "shape": "Shapes",
    "bool": "True or False",
    "text": "Texts",
    "derived": "Relations between numbers",
}
MAX_BLOCKS = 8
"""Into so many blocks at most the queries, and the keys, are cut: each tile takes a dozen steps."""
PLURALS = {"query": "queries", "key": "keys"}
TOKEN_COUNTS = (64, 256, 1_024, 2_048, 4_096, 8_192, 16_384, 32_768, 65_536, 131_072)
FAST_MEMORIES = (16, 32, 48, 64, 96, 128, 160, 192, 224, 256)
MAX_TASKS = 12
SECTIONS = {
    "contents": "Contents, previous and next",
    "glossary": "Glossary",
    "pin": "Pin and compare",
    "share": "Share",
    "answers": "What you can now answer",
    "take_away": "Take it with you",
}
"""What a teacher's link can leave out beside controls."""


PLACES = {"none": "None", "rotary": "Rotary", "alibi": "ALiBi"}
"""How attention itself may tell where tokens stand."""
CAPS = (0.0, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0)
COST_MODELS = {name: each.title for name, each in KNOWN.items()} | {"own": "Sizes of your own"}
BYTES = {"4": "4 (float32)", "2": "2 (bfloat16)", "1": "1 (8 bits)"}
MODEL_LAYERS = (1, 2, 4, 6, 8, 12, 16, 24, 28, 32, 40, 48, 64, 80, 96, 128)
MODEL_WIDTHS = (64, 128, 256, 512, 768, 1_024, 1_600, 2_048, 3_072, 4_096, 5_120, 8_192, 16_384)
MODEL_HEADS = (1, 2, 4, 8, 12, 16, 24, 32, 40, 48, 64, 96, 128)
MODEL_HEAD_WIDTHS = (16, 32, 64, 80, 96, 128, 256)
CONTEXTS = (256, 512, 1_024, 2_048, 4_096, 8_192, 16_384, 32_768, 65_536, 131_072, 1_048_576)
WINDOWS = (0, *CONTEXTS[:-1])


def mistake_called(mistake: Named) -> str:
    """A mistake in the list of the lab."""
    return f"{mistake.title} (no light sees it)" if mistake.unseen else mistake.title


class Pinned:
    """Other settings, as the parameters of a link."""

    def read(self, text: str) -> str:
        from .link import read_pin  # a link may hold another one

        return read_pin(text)

    def write(self, value: str) -> str:
        return value


@dataclass(frozen=True)
class Names:
    """Controls, by the names of their settings, and `others`, with commas between them."""

    others: tuple[str, ...] = ()

    def read(self, text: str) -> tuple[str, ...]:
        said = text.split(",") if text else []
        names = tuple(dict.fromkeys(ALIASES.get(name, name) for name in said))
        if any(name not in FIELDS and name not in self.others for name in names):
            raise ValueError("it must be names of controls, such as seed,d_in")
        return names

    def write(self, value: tuple[str, ...]) -> str:
        return ",".join(value)


def _tokens(settings: "Settings") -> dict[int, str]:
    return dict(enumerate(settings.numbered_tokens))


def _last_token(settings: "Settings") -> tuple[int, str]:
    last = len(settings.inputs.tokens) - 1
    return max(last, 0), f"the last token is {last}"


def _entries(settings: "Settings") -> dict[int, str]:
    inputs = settings.inputs
    names = inputs.components if inputs.has_given_vectors() else ()
    return dict(enumerate(names or (f"d{column}" for column in range(settings.d_in))))


def _starts(settings: "Settings") -> dict[str, str]:
    """How matrices can begin: set by hand, or trained, only where the example has such."""
    example = EXAMPLES[settings.example]
    given = {"given": "Trained"} if example.is_trained else {"given": STARTS["given"]}
    drawn = {name: title for name, title in STARTS.items() if name != "given"}
    return drawn | (given if example.projections.given else {})


def _tokenizers(settings: "Settings") -> dict[str, str]:
    """A trained network reads its own tokens, and nobody else does."""
    trained = EXAMPLES[settings.example].is_trained
    return {
        name: each.title for name, each in TOKENIZERS.items() if (name == TINY_LANGUAGE) == trained
    }


def _vocabularies(settings: "Settings") -> dict[str, str]:
    """A trained network has a vector for each of its own words, and for no others."""
    trained = EXAMPLES[settings.example].is_trained
    return {name: title for name, title in VOCABULARIES.items() if (name == TRAINED) == trained}


def _last_entry(settings: "Settings") -> tuple[int, str]:
    return max(settings.d_in - 1, 1), f"vectors are {settings.d_in} wide"


def _heads(settings: "Settings") -> dict[int, str]:
    given = settings.heads_recipe.given_for(settings.d_in)
    if given:
        return {head: f"{head}: {name}" for head, name in enumerate(given.names)}
    return {head: str(head) for head in range(settings.n_heads)}


def _last_head(settings: "Settings") -> tuple[int, str]:
    return settings.n_heads - 1, f"the last head is {settings.n_heads - 1}"


def _sharing(n_heads: int) -> list[int]:
    """The numbers of key/value heads that query heads can share evenly."""
    return [count for count in range(1, n_heads + 1) if n_heads % count == 0]


def _kv_heads(heads: str) -> dict[str, Any]:
    """What can be chosen of a number of key/value heads, beside the setting of query heads."""
    return {
        "choices": lambda settings: {count: str(count) for count in _shared_by(settings, heads)},
        "limit": lambda settings: (
            getattr(settings, heads),
            f"there are {getattr(settings, heads)} query heads",
        ),
        "only_choices": True,
    }


def _shared_by(settings: "Settings", heads: str) -> list[int]:
    return _sharing(getattr(settings, heads))


def _windows(settings: "Settings") -> dict[int, str]:
    """What a link named beyond this text is one: it counts again when the text is longer."""
    windows = {*range(len(settings.inputs.tokens) + 1), settings.window}
    return {window: str(window) if window else "all" for window in sorted(windows)}


def _hidden_keys(settings: "Settings") -> dict[int, str]:
    """What a link named beyond this text is one, as with windows."""
    keys = _tokens(settings)
    if settings.hidden is not None:
        keys.setdefault(settings.hidden, f"{settings.hidden}: not in this text")
    return keys


def _token(label: str, start: object = MISSING, **about: Any) -> Any:
    """A setting that is one of the tokens."""
    kind = Whole(0, MAX_TOKENS - 1)
    return setting(kind, label, start, choices=_tokens, limit=_last_token, **about)


def _entry(label: str, start: int) -> Any:
    """A setting that is one of the entries of a vector."""
    kind, about = Whole(0, MAX_WIDTH - 1), {"choices": _entries, "limit": _last_entry}
    return setting(kind, label, start, view_only=True, **about)


def _tile_size(label: str, axis: str) -> Any:
    """A setting that is how many queries, or keys, a tile has."""

    def sizes(settings: "Settings") -> dict[int, str]:
        """What a link named beyond this text is one: it counts again when it fits."""
        n_tokens, chosen = len(settings.inputs.tokens), getattr(settings, f"tile_{PLURALS[axis]}")
        found = {size: str(size) for size in range(least_tile(n_tokens), n_tokens + 1)}
        used = fitting_tile(chosen, n_tokens)
        return found if chosen in found else {chosen: f"{chosen}: {used} is used here", **found}

    return setting(Whole(1, MAX_TOKENS), label, 3, choices=sizes, widget="select_slider")


def least_tile(n_tokens: int) -> int:
    """The smallest tile of which a table's side has no more than MAX_BLOCKS."""
    return max(1, -(-n_tokens // MAX_BLOCKS))


def fitting_tile(size: int, n_tokens: int) -> int:
    """A size of tile as it is used with so many tokens."""
    return max(least_tile(n_tokens), min(size, n_tokens))


def _visited(settings: "Settings") -> dict[int, str]:
    """The tiles, in the order in which they are gone through."""
    tiles = settings.visited_tiles
    found = {at: tile_called(tile) for at, tile in enumerate(tiles)}
    last = tile_called(tiles[-1])
    return found if settings.tile in found else found | {settings.tile: f"{last}, the last"}


def tile_called(tile: Tile) -> str:
    """A tile by its places: `queries 0 to 2, keys 3 to 5`."""
    sides = (("quer", "y", "ies", tile.queries), ("key", "", "s", tile.keys))
    return ", ".join(
        f"{stem}{one} {places[0]}"
        if len(places) == 1
        else f"{stem}{many} {places[0]} to {places[-1]}"
        for stem, one, many, places in sides
    )


def _last_tile(settings: "Settings") -> tuple[int, str]:
    last = len(settings.visited_tiles) - 1
    return max(last, 1), f"the last tile is {last}"


def _head(label: str) -> Any:
    """A setting that is one of the heads."""
    return setting(
        Whole(0, MAX_HEADS - 1),
        label,
        0,
        choices=_heads,
        limit=_last_head,
        view_only=True,
        widget="segmented_control",
    )


def _seed(label: str, start: object = MISSING, **about: Any) -> Any:
    """A seed is typed: an infinite value in a link crashes a whole-number `number_input`."""
    kind = OptionalWhole(0, MAX_SEED) if start is None else Whole(0, MAX_SEED)
    return setting(kind, label, start, widget="text_input", **about)


def _edits(label: str, table: "Callable[[Settings], tuple[str, int, int]]", made_by: str) -> Any:
    """Numbers typed into a table, and the settings that make another table of it."""
    return setting(Edits(), label, (), table=table, made_by=frozenset(made_by.split()))


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What is on the screen. Always valid: a value gets here only through its field.

    Settings without a start are the example's own: `Settings.of` has them.
    """

    # The sentence and its embeddings, on every page.
    example: str = setting(
        Choice({name: example.title for name, example in EXAMPLES.items()}),
        "Example",
        widget="selectbox",
        help="Choosing one sets everything below to its numbers. The first has entries with names, "
        "the second was trained, and the others are published notebooks.",
    )
    sentence: str = setting(Sentence(), "Text", once="text", height=96)
    tokenizer: str = setting(
        Choice({name: each.title for name, each in TOKENIZERS.items()}),
        "Tokenizer",
        choices=_tokenizers,
    )
    vocabulary: str = setting(Choice(VOCABULARIES), "Ids", once="ids", choices=_vocabularies)
    learned: str = setting(Choice(LEARNED), "Vocabulary built from", "sentence", widget="selectbox")
    reserved: int = setting(Whole(0, 8), "Reserved rows")
    seed: int = _seed("Seed", help=f"A whole number from 0 to {MAX_SEED:,}.")
    d_in: int = setting(Whole(1, MAX_WIDTH), "Width of the vectors, d_in", once="width")
    drop_blanks: bool = setting(Flag(), "Drop blank tokens", False)
    positions: bool = setting(Flag(), "Positions")
    edits: tuple[tuple[int, int, float], ...] = _edits(
        "Numbers typed into the embeddings",
        lambda settings: ("the table of embeddings", settings.n_rows, settings.d_in),
        "sentence tokenizer vocabulary learned reserved seed d_in",
    )
    # What is looked at.
    query: int = _token("Query")
    beat: str = setting(Word(), start="", view_only=True)
    cell: tuple[CellPlace, ...] | None = setting(Trail(), start=None, view_only=True)
    """The trail to the chosen cell, its start first; () for none, None for the lesson's own."""
    predict: bool = setting(
        Flag(),
        "Ask me to predict",
        True,
        view_only=True,
        help="Some answers stay covered until you have made a guess.",
    )
    pin: str = setting(Pinned(), start="", view_only=True)
    """Settings to compare with, as the parameters of a link; '' for none."""
    hide: tuple[str, ...] = setting(Names(tuple(SECTIONS)), start=(), view_only=True)
    """Controls and sections that a teacher's link leaves out."""
    lock: tuple[str, ...] = setting(Names(), start=(), view_only=True)
    """Controls that a teacher's link shows and does not let be changed."""
    only: str = setting(Word(), start="", view_only=True)
    """The one equation that is shown, without anything around it; '' for the whole page."""
    large: bool = setting(
        Flag(),
        "Projector view",
        False,
        view_only=True,
        help="Large type, and the arrow keys ← and → go from card to card.",
    )
    done: tuple[str, ...] = setting(Pages(), start=(), view_only=True)
    """The lessons that the person has marked as done."""
    tasks: tuple[str, ...] = setting(Lines(MAX_TASKS, 400), start=(), view_only=True)
    """A teacher's tasks, in order."""
    # Mistakes.
    mistake: str = setting(
        Choice({name: mistake_called(each) for name, each in NAMED.items()}),
        "Mistake",
        next(iter(NAMED)),
        widget="selectbox",
    )
    level: str = setting(Choice(LEVELS), "Level", "one")
    round_seed: int = _seed("Round", 0)
    tensor: str = setting(
        Choice(TENSORS), "Tensor", "head_weights", view_only=True, widget="selectbox"
    )
    # Tokenize and embed.
    table_rows: int = setting(
        Whole(7, 200_000, TABLE_ROWS),
        "Rows: tokens in the vocabulary",
        20_000,
        shown="{:,}",
        view_only=True,
    )
    table_width: int = setting(
        Whole(2, 4_096, TABLE_WIDTHS), "Width of a vector", 32, view_only=True
    )
    across: int = _entry("Entry drawn across", 0)
    up: int = _entry("Entry drawn up", 1)
    # Simplified attention.
    similarity: str = setting(Choice(SIMILARITIES), "Compare by", "dot", once="likeness")
    divide: str = setting(Choice(DIVISORS), "Divide scores by")
    stretch: int = _token("Stretch the vector of", 0, view_only=True)
    factor: float = setting(Decimal(-4, 4), "Stretch factor", 1.0, view_only=True, step=0.1)
    upto: int = setting(Whole(1, MAX_TOKENS), start=MAX_TOKENS, view_only=True)
    # Softmax or dividing by the sum.
    row_from: str = setting(Choice(ROW_FROM), "Scores from", "example")
    typed: tuple[float, ...] = setting(
        ScoreRow(MAX_SCORE, MAX_SCORES),
        "Scores",
        (3.0, 1.0, -1.0, -1.0),
        hint=f"1 to {MAX_SCORES} numbers",
        help=f"Numbers from −{MAX_SCORE:,.0f} to {MAX_SCORE:,.0f} with commas between them. "
        "Type -inf for a key that is hidden.",
    )
    poor: float = setting(
        Decimal(-6, 2), "Score of the poor match", -4.0, view_only=True, step=0.5, format="%.1f"
    )
    shift: float = setting(
        Decimal(-10, 10), "Add to all scores", 0.0, view_only=True, step=0.1, format="%.3f"
    )
    magnify: float = setting(
        Decimal(0, 128, FACTORS), "Multiply all scores by", 1.0, view_only=True, shown="×{:g}"
    )
    push: float = setting(
        Decimal(-150, 150), "Add to all scores, until they overflow", 90.0, view_only=True, step=0.5
    )
    precision: str = setting(Choice(PRECISIONS), "Numbers are kept in", "float32", view_only=True)
    # Why divide by √d.
    draw_seed: int = _seed("Seed of this lesson", 0)
    vd: int = setting(Whole(1, 4_096, VECTOR_WIDTHS), "Width d", 128, view_only=True)
    trials: int = setting(
        Whole(10, 100_000, TRIAL_COUNTS), "Trials", 1_000, view_only=True, shown="{:,}"
    )
    entries: str = setting(Choice(ENTRIES), "Entries", "normal", view_only=True, widget="selectbox")
    spread: float = setting(
        Decimal(0.1, 5), "Standard deviation of the entries", 1.0, view_only=True, step=0.1
    )
    vlook: str = setting(Choice(LOOKS), "Look at", "histogram", view_only=True)
    vaxes: str = setting(Choice(AXES), "Axes", "log", view_only=True)
    # Trainable queries, keys and values.
    token: int = _token("Token")
    start: str = setting(Choice(STARTS), "Start as", choices=_starts, widget="segmented_control")
    d_out: int = setting(Whole(1, MAX_WIDTH), "Width of queries and keys, d_out")
    d_v: int = setting(Whole(1, MAX_WIDTH), "Width of values, d_v")
    scale: str = setting(Choice(SCALES), "Divide scores of queries and keys by", "sqrt_d")
    bias: bool = setting(Flag(), "Bias", False)
    w_seed: int | None = _seed("Seed of all three matrices", None, placeholder="as the example")
    q_seed: int | None = _seed("Seed of W_query", None, placeholder="as the example")
    k_seed: int | None = _seed("Seed of W_key", None, placeholder="as the example")
    v_seed: int | None = _seed("Seed of W_value", None, placeholder="as the example")
    q_edits: tuple[tuple[int, int, float], ...] = _edits(
        "Numbers typed into W_query",
        lambda settings: ("W_query", settings.d_in, settings.d_out),
        "start d_in w_seed d_out q_seed",
    )
    k_edits: tuple[tuple[int, int, float], ...] = _edits(
        "Numbers typed into W_key",
        lambda settings: ("W_key", settings.d_in, settings.d_out),
        "start d_in w_seed d_out k_seed",
    )
    v_edits: tuple[tuple[int, int, float], ...] = _edits(
        "Numbers typed into W_value",
        lambda settings: ("W_value", settings.d_in, settings.d_v),
        "start d_in w_seed d_v v_seed",
    )
    zeroed: str = setting(Choice(ZEROED), "Set to 0", "value", view_only=True)
    steps: int = setting(Whole(10, 5_000, STEPS), "Training steps", 2_000, view_only=True)
    rate: float = setting(Decimal(0.01, 1_000, RATES), "Learning rate", view_only=True)
    t_width: int = setting(
        Whole(1, 64, TRAINED_WIDTHS), "Width d_out of the trained layer", 32, view_only=True
    )
    t_seed: int = _seed("Seed of the training", 28, view_only=True)
    t_scaled: bool = setting(Flag(), "Divide by √d in training", True, view_only=True)
    # A tiny language.
    beginning: str = setting(
        KnownWords(),
        "Your beginning",
        "the tired cat sees the dog because it",
        widget="text_input",
    )
    tiny_head: str = setting(
        Choice(TINY_HEADS), "Head to watch", FIRST_WATCHED, widget="selectbox", view_only=True
    )
    tiny_off: str = setting(
        Choice({"none": "none", **TINY_HEADS}),
        "Head to switch off",
        "none",
        widget="selectbox",
        view_only=True,
    )
    next_word: str = setting(
        Choice(NEXT_WORDS), "Next word", "likeliest", widget="selectbox", view_only=True
    )
    # The causal mask.
    causal: bool = setting(Flag(), "Causal: no later key", True)
    window: int = setting(
        Whole(0, MAX_TOKENS),
        "Window: keys, its own included",
        0,
        choices=_windows,
        widget="select_slider",
        help="3 is the query's own key and the 2 before it; without the causal rule also the 2 "
        "after it.",
    )
    """How many keys back a query may look, itself included; 0 for all."""
    hidden: int | None = setting(
        OptionalWhole(0, MAX_TOKENS - 1),
        "Key hidden from every query",
        None,
        choices=_hidden_keys,
        index=None,
        placeholder="none",
    )
    """A key that no query may look at, such as padding."""
    turned: tuple[tuple[int, int], ...] = setting(
        Places(32), "Cells of the mask flipped by hand", ()
    )
    way: str = setting(Choice(WAYS_TO_HIDE), "Hide by", "zero_filled")
    changed_token: int = _token("Change the vector of", view_only=True)
    change_by: float = setting(Decimal(-4, 4), "Add to each entry", 1.0, view_only=True, step=0.1)
    dropout: float = setting(
        Decimal(0, 0.9), "Chance of being dropped", 0.2, view_only=True, step=0.05
    )
    drop_seed: int = setting(Whole(0, 20), "Seed of the draw", 0, view_only=True)
    # Multi-head attention. A width of 0 is d_model, shared evenly.
    n_heads: int = setting(Whole(1, MAX_HEADS), "Heads", once="heads", widget="select_slider")
    d_model: int = setting(
        Whole(1, MAX_WIDTH),
        "Width of the output, d_model",
        widget="select_slider",
        help="How many numbers the layer gives for each token. The heads split it evenly.",
    )
    d_head: int = setting(
        Whole(0, MAX_HEAD_WIDTH), "Width of a head, d_head", widget="select_slider", help=AUTO
    )
    d_value: int = setting(
        Whole(0, MAX_HEAD_WIDTH), "Width of a value, d_value", widget="select_slider", help=AUTO
    )
    causal_heads: bool = setting(Flag(), "Causal: hide what comes later")
    h_seed: int | None = _seed("Seed of the heads' matrices", None, placeholder="as the example")
    # Cross-attention.
    source: str = setting(Sentence(), "Source: the sentence that is looked at", widget="text_input")
    padding: int = setting(Whole(0, 3), "Places of padding", 2, view_only=True)
    # Flash attention.
    tile_queries: int = _tile_size("Queries in a tile", "query")
    tile_keys: int = _tile_size("Keys in a tile", "key")
    tile: int = setting(
        Whole(0, MAX_BLOCKS**2 - 1),
        "Tile to take apart",
        1,
        choices=_visited,
        limit=_last_tile,
        widget="selectbox",
    )
    flash_tokens: int = setting(
        Whole(64, 131_072, TOKEN_COUNTS), "Tokens", 8_192, shown="{:,}", view_only=True
    )
    flash_width: int = setting(
        Whole(16, 256, (16, 32, 64, 128, 256)), "Width of one head", 64, view_only=True
    )
    fast_memory: int = setting(
        Whole(16, 256, FAST_MEMORIES), "Fast memory, in KiB", 160, view_only=True
    )
    # The transformer block.
    norm: str = setting(Choice(NORMS), "Layer norms", "before")
    block: str = setting(Choice(BLOCKS), "Kind of block", "encoder")
    activation: str = setting(Choice(ACTIVATIONS), "Between the two linear layers", "relu")
    wider: int = setting(
        Whole(1, 4, (1, 2, 4)), "Hidden width of the feed-forward", 4, shown="{:g} × d_in"
    )
    block_seed: int = _seed("Seed of the block's weights", 0)
    # The attention of today.
    kv_heads: int = setting(
        Whole(1, MAX_HEADS),
        "Key/value heads",
        widget="segmented_control",
        **_kv_heads("n_heads"),
    )
    places: str = setting(Choice(PLACES), "Places told by", "rotary")
    sinks: int = setting(
        Whole(0, 4),
        "Sinks: first keys that stay",
        0,
        choices=lambda _: {count: str(count) if count else "none" for count in range(5)},
        widget="select_slider",
        help="With a window, so many of the first keys stay visible from everywhere.",
    )
    soft_cap: float = setting(
        Decimal(0, 50, CAPS),
        "Soft cap: the most that a score can be",
        0.0,
        choices=lambda _: {cap: f"±{cap:g}" if cap else "off" for cap in CAPS},
        widget="select_slider",
    )
    moved_by: int = setting(
        Whole(0, 1_000, (0, 1, 10, 100, 1_000)),
        "Move the text by so many places",
        10,
        view_only=True,
        shown="{:,}",
    )
    decoded: int = _token("Token that is written now", view_only=True)
    cost_model: str = setting(Choice(COST_MODELS), "Model", "llama3", view_only=True)
    m_bytes: str = setting(Choice(BYTES), "Bytes per number", "2", view_only=True)
    m_layers: int = setting(Whole(1, 128, MODEL_LAYERS), "Layers of the model", 32, view_only=True)
    m_width: int = setting(
        Whole(64, 16_384, MODEL_WIDTHS),
        "Width of the model",
        4_096,
        shown="{:,}",
        view_only=True,
    )
    m_heads: int = setting(
        Whole(1, 128, MODEL_HEADS), "Query heads of the model", 32, view_only=True
    )
    m_kv_heads: int = setting(
        Whole(1, 128),
        "Its key/value heads",
        8,
        view_only=True,
        **_kv_heads("m_heads"),
    )
    m_d_head: int = setting(
        Whole(16, 256, MODEL_HEAD_WIDTHS), "Width of each of its heads", 128, view_only=True
    )
    m_context: int = setting(
        Whole(256, 1_048_576, CONTEXTS), "Tokens of context", 8_192, shown="{:,}", view_only=True
    )
    m_window: int = setting(
        Whole(0, 131_072, WINDOWS),
        "Tokens in its window, 0 for all",
        4_096,
        shown="{:,}",
        view_only=True,
    )
    # The whole layer.
    normalise: str = setting(Choice(NORMALISERS), "Shares by", "softmax")
    temperature: float = setting(
        Decimal(0.1, 10, TEMPERATURES),
        "Temperature",
        1.0,
        help="Below 1, the largest score takes most of the weight; above 1, it is shared more "
        "evenly. All scores are divided by it.",
    )
    layer_dropout: float = setting(
        Decimal(0, 0.9, (0, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9)), "Dropout", 0.0, shown="{:g}"
    )
    opened: str = setting(Choice(OPENED), "Show the numbers of", "weights", view_only=True)
    head: int = _head("Head")
    head_off: int = _head("Switch off head")
    head_cut: int = _head("Head that is cut")
    cut_by: str = setting(Choice(CUTS), "Cut by", "reshape", view_only=True)
    # How heads learn.
    network_seed: int = _seed("Seed of the network", 1, view_only=True)
    # The notebooks' numbers.
    notebook: str = setting(
        Choice({name: EXAMPLES[name].title for name in NOTEBOOKS}),
        "Notebook",
        widget="selectbox",
        view_only=True,
    )
    verdict: str = setting(
        Choice(VERDICTS), "What came of it", "all", widget="selectbox", view_only=True
    )
    kind: str = setting(
        Choice(RESULT_KINDS), "Kind of result", "all", widget="selectbox", view_only=True
    )
    search: str = setting(
        Search(60),
        "Words or digits",
        "",
        widget="text_input",
        view_only=True,
        placeholder="softmax, or 0.7682",
    )

    @staticmethod
    def of(example: Example) -> "Settings":
        """The settings that show an example's own numbers."""
        inputs = example.inputs
        return Settings(
            example=example.name,
            sentence=inputs.sentence,
            tokenizer=inputs.tokenizer,
            vocabulary=inputs.vocabulary,
            reserved=inputs.reserved,
            seed=inputs.seed,
            d_in=inputs.d_in,
            positions=inputs.positions,
            query=example.query,
            divide=example.divide,
            token=example.token,
            changed_token=len(inputs.tokens) - 1,
            decoded=len(inputs.tokens) - 1,
            start=example.projections.start,
            d_out=example.projections.d_out,
            d_v=example.projections.d_v,
            rate=example.learning_rate,
            source=example.source,
            notebook=example.notebook or NOTEBOOKS[0],
            **_of_heads(example.heads),
        )

    @property
    def fixed(self) -> set[str]:
        """Settings that stay whatever example is shown, those that a link has fixed among them."""
        return {*KEPT, *self.hide, *self.lock} & FIELDS.keys()

    @property
    def start_of_own(self) -> "Settings":
        """The example's own settings, with those that name a token as this text has it start."""
        plain = Settings.of(EXAMPLES[self.example])
        last = max(len(self.inputs.tokens) - 1, 0)
        query, token = min(plain.query, last), min(plain.token, last)
        return replace(plain, query=query, token=token, changed_token=last, decoded=last)

    @property
    def inputs(self) -> Inputs:
        """What `attention_core.embed` needs to know."""
        example = EXAMPLES[self.example]
        own_seed = self.seed == example.inputs.seed
        return replace(
            example.inputs,
            sentence=self.sentence,
            tokenizer=self.tokenizer,
            vocabulary=self.vocabulary,
            learned_from=example.inputs.sentence if self.learned == "example" else None,
            reserved=self.reserved,
            seed=self.seed,
            skipped_draws=example.inputs.skipped_draws if own_seed else 0,
            d_in=self.d_in,
            drop_blanks=self.drop_blanks,
            positions=self.positions,
            edits=self.edits,
        )

    @property
    def n_rows(self) -> int:
        """The rows of the table of embeddings. Raises ValueError where there is no vocabulary."""
        random = self.vocabulary == "random"
        return RANDOM_ID_ROWS if random else self.inputs.build_vocabulary().n_rows

    @property
    def projections(self) -> Projections:
        """What `attention_core.attend_trainable` needs to know."""
        example = EXAMPLES[self.example]
        recipe = example.projections
        start = "rand" if self.start == "given" and not self.has_given_vectors else self.start
        if start != recipe.start:
            recipe = example.linear if start == "linear" else replace(recipe, start="rand")
        if self.w_seed is not None:
            recipe = replace(recipe, seed=self.w_seed, skipped_draws=0)
        return replace(
            recipe,
            d_out=self.d_out,
            d_v=self.d_v,
            scale=self.scale,
            bias=self.bias,
            seeds=(self.q_seed, self.k_seed, self.v_seed),
            edits=(self.q_edits, self.k_edits, self.v_edits),
        )

    @property
    def mask(self) -> MaskRecipe:
        """Which query may look at which key."""
        return MaskRecipe(self.causal, self.window or None, self.hidden, self.turned)

    @property
    def tiles(self) -> tuple[Tile, ...]:
        """The tiles that flash attention cuts this text's table into, in their order; of a text
        without tokens, which is refused elsewhere, those of one token.
        """
        n_tokens = max(len(self.inputs.tokens), 1)
        sizes = (fitting_tile(size, n_tokens) for size in (self.tile_queries, self.tile_keys))
        return tiles_of(n_tokens, n_tokens, *sizes, causal=self.causal_heads)

    @property
    def visited_tiles(self) -> tuple[Tile, ...]:
        """Those of them that are computed."""
        return tuple(tile for tile in self.tiles if not tile.is_hidden)

    @property
    def chosen_tile(self) -> Tile:
        """The tile to take apart."""
        visited = self.visited_tiles
        return visited[min(self.tile, len(visited) - 1)]

    @property
    def linear_projections(self) -> Projections:
        """The same, as `torch.nn.Linear` starts and the example seeds it."""
        return replace(self, start="linear").projections

    @property
    def heads_recipe(self) -> HeadsRecipe:
        """What `attention_core.attend_heads` needs to know.

        Raises ValueError where d_model cannot be shared, or all heads together are too wide.
        """
        recipe = EXAMPLES[self.example].heads
        if recipe.start == "given" and not self.has_given_vectors:
            recipe = replace(recipe, start="linear")
        recipe = replace(
            recipe,
            n_heads=self.n_heads,
            d_head=self.d_head or self._even_width(),
            d_value=self.d_value or self._even_width(),
            d_model=self.d_model,
            causal=self.causal_heads,
        )
        widest = max(recipe.d_head, recipe.d_value)
        if self.n_heads * widest > MAX_JOINED:
            raise ValueError(
                f"{self.n_heads} heads of width {widest} are {self.n_heads * widest} columns; at "
                f"most {MAX_JOINED} fit. Take {MAX_JOINED // widest} heads, or a width of up to "
                f"{MAX_JOINED // self.n_heads}"
            )
        return recipe if self.h_seed is None else replace(recipe, seed=self.h_seed, skipped=())

    @property
    def layer_recipe(self) -> HeadsRecipe:
        """The heads of the whole layer, with all that can be done to their scores and weights.

        Raises ValueError as `heads_recipe` does.
        """
        return replace(
            self.heads_recipe,
            scale=self.scale,
            temperature=self.temperature,
            normalise=self.normalise,
            dropout=self.layer_dropout,
            dropout_seed=self.drop_seed,
        )

    def _even_width(self) -> int:
        """The width of heads that share d_model. Raises ValueError with all ways out of it."""
        try:
            return even_width(self.d_model, self.n_heads)
        except ValueError as error:
            below = self.d_model // self.n_heads * self.n_heads
            near = [str(d) for d in (below, below + self.n_heads) if 0 < d <= MAX_WIDTH]
            ways = f"take a d_model of {' or '.join(near)}, or set d_head and d_value"
            raise ValueError(f"{error}. Or {ways} yourself") from None

    @property
    def has_given_vectors(self) -> bool:
        """Whether the vectors are those that were given with the example."""
        return self.inputs.has_given_vectors()

    @property
    def first_query(self) -> int:
        """The query whose weights a picture of all shows first: the example's, else the last."""
        last = len(self.inputs.tokens) - 1
        told = EXAMPLES[self.example].shown_first
        return last if told is None or self.has_own_text else min(told, last)

    @property
    def visible_tokens(self) -> tuple[str, ...]:
        """The tokens as they are written on screen, blanks and invisible signs made visible."""
        return tuple(map(visible, self.inputs.tokens))

    @property
    def numbered_tokens(self) -> tuple[str, ...]:
        """The visible tokens, each with its place: repeated ones can be told apart."""
        return tuple(f"{place}: {token}" for place, token in enumerate(self.visible_tokens))

    @property
    def has_own_text(self) -> bool:
        """Whether the text is another than the example's."""
        return self.sentence != EXAMPLES[self.example].inputs.sentence


def _of_heads(recipe: HeadsRecipe) -> dict[str, int | bool]:
    """The settings of an example's heads; a width that is shared evenly is 0."""
    shared = recipe.d_model / recipe.n_heads
    return {
        "n_heads": recipe.n_heads,
        "d_model": recipe.d_model,
        "d_head": 0 if recipe.d_head == shared else recipe.d_head,
        "d_value": 0 if recipe.d_value == shared else recipe.d_value,
        "causal_heads": recipe.causal,
        "kv_heads": max(count for count in _sharing(recipe.n_heads) if 2 * count <= recipe.n_heads)
        if recipe.n_heads > 1
        else 1,
    }


SETTINGS: dict[str, Setting] = {each.name: each.metadata["setting"] for each in fields(Settings)}
FIELDS: dict[str, Field] = {name: each.field for name, each in SETTINGS.items()}
ALIASES = {each.once: name for name, each in SETTINGS.items() if each.once}
"""What older links call a setting, and its name of today."""
VIEW_ONLY = {name for name, each in SETTINGS.items() if each.view_only}
KEPT = ("predict", "pin", "hide", "lock", "large", "done", "tasks")
"""Settings that stay when another example is chosen."""
HEADS = ("n_heads", "d_model", "d_head", "d_value")
"""Settings that must fit each other."""


def label(name: str) -> str:
    """The label of a setting; its name in words, where it has no control of its own."""
    return SETTINGS[name].label or name.replace("_", " ")
