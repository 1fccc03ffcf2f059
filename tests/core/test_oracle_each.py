"""Every operation against numpy, by its class, in prime sizes and on every lesson's steps."""

import math
from functools import reduce
from itertools import pairwise
from statistics import NormalDist

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file

from attention_core import EXAMPLES, Trace
from attention_core import operations as ops
from attention_core.published.building import BUILDERS
from traces import OPERATIONS, example_trace, workshop


def made_anew(draw):
    """The numbers of a draw, by torch's own generator, with all that it follows drawn before."""
    with torch.random.fork_rng():
        before = []
        while draw is not None:
            before.append(draw)
            draw = draw.after
        torch.manual_seed(before[-1].seed)
        for each in reversed(before):
            bound = 1 / math.sqrt(each.fan_in or each.shape[-1])
            numbers = {
                "normal": lambda: torch.randn(each.shape),  # noqa: B023
                "uniform": lambda: torch.rand(each.shape),  # noqa: B023
                "linear": lambda: torch.nn.init.uniform_(torch.empty(each.shape), -bound, bound),  # noqa: B023
                "integers": lambda: torch.randint(each.below, each.shape),  # noqa: B023
            }[each.distribution]()
    return numbers.numpy()


def rounded(op, a):
    """Each entry by the format's own rule: bfloat16 is the upper half of a float32, to even."""
    if op.precision != "bfloat16":
        with np.errstate(over="ignore"):
            return a.astype(op.precision).astype(float)
    bits = a.astype(np.float32).view(np.uint32).astype(np.uint64)
    upper = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16 << 16
    return upper.astype(np.uint32).view(np.float32).astype(float)


def typed_over(op, a):
    made = a.copy()
    for row, column, number in op.edits:
        made[row, column] = number
    return made


def shares(a, axis=-1):
    powers = np.exp(a - a.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


def ranks(a):
    """How many entries of its row come before each: larger ones, and equal ones on its left."""
    here, other = a[..., :, None], a[..., None, :]
    left = np.tri(a.shape[-1], k=-1, dtype=bool)
    return ((other > here) | (other == here) & left).sum(-1)


def of_what_is_left(made, nothing):
    return np.where(nothing, 0.0, made)


def may_look(op):
    def rule(query, key):
        sees = (not op.causal or key <= query) and key != op.hidden_key
        sees = sees and (op.window is None or abs(query - key) < op.window)
        return sees != ((query, key) in op.flipped)

    queries, keys = range(op.n_queries), range(op.n_keys)
    return np.array([[rule(query, key) for key in keys] for query in queries])


def normed(op, a):
    axes = None if op.whole else -1
    mean = a.mean(axes, keepdims=True)
    return (a - mean) / np.sqrt(((a - mean) ** 2).mean(axes, keepdims=True) + 1e-5)


def normal_by_tanh(a):
    """The tanh form as the logistic function that it is."""
    return 1 / (1 + np.exp(-2 * np.sqrt(2 / np.pi) * (a + 0.044715 * a**3)))


def waves(op):
    def wave(place, column):
        of = math.cos if column % 2 else math.sin
        return of(place / 10000 ** (2 * (column // 2) / op.width))

    places, columns = range(op.n_tokens), range(op.width)
    return np.array([[wave(place, column) for column in columns] for place in places])


def directions(a):
    length = np.sqrt((a * a).sum(-1, keepdims=True))
    return of_what_is_left(a / length, length == 0)


def product(op, a, b, bias=0.0):
    b = np.swapaxes(b, -1, -2) if op.transpose else b
    return np.einsum("...k,...kj->...j" if a.ndim == 1 else "...ik,...kj->...ij", a, b) + bias


def at_row(a, row, new):
    return np.stack([new(each) if at == row else each for at, each in enumerate(a)])


def within(op):
    def rule(query, key):
        place = query + op.offset
        near = op.left is None or place - op.left <= key or key < op.sinks
        return near and (op.right is None or key <= place + op.right)

    return np.array([[rule(i, j) for j in range(op.n_keys)] for i in range(op.n_queries)])


def far(op):
    slopes = np.array(op.slopes)[..., None, None]
    away = [[abs(i + op.offset - j) for j in range(op.n_keys)] for i in range(op.n_queries)]
    return -slopes * np.array(away, dtype=float)


def not_padding(op):
    made = np.array([[key < length for key in range(op.n_keys)] for length in op.lengths])
    return made.reshape(len(op.lengths), *[1] * op.ones, op.n_keys)


def rotated(op, a, angles):
    if op.rest:
        made = rotated(ops.Rotate(op.neighbours), a[..., : -op.rest], angles) * op.stretch
        return np.concatenate([made, a[..., -op.rest :]], axis=-1)
    if op.neighbours:  # the same on columns in another order
        order = [*range(0, a.shape[-1], 2), *range(1, a.shape[-1], 2)]
        return rotated(ops.Rotate(), a[..., order], angles)[..., np.argsort(order)]
    # By complex numbers: the left half of the columns is real, the right half imaginary.
    left, right = np.split(a, 2, axis=-1)
    made = (left + 1j * right) * np.exp(1j * angles)
    return np.concatenate([made.real, made.imag], axis=-1)


def rows_of(whole, rows):
    return whole[list(rows)] if rows else whole


def of_few_bits(op):
    from gguf import GGUFReader, quants

    (tensor,) = GGUFReader(op.path).tensors
    return quants.dequantize(tensor.data, tensor.tensor_type)


def power_less(op, a, b):
    """Row by row; nothing seen is nothing, and not ∞ − ∞."""
    rows = [
        np.zeros_like(row) if op.may_see_nothing and less == -np.inf else np.exp(row - less)
        for row, (less,) in zip(a.reshape(-1, a.shape[-1]), b.reshape(-1, 1), strict=True)
    ]
    return np.array(rows).reshape(a.shape)


def by_moving(curve):
    """The slope of a curve, from two points of it that lie close together."""
    return lambda op, a: (curve(op, a + 1e-6) - curve(op, a - 1e-6)) / 2e-6


def put_back(op, a):
    a = np.expand_dims(a, op.dim) if op.one else a
    made = np.zeros([op.size if at == op.dim % a.ndim else n for at, n in enumerate(a.shape)])
    np.moveaxis(made, op.dim, 0)[op.first : op.first + a.shape[op.dim]] = np.moveaxis(a, op.dim, 0)
    return made


def at_entry(op, number):
    made = np.zeros(op.shape)
    made[op.index] = number
    return made


def pair_counts(op, often, pieces):
    made = np.zeros((op.n_tokens, op.n_tokens))
    for count, word in zip(often, pieces, strict=True):
        for left, right in pairwise(word):
            if min(left, right) >= 0:
                made[left, right] += count
    return made


def join_pair(op, counts, pieces):
    """By `str.replace`, which goes from left to right too, on a character for each token."""
    pair = "".join(chr(each + 1) for each in np.unravel_index(counts.argmax(), counts.shape))
    words = ["".join(chr(each + 1) for each in word) for word in pieces]
    made = [word.replace(pair, chr(op.token + 1)).ljust(len(word), chr(0)) for word in words]
    return np.array([[ord(each) - 1 for each in word] for word in made])


ORACLES = {
    "Add": lambda _, a, b: a + b,
    "Affine": lambda op, *given: product(op, *given),
    "BatchedMatMul": product,
    "LogicalAnd": lambda _, a, b: np.logical_and(a, b),
    "Cast": rounded,
    "Columns": lambda op, a: np.take(a, range(op.first, op.end), axis=-1),
    "DistanceBias": far,
    "Divide": lambda _, a, b: a / b,
    "MaskedDivide": lambda _, a, b: of_what_is_left(a / np.where(b == 0, 1, b), b == 0),
    "DivideByRoot": lambda op, a, square: a * (square + op.epsilon) ** -0.5,
    "Draw": made_anew,
    "Drop": lambda op, a, u: np.where(u < op.probability, 0.0, a / (1 - op.probability)),
    "Edit": typed_over,
    "Encode": lambda op: np.array([dict(op.entries).get(t, op.unknown) for t in op.tokens]),
    "Exp": lambda _, a: np.exp(a),
    "ExpDifference": power_less,
    "GELU": lambda op, a: a * (normal_by_tanh if op.tanh else np.vectorize(NormalDist().cdf))(a),
    "Given": lambda op: np.array(op.numbers),
    "MaskedFill": lambda op, a, mask: np.where(mask, a, op.fill),
    "JoinColumns": lambda _, a, b: np.concatenate(
        [a, np.broadcast_to(b, (*a.shape[:-1], b.shape[-1]))], axis=-1
    ),
    "JoinRows": lambda _, *parts: np.concatenate(parts, axis=-2),
    "JoinPair": join_pair,
    "PairCounts": pair_counts,
    "JoinHeads": lambda _, a: np.concatenate([*np.moveaxis(a, -3, 0)], axis=-1),
    "RunningMaximum": lambda _, a, b: np.where(a > b, a, b),
    "LayerNorm": normed,
    "Linear": lambda _, x, W, bias=0.0: np.inner(x, W) + bias,
    "TopK": lambda op, a: np.isfinite(a) & (ranks(a) < op.k),
    "WindowMask": within,
    "LengthMask": not_padding,
    "Lookup": lambda _, table, ids: np.stack([table[at] for at in ids.tolist()]),
    "ScaleBy": lambda op, a: a * op.factor,
    "MatMul": product,
    "MatMulByLoop": lambda _, a, b: np.inner(a, b),
    "MatMulUpright": lambda op, *given: product(op, *given),
    "AttentionMask": may_look,
    "AddAtIds": lambda op, a, ids: np.eye(op.n_rows)[ids].T @ a,
    "MaskGradient": lambda _, a, mask: np.where(mask, a, 0.0),
    "Square": lambda _, a: np.power(a, 2),
    "Copied": lambda _, a: a,
    "CrossEntropy": lambda _, a, ids: np.array(
        [-np.log(row[at]) for row, at in zip(shares(a), ids, strict=True)]
    ),
    "Entry": lambda op, a: a.ravel()[np.ravel_multi_index(op.index, a.shape)],
    "GELUSlope": by_moving(lambda op, a: ORACLES["GELU"](op, a)),
    "JoinRowsOfHeads": lambda _, a: np.concatenate([*a]),
    "Mean": lambda _, a: np.mean(a),
    "PutBack": put_back,
    "PutEntry": at_entry,
    "ReLUSlope": lambda _, a: np.heaviside(a, 0),
    "Repeat": lambda op, a: np.repeat(
        np.expand_dims(a, op.dim) if op.new else a, op.times, axis=op.dim
    ),
    "RowLength": lambda _, a: np.sqrt(np.einsum("...k,...k->...", a, a))[..., None],
    "ShareOfLarger": lambda _, a, b: np.heaviside(a - b, 0.5),
    "ShareOfLargest": lambda _, a: (
        (a == a.max(-1, keepdims=True)) / (a == a.max(-1, keepdims=True)).sum(-1, keepdims=True)
    ),
    "SiLUSlope": by_moving(lambda op, a: ORACLES["SiLU"](op, a)),
    "SoftCapSlope": by_moving(lambda op, a: ORACLES["SoftCap"](op, a)),
    "SumFirst": lambda _, a: reduce(np.add, a),
    "SumFromHere": lambda _, a: np.stack([sum(a[first:]) for first in range(len(a))]),
    "SumGroups": lambda op, a: np.add.reduceat(a, range(0, len(a), op.times)),
    "Total": lambda _, *ways: reduce(np.add, ways),
    "TransposedMatMul": lambda _, a, b: np.einsum("...ik,...ij->...kj", a, b),
    "MeanHeads": lambda op, a: np.add.reduceat(a, range(0, len(a), op.times)) / op.times,
    "Multiply": lambda op, a, b: (
        np.stack([x * y for x, y in zip(a, b, strict=True)]) if op.by_row else np.multiply(a, b)
    ),
    "OneHot": lambda op, ids: np.eye(op.n_rows)[ids],
    "Permute": lambda _, a: np.stack([each.T for each in a]),
    "ReLU": lambda _, a: np.maximum(a, 0),
    "Renormalise": lambda _, a: of_what_is_left(
        a / a.sum(-1, keepdims=True), a.sum(-1, keepdims=True) == 0
    ),
    "Row": lambda op, a: a[op.row],
    "RepeatHeads": lambda op, a: np.repeat(a[None] if op.one else a, op.times, axis=-3),
    "RotaryAngles": lambda op: np.outer(
        range(op.first, op.first + op.n_tokens),
        op.rates or op.base ** (-np.arange(op.n_pairs) / op.n_pairs),
    ),
    "Rotate": rotated,
    "Rows": lambda op, a: np.take(a, range(op.first, op.end), axis=-2),
    "RowLargest": lambda _, a: np.max(a, -1, keepdims=True),
    "RowMean": lambda _, a: np.mean(a, -1, keepdims=True),
    "RowSum": lambda op, a: np.add.reduce(a, op.dim, keepdims=True),
    "RowMeanSquare": lambda _, a: np.mean(a * a, -1, keepdims=True),
    "RowVariance": lambda _, a, mean: (
        np.einsum("...k,...k->...", a - mean, a - mean)[..., None] / a.shape[-1]
    ),
    "RowsOfHeads": lambda op, a: np.stack(np.split(a, op.n_heads)),
    "RunningSum": lambda _, a: np.stack([sum(a[: last + 1]) for last in range(len(a))]),
    "Scale": lambda op, a: a * (op.width**-0.5 if op.root else 1 / op.width),
    "ScaleRow": lambda op, a: at_row(a, op.row, lambda row: row * op.factor),
    "ScaleShift": lambda _, a, gain, bias=0.0: np.einsum("...k,k->...k", a, gain) + bias,
    "Shift": lambda op, a: a + op.constant,
    "ShiftRow": lambda op, a: at_row(a, op.row, lambda row: row + op.amount),
    "Sinusoid": waves,
    "SoftCap": lambda op, a: op.cap * np.tanh(a / op.cap),
    "Softmax": lambda op, a: shares(a, op.dim),
    "SoftmaxJacobian": lambda _, w: np.diag(w) - np.outer(w, w),
    "MaskedSoftmax": lambda op, a: of_what_is_left(
        shares(a, op.dim), np.isneginf(a).all(op.dim, keepdims=True)
    ),
    "Rescale": power_less,
    "RescaleAndAdd": lambda _, a, b, c: np.multiply(a, b) + c,
    "SplitHeads": lambda op, a: np.stack(np.split(a, op.n_heads, axis=-1), axis=-3),
    "SplitWithoutTranspose": lambda op, a: np.stack(
        [part.reshape(len(a), -1) for part in np.split(a.ravel(), op.n_heads)]
    ),
    "Standardise": lambda op, a, mean, variance: (a - mean) * (variance + op.epsilon) ** -0.5,
    "Sigmoid": lambda _, a: (1 + np.tanh(a / 2)) / 2,
    "SiLU": lambda _, a: a / (1 + np.exp(-a)),
    "Stored": lambda op: rows_of(load_file(op.path)[op.name], op.rows),
    "StoredInGguf": lambda op: rows_of(of_few_bits(op), op.rows),
    "Subtract": lambda _, a, b: a - b,
    "SumHeads": lambda _, a: reduce(np.add, a),
    "SumLast": lambda _, a: np.add.reduce(a, -1),
    "SumNormalise": lambda _, a: a / np.add.reduce(a, -1, keepdims=True),
    "SwitchOff": lambda op, a: at_row(a, op.head, np.zeros_like),
    "Transpose": lambda _, a: np.swapaxes(a, -1, -2),
    "L2Normalize": lambda _, a: directions(a),
}


def variants():
    """Settings of operations that the workshop leaves out."""
    trace = Trace(key=list("abcde"))
    table = ("query", "key")
    drawn = trace.step("first", ops.Draw("uniform", (3, 5), seed=2), axes=table).operation
    for at, kind in enumerate(("normal", "linear", "uniform")):
        drawn = ops.Draw(kind, (3, 5), after=drawn)
        trace.step(f"drawn_{at}", drawn, axes=table)
    fanned = ops.Draw("linear", (3, 5), seed=3, fan_in=7)
    trace.step("fanned", fanned, axes=table)
    trace.step("ids", ops.Draw("integers", (3,), after=fanned, below=11), axes=("query",))
    known = (("a", 2), ("b", 1))
    trace.step("encoded", ops.Encode(tuple("abzab"), (2, 1, 7, 2, 1), known, 7), axes=("key",))
    rates = (1.0, 0.25, 0.03)
    trace.step("slowed", ops.RotaryAngles(5, 3, first=2, rates=rates), axes=("key", "pair"))
    trace.step("half", ops.Cast("float16"), trace["drawn_0"], axes=table)
    return trace


TRACES = {
    "workshop": workshop,
    "variants": variants,
    **{
        f"{lesson}/{example}": lambda lesson=lesson, example=example: BUILDERS[lesson](
            EXAMPLES[example], 0
        )
        for lesson in BUILDERS
        for example in ("journey_123", "wild_cat")
    },
    "together": lambda: example_trace("wild_cat", "together"),
}


def oracle(name):
    assert name in ORACLES, f"add to ORACLES, in {__file__}, how numpy computes {name}"
    return ORACLES[name]


def is_wrong(step):
    """Whether a step has other numbers than its oracle, in float64, gives for its inputs."""
    given = [
        each.value.double().numpy() if each.value.is_floating_point() else each.value.numpy()
        for each in step.inputs
    ]
    with np.errstate(all="ignore"):
        wanted = oracle(type(step.operation).__name__)(step.operation, *given)
    has = step.value.double().numpy()
    # A sum of the row that nearly cancels is divided by: its digits are not those of float32.
    largest = np.abs(wanted[np.isfinite(wanted)], dtype=float).max(initial=1.0)
    places = 2e-2 if step.value.dtype == torch.bfloat16 else 2e-5
    return has.shape != wanted.shape or not np.allclose(
        has, wanted, rtol=places, atol=2e-5 * largest, equal_nan=True
    )


@pytest.mark.parametrize("name", TRACES)
def test_every_step_has_the_numbers_that_its_oracle_gives(name):
    assert not [step.name for step in TRACES[name]().values() if is_wrong(step)]


def test_every_operation_has_an_oracle_and_a_step_that_is_held_against_it():
    assert [*map(oracle, OPERATIONS)]
    assert not ORACLES.keys() - OPERATIONS.keys(), "oracles of no operation"
    steps = [step for make in (workshop, variants) for step in make().values()]
    without = OPERATIONS.keys() - {type(step.operation).__name__ for step in steps}
    assert not without, f"put a step with {without} into workshop(), in tests/traces.py"
