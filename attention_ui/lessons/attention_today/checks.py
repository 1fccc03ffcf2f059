"""What defines each switch, measured on the page's own numbers."""

import torch
from torch import Tensor

from attention_core.mechanism.today import ROTARY_BASE
from attention_core.trace import Trace

from ...frame.lights import agreement
from ...words import number
from .lesson import BESIDE_SINK, CAPPED, NORMED, OPENED, PLAIN, ROTARY

Light = tuple[bool, str]
ROUNDED = 1e-5


def moved_light(trace: Trace, by: int) -> Light:
    """Whether scores with rotary positions stay when all places are moved, in float64."""
    queries, keys = (
        _turned(trace[f"head_{name}"].value.double(), by) for name in ("queries", "keys")
    )
    moved = torch.einsum("hqd,hkd->hqk", queries, keys).float()
    shifted = f"The whole text shifted by {by:,} places" if by else "Not shifted yet,"
    told = f"{shifted} and computed again: every score stays"
    return agreement(told, [(trace[f"{ROTARY}scores"].value, moved)], (trace, f"{ROTARY}scores"))


def _turned(vectors: Tensor, first: int) -> Tensor:
    """Rotary positions (head, row, d) by complex numbers, the first row at a place."""
    left, right = vectors.chunk(2, dim=-1)
    pairs = left.shape[-1]
    rates = ROTARY_BASE ** (-torch.arange(pairs).double() / pairs)
    angles = torch.outer(torch.arange(first, first + vectors.shape[-2]).double(), rates)
    made = torch.complex(left, right) * torch.polar(torch.ones_like(angles), angles)
    return torch.cat([made.real, made.imag], dim=-1)


def cap_light(trace: Trace, cap: float) -> Light:
    """Whether all scores are within the cap."""
    capped = trace[f"{CAPPED}capped_scores"]
    before = capped.inputs[0].value
    most = capped.value.abs().max().item()
    return most <= cap, (
        f"All scores are within ±{cap:g}: the largest size was {number(before.abs().max().item())} "
        f"and is {number(most)}."
    )


def norm_light(trace: Trace) -> Light:
    """Whether each row of each head has one length: the norm goes over the columns of a head."""
    rows = [trace[f"{NORMED}normed_{name}"].value for name in ("queries", "keys")]
    plain = [trace[f"{PLAIN}{name}"].value for name in ("queries", "keys")]
    root = rows[0].shape[-1] ** 0.5
    lengths, before = (
        torch.cat([each.norm(dim=-1).flatten() for each in both]) for both in (rows, plain)
    )
    # The epsilon under the root makes a row that is nearly 0 shorter.
    short = torch.cat([each.square().mean(-1).flatten() for each in plain]) < 0.01
    but = " that is not 0 or nearly 0" if short.any() else ""
    far = (lengths - root).abs()[~short]
    good = bool((lengths <= root * 1.001).all()) and (not far.numel() or bool(far.max() < 0.01))
    return good, (
        f"Every row of every head{but} is √d = {number(root)} long now; before, "
        f"{number(before.min().item(), 2)} to {number(before.max().item(), 2)}. So no scaled score "
        f"can be larger than √d."
    )


def sink_light(trace: Trace) -> Light:
    """Whether a row and the sink's share sum to 1, by a softmax with the sink in its sum."""
    weights, whole = (
        trace[f"{BESIDE_SINK}{name}"].value for name in ("weights", "weights_and_sink")
    )
    scores = trace[f"{BESIDE_SINK}scores_and_sink"].value.double()
    powers = (scores - scores.amax(-1, keepdim=True)).exp()
    wanted = (powers / powers.sum(-1, keepdim=True))[..., :-1].float()
    taken = whole[..., -1]
    dropped = weights.shape[-1] == whole.shape[-1] - 1 and weights.equal(whole[..., :-1])
    good = dropped and bool(((weights.sum(-1) + taken - 1).abs() < ROUNDED).all())
    return good and weights.allclose(wanted, atol=ROUNDED), (
        f"A row and what the sink takes sum to 1. It takes {number(taken.min().item(), 2)} to "
        f"{number(taken.max().item(), 2)} of each row and has no value, so that share adds nothing."
    )


def gate_light(trace: Trace) -> Light:
    """Whether each number is multiplied by a share that its own token makes, the same each time."""
    context, gates, made = (
        trace[f"{OPENED}{name}"].value for name in ("context_vectors", "gates", "gated_vectors")
    )
    vectors, matrix = trace["embeddings"].value.double(), trace[f"{OPENED}W_gate"].value.double()
    again = (1 / (1 + (-(vectors @ matrix)).exp())).float()
    return agreement(
        f"No chance is involved, unlike in dropout: a gate is σ(x · w) of its token’s x, here from "
        f"{number(gates.min().item(), 2)} to {number(gates.max().item(), 2)}, and computed again "
        "it is the same",
        [(made, context * again)],
        (trace, f"{OPENED}gated_vectors"),
    )
