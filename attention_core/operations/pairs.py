"""Byte-pair encoding: pairs are counted, the most frequent joined; `NOTHING` fills up rows."""

import inspect

import torch
from torch import Tensor

from ..expression import Expression, Hidden, Number, Seen, Sum
from .base import Operation, check_place

NOTHING = -1
"""What stands behind the last token of a word."""


def joined(counts, pieces, token):
    # The pair with the largest count becomes one token, from left to right in each word.
    # Of pairs that are equally frequent: the one whose first token, then second, came first.
    left, right = (counts == counts.max()).nonzero()[0].tolist()
    made = []
    for word in pieces.tolist():
        row = []
        for piece in word:
            is_pair = row and row[-1] == left and piece == right
            row[len(row) - is_pair if is_pair else len(row) :] = [token if is_pair else piece]
        made.append(row + [-1] * (len(word) - len(row)))
    return torch.tensor(made)


class PairCounts(Operation):
    """How often each token stands before each other one, in words of which each counts as often as
    it came: (word), (word, place) → (first, second).

    Source: Sennrich et al. 2016, Neural Machine Translation of Rare Words with Subword Units.
    """

    takes = "(word) (word, place)"
    signs = ("", "in", "=")
    chooses = True
    no_gradient = "what is counted are ids, whole numbers that cannot be moved a little"
    in_latex = r"\operatorname{{pairs}}({1}, {0})"
    in_torch = (
        "torch.zeros({self.n_tokens} + 1, {self.n_tokens} + 1).index_put("
        "({1}[:, :-1], {1}[:, 1:]), {0}.float()[:, None].expand_as({1}[:, 1:]), accumulate=True"
        ")[:-1, :-1].clone()"
    )
    in_words = (
        "Added up over all places where the two stand next to each other: how often each word came."
    )

    n_tokens: int

    def value(self, often: Tensor, pieces: Tensor) -> Tensor:
        for token in pieces[pieces != NOTHING].tolist():
            check_place("token", token, self.n_tokens)
        pairs, size = (pieces[:, :-1], pieces[:, 1:]), self.n_tokens + 1
        each = often.float()[:, None].expand_as(pairs[0])
        # The last row and column are those of NOTHING.
        return torch.zeros(size, size).index_put(pairs, each, accumulate=True)[:-1, :-1].clone()

    def arithmetic(self, index: tuple[int, ...], often, pieces) -> Expression:
        pairs = torch.stack((pieces.value[:, :-1], pieces.value[:, 1:]), -1)
        seen = tuple(
            Seen(Seen(often.cell((word,)), pieces.cell((word, at))), pieces.cell((word, at + 1)))
            for word, at in (pairs == torch.tensor(index)).all(-1).nonzero().tolist()
        )
        return Sum(seen) if seen else Number(0.0)


class JoinPair(Operation):
    """The most frequent pair as one token wherever it stands, from left to right: its counts
    (first, second), (word, place) → (word, place).

    Source: as of `PairCounts`; of equal counts the first, as the package `tokenizers` has it.
    """

    takes = "(token, token) (word, place)"
    signs = ("", "in", "=")
    chooses = True
    no_gradient = PairCounts.no_gradient
    in_latex = r"\operatorname{{join}}({1}, {0})"
    in_torch = "joined({0}, {1}, {self.token})"
    in_words = (
        "The most frequent pair becomes one token wherever it stands; all else is copied, and "
        "moves up."
    )
    imports = ("", "", *inspect.getsource(joined).splitlines(), "")

    token: int

    def value(self, counts: Tensor, pieces: Tensor) -> Tensor:
        if not counts.any():
            raise ValueError("no two tokens stand next to each other: there is nothing to join")
        return joined(counts, pieces, self.token)

    def arithmetic(self, index: tuple[int, ...], counts, pieces) -> Expression:
        word, place = index
        left, right = (counts.value == counts.value.max()).nonzero()[0].tolist()
        row, at, parts = pieces.value[word].tolist(), 0, list[tuple[int, ...]]()
        while at < len(row):
            size = 2 if row[at : at + 2] == [left, right] else 1
            parts.append(tuple(range(at, at + size)))
            at += size
        if place >= len(parts):
            return Number(float(NOTHING))
        cells = [pieces.cell((word, each)) for each in parts[place]]
        most = counts.cell((left, right))
        if len(cells) == 1:
            return Seen(cells[0], most)
        return Hidden((most, *cells), r"\text{the most frequent pair, joined}", float(self.token))
