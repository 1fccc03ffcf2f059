"""Traces that several tests look at: examples in variants, lessons, and every operation."""

import math
from dataclasses import replace

from attention_core import EXAMPLES, Inputs, SimplifiedOptions, Trace, attend, embed, expand_query
from attention_core import operations as ops
from attention_core.mechanism.masking import attend_masked, change_token, drop_weights
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
    """Every way, typed vectors, one token changed, and some weights dropped."""
    mask = MaskRecipe(window=3, hidden_key=0, flipped=((0, 5), (5, 2)))
    inputs = Inputs("a b c d a b", d_in=3, edits=((0, 1, 0.5), (1, 2, -2.0)))
    trace = attend_masked(embed(inputs), mask, scale="d")
    return drop_weights(change_token(trace, 2, -1.5, "renormalised_"), 0.3, seed=9)


def workshop():
    """Every operation there is, in prime and unequal sizes, with heads in front where it can."""
    trace = Trace()

    def drawn(name, *shape, axes, seed):
        return trace.step(name, ops.Draw("normal", shape, seed=seed), axes=axes)

    left = drawn("left", 2, 3, 5, axes=("head", "query", "d"), seed=1)
    right = drawn("right", 2, 5, 7, axes=("head", "d", "key"), seed=2)
    keys = drawn("keys", 2, 7, 5, axes=("head", "key", "d"), seed=3)
    table = drawn("table", 11, 5, axes=("vocabulary", "d"), seed=4)
    given = trace.step("given", ops.Given((0.5, -1.5, 2.0)), axes=("query",))
    scores = trace.step("scores", ops.MatMul(), left, right, axes=("head", "query", "key"))
    rows_by_rows = ("head", "query", "key")
    trace.step("scores_again", ops.MatMul(transpose=True), left, keys, axes=rows_by_rows)
    trace.step("scaled_scores", ops.Scale(5), scores, axes=("head", "query", "key"))
    trace.step("weights", ops.Softmax(), scores, axes=("head", "query", "key"))
    trace.step("shares", ops.SumNormalise(), scores, axes=("head", "query", "key"))
    trace.step("units", ops.L2Normalize(), left, axes=("head", "query", "d"))
    trace.step("sums", ops.SumLast(), left, axes=("head", "query"))
    trace.step("both", ops.Add(), left, left, axes=("head", "query", "d"))
    first_keys = trace.step("first_keys", ops.Row(0), keys, axes=("key", "d"))
    ids = trace.step(
        "ids",
        ops.Encode(tuple("abc"), (10, 0, 10), (("a", 10), ("b", 0), ("c", 10))),
        axes=("query",),
    )
    often = trace.step("often", ops.Given((2.0, 1.0, 3.0)), axes=("word",))
    rows = ((0, 1, 0, 6, -1), (1, 1, 1, -1, -1), (6, 0, 1, 2, 1))
    pieces = trace.step("pieces", ops.Given(rows), axes=("word", "place_in_word"))
    counted = trace.step("counted", ops.PairCounts(7), often, pieces, axes=("first", "second"))
    trace.step("joined_pieces", ops.JoinPair(7), counted, pieces, axes=("word", "place_in_word"))
    picked = trace.step("picked", ops.Lookup(), table, ids, axes=("query", "d"))
    trace.step("one_hot", ops.OneHot(11), ids, axes=("query", "vocabulary"))
    looped = ops.MatMulByLoop()
    trace.step("by_loop", looped, picked, first_keys, axes=("query", "key"))
    trace.step("stretched", ops.ScaleRow(1, -1.7), picked, axes=("query", "d"))
    trace.step("edited", ops.Edit(((2, 4, 2.5), (0, 1, 0.25))), picked, axes=("query", "d"))
    trace.step("running", ops.RunningSum(), picked, axes=("query", "d"))
    trace.step("by_row", ops.Multiply(by_row=True), given, picked, axes=("query", "d"))
    query = trace.step("query", ops.Row(2), picked, axes=("d",))
    trace.step("squares", ops.Multiply(), left, left, axes=("head", "query", "d"))
    trace.step("products", ops.Multiply(), query, first_keys, axes=("key", "d"))
    trace.step("sinusoid", ops.Sinusoid(3, 5), axes=("query", "d"))
    first_row = trace.step("first_row", ops.Row(1), picked, axes=("d",))
    compared = trace.step("compared", ops.MatVec(), first_keys, first_row, axes=("key",))
    moved = trace.step("moved", ops.Shift(-0.75), scores, axes=("head", "query", "key"))
    magnified = trace.step("magnified", ops.ScaleBy(0.3), moved, axes=("head", "query", "key"))
    trace.step("stored", ops.Cast("bfloat16"), magnified, axes=("head", "query", "key"))
    largest = trace.step("largest", ops.RowLargest(), magnified, axes=("head", "query", "row"))
    lowered = ops.Subtract()
    trace.step("lowered", lowered, magnified, largest, axes=("head", "query", "key"))
    powers = trace.step("powers", ops.Exp(), magnified, axes=("head", "query", "key"))
    total = trace.step("total", ops.RowSum(), powers, axes=("head", "query", "row"))
    trace.step("divided", ops.Divide(), powers, total, axes=("head", "query", "key"))
    one_row = trace.step("one_row", ops.Softmax(), compared, axes=("key",))
    trace.step("jacobian", ops.SoftmaxJacobian(), one_row, axes=("key", "score"))
    _running(trace, magnified, largest)
    _projections(trace, drawn)
    _hiding(trace, drawn)
    _heads(trace, drawn)
    _batches(trace, drawn)
    _backward(trace)
    return trace


def _running(trace, scores, largest):
    """Half of the queries have seen nothing so far, where that may be."""
    one, table = ("query", "row"), ("query", "key")
    some, own = (
        trace.step(f"{each.name}_of_one_head", ops.Row(1), each, axes=each.axes[1:])
        for each in (scores, largest)
    )
    before = trace.step("before", ops.Given(((-math.inf,), (0.5,), (9.0,))), axes=one)
    now = trace.step("largest_now", ops.RunningMaximum(), before, own, axes=one)
    trace.step("powers_less", ops.ExpDifference(), some, now, axes=table)
    shrink = trace.step("shrink", ops.Rescale(), before, now, axes=one)
    trace.step("shrunk_and_added", ops.RescaleAndAdd(), some, shrink, some, axes=table)
    trace.step("powers_of_seen", ops.ExpDifference(True), some, before, axes=table)
    sums = trace.step("shrink_of_seen", ops.Rescale(True), before, before, axes=one)
    trace.step("divided_seen", ops.MaskedDivide(), some, sums, axes=table)
    trace.step("some_rows", ops.Rows(1, 3), scores, axes=("head", "row_of_some", "key"))


def _projections(trace, drawn):
    vectors = drawn("vectors", 3, 5, axes=("query", "d"), seed=5)
    matrix = drawn("matrix", 5, 2, axes=("d", "d_query"), seed=6)
    layer = drawn("layer", 2, 5, axes=("d_query", "d"), seed=7)
    bias = drawn("bias", 2, axes=("d_query",), seed=8)
    made = ("query", "d_query")
    trace.step("affine", ops.Affine(), vectors, matrix, bias, axes=made)
    trace.step("upright", ops.MatMulUpright(), vectors, matrix, axes=made)
    trace.step("upright_with_bias", ops.MatMulUpright(), vectors, matrix, bias, axes=made)
    linear = trace.step("linear", ops.Linear(), vectors, layer, axes=made)
    trace.step("linear_with_bias", ops.Linear(), vectors, layer, bias, axes=made)
    trace.step("with_bias", ops.Add(), linear, bias, axes=made)
    one = trace.step("one", ops.Row(1), vectors, axes=("d",))
    trace.step("one_projected", ops.MatMul(), one, matrix, axes=("d_query",))
    trace.step("divided_by_d", ops.Scale(5, root=False), linear, axes=made)
    trace.step("shifted_row", ops.ShiftRow(1, 0.75), vectors, axes=("query", "d"))
    trace.step("transposed", ops.Transpose(), vectors, axes=("d", "query"))
    trace.step("normed", ops.LayerNorm(), vectors, axes=("query", "d"))
    trace.step("normed_whole", ops.LayerNorm(whole=True), vectors, axes=("query", "d"))
    trace.step("rectified", ops.ReLU(), vectors, axes=("query", "d"))
    trace.step("smooth", ops.GELU(), vectors, axes=("query", "d"))
    trace.step("smooth_by_tanh", ops.GELU(tanh=True), vectors, axes=("query", "d"))
    trace.step("smooth_by_share", ops.SiLU(), vectors, axes=("query", "d"))
    trace.step("gate", ops.Sigmoid(), vectors, axes=("query", "d"))
    square = trace.step("mean_square", ops.RowMeanSquare(), vectors, axes=("query", "row"))
    trace.step("of_one_size", ops.DivideByRoot(), vectors, square, axes=("query", "d"))
    mean = trace.step("mean", ops.RowMean(), vectors, axes=("query", "row"))
    variance = trace.step("variance", ops.RowVariance(), vectors, mean, axes=("query", "row"))
    parts = (vectors, mean, variance)
    standard = trace.step("standard", ops.Standardise(), *parts, axes=("query", "d"))
    gain = drawn("gain", 5, axes=("d",), seed=16)
    trace.step("gained", ops.ScaleShift(), standard, gain, axes=("query", "d"))
    trace.step("gained_and_moved", ops.ScaleShift(), standard, gain, one, axes=("query", "d"))


def _hiding(trace, drawn):
    table = ("query", "key")
    scores = drawn("all_scores", 3, 7, axes=table, seed=9)
    mask = trace.step("mask", ops.AttentionMask(3, 7, flipped=((0, 0), (0, 5))), axes=table)
    trace.step("window", ops.AttentionMask(3, 7, False, 2, 1), axes=table)
    blind = trace.step("blind", ops.AttentionMask(3, 7, flipped=((0, 0),)), axes=table)
    masked = trace.step("masked", ops.MaskedFill(), scores, mask, axes=table)
    trace.step("zero_filled", ops.MaskedFill(0.0), scores, mask, axes=table)
    trace.step("seen", ops.MaskedSoftmax(), masked, axes=table)
    trace.step("chosen", ops.TopK(2), masked, axes=table)
    nothing = trace.step("nothing", ops.MaskedFill(), scores, blind, axes=table)
    trace.step("nothing_seen", ops.MaskedSoftmax(), nothing, axes=table)
    weights = trace.step("all_weights", ops.Softmax(), scores, axes=table)
    left = trace.step("left_over", ops.MaskedFill(0.0), weights, blind, axes=table)
    trace.step("again_one", ops.Renormalise(), left, axes=table)
    trace.step("down", ops.Softmax(-2), scores, axes=table)
    kept = trace.step("kept", ops.Draw("uniform", (3, 7), seed=10), axes=table)
    trace.step("dropped", ops.Drop(0.25), weights, kept, axes=table)


def _heads(trace, drawn):
    vectors = trace["vectors"]
    by_head = drawn("by_head", 2, 5, 7, axes=("head", "d", "d_head"), seed=11)
    queries = trace.step(
        "head_queries", ops.MatMul(), vectors, by_head, axes=("head", "query", "d_head")
    )
    joined = trace.step("joined", ops.JoinHeads(), queries, axes=("query", "d_joined"))
    trace.step("split", ops.SplitHeads(2), joined, axes=("head", "query", "d_head"))
    trace.step("mixed", ops.SplitWithoutTranspose(2), joined, axes=("head", "query", "d_head"))
    trace.step("permuted", ops.Permute(), queries, axes=("head", "d_head", "query"))
    repeated = trace.step(
        "repeated", ops.RepeatHeads(2, one=True), trace["transposed"], axes=("head", "d", "query")
    )
    upright = trace.step("upright_heads", ops.Permute(), by_head, axes=("head", "d_head", "d"))
    batched = ("head", "d_head", "query")
    trace.step("batched", ops.BatchedMatMul(), upright, repeated, axes=batched)
    output = drawn("output_matrix", 14, 5, axes=("d_joined", "d"), seed=12)
    rows = trace.step("rows_of_heads", ops.RowsOfHeads(2), output, axes=("head", "d_head", "d"))
    parts = trace.step("parts", ops.MatMul(), queries, rows, axes=("head", "query", "d"))
    trace.step("sum_of_heads", ops.SumHeads(), parts, axes=("query", "d"))
    trace.step("switched", ops.SwitchOff(1), queries, axes=("head", "query", "d_head"))
    head_scores = drawn("head_scores", 2, 3, 7, axes=("head", "query", "key"), seed=13)
    trace.step("over_heads", ops.Softmax(-3), head_scores, axes=("head", "query", "key"))


def _batches(trace, drawn):
    table = ("query", "key")
    window = trace.step("near", ops.WindowMask(3, 7, 2, 1, 3), axes=table)
    trace.step("near_or_sink", ops.WindowMask(3, 7, 1, 0, 3, 2), axes=table)
    slopes = (0.5, 0.125)
    trace.step("distances", ops.DistanceBias(slopes, 3, 7, 2), axes=("head", "query", "key"))
    trace.step("one_slope", ops.DistanceBias(0.25, 3, 7, -1), axes=table)
    trace.step("mean_head", ops.MeanHeads(2), trace["keys"], axes=("one_head", "key", "d"))
    lengths = ops.LengthMask((5, 2), 7)
    padding = trace.step("not_padding", lengths, axes=("head", "one_query", "key"))
    trace.step("both_masks", ops.LogicalAnd(), window, padding, axes=("head", "query", "key"))
    trace.step("capped", ops.SoftCap(1.5), trace["all_scores"], axes=table)
    served = ("served_head", "key", "d")
    trace.step("served", ops.RepeatHeads(3), trace["keys"], axes=served)
    texts = drawn("texts", 3, 2, 10, axes=("batch", "place", "d_all"), seed=14)
    by_text = ("batch", "piece", "place", "d")
    split = trace.step("split_texts", ops.SplitHeads(2, in_batch=True), texts, axes=by_text)
    trace.step("joined_texts", ops.JoinHeads(True), split, axes=("batch", "place", "d_all"))
    wide = drawn("wide", 2, 3, 10, axes=("head", "query", "d_all"), seed=15)
    trace.step("some_columns", ops.Columns(3, 5), wide, axes=("head", "query", "d_query"))
    rows = (trace["first_keys"], trace["vectors"])
    trace.step("more_rows", ops.JoinRows(), *rows, axes=("row_of_both", "d"))
    all_rows = (*rows, trace["first_keys"])
    trace.step("all_rows", ops.JoinRows(3), *all_rows, axes=("row_of_all_three", "d"))
    turns = trace.step("turns", ops.RotaryAngles(3, 5, 100.0, 3), axes=("query", "d_pairs"))
    trace.step("turned", ops.Rotate(), wide, turns, axes=("head", "query", "d_all"))
    trace.step("turned_pairs", ops.Rotate(True), wide, turns, axes=("head", "query", "d_all"))
    few = trace.step("few_turns", ops.RotaryAngles(3, 3, 100.0, 2), axes=("query", "few_pairs"))
    for at, kind in enumerate((ops.Rotate(False, 4, 1.5), ops.Rotate(True, 4, 0.5))):
        trace.step(f"turned_in_part_{at}", kind, wide, few, axes=("head", "query", "d_all"))
    each = drawn("of_each_head", 2, 1, 3, axes=("head", "one_query", "d_more"), seed=17)
    trace.step("more_columns", ops.JoinColumns(), wide, each, axes=("head", "query", "d_both"))
    bias = drawn("bias_of_heads", 6, axes=("d_biases",), seed=16)
    own = trace.step("own_bias", ops.RowsOfHeads(3), bias, axes=("head_of_bias", "d_of_bias"))
    trace.step("biases_together", ops.JoinRowsOfHeads(), own, axes=("d_biases",))
    trace.step("stored_numbers", ops.Stored(str(RECORDING), "loss"), axes=("moment",))
    some = ops.Stored(str(RECORDING), "loss", (4, 1, 4))
    trace.step("stored_some", some, axes=("some",))
    few_bits = ops.StoredInGguf(str(FEW_BITS), "four_bits")
    trace.step("few_bits", few_bits, axes=("d_rows", "d_block"))
    two = ops.StoredInGguf(str(FEW_BITS), "four_bits", (2, 0))
    trace.step("few_rows", two, axes=("d_two", "d_block"))


def _backward(trace):
    """What only a backward pass is made of, and the losses that it begins with."""
    vectors, table = trace["vectors"], ("query", "key")
    targets = trace.step("targets", ops.Given((4, 0, 4)), axes=("query",))
    losses = trace.step("losses", ops.CrossEntropy(), trace["all_scores"], targets, axes=("query",))
    trace.step("loss", ops.Mean(), losses, axes=())
    entry = trace.step("entry", ops.Entry((2, 1)), vectors, axes=())
    trace.step("entry_put", ops.PutEntry((1, 3), (3, 5)), entry, axes=("query", "d"))
    hidden = (trace["all_scores"], trace["mask"])
    trace.step("mask_gradient", ops.MaskGradient(), *hidden, axes=table)
    trace.step("squared", ops.Square(), vectors, axes=("query", "d"))
    trace.step("copied", ops.Copied(), vectors, axes=("query", "d"))
    ways = (vectors, trace["normed"], vectors)
    trace.step("ways_added", ops.Total(3), *ways, axes=("query", "d"))
    both = (trace["left"], trace["scores"])
    trace.step("from_all_rows", ops.TransposedMatMul(), *both, axes=("head", "d", "key"))
    shared = (vectors, trace["scores"])
    trace.step("from_shared_rows", ops.TransposedMatMul(), *shared, axes=("head", "d", "key"))
    trace.step("rows_added", ops.SumFirst(), trace["scores"], axes=table)
    trace.step("columns_added", ops.RowSum(-2), trace["scores"], axes=("head", "row", "key"))
    trace.step("row_repeated", ops.Repeat(7), trace["mean"], axes=table)
    trace.step("new_column", ops.Repeat(5, new=True), trace["given"], axes=("query", "d"))
    trace.step("new_front", ops.Repeat(2, 0, new=True), vectors, axes=("head", "query", "d"))
    trace.step("groups_added", ops.SumGroups(3), trace["served"], axes=("head", "key", "d"))
    rows = ops.PutBack(2, 7)
    trace.step("rows_put_back", rows, vectors, axes=("row_of_all", "d"))
    columns = ops.PutBack(1, 7, -1)
    trace.step("columns_put_back", columns, vectors, axes=("query", "d_wide"))
    one = ops.PutBack(1, 3, -3, one=True)
    trace.step("one_put_back", one, trace["all_scores"], axes=("place_of_one", "query", "key"))
    added = ops.AddAtIds(11)
    trace.step("added_at_ids", added, vectors, trace["ids"], axes=("vocabulary", "d"))
    heads = trace["rows_of_heads"]
    trace.step("rows_of_all_heads", ops.JoinRowsOfHeads(), heads, axes=("d_joined", "d"))
    trace.step("from_here", ops.SumFromHere(), trace["picked"], axes=("query", "d"))
    for name, operation in {
        "rectified_slope": ops.ReLUSlope(),
        "smooth_slope": ops.GELUSlope(),
        "smooth_slope_by_tanh": ops.GELUSlope(tanh=True),
        "smooth_slope_by_share": ops.SiLUSlope(),
        "capped_slope": ops.SoftCapSlope(1.5),
        "which_is_largest": ops.ShareOfLargest(),
    }.items():
        trace.step(name, operation, vectors, axes=("query", "d"))
    pair = (trace["picked"], vectors)
    trace.step("which_is_larger", ops.ShareOfLarger(), *pair, axes=("query", "d"))
    trace.step("lengths", ops.RowLength(), trace["left"], axes=("head", "query", "row"))
