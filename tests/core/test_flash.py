"""Flash attention against plain torch: any sizes, masks, large scores, and what runs along."""

import random

import pytest
import torch

from attention_core import Trace
from attention_core import operations as ops
from attention_core.mechanism.flash import attend_in_tiles
from attention_core.mechanism.tile_traffic import largest_tile, tile_bytes, tiled_traffic
from attention_core.mechanism.tiling import tiles_of
from checks import run_anew

SIZES = [(1, 1), (2, 3), (3, 2), (5, 11), (7, 4), (100, 100)]
N_QUERIES, N_KEYS, D, D_V = 7, 11, 5, 3


def given(n_queries=N_QUERIES, n_keys=N_KEYS, d=D, d_value=D_V, factor=1.0):
    trace = Trace()
    drawn = [
        trace.step(name, ops.Draw("normal", shape, seed=seed), axes=axes)
        for seed, (name, shape, axes) in enumerate(
            [
                ("drawn_queries", (n_queries, d), ("query", "d_query")),
                ("keys", (n_keys, d), ("key", "d_query")),
                ("values", (n_keys, d_value), ("key", "d_value")),
            ]
        )
    ]
    queries = trace.step("queries", ops.ScaleBy(factor), drawn[0], axes=("query", "d_query"))
    return trace, queries, *drawn[1:]


def whole(queries, keys, values, offset=None, scale=D**-0.5):
    """Context vectors by torch's own attention, in float64."""
    seen = None
    if offset is not None:
        seen = torch.arange(N_KEYS) <= torch.arange(N_QUERIES)[:, None] + offset
    given = (each.value.double() for each in (queries, keys, values))
    return torch.nn.functional.scaled_dot_product_attention(
        *given, attn_mask=seen, scale=scale
    ).float()


@pytest.mark.parametrize(("tile_queries", "tile_keys"), SIZES)
@pytest.mark.parametrize(
    ("offset", "scale"), [(None, "sqrt_d"), (0, "none"), (4, "d"), (-3, "sqrt_d")]
)
def test_tiles_give_what_the_whole_table_gives(tile_queries, tile_keys, offset, scale):
    trace, *steps = given()
    mask = {} if offset is None else {"causal": True, "offset": offset}
    made = attend_in_tiles(trace, *steps, tile_queries, tile_keys, scale=scale, **mask)
    context = torch.cat([step.value for step in made])
    factor = {"none": 1.0, "sqrt_d": D**-0.5, "d": 1 / D}[scale]
    torch.testing.assert_close(context, whole(*steps, offset, factor), rtol=1e-5, atol=1e-6)
    if offset == -3:
        assert (context[:3] == 0).all()


def test_only_the_blocks_that_are_named_are_computed():
    trace, *steps = given()
    (step,) = attend_in_tiles(trace, *steps, 3, 4, blocks=[2])
    assert step.axes == ("query_block_2", "d_value")
    assert len(step.value) == 1
    torch.testing.assert_close(step.value, whole(*steps)[6:], rtol=1e-5, atol=1e-6)
    assert not any(name.startswith("tile_queries_0") for name in trace)
    with pytest.raises(ValueError, match="no block 3 of queries: the last is 2"):
        attend_in_tiles(*given(), 3, 4, blocks=[3])


@pytest.mark.parametrize(
    ("sizes", "said"), [((7, 11, 0, 3), "tiles of 0 queries"), ((0, 11, 1, 1), "at least one")]
)
def test_sizes_below_1_are_refused(sizes, said):
    with pytest.raises(ValueError, match=said):
        tiles_of(*sizes)


@pytest.mark.parametrize("n_bytes", [1, 2, 4])
@pytest.mark.parametrize("capacity", [1_200, 5_000, 196_608])
def test_the_largest_tile_fits_and_the_next_does_not(capacity, n_bytes):
    side = largest_tile(capacity, 64, 64, n_bytes)
    here, next_one = (tile_bytes(each, 64, 64, n_bytes) for each in (side, 2 * side))
    assert here <= capacity < next_one
    # Query, key and value; then, in float32, a score, the output, its maximum and its sum.
    least = 3 * 64 * n_bytes + (1 + 64 + 2) * 4
    with pytest.raises(ValueError, match="holds no tile: one query and one key need"):
        largest_tile(least - 1, 64, 64, n_bytes)
    assert largest_tile(least, 64, 64, n_bytes) == 1


@pytest.mark.parametrize(("tile_queries", "tile_keys"), SIZES)
@pytest.mark.parametrize("causal", [False, True])
def test_tiles_move_and_hold_as_many_numbers_as_the_arithmetic_says(
    tile_queries, tile_keys, causal
):
    trace, *steps = given(n_queries=N_KEYS)
    attend_in_tiles(trace, *steps, tile_queries, tile_keys, causal=causal)
    wanted = tiled_traffic(N_KEYS, N_KEYS, D, D_V, tile_queries, tile_keys, causal)

    def cells(*begins):
        return sum(each.value.numel() for name, each in trace.items() if name.startswith(begins))

    assert cells("tile_queries_", "tile_keys_", "tile_values_") == wanted.vectors
    assert cells("context_vectors_") == wanted.context
    sums = (f"running_{name}_0_0" for name in ("largest", "sum", "output"))
    assert cells(*sums, "tile_exponentials_0_0") == wanted.summed
    fetched = cells("tile_queries_0", "tile_keys_0_0", "tile_values_0_0")
    assert fetched == wanted.held - wanted.summed


@pytest.mark.parametrize("seed", range(8))
def test_a_program_of_tiles_gives_the_same_bits(seed):
    """Also in the middle of a matrix: torch's sums depend on where numbers begin in memory."""
    sizes = random.Random(seed)
    n_queries, n_keys, d, d_value = (sizes.randint(1, 65) for _ in range(4))
    trace, *steps = given(n_queries, n_keys, d, d_value)
    tiles = (sizes.randint(1, n_queries), sizes.randint(1, n_keys))
    attend_in_tiles(trace, *steps, *tiles, causal=seed % 2 == 1, offset=sizes.randint(-3, 3))
    run_anew(trace)


@pytest.mark.parametrize("offset", [-3, -1, 0, 4])
@pytest.mark.parametrize("causal", [False, True])
def test_only_where_a_query_sees_nothing_is_a_sum_of_0_provided_for(causal, offset):
    made = attend_in_tiles(*given(), 3, 4, causal=causal, offset=offset)
    sees_nothing = causal and offset < 0
    kinds = {type(step.operation) for step in made}
    assert kinds == {ops.MaskedDivide if sees_nothing else ops.Divide}
