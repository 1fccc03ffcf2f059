"""How the heads of the tiny language came about: a training by the plan, moment by moment.

    moments = shipped_recording()
    first = moments[first_named(moments, "pronoun to noun")]
    print(first.step, first.loss, best(first, "pronoun to noun"))

A training lands elsewhere on another processor. So what is recorded may be another run than that of
the shipped network, by the same plan, and every head is named by the records alone.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path

import torch
from torch import Tensor

from ..files.tensor_file import read, write
from .figures import TEXTS, Head
from .grammar import START, split
from .heads import KINDS, Kind, named
from .measuring import shares
from .network import Network
from .tiny_language import Texts, TrainingPlan, as_ids, loss, shorten, train, untrained

SENTENCE = (
    START,
    *split("the cat sees the dog because it purrs . anna brook says “ the cow moos ” . anna"),
)
"""The text on which heads are watched: all kinds of `ASKED_FOR` but one have something to find."""
ASKED_FOR = ("whose name", "because", "but", "opening mark", "name again", "pronoun to noun")
"""The kinds that are recorded: what the grammar cannot be told without."""
MOMENTS = 41
CROWDED = 100
"""Before this step, about, moments are at their closest: there the most happens."""
RECORDING = Path(__file__).with_name("tiny_language_training.safetensors")


def kinds_asked_for() -> tuple[Kind, ...]:
    """The kinds of `ASKED_FOR`, in its order."""
    by_name = {kind.name: kind for kind in KINDS}
    return tuple(by_name[name] for name in ASKED_FOR)


@dataclass(frozen=True, eq=False)
class Moment:
    """The network after `step` updates, measured on texts that it is not trained on."""

    step: int
    loss: float
    scores: Tensor
    """(kind, layer, head), of the kinds of `ASKED_FOR`."""
    weights: Tensor
    """(layer, head, query, key), of every head on the words of `SENTENCE`."""

    def scores_of(self, head: Head) -> dict[str, float]:
        """A head's score for each kind."""
        return dict(zip(ASKED_FOR, self.scores[:, *head].tolist(), strict=True))


def recorded_steps(steps: int) -> list[int]:
    """Which steps are recorded: first, last, and ever fewer between, evenly from `CROWDED` on."""
    times = (1 + steps / CROWDED) ** (1 / (MOMENTS - 1))
    return sorted({round(CROWDED * (times**at - 1)) for at in range(MOMENTS)})


def moment_of(step: int, network: Network, held_out: Texts) -> Moment:
    """What is recorded of a network: its loss on all texts, its scores on some."""
    found = shares(network, held_out.ids[:TEXTS, :-1], kinds_asked_for())
    scores = torch.stack([found[name].mean(-1) for name in ASKED_FOR])
    with torch.no_grad():
        _, weights = network(as_ids(list(SENTENCE))[None])
    return Moment(step, loss(network, held_out), scores, weights.squeeze(1))


def record(plan: TrainingPlan, texts: Texts, held_out: Texts) -> Iterator[tuple[Moment, Network]]:
    """Train by a plan, and yield recorded moments with the network; the last is as shipped."""
    wanted = {*recorded_steps(plan.steps)}
    network = untrained(plan.seed)
    yield moment_of(0, network, held_out), network
    for step, _, network in train(plan, texts):
        if step == plan.steps:
            shorten(network)
        if step in wanted:
            yield moment_of(step, network, held_out), network


def names_at(moments: Sequence[Moment], at: int, head: Head) -> tuple[str, ...]:
    """The kinds that a head may be called by at a moment, by the rule of `heads.named`."""
    return named(moments[at].scores_of(head), moments[0].scores_of(head))


def best(moment: Moment, kind: str) -> Head:
    """The head with the highest score for a kind."""
    scores = moment.scores[ASKED_FOR.index(kind)]
    layer, head = divmod(int(scores.argmax()), scores.shape[-1])
    return layer, head


def first_named(moments: Sequence[Moment], kind: str) -> int | None:
    """The place of the first moment at which some head may be called by a kind; None for none."""
    heads = enumerate(best(each, kind) for each in moments)
    return next((at for at, head in heads if kind in names_at(moments, at, head)), None)


def store(moments: Sequence[Moment], path: Path = RECORDING) -> None:
    """Write moments. Weights above the diagonal are 0, and are left out."""
    tensors = {
        each.name: torch.stack([torch.as_tensor(getattr(one, each.name)) for one in moments])
        for each in fields(Moment)
    }
    rows, columns = torch.tril_indices(len(SENTENCE), len(SENTENCE))
    tensors["weights"] = tensors["weights"][..., rows, columns].half()
    tensors["step"] = tensors["step"].float()
    write(path, tensors)


@cache
def shipped_recording() -> tuple[Moment, ...]:
    """The run that comes with the package: read once, and nobody's to change."""
    held = read(RECORDING)
    rows, columns = torch.tril_indices(len(SENTENCE), len(SENTENCE))
    triangle = held["weights"].float()
    weights = torch.zeros(*triangle.shape[:-1], len(SENTENCE), len(SENTENCE))
    weights[..., rows, columns] = triangle
    steps, losses = held["step"].int().tolist(), held["loss"].tolist()
    return tuple(map(Moment, steps, losses, held["scores"], weights))
