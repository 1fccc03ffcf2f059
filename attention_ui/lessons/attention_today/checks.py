"""What defines each switch, measured on the page's own numbers."""

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from attention_core.mechanism.attention import divisor_of
from attention_core.mechanism.today import ROTARY_BASE
from attention_core.rounding import largest
from attention_core.trace import Trace

from ...frame.lights import agreement
from ...words import number
from .lesson import (
    ALIBI,
    BESIDE_SINK,
    CAPPED,
    GROUPED,
    NORMED,
    OPENED,
    PARTLY,
    PLAIN,
    ROTARY,
    SUNK,
    WINDOWED,
)

Light = tuple[bool, str]
ROUNDED = 1e-5


def sharing_light(trace: Trace, n_kv_heads: int) -> Light:
    """Whether grouped heads give what torch gives with the keys repeated."""
    n_heads = trace.size("head")
    times = n_heads // n_kv_heads
    vectors = trace["embeddings"].value
    made = {}
    for role in ("key", "value"):
        groups = trace[f"head_W_{role}"].value.unflatten(0, (n_kv_heads, times))
        made[role] = (vectors @ groups.mean(dim=1)).repeat_interleave(times, dim=0)
    queries = vectors @ trace["head_W_query"].value
    scale = 1 / divisor_of(trace, "head_")
    wanted = scaled_dot_product_attention(
        queries, made["key"], made["value"], is_causal=True, scale=scale
    )
    return agreement(
        "Shared heads are ordinary attention with keys and values repeated: given those, PyTorch's "
        "`scaled_dot_product_attention` gives these context vectors",
        [(trace[f"{GROUPED}context_vectors"].value, wanted)],
        (trace, f"{GROUPED}context_vectors"),
    )


def moved_light(trace: Trace, by: int) -> Light:
    """Whether scores with rotary positions stay when all places are moved, in float64."""
    queries, keys = (
        _turned(trace[f"head_{name}"].value.double(), by) for name in ("queries", "keys")
    )
    moved = torch.einsum("hqd,hkd->hqk", queries, keys).float()
    shifted = f"The whole text shifted by {by:,} places" if by else "Not shifted yet,"
    told = f"{shifted} and computed again: every score stays"
    pairs = [(trace[f"{ROTARY}scores"].value, moved)]
    return agreement(told, pairs, (trace, f"{ROTARY}scores"))


def _turned(vectors: Tensor, first: int) -> Tensor:
    """Rotary positions (head, row, d) by complex numbers, the first row at a place."""
    left, right = vectors.chunk(2, dim=-1)
    pairs = left.shape[-1]
    rates = ROTARY_BASE ** (-torch.arange(pairs).double() / pairs)
    places = torch.arange(first, first + vectors.shape[-2]).double()
    angles = torch.outer(places, rates)
    made = torch.complex(left, right) * torch.polar(torch.ones_like(angles), angles)
    return torch.cat([made.real, made.imag], dim=-1)


def distance_light(trace: Trace, head: int) -> Light:
    """Whether what ALiBi adds is 0 on the diagonal and falls by the slope with each place."""
    scores = trace[f"{ALIBI}biased_scores"]
    before, bias = scores.inputs[0].value, trace[f"{ALIBI}distance_bias"].value
    added = scores.value - before
    n_queries = added.shape[-2]
    places = torch.arange(n_queries)
    away = (places[:, None] - places).abs()
    a_place = bias[:, 1, 0] if n_queries > 1 else torch.zeros(len(bias))
    far = (added - a_place[:, None, None] * away).abs().max().item()
    good = far <= ROUNDED * max(1.0, largest(scores.value))
    good = good and bool((added.diagonal(dim1=-2, dim2=-1) == 0).all())
    if n_queries == 1:
        return good, "A token is 0 steps from itself: nothing is subtracted from its score."
    slope = number(-a_place[head].item())
    return good, (
        f"Nothing is subtracted on the diagonal, and with ALiBi’s own slope head {head} subtracts "
        f"{slope} for each step away from it: so every diagonal of the matrix has one value."
    )


def window_light(trace: Trace, window: int) -> Light:
    """Whether nothing outside of the window is seen, and how many keys a row sees."""
    weights = trace[f"{WINDOWED}weights"].value
    places = torch.arange(weights.shape[-1])
    away = places[:, None] - places
    outside = largest(weights[:, (away < 0) | (away >= window)])
    whole = bool(((weights.sum(dim=-1) - 1).abs() < ROUNDED).all())
    most = min(window, len(places))
    return outside == 0 and whole, (
        f"Weight outside of the window: {number(outside) if outside else 'exactly 0'}. A row sees "
        f"at most {_keys(most)}, and still sums to 1."
    )


def sinks_light(trace: Trace, sinks: int) -> Light:
    """Whether the first keys get weight from every query that stands behind them."""
    weights, masked = (trace[f"{SUNK}{name}"].value for name in ("weights", "masked_scores"))
    n_tokens = weights.shape[-1]
    sinks = min(sinks, n_tokens)
    behind = torch.arange(n_tokens)[:, None] >= torch.arange(sinks)
    seen, scores = (each[:, :, :sinks][:, behind] for each in (weights, masked))
    first = "The first key stays" if sinks == 1 else f"The first {sinks} keys stay"
    return bool(scores.isfinite().all()), (
        f"{first} visible to every later query: the least weight there is "
        f"{number(seen.min().item())}."
    )


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


def part_light(trace: Trace) -> Light:
    """Whether the columns that are not turned are those of before, and the others are not."""
    turned = trace[f"{PARTLY}turned_queries"]
    vectors, angles = (each.value for each in turned.inputs)
    first = 2 * angles.shape[-1]
    same = turned.value[..., first:].equal(vectors[..., first:])
    rest = vectors.shape[-1] - first
    columns = "1 column is" if rest == 1 else f"{rest} columns are"
    return same, (
        f"The last {columns} as before the turn, to the last digit: there a score counts what a "
        "token is, wherever it stands."
    )


def sink_light(trace: Trace) -> Light:
    """Whether each row and what the sink takes sum to 1, and the weights are those of a softmax
    with the sink in its denominator.
    """
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


def _keys(count: int) -> str:
    return "1 key" if count == 1 else f"{count} keys"
