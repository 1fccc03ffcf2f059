"""How much of a gradient comes back through many blocks, with a residual and without."""

from collections.abc import Mapping, Sequence

from attention_core.experiments.depth import gradient_norms
from attention_core.mechanism.block import BlockOptions
from attention_core.trace import Trace
from attention_core.utils.caching import cached_by_key, digest

from ...charts.chart import Chart
from ...charts.lines import Across, Point, lines
from ...picture import palette
from ...reactive.control import Values
from ...words import number
from .lesson import heads_that_share, hidden_width

LINES = {True: "added to the stream", False: "put in its place"}
LOOKS = {LINES[True]: (palette.POSITIVE, False), LINES[False]: (palette.NEGATIVE, True)}
LEAST = 1e-12
"""What is less is drawn here: an axis of powers has no 0."""
Shares = Mapping[bool, Sequence[float]]


def shares(trace: Trace, values: Values) -> Shares:
    """What of the gradient is left before each block of a stack of the page's own kind."""
    vectors = trace["embeddings"].value
    options = BlockOptions(heads_that_share(values), values.norm, values.activation)
    sizes = (values.n_blocks, hidden_width(values), values.block_seed)
    return _kept_shares((digest(vectors), options, *sizes), vectors, options, *sizes)


@cached_by_key(64)
def _kept_shares(vectors, options: BlockOptions, n_blocks: int, d_hidden: int, seed: int) -> Shares:
    return gradient_norms(vectors, n_blocks, options, d_hidden=d_hidden, seed=seed)


def by_block(shares: Shares) -> Chart:
    """The two lines, on an axis of powers of ten."""
    blocks = tuple(range(len(shares[True])))
    points = [
        Point(at, LINES[kind], max(share, LEAST), max(share, LEAST))
        for kind, each in shares.items()
        for at, share in enumerate(each)
    ]
    told = (("at", "after block"), ("value", "gradient left"))
    across = Across("after block (0: before the first)", blocks, False, told)
    return lines(points, LOOKS, "Gradient that is left", across)


def left_words(shares: Shares) -> str:
    """What is left at the first block, in both stacks."""
    with_it, without = shares[True][0], shares[False][0]
    said = f"Added, **{_amount(with_it)}** of the gradient reaches the first block; "
    return f"{said}put in its place, **{_amount(without)}**."


def _amount(share: float) -> str:
    """A share as people say it: 1.7 times, 12%, one part in 38,000."""
    if share >= 1:
        return f"{number(share, 1)} times as much"
    if share >= 0.01:
        return f"{share:.0%}"
    if share < LEAST:
        return "nothing"
    return f"1 part in {float(f'{1 / share:.2g}'):,.0f}"
