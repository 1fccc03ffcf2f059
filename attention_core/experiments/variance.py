"""How the variance of a dot product grows with the width, measured and by theory: a sum of d
independent products of entries with mean 0 and variance s² has variance d·s⁴, and over √d it has s⁴
again, which is 1 for s = 1. Source: Vaswani et al. 2017, section 3.2.1, footnote 4.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from ..operations import Draw, Multiply, Scale, SumLast
from ..trace import Trace
from ..utils.validation import validated

MAX_D = 4_096
MAX_TRIALS = 100_000
LARGEST_CHUNK = 2**20
"""Most random numbers that are held at a time: 4 MB."""
BLOCK = 16
"""Torch draws normal numbers sixteen at a time: whole blocks are the same, however many at once."""
REPORT_EVERY = 8
"""Chunks between two reports of a long run: about 30 ms of work."""
WIDTHS = tuple(2**power for power in range(13))
"""1, 2, 4 … 4096: where the variance is measured against d."""

RAW_MOMENTS = {
    "normal": (0.0, 1.0, 0.0, 3.0),
    "uniform": (0.0, 1.0, 0.0, 9 / 5),
    "uniform_0_1": (1 / 2, 1 / 3, 1 / 4, 1 / 5),
}
"""Means of x, x², x³, x⁴ of an entry with spread 1; `uniform` reaches from −√3 to √3."""


@validated
@dataclass(frozen=True)
class Trials:
    """What to draw, and how often. The same settings give the same numbers.

    `spread` is the standard deviation of an entry; `uniform_0_1` has its own and ignores it.
    Raises ValueError for what is out of range.
    """

    d: int = 64
    trials: int = 1_000
    distribution: str = "normal"
    spread: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        if not 1 <= self.d <= MAX_D:
            raise ValueError(f"a width d of {self.d}: choose 1 to {MAX_D:,}")
        if not 2 <= self.trials <= MAX_TRIALS:
            raise ValueError(f"{self.trials} trials: choose 2 to {MAX_TRIALS:,}")
        if self.distribution not in RAW_MOMENTS:
            raise ValueError(
                f"no distribution is called {self.distribution!r}: there are "
                f"{', '.join(RAW_MOMENTS)}"
            )
        if not 0 < self.spread <= 1_000:
            raise ValueError(f"a standard deviation of {self.spread}: choose above 0, up to 1,000")

    @property
    def numbers(self) -> int:
        """How many random numbers a run draws."""
        return 2 * self.d * self.trials

    @property
    def factor(self) -> float:
        """What each drawn entry is multiplied by."""
        return 1.0 if self.distribution == "uniform_0_1" else self.spread


@dataclass(frozen=True)
class Theory:
    """What q·k is by theory: its mean, its variance, and its fourth central moment."""

    mean: float
    variance: float
    fourth_moment: float

    def standard_error(self, trials: int) -> float:
        """How far a variance measured in so many trials is off, typically.

        The variance of a sample's variance is (μ₄ − σ⁴)/n for large n. For standard normal entries
        this is d·√((2 + 6/d)/n). Source: Cramér 1946, Mathematical Methods of Statistics, 27.4.
        """
        return math.sqrt((self.fourth_moment - self.variance**2) / trials)


@dataclass(frozen=True)
class Measured:
    """A run so far. Small, whatever was drawn: no sample is kept."""

    settings: Trials
    trials: int
    """How many are done, of `settings.trials`."""
    mean: float
    variance: float
    """Of q·k: the squares of the deviations from the mean, added, over one less than the trials."""
    product_variance: float
    """Of one product, q₁k₁."""
    low: float
    """The smallest q·k, where the first bin begins; the last ends at the largest."""
    high: float
    counts: tuple[int, ...]
    """How many trials fell into each of the bins of equal width."""


@validated
def few_trials(seed: int, trials: int = 6, d: int = 8) -> Trace:
    """Some trials with standard normal entries, small enough to be read, as a trace. Steps:
    `queries`, `keys` and `products` (trial, d), `dot_products` and `scaled_dot_products` (trial).
    """
    trace = Trace()
    drawn = Draw("normal", (trials, d), seed=seed)
    queries = trace.step("queries", drawn, axes=("trial", "d"))
    keys = trace.step("keys", Draw("normal", (trials, d), after=drawn), axes=("trial", "d"))
    products = trace.step("products", Multiply(), queries, keys, axes=("trial", "d"))
    dots = trace.step("dot_products", SumLast(), products, axes=("trial",))
    trace.step("scaled_dot_products", Scale(d), dots, axes=("trial",))
    return trace


@validated
def variance_theory(settings: Trials) -> Theory:
    """Mean, variance and fourth central moment of q·k, from the moments of an entry."""
    # E[(qk)ⁿ] = E[qⁿ] E[kⁿ], since q and k are independent.
    m1, m2, m3, m4 = (
        (moment * settings.factor**power) ** 2
        for power, moment in enumerate(RAW_MOMENTS[settings.distribution], start=1)
    )
    variance = m2 - m1**2
    fourth = m4 - 4 * m1 * m3 + 6 * m1**2 * m2 - 3 * m1**4
    d = settings.d
    # Of the terms of (x₁ + … + x_d)⁴, those with a lone x vanish: d of x⁴, and 3d(d−1) of x²y².
    return Theory(d * m1, d * variance, d * fourth + 3 * d * (d - 1) * variance**2)


@validated
def measure_variance(settings: Trials, chunk: int = LARGEST_CHUNK) -> Iterator[Measured]:
    """Run the trials; yields what is known so far, and at last all of it.

    Stop by taking no more. At most `chunk` numbers are held at a time (and q·k of each trial);
    the result does not depend on it, to the last bit.
    """
    dots = torch.empty(settings.trials)
    firsts = torch.empty(settings.trials)
    done = 0
    for at, vectors in enumerate(draws(settings, 2, chunk), start=1):
        products = vectors[:, 0] * vectors[:, 1]  # (trial, d)
        now = done + len(products)
        dots[done:now] = products.sum(dim=-1)
        firsts[done:now] = products[:, 0]
        done = now
        if at % REPORT_EVERY == 0 or done == settings.trials:
            yield _summary(settings, dots[:done], firsts[:done])


def draws(settings: Trials, rows: int, chunk: int = LARGEST_CHUNK) -> Iterator[Tensor]:
    """Random vectors (some trials, rows, d), until all trials are drawn; the same for any chunk."""
    # Each width draws numbers of its own: else what is measured at two widths would be off alike.
    generator = torch.Generator().manual_seed((settings.seed * 4_099 + settings.d) % 2**32)
    block = BLOCK * rows * settings.d
    size = max(chunk // block, 1) * BLOCK
    draw = torch.randn if settings.distribution == "normal" else torch.rand
    for start in range(0, settings.trials, size):
        wanted = min(size, settings.trials - start)
        whole = math.ceil(wanted / BLOCK) * BLOCK
        entries = draw(whole, rows, settings.d, generator=generator)[:wanted]
        if settings.distribution == "uniform":  # from 0…1 to mean 0, standard deviation 1
            entries = (entries - 0.5) * math.sqrt(12)
        yield entries if settings.factor == 1 else entries * settings.factor


def _summary(settings: Trials, dots: Tensor, firsts: Tensor) -> Measured:
    exact = dots.double()
    low, high = exact.min().item(), exact.max().item()
    counts = torch.histc(exact, bins=41, min=low, max=high)
    return Measured(
        settings=settings,
        trials=len(dots),
        mean=exact.mean().item(),
        variance=exact.var().item(),
        product_variance=firsts.double().var().item(),
        low=low,
        high=high,
        counts=tuple(map(int, counts.tolist())),
    )
