"""The trace: what it refuses and what it says, and that nothing recorded in it ever changes."""

import math
import re
from dataclasses import replace

import pytest
import torch

from attention_core import EXAMPLES, Trace, attend_heads, embed
from attention_core.changes import changes, difference, first_changed
from attention_core.gradients import backward
from attention_core.mechanism.masking import attend_masked
from attention_core.mechanism.trainable import attend_trainable
from attention_core.operations import Add, Given, MatMul, Mean, ScaleBy, Softmax, SumLast, Transpose
from attention_core.operations.base import Meaning
from attention_core.recipes import MaskRecipe
from attention_core.trace import is_shares, memoized
from checks import refused


def matrix(n_rows, n_columns):
    return Given(tuple((0.5,) * n_columns for _ in range(n_rows)))


BEGUN = matrix(5, 3), ("query", "d_query")
REFUSED = [
    ("axis 'query' is 7 long in 'keys' but 5 long in 'queries'", "keys", (7, 2), ("query", "key")),
    ("axis 'd_query' is 2 long in 'keys' but 3 long in 'queries'", "keys", (7, 2),
     ("key", "d_query")),
    *(("'keys' has the axis 'token' twice: name each axis by", "keys", (rows, 3),
       ("token", "token")) for rows in (2, 3)),
    *((f"{name!r} cannot name a step: it must be a Python identifier", name, (2, 3), ("i", "j"))
      for name in ("", "2nd", "two words", "a-b", "a.b", "scores[0]", "x; y", "é ")),
    *((f"'keys' has 2 axes, of lengths (2, 3), but {len(axes)} names: {axes}", "keys", (2, 3), axes)
      for axes in ((), ("i",), ("head", "i", "j"))),
]  # fmt: skip


@pytest.mark.parametrize(("words", "name", "size", "axes"), REFUSED)
def test_a_step_that_does_not_fit_is_refused_and_leaves_nothing(words, name, size, axes):
    trace = Trace()
    trace.step("queries", BEGUN[0], axes=BEGUN[1])
    with pytest.raises(ValueError, match=f"^{re.escape(words)}"):
        trace.step(name, matrix(*size), axes=axes)
    assert list(trace) == ["queries"]


def test_an_input_from_another_trace_is_refused_even_if_the_names_agree():
    here, there = Trace(), Trace()
    ours = here.step("keys", matrix(2, 3), axes=("key", "d_query"))
    theirs = there.step("keys", matrix(2, 3), axes=("key", "d_query"))
    only_theirs = there.step("values", matrix(2, 3), axes=("key", "d_query"))
    with refused("'total' is made from 'keys', not a step of this trace"):
        here.step("total", Add(), ours, theirs, axes=("key", "d_query"))
    with refused("'total' is made from 'values', not a step of this trace"):
        here.step("total", Add(), ours, only_theirs, axes=("key", "d_query"))
    assert list(here) == ["keys"]


def test_a_refused_step_leaves_no_axis_behind():
    trace = Trace(key=["a", "b"])
    with pytest.raises(ValueError, match="axis 'key' is 3 long"):
        trace.step("scores", matrix(5, 3), axes=("query", "key"))
    trace.step("scores", matrix(7, 2), axes=("query", "key"))
    assert trace.size("query") == 7
    for axis in ("key", "query"):
        with pytest.raises(ValueError, match=f"axis '{axis}' is there already"):
            trace.label(axis, ["c", "d"])


def test_a_step_says_its_shape_its_formula_and_its_code():
    trace = Trace()
    queries = trace.step("queries", matrix(2, 3), axes=("query", "d_query"))
    keys = trace.step("keys", matrix(5, 3), axes=("key", "d_query"))
    scores = trace.step("scores", MatMul(transpose=True), queries, keys, axes=("query", "key"))
    assert (scores.shape, scores.formula) == ("query 2 × key 5", r"S = Q K^\top")
    assert scores.code == "scores = queries @ keys.mT"
    assert scores.inputs == (queries, keys)
    assert repr(scores) == "Step('scores = queries @ keys.mT', query 2 × key 5)"


def test_a_symbol_can_be_given_and_an_unknown_name_stands_for_itself():
    trace = Trace()
    named = trace.step("my_rows", matrix(2, 3), axes=("query", "key"))
    given = trace.step("W_mine", matrix(3, 5), axes=("key", "d_query"), symbol="W_m")
    product = trace.step("product", MatMul(), named, given, axes=("query", "d_query"))
    assert product.formula == r"\mathrm{product} = \mathrm{my\_rows} W_m"


def test_a_formula_writes_out_the_steps_that_are_not_known():
    trace = Trace()
    vectors = trace.step("embeddings", matrix(5, 3), axes=("token", "d_in"))
    scores = trace.step("scores", MatMul(transpose=True), vectors, vectors, axes=("query", "key"))
    weights = trace.step("weights", Softmax(), scores, axes=("query", "key"))
    trace.step("context_vectors", MatMul(), weights, vectors, axes=("query", "d_in"))
    assert trace.formula("context_vectors", known=("embeddings", "weights")) == "Z = A X"
    written_out = trace.formula("context_vectors", known=("embeddings",))
    assert written_out == r"Z = \operatorname{softmax}\!\left(X X^\top\right) X"


def test_a_place_has_a_name_only_where_it_is_more_than_its_number():
    named, plain = (
        attend_heads(embed(EXAMPLES[name].inputs), EXAMPLES[name].heads)
        for name in ("named_features", "wild_cat")
    )
    assert [named.name_of("head", at) for at in range(3)] == ["who", "whom", "how"]
    assert named.name_of("d_head", 0, head=1) == "animal"
    assert named.name_of("query", 7) == "it"
    assert [plain.name_of("head", at) for at in range(2)] == [None, None]
    assert plain.name_of("d_head", 1, head=1) is None
    assert plain.name_of("query", 0) == "The"


def test_traces_that_are_made_once_share_what_is_made_alike_of_the_very_same_steps():
    def made(numbers, factor):
        trace = Trace()
        given = trace.step("given", Given(numbers), axes=("row", "column"))
        turned = trace.step("turned", Transpose(), given, axes=("column", "row"))
        grown = trace.step("grown", ScaleBy(factor), turned, axes=("column", "row"))
        trace.step("copied", Transpose(), grown, axes=("row", "column"))
        return trace

    some, others = ((1.0, 2.0), (3.0, 5.0)), ((1.0, 2.0), (3.0, 7.0))
    with memoized():
        one, other, elsewhere = made(some, 2.0), made(some, 3.0), made(others, 2.0)
    assert [name for name in one if one[name] is other[name]] == ["given", "turned"]
    assert [name for name in one if one[name] is elsewhere[name]] == []
    for trace, alone in ((other, made(some, 3.0)), (elsewhere, made(others, 2.0))):
        for name, step in alone.items():
            assert torch.equal(trace[name].value, step.value)
            assert trace[name] is not step


def test_a_branch_begins_with_the_very_steps_and_leaves_the_trace_as_it_is():
    trace = Trace(query=["a", "b"])
    numbers = trace.step("numbers", Given(((1.0, 2.0), (3.0, 4.0))), axes=("query", "d_in"))
    branch = trace.branch()
    assert branch["numbers"] is numbers
    assert branch.labels("query") == ("a", "b")
    branch.step("turned", Transpose(), numbers, axes=("d_in", "query"))
    assert (list(trace), list(branch)) == (["numbers"], ["numbers", "turned"])
    with pytest.raises(ValueError, match="axis 'query' is 3 long in 'others' but"):
        branch.step("others", Given((1.0, 2.0, 3.0)), axes=("query",))


def test_a_step_can_say_what_its_numbers_are():
    trace, rows = Trace(), ("query", "key")
    scores = trace.step("layer_weights", Given(((5.0, -1.0), (0.0, 2.0))), axes=rows)
    attn = trace.step("attn", Softmax(), scores, axes=rows)
    said = trace.step("said", Given(((0.5, 0.5), (1.0, 0.0))), axes=rows, meaning=Meaning.SHARES)
    picked = trace.step("picked", SumLast(), attn, axes=("query",))
    loss = trace.step("loss", Mean(), picked, axes=())
    assert [is_shares(each) for each in (scores, attn, said, loss)] == [False, True, True, False]
    learned = backward(trace, "loss", of=["layer_weights"])
    assert learned.gradients["layer_weights"] == "grad_layer_weights"
    assert next(iter(learned.gradients)) == "loss"
    after = [step.meaning for name, step in learned.items() if name not in trace]
    assert {*after} == {Meaning.GRADIENT}


# --- two traces compared --------------------------------------------------------------------------
def layer(example, **updates):
    recipe = replace(EXAMPLES[example].projections, **updates)
    return attend_trainable(embed(EXAMPLES[example].inputs), recipe)


@pytest.mark.parametrize("example", EXAMPLES)
def test_a_new_seed_for_w_query_changes_queries_first_and_no_keys_or_values(example):
    before, now = layer(example), layer(example, seeds=(7, None, None))
    found = {change.name: change for change in changes(before, now)}
    assert first_changed(list(found.values())).name == "queries"
    assert not found["keys"].changed
    assert not found["values"].changed
    assert found["scores"].changed
    assert found["W_query"].changed
    assert found["W_query"].is_input
    apart = (now["queries"].value - before["queries"].value).abs()
    assert found["queries"].largest == pytest.approx(apart.max().item())
    assert found["queries"].n_changed == (apart > 0).sum()


def test_another_shape_is_a_change_and_names_the_old_one():
    found = {c.name: c for c in changes(layer("wild_cat"), layer("wild_cat", d_query=5))}
    assert found["queries"].largest is None
    assert found["queries"].was == "query 11 × d_query 2"
    assert found["scores"].largest is not None


def test_equal_infinities_do_not_differ():
    vectors = EXAMPLES["journey_123"].inputs
    before = attend_masked(embed(vectors))
    now = attend_masked(embed(vectors), MaskRecipe(flipped=((0, 3),)))
    step = "masked_scores"
    trace = difference(before[step], now[step], now)
    apart = trace["difference"].value
    assert apart[0, 3] == math.inf
    assert (apart.flatten() != 0).sum() == 1
    (change,) = [each for each in changes(before, now) if each.name == step]
    assert change.n_changed == 1
    assert trace["difference"].arithmetic((1, 0)).value == 0
    assert trace["before"].value[0, 4] == 0, "hidden before and now: neither more nor less"


def test_a_step_made_by_another_operation_means_what_that_says_unless_something_was_said():
    trace, other = Trace(), Trace()
    axes = ("query", "key")
    scores = trace.step("scores", matrix(2, 3), axes=axes)
    there = other.step("scores", matrix(2, 3), axes=axes)
    plain = trace.step("weights", Softmax(), scores, axes=axes)
    said = trace.step("said", ScaleBy(0.5), scores, axes=axes, meaning=Meaning.SHARES)
    assert other.again(plain, there, by=ScaleBy(2.0)).meaning is scores.meaning
    assert plain.meaning is other.again(said, there, by=ScaleBy(2.0)).meaning is Meaning.SHARES
