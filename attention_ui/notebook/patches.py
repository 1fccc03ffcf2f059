"""Patches are tokens: which keys and queries of a recording are which part of an image."""

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from attention_core.recording.recording import Layer, Recording

OF_IMAGES = ("vision", "visual", "image")
"""What the part of a model is called that sees the image alone."""
MOST_SPECIAL = 16
"""Tokens that stand before the patches: CLS and registers."""
SINK_FROM = 0.3
"""A token that the queries give so much of their weight, on average, is named a sink."""


@dataclass(frozen=True)
class Cut:
    """An image as tokens: a grid of patches, and tokens beside it."""

    grid: tuple[int, int]
    """Rows and columns."""
    patches: tuple[int, ...]
    """The places of the patches among the keys, row by row."""
    beside: tuple[tuple[int, str], ...]
    """The places of other keys, and what they are called: CLS, registers, words."""
    askers: tuple[tuple[int, str], ...]
    """The queries that stand beside the image, by their places among all queries."""
    asking: tuple[int, ...]
    """For each patch its place among the queries; () where no patch looks."""


def cut(
    seen: Recording,
    layer: Layer,
    text: int,
    step: int | None,
    grid: tuple[int, int] | None,
    tokens: Sequence[str] | None,
) -> Cut:
    """How the tokens of a layer lie on an image. Raises ValueError, in words, where they do not."""
    n_queries, n_keys = len(layer.call(step).rows), layer.call(step).keys.shape[-2]
    grid = _grid(seen, grid)
    known = seen.patches
    places = known.places[text] if known and text < len(known.places) else ()
    sees_words = not any(each in layer.name.lower() for each in OF_IMAGES)
    if places and max(places) < n_keys and sees_words:
        grid = _merged(grid, len(places), layer)
        names = tokens if tokens is not None else seen.tokens_of(text)
        names = names if len(names) >= n_keys else [f"token {at}" for at in range(n_keys)]
        patches = places
        beside = [(at, names[at]) for at in range(n_keys) if at not in {*places}]
    else:
        n_beside = n_keys - grid[0] * grid[1]
        if not 0 <= n_beside <= min(MOST_SPECIAL, max(5, grid[0] * grid[1] // 4)):
            raise ValueError(
                f"{layer.name} has {n_keys} keys, and the image was cut into {_written(grid)} "
                f"patches, {grid[0] * grid[1]} in all: its keys are no such patches, with CLS "
                f"and registers or without. " + _what_else(seen, layer)
            )
        patches = tuple(range(n_beside, n_keys))  # special tokens stand in front
        beside = [*enumerate(special_names(n_beside, bool(known and known.is_distilled)))]
    if n_queries != n_keys:
        own = layer.query_names(step, text)
        rows = own if len(own) == n_queries else [f"query {at}" for at in range(n_queries)]
        return Cut(grid, patches, tuple(beside), tuple(enumerate(rows)), ())
    return Cut(grid, patches, tuple(beside), tuple(beside), patches)


def _grid(seen: Recording, given: tuple[int, int] | None) -> tuple[int, int]:
    if given is not None:
        sizes = [*given] if isinstance(given, tuple | list) else [given]
        is_whole = all(isinstance(each, int) and each > 0 for each in sizes)
        if len(sizes) != 2 or not is_whole:
            raise ValueError(f"grid is {given!r}, but should be rows and columns, such as (14, 14)")
        return sizes[0], sizes[1]
    if seen.patches is None:
        raise ValueError(
            "this recording does not say into how many patches an image was cut: no convolution "
            "that cuts one ran within recorded(…). Give grid=(rows, columns)"
        )
    return seen.patches.grid


def _merged(grid: tuple[int, int], n_tokens: int, layer: Layer) -> tuple[int, int]:
    """The grid of the tokens among words, each of which may stand for several patches."""
    for side in range(1, min(grid) + 1):
        if grid[0] % side == grid[1] % side == 0 and grid[0] * grid[1] == n_tokens * side * side:
            return grid[0] // side, grid[1] // side
    raise ValueError(
        f"{n_tokens} tokens stand for the image, which was cut into {_written(grid)} patches "
        f"(several images, or crops of one): {layer.name} cannot be laid on it. "
        "Give grid=(rows, columns) of those tokens"
    )


def special_names(count: int, is_distilled: bool = False) -> list[str]:
    """What the tokens before the patches are called."""
    second = "distillation" if is_distilled else "register 1"
    return ["CLS", second, *(f"register {at}" for at in range(2, count))][:count]


def _what_else(seen: Recording, layer: Layer) -> str:
    others = [name for name in seen.kinds if name != layer.kind]
    if others:
        return f"Choose other layers, such as kind={others[0]!r}, or give grid=(rows, columns)"
    return "Give grid=(rows, columns), or show it without an image"


def fitting_kind(seen: Recording) -> str | None:
    """The first kind of layer whose keys are the patches; None where none is."""
    if seen.patches is None:
        return None
    for name, layers in seen.kinds.items():
        try:
            cut(seen, layers[0], 0, -1, None, None)
        except ValueError:
            continue
        return name
    return None


def sinks(weights: Tensor) -> list[list[dict | None]]:
    """For each layer and head of weights (layer, head, query, key), the key that gets most, with
    its share on average over all queries: an attention sink, where that is much.
    """
    mean = weights.mean(dim=-2)
    most = mean.max(dim=-1)
    fewest = max(SINK_FROM, 3 / weights.shape[-1])
    return [
        [
            {"key": int(key), "share": round(float(share), 4)} if share >= fewest else None
            for share, key in zip(shares, keys, strict=True)
        ]
        for shares, keys in zip(most.values, most.indices, strict=True)
    ]


def _written(grid: tuple[int, int]) -> str:
    return f"{grid[0]} × {grid[1]}"
