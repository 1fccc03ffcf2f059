"""One set of settings for all pages, and how it is written in a link. Knows no session.

A setting is one line of `Settings`: its name, its field, which reads it from a link and refuses in
words what it cannot be, and its start. A link holds only what differs from its example, so
`?example=life_is_short` says it all.
"""

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from typing import Any

from attention_core.examples import EXAMPLES, Example
from attention_core.inputs import RANDOM_ID_ROWS, VOCABULARIES, Inputs
from attention_core.tokenizers import TOKENIZERS, clean, visible

from .fields import (
    MAX_EDITS,
    CellPlace,
    Choice,
    Decimal,
    Edits,
    Field,
    Flag,
    ScoreRow,
    Sentence,
    Trail,
    Whole,
    Word,
)

MAX_TOKENS = 64
MAX_WIDTH = 64
MAX_SEED = 2**32 - 1


LIKENESSES = {"dot": "Dot product", "cosine": "Cosine"}
DIVISORS = {"none": "Nothing", "sqrt_d": "√d"}
LEARNED = {"sentence": "This sentence", "example": "The example's sentence"}
ROW_FROM = {"example": "The example", "hand": "By hand"}
PRECISIONS = {"float32": "float32", "float16": "float16", "bfloat16": "bfloat16"}
MAX_SCORES = 16
MAX_SCORE = 1_000.0
FACTORS = (0, 1 / 16, 1 / 8, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128)
TABLE_ROWS = (7, 9, 100, 1_000, 5_000, 10_000, 20_000, 50_257, 100_000, 200_000)
TABLE_WIDTHS = (2, 3, 16, 32, 64, 128, 256, 512, 768, 1_024, 2_048, 4_096)


def setting(kind: Field, start: object = MISSING, aside: bool = False) -> Any:
    """A setting: how it is read from a link, and what it starts with, whatever the example is.

    `aside` marks one that leaves a lesson's own numbers as they are: what is looked at, or an
    experiment beside them.
    """
    return field(default=start, metadata={"field": kind, "aside": aside})


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


FIELDS: dict[str, Field] = {each.name: each.metadata["field"] for each in fields(Settings)}
ASIDE = {each.name for each in fields(Settings) if each.metadata["aside"]}
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
    for name in FIELDS:
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
    for name, kind in FIELDS.items():
        if name in query:
            try:
                values[name] = kind.read(query[name])
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
