"""One set of settings for all pages, and how it is written in a link. Knows no session.

A setting is one line of `Settings`: its name, its field, which reads it from a link and refuses in
words what it cannot be, and its start. A link holds only what differs from its example, so
`?example=life_is_short` says it all.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from typing import Any
from urllib.parse import parse_qsl, urlencode

from attention_core.examples import EXAMPLES, Example
from attention_core.recipes import (
    MAX_HEADS,
    SCALES,
    STARTS,
    HeadsRecipe,
    MaskRecipe,
    Projections,
    even_width,
)
from attention_core.text.inputs import RANDOM_ID_ROWS, VOCABULARIES, Inputs
from attention_core.text.tokenizers import TOKENIZERS, clean, visible

from .fields import (
    CellPlace,
    Choice,
    Decimal,
    Edits,
    Field,
    Flag,
    OptionalWhole,
    Places,
    ScoreRow,
    Sentence,
    Trail,
    Whole,
    Word,
)
from .labels import label

MAX_TOKENS = 64
MAX_WIDTH = 64
MAX_SEED = 2**32 - 1
MAX_DROP_SEED = 20
MAX_PIN = 4_000
MAX_LINK = 7_500
"""Characters of a link after its question mark; browsers and servers take 8,000 in all."""
MAX_UNKNOWN = 4
MAX_HEAD_WIDTH = 32
MAX_JOINED = 96
"""The columns of all heads together: wider matrices are slow to draw."""


WAYS_TO_HIDE = {
    "minus_infinity": "−∞ before softmax",
    "zero_filled": "0 before softmax",
    "zeroed": "0 after softmax",
    "renormalised": "0 after, then divided by the sum",
}
LIKENESSES = {"dot": "Dot product", "cosine": "Cosine"}
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
AXES = {"log": "Logarithmic", "linear": "Linear"}
VECTOR_WIDTHS = (*range(1, 9), 12, 16, 24, 32, 48, 64, 100, 128, 256, 512, 768, 1_024, 2_048, 4_096)
TRIAL_COUNTS = (10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000)
TABLE_ROWS = (7, 9, 100, 1_000, 5_000, 10_000, 20_000, 50_257, 100_000, 200_000)
TABLE_WIDTHS = (2, 3, 16, 32, 64, 128, 256, 512, 768, 1_024, 2_048, 4_096)

STEPS = (10, 100, 200, 500, 1_000, 2_000, 5_000)
RATES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 100.0, 1_000.0)
TRAINED_WIDTHS = (1, 2, 4, 8, 16, 32, 64)


def setting(kind: Field, start: object = MISSING, aside: bool = False) -> Any:
    """A setting: how it is read from a link, and what it starts with, whatever the example is.

    `aside` marks one that leaves a lesson's own numbers as they are: what is looked at, or an
    experiment beside them.
    """
    return field(default=start, metadata={"field": kind, "aside": aside})


class Pinned:
    """Other settings, as the parameters of a link."""

    def read(self, text: str) -> str:
        if len(text) > MAX_PIN:
            raise ValueError(
                f"it has {len(text):,} characters, and {MAX_PIN:,} fit: shorten the text"
            )
        if not text:
            return ""
        query = dict(parse_qsl(text, keep_blank_values=True))
        if not query or not query.keys() <= FIELDS.keys() - ASIDE:
            raise ValueError("it must be settings, such as example=wild_cat&seed=70")
        settings, notices = from_query(query)
        if notices:
            reason = notices[0].partition(", but ")[2] or notices[0]
            raise ValueError(f"it pins what cannot be used: {reason.partition('. ')[0]}")
        return to_pin(settings)

    def write(self, value: str) -> str:
        return value


class Names:
    """Controls, by the names of their settings, with commas between them."""

    def read(self, text: str) -> tuple[str, ...]:
        names = tuple(dict.fromkeys(text.split(","))) if text else ()
        unknown = [name for name in names if name not in FIELDS]
        if unknown:
            raise ValueError("it must be names of controls, such as seed,width")
        return names

    def write(self, value: tuple[str, ...]) -> str:
        return ",".join(value)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What is on the screen. Always valid: a value gets here only through its field.

    Settings without a start are the example's own: `Settings.of` has them.
    """

    # The sentence and its embeddings, on every page.
    example: str = setting(Choice({name: example.title for name, example in EXAMPLES.items()}))
    text: str = setting(Sentence())
    tokenizer: str = setting(Choice({name: each.title for name, each in TOKENIZERS.items()}))
    ids: str = setting(Choice(VOCABULARIES))
    learned: str = setting(Choice(LEARNED), "sentence")
    reserved: int = setting(Whole(0, 8))
    seed: int = setting(Whole(0, MAX_SEED))
    width: int = setting(Whole(1, MAX_WIDTH))
    drop_blanks: bool = setting(Flag(), False)
    positions: bool = setting(Flag(), False)
    edits: tuple[tuple[int, int, float], ...] = setting(Edits(), ())
    # What is looked at.
    query: int = setting(Whole(0, MAX_TOKENS - 1))
    beat: str = setting(Word(), "", aside=True)
    cell: tuple[CellPlace, ...] | None = setting(Trail(), None, aside=True)
    """The trail to the chosen cell, its start first; () for none, None for the lesson's own."""
    predict: bool = setting(Flag(), True, aside=True)
    pin: str = setting(Pinned(), "", aside=True)
    """Settings to compare with, as the parameters of a link; '' for none."""
    hide: tuple[str, ...] = setting(Names(), (), aside=True)
    """Controls that a teacher's link leaves out."""
    lock: tuple[str, ...] = setting(Names(), (), aside=True)
    """Controls that a teacher's link shows and does not let be changed."""
    # Tokenize and embed.
    table_rows: int = setting(Whole(7, 200_000, TABLE_ROWS), 20_000, aside=True)
    table_width: int = setting(Whole(2, 4_096, TABLE_WIDTHS), 32, aside=True)
    across: int = setting(Whole(0, MAX_WIDTH - 1), 0, aside=True)
    up: int = setting(Whole(0, MAX_WIDTH - 1), 1, aside=True)
    # Simplified attention.
    likeness: str = setting(Choice(LIKENESSES), "dot")
    divide: str = setting(Choice(DIVISORS))
    stretch: int = setting(Whole(0, MAX_TOKENS - 1), 0, aside=True)
    factor: float = setting(Decimal(-4, 4), 1.0, aside=True)
    upto: int = setting(Whole(1, MAX_TOKENS), MAX_TOKENS, aside=True)
    # Softmax or dividing by the sum.
    row_from: str = setting(Choice(ROW_FROM), "example")
    typed: tuple[float, ...] = setting(ScoreRow(MAX_SCORE, MAX_SCORES), (3.0, 1.0, -1.0, -1.0))
    shift: float = setting(Decimal(-10, 10), 0.0, aside=True)
    magnify: float = setting(Decimal(0, 128, FACTORS), 1.0, aside=True)
    push: float = setting(Decimal(-150, 150), 90.0, aside=True)
    precision: str = setting(Choice(PRECISIONS), "float32", aside=True)
    # Why divide by √d.
    draw_seed: int = setting(Whole(0, MAX_SEED), 0)
    vd: int = setting(Whole(1, 4_096, VECTOR_WIDTHS), 64, aside=True)
    trials: int = setting(Whole(10, 100_000, TRIAL_COUNTS), 1_000, aside=True)
    entries: str = setting(Choice(ENTRIES), "normal", aside=True)
    spread: float = setting(Decimal(0.1, 5), 1.0, aside=True)
    vlook: str = setting(Choice(LOOKS), "histogram", aside=True)
    vaxes: str = setting(Choice(AXES), "log", aside=True)
    # Trainable queries, keys and values.
    token: int = setting(Whole(0, MAX_TOKENS - 1))
    start: str = setting(Choice(STARTS))
    d_out: int = setting(Whole(1, MAX_WIDTH))
    d_v: int = setting(Whole(1, MAX_WIDTH))
    scale: str = setting(Choice(SCALES), "sqrt_d")
    bias: bool = setting(Flag(), False)
    w_seed: int | None = setting(OptionalWhole(0, MAX_SEED), None)
    q_seed: int | None = setting(OptionalWhole(0, MAX_SEED), None)
    k_seed: int | None = setting(OptionalWhole(0, MAX_SEED), None)
    v_seed: int | None = setting(OptionalWhole(0, MAX_SEED), None)
    q_edits: tuple[tuple[int, int, float], ...] = setting(Edits(), ())
    k_edits: tuple[tuple[int, int, float], ...] = setting(Edits(), ())
    v_edits: tuple[tuple[int, int, float], ...] = setting(Edits(), ())
    steps: int = setting(Whole(10, 5_000, STEPS), 2_000, aside=True)
    rate: float = setting(Decimal(0.01, 1_000, RATES), 0.2, aside=True)
    t_width: int = setting(Whole(1, 64, TRAINED_WIDTHS), 32, aside=True)
    t_seed: int = setting(Whole(0, MAX_SEED), 28, aside=True)
    t_scaled: bool = setting(Flag(), True, aside=True)
    # The causal mask.
    causal: bool = setting(Flag(), True)
    window: int = setting(Whole(0, MAX_TOKENS), 0)
    """How many keys back a query may look, itself included; 0 for all."""
    hidden: int | None = setting(OptionalWhole(0, MAX_TOKENS - 1), None)
    """A key that nobody may look at, such as padding."""
    turned: tuple[tuple[int, int], ...] = setting(Places(32), ())
    way: str = setting(Choice(WAYS_TO_HIDE), "zero_filled")
    changed_token: int = setting(Whole(0, MAX_TOKENS - 1), aside=True)
    change_by: float = setting(Decimal(-4, 4), 1.0, aside=True)
    dropout: float = setting(Decimal(0, 0.9), 0.2, aside=True)
    drop_seed: int = setting(Whole(0, MAX_DROP_SEED), 0, aside=True)
    # Multi-head attention. A width of 0 is d_model, shared evenly.
    heads: int = setting(Whole(1, MAX_HEADS))
    d_model: int = setting(Whole(1, MAX_WIDTH))
    d_head: int = setting(Whole(0, MAX_HEAD_WIDTH))
    d_value: int = setting(Whole(0, MAX_HEAD_WIDTH))
    causal_heads: bool = setting(Flag())
    h_seed: int | None = setting(OptionalWhole(0, MAX_SEED), None)
    head: int = setting(Whole(0, MAX_HEADS - 1), 0, aside=True)
    head_off: int = setting(Whole(0, MAX_HEADS - 1), 0, aside=True)
    head_cut: int = setting(Whole(0, MAX_HEADS - 1), 0, aside=True)

    @staticmethod
    def of(example: Example) -> "Settings":
        """The settings that show an example's own numbers."""
        inputs = example.inputs
        return Settings(
            example=example.name,
            text=inputs.sentence,
            tokenizer=inputs.tokenizer,
            ids=inputs.vocabulary,
            reserved=inputs.reserved,
            seed=inputs.seed,
            width=inputs.d_in,
            query=example.query,
            divide=example.divide,
            token=example.token,
            changed_token=len(inputs.tokens) - 1,
            start=example.projections.start,
            d_out=example.projections.d_out,
            d_v=example.projections.d_v,
            **_of_heads(example.heads),
        )

    @property
    def fixed(self) -> set[str]:
        """Settings that stay whatever example is shown, those that a link has fixed among them."""
        return {*KEPT, *self.hide, *self.lock}

    @property
    def start_of_own(self) -> "Settings":
        """The example's own settings, with those that name a token as this text has it start."""
        plain = Settings.of(EXAMPLES[self.example])
        last = max(len(self.inputs.tokens) - 1, 0)
        query, token = min(plain.query, last), min(plain.token, last)
        return replace(plain, query=query, token=token, changed_token=last)

    @property
    def inputs(self) -> Inputs:
        """What `attention_core.embed` needs to know."""
        example = EXAMPLES[self.example]
        own_seed = self.seed == example.inputs.seed
        return replace(
            example.inputs,
            sentence=self.text,
            tokenizer=self.tokenizer,
            vocabulary=self.ids,
            learned_from=example.inputs.sentence if self.learned == "example" else None,
            reserved=self.reserved,
            seed=self.seed,
            skipped_draws=example.inputs.skipped_draws if own_seed else 0,
            d_in=self.width,
            drop_blanks=self.drop_blanks,
            positions=self.positions,
            edits=self.edits,
        )

    @property
    def projections(self) -> Projections:
        """What `attention_core.attend_trainable` needs to know."""
        example = EXAMPLES[self.example]
        recipe = example.projections
        if self.start != recipe.start:
            recipe = example.linear if self.start == "linear" else replace(recipe, start="rand")
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
    def linear_projections(self) -> Projections:
        """The same, as `torch.nn.Linear` starts and the example seeds it."""
        return replace(self, start="linear").projections

    @property
    def heads_recipe(self) -> HeadsRecipe:
        """What `attention_core.attend_heads` needs to know.

        Raises ValueError where d_model cannot be shared, or all heads together are too wide.
        """
        recipe = replace(
            EXAMPLES[self.example].heads,
            n_heads=self.heads,
            d_head=self.d_head or self._even_width(),
            d_value=self.d_value or self._even_width(),
            d_model=self.d_model,
            causal=self.causal_heads,
        )
        widest = max(recipe.d_head, recipe.d_value)
        if self.heads * widest > MAX_JOINED:
            raise ValueError(
                f"{self.heads} heads of width {widest} are {self.heads * widest} columns; at most "
                f"{MAX_JOINED} fit. Take {MAX_JOINED // widest} heads, or a width of up to "
                f"{MAX_JOINED // self.heads}"
            )
        return recipe if self.h_seed is None else replace(recipe, seed=self.h_seed, skipped=())

    def _even_width(self) -> int:
        """The width of heads that share d_model. Raises ValueError with all ways out of it."""
        try:
            return even_width(self.d_model, self.heads)
        except ValueError as error:
            below = self.d_model // self.heads * self.heads
            near = [str(d) for d in (below, below + self.heads) if 0 < d <= MAX_WIDTH]
            ways = f"take a d_model of {' or '.join(near)}, or set d_head and d_value"
            raise ValueError(f"{error}. Or {ways} yourself") from None

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
        return self.text != EXAMPLES[self.example].inputs.sentence


def _of_heads(recipe: HeadsRecipe) -> dict[str, int | bool]:
    """The settings of an example's heads; a width that is shared evenly is 0."""
    shared = recipe.d_model / recipe.n_heads
    return {
        "heads": recipe.n_heads,
        "d_model": recipe.d_model,
        "d_head": 0 if recipe.d_head == shared else recipe.d_head,
        "d_value": 0 if recipe.d_value == shared else recipe.d_value,
        "causal_heads": recipe.causal,
    }


FIELDS: dict[str, Field] = {each.name: each.metadata["field"] for each in fields(Settings)}
ASIDE = {each.name for each in fields(Settings) if each.metadata["aside"]}
_MAKES_MATRICES = {"start", "width", "w_seed"}
MAKES_ANOTHER = {
    "edits": {"text", "tokenizer", "ids", "learned", "reserved", "seed", "width"},
    "q_edits": {*_MAKES_MATRICES, "d_out", "q_seed"},
    "k_edits": {*_MAKES_MATRICES, "d_out", "k_seed"},
    "v_edits": {*_MAKES_MATRICES, "d_v", "v_seed"},
}
"""Numbers typed by hand, and the settings that make another table, to which they do not belong."""


KEPT = ("predict", "pin", "hide", "lock")
"""Settings that stay when another example is chosen."""
HEADS = ("heads", "d_model", "d_head", "d_value")
"""Settings that must fit each other."""
FOLLOW_THE_TEXT = ("query", "token", "changed_token")
"""Settings whose start depends on how many tokens there are."""
MAKES_TOKENS = {"text", "tokenizer", "drop_blanks"}
ONE_HEAD = ("head", "head_off", "head_cut")
"""Settings that name a head."""


def problem_with_heads(settings: Settings) -> str | None:
    """What stops these settings from making heads, in words; None if nothing does."""
    try:
        settings.heads_recipe  # noqa: B018
    except ValueError as error:
        return f"{error}."
    return None


def heads_that_fit(
    settings: Settings, asked: Mapping[str, int], chosen: Collection[str]
) -> dict[str, int]:
    """The sizes of heads `asked` for, and those of the settings, made to fit each other.

    d_model goes to the next multiple of the heads, and widths down to what fits of so many. Those
    just `chosen` stay, and those that a teacher's link fixes; then there may be no way to fit.
    """
    fixed = {*chosen, *settings.hide, *settings.lock}
    sizes = {name: asked.get(name, getattr(settings, name)) for name in HEADS}
    n_heads = sizes["heads"]
    for name in {"d_head", "d_value"} - fixed:
        sizes[name] = min(sizes[name], MAX_JOINED // n_heads)
    if "d_model" not in fixed and 0 in (sizes["d_head"], sizes["d_value"]):
        above = -(-sizes["d_model"] // n_heads) * n_heads
        sizes["d_model"] = above if above <= MAX_WIDTH else above - n_heads
    return sizes


def problem_with(settings: Settings) -> str | None:
    """What stops these settings from making embeddings, in words; None if nothing does."""
    inputs = settings.inputs
    tokens = inputs.tokens
    if settings.text.isspace():
        return "This text holds blanks only. Type at least one word."
    if not tokens:
        return "There is no token in this text. Type at least one word."
    if len(tokens) > MAX_TOKENS:
        return f"This text has {len(tokens):,} tokens; at most {MAX_TOKENS} fit. Shorten it."
    n_rows = RANDOM_ID_ROWS
    if settings.ids != "random":
        try:
            vocabulary = inputs.build_vocabulary()
            vocabulary.ids(tokens)
        except ValueError as error:
            return f"{error}."
        n_rows = vocabulary.n_rows
    width, d_out = settings.width, settings.d_out
    for edits, name, size in (
        (settings.edits, "the table of embeddings", (n_rows, width)),
        (settings.q_edits, "W_query", (width, d_out)),
        (settings.k_edits, "W_key", (width, d_out)),
        (settings.v_edits, "W_value", (width, settings.d_v)),
    ):
        if any(row >= size[0] or column >= size[1] for row, column, _ in edits):
            return f"An edited number lies outside {name}."
    return problem_with_heads(settings) or problem_with_link(settings)


def problem_with_link(settings: Settings) -> str | None:
    """What stops a link from giving these settings back, in words; None if nothing does."""
    query = to_query(settings)
    for name, text in query.items():
        try:
            FIELDS[name].read(text)
        except ValueError as error:
            return f"{label(name).capitalize()}: {error}."
    length = len(urlencode(query))
    if length <= MAX_LINK:
        return None
    return (
        f"The link to this page would have {length:,} characters, and {MAX_LINK:,} fit. Shorten "
        "the text, take typed numbers back, or unpin."
    )


def changed(settings: Settings, **updates: object) -> Settings:
    """The settings with some values changed, and what no longer fits put right. An example brings
    all of its own, but for what is fixed.
    """
    if "example" in updates:
        fixed = {name: getattr(settings, name) for name in settings.fixed - {"example"}}
        fresh = replace(Settings.of(EXAMPLES[str(updates["example"])]), **fixed)
        return _fitting(replace(fresh.start_of_own, **fixed))
    for edits, makers in MAKES_ANOTHER.items():
        if makers & updates.keys() and edits not in updates:
            updates[edits] = ()
    if {*MAKES_TOKENS, "width", "d_out", "d_v", *HEADS} & updates.keys():
        updates = {"cell": None, "upto": MAX_TOKENS, **updates}
    new = replace(settings, **updates)
    if MAKES_TOKENS & updates.keys():
        before, after = settings.start_of_own, new.start_of_own
        for name in FOLLOW_THE_TEXT:
            if name not in updates and getattr(settings, name) == getattr(before, name):
                new = replace(new, **{name: getattr(after, name)})
    return _fitting(new)


def _fitting(new: Settings) -> Settings:
    """The settings, with tokens, entries and heads that are not there replaced by the last."""
    last = max(len(new.inputs.tokens) - 1, 0)
    widest = max(new.width - 1, 1)
    return replace(
        new,
        query=min(new.query, last),
        token=min(new.token, last),
        changed_token=min(new.changed_token, last),
        stretch=min(new.stretch, last),
        across=min(new.across, widest),
        up=min(new.up, widest),
        **{name: min(getattr(new, name), new.heads - 1) for name in ONE_HEAD},
    )


def to_query(settings: Settings) -> dict[str, str]:
    """The link's parameters: what differs from the example, and the example itself."""
    plain = replace(settings.start_of_own, example=next(iter(EXAMPLES)))
    query = {}
    for name in FIELDS:
        value = getattr(settings, name)
        if value != getattr(plain, name):
            query[name] = FIELDS[name].write(value)
    return query


def from_query(query: Mapping[str, str]) -> tuple[Settings, list[str]]:
    """The settings of a link, and a notice for everything in it that could not be used.

    Parameters that are not ours are left alone, without a notice.
    """
    notices = []

    def refuse(words: str, instead: str = "The example's own is used.") -> None:
        notices.append(f"{words} {instead}")

    values: dict[str, object] = {}
    for name, kind in FIELDS.items():
        if name in query:
            try:
                values[name] = kind.read(query[name])
            except ValueError as error:
                shown = repr(_quoted(query[name])) if query[name] else "empty"
                words = f"The link's {name} is {shown}, but {error}."
                if name == "example":
                    refuse(words, f"“{next(iter(EXAMPLES.values())).title}” is shown instead.")
                elif name in KEPT:
                    refuse(words, "It was left out.")
                else:
                    refuse(words)
    example = EXAMPLES[str(values.pop("example", next(iter(EXAMPLES))))]
    plain = Settings.of(example)
    settings = replace(plain, **values)
    settings = replace(settings.start_of_own, **values)
    last = len(settings.inputs.tokens) - 1
    for name in ("query", "token", "stretch", "changed_token"):
        if getattr(settings, name) > max(last, 0):
            if name in values:
                refuse(f"The link's {name} is {values[name]}, but the last token is {last}.")
            settings = replace(settings, **{name: getattr(settings.start_of_own, name)})
    for name in ("across", "up"):
        if getattr(settings, name) > max(settings.width - 1, 1):
            refuse(f"The link's {name} is {values[name]}: vectors are {settings.width} wide.")
            settings = replace(settings, **{name: getattr(plain, name)})
    problem = problem_with_heads(settings)
    if problem:
        said = ", ".join(f"{name} {values[name]}" for name in HEADS if name in values)
        refuse(f"The link's {said} cannot be used: {problem}")
        settings = replace(settings, **{name: getattr(plain, name) for name in HEADS})
    for name in ONE_HEAD:
        if getattr(settings, name) >= settings.heads:
            last_head = settings.heads - 1
            refuse(f"The link's {name} is {values[name]}, but the last head is {last_head}.")
            settings = replace(settings, **{name: getattr(plain, name)})
    problem = problem_with(settings)
    if problem:
        refuse(f"The link's settings do not fit together: {problem}")
        kept = {name: getattr(settings, name) for name in KEPT if name != "pin"}
        settings = replace(plain, **kept)
    return settings, notices


def unknown_names(names: Sequence[str]) -> str:
    """What is said of a link's names that are no settings: a few of them, shortened."""
    told = ", ".join(f"“{_quoted(name, 20)}”" for name in names[:MAX_UNKNOWN])
    more = len(names) - MAX_UNKNOWN
    told += f" and {more:,} more" if more > 0 else ""
    return f"The link has names that this app does not know; they were left out: {told}."


def _quoted(text: str, most: int = 40) -> str:
    """The beginning of a text of a link, fit to be shown."""
    return clean(text if len(text) <= most else text[:most] + "…")[0]


def to_pin(settings: Settings) -> str:
    """What to pin of these settings: those that make a lesson's numbers."""
    query = to_query(settings)
    kept = {name: value for name, value in query.items() if name not in ASIDE}
    return urlencode({"example": settings.example, **kept})


def pinned(settings: Settings) -> Settings | None:
    """The settings that are pinned, or None."""
    return from_query(dict(parse_qsl(settings.pin)))[0] if settings.pin else None


def what_changed(before: Settings, now: Settings) -> list[str]:
    """The settings that make other numbers now, a line each. May quote the person."""
    lines = []
    for name, kind in FIELDS.items():
        old, new = getattr(before, name), getattr(now, name)
        if name not in ASIDE and old != new:
            lines.append(f"{label(name)}: {_shown(kind, old)} → {_shown(kind, new)}")
    return lines


def _shown(kind: Field, value: object) -> str:
    """A value in the words of its control."""
    text = kind.options[value] if isinstance(kind, Choice) else kind.write(value)
    text = text or "as the example"
    return text if len(text) <= 60 else text[:60] + "…"
