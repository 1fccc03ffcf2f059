"""One set of settings for all pages. Knows no link and no session.

A setting is one line of `Settings`: its name, its field, its label and its start, and where they
apply its bounds beside other settings, its choices and the look of its widget.
"""

from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields, replace
from typing import Any

from attention_core.examples import EXAMPLES, Example
from attention_core.mechanism.tiling import Tile, tiles_of
from attention_core.mistakes.named import NAMED
from attention_core.published import NOTEBOOKS
from attention_core.recipes import (
    MAX_HEADS,
    NORMALISERS,
    PLURAL,
    SCALES,
    STARTS,
    HeadsRecipe,
    MaskRecipe,
    Projections,
    even_width,
)
from attention_core.text.inputs import RANDOM_ID_ROWS, VOCABULARIES, Inputs
from attention_core.text.tokenizers import TOKENIZERS, visible

from ..controls.fields import (
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
from . import choices, offered
from .setting import Setting, setting


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
        names = tuple(dict.fromkeys(said))
        if any(name not in FIELDS and name not in self.others for name in names):
            raise ValueError("it must be names of controls, such as seed,d_in")
        return names

    def write(self, value: tuple[str, ...]) -> str:
        return ",".join(value)


def _token(label: str, start: object = MISSING, **about: Any) -> Any:
    """A setting that is one of the tokens."""
    kind = Whole(0, MAX_TOKENS - 1)
    return setting(kind, label, start, choices=offered.tokens, limit=offered.last_token, **about)


def _entry(label: str, start: int) -> Any:
    """A setting that is one of the entries of a vector."""
    kind, limit = Whole(0, choices.MAX_WIDTH - 1), offered.last_entry
    return setting(kind, label, start, view_only=True, choices=offered.entries, limit=limit)


def _tile_size(label: str, axis: str) -> Any:
    """A setting that is how many queries, or keys, a tile has."""

    def sizes(settings: "Settings") -> dict[int, str]:
        """What a link named beyond this text is one: it counts again when it fits."""
        n_tokens, chosen = len(settings.inputs.tokens), getattr(settings, f"tile_{PLURAL[axis]}")
        found = {size: str(size) for size in range(offered.least_tile(n_tokens), n_tokens + 1)}
        used = offered.fitting_tile(chosen, n_tokens)
        return found if chosen in found else {chosen: f"{chosen}: {used} is used here", **found}

    return setting(Whole(1, MAX_TOKENS), label, 3, choices=sizes, widget="select_slider")


def _head(label: str) -> Any:
    """A setting that is one of the heads."""
    return setting(
        Whole(0, MAX_HEADS - 1),
        label,
        0,
        choices=offered.heads,
        limit=offered.last_head,
        view_only=True,
        widget="segmented_control",
    )


def _seed(label: str, start: object = MISSING, **about: Any) -> Any:
    """A seed is typed: an infinite value in a link crashes a whole-number `number_input`."""
    kind = OptionalWhole(0, choices.MAX_SEED) if start is None else Whole(0, choices.MAX_SEED)
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
    sentence: str = setting(Sentence(), "Text", height=96)
    tokenizer: str = setting(
        Choice({name: each.title for name, each in TOKENIZERS.items()}),
        "Tokenizer",
        choices=offered.tokenizers,
    )
    vocabulary: str = setting(Choice(VOCABULARIES), "Ids", choices=offered.vocabularies)
    learned: str = setting(
        Choice(choices.LEARNED), "Vocabulary built from", "sentence", widget="selectbox"
    )
    reserved: int = setting(Whole(0, 8), "Reserved rows")
    seed: int = _seed("Seed", help=f"A whole number from 0 to {choices.MAX_SEED:,}.")
    d_in: int = setting(Whole(1, choices.MAX_WIDTH), "Width of the vectors, d_in")
    drop_blanks: bool = setting(Flag(), "Drop blank tokens", False)
    positions: bool = setting(Flag(), "Positions")
    edits: tuple[tuple[int, int, float], ...] = _edits(
        "Numbers typed into the embeddings",
        lambda settings: ("the table of embeddings", settings.n_rows, settings.d_in),
        "sentence tokenizer vocabulary learned reserved seed d_in",
    )
    # What is looked at.
    query: int = _token("Query")
    row_query: int = _token("Query of the row")
    """The query whose row of scores the lesson on softmax takes apart."""
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
    hide: tuple[str, ...] = setting(Names(tuple(choices.SECTIONS)), start=(), view_only=True)
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
    tasks: tuple[str, ...] = setting(Lines(choices.MAX_TASKS, 400), start=(), view_only=True)
    """A teacher's tasks, in order."""
    # Mistakes.
    mistake: str = setting(
        Choice({name: choices.mistake_called(each) for name, each in NAMED.items()}),
        "Mistake",
        next(iter(NAMED)),
        widget="selectbox",
    )
    level: str = setting(Choice(choices.LEVELS), "Level", "one")
    round_seed: int = _seed("Round", 0)
    tensor: str = setting(
        Choice(choices.TENSORS), "Tensor", "head_weights", view_only=True, widget="selectbox"
    )
    # Tokenize and embed.
    table_rows: int = setting(
        Whole(7, 200_000, choices.TABLE_ROWS),
        "Rows: tokens in the vocabulary",
        20_000,
        shown="{:,}",
        view_only=True,
    )
    table_width: int = setting(
        Whole(2, 4_096, choices.TABLE_WIDTHS), "Width of a vector", 32, view_only=True
    )
    across: int = _entry("Entry drawn across", 0)
    up: int = _entry("Entry drawn up", 1)
    # Simplified attention.
    similarity: str = setting(Choice(choices.SIMILARITIES), "Compare by", "dot")
    divide: str = setting(Choice(choices.DIVISORS), "Divide scores by")
    stretch: int = _token("Stretch the vector of", 0, view_only=True)
    factor: float = setting(Decimal(-4, 4), "Stretch factor", 1.0, view_only=True, step=0.1)
    upto: int = setting(Whole(1, MAX_TOKENS), start=MAX_TOKENS, view_only=True)
    # Softmax or dividing by the sum.
    row_from: str = setting(Choice(choices.ROW_FROM), "Scores from", "example")
    typed: tuple[float, ...] = setting(
        ScoreRow(choices.MAX_SCORE, choices.MAX_SCORES),
        "Scores",
        (3.0, 1.0, -1.0, -1.0),
        hint=f"1 to {choices.MAX_SCORES} numbers",
        help=f"Numbers from −{choices.MAX_SCORE:,.0f} to {choices.MAX_SCORE:,.0f} with commas "
        "between them. Type -inf for a key that is hidden.",
    )
    poor: float = setting(
        Decimal(-6, 2), "Score of the poor match", -4.0, view_only=True, step=0.5, format="%.1f"
    )
    shift: float = setting(
        Decimal(-10, 10), "Add to all scores", 0.0, view_only=True, step=0.1, format="%.3f"
    )
    magnify: float = setting(
        Decimal(0, 16), "Multiply all scores by", 1.0, view_only=True, step=0.25
    )
    push: float = setting(
        Decimal(-150, 150), "Add to all scores, until they overflow", 90.0, view_only=True, step=0.5
    )
    precision: str = setting(
        Choice(choices.PRECISIONS), "Numbers are kept in", "float32", view_only=True
    )
    # Why divide by √d.
    draw_seed: int = _seed("Seed of this lesson", 0)
    vd: int = setting(Whole(1, 4_096, choices.VECTOR_WIDTHS), "Width d", 128, view_only=True)
    trials: int = setting(
        Whole(10, 100_000, choices.TRIAL_COUNTS), "Trials", 1_000, view_only=True, shown="{:,}"
    )
    entries: str = setting(
        Choice(choices.ENTRIES), "Entries", "normal", view_only=True, widget="selectbox"
    )
    spread: float = setting(
        Decimal(0.1, 5), "Standard deviation of the entries", 1.0, view_only=True, step=0.1
    )
    vlook: str = setting(Choice(choices.LOOKS), "Look at", "histogram", view_only=True)
    vaxes: str = setting(Choice(choices.AXES), "Axes", "log", view_only=True)
    # Trainable queries, keys and values.
    token: int = _token("Token")
    start: str = setting(
        Choice(STARTS), "Start as", choices=offered.starts, widget="segmented_control"
    )
    d_out: int = setting(Whole(1, choices.MAX_WIDTH), "Width of queries and keys, d_out")
    d_v: int = setting(Whole(1, choices.MAX_WIDTH), "Width of values, d_v")
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
    zeroed: str = setting(Choice(choices.ZEROED), "Set to 0", "value", view_only=True)
    steps: int = setting(Whole(10, 5_000, choices.STEPS), "Training steps", 2_000, view_only=True)
    rate: float = setting(Decimal(0.01, 1_000, choices.RATES), "Learning rate", view_only=True)
    t_width: int = setting(
        Whole(1, 64, choices.TRAINED_WIDTHS), "Width d_out of the trained layer", 32, view_only=True
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
        Choice(choices.TINY_HEADS),
        "Head to watch",
        choices.FIRST_WATCHED,
        widget="selectbox",
        view_only=True,
    )
    tiny_off: str = setting(
        Choice({"none": "none", **choices.TINY_HEADS}),
        "Head to switch off",
        "none",
        widget="selectbox",
        view_only=True,
    )
    next_word: str = setting(
        Choice(choices.NEXT_WORDS), "Next word", "likeliest", widget="selectbox", view_only=True
    )
    # The causal mask.
    causal: bool = setting(Flag(), "Causal: no later key", True)
    window: int = setting(
        Whole(0, MAX_TOKENS),
        "Window: keys, its own included",
        0,
        choices=offered.windows,
        widget="select_slider",
        help="3 is the query's own key and the 2 before it; without the causal rule also the 2 "
        "after it.",
    )
    """How many keys back a query may look, itself included; 0 for all."""
    hidden: int | None = setting(
        OptionalWhole(0, MAX_TOKENS - 1),
        "Key hidden from every query",
        None,
        choices=offered.hidden_keys,
        index=None,
        placeholder="none",
    )
    """A key that no query may look at, such as padding."""
    turned: tuple[tuple[int, int], ...] = setting(
        Places(32), "Cells of the mask flipped by hand", ()
    )
    way: str = setting(Choice(choices.WAYS_TO_HIDE), "Hide by", "zero_filled")
    changed_token: int = _token("Change the vector of", view_only=True)
    change_by: float = setting(Decimal(-4, 4), "Add to each entry", 1.0, view_only=True, step=0.1)
    dropout: float = setting(
        Decimal(0, 0.9), "Chance of being dropped", 0.2, view_only=True, step=0.05
    )
    drop_seed: int = setting(Whole(0, 20), "Seed of the draw", 0, view_only=True)
    # Multi-head attention. A width of 0 is d_model, shared evenly.
    n_heads: int = setting(Whole(1, MAX_HEADS), "Heads", widget="select_slider")
    d_model: int = setting(
        Whole(1, choices.MAX_WIDTH),
        "Width of the output, d_model",
        widget="select_slider",
        help="How many numbers the layer gives for each token. The heads split it evenly.",
    )
    d_head: int = setting(
        Whole(0, choices.MAX_HEAD_WIDTH),
        "Width of a head, d_head",
        widget="select_slider",
        help=choices.AUTO,
    )
    d_value: int = setting(
        Whole(0, choices.MAX_HEAD_WIDTH),
        "Width of a value, d_value",
        widget="select_slider",
        help=choices.AUTO,
    )
    causal_heads: bool = setting(Flag(), "Causal: hide what comes later")
    h_seed: int | None = _seed("Seed of the heads' matrices", None, placeholder="as the example")
    mix: str = setting(Choice(choices.MIXES), "W_output", "given")
    # Cross-attention.
    source: str = setting(Sentence(), "Source: the sentence that is looked at", widget="text_input")
    padding: int = setting(Whole(0, 3), "Places of padding", 2, view_only=True)
    # Flash attention.
    tile_queries: int = _tile_size("Queries in a tile", "query")
    tile_keys: int = _tile_size("Keys in a tile", "key")
    tile: int = setting(
        Whole(0, choices.MAX_BLOCKS**2 - 1),
        "Tile to take apart",
        1,
        choices=offered.visited,
        limit=offered.last_tile,
        widget="selectbox",
    )
    flash_tokens: int = setting(
        Whole(64, 131_072, choices.TOKEN_COUNTS), "Tokens", 8_192, shown="{:,}", view_only=True
    )
    flash_width: int = setting(
        Whole(16, 256, (16, 32, 64, 128, 256)), "Width of one head", 64, view_only=True
    )
    fast_memory: int = setting(
        Whole(16, 256, choices.FAST_MEMORIES), "Fast memory, in KiB", 160, view_only=True
    )
    # The transformer block.
    norm: str = setting(Choice(choices.NORMS), "Layer norms", "before")
    block: str = setting(
        Choice(choices.BLOCKS),
        "Kind of block",
        "encoder",
        help="An encoder's block reads the whole sentence. A decoder's writes: it sees no later "
        "token, and looks at a second sentence too, the source.",
    )
    activation: str = setting(Choice(choices.ACTIVATIONS), "Between the two linear layers", "relu")
    wider: int = setting(
        Whole(1, 4, (1, 2, 4)), "Hidden width of the feed-forward", 4, shown="{:g} × d_in"
    )
    block_seed: int = _seed("Seed of the block's matrices", 101)
    # The attention of today.
    kv_heads: int = setting(
        Whole(1, MAX_HEADS),
        "Key/value heads",
        widget="segmented_control",
        help="How many heads keys and values have. In 2017, as many as there are query heads; with "
        "fewer, several query heads use the same keys and values.",
        **offered.kv_heads("n_heads"),
    )
    places: str = setting(
        Choice(choices.PLACES),
        "Positions by",
        "none",
        help="How scores come to depend on where words stand. Rotary turns queries and keys by "
        "their positions, ALiBi lowers a score with the distance; None is as in 2017.",
    )
    sinks: int = setting(
        Whole(0, 4),
        "Sinks: first keys that stay",
        0,
        choices=lambda _: {count: str(count) if count else "none" for count in range(5)},
        widget="select_slider",
        help="With a window, so many of the first keys stay visible from everywhere.",
    )
    soft_cap: float = setting(
        Decimal(0, 50, choices.CAPS),
        "Soft cap: the most that a score can be",
        0.0,
        choices=lambda _: {cap: f"±{cap:g}" if cap else "off" for cap in choices.CAPS},
        widget="select_slider",
        help="Bends large scores, so that none is above this number, or below its negative.",
    )
    near: int = setting(Whole(1, MAX_TOKENS), "Window", MAX_TOKENS, view_only=True)
    slope: float = setting(Decimal(0, 1), "Slope", 0.5, view_only=True)
    bound: float = setting(
        Decimal(0.1, 2), "Cap, as a share of the largest score", 0.5, view_only=True
    )
    moved_by: int = setting(
        Whole(0, 1_000, (0, 1, 10, 100, 1_000)),
        "Shift the text by",
        10,
        view_only=True,
        shown="{:,}",
    )
    decoded: int = _token("Token that is written now", view_only=True)
    cost_model: str = setting(Choice(choices.COST_MODELS), "Model", "llama3", view_only=True)
    m_bytes: str = setting(Choice(choices.BYTES), "Bytes per number", "2", view_only=True)
    m_layers: int = setting(
        Whole(1, 128, choices.MODEL_LAYERS), "Layers of the model", 32, view_only=True
    )
    m_width: int = setting(
        Whole(64, 16_384, choices.MODEL_WIDTHS),
        "Width of the model",
        4_096,
        shown="{:,}",
        view_only=True,
    )
    m_heads: int = setting(
        Whole(1, 128, choices.MODEL_HEADS), "Query heads of the model", 32, view_only=True
    )
    m_kv_heads: int = setting(
        Whole(1, 128),
        "Its key/value heads",
        8,
        view_only=True,
        **offered.kv_heads("m_heads"),
    )
    m_d_head: int = setting(
        Whole(16, 256, choices.MODEL_HEAD_WIDTHS), "Width of each of its heads", 128, view_only=True
    )
    m_context: int = setting(
        Whole(256, 1_048_576, choices.CONTEXTS),
        "Tokens of context",
        8_192,
        shown="{:,}",
        view_only=True,
    )
    m_window: int = setting(
        Whole(0, 131_072, choices.WINDOWS),
        "Tokens in its window, 0 for all",
        4_096,
        shown="{:,}",
        view_only=True,
    )
    # The whole layer.
    normalise: str = setting(Choice(NORMALISERS), "Shares by", "softmax")
    temperature: float = setting(
        Decimal(0.1, 4),
        "Temperature",
        1.0,
        step=0.1,
        help="All scores are divided by it. Below 1, the largest score of a row takes more of the "
        "weight; above 1, it is shared more evenly. Equal scores keep equal shares.",
    )
    layer_dropout: float = setting(Decimal(0, 0.9), "Dropout", 0.0, step=0.1)
    opened: str = setting(Choice(choices.OPENED), "Show the numbers of", "weights", view_only=True)
    head: int = _head("Head")
    head_off: int = _head("Switch off head")
    head_cut: int = _head("Head that is cut")
    cut_by: str = setting(Choice(choices.CUTS), "Cut by", "reshape", view_only=True)
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
        Choice(choices.VERDICTS), "What came of it", "all", widget="selectbox", view_only=True
    )
    kind: str = setting(
        Choice(choices.RESULT_KINDS), "Kind of result", "all", widget="selectbox", view_only=True
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
            row_query=example.query if example.row is None else example.row,
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
        named = ("query", "row_query", "token")
        within = {name: min(getattr(plain, name), last) for name in named}
        return replace(plain, **within, changed_token=last, decoded=last)

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
        sizes = (
            offered.fitting_tile(size, n_tokens) for size in (self.tile_queries, self.tile_keys)
        )
        return tiles_of(n_tokens, n_tokens, *sizes, causal=self.causal_heads)

    @property
    def visited_tiles(self) -> tuple[Tile, ...]:
        """Those of them that are computed."""
        return tuple(tile for tile in self.tiles if not tile.is_hidden)

    @property
    def chosen_tile(self) -> Tile:
        """The tile to take apart: where that is not computed, the next that is. There it is rather
        one that goes on from another than the first of its queries, which has nothing to shrink.
        """
        tiles, visited = self.tiles, self.visited_tiles
        if self.tile >= len(tiles):
            return visited[-1]
        if not tiles[self.tile].is_hidden:
            return tiles[self.tile]
        later = [tile for tile in tiles[self.tile :] if not tile.is_hidden]
        return next((tile for tile in later if tile.key_block), (later or [visited[-1]])[0])

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
        widest, most = max(recipe.d_head, recipe.d_value), choices.MAX_JOINED
        if self.n_heads * widest > most:
            raise ValueError(
                f"{self.n_heads} heads of width {widest} are {self.n_heads * widest} columns; at "
                f"most {most} fit. Take {most // widest} heads, or a width of up to "
                f"{most // self.n_heads}"
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
            near = [str(d) for d in (below, below + self.n_heads) if 0 < d <= choices.MAX_WIDTH]
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
        "kv_heads": max(
            count for count in offered.sharing(recipe.n_heads) if 2 * count <= recipe.n_heads
        )
        if recipe.n_heads > 1
        else 1,
    }


SETTINGS: dict[str, Setting] = {each.name: each.metadata["setting"] for each in fields(Settings)}
FIELDS: dict[str, Field] = {name: each.field for name, each in SETTINGS.items()}
VIEW_ONLY = {name for name, each in SETTINGS.items() if each.view_only}
KEPT = ("predict", "pin", "hide", "lock", "large", "done", "tasks")
"""Settings that stay when another example is chosen."""
HEADS = ("n_heads", "d_model", "d_head", "d_value")
"""Settings that must fit each other."""


def label(name: str) -> str:
    """The label of a setting; its name in words, where it has no control of its own."""
    return SETTINGS[name].label or name.replace("_", " ")
