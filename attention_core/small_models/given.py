"""The tiny language's second layer as recipes: its trained matrices. Loads no torch."""

from functools import lru_cache
from pathlib import Path

from ..files import tensor_file
from ..recipes import ROLES, GivenHeads, Projections, Table
from .figures import shipped_figures

WEIGHTS = Path(__file__).with_name("tiny_language.safetensors")
"""The weights that come with the package."""
LAYER = 1
"""The last one: its heads see what the first layer has mixed."""


@lru_cache(maxsize=1)
def tables() -> dict[str, tuple]:
    """The weights as nested tuples, by the names that they have in `Network`."""
    return {
        name: _nested(shape, numbers)
        for name, (_, shape, numbers) in tensor_file.read_numbers(WEIGHTS).items()
    }


def _nested(shape: tuple[int, ...], numbers: tuple) -> tuple:
    for size in reversed(shape[1:]):
        numbers = tuple(numbers[at : at + size] for at in range(0, len(numbers), size))
    return numbers


def width() -> int:
    """The width of the vectors that the network reads."""
    return len(tables()["W_token"][0])


def projections() -> Projections:
    """The matrices of the head that finds the noun of a pronoun best."""
    _, head = shipped_figures().best("pronoun to noun")
    given = tuple(tables()[f"W_{role}"][LAYER][head] for role in ROLES)
    d_head = len(given[0][0])
    return Projections(d_query=d_head, d_value=d_head, start="given", given=given)


def heads() -> GivenHeads:
    """All heads of the layer, each by the first of the names that were measured for it."""
    by_role = [tables()[f"W_{role}"][LAYER] for role in ROLES]
    output: Table = sum(tables()["W_output"][LAYER], ())
    found = [shipped_figures().names((LAYER, head)) for head in range(len(by_role[0]))]
    names = tuple(of[0] if of else "no name" for of in found)
    return GivenHeads(names, tuple(zip(*by_role, strict=True)), output)
