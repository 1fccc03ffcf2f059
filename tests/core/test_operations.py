"""What numbers alone do not tell of operations: bits, draws, memory; simplified attention."""

from dataclasses import fields, is_dataclass

import pytest
import torch
from torch.nn import functional as F

from attention_core import SimplifiedOptions, Trace, attend, expand_query, program
from attention_core import operations as ops
from attention_core.operations import Columns, Draw, Given, Row, Rows, Stored, StoredInGguf
from checks import close, random
from traces import workshop

DISTRIBUTIONS = {
    "normal": Draw("normal", (5, 3), seed=1),
    "uniform": Draw("uniform", (5, 3), seed=1),
    "linear": Draw("linear", (5, 3), seed=1),
    "integers": Draw("integers", (5,), seed=1, below=7),
}


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_the_same_draw_twice_gives_equal_tensors_and_leaves_torch_s_own_generator(distribution):
    draw = DISTRIBUTIONS[distribution]
    state = torch.get_rng_state()
    assert draw.value()._version == 0
    first = draw.value().clone()
    for seed in range(100, 120):  # so many others that none is kept
        Draw(draw.distribution, draw.shape, seed=seed, below=draw.below).value()
    again = Draw(draw.distribution, draw.shape, seed=1, below=draw.below).value()
    assert torch.equal(first, again)
    assert torch.equal(torch.get_rng_state(), state)


def test_a_draw_is_not_changed_by_someone_who_changes_what_they_got():
    draw = Draw("normal", (2, 3), seed=31)
    expected = draw.value().tolist()
    draw.value().zero_()
    assert Draw("normal", (2, 3), seed=31).value().tolist() == expected


def simplified(vectors, query=None, **options):
    trace = Trace()
    rows = tuple(map(tuple, vectors.tolist()))
    trace.step("embeddings", Given(rows), axes=("token", "d_in"))
    attend(trace, SimplifiedOptions(**options))
    return trace if query is None else expand_query(trace, query)


def values(trace, *names):
    return [trace[name].value for name in names]


SIZES = [(2, 3), (7, 5), (5, 7), (13, 11), (1, 2)]
every_size = pytest.mark.parametrize(("n_tokens", "width"), SIZES)


@every_size
@pytest.mark.parametrize(("divide", "scale"), [("none", 1.0), ("sqrt_d", None)])
def test_simplified_attention_is_torch_s_own(n_tokens, width, divide, scale):
    vectors = random(n_tokens, width, seed=3)
    (context_vectors,) = values(simplified(vectors, divide=divide), "context_vectors")
    oracle = F.scaled_dot_product_attention(*[vectors[None]] * 3, scale=scale)[0]
    assert close(context_vectors, oracle, 1e-5)


@pytest.mark.parametrize("options", [{}, {"similarity": "cosine"}], ids=str)
def test_a_stretched_vector_is_longer_as_query_as_key_and_as_value(options):
    longer = random(7, 5, seed=3)
    stretched = simplified(longer, stretched=2, factor=3.0, **options)["context_vectors"].value
    longer[2] *= 3
    assert close(stretched, simplified(longer, **options)["context_vectors"].value, 1e-5)


@pytest.mark.parametrize("options", [
    {},
    {"divide": "sqrt_d"},
    {"similarity": "cosine"},
    {"normalise": "sum"},
    {"stretched": 3, "factor": -2.0},
    {"similarity": "cosine", "divide": "sqrt_d", "stretched": 3, "factor": 0.5},
], ids=str)  # fmt: skip
@pytest.mark.parametrize("query", [0, 3, 6])
def test_one_query_term_by_term_ends_in_its_row_of_the_context_vectors(options, query):
    trace = simplified(random(7, 5, seed=3).abs(), query, **options)
    assert trace["query_weights"].value.shape == (7,)
    assert trace["running_context"].value.shape == (7, 5)
    scores, weights, running = values(trace, "query_scores", "query_weights", "running_context")
    assert close(scores, trace["scores"].value[query], 1e-5)
    assert close(weights, trace["weights"].value[query], 1e-5)
    assert close(running[-1], trace["context_vectors"].value[query], 1e-5)


def lies(tensor):
    """What the order in which torch adds may follow."""
    return tensor.stride(), tensor.storage_offset(), tensor.data_ptr() % 64


def test_a_line_of_a_program_lays_its_numbers_as_the_trace_does():
    trace = workshop()
    names = {"__name__": "a program"}
    exec(program(trace), names)
    for step in trace.values():
        if isinstance(
            step.operation, Stored | StoredInGguf
        ):  # where its reader has put it; nothing is added
            continue
        assert lies(names[step.name]) == lies(step.value), step


@pytest.mark.parametrize("shape", [(5, 3), (1, 7), (7, 1), (2, 1, 7)])
@pytest.mark.parametrize(
    "operation", [Row(0), Row(1), Rows(0, 1), Rows(1, 5), Columns(1, 3)], ids=str
)
def test_what_is_picked_has_memory_of_its_own(shape, operation):
    whole = random(*shape)
    try:
        picked = operation.value(whole)
    except ValueError:
        return  # no such row
    made = eval(operation.code("whole"), {"whole": whole})
    assert lies(made) == lies(picked)
    assert made.untyped_storage().data_ptr() != whole.untyped_storage().data_ptr()


ONE_WIDE = torch.ones(1, 1, 5)
MOVES = [
    (ops.Transpose(), torch.ones(1, 5)),
    (ops.Permute(), ONE_WIDE),
    (ops.RepeatHeads(1, one=True), torch.ones(2, 5)),
    (ops.SplitHeads(1), torch.ones(3, 5)),
    (ops.SplitHeads(5), torch.ones(1, 5)),
    (ops.SplitWithoutTranspose(3), torch.ones(2, 3)),
    (ops.JoinHeads(), ONE_WIDE),
    (ops.RowsOfHeads(2), torch.ones(4, 3)),
    (ops.SumHeads(), ONE_WIDE),
    (ops.SwitchOff(0), ONE_WIDE),
    (ops.ReLU(), ONE_WIDE),
    (ops.LayerNorm(), ONE_WIDE),
    (ops.MatMulUpright(), torch.ones(1, 1), torch.ones(1, 1)),
    (ops.Linear(), torch.ones(1, 1), torch.ones(1, 1)),
    (ops.BatchedMatMul(), torch.ones(1, 1, 1), torch.ones(1, 1, 1)),
    (ops.MaskedFill(), torch.ones(3, 5), torch.ones(3, 5, dtype=torch.bool)),
    (ops.Drop(0.0), torch.ones(3, 5), torch.ones(3, 5)),
    (ops.Renormalise(), torch.ones(3, 1)),
    (ops.MaskedSoftmax(), torch.ones(3, 1)),
    (ops.ShiftRow(0, 0.0), torch.ones(1, 5)),
    (ops.Cast("float32"), torch.ones(3, 5)),
    (ops.ScaleBy(1.0), torch.ones(3, 5)),
    (ops.Shift(0.0), torch.ones(3, 5)),
    (ops.RowLargest(), torch.ones(3, 1)),
    (ops.RowSum(), torch.ones(3, 1)),
]


@pytest.mark.parametrize(("operation", "operands"), [(m[0], m[1:]) for m in MOVES], ids=str)
def test_an_operation_that_need_not_move_anything_still_gives_a_new_tensor(operation, operands):
    result = operation.value(*operands)
    memories = {operand.untyped_storage().data_ptr() for operand in operands}
    assert result.untyped_storage().data_ptr() not in memories
    assert all(operand._version == 0 for operand in operands)


def test_no_step_of_the_workshop_shares_its_numbers_with_another_or_changes_them():
    trace = workshop()
    memories = {step.value.untyped_storage().data_ptr() for step in trace.values()}
    assert len(memories) == len(trace)
    for step in trace.values():  # torch itself counts 1 for the product with a single row
        operands = [given.value for given in step.inputs]
        before = [(operand.clone(), operand._version) for operand in operands]
        again = step.operation.value(*operands)
        assert step.value._version == again._version, step
        for operand, (copy, version) in zip(operands, before, strict=True):
            assert torch.equal(operand, copy), step
            assert operand._version == version, step


def test_what_an_operation_declares_is_no_setting_of_it():
    """An annotation alone would make it the first argument: MatMul(False) had no signs."""
    declared = {name for name, each in vars(ops.Operation).items() if isinstance(each, property)}
    kinds = [each for each in vars(ops).values() if isinstance(each, type)]
    settings = {kind: {each.name for each in fields(kind)} for kind in filter(is_dataclass, kinds)}
    assert not {kind.__name__: both for kind, n in settings.items() if (both := n & declared)}
