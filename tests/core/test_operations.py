"""What numbers alone do not tell of operations: bits, draws, memory, signs, the list of them."""

import ast
import inspect
import re
from dataclasses import fields, is_dataclass

import pytest
import torch

from attention_core import (
    SimplifiedOptions,
    Trace,
    attend,
    decode_block,
    expand_query,
    expression,
    program,
)
from attention_core import operations as ops
from attention_core.operations import Draw, Given, Stored, StoredInGguf
from attention_core.operations.__main__ import listed
from checks import close, random
from traces import LESSONS, OPERATIONS, lesson_trace, workshop

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
    draw.value().zero_()  # whoever changes what they got changes no draw
    for seed in range(100, 120):  # so many others that none is kept
        Draw(draw.distribution, draw.shape, seed=seed, below=draw.below).value()
    assert torch.equal(first, Draw(draw.distribution, draw.shape, seed=1, below=draw.below).value())
    assert torch.equal(torch.get_rng_state(), state)


def simplified(vectors, query=None, **options):
    trace = Trace()
    trace.step("embeddings", Given(tuple(map(tuple, vectors.tolist()))), axes=("token", "d_in"))
    attend(trace, SimplifiedOptions(**options))
    return trace if query is None else expand_query(trace, query)


@pytest.mark.parametrize("options", [{}, {"similarity": "cosine"}], ids=str)
def test_a_stretched_vector_is_longer_as_query_as_key_and_as_value(options):
    longer = random(7, 5, seed=3)
    stretched = simplified(longer, stretched=2, factor=3.0, **options)["context_vectors"].value
    longer[2] *= 3
    assert close(stretched, simplified(longer, **options)["context_vectors"].value, 1e-5)


@pytest.mark.parametrize("options", [
    {"divide": "sqrt_d"}, {"normalise": "sum"}, {"stretched": 3, "factor": -2.0},
    {"similarity": "cosine", "divide": "sqrt_d", "stretched": 3, "factor": 0.5},
], ids=str)  # fmt: skip
@pytest.mark.parametrize("query", [0, 3, 6])
def test_one_query_term_by_term_ends_in_its_row_of_the_context_vectors(options, query):
    trace = simplified(random(7, 5, seed=3).abs(), query, **options)
    assert trace["query_weights"].value.shape == (7,)
    assert trace["running_context"].value.shape == (7, 5)
    names = "query_scores", "query_weights", "running_context"
    scores, weights, running = (trace[name].value for name in names)
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
        # What is stored lies where its reader has put it; nothing is added.
        if not isinstance(step.operation, Stored | StoredInGguf):
            assert lies(names[step.name]) == lies(step.value), step


def test_no_step_of_the_workshop_shares_its_numbers_with_another_or_changes_them():
    trace = workshop()
    assert len({step.value.untyped_storage().data_ptr() for step in trace.values()}) == len(trace)
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


# --- what stands between the matrices of an equation ---
ARROWS = ("ExpDifference", "Rescale")
"""What does more with its operands than the sign between them says, such as e to the difference."""


@pytest.mark.parametrize("kind", OPERATIONS.values(), ids=OPERATIONS)
def test_every_operation_says_what_stands_before_each_operand_and_its_result(kind):
    operation = object.__new__(kind)  # only its signs are asked for, whatever it is made with
    n_operands = len(re.findall(r"\(.*?\)", operation.takes))
    if not n_operands:  # nothing stands before what is given or drawn
        return
    *before, equals = operation.signs
    assert len(before) == n_operands
    assert before.count("") == 1, "one operand stands first"
    assert equals
    drawn = [sign for sign in before if sign is not None]
    does_more = kind.__name__ in ARROWS
    assert (equals == "=") == (len(drawn) > 1 and not does_more), "= behind operands, an arrow else"


# --- the list of `python -m attention_core.operations` ---
def test_every_operation_and_every_piece_of_arithmetic_has_its_line():
    written = ast.parse(inspect.getsource(expression)).body
    classes = {node.name for node in written if isinstance(node, ast.ClassDef)}
    pieces = {name for name in classes if not name.startswith("_")} - {"Expression"}
    lines = dict(re.findall(r"^  (\w+)\(.*?\):\s+(\S.*)", listed(), re.MULTILINE))
    assert lines.keys() == {*ops.__all__} - {"Operation"} | pieces
    files = {kind.__module__ for kind in map(vars(ops).get, ops.__all__)} - {ops.base.__name__}
    for module in {*files, expression.__name__}:
        assert f"({module.replace('.', '/')}.py)" in listed(), "each file has its heading"


ALIKE = ({"token", "query", "key", "other", "other_key", "other_token"},)
"""Axes that go along the same things by several names."""


def products():
    """Traces of all lessons, and of a layer that looks at vectors of another width."""
    yield from (lesson_trace(name) for name in LESSONS)
    yield decode_block(random(3, 4), random(5, 6), n_heads=2, d_hidden=7)


def test_a_product_adds_along_one_axis_which_both_operands_call_the_same():
    seen = 0
    for trace in products():
        for step in trace.values():
            if type(step.operation) is not ops.MatMul:
                continue
            left, right = step.inputs[:2]
            names = {left.axes[-1], right.axes[-1 if step.operation.transpose else -2]}
            assert len(names) == 1 or any(names <= each for each in ALIKE), (step, names)
            seen += 1
    assert seen > 50


@pytest.mark.parametrize(("takes", "operands", "said"), [
    ("", ("given",), r"takes nothing, so value\(\) must have 0 operands, and has given"),
    ("(…)", (), r"takes \(…\), so value\(\) must have 1 operands, and has none"),
    ("(…) (…)", ("one", "two", "three"), r"takes \(…\) \(…\), so .* and has one, two, three"),
])  # fmt: skip
def test_an_operation_with_other_operands_than_it_takes_is_refused_where_it_is_made(
    takes, operands, said
):
    names = {}
    exec(f"def value(self, {', '.join(operands)}): ...", names)
    with pytest.raises(TypeError, match=said):
        type("Wrong", (ops.Operation,), {"takes": takes, "value": names["value"]})


def test_heads_that_make_no_groups_are_refused_in_words():
    with pytest.raises(ValueError, match="5 heads make no groups of 2"):
        ops.SumGroups(2).value(random(5, 3, 4))
    assert ops.SumGroups(2).value(random(4, 3, 4)).shape == (2, 3, 4)


def test_a_cell_of_a_mask_is_given_the_rule_that_decides_it():
    mask = ops.AttentionMask(4, 4, window=3, hidden_key=1, flipped=((2, 2),))
    said = {
        (0, 1): r"\text{key }1 > \text{query }0\text{: hidden}",
        (3, 0): r"|3 - 0| \ge 3\text{: hidden}",
        (2, 1): r"\text{key }1\text{ is left out}\text{: hidden}",
        (2, 2): r"\text{flipped by hand}\text{: hidden}",
        (3, 2): r"\text{key }2 \le \text{query }3\text{: may look}",
    }
    assert {index: mask.arithmetic(index).written for index in said} == said


@pytest.mark.parametrize("first", [-1, 4])
def test_rows_that_have_no_place_to_be_put_back_to_are_refused_in_words(first):
    with pytest.raises(ValueError, match=f"2 rows from {first} on, of 5"):
        ops.PutBack(first, 5).value(random(2, 3))
