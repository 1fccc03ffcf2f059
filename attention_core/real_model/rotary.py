"""By how much pairs of columns turn, as the files of models say it."""

from ..files.refused import ModelRefused
from ..mechanism.builder import Slowed
from ..mechanism.said import Said
from .settings import rates

HOW = ("default", "linear", "llama3")
SLOWING = ("factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings")


def rotary(said: Said, d_head: int, base: float = 10_000.0) -> tuple[float, tuple[float, ...]]:
    """The base and the rate of each pair by a config.json, in the older words and in the newer.
    Raises ModelRefused for what is computed in another way.
    """
    base = said.base("rope_theta", base)
    turned = [said.group(name) for name in ("rope_parameters", "rope_scaling")]
    said.must("partial_rotary_factor", 1.0, "all columns of a head are turned here")
    given = [each for each in turned if each]
    return turning(given[0] if given else turned[0], d_head, base)


def turning(said: Said, d_head: int, base: float) -> tuple[float, tuple[float, ...]]:
    """The base and the rates by what stands in `rope_parameters` or `rope_scaling`."""
    if d_head % 2:
        raise ModelRefused(f"rotary positions turn pairs of columns, but a head is {d_head} wide")
    base, n_pairs = said.base("rope_theta", base), d_head // 2
    words = f"one of {', '.join(HOW)}: nothing else is computed here"
    how = said.take("rope_type", words, HOW.__contains__, None)
    older = said.take("type", words, HOW.__contains__, None)
    how = how or older or "default"
    said.must("partial_rotary_factor", 1.0, "all columns of a head are turned here")
    plain = rates(base, n_pairs)
    if how == "linear":
        factor = said.number("factor")
        plain = tuple(rate / factor for rate in plain)
    if how == "llama3":
        numbers = [said.number(name) for name in SLOWING]
        try:
            plain = Slowed(*numbers).rates(base, n_pairs)
        except ValueError as error:
            raise ModelRefused(f"{said.place}: {error}") from error
    # A factor of what is not scaled, and how far a model was trained at first, change nothing.
    said.rest(SLOWING if how == "default" else SLOWING[3:])
    return base, plain
