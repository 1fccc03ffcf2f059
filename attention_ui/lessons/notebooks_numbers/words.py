"""What the page on the notebooks' numbers leaves its reader able to answer."""

from attention_core.published.report import slack_on_processors
from attention_core.trace import Trace

from ...controls.control import Values
from ...frame.ends import closes
from .check import never_computed
from .lesson import compared, judged


@closes("When is a computed number the printed one?", "judged")
def by_rounding(values: Values) -> str:
    """With the unit of the result that is taken apart."""
    half = f"{0.5 / 10 ** judged(values).decimals:.8f}".rstrip("0")
    return (
        "When it would be printed with the same digits: it may differ by at most half a unit of "
        f"the last one, here {half}. Everything that was never rounded, such as an id or a shape, "
        "has to be equal."
    )


@closes("Why may the last digit differ on your computer?", "judged")
def by_processor(trace: Trace, values: Values) -> str:
    """With what was measured, and the result that is taken apart."""
    fewest, most = slack_on_processors()
    here = compared(values, trace).by_slack
    return (
        "Adding floating-point numbers in another order rounds at other places, and processors "
        f"add in different orders. Of all results, {fewest} to {most} numbers needed more than "
        f"half a unit on the processors that were measured; of the one above, {here} on this one."
    )


@closes("Why can some printed numbers never be computed again?", "results")
def never() -> str:
    """With how many there are of each kind."""
    each = never_computed()[1]
    count, told = each[-1].split()[0], ", and ".join(each)
    return f"No computation gives them: {told}. A seed would have been enough for those {count}."
