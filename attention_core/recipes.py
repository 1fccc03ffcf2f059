"""How the matrices of the lessons come about: their widths, seeds, and orders of draws.

Same recipe, same matrices. Needs no torch, so that examples and links can be read without it.
"""

from collections.abc import Iterable
from dataclasses import dataclass

ROLES = ("query", "key", "value")
PLURAL = {"query": "queries", "key": "keys", "value": "values"}
STARTS = {"rand": "torch.rand", "linear": "nn.Linear"}
SCALES = {"sqrt_d": "√d", "none": "Nothing", "d": "d"}
"""What scores may be divided by."""
NORMALISERS = {"softmax": "Softmax", "sum": "Sum"}
"""What turns a row of scores into shares."""
MAX_HEADS = 8
"""More are not offered."""
Edits = tuple[tuple[int, int, float], ...]


def check_choice(name: str, value: str, choices: Iterable[str]) -> None:
    """Raises ValueError where a value is none of the choices."""
    known = list(choices)
    if value not in known:
        raise ValueError(f"{name} is {value!r}, but must be {' or '.join(map(repr, known))}")


def check_scale(scale: str) -> None:
    """Raises ValueError where scores cannot be divided by this."""
    check_choice("scale", scale, SCALES)


def check_least(recipe: object, least: int, *names: str) -> None:
    """Raises ValueError where one of these settings is smaller than it can be."""
    for name in names:
        value = getattr(recipe, name)
        if value < least:
            raise ValueError(f"{name} is {value}, but must be {least} or more")


@dataclass(frozen=True)
class Projections:
    """How W_query, W_key and W_value come about. Same recipe, same matrices.

    They are drawn in this order. `start` is `rand` (uniform from 0 to 1) or `linear` (as
    `torch.nn.Linear` starts). `upright` draws a matrix as (d_out, d_in) and transposes it, as some
    notebooks do and `nn.Linear` always does. Raises ValueError for a setting out of its range.
    """

    d_out: int = 2
    """Width of a query and of a key."""
    d_v: int = 2
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

    def __post_init__(self) -> None:
        check_choice("start", self.start, STARTS)
        check_scale(self.scale)
        check_least(self, 1, "d_out", "d_v")
        check_least(self, 0, "skipped_draws")

    def width(self, role: str) -> int:
        """The columns of a role's matrix."""
        return self.d_v if role == "value" else self.d_out

    def axis(self, role: str) -> str:
        """The name of that width: values have one of their own where theirs differs."""
        return "d_v" if role == "value" and self.d_v != self.d_out else "d_out"

    def n_parameters(self, d_in: int) -> int:
        """How many numbers training may change, for embeddings of width `d_in`."""
        return (d_in + self.bias) * (2 * self.d_out + self.d_v)


PROJECTIONS = Projections()


@dataclass(frozen=True)
class HeadsRecipe:
    """How many heads, how wide, and how their matrices are drawn, query, key, value, then output.

    Each matrix is drawn as one, (d_in, n_heads · d_head), and its columns are dealt out to the
    heads; or `by_head`, as (head, d_head, d_in), which is transposed. Raises ValueError for a
    setting out of its range.
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

    def __post_init__(self) -> None:
        check_choice("start", self.start, STARTS)
        check_scale(self.scale)
        check_least(self, 1, "n_heads", "d_head", "d_value", "d_model")

    def width(self, role: str) -> int:
        """The width of a head's query, key or value."""
        return self.d_value if role == "value" else self.d_head

    def axis(self, role: str) -> str:
        """The name of that width: values have one of their own where theirs differs."""
        return "d_value" if role == "value" and self.d_value != self.d_head else "d_head"

    def n_parameters(self, d_in: int) -> int:
        """How many numbers training may change."""
        joined = self.n_heads * (2 * self.d_head + self.d_value)
        return d_in * joined + self.n_heads * self.d_value * self.d_model


HEADS = HeadsRecipe()


@dataclass(frozen=True)
class MaskRecipe:
    """Which query may look at which key; see `operations.MayLook`."""

    causal: bool = True
    window: int | None = None
    hidden_key: int | None = None
    flipped: tuple[tuple[int, int], ...] = ()


CAUSAL = MaskRecipe()


def even_width(d_model: int, n_heads: int) -> int:
    """The width of a head where all heads share `d_model` evenly.

    Raises ValueError, with the numbers of heads that would do, where it cannot be shared.
    """
    if d_model < 1:
        raise ValueError(f"d_model is {d_model}, but must be 1 or more")
    if n_heads >= 1 and d_model % n_heads == 0:
        return d_model // n_heads
    fitting = [str(n) for n in range(1, d_model + 1) if d_model % n == 0 and n <= MAX_HEADS]
    choices = " or ".join([", ".join(fitting[:-1]), fitting[-1]] if fitting[1:] else fitting)
    raise ValueError(
        f"d_model = {d_model} cannot be shared evenly among {n_heads} heads. It can among {choices}"
    )
