"""Why what was added up so far has to shrink: the question, and what comes of not doing it."""

from attention_core.mistakes.rewriting import rewritten
from attention_core.mistakes.side_by_side import side_by_side
from attention_core.operations import Add, ShrinkAndAdd
from attention_core.trace import Step, Trace

from ...charts.matrix import Matrix
from ...page.equation import equation
from ...page.show import note
from ...page.view import View
from ...predict.questions import Pick, Verdict
from ...words import number

RIGHT = 2
CHOICES = (
    "It stays 4: what has been added is added",
    "It is multiplied by e to the power of 3, about 20",
    "It is multiplied by e to the power of −3, about 0.05",
    "It starts again at 0",
)


def rising_maximum() -> Pick:
    """What happens to a sum when the maximum rises from 2 to 5."""
    truth = f"{CHOICES[RIGHT]}: 4 becomes 0.2."
    return Pick(
        words="A row's maximum so far is 2, and its sum so far is 4. In the next tile a score of "
        "5 turns up. What has to happen to the sum so far, before the new tile is added?",
        choices=CHOICES,
        judge=lambda guess: Verdict(
            guess[0] == RIGHT, ("Right: " if guess[0] == RIGHT else "") + truth
        ),
        truth=lambda: truth,
        teaches="Each of its terms was e to the power of a score minus 2, and is to be e to the "
        "power of the same score minus 5. That is 3 less in every exponent: one factor for all.",
    )


def unshrunk(trace: Trace, block: int) -> Trace:
    """The trace beside one in which nothing shrinks, with the `difference` of the context vectors
    of a block of queries.
    """
    adds = (name for name, step in trace.items() if isinstance(step.operation, ShrinkAndAdd))
    wrong = rewritten(trace, dict.fromkeys(adds, _only_added))
    return side_by_side(trace, wrong, f"context_vectors_{block}")


def _only_added(new: Trace, step: Step, inputs: tuple[Step, ...]) -> Step:
    before, _, brought = inputs
    return new.step(step.name, Add(), before, brought, axes=step.axes, symbol=step.symbol)


def show_unshrunk(view: View, block: int) -> None:
    """Context vectors without shrinking, the right ones, and how far off they are."""
    name = f"context_vectors_{block}"
    if f"wrong_{name}" not in view.trace:
        note("This block of queries meets one tile of keys alone, so nothing has to shrink.")
        return
    equation(view, "unshrunk", *parts(view.trace, name))
    note(words(view.trace))


def parts(trace: Trace, name: str) -> tuple[Matrix | str, ...]:
    """Wrong less right."""
    wrong, right = Matrix(trace[f"wrong_{name}"]), Matrix(trace[name])
    return wrong, "−", right, "=", Matrix(trace["difference"])


def words(trace: Trace) -> str:
    """How far off the worst entry is."""
    off = trace["difference"].value.abs().max().item()
    if off < 1e-6:
        return "Here no maximum rises after the first tile that is seen, so both are the same."
    return (
        f"Without shrinking, context vectors are off by up to {number(off, 3)}. There is "
        "no error and the shapes fit, but early keys get too much weight."
    )
