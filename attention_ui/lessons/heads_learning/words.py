"""What the lesson on learning heads asks, and what its reader can answer."""

from attention_core.small_models.induction import FinishedRun, appearance, best_head
from attention_core.trace import Trace
from attention_core.utils.head_name import head_name

from ...cards.common_questions import one_of
from ...cards.questions import Pick
from ...frame.ends import closes, named
from ...words import listed, number
from .lesson import TARGETS, on_target

ONE_LAYER = "one_layer"
"""What the question covers; no step of the trace."""
CHOICES = (
    "Nearly as low as with two",
    "About halfway",
    "Hardly lower than for tokens that cannot be known",
)


def one_layer_question(run: FinishedRun) -> Pick:
    """What becomes of the loss where there is one layer alone."""
    last = run.records[-1]
    share = (run.one_layer_loss - last.loss_repeated) / (last.loss_first - last.loss_repeated)
    return one_of(
        "Train the same network with a single layer of heads, for as many steps. Where does its "
        "loss on repeated tokens end?",
        CHOICES,
        0 if share < 0.25 else 1 if share < 0.75 else 2,
        f"With one layer the loss on repeated tokens ends at {number(run.one_layer_loss, 2)}, with "
        f"two at {number(last.loss_repeated, 3)}; on tokens that cannot be known it is "
        f"{number(last.loss_first, 2)}.",
        teaches="One layer learns that a letter comes back 5 to 12 places later, and guesses among "
        "those few. It cannot look for the one that came after its own: no key says what came "
        "before it.",
    )


@closes("What does an induction head look for?", "induction_head")
def looks_for(trace: Trace) -> str:
    """With the weight of the first query that has been there before, and the mean of all."""
    query = int(TARGETS.any(-1).int().argmax())
    key = int(TARGETS[query].int().argmax())
    weight = trace["weights"].value[query, key].item()
    return (
        "For the token that came after its own, the last time that its own stood there. Here "
        f"{named(trace, 'query', query)} gives {number(weight, 2)} of its weight to "
        f"{named(trace, 'key', key)}, and all {int(TARGETS.any(-1).sum())} queries that have been "
        f"there before give {number(on_target(trace), 2)} on average."
    )


@closes("Why does it take two layers?", "two_layers", ONE_LAYER)
def two_layers() -> str:
    """Without the loss of one layer, which the card says."""
    return (
        "Attention compares what a query asks with what a key says. That a token came after “D” "
        "has to be written into its vector before anybody can look for it: that is what the first "
        "layer does."
    )


@closes("Does a head learn all at once?", "run")
def steeply(run: FinishedRun) -> str:
    """With the score of the induction head before, on and after its steepest way up."""
    at, last = appearance(run.records), run.records[-1]
    layer, head = best_head(last)
    shown = [run.records[place] for place in (at // 2, at - 4, at, at + 4)] + [last]
    told = [
        f"{number(each.prefix_matching[layer, head].item(), 2)} at step {each.step}"
        for each in shown
    ]
    return (
        f"No, but steeply. Of its weight, {head_name(head, layer)} gives the right tokens "
        f"{listed(told)}. Neither layer's head helps without the other, so for a while little "
        "seems to happen. Once both have begun, each makes the other more useful."
    )
