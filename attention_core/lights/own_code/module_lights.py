"""The lights of an nn.Module: those that its output, and weights that it returns, can tell."""

from itertools import product

import torch
from torch import Tensor

from ..light import Light
from .calling import Stopped
from .function_lights import (
    NO_LEAK,
    OVERWRITES,
    READS,
    Measured,
    before_stays,
    hidden_is_zero,
    looked,
    not_negative,
    ratios_stay,
    reordered,
)
from .layer import Layer
from .reading import (
    NEAR,
    SMALLEST,
    factor_of_scores,
    has_few_digits,
    is_near,
    largest_gap,
    may_look,
    range_of,
    rows_not_finite,
)

NO_WEIGHTS = "it returns no weights, so they cannot be seen from outside"
ADD_WEIGHTS = "it returns no weights: return (output, weights) to have them looked at"


def module_lights(layer: Layer) -> list[Light]:
    """All lights of a module that runs, but for the first, in their order."""
    layer.look()
    unread = (NO_WEIGHTS if layer.kind else ADD_WEIGHTS) if layer.weights is None else ""
    compares = ("no_leak", "own_row", "tokens_apart", "order_free")
    return looked(layer, OF_MODULE, compares, (*READS, "tokens_apart"), unread)


def finite_of_module(layer: Layer) -> Measured:
    if not layer(layer.draw()).isfinite().all():
        return False, "there is nan or infinity with ordinary vectors"
    is_finite = bool(layer(1e4 * layer.draw()).isfinite().all())
    made = "finite numbers" if is_finite else "nan"
    return is_finite, f"vectors 10,000 times as long give {made}"


def rows_sum_to_1_of_module(layer: Layer) -> Measured:
    sums = layer.weights.sum(-1)
    return is_near(sums, 1.0), range_of(sums)


def _changed(layer: Layer) -> tuple[Tensor, int]:
    """Vectors with another token in the middle, and its place."""
    token = layer.n_tokens // 2
    return layer.with_token(token), token


def no_leak_of_module(layer: Layer) -> Measured:
    if not layer.causal:
        return None, NO_LEAK
    vectors, token = _changed(layer)
    return before_stays(layer(vectors), layer.output, token)


def own_row_of_module(layer: Layer) -> Measured:
    if layer.kind != "attention" or layer.weights is None:
        return None, "its queries alone cannot be changed from outside"
    changed, token = _changed(layer)
    _, moved = layer.both(layer.draw(), queries=changed)
    others = torch.arange(layer.n_tokens) != token
    gap = largest_gap(moved[:, others], layer.weights[:, others])
    return gap <= NEAR, f"another query {token} moves the others by {gap:.2g}"


def variance_of_module(layer: Layer) -> Measured:
    projection = getattr(layer.module, "in_proj_weight", None)
    if layer.kind != "attention" or projection is None:
        return None, "its queries and keys cannot be seen from outside"
    module = layer.module
    biases = torch.zeros(len(projection)) if module.in_proj_bias is None else module.in_proj_bias
    both = layer.draw().double() @ projection.detach().double().cpu().mT
    joined = (both + biases.detach().double().cpu()).chunk(3, dim=-1)[:2]
    heads = [each.unflatten(-1, (module.num_heads, -1)).transpose(0, 1) for each in joined]
    factor = factor_of_scores(layer.weights, heads[0] @ heads[1].mT, layer.seen)
    root = module.head_dim**0.5
    if factor is None:
        return False, "the weights are not in the ratios of e to the power of q·k"
    said = f"q·k is divided by {1 / factor:.4g} (√{module.head_dim} = {root:.4g})"
    return abs(1 / factor / root - 1) < 0.01, said


def tokens_apart_of_module(layer: Layer) -> Measured:
    """The ratio of two weights, of tokens that are not changed."""
    changed, token = _changed(layer)
    _, moved = layer.both(changed)
    others = torch.arange(layer.n_tokens) != token
    seen = (layer.seen & others)[others]
    if moved is None or (layer.weights[:, others][:, seen] <= SMALLEST).any():
        return None, "weights of 0 have no ratios"
    return ratios_stay(layer.weights, moved, layer.seen, token)


def order_free_of_module(layer: Layer) -> Measured:
    order = torch.arange(layer.n_tokens).roll(1)
    return reordered(layer, order, lambda: layer(layer.draw()[order]))


def any_length_of_module(layer: Layer) -> Measured:
    """Every shorter sentence, and one that is longer."""
    longest, stopped_at = layer.n_tokens, 0
    for n_tokens in (*range(1, longest), longest + 1, longest):
        try:
            output = layer(layer.draw(n_tokens))
        except Stopped as stopped:
            if n_tokens > longest:  # a longest sentence is a choice; a shortest is not
                stopped_at = n_tokens
                continue
            return False, f"on a sentence of {n_tokens} after one of another length, {stopped}"
        if not output.isfinite().all():
            return False, f"a sentence of {n_tokens} gives nan"
    end = f"; it stops at {stopped_at}, above its longest" if stopped_at else ""
    return True, f"sentences of 1 to {longest} tokens come out as long{end}"


def repeatable_of_module(layer: Layer) -> Measured:
    gap = largest_gap(layer(layer.draw()).nan_to_num(), layer.output.nan_to_num())
    if layer.overwrites:
        return False, OVERWRITES
    return layer.is_repeatable, f"with dropout off (eval), the largest difference is {gap:.2g}"


def both_signs_of_module(layer: Layer) -> Measured:
    numbers = torch.cat([layer(layer.draw(seed=seed)).flatten() for seed in range(4)])
    low, high = float(numbers.min()), float(numbers.max())
    return low < -NEAR, f"the numbers of 4 outputs go from {low:.2g} to {high:.2g}"


OF_MODULE = (
    *(finite_of_module, rows_sum_to_1_of_module, not_negative, hidden_is_zero, no_leak_of_module),
    *(own_row_of_module, variance_of_module, tokens_apart_of_module, order_free_of_module),
    *(any_length_of_module, repeatable_of_module, both_signs_of_module),
)
"""In the order of `TITLES`."""


def likely_in_module(layer: Layer, lights: list[Light]) -> list[str]:
    """The names of the mistakes that the first red light may mean, most likely first. A module is
    closed, so there may be several; see `LIKELY`.
    """
    red = [light.name for light in lights if light.holds is False]
    if not red:
        return []
    output, weights = layer.both(layer.draw())
    if broken := rows_not_finite(output):
        by_row = {(0,): ["diagonal_hidden"], (layer.n_tokens - 1,): ["mask_opposite"]}
        if layer.causal and layer.n_tokens - 1 not in broken:
            by_row.setdefault(tuple(broken), ["divided_by_the_sum", "no_softmax"])
        return by_row.get(tuple(broken), ["softmax_overflow"])
    if red[0] == "repeatable" and layer.overwrites:
        return ["inputs_overwritten"]
    if output.any() and has_few_digits(output):
        return ["few_digits"]
    if red[0] == "rows_sum_to_1":
        if is_near(weights.sum(-2), 1.0):
            return ["softmax_over_queries"]
        if len(weights) > 1 and is_near(weights.sum(0)[layer.seen], 1.0):
            return ["heads_normalised"]
        return ["mask_after_softmax"] if layer.causal else ["not_normalised"]
    if red[0] == "hidden_is_zero" and is_near(weights[:, ~may_look(layer.n_tokens, True).mT], 0.0):
        return ["mask_transposed"]
    if red[0] == "order_free" and is_near(layer(layer.with_token(-1))[:-1], output[:-1]):
        return ["hides_later_tokens"]
    if red[0] == "finite":
        return _behind_nan_of_layer(layer)
    if red[0] == "no_leak" and (name := _mask_of_layer(layer, output)):
        return [name]
    return MAY_MEAN.get(red[0], [])


def _behind_nan_of_layer(layer: Layer) -> list[str]:
    """Renormalised after a mask, a row that hides nothing is right; without a sum to divide by,
    several equal tokens come out as something else than one.
    """
    if layer.causal and layer.n_tokens - 1 not in rows_not_finite(layer(1e4 * layer.draw())):
        return ["mask_after_softmax"]
    one = layer.draw(1)
    try:
        is_average = is_near(layer(one.expand(layer.n_tokens, -1))[-1], layer(one)[0])
    except Stopped:
        is_average = True
    return ["softmax_overflow" if is_average else "not_normalised"]


def _mask_of_layer(layer: Layer, output: Tensor) -> str:
    """Which keys are hidden instead, by which token moves which output; "" for no such mask."""
    moves = torch.eye(layer.n_tokens, dtype=torch.bool)
    for token, seed in product(range(layer.n_tokens), (1, 2, 3)):
        # Not a bit: what a mask hides has no weight at all, and softmax over another axis little.
        moves[:, token] |= (layer(layer.with_token(token, seed)) != output).any(-1)
    if moves.all():
        return ""
    if torch.equal(moves[:-1], moves.triu()[:-1]):
        # Where the mask is the wrong way round the last token sees nothing: softmax shares alike.
        return "mask_opposite" if moves[-1, :-1].any() else "mask_transposed"
    late = (torch.ones_like(moves).tril(after) for after in range(1, layer.n_tokens - 1))
    return "mask_late" if any(torch.equal(moves, each) for each in late) else ""


MAY_MEAN = {
    "finite": ["softmax_overflow"],
    "not_negative": ["divided_by_the_sum"],
    "hidden_is_zero": ["mask_ignored", "zero_in_place_of_infinity"],
    "no_leak": [
        "mask_ignored",
        "zero_in_place_of_infinity",
        "mask_after_softmax",
        "softmax_over_queries",
        "whole_matrix_norm",
        "matrices_on_tokens",
    ],
    "variance": ["no_scaling", "divided_by_another_width"],
    "tokens_apart": ["whole_matrix_norm", "heads_without_transpose"],
    "order_free": ["heads_without_transpose", "positions_inside"],
    "any_length": ["one_length", "matrices_on_tokens"],
    "repeatable": ["weights_redrawn", "dropout_left_on"],
    "both_signs": ["relu_last"],
}
"""What a red light of a closed module may mean."""
