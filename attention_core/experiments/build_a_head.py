"""Puzzles: make a head that does something. Each is data, and a check of a trace.

A word is a vector whose entries have names: what it is (`animal`, `action`, `refers`), what every
word has (`always`), what the first one alone has (`first`), its place and its name. Places stand on
a clock with eight hours, each token an hour after the one before; names on one with ten, a word
always at its own hour. Each clock has two entries, the x and the y of its hand.
So a head can find the same word (equal hands), and turn a hand back by an hour.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor

from ..mechanism.attention import attention
from ..mechanism.builder import times
from ..operations import AttentionMask, Edit, Given
from ..trace import Step, Trace
from ..utils.toml_file import read_toml
from ..utils.validation import validated

NOUNS, PRONOUNS, VERBS = ("cat", "dog", "mouse"), ("it", "she"), ("chases", "sleeps")
FEATURES = (
    *("animal", "action", "refers", "always", "first"),
    *("place_x", "place_y", "name_x", "name_y"),
)
WORDS = ("the", *NOUNS, *PRONOUNS, *VERBS, "because", "and")
LONGEST = 8
"""Tokens of a sentence: after so many, places come again."""
MATRICES = ("W_query", "W_key", "W_value", "second_W_query", "second_W_key")
WIDTH = 2
"""Of a query, a key and a value."""
Table = tuple[tuple[float, ...], ...]
Edits = tuple[tuple[int, int, float], ...]
Found = tuple[bool | None, str]
"""Whether it holds (None where nothing could hold), and what was measured, in our words alone."""
_IS = {
    **{word: {"animal": 2.0} for word in NOUNS},
    **{word: {"animal": 1.0, "refers": 2.0} for word in PRONOUNS},
    **{word: {"action": 2.0} for word in VERBS},
}


def vector_of(word: str, place: int) -> tuple[float, ...]:
    """The entries of a word at a place. Raises ValueError for a word that has no vector."""
    if word not in WORDS:
        raise ValueError(f"“{word}” is none of the words here: {', '.join(WORDS)}")
    has = {"always": 1.0, "first": float(place == 0), **_IS.get(word, {})}
    for clock, hour in (("place", place / LONGEST), ("name", WORDS.index(word) / len(WORDS))):
        has |= {f"{clock}_x": math.cos(math.tau * hour)}
        has |= {f"{clock}_y": math.sin(math.tau * hour)}
    return tuple(round(has.get(name, 0.0), 4) + 0.0 for name in FEATURES)


def _edits(cells: Mapping[str, float]) -> Edits:
    """Cells of a matrix by the names of their row and the number of their column."""
    found = []
    for name, number in cells.items():
        row, column = name.rsplit(" ", 1)
        place = FEATURES.index(row) if row in FEATURES else int(row)
        found.append((place, int(column), number))
    return tuple(sorted(found))


NAMES = _edits({"name_x 0": 1.0, "name_y 1": 1.0})
"""A matrix that hands on the name of a word."""


@dataclass(frozen=True)
class Puzzle:
    """Make a head that does something: where it starts, how one sees that it does, and how."""

    name: str
    does: str
    """What the head does, after “Make a head that …”."""
    task: str
    """The same in a sentence or two, with what may be used."""
    check: Callable[[Trace], Found]
    hidden: tuple[str, ...]
    """Sentences that are not shown."""
    hints: tuple[str, ...]
    answer: Mapping[str, Edits]
    """What is typed into which matrix."""
    why: str
    start: Mapping[str, Edits] = field(default_factory=dict)
    """What its matrices hold; all else in them is 0."""
    sentence: str = "the cat sleeps because it chases the mouse"

    @classmethod
    def told(cls, name: str, told: Mapping) -> "Puzzle":
        """A puzzle as `puzzles.toml` tells it."""
        cells = {
            what: {matrix: _edits(each) for matrix, each in told[what].items()}
            for what in ("start", "answer")
        }
        lines = {what: tuple(told.get(what, _HIDDEN)) for what in ("hidden", "hints")}
        return cls(**{**told, **cells, **lines, "name": name, "check": globals()[name]})

    @property
    def matrices(self) -> tuple[str, ...]:
        """The matrices that one may have to change; those of a second head are the last."""
        used = {"W_query", "W_key", *self.answer, *self.start}
        return tuple(name for name in MATRICES if name in used)

    @property
    def has_two_heads(self) -> bool:
        """Whether a second head reads what the first hands on."""
        return MATRICES[-1] in self.matrices


def start_of(puzzle: Puzzle, matrix: str) -> Table:
    """A matrix of a puzzle as it is at first: a row for each feature, of the second head's keys for
    each entry of what the first head hands on, which is a word's name where nothing else is said.
    """
    rows = WIDTH if matrix == "second_W_key" else len(FEATURES)
    given = {"W_value": NAMES, **puzzle.start}.get(matrix, ())
    typed = {(row, column): number for row, column, number in given}
    return tuple(
        tuple(typed.get((row, column), 0.0) for column in range(WIDTH)) for row in range(rows)
    )


@validated
def build(puzzle: Puzzle, sentence: str, edits: Mapping[str, Edits]) -> Trace:
    """The heads of a puzzle on a sentence, with numbers typed into their matrices.

    Steps: `embeddings` (token, d_in); `W_query`, `W_key` (d_in, d_query) and `W_value`
    (d_in, d_value), before each of them `drawn_W_query` and so on where cells were typed;
    `queries`, `keys`, `values`, `mask` (causal) and attention on them; of two heads also
    `second_W_query` (d_in, d_query) and `second_W_key` (d_value, d_query), whose keys are made of
    the context vectors of the first, and attention on these with `second_` before each name.

    Raises ValueError for a word that has no vector, and for no words or too many.
    """
    tokens = tuple(sentence.split())
    if not 1 <= len(tokens) <= LONGEST:
        raise ValueError(f"a sentence here has 1 to {LONGEST} words, and this one {len(tokens)}")
    rows = tuple(vector_of(word, place) for place, word in enumerate(tokens))
    trace = Trace(token=tokens, query=tokens, key=tokens)
    trace.label("d_in", FEATURES)
    embeddings = trace.step("embeddings", Given(rows), axes=("token", "d_in"))

    def matrix(name: str, *axes: str) -> Step:
        typed = edits.get(name, ())
        table = Given(start_of(puzzle, name))
        given = trace.step(f"drawn_{name}" if typed else name, table, axes=axes)
        return trace.step(name, Edit(typed), given, axes=axes) if typed else given

    def made(name: str, vectors: Step, axis: str, *axes: str) -> Step:
        prefix = "second_" if name.startswith("second") else ""
        role = {"queries": "query", "keys": "key", "values": "value"}[name.removeprefix(prefix)]
        return times(trace, name, vectors, matrix(f"{prefix}W_{role}", *axes), lead=(axis,))

    queries = made("queries", embeddings, "query", "d_in", "d_query")
    keys = made("keys", embeddings, "key", "d_in", "d_query")
    values = made("values", embeddings, "key", "d_in", "d_value")
    mask = trace.step("mask", AttentionMask(len(tokens), len(tokens)), axes=("query", "key"))
    context = attention(trace, queries, keys, values, mask=mask)
    if puzzle.has_two_heads:
        asks = made("second_queries", embeddings, "query", "d_in", "d_query")
        found_by = made("second_keys", context, "key", "d_value", "d_query")
        attention(trace, asks, found_by, values, mask=mask, prefix="second_")
    return trace


@validated
def holds(puzzle: Puzzle, sentence: str, edits: Mapping[str, Edits]) -> Found:
    """Whether the heads with these numbers do on a sentence what the puzzle asks for."""
    return puzzle.check(build(puzzle, sentence, edits))


def _tokens(trace: Trace) -> tuple[str, ...]:
    return trace.labels("token")


def _shares(trace: Trace, wanted: Tensor, least: float, what: str, prefix: str = "") -> Found:
    """Whether each query that has a wanted key (query, key) gives these so much of its weight."""
    wanted = wanted.tril()
    asks = wanted.any(dim=-1)
    if not asks.any():
        return None, "no word asks for it"
    share = (trace[f"{prefix}weights"].value * wanted).sum(dim=-1)[asks].min().item()
    if share >= least:
        told = "nearly all" if share >= 0.995 else f"at least {math.floor(100 * share)}%"
        return True, f"{told} of the weight goes to {what}"
    told = f"as little as {math.floor(100 * share)}% of the weight goes to {what}"
    return False, f"{told}; it takes {least:.0%}"


def _keys(trace: Trace, kind: tuple[str, ...], asked_by: tuple[str, ...] = WORDS) -> Tensor:
    """True where a query of some words may find a key of some kind (query, key)."""
    asks, found = ([token in each for token in _tokens(trace)] for each in (asked_by, kind))
    return torch.tensor(asks)[:, None] & torch.tensor(found)


def _same(trace: Trace) -> Tensor:
    tokens = _tokens(trace)
    return torch.tensor([[one == other for other in tokens] for one in tokens])


def before(trace: Trace) -> Found:
    """Each token looks at the one before it."""
    wanted = torch.ones(len(_tokens(trace)), len(_tokens(trace))).tril(-1).triu(-1).bool()
    return _shares(trace, wanted, 0.5, "the token before")


def same_word(trace: Trace) -> Found:
    """Each token looks at the places of its own word."""
    return _shares(trace, _same(trace), 0.6, "the same word")


def pronoun(trace: Trace) -> Found:
    """Each pronoun looks at animals that came before it."""
    return _shares(trace, _keys(trace, NOUNS, PRONOUNS), 0.8, "animals")


def verb(trace: Trace) -> Found:
    """Every token looks at verbs, as soon as there is one."""
    return _shares(trace, _keys(trace, VERBS), 0.7, "verbs")


def first(trace: Trace) -> Found:
    """Every token looks at the first one."""
    wanted = torch.zeros(len(_tokens(trace)), len(_tokens(trace)), dtype=torch.bool)
    wanted[1:, 0] = True
    return _shares(trace, wanted, 0.7, "the first token")


def mean(trace: Trace) -> Found:
    """Every token gives all that it may see the same."""
    weights = trace["weights"].value
    n_tokens = len(weights)
    if n_tokens < 2:
        return None, "there is only one word, with nothing to share"
    even = torch.ones_like(weights).tril() / torch.arange(1, n_tokens + 1)[:, None]
    off = (weights - even).abs().max().item()
    return off <= 0.02, f"a weight is up to {off:.2f} from an equal share; 0.02 is allowed"


def copies(trace: Trace) -> Found:
    """Each pronoun hands on the name of the animal that it looks at most."""
    rows = _keys(trace, NOUNS, PRONOUNS).tril().any(dim=-1).nonzero().flatten().tolist()
    if not rows:
        return None, "no word asks for it"
    names = trace["embeddings"].value[:, [row for row, *_ in NAMES]]
    found = trace["weights"].value.argmax(dim=-1)
    are_nouns = all(_tokens(trace)[int(found[row])] in NOUNS for row in rows)
    gaps = (trace["context_vectors"].value - names[found])[rows]
    off = gaps.norm(dim=-1).max().item()
    if not are_nouns:
        return False, "a pronoun looks at something that is no animal"
    return off <= 0.3, f"what it hands on is up to {off:.2f} from that word's name; 0.30 is allowed"


def what_followed(trace: Trace) -> Found:
    """The second head looks at what followed the same word before."""
    followed = torch.zeros_like(_same(trace))
    followed[:, 1:] = _same(trace).tril(-1)[:, :-1]
    return _shares(trace, followed, 0.4, "what followed the same word", "second_")


_HIDDEN = (
    "the dog chases the cat because it sleeps",
    "the mouse sleeps and it chases the cat",
    "cat and dog sleeps because she chases it",
    "the cat chases it because it sleeps",
    "dog chases mouse and she chases the cat",
)
PUZZLES = tuple(
    Puzzle.told(name, each) for name, each in read_toml(__package__, "puzzles.toml").items()
)
