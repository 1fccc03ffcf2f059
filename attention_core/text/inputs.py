"""Everything that decides the embeddings: text, tokenizer, vocabulary, seed, width."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from pathlib import Path
from random import Random
from typing import Any

from ..recipes import check_choice, check_least
from ..small_models.given import width
from ..small_models.grammar import WORDS
from ..utils.validation import validated
from .tokenizers import TOKENIZERS, visible
from .vocabulary import Vocabulary

RANDOM_ID_ROWS = 20_000
"""Rows of the table that random ids point into, as in `sorry_dave`."""

TRAINED = "trained"
"""The vocabulary that a network was trained with, and its vectors."""
VOCABULARIES = {
    "distinct": "Sorted distinct tokens",
    "duplicates": "Sorted tokens, duplicates kept",
    "random": f"Random ids below {RANDOM_ID_ROWS:,}",
    TRAINED: "The words of the tiny language",
}


DRAWN = "*"
"""Behind a token whose vector was drawn at random beside given ones."""
_EVERYDAY = Path(__file__).with_name("everyday_words.tsv")


@validated
@dataclass(frozen=True)
class Inputs:
    """The settings of a sentence on its way to embeddings. Same inputs, same tensors.

    `tokenizer` is a key of TOKENIZERS, `vocabulary` one of VOCABULARIES. Raises ValueError for any
    other, and for a setting out of its range.
    """

    sentence: str
    tokenizer: str = "text"
    vocabulary: str = "distinct"
    learned_from: str | None = None
    """The text that the vocabulary is built from; None for the sentence itself."""
    reserved: int = 2
    seed: int = 0
    skipped_draws: int = 0
    """Numbers that the generator gives away after its seed, before the first one used."""
    d_in: int = 3
    drop_blanks: bool = False
    positions: bool = False
    vectors: tuple[tuple[str, tuple[float, ...]], ...] = ()
    """Given vectors, by token. A word without one gets a short vector, drawn from its letters."""
    components: tuple[str, ...] = ()
    """What each entry of the given vectors means."""
    edits: tuple[tuple[int, int, float], ...] = ()
    """Cells of the embedding table typed by hand: (row, column, number)."""
    everyday: bool = False
    """Whether everyday English words have vectors too, with the entries of `everyday_words.tsv`."""

    def __post_init__(self) -> None:
        check_choice("tokenizer", self.tokenizer, TOKENIZERS)
        check_choice("vocabulary", self.vocabulary, VOCABULARIES)
        check_least(self, 1, "d_in")
        check_least(self, 0, "reserved", "skipped_draws")

    def with_other_table(self, **changes: Any) -> "Inputs":
        """The same with what makes another table of embeddings, such as `vocabulary`: numbers
        typed into this table are of no cell of that one, so they stay behind.
        """
        other = replace(self, **changes)
        return other if other == self else replace(other, edits=())

    @property
    def tokens(self) -> tuple[str, ...]:
        """The tokens of the sentence, without blanks if those are dropped."""
        tokens = _tokens_of(self.tokenizer, self.sentence)
        return tuple(t for t in tokens if not t.isspace()) if self.drop_blanks else tokens

    @property
    def reserved_names(self) -> tuple[str, ...]:
        """The names of the reserved rows: `<unk>`, `<pad>`, then `<extra 3>` and on."""
        names = ["<unk>", "<pad>"] + [f"<extra {k}>" for k in range(3, self.reserved + 1)]
        return tuple(names[: self.reserved])

    def build_vocabulary(self) -> Vocabulary:
        """The vocabulary of the sentence, or of the text it was learned from.

        Blanks stay in it even where they are dropped from the tokens, so that dropping them
        changes no vector. Raises ValueError for random ids, which are drawn, not looked up.
        """
        text = self.sentence if self.learned_from is None else self.learned_from
        tokens = _tokens_of(self.tokenizer, text)
        if self.vocabulary == "duplicates":
            return Vocabulary.with_duplicates(tokens)
        if self.vocabulary == TRAINED:
            return Vocabulary(tuple(zip(WORDS, range(len(WORDS)), strict=True)), len(WORDS))
        if self.vocabulary == "distinct":
            return _distinct(tokens, self.reserved_names)
        raise ValueError("random ids belong to no vocabulary: they are drawn")

    def has_given_vectors(self) -> bool:
        """Whether vectors are given or trained, as wide as asked for; other words get their own."""
        if self.vocabulary == TRAINED:
            return self.d_in == width()
        is_wide = all(len(vector) == self.d_in for _, vector in self.vectors)
        return bool(self.vectors) and self.vocabulary == "distinct" and is_wide

    @cached_property
    def _given(self) -> Mapping[str, tuple[float, ...]]:
        return {token.casefold(): vector for token, vector in self.vectors} | dict(self.vectors)

    def vector_of(self, token: str) -> tuple[float, ...]:
        """The given vector of a token, or of the one that differs from it only by case, by marks
        around it or by a final 's: these are tokens of their own, as in most language models, with
        a row each that says the same. For any other, numbers from −0.5 to 0.5 that depend on the
        word alone: too short to outshout a word that means something.
        """
        return self._known(token) or _drawn(_plain(token), self.d_in)

    def _known(self, token: str) -> tuple[float, ...]:
        plain = _plain(token)
        tables = (self._given, everyday_words()) if self.everyday else (self._given,)
        for written in (token, token.casefold(), plain, plain.removesuffix("'s")):
            for table in tables:
                if written in table:
                    return table[written]
        return ()

    def is_drawn(self, token: str) -> bool:
        """Whether a token's vector is drawn at random though others are given."""
        is_given = self.vocabulary != TRAINED and self.has_given_vectors()
        return is_given and not self._known(token)

    @property
    def labels(self) -> tuple[str, ...]:
        """The tokens as pictures call them: one whose row was drawn beside given ones is marked."""
        if self.vocabulary == TRAINED or not self.has_given_vectors():
            return self.tokens
        lost = {*self.build_vocabulary().unknown(self.tokens)}  # they have the row of <unk>
        return tuple(
            token + DRAWN * (token in lost or self.is_drawn(token)) for token in self.tokens
        )


@cache
def everyday_words() -> Mapping[str, tuple[float, ...]]:
    """The vectors of everyday words, by word: set by hand, in tenths."""
    lines = _EVERYDAY.read_text(encoding="utf-8").splitlines()
    _, *rows = (line.split("\t") for line in lines if not line.startswith("# "))
    return {word: tuple(map(float, numbers)) for word, *numbers in rows}


@lru_cache(maxsize=4_096)
def _plain(token: str) -> str:
    """A word without capitals and marks around it; a token of marks or blanks as drawn."""
    token = token.casefold().replace("’", "'")
    ends = [place for place, char in enumerate(token) if char.isalnum()]
    return token[ends[0] : ends[-1] + 1] if ends else visible(token)


@lru_cache(maxsize=4_096)
def _drawn(word: str, n_numbers: int) -> tuple[float, ...]:
    numbers = Random(word)  # seeded by the letters: the same in every process
    return tuple(round(numbers.random() - 0.5, 1) + 0.0 for _ in range(n_numbers))


@lru_cache(maxsize=128)
def _tokens_of(tokenizer: str, text: str) -> tuple[str, ...]:
    """The tokens of a text: a page asks for those of its sentence some fifty times a run."""
    return tuple(TOKENIZERS[tokenizer].split(text))


_distinct = lru_cache(maxsize=64)(Vocabulary.distinct)
