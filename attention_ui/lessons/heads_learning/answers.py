"""What the lesson on learning heads leaves its reader able to answer."""

from attention_core.small_models.induction import FinishedRun, appearance, best_head, shipped_run
from attention_core.trace import Trace

from ...page.closing import Answer, named
from ...page.view import View
from ...words import number
from .induction import TARGETS, on_target, one_layer_words


def answers(view: View) -> list[Answer]:
    """On what an induction head looks for, on two layers, and on how it comes about."""
    run = shipped_run()
    return [
        Answer("What does an induction head look for?", looks_for(view.trace), "induction_head"),
        Answer("Why does it take two layers?", two_layers(run), "two_layers", ("one_layer",)),
        Answer("Does a head learn bit by bit?", at_once(run), "watch"),
    ]


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


def two_layers(run: FinishedRun) -> str:
    """With the loss of one layer alone."""
    return (
        "Attention compares what a query asks with what a key says. That a token came after “D” "
        "has to be written into its vector before anybody can look for it: that is what the first "
        f"layer does. {one_layer_words(run)}"
    )


def at_once(run: FinishedRun) -> str:
    """With the steps between a quiet score and that of an induction head."""
    at = appearance(run.records)
    last = run.records[-1]
    layer, head = best_head(last)
    if at is None:
        return "In this run no induction head has formed."
    now = run.records[at]
    early = run.records[at // 2]
    score = [number(each.prefix_matching[layer, head].item(), 2) for each in (early, now, last)]
    return (
        f"No. Head {head} of the second layer gives the right tokens {score[0]} of its weight at "
        f"step {early.step}, {score[1]} at step {now.step} and {score[2]} at step {last.step}. "
        "Neither layer's head helps without the other, so for a while little seems to happen. Once "
        "both have begun, each makes the other more useful."
    )
