"""The induction head taken apart, and the network without its first layer's help."""

from attention_core.small_models.induction import EXAMPLE_IDS, FinishedRun, best_head, shipped_run
from attention_core.small_models.induction_head import induction_head
from attention_core.small_models.repeated import next_of_earlier
from attention_core.trace import Trace

from ...cards.questions import Pick, Verdict
from ...settings.settings import Settings
from ...words import number

TARGETS = next_of_earlier(EXAMPLE_IDS)
ROUNDED = 2e-3
"""Recorded weights are kept in half precision: three digits."""
CHOICES = (
    "Nearly as low as with two",
    "About halfway",
    "Hardly lower than for tokens that cannot be known",
)


def build(_: Settings) -> Trace:
    """The lesson's trace: no setting changes it."""
    return induction_head(shipped_run())


def recorded_gap(trace: Trace) -> float:
    """How far the weights, worked out anew, are from those recorded at the end of the training."""
    last = shipped_run().records[-1]
    return (trace["weights"].value - last.weights[best_head(last)]).abs().max().item()


def on_target(trace: Trace) -> float:
    """The mean weight that queries which have been there before give to the outlined cells."""
    weights = trace["weights"].value
    return ((weights * TARGETS).sum() / TARGETS.any(-1).sum()).item()


def on_first_key(trace: Trace) -> float:
    """The mean weight on the first key of queries that have not been there before, but the first
    one, which has no choice.
    """
    return trace["weights"].value[~TARGETS.any(-1)][1:, 0].mean().item()


def one_layer_question(run: FinishedRun) -> Pick:
    """What becomes of the loss where there is one layer alone."""
    last = run.records[-1]
    share = (run.one_layer_loss - last.loss_repeated) / (last.loss_first - last.loss_repeated)
    right = 0 if share < 0.25 else 1 if share < 0.75 else 2
    words = one_layer_words(run)
    return Pick(
        words="Train the same network with a single layer of heads, for as many steps. Where does "
        "its loss on repeated tokens end?",
        choices=CHOICES,
        truth=lambda: words,
        judge=lambda guess: Verdict(
            guess[0] == right, ("Right. " if guess[0] == right else "Not so. ") + words
        ),
        teaches="One layer learns that a letter comes back 5 to 12 places later, and guesses among "
        "those few. It cannot look for the one that came after its own: no key says what came "
        "before it.",
    )


def one_layer_words(run: FinishedRun) -> str:
    """The loss with one layer, beside that with two."""
    last = run.records[-1]
    return (
        f"With one layer the loss on repeated tokens ends at {number(run.one_layer_loss, 2)}, with "
        f"two at {number(last.loss_repeated, 3)}; on tokens that cannot be known it is "
        f"{number(last.loss_first, 2)}."
    )
