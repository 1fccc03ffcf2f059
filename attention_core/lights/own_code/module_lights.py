"""The lights of an nn.Module: those that its output, and weights that it returns, can tell.

The source of this file is part of the file that checks a learner's own code. It therefore needs
torch and the standard library alone.
"""

from collections.abc import Callable
from itertools import product

import torch
from torch import Tensor

from ..light import Light
from .calling import Stopped
from .layer import Layer
from .reading import (
    NEAR,
    SMALLEST,
    centred,
    factor_of_scores,
    is_near,
    largest_gap,
    logs,
    may_look,
    range_of,
    rows_not_finite,
)

NO_WEIGHTS = "it returns no weights, so they cannot be seen from outside"
FEW_DIGITS = (torch.bfloat16, torch.float16)
ADD_WEIGHTS = "it returns no weights: return (output, weights) to have them looked at"


def module_lights(layer: Layer) -> list[Light]:
    """All lights of a module that runs, but for the first, in their order."""
    vectors = layer.draw()
    output, weights = layer.both(vectors)
    is_repeatable = is_near(layer(vectors).nan_to_num(), output.nan_to_num())
    measures: dict[str, Callable[[], Light]] = {
        "finite": lambda: _finite_of_layer(layer),
        "rows_sum_to_1": lambda: _rows_of_layer(weights),
        "not_negative": lambda: _negative_of_layer(weights),
        "hidden_is_zero": lambda: _hidden_of_layer(layer, weights),
        "no_leak": lambda: _leak_of_layer(layer, output),
        "own_row": lambda: _own_row_of_layer(layer, weights),
        "variance": lambda: _variance_of_layer(layer, weights),
        "tokens_apart": lambda: _apart_of_layer(layer, weights),
        "order_free": lambda: _order_of_layer(layer, output),
        "any_length": lambda: _length_of_layer(layer),
        "repeatable": lambda: _repeatable_of_layer(layer, output, is_repeatable),
        "both_signs": lambda: _signs_of_layer(layer),
    }
    alone = {"rows_sum_to_1", "not_negative", "hidden_is_zero"}
    found = []
    for name, measure in measures.items():
        if not is_repeatable and name in {"no_leak", "own_row", "tokens_apart", "order_free"}:
            light = Light(name, None, "the same input twice gives two outputs (below)")
        elif not output.isfinite().all() and name not in ("finite", "repeatable"):
            light = Light(name, None, "there is nan or infinity in the output (above)")
        elif weights is None and name in {*alone, "variance", "tokens_apart"}:
            light = Light(name, None, NO_WEIGHTS if layer.kind else ADD_WEIGHTS)
        else:
            try:
                light = measure()
            except Stopped as stopped:
                light = Light(name, False, str(stopped))
        found.append(light)
    return found


def _finite_of_layer(layer: Layer) -> Light:
    if not layer(layer.draw()).isfinite().all():
        return Light("finite", False, "there is nan or infinity with ordinary vectors")
    is_finite = bool(layer(1e4 * layer.draw()).isfinite().all())
    said = f"vectors 10,000 times as long give {'finite numbers' if is_finite else 'nan'}"
    return Light("finite", is_finite, said)


def _rows_of_layer(weights: Tensor) -> Light:
    sums = weights.sum(-1)
    return Light("rows_sum_to_1", is_near(sums, 1.0), range_of(sums))


def _negative_of_layer(weights: Tensor) -> Light:
    low = float(weights.min())
    return Light("not_negative", low >= -NEAR, f"the smallest weight is {low:.3g}")


def _hidden_of_layer(layer: Layer, weights: Tensor) -> Light:
    if not layer.causal:
        return Light("hidden_is_zero", None, "nothing is hidden without a causal mask")
    most = float(weights[:, ~may_look(layer.n_tokens, True)].abs().max())
    return Light("hidden_is_zero", most <= NEAR / 10, f"a later key gets {most:.3g} at most")


def _changed(layer: Layer) -> tuple[Tensor, int]:
    """Vectors with another token in the middle, and its place."""
    token = layer.n_tokens // 2
    vectors = layer.draw()
    vectors[token] = layer.draw(seed=1)[token]
    return vectors, token


def _leak_of_layer(layer: Layer, output: Tensor) -> Light:
    if not layer.causal:
        return Light("no_leak", None, "every token may see every other without a causal mask")
    vectors, token = _changed(layer)
    gap = largest_gap(layer(vectors)[:token], output[:token])
    said = f"another token {token} moves the outputs before it by {gap:.3g} at most"
    return Light("no_leak", gap <= NEAR, said)


def _own_row_of_layer(layer: Layer, weights: Tensor | None) -> Light:
    if layer.kind != "attention" or weights is None:
        return Light("own_row", None, "its queries alone cannot be changed from outside")
    changed, token = _changed(layer)
    _, moved = layer.both(layer.draw(), queries=changed)
    others = torch.arange(layer.n_tokens) != token
    gap = largest_gap(moved[:, others], weights[:, others])
    return Light("own_row", gap <= NEAR, f"another query {token} moves the others by {gap:.2g}")


def _variance_of_layer(layer: Layer, weights: Tensor) -> Light:
    projection = getattr(layer.module, "in_proj_weight", None)
    if layer.kind != "attention" or projection is None:
        return Light("variance", None, "its queries and keys cannot be seen from outside")
    module = layer.module
    biases = torch.zeros(len(projection)) if module.in_proj_bias is None else module.in_proj_bias
    both = layer.draw().double() @ projection.detach().double().cpu().mT
    joined = (both + biases.detach().double().cpu()).chunk(3, dim=-1)[:2]
    heads = [each.unflatten(-1, (module.num_heads, -1)).transpose(0, 1) for each in joined]
    seen = may_look(layer.n_tokens, layer.causal)
    factor = factor_of_scores(weights, heads[0] @ heads[1].mT, seen)
    root = module.head_dim**0.5
    if factor is None:
        return Light(
            "variance", False, "the weights are not in the ratios of e to the power of q·k"
        )
    said = f"q·k is divided by {1 / factor:.4g} (√{module.head_dim} = {root:.4g})"
    return Light("variance", abs(1 / factor / root - 1) < 0.01, said)


def _apart_of_layer(layer: Layer, weights: Tensor) -> Light:
    """The ratio of two weights, of tokens that are not changed."""
    changed, token = _changed(layer)
    _, moved = layer.both(changed)
    others = torch.arange(layer.n_tokens) != token
    seen = (may_look(layer.n_tokens, layer.causal) & others)[others]
    if moved is None or (weights[:, others][:, seen] <= SMALLEST).any():
        return Light("tokens_apart", None, "weights of 0 have no ratios")
    before, after = (centred(logs(each[:, others]), seen) for each in (weights, moved))
    gap = largest_gap(before, after)
    said = f"another token {token} moves the ratio of two other weights by {gap:.2g} (as a log)"
    return Light("tokens_apart", gap <= 10 * NEAR, said)


def _order_of_layer(layer: Layer, output: Tensor) -> Light:
    if layer.causal:
        return Light("order_free", None, "a causal mask goes by the order")
    order = torch.arange(layer.n_tokens).roll(1)
    gap = largest_gap(layer(layer.draw()[order]), output[order])
    return Light("order_free", gap <= NEAR, f"reordered, the vectors move by {gap:.2g} at most")


def _length_of_layer(layer: Layer) -> Light:
    """Every shorter sentence, and one that is longer."""
    longest, stopped_at = layer.n_tokens, 0
    for n_tokens in (*range(1, longest), longest + 1, longest):
        try:
            output = layer(layer.draw(n_tokens))
        except Stopped as stopped:
            if n_tokens > longest:  # a longest sentence is a choice; a shortest is not
                stopped_at = n_tokens
                continue
            said = f"on a sentence of {n_tokens} after one of another length,"
            return Light("any_length", False, f"{said} {stopped}")
        if not output.isfinite().all():
            return Light("any_length", False, f"a sentence of {n_tokens} gives nan")
    end = f"; it stops at {stopped_at}, above its longest" if stopped_at else ""
    return Light("any_length", True, f"sentences of 1 to {longest} tokens come out as long{end}")


def _repeatable_of_layer(layer: Layer, output: Tensor, is_repeatable: bool) -> Light:
    gap = largest_gap(layer(layer.draw()).nan_to_num(), output.nan_to_num())
    if layer.overwrites:
        said = "it writes into the tensors it is given: the next call would find other numbers"
        return Light("repeatable", False, said)
    said = f"with dropout off (eval), the largest difference is {gap:.2g}"
    return Light("repeatable", is_repeatable, said)


def _signs_of_layer(layer: Layer) -> Light:
    numbers = torch.cat([layer(layer.draw(seed=seed)).flatten() for seed in range(4)])
    said = f"the numbers of 4 outputs go from {float(numbers.min()):.2g} to "
    return Light("both_signs", float(numbers.min()) < -NEAR, f"{said}{float(numbers.max()):.2g}")


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
    if output.any() and any(torch.equal(output.to(kind).double(), output) for kind in FEW_DIGITS):
        return ["few_digits"]
    if red[0] == "rows_sum_to_1":
        if is_near(weights.sum(-2), 1.0):
            return ["softmax_over_queries"]
        if len(weights) > 1 and is_near(
            weights.sum(0)[may_look(layer.n_tokens, layer.causal)], 1.0
        ):
            return ["heads_normalised"]
        return ["mask_after_softmax"] if layer.causal else ["not_normalised"]
    if red[0] == "hidden_is_zero" and is_near(weights[:, ~may_look(layer.n_tokens, True).mT], 0.0):
        return ["mask_transposed"]
    if red[0] == "order_free":
        vectors = layer.draw()
        vectors[-1] = layer.draw(seed=1)[-1]
        if is_near(layer(vectors)[:-1], output[:-1]):
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
        vectors = layer.draw()
        vectors[token] = layer.draw(seed=seed)[token]
        # Not a bit: what a mask hides has no weight at all, and softmax over another axis little.
        moves[:, token] |= (layer(vectors) != output).any(-1)
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
