"""What numbers alone do not tell of operations, which test_oracle_each holds against numpy: bits,
draws and memory; and simplified attention as a whole.
"""

import math
import struct
from fractions import Fraction

import pytest
import torch
from torch.nn import functional as F

from attention_core import SimplifiedOptions, Trace, attend, expand_query, program
from attention_core.operations import (
    Columns,
    Draw,
    Given,
    L2Normalize,
    Lookup,
    MatMul,
    MatMulByLoop,
    OneHot,
    Row,
    Rows,
    Softmax,
    Stored,
    StoredInGguf,
    SumNormalise,
)
from checks import close, random
from traces import workshop


def float32(number):
    return struct.unpack("f", struct.pack("f", number))[0]


def test_the_product_by_loop_is_three_python_loops_bit_for_bit():
    queries, keys = random(5, 13, seed=1), random(7, 13, seed=2)
    scores = [[0.0] * 7 for _ in range(5)]
    for i, query in enumerate(queries.tolist()):
        for j, key in enumerate(keys.tolist()):
            for k in range(13):
                # Products and sums of two float32 are rounded once: in float64 they are exact, or
                # exact enough that rounding them to float32 gives the float32 result.
                scores[i][j] = float32(scores[i][j] + float32(query[k] * key[k]))
    assert MatMulByLoop().value(queries, keys).tolist() == scores


def test_softmax_of_scores_in_the_hundreds_stays_finite():
    weights = Softmax().value(torch.tensor([[480.0, -257.0, 479.0], [-480.0, -481.0, -257.0]]))
    e = math.e
    assert close(weights[0], torch.tensor([e / (e + 1), 0.0, 1 / (e + 1)]))
    assert close(weights[1], torch.tensor([0.0, 0.0, 1.0]))
    assert weights.isfinite().all()


def test_a_negative_sum_turns_the_order_over():
    weights = SumNormalise().value(torch.tensor([[1.0, -2.0, -3.0]]))
    assert torch.equal(weights, torch.tensor([[-0.25, 0.5, 0.75]]))


def test_a_row_of_zeros_stays_zero_among_unit_rows():
    units = L2Normalize().value(torch.tensor([[3.0, -4.0], [0.0, 0.0], [0.0, 2.0]]))
    assert torch.equal(units, torch.tensor([[0.6, -0.8], [0.0, 0.0], [0.0, 1.0]]))


def test_one_hot_rows_times_the_table_are_the_lookup_to_the_last_bit():
    table, ids = random(11, 5), torch.tensor([10, 0, 3, 10, 7, 1, 1])
    one_hot = OneHot(11).value(ids)
    assert torch.equal(one_hot, F.one_hot(ids, 11).float())
    assert torch.equal(MatMul().value(one_hot, table), Lookup().value(table, ids))


# --- where numbers come from ----------------------------------------------------------------------


# torch draws fewer than 16 normal numbers in another way than 16 and more.
@pytest.mark.parametrize(
    ("n_rows", "width"), [(1, 1), (2, 3), (3, 5), (1, 13), (5, 3), (4, 4), (9, 3), (13, 11)]
)
@pytest.mark.parametrize("seed", [0, 69, 2986341418])
def test_a_normal_draw_is_torch_s_embedding_table(n_rows, width, seed):
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        table = torch.nn.Embedding(n_rows, width).weight.detach()
    assert torch.equal(Draw("normal", (n_rows, width), seed=seed).value(), table)


@pytest.mark.parametrize(("d_out", "d_in"), [(1, 1), (2, 3), (7, 5), (13, 11), (3, 64)])
def test_a_linear_draw_is_torch_s_linear_layer(d_out, d_in):
    with torch.random.fork_rng():
        torch.manual_seed(123)
        weight = torch.nn.Linear(d_in, d_out, bias=False).weight.detach()
    assert torch.equal(Draw("linear", (d_out, d_in), seed=123).value(), weight)


def test_draws_after_one_another_continue_the_generator():
    w_query = Draw("uniform", (3, 2), seed=123)
    w_key = Draw("uniform", (3, 2), after=w_query)
    few = Draw("normal", (3,), after=w_key)  # an odd number of normals: torch keeps one in store
    ids = Draw("integers", (7,), after=few, below=11)
    linear = Draw("linear", (2, 5), after=ids)
    rest = Draw("normal", (5,), after=linear)
    with torch.random.fork_rng():
        torch.manual_seed(123)
        oracles = [
            torch.rand(3, 2),
            torch.rand(3, 2),
            torch.randn(3),
            torch.randint(11, (7,)),
            torch.nn.Linear(5, 2, bias=False).weight.detach(),
            torch.randn(5),
        ]
    draws = [w_query, w_key, few, ids, linear, rest]
    # Asked for last to first, too: a draw does not depend on what was asked for before it.
    assert [draw.value().tolist() for draw in reversed(draws)] == [
        oracle.tolist() for oracle in reversed(oracles)
    ]
    assert [draw.value().dtype for draw in draws] == [oracle.dtype for oracle in oracles]
    assert rest.before() == tuple(draws[:-1])
    assert rest.first_seed == 123


def test_two_draws_may_follow_the_same_one_and_are_equal():
    first = Draw("uniform", (3,), seed=5)
    left, right = Draw("uniform", (5,), after=first), Draw("uniform", (5,), after=first)
    assert torch.equal(left.value(), right.value())
    assert not torch.equal(left.value(), Draw("uniform", (5,), seed=5).value())


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


@pytest.mark.parametrize(
    "given", [{}, {"seed": 1, "after": Draw("uniform", (2,), seed=1)}], ids=["neither", "both"]
)
def test_a_draw_has_a_seed_or_follows_another_draw(given):
    with pytest.raises(ValueError, match="either a seed or another draw that it follows"):
        Draw("normal", (2, 3), **given)


def test_an_unknown_distribution_is_named():
    with pytest.raises(ValueError, match="no distribution is called 'cauchy'"):
        Draw("cauchy", (2, 3), seed=1).value()


# --- simplified attention as a whole --------------------------------------------------------------


def simplified(vectors, query=None, **options):
    """The trace of simplified attention over vectors (token, d_in)."""
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


def test_cosine_compares_directions_and_mixes_the_vectors_themselves():
    vectors = random(7, 5, seed=3)
    scores, weights, context_vectors = values(
        simplified(vectors, similarity="cosine"), "scores", "weights", "context_vectors"
    )
    exact = vectors.double()
    cosines = F.cosine_similarity(exact[:, None], exact[None], dim=-1)
    assert close(scores, cosines)
    assert close(scores.diagonal(), torch.ones(7))
    powers = cosines.exp()
    shares = powers / powers.sum(dim=1, keepdim=True)
    assert close(weights, shares)
    assert close(context_vectors, shares @ exact, 1e-5)


@pytest.mark.parametrize("options", [{}, {"similarity": "cosine"}], ids=str)
def test_a_stretched_vector_is_longer_as_query_as_key_and_as_value(options):
    longer = random(7, 5, seed=3)
    stretched = simplified(longer, stretched=2, factor=3.0, **options)["context_vectors"].value
    longer[2] *= 3
    assert close(stretched, simplified(longer, **options)["context_vectors"].value, 1e-5)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"divide": "sqrt_d"},
        {"similarity": "cosine"},
        {"normalise": "sum"},
        {"stretched": 3, "factor": -2.0},
        {"similarity": "cosine", "divide": "sqrt_d", "stretched": 3, "factor": 0.5},
    ],
    ids=str,
)
@pytest.mark.parametrize("query", [0, 3, 6])
def test_one_query_term_by_term_ends_in_its_row_of_the_context_vectors(options, query):
    trace = simplified(random(7, 5, seed=3).abs(), query, **options)
    assert trace["query_weights"].value.shape == (7,)
    assert trace["running_context"].value.shape == (7, 5)
    scores, weights, running = values(trace, "query_scores", "query_weights", "running_context")
    assert close(scores, trace["scores"].value[query], 1e-5)
    assert close(weights, trace["weights"].value[query], 1e-5)
    assert close(running[-1], trace["context_vectors"].value[query], 1e-5)


@pytest.mark.parametrize(
    "options", [{"similarity": "cosinus"}, {"divide": "sqrt"}, {"normalise": "max"}], ids=str
)
def test_a_choice_that_does_not_exist_is_refused(options):
    with pytest.raises(ValueError, match=next(iter(options.values()))):
        simplified(random(3, 2), **options)


def test_a_case_by_hand_where_sum_normalising_gives_exact_fractions():
    trace = simplified(torch.tensor([[1.0, 2.0], [3.0, 1.0]]), query=1, normalise="sum")
    assert trace["scores"].value.tolist() == [[5, 5], [5, 10]]
    third = Fraction(1, 3)
    exact = {
        "weights": [[Fraction(1, 2), Fraction(1, 2)], [third, 2 * third]],
        "context_vectors": [[Fraction(2), Fraction(3, 2)], [7 * third, 4 * third]],
        "query_key_products": [[Fraction(3), Fraction(2)], [Fraction(9), Fraction(1)]],
        "weighted_embeddings": [[third, 2 * third], [Fraction(2), 2 * third]],
        "running_context": [[third, 2 * third], [7 * third, 4 * third]],
    }
    for name, fractions in exact.items():
        numbers = torch.tensor([[float(entry) for entry in row] for row in fractions])
        assert close(trace[name].value, numbers), name


# --- where the numbers of a program lie -----------------------------------------------------------


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
