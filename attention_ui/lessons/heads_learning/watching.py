"""A run to be watched, and what is said of it, from its records."""

from collections.abc import Sequence
from functools import lru_cache

import torch

from attention_core.small_models.induction import (
    EXAMPLE,
    EXAMPLE_IDS,
    IS_INDUCTION,
    Record,
    appearance,
    best_head,
    shipped_run,
)
from attention_core.small_models.repeated import next_of_earlier
from attention_core.utils.head_name import head_in_full, head_name

from ...picture import palette
from ...picture.learning import COLOURS, Curve, Layer, LearningRun, Panel
from ...words import capital, number

_BEFORE = torch.ones(len(EXAMPLE), len(EXAMPLE), dtype=torch.bool).tril(-1).triu(-1)
TARGETS = torch.stack([_BEFORE, next_of_earlier(EXAMPLE_IDS)])
"""(layer, query, key): True where a head of that layer is expected to look."""
SCORES = {"previous_token": "previous-token score", "prefix_matching": "prefix-matching score"}
"""That of the first layer, and that of the second."""
IS_PREVIOUS = 0.25
"""The previous-token score that names a head of the first layer: twice that at the start."""
OUTLINED = (
    "Layer 0. Outlined: the token before",
    "Layer 1. Outlined: the token that came after this one, the first time",
)


@lru_cache(maxsize=1)
def shipped() -> LearningRun:
    """The finished run."""
    return run_of(shipped_run().records)


def run_of(records: Sequence[Record]) -> LearningRun:
    """What is drawn of a run."""
    at = appearance(records)
    titles = [f"step {each.step}: loss {number(each.loss_repeated, 3)}" for each in records]
    losses = ("loss_repeated", palette.NEGATIVE), ("loss_first", palette.MUTED)
    curves = [Curve([getattr(each, name) for each in records], colour) for name, colour in losses]
    return LearningRun(
        steps=[each.step for each in records],
        panels=[
            Panel("loss", titles, (0, 4), curves),
            *(Panel(name, title, (0, 1), _curves(records, name)) for name, title in SCORES.items()),
        ],
        layers=[_layer(records, layer) for layer in range(len(SCORES))],
        tokens=EXAMPLE,
        weights=torch.stack([each.weights for each in records]),
        targets=TARGETS.unsqueeze(1),
        appeared=None if at is None else records[at].step,
    )


def _curves(records: Sequence[Record], name: str) -> list[Curve]:
    """A score of all heads, in the colour of their layer."""
    scores = torch.stack([getattr(each, name) for each in records], dim=-1)
    return [Curve(head.tolist(), COLOURS[layer]) for layer, of in enumerate(scores) for head in of]


def _layer(records: Sequence[Record], layer: int) -> Layer:
    name, words = [*SCORES.items()][layer]
    n_heads = records[0].weights.shape[1]
    return Layer(
        OUTLINED[layer],
        [[_called(each, layer, head) for each in records] for head in range(n_heads)],
        [
            [f"{words} {number(getattr(each, name)[layer, head].item(), 2)}" for each in records]
            for head in range(n_heads)
        ],
    )


def _called(record: Record, layer: int, head: int) -> str:
    if layer:
        is_one, name = record.prefix_matching[layer, head] > IS_INDUCTION, "induction head"
    else:
        is_one, name = record.previous_token[layer, head] > IS_PREVIOUS, "previous token"
    return f"{head_name(head, layer)}{f': {name}' * bool(is_one)}"


def moment_words(records: Sequence[Record]) -> tuple[str, str]:
    """When an induction head appeared and what the loss did then, and what came about below it."""
    first, last = records[0], records[-1]
    at = appearance(records)
    if at is None:
        return (
            f"After {last.step} steps no head of layer 1 gives more than "
            f"{number(last.prefix_matching[1].max().item(), 2)} of its weight to the token that "
            "came after its own. An induction head has not formed: there may be one after more "
            "steps, or from another seed."
        ), ""
    now, then = records[at], _before(records[: at + 1])
    seeker, writer = best_head(now), (0, int(last.previous_token[0].argmax()))
    return (
        f"**The moment is step {now.step}** (dashed line). {capital(head_in_full(*seeker))} "
        f"turns to the token that followed its own the first time: on average it gives it "
        f"{_score(then, seeker)} of its weight at step {then.step}, {_score(now, seeker)} at step "
        f"{now.step} and {_score(last, seeker)} in the end. The loss on repeated letters falls "
        f"with it: {number(then.loss_repeated, 2)}, {number(now.loss_repeated, 2)}, "
        f"{number(last.loss_repeated, 3)}."
    ), (
        f"In the layer below, {head_name(writer[1], writer[0])} has turned to the token before, "
        f"with {_previous(first, writer)} of its weight at the start, {_previous(now, writer)} at "
        f"step {now.step} and {_previous(last, writer)} in the end."
    )


def _before(records: Sequence[Record]) -> Record:
    """The last of the records in which no head was on its way yet."""
    head = best_head(records[-1])
    start = records[0].prefix_matching[head].item()
    quiet = start + (IS_INDUCTION - start) / 4
    found = [record for record in records[:-1] if record.prefix_matching[head].item() < quiet]
    return found[-1] if found else records[0]


def _score(record: Record, head: tuple[int, int]) -> str:
    return number(record.prefix_matching[head].item(), 2)


def _previous(record: Record, head: tuple[int, int]) -> str:
    return number(record.previous_token[head].item(), 2)
