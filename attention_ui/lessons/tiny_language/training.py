"""The training of the tiny language's network, to be watched, and what is said of it."""

from collections.abc import Sequence
from functools import lru_cache

import torch
from torch import Tensor

from attention_core.small_models import recording
from attention_core.small_models.figures import Head, shipped_figures
from attention_core.utils.head_name import head_id, head_name

from ...picture import palette
from ...picture.learning import Curve, Layer, LearningRun, Panel
from ...words import number

WATCHED = "pronoun to noun"
"""The first head of this kind is what the dashed line marks."""
TICKS = (0, 100, 300, 700, 1_500)
Moments = Sequence[recording.Moment]


@lru_cache(maxsize=1)
def shipped() -> LearningRun:
    """The recorded run."""
    return run_of(recording.shipped_recording())


def run_of(moments: Moments) -> LearningRun:
    """What is drawn of a run."""
    figures = shipped_figures()
    loss = Panel(
        "loss",
        [f"step {each.step:,}: loss {number(each.loss, 3)}" for each in moments],
        (0, 4.5),
        [Curve([each.loss for each in moments], palette.NEGATIVE)],
        [
            (figures.bigram, f"{number(figures.bigram, 2)}: pairs of words"),
            (figures.entropy, f"{number(figures.entropy, 2)}: the grammar"),
        ],
    )
    first = recording.first_named(moments, WATCHED)
    return LearningRun(
        steps=[each.step for each in moments],
        panels=[loss, _scores(moments)],
        layers=[_layer(moments, layer) for layer in range(moments[-1].weights.shape[0])],
        tokens=recording.SENTENCE,
        weights=torch.stack([each.weights for each in moments]),
        targets=targets(moments),
        appeared=None if first is None else moments[first].step,
        ticks=[tick for tick in TICKS if tick <= moments[-1].step],
        crowded=recording.CROWDED,
    )


def targets(moments: Moments) -> Tensor:
    """(layer, head, query, key): where each head looks, if it does what it ends up named for."""
    n_layers, n_heads, n_words, _ = moments[-1].weights.shape
    found = torch.zeros(n_layers, n_heads, n_words, n_words, dtype=torch.bool)
    for layer in range(n_layers):
        for head in range(n_heads):
            names = _names(moments, (layer, head))
            for kind in recording.kinds_asked_for():
                for query, keys in kind.looks(recording.SENTENCE) if kind.name in names else ():
                    found[layer, head, query, list(keys)] = True
    return found


def _scores(moments: Moments) -> Panel:
    """For each kind that a head ends up named for, the best of these heads."""
    heads = {kind: recording.best(moments[-1], kind) for kind in recording.ASKED_FOR}
    curves = [
        Curve(
            [each.scores_of(head)[kind] for each in moments],
            palette.HEADS[recording.ASKED_FOR.index(kind)],
            f"{head_id(*head)} {kind}",
        )
        for kind, head in sorted(heads.items(), key=lambda each: each[1])
        if kind in _names(moments, head)
    ]
    return Panel("scores", "weight where its name says", (0, 1), curves)


def _layer(moments: Moments, layer: int) -> Layer:
    heads = [(layer, head) for head in range(moments[-1].weights.shape[1])]
    return Layer(
        f"Layer {layer}. Outlined: where heads with a name should look",
        [[_called(moments, at, head) for at in range(len(moments))] for head in heads],
        [[_score(each, head, _names(moments, head)) for each in moments] for head in heads],
    )


def _score(moment: recording.Moment, head: Head, names: Sequence[str]) -> str:
    scores = moment.scores_of(head)
    kind = names[0] if names else max(scores, key=scores.__getitem__)
    return f"{'' if names else 'nearest: '}{kind} {scores[kind]:.2f}"


def _called(moments: Moments, at: int, head: Head) -> str:
    """A head with its names at a moment: `head 0.0: because`, or `head 1.2: 3 names`."""
    names = recording.names_at(moments, at, head)
    called = f"{len(names)} names" if names[1:] else "".join(names)
    return head_name(head[1], head[0]) + (f": {called}" if names else "")


def _names(moments: Moments, head: Head) -> tuple[str, ...]:
    return recording.names_at(moments, len(moments) - 1, head)
