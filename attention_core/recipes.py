"""How the lessons' matrices come about: same recipe, same matrices. Needs no torch."""

from collections.abc import Iterable
from dataclasses import dataclass

from .utils.validation import validated

ROLES = ("query", "key", "value")
PLURAL = {"query": "queries", "key": "keys", "value": "values"}
STARTS = {"rand": "torch.rand", "linear": "nn.Linear", "given": "Set by hand"}
"""How matrices begin; `given` only in an example that has matrices of its own."""
SCALES = {"sqrt_d": "√d", "none": "Nothing", "d": "d"}
"""What scores may be divided by."""
NORMALISERS = {"softmax": "Softmax", "sum": "Sum"}
"""What turns a row of scores into shares."""
MAX_HEADS = 8
"""More are not offered."""
Edits = tuple[tuple[int, int, float], ...]
Table = tuple[tuple[float, ...], ...]
"""A matrix of given numbers, row by row."""


def check_choice(name: str, value: str, choices: Iterable[str]) -> None:
    """Raises ValueError where a value is none of the choices."""
    known = list(choices)
    if value not in known:
        raise ValueError(f"{name} is {value!r}, but must be {' or '.join(map(repr, known))}")


def check_scale(scale: str) -> None:
    """Raises ValueError where scores cannot be divided by this."""
    check_choice("scale", scale, SCALES)


def check_given(start: str, given: tuple) -> None:
    """Raises ValueError where matrices are to be given, and none are."""
    if start == "given" and not given:
        raise ValueError("start is 'given', but no matrices are given")


def shape_of(table: Table) -> tuple[int, int]:
    """Rows and columns of a given matrix."""
    return len(table), len(table[0])


def check_least(recipe: object, least: int, *names: str) -> None:
    """Raises ValueError where one of these settings is smaller than it can be."""
    for name in names:
        value = getattr(recipe, name)
        if value < least:
            raise ValueError(f"{name} is {value}, but must be {least} or more")


def shared_by(n_heads: int, n_kv_heads: int) -> int:
    """How many query heads share a key head. Raises ValueError, in words, where they cannot."""
    if n_kv_heads < 1 or n_heads % n_kv_heads:
        raise ValueError(
            f"{n_heads} query heads cannot be shared evenly among {n_kv_heads} key heads"
        )
    return n_heads // n_kv_heads


@validated
@dataclass(frozen=True)
class Projections:
    """How W_query, W_key and W_value come about. Same recipe, same matrices.

    They are drawn in this order. `start` is `rand` (uniform from 0 to 1) or `linear` (as
    `torch.nn.Linear` starts). `upright` draws a matrix as (width, d_in) and transposes it, as some
    notebooks do and `nn.Linear` always does. Where `start` is `given`, a given matrix is used if it
    has the widths asked for and no seed replaces it; any other is drawn as with `rand`. Raises
    ValueError for a setting out of its range.
    """

    d_query: int = 2
    """Width of a query and of a key."""
    d_value: int = 2
    """Width of a value."""
    start: str = "rand"
    seed: int | None = None
    """None goes on with the generator behind the last draw of the trace, if there is one."""
    skipped_draws: int = 0
    """Numbers that the generator gives away after its seed."""
    upright: bool = False
    seeds: tuple[int | None, int | None, int | None] = (None, None, None)
    """A seed of its own for each matrix; None for the order above."""
    bias: bool = False
    edits: tuple[Edits, Edits, Edits] = ((), (), ())
    """Cells of each matrix typed by hand."""
    scale: str = "sqrt_d"
    given: tuple[Table, ...] = ()
    """W_query and W_key (d_in, d_query) and W_value (d_in, d_value), set by hand."""
    components: tuple[tuple[str, ...], ...] = ()
    """What the columns of these mean: those of queries and keys, and those of values."""

    def __post_init__(self) -> None:
        check_choice("start", self.start, STARTS)
        check_given(self.start, self.given)
        check_scale(self.scale)
        check_least(self, 1, "d_query", "d_value")
        check_least(self, 0, "skipped_draws")

    def width(self, role: str) -> int:
        """The columns of a role's matrix."""
        return self.d_value if role == "value" else self.d_query

    def axis(self, role: str) -> str:
        """The name of that width."""
        return "d_value" if role == "value" else "d_query"

    def given_for(self, role: str, d_in: int) -> Table | None:
        """The matrix of a role that was set by hand, where it is used; else None."""
        at = ROLES.index(role)
        if self.start != "given" or self.seed is not None or self.seeds[at] is not None:
            return None
        return self.given[at] if shape_of(self.given[at]) == (d_in, self.width(role)) else None

    def n_parameters(self, d_in: int) -> int:
        """How many numbers training may change, for embeddings of width `d_in`."""
        return (d_in + self.bias) * (2 * self.d_query + self.d_value)


PROJECTIONS = Projections()


@dataclass(frozen=True)
class GivenHeads:
    """The matrices of heads, set by hand or trained: those of each, and W_output."""

    names: tuple[str, ...]
    """What each head asks or does, in a word or a few."""
    by_head: tuple[tuple[Table, Table, Table], ...]
    output: Table
    components: tuple[tuple[str, ...], ...] = ()
    """What the columns of each head's queries, keys and values mean, where that is known."""
    outputs: tuple[str, ...] = ()
    """What the columns of the output mean, where that is known."""

    @property
    def sizes(self) -> tuple[int, int, int, int, int]:
        """n_heads, d_head, d_value, d_model, d_in."""
        query, _, value = self.by_head[0]
        d_in, d_head = shape_of(query)
        return len(self.by_head), d_head, shape_of(value)[1], shape_of(self.output)[1], d_in

    def joined(self, role: str) -> Table:
        """The matrix of all heads, side by side (d_in, n_heads · width)."""
        tables = [head[ROLES.index(role)] for head in self.by_head]
        return tuple(sum(rows, ()) for rows in zip(*tables, strict=True))


@validated
@dataclass(frozen=True)
class HeadsRecipe:
    """How many heads, how wide, and how their matrices are drawn, query, key, value, then output.

    Each matrix is drawn as one, (d_in, n_heads · d_head), and its columns are dealt out to the
    heads; or `by_head`, as (head, d_head, d_in), which is transposed. Where `start` is `given`, the
    given matrices are used if their sizes are those asked for and there is no seed; else all are
    drawn as with `linear`. Raises ValueError for a setting out of its range.
    """

    n_heads: int = 2
    d_head: int = 2
    """Width of a head's query and of its key."""
    d_value: int = 2
    """Width of a head's value."""
    d_model: int = 4
    """Width of the output."""
    start: str = "linear"
    seed: int | None = 0
    """None goes on with the generator behind the last draw of the trace."""
    skipped: tuple[tuple[int, ...], ...] = ()
    """Shapes of uniform draws that come first and are given away."""
    by_head: bool = False
    causal: bool = False
    scale: str = "sqrt_d"
    temperature: float = 1.0
    normalise: str = "softmax"
    dropout: float = 0.0
    dropout_seed: int = 0
    given: "GivenHeads | None" = None

    def __post_init__(self) -> None:
        check_choice("start", self.start, STARTS)
        check_given(self.start, (self.given,) if self.given else ())
        check_scale(self.scale)
        check_least(self, 1, "n_heads", "d_head", "d_value", "d_model")

    def width(self, role: str) -> int:
        """The width of a head's query, key or value."""
        return self.d_value if role == "value" else self.d_head

    def axis(self, role: str) -> str:
        """The name of that width."""
        return "d_value" if role == "value" else "d_head"

    def given_for(self, d_in: int) -> "GivenHeads | None":
        """The heads that were set by hand, where they are used; else None."""
        if self.start != "given" or self.seed is not None:
            return None
        sizes = (self.n_heads, self.d_head, self.d_value, self.d_model, d_in)
        return self.given if self.given.sizes == sizes else None

    def n_parameters(self, d_in: int) -> int:
        """How many numbers training may change."""
        joined = self.n_heads * (2 * self.d_head + self.d_value)
        return d_in * joined + self.n_heads * self.d_value * self.d_model


HEADS = HeadsRecipe()


@validated
@dataclass(frozen=True)
class MaskRecipe:
    """Which query may look at which key; see `operations.AttentionMask`."""

    causal: bool = True
    window: int | None = None
    hidden_key: int | None = None
    flipped: tuple[tuple[int, int], ...] = ()


CAUSAL = MaskRecipe()


def even_width(d_model: int, n_heads: int) -> int:
    """The width of a head where all share `d_model`. Raises ValueError, with what would do."""
    if d_model < 1:
        raise ValueError(f"d_model is {d_model}, but must be 1 or more")
    if n_heads >= 1 and d_model % n_heads == 0:
        return d_model // n_heads
    fitting = [str(n) for n in range(1, d_model + 1) if d_model % n == 0 and n <= MAX_HEADS]
    choices = " or ".join([", ".join(fitting[:-1]), fitting[-1]] if fitting[1:] else fitting)
    raise ValueError(
        f"d_model = {d_model} cannot be shared evenly among {n_heads} heads. It can among {choices}"
    )
