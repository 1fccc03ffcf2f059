"""From tokens to rows of a table: which token has which row, and what is done with the others."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from ..utils.validation import validated
from .tokenizers import visible

UNKNOWN = "<unk>"
PADDING = "<pad>"
UNUSED = "(unused)"
MAX_LABELLED_ROWS = 10_000


@validated
@dataclass(frozen=True)
class Vocabulary:
    """Which row of an embedding table belongs to which token.

    `entries` are (token, row) pairs in the order of the rows, `n_rows` is the height of the table,
    and `reserved` are (name, row) pairs for rows that belong to no token of the text. Reserved
    rows are kept apart, so a text that contains "<unk>" has a row for that token and another for
    unknown tokens. Build one with `distinct` or `with_duplicates`.

    Raises ValueError if a row is not in the table.
    """

    entries: tuple[tuple[str, int], ...]
    n_rows: int
    reserved: tuple[tuple[str, int], ...] = ()

    def __post_init__(self) -> None:
        for text, row in self.entries + self.reserved:
            if not 0 <= row < self.n_rows:
                raise ValueError(
                    f'the row of "{visible(text)}" is {row}, but {_rows_there_are(self.n_rows)}'
                )

    @classmethod
    def distinct(
        cls, tokens: Iterable[str], reserved: Sequence[str] = (UNKNOWN, PADDING)
    ) -> "Vocabulary":
        """A row a distinct token, sorted, then reserved rows. Raises ValueError for a double."""
        texts = sorted(set(tokens))
        if len(set(reserved)) < len(reserved):
            raise ValueError(f"a reserved row can be named once only: {', '.join(reserved)}")
        return cls(
            entries=tuple((text, row) for row, text in enumerate(texts)),
            n_rows=len(texts) + len(reserved),
            reserved=tuple((name, row) for row, name in enumerate(reserved, start=len(texts))),
        )

    @classmethod
    def with_duplicates(cls, tokens: Iterable[str]) -> "Vocabulary":
        """A known slip: the sorted list with duplicates; earlier places of a token stay unused."""
        texts = sorted(tokens)
        rows = {text: row for row, text in enumerate(texts)}
        return cls(entries=tuple(rows.items()), n_rows=len(texts))

    @cached_property
    def _row_of(self) -> dict[str, int]:
        return dict(self.entries)

    @cached_property
    def _text_of(self) -> dict[int, str]:
        return {row: text for text, row in self.reserved + self.entries}

    def ids(self, tokens: Iterable[str]) -> list[int]:
        """The row of each token, or that of "<unk>". Raises ValueError, naming a token without."""
        unknown_row = dict(self.reserved).get(UNKNOWN)
        ids = []
        for token in tokens:
            row = self._row_of.get(token, unknown_row)
            if row is None:
                raise ValueError(
                    f'"{visible(token)}" is not in the vocabulary, and no row is reserved for '
                    f'unknown tokens: add it to the text, or reserve a row named "{UNKNOWN}"'
                )
            ids.append(row)
        return ids

    def unknown(self, tokens: Iterable[str]) -> list[str]:
        """The tokens that have no row of their own, each once, in order of appearance."""
        return [token for token in dict.fromkeys(tokens) if token not in self._row_of]

    def token(self, row: int) -> str:
        """A row's token, a reserved name, or "(unused)". Raises ValueError for no such row."""
        if not 0 <= row < self.n_rows:
            raise ValueError(f"row {row} does not exist: {_rows_there_are(self.n_rows)}")
        return self._text_of.get(row, UNUSED)

    def rows(self) -> tuple[str, ...]:
        """The text of each row, as `token` gives it, to label a table with.

        One difference: a token that reads like the name of another row of this table, such as
        "<unk>" in the text, is put in quotation marks. Blanks are not made visible yet. Raises
        ValueError for a table of more than `MAX_LABELLED_ROWS` rows.
        """
        if self.n_rows > MAX_LABELLED_ROWS:
            raise ValueError(
                f"{self.n_rows:,} rows are too many to label all of them "
                f"(the limit is {MAX_LABELLED_ROWS:,}): ask for the rows you need with token(row)"
            )
        texts = [self.token(row) for row in range(self.n_rows)]
        own = {row for _, row in self.entries}
        names = {text for row, text in enumerate(texts) if row not in own}
        return tuple(
            f'"{text}"' if row in own and text in names else text for row, text in enumerate(texts)
        )


def _rows_there_are(n_rows: int) -> str:
    return f"the table has {n_rows:,} rows, 0 to {n_rows - 1:,}" if n_rows else "the table is empty"
