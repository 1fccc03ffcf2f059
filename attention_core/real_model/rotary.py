"""By how much pairs of columns turn, as the files of models say it."""

import math
from collections.abc import Sequence

from ..files.refused import ModelRefused
from ..mechanism.options import is_number
from .config_reader import ConfigReader
from .settings import rates

HOW = ("default", "linear", "llama3")
SLOWING = ("factor", "low_freq_factor", "high_freq_factor")
PLACES = "original_max_position_embeddings"
UNREAD = """
    attention_factor beta_fast beta_slow short_factor long_factor mscale mscale_all_dim truncate
    mrope_section
"""
"""What only other ways read. A factor of what is not scaled changes nothing either."""


def rotary(config: ConfigReader, d_head: int, longest: int) -> tuple[float, tuple[float, ...]]:
    """Base and rates by a config.json, older or newer. Raises ModelRefused for other ways."""
    base = config.base("rope_theta", 10_000.0)
    whole(config)
    newer, older = (config.group(name) for name in ("rope_parameters", "rope_scaling"))
    first = config.number(PLACES, None) or longest
    return turning(older if len(older) else newer, d_head, base, first, PLACES in config)


def whole(config: ConfigReader) -> None:
    """Raises ModelRefused where only some columns of a head are turned."""
    fits = lambda value: is_number(value, float) and value == 1  # noqa: E731
    config.take("partial_rotary_factor", "1: all columns of a head are turned here", fits, None)


def turning(
    config: ConfigReader, d_head: int, base: float, longest: float, known: bool = False
) -> tuple[float, tuple[float, ...]]:
    """Base and rates by `rope_parameters` or `rope_scaling`; `longest`: places trained on first."""
    if d_head % 2:
        raise ModelRefused(f"rotary positions turn pairs of columns, but a head is {d_head} wide")
    base, n_pairs = config.base("rope_theta", base), d_head // 2
    words = f"one of {', '.join(HOW)}: nothing else is computed here"
    how = config.take("rope_type", words, HOW.__contains__, None)
    older = config.take("type", words, HOW.__contains__, None)
    how = how or older or "default"
    whole(config)
    plain = rates(base, n_pairs)
    if how == "linear":
        factor = config.number("factor")
        plain = tuple(rate / factor for rate in plain)
    if how == "llama3":
        factor, low, high = (config.number(name) for name in SLOWING)
        if high <= low:
            raise ModelRefused(f"{SLOWING[2]} in {config.place} is {high}, but must be above {low}")
        places = config.number(PLACES, longest)
        plain = _rope_scaling(plain, factor, low, high, longest if known else places)
    config.rest([*SLOWING, PLACES, *UNREAD.split()])
    return base, plain


def _rope_scaling(
    plain: Sequence[float], factor: float, low: float, high: float, places: float
) -> tuple[float, ...]:
    """Rates of which the slow ones are `factor` times slower: of pairs that turn less than `low`
    times over the `places` that a model was first trained on. Those that turn more than `high`
    times are left; in between, the one goes over into the other.

    Source: Llama Team 2024, The Llama 3 Herd of Models; Meta's reference code, `apply_scaling`.
    """
    made = []
    for rate in plain:
        turns = places * rate / (2 * math.pi)
        share = min(max((turns - low) / (high - low), 0.0), 1.0)
        made.append(rate * (share + (1 - share) / factor))
    return tuple(made)
