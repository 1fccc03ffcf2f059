"""By how much pairs of columns turn, as the files of models say it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..files.refused import ModelRefused
from ..mechanism.options import is_number
from .config_reader import ConfigReader
from .settings import rates

HOW = {each: each for each in
       ("default", "linear", "llama3", "yarn", "longrope", "dynamic", "proportional")}  # fmt: skip
"""What files call the ways to slow pairs down, and what each is here."""
SLOWING = ("factor", "low_freq_factor", "high_freq_factor")
PLACES = "original_max_position_embeddings"
SHARE = "partial_rotary_factor"
_SHARES = "a number above 0, up to 1", lambda it: is_number(it, float) and 0 < it <= 1


@dataclass(frozen=True)
class Turning:
    """How a kind of layers turns queries and keys."""

    base: float
    rates: tuple[float, ...]
    stretch: float = 1.0
    beyond: int | None = None
    """Texts of more tokens than this are turned by other rates, the `long_rates`."""
    long_rates: tuple[float, ...] = ()


def of_layers(by_layer: Sequence[Turning | None]) -> dict[str, Any]:
    """What of `Settings` says how each layer turns; None for one that does not."""
    turned = [each for each in by_layer if each is not None]
    made: dict[str, Any] = {"rotary_base": turned[-1].base if turned else None}
    made["rates"] = tuple(each.rates if each else () for each in by_layer)
    if any(each.stretch != 1 for each in turned):
        made["stretches"] = tuple(each.stretch if each else 1.0 for each in by_layer)
    beyond = {each.beyond for each in turned if each.beyond}
    if len(beyond) > 1:
        raise ModelRefused(f"layers slow down beyond {sorted(beyond)} tokens: one number is read")
    if beyond:
        longer = tuple(each.long_rates or each.rates if each else () for each in by_layer)
        made["longer"] = (*beyond, longer)
    return made


def rotary(
    config: ConfigReader,
    d_head: int,
    longest: int,
    base: float = 10_000.0,
    share: float | None = None,
    kinds: Mapping[str, str] = HOW,
    named: tuple[str, str] = ("rope_theta", SHARE),
) -> Turning:
    """How queries and keys are turned by a config.json, in the older words and in the newer; a
    `share` of their columns where the class does so, and `named` are base and share where they
    stand outside. Raises ModelRefused for what is computed in another way.
    """
    base = config.base(named[0], base)
    if share is None:
        whole(config)
    else:
        share = config.take(named[1], *_SHARES, share)
    newer, older = (config.group(name) for name in ("rope_parameters", "rope_scaling"))
    first = config.number(PLACES, None) or longest
    own = older if len(older) else newer
    return turning(own, d_head, base, longest, first if PLACES in config else None, share, kinds)


def whole(config: ConfigReader) -> None:
    """Raises ModelRefused where only some columns of a head are turned."""
    fits = lambda value: is_number(value, float) and value == 1  # noqa: E731
    config.take(SHARE, "1: all columns of a head are turned here", fits, None)


def turning(
    config: ConfigReader,
    d_head: int,
    base: float,
    longest: int,
    first: float | None = None,
    share: float | None = None,
    kinds: Mapping[str, str] = HOW,
    outside: ConfigReader | None = None,
) -> Turning:
    """The same by what stands in `rope_parameters` or `rope_scaling`. A model reads `longest`
    places, and was trained on `first` ones before, where that is known whatever it says. `outside`
    are settings that this one stands in, where it does.
    """
    words = f"one of {', '.join(kinds)}: nothing else is computed here"
    known = lambda value: isinstance(value, str) and value in kinds  # noqa: E731
    how = config.take("rope_type", words, known, None)
    older = config.take("type", words, known, None)
    how = kinds[how or older or "default"]
    if how == "proportional" or share is not None:
        share = config.take(SHARE, *_SHARES, share or 1.0)
    else:
        whole(config)
    n_turned = d_head if how == "proportional" or share is None else int(d_head * share)
    is_odd = n_turned % 2 and (n_turned == d_head or how not in ("default", "linear", "llama3"))
    if is_odd or not n_turned:
        which = "a head is" if n_turned == d_head else "what turns in a head is"
        raise ModelRefused(f"rotary positions turn pairs of columns, but {which} {n_turned} wide")
    base = config.base("rope_theta", base)
    plain = rates(base, n_turned / 2)
    places = first or config.number(PLACES, longest)
    try:
        made = _slowed(config, how, base, plain, longest, places, d_head, share, outside)
        is_finite = all(map(math.isfinite, (*made.rates, *made.long_rates, made.stretch)))
    except ModelRefused:
        raise
    except (ArithmeticError, ValueError):  # a logarithm of 0 or less, a difference that is 0
        is_finite = False
    if not is_finite:
        raise ModelRefused(f"{config.place} gives angles that are not finite, by its {how} way")
    # What is dynamic slows down beyond `longest` tokens alone, which no text has here. Words that
    # are left belong to other ways, or to nobody.
    return made


def _slowed(
    config: ConfigReader,
    how: str,
    base: float,
    plain: tuple[float, ...],
    longest: int,
    places: float,
    d_head: int,
    share: float | None,
    outside: ConfigReader | None,
) -> Turning:
    """Rates slowed down in one of the ways."""
    made = Turning(base, plain)
    if how == "linear":
        factor = config.number("factor")
        made = Turning(base, tuple(rate / factor for rate in plain))
    elif how == "llama3":
        factor, low, high = (config.number(name) for name in SLOWING)
        if high <= low:
            raise ModelRefused(f"{SLOWING[2]} in {config.place} is {high}, but must be above {low}")
        made = Turning(base, _rope_scaling(plain, factor, low, high, places))
    elif how == "yarn":
        unsaid = (longest / places,) if "factor" in config.named else ()
        made = _yarn(config, base, plain, config.number("factor", *unsaid), places,
                     (config if outside is None else outside).flag("truncate", True))  # fmt: skip
    elif how == "longrope":
        made = _longrope(config, base, plain, config.number("factor", longest / places), places)
    elif how == "proportional":
        factor, n_pairs = config.number("factor", 1.0), int((share or 1.0) * d_head // 2)
        some = tuple(rate / factor for rate in plain[:n_pairs])
        made = Turning(base, some + (0.0,) * (len(plain) - n_pairs))
    elif how == "dynamic" and len(plain) == 1:
        raise ModelRefused(f"rope_type in {config.place} is dynamic, but only one pair turns")
    return made


def _rope_scaling(
    plain: Sequence[float], factor: float, low: float, high: float, places: float
) -> tuple[float, ...]:
    """Rates of which the slow ones are `factor` times slower: of pairs that turn less than `low`
    times over the `places` that a model was first trained on. Those that turn more than `high`
    times are left; in between, the one goes over into the other. Source: Llama Team 2024, The Llama
    3 Herd of Models; Meta's reference code, `apply_scaling`.
    """
    made = []
    for rate in plain:
        turns = places * rate / (2 * math.pi)
        share = min(max((turns - low) / (high - low), 0.0), 1.0)
        made.append(rate * (share + (1 - share) / factor))
    return tuple(made)


def _yarn(
    config: ConfigReader,
    base: float,
    plain: Sequence[float],
    factor: float,
    places: float,
    truncate: bool,
) -> Turning:
    """The same, going over by the number of the pair, between two that turn `beta_fast` and
    `beta_slow` times; and what is turned is made longer, so that scores of a longer text are as
    sharp. Source: Peng et al. 2023, YaRN, sections 3.2 to 3.4; `_compute_yarn_parameters` of
    transformers.
    """
    n_pairs, number = len(plain), lambda name: config.number(name, None)

    def pair(turns: float) -> float:
        """Which pair turns so many times over the places."""
        return n_pairs * math.log(places / (turns * 2 * math.pi)) / math.log(base)

    low, high = pair(number("beta_fast") or 32.0), pair(number("beta_slow") or 1.0)
    if truncate:
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, 2 * n_pairs - 1)
    high += 0.001 * (low == high)
    made = []
    for at, rate in enumerate(plain):
        share = 1 - min(max((at - low) / (high - low), 0.0), 1.0)
        made.append(rate * (share + (1 - share) / factor))

    def longer(scale: float) -> float:
        return 0.1 * scale * math.log(factor) + 1 if factor > 1 else 1.0

    some, all_dim = (config.take(name, "a number", lambda n: is_number(n, float), 0)
                     for name in ("mscale", "mscale_all_dim"))  # fmt: skip
    stretch = longer(some) / longer(all_dim) if some and all_dim else longer(1.0)
    return Turning(base, tuple(made), number("attention_factor") or stretch)


def _longrope(
    config: ConfigReader, base: float, plain: Sequence[float], factor: float, places: float
) -> Turning:
    """A factor for each pair: one list for texts that are as long as what the model was first
    trained on, one for longer ones. Source: Ding et al. 2024, LongRoPE;
    `_compute_longrope_parameters` of transformers.
    """

    def slowed(name: str) -> tuple[float, ...]:
        words = f"a list of {len(plain)} numbers above 0, one for each pair of columns that turns"
        fits = lambda found: isinstance(found, list) and len(found) == len(plain) and all(  # noqa: E731
            is_number(each, float) and each > 0 for each in found
        )  # fmt: skip
        by_pair = config.take(name, words, fits)
        return tuple(rate / each for rate, each in zip(plain, by_pair, strict=True))

    stretch = math.sqrt(1 + math.log(factor) / math.log(places)) if factor > 1 else 1.0
    stretch = config.number("attention_factor", stretch)
    return Turning(base, slowed("short_factor"), stretch, int(places), slowed("long_factor"))
