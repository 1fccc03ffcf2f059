"""Traces that several tests look at: examples in variants, lessons, and every operation."""

import math
from dataclasses import replace

from attention_core import EXAMPLES, Inputs, SimplifiedOptions, Trace, attend, embed, expand_query
from attention_core import operations as ops
from attention_core.mechanism.masking import attend_masked, change_token
from attention_core.operations.base import Operation
from attention_core.published.building import BUILDERS
from attention_core.real_model.score_in_small import small_score_trace
from attention_core.recipes import MaskRecipe
from attention_core.small_models.network import Network, Size
from attention_core.small_models.recording import RECORDING
from gguf_files import FEW_BITS

# Each variant: what it changes in an example's inputs, and in its options.
EDITS = ((0, 0, 1.25), (3, 2, -0.75))
VARIANTS = {
    "as_published": ({}, {}),
    "positions": ({"positions": True}, {}),
    "edited": ({"edits": EDITS}, {}),
    "cosine": ({}, {"similarity": "cosine"}),
    "sum": ({}, {"normalise": "sum"}),
    "sqrt_d": ({}, {"divide": "sqrt_d"}),
    "stretched": ({}, {"stretched": 2, "factor": -1.7}),
    "together": (
        {"positions": True, "edits": EDITS},
        {"similarity": "cosine", "divide": "sqrt_d", "stretched": 1, "factor": 0.3},
    ),
}
LESSONS = (
    "softmax_or_sum/wild_cat", "qkv/wild_cat", "qkv_linear/journey_123",
    "qkv_wrong_axis/journey_789", "causal/journey_123", "multi_head/wild_cat",
    "multi_head_wrong_axis/journey_123", "decoder/wild_cat",
)  # fmt: skip
"""Traces of the lessons, small enough to take every cell apart."""


def every_kind(base=Operation):
    for kind in base.__subclasses__():
        yield kind
        yield from every_kind(kind)


OPERATIONS = {
    kind.__name__: kind
    for kind in every_kind()
    if kind.__module__.startswith("attention_core.") and kind.value is not Operation.value
}


def example_trace(name, variant="as_published"):
    changes, options = VARIANTS[variant]
    example = EXAMPLES[name]
    trace = embed(replace(example.inputs, **changes))
    attend(trace, SimplifiedOptions(**{"divide": example.divide} | options))
    return expand_query(trace, example.query)


def lesson_trace(name):
    lesson, example = name.split("/")
    return BUILDERS[lesson](EXAMPLES[example], 0)


def score_in_small():
    """A score of an untrained network taken apart, with two layers before it."""
    network = Network(Size(n_tokens=5, n_positions=4, d_model=6, n_heads=3, n_layers=3), seed=2)
    weights = {name: each.detach() for name, each in network.named_parameters()}
    return small_score_trace(weights, [*"abcde"], [*"dabe"], 2, 1, 3, 1)


def all_ways_to_hide():
    """Every way, typed vectors, one token changed."""
    mask = MaskRecipe(window=3, hidden_key=0, flipped=((0, 5), (5, 2)))
    inputs = Inputs("a b c d a b", d_in=3, edits=((0, 1, 0.5), (1, 2, -2.0)))
    return change_token(attend_masked(embed(inputs), mask, scale="d"), 2, -1.5, "renormalised_")


TABLES, TABLE, VECTORS = ("head", "query", "key"), ("query", "key"), ("query", "d")


def workshop():
    """Every operation there is, in prime and unequal sizes, with heads in front where it can."""
    trace = Trace()
    step = trace.step

    def drawn(name, *shape, axes, seed):
        return step(name, ops.Draw("normal", shape, seed=seed), axes=axes)

    left = drawn("left", 2, 3, 5, axes=("head", "query", "d"), seed=1)
    right = drawn("right", 2, 5, 7, axes=("head", "d", "key"), seed=2)
    keys = drawn("keys", 2, 7, 5, axes=("head", "key", "d"), seed=3)
    table = drawn("table", 11, 5, axes=("vocabulary", "d"), seed=4)
    given = step("given", ops.Given((0.5, -1.5, 2.0)), axes=("query",))
    scores = step("scores", ops.MatMul(), left, right, axes=TABLES)
    step("scores_again", ops.MatMul(transpose=True), left, keys, axes=TABLES)
    step("scaled_scores", ops.Scale(5), scores, axes=TABLES)
    step("weights", ops.Softmax(), scores, axes=TABLES)
    step("shares", ops.SumNormalise(), scores, axes=TABLES)
    step("units", ops.L2Normalize(), left, axes=("head", "query", "d"))
    step("sums", ops.SumLast(), left, axes=("head", "query"))
    step("both", ops.Add(), left, left, axes=("head", "query", "d"))
    first_keys = step("first_keys", ops.Row(0), keys, axes=("key", "d"))
    encode = ops.Encode(tuple("abc"), (10, 0, 10), (("a", 10), ("b", 0), ("c", 10)))
    ids = step("ids", encode, axes=("query",))
    often = step("often", ops.Given((2.0, 1.0, 3.0)), axes=("word",))
    rows = ((0, 1, 0, 6, -1), (1, 1, 1, -1, -1), (6, 0, 1, 2, 1))
    pieces = step("pieces", ops.Given(rows), axes=("word", "place_in_word"))
    counted = step("counted", ops.PairCounts(7), often, pieces, axes=("first", "second"))
    step("joined_pieces", ops.JoinPair(7), counted, pieces, axes=("word", "place_in_word"))
    picked = step("picked", ops.Lookup(), table, ids, axes=VECTORS)
    step("one_hot", ops.OneHot(11), ids, axes=("query", "vocabulary"))
    step("by_loop", ops.MatMulByLoop(), picked, first_keys, axes=TABLE)
    step("stretched", ops.ScaleRow(1, -1.7), picked, axes=VECTORS)
    step("edited", ops.Edit(((2, 4, 2.5), (0, 1, 0.25))), picked, axes=VECTORS)
    step("running", ops.RunningSum(), picked, axes=VECTORS)
    step("by_row", ops.Multiply(by_row=True), given, picked, axes=VECTORS)
    query = step("query", ops.Row(2), picked, axes=("d",))
    step("squares", ops.Multiply(), left, left, axes=("head", "query", "d"))
    step("products", ops.Multiply(), query, first_keys, axes=("key", "d"))
    step("sinusoid", ops.Sinusoid(3, 5), axes=VECTORS)
    first_row = step("first_row", ops.Row(1), picked, axes=("d",))
    compared = step("compared", ops.MatMul(transpose=True), first_row, first_keys, axes=("key",))
    moved = step("moved", ops.Shift(-0.75), scores, axes=TABLES)
    magnified = step("magnified", ops.ScaleBy(0.3), moved, axes=TABLES)
    step("stored", ops.Cast("bfloat16"), magnified, axes=TABLES)
    largest = step("largest", ops.RowLargest(), magnified, axes=("head", "query", "row"))
    step("lowered", ops.Subtract(), magnified, largest, axes=TABLES)
    powers = step("powers", ops.Exp(), magnified, axes=TABLES)
    total = step("total", ops.RowSum(), powers, axes=("head", "query", "row"))
    step("divided", ops.Divide(), powers, total, axes=TABLES)
    one_row = step("one_row", ops.Softmax(), compared, axes=("key",))
    step("jacobian", ops.SoftmaxJacobian(), one_row, axes=("key", "score"))
    _running(trace, magnified, largest)
    _projections(trace, drawn)
    _hiding(trace, drawn)
    _heads(trace, drawn)
    _batches(trace, drawn)
    _backward(trace)
    return trace


def _running(trace, scores, largest):
    """Half of the queries have seen nothing so far, where that may be."""
    step = trace.step
    one = ("query", "row")
    some, own = (
        step(f"{each.name}_of_one_head", ops.Row(1), each, axes=each.axes[1:])
        for each in (scores, largest)
    )
    before = step("before", ops.Given(((-math.inf,), (0.5,), (9.0,))), axes=one)
    now = step("largest_now", ops.RunningMaximum(), before, own, axes=one)
    step("powers_less", ops.ExpDifference(), some, now, axes=TABLE)
    shrink = step("shrink", ops.Rescale(), before, now, axes=one)
    step("shrunk_and_added", ops.RescaleAndAdd(), some, shrink, some, axes=TABLE)
    step("powers_of_seen", ops.ExpDifference(True), some, before, axes=TABLE)
    sums = step("shrink_of_seen", ops.Rescale(True), before, before, axes=one)
    step("divided_seen", ops.MaskedDivide(), some, sums, axes=TABLE)
    step("some_rows", ops.Rows(1, 3), scores, axes=("head", "row_of_some", "key"))


def _projections(trace, drawn):
    step = trace.step
    vectors = drawn("vectors", 3, 5, axes=VECTORS, seed=5)
    matrix = drawn("matrix", 5, 2, axes=("d", "d_query"), seed=6)
    layer = drawn("layer", 2, 5, axes=("d_query", "d"), seed=7)
    bias = drawn("bias", 2, axes=("d_query",), seed=8)
    made = ("query", "d_query")
    step("affine", ops.Affine(), vectors, matrix, bias, axes=made)
    step("upright", ops.MatMulUpright(), vectors, matrix, axes=made)
    step("upright_with_bias", ops.MatMulUpright(), vectors, matrix, bias, axes=made)
    linear = step("linear", ops.Linear(), vectors, layer, axes=made)
    step("linear_with_bias", ops.Linear(), vectors, layer, bias, axes=made)
    step("with_bias", ops.Add(), linear, bias, axes=made)
    one = step("one", ops.Row(1), vectors, axes=("d",))
    step("one_projected", ops.MatMul(), one, matrix, axes=("d_query",))
    step("divided_by_d", ops.Scale(5, root=False), linear, axes=made)
    step("shifted_row", ops.ShiftRow(1, 0.75), vectors, axes=VECTORS)
    step("transposed", ops.Transpose(), vectors, axes=("d", "query"))
    step("normed", ops.LayerNorm(), vectors, axes=VECTORS)
    step("normed_whole", ops.LayerNorm(whole=True), vectors, axes=VECTORS)
    step("rectified", ops.ReLU(), vectors, axes=VECTORS)
    step("smooth", ops.GELU(), vectors, axes=VECTORS)
    step("smooth_by_tanh", ops.GELU(tanh=True), vectors, axes=VECTORS)
    step("smooth_by_share", ops.SiLU(), vectors, axes=VECTORS)
    step("gate", ops.Sigmoid(), vectors, axes=VECTORS)
    square = step("mean_square", ops.RowMeanSquare(), vectors, axes=("query", "row"))
    step("of_one_size", ops.DivideByRoot(), vectors, square, axes=VECTORS)
    mean = step("mean", ops.RowMean(), vectors, axes=("query", "row"))
    variance = step("variance", ops.RowVariance(), vectors, mean, axes=("query", "row"))
    standard = step("standard", ops.Standardise(), vectors, mean, variance, axes=VECTORS)
    gain = drawn("gain", 5, axes=("d",), seed=16)
    step("gained", ops.ScaleShift(), standard, gain, axes=VECTORS)
    step("gained_and_moved", ops.ScaleShift(), standard, gain, one, axes=VECTORS)


def _hiding(trace, drawn):
    step = trace.step
    scores = drawn("all_scores", 3, 7, axes=TABLE, seed=9)
    mask = step("mask", ops.AttentionMask(3, 7, flipped=((0, 0), (0, 5))), axes=TABLE)
    step("window", ops.AttentionMask(3, 7, False, 2, 1), axes=TABLE)
    blind = step("blind", ops.AttentionMask(3, 7, flipped=((0, 0),)), axes=TABLE)
    masked = step("masked", ops.MaskedFill(), scores, mask, axes=TABLE)
    step("zero_filled", ops.MaskedFill(0.0), scores, mask, axes=TABLE)
    step("seen", ops.MaskedSoftmax(), masked, axes=TABLE)
    step("chosen", ops.TopK(2), masked, axes=TABLE)
    nothing = step("nothing", ops.MaskedFill(), scores, blind, axes=TABLE)
    step("nothing_seen", ops.MaskedSoftmax(), nothing, axes=TABLE)
    weights = step("all_weights", ops.Softmax(), scores, axes=TABLE)
    left = step("left_over", ops.MaskedFill(0.0), weights, blind, axes=TABLE)
    step("again_one", ops.Renormalise(), left, axes=TABLE)
    step("down", ops.Softmax(-2), scores, axes=TABLE)
    kept = step("kept", ops.Draw("uniform", (3, 7), seed=10), axes=TABLE)
    step("dropped", ops.Drop(0.25), weights, kept, axes=TABLE)


def _heads(trace, drawn):
    step = trace.step
    vectors = trace["vectors"]
    by_head = drawn("by_head", 2, 5, 7, axes=("head", "d", "d_head"), seed=11)
    queries = step("head_queries", ops.MatMul(), vectors, by_head, axes=("head", "query", "d_head"))
    joined = step("joined", ops.JoinHeads(), queries, axes=("query", "d_joined"))
    step("split", ops.SplitHeads(2), joined, axes=("head", "query", "d_head"))
    step("mixed", ops.SplitWithoutTranspose(2), joined, axes=("head", "query", "d_head"))
    step("permuted", ops.Permute(), queries, axes=("head", "d_head", "query"))
    repeated = step(
        "repeated", ops.RepeatHeads(2, one=True), trace["transposed"], axes=("head", "d", "query")
    )
    upright = step("upright_heads", ops.Permute(), by_head, axes=("head", "d_head", "d"))
    step("batched", ops.BatchedMatMul(), upright, repeated, axes=("head", "d_head", "query"))
    output = drawn("output_matrix", 14, 5, axes=("d_joined", "d"), seed=12)
    rows = step("rows_of_heads", ops.RowsOfHeads(2), output, axes=("head", "d_head", "d"))
    parts = step("parts", ops.MatMul(), queries, rows, axes=("head", "query", "d"))
    step("sum_of_heads", ops.SumHeads(), parts, axes=VECTORS)
    step("switched", ops.SwitchOff(1), queries, axes=("head", "query", "d_head"))
    head_scores = drawn("head_scores", 2, 3, 7, axes=TABLES, seed=13)
    step("over_heads", ops.Softmax(-3), head_scores, axes=TABLES)


def _batches(trace, drawn):
    step = trace.step
    window = step("near", ops.WindowMask(3, 7, 2, 1, 3), axes=TABLE)
    step("near_or_sink", ops.WindowMask(3, 7, 1, 0, 3, 2), axes=TABLE)
    step("distances", ops.DistanceBias((0.5, 0.125), 3, 7, 2), axes=TABLES)
    step("one_slope", ops.DistanceBias(0.25, 3, 7, -1), axes=TABLE)
    step("mean_head", ops.MeanHeads(2), trace["keys"], axes=("one_head", "key", "d"))
    padding = step("not_padding", ops.LengthMask((5, 2), 7), axes=("head", "one_query", "key"))
    step("both_masks", ops.LogicalAnd(), window, padding, axes=TABLES)
    step("capped", ops.SoftCap(1.5), trace["all_scores"], axes=TABLE)
    step("served", ops.RepeatHeads(3), trace["keys"], axes=("served_head", "key", "d"))
    texts = drawn("texts", 3, 2, 10, axes=("batch", "place", "d_all"), seed=14)
    by_text = ("batch", "piece", "place", "d")
    split = step("split_texts", ops.SplitHeads(2, in_batch=True), texts, axes=by_text)
    step("joined_texts", ops.JoinHeads(True), split, axes=("batch", "place", "d_all"))
    wide = drawn("wide", 2, 3, 10, axes=("head", "query", "d_all"), seed=15)
    step("some_columns", ops.Columns(3, 5), wide, axes=("head", "query", "d_query"))
    rows = (trace["first_keys"], trace["vectors"])
    step("more_rows", ops.JoinRows(), *rows, axes=("row_of_both", "d"))
    step("all_rows", ops.JoinRows(3), *rows, trace["first_keys"], axes=("row_of_all_three", "d"))
    turns = step("turns", ops.RotaryAngles(3, 5, 100.0, 3), axes=("query", "d_pairs"))
    step("turned", ops.Rotate(), wide, turns, axes=("head", "query", "d_all"))
    step("turned_pairs", ops.Rotate(True), wide, turns, axes=("head", "query", "d_all"))
    few = step("few_turns", ops.RotaryAngles(3, 3, 100.0, 2), axes=("query", "few_pairs"))
    for at, kind in enumerate((ops.Rotate(False, 4, 1.5), ops.Rotate(True, 4, 0.5))):
        step(f"turned_in_part_{at}", kind, wide, few, axes=("head", "query", "d_all"))
    each = drawn("of_each_head", 2, 1, 3, axes=("head", "one_query", "d_more"), seed=17)
    step("more_columns", ops.JoinColumns(), wide, each, axes=("head", "query", "d_both"))
    bias = drawn("bias_of_heads", 6, axes=("d_biases",), seed=16)
    own = step("own_bias", ops.RowsOfHeads(3), bias, axes=("head_of_bias", "d_of_bias"))
    step("biases_together", ops.JoinRowsOfHeads(), own, axes=("d_biases",))
    step("stored_numbers", ops.Stored(str(RECORDING), "loss"), axes=("moment",))
    step("stored_some", ops.Stored(str(RECORDING), "loss", (4, 1, 4)), axes=("some",))
    step("few_bits", ops.StoredInGguf(str(FEW_BITS), "four_bits"), axes=("d_rows", "d_block"))
    two = ops.StoredInGguf(str(FEW_BITS), "four_bits", (2, 0))
    step("few_rows", two, axes=("d_two", "d_block"))


def _backward(trace):
    """What only a backward pass is made of, and the losses that it begins with."""
    step = trace.step
    vectors = trace["vectors"]
    targets = step("targets", ops.Given((4, 0, 4)), axes=("query",))
    losses = step("losses", ops.CrossEntropy(), trace["all_scores"], targets, axes=("query",))
    step("loss", ops.Mean(), losses, axes=())
    entry = step("entry", ops.Entry((2, 1)), vectors, axes=())
    step("entry_put", ops.PutEntry((1, 3), (3, 5)), entry, axes=VECTORS)
    step("mask_gradient", ops.MaskGradient(), trace["all_scores"], trace["mask"], axes=TABLE)
    step("squared", ops.Square(), vectors, axes=VECTORS)
    step("copied", ops.Copied(), vectors, axes=VECTORS)
    step("ways_added", ops.Total(3), vectors, trace["normed"], vectors, axes=VECTORS)
    both = (trace["left"], trace["scores"])
    step("from_all_rows", ops.TransposedMatMul(), *both, axes=("head", "d", "key"))
    shared = (vectors, trace["scores"])
    step("from_shared_rows", ops.TransposedMatMul(), *shared, axes=("head", "d", "key"))
    step("rows_added", ops.SumFirst(), trace["scores"], axes=TABLE)
    step("columns_added", ops.RowSum(-2), trace["scores"], axes=("head", "row", "key"))
    step("row_repeated", ops.Repeat(7), trace["mean"], axes=TABLE)
    step("new_column", ops.Repeat(5, new=True), trace["given"], axes=VECTORS)
    step("new_front", ops.Repeat(2, 0, new=True), vectors, axes=("head", "query", "d"))
    step("groups_added", ops.SumGroups(3), trace["served"], axes=("head", "key", "d"))
    step("rows_put_back", ops.PutBack(2, 7), vectors, axes=("row_of_all", "d"))
    step("columns_put_back", ops.PutBack(1, 7, -1), vectors, axes=("query", "d_wide"))
    one = ops.PutBack(1, 3, -3, one=True)
    step("one_put_back", one, trace["all_scores"], axes=("place_of_one", "query", "key"))
    step("added_at_ids", ops.AddAtIds(11), vectors, trace["ids"], axes=("vocabulary", "d"))
    step("rows_of_all_heads", ops.JoinRowsOfHeads(), trace["rows_of_heads"], axes=("d_joined", "d"))
    step("from_here", ops.SumFromHere(), trace["picked"], axes=VECTORS)
    for name, operation in {
        "rectified_slope": ops.ReLUSlope(),
        "smooth_slope": ops.GELUSlope(),
        "smooth_slope_by_tanh": ops.GELUSlope(tanh=True),
        "smooth_slope_by_share": ops.SiLUSlope(),
        "capped_slope": ops.SoftCapSlope(1.5),
        "which_is_largest": ops.ShareOfLargest(),
    }.items():
        step(name, operation, vectors, axes=VECTORS)
    step("which_is_larger", ops.ShareOfLarger(), trace["picked"], vectors, axes=VECTORS)
    step("lengths", ops.RowLength(), trace["left"], axes=("head", "query", "row"))
