"""One set of settings for all pages, and how it is written in a link. Knows no session.

Every setting has a field that reads it from a link and refuses, in words, what it cannot be. A
link holds only what differs from its example, so `?example=life_is_short` says it all.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

from attention_core.examples import EXAMPLES, Example
from attention_core.inputs import RANDOM_ID_ROWS, VOCABULARIES, Inputs
from attention_core.tokenizers import TOKENIZERS, clean, visible

from .fields import (
    MAX_EDITS,
    CellPlace,
    Choice,
    Decimal,
    Edits,
    Flag,
    Sentence,
    Trail,
    Whole,
    Word,
)

MAX_TOKENS = 64
MAX_WIDTH = 64
MAX_SEED = 2**32 - 1


@dataclass(frozen=True)
class Settings:
    """What is on the screen. Always valid: a value gets here only through its field."""

    example: str
    text: str
    tokenizer: str
    ids: str
    learned: str
    reserved: int
    seed: int
    width: int
    drop_blanks: bool
    positions: bool
    edits: tuple[tuple[int, int, float], ...]
    likeness: str
    divide: str
    stretch: int
    factor: float
    query: int
    upto: int
    beat: str
    cell: tuple[CellPlace, ...] | None
    """The trail to the chosen cell, its start first; () for none, None for the lesson's own."""
    predict: bool
    table_rows: int
    table_width: int
    across: int
    up: int

    @staticmethod
    def of(example: Example) -> "Settings":
        """The settings that show an example's own numbers."""
        inputs = example.inputs
        return Settings(
            example=example.name,
            text=inputs.sentence,
            tokenizer=inputs.tokenizer,
            ids=inputs.vocabulary,
            learned="sentence",
            reserved=inputs.reserved,
            seed=inputs.seed,
            width=inputs.d_in,
            drop_blanks=False,
            positions=False,
            edits=(),
            likeness="dot",
            divide=example.divide,
            stretch=0,
            factor=1.0,
            query=example.query,
            upto=MAX_TOKENS,
            beat="",
            cell=None,
            predict=True,
            table_rows=20_000,
            table_width=32,
            across=0,
            up=1,
        )

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
    def visible_tokens(self) -> tuple[str, ...]:
        """The tokens as they are written on screen, blanks and invisible signs made visible."""
        return tuple(map(visible, self.inputs.tokens))

    @property
    def numbered_tokens(self) -> tuple[str, ...]:
        """The visible tokens, each with its place: repeated ones can be told apart."""
        return tuple(f"{place}: {token}" for place, token in enumerate(self.visible_tokens))

    def is_example(self) -> bool:
        """Whether the embeddings are the example's own."""
        return self.inputs == EXAMPLES[self.example].inputs


LIKENESSES = {"dot": "Dot product", "cosine": "Cosine"}
DIVISORS = {"none": "Nothing", "sqrt_d": "√d"}
LEARNED = {"sentence": "This sentence", "example": "The example's sentence"}
TABLE_ROWS = (7, 9, 100, 1_000, 5_000, 10_000, 20_000, 50_257, 100_000, 200_000)
TABLE_WIDTHS = (2, 3, 16, 32, 64, 128, 256, 512, 768, 1_024, 2_048, 4_096)
FIELDS = {
    "example": Choice({name: example.title for name, example in EXAMPLES.items()}),
    "text": Sentence(),
    "tokenizer": Choice({name: tokenizer.title for name, tokenizer in TOKENIZERS.items()}),
    "ids": Choice(VOCABULARIES),
    "learned": Choice(LEARNED),
    "reserved": Whole(0, 8),
    "seed": Whole(0, MAX_SEED),
    "width": Whole(1, MAX_WIDTH),
    "drop_blanks": Flag(),
    "positions": Flag(),
    "edits": Edits(),
    "likeness": Choice(LIKENESSES),
    "divide": Choice(DIVISORS),
    "stretch": Whole(0, MAX_TOKENS - 1),
    "factor": Decimal(-4, 4),
    "query": Whole(0, MAX_TOKENS - 1),
    "upto": Whole(1, MAX_TOKENS),
    "beat": Word(),
    "cell": Trail(),
    "predict": Flag(),
    "table_rows": Whole(7, 200_000, TABLE_ROWS),
    "table_width": Whole(2, 4_096, TABLE_WIDTHS),
    "across": Whole(0, MAX_WIDTH - 1),
    "up": Whole(0, MAX_WIDTH - 1),
}
MAKES_THE_TABLE = {"example", "text", "tokenizer", "ids", "learned", "reserved", "seed", "width"}
"""Changing one of these makes another table, to which edits typed by hand do not belong."""


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
    if any(row >= n_rows or column >= settings.width for row, column, _ in settings.edits):
        return "An edited number lies outside the table of embeddings."
    return None


def changed(settings: Settings, **updates: object) -> Settings:
    """The settings with some values changed, and what no longer fits put right."""
    if "example" in updates and updates["example"] != settings.example:
        fresh = Settings.of(EXAMPLES[str(updates["example"])])
        return replace(fresh, predict=settings.predict)
    if MAKES_THE_TABLE & updates.keys() and "edits" not in updates:
        updates["edits"] = ()
    if {"text", "tokenizer", "drop_blanks", "width"} & updates.keys():
        updates = {"cell": None, "upto": MAX_TOKENS, **updates}
    new = replace(settings, **updates)
    last = max(len(new.inputs.tokens) - 1, 0)
    widest = max(new.width - 1, 1)
    return replace(
        new,
        query=min(new.query, last),
        stretch=min(new.stretch, last),
        across=min(new.across, widest),
        up=min(new.up, widest),
    )


def to_query(settings: Settings) -> dict[str, str]:
    """The link's parameters: what differs from the example, and the example itself."""
    plain = Settings.of(EXAMPLES[settings.example])
    query = {}
    for name in (field.name for field in fields(Settings)):
        value = getattr(settings, name)
        if name == "example":
            if value != next(iter(EXAMPLES)):
                query[name] = value
        elif value != getattr(plain, name) and not (name == "edits" and len(value) > MAX_EDITS):
            query[name] = FIELDS[name].write(value)
    return query


def from_query(query: Mapping[str, str]) -> tuple[Settings, list[str]]:
    """The settings of a link, and a notice for everything in it that could not be used.

    Parameters that are not ours are left alone, without a notice.
    """
    notices = []
    values: dict[str, object] = {}
    for name, field in FIELDS.items():
        if name in query:
            try:
                values[name] = field.read(query[name])
            except ValueError as error:
                shown = query[name] if len(query[name]) <= 40 else query[name][:40] + "…"
                notices.append(f"The link's {name} is {clean(shown)[0]!r}, but {error}.")
    example = EXAMPLES[str(values.pop("example", next(iter(EXAMPLES))))]
    plain = Settings.of(example)
    settings = replace(plain, **values)
    last = len(settings.inputs.tokens) - 1
    for name in ("query", "stretch"):
        if getattr(settings, name) > max(last, 0):
            if name in values:
                beyond = f"The link's {name} is {values[name]}, but the last token is {last}."
                notices.append(beyond)
            settings = replace(settings, **{name: min(getattr(plain, name), max(last, 0))})
    for name in ("across", "up"):
        if getattr(settings, name) > max(settings.width - 1, 1):
            notices.append(
                f"The link's {name} is {values[name]}: vectors are {settings.width} wide."
            )
            settings = replace(settings, **{name: getattr(plain, name)})
    problem = problem_with(settings)
    if problem:
        notices.append(f"The link's settings do not fit together: {problem}")
        settings = replace(plain, predict=settings.predict)
    return settings, [f"{notice} The example's own is used." for notice in notices]
