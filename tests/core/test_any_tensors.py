"""Attention on anyone's tensors: as torch computes it, in prime and unequal sizes, or refused."""

import itertools
import math
import re

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from attention_core import Trace, attend_tensors
from attention_core.lights.of_trace import lights as lights_of
from attention_core.mechanism.attention import attention, divisor_of, scale_of
from attention_core.operations import Given
from checks import random, same

N_TEXTS, N_HEADS, N_QUERIES, N_KEYS, D_HEAD, D_VALUE = 2, 3, 5, 7, 11, 13


def tensors(*front, n_queries=N_QUERIES, n_keys=N_KEYS, kv=None):
    behind = front if kv is None else (*front[:-1], kv)
    return (
        random(*front, n_queries, D_HEAD, seed=1),
        random(*behind, n_keys, D_HEAD, seed=2),
        random(*behind, n_keys, D_VALUE, seed=3),
    )


def context(*given, **options):
    return attend_tensors(*given, **options)["context_vectors"].value


def hiding(*shape, seed=4):
    mask = random(*shape, seed=seed) > 0
    mask[..., -1] = True
    return mask


@pytest.mark.parametrize("front", [(), (N_HEADS,), (N_TEXTS, N_HEADS)], ids=str)
@pytest.mark.parametrize("scale", [None, 0.3, -2, 0.0])
def test_any_tensors_and_any_scale_are_torch_s(front, scale):
    given = tensors(*front)
    options = {} if scale is None else {"scale": scale}
    same(context(*given, **options), scaled_dot_product_attention(*given, scale=scale))


SHAPES = [
    (N_KEYS,), (N_QUERIES, N_KEYS), (1, N_KEYS), (N_QUERIES, 1), (N_HEADS, N_QUERIES, N_KEYS),
    (N_TEXTS, 1, 1, N_KEYS), (1, N_HEADS, N_QUERIES, 1), (N_TEXTS, N_HEADS, N_QUERIES, N_KEYS),
]  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_mask_of_every_shape_hides_or_is_added_as_torch_does_it(shape):
    given = tensors(N_TEXTS, N_HEADS)
    seen = hiding(*shape)
    whole = seen.expand(N_TEXTS, N_HEADS, N_QUERIES, N_KEYS)
    trace = attend_tensors(*given, mask=seen)
    same(trace["context_vectors"].value, scaled_dot_product_attention(*given, attn_mask=whole))
    assert (trace["weights"].value[~whole] == 0).all()
    added = random(*shape, seed=5).masked_fill(~seen, -math.inf)
    want = scaled_dot_product_attention(*given, attn_mask=added.expand(whole.shape))
    same(context(*given, mask=added), want)


@pytest.mark.parametrize("corner", ["top_left", "bottom_right"])
@pytest.mark.parametrize("window", [(2, 1), (0, None), (None, 0), (3, 0)], ids=str)
def test_a_window_is_its_rule_and_joins_with_lengths_and_a_mask(corner, window):
    given = tensors(N_TEXTS, N_HEADS)
    own, lengths = hiding(N_HEADS, 1, N_KEYS), (N_KEYS, 4)
    mask = torch.zeros(N_TEXTS, N_HEADS, N_QUERIES, N_KEYS, dtype=torch.bool)
    left, right = (math.inf if side is None else side for side in window)
    offset = N_KEYS - N_QUERIES if corner == "bottom_right" else 0
    for b, h, i, j in itertools.product(*map(range, mask.shape)):
        near = i + offset - left <= j <= i + offset + right
        mask[b, h, i, j] = near and j < lengths[b] and own[h, 0, j]
    trace = attend_tensors(*given, window=window, corner=corner, lengths=lengths, mask=own)
    assert trace["mask"].value.equal(mask)
    same(trace["context_vectors"].value, scaled_dot_product_attention(*given, attn_mask=mask))
    assert (trace["context_vectors"].value[~mask.any(dim=-1)] == 0).all()


def test_lengths_are_of_each_text_or_of_all():
    texts = tensors(N_TEXTS, 1)
    made = context(*texts, lengths=[3, 6])
    for text, length in enumerate((3, 6)):
        queries, keys, values = (of[text] for of in texts)
        same(
            made[text], scaled_dot_product_attention(queries, keys[:, :length], values[:, :length])
        )
    assert context(*texts, lengths=torch.tensor([3, 6])).equal(made)
    same(context(*texts, lengths=4), context(texts[0], texts[1][..., :4, :], texts[2][..., :4, :]))
    for dtype in (torch.float32, torch.float16, torch.bfloat16):  # a text alone, without a batch
        query, key, value = (each[0, 0].to(dtype) for each in texts)
        made = context(query, key, value, lengths=4)
        assert made.dtype == dtype
        assert torch.equal(made, context(query, key[:4], value[:4]))


@pytest.mark.parametrize("kv", [2, 4])
def test_past_keys_stand_before_the_new_ones(kv):
    queries, keys, values = tensors(N_TEXTS, 4, n_queries=N_KEYS, kv=kv)
    whole = scaled_dot_product_attention(queries, keys, values, is_causal=True, enable_gqa=True)
    new = [of[..., 4:, :].contiguous() for of in (queries, keys, values)]
    past = {"past_keys": keys[..., :4, :], "past_values": values[..., :4, :]}
    for corner in ("top_left", "bottom_right"):
        trace = attend_tensors(*new, **past, causal=True, corner=corner)
        same(trace["context_vectors"].value, whole[..., 4:, :])
        assert trace["keys"].value.equal(keys)
        assert trace.labels("query") == ("place 4", "place 5", "place 6")


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_all_is_computed_in_the_precision_of_what_is_given(dtype):
    given = [of.to(dtype) for of in tensors(N_TEXTS, 6, kv=2)]
    trace = attend_tensors(*given, causal=True, soft_cap=5.0, scale=0.3)
    numbers = [step for step in trace.values() if step.value.dtype != torch.bool]
    assert {step.value.dtype for step in numbers} == {dtype}
    queries, keys, values = (of.double() for of in given)
    scores = 5 * torch.tanh(queries @ keys.repeat_interleave(3, 1).mT * 0.3 / 5)
    hidden = torch.ones(N_QUERIES, N_KEYS, dtype=torch.bool).triu(1)
    want = scores.masked_fill(hidden, -math.inf).softmax(-1) @ values.repeat_interleave(3, 1)
    made = trace["context_vectors"].value.double()
    assert torch.allclose(made, want, atol=8 * torch.finfo(dtype).eps)
    for step in numbers:
        for index in itertools.product(*map(range, step.value.shape[:-1]), (0,)):
            cell = step.arithmetic((0,) * (len(index) - 2) + index[-2:])
            has = step.value[(0,) * (len(index) - 2) + index[-2:]].item()
            assert cell.value == pytest.approx(has, rel=1e-5), (step, index)


@pytest.mark.parametrize("front", [(), (N_HEADS,), (N_TEXTS, N_HEADS)], ids=str)
def test_a_sink_is_one_more_score_of_each_head_and_one_of_0_the_softmax_off_by_one(front):
    given = tensors(*front)
    trace = attend_tensors(*given, sink_logits=0, causal=True, corner="bottom_right")
    powers = trace["masked_scores"].value.exp()
    off_by_one = powers / (1 + powers.sum(-1, keepdim=True))
    same(trace["weights"].value, off_by_one)
    same(trace["context_vectors"].value, off_by_one @ given[2])
    assert trace.labels("key_or_sink")[-1] == "sink"
    lights = {each.name: each for each in lights_of(trace, trace["mask"].value)}
    assert lights["rows_sum_to_1"].holds is None
    assert "a sink takes the rest" in lights["rows_sum_to_1"].evidence
    assert [each for each in lights.values() if each.holds is False] == []
    if front:
        sinks = random(N_HEADS)
        own = attend_tensors(*given, sink_logits=sinks.numpy(), causal=True, corner="bottom_right")
        beside = sinks[:, None, None].exp() + powers.sum(-1, keepdim=True)
        same(own["weights"].value, powers / beside)


Q, K, V = (of.tolist() for of in tensors())
WIDE, NAN = torch.ones(7, 3), math.nan


def ones(*shapes):
    return tuple(map(torch.ones, shapes))


REFUSED = [
    ("queries is no tensor, and no list of rows of one length", (["a"], K, V), {}),
    ("queries is no tensor, and no list of rows", ([[1.0], [1.0, 2.0]], K, V), {}),
    ("queries is 11: it needs 2 or 3 or 4 axes, not 1", (Q[0], K, V), {}),
    ("queries is 0 × 3: it is empty", (torch.ones(0, 3), K, V), {}),
    ("queries has numbers of int64, but attention", (torch.ones(2, 3).long(), K, V), {}),
    ("keys has numbers of float64, but", (Q, torch.ones(7, 11).double(), V), {}),
    ("queries is 400 × 251, which are 100,400 numbers", (torch.ones(400, 251), K, V), {}),
    ("queries has nan at [0, 1]: all must be finite", ([[1.0, NAN]], K, V), {}),
    ("queries has numbers of float16 and keys of f", (torch.ones(5, 11).half(), K, V), {}),
    ("a query is 11 wide and a key 3: they are compared entry by", (Q, WIDE, V), {}),
    ("there are 7 keys but 4 values: each key has one", (Q, K, V[:4]), {}),
    ("all need the same number of axes, but they have: q", (torch.ones(2, 5, 11), K, V), {}),
    ("5 query heads cannot be shared evenly among 2", ones((5, 2, 3), *[(2, 2, 3)] * 2), {}),
    ("2 query heads cannot be shared evenly among 4", ones((2, 2, 3), *[(4, 2, 3)] * 2), {}),
    ("axis 'head' is 2 long for keys, 1 for values", ones(*[(2, 2, 3)] * 2, (1, 2, 3)), {}),
    ("axis 'batch' is 3 long for q", ones((3, 1, 2, 3), *[(1, 1, 2, 3)] * 2), {}),
    ("there are 2 lengths for 3 texts: each has", ones(*[(3, 1, 2, 3)] * 3), {"lengths": [1, 2]}),
]  # fmt: skip
REFUSED += [
    (said, (Q, K, V), options)
    for said, options in [
        ("past keys and past values belong together", {"past_keys": K}),
        ("past_keys is 7 × 3, but must fit the", {"past_keys": WIDE, "past_values": V}),
        ("there are 7 past keys but 2 past val", {"past_keys": K, "past_values": V[:2]}),
        ("Options has no argument 'is_causal': did you mean 'causal'?", {"is_causal": True}),
        ("corner is 'left', but must be 'top_left' or", {"corner": "left"}),
        ("scale is 'sqrt', but must be 'sqrt_d' or", {"scale": "sqrt"}),
        ("scale is inf, but must be a finite", {"scale": math.inf}),
        ("a cap of 0 on the scores: choose a number above 0", {"soft_cap": 0.0}),
        ("temperature is 0, but must be above 0", {"temperature": 0.0}),
        ("dropout of 1.0: choose 0 or more, and less than 1", {"dropout": 1.0}),
        ("scale is None, but must be a text or a number", {"scale": None}),
        ("soft_cap is '30', but must be a number or None", {"soft_cap": "30"}),
        ("causal is 'bottom_right', but must be True", {"causal": "bottom_right"}),
        ("window is 3, but must be 2 things, a whole number or N", {"window": 3}),
        ("window is (1.5, 0), but must be 2 things", {"window": (1.5, 0)}),
        ("sinks is 2, but there is no window: sinks are the", {"sinks": 2}),
        ("sinks is 2, but there", {"sinks": 2, "window": (None, 1)}),
        ("sinks is -1, but must be a who", {"sinks": -1, "window": (1, 0)}),
        ("sinks is 0.5, but must be a who", {"sinks": 0.5, "window": (1, 0)}),
        ("alibi is 0.5, but must be True or False", {"alibi": 0.5}),
        ("lengths is 3.5, but must be a whole number or a list, each", {"lengths": 3.5}),
        ("1e+39 in sink_logits is more than float32 holds", {"sink_logits": 1e39}),
        ("there are 2 sink_logits, but 1 head: each has", {"sink_logits": [0, 1]}),
        ("sink_logits is 'high', but must be a number or a list, each a", {"sink_logits": "high"}),
        ("a window of -1 keys to the left: choose", {"window": (-1, 0)}),
        ("a length of 8, but there are 7 keys", {"lengths": 8}),
        ("there are 1 lengths, but no axis 'batch'", {"lengths": [3]}),
        ("a mask of 7 × 5 does not fit scores of 5 × 7", {"mask": torch.ones(7, 5).bool()}),
        ("a mask of 1 × 5 × 7 does not fit", {"mask": torch.ones(1, 5, 7)}),
        ("a mask is True where a query may look, or f", {"mask": torch.ones(5, 7).long()}),
        ("this mask has the numbers 0 and 1, which", {"mask": torch.ones(5, 7).tril()}),
        ("a mask that is added has", {"mask": torch.full((5, 7), NAN)}),
        ("axis 'query' is 5 long in 'queries' but has 1", {"query_labels": ["a"]}),
    ]
]


@pytest.mark.parametrize(("said", "given", "options"), REFUSED)
def test_what_does_not_fit_is_refused_in_words(said, given, options):
    with pytest.raises(ValueError, match=f"^{re.escape(said)}"):
        attend_tensors(*given, **options)


@pytest.mark.parametrize("scale", ["none", "sqrt_d", "d", 0.3, -2.0, 7.5])
@pytest.mark.parametrize("prefix", ["", "linear_"])
def test_what_scores_were_divided_by_is_read_from_their_trace(scale, prefix):
    trace = Trace()
    queries, keys, values = (
        trace.step(name, Given.of(each), axes=(axis, width))
        for name, axis, width, each in zip(
            ("queries", "keys", "values"), ("query", "key", "key"), ("d", "d", "d_value"),
            tensors(), strict=True,
        )
    )  # fmt: skip
    attention(trace, queries, keys, values, scale=scale, prefix=prefix)
    assert scale_of(trace, prefix) == scale
    theirs = trace.get(f"{prefix}scaled_scores", trace[f"{prefix}scores"]).value
    same(queries.value @ keys.value.mT / divisor_of(trace, prefix), theirs)
    if scale != "none":
        symbol = trace[f"{prefix}scaled_scores"].symbol
        assert (r"\times c" in symbol) == isinstance(scale, float)
        assert ("{/d}" in symbol) == (scale == "d"), "another divisor has another symbol"
