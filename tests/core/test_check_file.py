"""The file that checks a learner's own code: wrong ones are refused by name, right ones pass."""

import ast
import inspect
import math
import subprocess
import sys
from collections import Counter
from functools import partial

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from attention_core.export.check_file import END, NAME, PARTS, START, check_file
from attention_core.lights.light import OF_TRACES, TITLES
from attention_core.lights.own_code import trial
from attention_core.lights.own_code.checking import check, looked_at
from attention_core.lights.own_code.command import main
from attention_core.lights.own_code.diagnosis import BY_LIGHT
from attention_core.lights.own_code.likely import LIKELY
from attention_core.lights.own_code.module_lights import MAY_MEAN
from fresh import BARE

# --- attention, right and wrong -------------------------------------------------------------------


def past(scores):
    """True where a query may look."""
    return torch.ones(scores.shape[-2:], dtype=torch.bool).tril()


def hide(scores):
    return scores.masked_fill(~past(scores), -torch.inf)


def softmax(scores):
    return scores.softmax(-1)


def same(tensor):
    return tensor


def root_of_width(queries):
    return queries.shape[-1] ** 0.5


def attention(
    x,
    W_q,
    W_k,
    W_v,
    *,
    causal=False,
    before=same,
    divisor=root_of_width,
    hide=hide,
    share=softmax,
    after=same,
    end=same,
    swaps=False,
):
    """Attention with one of its parts replaced."""
    vectors = before(x)
    queries, keys, values = vectors @ W_q, vectors @ W_k, vectors @ W_v
    if swaps:
        queries, keys = keys, queries
    scores = queries @ keys.mT / divisor(queries)
    weights = share(hide(scores) if causal else scores)
    return end((after(weights) if causal else weights) @ values)


def by_sum(scores):
    return scores / scores.sum(-1, keepdim=True)


def naive_softmax(scores):
    return by_sum(scores.exp())


def normed(matrix):
    return (matrix - matrix.mean()) / matrix.std()


def normed_scores(scores):
    seen = scores[scores.isfinite()]
    return ((scores - seen.mean()) / (seen.std() + 1e-6 if len(seen) > 1 else 1)).softmax(-1)


def renormalised(weights):
    return by_sum(weights * past(weights))


def on_tokens(x, W_q, W_k, W_v, causal=False):
    queries, keys, values = W_q @ x, W_k @ x, W_v @ x
    scores = queries @ keys.mT / queries.shape[-1] ** 0.5
    return softmax(hide(scores) if causal else scores) @ values


def turned(x, W_q, W_k, W_v, causal=False):
    return attention(x, W_q.T, W_k.T, W_v.T, causal=causal)


def redrawn(x, W_q, W_k, W_v, causal=False):
    return attention(x, *map(torch.rand_like, (W_q, W_k, W_v)), causal=causal)


def unmoved(x, _, W_k, W_v, causal=False):
    return attention(x, W_k, W_k, W_v, causal=causal)


def of_ones(x, W_q, W_k, W_v, causal=False):
    return attention(x, *map(torch.ones_like, (W_q, W_k, W_v)), causal=causal)


def with_heads(x, W_q, W_k, W_v, n_heads, *, causal=False, splits=True, joins=True, dim=-1):
    """Heads; split or joined by a reshape alone where that is asked for."""

    def split(joined):
        if splits:
            return joined.view(len(x), n_heads, -1).transpose(0, 1)
        return joined.view(n_heads, len(x), -1)

    queries, keys, values = (split(x @ W) for W in (W_q, W_k, W_v))
    scores = queries @ keys.mT / queries.shape[-1] ** 0.5
    context = (hide(scores) if causal else scores).softmax(dim) @ values
    return (context.transpose(0, 1) if joins else context).reshape(len(x), -1)


def batched(x, W_q, W_k, W_v, dim=-1):
    """Insists on a batch axis, and returns its weights too."""
    _, _, _ = x.shape
    queries, keys, values = x @ W_q, x @ W_k, x @ W_v
    weights = F.softmax(queries @ keys.transpose(1, 2) / queries.shape[-1] ** 0.5, dim=dim)
    return weights @ values, weights


def by_loops(x, W_q, W_k, W_v, causal=False):
    """The right way, number by number, with nothing of torch."""

    def times(W):
        return [[sum(a * b for a, b in zip(row, c, strict=True)) for c in W] for row in x.tolist()]

    queries, keys, values = (times(W.T.tolist()) for W in (W_q, W_k, W_v))
    rows = []
    for at, query in enumerate(queries):
        seen = keys[: at + 1] if causal else keys
        dots = [sum(a * b for a, b in zip(query, key, strict=True)) for key in seen]
        scores = [dot / math.sqrt(len(query)) for dot in dots]
        shares = [math.exp(score - max(scores)) for score in scores]
        brought = zip(*values[: len(seen)], strict=True)
        rows.append(
            [sum(s * v for s, v in zip(shares, vs, strict=True)) / sum(shares) for vs in brought]
        )
    return torch.tensor(rows)


ANY, OPEN, CAUSAL = (False, True), (False,), (True,)


def zeroed(table):
    return table * past(table)


def over_everything(scores):
    return scores.flatten().softmax(0).view_as(scores)


def with_positions(x):
    return x + torch.arange(len(x))[:, None] / 10


def seeing(rule, by=-torch.inf):
    """A mask of another rule: what it hides gets another score."""
    return {"hide": lambda s: s.masked_fill(~rule(s), by)}


ADDED = {"hide": lambda s: s + past(s)}
NOT_DIVIDED = {"share": torch.exp}
LESS_SURE = (ADDED, NOT_DIVIDED)
"""These two are taken for another mistake too."""
WRONG = [  # mistake, first red light, when, the implementation
    ("softmax_over_queries", "rows_sum_to_1", ANY, {"share": lambda s: s.softmax(-2)}),
    ("softmax_over_everything", "rows_sum_to_1", ANY, {"share": over_everything}),
    ("no_softmax", "rows_sum_to_1", ANY, {"share": same, "hide": zeroed}),
    ("not_normalised", "finite", ANY, NOT_DIVIDED),
    ("mask_after_softmax", "rows_sum_to_1", CAUSAL, {"hide": same, "after": zeroed}),
    ("mask_after_softmax", "finite", CAUSAL, {"hide": same, "after": renormalised}),
    ("zero_in_place_of_infinity", "hidden_is_zero", CAUSAL, seeing(past, 0)),
    ("zero_in_place_of_infinity", "hidden_is_zero", CAUSAL, seeing(past, -5)),
    ("mask_ignored", "hidden_is_zero", CAUSAL, {"hide": same}),
    ("mask_ignored", "hidden_is_zero", CAUSAL, ADDED),
    ("mask_transposed", "hidden_is_zero", CAUSAL, seeing(lambda s: past(s).T)),
    ("mask_opposite", "finite", CAUSAL, seeing(lambda s: ~past(s))),
    ("mask_opposite", "hidden_is_zero", CAUSAL, seeing(lambda s: ~past(s), -1e9)),
    ("diagonal_hidden", "finite", CAUSAL, seeing(lambda s: past(s).tril(-1))),
    ("query_and_key_swapped", "own_row", ANY, {"swaps": True}),
    ("query_unused", "own_row", ANY, unmoved),
    ("no_scaling", "variance", ANY, {"divisor": lambda _: 1}),
    ("divided_by_d", "variance", ANY, {"divisor": lambda q: q.shape[-1]}),
    ("multiplied_by_root", "variance", ANY, {"divisor": lambda q: q.shape[-1] ** -0.5}),
    ("divided_by_another_width", "variance", ANY, {"divisor": lambda q: len(q) ** 0.5}),
    ("divided_by_the_sum", "not_negative", OPEN, {"share": by_sum}),
    ("divided_by_the_sum", "not_negative", CAUSAL, {"share": by_sum, "hide": zeroed}),
    ("divided_by_the_sum", "finite", CAUSAL, {"share": by_sum}),
    ("softmax_overflow", "finite", ANY, {"share": naive_softmax}),
    ("matrices_on_tokens", "tokens_apart", OPEN, on_tokens),
    ("matrices_on_tokens", "no_leak", CAUSAL, on_tokens),
    ("matrices_turned", "runs", ANY, turned),
    ("matrices_ignored", "tokens_apart", OPEN, of_ones),
    ("whole_matrix_norm", "tokens_apart", OPEN, {"before": normed}),
    ("whole_matrix_norm", "no_leak", CAUSAL, {"before": normed}),
    ("whole_matrix_norm", "tokens_apart", OPEN, {"before": lambda x: 10 * x / x.norm()}),
    ("whole_matrix_norm", "tokens_apart", OPEN, {"share": normed_scores}),
    ("whole_matrix_norm", "no_leak", CAUSAL, {"share": normed_scores}),
    ("whole_matrix_norm", "tokens_apart", OPEN, {"end": normed}),
    ("positions_inside", "rows_sum_to_1", OPEN, {"before": with_positions}),
    ("relu_last", "both_signs", ANY, {"end": F.relu}),
    ("weights_redrawn", "repeatable", ANY, redrawn),
    ("dropout_left_on", "repeatable", ANY, {"share": lambda s: F.dropout(softmax(s), 0.3)}),
    ("softmax_over_batch", "rows_sum_to_1", OPEN, partial(batched, dim=0)),
    ("softmax_over_queries", "rows_sum_to_1", OPEN, partial(batched, dim=1)),
]
WRONG_HEADS = [
    ("heads_without_transpose", {"splits": False, "joins": False}, "variance", "variance"),
    ("heads_without_transpose", {"splits": False}, "own_row", "hidden_is_zero"),
    ("heads_without_transpose", {"joins": False}, "tokens_apart", "hidden_is_zero"),
    ("heads_normalised", {"dim": 0}, "rows_sum_to_1", "finite"),
    ("softmax_over_queries", {"dim": 1}, "rows_sum_to_1", "rows_sum_to_1"),
]


def in_heads(body, by_turns=False):
    """Attention in heads, whose queries, keys and values `body` may change first."""

    def function(x, W_q, W_k, W_v, n_heads):
        def parts(joined):
            if by_turns:
                return joined.unflatten(-1, (-1, n_heads)).permute(2, 0, 1)
            return joined.unflatten(-1, (n_heads, -1)).transpose(0, 1)

        queries, keys, values = body(*(parts(x @ W) for W in (W_q, W_k, W_v)))
        scores = queries @ keys.mT / queries.shape[-1] ** 0.5
        return (scores.softmax(-1) @ values).transpose(0, 1).flatten(1)

    return function


def first_wrong(report):
    return (report.first_wrong and report.first_wrong.name, *report.likely[:1])


def test_wrong_functions_are_refused_by_the_right_name():
    for mistake, light, when, made in WRONG:
        function = partial(attention, **made) if isinstance(made, dict) else made
        for causal in when:
            report = looked_at(function, causal)
            assert first_wrong(report) == (light, mistake), (made, causal, report.text())
            assert LIKELY[mistake].words in report.text()
            assert len(report.likely) == 1 + (made in LESS_SURE)


def test_wrong_heads_are_refused_by_the_right_name():
    for mistake, made, *lights in WRONG_HEADS:
        for causal, light in zip(ANY, lights, strict=True):
            report = looked_at(partial(with_heads, **made), causal, n_heads=3)
            assert first_wrong(report) == (light, mistake), (made, causal, report.text())


def test_with_two_mistakes_the_first_red_light_is_told():
    both = partial(attention, divisor=lambda _: 1, **seeing(past, 0))
    report = looked_at(both, causal=True)
    assert first_wrong(report) == ("hidden_is_zero", "zero_in_place_of_infinity")
    red = {light.name for light in report.lights if light.holds is False}
    assert red == {"hidden_is_zero", "no_leak", "variance", "formula"}
    assert "Fix this one first" in report.text()
    report = looked_at(hides(lambda e: e.tril(-1)), causal=True)  # nan is looked at once
    assert [light.name for light in report.lights if light.holds is False] == ["finite"]


def test_every_mistake_is_told_of_something_and_each_name_is_known():
    told = {mistake for mistake, *_ in (*WRONG, *WRONG_HEADS)} | {"inputs_overwritten"}
    told |= {each.values[0] for each in NAMED_WRONG}
    told |= {name for names in MAY_MEAN.values() for name in names}
    assert told | {"one_length", "tokens_never_meet", "hides_later_tokens"} == LIKELY.keys()
    assert BY_LIGHT.keys() | {"runs", *OF_TRACES} == TITLES.keys()
    assert MAY_MEAN.keys() <= TITLES.keys()


def test_a_mask_of_which_nothing_was_said_is_named():
    masked = partial(attention, causal=True)

    def hiding(x, W_q, W_k, W_v):
        return masked(x, W_q, W_k, W_v)

    for attends in (hiding, Own(hiding)):
        report = looked_at(attends)
        assert first_wrong(report) == ("order_free", "hides_later_tokens"), report.text()
        assert looked_at(attends, causal=True).is_right


# --- what was once accepted, refused or named wrongly ---------------------------------------------


def with_values(values, divisor=root_of_width):
    """Attention whose values are made in another way; it takes `causal`."""

    def function(x, W_q, W_k, W_v, causal):
        scores = x @ W_q @ (x @ W_k).mT / divisor(W_q)
        return (hide(scores) if causal else scores).softmax(-1) @ values(x, W_q, W_k, W_v)

    return function


def rounded(kind, divisor=root_of_width):
    """Attention that is computed in another kind of numbers, and given back in float32."""

    def function(x, W_q, W_k, W_v, causal):
        few = (each.to(kind) for each in (x, W_q, W_k, W_v))
        return attention(*few, causal=causal, divisor=divisor).float()

    return function


def hides(rule, by=-torch.inf, **parts):
    """A causal mask of another rule, made of True."""
    changed = seeing(lambda s: rule(torch.ones_like(s, dtype=torch.bool)), by)
    return partial(attention, **changed, **parts)


NO_NAN = {"after": torch.nan_to_num}


def apart(n_tokens):
    at = torch.arange(n_tokens)
    return (at[:, None] - at).abs()


def of_W_q(x, W_q, _, W_v, causal):
    return attention(x, W_q, W_q, W_v, causal=causal)


def case(mistake, light, function, when=ANY, n_heads=1):
    return pytest.param(mistake, light, function, when, n_heads)


NAMED_WRONG = [
    case("keys_as_values", "formula", with_values(lambda x, *W: x @ W[1])),
    case("keys_as_values", "formula", with_values(lambda x, *W: x @ W[1], lambda _: 1)),
    case("queries_as_values", "own_row", with_values(lambda x, *W: x @ W[0])),
    case("values_changed", "tokens_apart", with_values(lambda x, *_: x)),
    case("values_changed", "both_signs", with_values(lambda x, *W: x @ W[2] + 1), OPEN),
    case("values_changed", "formula", with_values(lambda x, *W: x @ W[2] + 1, lambda _: 1)),
    case("few_digits", "formula", rounded(torch.bfloat16)),
    case("few_digits", "formula", rounded(torch.bfloat16, lambda _: 1)),
    case("few_digits", "formula", rounded(torch.bfloat16, lambda q: q.shape[-1])),
    case("few_digits", "formula", rounded(torch.float16)),
    case("one_head_repeated", "formula", in_heads(lambda q, k, v: (q, k, v[:1])), OPEN, 3),
    case("one_head_repeated", "variance", in_heads(lambda q, k, v: (q, k[:1], v)), OPEN, 3),
    case("heads_interleaved", "formula", in_heads(lambda *e: e, by_turns=True), OPEN, 3),
    case("queries_as_keys", "own_row", of_W_q),
    case("sigmoid_for_softmax", "rows_sum_to_1", partial(attention, share=torch.sigmoid)),
    case("mask_late", "hidden_is_zero", hides(lambda e: e.tril(1)), CAUSAL),
    case("mask_late", "hidden_is_zero", hides(lambda e: ~e.triu(3), -1e9), CAUSAL),
    case("diagonal_hidden", "hidden_is_zero", hides(lambda e: e.tril(-1), -1e9), CAUSAL),
    case("diagonal_hidden", "rows_sum_to_1", hides(lambda e: e.tril(-1), **NO_NAN), CAUSAL),
    case("mask_opposite", "rows_sum_to_1", hides(lambda e: e.triu(1), **NO_NAN), CAUSAL),
]


@pytest.mark.parametrize(("mistake", "light", "function", "when", "n_heads"), NAMED_WRONG)
def test_what_once_passed_or_had_a_wrong_name(mistake, light, function, when, n_heads):
    for causal in when:
        report = looked_at(function, causal, n_heads)
        first = report.first_wrong and report.first_wrong.name
        assert report.likely == (mistake,), report.text()
        assert first == light or (causal and when is ANY and first), report.text()


def test_numbers_that_no_light_chose_show_what_the_chosen_ones_hide():
    """The chosen matrices hold no number below 0, and are 1 or 0."""
    for changed in (torch.abs, torch.ceil):
        report = looked_at(lambda x, q, k, v, f=changed: attention(x, f(q), k, f(v)))
        assert first_wrong(report) == ("formula",), report.text()


@pytest.mark.parametrize("causal", ANY)
@pytest.mark.parametrize("n_heads", [1, 3])
def test_windows_and_falling_biases_are_recognised_and_said(causal, n_heads):
    def alibi(q, k, v, slope=0.5):
        scores = q @ k.mT / q.shape[-1] ** 0.5
        slopes = slope / 2.0 ** torch.arange(n_heads)[:, None, None]
        scores = scores - slopes * apart(scores.shape[-1])
        return (hide(scores) if causal else scores).softmax(-1) @ v

    def window(q, k, v):
        scores = q @ k.mT / q.shape[-1] ** 0.5
        scores = scores.masked_fill(apart(scores.shape[-1]) >= 4, -torch.inf)
        return (hide(scores) if causal else scores).softmax(-1) @ v

    def of_vectors(attend):
        def function(queries, keys, values):
            heads = (
                e.unflatten(-1, (n_heads, -1)).transpose(0, 1) for e in (queries, keys, values)
            )
            return attend(*heads).transpose(0, 1).flatten(1)

        return function

    for attend, said in ((alibi, "as in ALiBi"), (window, "up to 3 away")):
        report = looked_at(of_vectors(attend), causal, n_heads)
        assert report.is_right, report.text()
        assert said in report.text()
    # The farther, the more: that is a sign that was turned round.
    assert not looked_at(of_vectors(partial(alibi, slope=-0.5)), causal, n_heads).is_right
    assert not looked_at(F.scaled_dot_product_attention, causal).ways


def test_modules_without_parameters_and_modules_that_return_no_weights():
    class OfVectors(nn.Module):
        def forward(self, queries, keys, values):
            return F.scaled_dot_product_attention(queries, keys, values)

    class OfMatrices(nn.Module):
        def forward(self, x, W_q, W_k, W_v):
            return attention(x, W_q, W_k, W_v, divisor=lambda _: 1)

    class OfItself(nn.Module):
        def forward(self, x):
            return (x @ x.mT).softmax(-1) @ x

    assert looked_at(OfVectors()).is_right
    assert first_wrong(looked_at(OfMatrices())) == ("variance", "no_scaling")
    assert looked_at(OfItself()).is_right
    for mistake, _, when, made in WRONG:
        for causal in when if isinstance(made, dict) else ():
            report = looked_at(Own(partial(attention, causal=causal, **made)), causal)
            assert report.is_right or mistake in report.likely, report.text()
    late = Own(partial(hides(lambda e: e.tril(1)), causal=True))
    assert looked_at(late, True).likely == ("mask_late",)
    few = Own(partial(rounded(torch.bfloat16), causal=False))
    assert set(looked_at(few).likely) <= {"few_digits"}
    assert first_wrong(looked_at(Own(redrawn))) == ("repeatable", "weights_redrawn")
    right = looked_at(Own(partial(attention, causal=True)), causal=True)
    assert right.is_right
    assert "return (output, weights)" in right.text()


# --- what a learner's code may do to the check ----------------------------------------------------


class Unreadable(Exception):
    def __str__(self):
        raise ValueError("no words")


def raising(error):
    def function(*_):
        raise error

    return function


def ends(end):
    return partial(attention, end=end)


def zeroing(x, W_q, W_k, W_v):
    output = attention(x, W_q, W_k, W_v)
    for each in (x, W_q, W_k, W_v):
        each.zero_()
    return output


BUFFER = torch.zeros(7, 11, dtype=torch.float64)


def of_one_buffer(x, W_q, W_k, W_v):
    """It gives the same tensor each time, with other numbers."""
    if len(x) != len(BUFFER):
        return attention(x, W_q, W_k, W_v)
    return BUFFER.copy_(attention(x, W_q, W_k, W_v) * torch.rand(1))


@pytest.mark.parametrize(
    ("function", "light", "said"),
    [
        (raising(SystemExit(0)), "runs", "stopped with SystemExit: 0"),
        (raising(GeneratorExit()), "runs", "stopped with GeneratorExit"),
        (raising(Unreadable()), "runs", "Unreadable: (its message cannot be read)"),
        (raising(ValueError("\x1b[31mred\u202e")), "runs", r"ValueError: \x1b[31mred\u202e"),
        (raising(ValueError("long" * 999)), "runs", "longlong…"),
        (zeroing, "repeatable", "changed in place"),
        (of_one_buffer, "repeatable", "the largest difference"),
        (ends(lambda c: c + 1j), "runs", "complex64"),
        (ends(lambda c: c.to("meta")), "runs", "no numbers"),
        (ends(lambda c: c.to_sparse()), "runs", "to_dense()"),
        (ends(lambda c: torch.nested.nested_tensor([c])), "runs", "nested"),
        (ends(lambda c: c.long()), "runs", "int64"),
        (ends(lambda c: c.bfloat16()), "runs", "bfloat16 has too few digits"),
    ],
)
def test_no_code_passes_by_what_it_does_to_the_check(function, light, said):
    # The buffer has the width of a function's values.
    for attends in (function, *([] if function is of_one_buffer else [Own(function)])):
        report = looked_at(attends)
        assert report.first_wrong.name == light, report.text()
        assert said in report.text()
        assert report.text().replace("\n", "").isprintable()


def test_counts_that_cannot_be_are_refused_in_words():
    for counts in ({"n_heads": 0}, {"n_heads": 10**6}, {"n_heads": "3"}, {"d_in": -1}):
        with pytest.raises(ValueError, match="write a number from 1 to"):
            looked_at(attention, **counts)


@pytest.mark.parametrize(
    ("what", "text", "said"),
    [
        ("passwd:f", "root", "ends in .py"),
        ("own.py:f", "import sys\nsys.exit()", "stopped with SystemExit at line 2"),
        ("own.py:f", "f = (", "stopped with SyntaxError"),
        ("own.py:f", "raise ValueError('\x1b[31m')", r"ValueError: \x1b[31m at line 1"),
        ("own.py:f\x1b[31m", "", r"f\x1b[31m: there is no function of that name"),
        ("own.py:f", "class f: pass", "no function of that name, and no module"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_in_words(tmp_path, capsys, what, text, said):
    path = tmp_path / what.partition(":")[0]
    path.write_text(text, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sys, "path", list(sys.path))
        patched.setattr(sys, "modules", dict(sys.modules))
        with pytest.raises(SystemExit) as stopped:
            main([f"{tmp_path}/{what}"])
    assert stopped.value.code == 2
    told = capsys.readouterr().err
    assert said in told
    assert "\x1b" not in told


# --- right ones -----------------------------------------------------------------------------------


def test_right_functions_pass_every_light_that_applies():
    def with_output(x, W_q, W_k, W_v, W_o):
        return with_heads(x, W_q, W_k, W_v, 2) @ W_o

    def one_width(x, W_q, W_k, W_v):
        assert W_q.shape == W_v.shape
        return attention(x, W_q, W_k, W_v)

    def all_square(x, W_q, W_k, W_v):
        assert W_q.shape[0] == W_v.shape[1]
        return attention(x, W_q, W_k, W_v)

    def of_vectors(queries, keys, values):
        return F.scaled_dot_product_attention(queries, keys, values)

    for function in (attention, by_loops, F.scaled_dot_product_attention, with_heads):
        for causal in ANY:
            n_heads = 3 if function is with_heads else 1
            report = looked_at(function, causal, n_heads)
            unseen = {light.name for light in report.lights if light.holds is None}
            assert report.is_right, report.text()
            assert unseen == ({"order_free"} if causal else {"hidden_is_zero", "no_leak"})
    for function in (one_width, all_square, of_vectors, batched):
        assert looked_at(function).is_right, function
    assert looked_at(with_output, n_heads=2).is_right


def test_torch_s_own_layers_pass_and_are_left_as_they_were():
    for causal in ANY:
        for batch_first in ANY:
            layer = nn.MultiheadAttention(12, 3, dropout=0.5, batch_first=batch_first)
            before = {name: each.clone() for name, each in layer.state_dict().items()}
            state = torch.random.get_rng_state()
            report = looked_at(layer, causal)
            unseen = {light.name for light in report.lights if light.holds is None}
            assert report.is_right, report.text()
            assert unseen == ({"order_free"} if causal else {"hidden_is_zero", "no_leak"})
            assert "divided by 2 (√4 = 2)" in report.text()
            assert layer.training
            assert all(torch.equal(each, before[n]) for n, each in layer.state_dict().items())
            assert torch.equal(torch.random.get_rng_state(), state)
            blocks = nn.TransformerEncoderLayer(12, 3, 8, batch_first=batch_first)
            blocks.self_attn.eval()
            assert looked_at(blocks, causal).is_right
            assert blocks.training
            assert not blocks.self_attn.training
            stack = nn.TransformerEncoder(blocks, 2, enable_nested_tensor=False)
            assert looked_at(stack, causal).is_right


# --- modules of a learner's own -------------------------------------------------------------------


class Own(nn.Module):
    """A module of nn.Linear with dropout, and `attend` in its middle. Wants a batch axis."""

    def __init__(self, attend, returns=same):
        super().__init__()
        made = torch.Generator().manual_seed(0)
        self.W_q, self.W_k, self.W_v = (nn.Linear(5, 4, bias=False) for _ in range(3))
        for parameter in self.parameters():
            nn.init.normal_(parameter, generator=made)
        self.dropout = nn.Dropout(0.5)
        self.attend, self.returns = attend, returns

    def forward(self, x):
        (vectors,) = x
        matrices = (each.weight.T for each in (self.W_q, self.W_k, self.W_v))
        return self.returns(self.dropout(self.attend(vectors, *matrices)[None]))


def test_a_module_that_returns_its_weights_has_them_looked_at():
    class Returns(nn.Module):
        def __init__(self, share=softmax, hide=hide):
            super().__init__()
            self.W = nn.Parameter(torch.randn(3, 2, generator=torch.Generator().manual_seed(0)))
            self.share, self.hide = share, hide

        def forward(self, x, causal):
            weights = self.share(self.hide(x @ self.W @ self.W.T @ x.mT) if causal else x @ x.mT)
            return weights @ x, weights

    assert looked_at(Returns(), True).is_right
    report = looked_at(Returns())
    assert report.is_right
    assert {"rows_sum_to_1", "not_negative", "tokens_apart"} <= {
        light.name for light in report.lights if light.holds
    }
    assert first_wrong(looked_at(Returns(share=lambda s: s.softmax(-2)))) == (
        "rows_sum_to_1",
        "softmax_over_queries",
    )
    turned_mask = Returns(hide=lambda s: s.masked_fill(~past(s).T, -torch.inf))
    assert first_wrong(looked_at(turned_mask, True)) == ("hidden_is_zero", "mask_transposed")


def test_what_a_module_cannot_do_is_said_in_words():
    class TokensFirst(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.MultiheadAttention(6, 2)

        def forward(self, x):
            return self.inner(x, x, x)[0]

    class UpTo6(nn.Module):
        """Its mask is a buffer with room for 6 tokens."""

        def __init__(self):
            super().__init__()
            self.W_q = nn.Linear(3, 3)
            self.register_buffer("mask", torch.ones(6, 6).tril().bool())

        def forward(self, x):
            scores = self.W_q(x) @ x.mT
            hidden = ~self.mask[: x.shape[-2], : x.shape[-2]]
            return scores.masked_fill(hidden, -torch.inf).softmax(-1) @ x

    assert "no token looks at another: batch_first=True?" in looked_at(TokensFirst()).text()
    report = looked_at(UpTo6(), causal=True)
    assert report.is_right
    assert "1 to 6 tokens come out as long; it stops at 7" in report.text()
    assert first_wrong(looked_at(nn.Linear(3, 3))) == ("runs", "tokens_never_meet")
    assert "bfloat16 has too few digits" in looked_at(nn.Linear(3, 3).bfloat16()).text()
    assert "add d_in" in looked_at(nn.LayerNorm(3)).text()
    assert "it stopped with RuntimeError" in looked_at(nn.Embedding(5, 3)).text()
    with pytest.raises(TypeError, match="Own is a class: make a module first"):
        looked_at(Own)


def test_what_a_function_cannot_do_is_said_in_words(capsys):
    mask = torch.ones(7, 7).tril().bool()

    def one_length(x, W_q, W_k, W_v):
        return attention(
            x, W_q, W_k, W_v, causal=True, hide=lambda s: s.masked_fill(~mask, -torch.inf)
        )

    def weights_alone(x, W_q, W_k, _):
        return softmax(x @ W_q @ (x @ W_k).mT / W_q.shape[1] ** 0.5)

    def wants_a_batch_and_stops(x, *_):
        _, _, d_in = x.shape
        raise ValueError(f"{d_in} does not fit")

    assert "ValueError: 23 does not fit" in looked_at(wants_a_batch_and_stops).text()
    report = looked_at(one_length, causal=True)
    assert first_wrong(report) == ("any_length", "one_length")
    assert "on a sentence of 5 after one of 7, it stopped with RuntimeError" in report.text()
    assert "7 × 7, where 7 × 11 belongs" in looked_at(weights_alone).text()
    assert "NoneType, not a tensor" in looked_at(lambda *_: None).text()
    report = check(lambda x, W_q, W_k, W_v: with_heads(x, W_q, W_k, W_v, 3))
    assert first_wrong(report) == ("runs",)
    assert "how many: check(attention, n_heads=3)" in capsys.readouterr().out
    assert repr(report) == "<Report: ✗–––––––––––––>"


# --- the file itself ------------------------------------------------------------------------------


def test_no_name_of_the_file_is_given_twice():
    names = Counter(
        getattr(target, "id", getattr(target, "name", None))
        for node in ast.parse(check_file()).body
        for target in getattr(node, "targets", [node])
        if not isinstance(node, ast.AugAssign)
    )
    del names[None]
    assert len(names) > 100
    assert [name for name, n_times in names.items() if n_times > 1] == []


def test_the_file_has_every_module_of_the_lights_after_those_it_needs():
    place = {part.__name__: at for at, part in enumerate(PARTS)}
    for part in PARTS:
        for value in vars(part).values():
            home = getattr(value, "__module__", None)
            if home in place:
                assert place[home] <= place[part.__name__], (part.__name__, value)


@pytest.mark.parametrize(
    ("does", "status", "said"),
    [
        ("return 0", 0, ""),
        ("return 1", 1, ""),
        ("sys.exit(2)", 2, ""),
        ("sys.exit()", 0, ""),
        ("os._exit(0)", 2, "nothing was checked"),
        ("os._exit(1)", 2, "nothing was checked"),
        ("os.kill(os.getpid(), 9)", 2, "nothing was checked"),
        ("raise KeyboardInterrupt", 2, "nothing was checked"),
    ],
)
def test_the_command_says_where_python_ended_without_a_verdict(tmp_path, does, status, said):
    """The lines that the file begins and ends with, around a check that ends so; without torch."""
    assert check_file().index(START) < check_file().index("import torch")
    assert check_file().endswith(END)
    path = tmp_path / "check.py"
    path.write_text(f"{inspect.getsource(trial)}\n{START}\n\ndef main():\n    {does}\n\n\n{END}")
    ended = subprocess.run([sys.executable, path], capture_output=True, text=True, check=False)
    assert ended.returncode == status
    assert said in ended.stderr


LEARNERS = """
import torch
import torch.nn as nn

def right(x, W_q, W_k, W_v):
    scores = (x @ W_q) @ (x @ W_k).T / W_q.shape[1] ** 0.5
    future = torch.ones(len(x), len(x)).triu(1).bool()
    return scores.masked_fill(future, float("-inf")).softmax(-1) @ (x @ W_v)

def wrong(x, W_q, W_k, W_v):
    return ((x @ W_q) @ (x @ W_k).T).softmax(-1) @ (x @ W_v)

layer = nn.MultiheadAttention(12, 3, batch_first=True)
"""
USE = """
import subprocess, sys
from check_my_attention import check, main
import mine
assert check(mine.right, causal=True).is_right
assert check(mine.layer).is_right
for arguments in (
    ["mine.py:right", "--causal"], ["mine.py:wrong"], ["mine.py:none"], ["nothing.py:right"]
):
    try:
        print("exit", main(arguments))
    except SystemExit as stopped:
        print("exit", stopped.code)
assert "attention_core" not in sys.modules
"""


@pytest.mark.slow("2 s: in a process of its own")
def test_the_file_alone_checks_what_a_learner_has(tmp_path):
    (tmp_path / NAME).write_text(check_file(), encoding="utf-8")
    (tmp_path / "mine.py").write_text(LEARNERS, encoding="utf-8")
    process = subprocess.run(
        [sys.executable, "-c", USE],
        cwd=tmp_path,
        env=BARE | {"OMP_NUM_THREADS": "1", "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    exits = [line for line in process.stdout.splitlines() if line.startswith("exit")]
    assert exits == ["exit 0", "exit 1", "exit 2", "exit 2"]
    # A screen without such signs gets plain ones.
    assert "NO Scores spread equally far" in process.stdout
    assert "Likely: The scores are not divided by root d" in process.stdout
    assert "mine.py:none: there is no function of that name" in process.stderr
    assert process.stdout.isascii()
