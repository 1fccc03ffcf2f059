"""A small network that learns to continue repeated tokens, and what its heads do meanwhile. A
previous-token head of the first layer writes which token came before; an induction head of the
second looks for the token whose "came before me" is its own. Neither helps alone, so the loss
hardly falls for a while, and then steeply.

Source: Olsson et al. 2022, In-context Learning and Induction Heads.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from .. import operations as ops
from ..files.tensor_file import read, write
from ..mechanism.attention import attention
from ..mechanism.builder import project
from ..trace import Step, Trace
from ..utils.head_name import head_name
from .network import Network, Size
from .repeated import LENGTH, N_TOKENS, NAMES, draw_sequences, next_of_earlier
from .tracing import add_layer, embedded

SIZE = Size(N_TOKENS, LENGTH, d_model=64, n_heads=4)
STEPS = 300
IS_INDUCTION = 0.5
"""A head with more than this prefix-matching score counts as an induction head."""
BATCH = 64
HELD_OUT_SEED = 1_000_003
"""Of the sequences that are measured on: no training draws them. Each has twelve tokens, twice."""
EXAMPLE = tuple("DKAQHMSE" * 2)
"""The sequence on which the heads are watched: eight tokens, twice."""
EXAMPLE_IDS = torch.tensor([NAMES.index(token) for token in EXAMPLE])
DIGITS = 5
"""So many of a parameter are stored, behind the point."""
SHIPPED = Path(__file__).with_name("induction.safetensors")


@dataclass(frozen=True)
class LearningSettings:
    """How to train; the same settings, the same run. Raises ValueError for no steps."""

    seed: int = 7
    steps: int = STEPS

    def __post_init__(self) -> None:
        if not 1 <= self.steps <= 10 * STEPS:
            raise ValueError(f"{self.steps} steps: choose 1 to {10 * STEPS:,}")


@dataclass(frozen=True, eq=False)
class Record:
    """The network after `step` updates, measured on sequences that it is not trained on."""

    step: int
    loss_first: float
    """Of predicting what follows a token that is there for the first time: it cannot be known."""
    loss_repeated: float
    """Of predicting what follows a token that has been there before: it can."""
    previous_token: Tensor
    """(layer, head): the share of its weight that a head gives to the token before, on average."""
    prefix_matching: Tensor
    """(layer, head): its mean share to tokens that followed the query's own token earlier."""
    weights: Tensor
    """(layer, head, query, key), of every head on the tokens of `EXAMPLE`."""


def previous_token(weights: Tensor) -> Tensor:
    """The mean weight on the token before: weights (…, sequence, head, query, key) to (…, head)."""
    return weights.diagonal(-1, -2, -1).mean((-3, -1))


def prefix_matching(weights: Tensor, ids: Tensor) -> Tensor:
    """The mean weight on tokens that followed earlier places of the query's own: weights
    (…, sequence, head, query, key) of ids (sequence, token) to (…, head).
    """
    targets = next_of_earlier(ids)
    return (weights * targets.unsqueeze(-3)).sum((-4, -2, -1)) / targets.any(-1).sum()


def recorded_steps(steps: int = STEPS) -> list[int]:
    """Which steps are recorded: every fourth while much happens, later every eighth, the last."""
    early = min(3 * steps // 5, steps)
    return sorted({*range(0, early, 4), *range(early, steps, 8), steps})


def learn(settings: LearningSettings = LearningSettings()) -> Iterator[Record]:
    """Train from nothing, and yield each recorded step; stop by taking no more. 30 ms a step."""
    return (record for _, record in learn_by_steps(settings) if record is not None)


def learn_by_steps(settings: LearningSettings) -> Iterator[tuple[int, Record | None]]:
    """The same, after every single step: the step, and the record of one that is recorded."""
    return ((step, record) for step, record, _ in _learn(settings))


def best_head(record: Record) -> tuple[int, int]:
    """Layer and head of the largest prefix-matching score of the second layer."""
    return 1, int(record.prefix_matching[1].argmax())


def appearance(records: Sequence[Record]) -> int | None:
    """The place of the first record with an induction head: prefix-matching above ½; None."""
    found = (at for at, each in enumerate(records) if each.prefix_matching[1].max() > IS_INDUCTION)
    return next(found, None)


def _learn(
    settings: LearningSettings, size: Size = SIZE
) -> Iterator[tuple[int, Record | None, Network]]:
    network = Network(size, settings.seed)
    generator = torch.Generator().manual_seed(settings.seed + 1)
    # Fused, it is one call of torch in place of a hundred. After each call the thread has to wait
    # until the others let it go on.
    descent = torch.optim.Adam(network.parameters(), lr=4e-3, fused=True)
    recorded = {*recorded_steps(settings.steps)}
    unseen = torch.Generator().manual_seed(HELD_OUT_SEED)
    held_out = draw_sequences(BATCH, unseen, (LENGTH // 2, LENGTH // 2))
    for step in range(settings.steps + 1):
        if step:
            _descend(network, descent, draw_sequences(BATCH, generator))
        record = _measured(network, held_out, step) if step in recorded else None
        yield step, record, network


@torch.enable_grad()
def _descend(network: Network, descent: torch.optim.Optimizer, ids: Tensor) -> None:
    logits, _ = network(ids)
    loss = cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())
    descent.zero_grad()
    loss.backward()
    descent.step()


@torch.no_grad()
def _measured(network: Network, ids: Tensor, step: int) -> Record:
    logits, weights = network(ids)
    losses = cross_entropy(logits[:, :-1].mT, ids[:, 1:], reduction="none")
    seen = next_of_earlier(ids).any(-1)[:, :-1]
    _, watched = network(EXAMPLE_IDS[None])
    return Record(
        step,
        losses[~seen].mean().item(),
        losses[seen].mean().item(),
        previous_token(weights),
        prefix_matching(weights, ids),
        watched.squeeze(1),
    )


# --- the run that comes with the package ----------------------------------------------------------


@dataclass(frozen=True, eq=False)
class FinishedRun:
    """A run from its first record to its last, and the network that it ended with."""

    records: tuple[Record, ...]
    weights: dict[str, Tensor]
    """By the names that they have in `Network`; nobody's to change."""
    one_layer_loss: float
    """On repeated tokens, of a network of one layer alone after as many steps."""


def finished_run(settings: LearningSettings = LearningSettings()) -> FinishedRun:
    """Train, and keep it all."""
    run = [(record, network) for _, record, network in _learn(settings) if record is not None]
    records, (*_, network) = zip(*run, strict=True)
    *_, (_, alone, _) = _learn(settings, replace(SIZE, n_layers=1))
    weights = {name: each.detach().clone() for name, each in network.named_parameters()}
    return FinishedRun(records, weights, alone.loss_repeated)


def store(run: FinishedRun, path: Path = SHIPPED) -> None:
    """Write a run, rounded and without weights above the diagonal, so that programs stay short."""
    rows, columns = torch.tril_indices(len(EXAMPLE), len(EXAMPLE))
    tensors = {
        each.name: torch.stack([torch.as_tensor(getattr(one, each.name)) for one in run.records])
        for each in fields(Record)
    }
    tensors["weights"] = tensors["weights"][..., rows, columns].half()
    tensors["step"] = tensors["step"].float()
    tensors["one_layer_loss"] = torch.tensor(run.one_layer_loss)
    rounded = {n: each.double().round(decimals=DIGITS).float() for n, each in run.weights.items()}
    write(path, tensors | rounded)


@cache
def shipped_run() -> FinishedRun:
    """The run that comes with the package: read once, and nobody's to change."""
    held: dict[str, Any] = {**read(SHIPPED)}
    weights = {name: held.pop(name) for name in [*held] if name[:2] == "W_"}
    rows, columns = torch.tril_indices(len(EXAMPLE), len(EXAMPLE))
    triangle, held["step"] = held["weights"].float(), held["step"].int()
    held["weights"] = torch.zeros(*triangle.shape[:-1], len(EXAMPLE), len(EXAMPLE))
    held["weights"][..., rows, columns] = triangle
    for name in ("step", "loss_first", "loss_repeated"):
        held[name] = held[name].tolist()
    records = zip(*(held[each.name] for each in fields(Record)), strict=True)
    one_layer_loss = held["one_layer_loss"].item()
    return FinishedRun(tuple(Record(*each) for each in records), weights, one_layer_loss)


def induction_head(run: FinishedRun) -> Trace:
    """The induction head that a run ended with, as a trace: why it looks where it looks. It is the
    head of the second layer with the largest prefix-matching score, on the tokens of
    `EXAMPLE`. Steps: `embeddings` and the first layer as in `pass_through`; `read` (token,
    d_model), what the second layer reads of each token; `W_query` and `W_key` (d_model, d_head),
    `W_value` (d_model, d_value), `queries`, `keys`, `values`, and attention on them.
    """
    layer, head = best_head(run.records[-1])
    trace = Trace(token=EXAMPLE, query=EXAMPLE, key=EXAMPLE, vocabulary=NAMES)
    known = {token: place for place, token in enumerate(NAMES)}
    stream = embedded(trace, run.weights, EXAMPLE, known)
    mask = trace.step("mask", ops.AttentionMask(len(EXAMPLE), len(EXAMPLE)), axes=("query", "key"))
    stream = add_layer(trace, run.weights, 0, stream, mask)
    read = trace.step("read", ops.LayerNorm(), stream, axes=stream.axes)

    def weight(role: str) -> tuple[Step, None]:
        numbers = ops.Given.of(run.weights[f"W_{role}"][layer, head])
        width = "d_value" if role == "value" else "d_head"
        return trace.step(f"W_{role}", numbers, axes=("d_model", width)), None

    attention(trace, *project(trace, read, weight), mask=mask)
    return trace


def main() -> None:
    """Train the run that comes with the package anew, and say what came of it."""
    torch.set_num_threads(1)
    run = finished_run()
    store(run)
    for record in (run.records[0], run.records[-1]):
        layer, head = best_head(record)
        score = record.prefix_matching[layer, head].item()
        print(
            f"step {record.step}: loss {record.loss_first:.3f} of first tokens, "
            f"{record.loss_repeated:.4f} of repeated ones; highest prefix-matching score "
            f"{score:.2f}, of {head_name(head, layer)}"
        )
    print(f"with one layer: loss {run.one_layer_loss:.3f} of repeated tokens")
    print(f"{SHIPPED.name}: {SHIPPED.stat().st_size:,} bytes, {len(run.records)} records")


if __name__ == "__main__":
    main()
