"""Everything that decides the embeddings: text, tokenizer, vocabulary, seed, width."""

from dataclasses import dataclass
from functools import cached_property, lru_cache

from ..asked import answers
from ..recipes import check_choice, check_least
from ..small_models.given import width
from ..small_models.grammar import WORDS
from .tokenizers import TOKENIZERS
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


@answers
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
    """Given vectors, by token. They are used where every token of the sentence has one."""
    components: tuple[str, ...] = ()
    """What each entry of the given vectors means."""
    edits: tuple[tuple[int, int, float], ...] = ()
    """Cells of the embedding table typed by hand: (row, column, number)."""

    def __post_init__(self) -> None:
        check_choice("tokenizer", self.tokenizer, TOKENIZERS)
        check_choice("vocabulary", self.vocabulary, VOCABULARIES)
        check_least(self, 1, "d_in")
        check_least(self, 0, "reserved", "skipped_draws")

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
            return Vocabulary.distinct(tokens, self.reserved_names)
        raise ValueError("random ids belong to no vocabulary: they are drawn")

    def has_given_vectors(self) -> bool:
        """Whether each token of the vocabulary has a given or trained vector of the width asked
        for.
        """
        if self.vocabulary == TRAINED:
            return self.d_in == width()
        return (
            bool(self.vectors)
            and self.vocabulary == "distinct"
            and all(
                len(self.vector_of(token)) == self.d_in for token in self.build_vocabulary().rows()
            )
        )

    @cached_property
    def _given(self) -> dict[str, tuple[float, ...]]:
        return {token.casefold(): vector for token, vector in self.vectors} | dict(self.vectors)

    def vector_of(self, token: str) -> tuple[float, ...]:
        """The given vector of a token, or of the one that differs from it only by case: these are
        two tokens, as in most language models, with a row each that says the same. () for none.
        """
        return self._given.get(token) or self._given.get(token.casefold(), ())


@lru_cache(maxsize=128)
def _tokens_of(tokenizer: str, text: str) -> tuple[str, ...]:
    """The tokens of a text: a page asks for those of its sentence some fifty times a run."""
    return tuple(TOKENIZERS[tokenizer].split(text))
